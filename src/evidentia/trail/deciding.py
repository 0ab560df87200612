"""What decides: which kinds of entries do, and where they are, under one root that is signed.

A role, a hold or an approval is found by the entries about it. Which they are is a map that can be
proved: from a kind, and from a kind and a subject, to the numbers and hashes of the entries. A
snapshot of it at a log's size is signed by the log's key; it says no word to anyone outside.
"""

import base64
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from evidentia.errors import ProofError
from evidentia.trail.entry import Entry, EntryKind
from evidentia.trail.keyed import EMPTY_MAP, KeyedMap, Update
from evidentia.trail.merkle import HASH_BYTES
from evidentia.trail.note import Note, PrivateKey, decode_base64, sign_note

DECIDING: Final = frozenset(
    kind.value
    for kind in (
        EntryKind.ACCESS,
        EntryKind.DECISION,
        EntryKind.DOCUMENT,
        EntryKind.ERASURE,
        EntryKind.EXPORT,
        EntryKind.KEY,
        EntryKind.PACK,
        EntryKind.RETENTION,
        EntryKind.REVIEW,
        EntryKind.TOOL_CALL,
    )
)
"""The kinds of entries that something is decided by. With another one, `_FORM` is another, too."""
PAGE: Final = 32
"""How many entries a value of the map lists; what is more stands in values of its own."""
_FORM: Final = "evidentia deciding entries 2"
_COUNT_BYTES: Final = 8
_PLACE_BYTES: Final = _COUNT_BYTES + HASH_BYTES
_KIND: Final = 118
"""Where an entry's bytes say its kind: what stands before has one length."""
_SIZE: Final = re.compile(r"0|[1-9][0-9]{0,17}")
_BYTES: Final = frozenset(kind.encode() for kind in DECIDING)

Get = Callable[[bytes], bytes | None]
"""Gives what the map has under a key."""
About = tuple[str, str]
"""A kind and a subject; the empty subject, which no entry has, stands for all."""


class Place(NamedTuple):
    """An entry in a log: its number, and the hash of its bytes."""

    seq: int
    leaf: bytes


Said = tuple[About, Place]
"""An entry that decides: what it is about, and where it is."""


def about(data: bytes) -> About | None:
    """Return the kind and the subject of an entry that decides, from its bytes; None for others.

    Raise `ProofError` if it is no entry.
    """
    if data[_KIND : data.find(b'"', _KIND)] not in _BYTES:
        return None
    entry = Entry.decode(data)
    return entry.kind, entry.subject


def grouped(found: Iterable[Said]) -> dict[About, tuple[Place, ...]]:
    """Return places by their kind and subject, and by their kind alone."""
    lists: dict[About, list[Place]] = {}
    for (kind, subject), place in found:
        lists.setdefault((kind, subject), []).append(place)
        lists.setdefault((kind, ""), []).append(place)
    return {of: tuple(places) for of, places in lists.items()}


def joined(
    one: Mapping[About, tuple[Place, ...]], other: Mapping[About, tuple[Place, ...]]
) -> dict[About, tuple[Place, ...]]:
    """Return the places of both, those of the second behind those of the first."""
    return {**one, **{of: (*one.get(of, ()), *places) for of, places in other.items()}}


def listed(get: Get, of: About, *, after: int = -1) -> list[Place]:
    """Return the entries that the map lists behind a number, in order."""
    head = get(_key(of))
    if head is None:
        return []
    full, places = int.from_bytes(head[:_COUNT_BYTES], "big"), _places(head[_COUNT_BYTES:])
    pages = [places]
    while full and pages[-1][0].seq > after:
        full -= 1
        page = get(_key(of, full))
        if page is None:
            raise ProofError(f"page {full} of the entries of kind {of[0]} is missing")
        pages.append(_places(page))
    return [place for page in reversed(pages) for place in page if place.seq > after]


def grown(get: Get, added: Mapping[About, Sequence[Place]]) -> dict[bytes, bytes | None]:
    """Return what the map has to take in for more entries, which are behind those it lists."""
    changes: dict[bytes, bytes | None] = {}
    for of, new in added.items():
        head = get(_key(of)) or bytes(_COUNT_BYTES)
        full = int.from_bytes(head[:_COUNT_BYTES], "big")
        data = head[_COUNT_BYTES:] + b"".join(map(_packed, new))
        page = PAGE * _PLACE_BYTES
        while len(data) > page:
            changes[_key(of, full)], data = data[:page], data[page:]
            full += 1
        changes[_key(of)] = full.to_bytes(_COUNT_BYTES, "big") + data
    return changes


def map_of(said: Iterable[Said]) -> Update:
    """Return the map of entries that decide, with all its nodes."""

    def nothing(_: bytes) -> None:
        return None

    return KeyedMap(EMPTY_MAP, nothing).updated(grown(nothing, grouped(said)))


def _key(of: About, page: int | None = None) -> bytes:
    """Return a key of the map: no kind and no subject holds U+0000."""
    return f"{of[0]}\0{of[1]}\0{'' if page is None else page}".encode()


def _packed(place: Place) -> bytes:
    return place.seq.to_bytes(_COUNT_BYTES, "big") + place.leaf


def _places(data: bytes) -> list[Place]:
    return [
        Place(
            int.from_bytes(data[at : at + _COUNT_BYTES], "big"),
            data[at + _COUNT_BYTES : at + _PLACE_BYTES],
        )
        for at in range(0, len(data), _PLACE_BYTES)
    ]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The entries of a log that decide, at one moment: its size and root, and the map's root."""

    origin: str
    size: int
    root: bytes
    entries: bytes

    @property
    def text(self) -> str:
        """The lines that are signed. No checkpoint has these: its second line is a number."""
        hashes = (base64.b64encode(one).decode() for one in (self.root, self.entries))
        return "".join(f"{line}\n" for line in (_FORM, self.origin, self.size, *hashes))

    def sign(self, private_key: PrivateKey) -> str:
        """Return the snapshot as a note signed under its origin's name."""
        return sign_note(self.text, self.origin, private_key)

    @classmethod
    def parse(cls, text: str) -> "Snapshot":
        """Read a note's text as a snapshot; raise `ProofError` if it is none of this form."""
        lines = text.split("\n")
        if len(lines) != len(("form", *cls.__slots__, "end")) or lines[0] != _FORM or lines[-1]:
            raise ProofError("not a snapshot of the entries that decide, or of another form")
        root, entries = (decode_base64(line) or b"" for line in lines[3:5])
        if not _SIZE.fullmatch(lines[2]) or {len(root), len(entries)} != {HASH_BYTES}:
            raise ProofError("not a snapshot: its size or a root is malformed")
        return cls(lines[1], int(lines[2]), root, entries)


def read_snapshot(note: str) -> tuple[Snapshot, Note]:
    """Take a signed snapshot apart; raise `ProofError` if it is none. Checks no signature."""
    parsed = Note.parse(note)
    return Snapshot.parse(parsed.text), parsed

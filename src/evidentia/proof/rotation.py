"""Which key may sign a log at which size: from its own announcement to its successor's."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from evidentia.proof.keys import TrustedKey
from evidentia.trail.checkpoint import Checkpoint
from evidentia.trail.entry import Entry, EntryKind
from evidentia.trail.note import Note, VerifierKey

_KEY_ID = re.compile(r"[0-9a-f]{8}")


@dataclass(frozen=True, slots=True, order=True)
class Announcement:
    """An entry that announces a key: its number, and the key's id."""

    seq: int
    key_id: str


def announced_key(entry: Entry) -> Announcement | None:
    """Return what an entry announces, by its subject alone; None if it is about something else."""
    is_key = entry.kind == EntryKind.KEY and _KEY_ID.fullmatch(entry.subject)
    return Announcement(entry.seq, entry.subject) if is_key else None


def in_order(announcements: Iterable[Announcement]) -> list[Announcement]:
    """Return announcements as they stand in the log, each key where it was announced first."""
    found: dict[str, Announcement] = {}
    for one in sorted(announcements):
        found.setdefault(one.key_id, one)
    return list(found.values())


def announced_by(entry: Entry, body: Any) -> list[Announcement]:
    """Return what an entry with its own body tells of keys: the one it replaces, and the new one.

    When the old one was announced is not known then.
    """
    match body:
        case {"key": str(), "replaces": str(replaced)} if entry.kind == EntryKind.KEY:
            return [Announcement(-1, replaced), Announcement(entry.seq, entry.subject)]
    return []


def retired(
    announcements: Sequence[Announcement], key_id: str, size: int, *, whole: bool
) -> str | None:
    """Say why a key may not have signed a log of a size; None if it may, by what is known.

    `announcements` are in order; they are those of all keys of the log if they are `whole`. A key
    signs last the size that has its successor's announcement.
    """
    for at, one in enumerate(announcements):
        if one.key_id != key_id:
            continue
        if size <= one.seq:
            return f"key {key_id} was announced in entry {one.seq}, after these {size:,} entries"
        after = announcements[at + 1 :]
        if after and size > after[0].seq + 1:
            return (
                f"key {key_id} was replaced by key {after[0].key_id} in entry {after[0].seq}, and "
                f"signed these {size:,} entries all the same: a retired key is not believed"
            )
        return None
    return f"key {key_id} is announced nowhere in the log" if whole else None


def signing_problem(
    checkpoint: Checkpoint,
    note: Note,
    announcements: Sequence[Announcement],
    keys: Sequence[TrustedKey],
    *,
    whole: bool = True,
) -> str | None:
    """Say why no key that signed a checkpoint was the log's at that size; None if one was.

    Of the signatures by the log's keys, those by trusted ones count; without any, all do.
    """
    trusted = {
        VerifierKey(checkpoint.origin, key.public_key).key_id
        for key in keys
        if key.is_for(checkpoint.origin)
    }
    signers = [line.key_id for line in note.signatures if line.name == checkpoint.origin]
    counting = [one for one in signers if one in trusted] or signers
    problems = [retired(announcements, one, checkpoint.size, whole=whole) for one in counting]
    return None if None in problems else next(iter(problems), None)

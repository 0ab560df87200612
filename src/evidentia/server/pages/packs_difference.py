"""What differs between two versions of a pack: field by field, and in each the words."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Final, Literal

from evidentia.canonical import canonical_json
from evidentia.packs.model import EvidencePack

Kind = Literal["same", "gone", "new"]
_FIRST: Final = ("review_outcome", "reviewer_id", "review_note", "memo")
"""The fields that a reader wants to know of before all others, in this order."""
_FOLLOWS: Final = frozenset({"pack_id", "v", "version", "replaces", "created_at", "reviewed_at"})
"""What is another in every version."""
_TOKEN: Final = re.compile(r"\s+|[\w\u0610-\u061a\u064b-\u065f\u0670]+|.", re.DOTALL)
_MOST_TOKENS: Final = 4_000
"""Longer texts are shown whole, before and after: to compare them takes too long."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text: in both versions, gone from the newer one, or new there."""

    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class Difference:
    """A field that differs: its name, which item of a list it is of, and its words."""

    field: str
    number: int | None
    part: str
    """What of the item or object it is; empty if it is the whole."""
    pieces: tuple[Piece, ...]

    @property
    def direction(self) -> str:
        """The direction of its text, where its language is known."""
        name = self.part or self.field
        return {"_ar": "rtl", "_en": "ltr"}.get(name[-3:], "auto")


def differences(before: EvidencePack, after: EvidencePack) -> list[Difference]:
    """Return what differs between two versions, what matters most first."""
    old, new = before.as_json(), after.as_json()
    names = [*_FIRST, *(name for name in old if name not in _FIRST and name not in _FOLLOWS)]
    return [one for name in names for one in _of_field(name, old[name], new[name])]


def changed_words(before: str, after: str) -> tuple[Piece, ...]:
    """Return a text with the words that are gone and the words that are new in it."""
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    if max(len(old), len(new)) > _MOST_TOKENS:
        return tuple(one for one in (Piece("gone", before), Piece("new", after)) if one.text)
    found: list[Piece] = []
    gone, came = "", ""
    matched = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for at, (kind, start, end, begin, stop) in enumerate(matched):
        removed, added = "".join(old[start:end]), "".join(new[begin:stop])
        between = removed.isspace() and bool(gone or came) and at + 1 < len(matched)
        if kind == "equal" and not between:  # a space between two changes is no rest from them
            found += [one for one in (Piece("gone", gone), Piece("new", came)) if one.text]
            found.append(Piece("same", removed))
            gone = came = ""
        else:
            gone, came = gone + removed, came + added
    found += [one for one in (Piece("gone", gone), Piece("new", came)) if one.text]
    return tuple(found)


def _of_field(name: str, old: Any, new: Any) -> Iterator[Difference]:
    if isinstance(old, list) and isinstance(new, list):
        yield from _of_items(name, old, new)
    elif isinstance(old, dict) and isinstance(new, dict):
        for part in old | new:
            field, of = (part, "") if name == "memo" else (name, part)
            yield from _of_text(field, None, of, old.get(part), new.get(part))
    else:
        yield from _of_text(name, None, "", old, new)


def _of_items(name: str, old: list[Any], new: list[Any]) -> Iterator[Difference]:
    """Give what differs between lists: items that came or went, and parts of others."""
    before, after = list(map(canonical_json, old)), list(map(canonical_json, new))
    matched = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    for kind, start, end, begin, stop in matched:
        if kind == "equal":
            continue
        shared = min(end - start, stop - begin)
        for at in range(shared):
            here, there = old[start + at], new[begin + at]
            if isinstance(here, dict) and isinstance(there, dict):
                for part in here | there:
                    yield from _of_text(name, begin + at + 1, part, here.get(part), there.get(part))
            else:
                yield from _of_text(name, begin + at + 1, "", here, there)
        for at in range(start + shared, end):
            yield from _of_text(name, at + 1, "", old[at], None)
        for at in range(begin + shared, stop):
            yield from _of_text(name, at + 1, "", None, new[at])


def _of_text(name: str, number: int | None, part: str, old: Any, new: Any) -> Iterator[Difference]:
    if old != new:
        yield Difference(name, number, part, changed_words(_text(old), _text(new)))


def _text(value: Any) -> str:
    """Return a value as a reader sees it: an object as lines, without what is empty."""
    match value:
        case None:
            return ""
        case str():
            return value
        case dict():
            said = {name: _text(one) for name, one in value.items() if one not in (None, "", [])}
            return "\n".join(f"{name}: {text}" for name, text in said.items() if text)
        case list():
            return ", ".join(map(_text, value))
        case _:
            return canonical_json(value).decode()

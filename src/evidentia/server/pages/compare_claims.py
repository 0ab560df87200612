"""Two ledgers side by side: which claims stayed, came, went, or are judged otherwise.

Values in, values out. A claim is the same if it says the same; else, of those that are left, the
two that have most words in common are one claim that was put in other words.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from typing import Final, Literal

from evidentia.ledger.model import LedgerEntry

Change = Literal["same", "verdict", "words", "came", "went"]
CHANGES: Final[tuple[Change, ...]] = ("verdict", "words", "came", "went", "same")
LIKE: Final = 0.5
"""From which share of common words on two claims are one in other words."""
_MOST_PAIRS: Final = 400_000
"""How many pairs of claims are compared at most; of longer lists, those that stand near."""
_NEAR: Final = 20


@dataclass(frozen=True, slots=True)
class Numbered:
    """A claim's entry in a ledger, and its number there, from 1."""

    number: int
    entry: LedgerEntry


@dataclass(frozen=True, slots=True)
class Pair:
    """A claim of one ledger beside that of the other; None where there is none."""

    change: Change
    before: Numbered | None
    after: Numbered | None


Words = list[tuple[bool, str]]
"""A text in pieces: whether each is only in this one, and its words."""


def paired(before: Sequence[LedgerEntry], after: Sequence[LedgerEntry]) -> list[Pair]:
    """Return the claims of two ledgers side by side, in the order of the second."""
    old = [Numbered(*one) for one in enumerate(before, 1)]
    new = [Numbered(*one) for one in enumerate(after, 1)]
    partner = dict(_same(old, new))
    used = {one.number for one in partner.values()}
    left_old = [one for one in old if one.number not in used]
    left_new = [one for one in new if one.number not in partner]
    partner |= dict(_alike(left_old, left_new))
    used = {one.number for one in partner.values()}
    pairs = [_pair(partner.get(one.number), one) for one in new]
    for one in old:  # what went stands behind the claim that stood before it
        if one.number not in used:
            place = next(
                (at + 1 for at, pair in reversed(list(enumerate(pairs))) if _is_before(pair, one)),
                0,
            )
            pairs.insert(place, Pair("went", one, None))
    return pairs


def _is_before(pair: Pair, one: Numbered) -> bool:
    return pair.before is not None and pair.before.number < one.number


def _pair(before: Numbered | None, after: Numbered) -> Pair:
    if before is None:
        return Pair("came", None, after)
    if before.entry.verdict != after.entry.verdict:
        return Pair("verdict", before, after)
    same = _folded(before) == _folded(after)
    return Pair("same" if same else "words", before, after)


def _folded(one: Numbered) -> str:
    return " ".join(one.entry.claim_text.casefold().split())


def _same(old: Iterable[Numbered], new: Iterable[Numbered]) -> Iterator[tuple[int, Numbered]]:
    """Give the claims that say the same: the number of the new one, and the old one."""
    known: dict[str, list[Numbered]] = {}
    for one in old:
        known.setdefault(_folded(one), []).append(one)
    for one in new:
        if waiting := known.get(_folded(one)):
            yield one.number, waiting.pop(0)


def _alike(old: Sequence[Numbered], new: Sequence[Numbered]) -> Iterator[tuple[int, Numbered]]:
    """Give the claims that are one in other words, the most alike first."""
    words = {id(one): Counter(_folded(one).split()) for one in (*old, *new)}
    near = len(old) * len(new) > _MOST_PAIRS
    scored: list[tuple[float, int, int]] = []
    for at, one in enumerate(new):
        first = max(0, at - _NEAR) if near else 0
        last = at + _NEAR if near else len(old)
        for place, other in enumerate(old[first:last], first):
            share = _share(words[id(one)], words[id(other)])
            if share >= LIKE:
                scored.append((-share, at, place))
    taken_new: set[int] = set()
    taken_old: set[int] = set()
    for _, at, place in sorted(scored):
        if at not in taken_new and place not in taken_old:
            taken_new.add(at)
            taken_old.add(place)
            yield new[at].number, old[place]


def _share(one: Counter[str], other: Counter[str]) -> float:
    both = (one & other).total()
    return 2 * both / ((one.total() + other.total()) or 1)


def differing(before: str, after: str) -> tuple[Words, Words]:
    """Return two texts in pieces, each marked if the other one does not have it."""
    old, new = before.split(), after.split()
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return (
        _pieces(old, [(block.a, block.size) for block in matcher.get_matching_blocks()]),
        _pieces(new, [(block.b, block.size) for block in matcher.get_matching_blocks()]),
    )


def _pieces(words: list[str], same: Iterable[tuple[int, int]]) -> Words:
    kept = {place for start, size in same for place in range(start, start + size)}
    marked = [(place not in kept, word) for place, word in enumerate(words)]
    return [
        (is_own, " ".join(word for _, word in group))
        for is_own, group in groupby(marked, key=lambda one: one[0])
    ]

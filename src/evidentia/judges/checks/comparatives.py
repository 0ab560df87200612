"""Comparatives: which of two things is more, higher, earlier, in a claim and in a passage.

The other word and the things exchanged come to the same; only one of the two is a conflict.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from evidentia.judges.checks.model import Check, CheckKind
from evidentia.language.lexicon import CARDINALS, word_set
from evidentia.language.negation import denied
from evidentia.language.opposites import COMPARED
from evidentia.language.readings import Reading, covers

_NEAR, _FAR = 2, 3
_HALF: Final = 0.5
_REACH: Final = 8
_MOST_BEFORE, _MOST_BEHIND = 6, 4
"""How many words on each side of a "than" tell what is compared."""
_STAND_INS: Final = word_set("one ones")
_COUNTS: Final = frozenset({"half", "twice", *CARDINALS[1:11]})
"""What begins a number behind a "than", which is then a bound."""


def comparative_checks(claim: Reading, evidence: Reading) -> Iterator[Check]:
    """Compare words such as "more", "before" and "older" that stand between the same two things."""
    for at, word in enumerate(claim.words):
        others = COMPARED.get(word.stem)
        if others is None or at in denied(claim.text):
            continue
        own = evidence.places.get(word.stem, [])
        opposed = [place for name in others for place in evidence.places.get(name, ())]
        found = [
            (conflict, place)
            for is_own, places in ((True, own), (False, opposed))
            for place in places
            for conflict in _conflicts(claim, at, evidence, place, is_own=is_own)
        ]
        if found:
            conflict, place = min(found)  # what agrees comes first
            said = evidence.said(evidence.span(place))
            reason = (
                f'the claim says "{word.text}" where the passage says "{said}" of the same two'
                if conflict
                else f'the claim\'s "{word.text}" and the passage\'s "{said}" come to the same'
            )
            if conflict and said.casefold() == word.text:
                reason = f'the two sides of "{word.text}" are exchanged in the passage'
            yield Check(
                CheckKind.COMPARATIVE, conflict, claim.span(at), evidence.span(place), reason
            )


def _conflicts(
    claim: Reading, at: int, evidence: Reading, place: int, *, is_own: bool
) -> Iterator[bool]:
    """Give whether the two say different things; nothing if they are not of the same two."""
    if place in denied(evidence.text) or not covers(claim, at, evidence, place, _HALF):
        return
    here, there = _than(claim, at), _than(evidence, place)
    if here is not None and there is not None:
        straight, crossed = _compared(_parted(claim, at, here), _parted(evidence, place, there))
    else:
        left, right = set(claim.before(at, _NEAR)), set(claim.after(at, _NEAR))
        lefts, rights = set(evidence.before(place, _FAR)), set(evidence.after(place, _FAR))
        straight = bool(left & lefts and right & rights)
        crossed = bool((left - right) & (rights - lefts) and (right - left) & (lefts - rights))
    if straight != crossed:
        yield straight != is_own


def _than(reading: Reading, at: int) -> int | None:
    """Return where the "than" of a comparison stands; None if it has none, or sets a bound."""
    own = reading.sentences[at]
    for place in range(at + 1, min(at + 1 + _REACH, len(reading.words) - 1)):
        word, behind = reading.words[place], reading.words[place + 1]
        if reading.sentences[place] != own or word.stem in COMPARED:
            return None
        if word.text == "than":
            return None if behind.is_number or behind.text in _COUNTS else place
    return None


def _parted(reading: Reading, at: int, than: int) -> tuple[set[str], set[str]]:
    """Return the words and numbers that stand on one side of a "than" only."""
    before = set(islice(_telling(reading, range(than - 1, -1, -1), at), _MOST_BEFORE))
    behind = set(islice(_telling(reading, range(than + 1, len(reading.words)), at), _MOST_BEHIND))
    return before - behind, behind - before


def _telling(reading: Reading, way: range, at: int) -> Iterator[str]:
    """Give the words that tell what is compared, up to another comparison."""
    for place in way:
        word = reading.words[place]
        if reading.sentences[place] != reading.sentences[at]:
            return
        if place == at:
            continue
        if word.stem in COMPARED:
            return
        if (reading.content[place] or word.is_number) and word.text not in _STAND_INS:
            yield word.stem


def _compared(
    here: tuple[set[str], set[str]], there: tuple[set[str], set[str]]
) -> tuple[bool, bool]:
    """Return whether the two things stand in the same order, and whether in the other one."""
    (left, right), (lefts, rights) = here, there
    return bool(left & lefts and right & rights), bool(left & rights and right & lefts)

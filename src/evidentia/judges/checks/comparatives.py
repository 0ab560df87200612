"""Comparatives: which of two things is more, higher, earlier, in a claim and in a passage.

The other word and the things exchanged come to the same; only one of the two is a conflict.
"""

from collections.abc import Iterator
from typing import Final

from evidentia.judges.checks.model import Check, CheckKind, Reading, covers
from evidentia.judges.checks.opposites import COMPARED
from evidentia.judges.checks.polarity import denied

_NEAR, _FAR = 2, 3
_HALF: Final = 0.5


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
    left, right = set(claim.before(at, _NEAR)), set(claim.after(at, _NEAR))
    lefts, rights = set(evidence.before(place, _FAR)), set(evidence.after(place, _FAR))
    straight = bool(left & lefts and right & rights)
    crossed = bool((left - right) & (rights - lefts) and (right - left) & (lefts - rights))
    if straight != crossed:
        yield straight != is_own

"""Negation and opposites: where one text denies what the other says of the same thing."""

from collections.abc import Iterator
from typing import Final

from evidentia.judges.checks.model import Check, CheckKind, agrees, differs
from evidentia.language.characters import Span
from evidentia.language.lexicon import word_set
from evidentia.language.negation import denied
from evidentia.language.opposites import CONVERSES, OPPOSITES
from evidentia.language.readings import Reading, covers, same_place

_LATER: Final = word_set("until till before unless except but only either")
"""What takes a part of a denial back: "was not released until 2010"."""
_PARTY, _OTHERS = 4, 6
"""How many words before a verb, and behind it, tell who is meant."""
_MOST, _HALF = 0.65, 0.5


def polarity_checks(claim: Reading, evidence: Reading) -> Iterator[Check]:
    """Compare what is denied, and find opposites in the same place."""
    yield from _negation_checks(claim, evidence)
    yield from _antonym_checks(claim, evidence)


def _negation_checks(claim: Reading, evidence: Reading) -> Iterator[Check]:
    here, there = denied(claim.text), denied(evidence.text)
    for at, cue in here.items():
        word = claim.words[at]
        like = [
            place
            for place in evidence.places.get(word.stem, ())
            if _is_about(claim, at, evidence, place)
        ]
        both = next((place for place in like if place in there), None)
        span = _with_cue(claim, at, cue)
        if both is not None:
            other = _with_cue(evidence, both, there[both])
            yield agrees(CheckKind.NEGATION, span, other, f'both deny "{word.text}"')
        elif like and not _is_limited(claim, at) and not _denies(evidence, like[0]):
            reason = f'the claim denies "{word.text}" ({claim.said(cue)}), and the passage says it'
            yield differs(CheckKind.NEGATION, span, evidence.span(like[0]), reason)
    for place, cue in there.items():
        word = evidence.words[place]
        like = [
            at for at in claim.places.get(word.stem, ()) if _is_about(claim, at, evidence, place)
        ]
        said = any(other not in there for other in evidence.places[word.stem])
        if like and not said and not _is_limited(evidence, place) and not _denies(claim, like[0]):
            cited = evidence.said(cue)
            reason = f'the passage denies "{word.text}" ({cited}), and the claim says it'
            span = _with_cue(evidence, place, cue)
            yield differs(CheckKind.NEGATION, claim.span(like[0]), span, reason)


def _with_cue(reading: Reading, at: int, cue: Span) -> Span:
    return cue[0], reading.words[at].end


def _is_about(claim: Reading, at: int, evidence: Reading, place: int) -> bool:
    return covers(claim, at, evidence, place, _MOST) and _has_neighbour(claim, at, evidence, place)


def _has_neighbour(claim: Reading, at: int, evidence: Reading, place: int) -> bool:
    left = set(claim.before(at, 2)) & set(evidence.before(place, 3))
    right = set(claim.after(at, 2)) & set(evidence.after(place, 3))
    return bool(left or right)


def _is_limited(reading: Reading, at: int) -> bool:
    """Whether what follows takes a part of a denial back."""
    own = reading.sentences[at]
    return any(
        word.text in _LATER and number == own
        for word, number in zip(
            reading.words[at + 1 : at + 9], reading.sentences[at + 1 : at + 9], strict=True
        )
    )


def _denies(reading: Reading, at: int) -> bool:
    """Whether a word's sentence denies something, so that the two may come to the same."""
    own = reading.sentences[at]
    return any(reading.sentences[place] == own for place in denied(reading.text))


def _antonym_checks(claim: Reading, evidence: Reading) -> Iterator[Check]:
    for at, word in enumerate(claim.words):
        opposed = (
            place
            for name in sorted(OPPOSITES.get(word.stem, ()))
            for place in evidence.places.get(name, ())
            if _is_opposed(claim, at, evidence, place)
        )
        place = next(opposed, None)
        if place is not None:
            said = evidence.words[place].text
            reason = f'the claim says "{word.text}" where the passage says "{said}"'
            yield differs(CheckKind.ANTONYM, claim.span(at), evidence.span(place), reason)


def _is_opposed(claim: Reading, at: int, evidence: Reading, place: int) -> bool:
    """Whether a word stands in the place of its opposite, and both are said or both denied."""
    number = evidence.sentences[place]
    stands = any(
        evidence.sentences[other] == number
        for other in evidence.places.get(claim.words[at].stem, ())
    )
    return (
        not stands
        and evidence.words[place].stem not in claim.places
        and (at in denied(claim.text)) == (place in denied(evidence.text))
        and not _is_converse(claim, at, evidence, place)
        and (
            (
                same_place(claim, (at, at), evidence, (place, place))
                and covers(claim, at, evidence, place, _HALF)
            )
            or (
                _has_neighbour(claim, at, evidence, place)
                and covers(claim, at, evidence, place, _MOST)
            )
        )
    )


def _is_converse(claim: Reading, at: int, evidence: Reading, place: int) -> bool:
    """Whether the one on the left of "bought" is on the right of "sold": both say the same."""
    if evidence.words[place].stem not in CONVERSES.get(claim.words[at].stem, ()):
        return False
    left, right = set(claim.before(at, _PARTY)), set(claim.after(at, _OTHERS))
    lefts, rights = set(evidence.before(place, _PARTY)), set(evidence.after(place, _OTHERS))
    first = left - right
    return not first & lefts and bool(first & rights)

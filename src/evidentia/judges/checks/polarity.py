"""Negation and opposites: where one text denies what the other says of the same thing."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from evidentia.judges.checks.model import (
    Check,
    CheckKind,
    Reading,
    agrees,
    covers,
    differs,
    read,
    same_place,
)
from evidentia.language.markup import Span
from evidentia.language.opposites import CONVERSES, OPPOSITES
from evidentia.language.words import word_set

_DENYING: Final = re.compile(
    r"\b(?:(?:fail|decline)(?:s|ed|ing)? to|refus(?:e|es|ed|ing) to|den(?:y|ies|ied|ying)"
    r"|lack(?:s|ed|ing)?|unable to|without|no longer|instead of|rather than|absence of"
    r"|stop(?:s|ped)? short of|avoid(?:s|ed|ing)?|prevent(?:s|ed|ing)?(?: \w+){1,2} from)\b",
    re.IGNORECASE,
)
"""What denies what follows without a "not"."""
_BOUNDING: Final = re.compile(
    r"\b(?:no|not) (?:(?:more|less|fewer|later|earlier|sooner|greater|longer) than|only|just|merely"
    r"|simply|necessarily|always|all|every|until|yet|far|even|unlike|least|one of|to be confused)\b"
    r"|\bno\.\s?\d|\b(?:or|if|why) (?:no|not)\b|\bnon\b|\b(?:none|nobody|nothing|nowhere)\b",
    re.IGNORECASE,
)
"""Turns of phrase with a "no" or "not" that deny nothing, or a part only."""
_LATER: Final = word_set("until till before unless except but only either")
"""What takes a part of a denial back: "was not released until 2010"."""
_SKIPPED: Final = word_set(
    "been being have has had be to a an the any yet ever really actually also"
)
_JOINTS: Final = word_set("but and or that which who because")
_QUOTES: Final = " \t\n-'\"\u2018\u201c`"
_REACH: Final = 4
_PARTY, _OTHERS = 4, 6
"""How many words before a verb, and behind it, tell who is meant."""
_MOST, _HALF = 0.65, 0.5


def polarity_checks(claim: Reading, evidence: Reading) -> Iterator[Check]:
    """Compare what is denied, and find opposites in the same place."""
    yield from _negation_checks(claim, evidence)
    yield from _antonym_checks(claim, evidence)


@lru_cache(maxsize=4_096)
def denied(text: str) -> dict[int, Span]:
    """Return the words that a text denies, by number, each with the span of what denies it."""
    reading = read(text)
    harmless = [match.span() for match in _BOUNDING.finditer(reading.text)]
    cues = [match.span() for match in _DENYING.finditer(reading.text)]
    cues += [(word.start, word.end) for word in reading.words if word.negates]
    found: dict[int, Span] = {}
    for start, end in cues:
        if any(low <= start < high for low, high in harmless):
            continue
        run = reading.run_at((start, end))
        target = _target(reading, run[1]) if run else None
        if target is not None:
            found.setdefault(target, (start, end))
    return found


def _target(reading: Reading, cue: int) -> int | None:
    """Return the first word that carries meaning behind a denial and is no adverb."""
    own = reading.sentences[cue]
    for at in range(cue + 1, min(cue + 1 + _REACH, len(reading.words))):
        word = reading.words[at]
        if reading.sentences[at] != own or _parts(reading, at):
            return None
        if reading.content[at] and word.text not in _SKIPPED and not word.text.endswith("ly"):
            return at
    return None


def _parts(reading: Reading, at: int) -> bool:
    """Whether a mark or a joint stands before a word."""
    between = reading.text[reading.words[at - 1].end : reading.words[at].start]
    return reading.words[at].text in _JOINTS or bool(between.strip(_QUOTES))


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

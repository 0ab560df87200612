"""What a claim puts in the place of something it denies: "to the director, not to the committee".

Such a claim says itself what it is against. It is contradicted where a sentence has what the claim
denies, says it plainly, and lacks what the claim puts in its place.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from evidentia.judges.arabic.facts import Facts, Telling, share
from evidentia.judges.arabic.standing import CELLS
from evidentia.judges.arabic.values import are_same
from evidentia.language.arabic.lexicon import NEGATIONS
from evidentia.language.arabic.words import Token, tokens
from evidentia.language.lexicon import word_set
from evidentia.language.quantities import Quantity

_NOT: Final = word_set("لا ولا")
_IS_NOT: Final = word_set("وليس وليست")
_INSTEAD: Final = {"بدلا": "من", "عوضا": "عن"}
_SMALL: Final = word_set("من عن الي في علي لدي مع")
_VERBS: Final = frozenset("يتنا")
_SIGNS: Final = frozenset("،؛.;,:!؟?()|")
_ENGLISH = re.compile(r"\brather than\b|\binstead of\b|,\s+(?:and\s+)?not\b", re.IGNORECASE)
_ENGLISH_NOT: Final = word_set("not never no without nor neither except unless than of")
_LONGEST: Final = 4
_BEFORE: Final = 3
_CONTEXT: Final = 0.1


@dataclass(frozen=True, slots=True)
class Contrast:
    """What a claim denies, as it is worded, and the sentence that says it."""

    denied: str
    said: Facts


def contrasted(claim: Facts, sentences: tuple[Facts, ...]) -> Contrast | None:
    """Return what a claim denies in favour of something else, where a sentence says it plainly."""
    everything = frozenset[str]().union(*(said.keys for said in sentences))
    values_there = [one for said in sentences for one in said.quantities]
    for start, end in _marks(claim):
        denied = [word for word in claim.telling if word.start >= end]
        values = [one for one in claim.quantities if one.start >= end]
        instead = [word for word in claim.telling if word.start < start][-max(1, len(denied)) :]
        others = [one for one in claim.quantities if one.end <= start][-1:]
        if not (denied or values) or len(denied) > _LONGEST:
            continue
        rest = Facts(claim.text, tuple(_without(claim, denied, instead)), (), claim.is_arabic)
        for said in sentences:
            here = said.quantities if CELLS in said.text else values_there
            if (
                _has(said, denied, values)
                and not _denies(said, denied, values)
                and _lacks(everything, here, instead, others if values else [])
                and (len(denied) > 1 or share(rest, said.keys) >= _CONTEXT)
            ):
                return Contrast(claim.text[end:].strip(" .،"), said)
    return None


def _without(claim: Facts, denied: list[Telling], instead: list[Telling]) -> Iterator[Telling]:
    return (word for word in claim.telling if word not in denied and word not in instead)


def _marks(claim: Facts) -> Iterator[tuple[int, int]]:
    """Give where a claim turns from what it says to what it denies, up to its end."""
    if not claim.is_arabic:
        yield from (match.span() for match in _ENGLISH.finditer(claim.text))
        return
    found = tokens(claim.text)
    for at in range(1, len(found) - 1):
        behind = found[at + 1]
        mark = found[at]
        goes_on = any(token.text in _SIGNS for token in found[at + 1 : -1])
        if found[at - 1].text in _SIGNS - {"،"} or goes_on:
            continue
        if _INSTEAD.get(mark.text) == behind.text:
            yield mark.start, behind.end
        elif mark.text in _IS_NOT or (mark.text in _NOT and _is_noun(behind)):
            yield mark.start, mark.end


def _is_noun(token: Token) -> bool:
    """Whether what is denied is a thing, and no verb: it has an article, marks or a preposition."""
    return (
        token.kind != "word"
        or token.text in _SMALL
        or token.text.startswith(("ال", "لل", "بال"))
        or token.text[0] not in _VERBS
    )


def _has(said: Facts, denied: list[Telling], values: list[Quantity]) -> bool:
    return all(not word.keys.isdisjoint(said.keys) for word in denied) and all(
        any(are_same(one, other) for other in said.quantities) for one in values
    )


def _lacks(
    keys: frozenset[str], here: Sequence[Quantity], instead: list[Telling], others: list[Quantity]
) -> bool:
    """Whether something is missing of what a claim puts in the place of what it denies."""
    if others:
        return not any(are_same(one, other) for one in others for other in here)
    return any(word.keys.isdisjoint(keys) for word in instead)


def _denies(said: Facts, denied: list[Telling], values: list[Quantity]) -> bool:
    """Whether a "not" stands before what a sentence has of the denied."""
    places = [
        word.start
        for word in said.telling
        if any(not word.keys.isdisjoint(other.keys) for other in denied)
    ]
    places += [
        one.start for one in said.quantities if any(are_same(other, one) for other in values)
    ]
    found = tokens(said.text)
    for place in places:
        before = [token.text for token in found if token.start < place][-_BEFORE:]
        if any(word in _ENGLISH_NOT or word in NEGATIONS or word in _INSTEAD for word in before):
            return True
    return False

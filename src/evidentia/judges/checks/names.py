"""Names: whom and what a claim names, compared with the names of a passage.

A part of a name, its initials, a possessive and the adjective of a country stand for the name. A
name that is nowhere in the passage is absent, or exchanged if another name stands in its place.
Two names that both texts have may be exchanged around the same verb.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from evidentia.judges.checks.model import Check, CheckKind, agrees, differs
from evidentia.language.lexicon import DAYS, MONTHS, NATIONS, STOP_WORDS, word_set
from evidentia.language.negation import denied
from evidentia.language.readings import Reading, covers, read, same_place

_TITLES: Final = word_set(
    "mr mrs ms dr sir lord lady president king queen prince princess professor captain saint st "
    "the general senator governor pope emperor chancellor i"
)
_NOT_NAMES: Final = (
    frozenset(MONTHS)
    | STOP_WORDS
    | _TITLES
    | frozenset(DAYS)
    | word_set("ii iii iv vi vii viii ix")
)
_SYMMETRIC: Final = word_set(
    "met meet meets marry marries married divorced dated play played plays worked collaborated "
    "fought border borders starred star stars include includes including featured features like"
)
"""Verbs that hold both ways."""
_BESIDE = re.compile(r"[\s.'\u2019-]{1,3}|\s+(?:of|de|von|van|da|del|the|of the|&)\s+")
_LEAST_SHARED: Final = 5
_HALF: Final = 0.5
_BETWEEN: Final = 3
_STATES: Final = ("united", "states")
_SHORTEST: Final = 3
"""How long a name is at least: "TV" and "TN" are short for too many things."""


@dataclass(frozen=True, slots=True)
class _Name:
    """A name: the numbers of its first and last word, and its words without case."""

    first: int
    last: int
    parts: tuple[str, ...]
    starts: bool
    """Whether it is one word at the beginning of a sentence, and may be no name."""


def name_checks(claim: Reading, evidence: Reading) -> Iterator[Check]:
    """Compare the names of a claim with those of a passage, then who does what to whom."""
    names = _names(claim.text)
    there = _names(evidence.text)
    known = _known(evidence.text)
    surely = {part for name in (*names, *there) if not name.starts for part in name.parts}
    stand = []
    for name in names:
        if name.starts and name.parts[0] not in surely:
            continue
        if len("".join(name.parts)) < _SHORTEST:
            continue
        span = claim.span(name.first, name.last)
        told = claim.said(span)
        place = _found(name, evidence, known)
        if place is not None:
            reason = f'the passage names "{told}"'
            yield agrees(CheckKind.NAME, span, evidence.span(place), reason)
            stand.append(name)
            continue
        if not _is_told_in_part(name, evidence, known):
            yield _missing(claim, name, evidence, there, names)
    yield from _role_checks(claim, stand, evidence, there)


@lru_cache(maxsize=4_096)
def _names(text: str) -> tuple[_Name, ...]:
    """Return the runs of words with a capital."""
    reading = read(text)
    found: list[_Name] = []
    for at, word in enumerate(reading.words):
        shown = reading.text[word.start]
        if not shown.isupper() or _plain(word.text) in _NOT_NAMES or word.is_number:
            continue
        before = found[-1] if found else None
        if before and before.last < at and _is_beside(reading, before.last, at):
            parts = (*before.parts, _plain(word.text))
            found[-1] = _Name(before.first, at, parts, starts=False)
        else:
            starts = at == 0 or reading.sentences[at - 1] != reading.sentences[at]
            found.append(_Name(at, at, (_plain(word.text),), starts))
    return tuple(found)


def _is_beside(reading: Reading, last: int, at: int) -> bool:
    """Whether a word goes on with the name before it."""
    between = reading.text[reading.words[last].end : reading.words[at].start]
    same = reading.sentences[last] == reading.sentences[at]
    return same and _BESIDE.fullmatch(between) is not None


def _plain(word: str) -> str:
    """Return a word without its possessive."""
    return word.removesuffix("'s").removesuffix("'")


@lru_cache(maxsize=4_096)
def _known(text: str) -> dict[str, int]:
    """Return every word of a text without its possessive, with its place."""
    return {_plain(word.text): at for at, word in reversed(tuple(enumerate(read(text).words)))}


def _found(name: _Name, evidence: Reading, known: dict[str, int]) -> int | None:
    """Return where a name, its last part or its initials stand in a passage."""
    places = [known[part] for part in name.parts if part in known]
    if len(places) == len(name.parts):
        return places[0]
    initials = "".join(part[0] for part in name.parts)
    if len(initials) > 1 and initials in known:
        return known[initials]
    if len(name.parts) == 1 or name.parts == _STATES:
        return _by_form("america" if name.parts == _STATES else name.parts[0], evidence, known)
    return None


def _by_form(part: str, evidence: Reading, known: dict[str, int]) -> int | None:
    """Return where a country's other name, or a name in another form, stands."""
    nation = NATIONS.get(part)
    for word, place in known.items():
        if nation is not None and NATIONS.get(word) == nation:
            return place
        if word[:_LEAST_SHARED] == part[:_LEAST_SHARED] and len(part) >= _LEAST_SHARED:
            return place
    return _acronym(part, evidence)


def _acronym(part: str, evidence: Reading) -> int | None:
    """Return the name in a passage whose initials a word is."""
    for name in _names(evidence.text):
        if len(part) > 1 and part in "".join(word[0] for word in name.parts):
            return name.first
    return None


def _is_told_in_part(name: _Name, evidence: Reading, known: dict[str, int]) -> bool:
    """Whether a part of a name stands in the passage, by itself or in a name like it."""
    return any(part in known or _by_form(part, evidence, known) is not None for part in name.parts)


def _missing(
    claim: Reading,
    name: _Name,
    evidence: Reading,
    there: tuple[_Name, ...],
    names: tuple[_Name, ...],
) -> Check:
    span = claim.span(name.first, name.last)
    told = claim.said(span)
    own = {part for one in names for part in one.parts}
    for other in there:
        if (
            own.isdisjoint(other.parts)
            and same_place(claim, (name.first, name.last), evidence, (other.first, other.last))
            and covers(claim, name.first, evidence, other.first, _HALF)
        ):
            place = evidence.span(other.first, other.last)
            reason = f'the claim says "{told}" where the passage says "{evidence.said(place)}"'
            return differs(CheckKind.NAME, span, place, reason)
    return differs(CheckKind.NAME, span, None, f'the passage does not name "{told}"')


def _role_checks(
    claim: Reading, names: list[_Name], evidence: Reading, there: tuple[_Name, ...]
) -> Iterator[Check]:
    """Find two names that the passage has the other way round, with the same verb between them."""
    for subject, second in pairwise(names):
        verb = _verb(claim, subject, second)
        if verb is None:
            continue
        for one, other in pairwise(there):
            place = _verb(evidence, one, other)
            if place is None or evidence.words[place].stem != claim.words[verb].stem:
                continue
            crossed = _is_one(subject, other) and _is_one(second, one)
            straight = _is_one(subject, one) and _is_one(second, other)
            turned = _is_passive(claim, verb, second) != _is_passive(evidence, place, other)
            if crossed not in (straight, turned):
                span = claim.span(subject.first, second.last)
                reason = (
                    f'who "{claim.words[verb].text}" whom is the other way round in the passage'
                )
                yield differs(CheckKind.NAME, span, evidence.span(one.first, other.last), reason)
                return


def _verb(reading: Reading, subject: _Name, second: _Name) -> int | None:
    """Return the only telling word between two names, unless it holds both ways."""
    if reading.sentences[subject.last] != reading.sentences[second.first]:
        return None
    between = range(subject.last + 1, second.first)
    telling = [at for at in between if reading.content[at]]
    if len(telling) != 1 or len(between) > _BETWEEN + 1:
        return None
    word = reading.words[telling[0]]
    text = reading.text[reading.words[subject.last].end : reading.words[second.first].start]
    is_told = (
        word.text not in _SYMMETRIC and "," not in text and telling[0] not in denied(reading.text)
    )
    return telling[0] if is_told else None


def _is_passive(reading: Reading, verb: int, second: _Name) -> bool:
    return any(word.text == "by" for word in reading.words[verb + 1 : second.first])


def _is_one(name: _Name, other: _Name) -> bool:
    return name.parts[-1] == other.parts[-1] or set(name.parts) <= set(other.parts)

"""Names: those of a corpus, another one in a name's place, and two that change places."""

import random
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from training.perturb.change import NOT_FOUND, Change, against
from training.perturb.patterns import HEDGED, NAME, SOME_OF
from training.substitutes import COUNTRIES, MONTHS, NO_NAME

_SORT: Final = {"by": "person", "actor": "person", "actress": "person", "singer": "person"} | {
    "in": "place",
    "near": "place",
    "from": "other",
    "with": "other",
    "the": "other",
}
_NAME_IN_PLACE = re.compile(rf"\b({'|'.join(_SORT)}) ({NAME})(?= ?[.,;]| and\b| in\b)")
_ONE_OF_A_KIND = re.compile(
    r"\b(?:(?:directed|written|founded|produced|created|composed|painted|designed|"
    r"invented|discovered|portrayed|played|succeeded|preceded|defeated|killed|hosted|"
    r"recorded|performed|narrated|coached) by|(?:born|died|located|situated|headquartered|based|"
    r"held|set|filmed|raised|buried) in|took place in|(?:capital|daughter|son|wife|husband|mayor|"
    r"father|mother|widow|author|governor|king|queen) of|married to|named after|"
    r"(?:city|town|village|river|district|county|university|school|municipality|commune|province)"
    r" in|replaced by|(?:novel|song|book|album|film|series|play) by)"
    rf" ({NAME})(?= ?[.;)]| ?, (?:who|which|and [a-z]|a|an|the|[a-z]+ing)\b"
    r"| (?:in|on|at|for|from|as|who|that)\b)"
)
"""Where a name stands for the one that did or is something, so that no other can stand there."""
_SUBJECT_IS_A = re.compile(
    rf"^({NAME})(?= ?\([^)]*\))? (?:\([^)]*\) )?(?:was born|is an?|was an?|died|grew up|graduated) "
)
_ASYMMETRIC: Final = (
    "defeated|beat|succeeded|replaced|killed|founded|bought|acquired|directed|wrote|attacked|"
    "invaded|conquered|taught|appointed|created|discovered|preceded|hired|fired|sued|assassinated|"
    "adopted|trained|coached|managed|owns|owned|published|produced|designed|invented|ruled|colonized|"
    "recorded"
)
_BY: Final = (
    "(?:directed|written|produced|composed|founded|created|edited|developed|published|narrated|"
    "distributed|released)"
)
_IS: Final = "(?:is|was)"
_ROLES: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"^({NAME}) (?:{_ASYMMETRIC}) ({NAME})(?= ?[.,;]| in\b| at\b| on\b| by\b)",
        (
            rf"^({NAME}) {_IS} (?:\w+ ){{0,2}}(?:{_ASYMMETRIC}) by ({NAME})"
            r"(?= ?[.;]| in\b| and [a-z])"
        ),
        (
            rf"^({NAME}) {_IS} the (?:father|mother|son|daughter|capital|author|founder|director|"
            r"mayor|president|largest city|second album|debut album|debut single) (?:of|by)"
            rf" ({NAME})(?= ?[.,;]| and\b|$)"
        ),
        (
            rf"^({NAME}) {_IS} (?:\w+ )?(?:located|situated|born|based|headquartered) in"
            rf" ({NAME})(?= ?[.,;])"
        ),
        rf"^({NAME}) {_IS} an? (?:[\w-]+ ){{1,4}}(?:in|by) ({NAME})(?= ?[.,;])",
        rf"\b{_BY} by ({NAME}) ?,? (?:and )?{_BY} by ({NAME})(?= ?[.,;])",
        rf"\bfrom ({NAME}) to ({NAME})(?= ?[.,;]| in\b)",
        rf"\bborn in ({NAME}) (?:and|but) (?:raised|grew up|died|educated) in ({NAME})(?= ?[.,;])",
        rf"\b(?:stars?|starring|starred|featur\w+) ({NAME}) as ({NAME})(?= ?,|\s?\.$| and\b)",
        rf"^({NAME}) (?:is|was|are|were) (?:\w+ ){{0,2}}(?:er|more \w+) than ({NAME})(?= ?[.,;])",
        rf"^({NAME}) [a-z]+ed (?:\w+ ){{0,4}}from ({NAME})(?= ?[.,;]| in\b)",
    )
)


@dataclass(frozen=True, slots=True)
class Names:
    """Names of a corpus, by what they seem to be names of."""

    people: tuple[str, ...]
    places: tuple[str, ...]
    others: tuple[str, ...]

    def like(self, name: str, context: str) -> tuple[str, ...]:
        """Return the names that may stand where this one does, after the words before it."""
        if name in COUNTRIES:
            return COUNTRIES
        if _holds(self.places, name) or context.endswith((" in", " near", "capital of")):
            return self.places
        person = _holds(self.people, name) or re.search(
            r"(?:ed|en|er|or|fe|nd|ght) (?:by|of)$", context
        )
        return self.people if person and 1 < len(name.split()) <= 3 else ()


def _holds(pool: Sequence[str], name: str) -> bool:
    place = bisect_left(pool, name)
    return place < len(pool) and pool[place] == name


def names_in(texts: Iterable[str]) -> Names:
    """Return the names that texts have within their sentences, told apart by the words before."""
    seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for text in texts:
        for match in _NAME_IN_PLACE.finditer(text):
            seen[match[2]][_SORT[match[1].lower()]] += 1
    groups: dict[str, list[str]] = {"person": [], "place": [], "other": []}
    for name in sorted(seen):
        sort, count = seen[name].most_common(1)[0]
        words = name.split()
        if any(month in words for month in MONTHS) or words[0] in {"The", "A", "An", "In"}:
            continue
        if sort == "person" and not (1 < len(words) <= 3 and count * 2 > seen[name].total()):
            sort = "other"
        if sort == "place" and seen[name]["person"]:
            sort = "other"
        groups[sort].append(name)
    return Names(tuple(groups["person"]), tuple(groups["place"]), tuple(groups["other"]))


def change_name(sentence: str, names: Names, source: random.Random) -> Iterator[Change]:
    """Give another name for the one that did or is something, or for the subject."""
    if HEDGED.search(sentence) or SOME_OF.search(sentence):
        return
    found = list(_ONE_OF_A_KIND.finditer(sentence))
    source.shuffle(found)
    for match in found:
        pool = names.like(match[1], sentence[: match.start(1)].rstrip())
        other = _another(match[1], pool, sentence, source)
        if other:
            yield against("name", sentence[: match.start(1)] + other + sentence[match.end(1) :])
    subject = _SUBJECT_IS_A.match(sentence)
    if subject and len(subject[1].split()) > 1 and subject[1].split()[0] not in NO_NAME:
        pool = names.people
        other = _another(subject[1], pool, sentence, source)
        if other and sentence.count(subject[1].split()[-1]) == 1:
            yield Change("name", other + sentence[subject.end(1) :], NOT_FOUND, NOT_FOUND)


def _another(name: str, pool: Sequence[str], sentence: str, source: random.Random) -> str | None:
    words = set(name.split())
    for _ in range(8 if pool else 0):
        other = source.choice(pool)
        if other not in sentence and not words & set(other.split()):
            return other
    return None


def swap_roles(sentence: str, _: Names, source: random.Random) -> Iterator[Change]:
    """Let two names change places, where who does what to whom is told by the places."""
    if HEDGED.search(sentence):
        return
    found = [match for pattern in _ROLES for match in pattern.finditer(sentence)]
    source.shuffle(found)
    for match in found:
        one, other = match[1], match[2]
        if set(one.split()) & set(other.split()) or {one.split()[0], other.split()[0]} & NO_NAME:
            continue
        between = sentence[match.end(1) : match.start(2)]
        if match.string[: match.start(1)].endswith("such ") or one in MONTHS or other in MONTHS:
            continue
        yield against(
            "role", sentence[: match.start(1)] + other + between + one + sentence[match.end(2) :]
        )

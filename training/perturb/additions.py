"""Additions: a detail more than the sentence says."""

import random
import re
from collections.abc import Iterator
from typing import Final

from training.perturb.change import NOT_FOUND, SUPPORTED, Change, put
from training.perturb.names import Names
from training.perturb.patterns import HEDGED, PAST, tail
from training.substitutes import NATIONALITIES

_BE = "(?:is|are|was|were)"
_ADDED: Final = (
    *("after a long dispute", "with the help of a friend", "at a cost of two million dollars"),
    *("in front of a large crowd", "on a rainy Sunday", "for the second time", "by mistake"),
    *("against strong opposition", "despite a serious illness", "ahead of schedule"),
    *("under a false name", "with great reluctance", "as part of a bet", "for a small fee"),
    *("shortly before midnight", "during a visit to his family", "to wide surprise"),
)
_QUALITIES: Final = (
    *("little-known", "controversial", "much-loved", "once-famous", "state-funded", "low-budget"),
    *("long-forgotten", "highly praised", "family-run", "prize-winning", "sparsely documented"),
)
_ADJECTIVES: Final = (
    *("award-winning", "left-handed", "little-known", "controversial", "wealthy", "retired"),
)
_FIRST_PAST = re.compile(r"\b(?:was|were|" + "|".join(sorted(PAST)) + r")\b")


def add_detail(sentence: str, names: Names, source: random.Random) -> Iterator[Change]:
    """Add a circumstance, a companion or a quality that the sentence leaves open."""
    if HEDGED.search(sentence) or not sentence.rstrip().endswith("."):
        return
    end = tail(sentence)
    body = sentence[: len(sentence) - len(end)]
    found: list[str] = []
    if _tells_an_event(body):
        found.append(f"{body} {source.choice(_ADDED)}{end}")
        if not re.search(r"\d{4}|\bin [A-Z]", body):
            found.append(f"{body} in {source.randint(1950, 2015)}{end}")
            if names.places:
                found.append(f"{body} in {source.choice(names.places)}{end}")
        if names.people and " with " not in body:
            found.append(f"{body} together with {source.choice(names.people)}{end}")
    match = re.search(
        rf"\b{_BE} (an?) (?=(?:(?:{'|'.join(NATIONALITIES)}) )?(?:\w+ )?"
        r"(?:actor|actress|singer|writer|author|politician|player|lawyer|director|novelist|"
        r"musician|engineer|journalist|artist|poet|painter|composer|producer|comedian)\b)",
        body,
    )
    if match:
        found.append(put(sentence, match.end(), match.end(), source.choice(_ADJECTIVES) + " "))
    thing = re.search(
        rf"\b(?:{_BE}|called|named|released|has|had|opened|wrote|bought|built|recorded|won) "
        r"(?:an?|the|his|her|its) (?=(?:\d{4} )?(?:[A-Z][a-z]+ )?(?:[a-z-]+ )?"
        r"(?:film|album|song|band|novel|book|company|village|city|town|school|building|house|"
        r"series|car|group|restaurant|game|single|player|man|woman|organization|agency|program)\b)",
        body,
    )
    if thing:
        new = source.choice(_QUALITIES)
        if new not in body:
            found.append(put(sentence, thing.end(), thing.end(), new + " "))
    if found:
        yield Change("added", source.choice(found), NOT_FOUND, SUPPORTED)


def _tells_an_event(body: str) -> bool:
    past = _FIRST_PAST.search(body)
    if not past or re.search(r"\b(?:is|are|has|have)\b", body):
        return False
    return past[0] not in {"was", "were"} or bool(
        re.search(r"\b(?:was|were) (?!born)\w+ed\b", body)
    )

"""Words: an opposite, or another of its kind, in a word's place."""

import random
import re
from collections.abc import Iterator, Mapping
from typing import Final

from training.perturb.change import Change, against, put
from training.perturb.names import Names
from training.perturb.patterns import HEDGED, OTHERS_TOO, SOME_OF
from training.substitutes import ANTONYMS, COMPARATIVES, NATIONALITIES, NO_NAME, NOT_AFTER, SISTERS

_IDIOMS = re.compile(
    r"\b(?:high school|at first|first time|first name|last name|best[- ]known|best[- ]selling|"
    r"living room|at best|light of|known as|known for|right now|so far|hard drive|public school|"
    r"at last|first lady|last year|last week|shortly after|named after|soon after|after all|"
    r"sooner or later|look after|looks after|took after|before him|good luck|as soft|white house|"
    r"public domain|general public|open source|first aid|light years?|regular season|first person|"
    r"older brother|first place|day before|day after|year before|real estate|better known|"
    r"true story|full[- ]time|full name|full[- ]length|real name|known|lead single|short story|"
    r"short film|short stories)\b"
)
_SISTERS_OF: Final = {word: group for group in reversed(SISTERS) for word in group}


def turn_comparative(sentence: str, _: Names, source: random.Random) -> Iterator[Change]:
    """Say the opposite of what compares or ranks."""
    if not _IDIOMS.search(sentence):
        yield from _swapped("comparative", COMPARATIVES, sentence, source)
    if not HEDGED.search(sentence):
        for pattern, new in (
            (r"\bthe most (?=[a-z]+\b)", "the least "),
            (r"\bthe least (?=[a-z]+\b)", "the most "),
            (r"\bmore (?=[a-z]+ than\b)", "less "),
            (r"\bless (?=[a-z]+ than\b)", "more "),
        ):
            match = re.search(pattern, sentence)
            if match:
                yield against(
                    "comparative", sentence[: match.start()] + new + sentence[match.end() :]
                )


def turn_word(sentence: str, _: Names, source: random.Random) -> Iterator[Change]:
    """Say the opposite of a word."""
    if not _IDIOMS.search(sentence):
        yield from _swapped("antonym", ANTONYMS, sentence, source)


def _swapped(
    kind: str, table: Mapping[str, str], sentence: str, source: random.Random
) -> Iterator[Change]:
    """Give a word's opposite, where the word is said of one thing and in its own sense."""
    if HEDGED.search(sentence) or OTHERS_TOO.search(sentence):
        return
    found = []
    for match in re.finditer(r"(?<![\w'\u2019-])[a-z]+(?:-[a-z]+)?(?![\w'\u2019-])", sentence):
        other = table.get(match[0])
        if len(re.findall(rf"\b{match[0]}\b", sentence)) > 1:
            continue
        before = sentence[: match.start()].split()[-1:]
        if other and not (
            before
            and (
                before[0].lower() in NOT_AFTER
                or (before[0][0].isupper() and match.start() and before[0] not in NO_NAME)
            )
        ):
            if (
                re.match(r" [A-Z]", sentence[match.end() :])
                and kind == "antonym"
                and match[0] not in {"northern", "southern", "eastern", "western"}
            ):
                continue
            if match[0] in {"begins", "starts", "began", "started"} and re.match(
                r" (?:to|\w+ing)\b", sentence[match.end() :]
            ):
                continue
            if (
                re.match(
                    rf" (?:and|to|of all|than) {other}\b|,? (?:and|&) ", sentence[match.end() :]
                )
                or other in sentence
            ):
                continue
            found.append((match, other))
    source.shuffle(found)
    for match, other in found:
        yield against(kind, put(sentence, match.start(), match.end(), other))


def change_noun(sentence: str, _: Names, source: random.Random) -> Iterator[Change]:
    """Give another of its kind for a thing, a nation or a day."""
    if HEDGED.search(sentence) or SOME_OF.search(sentence) or OTHERS_TOO.search(sentence):
        return
    found: list[Change] = []
    for match in re.finditer(r"(?<![\w'\u2019-])[a-z]+(?![\w'\u2019-])", sentence):
        group = _SISTERS_OF.get(match[0])
        if not group or any(word in sentence.lower().split() for word in group if word != match[0]):
            continue
        after = sentence[match.end() :]
        before = sentence[: match.start()].split()[-1:]
        if re.match(
            r" ?,? (?:and|&|to)\b| ?, [a-z]+ ?(?:,|and)| (?:series|director|producer|"
            r"market|line|critics?|maker|career|adaptation|industry|studios?|festival|score|version|"
            r"actor|actress|company|label|rights|school|office|court|music|chart|song|band)\b",
            after,
        ):
            continue
        if before and (
            before[0] in {"and", ","}
            or (before[0][0].isupper() and before[0] not in {*NO_NAME, *NATIONALITIES})
        ):
            continue
        other = source.choice([word for word in group if word != match[0]])
        found.append(against("noun", put(sentence, match.start(), match.end(), other)))
    for match in re.finditer(
        rf"\b(?:an?|the|\d{{4}}) ({'|'.join(NATIONALITIES)})(?= [a-z]+\b(?<!and))(?! and)", sentence
    ):
        other = source.choice([word for word in NATIONALITIES if word != match[1]])
        if sentence.count(match[1]) == 1 and other not in sentence:
            found.append(against("noun", put(sentence, match.start(1), match.end(1), other)))
    for match in re.finditer(
        r"\b(?:on|On) ((?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)\b", sentence
    ):
        days = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
        other = source.choice([day for day in days if day != match[1]])
        found.append(against("noun", sentence[: match.start(1)] + other + sentence[match.end(1) :]))
    source.shuffle(found)
    yield from found

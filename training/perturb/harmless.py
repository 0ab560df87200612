"""Harmless changes: the same in other words or figures, and what is left without a detail."""

import random
import re
from collections.abc import Iterator
from typing import Final

from training.perturb.change import NOT_FOUND, SUPPORTED, Change, put, same
from training.perturb.names import Names
from training.perturb.patterns import HEDGED, LEAD, MONTH, NAME, PAST, QUANTIFIED, tail
from training.perturb.values import numbers_in
from training.substitutes import JOBS, MONTHS, NATIONALITIES, NO_NAME, NUMBER_WORDS, SYNONYMS

_EXACT: Final = {
    "weeks": (7, "days"),
    "hours": (60, "minutes"),
    "minutes": (60, "seconds"),
    "decades": (10, "years"),
    "centuries": (100, "years"),
    "years": (12, "months"),
}
_RANGE_BEGINS = re.compile(
    rf"(?:\d|\b(?:{'|'.join(NUMBER_WORDS)})) ?(?:to|or|and|-|\u2013) ?$", re.IGNORECASE
)
"""What stands before the upper end of a range, whose unit is also that of the lower one."""
_SYNONYM = re.compile(
    r"(?<![\w'\u2019-])(?:"
    + "|".join(sorted(SYNONYMS, key=len, reverse=True))
    + r")(?![\w'\u2019-])"
)
_TELLS_TIME = re.compile(
    r"\b(?:\w+est|most|first|last|only|since|until|population|percent|more|less)\b|%"
)


def rewrite_number(sentence: str, _: Names, source: random.Random) -> Iterator[Change]:
    """Write a number as a word, or otherwise in figures."""
    found: list[str] = []
    for match in numbers_in(sentence):
        before, after = sentence[: match.start()], sentence[match.end() :]
        if (
            match[1].isdigit()
            and 1 < int(match[1]) < len(NUMBER_WORDS)
            and re.match(r" [a-z]{4}", after)
            and before
            and not re.search(r"[$€£] ?$", before)
        ):
            found.append(before + NUMBER_WORDS[int(match[1])] + after)
        if "," in match[1]:
            found.append(before + match[1].replace(",", "") + after)
        elif match[1].isdigit() and int(match[1]) > 9999:
            found.append(f"{before}{int(match[1]):,}{after}")
        million = re.match(r" (million|billion)\b", after)
        if million and "," not in match[1]:
            value = float(match[1]) * (1_000_000 if million[1] == "million" else 1_000_000_000)
            if value < 1e15 and value == int(value):
                found.append(f"{before}{int(value):,}{after[million.end() :]}")
        if re.match(r" ?%", after):
            found.append(before + match[1] + re.sub(r"^ ?%", " percent", after))
        elif re.match(r" per ?cent\b", after):
            found.append(before + match[1] + re.sub(r"^ per ?cent", "%", after))
    found += [
        sentence[: match.start()] + str(NUMBER_WORDS.index(match[1])) + sentence[match.end() :]
        for match in re.finditer(rf"(?<=[a-z] )({'|'.join(NUMBER_WORDS[2:])})(?= [a-z])", sentence)
    ]
    source.shuffle(found)
    yield from (same("number", text) for text in found[:1])


def rewrite_date(sentence: str, _: Names, source: random.Random) -> Iterator[Change]:
    """Write a date in another order."""
    for pattern, american in (
        (rf"\b(?P<d>\d{{1,2}}) (?P<m>{MONTH}) ?,? (?P<y>\d{{4}})\b", False),
        (rf"\b(?P<m>{MONTH}) (?P<d>\d{{1,2}}) ?, (?P<y>\d{{4}})\b", True),
    ):
        for match in list(re.finditer(pattern, sentence))[:1]:
            month = MONTHS.index(match["m"]) + 1
            iso = f"{match['y']}-{month:02}-{int(match['d']):02}"
            other = (
                f"{match['d']} {match['m']} {match['y']}"
                if american
                else f"{match['m']} {match['d']}, {match['y']}"
            )
            text = source.choice((other, other, iso))
            yield same("date", sentence[: match.start()] + text + sentence[match.end() :])


def convert_unit(sentence: str, _: Names, __: random.Random) -> Iterator[Change]:
    """Say a span of time in a smaller unit."""
    words = "|".join(NUMBER_WORDS[2:])
    for match in re.finditer(
        rf"(?<![\w.,\u2013-])(\d{{1,2}}|{words}) ({'|'.join(_EXACT)})\b(?! old| ago| of age)",
        sentence,
    ):
        if _RANGE_BEGINS.search(sentence, 0, match.start()):
            continue
        count = int(match[1]) if match[1].isdigit() else NUMBER_WORDS.index(match[1])
        if match[2] == "years" and count > 3:
            continue
        size, unit = _EXACT[match[2]]
        yield same(
            "unit", f"{sentence[: match.start()]}{count * size} {unit}{sentence[match.end() :]}"
        )


def contract(sentence: str, _: Names, __: random.Random) -> Iterator[Change]:
    """Write out a contraction, or make one."""
    match = re.search(
        r"\b(is|are|was|were|has|have|had|did|does|do|should|would|could) ?"
        r"(not\b|n['\u2019]t\b)(?! only)",
        sentence,
    )
    if match:
        new = "n't" if match[2] == "not" else " not"
        yield same("contraction", sentence[: match.end(1)] + new + sentence[match.end() :])
    elif match := re.search(r"\b(?:cannot|can't|won't|will not)\b", sentence):
        new = {"cannot": "can't", "can't": "cannot", "won't": "will not", "will not": "won't"}[
            match[0]
        ]
        yield same("contraction", sentence[: match.start()] + new + sentence[match.end() :])


def use_synonym(sentence: str, _: Names, source: random.Random) -> Iterator[Change]:
    """Say a word in another way."""
    found = list(_SYNONYM.finditer(sentence))
    source.shuffle(found)
    for match in found:
        before = sentence[: match.start()].split()[-1:]
        if before and before[0][0].isupper() and before[0] not in {*NO_NAME, *NATIONALITIES}:
            continue
        if re.match(r" [A-Z]", sentence[match.end() :]) and match[0] in {"film", "movie", "famous"}:
            continue
        yield same("synonym", put(sentence, match.start(), match.end(), SYNONYMS[match[0]]))


def drop_detail(sentence: str, _: Names, source: random.Random) -> Iterator[Change]:
    """Leave out what only adds: an aside, an apposition, a date, a profession."""
    if HEDGED.search(sentence) or (QUANTIFIED.match(sentence) and not LEAD.match(sentence)):
        return
    found: list[tuple[str, str]] = []
    aside = re.search(r" ?\((?! ?(?:not|formerly)\b)[^()]{4,}\)(?= [a-z])", sentence)
    if aside:
        found.append(("aside", sentence[: aside.start()] + sentence[aside.end() :]))
    lead = LEAD.match(sentence)
    if lead and not _TELLS_TIME.search(sentence) and not re.search(r"\d", sentence[lead.end() :]):
        rest = sentence[lead.end() :]
        found.append(("adjunct", rest[0].upper() + rest[1:]))
    trail = re.search(
        rf" (?:in|on) (?:(?:\d{{1,2}} )?{MONTH} (?:\d{{1,2}} ?, )?)?\d{{4}}(?= ?\.$)", sentence
    )
    if (
        trail
        and not _TELLS_TIME.search(sentence)
        and not re.search(r"\d|\bborn$|\bdied$", sentence[: trail.start()])
    ):
        found.append(("adjunct", sentence[: trail.start()] + sentence[trail.end() :]))
    relative = re.search(
        r" ?, (?:who|which|whose|an?|the) [^,;()]{5,60} ?,"
        rf"(?= (?:is|was|were|are|has|had|{'|'.join(PAST)})\b)",
        sentence,
    )
    if (
        relative
        and "," not in sentence[: relative.start()]
        and not re.match(r"(?:In|On|At|During)\b", sentence)
    ):
        found.append(("apposition", sentence[: relative.start()] + sentence[relative.end() :]))
    called = re.match(rf"^({NAME}) ?, (an? [a-z][^,;()]{{3,40}}) ?, (is|was)\b", sentence)
    if called:
        found.append(("apposition", f"{called[1]} {called[3]} {called[2]}{tail(sentence)}"))
    jobs = re.search(
        r"\b(is|was) (an?) ((?:[A-Z][a-z]+ )?)([a-z]+)((?: ?, [a-z]+)*) ?,? and ([a-z]+) ?\.$",
        sentence,
    )
    if jobs:
        all_jobs = [jobs[4], *re.findall(r"[a-z]+", jobs[5]), jobs[6]]
        if all(job in JOBS for job in all_jobs):
            start = sentence[: jobs.start(3)]
            job = source.choice(all_jobs)
            found.append(
                ("conjunct", put(start, len(start), len(start), jobs[3] + job) + tail(sentence))
            )
    source.shuffle(found)
    for kind, text in found[:2]:
        yield Change(f"harmless:{kind}", text, SUPPORTED, NOT_FOUND)

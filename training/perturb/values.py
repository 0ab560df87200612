"""Values: another number, date or unit in the place of one that is said of the same thing."""

import random
import re
from collections.abc import Iterator

from training.perturb.change import Change, against, put
from training.perturb.names import Names
from training.perturb.patterns import HEDGED, MONTH
from training.substitutes import MONTHS, NUMBER_WORDS, ORDINALS, UNITS

_YEAR = re.compile(r"(?<![\w.,/$-])(1[0-9]\d\d|20[0-2]\d)(?![\w/-]|[.,]\d)")
_NUMBER = re.compile(
    r"(?<![\w.,/:\u2013-])(\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)(?![\w/:\u2013-]|[.,]\d)"
)
_BOUND = re.compile(
    r"\b(?:than|least|most|over|under|above|below|up to|exceed\w*|minimum|maximum|within|every|per|"
    r"nearly|almost|by|until|before|after)\s+(?:[$€£] ?)?$",
    re.IGNORECASE,
)
_ABOUT = re.compile(r"\b(?:about|around|approximately|roughly|some|circa|c\.)\s+$", re.IGNORECASE)
_DATE = re.compile(rf"\b(\d{{1,2}}) ({MONTH})\b|\b({MONTH}) (\d{{1,2}})\b(?! ?[\u2013-])")


def numbers_in(sentence: str) -> list[re.Match[str]]:
    """Return the numbers that count something: no years, no days of a date, no part of a name."""
    taken = [place for match in _DATE.finditer(sentence) for place in range(*match.span())]
    found = []
    for match in _NUMBER.finditer(sentence):
        before = sentence[: match.start()].split()[-1:]
        after = sentence[match.end() :].lstrip()[:1]
        if match.start() in taken or (_YEAR.fullmatch(match[1]) and after != "%"):
            continue
        if before and before[0][:1].isupper() and len(sentence[: match.start()].split()) > 1:
            continue
        if (
            after.isupper()
            or after in set("'\u2019\u2013-/:;")
            or (before and before[0][-1] in "\"'`\u201d#")
        ):
            continue
        found.append(match)
    return found


def change_number(sentence: str, _: Names, source: random.Random) -> Iterator[Change]:
    """Give another number, of the same kind, for one that counts or ranks something."""
    if HEDGED.search(sentence):
        return
    found = numbers_in(sentence)
    source.shuffle(found)
    for match in found:
        before, after = sentence[: match.start()], sentence[match.end() :]
        if _BOUND.search(before) or re.match(r" (?:of|out of) ", after):
            continue
        share = bool(re.match(r" ?(?:%|per ?cent)", after))
        far = bool(_ABOUT.search(before))
        other = _other_number(match[1], source, share=share, far=far)
        if other:
            yield against("number", before + other + after)
    for match in re.finditer(r"\b(" + "|".join(NUMBER_WORDS[2:]) + r")(?= [a-z])", sentence):
        before = sentence[: match.start()]
        if (
            _BOUND.search(before)
            or _ABOUT.search(before)
            or re.match(r" (?:of|or)\b", sentence[match.end() :])
        ):
            continue
        near = [word for word in NUMBER_WORDS[2:13] if word != match[1]]
        yield against("number", before + source.choice(near) + sentence[match.end() :])
    for match in re.finditer(
        rf"\b(?:the|his|her|their|its|a) ({'|'.join(ORDINALS)}) (?!time|half|largest|most)[a-z]",
        sentence,
    ):
        other = source.choice([word for word in ORDINALS if word != match[1]])
        yield against("number", put(sentence, match.start(1), match.end(1), other))


def _other_number(written: str, source: random.Random, *, share: bool, far: bool) -> str | None:
    value = float(written.replace(",", ""))
    if value in {0, 1} or (share and value >= 100):
        return None
    if "." in written:
        places = len(written.split(".")[1])
        other = value * source.choice((0.4, 0.6, 1.5, 1.9) if not far else (0.3, 3.0))
        if share and other > 100:
            other = value * 0.4
        text = f"{other:,.{places}f}" if "," in written else f"{other:.{places}f}"
        return text if text != written and float(text.replace(",", "")) > 0 else None
    whole = int(value)
    zeros = 10 ** (len(str(whole)) - len(str(whole).rstrip("0")))
    ways = [max(1, round(whole * part / zeros)) * zeros for part in (0.4, 0.7, 1.4, 2.3)]
    if not share:
        ways += [whole * 10]
    if far:
        ways = [max(1, round(whole * part / zeros)) * zeros for part in (0.3, 3, 5)]
    elif whole > 9 and zeros == 1:
        ways += [whole + source.choice((-3, -2, -1, 1, 2, 3)), int(str(whole)[::-1])]
    elif whole <= 9:
        ways = [whole + step for step in (-3, -2, -1, 1, 2, 3, 4)]
    ways = [way for way in ways if way > 1 and way != whole and not (share and way > 99)]
    if not ways:
        return None
    other_whole = source.choice(ways)
    return f"{other_whole:,}" if "," in written or other_whole > 9999 else str(other_whole)


def change_date(sentence: str, _: Names, source: random.Random) -> Iterator[Change]:
    """Give another year, month or day."""
    if HEDGED.search(sentence):
        return
    found: list[Change] = []
    for match in _YEAR.finditer(sentence):
        before = sentence[: match.start()]
        placed = re.search(
            r"(?:\b(?:in|since|from|[Ii]n early|[Ii]n late|to|an?|born|of|In|"
            rf"{MONTH}(?: \d{{1,2}})? ?,?)|\(|\u2013|--) ?$",
            before,
        )
        if not placed or re.match(r"[\u2013-]", sentence[match.end() :]):
            continue
        step = source.choice((-20, -11, -5, -3, -2, -1, 1, 2, 4, 7, 10, 17))
        year = min(int(match[1]) + step, 2024)
        other = str(year) if year != int(match[1]) else str(year - 3)
        if other not in sentence:
            found.append(against("date", before + other + sentence[match.end() :]))
    for match in re.finditer(
        rf"\b(?:on|in|On|In|\() ?(?:\d{{1,2}} )?({MONTH})\b(?! [A-Z])", sentence
    ):
        other = source.choice([month for month in MONTHS if month != match[1]])
        found.append(against("date", put(sentence, match.start(1), match.end(1), other)))
    for match in _DATE.finditer(sentence):
        group = 1 if match[1] else 4
        day = int(match[group])
        other = str(source.choice([one for one in range(1, 29) if one != day]))
        found.append(
            against("date", sentence[: match.start(group)] + other + sentence[match.end(group) :])
        )
    source.shuffle(found)
    yield from found


def change_unit(sentence: str, _: Names, source: random.Random) -> Iterator[Change]:
    """Give another unit or currency to a number."""
    if HEDGED.search(sentence):
        return
    numbers = "|".join(NUMBER_WORDS[2:])
    found = list(
        re.finditer(
            rf"(?:\d|\b(?:{numbers})) ({'|'.join(UNITS)})\b(?! old| ?\(| ?of age)", sentence
        )
    )
    source.shuffle(found)
    for match in found:
        before = sentence[: match.start()]
        # A value in brackets gives the same in another unit, and so would the changed one.
        if "(" in sentence or re.search(
            r"\b(?:over|than|least|most|to|nearly)\b[^;]*$", before[-25:]
        ):
            continue
        other = UNITS[match[1]]
        if other in sentence:
            continue
        yield against("unit", sentence[: match.start(1)] + other + sentence[match.end(1) :])
    for match in re.finditer(r"([$€£])(?= ?\d)", sentence):
        other = source.choice([sign for sign in "$€£" if sign != match[1]])
        if "(" not in sentence and not re.search(r"(?:US|A|C) ?$", sentence[: match.start()]):
            yield against("unit", sentence[: match.start()] + other + sentence[match.end() :])

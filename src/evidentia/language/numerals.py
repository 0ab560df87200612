"""Numerals: the quantities of a text, found and read as values.

"COVID-19", "ISO 27001" and "Article 3.2" are names, and no quantities. A quantity knows what it is
a quantity of ("15 days of annual leave") and what it is per ("2 days a month"). Number words of
English and of Arabic, and the digits of both, are understood. What can be read in two ways
("1.000", "01/02/2024") is left alone.
"""

# ruff: noqa: RUF001 - the dashes, digits and words of other scripts are what is read here

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Final

from evidentia.language.arabic.quantities import find_arabic_quantities
from evidentia.language.arabic.words import is_arabic
from evidentia.language.dates import CLOCK, DATE, UNREADABLE, read_clock, read_date
from evidentia.language.digits import TO_WESTERN
from evidentia.language.lexicon import (
    EXCEED,
    LESS,
    MORE,
    NO,
    ONES,
    PERIODS,
    SMALL_NUMBERS,
    STOP_WORDS,
    TENS,
    any_of,
    word_set,
)
from evidentia.language.quantities import Bound, Quantity, bound_before
from evidentia.language.units import (
    CURRENCIES,
    SCALES,
    UNITS,
    WORKING,
)


def _bounds(**words: str) -> tuple[tuple[Bound, re.Pattern[str]], ...]:
    """Return the patterns of words that stand right before a quantity and bound it."""
    return tuple(
        (bound, re.compile(rf"\b(?:{words[bound]})\s+(?:the\s+|an?\s+)?$", re.IGNORECASE))
        for bound in _ORDER
    )


@lru_cache(maxsize=16_384)
def find_quantities(text: str) -> tuple[Quantity, ...]:
    """Find the quantities and dates of a text, in order; their slices equal their `text`.

    A sentence is meant: of a longer text only the first 4,000 code points are read.
    """
    if is_arabic(text):
        return tuple(
            found for found in find_arabic_quantities(text) if found.dimension not in _RANKS
        )
    plain = text[:_LONGEST].translate(TO_WESTERN)  # one character for one: offsets stay
    plain = _RANGE_WORD.sub(_dash, plain)
    found: list[Quantity] = []
    for pattern, reader in _READERS:
        taken = [(quantity.start, quantity.end) for quantity in found]
        for match in pattern.finditer(plain):
            if not any(start < match.end() and match.start() < end for start, end in taken):
                quantity = reader(match, plain)
                found += [quantity] if quantity else []
    found.sort(key=lambda quantity: quantity.start)
    return tuple(
        replace(quantity, text=text[quantity.start : quantity.end])
        for quantity in found
        if quantity.dimension != UNREADABLE
    )


_RANKS: Final = frozenset({"ordinal", "weekday"})
"""What is read in Arabic and is no quantity: "the first", "Monday"."""
_LONGEST: Final = 4_000
_ORDER: Final[tuple[Bound, ...]] = ("at_least", "at_most", "more_than", "less_than", "about")
"""In which order bounds are looked for: "no more than" has "more than" in it."""
_digits: Final = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_small: Final = (
    rf"(?:(?:{any_of(TENS)})(?:[\s-](?:{any_of(ONES)}))?"
    rf"|(?:{any_of(SMALL_NUMBERS)}))"
)
_hundreds: Final = rf"(?:(?:an?|{_small})\s+hundred(?:(?:\s+and)?\s+{_small})?|{_small})"
_large: Final = "thousand|million|billion"
_spelled: Final = (
    rf"(?:(?:{_hundreds}|an?(?=\s+(?:{_large})\b))"
    rf"(?:\s+(?:{_large})(?:(?:\s+and)?\s+{_hundreds})?)?)"
)
_unit: Final = any_of(UNITS)
_scale: Final = any_of(SCALES)
_signs: Final = any_of(name for name in CURRENCIES if len(name) <= len("usd"))
_names_of_money: Final = any_of(name for name in CURRENCIES if len(name) > 1)

_RANGE_WORD = re.compile(
    r"(?<=\d)\s+to\s+(?=[$€£]?\d)"
    rf"|(?<=\d)(?P<unit>\s?(?:%|{_unit}))\s+to\s+(?=[$€£]?\d)"
    rf"|\b(?P<between>between\s+[$€£]?(?:{_digits})(?:\s?(?:%|{_unit}))?)\s+and\s+(?=[$€£]?\d)",
    re.IGNORECASE,
)
"""The words between the two ends of a range."""
_ONE = re.compile(
    r"\b(?:within|after|for|least|most|than|about)\s+(?P<one>an?)\s+(?:(?:full|whole|calendar)\s+)?"
    rf"(?P<unit>{_unit})(?!\w)",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    rf"""(?<![\w.,/\#§:$€£¥−-])
    (?:(?P<before>{_signs})\s?)?
    (?P<number>
        (?P<sign>[−-](?=\d))?(?P<digits>{_digits})
        (?:\s?(?P<first>{_unit})?\s*[–—-]\s*[$€£]?(?P<high>{_digits}))?
        (?:\s?(?P<scale>{_scale})\b)?
      | (?P<spelled>{_spelled})\b(?:\s*\(\s*(?P<repeated>{_digits})\s*%?\s*\))?
    )
    (?:
        \s?(?P<percent>%|٪)
      | \s?(?P<symbol>[$€£¥])
      | [\s-]+(?P<after>{_names_of_money})\b
      | [\s-]+(?:(?P<kind>[^\W\d_]+(?:[\s-]+[^\W\d_]+){{0,2}})[\s-]+)??(?P<unit>{_unit})(?!\w)
      | \s?(?P<glued>°[cf]|[kcm]m|[km]g|[gmtk]b|ml|hrs?|mins?|bps)\b
    )?
    (?!\w|-\w|[.,:/]\d)""",
    re.IGNORECASE | re.VERBOSE,
)

_BOUNDS: Final[tuple[tuple[Bound, re.Pattern[str]], ...]] = (
    *_bounds(
        at_least=rf"at least|{NO} (?:{'|'.join(LESS)}) than|minimum(?: of)?",
        at_most=(
            rf"at most|{NO} (?:{'|'.join(MORE)}) than|up to|maximum(?: of)?|within"
            rf"|{EXCEED}|limited to|capped at"
        ),
        more_than="more than|over|exceeding|above|greater than|longer than",
        less_than="less than|fewer than|under|below|shorter than",
        about=r"about|around|approximately|approx\.?|roughly|nearly|almost|some|circa|ca\.",
    ),
    ("at_most", re.compile(r"\b(?:maximum|max|limit|cap|ceiling)\b[^,;.\d]{0,50}$", re.IGNORECASE)),
    ("at_least", re.compile(r"\b(?:minimum|min)\b[^,;.\d]{0,50}$", re.IGNORECASE)),
)
"""Words before a quantity, the first that stand there count; the last two may stand further off."""
_BOUND_AFTER = re.compile(
    r"(?:[\s,]+(?:or|and)\s+(?:(?P<more>more|longer|older|above|over)|less|fewer|shorter|younger|below)"
    r"|\s+(?:at\s+)?(?:(?P<least>minimum|least)|maximum|most))\b",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"(?:\b(?:articles?|sections?|clauses?|chapters?|parts?|annex|appendix|schedule|figures?|tables?|"
    r"pages?|pp?\.|no\.|number|paragraphs?|para\.|rules?|items?|steps?|version|v\.|phase|tier|"
    r"levels?|class|type|form|line|room|building|flight|claim|question|option|grade|chapter|regulation|"
    r"directive|standard|week|day|month|year|quarter|top|covid|المادة|البند)|§|\#)\s*$",
    re.IGNORECASE,
)
_NAME_BEFORE = re.compile(r"\b(?P<name>[^\W\d_]\S*)\s+$")
_OF = re.compile(
    r"(?:['’]s?)?[\s-]+(?:of\s+(?:(?:the|an?|their|your|its|our)\s+)?)?"
    r"(?P<words>[^\W\d_]+(?:[\s-]+[^\W\d_]+){0,3})"
)
_ADVERBS: Final = frozenset(name for name in PERIODS if name.endswith("ly"))
_PER = re.compile(
    r"(?:\b(?:per|each|every|an?)\s+(?:calendar\s+|full\s+|completed\s+)?|/\s?)"
    rf"(?P<noun>{any_of(PERIODS.keys() - _ADVERBS)})\b|\b(?P<adverb>{any_of(_ADVERBS)})\b",
    re.IGNORECASE,
)
_NOT_PER = re.compile(r"[,;.\d]|\b(?:and|or|but)\b")
_HALF = re.compile(r"\s+(?:and\s+a\s+)?half\b", re.IGNORECASE)
_TWO_READINGS = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_NO_NUMBER = re.compile(r"0\d+|\d{10,}")
_PART_OF_ANOTHER = re.compile(r"\d\s\0|\0\s\d|\(\0\)")
"""A number (at the zero) beside another one, or alone in brackets: part of an id, a reference."""
_YEARS: Final = range(1900, 2101)
_YEAR_BEFORE = re.compile(
    r"\b(?:in|since|by|of|until|from|during|year|fy|fiscal|early|late|mid|before|after)\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_NOT_MEASURED: Final = word_set(
    "before after prior ago later earlier following annually yearly monthly weekly daily hourly "
    "maximum minimum max min apart long old early advance beforehand respectively total each"
)
"""Words behind a quantity that do not name what it is a quantity of."""
_PLAIN_KINDS: Final = WORKING | word_set(
    "calendar consecutive full whole additional extra paid unpaid"
)
_LOOK_BEHIND, _LOOK_AHEAD = 70, 80


def _dash(match: re.Match[str]) -> str:
    """Return the text of a range's words with a dash in place of "to" or "and", as long."""
    kept = match["unit"] or match["between"] or ""
    return kept + "–".center(len(match[0]) - len(kept))


def _one(match: re.Match[str], plain: str) -> Quantity | None:
    """Read "within a week"; "15 days a year" is a rate."""
    dimension, factor = UNITS[match["unit"].lower()]
    start, end = match.start("one"), match.end()
    measured = _measured(plain[end : end + _LOOK_AHEAD])
    return Quantity(
        dimension,
        factor,
        _bound(plain, start, end),
        "",
        start,
        end,
        measured=measured,
        number=1.0,
    )


def _number(match: re.Match[str], plain: str) -> Quantity | None:
    groups = match.groupdict()
    unit = (groups["unit"] or groups["glued"] or groups["percent"] or "").lower()
    kind = groups["kind"] or ""
    start, end = match.span()
    if kind and not _is_kind(kind, unit):
        unit = kind = ""
        end = match.end("number")
    currency = groups["before"] or groups["symbol"] or groups["after"]
    values = _values(groups, unit, currency)
    after = plain[end : end + _LOOK_AHEAD]
    if (
        values is None
        or _HALF.match(after)
        or (unit.startswith("quarter") and after.startswith(" of"))
    ):
        return None
    named = " ".join(word for word in kind.lower().split() if word not in _PLAIN_KINDS)
    measured = named or _measured(after)
    if currency:
        dimension, factor = f"money {CURRENCIES[currency.lower()]}", 1.0
    elif unit:
        dimension, factor = UNITS[unit]
        if WORKING & set(kind.lower().split()):
            dimension = f"working {dimension}"
    else:
        dimension, factor = _bare(match, plain, measured), 1.0
    if not dimension:
        return None
    low, high = sorted(values)
    period = _per(after)
    return Quantity(
        dimension,
        low * factor,
        _bound(plain, start, end),
        "",
        start,
        end,
        upper=high * factor if groups["high"] else None,
        measured="" if dimension == "year" else measured,
        per=PERIODS[(period["noun"] or period["adverb"]).lower()] if period else "",
        per_span=(end + period.start(), end + period.end()) if period else (0, 0),
        number=low,
    )


def _is_kind(kind: str, unit: str) -> bool:
    """Whether words between a number and a unit belong to it: "20 vacation days"."""
    parts = kind.lower().replace("-", " ").split()
    plain = all(part in _PLAIN_KINDS for part in parts)
    return plain or (unit.endswith("s") and not any(part in STOP_WORDS for part in parts))


def _values(
    groups: dict[str, str | None], unit: str, currency: str | None
) -> tuple[float, float] | None:
    """Return a number's value, or a range's ends; None if it is none or reads in two ways."""
    numbers = [text for text in (groups["digits"] or groups["repeated"], groups["high"]) if text]
    if any(_TWO_READINGS.fullmatch(text) or _NO_NUMBER.fullmatch(text) for text in numbers):
        return None
    first = groups["first"]
    if first and UNITS[first.lower()][0] != UNITS.get(unit, ("", 0.0))[0]:
        return None
    scale = (groups["scale"] or "").lower()
    if len(scale) == 1 and not currency:
        return None  # "5 m" are metres or millions
    factor = SCALES.get(scale, 1.0) * (-1.0 if groups["sign"] else 1.0)
    values = [float(text.replace(",", "")) * factor for text in numbers]
    if not values:
        values = [_spelled_value(groups["spelled"] or "")]
    return values[0], values[-1]


def _bare(match: re.Match[str], plain: str, measured: str) -> str:
    """Return the dimension of a number without a unit, or "" if it is a name or an article."""
    before = plain[max(0, match.start() - _LOOK_BEHIND) : match.start()]
    after = plain[match.end("number") : match.end("number") + 2]
    if _NAMED.search(before) or _PART_OF_ANOTHER.search(f"{before}\0{after}"):
        return ""
    if match["spelled"] and not match["repeated"] and _spelled_value(match["spelled"]) <= 1:
        return ""
    ends = [text for text in (match["digits"], match["high"]) if text]
    years = ends and not match["scale"] and all(_is_year(text) for text in ends)
    if years and (_YEAR_BEFORE.search(before) or not measured):
        return "year"
    name = _NAME_BEFORE.search(before)
    if name and name["name"].isupper() and len(name["name"]) > 1:
        return ""
    is_name = name and name["name"][0].isupper() and name["name"].lower() not in STOP_WORDS
    return "" if is_name and not measured else "number"


def _is_year(text: str) -> bool:
    return text.isdigit() and len(text) == len("2026") and int(text) in _YEARS


def _measured(after: str) -> str:
    """Return what a quantity is one of: the words behind it, up to the first that is no name."""
    match = _OF.match(after)
    found = []
    for word in match["words"].lower().split() if match else ():
        if word in STOP_WORDS or word in _NOT_MEASURED:
            break
        found.append(word)
    return " ".join(found)


def _per(after: str) -> re.Match[str] | None:
    """Find the period that a quantity is for, within its clause."""
    cut = _NOT_PER.search(after)
    return _PER.search(after[: cut.start()] if cut else after)


def _bound(plain: str, start: int, end: int) -> Bound:
    behind = _BOUND_AFTER.match(plain, end)
    if behind:
        return "at_least" if behind["more"] or behind["least"] else "at_most"
    return bound_before(plain[max(0, start - _LOOK_BEHIND) : start], _BOUNDS)


def _spelled_value(text: str) -> float:
    total = current = 0.0
    for word in re.split(r"[\s-]+", text.lower()):
        if word in SMALL_NUMBERS:
            current += SMALL_NUMBERS[word]
        elif word == "hundred":
            current = (current or 1.0) * 100
        elif word in SCALES:
            total += (current or 1.0) * SCALES[word]
            current = 0.0
    return total + current


_Reader = Callable[[re.Match[str], str], Quantity | None]
_READERS: Final[tuple[tuple[re.Pattern[str], _Reader], ...]] = (
    (DATE, read_date),
    (CLOCK, read_clock),
    (_ONE, _one),
    (_NUMBER, _number),
)
"""How quantities are read, the more telling forms first: what one has read no other reads."""

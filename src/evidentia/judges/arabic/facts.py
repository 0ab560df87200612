"""Facts: what a text in Arabic or English is about, its values, and whether it denies.

The two languages are read into the same values and the same keys, so that an Arabic claim can be
held against an English passage and the other way round.
"""

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from evidentia.language.arabic.concepts import arabic_keys, english_keys
from evidentia.language.arabic.dates import dated
from evidentia.language.arabic.lexicon import LIGHT, NEGATIONS, STOP_WORDS
from evidentia.language.arabic.quantities import find_arabic_quantities
from evidentia.language.arabic.words import bare_forms, has_arabic, tokens
from evidentia.language.lexicon import (
    DAYS,
    MONTH_NAMES,
    MULTIPLES,
    ORDINALS,
    any_of,
    word_set,
)
from evidentia.language.measures import LIGHT as ENGLISH_LIGHT
from evidentia.language.numerals import find_quantities
from evidentia.language.quantities import Quantity
from evidentia.language.words import words

_WEEKDAY = re.compile(rf"\b(?P<day>{any_of(DAYS)})s?\b", re.IGNORECASE)
_MONTH = re.compile(rf"\b(?P<month>{any_of(MONTH_NAMES)})\b")
_ORDINAL = re.compile(rf"\b(?P<rank>{any_of(ORDINALS)})\b", re.IGNORECASE)
_TIMES = re.compile(
    r"\b(?P<times>once(?=\s+(?:an?|every|each|per|only)\b)"
    rf"|{any_of(name for name in MULTIPLES if name != 'once')})\b",
    re.IGNORECASE,
)
"""How often something is; "once" is mostly another word for "as soon as" or "at once"."""


_PARTS: Final = {
    "half": 0.5, "one half": 0.5, "third": 1 / 3, "two thirds": 2 / 3, "two-thirds": 2 / 3,
    "quarter": 0.25, "three quarters": 0.75, "three-quarters": 0.75, "fifth": 0.2,
    "two fifths": 0.4, "tenth": 0.1,
}  # fmt: skip
_PART = re.compile(
    rf"\b(?P<half>half)\b|\b(?:an?\s+)?(?P<part>{any_of(_PARTS)})\s+of\b", re.IGNORECASE
)
_PART_UNITS: Final = {"minute": 60.0, "hour": 3_600.0, "day": 86_400.0, "week": 7 * 86_400.0}
_OF_UNIT = re.compile(
    rf"\b(?:an?\s+)?(?P<part>{any_of(_PARTS)})(?:\s+of)?\s+an?\s+(?P<unit>{any_of(_PART_UNITS)})\b",
    re.IGNORECASE,
)
"""A part of a unit: "half a day", "three quarters of an hour"."""
_DAY_OF_MONTH = re.compile(
    r"\b(?P<day>\d{1,2})(?:st|nd|rd|th)(?:\s+day)?\s+of\s+(?:each|every|the)\s+(?:\w+\s+)?month\b",
    re.IGNORECASE,
)
_CODES: Final = word_set("cad aud egp kwd jod iqd qar omr bhd mad tnd")
_CODE = re.compile(
    rf"\b(?P<before>{any_of(_CODES)})\s?(?P<number>\d[\d,]*(?:\.\d+)?)\b"
    rf"|\b(?P<number2>\d[\d,]*(?:\.\d+)?)\s?(?P<after>{any_of(_CODES)})\b",
    re.IGNORECASE,
)
_MONEY: Final = {
    "dinar": "dinar", "dinars": "dinar", "pound": "pound", "pounds": "pound", "lira": "lira",
    "liras": "lira", "dollar": "usd", "dollars": "usd", "riyals": "sar", "dirhams": "aed",
}  # fmt: skip
_NATIONS: Final = {
    "iraqi": "iqd", "kuwaiti": "kwd", "jordanian": "jod", "bahraini": "bhd", "tunisian": "tnd",
    "egyptian": "egp", "us": "usd", "american": "usd", "canadian": "cad", "moroccan": "mad",
    "qatari": "qar", "omani": "omr", "saudi": "sar", "lebanese": "lbp",
}  # fmt: skip
_POWER: Final = {"watt": 1.0, "watts": 1.0, "kilowatt": 1e3, "kilowatts": 1e3, "megawatt": 1e6,
                 "megawatts": 1e6}  # fmt: skip
_NOUN = re.compile(
    rf"\s+(?:(?P<nation>{any_of(_NATIONS)})\s+)?(?P<noun>{any_of(_MONEY | _POWER)})\b",
    re.IGNORECASE,
)
_HIJRI: Final = {
    "muharram": 1, "safar": 2, "rabi al-awwal": 3, "rabi al-thani": 4, "jumada al-ula": 5,
    "jumada al-akhirah": 6, "rajab": 7, "shaban": 8, "ramadan": 9, "shawwal": 10,
    "dhu al-qidah": 11, "dhu al-qadah": 11, "dhu al-hijjah": 12,
}  # fmt: skip
_HIJRI_DATE = re.compile(
    rf"(?:\b(?P<day>\d{{1,2}})\s+)?\b(?P<month>{any_of(_HIJRI)})\b(?:\s+(?P<year>1[34]\d\d))?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Telling:
    """A word that carries meaning, by its place and the keys it is compared by."""

    text: str
    keys: frozenset[str]
    start: int


@dataclass(frozen=True, slots=True)
class Facts:
    """What a text is about, word by word, and its quantities and dates."""

    text: str
    telling: tuple[Telling, ...]
    quantities: tuple[Quantity, ...]
    is_arabic: bool

    @property
    def keys(self) -> frozenset[str]:
        """The keys of all its words."""
        return frozenset[str]().union(*(word.keys for word in self.telling))


@lru_cache(maxsize=16_384)
def read_facts(text: str) -> Facts:
    """Return what a text is about; the same text gives the same object."""
    return _arabic(text) if has_arabic(text) else _english(text)


def share(claim: Facts, keys: frozenset[str]) -> float:
    """Return which part of the claim's words has one of the keys; 0 if it has no words."""
    found = sum(not word.keys.isdisjoint(keys) for word in claim.telling)
    return found / len(claim.telling) if claim.telling else 0.0


def _arabic(text: str) -> Facts:
    quantities = find_arabic_quantities(text)
    telling = []
    for token in tokens(text):
        if any(found.start <= token.start < found.end for found in quantities):
            continue
        if token.kind == "word" and not _says_nothing(token.text):
            telling.append(Telling(token.text, arabic_keys(token.text), token.start))
        elif token.kind == "other":
            telling.append(Telling(token.text, english_keys(token.text), token.start))
    return Facts(text, tuple(telling), quantities, is_arabic=True)


@lru_cache(maxsize=65_536)
def _says_nothing(word: str) -> bool:
    return any(
        form in STOP_WORDS or form in LIGHT or form in NEGATIONS for form in bare_forms(word)[:2]
    )


def _english(text: str) -> Facts:
    quantities = [_with_money(text, found) for found in find_quantities(text)]
    read = [*_hijri(text), *_parts_of_units(text), *_days_of_months(text)]
    quantities = read + [one for one in quantities if not _meets(one, read)]
    quantities += [one for one in _coded(text) if not _meets(one, quantities)]
    quantities += _named_values(text, quantities)
    telling = tuple(
        Telling(word.text, english_keys(word.text), word.start)
        for word in words(text)
        if word.is_content
        and not word.negates
        and word.stem not in ENGLISH_LIGHT
        and not any(found.start <= word.start < found.end for found in quantities)
    )
    return Facts(text, telling, tuple(sorted(quantities, key=_place)), is_arabic=False)


def _meets(one: Quantity, others: list[Quantity]) -> bool:
    return any(other.start < one.end and one.start < other.end for other in others)


def _with_money(text: str, found: Quantity) -> Quantity:
    """Return a bare number of dinars, pounds or watts as what it is a number of."""
    named = _NOUN.match(text, found.end) if found.dimension == "number" else None
    if named is None:
        return found
    noun, nation = named["noun"].lower(), (named["nation"] or "").lower()
    if noun in _POWER:
        return replace(found, dimension="power", value=found.value * _POWER[noun], measured="")
    return replace(found, dimension=f"money {_NATIONS.get(nation, _MONEY[noun])}", measured="")


def _coded(text: str) -> list[Quantity]:
    """Return amounts in currencies that are named by a code: "CAD 50"."""
    return [
        Quantity(
            f"money {(match['before'] or match['after']).lower()}",
            (value := float((match["number"] or match["number2"]).replace(",", ""))),
            "exact",
            match[0],
            *match.span(),
            number=value,
        )
        for match in _CODE.finditer(text)
    ]


def _hijri(text: str) -> list[Quantity]:
    """Return the Hijri dates of an English text."""
    found = []
    plain = re.sub(r"['\u2019\u02bf]", "", text)
    if len(plain) != len(text):
        text = plain.ljust(len(text))
    for match in _HIJRI_DATE.finditer(text):
        day, year = match["day"], match["year"]
        try:
            dimension, value = dated(
                int(year) if year else None,
                _HIJRI[match["month"].lower()],
                int(day) if day else None,
                hijri=True,
            )
        except ValueError:
            continue
        found.append(Quantity(dimension, value, "exact", match[0], *match.span()))
    return found


def _parts_of_units(text: str) -> list[Quantity]:
    """Return the durations of an English text that are a part of a unit."""
    return [
        Quantity(
            "time",
            (part := _PARTS[match["part"].lower()]) * _PART_UNITS[match["unit"].lower()],
            "exact",
            match[0],
            *match.span(),
            number=part,
        )
        for match in _OF_UNIT.finditer(text)
    ]


def _place(quantity: Quantity) -> int:
    return quantity.start


def _days_of_months(text: str) -> list[Quantity]:
    """Return the days that come every month: "the 21st of each month"."""
    return [
        Quantity("day of the month", float(match["day"]), "exact", match[0], *match.span())
        for match in _DAY_OF_MONTH.finditer(text)
    ]


def _named_values(text: str, known: list[Quantity]) -> list[Quantity]:
    """Return the weekdays, months, ranks and "twice" of an English text that are in no date."""
    found = [
        Quantity(
            "weekday", float(DAYS.index(match["day"].lower())), "exact", match[0], *match.span()
        )
        for match in _WEEKDAY.finditer(text)
    ]
    found += [
        Quantity(
            "month of the year",
            float(MONTH_NAMES.index(match["month"]) + 1),
            "exact",
            match[0],
            *match.span(),
        )
        for match in _MONTH.finditer(text)
    ]
    found += [
        Quantity(
            "ordinal", float(ORDINALS[match["rank"].lower()]), "exact", match[0], *match.span()
        )
        for match in _ORDINAL.finditer(text)
    ]
    found += [
        Quantity(
            "times", float(MULTIPLES[match["times"].lower()]), "exact", match[0], *match.span()
        )
        for match in _TIMES.finditer(text)
    ]
    found += [
        Quantity(
            "number",
            (value := _PARTS[(match["part"] or match["half"]).lower()]),
            "exact",
            match[0],
            *match.span(),
            number=value,
        )
        for match in _PART.finditer(text)
    ]
    return [one for one in found if not _meets(one, known)]

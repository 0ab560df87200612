"""The quantities and dates of an Arabic text, found and read as values.

"أسبوعين", "14 يومًا" and "أربعة عشر يومًا" are the same value. A bound and a rate are part of it:
"على الأقل", "لا يتجاوز", "شهريًا". Numbers of articles, of rooms and of telephones are none.
"""

# ruff: noqa: RUF001 - the words of Arabic are what is read here

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Final

from evidentia.language.arabic.bounds import bound_around, without_particles
from evidentia.language.arabic.dates import UNREADABLE, read_clock, read_date, read_weekday
from evidentia.language.arabic.numerals import looked_up, read_number
from evidentia.language.arabic.units import (
    ADVERBS,
    CURRENCIES,
    DUAL_MONEY,
    DUALS,
    NATIONS,
    PERIODS,
    PLURALS,
    UNITS,
)
from evidentia.language.arabic.words import Token, tokens
from evidentia.language.lexicon import word_list
from evidentia.language.quantities import Quantity
from evidentia.language.units import CURRENCIES as LATIN_CURRENCIES
from evidentia.language.units import UNITS as LATIN_UNITS

_LONGEST: Final = 4_000
_NAMED: Final = frozenset(
    word_list(
        "ماده بند رقم فقره باب فصل نموذج ملحق شكل جدول صفحه هاتف طابق دور وحده مبني غرفه قسم خط"
    )
)
"""Words before a number that is a name."""
_SCALES: Final = {
    "الف": 1e3, "الفا": 1e3, "الاف": 1e3, "مليون": 1e6, "مليونا": 1e6, "ملايين": 1e6,
    "مليار": 1e9, "مليارا": 1e9, "مليارات": 1e9,
}  # fmt: skip
_HALVES: Final = {"نصف": 0.5, "نصفا": 0.5, "ربع": 0.25, "ربعا": 0.25, "ثلث": 1 / 3}
_HUNDRED: Final = frozenset(word_list("الميه المايه بالميه بالمايه"))
_ONCE: Final = frozenset(
    word_list("خلال بعد قبل لمده مده مرور منذ طوال داخل قدره قدرها مدته مدتها غضون كامل نحو")
)
"""Words before a unit that stands for one of it."""
_SINGULAR: Final = (
    frozenset(name for name, (dimension, _) in UNITS.items() if dimension in ("time", "months"))
    - PLURALS
)
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_COMMA = re.compile(r"\d+,\d")
"""A number with a decimal comma, which parts no thousands: "43,6"."""
_TWO_READINGS = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_JOINS: Final = frozenset({"و", "او", "الي", "حتي", "-", "–", "—", "،"})
_EXACT_AFTER: Final = 4


_DEGREES: Final = frozenset(word_list("درجه درجات"))
_CELSIUS: Final = frozenset(word_list("ميويه مييويه سيلسيوس"))
_MARKED: Final[tuple[tuple[str, frozenset[str], frozenset[str]], ...]] = (
    ("percent", frozenset({"%", "بالميه", "بالمايه"}), frozenset()),
    ("percent", frozenset({"في"}), frozenset({"الميه", "المايه"})),
    ("points", frozenset(word_list("نقطه نقاط")), frozenset({"ميويه"})),
    ("celsius", _DEGREES, _CELSIUS),
    ("celsius", _DEGREES | _CELSIUS, frozenset()),
    ("area", frozenset({"م"}), frozenset({"²", "2"})),
)
"""Units that a sign, or two words, stand for: a dimension, the first word, and the second."""
_WEEK: Final = 7 * 86_400.0
_WORKING_WEEK: Final = 5 * 86_400.0
_WHOLE: Final = frozenset(word_list("كامل كامله كاملا"))
_AGE_BEFORE: Final = frozenset(word_list("سن عمر بلوغه بلوغها بلوغ دون تجاوز تجاوزوا السن العمر"))
_OF_AGE: Final = (["عمره"], ["عمرها"], ["العمر"])
_AGES: Final = range(2, 120)


_Unit = tuple[str, float, int]
"""A unit's dimension and factor, and where it ends."""


@dataclass(frozen=True, slots=True)
class _Read:
    """What was read at a place: a dimension, a value, and where it ends."""

    dimension: str
    value: float
    end: int
    per: str = ""
    bare: float | None = None


@lru_cache(maxsize=16_384)
def find_arabic_quantities(text: str) -> tuple[Quantity, ...]:
    """Find the quantities and dates of a text, in order; their slices equal their `text`."""
    found = tokens(text[:_LONGEST])
    read: list[tuple[int, _Read]] = []
    at = 0
    while at < len(found):
        one = _read(found, at)
        if one:
            read.append((at, one))
        at = one.end if one else at + 1
    _share_units(found, read)
    return tuple(
        _quantity(text, found, first, one) for first, one in read if one.dimension != UNREADABLE
    )


def currencies_in(text: str) -> frozenset[str]:
    """Return the currencies that a text names after an "in" without an amount: "باليورو"."""
    found = tokens(text[:_LONGEST])
    return frozenset(
        _nation(found, CURRENCIES[name], at + 1)[0]
        for at, token in enumerate(found)
        if token.text.startswith("بال")
        and (name := without_particles(token.text, CURRENCIES)) is not None
    )


def _quantity(text: str, found: Sequence[Token], first: int, read: _Read) -> Quantity:
    start, end = found[first].start, found[read.end - 1].end
    per, until = _per(found, read.end)
    noun = found[read.end] if read.end < len(found) else None
    counts = read.dimension == "number" and noun is not None and noun.kind == "word"
    return Quantity(
        read.dimension,
        read.value,
        bound_around(found, first, read.end),
        text[start:end],
        start,
        end,
        measured=noun.text if counts and noun else "",
        per=read.per or per,
        per_span=(end, found[until - 1].end) if per else (0, 0),
        number=read.bare,
    )


def _share_units(found: Sequence[Token], read: list[tuple[int, _Read]]) -> None:
    """Give numbers the unit of the one they are joined to: "3 و6 و12 شهرًا"."""
    for place in range(len(read) - 2, -1, -1):
        (_, one), (start, other) = read[place], read[place + 1]
        between = [token.text for token in found[one.end : start]]
        joined = found[start].text.startswith("و") or (len(between) == 1 and between[0] in _JOINS)
        counts = other.bare is not None and other.dimension not in ("number", "ordinal")
        if one.dimension == "number" and counts and joined and len(between) <= 1:
            factor = other.value / other.bare if other.bare else 1.0
            value = one.value * factor
            read[place] = (
                read[place][0],
                replace(one, dimension=other.dimension, value=value, bare=one.value),
            )


def _read(found: Sequence[Token], at: int) -> _Read | None:
    """Return the quantity or date that begins at a place."""
    for reader in (read_date, read_clock, read_weekday):
        dated = reader(found, at)
        if dated and not (dated[0] == "year" and _unit(found, at + 1)):
            return _Read(dated[0], dated[1], at + dated[2])
    read = _read_plain(found, at)
    while read and read.dimension in ("time", "months"):
        more = _added(found, read)
        if more is None:
            break
        read = more
    return read


def _added(found: Sequence[Token], read: _Read) -> _Read | None:
    """Return a duration with the one that an "and" adds to it: "ساعة وعشرون دقيقة"."""
    at = read.end
    if at >= len(found) or found[at].kind != "word" or not found[at].text.startswith("و"):
        return None
    unit = found[at].text[1:]
    if unit in _SINGULAR and UNITS[unit][0] == read.dimension:
        return replace(read, value=read.value + UNITS[unit][1], end=at + 1, bare=None)
    more = _read_plain(found, at)
    if more and more.dimension == read.dimension and more.value < read.value:
        return replace(read, value=read.value + more.value, end=more.end, bare=None)
    return None


def _read_plain(found: Sequence[Token], at: int) -> _Read | None:
    """Return the quantity, which is no date, that begins at a place."""
    token = found[at]
    if token.kind == "word":
        return _by_unit(found, at) or _by_word(found, at)
    if token.kind == "number":
        return _by_digits(found, at)
    signed = token.text in LATIN_CURRENCIES and at + 1 < len(found)
    amount = _by_digits(found, at + 1) if signed and found[at + 1].kind == "number" else None
    if amount is None:
        return None
    return replace(amount, dimension=f"money {LATIN_CURRENCIES[token.text]}")


def _by_unit(found: Sequence[Token], at: int) -> _Read | None:
    """Read a quantity that a unit begins: "يومين", "سنة ونصف", "الأيام الخمسة"."""
    unit = without_particles(found[at].text, UNITS)
    if unit is None:
        return _dual(found, at)
    dimension, factor = UNITS[unit]
    end = at + 1
    if _is_work(found, end):
        dimension, factor, end = _of_work(dimension, factor, end)
    number = read_number(found, end) if end < len(found) else None
    if number and not number.ordinal:
        article = found[end].text.startswith(("ال", "وال"))
        if (article and unit in PLURALS) or (number.value == 1 and number.length == 1):
            value = number.value
            return _Read(dimension, value * factor, end + number.length, bare=value)
    one = _Read(dimension, factor, end, bare=1.0)
    part, after = _part(found, end)
    if part and unit not in PLURALS:
        return replace(one, value=(1 + part) * factor, end=after, bare=1 + part)
    if unit == "مره":
        each = end < len(found) and (found[end].text == "كل" or _per(found, end)[0] != "")
        return one if each else None
    return _single(found, at, unit, one) if unit in _SINGULAR else None


def _dual(found: Sequence[Token], at: int) -> _Read | None:
    """Read what is two by its ending: "يومان", "يومي عمل", "درهمين"."""
    word = found[at].text
    end = at + 1
    dual = without_particles(word, DUALS)
    if dual and (not dual.endswith("ي") or _is_work(found, end)):
        dimension, value = DUALS[dual]
        if _is_work(found, end):
            dimension, value, end = _of_work(dimension, value, end)
        part, end = _part(found, end)
        return _Read(dimension, value + part * value / 2, end, bare=2.0)
    money = without_particles(word, DUAL_MONEY)
    if money is None:
        return _one_and_a_half(found, at)
    currency, end = _nation(found, CURRENCIES[money], end)
    return _Read(f"money {currency}", 2.0, end, bare=2.0)


def _one_and_a_half(found: Sequence[Token], at: int) -> _Read | None:
    """Read money with a part that an "and" adds to it: "بدينار ونصف"."""
    money = _money(found, at)
    part, end = _part(found, money[2]) if money else (0.0, at)
    return _Read(money[0], 1 + part, end, bare=1 + part) if money and part else None


def _single(found: Sequence[Token], at: int, unit: str, one: _Read) -> _Read | None:
    """Read a unit that stands for one of it: "خلال أسبوع"; in "خلال شهر الصوم" it is a name."""
    word = found[at].text
    if word.removeprefix("ال") == unit and _added(found, one):
        return one
    following = found[one.end].text if one.end < len(found) else ""
    before = found[at - 1].text if at else ""
    if following.startswith("ال"):
        return None
    alone = word == unit and (before in _ONCE or unit.endswith("ا"))  # "أسبوعًا": for a week
    prefixed = word in {f"{particle}{unit}" for particle in ("ب", "فب", "وب", "ل")}
    return one if alone or prefixed or following in _WHOLE else None


def _of_work(dimension: str, factor: float, at: int) -> _Unit:
    """Return a unit of work and where it ends: a week of work has five days."""
    weeks, rest = divmod(factor, _WEEK)
    return f"working {dimension}", weeks * _WORKING_WEEK if weeks and not rest else factor, at + 1


def _is_work(found: Sequence[Token], at: int) -> bool:
    """Whether a day or an hour is one of work."""
    return at < len(found) and found[at].text in {"عمل", "دوام", "دراسه", "دراسيه"}


def _part(found: Sequence[Token], at: int) -> tuple[float, int]:
    """Return the half or quarter that an "and" adds, and where it ends."""
    if at < len(found) and found[at].kind == "word":
        part = looked_up(found[at].text, _HALVES, joined=True)
        if part:
            return part, at + 1
    return 0.0, at


def _by_word(found: Sequence[Token], at: int) -> _Read | None:
    """Read a quantity whose number is in words."""
    number = None if found[at].text in _HUNDRED else read_number(found, at)
    if number is None:
        return None
    end = at + number.length
    if _is_age(found, at, end) and number.value in _AGES:
        return _Read("months", number.value * 12, end, bare=number.value)
    if number.ordinal:
        kind = "day of the month" if _is_of_month(found, end) else "ordinal"
        return None if _is_name(found, at) else _Read(kind, number.value, end)
    part, after = _part(found, end)
    if part and number.value >= 1:
        return _with_unit(found, number.value + part, after)
    return _with_unit(found, number.value, end)


def _is_age(found: Sequence[Token], at: int, end: int) -> bool:
    """Whether a number in words is somebody's age: "دون الثامنة عشرة", "بلوغه الستين"."""
    before = found[at - 1].text.removeprefix("ل") if at else ""
    behind = [token.text for token in found[end : end + 2]]
    told = before in _AGE_BEFORE or (behind[:1] == ["من"] and behind[1:] in _OF_AGE)
    return told and found[at].text.startswith("ال") and not _unit(found, end)


def _is_of_month(found: Sequence[Token], at: int) -> bool:
    """Whether a rank is that of a day in every month: "العاشر من كل شهر"."""
    return [token.text for token in found[at : at + 3]][:3] == ["من", "كل", "شهر"]


def _by_digits(found: Sequence[Token], at: int) -> _Read | None:
    """Read a quantity whose number is in digits."""
    text = found[at].text
    if _COMMA.fullmatch(text):
        text = text.replace(",", ".")
    if not _GROUPED.fullmatch(text) or _TWO_READINGS.fullmatch(text) or _is_name(found, at):
        return None
    if len(text) > 1 and text.startswith("0") and text[1].isdigit():
        return None
    end = at + 1
    value = float(text.replace(",", ""))
    if end < len(found) and found[end].kind == "word" and found[end].text in _SCALES:
        value, end = value * _SCALES[found[end].text], end + 1
    part, after = _part(found, end)
    return _with_unit(found, value + part, after if part else end)


def _is_name(found: Sequence[Token], at: int) -> bool:
    """Whether a number is part of a name: of an article, a room, a telephone, a model."""
    before = [token for token in found[max(0, at - 2) : at] if token.text not in "(:"]
    if before and before[-1].kind == "word" and without_particles(before[-1].text, _NAMED):
        return True
    glued = at > 0 and found[at - 1].end == found[at].start
    if glued and (found[at - 1].kind == "other" or found[at - 1].text in "-/#."):
        return True
    return found[at].kind == "number" and any(
        one.kind == other.kind == "number" and other.start - one.end == 1
        for one, other in pairwise(found[max(0, at - 1) : at + 2])
    )


def _unit(found: Sequence[Token], at: int) -> _Unit | None:
    """Return the unit that stands at a place."""
    if at >= len(found):
        return None
    if found[at].kind == "other":
        return _latin_unit(found[at].text, at)
    return _marked_unit(found, at) or _money(found, at) or _measure(found, at)


def _latin_unit(word: str, at: int) -> _Unit | None:
    if word in LATIN_CURRENCIES:
        return f"money {LATIN_CURRENCIES[word]}", 1.0, at + 1
    return (*LATIN_UNITS[word], at + 1) if word in LATIN_UNITS else None


def _marked_unit(found: Sequence[Token], at: int) -> _Unit | None:
    """Return percent, percentage points, degrees, or square metres by a sign."""
    word = found[at].text
    following = found[at + 1].text if at + 1 < len(found) else ""
    for dimension, first, second in _MARKED:
        if word in first and (not second or following in second):
            return dimension, 1.0, at + (2 if second else 1)
    return None


def _money(found: Sequence[Token], at: int) -> _Unit | None:
    money = without_particles(found[at].text, CURRENCIES)
    if money is None:
        return None
    currency, end = _nation(found, CURRENCIES[money], at + 1)
    return f"money {currency}", 1.0, end


def _measure(found: Sequence[Token], at: int) -> _Unit | None:
    """Return a unit by its name, with "square", "cubic" or "working" behind it."""
    word = found[at].text
    following = found[at + 1].text if at + 1 < len(found) else ""
    joined = word.startswith(("و", "لل")) and word not in UNITS
    unit = None if joined else without_particles(word, UNITS)
    if unit is None or following == "الاسبوع":
        return None
    dimension, factor = UNITS[unit]
    end = at + 1
    if dimension == "length" and following.startswith("مربع"):
        return "area", factor**2, end + 1
    if dimension == "length" and following.startswith("مكعب"):
        return "volume", factor**3 * 1e3, end + 1
    return _of_work(dimension, factor, end) if _is_work(found, end) else (dimension, factor, end)


def _nation(found: Sequence[Token], currency: str, at: int) -> tuple[str, int]:
    """Return which currency it is, by the nation behind its name, and where that ends."""
    if at < len(found) and found[at].kind == "word":
        word = found[at].text.removeprefix("ال")
        for ending in ("", "ا", "ه"):
            known = NATIONS.get((currency, word.removesuffix(ending)))
            if known:
                return known, at + 1
    return currency, at


def _with_unit(found: Sequence[Token], value: float, at: int) -> _Read:
    unit = _unit(found, at)
    if unit is None:
        return _Read("number", value, at, bare=value)
    dimension, factor, end = unit
    part, after = _part(found, end)
    if value < 1:
        part, after = 0.0, end
    return _Read(dimension, (value + part) * factor, after, bare=value + part)


def _per(found: Sequence[Token], at: int) -> tuple[str, int]:
    """Return the period that a quantity is for, and where its words end."""
    for place in range(at, min(at + _EXACT_AFTER, len(found))):
        token = found[place]
        if token.kind != "word":
            if token.text == "/" and place + 1 < len(found):
                name = without_particles(found[place + 1].text, PERIODS)
                return (PERIODS[name], place + 2) if name else ("", at)
            return "", at
        if token.text in ADVERBS:
            return PERIODS[token.text], place + 1
        if token.text in ("في", "كل", "لكل", "عن") and place + 1 < len(found):
            step = place + 1
            if found[step].text == "كل":
                step += 1
            name = without_particles(found[step].text, PERIODS) if step < len(found) else None
            if name and name not in ADVERBS:
                return PERIODS[name], step + 1
            if token.text != "في":
                return "", at
    return "", at

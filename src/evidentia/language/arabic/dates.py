"""Arabic dates, weekdays and times of day, in both calendars, read from folded tokens."""

# ruff: noqa: RUF001, RUF002 - the words of Arabic are what is read here

import re
from collections.abc import Collection, Sequence
from datetime import date
from typing import Final

from evidentia.language.arabic.hijri import hijri_day
from evidentia.language.arabic.numerals import looked_up, read_number
from evidentia.language.arabic.words import Token, folded
from evidentia.language.lexicon import ARABIC_HIJRI_MONTH_NAMES, ARABIC_MONTH_NAMES, word_list

_LEVANTINE: Final = (
    "كانون الثاني", "شباط", "اذار", "نيسان", "ايار", "حزيران", "تموز", "اب", "ايلول",
    "تشرين الاول", "تشرين الثاني", "كانون الاول",
)  # fmt: skip
_MAGHREBI: Final = {
    "جانفي": 1, "فيفري": 2, "افريل": 4, "ماي": 5, "جوان": 6, "جويليه": 7, "اوت": 8, "يوليوز": 7,
    "غشت": 8, "شتنبر": 9, "نونبر": 11, "دجنبر": 12, "ابريل": 4, "اكتوبر": 10,
}  # fmt: skip
MONTHS: Final = (
    {folded(name): number for number, name in enumerate(ARABIC_MONTH_NAMES, 1)}
    | {name: number for number, name in enumerate(_LEVANTINE, 1)}
    | _MAGHREBI
)
HIJRI_MONTHS: Final = {
    folded(name): number for number, name in enumerate(ARABIC_HIJRI_MONTH_NAMES, 1)
} | {
    "المحرم": 1, "ربيع الثاني": 4, "ربيع اول": 3, "جمادي الثانيه": 6, "ذي القعده": 11,
    "ذي الحجه": 12,
}  # fmt: skip
_UNSURE: Final = frozenset({"اب", "ماي", "جوان", "محرم", "صفر", "رجب"})
"""Names of months that are other words where neither a day nor a year stands beside them."""
WEEKDAYS: Final = {
    name: number
    for number, names in enumerate(("اثنين", "ثلاثاء", "اربعاء", "خميس", "جمعه", "سبت", "احد"))
    for name in names.split()
}
_DAY_WORDS: Final = frozenset(word_list("يوم يومي ايام"))
_BEFORE: Final = ("", "ال", "لل", "بال", "وال", "فال", "و", "ب", "ل", "ول", "وب")
_HALVES: Final = {
    name: half
    for half, names in (
        ("am", "صباحا صباح فجرا فجر"),
        ("noon", "ظهرا ظهر"),
        ("pm", "عصرا عصر مساء زوالا"),
        ("night", "ليلا"),
    )
    for name in names.split()
}
_HALVES_IN_WORDS: Final = (
    ("pm", ["بعد", "الظهر"]),
    ("pm", ["بعد", "الزوال"]),
    ("am", ["قبل", "الظهر"]),
    ("am", ["بعد", "منتصف", "الليل"]),
)
_CLOCK = re.compile(r"(?P<hour>[01]?\d|2[0-4])[:.](?P<minute>[0-5]\d)")
_DIGITS = re.compile(r"\d{1,2}")
_YEAR = re.compile(r"1[34]\d\d|19\d\d|20\d\d|2100")
_HIJRI_YEARS: Final = range(1300, 1501)
_MONTHS_A_YEAR: Final = 12
_NOON: Final = 12
_HOUR: Final = 60
_MORNING: Final = 5
_LEAP_YEAR: Final = 2000

UNREADABLE: Final = ""
"""The dimension of what looks like a date and is none: nothing else is to be read in it."""
_NO_TOKEN: Final = Token("", "", 0, 0)

Dated = tuple[str, float, int]
"""A dimension, a value, and how many tokens they take."""


def _name(word: str, names: Collection[str]) -> str | None:
    """Return which of the names a word is, without what is written onto it."""
    for before in _BEFORE:
        name = word.removeprefix(before)
        if before + name == word and name in names:
            return name
    return None


def _month(found: Sequence[Token], at: int) -> tuple[int, bool, int, str] | None:
    """Return a month's number, whether it is a Hijri one, its tokens, and its name."""
    if at >= len(found) or found[at].kind != "word":
        return None
    for length in (2, 1):
        words = found[at : at + length]
        if len(words) < length or any(token.kind != "word" for token in words):
            continue
        joined = " ".join(token.text for token in words)
        for table, hijri in ((MONTHS, False), (HIJRI_MONTHS, True)):
            name = _name(joined, table)
            if name:
                return table[name], hijri, length, name
    return None


def _year(found: Sequence[Token], at: int) -> tuple[int, int, bool] | None:
    """Return a year, where it ends, and whether it is a Hijri one; "عام" may stand before it."""
    if at < len(found) and found[at].text in {"عام", "سنه", "لعام", "لسنه", "من"}:
        at += 1
    if at < len(found) and found[at].text in {"عام", "سنه"}:
        at += 1
    if at >= len(found) or found[at].kind != "number" or not _YEAR.fullmatch(found[at].text):
        return None
    year = int(found[at].text)
    end = at + 1
    marked = end < len(found) and found[end].text in {
        "ه",
        "هجري",
        "هجريه",
        "م",
        "ميلادي",
        "ميلاديه",
    }
    return year, end + marked, year in _HIJRI_YEARS


def read_date(found: Sequence[Token], at: int) -> Dated | None:
    """Return the date that begins at a place: a day, a month of a year, or a day of any year."""
    return _slashed(found, at) or _in_names(found, at)


def _slashed(found: Sequence[Token], at: int) -> Dated | None:
    """Return a date in digits, the day first, or the year if it has four digits: "15/9/2025"."""
    first, mark, second, again, third = (
        token.text for token in (*found[at : at + 5], *[_NO_TOKEN] * 5)[:5]
    )
    if mark not in ("/", "-") or again != mark or found[at].kind != "number":
        return None
    day, month, year = (
        (third, second, first) if len(first) == len("2025") else (first, second, third)
    )
    try:
        dimension, value = dated(int(year), int(month), int(day), hijri=int(year) in _HIJRI_YEARS)
    except ValueError:
        return UNREADABLE, 0.0, 5
    return dimension, value, 5


def _in_names(found: Sequence[Token], at: int) -> Dated | None:
    """Return the date that begins at a place and has the name of a month, or a year alone."""
    day, end = _day(found, at)
    if day is not None:
        if end < len(found) and found[end].text == "من":
            end += 1
        if end < len(found) and _name(found[end].text, ("شهر",)):
            end += 1
    month = _month(found, end)
    if month is None:
        return _lone_year(found, at) if day is None else None
    number, hijri, length, name = month
    end += length
    year = _year(found, end)
    if year and year[2] != hijri:
        year = None
    if day is None and year is None and name in _UNSURE:
        return None
    taken = (year[1] if year else end) - at
    try:
        return (*dated(year[0] if year else None, number, day, hijri=hijri), taken)
    except ValueError:  # the 31st of February is no date, and 31 no number of Februaries
        return UNREADABLE, 0.0, taken


def dated(year: int | None, month: int, day: int | None, *, hijri: bool) -> tuple[str, float]:
    """Return a date's dimension and value; raise `ValueError` if there is no such day."""
    calendar = "hijri " if hijri else ""
    if day is None:
        if year is None:
            return f"{calendar}month of the year", month
        return f"{calendar}calendar month", year * _MONTHS_A_YEAR + month
    if year is None:
        if hijri:
            return "hijri day of the year", month * 100 + day
        return "day of the year", date(_LEAP_YEAR, month, day).toordinal()
    if hijri:
        return "hijri date", hijri_day(year, month, day)
    return "date", date(year, month, day).toordinal()


def _day(found: Sequence[Token], at: int) -> tuple[int | None, int]:
    """Return the day of a month in digits or as a rank, and where it ends."""
    token = found[at]
    if token.kind == "number" and _DIGITS.fullmatch(token.text):
        return int(token.text), at + 1
    number = read_number(found, at)
    if number and number.value in range(1, 32):
        return int(number.value), at + number.length
    return None, at


def _lone_year(found: Sequence[Token], at: int) -> Dated | None:
    """Return a year by itself: "عام 2024", "1446هـ"."""
    year = _year(found, at)
    if year is None:
        return None
    number, end, hijri = year
    named = found[at].kind == "word"
    marked = found[end - 1].kind == "word"
    if hijri and not (named or marked):
        return None
    if found[at].text == "من" and found[at + 1].kind != "number":
        named = True
    return ("hijri year" if hijri else "year", float(number), end - at)


def read_weekday(found: Sequence[Token], at: int) -> Dated | None:
    """Return the day of the week that stands at a place, Monday as 0."""
    word = found[at].text
    name = _name(word, WEEKDAYS)
    if name is None:
        return None
    before = found[at - 1].text if at else ""
    named = before == "كل" or any(before.endswith(day) for day in _DAY_WORDS)
    article = word.removesuffix(name).endswith(("ال", "لل"))
    return ("weekday", float(WEEKDAYS[name]), 1) if named or article else None


def read_clock(found: Sequence[Token], at: int) -> Dated | None:
    """Return a time of day in minutes; without its half of the day it is one of twelve hours."""
    start = at
    named = _name(found[at].text, ("ساعه",)) is not None and found[at].text != "ساعه"
    if named:
        at += 1
        if at >= len(found):
            return None
    read = _in_digits(found, at) or _in_words(found, at)
    if read is None:
        return None
    hour, minute, end, written = read
    half, end = _half(found, end)
    if not (named or half or written or minute) or hour > 2 * _NOON:
        return None
    if half and hour <= _NOON:
        return "clock", float(_hour(hour, half) * _HOUR + minute), end - start
    if written:
        return "clock", float(hour * _HOUR + minute), end - start
    return "clock of twelve", float(hour % _NOON * _HOUR + minute), end - start


def _half(found: Sequence[Token], at: int) -> tuple[str, int]:
    """Return the half of the day that a place names, and where it ends."""
    name = _name(found[at].text, _HALVES) if at < len(found) else None
    if name:
        return _HALVES[name], at + 1
    behind = [token.text for token in found[at : at + 3]]
    for half, words in _HALVES_IN_WORDS:
        if behind[: len(words)] == words:
            return half, at + len(words)
    return "", at


def _hour(hour: int, half: str) -> int:
    """Return the hour of the day of an hour in the morning, at noon, in the evening, at night."""
    late = {
        "am": False,
        "noon": hour == _NOON or hour < _MORNING,
        "pm": True,
        "night": _MORNING <= hour < _NOON,
    }[half]
    return hour % _NOON + (_NOON if late else 0)


def _in_digits(found: Sequence[Token], at: int) -> tuple[int, int, int, bool] | None:
    """Return hour and minute, where they end, and whether both are written: "17:30"."""
    if found[at].kind != "number":
        return None
    colon = [token.text for token in found[at : at + 3]]
    if len(colon) == 3 and colon[1] == ":":  # noqa: PLR2004 - an hour, a colon and a minute
        match = _CLOCK.fullmatch("".join(colon))
        return (int(match["hour"]), int(match["minute"]), at + 3, True) if match else None
    if _DIGITS.fullmatch(found[at].text):
        return int(found[at].text), 0, at + 1, False
    return None


def _in_words(found: Sequence[Token], at: int) -> tuple[int, int, int, bool] | None:
    """Return hour and minute in words: "التاسعة والنصف"."""
    number = read_number(found, at)
    if number is None or not (number.ordinal or number.value == 1) or number.value > _NOON:
        return None
    end = at + number.length
    minute = 0
    if end < len(found):
        part = looked_up(found[end].text, {"نصف": 30.0, "ربع": 15.0, "ثلث": 20.0}, joined=True)
        if part:
            return int(number.value), int(part), end + 1, False
        if found[end].text == "الا" and end + 1 < len(found):
            less = looked_up(
                found[end + 1].text,
                {"ربع": 15.0, "ربعا": 15.0, "ثلث": 20.0, "ثلثا": 20.0},
                joined=False,
            )
            if less:
                return int(number.value) - 1, _HOUR - int(less), end + 2, False
        minutes = _minutes(found, end)
        if minutes:
            return (*_moved(int(number.value), minutes[0]), minutes[1], True)
    return int(number.value), minute, end, False


def _minutes(found: Sequence[Token], at: int) -> tuple[int, int] | None:
    """Return the minutes that are added to an hour or taken off: "إلا خمس دقائق"."""
    less = found[at].text == "الا"
    joined = found[at].text.startswith("و")
    number = read_number(found, at + less) if at + less < len(found) and (less or joined) else None
    if number is None or number.ordinal:
        return None
    end = at + less + number.length
    if end < len(found) and found[end].text in {"دقيقه", "دقايق"} and number.value < _HOUR:
        return int(-number.value if less else number.value), end + 1
    return None


def _moved(hour: int, minutes: int) -> tuple[int, int]:
    return (hour, minutes) if minutes >= 0 else (hour - 1, _HOUR + minutes)

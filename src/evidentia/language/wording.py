"""Numbers with their nouns, dates, lists and names, as English and Arabic write them.

Numbers up to ten are written in words, from 11 on in digits, in both languages. In Arabic the noun
follows the number (العدد والمعدود), from 11 on by its last two digits:

==============  ===========================================  ==================
0               a sentence of its own, in the plural         لا توجد مصادر
1               the singular and "one", in its case          مصدر واحد
2               the dual alone, in its case                  مصدران، مصدرين
3 to 10         number of the other gender, plural           ثلاثة مصادر، ثلاث أدوات
… 03 to … 10    the plural, genitive                         103 مصادر
… 11 to … 99    the singular, accusative                     15 مصدرًا
… 00 to … 02    the singular, genitive                       100 مصدر، 102 مصدر
==============  ===========================================  ==================

The last line is what modern documents write beside digits; read aloud, 102 is مئة مصدر ومصدران.
Arabic texts have Western digits here, as bilingual documents in the Gulf mostly do: figures and
references look the same in both languages and can be compared at a glance. What takes a `Lang`
writes the digits and marks of that language.
"""

# ruff: noqa: RUF002 - Arabic numbers are what is written here

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import ROUND_FLOOR, Decimal
from math import isfinite
from typing import Final, Literal

from evidentia.errors import InputError
from evidentia.language.characters import strip_invisible
from evidentia.language.digits import TO_ARABIC
from evidentia.language.lexicon import (
    ARABIC_MONTH_NAMES,
    ARABIC_WITH_FEMININE,
    ARABIC_WITH_MASCULINE,
    CARDINALS,
    MONTH_NAMES,
)

Case = Literal["nominative", "accusative", "genitive"]
Lang = Literal["ar", "en"]

_DUAL: Final = 2
_LAST_WORD: Final = 10
"""The last number that is written in words."""
_FOREIGN_MARKS: Final = str.maketrans("[]“”„‟«»", "()''''''")


@dataclass(frozen=True, slots=True)
class CountedNoun:
    """A noun that can be counted in both languages.

    `plural` is the Arabic plural in the genitive, `none` the sentence that there are none,
    `complement` what follows the noun and its number.
    """

    singular: str
    plural: str
    english: str
    english_plural: str
    complement: str = ""
    none: str = ""

    @property
    def is_feminine(self) -> bool:
        """Whether the Arabic noun is feminine."""
        return self.singular.endswith("ة")

    @property
    def accusative(self) -> str:
        """The indefinite singular in the accusative, as after 11 to 99."""
        return _accusative(self.singular)

    def dual(self, case: Case) -> str:
        """Return the dual in its case."""
        stem = f"{self.singular[:-1]}ت" if self.is_feminine else self.singular
        return f"{stem}ان" if case == "nominative" else f"{stem}ين"


HOUR: Final = CountedNoun("ساعة", "ساعات", "hour", "hours")
DAY: Final = CountedNoun("يوم", "أيام", "day", "days")
YEAR: Final = CountedNoun("سنة", "سنوات", "year", "years")
MINUTE: Final = CountedNoun("دقيقة", "دقائق", "minute", "minutes")
SECOND: Final = CountedNoun("ثانية", "ثوانٍ", "second", "seconds")
BYTE: Final = CountedNoun("بايت", "بايتات", "byte", "bytes")
_LENGTHS: Final = ((86_400, DAY), (3_600, HOUR), (60, MINUTE), (1, SECOND))
_SIZES: Final = {
    "en": ("kB", "MB", "GB", "TB"),
    "ar": ("كيلوبايت", "ميغابايت", "غيغابايت", "تيرابايت"),
}
_THOUSAND: Final = 1_000


def counted_en(count: int, noun: CountedNoun) -> str:
    """Return a number with its noun in English: no sources, one source, 11 sources."""
    _check_count(count)
    number = ("no", *CARDINALS[1:])[count] if count <= _LAST_WORD else western_number(count)
    return f"{number} {noun.english if count == 1 else noun.english_plural}"


def counted_ar(count: int, noun: CountedNoun, case: Case = "nominative") -> str:
    """Return a number with its noun in Arabic, indefinite, in the case that its place asks for.

    For 0 it is a sentence of its own, which fits into no other.

    >>> counted_ar(2, SOURCE, "genitive")
    'مصدرين'
    """
    _check_count(count)
    told = _counted_ar(count, noun, case)
    return f"{told} {noun.complement}" if noun.complement else told


def _counted_ar(count: int, noun: CountedNoun, case: Case) -> str:
    match count:
        case 0:
            return noun.none or f"لا توجد {noun.plural}"
        case 1:
            words = (noun.singular, "واحدة" if noun.is_feminine else "واحد")
            return " ".join(map(_accusative, words) if case == "accusative" else words)
        case 2:
            return noun.dual(case)
        case _ if count <= _LAST_WORD:
            names = ARABIC_WITH_FEMININE if noun.is_feminine else ARABIC_WITH_MASCULINE
            return f"{names[count - 3]} {noun.plural}"
        case _:
            return f"{western_number(count)} {_beside_digits(count % 100, noun)}"


def _beside_digits(last_two: int, noun: CountedNoun) -> str:
    if last_two <= 2:  # noqa: PLR2004 - the table of the module
        return noun.singular
    return noun.plural if last_two <= _LAST_WORD else noun.accusative


def _accusative(word: str) -> str:
    return f"{word}ً" if word.endswith(("ة", "اء")) else f"{word}ًا"


def _check_count(count: int) -> None:
    if count < 0:
        raise InputError(f"{count} is not a count: it must be 0 or more")


def western_number(value: float) -> str:
    """Return a number in digits, with marks at the thousands and two decimals at most."""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{Decimal(repr(value)):,.2f}".rstrip("0").rstrip(".")


def western_percent(share: float) -> str:
    """Return a share from 0 to 1 in per cent, rounded down to a tenth: never more than it is."""
    if not 0 <= share <= 1:
        raise InputError(f"{share} is not a share: it must be from 0 to 1")
    tenths = (Decimal(repr(float(share))) * 100).quantize(Decimal("0.1"), ROUND_FLOOR)
    return f"{western_number(float(tenths))}%"


def digits(number: str, lang: Lang) -> str:
    """Return a number that is written in Western digits and marks as a language writes it."""
    return number.translate(TO_ARABIC) if lang == "ar" else number


def number(value: float, lang: Lang) -> str:
    """Return a number with marks at the thousands and two decimals at most: 1,200.5, ١٬٢٠٠٫٥."""
    return digits(western_number(value), lang)


def percent(share: float, lang: Lang) -> str:
    """Return a share from 0 to 1 in per cent, rounded down to a tenth: 12.5%, ١٢٫٥٪."""
    return digits(western_percent(share), lang)


def counted(count: int, noun: CountedNoun, lang: Lang) -> str:
    """Return a count in digits with its noun: 3 hours, ٣ ساعات; in Arabic one and two are words."""
    if lang == "en":
        return f"{western_number(count)} {noun.english if count == 1 else noun.english_plural}"
    if count == 0 or _DUAL < count <= _LAST_WORD:
        return f"{number(count, lang)} {noun.plural}"
    return digits(counted_ar(count, noun), lang)


def duration(seconds: float, lang: Lang) -> str:
    """Return a length of time in its two largest units: 2 hours 5 minutes, ساعتان و٥ دقائق.

    Less than a second is told in milliseconds, less than a minute to a tenth of a second.
    """
    if not isfinite(seconds) or seconds < 0:
        raise InputError(f"{seconds} is not a length of time: it must be 0 seconds or more")
    tenths = round(seconds, 1)
    if round(seconds * _THOUSAND) < _THOUSAND and seconds:
        unit = "ms" if lang == "en" else "مللي ثانية"
        return f"{number(round(seconds * _THOUSAND), lang)} {unit}"
    if tenths < _LENGTHS[-2][0] and tenths != int(tenths):
        return (
            f"{number(tenths, lang)} {SECOND.english_plural if lang == 'en' else SECOND.singular}"
        )
    return (" " if lang == "en" else " و").join(
        counted(count, noun, lang) for count, noun in _units(round(seconds))
    )


def byte_count(size: int, lang: Lang) -> str:
    """Return a number of bytes, in units of a thousand: 512 bytes, 12.4 kB, ١٢٫٤ كيلوبايت."""
    if size < _THOUSAND:
        return counted(size, BYTE, lang)
    values = ((size / _THOUSAND**power, unit) for power, unit in enumerate(_SIZES[lang], start=1))
    fitting = ((value, unit) for value, unit in values if round(value, 1) < _THOUSAND)
    value, unit = next(fitting, (size / _THOUSAND ** len(_SIZES[lang]), _SIZES[lang][-1]))
    return f"{number(round(value, 1), lang)} {unit}"


def date_en(timestamp: str) -> str:
    """Return the date of an ISO 8601 time, in the zone that it is written in: 15 November 2026."""
    day = _day(timestamp)
    return f"{day.day} {MONTH_NAMES[day.month - 1]} {day.year}"


def date_ar(timestamp: str) -> str:
    """Return the Gregorian date of a time in Arabic, in the zone that it is written in."""
    day = _day(timestamp)
    return f"{day.day} {ARABIC_MONTH_NAMES[day.month - 1]} {day.year}م"


def _day(timestamp: str) -> date:
    try:
        return datetime.fromisoformat(timestamp).date()
    except ValueError:
        raise InputError(
            f"{timestamp[:40]!r} is not a time as ISO 8601 writes it: 2026-11-15T09:30:00Z is one"
        ) from None


def list_en(items: Sequence[str]) -> str:
    """Return a list as a sentence has it: a, b and c."""
    return " and ".join(part for part in (", ".join(items[:-1]), *items[-1:]) if part)


def list_ar(items: Sequence[str]) -> str:
    """Return a list as an Arabic sentence has it: أ وب وج."""
    return " و".join(items)


def quotable(text: str) -> str:
    """Return a text from outside as it may be quoted within a sentence.

    It is on one line and has nothing that hides or reorders. Quotation marks become apostrophes
    and square brackets round ones: it cannot end its quotation or pass for a reference.
    """
    return " ".join(strip_invisible(text)[0].translate(_FOREIGN_MARKS).split())


def _units(seconds: int) -> Iterator[tuple[int, CountedNoun]]:
    """Return the largest unit with its count, and the next one unless it is none."""
    if not seconds:
        yield 0, SECOND
        return
    place = next(at for at, (length, _) in enumerate(_LENGTHS) if seconds >= length)
    for at, (length, noun) in enumerate(_LENGTHS[place : place + 2]):
        count, seconds = divmod(seconds, length)
        if count or not at:
            yield count, noun

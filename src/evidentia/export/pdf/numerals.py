"""Numbers as each language writes them, by one rule each.

English has Western digits. In Arabic, the quantities of a sentence have Arabic-Indic digits with
Arabic marks: counts, amounts, shares, years, times of day, the numbers of pages and references.
What names a thing stays as it is written, in both languages:

- what has Latin letters, or signs between its digits: codes, URIs, hashes, e-mail addresses, dates
  in digits, phone numbers, `§3.2`; and the numbers of Latin phrases ("ISO 27001", "15 MB");
- versions and the numbers of sections: "4.2.1", and "4.2" after a word such as الإصدار or المادة;
- numbers after رقم, those that begin with 0, and those of 7 digits or more without marks.

So does an Arabic number among Arabic words in English. Quotations are evidence, and not for here:
they are printed with the digits that they have.
"""

# ruff: noqa: RUF001, RUF002 - the digits and marks of Arabic are what is written here

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from math import isfinite
from typing import Final, Literal

from evidentia.errors import InputError
from evidentia.export.pdf.direction import Span, arabic_spans, latin_spans
from evidentia.language.digits import TO_ARABIC, TO_WESTERN
from evidentia.packs.wording import (
    DAY,
    HOUR,
    CountedNoun,
    counted_ar,
    western_number,
    western_percent,
)

Lang = Literal["ar", "en"]

_number: Final = r"(?:[0-9]{1,3}(?:,[0-9]{3})++|[0-9]++)(?:\.[0-9]++)?+[%‰]?+"
_QUANTITY = re.compile(
    rf"(?<![0-9.,:])(?:[0-2]?[0-9]:[0-5][0-9]|[-+−]?{_number}(?:–{_number})?)(?![0-9]|[.,:][0-9])"
)
_NAME = re.compile(r"[-+−]?(?:0[0-9]|[0-9]{7}).*")
_NUMBERED = re.compile(r"رقم(?:ها?|ه)?\s*:?\s*$")
_DOTTED = re.compile(
    r"(?<![^\W\d_])[وفبكل]{0,2}(?:ال|لل)?"
    r"(?:إصدار|نسخة|قسم|بند|مادة|فقرة|فصل|باب|ملحق|جدول|شكل|معيار|مرحلة)\s*:?\s*$"
)
_LETTER = re.compile(r"[^\W\d_]")
_LOOK_BEHIND: Final = 24

MINUTE: Final = CountedNoun("دقيقة", "دقائق", "minute", "minutes")
SECOND: Final = CountedNoun("ثانية", "ثوانٍ", "second", "seconds")
BYTE: Final = CountedNoun("بايت", "بايتات", "byte", "bytes")
_LENGTHS: Final = ((86_400, DAY), (3_600, HOUR), (60, MINUTE), (1, SECOND))
_SIZES: Final = {
    "en": ("kB", "MB", "GB", "TB"),
    "ar": ("كيلوبايت", "ميغابايت", "غيغابايت", "تيرابايت"),
}
_THOUSAND: Final = 1_000
_DUAL, _LAST_PLURAL = 2, 10


def in_prose(text: str, lang: Lang) -> str:
    """Return a sentence with its quantities in the digits of its language.

    >>> in_prose("نمت المبيعات بنسبة 12.5% وفق ISO 27001", "ar")
    'نمت المبيعات بنسبة ١٢٫٥٪ وفق ISO 27001'
    """
    if lang == "ar":
        return _translated(text, _western_quantities(text), TO_ARABIC)
    numbers = (span for span in arabic_spans(text) if not _LETTER.search(text, *span))
    return _translated(text, numbers, TO_WESTERN)


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
    if count == 0 or _DUAL < count <= _LAST_PLURAL:
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


def _western_quantities(text: str) -> Iterator[Span]:
    done = 0
    for start, end in chain(latin_spans(text), [(len(text), len(text))]):
        if not _QUANTITY.fullmatch(text, start, end):
            for found in _QUANTITY.finditer(text, done, start):
                if not _names(found):
                    yield found.span()
            done = end


def _names(found: re.Match[str]) -> bool:
    """Whether a number names a thing, by its form or by the word before it."""
    before = found.string[max(0, found.start() - _LOOK_BEHIND) : found.start()]
    if _NUMBERED.search(before) or ("." in found[0] and _DOTTED.search(before)):
        return True
    return ":" not in found[0] and bool(_NAME.fullmatch(found[0]))


def _translated(text: str, spans: Iterable[Span], table: dict[int, int]) -> str:
    parts: list[str] = []
    done = 0
    for start, end in spans:
        parts += text[done:start], text[start:end].translate(table)
        done = end
    return "".join((*parts, text[done:]))


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

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
from typing import Final

from evidentia.language.characters import Span
from evidentia.language.digits import TO_ARABIC, TO_WESTERN
from evidentia.language.scripts import arabic_spans, latin_spans
from evidentia.language.wording import Lang

_number: Final = r"(?:[0-9]{1,3}(?>(?:,[0-9]{3})+)|[0-9]++)(?>(?:\.[0-9]++)?)[%‰]?+"
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


def in_prose(text: str, lang: Lang) -> str:
    """Return a sentence with its quantities in the digits of its language.

    >>> in_prose("نمت المبيعات بنسبة 12.5% وفق ISO 27001", "ar")
    'نمت المبيعات بنسبة ١٢٫٥٪ وفق ISO 27001'
    """
    if lang == "ar":
        return _translated(text, _western_quantities(text), TO_ARABIC)
    numbers = (span for span in arabic_spans(text) if not _LETTER.search(text, *span))
    return _translated(text, numbers, TO_WESTERN)


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

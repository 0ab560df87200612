"""Texts as templates take them: fit to print, isolated, each with its own direction."""

import re
from collections.abc import Callable
from typing import Final

from evidentia.export.pdf.breaking import breakable
from evidentia.export.pdf.dates import gregorian, gregorian_time, hijri
from evidentia.export.pdf.numerals import in_prose
from evidentia.export.pdf.printing import printable
from evidentia.language.direction import Direction
from evidentia.language.scripts import direction, with_isolates
from evidentia.language.wording import Lang, byte_count, number, percent

Field = dict[str, str]
"""A text `t` and its direction `d`."""
_DIRECTIONS: Final[dict[Lang, Direction]] = {"ar": "rtl", "en": "ltr"}
_LETTERS: Final = {
    "ar": re.compile("[\u0620-\u064a\u0671-\u06d3]"),
    "en": re.compile("[A-Za-z]"),
}
_MOST_PLAIN: Final = 400
_DASH: Final = "\u2013"
_MOST_TIME: Final = 40
"""The characters, at most, of a title among the document's properties, and of what is no time."""
LANGS: Final[tuple[Lang, ...]] = ("ar", "en")


def plain(text: str) -> str:
    """Return a text for where nothing is laid out: the document's own title and author."""
    return printable(text).strip()[:_MOST_PLAIN]


def field(text: str, default: Direction = "ltr") -> Field:
    """Return a text of the evidence as a paragraph of its own."""
    shown = printable(text).strip()
    runs = direction(shown, default)
    return {"t": breakable(with_isolates(shown, runs)), "d": runs}


def prose(text: str, lang: Lang) -> Field:
    """Return a text that was written for the document in a language, with its numerals.

    It runs as its language does, also where it begins with a name of another; but not if it is in
    another: if it begins in it, and more than two letters in three are of it.
    """
    shown = in_prose(printable(text).strip(), lang)
    own, others = (len(_LETTERS[each].findall(shown)) for each in sorted(LANGS, key=lang.__ne__))
    runs = _DIRECTIONS[lang] if 2 * own >= others else direction(shown, _DIRECTIONS[lang])
    return {"t": breakable(with_isolates(shown, runs)), "d": runs}


def english(text: str) -> Field:
    """Return a sentence of the program, which is English whatever it quotes."""
    return {"t": breakable(with_isolates(printable(text).strip(), "ltr")), "d": "ltr"}


def code(text: str) -> Field:
    """Return an identifier, an address or a digest: from left to right, and it may break."""
    return english(text)


def spoken(made: Callable[[Lang], str]) -> dict[str, str]:
    """Return what a function of a language gives in each of them."""
    return {lang: made(lang) for lang in LANGS}


def count(value: int) -> dict[str, str]:
    """Return a whole number in each language."""
    return spoken(lambda lang: number(value, lang))


def reference(number: int) -> dict[str, str]:
    """Return the number of a source as texts refer to it, in each language."""
    return {lang: f"[{shown}]" for lang, shown in count(number).items()}


def share(value: float) -> dict[str, str]:
    """Return a share from 0 to 1 as a percentage in each language."""
    return spoken(lambda lang: percent(value, lang))


def size(value: int) -> dict[str, str]:
    """Return a number of bytes in each language."""
    return spoken(lambda lang: byte_count(value, lang))


def day(at: str) -> dict[str, str]:
    """Return the day of a time by both calendars, in each language."""
    return spoken(
        lambda lang: f" {_DASH} ".join(filter(None, (gregorian(_time(at), lang), hijri(at, lang))))
    )


def time(at: str) -> dict[str, str]:
    """Return a time by the Gregorian calendar, in each language."""
    return spoken(lambda lang: gregorian_time(_time(at), lang))


def date(at: str) -> dict[str, str]:
    """Return the Gregorian day of a time, in each language."""
    return spoken(lambda lang: gregorian(_time(at), lang))


def short(text: str, lang: Lang | None = None, most: int = 48) -> Field:
    """Return the beginning of a text, for the head of a page, with the digits of its language."""
    shown = printable(text).strip()
    begins = shown if len(shown) <= most else f"{shown[:most].rpartition(' ')[0] or shown[:most]}…"
    return field(begins) if lang is None else prose(begins, lang)


def _time(at: str) -> str:
    """Return a time as it can be printed even if it is none."""
    return printable(at)[:_MOST_TIME]

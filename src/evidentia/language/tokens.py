"""Text as the terms it is found by: words without case, marks and plurals; numbers kept whole."""

# ruff: noqa: RUF001 - the letters of other scripts are what is folded here

import re
import unicodedata
from functools import lru_cache
from typing import Final

from evidentia.language.characters import DENSE
from evidentia.language.digits import TO_WESTERN

TOKENS_VERSION: Final = 1
"""Goes up whenever the same text would give other terms; what was indexed before is then stale."""

_INDIC: Final = r"\u0900-\u0dff"
"""Scripts whose vowel signs are no letters to a regular expression."""
_TOKEN = re.compile(
    rf"([^\W\d_{DENSE}][^\W_{DENSE}]*(?:[{_INDIC}]+[^\W_{DENSE}]*)*)(?:'s\b)?"
    r"|(\d+(?:[.,]\d+)*)(?:\s?(%|(?:per\s?cent|percentage points?)\b))?"
    rf"|([{DENSE}]+)"
)
"""A word, a number with the percent sign after it, or a run of a script without spaces."""
_ASCII_TOKEN = re.compile(r"[a-z][a-z0-9]*|[0-9]+(?:[.,][0-9]+)*")
"""A word or a number in ASCII, where nothing stands that belongs to what is before it."""
_TOGETHER: Final = ("%", "cent", "'s")
_MOST_TERMS: Final = 65_536
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_MARKS = re.compile(
    "[\u00ad\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u200b-\u200f\u2060\ufeff]"
)
"""Accents that no letter took up, Hebrew and Arabic vowel signs, tatweel, invisible characters."""
_LETTERS: Final = TO_WESTERN | str.maketrans("أإآٱىةکی’।॥", "اااايهكي'  ")
"""Letters that are written in several ways, and the digits and signs of Arabic numbers."""
_ARTICLES: Final = ("وال", "بال", "كال", "فال", "ال", "لل")
_MIN_STEM: Final = 3


def tokenize(text: str) -> list[str]:
    """Return the terms of a text in their order, the same for texts that read the same.

    A percentage is two terms, so that it is found by its number too.

    >>> tokenize("The Employees' policies: 1,500 days, 2.5 percent")
    ['the', 'employee', 'policy', '1500', 'day', '2.5%', '2.5']
    """
    folded = _folded(text)
    if text.isascii() and not any(mark in folded for mark in _TOGETHER):
        return [_ASCII_TERMS[found] for found in _ASCII_TOKEN.findall(folded)]
    terms: list[str] = []
    for word, number, percent, run in _TOKEN.findall(folded):
        if word:
            terms.append(_stem(word))
        elif number:
            whole = _whole(number)
            terms += [f"{whole}%", whole] if percent else [whole]
        else:
            terms += _pairs(run)
    return terms


class _Terms(dict[str, str]):
    """The terms of words and numbers in ASCII, each made once, as long as they are not too many."""

    def __missing__(self, found: str) -> str:
        if len(self) >= _MOST_TERMS:
            self.clear()
        term = self[found] = _whole(found) if found[0].isdigit() else _stem(found)
        return term


_ASCII_TERMS: Final = _Terms()


def _whole(number: str) -> str:
    return number.replace(",", "") if _GROUPED.fullmatch(number) else number


def _folded(text: str) -> str:
    """Return the text without differences of case, width, marks and letter forms."""
    if text.isascii():
        return text.lower()
    return _MARKS.sub("", unicodedata.normalize("NFKC", text).casefold()).translate(_LETTERS)


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    """Take the plural or possessive ending off an English word, the article off an Arabic one."""
    if not word.isascii():
        return _without_article(word)
    if len(word) <= _MIN_STEM or not word.endswith("s"):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    return word if word.endswith(("ss", "us", "is")) else word[:-1]


def _without_article(word: str) -> str:
    for article in _ARTICLES:
        if word.startswith(article) and len(word) - len(article) >= _MIN_STEM:
            return word[len(article) :]
    return word


def _pairs(run: str) -> list[str]:
    """Return the overlapping pairs of characters that stand for words where none are parted."""
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]

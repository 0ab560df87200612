"""Arabic words: found in a text, spelt one way, and without what is written onto them.

Vowel signs and tatweel are left out, and letters that are written in several ways are one. What is
a prefix and what the word's own first letter is not decided: a word has several keys, and two words
may be forms of one if they share a key.
"""

# ruff: noqa: RUF001 - the letters of Arabic are what is read here

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from evidentia.language.digits import TO_WESTERN

_LETTERS: Final = "\u0621-\u063a\u0641-\u064a\u0671"
MARKS: Final = "\u0610-\u061a\u0640\u064b-\u065f\u0670"
"""Vowel signs, and the stroke that makes a word longer."""
_TOKEN = re.compile(
    rf"(?P<word>[{_LETTERS}][{_LETTERS}{MARKS}]*)"
    r"|(?P<number>\d+(?:[.,]\d+)*)"
    r"|(?P<other>[^\W\d_²³]+)|(?P<sign>[^\w\s]|[²³])"
)
_MARKS = re.compile(f"[{MARKS}]")
_ONE_SPELLING: Final = str.maketrans("أإآٱىةؤئ", "ااااي" + "هوي")
_ARABIC = re.compile(f"[{_LETTERS}]")
_LETTER = re.compile(r"[^\W\d_]")

_ARTICLES: Final = ("وبال", "وكال", "ولل", "وال", "فال", "بال", "كال", "فلل", "لل", "ال")
_PREFIXES: Final = ("و", "ف", "ب", "ل", "ك", "س")
_ENDINGS: Final = (
    "اتها", "اتهم", "اته", "تهما", "تها", "تهم", "ته", "ونها", "ونه", "يها", "يه", "هما", "ها",
    "هم", "هن", "كم", "نا", "ات", "ون", "ين", "ان", "تي", "ا", "ه", "ي", "ت", "ن",
)  # fmt: skip
_WEAK: Final = frozenset("اويءه")
_ROOT: Final = 3
_LEAST: Final = 2
_FORMS: Final = frozenset("متنيس")
"""Letters that stand before a root in verbs and nouns made of it."""


def has_arabic(text: str) -> bool:
    """Whether there is an Arabic letter in a text."""
    return _ARABIC.search(text) is not None


@lru_cache(maxsize=16_384)
def is_arabic(text: str) -> bool:
    """Whether most letters of a text are Arabic ones."""
    return 2 * len(_ARABIC.findall(text)) > len(_LETTER.findall(text))


def folded(text: str) -> str:
    """Return a text without vowel signs, its letters spelt one way.

    >>> folded("إجازةٌ سنويّة")
    'اجازه سنويه'
    """
    return _MARKS.sub("", text).translate(_ONE_SPELLING)


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a number or a sign with its place; words are folded, numbers have Western digits."""

    kind: str
    text: str
    start: int
    end: int


@lru_cache(maxsize=4_096)
def tokens(text: str) -> tuple[Token, ...]:
    """Return the words, numbers and signs of a text in order."""
    return tuple(_tokens(text))


def _tokens(text: str) -> Iterator[Token]:
    for match in _TOKEN.finditer(text.translate(TO_WESTERN)):
        kind = match.lastgroup or ""
        said = match[0].casefold() if kind == "other" else match[0]
        yield Token(kind, folded(said) if kind == "word" else said, *match.span())


@lru_cache(maxsize=65_536)
def bare_forms(word: str) -> tuple[str, ...]:
    """Return a folded word, and what it may be without the article and particles before it."""
    forms = [word]
    for article in _ARTICLES:
        if word.startswith(article) and len(word) - len(article) >= _LEAST:
            forms.append(word[len(article) :])
            break
    else:
        rest = word
        for _ in range(2):
            if rest[0] not in _PREFIXES or len(rest) <= _ROOT:
                break
            rest = rest[1:]
            forms.append(rest)
    return tuple(forms)


@lru_cache(maxsize=65_536)
def stems(word: str) -> frozenset[str]:
    """Return what is left of a folded word without particles and endings, in every way."""
    found = set[str]()
    for form in bare_forms(word):
        found.add(form)
        found |= {
            form.removesuffix(ending)
            for ending in _ENDINGS
            if form.endswith(ending) and len(form) - len(ending) >= _ROOT
        }
    return frozenset(found)


@lru_cache(maxsize=65_536)
def roots(word: str) -> frozenset[str]:
    """Return the consonants that may be a folded word's root.

    >>> sorted(roots("تخفيض") & roots("ينخفض"))
    ['خفض']
    """
    found = set[str]()
    for form in stems(word):
        letters = "".join(letter for letter in form if letter not in _WEAK)
        while len(letters) > _ROOT and letters[0] in _FORMS:
            if letters[1] == "ت":
                found.add(letters[0] + letters[2:])
            letters = letters[1:]
        found.add(letters)
        if len(letters) == _ROOT + 1 and letters[1] == "ت":
            found.add(letters[0] + letters[2:])
    return frozenset(letters for letters in found if len(letters) == _ROOT)

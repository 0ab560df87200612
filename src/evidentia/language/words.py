"""Words: what two texts share, by light stems.

Enough to find passages and to see that two statements are about the same thing. It does not know
what words mean; judges that do are handed in.
"""

# ruff: noqa: RUF001 - the words of other scripts are what these lists are made of

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from evidentia.language.arabic.words import MARKS
from evidentia.language.characters import DENSE
from evidentia.language.lexicon import (
    BOUNDING,
    NEGATIONS,
    PLURALS,
    SAME_WORDS,
    STOP_WORDS,
    word_set,
)
from evidentia.language.tokens import tokenize

_WORD = re.compile(
    rf"(?:(?<![\w)])[-−])?\d+(?:[.,]\d+)*%?|[{DENSE}]"
    rf"|[^\W\d_{DENSE}]+(?:(?:['’]|[{MARKS}]+)[^\W\d_{DENSE}]+)*"
)
"""In a script that is written without spaces, each character is a word."""
_MARKS = re.compile(f"[{MARKS}]")
_MIN_STEM: Final = 3
_DOUBLED = re.compile(r"([bdgmnprt])\1$")
_NO_NEGATION = re.compile(
    rf"\b{BOUNDING}\b|\bnot only\b|\bno\. ?\d",
    re.IGNORECASE,
)
"""Turns of phrase with a negation in them that set a bound and deny nothing."""
_CARRY: Final = word_set("carry carri")
_OVER: Final = word_set("over forward")


@dataclass(frozen=True, slots=True)
class Word:
    """A word with its stem and its place in the text."""

    text: str
    stem: str
    start: int
    end: int

    @property
    def is_number(self) -> bool:
        """Whether the word is written in digits."""
        return self.text[-1].isdigit() or self.text.endswith("%")

    @property
    def is_content(self) -> bool:
        """Whether the word carries meaning: no function word, no number."""
        return self.text not in STOP_WORDS and not self.is_number

    @property
    def negates(self) -> bool:
        """Whether the word turns a statement round."""
        return self.text in NEGATIONS or self.text.endswith("n't")


def words(text: str) -> tuple[Word, ...]:
    """Return the words and numbers of a text, in order and without case."""
    found: list[Word] = []
    for match in _WORD.finditer(text):
        word = _MARKS.sub("", match[0].casefold()).replace("’", "'")
        if found and found[-1].stem in _CARRY and word in _OVER:
            before = found.pop()
            found.append(Word(before.text, "carryover", before.start, match.end()))
        else:
            found.append(Word(word, stem(word), match.start(), match.end()))
    return tuple(found)


def content_stems(found: Iterable[Word]) -> frozenset[str]:
    """Return the stems of the words that carry meaning."""
    return frozenset(word.stem for word in found if word.is_content)


def negations(text: str, found: Iterable[Word]) -> int:
    """Count the words of a text that turn it round; "no more than" turns nothing."""
    bounds = [match.span() for match in _NO_NEGATION.finditer(text)]
    return sum(
        word.negates and not any(low <= word.start < high for low, high in bounds) for word in found
    )


def is_plural(word: str) -> bool:
    """Whether a noun in lower case names several, by its ending or by itself."""
    return word in PLURALS or (word.endswith("s") and not word.endswith(("ss", "us", "is", "'s")))


def coverage(wanted: frozenset[str], there: frozenset[str]) -> float:
    """Return which part of the wanted stems is there; 0 if none is wanted."""
    return len(wanted & there) / len(wanted) if wanted else 0.0


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return the word's search term with -ing, -ed and -e taken off, and near synonyms made one."""
    if word[0] in "-−":
        return f"-{stem(word[1:])}"  # a search term has no sign, and a number is another without it
    terms = tokenize(word)
    text = SAME_WORDS.get(terms[0], terms[0]) if terms else word
    for suffix in ("ing", "ed"):
        if text.endswith(suffix) and len(text) - len(suffix) >= _MIN_STEM:
            text = _DOUBLED.sub(r"\1", text[: -len(suffix)])
            break
    text = SAME_WORDS.get(text, text)
    return text[:-1] if len(text) > _MIN_STEM and text.endswith("e") else text

"""Statements: a sentence taken apart once, for every judge that reads it."""

from functools import cached_property, lru_cache

from evidentia.language.markup import plain_text
from evidentia.language.numerals import find_quantities
from evidentia.language.quantities import Quantity
from evidentia.language.words import ENGLISH, Word, content_stems, negations, words


class Statement:
    """A sentence as a reader sees it: its words, what they are about, its quantities.

    Does not change; what is asked of it is worked out once.
    """

    def __init__(self, text: str) -> None:
        self.text = plain_text(text)

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """Its words and numbers, in order."""
        return words(self.text)

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of its words that carry meaning."""
        return content_stems(self.words)

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Its numbers as they are written in digits."""
        return frozenset(word.stem for word in self.words if word.is_number)

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """Its quantities and dates, as values."""
        return find_quantities(self.text)

    @cached_property
    def negations(self) -> int:
        """How many of its words turn it round."""
        return negations(self.text, self.words)

    @cached_property
    def is_english(self) -> bool:
        """Whether it has a word by which English is known."""
        return any(word.text in ENGLISH for word in self.words)


@lru_cache(maxsize=16_384)
def read_statement(text: str) -> Statement:
    """Return a sentence taken apart; the same text gives the same object."""
    return Statement(text)

"""A changed sentence, and how the new words are put into the old one."""

import re
from dataclasses import dataclass
from typing import Final

SUPPORTED: Final = "supported"
CONTRADICTED: Final = "contradicted"
NOT_FOUND: Final = "not_found"


@dataclass(frozen=True, slots=True)
class Change:
    """A changed sentence: its label given the original, and the original's label given it."""

    kind: str
    text: str
    label: str
    reverse: str | None


def put(sentence: str, start: int, end: int, new: str) -> str:
    """Replace a part, with the article before it made to fit."""
    before = sentence[:start]
    article = re.search(r"\b([Aa])n? $", before)
    if article and new[:1].isalpha():
        vowel = new[0].lower() in "aeiou" and not re.match(r"uni|eu|one\b|us", new.lower())
        before = before[: article.start()] + article[1] + ("n " if vowel else " ")
    return before + new + sentence[end:]


def against(kind: str, text: str) -> Change:
    """Return a change that is at odds with the original."""
    return Change(kind, text, CONTRADICTED, CONTRADICTED)


def same(kind: str, text: str) -> Change:
    """Return a change that says what the original says."""
    return Change(f"harmless:{kind}", text, SUPPORTED, SUPPORTED)

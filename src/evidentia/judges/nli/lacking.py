"""What a part of a claim says that its evidence has nowhere: words, figures, names.

Long evidence is read in pieces, and no piece shows that something is missing from all of them. This
does, by the written word alone: it knows nothing of what words mean.
"""

import re
from collections.abc import Iterable
from typing import Final

from evidentia.language.statements import read_statement
from evidentia.language.words import coverage

_MOST: Final = 3
"""How many figures or names that are missing count."""
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(r"(?<=[^.!?:\s]\s)[(\"'\u201c\u2018]?([A-Z][^\W\d_]+)")
"""A word with a capital letter that does not begin a sentence."""
_WORD = re.compile(r"[a-z]+")
_SPELT: Final = {
    "one": "1",
    "two": "2",
    "three": "3",
    "four": "4",
    "five": "5",
    "six": "6",
    "seven": "7",
    "eight": "8",
    "nine": "9",
    "ten": "10",
    "eleven": "11",
    "twelve": "12",
    "first": "1",
    "second": "2",
    "third": "3",
    "fourth": "4",
    "fifth": "5",
}


def lacking(part: str, evidence: str) -> dict[str, float]:
    """Return what the evidence lacks: the share of the words, and how many figures and names.

    >>> lacking("In 1999 the Kepler Prize went to Ada Byron", "Ada Byron has won the second prize")
    {'words nowhere': 0.4, 'figures nowhere': 1.0, 'names nowhere': 1.0}
    """
    claimed, said = read_statement(part), read_statement(evidence)
    text = said.text.casefold()
    figures = _figures(said.text) | {_SPELT[word] for word in _WORD.findall(text) if word in _SPELT}
    names = {name.casefold() for name in _NAME.findall(claimed.text)}
    return {
        "words nowhere": 1 - coverage(claimed.stems, said.stems) if claimed.stems else 0.0,
        "figures nowhere": _number(_figures(claimed.text) - figures),
        "names nowhere": _number(name for name in names if name not in text),
    }


def _figures(text: str) -> set[str]:
    return {figure.replace(",", "") for figure in _FIGURE.findall(text)}


def _number(missing: Iterable[str]) -> float:
    return float(min(len(list(missing)), _MOST))

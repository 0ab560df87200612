"""Phrases: the places, groups, cases and times that a sentence names and a claim does not.

"The deductible is $500 for dental treatment" says nothing of other treatment, and "from 2027, the
fee is 12 euros" nothing of today. A phrase is a preposition and the words behind it, up to the
next small word or mark.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from evidentia.language.finite import FINITE
from evidentia.language.lexicon import MODALS, STOP_WORDS, word_set
from evidentia.language.measures import HARMLESS, LIGHT, read_measures, taken_by
from evidentia.language.quantities import Quantity
from evidentia.language.statements import Statement
from evidentia.language.words import Word

WHEN: Final = frozenset({"date", "year", "calendar month", "day of the year"})
"""The dimensions of values that say when something is so."""
_CASES: Final = word_set(
    "in at on for with under among amongst within across inside outside throughout before "
    "following per"
)
"""What leads in a place, a group or a case to which a sentence limits what it says."""
_BESIDES: Final = _CASES | word_set("to by from against between via")
"""The same, and what leads in someone or something that takes part in it."""
_OF_SUBJECTS: Final = word_set("to by from")
_ARTICLES: Final = word_set("the a an all any each every our their its your this these such")
_COUNTED_FROM: Final = word_set("from before following")
"""What, right behind a duration, says from when it is counted: "30 days from receipt"."""
_MODALS: Final = MODALS | {"cannot"}
_EVERY = re.compile(r"\bevery\s+$", re.IGNORECASE)
_DURATIONS: Final = frozenset({"time", "months", "working time"})
_FROM_WHEN = re.compile(
    r"\b(?:from|starting|beginning|effective|before|after|as of|as from|prior to)\s+"
    r"(?:on\s+|in\s+|the\s+)*$",
    re.IGNORECASE,
)
_CASE_BEFORE = re.compile(
    r"\b(?:(?:for|in|on|among|with|under)\s+(?:the\s+)?(?P<noun>[^\W\d_]+)\s+"
    r"(?:[^\W\d_]+\s+){0,3}|(?:with|per)\s+)$",
    re.IGNORECASE,
)
_LOOK_BEHIND: Final = 40


def cases_of(said: Statement, claim: Statement) -> list[str]:
    """Return what a sentence limits what it says to and the claim does not name: "in Paris"."""
    return [
        *_named(said, claim, _CASES),
        *_sources(said, claim),
        *_amounts(said, claim),
        *_versions(said, claim),
    ]


def does_otherwise(said: Statement, claim: Statement) -> str:
    """Return the verb of a sentence, behind a "must" or "will", that the claim does not have."""
    known = claim.stems | HARMLESS | LIGHT
    return next(
        (
            word.text
            for before, word in pairwise(said.words)
            if before.text in _MODALS
            and word.is_content
            and word.stem not in known
            and not word.negates
            and not word.text.endswith("ly")
        ),
        "",
    )


def takes_part(said: Statement, claim: Statement) -> bool:
    """Whether a sentence names anyone or anything that the claim does not: "per family"."""
    dimensions = {quantity.dimension for quantity in claim.quantities}
    return any(_named(said, claim, _BESIDES)) or any(
        quantity.dimension not in dimensions
        and _EVERY.search(said.text[max(0, quantity.start - _LOOK_BEHIND) : quantity.start])
        for quantity in said.quantities
    )


def times_of(said: Statement, claim: Statement) -> list[str]:
    """Return the times from or up to which a sentence holds, where the claim has no time."""
    return [
        time.text
        for time in other_times(said, claim)
        if _FROM_WHEN.search(said.text[max(0, time.start - _LOOK_BEHIND) : time.start])
    ]


def other_times(said: Statement, claim: Statement) -> list[Quantity]:
    """Return the dates and years of a sentence, where the claim has none."""
    if any(quantity.dimension in WHEN for quantity in claim.quantities):
        return []
    return [quantity for quantity in said.quantities if quantity.dimension in WHEN]


def _named(said: Statement, claim: Statement, leads: frozenset[str]) -> Iterator[str]:
    """Give the words of phrases that carry meaning and are not the claim's."""
    ends = {quantity.end for quantity in said.quantities if quantity.dimension in _DURATIONS}
    taken = taken_by(said.quantities)
    known = claim.stems | HARMLESS
    for at, word in enumerate(said.words):
        if word.text in _COUNTED_FROM and at and said.words[at - 1].end in ends:
            continue
        if word.text in leads:
            for name in _phrase(said, at):
                if name.start not in taken and name.stem not in known:
                    yield said.text[name.start : name.end]


def _sources(said: Statement, claim: Statement) -> Iterator[str]:
    """Give whom a sentence's subject is by, from or to: "contributions by the employer are"."""
    verb = FINITE.search(said.text)
    for at, word in enumerate(said.words):
        if verb and word.end <= verb.start() and word.text in _OF_SUBJECTS:
            for name in _phrase(said, at):
                if name.stem not in claim.stems:
                    yield said.text[name.start : name.end]


def _phrase(said: Statement, at: int) -> Iterator[Word]:
    """Give the words that carry meaning behind a preposition, up to what ends its phrase."""
    inside = False
    for before, word in zip(said.words[at:], said.words[at + 1 :], strict=False):
        if said.text[before.end : word.start].strip(" -\"'"):
            return
        if word.is_content and not (inside and FINITE.fullmatch(word.text)):
            inside = True
            yield word
        elif inside or not (word.text in _ARTICLES or said.text.startswith("-", word.end)):
            return


def _amounts(said: Statement, claim: Statement) -> Iterator[str]:
    """Give the amounts that tell which cases are meant: "orders over $100 are shipped"."""
    verb = FINITE.search(said.text)
    before_verb = verb.start() if verb else 0
    known = {quantity.dimension for quantity in claim.quantities} | WHEN
    for quantity in said.quantities:
        if quantity.dimension not in known and (
            quantity.end <= before_verb or _leads_in(said.text, quantity.start)
        ):
            yield quantity.text


def _versions(said: Statement, claim: Statement) -> Iterator[str]:
    """Give the numbers by which a sentence's subject is one of several: "Windows 10 needs"."""
    verb = FINITE.search(said.text)
    bare = read_measures(said.text).numbers - claim.numbers
    subject = verb.start() if verb else 0
    for before, word in pairwise(said.words):
        if word.end <= subject and word.stem in bare and before.stem not in HARMLESS:
            yield f"{before.text} {word.text}"


def _leads_in(text: str, start: int) -> bool:
    """Whether an amount tells a case apart: "for orders over", "with", "per"."""
    lead = _CASE_BEFORE.search(text[max(0, start - _LOOK_BEHIND) : start])
    return lead is not None and (lead["noun"] is None or lead["noun"].lower() not in STOP_WORDS)

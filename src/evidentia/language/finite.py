"""Finite verbs: those that a clause can be built on."""

import re
from typing import Final

from evidentia.language.lexicon import DO, HAVE, IS, MODALS, any_of

_AUXILIARY: Final = (
    rf"(?:{any_of(IS | HAVE | DO | MODALS | {'need'})})(?:n['\u2019]t)?"
    r"|cannot|can['\u2019]t|won['\u2019]t|shan['\u2019]t"
)
_VERB: Final = (
    r"appl(?:y|ies)|remains?|becomes?|includes?|receives?|gets?|provides?|requires?|means|expires?|"
    r"begins?|covers?|entitles?|accrues?|takes?|lasts?|earns?|pays?|costs?|starts?|ends?|needs?|"
    r"allows?|permits?|contains?|consists?|depends?|uses?|offers?|grants?|states?|prohibits?|"
    r"exceeds?|amounts?|gives?|makes?|shows?|goes|go|increased|decreased|rose|fell|began|ended"
)
AUXILIARY: Final = re.compile(rf"(?:{_AUXILIARY})\b", re.IGNORECASE)
"""A verb that stands before another, or joins a noun to what is said of it."""
FINITE: Final = re.compile(rf"\b(?:{_AUXILIARY}|{_VERB})\b", re.IGNORECASE)
"""A verb that a clause can be built on; more are there than are known here."""
_SURE = re.compile(rf"\b(?:{_AUXILIARY})\b", re.IGNORECASE)


def has_verb(text: str) -> bool:
    """Whether a text has a verb that is known; a last word alone ("overtime pay") may be a noun."""
    verb = FINITE.search(text)
    return verb is not None and (verb.end() < len(text.rstrip(" .;!")) or bool(_SURE.search(text)))

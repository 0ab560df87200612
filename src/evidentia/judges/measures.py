"""Measures: what each quantity of a sentence is about, so that like is compared with like.

A quantity is about what it is a quantity of ("15 days of annual leave"), about the clause it
stands in and, if that clause has no verb of its own, about the sentence's subject.
"""

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from evidentia.ledger.clauses import FINITE
from evidentia.ledger.markup import Span
from evidentia.ledger.quantities import Quantity
from evidentia.ledger.statements import Statement, read_statement
from evidentia.ledger.words import content_stems, stem, word_set, words

_JOINT = re.compile(r"[;:,]\s+|\s+(?:and|but|while|whereas|or)\s+", re.IGNORECASE)
_LIGHT: Final = frozenset(
    map(
        stem,
        word_set(
            "get gets give gives given grant granted entitled entitlement entitlements provide "
            "provided offer offered amount amounts total equal equals number have maximum minimum "
            "max min limit limited cap capped exceed exceeding apply approximately roughly around "
            "nearly circa exactly currently day days week weeks month months hour hours percent"
        ),
    )
)
"""Stems that say that there is a quantity, and not of what."""
HARMLESS: Final = frozenset(
    map(
        stem,
        word_set(
            "permanent regular eligible individual own company firm employer organization "
            "organisation policy agreement contract act law rule plan scheme"
        ),
    )
)
"""Stems in a rule's subject that make it no smaller group: whom it holds for, and who says so."""
_ROLES = re.compile(
    r"\b(?P<role>for|after|until|every|from|since|by)\s+(?:the\s+)?$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Measure:
    """A quantity with what it is about, as stems.

    `measured` is what it is a quantity of, `local` what its clause says, `subject` what stands
    before the verb that rules it (None without a verb), `role` the preposition before it that
    changes what it measures.
    """

    quantity: Quantity
    measured: frozenset[str]
    local: frozenset[str]
    subject: frozenset[str] | None
    role: str


class MeasuredStatement:
    """A sentence with what its quantities are about, and its topic without them."""

    def __init__(self, statement: Statement) -> None:
        self._text = statement.text
        self._words = statement.words
        self._quantities = statement.quantities

    @cached_property
    def topic(self) -> frozenset[str]:
        """What the sentence is about, its quantities aside."""
        return self._stems(0, len(self._text))

    @cached_property
    def subject(self) -> frozenset[str] | None:
        """What stands before the sentence's verb; None if no verb is found."""
        verb = FINITE.search(self._text)
        return self._stems(0, verb.start()) if verb else None

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The quantities, each with what it is about."""
        return tuple(self._measure(quantity) for quantity in self._quantities)

    def _measure(self, quantity: Quantity) -> Measure:
        start, end = next(
            (low, high) for low, high in self._clauses if low <= quantity.start < high
        )
        local = self._stems(start, end)
        verb = FINITE.search(self._text, start, end)
        subject = self._stems(start, verb.start()) if verb else None
        if not subject:
            subject = self.subject
            local |= subject or frozenset()
        role = _ROLES.search(self._text[: quantity.start])
        return Measure(
            quantity,
            _named(quantity.measured) - _LIGHT,
            local,
            subject,
            role["role"].lower() if role else "",
        )

    @cached_property
    def _clauses(self) -> tuple[Span, ...]:
        """The clauses: a joint parts two if what follows has a verb or a quantity of its own."""
        spans: list[Span] = []
        start = 0
        joints = [
            joint
            for joint in _JOINT.finditer(self._text)
            if not any(
                found.start < joint.end() and joint.start() < found.end
                for found in self._quantities
            )
        ]
        ends = [*(joint.start() for joint in joints), len(self._text)]
        for joint, end in zip(joints, ends[1:], strict=True):
            verb = FINITE.search(self._text, joint.end(), end)
            counts = any(joint.end() <= found.start < end for found in self._quantities)
            if (verb and verb.start() > joint.end()) or (counts and joint[0][0] != ":"):
                spans.append((start, joint.end()))
                start = joint.end()
        return (*spans, (start, len(self._text)))

    def _stems(self, start: int, end: int) -> frozenset[str]:
        """Return the stems between two places, without those of quantities and rates."""
        taken = [(found.start, found.end) for found in self._quantities]
        taken += [found.per_span for found in self._quantities if found.per]
        kept = [
            word
            for word in self._words
            if start <= word.start
            and word.end <= end
            and not word.negates
            and not any(low <= word.start < high for low, high in taken)
        ]
        of = frozenset[str]().union(
            *(
                _named(found.measured)
                for found in self._quantities
                if start <= found.start and found.end <= end
            )
        )
        return (content_stems(kept) | of) - _LIGHT


@lru_cache(maxsize=4_096)
def _named(measured: str) -> frozenset[str]:
    return content_stems(words(measured))


@lru_cache(maxsize=16_384)
def read_measures(text: str) -> MeasuredStatement:
    """Return a sentence with its measures; the same text gives the same object."""
    return MeasuredStatement(read_statement(text))

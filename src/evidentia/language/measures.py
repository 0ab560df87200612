"""Measures: what each quantity of a sentence is about, so that like is compared with like.

A quantity is about what it is a quantity of ("15 days of annual leave"), about the clause it
stands in and, if that clause has no verb of its own, about the sentence's subject.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from evidentia.language.characters import Span
from evidentia.language.finite import FINITE
from evidentia.language.lexicon import STOP_WORDS, word_set
from evidentia.language.quantities import Comparison, Quantity, compare
from evidentia.language.statements import Statement, read_statement
from evidentia.language.words import content_stems, stem, words

_JOINT = re.compile(r"[;:,]\s+|\s+(?:and|but|while|whereas|or)\s+", re.IGNORECASE)
LIGHT: Final = frozenset(
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
            "permanent regular individual own company firm employer organization "
            "organisation policy agreement contract act law rule plan scheme handbook manual "
            "document guideline section article clause paragraph annex accordance"
        ),
    )
)
"""Stems in a rule's subject that make it no smaller group: whom it holds for, and who says so."""
_NAME_BEFORE = re.compile(r"\b(?P<name>[A-Z][^\W\d_]+)\s+$")
_LOOK_BEHIND: Final = 40
_SETTING = re.compile(r"(?:in|at|on|for|under|during)\b[^,]{1,80},\s", re.IGNORECASE)
_PASSIVE = re.compile(
    r"\b(?:is|are|was|were|be|been|being)\s+(?:not\s+|\w+ly\s+)?"
    r"(?:\w+ed|paid|given|made|sent|sold|bought|held|kept|taken|shown|lent|owned)\b",
    re.IGNORECASE,
)
_BOUNDED: Final = frozenset({"at_least", "at_most"})
_WITHIN = re.compile(r"\bwithin\s+$", re.IGNORECASE)
_ROLES = re.compile(
    r"\b(?P<role>for|after|until|every|from|since|by)\s+(?:the\s+)?$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Measure:
    """A quantity with what it is about, as stems.

    `measured` is what it is a quantity of, `local` what its clause says, `subject` what stands
    before the verb that rules it (None without a verb), `role` the preposition before it that
    changes what it measures; `goes_on` tells that its clause has no verb of its own.
    """

    quantity: Quantity
    measured: frozenset[str]
    local: frozenset[str]
    subject: frozenset[str] | None
    role: str
    goes_on: bool


class MeasuredStatement:
    """A sentence with what its quantities are about, and its topic without them."""

    def __init__(self, statement: Statement) -> None:
        self._text = statement.text
        self._words = statement.words
        self._quantities = quantities_of(statement)
        self._taken = taken_by(self._quantities)

    @cached_property
    def is_passive(self) -> bool:
        """Whether its verb tells what is done to its subject."""
        return _PASSIVE.search(self._text) is not None

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
    def predicate(self) -> frozenset[str]:
        """What stands behind the sentence's verb; nothing if no verb is found."""
        verb = FINITE.search(self._text)
        return self._stems(verb.end(), len(self._text)) if verb else frozenset()

    @cached_property
    def order(self) -> tuple[str, ...]:
        """What the sentence is about, in the order it is said in."""
        told = (
            word.stem
            for word in self._words
            if word.stem in self.topic and word.start >= self._setting
        )
        return tuple(dict.fromkeys(told))

    @cached_property
    def _setting(self) -> int:
        """Where the phrase ends that a sentence begins with and that holds for all of it."""
        setting = _SETTING.match(self._text)
        return setting.end() if setting else 0

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The quantities, each with what it is about."""
        return tuple(measure for clause in self._clauses for measure in self._of_clause(*clause))

    @cached_property
    def numbers(self) -> frozenset[str]:
        """The numbers that are no quantities but parts of names: "Article 5", "Windows 10"."""
        return frozenset(
            word.stem for word in self._words if word.is_number and word.start not in self._taken
        )

    def _of_clause(self, start: int, end: int) -> Iterator[Measure]:
        """Give the quantities of a clause, each with what it is about."""
        inside = [found for found in self._quantities if start <= found.start < end]
        if not inside:
            return
        local = self._stems(start, end)
        verb = FINITE.search(self._text, start, end)
        subject = self._stems(start, verb.start()) if verb else None
        if not subject:
            subject = self.subject
            local |= subject or frozenset()
        for quantity in inside:
            before = self._text[max(0, quantity.start - _LOOK_BEHIND) : quantity.start]
            role = _ROLES.search(before)
            deadline = _WITHIN.search(before) is not None  # "within 30 days of receipt"
            yield Measure(
                quantity,
                frozenset() if deadline else _named(quantity.measured) - LIGHT,
                local,
                subject,
                role["role"].lower() if role else "",
                verb is None,
            )

    @cached_property
    def _clauses(self) -> tuple[Span, ...]:
        """The clauses: a joint parts two if what follows has a verb or a quantity of its own."""
        spans: list[Span] = []
        start = 0
        joints = [
            joint
            for joint in _JOINT.finditer(self._text, self._setting)
            if self._taken.isdisjoint(range(joint.start(), joint.end()))
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
        first = bisect_left(self._words, start, key=lambda word: word.start)
        last = bisect_right(self._words, end, key=lambda word: word.end)
        kept = [
            word
            for word in self._words[first:last]
            if not word.negates and word.start not in self._taken
        ]
        of = frozenset[str]().union(
            *(
                _named(found.measured)
                for found in self._quantities
                if start <= found.start and found.end <= end
            )
        )
        return (content_stems(kept) | of) - LIGHT


def swaps_roles(first: MeasuredStatement, second: MeasuredStatement) -> bool:
    """Whether two sentences tell who does what to whom the other way round.

    What a quantity is of may stand on either side of a verb, and a passive turns the sides.
    """
    if first.is_passive != second.is_passive:
        return False
    measures = (*first.measures, *second.measures)
    of = frozenset[str]().union(*(measure.measured for measure in measures))
    if first.subject is not None and second.subject is not None:
        return bool((first.subject - of) & second.predicate) and bool(
            (second.subject - of) & first.predicate
        )
    shared = (first.topic & second.topic) - of
    orders = [[name for name in one.order if name in shared] for one in (first, second)]
    return first.subject is None and second.subject is None and orders[0] != orders[1]


def compare_values(claimed: Quantity, said: Quantity, understood: frozenset[str]) -> Comparison:
    """Compare what is claimed with what is said, as a reader does.

    A bound that the claim leaves out must be understood, and a range supports no wider one.
    """
    found = compare(claimed, said)
    bounded = claimed.bound == "exact" and said.bound in _BOUNDED - understood
    if found == "same" and bounded:
        return "open"
    if found == "differs" and claimed.per != said.per and claimed.dimension.startswith("money"):
        return "open"  # what is paid, and for how long, is not known
    both_ranges = claimed.upper is not None and said.upper is not None
    return "open" if found == "within" and both_ranges else found


def quantities_of(statement: Statement) -> tuple[Quantity, ...]:
    """Return a sentence's quantities without the numbers of names: "Windows 10 needs"."""
    return tuple(
        found
        for found in statement.quantities
        if not (found.dimension == "number" and _ends_name(statement.text, found))
    )


def _ends_name(text: str, number: Quantity) -> bool:
    """Whether a number ends a name: a capital before it, and a verb behind it or words before."""
    name = _NAME_BEFORE.search(text[max(0, number.start - _LOOK_BEHIND) : number.start])
    if name is None or name["name"].lower() in STOP_WORDS or name["name"].endswith("ly"):
        return False
    return name.start() > 0 or FINITE.match(text[number.end :].lstrip()) is not None


def taken_by(quantities: Sequence[Quantity]) -> frozenset[int]:
    """Return the places in a text that quantities and their rates take up."""
    spans = [(found.start, found.end) for found in quantities]
    spans += [found.per_span for found in quantities]
    return frozenset(place for start, end in spans for place in range(start, end))


@lru_cache(maxsize=4_096)
def _named(measured: str) -> frozenset[str]:
    return content_stems(words(measured))


@lru_cache(maxsize=16_384)
def read_measures(text: str) -> MeasuredStatement:
    """Return a sentence with its measures; the same text gives the same object."""
    return MeasuredStatement(read_statement(text))

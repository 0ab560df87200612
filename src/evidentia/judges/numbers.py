"""The numbers judge: quantities, dates and negation compared as values, about the same thing.

"14 calendar days" supports "2 weeks"; "15 days" contradicts "20 days" if both are about the same
thing, and "at least 15 days" leaves "20 days" open. A sentence supports a claim if it has every
value of it and is about all that the claim is about. It contradicts a claim if, besides, one value
rules the claim's out and the sentence is about no smaller group. In all other cases the judge has
no opinion, or one that other judges may overrule. Where the claim or a passage is Arabic and it has
no certain opinion, it asks the rules in `judges.arabic` as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from evidentia.judges.arabic.conflicts import find_conflict
from evidentia.judges.provisos import Provisos, find_provisos, heading_kind, understood_bounds
from evidentia.language.arabic.words import is_arabic
from evidentia.language.measures import (
    HARMLESS,
    Measure,
    MeasuredStatement,
    compare_values,
    read_measures,
    swaps_roles,
)
from evidentia.language.negation import are_opposed, is_called_false, is_turned_round
from evidentia.language.phrases import WHEN, other_times, takes_part
from evidentia.language.quantities import Quantity, compare
from evidentia.language.statements import (
    LONGEST_SENTENCE,
    Sentence,
    Statement,
    read_sentences,
    read_statement,
)
from evidentia.language.turns import DENIED
from evidentia.language.words import coverage
from evidentia.ledger.judging import Opinion
from evidentia.ledger.model import Claim, ClaimType, EvidenceMatch, Passage, SupportLevel

SAME_THING: Final = 0.95
"""How sure the judge is of values in a sentence that is itself about all that the claim is."""
BY_HEADING: Final = 0.9
"""The same if the heading, or the sentence before, is needed for that."""
NEGATED: Final = 0.9
_MOST_EXTRA: Final = 3
"""How many words that the claim lacks a contradicting sentence may have."""
_TELLING: Final = 2
_SOFT: Final = frozenset({"should", "might"})
_HALF, _MUCH = 0.5, 0.6
"""Which part of what a claim is about a sentence must be about to be read, and to be a hint."""

Relation = Literal["agrees", "differs", "open", "absent"]


class NumbersJudge:
    """Compares quantities of one dimension in sentences that are about the same thing."""

    name = "numbers"

    def judge(self, claim: Claim, passages: Sequence[Passage]) -> list[Opinion | None]:
        """Return full support where all values agree, contradiction where one differs."""
        if len(claim.text) > LONGEST_SENTENCE:
            return [None] * len(passages)
        statement = read_statement(claim.text)
        measured = read_measures(claim.text)
        reading = _Claim(
            statement,
            measured,
            understood_bounds(statement),
            claim.type is ClaimType.POLICY,
            _topics(measured),
        )
        opinions = [_of_passage(reading, passage) for passage in passages]
        return _with_arabic(claim.text, passages, opinions)


def _with_arabic(
    claim: str, passages: Sequence[Passage], opinions: list[Opinion | None]
) -> list[Opinion | None]:
    """Return the opinions, with the one against a claim where it or a passage is Arabic.

    What English passages say of an English claim goes before what an Arabic one says against it.
    """
    known = [opinion for opinion in opinions if opinion]
    if any(opinion.certain for opinion in known) or (known and not is_arabic(claim)):
        return opinions
    read = [_arabic_sentences(claim, passage) for passage in passages]
    conflict = find_conflict(claim, read)
    if conflict:
        against = _against(
            passages[conflict.passage], conflict.similarity, conflict.reason, says=conflict.says
        )
        opinions[conflict.passage] = against
    return opinions


def _arabic_sentences(claim: str, passage: Passage) -> tuple[str, ...]:
    """Return the sentences of a passage that is to be read by the rules for Arabic."""
    if not (is_arabic(claim) or is_arabic(passage.snippet)):
        return ()
    sentences = read_sentences(passage.snippet, passage.context, passage.heading)
    return tuple(sentence.said.text for sentence in sentences)


@dataclass(frozen=True, slots=True)
class _Claim:
    statement: Statement
    measured: MeasuredStatement
    understood: frozenset[str]
    is_policy: bool
    topics: tuple[frozenset[str], ...]
    """What a passage must be about to settle each of the claim's quantities."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """How one quantity of the claim fares in a sentence that says `said` in its place."""

    relation: Relation
    claimed: Quantity
    said: str = ""
    measured: frozenset[str] = frozenset()
    subject: frozenset[str] | None = None
    covered: bool = False

    def group(self, topic: frozenset[str]) -> frozenset[str]:
        """Return by what the sentence's subject is a smaller group than the claim's."""
        return (self.subject or frozenset()) - topic - self.measured - HARMLESS


@dataclass(frozen=True, slots=True)
class _Favour:
    """How far a sentence supports a claim, and why."""

    similarity: float
    reason: str
    full: bool = False
    settles: frozenset[int] = frozenset()


def _topics(claim: MeasuredStatement) -> tuple[frozenset[str], ...]:
    """Return the claim's topic for each quantity, without what just the others are of."""
    kinds = [measure.measured for measure in claim.measures]
    return tuple(claim.topic - (frozenset[str]().union(*kinds) - own) for own in kinds)


def _of_passage(claim: _Claim, passage: Passage) -> Opinion | None:
    found = [
        _of_sentence(claim, sentence, passage)
        for sentence in read_sentences(passage.snippet, passage.context, passage.heading)
    ]
    opinions = [opinion for opinion in found if opinion]
    if len({opinion.match.contradicts for opinion in opinions if opinion.certain}) > 1:
        return None  # one sentence supports the claim, another contradicts it
    return max(
        opinions, key=lambda opinion: (opinion.certain, opinion.match.similarity), default=None
    )


def _of_sentence(claim: _Claim, sentence: Sentence, passage: Passage) -> Opinion | None:
    if coverage(claim.measured.topic, sentence.said.stems | sentence.about) < _HALF:
        return None
    said = read_measures(sentence.said.text)
    if not _is_understood(claim, sentence.said, said):
        return None
    provisos = find_provisos(claim.statement, sentence)
    readings = [
        _reading(claim, place, said, sentence.about)
        for place in range(len(claim.measured.measures))
    ]
    if (
        all(reading.relation == "agrees" for reading in readings)
        and _says_outright(sentence.said, provisos)
        and is_turned_round(claim.statement, sentence.said)
    ):
        reason = "the passage says the same with a negation more, or one less, than the claim"
        return _against(passage, NEGATED, reason)
    negated = claim.statement.negations != sentence.said.negations
    if not readings or negated or provisos.denies or _is_otherwise(claim, sentence.said, said):
        return None
    differing = [reading for reading in readings if reading.relation == "differs"]
    if differing:
        clear = (
            not provisos.reasons
            and not takes_part(sentence.said, claim.statement)
            and not other_times(sentence.said, claim.statement)
            and not heading_kind(claim.statement, sentence)
            and _contradicts(claim, differing, readings, said)
        )
        return _by_value(passage, differing[0]) if clear else None
    favour = _in_favour(claim, readings, provisos, sentence)
    return _for(passage, favour, len(readings)) if favour else None


def _says_outright(said: Statement, provisos: Provisos) -> bool:
    """Whether nothing limits what a sentence says, or denies it but an "it is false that"."""
    known = (DENIED,) if is_called_false(said.text) else ()
    return not provisos.limits and provisos.denies == known and _SOFT.isdisjoint(provisos.forces)


def _is_otherwise(claim: _Claim, sentence: Statement, said: MeasuredStatement) -> bool:
    """Whether the two are about opposites, about other numbers, or tell who does what otherwise."""
    return (
        are_opposed(claim.statement, sentence)
        or not claim.measured.numbers <= sentence.numbers
        or swaps_roles(claim.measured, said)
    )


def _is_understood(claim: _Claim, sentence: Statement, said: MeasuredStatement) -> bool:
    """Whether what limits a statement is known, or there is nothing in it but the claim's words."""
    return (claim.statement.is_english and sentence.is_english) or (
        said.topic <= claim.measured.topic
    )


def _reading(claim: _Claim, place: int, said: MeasuredStatement, about: frozenset[str]) -> _Reading:
    """Find what the sentence says in place of a claim's quantity, and compare the two."""
    wanted = claim.measured.measures[place]
    like = [
        measure
        for measure in said.measures
        if compare(wanted.quantity, measure.quantity) != "unlike"
    ]
    several = len(like) > 1
    alike = [measure for measure in like if _is_alike(wanted, measure, several=several)]
    closest = max((coverage(wanted.local, measure.local) for measure in alike), default=0.0)
    found = [measure for measure in alike if coverage(wanted.local, measure.local) == closest]
    if not found:
        return _Reading("absent", wanted.quantity)
    found += [measure for measure in alike if measure.goes_on and measure.local <= found[0].local]
    relations = {_relation(claim, wanted, measure) for measure in found}
    relation: Relation = relations.pop() if len(relations) == 1 else "open"
    return _Reading(
        relation,
        wanted.quantity,
        found[0].quantity.text,
        found[0].measured,
        found[0].subject,
        claim.topics[place] <= found[0].local | about,
    )


def _is_alike(wanted: Measure, measure: Measure, *, several: bool) -> bool:
    """Whether two quantities can be of the same thing."""
    if wanted.measured and measure.measured:
        return wanted.measured <= measure.measured or measure.measured <= wanted.measured
    if several and wanted.measured:
        return wanted.measured <= measure.local
    if several and measure.measured:
        return bool(measure.measured & wanted.local)
    return True


def _relation(claim: _Claim, wanted: Measure, measure: Measure) -> Relation:
    elsewhere = measure.measured and not measure.measured & claim.measured.topic
    match compare_values(wanted.quantity, measure.quantity, claim.understood):
        case "same":
            return "open" if elsewhere or wanted.role != measure.role else "agrees"
        case "within":
            return "open" if elsewhere or claim.is_policy else "agrees"
        case "differs":
            return "absent" if elsewhere or wanted.role != measure.role else "differs"
        case _:
            return "open"


def _contradicts(
    claim: _Claim,
    differing: Sequence[_Reading],
    readings: Sequence[_Reading],
    said: MeasuredStatement,
) -> bool:
    """Whether values that differ are about the same thing, and the sentence about no less."""
    topic = claim.measured.topic
    if not all(reading.covered for reading in differing):
        return False
    if len(readings) > 1 and any(reading.claimed.dimension in WHEN for reading in differing):
        return False  # what was so at another time contradicts nothing
    extra = said.topic - topic - HARMLESS
    return len(extra) <= _MOST_EXTRA and not any(
        reading.group(topic) or (reading.subject is None and extra) or _is_kind(reading, topic)
        for reading in differing
    )


def _is_kind(reading: _Reading, topic: frozenset[str]) -> bool:
    """Whether what a value is of is just a kind of what the claim's is: sick leave of leave."""
    extra = reading.measured - topic
    return len(extra) > 1 or (bool(extra) and len(reading.measured & topic) < _TELLING)


def _in_favour(
    claim: _Claim, readings: Sequence[_Reading], provisos: Provisos, sentence: Sentence
) -> _Favour | None:
    """Say how far a sentence with no other value than the claim's supports it."""
    settled = {
        place: reading
        for place, reading in enumerate(readings)
        if reading.relation == "agrees" and reading.covered
    }
    if not settled:
        return _left_open(claim, readings, sentence)
    values = ", ".join(f'"{reading.said}"' for reading in settled.values())
    part = len(settled) / len(readings)
    groups = sorted(
        {name for found in settled.values() for name in found.group(claim.measured.topic)}
    )
    limits = [*provisos.reasons, *([f"of a smaller group ({', '.join(groups)})"] if groups else [])]
    if limits:
        reason = f"the values agree ({values}), but {'; '.join(limits)}"
        return _Favour(0.5 + 0.3 * part, reason)
    if part < 1:
        reason = f"a part of the claim's values agrees ({values})"
        return _Favour(0.5 + 0.3 * part, reason, settles=frozenset(settled))
    own = claim.measured.topic <= read_measures(sentence.said.text).topic
    reason = f"the values agree ({values}), about the same thing"
    return _Favour(SAME_THING if own else BY_HEADING, reason, full=True)


def _left_open(claim: _Claim, readings: Sequence[_Reading], sentence: Sentence) -> _Favour | None:
    """Say that a sentence leaves a claim possible, if it is about much the same."""
    about = read_measures(sentence.said.text).topic | sentence.about
    shared = coverage(claim.measured.topic, about)
    possible = all(reading.relation in ("agrees", "open") for reading in readings)
    subject = claim.measured.subject or frozenset()
    if not possible or shared < _MUCH or not subject <= about:
        return None
    values = ", ".join(f'"{reading.said}"' for reading in readings)
    missing = ", ".join(sorted(claim.measured.topic - about))
    reason = f"the values ({values}) leave the claim open"
    if missing:
        reason = f"the values ({values}) fit, but the passage does not speak of: {missing}"
    return _Favour(0.4 + 0.2 * shared, reason)


def _for(passage: Passage, favour: _Favour, parts: int) -> Opinion:
    match = EvidenceMatch(
        similarity=favour.similarity,
        support_level=SupportLevel.FULL if favour.full else SupportLevel.PARTIAL,
        snippet=passage.snippet,
        passage=passage,
        judge=NumbersJudge.name,
        reason=favour.reason,
    )
    return Opinion(match, certain=favour.full, settles=favour.settles, parts=parts)


def _by_value(passage: Passage, reading: _Reading) -> Opinion:
    reason = f'the passage says "{reading.said}" where the claim says "{reading.claimed.text}"'
    return _against(passage, SAME_THING, reason, says=reading.said)


def _against(passage: Passage, similarity: float, reason: str, *, says: str = "") -> Opinion:
    match = EvidenceMatch(
        similarity=similarity,
        support_level=SupportLevel.NONE,
        contradicts=True,
        snippet=passage.snippet,
        passage=passage,
        judge=NumbersJudge.name,
        reason=reason,
        says=says,
    )
    return Opinion(match, certain=True)

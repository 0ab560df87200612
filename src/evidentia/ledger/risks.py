"""Risks: what can be wrong with relying on an answer, by one stated rule each.

* `missing_evidence`: a critical claim was not found.
* `contradiction`: a claim is contradicted.
* `outdated_source`: a claim rests on a document older than the window, on one that says that it
  holds no more, or on an older version of a document of which a newer one is there.
* `ambiguous_evidence`: the passages that weigh most on a claim, within 0.05 of each other, do not
  say the same of it: in full, in part, or the contrary.
* `conflicting_sources`: one document supports a claim in full and another contradicts it, or two
  contradict it with different values.
* `low_confidence`: the mean confidence is below 0.6.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import combinations
from typing import Final

from evidentia.canonical import derived_id
from evidentia.language.counting import agreed, counted
from evidentia.language.markup import one_line
from evidentia.language.numerals import find_quantities
from evidentia.language.quantities import compare
from evidentia.ledger.confidence import percent
from evidentia.ledger.model import (
    EvidenceLedger,
    EvidenceMatch,
    Importance,
    LedgerEntry,
    RiskFlag,
    RiskType,
    Severity,
    SupportLevel,
    Verdict,
)
from evidentia.ledger.verdicts import SUPPORTED_ABOVE

LOW_CONFIDENCE: Final = 0.6
OUTDATED_AFTER_DAYS: Final = 730
AMBIGUOUS_WITHIN: Final = 0.05
_ABOUT_SOURCES: Final = frozenset(
    {RiskType.CONFLICTING_SOURCES, RiskType.OUTDATED_SOURCE, RiskType.AMBIGUOUS_EVIDENCE}
)
"""The risks that ask for something to be done about the sources; the others are about claims."""
_QUESTIONS: Final = {
    Verdict.NOT_FOUND: 'Which document says that "{claim}"?',
    Verdict.CONTRADICTED: 'Which is right: "{claim}", or {source} with "{said}"?',
    Verdict.WEAK: 'Does a document say in full that "{claim}"? {source} supports it in part.',
    Verdict.NOT_JUDGED: 'Can a person judge the claim "{claim}"?',
}


@dataclass(frozen=True, slots=True)
class RiskDefinition:
    """What a risk means, how much it weighs by default, and what to do."""

    description: str
    default_severity: Severity
    user_action: str


RISK_DEFINITIONS: Final = {
    RiskType.MISSING_EVIDENCE: RiskDefinition(
        "Critical claim has no supporting evidence",
        Severity.HIGH,
        "Upload relevant documents or remove claim",
    ),
    RiskType.CONTRADICTION: RiskDefinition(
        "Evidence directly contradicts the claim",
        Severity.HIGH,
        "Review conflicting sources and correct claim",
    ),
    RiskType.OUTDATED_SOURCE: RiskDefinition(
        "Source document may be outdated",
        Severity.MEDIUM,
        "Verify with current documentation",
    ),
    RiskType.AMBIGUOUS_EVIDENCE: RiskDefinition(
        "Evidence is open to interpretation",
        Severity.MEDIUM,
        "Seek clarification or additional sources",
    ),
    RiskType.CONFLICTING_SOURCES: RiskDefinition(
        "Multiple sources provide different information",
        Severity.HIGH,
        "Determine authoritative source",
    ),
    RiskType.LOW_CONFIDENCE: RiskDefinition(
        "Claim support is weak across all evidence",
        Severity.LOW,
        "Consider qualifying or removing claim",
    ),
}


@dataclass(frozen=True, slots=True)
class DocumentAge:
    """What is known of a document's age: its own date, and whether a newer version is there.

    `until` is the last day on which it says that it holds.
    """

    filename: str
    dated: date | None = None
    superseded: bool = False
    until: date | None = None


@dataclass(frozen=True, slots=True)
class RiskContext:
    """What the rules need beside the ledger: the day, the window, the documents' ages by id."""

    today: date | None = None
    outdated_after_days: int = OUTDATED_AFTER_DAYS
    ages: Mapping[str, DocumentAge] = field(default_factory=dict)


def generate_risk_flags(
    ledger: EvidenceLedger, context: RiskContext | None = None
) -> list[RiskFlag]:
    """Return a ledger's risk flags, at most one of each type; their ids follow from content."""
    entries = ledger.entries
    found = (
        _missing(entries),
        _contradiction(entries),
        _outdated(entries, context or RiskContext()),
        _ambiguous(entries),
        _conflicting(entries),
        _low_confidence(entries),
    )
    return [flag for flag in found if flag is not None]


def follow_up_questions(entries: Sequence[LedgerEntry]) -> list[str]:
    """Return a question for each claim that needs one, naming what is missing."""
    return [
        _QUESTIONS[entry.verdict].format(
            claim=entry.claim_text,
            source=entry.source_document.filename if entry.source_document else "A source",
            said=one_line(entry.evidence_snippet),
        )
        for entry in entries
        if entry.verdict in _QUESTIONS
    ]


def recommended_actions(ledger: EvidenceLedger) -> list[str]:
    """Return what to do about a ledger, the most pressing first; claims go by their numbers."""
    numbered = list(enumerate(ledger.entries, 1))
    numbers = {entry.claim_id: number for number, entry in numbered}
    return [
        *_each(numbered, Verdict.CONTRADICTED, "Correct claim #{number} or remove it"),
        *_each(numbered, Verdict.NOT_FOUND, 'Upload additional documents covering "{claim}"'),
        *(_action(flag, numbers) for flag in ledger.risk_flags if flag.type in _ABOUT_SOURCES),
        *_each(
            numbered,
            Verdict.NOT_FOUND,
            "Review claim #{number} and consider removing or qualifying",
        ),
        *_each(numbered, Verdict.WEAK, "Review claim #{number} and consider qualifying"),
        *_each(numbered, Verdict.NOT_JUDGED, "Judge claim #{number} again, or by hand"),
    ]


def _each(
    numbered: Sequence[tuple[int, LedgerEntry]], verdict: Verdict, action: str
) -> Iterator[str]:
    for number, entry in numbered:
        if entry.verdict is verdict:
            yield action.format(number=number, claim=entry.claim_text)


def _action(flag: RiskFlag, numbers: Mapping[str, int]) -> str:
    claims = ", ".join(f"#{numbers[claim]}" for claim in flag.affected_claim_ids)
    noun = agreed(len(flag.affected_claim_ids), "claim", "claims")
    return f"{RISK_DEFINITIONS[flag.type].user_action} ({noun} {claims})"


def _missing(entries: Sequence[LedgerEntry]) -> RiskFlag | None:
    affected = [
        entry.claim_id
        for entry in entries
        if entry.verdict is Verdict.NOT_FOUND and entry.claim_importance is Importance.CRITICAL
    ]
    if not affected:
        return None
    claims = counted(len(affected), "critical claim")
    return _flag(
        RiskType.MISSING_EVIDENCE,
        f"{claims} {agreed(len(affected), 'has', 'have')} no supporting evidence",
        affected,
        mitigation="Upload relevant documents or revise response",
    )


def _contradiction(entries: Sequence[LedgerEntry]) -> RiskFlag | None:
    affected = [entry.claim_id for entry in entries if entry.verdict is Verdict.CONTRADICTED]
    if not affected:
        return None
    contradict = agreed(len(affected), "contradicts", "contradict")
    return _flag(
        RiskType.CONTRADICTION,
        f"{counted(len(affected), 'claim')} {contradict} the source documents",
        affected,
        mitigation="Review and correct the contradicted claims",
    )


def _low_confidence(entries: Sequence[LedgerEntry]) -> RiskFlag | None:
    if not entries:
        return None
    total = 0.0
    for entry in entries:  # not sum(), which rounds less than JavaScript from Python 3.12 on
        total += entry.confidence_score
    mean = total / len(entries)
    if mean >= LOW_CONFIDENCE:
        return None
    affected = [entry.claim_id for entry in entries if entry.confidence_score < LOW_CONFIDENCE]
    description = f"Overall confidence is low ({percent(mean)})"
    return _flag(RiskType.LOW_CONFIDENCE, description, affected, severity=Severity.MEDIUM)


def _outdated(entries: Sequence[LedgerEntry], context: RiskContext) -> RiskFlag | None:
    affected, reasons = [], []
    for entry in entries:
        age = context.ages.get(entry.source_document.id) if entry.source_document else None
        why = _why_outdated(age, context) if age else None
        if why:
            affected.append(entry.claim_id)
            reasons.append(why)
    if not affected:
        return None
    return _flag(RiskType.OUTDATED_SOURCE, "; ".join(dict.fromkeys(reasons)), affected)


def _why_outdated(age: DocumentAge, context: RiskContext) -> str | None:
    if age.superseded:
        return f"{age.filename} has a newer version among the documents"
    if age.until is not None and context.today is not None and age.until < context.today:
        return f"{age.filename} holds until {age.until}, which has passed"
    if age.dated is None or context.today is None:
        return None
    if (context.today - age.dated).days <= context.outdated_after_days:
        return None
    days = counted(context.outdated_after_days, "day")
    return f"{age.filename} is of {age.dated}, more than {days} ago"


def _ambiguous(entries: Sequence[LedgerEntry]) -> RiskFlag | None:
    affected = [entry.claim_id for entry in entries if _is_ambiguous(entry.evidence)]
    if not affected:
        return None
    number = len(affected)
    rest = agreed(number, "rests", "rest")
    description = f"{counted(number, 'claim')} {rest} on evidence that is open to interpretation"
    return _flag(RiskType.AMBIGUOUS_EVIDENCE, description, affected)


def _is_ambiguous(evidence: Sequence[EvidenceMatch]) -> bool:
    best = max((match.similarity for match in evidence), default=0.0)
    stances = {
        (match.contradicts, match.support_level)
        for match in evidence
        if match.similarity >= best - AMBIGUOUS_WITHIN
    }
    return len(stances) > 1


def _conflicting(entries: Sequence[LedgerEntry]) -> RiskFlag | None:
    affected, said = [], []
    for entry in entries:
        conflict = _conflict(entry.evidence)
        if conflict:
            affected.append(entry.claim_id)
            said.append(conflict)
    if not affected:
        return None
    return _flag(RiskType.CONFLICTING_SOURCES, "; ".join(said), affected)


def _conflict(evidence: Sequence[EvidenceMatch]) -> str | None:
    """Say which two documents disagree on a claim, and what each says; None if none do."""
    sourced = [(match.passage.source, match) for match in evidence if match.passage]
    for (one, first), (other, second) in combinations(sourced, 2):
        if one.id != other.id and _disagree(first, second):
            said = (
                f'{one.filename} says "{one_line(first.snippet)}"',
                f'{other.filename} says "{one_line(second.snippet)}"',
            )
            return ", ".join(said)
    return None


def _disagree(first: EvidenceMatch, second: EvidenceMatch) -> bool:
    if first.contradicts and second.contradicts:
        values = [find_quantities(match.says) for match in (first, second)]
        return all(values) and compare(values[0][0], values[1][0]) == "differs"
    bearing = second if first.contradicts else first
    bears_out = bearing.support_level is SupportLevel.FULL and bearing.similarity > SUPPORTED_ABOVE
    return first.contradicts != second.contradicts and bears_out


def _flag(
    kind: RiskType,
    description: str,
    affected: Sequence[str],
    *,
    severity: Severity | None = None,
    mitigation: str | None = None,
) -> RiskFlag:
    content = {"type": kind.value, "description": description, "claims": list(affected)}
    return RiskFlag(
        id=derived_id("risk", content),
        type=kind,
        severity=severity or RISK_DEFINITIONS[kind].default_severity,
        description=description,
        affected_claim_ids=tuple(affected),
        mitigation=mitigation,
    )

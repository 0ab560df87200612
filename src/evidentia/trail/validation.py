"""Validating a set of evidence records: whether histories are whole and obligations covered."""

from collections.abc import Iterable
from typing import TypedDict

from evidentia.trail.record import EvidenceRecord

AMENDMENT_KEYS = frozenset({"doc_id", "clause", "status"})
STATUS_CHANGE_KEYS = frozenset({"old_status", "new_status", "reason", "changed_by_doc_id"})


class ChainReport(TypedDict):
    """What validation found; `valid` is false for a gap or missing evidence, not for a warning."""

    valid: bool
    missing_evidence: list[str]
    gaps: list[str]
    warnings: list[str]


def validate_evidence_chain(records: Iterable[EvidenceRecord]) -> ChainReport:
    """Check each record's amendment history by the shape its kind of record has.

    A confidence of 0.0 on an extraction is a warning: it is what a missing one defaults to.
    """
    gaps: list[str] = []
    warnings: list[str] = []
    for record in records:
        required = STATUS_CHANGE_KEYS if record.is_status_change else AMENDMENT_KEYS
        for index, amendment in enumerate(record.amendment_history or ()):
            if missing := sorted(required - set(amendment)):
                gaps.append(
                    f"obligation {record.obligation_id}: amendment_history[{index}] "
                    f"missing keys {missing}"
                )
        if record.confidence == 0.0 and not record.is_status_change:
            warnings.append(
                f"obligation {record.obligation_id}: confidence is 0.0, "
                "which is also what a missing confidence becomes"
            )
    return {"valid": not gaps, "missing_evidence": [], "gaps": gaps, "warnings": warnings}


def validate_evidence_chain_against_obligations(
    records: Iterable[EvidenceRecord],
    expected_obligation_ids: Iterable[str],
) -> ChainReport:
    """Check the histories, and that every expected obligation has at least one record."""
    kept = list(records)
    report = validate_evidence_chain(kept)
    covered = {record.obligation_id for record in kept}
    report["missing_evidence"] = [
        obligation_id for obligation_id in expected_obligation_ids if obligation_id not in covered
    ]
    report["valid"] = report["valid"] and not report["missing_evidence"]
    return report

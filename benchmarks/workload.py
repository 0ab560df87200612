"""What is appended: evidence records of the shape and size that a contract review gives."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evidentia import EvidenceRecord, create_status_change_record
from evidentia.workspace import Workspace, open_workspace

SEED = 6962
BUILD_BATCH = 5_000
_POOL = 20_000
_PARTIES = ("Vendor", "Client", "Processor", "Controller", "Licensee", "Guarantor")
_DUTIES = (
    "shall deliver the Deliverables within {} days of the Effective Date",
    "shall pay each undisputed invoice within {} days of receipt",
    "shall notify the other party of a personal data breach within {} hours",
    "shall keep complete and accurate records for a period of {} months",
    "may audit the other party's compliance on {} days' written notice",
)
_RESULTS = ("CONFIRMED", "CONFIRMED", "CONFIRMED", "DISPUTED", "UNVERIFIED")


def evidence_records(count: int, seed: int = SEED) -> list[EvidenceRecord]:
    """Return records as an extraction run gives them, obligation after obligation.

    One in ten carries an amendment history, one in twenty is a status change of an earlier one.
    """
    chance = random.Random(seed)
    return [_record(chance, number) for number in range(count)]


def batches(records: list[EvidenceRecord], size: int) -> Iterator[list[EvidenceRecord]]:
    """Give the records in batches."""
    for start in range(0, len(records), size):
        yield records[start : start + size]


def decision_of(tenant: str) -> dict[str, Any]:
    """Return the fields of a decision that a pack can be made of."""
    return {
        "decision_id": "dec_benchmark",
        "entity_id": "lead_1",
        "tenant_id": tenant,
        "agent_name": "icp_matcher",
        "model": "model-a",
        "decision": "Offer the hospital a pilot.",
        "decision_ar": "تقديم عرض تجريبي للمستشفى.",
        "approval_class": "A2",
        "reversibility_class": "R1",
        "sensitivity_class": "S1",
        "confidence": 0.84,
        "decided_at": "2026-03-01T11:00:00Z",
        "evidence": [
            {
                "source": "crm.contact.1",
                "uri": "crm://contacts/1",
                "excerpt": "The contact was read from the record of the customer.",
                "retrieved_at": "2026-03-01T10:00:00Z",
                "confidence": 0.9,
            }
        ],
    }


def build_log(folder: Path, size: int) -> None:
    """Make a log of that many entries, its key's announcement among them, unless it is there."""
    with open_workspace(folder) as workspace:
        if workspace.trail.size != size:
            workspace.trail.checkpoint()  # makes the key, and announces it
            _fill(workspace, size)
        workspace.trail.checkpoint()


def _fill(workspace: Workspace, size: int) -> None:
    pool = evidence_records(min(_POOL, size))
    at = workspace.trail.size
    while at < size:
        start = at % len(pool)
        batch = pool[start : start + min(BUILD_BATCH, size - at)]
        at += len(workspace.trail.append_many(batch))


def _record(chance: random.Random, number: int) -> EvidenceRecord:
    if number and chance.random() < 0.05:
        earlier = chance.randrange(number)
        return create_status_change_record(
            f"ob-{earlier:07d}",
            "ACTIVE",
            "SUPERSEDED",
            f"Amendment {earlier % 9 + 1} changes the period",
            changed_by_doc_id=f"amd-{earlier // 40:05d}",
        )
    party, duty = chance.choice(_PARTIES), chance.choice(_DUTIES)
    period = chance.randrange(5, 120)
    clause = f"The {party} {duty.format(period)}, unless the parties agree otherwise in writing."
    doc_id = f"msa-{number // 40:05d}"
    amended = chance.random() < 0.1
    return EvidenceRecord(
        obligation_id=f"ob-{number:07d}",
        doc_id=doc_id,
        doc_filename=f"services_agreement_{number // 40:05d}.pdf",
        page_number=chance.randrange(1, 60),
        section_reference=f"Article {chance.randrange(1, 30)}.{chance.randrange(1, 9)}",
        source_clause=clause,
        extraction_model="extractor-a-2026-04",
        verification_model="verifier-b-2026-05",
        verification_result=chance.choice(_RESULTS),
        confidence=round(chance.uniform(0.3, 0.99), 3),
        amendment_history=[
            {"doc_id": doc_id, "clause": clause[:60], "status": "SUPERSEDED"},
            {"doc_id": f"amd-{number // 40:05d}", "clause": clause, "status": "ACTIVE"},
        ]
        if amended
        else None,
    )

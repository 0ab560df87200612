from collections.abc import Iterable
from typing import Any

import pytest

from evidentia.trail.record import (
    EvidenceRecord,
    create_evidence_record,
    create_status_change_record,
)
from evidentia.trail.validation import (
    validate_evidence_chain,
    validate_evidence_chain_against_obligations,
)

WHOLE = {"doc_id": "doc-aaa", "clause": "Original clause", "status": "ACTIVE"}
TRANSITION = {
    "old_status": "ACTIVE",
    "new_status": "SUPERSEDED",
    "reason": "Amended",
    "changed_by_doc_id": None,
}


def record(
    obligation_id: str = "ob-001",
    amendments: list[dict[str, Any]] | None = None,
    confidence: float = 0.9,
    filename: str = "agreement.pdf",
) -> EvidenceRecord:
    return create_evidence_record(
        {
            "obligation_id": obligation_id,
            "source_clause": "A clause.",
            "extraction_model": "extractor",
        },
        {"doc_id": "doc-aaa", "filename": filename},
        {"verification_model": "verifier", "verified": True, "confidence": confidence},
        amendments,
    )


def test_records_with_whole_histories_are_valid() -> None:
    report = validate_evidence_chain([record(), record("ob-002", [WHOLE, WHOLE])])
    assert report == {"valid": True, "missing_evidence": [], "gaps": [], "warnings": []}


def test_no_records_at_all_are_valid() -> None:
    assert validate_evidence_chain([])["valid"] is True


def test_an_empty_history_is_no_gap() -> None:
    assert validate_evidence_chain([record(amendments=[])])["valid"] is True


def test_more_keys_than_required_are_no_gap() -> None:
    assert validate_evidence_chain([record(amendments=[{**WHOLE, "page": 3}])])["valid"] is True


def test_an_amendment_without_its_keys_is_a_gap_that_names_place_and_keys() -> None:
    report = validate_evidence_chain([record(), record("ob-002", [WHOLE, {"doc_id": "doc-bbb"}])])
    assert report["valid"] is False
    assert report["gaps"] == [
        "obligation ob-002: amendment_history[1] missing keys ['clause', 'status']"
    ]
    assert report["missing_evidence"] == []


def test_missing_keys_are_sorted() -> None:
    report = validate_evidence_chain([record(amendments=[{}])])
    assert report["gaps"][0].endswith("missing keys ['clause', 'doc_id', 'status']")


def test_every_gap_of_every_record_is_listed() -> None:
    records = [record("ob-1", [{}, WHOLE, {}]), record("ob-2", [{"status": "ACTIVE"}])]
    gaps = validate_evidence_chain(records)["gaps"]
    assert [gap.partition(" missing")[0] for gap in gaps] == [
        "obligation ob-1: amendment_history[0]",
        "obligation ob-1: amendment_history[2]",
        "obligation ob-2: amendment_history[0]",
    ]


def test_a_trail_with_a_status_change_is_valid() -> None:
    records = [record(), create_status_change_record("ob-001", "ACTIVE", "SUPERSEDED", "Amended")]
    assert validate_evidence_chain(records)["valid"] is True


@pytest.mark.parametrize("key", sorted(TRANSITION))
def test_a_status_change_without_one_of_its_keys_is_a_gap(key: str) -> None:
    amendment = {name: value for name, value in TRANSITION.items() if name != key}
    report = validate_evidence_chain([record(amendments=[amendment], filename="status_change")])
    assert report["valid"] is False
    assert report["gaps"] == [f"obligation ob-001: amendment_history[0] missing keys ['{key}']"]


def test_the_two_shapes_are_told_apart_by_the_filename() -> None:
    as_change = record(amendments=[WHOLE], filename="status_change")
    as_extraction = record(amendments=[TRANSITION])
    assert validate_evidence_chain([as_change])["gaps"] == [
        "obligation ob-001: amendment_history[0] missing keys "
        + str(["changed_by_doc_id", "new_status", "old_status", "reason"])
    ]
    assert validate_evidence_chain([as_extraction])["gaps"] == [
        "obligation ob-001: amendment_history[0] missing keys ['clause', 'doc_id', 'status']"
    ]


def test_a_confidence_of_zero_is_a_warning_and_never_invalid() -> None:
    report = validate_evidence_chain([record(confidence=0.0), record("ob-002")])
    assert report["valid"] is True
    assert len(report["warnings"]) == 1
    assert report["warnings"][0].startswith("obligation ob-001: confidence is 0.0")


def test_a_confidence_of_zero_on_a_status_change_is_no_warning() -> None:
    report = validate_evidence_chain([record(confidence=0.0, filename="status_change")])
    assert report["warnings"] == []


def test_an_obligation_without_a_record_is_missing() -> None:
    report = validate_evidence_chain_against_obligations([record()], ["ob-001", "ob-002", "ob-003"])
    assert report["valid"] is False
    assert report["missing_evidence"] == ["ob-002", "ob-003"]
    assert report["gaps"] == []


def test_a_trail_that_covers_every_obligation_is_valid() -> None:
    records = [record(), record("ob-002"), record("ob-unexpected")]
    report = validate_evidence_chain_against_obligations(records, ["ob-002", "ob-001"])
    assert report == {"valid": True, "missing_evidence": [], "gaps": [], "warnings": []}


def test_gaps_make_a_complete_trail_invalid_too() -> None:
    report = validate_evidence_chain_against_obligations([record(amendments=[{}])], ["ob-001"])
    assert report["valid"] is False
    assert report["missing_evidence"] == []
    assert len(report["gaps"]) == 1


def test_warnings_are_kept_by_the_stronger_check() -> None:
    report = validate_evidence_chain_against_obligations([record(confidence=0.0)], ["ob-001"])
    assert report["valid"] is True
    assert len(report["warnings"]) == 1


def test_without_records_everything_expected_is_missing() -> None:
    report = validate_evidence_chain_against_obligations([], ["ob-001"])
    assert report["valid"] is False
    assert report["missing_evidence"] == ["ob-001"]
    assert validate_evidence_chain_against_obligations([], [])["valid"] is True


def test_records_may_come_from_a_stream() -> None:
    def stream() -> Iterable[EvidenceRecord]:
        yield record(amendments=[{}])
        yield record("ob-002")

    report = validate_evidence_chain_against_obligations(stream(), iter(["ob-001", "ob-003"]))
    assert report["missing_evidence"] == ["ob-003"]
    assert len(report["gaps"]) == 1

import copy
import json
import logging
import math
import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from evidentia.canonical import canonical_json
from evidentia.errors import InputError
from evidentia.trail.record import (
    EvidenceRecord,
    PackagedEvidence,
    SkippedObligation,
    VerificationResult,
    create_evidence_record,
    create_status_change_record,
    package_evidence,
    read_record,
    validation_problems,
)
from library_logging import unconfigured_logging
from places import record

OBLIGATION = {
    "obligation_id": "ob-001",
    "doc_id": "doc-aaa",
    "source_clause": "The supplier shall deliver within 30 days.",
    "extraction_model": "gpt-4o-2025-04-01",
    "source_page": 4,
    "section_reference": "Article 1.1",
    "confidence": 0.9,
}
DOCUMENT = {"doc_id": "doc-aaa", "filename": "services_agreement.pdf"}
DOCUMENTS = {"doc-aaa": DOCUMENT, "doc-bbb": {"doc_id": "doc-bbb", "filename": "annex.pdf"}}
CONFIRMED = {"verification_model": "claude-sonnet-4", "verified": True, "confidence": 0.95}
DISPUTED = {"verification_model": "claude-sonnet-4", "verified": False, "confidence": 0.4}
UNVERIFIED = {"verification_model": "claude-sonnet-4", "confidence": 0.5}
HISTORY = [
    {"doc_id": "doc-aaa", "clause": "30 days", "status": "SUPERSEDED"},
    {"doc_id": "doc-bbb", "clause": "45 days", "status": "ACTIVE"},
]
FIELDS: dict[str, Any] = {
    "obligation_id": "ob-001",
    "doc_id": "doc-aaa",
    "doc_filename": "services_agreement.pdf",
    "source_clause": "The supplier shall deliver within 30 days.",
    "extraction_model": "gpt-4o-2025-04-01",
    "verification_model": "claude-sonnet-4",
    "verification_result": "CONFIRMED",
    "confidence": 0.95,
}


def without(values: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


def history(record: EvidenceRecord) -> Any:
    """Return the history as something a careless caller would try to change."""
    return record.amendment_history


class TestCreating:
    def test_a_record_carries_its_source_its_models_and_its_outcome(self) -> None:
        record = create_evidence_record(OBLIGATION, DOCUMENT, CONFIRMED)
        assert record.model_dump() == {
            "obligation_id": "ob-001",
            "doc_id": "doc-aaa",
            "doc_filename": "services_agreement.pdf",
            "page_number": 4,
            "section_reference": "Article 1.1",
            "source_clause": "The supplier shall deliver within 30 days.",
            "extraction_model": "gpt-4o-2025-04-01",
            "verification_model": "claude-sonnet-4",
            "verification_result": "CONFIRMED",
            "confidence": 0.95,
            "amendment_history": None,
        }
        assert not record.is_status_change

    def test_page_and_section_may_be_unknown(self) -> None:
        obligation = without(OBLIGATION, "source_page", "section_reference")
        record = create_evidence_record(obligation, DOCUMENT, CONFIRMED)
        assert record.page_number is None
        assert record.section_reference is None

    def test_an_amendment_history_is_kept_in_its_order(self) -> None:
        record = create_evidence_record(OBLIGATION, DOCUMENT, CONFIRMED, HISTORY)
        assert record.amendment_history is not None
        assert len(record.amendment_history) == 2
        assert record.amendment_history == HISTORY
        assert record.amendment_history[1]["status"] == "ACTIVE"

    def test_the_verifiers_confidence_wins_over_the_extractors(self) -> None:
        assert create_evidence_record(OBLIGATION, DOCUMENT, CONFIRMED).confidence == 0.95

    def test_without_the_verifiers_the_extractors_confidence_is_used(self) -> None:
        verification = without(CONFIRMED, "confidence")
        assert create_evidence_record(OBLIGATION, DOCUMENT, verification).confidence == 0.9

    def test_without_any_confidence_it_is_zero(self) -> None:
        record = create_evidence_record(
            without(OBLIGATION, "confidence"), DOCUMENT, without(CONFIRMED, "confidence")
        )
        assert record.confidence == 0.0

    @pytest.mark.parametrize(
        ("obligation", "document", "verification", "missing"),
        [
            (without(OBLIGATION, "obligation_id"), DOCUMENT, CONFIRMED, "obligation_id"),
            (without(OBLIGATION, "source_clause"), DOCUMENT, CONFIRMED, "source_clause"),
            (without(OBLIGATION, "extraction_model"), DOCUMENT, CONFIRMED, "extraction_model"),
            (OBLIGATION, {"doc_id": "doc-aaa"}, CONFIRMED, "doc_filename"),
            (OBLIGATION, {"filename": "x.pdf"}, CONFIRMED, "doc_id"),
            (OBLIGATION, DOCUMENT, {"verified": True}, "verification_model"),
        ],
    )
    def test_what_is_missing_is_named(
        self,
        obligation: dict[str, Any],
        document: dict[str, Any],
        verification: dict[str, Any],
        missing: str,
    ) -> None:
        with pytest.raises(ValidationError, match=rf"{missing}\n  Field required"):
            create_evidence_record(obligation, document, verification)

    def test_an_unknown_field_is_refused(self) -> None:
        with pytest.raises(ValidationError, match="Extra inputs"):
            EvidenceRecord.model_validate({**FIELDS, "approved": True})


class TestVerificationResults:
    def test_there_are_three_results_and_they_are_text(self) -> None:
        assert [result.value for result in VerificationResult] == [
            "CONFIRMED",
            "DISPUTED",
            "UNVERIFIED",
        ]
        assert all(isinstance(result, str) for result in VerificationResult)

    @pytest.mark.parametrize(
        ("verification", "result"),
        [
            (CONFIRMED, "CONFIRMED"),
            (DISPUTED, "DISPUTED"),
            (UNVERIFIED, "UNVERIFIED"),
            ({**UNVERIFIED, "verified": None}, "UNVERIFIED"),
            ({**UNVERIFIED, "verified": "yes"}, "UNVERIFIED"),
            ({**UNVERIFIED, "result": "CONFIRMED"}, "CONFIRMED"),
            ({**UNVERIFIED, "result": VerificationResult.DISPUTED}, "DISPUTED"),
            ({**CONFIRMED, "result": None}, "CONFIRMED"),
            ({**CONFIRMED, "result": ""}, "CONFIRMED"),
        ],
    )
    def test_each_way_to_say_an_outcome_gives_that_outcome(
        self, verification: dict[str, Any], result: str
    ) -> None:
        record = create_evidence_record(OBLIGATION, DOCUMENT, verification)
        assert record.verification_result == result
        assert type(record.verification_result) is str

    @pytest.mark.parametrize("verified", [True, False])
    @pytest.mark.parametrize("result", list(VerificationResult))
    def test_an_explicit_result_wins_over_the_flag(
        self, result: VerificationResult, verified: object
    ) -> None:
        verification = {**CONFIRMED, "verified": verified, "result": result.value}
        record = create_evidence_record(OBLIGATION, DOCUMENT, verification)
        assert record.verification_result == result.value

    @pytest.mark.parametrize("verified", [True, False, None])
    def test_an_unknown_result_is_refused_with_its_value(self, verified: object) -> None:
        verification = {**CONFIRMED, "verified": verified, "result": "MAYBE"}
        with pytest.raises(ValidationError, match=r"verification_result .* got 'MAYBE'"):
            create_evidence_record(OBLIGATION, DOCUMENT, verification)

    @pytest.mark.parametrize("result", ["MAYBE", "confirmed", "", "CONFIRMED "])
    def test_a_record_takes_no_other_result(self, result: str) -> None:
        with pytest.raises(ValidationError, match="verification_result must be one of"):
            EvidenceRecord(**{**FIELDS, "verification_result": result})

    @pytest.mark.parametrize("confidence", [0.0, 1.0, 0, 1, 0.5, 5e-324])
    def test_a_confidence_from_zero_to_one_is_taken(self, confidence: float) -> None:
        assert EvidenceRecord(**{**FIELDS, "confidence": confidence}).confidence == confidence

    @pytest.mark.parametrize(
        "confidence",
        [1.5, -0.1, math.nextafter(1, 2), -5e-324, math.nan, math.inf, -math.inf, None, "high"],
    )
    def test_any_other_confidence_is_refused(self, confidence: Any) -> None:
        with pytest.raises(ValidationError, match="confidence"):
            EvidenceRecord(**{**FIELDS, "confidence": confidence})
        with pytest.raises(ValidationError, match="confidence"):
            create_evidence_record(OBLIGATION, DOCUMENT, {**CONFIRMED, "confidence": confidence})


class TestPackaging:
    def obligations(self, *ids: str) -> list[dict[str, Any]]:
        return [{**OBLIGATION, "obligation_id": obligation_id} for obligation_id in ids]

    def test_each_obligation_gives_one_record_in_order(self) -> None:
        obligations = self.obligations("ob-1", "ob-2", "ob-3")
        obligations[1]["doc_id"] = "doc-bbb"
        verifications = {"ob-1": CONFIRMED, "ob-2": DISPUTED, "ob-3": UNVERIFIED}
        packaged = package_evidence(obligations, DOCUMENTS, verifications)
        assert [record.obligation_id for record in packaged] == ["ob-1", "ob-2", "ob-3"]
        assert [record.doc_filename for record in packaged] == [
            "services_agreement.pdf",
            "annex.pdf",
            "services_agreement.pdf",
        ]
        assert [record.verification_result for record in packaged] == [
            "CONFIRMED",
            "DISPUTED",
            "UNVERIFIED",
        ]
        assert packaged.skipped == ()

    def test_the_result_is_a_list_of_records(self) -> None:
        packaged = package_evidence([OBLIGATION], DOCUMENTS, {"ob-001": CONFIRMED})
        assert isinstance(packaged, list)
        assert packaged == [create_evidence_record(OBLIGATION, DOCUMENT, CONFIRMED)]
        assert package_evidence([], {}, {}) == []
        assert PackagedEvidence() == []

    def test_an_obligation_without_its_document_is_skipped_and_reported(self) -> None:
        packaged = package_evidence([OBLIGATION], {}, {"ob-001": CONFIRMED})
        assert packaged == []
        assert packaged.skipped == (
            SkippedObligation(0, "ob-001", "missing_document", "no document with doc_id 'doc-aaa'"),
        )

    @pytest.mark.parametrize("doc_id", [None, 5, ["doc-aaa"]])
    def test_an_obligation_that_names_no_document_is_skipped(self, doc_id: Any) -> None:
        obligation = {**OBLIGATION, "doc_id": doc_id}
        packaged = package_evidence([obligation], DOCUMENTS, {"ob-001": CONFIRMED})
        assert [skip.reason for skip in packaged.skipped] == ["missing_document"]

    def test_an_obligation_without_verification_is_skipped_and_reported(self) -> None:
        packaged = package_evidence([OBLIGATION], DOCUMENTS, {})
        assert packaged == []
        assert packaged.skipped == (
            SkippedObligation(
                0, "ob-001", "missing_verification", "no verification for obligation 'ob-001'"
            ),
        )

    @pytest.mark.parametrize("obligation_id", [None, 7, ["ob-1"], {}])
    def test_an_obligation_without_an_id_is_skipped_by_its_place(self, obligation_id: Any) -> None:
        obligations = [OBLIGATION, {**OBLIGATION, "obligation_id": obligation_id}]
        packaged = package_evidence(obligations, DOCUMENTS, {"ob-001": CONFIRMED})
        assert len(packaged) == 1
        assert packaged.skipped[0].index == 1
        assert packaged.skipped[0].obligation_id is None
        assert packaged.skipped[0].reason == "missing_obligation_id"
        assert "obligation 1 has no obligation_id" in packaged.skipped[0].detail

    @pytest.mark.parametrize("result", ["MAYBE", 5, ["CONFIRMED"], {"a": 1}])
    def test_an_unknown_result_is_a_skip_that_says_so(self, result: Any) -> None:
        verification = {**CONFIRMED, "result": result}
        packaged = package_evidence([OBLIGATION], DOCUMENTS, {"ob-001": verification})
        assert packaged == []
        assert packaged.skipped[0].reason == "unknown_result"
        assert "verification_result" in packaged.skipped[0].detail

    def test_the_unknown_result_is_named_in_the_skip(self) -> None:
        verification = {**CONFIRMED, "result": "MAYBE"}
        packaged = package_evidence([OBLIGATION], DOCUMENTS, {"ob-001": verification})
        assert packaged.skipped[0].detail == (
            "verification_result must be one of CONFIRMED, DISPUTED, UNVERIFIED, got 'MAYBE'"
        )

    @pytest.mark.parametrize(
        ("obligation", "verification", "detail"),
        [
            (without(OBLIGATION, "source_clause"), CONFIRMED, "missing: source_clause"),
            (OBLIGATION, {**CONFIRMED, "confidence": 2}, "confidence: Input should be less"),
            (OBLIGATION, {**CONFIRMED, "result": "DISPUTED", "confidence": -1}, "confidence: "),
        ],
    )
    def test_an_obligation_that_gives_no_valid_record_is_skipped_with_what_is_wrong(
        self, obligation: dict[str, Any], verification: dict[str, Any], detail: str
    ) -> None:
        packaged = package_evidence([obligation], DOCUMENTS, {"ob-001": verification})
        assert packaged == []
        assert packaged.skipped[0].reason == "invalid_record"
        assert packaged.skipped[0].detail.startswith(detail)

    def test_one_bad_obligation_does_not_cost_the_others(self) -> None:
        obligations = self.obligations("ob-1", "ob-2", "ob-3")
        packaged = package_evidence(obligations, DOCUMENTS, {"ob-1": CONFIRMED, "ob-3": CONFIRMED})
        assert [record.obligation_id for record in packaged] == ["ob-1", "ob-3"]
        assert [(skip.index, skip.obligation_id) for skip in packaged.skipped] == [(1, "ob-2")]

    def test_amendment_chains_go_to_their_obligations(self) -> None:
        packaged = package_evidence(
            self.obligations("ob-1", "ob-2"),
            DOCUMENTS,
            {"ob-1": CONFIRMED, "ob-2": CONFIRMED},
            amendment_chains={"ob-2": HISTORY},
        )
        assert packaged[0].amendment_history is None
        assert packaged[1].amendment_history == HISTORY

    def test_skips_and_totals_are_logged(self, caplog: pytest.LogCaptureFixture) -> None:
        with unconfigured_logging(), caplog.at_level(logging.INFO):
            package_evidence([OBLIGATION, OBLIGATION], {}, {})
        messages = [record.getMessage() for record in caplog.records]
        assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING", "INFO"]
        assert messages[0].startswith("event=evidence_missing_document obligation_id=ob-001 ")
        assert "no document with doc_id 'doc-aaa'" in messages[0]
        assert messages[2] == "event=evidence_packaged records=0 skipped=2"

    def test_a_packaged_batch_can_be_copied_and_pickled_with_its_skips(self) -> None:
        packaged = package_evidence([OBLIGATION, {}], DOCUMENTS, {"ob-001": CONFIRMED})
        for other in (copy.deepcopy(packaged), pickle.loads(pickle.dumps(packaged))):
            assert other == packaged
            assert other.skipped == packaged.skipped


class TestStatusChanges:
    def test_a_transition_is_recorded_with_its_reason_and_document(self) -> None:
        record = create_status_change_record(
            "ob-001", "ACTIVE", "SUPERSEDED", "Amendment extends delivery", "doc-bbb"
        )
        assert record.model_dump() == {
            "obligation_id": "ob-001",
            "doc_id": "doc-bbb",
            "doc_filename": "status_change",
            "page_number": None,
            "section_reference": None,
            "source_clause": (
                "Status changed from ACTIVE to SUPERSEDED: Amendment extends delivery"
            ),
            "extraction_model": "SYSTEM",
            "verification_model": "SYSTEM",
            "verification_result": "UNVERIFIED",
            "confidence": 1.0,
            "amendment_history": [
                {
                    "old_status": "ACTIVE",
                    "new_status": "SUPERSEDED",
                    "reason": "Amendment extends delivery",
                    "changed_by_doc_id": "doc-bbb",
                }
            ],
        }
        assert record.is_status_change

    @pytest.mark.parametrize("changed_by", [None, ""])
    def test_a_change_that_no_document_made_was_made_by_the_system(
        self, changed_by: str | None
    ) -> None:
        record = create_status_change_record(
            "ob-001", "ACTIVE", "TERMINATED", "Expired by date", changed_by_doc_id=changed_by
        )
        assert record.doc_id == "SYSTEM"
        assert history(record)[0]["changed_by_doc_id"] == changed_by

    def test_a_status_change_keeps_the_old_record(self) -> None:
        original = create_evidence_record(OBLIGATION, DOCUMENT, CONFIRMED)
        before = original.model_dump_json()
        transition = create_status_change_record("ob-001", "ACTIVE", "SUPERSEDED", "Amended")
        assert transition is not original
        assert original.model_dump_json() == before
        assert original.verification_result == "CONFIRMED"
        assert transition.verification_result == "UNVERIFIED"
        assert transition.source_clause != original.source_clause

    def test_a_trail_only_grows(self) -> None:
        trail = [create_evidence_record(OBLIGATION, DOCUMENT, CONFIRMED)]
        snapshots = []
        for old, new in [("ACTIVE", "SUPERSEDED"), ("SUPERSEDED", "TERMINATED")]:
            snapshots.append(copy.deepcopy(trail))
            trail.append(create_status_change_record("ob-001", old, new, "Amended"))
        assert [trail[: len(snapshot)] for snapshot in snapshots] == snapshots
        assert len(trail) == 3


class TestImmutability:
    @pytest.mark.parametrize("name", EvidenceRecord.model_fields)
    def test_no_field_can_be_set_or_deleted(self, name: str) -> None:
        record = create_evidence_record(OBLIGATION, DOCUMENT, CONFIRMED, HISTORY)
        before = record.model_dump()
        with pytest.raises(ValidationError, match="frozen"):
            setattr(record, name, "tampered")
        with pytest.raises(ValidationError, match="frozen"):
            delattr(record, name)
        assert record.model_dump() == before

    def test_an_amendment_inside_a_record_cannot_be_changed(self) -> None:
        record = create_evidence_record(OBLIGATION, DOCUMENT, CONFIRMED, HISTORY)
        with pytest.raises(TypeError):
            history(record)[0]["status"] = "HACKED"
        with pytest.raises(TypeError):
            history(record)[0] = {}
        with pytest.raises(TypeError):
            history(record).append({})
        assert record.amendment_history == HISTORY

    def test_a_history_is_a_list_of_dicts_to_its_users(self) -> None:
        record = create_evidence_record(OBLIGATION, DOCUMENT, CONFIRMED, HISTORY)
        assert isinstance(record.amendment_history, list)
        assert isinstance(record.amendment_history[0], dict)
        assert json.loads(json.dumps(record.amendment_history)) == HISTORY
        longer = record.amendment_history + [{"status": "amended"}]  # noqa: RUF005 - the operator
        assert longer == [*HISTORY, {"status": "amended"}]
        again = record.model_copy(update={"amendment_history": longer})
        assert again.amendment_history == longer
        assert record.amendment_history == HISTORY

    def test_nested_values_inside_an_amendment_cannot_be_changed(self) -> None:
        amendments = [{**HISTORY[0], "parties": [{"name": "A"}]}]
        record = create_evidence_record(OBLIGATION, DOCUMENT, CONFIRMED, amendments)
        with pytest.raises(TypeError):
            history(record)[0]["parties"][0]["name"] = "B"
        with pytest.raises(TypeError):
            history(record)[0]["parties"].append({})

    def test_what_the_caller_changes_later_does_not_reach_the_record(self) -> None:
        amendments: list[dict[str, Any]] = [{**HISTORY[0], "parties": [{"name": "A"}]}]
        record = create_evidence_record(OBLIGATION, DOCUMENT, CONFIRMED, amendments)
        before = copy.deepcopy(amendments)
        amendments[0]["status"] = "HACKED"
        amendments[0]["parties"][0]["name"] = "B"
        amendments.append({})
        assert record.amendment_history == before

    def test_a_frozen_history_equals_the_list_it_was_made_from(self) -> None:
        record = create_evidence_record(OBLIGATION, DOCUMENT, CONFIRMED, HISTORY)
        assert record.amendment_history == HISTORY
        assert HISTORY == record.amendment_history  # noqa: SIM300 - both directions are promised
        assert history(record)[0] == HISTORY[0]

    def test_an_amendment_that_is_not_json_is_a_validation_error_with_its_place(self) -> None:
        with pytest.raises(ValidationError, match=r"\[0\]\.when: set is not a JSON value"):
            EvidenceRecord(**FIELDS, amendment_history=[{"when": {1}}])

    def test_a_changed_copy_is_validated(self) -> None:
        record = create_evidence_record(OBLIGATION, DOCUMENT, CONFIRMED, HISTORY)
        changed = record.model_copy(update={"confidence": 0.5})
        assert (record.confidence, changed.confidence) == (0.95, 0.5)
        assert changed.amendment_history == HISTORY
        for update in ({"confidence": 2}, {"verification_result": "MAYBE"}, {"extra": 1}):
            with pytest.raises(ValidationError):
                record.model_copy(update=update)

    def test_a_changed_copy_shares_nothing_with_what_it_was_given(self) -> None:
        amendments = [dict(HISTORY[0])]
        changed = EvidenceRecord(**FIELDS).model_copy(update={"amendment_history": amendments})
        amendments[0]["status"] = "HACKED"
        assert history(changed)[0]["status"] == "SUPERSEDED"


class TestTravelling:
    RECORDS = (
        create_evidence_record(OBLIGATION, DOCUMENT, CONFIRMED),
        create_evidence_record(OBLIGATION, DOCUMENT, DISPUTED, HISTORY),
        create_status_change_record("ob-001", "ACTIVE", "SUPERSEDED", "Amended"),
    )

    @pytest.mark.parametrize("record", RECORDS)
    def test_copies_pickles_and_json_bring_back_an_equal_frozen_record(
        self, record: EvidenceRecord
    ) -> None:
        others = [
            copy.copy(record),
            copy.deepcopy(record),
            record.model_copy(),
            pickle.loads(pickle.dumps(record)),
            EvidenceRecord.model_validate(record.model_dump()),
            EvidenceRecord.model_validate_json(record.model_dump_json()),
            EvidenceRecord.model_validate(json.loads(json.dumps(record.model_dump()))),
        ]
        for other in others:
            assert other == record
            assert hash(other) == hash(record)
            assert other.model_dump_json() == record.model_dump_json()
            with pytest.raises(ValidationError):
                setattr(other, "confidence", 0.1)  # noqa: B010 - a type checker forbids it too
            if other.amendment_history:
                with pytest.raises(TypeError):
                    history(other)[0]["status"] = "HACKED"

    def test_records_can_be_members_of_a_set(self) -> None:
        assert len({*self.RECORDS, *copy.deepcopy(self.RECORDS)}) == 3

    @settings(max_examples=40)
    @given(
        st.lists(
            st.dictionaries(
                st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
                st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1),
                max_size=3,
            ),
            max_size=3,
        ),
        st.floats(0, 1),
    )
    def test_a_records_json_has_one_canonical_form(
        self, amendments: list[dict[str, Any]], confidence: float
    ) -> None:
        fields = {**FIELDS, "confidence": confidence, "amendment_history": amendments}
        record = EvidenceRecord(**fields)
        again = EvidenceRecord.model_validate_json(record.model_dump_json())
        assert again == record
        assert canonical_json(again.model_dump()) == canonical_json(record.model_dump())


def test_validation_problems_are_one_line_with_every_field() -> None:
    with pytest.raises(ValidationError) as caught:
        EvidenceRecord.model_validate({**FIELDS, "confidence": 2, "doc_id": None})
    line = validation_problems(caught.value)
    assert line == (
        "doc_id: Input should be a valid string; "
        "confidence: Input should be less than or equal to 1"
    )


def test_validation_problems_stay_one_line_whatever_the_input_was() -> None:
    hostile = "a\nERROR forged\x1b[2J\u202e"
    with pytest.raises(ValidationError) as caught:
        EvidenceRecord.model_validate({**FIELDS, hostile: 1})
    line = validation_problems(caught.value)
    assert line == r"unknown: a\nERROR forged\x1b[2J\u202e"


def test_validation_problems_name_what_is_missing_unknown_and_wrong() -> None:
    with pytest.raises(ValidationError) as caught:
        EvidenceRecord.model_validate(
            {**without(FIELDS, "doc_id"), "colour": "red", "confidence": 2}
        )
    assert validation_problems(caught.value) == (
        "missing: doc_id; unknown: colour; confidence: Input should be less than or equal to 1"
    )


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"{", "JSON"),
        (b"[]", "valid dictionary"),
        (b"{}", "missing: obligation_id"),
    ],
)
def test_what_is_no_record_is_said_when_it_is_read(data: bytes, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read_record(data)


def test_a_record_is_read_as_it_was_written() -> None:
    one = record()
    assert read_record(one.model_dump_json().encode()) == one

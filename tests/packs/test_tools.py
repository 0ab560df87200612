import copy
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from evidentia import ToolCallRecord, ToolVerificationLedger
from evidentia.packs.actions import Basis
from evidentia.packs.tools import ToolOutcome, VerificationStatus
from packs.making import call, failed_call, unflagged_call


def refusal(**changes: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        call(**changes)
    first = caught.value.errors()[0]
    where = ".".join(map(str, first["loc"]))
    return f"{where}: {first['msg'].removeprefix('Value error, ')}"


class TestContradictions:
    def test_a_change_of_tense_is_none(self) -> None:
        made = call()
        assert made.contradiction_flag is False
        assert made.contradiction_basis is Basis.SAME

    def test_another_action_is_one(self) -> None:
        made = call(actual_action="deleted contact 456")
        assert made.contradiction_flag is True
        assert made.contradiction_basis is Basis.DIFFERENT
        assert made.contradiction_reason

    def test_what_no_rule_decides_is_flagged(self) -> None:
        made = call(intended_action="frobnicate the widget", actual_action="the widget was blue")
        assert made.contradiction_flag is True
        assert made.contradiction_basis is Basis.UNDECIDED

    def test_a_call_that_failed_did_not_do_what_was_meant(self) -> None:
        assert failed_call(actual_action="updated contact 456").contradiction_flag is True

    def test_the_flag_cannot_be_switched_off(self) -> None:
        said = refusal(actual_action="deleted contact 456", contradiction_flag=False)
        assert said.startswith(": contradiction_flag cannot be switched off: ")
        copied = call(actual_action="deleted contact 456")
        with pytest.raises(ValidationError, match="cannot be switched off"):
            copied.model_copy(update={"contradiction_flag": False})
        with pytest.raises(ValidationError, match="frozen"):
            copied.contradiction_flag = False  # type: ignore[misc]

    def test_neither_can_the_basis_or_the_reason_be_told_otherwise(self) -> None:
        told = call(
            actual_action="deleted contact 456",
            contradiction_basis="same",
            contradiction_reason="all is well",
        )
        assert told == call(actual_action="deleted contact 456")

    def test_what_was_recorded_is_not_worked_out_again(self) -> None:
        old = unflagged_call()
        assert ToolCallRecord.recorded(old.model_dump(mode="json")) == old
        assert old.contradiction_flag is False
        assert old.compared().contradiction is True

    def test_a_flag_without_its_basis_is_read_from_no_record(self) -> None:
        made = call(actual_action="deleted contact 456").model_dump(mode="json")
        with pytest.raises(ValidationError, match="contradiction_basis disagree"):
            ToolCallRecord.recorded({**made, "contradiction_flag": False})

    def test_what_a_record_tells_otherwise_than_it_is_worked_out_is_said(self) -> None:
        off = "contradiction_flag cannot be switched off: "
        assert (unflagged_call().departure() or "").startswith(off)
        told = call(actual_action="deleted contact 456").model_dump(mode="json")
        for changes in ({"contradiction_reason": "fine"}, {"contradiction_basis": "undecided"}):
            made = ToolCallRecord.recorded({**told, **changes})
            assert "are worked out: leave them out" in (made.departure() or "")

    @pytest.mark.parametrize(
        "made",
        [
            call(),
            failed_call(),
            call(actual_action="deleted contact 456"),
            call(contradiction_flag=True, contradiction_reason="a person saw it"),
            call(contradiction_flag=True),
        ],
    )
    def test_a_record_that_is_made_now_departs_from_nothing(self, made: ToolCallRecord) -> None:
        assert made.departure() is None

    @pytest.mark.parametrize("flag", [0, 1, "false", "true", "no", []])
    def test_the_flag_is_true_or_false_and_nothing_like_it(self, flag: Any) -> None:
        said = ": contradiction_flag is true or false, or left out"
        assert refusal(contradiction_flag=flag) == said

    def test_a_flag_of_false_where_there_is_no_contradiction_is_allowed(self) -> None:
        assert call(contradiction_flag=False) == call()

    def test_the_flag_can_be_switched_on_by_who_sees_a_contradiction(self) -> None:
        made = call(contradiction_flag=True, contradiction_reason="it was another tenant's")
        assert made.contradiction_flag is True
        assert made.contradiction_basis is Basis.DIFFERENT
        assert made.contradiction_reason == "it was another tenant's"

    def test_without_a_reason_it_is_on_all_the_same(self) -> None:
        made = call(contradiction_flag=True)
        assert made.contradiction_flag is True
        assert made.contradiction_reason == call().contradiction_reason

    @pytest.mark.parametrize(
        "made",
        [
            call(),
            call(contradiction_flag=True),
            call(contradiction_flag=True, contradiction_reason="seen"),
            call(actual_action="deleted contact 456"),
            call(actual_action="deleted contact 456", contradiction_flag=True),
            call(actual_action=""),
            failed_call(),
        ],
    )
    def test_what_was_found_survives_a_round_trip(self, made: ToolCallRecord) -> None:
        assert ToolCallRecord.model_validate(made.model_dump(mode="json")) == made
        assert ToolCallRecord.model_validate_json(made.model_dump_json()) == made
        assert made.model_copy() == made
        assert pickle.loads(pickle.dumps(made)) == made

    @given(st.text(max_size=60), st.text(max_size=60), st.sampled_from([None, True, False]))
    def test_whatever_the_actions_are_a_record_is_made_or_refused_and_reads_back(
        self, intended: str, actual: str, flag: Any
    ) -> None:
        try:
            made = call(intended_action=intended, actual_action=actual, contradiction_flag=flag)
        except ValidationError:
            return
        assert ToolCallRecord.model_validate(made.model_dump(mode="json")) == made


class TestFailures:
    @pytest.mark.parametrize("error", [None, "", " "])
    def test_a_call_that_failed_has_an_error(self, error: str | None) -> None:
        said = ": a call that failed has an error: say what went wrong"
        assert refusal(outcome="failed", error=error) == said

    @pytest.mark.parametrize(
        "changes", [{"error": "TimeoutError"}, {"verification_status": "failed"}]
    )
    def test_a_failure_is_not_told_as_a_success(self, changes: dict[str, Any]) -> None:
        assert refusal(**changes).endswith("has failed: set outcome to failed")

    def test_a_failure_is_a_record_like_any_other(self) -> None:
        made = failed_call()
        assert made.outcome is ToolOutcome.FAILED
        assert made.verification_status is VerificationStatus.FAILED
        assert made.error == "TimeoutError"


class TestFields:
    @pytest.mark.parametrize(
        ("changes", "where"),
        [
            ({"tool_name": " "}, "tool_name"),
            ({"intended_action": " "}, "intended_action"),
            ({"intended_action": None}, "intended_action"),
            ({"actual_action": None}, "actual_action"),
            ({"side_effects": ["created contact 123", ""]}, "side_effects.1"),
            ({"outcome": "maybe"}, "outcome"),
            ({"verification_status": "probably"}, "verification_status"),
            ({"duration_ms": -0.1}, "duration_ms"),
            ({"duration_ms": float("nan")}, "duration_ms"),
            ({"called_at": "2026-11-16T09:00:00"}, "called_at"),
            ({"inputs": {1: "a"}}, "inputs"),
            ({"outputs": {"a": float("nan")}}, "outputs"),
            ({"result": 1}, "result"),
        ],
    )
    def test_what_is_wrong_is_refused_where_it_is(
        self, changes: dict[str, Any], where: str
    ) -> None:
        assert refusal(**changes).startswith(f"{where}")

    def test_both_actions_must_be_there(self) -> None:
        for name in ("intended_action", "actual_action"):
            fields = call().model_dump(exclude={name, "contradiction_flag"})
            with pytest.raises(ValidationError, match=name):
                ToolCallRecord.model_validate(fields)

    def test_actions_and_side_effects_may_be_as_long_as_4000_characters(self) -> None:
        long = "retrieve " + "x" * 3_991
        made = call(intended_action=long, actual_action=long, side_effects=(long,))
        assert made.contradiction_flag is False
        for name in ("intended_action", "actual_action"):
            assert "at most 4000 characters" in refusal(**{name: f"{long}x"})
        assert "at most 4000 characters" in refusal(side_effects=[f"{long}x"])

    def test_something_else_than_an_object_is_refused(self) -> None:
        with pytest.raises(ValidationError, match="valid dictionary"):
            ToolCallRecord.model_validate("retrieve contact 456")

    def test_nothing_of_a_record_can_be_changed(self) -> None:
        outputs = {"contact": {"tags": ["a"]}}
        made = call(outputs=outputs, inputs={"id": "456"})
        outputs["contact"]["tags"].append("b")
        assert made.outputs == {"contact": {"tags": ["a"]}}
        with pytest.raises(TypeError):
            made.outputs["contact"]["new"] = 1
        with pytest.raises(TypeError):
            made.outputs["contact"]["tags"].append("b")
        assert hash(made) == hash(copy.deepcopy(made))

    def test_the_digest_is_of_all_that_the_record_says(self) -> None:
        assert call().sha256 == call().sha256
        assert call(duration_ms=13).sha256 != call().sha256
        assert call(outputs={"a": 1}).sha256 != call().sha256


class TestLedgers:
    def test_calls_are_kept_by_decision_and_in_order_failures_too(self) -> None:
        ledger = ToolVerificationLedger()
        ledger.record("dec_1", call())
        ledger.record("dec_2", call(tool_name="other"))
        ledger.record("dec_1", failed_call())
        ledger.record("dec_1", call())
        assert ledger.calls("dec_1") == [call(), failed_call(), call()]
        assert ledger.calls("dec_2") == [call(tool_name="other")]

    def test_what_was_given_out_does_not_change_when_more_is_recorded(self) -> None:
        ledger = ToolVerificationLedger()
        ledger.record("dec_1", call())
        before = ledger.calls("dec_1")
        ledger.record("dec_1", call())
        assert len(before) == 1

    def test_a_decision_without_calls_has_none(self) -> None:
        ledger = ToolVerificationLedger()
        assert ledger.calls("dec_1") == []
        assert ledger.offered("dec_1") == []

    def test_tools_that_were_offered_are_kept_once_and_in_order(self) -> None:
        ledger = ToolVerificationLedger()
        ledger.offer("dec_1", "crm.read", "crm.delete")
        ledger.offer("dec_1", "mail.send", "crm.read")
        ledger.offer("dec_2", "other")
        assert ledger.offered("dec_1") == ["crm.read", "crm.delete", "mail.send"]

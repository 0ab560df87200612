import copy
import pickle
from typing import Any

import pytest
from pydantic import ValidationError

from evidentia import DecisionOutput, Evidence, PackRequirement, pack_requirement
from evidentia.canonical import digest
from evidentia.packs.decision import (
    ApprovalClass,
    Requirement,
    ReversibilityClass,
    SensitivityClass,
    Tier,
)
from packs.making import decision, evidence


def refusal(**changes: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        decision(**changes)
    first = caught.value.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


def expected(approval: str, reversibility: str, sensitivity: str, *, doubtful: bool) -> Requirement:
    """Say what section 3 of the specification says."""
    if approval in ("A2", "A3") or reversibility == "R3" or sensitivity == "S3" or doubtful:
        return Requirement.MANDATORY
    if (approval, reversibility, sensitivity) == ("A0", "R0", "S0"):
        return Requirement.SKIP
    return Requirement.RECOMMENDED


class TestWhenAPackIsAskedFor:
    @pytest.mark.parametrize("confidence", [0.69, 0.7])
    @pytest.mark.parametrize("high_stakes", [False, True])
    @pytest.mark.parametrize("approval", list(ApprovalClass))
    def test_every_combination_of_classes_is_as_specified(
        self, approval: ApprovalClass, confidence: float, *, high_stakes: bool
    ) -> None:
        doubtful = high_stakes and confidence == 0.69
        for reversibility in ReversibilityClass:
            for sensitivity in SensitivityClass:
                found = pack_requirement(
                    decision(
                        approval_class=approval,
                        reversibility_class=reversibility,
                        sensitivity_class=sensitivity,
                        high_stakes=high_stakes,
                        confidence=confidence,
                    )
                )
                said = expected(approval, reversibility, sensitivity, doubtful=doubtful)
                assert found.requirement is said, (approval, reversibility, sensitivity)
                assert (
                    found.tier
                    is {
                        Requirement.MANDATORY: Tier.A,
                        Requirement.RECOMMENDED: Tier.B,
                        Requirement.SKIP: None,
                    }[said]
                )
                assert found.rules

    def test_all_the_rules_that_say_so_are_told(self) -> None:
        weighty = decision(
            approval_class="A3",
            reversibility_class="R3",
            sensitivity_class="S3",
            confidence=0.69,
            high_stakes=True,
        )
        assert pack_requirement(weighty) == PackRequirement(
            requirement=Requirement.MANDATORY,
            rules=(
                "approval_class is A3",
                "reversibility_class is R3",
                "sensitivity_class is S3",
                "confidence is 0.69, below 0.7, and the stakes are high",
            ),
            tier=Tier.A,
        )

    @pytest.mark.parametrize(
        ("classes", "rule"),
        [
            (("A1", "R0", "S0"), "approval_class is A1: a manager may want to audit it"),
            (("A0", "R0", "S0"), "routine: A0, R0 and S0"),
            (("A0", "R2", "S1"), "not routine: A0, R2, S1"),
            (("A2", "R0", "S0"), "approval_class is A2"),
        ],
    )
    def test_the_one_rule_that_says_so_is_told(
        self, classes: tuple[str, str, str], rule: str
    ) -> None:
        approval, reversibility, sensitivity = classes
        made = decision(
            approval_class=approval,
            reversibility_class=reversibility,
            sensitivity_class=sensitivity,
        )
        assert pack_requirement(made).rules == [rule]

    def test_little_confidence_in_what_is_at_no_stake_asks_for_nothing(self) -> None:
        routine = decision(
            approval_class="A0", reversibility_class="R0", sensitivity_class="S0", confidence=0.0
        )
        assert pack_requirement(routine).requirement is Requirement.SKIP


class TestReview:
    @pytest.mark.parametrize(
        ("approval", "needed"), [("A0", False), ("A1", False), ("A2", True), ("A3", True)]
    )
    def test_the_approval_class_says_whether_a_person_must_review(
        self, approval: str, *, needed: bool
    ) -> None:
        assert decision(approval_class=approval).needs_review is needed
        assert ApprovalClass(approval).needs_review is needed

    @pytest.mark.parametrize("approval", list(ApprovalClass))
    def test_a_decision_may_ask_for_a_review_itself(self, approval: str) -> None:
        assert decision(approval_class=approval, requires_review=True).needs_review is True

    @pytest.mark.parametrize("approval", ["A0", "A1"])
    def test_a_decision_may_say_that_none_is_needed_where_that_is_so(self, approval: str) -> None:
        assert decision(approval_class=approval, requires_review=False).needs_review is False

    @pytest.mark.parametrize("approval", ["A2", "A3"])
    def test_a_decision_cannot_lift_the_review_that_its_class_asks_for(self, approval: str) -> None:
        with pytest.raises(ValidationError, match=f"approval_class {approval} asks for a review"):
            decision(approval_class=approval, requires_review=False)


class TestEvidence:
    def test_evidence_has_a_uri_or_a_reference(self) -> None:
        assert evidence(uri=None, reference="file 7").reference == "file 7"
        assert evidence(reference="file 7").uri == "hubspot://contacts/456"
        with pytest.raises(ValidationError, match="neither is given"):
            evidence(uri=None)

    @pytest.mark.parametrize("name", ["source", "uri", "excerpt"])
    def test_what_is_said_of_evidence_is_not_blank(self, name: str) -> None:
        with pytest.raises(ValidationError, match="must not be blank"):
            evidence(**{name: " "})

    def test_an_excerpt_has_at_most_2000_characters(self) -> None:
        assert len(evidence(excerpt="x" * 2_000).excerpt) == 2_000
        with pytest.raises(ValidationError, match="at most 2000 characters"):
            evidence(excerpt="x" * 2_001)

    @pytest.mark.parametrize("confidence", [-0.01, 1.01, float("nan")])
    def test_confidence_is_from_0_to_1(self, confidence: float) -> None:
        with pytest.raises(ValidationError, match="confidence"):
            evidence(confidence=confidence)

    def test_nothing_is_invented(self) -> None:
        bare = Evidence(source="crm", uri="crm://1", excerpt="text")
        assert (bare.confidence, bare.retrieved_at, bare.content_hash) == (None, None, None)


class TestDecisions:
    @pytest.mark.parametrize(
        "name", ["decision_id", "entity_id", "tenant_id", "agent_name", "model"]
    )
    def test_a_decision_says_who_made_it_and_of_what(self, name: str) -> None:
        assert refusal(**{name: " "}).startswith(f"{name}: ")
        assert refusal(**{name: None}).startswith(f"{name}: ")

    @pytest.mark.parametrize(
        ("changes", "said"),
        [
            ({"approval_class": "A4"}, "approval_class: "),
            ({"reversibility_class": "r1"}, "reversibility_class: "),
            ({"sensitivity_class": "A1"}, "sensitivity_class: "),
            ({"confidence": 1.1}, "confidence: "),
            ({"confidence": None}, "confidence: "),
            ({"data_freshness_window_hours": 0}, "data_freshness_window_hours: "),
            ({"decided_at": "2026-11-16T09:00:00"}, "decided_at: "),
            ({"evidence": [{}]}, "evidence.0.source: "),
            ({"metadata": {"a": {1, 2}}}, "metadata: "),
            ({"confidense": 0.5}, "confidense: "),
        ],
    )
    def test_what_is_wrong_is_refused_where_it_is(self, changes: dict[str, Any], said: str) -> None:
        assert refusal(**changes).startswith(said)

    def test_a_decision_without_a_time_is_of_now(self) -> None:
        fields = decision().model_dump(exclude={"decided_at"})
        first, second = DecisionOutput(**fields), DecisionOutput(**fields)
        assert first.decided_at <= second.decided_at

    def test_the_digest_is_of_all_that_the_decision_says(self) -> None:
        made = decision()
        assert made.sha256 == digest(made.as_json())
        assert made.sha256 == decision().sha256
        assert made.sha256 != decision(confidence=0.85).sha256
        assert made.sha256 != decision(evidence=()).sha256

    def test_what_the_caller_changes_later_does_not_reach_the_decision(self) -> None:
        metadata = {"campaign": {"tags": ["a"]}}
        made = decision(metadata=metadata)
        before = made.sha256
        metadata["campaign"]["tags"].append("b")
        metadata["other"] = {}
        assert made.metadata == {"campaign": {"tags": ["a"]}}
        assert made.sha256 == before

    def test_nothing_of_a_decision_can_be_changed(self) -> None:
        made = decision(metadata={"a": {"b": [1]}})
        with pytest.raises(ValidationError, match="frozen"):
            made.confidence = 1.0  # type: ignore[misc]
        with pytest.raises(ValidationError, match="frozen"):
            made.evidence[0].confidence = 1.0  # type: ignore[misc]
        with pytest.raises(TypeError):
            made.metadata["a"]["c"] = 1
        with pytest.raises(TypeError):
            decision().metadata["a"] = 1
        with pytest.raises(TypeError):
            made.evidence.append(made.evidence[0])

    def test_a_decision_reads_back_and_is_copied_whole(self) -> None:
        made = decision(metadata={"a": [1, {"b": None}]}, data_freshness_window_hours=24)
        assert DecisionOutput.model_validate(made.as_json()) == made
        assert pickle.loads(pickle.dumps(made)) == made
        assert copy.deepcopy(made) == made
        assert hash(copy.copy(made)) == hash(made)
        assert {made: 1}[decision(metadata={"a": [1, {"b": None}]}, data_freshness_window_hours=24)]

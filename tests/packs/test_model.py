import copy
import json
import pickle
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from evidentia import BilingualMemo, EvidencePack, EvidenceSource, PromptRecord, ToolCallRecord
from evidentia.canonical import canonical_json, derived_id, sha256_hex
from evidentia.errors import IntegrityError
from evidentia.packs.decision import Requirement, pack_requirement
from evidentia.packs.model import Attachment, DecisionSummary, ReviewOutcome, is_stale
from evidentia.packs.retention import LegalHold
from evidentia.packs.rules import AntiPattern
from packs.making import (
    LATER,
    NOW,
    attachment,
    call,
    decision,
    evidence,
    failed_call,
    full_pack,
    long_memo,
    memo,
    pack,
    source,
    unflagged_call,
)

FULL = full_pack()
SMALL = pack()


def refusal(make: Callable[..., object] = pack, **changes: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        make(**changes)
    first = caught.value.errors()[0]
    where = ".".join(map(str, first["loc"]))
    return f"{where}: {first['msg'].removeprefix('Value error, ')}"


def seeds_example() -> EvidencePack:
    """Make the specification's minimal example; only its imports are not as they stand there."""
    return EvidencePack(
        decision_id="dec_abc123",
        entity_id="lead_xyz789",
        agent_name="icp_matcher",
        model="claude-sonnet-4-5",
        sources=[
            EvidenceSource(
                source="crm.hubspot.contact",
                uri="hubspot://contacts/456",
                excerpt="Company size: 120 employees; industry: healthcare",
                content_hash="sha256:...",
            ),
        ],
        tool_calls=[
            ToolCallRecord(
                tool_name="hubspot.get_contact",
                intended_action="retrieve contact 456 read-only",
                actual_action="retrieved contact 456 read-only",
                outputs={"id": "456", "industry": "healthcare"},
                verification_status="verified",
            ),
        ],
        prompts=[PromptRecord(template_name="icp_reasoning", template_version="1.0")],
        memo=BilingualMemo(
            title_ar="توصية الملاءمة - مستشفى الرياض",
            title_en="Fit Recommendation — Riyadh Hospital",
            body_ar="...",
            body_en="...",
            executive_summary_ar="الشركة تطابق ملفنا المستهدف بدرجة 0.84 (Tier A)...",
            executive_summary_en="Company matches our ICP at 0.84 (Tier A)...",
        ),
    )


class TestTheMinimalExample:
    def test_it_runs(self) -> None:
        made = seeds_example()
        assert re.fullmatch("pack_[0-9a-f]{16}", made.pack_id)
        assert made.tool_calls[0].contradiction_flag is False
        assert made.sources[0].confidence is None
        assert made.is_resolved

    def test_it_lists_exactly_what_it_lacks(self) -> None:
        lacks = "evidence item 1 is not referred to: write [1] in"
        assert [(one.where, one.says) for one in seeds_example().unmet()] == [
            ("tenant_id", "say which tenant the pack belongs to"),
            ("sources[1].confidence", "say how far it is relied on, from 0 to 1"),
            ("sources[1].retrieved_at", "say when it was retrieved"),
            (
                "sources[1].content_hash",
                "not a SHA-256 digest: write sha256: and 64 hexadecimal digits, or leave it out",
            ),
            ("memo", f"Arabic: {lacks} executive_summary_ar or body_ar"),
            ("memo", f"English: {lacks} executive_summary_en or body_en"),
        ]

    def test_it_can_be_written_and_read_unsealed(self) -> None:
        made = seeds_example()
        assert EvidencePack.parse(made.encode()) == made


class TestSources:
    def test_a_source_has_a_uri_or_a_reference(self) -> None:
        assert source(uri=None, reference="file 7").reference == "file 7"
        said = ": a source has a uri or a reference: neither is given"
        assert refusal(source, uri=None) == said
        assert refusal(source, uri=" ") == "uri: must not be blank"

    def test_an_excerpt_has_at_most_2000_characters(self) -> None:
        assert len(source(excerpt="ع" * 2_000).excerpt) == 2_000
        assert refusal(source, excerpt="ع" * 2_001).startswith("excerpt: ")
        assert refusal(source, excerpt="\n") == "excerpt: must not be blank"

    @pytest.mark.parametrize("confidence", [0, 1])
    def test_confidence_has_its_bounds(self, confidence: float) -> None:
        assert source(confidence=confidence).confidence == confidence
        beyond = confidence + (confidence - 0.5) / 100
        assert refusal(source, confidence=beyond).startswith("confidence: ")
        assert refusal(source, confidence=float("nan")).startswith("confidence: ")

    def test_a_pack_has_at_least_one(self) -> None:
        said = refusal(sources=())
        assert said.startswith("sources: cite at least one source")
        assert AntiPattern.PROSE_ONLY in said

    @pytest.mark.parametrize(
        ("retrieved", "stale"),
        [
            ("2026-11-15T09:00:00.000000Z", False),
            ("2026-11-15T08:59:59.999999Z", True),
            ("2026-11-16T09:00:00Z", False),
            ("2026-11-17T09:00:00Z", False),
            (None, False),
        ],
    )
    def test_a_source_is_stale_when_it_is_older_than_the_window(
        self, retrieved: str | None, *, stale: bool
    ) -> None:
        made = source(retrieved_at=retrieved)
        assert is_stale(made, NOW, 24) is stale
        assert is_stale(made, NOW, None) is False
        for summary in (None, DecisionSummary.of(decision())):
            assert pack(
                sources=(source(), made), data_freshness_window_hours=24, decision=summary
            ).stale_sources == ([2] if stale else [])

    def test_freshness_is_that_of_the_decision_and_not_of_the_pack(self) -> None:
        fields = {"data_freshness_window_hours": 24, "created_at": "2027-01-01T00:00:00Z"}
        assert pack(**fields).stale_sources == [1]
        assert pack(**fields, decision=DecisionSummary.of(decision())).stale_sources == []

    def test_without_a_window_nothing_is_stale(self) -> None:
        assert pack(created_at="2126-01-01T00:00:00Z").stale_sources == []


class TestIds:
    def test_the_id_follows_from_the_content(self) -> None:
        content = FULL.model_dump(mode="json", exclude={"pack_id"})
        assert FULL.pack_id == derived_id("pack", content) == FULL.derived_id()
        assert full_pack().pack_id == FULL.pack_id
        assert full_pack(pack_id=FULL.pack_id) == FULL

    def test_another_id_cannot_be_given(self) -> None:
        said = refusal(pack_id="pack_0123456789abcdef")
        assert f"it is {SMALL.pack_id}" in said
        assert AntiPattern.EDITED_IN_PLACE in said
        for nonsense in ("pack_x", "PACK_0123456789ABCDEF", f"{SMALL.pack_id}\n", "1"):
            assert refusal(pack_id=nonsense).startswith("pack_id: ")

    @pytest.mark.parametrize("name", sorted(EvidencePack.model_fields.keys() - {"pack_id", "v"}))
    def test_a_change_of_any_field_is_another_id(self, name: str) -> None:
        review = {"reviewed_at": None, "review_outcome": None, "review_note": ""}
        others: dict[str, dict[str, Any]] = {
            "decision": {"decision": None},
            "sources": {"sources": FULL.sources[::-1]},
            "tool_calls": {"tool_calls": FULL.tool_calls[1:]},
            "tools_offered": {"tools_offered": ("another",)},
            "prompts": {"prompts": ()},
            "bundles": {"bundles": ()},
            "ledger": {"ledger": None},
            "attachments": {"attachments": FULL.attachments[:1]},
            "data_freshness_window_hours": {"data_freshness_window_hours": 25},
            "reviewer_id": {"reviewer_id": None, **review},
            "reviewed_at": {"reviewed_at": NOW},
            "review_outcome": {"review_outcome": "rejected"},
            "memo": {"memo": memo(title_en="Another")},
            "trace_id": {"trace_id": None},
            "created_at": {"created_at": LATER},
            "version": {"version": 3},
            "replaces": {"replaces": "pack_0000000000000000"},
        }
        changed = full_pack(**others.get(name, {name: "another"}))
        assert changed.pack_id != FULL.pack_id
        assert changed != FULL

    @given(
        st.sampled_from(["decision_id", "entity_id", "model", "review_note"]),
        st.text(min_size=1, max_size=40).filter(lambda text: text.strip() != ""),
        st.text(min_size=1, max_size=40).filter(lambda text: text.strip() != ""),
    )
    def test_two_packs_have_one_id_exactly_if_they_say_the_same(
        self, name: str, one: str, other: str
    ) -> None:
        first, second = full_pack(**{name: one}), full_pack(**{name: other})
        assert (first.pack_id == second.pack_id) is (one == other)
        assert (first == second) is (one == other)

    def test_a_copy_with_changes_needs_an_id_of_its_own(self) -> None:
        with pytest.raises(ValidationError, match=AntiPattern.EDITED_IN_PLACE):
            SMALL.model_copy(update={"entity_id": "another"})
        assert SMALL.model_copy(update={"entity_id": "another", "pack_id": ""}) == pack(
            entity_id="another"
        )


def reviewed_pack(reviewed_at: object) -> EvidencePack:
    return pack(reviewer_id="u_1", reviewed_at=reviewed_at, review_outcome="approved")


def hold(at: object) -> LegalHold:
    return LegalHold.model_validate(
        {"pack_id": "pack_1", "reason": "matter 12", "actor": "u_1", "at": at}
    )


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (decision, "decided_at"),
        (evidence, "retrieved_at"),
        (source, "retrieved_at"),
        (call, "called_at"),
        (pack, "created_at"),
        (reviewed_pack, "reviewed_at"),
        (hold, "at"),
    ],
)
def test_a_datetime_is_taken_wherever_a_time_is(make: Callable[..., Any], field: str) -> None:
    noon = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
    assert getattr(make(**{field: noon}), field) == "2026-11-16T12:00:00.000000Z"
    assert make(**{field: noon}) == make(**{field: "2026-11-16T15:00:00+03:00"})
    with pytest.raises(ValidationError, match=f"{field}\n.* does not say its time zone: give it"):
        make(**{field: noon.replace(tzinfo=None)})


class TestNothingChanges:
    def test_no_field_can_be_set_or_deleted(self) -> None:
        for name in EvidencePack.model_fields:
            with pytest.raises(ValidationError, match="frozen"):
                setattr(FULL, name, None)
            with pytest.raises(ValidationError, match="frozen"):
                delattr(FULL, name)
        with pytest.raises(ValidationError, match="frozen"):
            FULL.memo.title_en = "Another"  # type: ignore[misc]

    def test_nothing_within_can_be_changed(self) -> None:
        outputs = FULL.tool_calls[0].outputs
        with pytest.raises(TypeError):
            outputs["more"] = 1
        with pytest.raises(TypeError):
            outputs["tags"][1]["b"] = 2
        for left_out in (call().inputs, call().outputs):
            with pytest.raises(TypeError):
                left_out["more"] = 1
        held: Any
        for held in (FULL.sources, FULL.tool_calls, FULL.prompts, FULL.attachments):
            assert isinstance(held, list)
            with pytest.raises(TypeError, match="a frozen list cannot be changed"):
                held.append(held[0])

    def test_what_the_caller_changes_later_does_not_reach_the_pack(self) -> None:
        outputs = {"tags": ["a", {"b": 1}]}
        record = call().model_dump() | {"outputs": outputs}
        sources = [source()]
        made = pack(tool_calls=[record], sources=sources)
        before = made.encode()
        outputs["tags"].append("c")
        record["tool_name"] = "another"
        sources.clear()
        assert made.encode() == before
        assert made.tool_calls[0].outputs == {"tags": ["a", {"b": 1}]}

    def test_what_is_handed_out_as_json_does_not_reach_the_pack(self) -> None:
        before = FULL.encode()
        as_json = FULL.as_json()
        as_json["tool_calls"][0]["outputs"]["tags"].clear()
        as_json["sources"].clear()
        assert FULL.encode() == before

    def test_packs_can_be_hashed_copied_and_pickled(self) -> None:
        assert {FULL: "here"}[full_pack()] == "here"
        for other in (copy.copy(FULL), copy.deepcopy(FULL), pickle.loads(pickle.dumps(FULL))):
            assert other == FULL
            assert other.encode() == FULL.encode()


class TestReadingAndWriting:
    @pytest.mark.parametrize("made", [SMALL, FULL, pack(sources=(source(confidence=1e-300),))])
    def test_what_is_written_reads_back(self, made: EvidencePack) -> None:
        assert EvidencePack.parse(made.encode()) == made
        assert EvidencePack.from_json(made.as_json()) == made
        assert made.encode() == canonical_json(made.as_json())
        assert made.sha256 == sha256_hex(made.encode())
        assert EvidencePack.parse(json.dumps(made.as_json(), indent=2).encode()) == made

    @given(st.data())
    def test_any_pack_reads_back(self, data: st.DataObject) -> None:
        values = st.recursive(
            st.one_of(
                st.none(),
                st.booleans(),
                st.integers(-(2**53) + 1, 2**53 - 1),
                st.floats(allow_nan=False, allow_infinity=False),
                st.text(max_size=8),
            ),
            lambda inner: st.one_of(
                st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)
            ),
            max_leaves=6,
        )
        outputs = data.draw(st.dictionaries(st.text(max_size=8), values, max_size=4))
        confidence = data.draw(st.floats(0, 1))
        made = pack(tool_calls=(call(outputs=outputs),), sources=(source(confidence=confidence),))
        again = EvidencePack.parse(made.encode())
        assert again == made
        assert again.encode() == made.encode()
        assert made.tool_calls[0].outputs == outputs

    @given(st.data())
    def test_any_change_of_a_byte_is_refused(self, data: st.DataObject) -> None:
        written = bytearray(FULL.encode())
        place = data.draw(st.integers(0, len(written) - 1))
        written[place] = data.draw(st.integers(0, 255).filter(lambda it: it != written[place]))
        with pytest.raises(IntegrityError, match="pack"):
            EvidencePack.parse(bytes(written))

    @given(st.data())
    def test_a_change_by_who_makes_the_id_anew_is_another_pack(self, data: st.DataObject) -> None:
        value = FULL.as_json()
        name = data.draw(st.sampled_from(["entity_id", "agent_name", "review_note"]))
        value[name] += data.draw(st.characters(codec="utf-8"))
        value["pack_id"] = derived_id(
            "pack", {key: item for key, item in value.items() if key != "pack_id"}
        )
        assert EvidencePack.from_json(value).pack_id != FULL.pack_id

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"extra": 1}, "extra: Extra inputs are not permitted"),
            ({"v": 2}, "its v is 2, and a pack with what it holds has 1"),
            ({"v": 3}, "v: Input should be less than or equal to 2"),
            ({"v": 0}, "v: Input should be greater than or equal to 1"),
            ({"sources": []}, "sources: cite at least one source"),
            ({"memo": None}, "memo: "),
            ({"entity_id": "another"}, "the pack's id follows from its content"),
            ({"pack_id": ""}, "the pack's id follows from its content"),
            ({"created_at": "2026-11-16T09:00:00Z"}, "it lacks fields, or was changed"),
            ({"version": True, "replaces": None}, "it lacks fields, or was changed"),
            ({"v": True}, "it lacks fields, or was changed"),
            ({"v": 1.5}, "v: "),
            ({"v": "1"}, "it lacks fields, or was changed"),
        ],
    )
    def test_what_is_no_pack_is_refused_and_it_is_said_where(
        self, change: dict[str, Any], said: str
    ) -> None:
        with pytest.raises(IntegrityError, match=f"^not a pack.*{re.escape(said)}"):
            EvidencePack.from_json({**FULL.as_json(), **change})

    def test_what_is_wrong_within_is_said_where_it_is(self) -> None:
        value = FULL.as_json()
        value["sources"][1]["excerpt"] = " "
        with pytest.raises(
            IntegrityError, match=r"^not a pack: sources\.1\.excerpt: must not be blank$"
        ):
            EvidencePack.from_json(value)
        value = FULL.as_json()
        value["tool_calls"][1]["contradiction_flag"] = False
        with pytest.raises(
            IntegrityError, match=r"tool_calls\.1: contradiction_flag and .* disagree"
        ):
            EvidencePack.from_json(value)

    def test_what_was_worked_out_is_read_as_it_was_recorded(self) -> None:
        old = full_pack(tool_calls=(unflagged_call(),), memo=long_memo())
        assert EvidencePack.parse(old.encode()) == old
        assert not old.contradictions
        with pytest.raises(ValidationError, match="cannot be switched off"):
            EvidencePack.model_validate(old.as_json())
        with pytest.raises(ValidationError, match=r"has 604 words, and 600 at most"):
            EvidencePack.model_validate({**old.as_json(), "tool_calls": []})

    @pytest.mark.parametrize("blank", ["", " \n"])
    def test_a_memo_in_one_language_is_no_memo_whenever_it_was_made(self, blank: str) -> None:
        value = FULL.as_json()
        value["memo"]["body_ar"] = blank
        with pytest.raises(IntegrityError, match=r"memo\.body_ar: must not be blank"):
            EvidencePack.from_json(value)

    @pytest.mark.parametrize("name", sorted(EvidencePack.model_fields))
    def test_a_pack_that_lacks_a_field_is_refused(self, name: str) -> None:
        value = FULL.as_json()
        del value[name]
        with pytest.raises(IntegrityError, match="not a pack"):
            EvidencePack.from_json(value)

    @pytest.mark.parametrize("value", [None, [], "pack", 1, SMALL])
    def test_what_is_no_object_is_refused(self, value: Any) -> None:
        with pytest.raises(IntegrityError, match="not a pack"):
            EvidencePack.from_json(value)

    @pytest.mark.parametrize("data", [b"", b"{", b"\xff", b'{"v":1,"v":1}', b"NaN", b"[" * 9_999])
    def test_bytes_that_are_no_json_are_refused(self, data: bytes) -> None:
        with pytest.raises(IntegrityError, match=r"^the pack cannot be read: "):
            EvidencePack.parse(data)

    def test_one_json_number_is_not_another_that_python_calls_equal(self) -> None:
        value = pack(sources=(source(confidence=1),)).as_json()
        value["sources"][0]["confidence"] = True
        with pytest.raises(IntegrityError, match="was changed"):
            EvidencePack.from_json(value)


REVIEW = {"reviewer_id": "u_1", "reviewed_at": LATER, "review_outcome": "approved"}


class TestWhatAddsUp:
    @pytest.mark.parametrize("left_out", ["reviewer_id", "reviewed_at"])
    def test_a_review_says_who_and_when_or_is_not_there(self, left_out: str) -> None:
        review: dict[str, Any] = {**REVIEW}
        del review[left_out]
        assert "a review has a reviewer_id and a reviewed_at, or neither" in refusal(**review)
        assert pack(**REVIEW).review_outcome is ReviewOutcome.APPROVED

    def test_a_review_needs_no_outcome_before_it_is_sealed(self) -> None:
        made = pack(reviewer_id="u_1", reviewed_at=LATER)
        assert made.review_outcome is None
        assert made.is_resolved
        assert EvidencePack.parse(made.encode()) == made
        assert [str(one) for one in made.unmet()] == [
            "review_outcome: say what the review came to: approved or rejected"
        ]
        assert made.model_copy(update={"review_outcome": "approved", "pack_id": ""}).unmet() == []

    def test_an_outcome_is_of_a_review(self) -> None:
        assert "there is a review_outcome and no review" in refusal(review_outcome="approved")

    def test_a_trace_can_be_given_as_a_span_has_it(self) -> None:
        kept = "0bf92f3577b34da6a3ce929d0e0e4736"
        assert pack(trace_id=kept).trace_id == kept
        made = pack(trace_id=int(kept, 16))
        assert made == pack(trace_id=kept)
        with pytest.raises(IntegrityError, match="trace_id: "):
            EvidencePack.from_json({**made.as_json(), "trace_id": int(kept, 16)})

    @pytest.mark.parametrize("given", ["trace-1", "0" * 31, "g" * 32, "", 0, -1, 1 << 128, 1.5])
    def test_what_is_no_trace_is_refused(self, given: object) -> None:
        assert refusal(trace_id=given).startswith("trace_id: ")
        if isinstance(given, str):
            assert "32 hexadecimal digits of OpenTelemetry's" in refusal(trace_id=given)

    @pytest.mark.parametrize("status", ["pending", "contradicted"])
    def test_a_status_that_the_first_form_lacks_makes_a_pack_of_the_second(
        self, status: str
    ) -> None:
        made = pack(tool_calls=[call(), call(verification_status=status)])
        assert made.tool_calls[1].verification_status == status
        assert (made.v, pack(tool_calls=[call()]).v) == (2, 1)
        assert EvidencePack.parse(made.encode()) == made
        assert made.model_copy(update={"tool_calls": [], "pack_id": ""}).v == 1
        changed = {**made.as_json(), "v": 1}
        with pytest.raises(IntegrityError, match="its v is 1, and a pack with what it holds has 2"):
            EvidencePack.from_json(changed)

    def test_a_note_is_of_a_review(self) -> None:
        assert "there is a review_note and no review" in refusal(review_note="Fine.")
        assert pack(**REVIEW, review_note="Fine.").review_note == "Fine."

    def test_the_first_version_replaces_no_pack_and_every_other_does(self) -> None:
        said = "version 1 replaces no pack, and every later version replaces one"
        assert said in refusal(version=2)
        assert said in refusal(replaces="pack_0123456789abcdef")
        assert pack(version=2, replaces="pack_0123456789abcdef").version == 2
        assert refusal(version=0).startswith("version: ")
        assert refusal(version=2, replaces="another").startswith("replaces: ")

    def test_attachments_have_names_of_their_own(self) -> None:
        assert "two attachments are called 'contact.pdf'" in refusal(
            attachments=(attachment(), attachment(source=None))
        )

    def test_an_attachment_is_of_a_source_that_is_there(self) -> None:
        assert pack(attachments=(attachment(source=1),)).attachments[0].source == 1
        said = refusal(attachments=(attachment(source=2),))
        assert "contact.pdf is of source 2, which is not there" in said
        assert refusal(attachments=(attachment().model_dump() | {"source": 0},)).startswith(
            "attachments.0.source: "
        )

    @pytest.mark.parametrize(
        ("changes", "where"),
        [
            ({"trace_id": "0af7"}, "trace_id"),
            ({"trace_id": "0AF7651916CD43DD8448EB211C80319C"}, "trace_id"),
            ({"data_freshness_window_hours": 0}, "data_freshness_window_hours"),
            ({"created_at": "now"}, "created_at"),
            ({"decision_id": ""}, "decision_id"),
            ({"tenant_id": " "}, "tenant_id"),
            ({"prompts": [{"template_name": "x"}]}, "prompts.0.template_version"),
            ({"bundles": [{"bundle_id": "b", "bundle_sha256": "A" * 64}]}, "bundles.0"),
            ({"memo": {}}, "memo.title_ar"),
            ({"tools_offered": [""]}, "tools_offered.0"),
        ],
    )
    def test_what_is_wrong_is_refused_where_it_is(
        self, changes: dict[str, Any], where: str
    ) -> None:
        assert refusal(**changes).startswith(where)

    def test_a_value_that_has_no_canonical_form_is_refused(self) -> None:
        assert "past 2^53" in refusal(tool_calls=(call(outputs={"n": 2**53}),))
        assert "lone surrogate" in refusal(tool_calls=(call(outputs={"n": "\ud800"}),))


class TestReview:
    def test_a_decision_that_needs_a_person_is_open_until_there_was_one(self) -> None:
        summary = DecisionSummary.of(decision(approval_class="A2"))
        waiting = pack(decision=summary)
        assert waiting.needs_review
        assert not waiting.is_resolved
        seen = pack(decision=summary, **REVIEW)
        assert seen.needs_review
        assert seen.is_resolved

    def test_a_decision_that_needs_no_one_is_not_open(self) -> None:
        made = pack(decision=DecisionSummary.of(decision(approval_class="A1")))
        assert not made.needs_review
        assert made.is_resolved
        assert pack().is_resolved

    def test_a_rejected_decision_is_resolved_too(self) -> None:
        review = {**REVIEW, "review_outcome": "rejected"}
        assert pack(decision=DecisionSummary.of(decision()), **review).is_resolved


class TestParts:
    def test_a_summary_says_of_a_decision_what_a_reader_must_know(self) -> None:
        made = decision(high_stakes=True, confidence=0.6, conflicted=True, decision_ar="نعم")
        summary = DecisionSummary.of(made)
        for name in DecisionSummary.model_fields.keys() & type(made).model_fields.keys():
            assert getattr(summary, name) == getattr(made, name)
        assert summary.requirement is pack_requirement(made).requirement is Requirement.MANDATORY
        assert summary.needs_review is True
        assert summary.decision_sha256 == made.sha256

    def test_an_attachment_has_its_key_in_the_lake(self) -> None:
        made = Attachment(name="a", sha256="abcd" + "0" * 60, bytes=0)
        assert made.key == f"sha256/ab/cd/abcd{'0' * 60}"

    @pytest.mark.parametrize("changes", [{"bytes": -1}, {"sha256": "ab"}, {"name": " "}])
    def test_an_attachment_names_a_file(self, changes: dict[str, Any]) -> None:
        assert refusal(attachment, **changes).startswith(next(iter(changes)))

    def test_the_calls_that_did_not_do_what_was_meant_are_listed(self) -> None:
        seen = call(contradiction_flag=True)
        made = pack(tool_calls=(call(), failed_call(), seen))
        assert made.contradictions == [failed_call(), seen]

    def test_a_pack_without_a_time_is_of_now(self) -> None:
        fields = pack().model_dump(exclude={"created_at", "pack_id"})
        assert EvidencePack(**fields).created_at <= EvidencePack(**fields).created_at

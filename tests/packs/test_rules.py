from typing import Any

import pytest

from evidentia.errors import SealingError
from evidentia.packs.model import DecisionSummary, EvidencePack, PromptRecord
from evidentia.packs.rules import AntiPattern, Unmet, check_sealable, unmet, unrecorded
from packs.making import (
    call,
    decision,
    failed_call,
    full_pack,
    long_memo,
    memo,
    pack,
    source,
    unflagged_call,
)


def lacking(made: EvidencePack, *recorded: Any) -> list[tuple[str, AntiPattern | None]]:
    """Return what a pack lacks; all of it is in the error of sealing it, too."""
    found = unmet(made, recorded)
    assert made.unmet(recorded) == found
    with pytest.raises(SealingError) as caught:
        check_sealable(made, recorded)
    assert caught.value.unmet == tuple(map(str, found))
    assert str(caught.value).startswith(f"{made.pack_id} cannot be sealed: ")
    for one in found:
        assert str(one) in str(caught.value)
        if one.anti_pattern:
            assert f"({one.anti_pattern.value})" in str(one)
    return [(one.where, one.anti_pattern) for one in found]


def test_calls_that_a_pack_has_and_nobody_recorded_are_told_one_by_one() -> None:
    made = pack(tool_calls=[call(), failed_call(), call()])
    assert unrecorded(made, made.tool_calls) == []
    assert unrecorded(made, [failed_call(), call(), call(tool_name="other")]) == [call()]


@pytest.mark.parametrize("made", [pack(), full_pack()])
def test_a_pack_that_lacks_nothing_can_be_sealed(made: EvidencePack) -> None:
    assert unmet(made, made.tool_calls) == []
    check_sealable(made, made.tool_calls)


class TestWhatIsLacking:
    def test_a_tenant(self) -> None:
        assert lacking(pack(tenant_id=None)) == [("tenant_id", None)]

    @pytest.mark.parametrize("name", ["confidence", "retrieved_at"])
    def test_what_a_source_must_have(self, name: str) -> None:
        made = pack(
            sources=(source(), source(**{name: None})),
            memo=memo(body_ar="نص [1-2]", body_en="text [1-2]"),
        )
        assert lacking(made) == [(f"sources[2].{name}", None)]

    @pytest.mark.parametrize("digest", ["sha256:...", "0" * 64, ""])
    def test_a_digest_that_is_one(self, digest: str) -> None:
        assert lacking(pack(sources=(source(content_hash=digest),))) == [
            ("sources[1].content_hash", None)
        ]
        prompt = PromptRecord(template_name="a", template_version="1", content_hash=digest)
        good = PromptRecord(template_name="a", template_version="1")
        assert lacking(pack(prompts=(good, prompt))) == [("prompts[2].content_hash", None)]

    def test_a_digest_may_be_left_out(self) -> None:
        assert unmet(pack(sources=(source(content_hash=None),))) == []

    @pytest.mark.parametrize("count", [1, 2, 3, 4])
    def test_references_to_the_top_three_in_both_languages(self, count: int) -> None:
        sources = (source(),) * count
        wanted = min(count, 3)
        bare = memo(body_ar="نص", body_en="text")
        assert lacking(pack(sources=sources, memo=bare)) == [("memo", None)] * 2 * wanted
        arabic = memo(body_ar=f"نص [1-{wanted}]", body_en="text")
        assert lacking(pack(sources=sources, memo=arabic)) == [("memo", None)] * wanted
        both = memo(body_ar=f"نص [1-{wanted}]", body_en=f"text [1-{wanted}]")
        assert unmet(pack(sources=sources, memo=both)) == []

    def test_a_reference_to_nothing_is_one_too_many(self) -> None:
        assert lacking(pack(memo=memo(body_en="text [1, 2]"))) == [("memo", None)]

    def test_the_review_that_the_approval_class_asks_for(self) -> None:
        weighty = DecisionSummary.of(decision())
        lifted = weighty.model_copy(update={"needs_review": False})
        assert lacking(pack(decision=lifted)) == [("decision.needs_review", None)]
        assert unmet(pack(decision=weighty)) == []
        before = {"version": 2, "replaces": "pack_0123456789abcdef"}
        assert unmet(pack(decision=lifted, **before)) == []  # as it was sealed, it stays

    def test_a_contradiction_as_it_is_worked_out(self) -> None:
        made = pack(tool_calls=(call(), unflagged_call()))
        assert lacking(made) == [("tool_calls[2]", None)]
        (one,) = unmet(made)
        assert one.says.startswith("contradiction_flag cannot be switched off: ")

    def test_a_contradiction_as_it_was_worked_out_where_it_was_recorded(self) -> None:
        old = pack(tool_calls=(unflagged_call(),))
        assert unmet(old, old.tool_calls) == []
        assert unmet(old, replaced=old) == []
        check_sealable(old, replaced=old)

    def test_a_memo_within_its_limits(self) -> None:
        made = pack(memo=long_memo())
        assert lacking(made) == [("memo", None)]
        assert str(unmet(made)[0]).startswith("memo: body_en: has 604 words, and 600 at most")

    def test_all_of_it_is_said_at_once(self) -> None:
        made = pack(tenant_id=None, sources=(source(confidence=None, retrieved_at=None),))
        assert [where for where, _ in lacking(made, call())] == [
            "tenant_id",
            "sources[1].confidence",
            "sources[1].retrieved_at",
            "tool_calls",
        ]


class TestAntiPatterns:
    @pytest.mark.parametrize(
        "own",
        [
            {"source": "claude-sonnet-4-5"},
            {"source": "ICP_Matcher"},
            {"uri": "llm://answer/1"},
            {"uri": "Model:claude"},
            {"uri": None, "reference": "completion:7"},
            {"uri": None, "reference": "assistant:turn 3"},
            {"uri": "prompt:system"},
        ],
    )
    def test_nothing_but_the_models_own_prose(self, own: dict[str, Any]) -> None:
        assert lacking(pack(sources=(source(**own),))) == [("sources", AntiPattern.PROSE_ONLY)]
        both = memo(body_ar="نص [1-2]", body_en="text [1-2]")
        assert unmet(pack(sources=(source(**own), source()), memo=both)) == []

    @pytest.mark.parametrize("left_out", [failed_call(), call(tool_name="other")])
    def test_calls_that_are_left_out(self, left_out: Any) -> None:
        made = pack(tool_calls=(call(),))
        assert unmet(made, [call()]) == []
        assert lacking(made, call(), left_out) == [("tool_calls", AntiPattern.SUCCESSES_ONLY)]
        message = str(unmet(made, [left_out])[0])
        assert f"a call of {left_out.tool_name} that {left_out.outcome.value}" in message

    def test_a_call_that_was_made_twice_is_there_twice(self) -> None:
        assert lacking(pack(tool_calls=(call(),)), call(), call()) == [
            ("tool_calls", AntiPattern.SUCCESSES_ONLY)
        ]
        assert unmet(pack(tool_calls=(call(), call())), [call(), call()]) == []

    def test_a_call_that_was_changed_is_not_the_one_that_was_recorded(self) -> None:
        prettier = call(side_effects=())
        recorded = call(side_effects=("deleted a note",))
        assert lacking(pack(tool_calls=(prettier,)), recorded) == [
            ("tool_calls", AntiPattern.SUCCESSES_ONLY)
        ]

    @pytest.mark.parametrize(
        ("changes", "name"),
        [
            ({"body_ar": "We recommend it [1]."}, "body_ar"),
            ({"title_ar": "Recommendation"}, "title_ar"),
            ({"executive_summary_en": "الشركة مناسبة."}, "executive_summary_en"),
        ],
    )
    def test_a_memo_in_only_one_language(self, changes: dict[str, str], name: str) -> None:
        made = pack(memo=memo(**changes))
        assert lacking(made) == [("memo", AntiPattern.ONE_LANGUAGE)]
        assert name in str(unmet(made)[0])

    def test_an_edit_in_place(self) -> None:
        made = pack()
        object.__setattr__(made, "entity_id", "another")
        assert lacking(made) == [("pack_id", AntiPattern.EDITED_IN_PLACE)]
        forged = EvidencePack.model_construct(**{**dict(pack()), "entity_id": "another"})
        assert lacking(forged) == [("pack_id", AntiPattern.EDITED_IN_PLACE)]

    @pytest.mark.parametrize(
        ("text", "kind"),
        [
            ("Write to omar.saleh@example.com", "EMAIL"),
            ("Her card is 4111 1111 1111 1111", "CARD"),
        ],
    )
    @pytest.mark.parametrize(
        "name", ["title_en", "body_en", "executive_summary_en", "title_ar", "executive_summary_ar"]
    )
    def test_personal_data_in_the_memo(self, name: str, text: str, kind: str) -> None:
        made = pack(memo=memo(**{name: f"نص text {text} [1]"}))
        assert lacking(made) == [(f"memo.{name}", AntiPattern.PERSONAL_DATA_IN_MEMO)]
        said = str(unmet(made)[0])
        assert kind in said.upper()
        assert text.rsplit(maxsplit=1)[-1] not in said

    def test_every_one_has_a_name(self) -> None:
        assert sorted(AntiPattern) == [
            "edited_in_place",
            "one_language",
            "personal_data_in_memo",
            "prose_only",
            "successes_only",
        ]


def test_what_is_unmet_reads_as_a_sentence() -> None:
    assert str(Unmet("tenant_id", "say which")) == "tenant_id: say which"
    assert str(Unmet("sources", "cite", AntiPattern.PROSE_ONLY)) == "sources: cite (prose_only)"

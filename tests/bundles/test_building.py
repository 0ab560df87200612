import json
from dataclasses import replace
from typing import Any

import pytest
import regex
from hypothesis import given

from bundles.making import (
    CANDIDATES,
    KEY,
    LATER,
    NOW,
    POLICIES,
    bundle,
    inline,
    lake,
    made,
    result,
    table,
)
from evidentia.bundles.accounting import EvidenceType, LostKind, Outcome, lost_kinds
from evidentia.bundles.building import build_bundle
from evidentia.bundles.model import EvidenceBundle, source_name
from evidentia.bundles.policy import EvidencePolicy
from evidentia.bundles.redaction.redactor import Redactor
from evidentia.bundles.tokens import token_counter
from evidentia.canonical import sha256_hex


@given(CANDIDATES, POLICIES)
def test_every_input_is_accounted_for_and_no_limit_is_passed(
    drawn: list[tuple[str, Any, int]], policy: EvidencePolicy
) -> None:
    built = build_bundle(made(drawn, policy), policy, created_utc=NOW)
    found, accounting = built.bundle, built.bundle.accounting
    assert accounting.inputs == len(drawn)
    assert sum(getattr(accounting, outcome.value) for outcome in Outcome) == len(drawn)
    assert len(found.items) == len(drawn) - accounting.dropped <= policy.max_items
    sizes = [len(item.content.encode()) for item in found.items]
    assert all(size <= policy.max_item_bytes for size in sizes)
    assert sum(sizes) <= policy.max_total_bytes
    for decision in accounting.decisions:
        assert all(step.reason for step in decision.steps)
    kept = {sha256_hex(data) for data in built.artifacts}
    for item in found.items:
        assert (item.full_ref is not None) == ("bounding" in item.metadata)
        if item.full_ref and item.full_ref["lake_uri"].startswith("sha256/"):
            assert item.full_ref["sha256"] in kept
    again = build_bundle(made(drawn, policy), policy, created_utc=LATER).bundle
    assert again.bundle_id == found.bundle_id
    assert again.model_copy(update={"created_utc": NOW}).encode() == found.encode()
    assert EvidenceBundle.parse(found.encode()) == found


@given(CANDIDATES, POLICIES)
def test_cuts_fall_between_characters(
    drawn: list[tuple[str, Any, int]], policy: EvidencePolicy
) -> None:
    candidates = made(drawn, policy)
    found = {
        item.evidence_id: item
        for item in build_bundle(candidates, policy, created_utc=NOW).bundle.items
    }
    for candidate in candidates:
        item = found.get(f"inline:{candidate.part}")
        if item is not None and candidate.evidence_type.value == "inline_text":
            assert candidate.content.startswith(item.content)
            at = len(item.content)
            borders = {0, *(one.end() for one in regex.finditer(r"\X", candidate.content))}
            assert at in borders or "\u094d" in candidate.content


def test_what_fits_is_kept_as_it_is() -> None:
    found = bundle(inline("one"), lake("two"))
    assert [item.content for item in found.items] == ["one", "two"]
    assert [item.metadata for item in found.items] == [{}, {}]
    assert found.accounting.kept == 2
    assert found.summary.bundle_bounding.model_dump(exclude_none=True) == {
        "applied": False,
        "original_count": 2,
        "final_count": 2,
        "items_dropped": 0,
        "total_bytes": 6,
        "note": "",
    }
    assert found.summary.approx_tokens == 1


def test_a_cut_item_says_so_and_points_to_the_whole() -> None:
    text = "x" * 50_000
    built = build_bundle([inline(text)], EvidencePolicy(), created_utc=NOW)
    (item,) = built.bundle.items
    assert item.metadata["bounding"] == {
        "applied": True,
        "original_size": 50_000,
        "bounded_size": 10_000,
        "truncation_point": 10_000,
        "note": "Truncated to 10000 byte limit",
    }
    digest = sha256_hex(text.encode())
    assert item.full_ref == {
        "lake_uri": f"sha256/{digest[:2]}/{digest[2:4]}/{digest}",
        "sha256": digest,
        "byte_count": 50_000,
    }
    assert built.artifacts == (text.encode(),)


def test_a_kind_of_which_nothing_is_left_is_lost_to_the_limit_of_the_bundle() -> None:
    given = [inline("a"), inline("b", 1), lake("c"), lake("d"), result(table(3))]
    assert lost_kinds(bundle(*given).accounting) == []
    assert lost_kinds(bundle(*given, max_items=1).accounting) == [
        LostKind(EvidenceType.LAKE_TEXT, 2, "max_items: 1"),
        LostKind(EvidenceType.SQL_RESULT, 1, "max_items: 1"),
    ]
    assert lost_kinds(bundle(*given, max_items=4).accounting) == [
        LostKind(EvidenceType.SQL_RESULT, 1, "max_items: 4")
    ]
    (lost,) = lost_kinds(bundle(inline("a"), lake("c" * 9), max_total_bytes=5).accounting)
    assert lost.limit == "max_total_bytes: 5"
    assert lost_kinds(bundle(*given, max_sql_rows=0).accounting) == []
    assert [one.count for one in lost_kinds(bundle(*given, max_items=0).accounting)] == [2, 2, 1]


def test_notes_have_the_words_that_readers_of_bundles_know() -> None:
    policy = EvidencePolicy(max_items=1, max_item_bytes=1_200, max_sql_cols=400)
    wide = [result(table(500, 40, columns=400))]
    dropped = [inline("x", index) for index in range(1_500)]
    found = build_bundle([*wide, *dropped], policy, created_utc=NOW).bundle
    assert found.items[0].metadata["bounding"]["note"] == (
        "Sampled: first_last: 40 of 500 rows; "
        "Sampled: max_item_bytes: 1,200, 1 of 40 sampled rows; Truncated to 1200 byte limit"
    )
    assert found.summary.bundle_bounding.note == "Dropped 1500 items to meet bundle limits"
    one = build_bundle([inline("x"), inline("y", 1)], EvidencePolicy(max_items=1), created_utc=NOW)
    assert one.bundle.summary.bundle_bounding.note == "Dropped 1 item to meet bundle limits"


def test_what_is_in_the_lake_already_is_not_persisted_again() -> None:
    built = build_bundle([lake("y" * 20_000)], EvidencePolicy(), created_utc=NOW)
    assert built.artifacts == ()
    full_ref = built.bundle.items[0].full_ref
    assert full_ref is not None
    assert full_ref["lake_uri"] == "a.md"


def test_the_last_is_dropped_first_and_what_is_dropped_is_kept_in_one_artifact() -> None:
    built = build_bundle(
        [inline(text, index) for index, text in enumerate(["a", "b", "c"])],
        EvidencePolicy(max_items=1),
        created_utc=NOW,
    )
    assert [item.evidence_id for item in built.bundle.items] == ["inline:0"]
    bounding = built.bundle.summary.bundle_bounding
    assert (bounding.items_dropped, bounding.note) == (2, "Dropped 2 items to meet bundle limits")
    (artifact,) = built.artifacts
    assert bounding.dropped_ref is not None
    assert bounding.dropped_ref["sha256"] == sha256_hex(artifact)
    assert [json.loads(line) for line in artifact.splitlines()] == [
        {"evidence_id": "inline:1", "content": "b"},
        {"evidence_id": "inline:2", "content": "c"},
    ]
    reasons = [d.steps[-1].reason for d in built.bundle.accounting.decisions if d.steps]
    assert reasons == ["max_items: 1", "max_items: 1"]


def test_priority_comes_before_order() -> None:
    found = bundle(
        inline("low", 0, priority=-1), inline("a", 1), inline("high", 2, priority=5), max_items=2
    )
    assert [item.content for item in found.items] == ["a", "high"]


def test_nothing_after_the_first_that_does_not_fit_is_taken_instead() -> None:
    found = bundle(inline("aaaa", 0), inline("b" * 8, 1), inline("c", 2), max_total_bytes=10)
    assert [item.content for item in found.items] == ["aaaa"]
    assert {d.steps[-1].reason for d in found.accounting.decisions[1:]} == {"max_total_bytes: 10"}


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"max_items": 0}, "max_items: 0"),
        ({"max_total_bytes": 0}, "max_total_bytes: 0"),
        ({"max_item_bytes": 0}, "max_item_bytes: 0"),
        ({"max_item_tokens": 0, "tokenizer": "o200k_base"}, "max_item_tokens: 0"),
        ({"max_total_tokens": 0, "tokenizer": "o200k_base"}, "max_total_tokens: 0"),
    ],
)
def test_a_limit_of_0_keeps_nothing(limits: dict[str, Any], reason: str) -> None:
    policy = EvidencePolicy(**limits)
    found = build_bundle(
        [inline("text"), inline("", 1)],
        policy,
        created_utc=NOW,
        count_tokens=token_counter("o200k_base"),
    ).bundle
    assert found.items == []
    assert [d.steps[-1].reason for d in found.accounting.decisions] == [reason, reason]


def test_an_item_of_which_no_character_fits_is_dropped() -> None:
    found = bundle(inline("👨\u200d👩\u200d👧 family"), max_item_bytes=10)
    assert found.items == []
    (decision,) = found.accounting.decisions
    assert [step.done for step in decision.steps] == [Outcome.TRUNCATED, Outcome.DROPPED]
    assert decision.steps[-1].reason == "not one character is within max_item_bytes: 10"


@pytest.mark.parametrize("limit", ["max_sql_rows", "max_sql_cols"])
def test_a_result_of_no_rows_or_columns_is_dropped(limit: str) -> None:
    found = bundle(result(table(3, 0 if limit == "max_sql_rows" else 3)), **{limit: 0})
    assert found.accounting.decisions[0].steps[-1].reason == f"{limit}: 0"


def test_a_sampled_result_says_which_rows_and_columns_it_shows() -> None:
    sampled = replace(table(10_000), left_out_columns=("secret",))
    found = bundle(result(sampled))
    (item,) = found.items
    assert item.metadata["sampling"] == {
        "strategy": "first_last",
        "row_count": 10_000,
        "rows": [[0, 50], [9_950, 10_000]],
        "columns": ["c0", "c1", "c2"],
        "left_out_columns": ["secret"],
        "trimmed_cells": 0,
    }
    (step,) = found.accounting.decisions[0].steps
    assert step.reason == "first_last: 100 of 10,000 rows, 3 of 4 columns"
    assert (step.before_bytes, step.after_bytes) == (90_000, item.byte_count)
    assert item.evidence_id.count(":") == 2
    assert item.metadata["bounding"]["truncation_point"] is None
    assert "9,900 rows left out" in item.content


def test_rows_in_a_row_are_named_in_the_id() -> None:
    (item,) = bundle(result(table(500, strategy="first_only"))).items
    assert item.evidence_id.endswith(":0:0-100")
    (item,) = bundle(result(table(50))).items
    assert item.evidence_id.endswith(":0")
    assert "sampled" not in item.metadata
    assert item.full_ref is None


def test_a_result_that_is_too_long_shows_fewer_rows_before_it_is_cut() -> None:
    wide = replace(
        table(40),
        rows=tuple((str(row), "w" * 300, "end") for row in range(40)),
    )
    found = bundle(result(wide), max_item_bytes=2_000)
    (item,) = found.items
    assert item.byte_count <= 2_000
    (step,) = found.accounting.decisions[0].steps
    assert step.done is Outcome.SAMPLED
    assert step.reason.startswith("max_item_bytes: 2,000, ")
    assert "long cells trimmed" in step.reason
    assert item.metadata["sampling"]["rows"][0][0] == 0
    assert item.metadata["sampling"]["rows"][-1][1] == 40


def test_a_result_that_fits_once_its_long_cells_are_trimmed_shows_all_its_rows() -> None:
    wide = replace(table(3), rows=tuple((str(row), "w" * 900, "end") for row in range(3)))
    found = bundle(result(wide), max_item_bytes=1_000)
    (step,) = found.accounting.decisions[0].steps
    assert step.reason == "max_item_bytes: 1,000, 3 long cells trimmed"
    assert found.items[0].metadata["sampling"]["rows"] == [[0, 3]]
    assert found.items[0].metadata["bounding"]["note"] == f"Sampled: {step.reason}"


def test_the_same_thing_however_often_has_an_id_each_time() -> None:
    found = bundle(*[lake("x")] * 120, max_items=120)
    assert len({item.evidence_id for item in found.items}) == 120
    assert found == bundle(*[lake("x")] * 120, max_items=120)


def test_a_result_whose_first_row_is_too_long_is_cut_in_it() -> None:
    huge = replace(table(2, columns=1), columns=("c" * 500,), rows=(("x",), ("y",)))
    found = bundle(result(huge), max_item_bytes=100)
    assert found.items[0].byte_count <= 100
    assert [step.done for step in found.accounting.decisions[0].steps][-1] is Outcome.TRUNCATED


def test_a_failure_is_an_item_that_says_so() -> None:
    found = bundle(lake("[lake_text a.md could not be loaded]", error="a.md is not in the lake"))
    (item,) = found.items
    assert item.metadata["error"] == "a.md is not in the lake"
    assert found.accounting.failed == 1
    assert found.accounting.decisions[0].steps[0].reason == "a.md is not in the lake"


def redacted(*candidates: Any, **policy: Any) -> Any:
    return build_bundle(
        candidates,
        EvidencePolicy(enable_redaction=True, **policy),
        created_utc=NOW,
        redactor=Redactor(KEY),
    )


def test_values_are_redacted_before_anything_is_cut_or_persisted() -> None:
    text = f"Write to anna@example.com. {'x' * 200} Or to anna@example.com."
    built = redacted(inline(text), max_item_bytes=100)
    (item,) = built.bundle.items
    assert item.content.startswith("Write to [EMAIL_1]. xxx")
    whole = built.artifacts[0].decode()
    assert whole.count("[EMAIL_1]") == 2
    assert b"anna@example.com" not in built.bundle.encode()
    first = item.metadata["redactions"][0]
    assert item.content[first["start"] : first["end"]] == "[EMAIL_1]" == first["placeholder"]
    assert (first["kind"], first["field"], len(first["digest"])) == ("EMAIL", "content", 64)
    steps = built.bundle.accounting.decisions[0].steps
    assert [(step.done, step.reason) for step in steps] == [
        (Outcome.REDACTED, "2 EMAIL"),
        (Outcome.TRUNCATED, "max_item_bytes: 100"),
    ]
    assert built.bundle.summary.redactions == {"EMAIL": 1}  # the other one is cut off


def test_the_same_value_has_the_same_placeholder_in_all_items() -> None:
    built = redacted(
        inline("anna@example.com and omar@example.com", 0),
        lake("omar@example.com"),
        result(replace(table(1), rows=(("1", "anna@example.com", "x"),))),
    )
    contents = [item.content for item in built.bundle.items]
    assert contents[:2] == ["[EMAIL_1] and [EMAIL_2]", "[EMAIL_2]"]
    assert "1 | [EMAIL_1] | x" in contents[2]
    hit = built.bundle.items[2].metadata["redactions"][0]
    assert contents[2][hit["start"] : hit["end"]] == "[EMAIL_1]"
    assert built.bundle.accounting.redacted == 3


def test_in_a_result_that_shows_fewer_rows_redactions_are_where_they_stand() -> None:
    rows = tuple((f"{row}", f"anna{row}@example.com", "x" * 60) for row in range(20))
    one = result(replace(table(20), rows=rows))
    one = one._replace(source_ref={**one.source_ref, "asked_by": "omar@example.com"})
    (item,) = redacted(one, max_item_bytes=600).bundle.items
    assert len(item.metadata["sampling"]["rows"]) == 2
    shown = [hit for hit in item.metadata["redactions"] if hit["field"] == "content"]
    assert 0 < len(shown) < 20
    for hit in shown:
        assert item.content[hit["start"] : hit["end"]] == hit["placeholder"]
    assert item.metadata["redactions"][-1]["field"] == "source_ref.asked_by"


def test_what_says_where_evidence_is_from_is_redacted_too_but_what_leads_there() -> None:
    one = inline("plain")._replace(
        source_ref={"source_uri": "mailto:anna@example.com", "tags": ["omar@example.com", 3]},
        metadata={"lake_uri": "mails/anna@example.com.txt"},
    )
    built = redacted(one)
    (item,) = built.bundle.items
    assert item.source_ref == {"source_uri": "mailto:[EMAIL_1]", "tags": ["[EMAIL_2]", 3]}
    assert item.metadata["lake_uri"] == "mails/anna@example.com.txt"
    fields = [hit["field"] for hit in item.metadata["redactions"]]
    assert fields == ["source_ref.source_uri", "source_ref.tags[0]"]
    assert built.bundle.accounting.kept == 1


def test_equal_policies_give_equal_bundles_whatever_the_order_of_their_patterns() -> None:
    patterns = {"CASE": "case-[0-9]+", "ANY": "case-[0-9]+"}
    found = []
    for given_patterns in (patterns, dict(reversed(patterns.items()))):
        policy = EvidencePolicy(enable_redaction=True, redaction_patterns=given_patterns)
        redactor = Redactor(KEY, patterns=policy.redaction_patterns)
        built = build_bundle([inline("case-7")], policy, created_utc=NOW, redactor=redactor)
        found.append(built.bundle)
    assert found[0].policy == found[1].policy
    assert found[0].encode() == found[1].encode()


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
def test_token_limits_are_exact_and_count_the_fence(name: Any) -> None:
    count = token_counter(name)
    policy = EvidencePolicy(tokenizer=name, max_total_tokens=400, max_item_tokens=50)
    texts = ["Annual leave is 25 days. " * 40, "الإجازة السنوية " * 60, "short"] * 5
    found = build_bundle(
        [inline(text, index) for index, text in enumerate(texts)],
        policy,
        created_utc=NOW,
        count_tokens=count,
    ).bundle
    assert 0 < len(found.items) < len(texts)
    assert all(count(item.content) <= 50 for item in found.items)
    tokens = found.summary.tokens
    assert tokens is not None
    assert count(str(found.render().content)) == tokens.rendered <= 400
    assert count(str(found.render(key=KEY).content)) == tokens.rendered
    assert 0 < tokens.overhead < tokens.rendered
    assert found.accounting.decisions[-1].steps[-1].reason == "max_total_tokens: 400"
    assert found.accounting.decisions[0].steps[0].reason == "max_item_tokens: 50"
    assert found.items[0].metadata["bounding"]["note"] == "Truncated to 50 token limit"


@pytest.mark.parametrize("limit", [1, 60, 200])
def test_a_result_of_too_many_tokens_shows_fewer_rows_before_it_is_cut(limit: int) -> None:
    count = token_counter("o200k_base")
    policy = EvidencePolicy(tokenizer="o200k_base", max_item_tokens=limit)
    built = build_bundle([result(table(90))], policy, created_utc=NOW, count_tokens=count)
    (item,) = built.bundle.items
    assert count(item.content) <= limit
    steps = built.bundle.accounting.decisions[0].steps
    assert steps[0].done is Outcome.SAMPLED
    assert steps[0].reason.startswith(f"max_item_tokens: {limit}, ")
    assert (steps[-1].done is Outcome.TRUNCATED) == (limit == 1)


def test_a_result_that_is_shorter_in_tokens_already_is_left_as_it_is() -> None:
    count = token_counter("o200k_base")
    policy = EvidencePolicy(tokenizer="o200k_base", max_item_tokens=2_000)
    built = build_bundle([result(table(9))], policy, created_utc=NOW, count_tokens=count)
    assert built.bundle.accounting.kept == 1


def test_a_result_within_its_tokens_shows_whole_rows_and_says_which() -> None:
    count = token_counter("o200k_base")
    policy = EvidencePolicy(tokenizer="o200k_base", max_item_tokens=150)
    built = build_bundle([result(table(90))], policy, created_utc=NOW, count_tokens=count)
    (item,) = built.bundle.items
    sampling = item.metadata["sampling"]
    shown = [row for start, stop in sampling["rows"] for row in range(start, stop)]
    assert 1 < len(shown) < 90
    assert [row for row in range(90) if f"\n{row}.0 | {row}.1 | {row}.2" in item.content] == shown
    assert (sampling["row_count"], sampling["columns"]) == (90, ["c0", "c1", "c2"])
    assert item.metadata["bounding"]["truncation_point"] is None


def test_a_result_is_brought_within_its_bytes_and_then_within_its_tokens() -> None:
    count = token_counter("o200k_base")
    policy = EvidencePolicy(tokenizer="o200k_base", max_item_tokens=100, max_item_bytes=900)
    built = build_bundle([result(table(90))], policy, created_utc=NOW, count_tokens=count)
    (item,) = built.bundle.items
    assert count(item.content) <= 100
    reasons = [step.reason for step in built.bundle.accounting.decisions[0].steps]
    assert reasons[0].startswith("max_item_bytes: 900, ")
    assert all(reason.startswith("max_item_tokens: 100, ") for reason in reasons[1:])
    assert len(reasons) > 1


def test_of_several_things_that_are_done_to_an_input_the_gravest_is_its_outcome() -> None:
    mail = "Write to anna@example.com. "
    built = redacted(
        inline(mail, 0),
        inline(mail + "x" * 100, 1),
        result(replace(table(90, 5), rows=(("1", "anna@example.com", "x"),) * 5)),
        lake("x" * 200, error="a.md is gone"),
        inline("👨\u200d👩\u200d👧" * 9, 4),
        inline("plain", 5),
        max_item_bytes=80,
    )
    done = [
        ([step.done.value for step in one.steps], one.outcome.value)
        for one in built.bundle.accounting.decisions
    ]
    assert done == [
        (["redacted"], "redacted"),
        (["redacted", "truncated"], "truncated"),
        (["sampled", "redacted", "sampled", "truncated"], "truncated"),
        (["failed", "truncated"], "failed"),
        (["truncated"], "truncated"),
        ([], "kept"),
    ]
    built = redacted(inline(mail + "x" * 100, 0), max_item_bytes=80, max_total_bytes=9)
    (decision,) = built.bundle.accounting.decisions
    assert [step.done.value for step in decision.steps] == ["redacted", "truncated", "dropped"]
    assert (decision.outcome, decision.bundle_bytes) == (Outcome.DROPPED, 0)


def test_a_redacted_sample_stays_a_sample() -> None:
    (decision,) = redacted(
        result(replace(table(90, 1), rows=(("1", "anna@example.com", "x"),)))
    ).bundle.accounting.decisions
    assert [step.done for step in decision.steps] == [Outcome.SAMPLED, Outcome.REDACTED]
    assert decision.outcome is Outcome.SAMPLED


def test_a_decision_leads_to_the_artifact_whatever_became_of_it() -> None:
    found = bundle(lake("one", "a.md"), inline("two", 1), lake("three", "b.md"), max_items=2)
    kept, told, dropped = found.accounting.decisions
    assert (kept.artifact_uri, kept.artifact_sha256) == ("a.md", sha256_hex(b"one"))
    assert (told.artifact_uri, told.artifact_sha256) == (None, None)
    assert (dropped.artifact_uri, dropped.artifact_sha256) == ("b.md", sha256_hex(b"three"))
    assert (dropped.outcome, dropped.bundle_bytes) == (Outcome.DROPPED, 0)
    written = found.as_json()["accounting"]["decisions"]
    assert [{"artifact_uri", "artifact_sha256"} <= set(one) for one in written] == [
        True,
        False,
        True,
    ]
    assert not [name for name in written[1] if name.startswith("artifact")]


def test_a_source_has_the_name_that_readers_know() -> None:
    assert source_name({"filename": "HR.pdf", "lake_uri": "docs/HR.pdf"}) == "HR.pdf"
    assert source_name({"lake_uri": "docs/HR.pdf"}) == "docs/HR.pdf"
    assert source_name({"source_uri": 3}) == ""

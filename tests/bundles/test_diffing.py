import pytest
from hypothesis import given

from bundles.making import CANDIDATES, LATER, NOW, POLICIES, bundle, inline, lake, made
from evidentia.bundles.building import build_bundle
from evidentia.bundles.candidates import Candidate
from evidentia.bundles.diffing import diff_bundles
from evidentia.bundles.model import BUILD_VERSION
from evidentia.bundles.policy import EvidencePolicy
from evidentia.canonical import canonical_json


def test_the_same_bundle_at_another_time_does_not_differ() -> None:
    before = bundle(inline("a"), lake("b"))
    after = before.model_copy(update={"created_utc": LATER})
    found = diff_bundles(before, after)
    assert found.is_empty
    assert found.as_json() == {
        "build_version": [BUILD_VERSION, BUILD_VERSION],
        "policy": {},
        "only_before": [],
        "only_after": [],
        "changed": [],
        "outcomes": {},
        "same": True,
    }


def test_what_differs_is_given_with_both_sides() -> None:
    before = bundle(inline("one", 0), inline("two", 1), inline("three", 2), max_items=2)
    after = bundle(inline("one", 0), inline("TWO!", 1), lake("four"), max_items=3)
    found = diff_bundles(before, after)
    assert not found.is_empty
    lake_id = after.items[2].evidence_id
    assert found.as_json() == {
        "build_version": [BUILD_VERSION, BUILD_VERSION],
        "policy": {"max_items": [2, 3]},
        "only_before": [],
        "only_after": [lake_id],
        "changed": [
            {
                "evidence_id": "inline:1",
                "before": {
                    "content_sha256": before.items[1].content_sha256,
                    "byte_count": 3,
                },
                "after": {"content_sha256": after.items[1].content_sha256, "byte_count": 4},
            }
        ],
        "outcomes": {"inline:2": ["dropped", "absent"], lake_id: ["absent", "kept"]},
        "same": False,
    }
    (one,) = found.changed
    assert (one.before.content, one.after.content) == ("two", "TWO!")
    assert canonical_json(found.as_json())


def test_an_item_that_only_one_model_saw_is_named_with_what_became_of_it() -> None:
    texts = [inline("x" * 20, 0), inline("y" * 20, 1)]
    before = bundle(*texts)
    after = bundle(*texts, max_items=1, max_item_bytes=5)
    found = diff_bundles(before, after)
    assert [item.evidence_id for item in found.only_before] == ["inline:1"]
    assert found.only_after == ()
    assert found.outcomes == {"inline:0": ("kept", "truncated"), "inline:1": ("kept", "dropped")}
    assert found.policy == {"max_items": (50, 1), "max_item_bytes": (10_000, 5)}


def test_the_same_content_treated_otherwise_is_a_change_of_its_record_and_its_outcome() -> None:
    before, after = bundle(lake("text")), bundle(lake("text", error="it is gone"))
    found = diff_bundles(before, after)
    (one,) = found.changed
    assert one.before.content_sha256 == one.after.content_sha256
    assert (one.before.metadata, one.after.metadata) == ({}, {"error": "it is gone"})
    assert list(found.outcomes.values()) == [("kept", "failed")]
    assert not found.is_empty


@pytest.mark.parametrize(
    ("other", "changed"),
    [
        (inline("text")._replace(source_ref={"source_uri": "elsewhere"}), 1),
        (inline("text")._replace(metadata={"status": 404}), 1),
        (inline("text")._replace(origin="job_input.extra_params.evidence[5]"), 0),
    ],
    ids=["source", "metadata", "origin"],
)
def test_bundles_that_are_not_the_same_have_a_difference(other: Candidate, changed: int) -> None:
    before, after = bundle(inline("text")), bundle(other)
    assert before.bundle_id != after.bundle_id
    found = diff_bundles(before, after)
    assert not found.is_empty
    assert len(found.changed) == changed
    assert found.as_json()["same"] is False


def test_another_text_that_was_dropped_is_a_difference() -> None:
    before, after = (bundle(inline("a"), inline(text, 1), max_items=1) for text in ("b", "cc"))
    found = diff_bundles(before, after)
    assert (found.only_before, found.only_after, found.changed) == ((), (), ())
    assert not found.is_empty


@given(CANDIDATES, POLICIES, CANDIDATES, POLICIES)
def test_a_difference_looks_the_same_from_both_sides(
    one: list[tuple[str, object, int]],
    one_policy: EvidencePolicy,
    other: list[tuple[str, object, int]],
    other_policy: EvidencePolicy,
) -> None:
    before = build_bundle(made(one, one_policy), one_policy, created_utc=NOW).bundle
    after = build_bundle(made(other, other_policy), other_policy, created_utc=NOW).bundle
    assert diff_bundles(before, before).is_empty
    there, back = diff_bundles(before, after), diff_bundles(after, before)
    assert there.only_before == back.only_after
    assert there.only_after == back.only_before
    assert {name: pair[::-1] for name, pair in there.outcomes.items()} == back.outcomes
    assert {name: pair[::-1] for name, pair in there.policy.items()} == back.policy
    turned = {pair.before.evidence_id: (pair.after, pair.before) for pair in back.changed}
    assert {pair.before.evidence_id: (pair.before, pair.after) for pair in there.changed} == turned
    assert there.is_empty == back.is_empty == (before.bundle_id == after.bundle_id)

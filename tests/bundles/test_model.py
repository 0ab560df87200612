"""A bundle whose parts do not agree cannot be made or loaded, whatever was changed in it."""

import uuid
from collections.abc import Callable
from copy import deepcopy
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import tiers
from bundles.making import (
    LATER,
    NOW,
    Place,
    bundle,
    changed,
    everything,
    inline,
    others,
    places,
    sealed,
)
from evidentia.bundles.accounting import Accounting, EvidenceType, InputFate, Outcome, Step, gravest
from evidentia.bundles.building import build_bundle
from evidentia.bundles.model import EvidenceBundle, artifact_uri, bundle_id_of, make_bundle
from evidentia.bundles.policy import EvidencePolicy
from evidentia.bundles.tokens import token_counter
from evidentia.canonical import sha256_hex
from evidentia.errors import IntegrityError

WHOLE = everything()
JSON = WHOLE.as_json()
SMALL = bundle(inline("text"))
RENDERED_TOKENS: int = JSON["summary"]["tokens"]["rendered"]

FREE = (
    "accounting.decisions.*.origin",
    "accounting.decisions.*.source",
    "accounting.decisions.*.artifact_uri",
    "accounting.decisions.*.steps.*.reason",
    "items.*.source_ref.*",
    "items.*.full_ref.lake_uri",
    "items.*.full_ref.byte_count",
    "items.*.metadata.bounding.applied",
    "items.*.metadata.bounding.note",
    "items.*.metadata.bounding.truncation_point",
    "items.*.metadata.redactions.*.[!k]*",  # all but the kind
    "items.*.metadata.sampling.*",
    "items.*.metadata.status",
    "items.*.metadata.error",
    "policy.chunk_*",
    "policy.max_*",
    "policy.redaction_patterns.*",
    "summary.bundle_bounding.note",
    "summary.bundle_bounding.dropped_ref.lake_uri",
    "summary.bundle_bounding.dropped_ref.byte_count",
    "summary.tokens.rendered",
    "summary.tokens.overhead",
)
"""What nothing else in a bundle says once more, so that only its digest can tell a change."""


def refusal(value: Any) -> str:
    """Return why a JSON object is no bundle."""
    with pytest.raises(IntegrityError) as caught:
        EvidenceBundle.from_json(value)
    message = str(caught.value)
    assert message
    assert "\n" not in message
    return message


def is_loaded(value: Any) -> bool:
    try:
        EvidenceBundle.from_json(value)
    except IntegrityError:
        return False
    return True


def dotted(place: Place) -> str:
    return ".".join(map(str, place))


def all_changes() -> list[tuple[Place, Any]]:
    return [(place, new) for place, value in places(JSON) for new in others(value)]


def test_any_single_change_but_to_the_clock_is_refused() -> None:
    tried = all_changes()
    assert len(tried) > 400
    for place, new in tried:
        refusal(changed(JSON, place, new))  # of the clock too: they are no times
    later = EvidenceBundle.from_json({**JSON, "created_utc": LATER})
    assert later.bundle_sha256 == WHOLE.bundle_sha256


def test_a_change_in_the_bytes_alone_is_refused() -> None:
    data = WHOLE.encode()
    for old, new in [(b'"kept":1', b'"kept":2'), (b"25 days", b"26 days"), (b"400", b"401")]:
        assert old in data
        with pytest.raises(IntegrityError, match="its content is not what bundle_sha256 says"):
            EvidenceBundle.parse(data.replace(old, new, 1))


def test_a_field_that_is_missing_or_unknown_is_refused() -> None:
    objects: list[Place] = [(), ("policy",), ("summary",), ("accounting",), ("items", 0)]
    objects += [("summary", "bundle_bounding"), ("accounting", "decisions", 0)]
    objects += [("summary", "tokens"), ("accounting", "decisions", 0, "steps", 0)]
    for place in objects:
        value = deepcopy(JSON)
        inside: Any = value
        for part in place:
            inside = inside[part]
        inside["surprise"] = 1
        assert "surprise" in refusal(value)
        del inside["surprise"]
        for name in list(inside):
            kept = inside.pop(name)
            refusal(value)  # also where it has a default: bundles spell all of it out
            inside[name] = kept


def test_what_is_sealed_again_after_a_change_must_still_add_up() -> None:
    passed = {
        dotted(place)
        for place, new in all_changes()
        if is_loaded(sealed(changed(JSON, place, new)))
        if place not in (("bundle_id",), ("bundle_sha256",))  # made anew: no change is left
    }
    assert not [name for name in passed if not any(fnmatchcase(name, free) for free in FREE)]


def test_counts_and_sizes_are_never_free() -> None:
    numbers = [
        place
        for place, value in places(JSON)
        if type(value) is int and place[0] in ("accounting", "summary")
        if not any(fnmatchcase(dotted(place), free) for free in FREE)
    ]
    assert len(numbers) > 30
    for place in numbers:
        refusal(sealed(changed(JSON, place, 2**40)))


@pytest.mark.parametrize(
    ("limit", "most", "said"),
    [
        ("max_items", 6, "6 items, over max_items"),
        ("max_item_bytes", 400, "inline:0: 399 bytes, over max_item_bytes"),
        ("max_total_bytes", WHOLE.summary.total_bytes, "bytes, over max_total_bytes"),
        ("max_total_tokens", RENDERED_TOKENS, f"{RENDERED_TOKENS} tokens, over max_total_tokens"),
        ("max_sql_rows", 13, ": it shows more rows than max_sql_rows"),
        ("max_sql_cols", 3, ": it shows more columns than max_sql_cols"),
    ],
)
def test_a_limit_below_what_the_bundle_holds_is_refused(limit: str, most: int, said: str) -> None:
    assert is_loaded(sealed(changed(JSON, ("policy", limit), most)))
    for less in (most - 2, 1, 0):
        value = sealed(changed(JSON, ("policy", limit), less))
        message = refusal(value)
        assert message.startswith("the bundle's parts do not agree: ")
        if less == most - 2:
            assert said in message


Change = Callable[[dict[str, Any]], object]


def twice_the_same_item(value: dict[str, Any]) -> None:
    value["items"][1] = deepcopy(value["items"][0])


def twice_the_same_decision(value: dict[str, Any]) -> None:
    value["accounting"]["decisions"][7]["evidence_id"] = "inline:6"


def other_content(value: dict[str, Any]) -> None:
    value["items"][1]["content"] = "Annual leave is 52 days."


def other_digest(value: dict[str, Any]) -> None:
    value["items"][1]["content_sha256"] = "0" * 64


def other_size(value: dict[str, Any]) -> None:
    value["items"][1]["byte_count"] += 1


def content_that_no_decision_kept(value: dict[str, Any]) -> None:
    content = "Annual leave is 250 days."
    value["items"][1] |= {
        "content": content,
        "content_sha256": sha256_hex(content.encode()),
        "byte_count": len(content),
    }


def other_order(value: dict[str, Any]) -> None:
    value["items"][1:3] = reversed(value["items"][1:3])


def an_item_is_left_out(value: dict[str, Any]) -> None:
    del value["items"][-1]


def a_drop_is_left_out(value: dict[str, Any]) -> None:
    del value["accounting"]["decisions"][-1]


def a_drop_is_left_out_and_counted_away(value: dict[str, Any]) -> None:
    gone = value["accounting"]["decisions"].pop()
    value["accounting"]["inputs"] -= 1
    value["accounting"]["dropped"] -= 1
    value["accounting"]["input_bytes"] -= gone["input_bytes"]


def a_cut_passes_for_kept(value: dict[str, Any]) -> None:
    value["accounting"]["decisions"][2]["outcome"] = "kept"
    value["accounting"]["kept"] += 1
    value["accounting"]["truncated"] -= 1


def a_step_is_left_out(value: dict[str, Any]) -> None:
    del value["accounting"]["decisions"][0]["steps"][0]


def the_last_step_is_left_out(value: dict[str, Any]) -> None:
    del value["accounting"]["decisions"][2]["steps"][-1]


def a_step_that_did_nothing(value: dict[str, Any]) -> None:
    steps = value["accounting"]["decisions"][2]["steps"]
    size = steps[-1]["after_bytes"]
    steps.append({"done": "kept", "reason": "", "before_bytes": size, "after_bytes": size})


def a_drop_that_leaves_something(value: dict[str, Any]) -> None:
    accounting = value["accounting"]
    accounting["decisions"][6]["steps"][-1]["after_bytes"] = 1
    accounting["decisions"][6]["bundle_bytes"] = 1
    accounting["bundle_bytes"] += 1


def more_tokens_than_bytes_make(value: dict[str, Any]) -> None:
    value["summary"]["approx_tokens"] += 1


def other_type_counts(value: dict[str, Any]) -> None:
    value["summary"]["type_counts"] = {"inline_text": 6}


def redactions_are_not_counted(value: dict[str, Any]) -> None:
    value["summary"]["redactions"] = {}


def nothing_was_applied(value: dict[str, Any]) -> None:
    value["summary"]["bundle_bounding"]["applied"] = False


@tiers.one_test
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (twice_the_same_item, "two items have the same id"),
        (twice_the_same_decision, "two decisions have the same id"),
        (other_content, "inline:1: its content is not what its size and digest say"),
        (other_digest, "inline:1: its content is not what its size and digest say"),
        (other_size, "inline:1: its content is not what its size and digest say"),
        (content_that_no_decision_kept, "its items are not those that its accounting kept"),
        (other_order, "its items are not those that its accounting kept"),
        (an_item_is_left_out, "its items are not those that its accounting kept"),
        (a_drop_is_left_out, "its accounting does not count its decisions"),
        (a_drop_is_left_out_and_counted_away, "its summary does not count its items"),
        (a_cut_passes_for_kept, "its outcome is not that of its steps"),
        (a_step_is_left_out, "inline:0: its steps do not follow from each other"),
        (the_last_step_is_left_out, "its outcome is not that of its steps"),
        (a_step_that_did_nothing, "its steps do not follow from each other"),
        (a_drop_that_leaves_something, "inline:6: something of what was dropped is left"),
        (more_tokens_than_bytes_make, "its summary does not count its items"),
        (other_type_counts, "its summary does not count its items"),
        (redactions_are_not_counted, "its summary does not count its items"),
        (nothing_was_applied, "its summary does not count its items"),
    ],
    ids=lambda value: value.__name__.replace("_", " ") if callable(value) else "",
)
def test_a_contradiction_is_named(change: Change, said: str) -> None:
    value = deepcopy(JSON)
    change(value)
    message = refusal(sealed(value))
    assert message.startswith("the bundle's parts do not agree: ")
    assert said in message
    assert "bundle_sha256" not in message


def test_an_id_that_does_not_follow_is_refused() -> None:
    other = bundle_id_of("0" * 64)
    assert "bundle_id does not follow" in refusal({**JSON, "bundle_id": other})


NO_IDS = (
    "",
    "inline:",
    "inline:00",
    "inline:-1",
    "inline:0\n",
    "inline:٣",
    "lake:0123456789a:0",  # a digit too few
    "lake:0123456789AB:0",
    "lake:0123456789ab",
    "sqldef:0123456789ab:0",
    "sql:0123456789ab:0:5",
    "doc:0123456789ab:0:5-",
    "web:0123456789ab:0",
)
NO_TIMES = (
    "2026-11-16T09:00:00Z",
    "2026-11-16T09:00:00.000Z",
    "2026-11-16T09:00:00.000000+00:00",
    "2026-11-16 09:00:00.000000Z",
    "now",
)


@tiers.one_test
@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (("items", 0, "byte_count"), -1, "items.0.byte_count: "),
        (("items", 0, "byte_count"), True, "items.0.byte_count: "),
        (("items", 0, "byte_count"), "399", "items.0.byte_count: "),
        (("items", 0, "evidence_type"), "rumour", "items.0.evidence_type: "),
        (("items", 0, "source_ref"), [], "items.0.source_ref: "),
        (("accounting", "kept"), 1.5, "accounting.kept: "),
        (("accounting", "decisions", 0, "outcome"), "lost", "accounting.decisions.0.outcome: "),
        (("policy", "max_items"), -1, "policy.max_items: "),
        (("policy", "chunk_size"), 10, "policy: chunks of 10 bytes cannot overlap by 200"),
        (("summary",), None, "summary: "),
        *((("items", 0, "evidence_id"), other, "items.0.evidence_id: ") for other in NO_IDS),
        (
            ("accounting", "decisions", 7, "evidence_id"),
            "inline:7 ",
            "accounting.decisions.7.evidence_id: ",
        ),
        *((("created_utc",), other, "created_utc: ") for other in NO_TIMES),
        *((("build_version",), other, "build_version: ") for other in ("2", "2.0.1", "v2.0", "")),
    ],
)
def test_a_wrong_field_is_named(place: Place, value: Any, said: str) -> None:
    message = refusal(sealed(changed(JSON, place, value)))
    assert message.startswith(f"not a bundle that holds: {said}")


@pytest.mark.parametrize("value", [None, [], 3, "bundle", {}])
def test_what_is_no_bundle_at_all_is_refused(value: Any) -> None:
    refusal(value)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"\xff\xfe{}",
        b'{"bundle_id": NaN}',
        b'{"a": 1, "a": 1}',
        b'"\\ud800"',
        b"[" * 100_000,
        b'{"items": ' + b"[" * 10_000 + b"]" * 10_000 + b"}",
        b'{"bundle_id": ' + b"9" * 5_000 + b"}",
    ],
)
def test_bytes_that_are_no_json_are_refused(data: bytes) -> None:
    with pytest.raises(IntegrityError, match="the bundle cannot be read: ") as caught:
        EvidenceBundle.parse(data)
    assert len(str(caught.value)) < 200


def test_a_value_that_json_does_not_have_is_refused() -> None:
    refusal({**JSON, "created_utc": {1, 2}})
    steps: Place = ("accounting", "decisions", 1, "steps")
    message = refusal(changed(JSON, steps, set()))  # which would do for no steps
    assert message == "not a bundle that holds: set is not a JSON value: give it as text"


@pytest.mark.parametrize(
    "place",
    [
        ("items", 1, "full_ref"),
        ("accounting", "decisions", 0, "artifact_uri"),
        ("accounting", "decisions", 0, "artifact_sha256"),
        ("summary", "tokens"),
        ("summary", "bundle_bounding", "dropped_ref"),
    ],
    ids=dotted,
)
def test_what_there_is_not_is_left_out_and_not_null(place: Place) -> None:
    value = changed(SMALL.as_json() if place[0] == "summary" else JSON, place, None)
    assert refusal(value) == "not a bundle that holds: it is not written as bundles are"


def test_a_digest_of_no_artifact_is_refused() -> None:
    place: Place = ("accounting", "decisions", 0, "artifact_sha256")
    assert refusal(changed(JSON, place, "0" * 64)).endswith("it is not written as bundles are")


def test_a_bundle_comes_back_as_it_was() -> None:
    assert EvidenceBundle.parse(WHOLE.encode()) == WHOLE
    assert EvidenceBundle.from_json(WHOLE.as_json()).encode() == WHOLE.encode()
    assert {one.outcome for one in WHOLE.accounting.decisions} == set(Outcome)
    assert WHOLE.accounting.counts()["dropped"] == 2
    assert JSON["items"][0]["full_ref"]["lake_uri"].startswith("sha256/")
    assert "full_ref" not in JSON["items"][1]


def test_the_digest_covers_all_but_the_clock_the_id_and_itself() -> None:
    later = EvidenceBundle.from_json({**JSON, "created_utc": LATER})
    assert (later.bundle_sha256, later.bundle_id) == (WHOLE.bundle_sha256, WHOLE.bundle_id)
    assert later != WHOLE
    assert later.lake_uri != WHOLE.lake_uri == artifact_uri(sha256_hex(WHOLE.encode()))


@given(st.text("0123456789abcdef", min_size=64, max_size=64))
def test_the_id_is_a_uuid_of_version_5(digest: str) -> None:
    space = uuid.uuid5(uuid.NAMESPACE_URL, "urn:evidentia:spec:v1:bundle")
    assert bundle_id_of(digest) == str(uuid.uuid5(space, digest))


def test_an_item_is_found_by_its_id() -> None:
    found = WHOLE.item("inline:1")
    assert found is not None
    assert found.content == "Annual leave is 25 days."
    assert WHOLE.item("inline:6") is None


def test_a_bundle_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        WHOLE.bundle_id = "other"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        WHOLE.accounting.decisions[0].origin = "other"  # type: ignore[misc]
    item = WHOLE.items[0]
    with pytest.raises(TypeError):
        item.metadata["bounding"] = {}
    with pytest.raises(ValidationError, match="parts do not agree"):
        WHOLE.model_copy(update={"items": ()})


def test_what_is_made_is_checked_like_what_is_loaded() -> None:
    found = bundle(inline("text"))
    summary = found.summary
    with pytest.raises(IntegrityError, match="its items are not those that its accounting kept"):
        make_bundle(found.policy, (), summary, found.accounting, created_utc=NOW)
    with pytest.raises(IntegrityError, match="its summary does not count its items"):
        make_bundle(found.policy, (), summary, Accounting.of(()), created_utc=NOW)
    policy = found.policy.model_copy(update={"max_items": 0})
    with pytest.raises(IntegrityError, match="1 items, over max_items"):
        make_bundle(policy, found.items, summary, found.accounting, created_utc=NOW)


def test_what_is_made_can_be_loaded_or_is_refused() -> None:
    found = bundle(inline("text"))
    with pytest.raises(IntegrityError):
        make_bundle(found.policy, found.items, found.summary, found.accounting, created_utc="today")


GRAVITY = ["kept", "redacted", "sampled", "truncated", "failed", "dropped"]


@given(st.lists(st.sampled_from(GRAVITY)))
def test_of_all_that_was_done_the_gravest_is_what_became_of_an_input(done: list[str]) -> None:
    steps = [Step(Outcome(one), "a reason", 1, 1) for one in done]
    assert gravest(steps).value == max(done, key=GRAVITY.index, default="kept")


@pytest.mark.parametrize(
    ("done", "outcome", "said"),
    [
        (("truncated", "redacted"), "truncated", None),
        (("truncated", "redacted"), "redacted", "its outcome is not that of its steps"),
        (("failed", "truncated"), "failed", None),
        (("failed", "truncated"), "truncated", "its outcome is not that of its steps"),
        ((), "kept", None),
        ((), "redacted", "its outcome is not that of its steps"),
    ],
)
def test_an_outcome_that_is_not_the_gravest_cannot_be(
    done: tuple[str, ...], outcome: str, said: str | None
) -> None:
    decision = InputFate(
        evidence_id="inline:0",
        evidence_type=EvidenceType.INLINE_TEXT,
        origin="",
        source="",
        outcome=Outcome(outcome),
        input_bytes=5,
        bundle_bytes=5,
        steps=tuple(Step(Outcome(one), "a reason", 5, 5) for one in done),
    )
    assert decision.problem() == said


def test_redactions_that_are_not_lists_of_objects_count_nothing() -> None:
    value = changed(JSON, ("items", 5, "metadata", "redactions"), ["not an object"])
    value["summary"]["redactions"]["EMAIL"] -= 1
    assert is_loaded(sealed(value))


BOUNDING = {"original_size": 24, "bounded_size": 24}
TABLE: Place = ("items", 3, "metadata", "sampling")
CUT = ": its bounding and full_ref do not follow from whether it was cut"
SIZES = "inline:0: its bounding gives other sizes than its accounting"
ROWS = ": it shows more rows than max_sql_rows"
COLUMNS = ": it shows more columns than max_sql_cols"
DIGEST = ": its digest is not what its place says"


@tiers.one_test
@pytest.mark.parametrize(
    ("place", "new", "said"),
    [
        (("policy", "max_total_tokens"), 1, " tokens, over max_total_tokens"),
        (("summary", "tokens", "rendered"), 4_001, "4,001 tokens, over max_total_tokens"),
        (("summary", "tokens", "tokenizer"), "llama3", "by the policy's tokenizer"),
        (("policy", "tokenizer"), "cl100k_base", "by the policy's tokenizer"),
        (("policy", "enable_redaction"), False, "which the policy does not ask for"),
        (("items", 0, "metadata", "bounding", "bounded_size"), 1, SIZES),
        (("items", 0, "metadata", "bounding", "original_size"), 1, SIZES),
        (("items", 0, "metadata", "bounding"), {}, SIZES),
        (("items", 0, "metadata", "bounding"), "truncated", f"inline:0{CUT}"),
        (("items", 1, "metadata", "bounding"), BOUNDING, f"inline:1{CUT}"),
        (("items", 1, "full_ref"), JSON["items"][0]["full_ref"], f"inline:1{CUT}"),
        (("policy", "max_sql_rows"), 1, ROWS),
        (("policy", "max_sql_cols"), 1, COLUMNS),
        ((*TABLE, "rows"), [[0, 41]], ROWS),
        ((*TABLE, "rows"), 5, ROWS),
        ((*TABLE, "rows"), [3], ROWS),
        ((*TABLE, "rows"), [[0]], ROWS),
        ((*TABLE, "rows"), [["0", "5"]], ROWS),
        ((*TABLE, "rows"), [[False, True]], ROWS),
        ((*TABLE, "rows"), [[0, 400], [400, 0]], ROWS),  # none at all, if runs could go backwards
        ((*TABLE, "rows"), [[5, 4]], ROWS),
        ((*TABLE, "columns"), "c0, c1", COLUMNS),
        (("items", 0, "full_ref", "sha256"), "0" * 64, DIGEST),
        (("items", 0, "full_ref", "lake_uri"), artifact_uri("0" * 64), DIGEST),
        (("items", 2, "full_ref", "sha256"), "0" * 63, f"a.md{DIGEST}"),
        (("items", 2, "full_ref"), {}, f"None{DIGEST}"),
        (("summary", "bundle_bounding", "dropped_ref", "sha256"), "0" * 64, DIGEST),
        (("accounting", "decisions", 2, "artifact_sha256"), "0" * 63, f"a.md{DIGEST}"),
        (("accounting", "decisions", 2, "artifact_uri"), artifact_uri("0" * 64), DIGEST),
    ],
    ids=lambda value: dotted(value) if isinstance(value, tuple) else "",
)
def test_what_an_item_says_of_itself_is_held_against_the_rest(
    place: Place, new: Any, said: str
) -> None:
    message = refusal(sealed(changed(JSON, place, new)))
    assert message.startswith("the bundle's parts do not agree: ")
    assert said in message


@pytest.mark.parametrize("name", ["bounding", "full_ref"])
def test_a_cut_item_without_its_record_is_refused(name: str) -> None:
    value = deepcopy(JSON)
    item = value["items"][0]
    del (item if name == "full_ref" else item["metadata"])[name]
    assert f"inline:0{CUT}" in refusal(sealed(value))


def test_tokens_are_counted_where_the_policy_names_a_tokenizer_and_only_there() -> None:
    value = deepcopy(JSON)
    del value["summary"]["tokens"]
    assert "by the policy's tokenizer" in refusal(sealed(value))
    small = SMALL.as_json()
    small["summary"]["tokens"] = JSON["summary"]["tokens"]
    assert "by the policy's tokenizer" in refusal(sealed(small))


def test_the_words_that_there_is_nothing_are_not_held_against_a_limit() -> None:
    count = token_counter("o200k_base")
    policy = EvidencePolicy(tokenizer="o200k_base", max_total_tokens=0)
    found = build_bundle([inline("text")], policy, created_utc=NOW, count_tokens=count).bundle
    assert found.items == []
    assert found.summary.tokens is not None
    assert found.summary.tokens.rendered > 0
    assert EvidenceBundle.parse(found.encode()) == found


@pytest.mark.parametrize(
    ("place", "new"),
    [
        (("accounting", "decisions", 2, "artifact_sha256"), "0" * 64),  # not its item's full_ref
        (("items", 2, "source_ref", "sha256"), "0" * 64),  # not what its id is made of
    ],
    ids=lambda value: dotted(value) if isinstance(value, tuple) else "",
)
def test_what_contradicts_what_it_was_made_of_is_refused(place: Place, new: Any) -> None:
    refusal(sealed(changed(JSON, place, new)))


def test_a_bundle_takes_a_datetime_for_its_time() -> None:
    noon = datetime(2026, 1, 3, 12, 0, tzinfo=UTC)
    made = WHOLE.model_copy(update={"created_utc": noon})
    assert made.created_utc == "2026-01-03T12:00:00.000000Z"
    with pytest.raises(ValidationError, match="does not say its time zone"):
        WHOLE.model_copy(update={"created_utc": noon.replace(tzinfo=None)})

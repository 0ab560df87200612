from itertools import permutations
from typing import Any

import pytest
from pydantic import ValidationError

from evidentia.bundles.policy import TOKENIZERS, EvidencePolicy
from evidentia.bundles.redaction.redactor import BUILT_IN
from evidentia.canonical import MAX_SAFE_INTEGER
from evidentia.frozen import FrozenList

LIMITS = (
    "max_items",
    "max_total_bytes",
    "max_item_bytes",
    "max_sql_rows",
    "max_sql_cols",
    "chunk_overlap",
    "max_item_tokens",
    "max_total_tokens",
)


def refusal(**fields: Any) -> str:
    """Return where a policy is wrong, and why."""
    with pytest.raises(ValidationError) as caught:
        EvidencePolicy.model_validate(fields)
    first = caught.value.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg'].removeprefix('Value error, ')}"


def test_the_defaults_are_those_that_are_documented() -> None:
    assert EvidencePolicy().model_dump() == {
        "max_items": 50,
        "max_total_bytes": 100_000,
        "max_item_bytes": 10_000,
        "max_sql_rows": 100,
        "max_sql_cols": 20,
        "sampling_strategy": "first_last",
        "chunk_size": 5_000,
        "chunk_overlap": 200,
        "enable_redaction": False,
        "redaction_classes": None,
        "redaction_patterns": {},
        "tokenizer": None,
        "max_item_tokens": None,
        "max_total_tokens": None,
    }


@pytest.mark.parametrize("name", LIMITS)
def test_a_limit_is_a_whole_number_of_0_or_more(name: str) -> None:
    said = {"tokenizer": "o200k_base"} if name.endswith("tokens") else {}
    assert getattr(EvidencePolicy(**{name: 0}, **said), name) == 0
    assert refusal(**{name: -1}, **said) == (f"{name}: Input should be greater than or equal to 0")
    assert refusal(**{name: MAX_SAFE_INTEGER + 1}, **said).startswith(
        f"{name}: Input should be less than or equal to"
    )
    for wrong in (True, False, "5", 5.0, 1.5):
        assert refusal(**{name: wrong}, **said) == f"{name}: Input should be a valid integer"
    if not name.endswith("tokens"):
        assert refusal(**{name: None}) == f"{name}: Input should be a valid integer"


def test_a_chunk_has_at_least_one_byte() -> None:
    assert EvidencePolicy(chunk_size=1, chunk_overlap=0).chunk_size == 1
    assert refusal(chunk_size=0) == "chunk_size: Input should be greater than or equal to 1"
    assert refusal(chunk_size=True) == "chunk_size: Input should be a valid integer"


@pytest.mark.parametrize("overlap", [100, 101])
def test_chunks_must_go_on(overlap: int) -> None:
    assert refusal(chunk_size=100, chunk_overlap=overlap) == (
        f": chunks of 100 bytes cannot overlap by {overlap}: "
        "chunk_overlap must be less than chunk_size"
    )
    assert EvidencePolicy(chunk_size=100, chunk_overlap=99).chunk_overlap == 99


@pytest.mark.parametrize("name", ["max_item_tokens", "max_total_tokens"])
def test_token_limits_need_a_tokenizer(name: str) -> None:
    assert refusal(**{name: 100}) == (
        ": max_item_tokens and max_total_tokens need a tokenizer: "
        "cl100k_base, o200k_base, llama3, deepseek_v3"
    )
    for tokenizer in TOKENIZERS:
        assert EvidencePolicy.model_validate({name: 100, "tokenizer": tokenizer})
    assert refusal(tokenizer="gpt9").startswith("tokenizer: Input should be 'cl100k_base', ")


def test_a_strategy_is_one_of_three() -> None:
    assert refusal(sampling_strategy="random") == (
        "sampling_strategy: Input should be 'first_only', 'first_last' or 'stride'"
    )


def test_whether_to_redact_is_yes_or_no() -> None:
    for wrong in (1, "true", None):
        assert refusal(enable_redaction=wrong).startswith("enable_redaction: Input should be a")


def test_an_unknown_field_is_refused() -> None:
    assert refusal(max_rows=3) == "max_rows: Extra inputs are not permitted"


def test_an_unknown_class_of_redaction_is_named_with_those_there_are() -> None:
    message = refusal(redaction_classes=["EMAIL", "SHOE_SIZE"])
    assert message.startswith("redaction_classes: 'SHOE_SIZE' is no class of redaction: use ")
    assert message.endswith(", ".join(BUILT_IN))
    assert refusal(redaction_classes=[3]).startswith("redaction_classes.0: ")


def test_classes_mean_the_same_in_any_order() -> None:
    some = BUILT_IN[:3]
    found = {
        EvidencePolicy(redaction_classes=order).redaction_classes for order in permutations(some)
    }
    assert found == {FrozenList(some)}
    assert EvidencePolicy(redaction_classes=(some[0], some[0])).redaction_classes == [some[0]]
    assert EvidencePolicy(redaction_classes=()).redaction_classes == []


@pytest.mark.parametrize(
    "pattern",
    [r"(a)\1", r"(?=a)b", r"(?<!a)b", "(", "[z-a]", "a{1001}", ""],
)
def test_a_pattern_that_has_no_linear_form_is_refused_when_the_policy_is_made(
    pattern: str,
) -> None:
    message = refusal(redaction_patterns={"CASE": pattern})
    assert "CASE" in message
    assert "\n" not in message


def test_patterns_are_texts_by_their_name() -> None:
    policy = EvidencePolicy(redaction_patterns={"CASE": "case-[0-9]+"})
    assert policy.redaction_patterns == {"CASE": "case-[0-9]+"}
    assert refusal(redaction_patterns={"CASE": 3}) == (
        "redaction_patterns.CASE: Input should be a valid string"
    )
    assert refusal(redaction_patterns=["case"]).startswith("redaction_patterns: ")


def test_a_policy_cannot_be_changed() -> None:
    patterns = {"CASE": "case-[0-9]+"}
    policy = EvidencePolicy(redaction_patterns=patterns)
    with pytest.raises(ValidationError, match="frozen"):
        policy.max_items = 3  # type: ignore[misc]
    with pytest.raises(TypeError):
        policy.redaction_patterns["ALL"] = ".*"
    patterns["ALL"] = ".*"
    assert policy.redaction_patterns == {"CASE": "case-[0-9]+"}
    with pytest.raises(ValidationError, match="greater than or equal to 0"):
        policy.model_copy(update={"max_items": -1})
    assert policy.model_copy(update={"max_items": 1}).max_items == 1


def test_a_policy_comes_back_from_its_json() -> None:
    policy = EvidencePolicy(
        redaction_classes=BUILT_IN[:2], redaction_patterns={"CASE": "x"}, tokenizer="llama3"
    )
    assert EvidencePolicy.model_validate_json(policy.model_dump_json()) == policy

from typing import Any

import pytest

from evidentia.integrations.run import Effect, ToolCall
from evidentia.integrations.wording import ToolWording, tool_record
from evidentia.packs.tools import ToolCallRecord

AT = "2026-11-18T10:00:00Z"
READ = ToolWording(
    intended="retrieve contact {contact_id} read-only", done="retrieved contact {id} read-only"
)


def called(result: Any = None, wording: ToolWording | None = None, **more: Any) -> ToolCallRecord:
    call = {"call_id": "1", "name": "get_contact", "arguments": {"contact_id": "456"}, **more}
    return tool_record(
        ToolCall.model_validate({**call, "result": result}), wording or ToolWording()
    )


@pytest.mark.parametrize(
    "result",
    [
        None,
        "done",
        {"name": "Riyadh Hospital"},
        {"contact_id": "456"},
        {"contact_id": 456},
        '{"contact_id": "456"}',
        "{not json",
        "[1, 2]",
        {"contact_id": ["457"]},
        ["457"],
    ],
)
def test_a_tool_that_obeys_or_says_nothing_is_not_flagged(result: Any) -> None:
    record = called(result)
    assert not record.contradiction_flag
    assert record.actual_action == record.intended_action == 'get_contact(contact_id="456")'
    assert record.verification_status == "unverified"


@pytest.mark.parametrize(
    "arguments",
    [
        {"text": "do not fail, except on errors"},
        {"a": "سلّم الشحنة", "b": [1, None, {"c": True}]},
        {"text": "x\u200by" * 50},
        {"text": "long " * 4_000},
        "free text",
        {},
    ],
)
def test_whatever_the_arguments_are_obedience_is_not_flagged(arguments: Any) -> None:
    assert not called({"ok": True}, arguments=arguments).contradiction_flag


@pytest.mark.parametrize(
    ("result", "effect"),
    [
        ({"contact_id": "457"}, None),
        ('{"contact_id": "457"}', None),
        (None, Effect(arguments={"contact_id": "457"})),
        (None, Effect(arguments={"contact_id": "456", "force": True})),
        (None, Effect(name="delete_contact")),
        (None, Effect(arguments={"contact_id": ["456"]})),
        (None, Effect(action="deleted contact 456")),
        (None, Effect(action="could not say")),
    ],
)
def test_a_tool_whose_record_says_something_else_is_flagged(
    result: Any, effect: Effect | None
) -> None:
    record = called(result, effect=effect)
    assert record.contradiction_flag
    assert record.contradiction_reason


def test_a_difference_that_words_hide_is_flagged_all_the_same() -> None:
    record = called({"title": "The report"}, arguments={"title": "report"})
    assert record.contradiction_flag
    long = {"text": "a" * 5_000}
    assert called({"text": "a" * 4_999 + "b"}, arguments=long).contradiction_flag
    assert called({"dry": False}, arguments={"dry": True}).contradiction_flag
    assert not called({"dry": "true"}, arguments={"dry": True}).contradiction_flag


def test_a_tool_may_say_in_words_what_it_did() -> None:
    record = called(None, effect=Effect(action="retrieved contact 456"))
    assert record.intended_action == "get contact 456"
    assert not record.contradiction_flag


def test_a_tool_may_declare_how_it_words_itself() -> None:
    assert not called({"id": "456"}, READ).contradiction_flag
    assert called({"id": "456"}, READ).actual_action == "retrieved contact 456 read-only"
    assert called({"id": "457"}, READ).contradiction_flag
    assert called({"name": "x"}, READ).contradiction_flag, "what it did is not known"
    assert called(None, ToolWording(intended="retrieve {nothing}")).intended_action.startswith(
        "get_contact("
    )
    assert not called({"contact_id": "9"}, ToolWording(echoes=False)).contradiction_flag
    assert called({}, intended="retrieve contact 456").intended_action == "retrieve contact 456"


def test_a_tool_that_only_reads_and_changed_something_is_flagged() -> None:
    effect = Effect(side_effects=["marked contact 456 as seen"])
    assert not called(None, effect=effect).contradiction_flag
    record = called(None, ToolWording(read_only=True), effect=effect)
    assert record.contradiction_flag
    assert list(record.side_effects) == ["marked contact 456 as seen"]


def test_a_call_that_failed_keeps_its_error() -> None:
    record = called(None, error="timeout", started_at=AT, ended_at="2026-11-18T10:00:01.5Z")
    assert record.outcome == "failed"
    assert record.error == "timeout"
    assert record.contradiction_flag
    assert record.duration_ms == 1_500
    assert called(None, error=" ").error == "no reason was given"

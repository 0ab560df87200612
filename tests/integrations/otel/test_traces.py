"""A trace as a run: what each convention says, in one order, and what is missing is said."""

import json
import random
from dataclasses import replace
from typing import Any

import pytest

import tiers
from evidentia.integrations.otel.otlp_json import parse_json
from evidentia.integrations.otel.spans import Span, SpanEvent
from evidentia.integrations.otel.traces import addendum_of, merged, run_of, step_of
from evidentia.integrations.run import Loss, ModelCall, Run, ToolCall
from tracing import (
    ANSWER,
    PASSAGE,
    WRONG,
    Made,
    genai_trace,
    messages,
    openinference_trace,
    request,
    trace_id_of,
)

pytestmark = pytest.mark.sqlite_suffices
QUESTION = "How much leave is there?"


def spans_of(made: list[Made]) -> list[Span]:
    return list(parse_json(request(made)).spans)


def run(*made: Made) -> Run:
    return run_of(spans_of(list(made)))


def alone(attributes: dict[str, Any], **more: Any) -> Run:
    return run(Made(trace_id_of(9), "00000000000000aa", "span", attributes=attributes, **more))


def losses(found: Run) -> dict[str, tuple[str, int]]:
    return {one.what: (one.why, one.count) for one in found.losses}


def test_a_trace_of_the_genai_conventions_is_a_run() -> None:
    found = run(*genai_trace(4))
    assert found.name == "support agent"
    assert found.session == "conversation-4"
    assert found.trace_id == trace_id_of(4)
    assert found.query == QUESTION
    assert found.answer == ANSWER
    assert found.error is None
    (retrieval,) = found.retrievals
    assert (retrieval.name, retrieval.query) == ("handbook", QUESTION)
    assert retrieval.contexts == [{"text": PASSAGE, "id": "kb-4", "metadata": {"score": 0.9}}]
    good, bad = found.tool_calls
    assert (good.call_id, good.name, good.arguments) == (
        "call-4-1",
        "get_contact",
        {"contact_id": 4},
    )
    assert (good.result, good.error) == ({"name": "Ann", "contact_id": 4}, None)
    assert (bad.result, bad.error) == (None, "the printer did not answer")
    (model,) = found.model_calls
    assert (model.provider, model.model) == ("openai", "gpt-x")
    assert model.messages == [
        {"role": "user", "content": PASSAGE},
        {"role": "user", "content": QUESTION},
    ]
    assert model.instructions == "Answer from the passages."
    assert model.response == {"role": "assistant", "content": ANSWER}
    assert model.request == {"temperature": 0.5}
    assert model.usage == {"input_tokens": 120, "output_tokens": 12}
    assert (found.started_at, model.started_at) == (
        "2026-11-18T11:06:44.000000Z",
        "2026-11-18T11:06:44.080000Z",
    )
    assert not found.losses


def test_a_trace_of_openinference_is_the_same_run_in_its_words() -> None:
    found = run(*openinference_trace(4))
    other = run(*genai_trace(4))
    assert (found.name, found.session, found.query, found.answer) == (
        *(other.name, other.session, other.query, other.answer),
    )
    assert found.retrievals[0].contexts == [
        {"text": PASSAGE, "id": "kb-4", "metadata": {"page": 3, "score": 0.9}}
    ]
    assert found.tool_calls[0].arguments == other.tool_calls[0].arguments
    assert found.tool_calls[0].result == other.tool_calls[0].result
    assert found.tool_calls[1].error == "the printer did not answer"
    assert found.tool_calls[1].call_id == openinference_trace(4)[3].span_id
    (model,) = found.model_calls
    assert model.messages[0] == {"role": "system", "content": "Answer from the passages."}
    assert model.response == {"role": "assistant", "content": ANSWER}
    assert model.request == {"temperature": 0.5}
    assert not found.losses


def test_order_and_repetition_of_spans_change_nothing() -> None:
    chance = random.Random(5)
    for number in range(tiers.count(200, short=20)):
        spans = spans_of([*genai_trace(number), *openinference_trace(number)[1:2]])
        doubled = spans * chance.randint(1, 3)
        chance.shuffle(doubled)
        assert run_of(doubled) == run_of(spans)


def test_spans_that_begin_together_are_ordered_by_their_ids() -> None:
    made = [
        Made(
            trace_id_of(1),
            f"{place:016x}",
            "tool",
            attributes={"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": f"t{place}"},
        )
        for place in (3, 1, 2)
    ]
    assert [call.name for call in run(*made).tool_calls] == ["t1", "t2", "t3"]


def test_one_id_with_two_contents_is_both_and_said() -> None:
    made = genai_trace()
    other = replace(made[2], attributes={**made[2].attributes, "gen_ai.tool.call.result": '"Bob"'})
    third = replace(made[2], attributes={**made[2].attributes, "gen_ai.tool.call.result": '"Cy"'})
    found = run(*made, other, third)
    calls = [call for call in found.tool_calls if call.name == "get_contact"]
    assert len({call.call_id for call in calls}) == 3
    assert '"Bob"' in [call.result for call in calls]
    assert losses(found)[f"which content span {made[2].span_id} has"] == ("conflicting", 1)


def test_half_a_trace_is_recorded_as_half() -> None:
    made = genai_trace()
    found = run(*made[2:4])
    assert len(found.tool_calls) == 2
    assert found.answer is None
    assert losses(found) == {"the root span": ("unfinished", 1), "parent spans": ("unfinished", 1)}
    below = replace(made[3], parent="00000000000000ff")
    assert losses(run(*made[:3], below)) == {"parent spans": ("unfinished", 1)}


def test_content_that_was_not_captured_is_said_to_be_missing() -> None:
    kinds = {"openinference.span.kind": "LLM"}
    for attributes, missing in (
        (
            {"gen_ai.operation.name": "chat"},
            {"the messages of a request to a model", "the response of a model"},
        ),
        (kinds, {"the messages of a request to a model", "the response of a model"}),
        (
            {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t"},
            {"the arguments of a call of t", "the result of a call of t"},
        ),
        (
            {"openinference.span.kind": "TOOL", "tool.name": "t"},
            {"the arguments of a call of t", "the result of a call of t"},
        ),
        ({"gen_ai.operation.name": "retrieval"}, {"the text of what was retrieved"}),
        ({"openinference.span.kind": "RETRIEVER"}, {"the text of what was retrieved"}),
        (
            {"gen_ai.retrieval.documents": '[{"id": "a"}, {"id": "b", "content": "x"}]'},
            {"the text of what was retrieved"},
        ),
    ):
        found = alone(attributes)
        assert set(losses(found)) == missing, attributes
        assert {why for why, _ in losses(found).values()} == {"not_seen"}
        assert len(found.events) == 1


def test_what_a_program_left_out_and_what_was_redacted_is_said() -> None:
    span = spans_of(genai_trace()[:1])[0]
    hit = {"field": "name", "kind": "EMAIL", "placeholder": "[EMAIL_1]", "digest": "0"}
    found = run_of([replace(span, dropped=3, redactions=(hit, hit))])
    assert losses(found) == {
        "attributes, events or links of spans": ("too_many", 3),
        "values of kind EMAIL": ("redacted", 2),
    }


def test_older_and_other_ways_to_write_the_same_are_read() -> None:
    flat = {
        "gen_ai.system": "anthropic",
        "gen_ai.request.model": "c",
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": QUESTION,
        "gen_ai.prompt.10.role": "user",
        "gen_ai.prompt.10.content": "last",
        "gen_ai.prompt.x.role": "no number",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.tool_calls.0.id": "c1",
        "gen_ai.completion.0.tool_calls.0.name": "find",
        "gen_ai.completion.0.tool_calls.0.arguments": '{"a": 1}',
    }
    (model,) = alone(flat).model_calls
    assert model.provider == "anthropic"
    assert [one["content"] for one in model.messages] == [QUESTION, "last"]
    assert model.response["tool_calls"] == [
        {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"a": 1}'}}
    ]
    details = (
        "gen_ai.client.inference.operation.details",
        {
            "gen_ai.input.messages": messages(("user", QUESTION)),
            "gen_ai.output.messages": messages(("assistant", ANSWER)),
            "gen_ai.system_instructions": "Be brief.",
        },
    )
    said = {"gen_ai.operation.name": "chat", "gen_ai.response.model": "m-2"}
    found = alone(said, events=(details, ("another", {})))
    assert found.answer == ANSWER
    assert found.model_calls[0].instructions == "Be brief."
    assert found.model_calls[0].model == "m-2"
    assert alone({"gen_ai.operation.name": "embeddings"}).events == []
    assert alone({"http.method": "GET"}).events == []


def test_messages_in_parts_become_messages_of_a_chat() -> None:
    said = [
        {
            "role": "user",
            "parts": [{"type": "text", "content": "a"}, {"type": "text", "content": "b"}],
        },
        {
            "role": "assistant",
            "finish_reason": "tool_call",
            "parts": [{"type": "tool_call", "id": "c1", "name": "find", "arguments": {"q": 1}}],
        },
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "result": [1]}]},
        {
            "role": "user",
            "parts": [
                {"type": "text", "content": "see"},
                {"type": "uri", "uri": "https://example.com/a.png"},
            ],
        },
        {"role": "user", "content": "plain"},
        "no message",
    ]
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(said)}
    (model,) = alone(attributes).model_calls
    called = {"name": "find", "arguments": '{"q":1}'}
    assert model.messages == [
        {"role": "user", "content": "a\nb"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c1", "type": "function", "function": called}],
            "finish_reason": "tool_call",
        },
        {"role": "tool", "tool_call_id": "c1", "content": "[1]"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "see"},
                {"type": "uri", "uri": "https://example.com/a.png"},
            ],
        },
        {"role": "user", "content": "plain"},
    ]
    structured = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": said[:1]}
    assert alone(structured).model_calls[0].messages == model.messages[:1]


def test_questions_and_answers_are_found_wherever_programs_put_them() -> None:
    kind = {"openinference.span.kind": "CHAIN"}
    for given, output, question, answer in (
        ("q", "a", "q", "a"),
        ('{"question": "q"}', '{"answer": "a"}', "q", "a"),
        ('{"messages": [{"role": "user", "content": "q"}]}', "a", "q", "a"),
        ("q", '[{"role": "assistant", "content": [{"type": "text", "text": "a"}]}]', "q", "a"),
        ('{"x": 1}', "5", "", "5"),
        (7, True, "", None),
        ("[broken", "{broken", "[broken", "{broken"),
    ):
        found = alone({**kind, "input.value": given, "output.value": output})
        assert (found.query, found.answer) == (question, answer), (given, output)
    failed = alone({**kind, "output.value": "half"}, error="it broke")
    assert (failed.answer, failed.error) == (None, "it broke")


def test_why_something_failed_is_taken_from_where_it_is_said() -> None:
    exception = ("exception", {"exception.type": "E", "exception.message": "m"})
    for made, error in (
        ({"error": "said"}, "said"),
        ({"error": " ", "events": (exception,)}, " "),
    ):
        assert alone({}, **made).error == error
    span = spans_of(genai_trace()[3:4])[0]
    silent = replace(span, message="", parent_id=None)
    assert run_of([silent]).error == "TimeoutError"
    assert run_of([replace(silent, attributes={})]).error == (
        "it failed, and its span does not say why"
    )
    other_event = replace(silent, attributes={}, events=(SpanEvent("retry", 0),))
    assert run_of([other_event]).error == "it failed, and its span does not say why"
    with_event = spans_of([replace(openinference_trace()[3], parent=None)])[0]
    assert run_of([replace(with_event, message="")]).error == "TimeoutError: late"


def test_openinference_has_more_kinds_and_ways() -> None:
    kind = "openinference.span.kind"
    reranked = alone(
        {
            kind: "RERANKER",
            "reranker.query": "q",
            "reranker.output_documents.0.document.content": "text",
            "reranker.output_documents.1.document.content": "more",
        }
    )
    assert [one["text"] for one in reranked.retrievals[0].contexts] == ["text", "more"]
    listed = alone({kind: "RETRIEVER", "retrieval.documents": '[{"content": "text"}]'})
    assert listed.retrievals[0].contexts == [{"text": "text"}]
    written = alone(
        {
            kind: "LLM",
            "input.value": '{"messages": [{"role": "user", "content": "q"}]}',
            "output.value": "a",
            "llm.tools.0.tool.json_schema": '{"name": "find"}',
        }
    )
    assert written.model_calls[0].messages == [{"role": "user", "content": "q"}]
    assert written.model_calls[0].response == {"role": "assistant", "content": "a"}
    assert written.model_calls[0].tools == [{"name": "find"}]
    parts = alone(
        {
            kind: "LLM",
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.contents.0.message_content.type": "text",
            "llm.input_messages.0.message.contents.0.message_content.text": "see",
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "find",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": "{}",
        }
    ).model_calls[0]
    assert parts.messages == [{"role": "user", "content": [{"type": "text", "text": "see"}]}]
    assert parts.response["tool_calls"][0]["function"]["name"] == "find"
    both = alone({kind: "CHAIN", **genai_trace()[4].attributes})
    assert len(both.model_calls) == 1


def test_what_a_program_says_of_a_decision_and_an_effect_is_taken() -> None:
    made = genai_trace()
    decided = {
        "evidentia.check": False,
        "evidentia.decision.decision": "Grant the leave",
        "evidentia.decision.approval_class": "A2",
        "evidentia.decision.confidence": 0.9,
        "evidentia.decision.unheard": 1,
    }
    effect = {
        "evidentia.tool.intended": "read contact 0",
        "evidentia.effect.action": "deleted contact 0",
        "evidentia.effect.arguments": '{"contact_id": 0}',
        "evidentia.effect.side_effects": "the contact is gone",
    }
    found = run(
        replace(made[0], attributes={**made[0].attributes, **decided}),
        replace(made[2], attributes={**made[2].attributes, **effect}),
    )
    assert found.check is False
    assert found.decision is not None
    assert found.decision.approval_class == "A2"
    (call,) = found.tool_calls
    assert call.intended == "read contact 0"
    assert call.effect is not None
    assert call.effect.action == "deleted contact 0"
    assert call.effect.arguments == {"contact_id": 0}
    assert call.effect.side_effects == ["the contact is gone"]
    wrong = alone({**decided, "evidentia.decision.approval_class": "A9"})
    assert wrong.decision is None
    assert losses(wrong) == {"what a span says": ("failed", 1)}
    bad_effect = replace(
        made[2], attributes={**made[2].attributes, "evidentia.effect.arguments": "x"}
    )
    assert losses(run(bad_effect))["what a span says"] == ("failed", 1)
    assert len(run(bad_effect).tool_calls) == 1


def test_values_that_cannot_be_kept_as_json_are_kept_as_text() -> None:
    deep = "[" * 60 + "]" * 60
    base = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t"}
    for given, kept in (
        (deep, deep),
        ('{"n": 18446744073709551615}', {"n": "18446744073709551615"}),
        ('["a\\u0000b", true, 0.5, null]', ["a\ufffdb", True, 0.5, None]),
        ("{broken", "{broken"),
        ("plain", "plain"),
    ):
        attributes = {**base, "gen_ai.tool.call.arguments": given, "gen_ai.tool.call.result": given}
        found = alone(attributes)
        assert found.tool_calls[0].arguments == kept
        assert found.tool_calls[0].result == kept
        assert found.run_id


def test_late_spans_are_an_addendum_and_those_that_come_again_are_nothing() -> None:
    spans, answered = spans_of(genai_trace()), spans_of(openinference_trace())
    early, late = spans[:3], spans[3:]
    whole = run_of(early)
    addendum = addendum_of(whole.run_id, early, [*late, *early])
    assert addendum is not None
    assert (addendum.run_id, addendum.trace_id) == (whole.run_id, whole.trace_id)
    assert [type(one) for one in addendum.events] == [ToolCall, ModelCall]
    assert addendum.decision_id is None
    assert addendum_of(whole.run_id, spans, spans) is None
    plain = replace(spans[0], span_id="00000000000000ee", attributes={}, parent_id=spans[0].span_id)
    assert addendum_of(whole.run_id, spans, [plain]) is None
    other = addendum_of(whole.run_id, spans, [replace(spans[2], message="another")])
    assert other is not None
    assert [one.why for one in other.losses] == ["conflicting"]
    for early, late in ((spans[:4], spans[4:]), (answered[1:], answered[:1])):
        unchecked = addendum_of(whole.run_id, early, late)
        assert unchecked is not None
        assert unchecked.losses[0].what == "the check of an answer that came late"
    assert addendum_of(whole.run_id, spans[1:], spans[:1]) is None


def test_an_addendum_belongs_to_the_decision_of_its_run() -> None:
    made = genai_trace()
    decided = {
        "evidentia.decision.decision": "Grant the leave",
        "evidentia.decision.approval_class": "A2",
        "evidentia.decision.confidence": 0.9,
    }
    root = replace(made[0], attributes={**made[0].attributes, **decided})
    spans = spans_of([root, *made[1:]])
    whole = run_of(spans[:4])
    addendum = addendum_of(whole.run_id, spans[:4], spans[4:])
    assert addendum is not None
    assert addendum.decision_id == whole.decision_id


def test_an_answer_is_that_of_the_last_model_that_gave_one() -> None:
    made = genai_trace(answer=WRONG)
    asking = replace(
        made[4],
        span_id="00000000000000bb",
        start=made[4].start + 1,
        attributes={
            **made[4].attributes,
            "gen_ai.output.messages": json.dumps(
                [{"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "t"}]}]
            ),
        },
    )
    assert run(*made, asking).answer == WRONG


def test_losses_of_the_same_things_are_one() -> None:
    one = Loss(what="a", why="failed", count=2)
    found = merged([one, Loss(what="b", why="failed"), Loss(what="a", why="failed")])
    assert [(loss.what, loss.count) for loss in found] == [("a", 3), ("b", 1)]


def test_a_step_that_cannot_be_read_is_said() -> None:
    span = spans_of(genai_trace()[1:2])[0]
    deep: Any = "deep"
    for _ in range(101):
        deep = [deep]
    said = {**span.attributes, "gen_ai.retrieval.documents": [{"content": "x", "more": deep}]}
    assert step_of(replace(span, attributes=said)).losses[0].why == "failed"


def test_a_span_without_times_has_none() -> None:
    span = replace(spans_of(genai_trace()[2:3])[0], start=0, end=0)
    found = run_of([span])
    assert (found.started_at, found.ended_at, found.tool_calls[0].started_at) == (None, None, None)


def test_an_effect_may_list_what_it_changed_alone() -> None:
    made = genai_trace()[2]
    said = {**made.attributes, "evidentia.effect.side_effects": ["one row", "one mail"]}
    (call,) = run(replace(made, attributes=said)).tool_calls
    assert call.effect is not None
    assert call.effect.side_effects == ["one row", "one mail"]


def test_a_list_where_objects_are_expected_may_be_one_object_or_none() -> None:
    said = {"gen_ai.retrieval.query.text": "q"}
    for given, texts in (
        ('{"content": "x"}', ["x"]),
        ("7", []),
        (["y", '{"content": "z"}'], ["z"]),
    ):
        found = alone({**said, "gen_ai.retrieval.documents": given})
        assert [one["text"] for one in found.retrievals[0].contexts] == texts

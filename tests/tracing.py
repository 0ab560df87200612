"""Traces of a made-up support agent, as exporters of OpenTelemetry send them."""

import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

BEGAN = 1_795_000_000_000_000_000
"""Nanoseconds: 2026-11-18."""
MILLISECOND = 1_000_000
PASSAGE = "Permanent employees receive 15 days of annual leave. Leave is requested in writing."
ANSWER = "Permanent employees receive 15 days of annual leave."
WRONG = "Permanent employees receive 25 days of annual leave."


def trace_id_of(number: int) -> str:
    return f"{number + 1:032x}"


@dataclass(frozen=True)
class Made:
    """A span as JSON would have it, before it is written in either form."""

    trace_id: str
    span_id: str
    name: str
    parent: str | None = None
    start: int = BEGAN
    milliseconds: int = 10
    attributes: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    events: tuple[tuple[str, dict[str, Any]], ...] = ()

    def as_otlp(self) -> dict[str, Any]:
        """Return the span as OTLP's JSON has it."""
        said: dict[str, Any] = {
            "traceId": self.trace_id,
            "spanId": self.span_id,
            "name": self.name,
            "kind": 1,
            "startTimeUnixNano": str(self.start),
            "endTimeUnixNano": str(self.start + self.milliseconds * MILLISECOND),
            "attributes": pairs(self.attributes),
            "events": [
                {"name": name, "timeUnixNano": str(self.start), "attributes": pairs(attributes)}
                for name, attributes in self.events
            ],
            "status": {"code": 2, "message": self.error} if self.error else {},
        }
        if self.parent:
            said["parentSpanId"] = self.parent
        return said


def pairs(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": name, "value": value_of(one)} for name, one in attributes.items()]


def value_of(value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case str():
            return {"stringValue": value}
        case list():
            return {"arrayValue": {"values": [value_of(one) for one in value]}}
        case _:
            return {"kvlistValue": {"values": pairs(value)}}


def request(spans: Iterable[Made], service: str = "support") -> bytes:
    """Return spans as an `ExportTraceServiceRequest` in JSON."""
    said = {
        "resourceSpans": [
            {
                "resource": {"attributes": pairs({"service.name": service})},
                "scopeSpans": [
                    {"scope": {"name": "tests"}, "spans": [one.as_otlp() for one in spans]}
                ],
            }
        ]
    }
    return json.dumps(said).encode()


def messages(*said: tuple[str, str]) -> str:
    return json.dumps(
        [{"role": role, "parts": [{"type": "text", "content": text}]} for role, text in said]
    )


def genai_trace(
    number: int = 0, *, answer: str = ANSWER, question: str = "How much leave is there?"
) -> list[Made]:
    """Return a trace by OpenTelemetry's conventions: an agent, a retriever, two tools, a model."""
    trace_id = trace_id_of(number)
    start = BEGAN + number * 1_000 * MILLISECOND

    def span(place: int, name: str, attributes: dict[str, Any], **more: Any) -> Made:
        span_id = f"{number:012x}{place + 1:04x}"
        return Made(
            trace_id,
            span_id,
            name,
            parent=None if place == 0 else f"{number:012x}0001",
            start=start + place * 20 * MILLISECOND,
            milliseconds=200 if place == 0 else 10,
            attributes=attributes,
            **more,
        )

    return [
        span(
            0,
            "invoke_agent support",
            {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": "support agent",
                "gen_ai.conversation.id": f"conversation-{number}",
            },
        ),
        span(
            1,
            "retrieval handbook",
            {
                "gen_ai.operation.name": "retrieval",
                "gen_ai.data_source.id": "handbook",
                "gen_ai.retrieval.query.text": question,
                "gen_ai.retrieval.documents": json.dumps(
                    [{"id": f"kb-{number}", "score": 0.9, "content": PASSAGE}]
                ),
            },
        ),
        span(
            2,
            "execute_tool get_contact",
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "get_contact",
                "gen_ai.tool.call.id": f"call-{number}-1",
                "gen_ai.tool.call.arguments": json.dumps({"contact_id": number}),
                "gen_ai.tool.call.result": json.dumps({"name": "Ann", "contact_id": number}),
            },
        ),
        span(
            3,
            "execute_tool send_letter",
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "send_letter",
                "gen_ai.tool.call.id": f"call-{number}-2",
                "gen_ai.tool.call.arguments": json.dumps({"to": "Ann"}),
                "error.type": "TimeoutError",
            },
            error="the printer did not answer",
        ),
        span(
            4,
            "chat gpt-x",
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": "openai",
                "gen_ai.request.model": "gpt-x",
                "gen_ai.request.temperature": 0.5,
                "gen_ai.usage.input_tokens": 120,
                "gen_ai.usage.output_tokens": 12,
                "gen_ai.system_instructions": json.dumps(
                    [{"type": "text", "content": "Answer from the passages."}]
                ),
                "gen_ai.input.messages": messages(("user", PASSAGE), ("user", question)),
                "gen_ai.output.messages": messages(("assistant", answer)),
            },
        ),
    ]


def openinference_trace(number: int = 0, *, answer: str = ANSWER) -> list[Made]:
    """Return the same by the conventions of OpenInference."""
    question = "How much leave is there?"
    agent, retriever, good, bad, model = genai_trace(number)
    kind = "openinference.span.kind"
    return [
        replace(
            agent,
            attributes={
                kind: "AGENT",
                "agent.name": "support agent",
                "session.id": f"conversation-{number}",
                "input.value": question,
                "output.value": answer,
            },
        ),
        replace(
            retriever,
            name="handbook",
            attributes={
                kind: "RETRIEVER",
                "input.value": question,
                "retrieval.documents.0.document.id": f"kb-{number}",
                "retrieval.documents.0.document.content": PASSAGE,
                "retrieval.documents.0.document.score": 0.9,
                "retrieval.documents.0.document.metadata": json.dumps({"page": 3}),
            },
        ),
        replace(
            good,
            attributes={
                kind: "TOOL",
                "tool.name": "get_contact",
                "tool_call.id": f"call-{number}-1",
                "input.value": json.dumps({"contact_id": number}),
                "output.value": json.dumps({"name": "Ann", "contact_id": number}),
            },
        ),
        replace(
            bad,
            attributes={kind: "TOOL", "tool.name": "send_letter", "input.value": '{"to": "Ann"}'},
            events=(
                ("exception", {"exception.type": "TimeoutError", "exception.message": "late"}),
            ),
            error="the printer did not answer",
        ),
        replace(
            model,
            attributes={
                kind: "LLM",
                "llm.model_name": "gpt-x",
                "llm.provider": "openai",
                "llm.invocation_parameters": json.dumps({"temperature": 0.5}),
                "llm.token_count.prompt": 120,
                "llm.input_messages.0.message.role": "system",
                "llm.input_messages.0.message.content": "Answer from the passages.",
                "llm.input_messages.1.message.role": "user",
                "llm.input_messages.1.message.content": question,
                "llm.output_messages.0.message.role": "assistant",
                "llm.output_messages.0.message.content": answer,
            },
        ),
    ]


def shuffled(spans: Sequence[Made], seed: int, *, times: int = 2) -> list[Made]:
    """Return spans in another order, each so many times."""
    found = list(spans) * times
    random.Random(seed).shuffle(found)
    return found

"""The conventions of OpenInference, as Phoenix and others know them.

https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from evidentia.integrations.otel.attributes import below, json_of, numbered, objects, text, text_of
from evidentia.integrations.otel.genai import content_in, context_of
from evidentia.integrations.otel.messages import (
    called,
    content_of,
    last_said,
    plain_answer,
    plain_question,
)
from evidentia.integrations.otel.spans import Span
from evidentia.integrations.otel.steps import Step, error_of, named, not_sent, times
from evidentia.integrations.run import ModelCall, Retrieval, ToolCall

KIND: Final = "openinference.span.kind"


def openinference_step(span: Span) -> Step | None:
    """Return what a span says by these conventions; None if it does not name its kind."""
    kind = text(span.attributes, KIND).upper()
    if not kind:
        return None
    return _KINDS.get(kind, _around)(span, span.attributes)


def _around(span: Span, said: Mapping[str, Any]) -> Step:
    """Return what a chain or an agent says: no event, but what it was asked and answered."""
    return Step(
        name=text(said, "agent.name", "graph.node.name") or span.name,
        query=plain_question(said.get("input.value")),
        answer="" if span.failed else plain_answer(said.get("output.value")),
        session=text(said, "session.id"),
    )


def _model(span: Span, said: Mapping[str, Any]) -> Step:
    inputs, outputs = _messages(said, "input"), _messages(said, "output")
    if not inputs and said.get("input.value") is not None:
        inputs = _written(said["input.value"], "user")
    if not outputs and said.get("output.value") is not None:
        outputs = _written(said["output.value"], "assistant")
    request = json_of(said.get("llm.invocation_parameters"))
    event = ModelCall(
        call_id=span.span_id,
        provider=named(text(said, "llm.provider", "llm.system")),
        model=named(text(said, "llm.model_name")),
        messages=inputs,
        tools=[
            json_of(one.get("json_schema", one.get("tool.json_schema")))
            for one in numbered(said, "llm.tools")
        ],
        request=request if isinstance(request, Mapping) else {},
        response=outputs[0] if len(outputs) == 1 else outputs or None,
        usage=below(said, "llm.token_count."),
        error=error_of(span),
        **times(span),
    )
    lost = [] if inputs else [not_sent("the messages of a request to a model", span)]
    if not outputs and not span.failed:
        lost.append(not_sent("the response of a model", span))
    return Step(
        event,
        tuple(lost),
        query=last_said(inputs, "user"),
        answer=content_of(outputs[-1]) if outputs and not outputs[-1].get("tool_calls") else "",
        session=text(said, "session.id"),
    )


def _messages(said: Mapping[str, Any], which: str) -> list[dict[str, Any]]:
    return [
        message
        for one in numbered(said, f"llm.{which}_messages")
        if (message := _message(below(one, "message.")))
    ]


def _message(said: Mapping[str, Any]) -> dict[str, Any]:
    message = {name: value for name, value in said.items() if "." not in name}
    parts = [_part(below(one, "message_content.")) for one in numbered(said, "contents")]
    if parts:
        message["content"] = parts
    calls = [
        called(
            text_of(call.get("tool_call.id")),
            text_of(call.get("tool_call.function.name")),
            call.get("tool_call.function.arguments"),
        )
        for call in numbered(said, "tool_calls")
    ]
    return {**message, "tool_calls": calls} if calls else message


def _part(said: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": text(said, "type") or "text", **{k: v for k, v in said.items() if k != "type"}}


def _written(value: Any, role: str) -> list[dict[str, Any]]:
    """Return messages that stand in what went in or came out, however that is written."""
    found = json_of(value)
    if isinstance(found, Mapping) and found.get("messages"):
        return [dict(one) for one in objects(found["messages"])]
    return [{"role": role, "content": text_of(value)}]


def _tool(span: Span, said: Mapping[str, Any]) -> Step:
    given = said.get("input.value", said.get("tool.parameters"))
    result = said.get("output.value")
    event = ToolCall(
        call_id=named(text(said, "tool_call.id", "tool.id"), span.span_id),
        name=named(text(said, "tool.name"), span.name or "tool"),
        arguments={} if given is None else json_of(given),
        result=json_of(result),
        error=error_of(span),
        **times(span),
    )
    lost = [] if given is not None else [not_sent(f"the arguments of a call of {event.name}", span)]
    if result is None and not span.failed:
        lost.append(not_sent(f"the result of a call of {event.name}", span))
    return Step(event, tuple(lost), session=text(said, "session.id"))


def _retriever(span: Span, said: Mapping[str, Any]) -> Step:
    return _found(span, said, "retrieval.documents", plain_question(said.get("input.value")))


def _reranker(span: Span, said: Mapping[str, Any]) -> Step:
    return _found(span, said, "reranker.output_documents", text(said, "reranker.query"))


def _found(span: Span, said: Mapping[str, Any], where: str, query: str) -> Step:
    documents = [below(one, "document.") for one in numbered(said, where)]
    documents = documents or [dict(one) for one in objects(said.get(where))]
    event = Retrieval(
        call_id=span.span_id,
        name=named(span.name, "retriever"),
        query=query,
        contexts=[context_of(one) for one in documents if content_in(one)],
        error=error_of(span),
        **times(span),
    )
    without = sum(not content_in(one) for one in documents)
    lost = (
        (not_sent("the text of what was retrieved", span),)
        if without or (not documents and not span.failed)
        else ()
    )
    return Step(event, lost, session=text(said, "session.id"))


_KINDS: Final[Mapping[str, Callable[[Span, Mapping[str, Any]], Step]]] = {
    "LLM": _model,
    "RERANKER": _reranker,
    "RETRIEVER": _retriever,
    "TOOL": _tool,
}

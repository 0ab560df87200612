"""The semantic conventions of OpenTelemetry for generative AI, as of late 2026 and before.

https://opentelemetry.io/docs/specs/semconv/gen-ai/
"""

from collections.abc import Mapping
from typing import Any, Final

from evidentia.integrations.otel.attributes import below, json_of, numbered, objects, text, text_of
from evidentia.integrations.otel.messages import called, content_of, last_said, of_parts
from evidentia.integrations.otel.spans import Span
from evidentia.integrations.otel.steps import Step, error_of, named, not_sent, plain, times
from evidentia.integrations.run import ModelCall, Retrieval, ToolCall

_DETAILS: Final = frozenset(
    {
        "gen_ai.client.inference.operation.details",
        "gen_ai.content.prompt",
        "gen_ai.content.completion",
    }
)
"""Events that carry what a span leaves out."""
_MODEL: Final = frozenset({"chat", "text_completion", "generate_content", "completion"})
_AGENT: Final = frozenset({"invoke_agent", "create_agent", "invoke_workflow"})
_TOOL: Final = "execute_tool"
_RETRIEVAL: Final = "retrieval"
_REQUEST: Final = "gen_ai.request."
_USAGE: Final = "gen_ai.usage."
_NOT_REQUEST: Final = frozenset({"model"})
_RESULT: Final = "gen_ai.tool.call.result"
_OLDER_RESULT: Final = "gen_ai.tool.message"


def genai_step(span: Span) -> Step | None:
    """Return what a span says by these conventions; None if it says nothing by them."""
    said = _with_details(span)
    operation = text(said, "gen_ai.operation.name")
    known: dict[str, Any] = {
        "name": text(said, "gen_ai.agent.name", "gen_ai.workflow.name"),
        "session": text(said, "gen_ai.conversation.id"),
    }
    if operation == _TOOL or (not operation and text(said, "gen_ai.tool.name")):
        return _tool(span, said, known["session"])
    if operation == _RETRIEVAL or any(name.startswith("gen_ai.retrieval.") for name in said):
        return _retrieval(span, said, known["session"])
    inputs, outputs = _inputs(said), _outputs(said)
    if operation in _AGENT:
        asked, answered = last_said(inputs, "user"), last_said(outputs, "assistant")
        return Step(query=asked, answer=answered, **known)
    if operation in _MODEL or (not operation and (text(said, "gen_ai.request.model") or inputs)):
        return _model(span, said, inputs, outputs, known)
    if any(name.startswith("gen_ai.") for name in said):
        return Step(**known)
    return None


def _with_details(span: Span) -> Mapping[str, Any]:
    details = [one.attributes for one in span.events if one.name in _DETAILS]
    if not details:
        return span.attributes
    said: dict[str, Any] = {}
    for one in (*details, span.attributes):
        said |= one
    return said


def _inputs(said: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = of_parts(said.get("gen_ai.input.messages", said.get("gen_ai.prompt")))
    return found or [_flat(one) for one in numbered(said, "gen_ai.prompt")]


def _outputs(said: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = of_parts(said.get("gen_ai.output.messages", said.get("gen_ai.completion")))
    return found or [_flat(one) for one in numbered(said, "gen_ai.completion")]


def _flat(one: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message that was flattened into attributes, as before there were messages."""
    message = {name: value for name, value in one.items() if "." not in name}
    calls = [
        called(text_of(call.get("id")), text_of(call.get("name")), call.get("arguments"))
        for call in numbered(one, "tool_calls")
    ]
    return {**message, "tool_calls": calls} if calls else message


def _model(
    span: Span,
    said: Mapping[str, Any],
    inputs: list[dict[str, Any]],
    outputs: list[dict[str, Any]],
    known: Mapping[str, Any],
) -> Step:
    instructions = json_of(said.get("gen_ai.system_instructions"))
    if isinstance(instructions, list):
        instructions = "\n".join(text_of(one.get("content")) for one in objects(instructions))
    request = below(said, _REQUEST)
    request |= plain(said, {"gen_ai.response.model": "response_model"})
    event = ModelCall(
        call_id=span.span_id,
        provider=named(text(said, "gen_ai.provider.name", "gen_ai.system")),
        model=named(text(said, "gen_ai.request.model", "gen_ai.response.model")),
        messages=inputs,
        instructions=instructions,
        tools=objects(said.get("gen_ai.tool.definitions")),
        request={name: one for name, one in request.items() if name not in _NOT_REQUEST},
        response=outputs[0] if len(outputs) == 1 else outputs or None,
        usage=below(said, _USAGE),
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
        **known,
    )


def _tool(span: Span, said: Mapping[str, Any], session: str) -> Step:
    has_arguments = said.get("gen_ai.tool.call.arguments") is not None
    result = said.get(_RESULT, said.get(_OLDER_RESULT))
    event = ToolCall(
        call_id=named(text(said, "gen_ai.tool.call.id"), span.span_id),
        name=named(text(said, "gen_ai.tool.name"), span.name or "tool"),
        arguments=json_of(said.get("gen_ai.tool.call.arguments")) if has_arguments else {},
        result=json_of(result),
        error=error_of(span),
        **times(span),
    )
    lost = [] if has_arguments else [not_sent(f"the arguments of a call of {event.name}", span)]
    if result is None and not span.failed:
        lost.append(not_sent(f"the result of a call of {event.name}", span))
    return Step(event, tuple(lost), session=session)


def _retrieval(span: Span, said: Mapping[str, Any], session: str) -> Step:
    documents = objects(said.get("gen_ai.retrieval.documents"))
    query = text(said, "gen_ai.retrieval.query.text", "gen_ai.retrieval.query")
    event = Retrieval(
        call_id=span.span_id,
        name=named(text(said, "gen_ai.data_source.id", "gen_ai.retrieval.name"), "retriever"),
        query=query,
        contexts=[context_of(one) for one in documents if content_in(one)],
        error=error_of(span),
        **times(span),
    )
    without = sum(not content_in(one) for one in documents)
    lost = []
    if without or (not documents and not span.failed):
        lost.append(not_sent("the text of what was retrieved", span))
    return Step(event, tuple(lost), session=session)


_TEXTS: Final = ("content", "text", "page_content")
_IDS: Final = ("id", "document_id", "doc_id")


def content_in(document: Mapping[str, Any]) -> str:
    """Return the text of a document that was retrieved."""
    return text(document, *_TEXTS)


def context_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document as a passage that a model was given: id, text, what is known of it."""
    metadata = json_of(document.get("metadata"))
    rest = {
        name: one
        for name, one in document.items()
        if name not in {*_TEXTS, *_IDS, "metadata"} and one is not None
    }
    found = {**(metadata if isinstance(metadata, Mapping) else {}), **rest}
    context: dict[str, Any] = {"text": content_in(document)}
    if identity := text(document, *_IDS):
        context["id"] = identity
    if found:
        context["metadata"] = found
    return context

"""The OpenAI Agents SDK: two lines, and each trace is evidence.

    recorder = Recorder("evidence")
    add_trace_processor(EvidenceProcessor(recorder))

What happens around the agents, such as a retrieval, is of the same run within `recorder.run(…)`.
The SDK tells of a request to a model when it is over, and not at all where tracing is off.
"""

from collections.abc import Callable, Iterator
from contextvars import Token
from dataclasses import dataclass, field
from functools import wraps
from threading import Lock
from typing import Any, Concatenate, ParamSpec

from agents.tracing import TracingProcessor

from evidentia.integrations.open_runs import OpenCall, OpenRun, this_call, this_run
from evidentia.integrations.pairing import AskedCalls
from evidentia.integrations.recorder import Recorder

__all__ = ["EvidenceProcessor"]
P = ParamSpec("P")
_UNTOLD = "the trace doesn't tell it"


def _quietly(
    method: Callable[Concatenate["EvidenceProcessor", P], None],
) -> Callable[Concatenate["EvidenceProcessor", P], None]:
    """Have whatever goes wrong in the processor told to the recorder, and never raised."""

    @wraps(method)
    def quiet(self: "EvidenceProcessor", /, *given: P.args, **named: P.kwargs) -> None:
        try:
            method(self, *given, **named)
        except Exception as error:  # noqa: BLE001 - the host goes on, whatever it tells
            self.recorder.failed("openai-agents", f"{type(error).__name__}: {error}")

    return quiet


@dataclass(slots=True)
class _Trace:
    """A trace that goes on: its run, and what it has said so far."""

    run: OpenRun
    is_own: bool
    asked: AskedCalls = field(default_factory=AskedCalls)
    agents: dict[str, Any] = field(default_factory=dict)
    """What the span of the agent says that is nearest around each span, by the span's id."""
    is_asked: bool = False
    answer: str | None = None
    error: str | None = None


@dataclass(slots=True)
class _Span:
    """A call that goes on, and the context that its tool runs in."""

    call: OpenCall
    context: tuple[Token[Any], Token[Any]] | None = None


class EvidenceProcessor(TracingProcessor):  # type: ignore[misc]  # not in the main environment
    """Records in the recorder's runs what the SDK traces: requests, tools, retrievals, answers."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self._lock = Lock()
        self._traces: dict[str, _Trace] = {}
        self._spans: dict[str, _Span] = {}

    @_quietly
    def on_trace_start(self, trace: Any) -> None:
        """Begin a run, unless the program has begun one."""
        current = self.recorder.current()
        run = current or self.recorder.begin_run(
            trace.name,
            session=getattr(trace, "group_id", None),
            trace_id=trace.trace_id.removeprefix("trace_"),
        )
        with self._lock:
            self._traces[trace.trace_id] = _Trace(run, is_own=current is None)

    @_quietly
    def on_trace_end(self, trace: Any) -> None:
        """End the run with the last that a model said, or with what it failed by."""
        with self._lock:
            over = self._traces.pop(trace.trace_id, None)
        if over is not None and over.is_own:
            over.run.end(answer=None if over.error else over.answer, error=over.error)

    @_quietly
    def on_span_start(self, span: Any) -> None:
        """Begin a call; within a tool, its run and the call are the current ones."""
        kind, data = span.span_data.type, span.span_data
        trace = self._trace(span)
        trace.agents[span.span_id] = data if kind == "agent" else trace.agents.get(span.parent_id)
        if kind not in {"function", "response", "generation"}:
            return
        run = trace.run
        if kind == "function":
            call = run.tool(data.name, data.input)
            begun = _Span(call, (this_run.set(run), this_call.set(call)))
        else:
            begun = _Span(run.model("openai", getattr(data, "model", None) or _UNTOLD, []))
        with self._lock:
            self._spans[span.span_id] = begun

    @_quietly
    def on_span_end(self, span: Any) -> None:
        """End a call with what the span says of it."""
        trace, error = self._trace(span), _error(span)
        if span.span_data.type == "agent" and error is not None:
            trace.error = error
        with self._lock:
            ended = self._spans.pop(span.span_id, None)
        if ended is None:
            return
        if ended.context is not None:
            _leave(*ended.context)
            self._tool(trace, ended.call, span.span_data, error)
            return
        trace.error = error
        if span.span_data.type == "response":
            self._response(trace, ended.call, span.span_data, error)
        else:
            offered = getattr(trace.agents.get(span.span_id), "tools", None)
            ended.call.asked(tools=offered)
            self._generation(trace, ended.call, span.span_data, error)

    def shutdown(self) -> None:
        """Record what is open and waiting: the process ends."""
        self.recorder.close()

    def force_flush(self) -> None:
        """Wait until what is over is recorded."""
        self.recorder.flush(self.recorder.closing_seconds)

    # What the spans say

    def _tool(self, trace: _Trace, call: OpenCall, data: Any, error: str | None) -> None:
        arguments = data.input
        call.asked(arguments=arguments, call_id=trace.asked.begun(data.name, arguments))
        if arguments is None:
            call.lost("arguments", "not_seen", _UNTOLD)
        if error is not None:
            call.fail(error)
        else:
            call.end(data.output)

    def _response(self, trace: _Trace, call: OpenCall, data: Any, error: str | None) -> None:
        """Tell of a request to the responses API."""
        response = data.response
        call.asked(messages=data.input)
        if data.input is None:
            call.lost("messages", "not_seen", error or _UNTOLD)
        if response is None:
            call.fail(error or _UNTOLD)
            return
        call.asked(
            model=response.model,
            instructions=response.instructions,
            tools=response.tools,
            request={
                name: value
                for name in ("temperature", "top_p", "max_output_tokens", "tool_choice")
                if (value := getattr(response, name, None)) is not None
            },
        )
        self._said(trace, data.input, response.output, response.output_text)
        call.end(response=response.output, usage=data.usage)
        for one in response.output:
            if one.type == "file_search_call" and one.results:
                found = trace.run.retrieval("\n".join(one.queries), name="file_search")
                found.end([_passage(result) for result in one.results])

    def _generation(self, trace: _Trace, call: OpenCall, data: Any, error: str | None) -> None:
        """Tell of a request to chat completions, or to a model of another maker."""
        call.asked(model=data.model, messages=data.input)
        call.asked(request=dict(data.model_config or {}))
        if data.input is None:
            call.lost("messages", "not_seen", error or _UNTOLD)
        if error is not None or not data.output:
            call.fail(error or _UNTOLD)
            return
        texts = [one["content"] for one in data.output if isinstance(one.get("content"), str)]
        self._said(trace, data.input, data.output, "".join(texts))
        call.end(response=data.output, usage=data.usage)

    def _said(self, trace: _Trace, messages: Any, response: Any, text: str) -> None:
        trace.asked.heard(response)
        trace.answer = text or trace.answer
        if trace.is_own and not trace.is_asked:
            trace.is_asked = True
            trace.run.asked(_question(messages))

    # Where a span belongs

    def _trace(self, span: Any) -> _Trace:
        """Return the trace of a span; one whose begin was not heard begins here."""
        with self._lock:
            found = self._traces.get(span.trace_id)
        if found is None:
            current = self.recorder.current()
            run = current or self.recorder.begin_run("agent").of_one_call()
            found = _Trace(run, is_own=False)
        return found


def _leave(run: Token[Any], call: Token[Any]) -> None:
    for variable, token in ((this_call, call), (this_run, run)):
        try:
            variable.reset(token)
        except ValueError:  # it ends in another context than it began in
            variable.set(None)


def _error(span: Any) -> str | None:
    """Return what went wrong in a span, in words."""
    if span.error is None:
        return None
    more = (span.error.get("data") or {}).get("error")
    said = str(span.error.get("message") or "failed")
    return f"{said}: {more}" if more else said


def _question(messages: Any) -> str:
    """Return the last that a user says in a request."""
    if isinstance(messages, str):
        return messages
    said = [one for one in messages or () if one.get("role") == "user"]
    return "".join(_texts(said[-1].get("content"))) if said else ""


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        yield from (str(one.get("text", "")) for one in content if isinstance(one, dict))


def _passage(result: Any) -> dict[str, Any]:
    about = {"id": result.file_id, "title": result.filename, "text": result.text or ""}
    return {name: value for name, value in about.items() if value is not None}

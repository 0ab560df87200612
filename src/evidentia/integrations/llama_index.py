"""LlamaIndex: two lines, and each run of an agent, a query or a chat is evidence.

    recorder = Recorder("evidence")
    record_llama_index(recorder)

What LlamaIndex tells its dispatcher is heard: workflows and agents, query and chat engines,
retrievers, models and tools, sync and async. The outermost of them is a run, unless it is within
`recorder.run(…)`.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import wraps
from threading import Lock
from typing import Any, Concatenate, Final, ParamSpec

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.chat_engine.types import BaseChatEngine
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.events.exception import ExceptionEvent
from llama_index.core.instrumentation.events.llm import (
    LLMChatEndEvent,
    LLMChatStartEvent,
    LLMCompletionEndEvent,
    LLMCompletionStartEvent,
)
from llama_index.core.instrumentation.events.retrieval import (
    RetrievalEndEvent,
    RetrievalStartEvent,
)
from llama_index.core.tools import BaseTool
from llama_index.core.workflow import Workflow

from evidentia.integrations.asked_calls import AskedCalls
from evidentia.integrations.llama_index_handlers import Events, Spans
from evidentia.integrations.llama_index_streams import read_along, what_ended
from evidentia.integrations.llama_index_values import (
    answer_of,
    asked_in,
    message_of,
    question_of,
    result_of,
    tool_arguments,
    usage_of,
)
from evidentia.integrations.open_runs import OpenCall, OpenRun
from evidentia.integrations.recorder import Recorder

P = ParamSpec("P")
_OUTERMOST: Final = (Workflow, BaseQueryEngine, BaseChatEngine)
_recorded: "dict[Recorder, _Listener]" = {}


def record_llama_index(recorder: Recorder) -> None:
    """Have what LlamaIndex does in this process recorded; asked for twice, it is heard once."""
    if recorder in _recorded:
        return
    listener = _recorded[recorder] = _Listener(recorder)
    dispatcher = get_dispatcher()
    dispatcher.add_event_handler(Events(listener))
    dispatcher.add_span_handler(Spans(listener))


def stop_recording(recorder: Recorder) -> None:
    """Have nothing more recorded by this recorder."""
    listener = _recorded.pop(recorder, None)
    if listener is None:
        return
    dispatcher = get_dispatcher()
    for handlers in (dispatcher.event_handlers, dispatcher.span_handlers):
        found = [
            one for one in handlers if isinstance(one, Events | Spans) and one.hands_on_to(listener)
        ]
        for one in found:
            handlers.remove(one)  # type: ignore[arg-type]  # it is from there


@dataclass(slots=True, eq=False)
class _Span:
    """A span that is open: the run it is of, and the call that it is."""

    parent: "_Span | None"
    run: OpenRun | None
    instance: Any
    is_own: bool = False
    """Whether the run begins and ends with it."""
    call: OpenCall | None = None
    kind: str = ""
    asked: Any = None
    """The call of a tool that a step of an agent is for."""
    within: ExitStack = field(default_factory=ExitStack)

    def inside(self, kind: str) -> "_Span | None":
        """Return the span around this one that is a call of a kind."""
        found = self.parent
        while found is not None and found.kind != kind:
            found = found.parent
        return found

    def is_outermost(self) -> bool:
        """Whether it is in no other agent or engine."""
        found = self.parent
        while found is not None and not isinstance(found.instance, _OUTERMOST):
            found = found.parent
        return found is None


def _quietly(
    method: Callable[Concatenate["_Listener", P], None],
) -> Callable[Concatenate["_Listener", P], None]:
    """Have whatever goes wrong told to the recorder, and never raised."""

    @wraps(method)
    def quiet(self: "_Listener", /, *given: P.args, **named: P.kwargs) -> None:
        try:
            method(self, *given, **named)
        except Exception as error:  # noqa: BLE001 - the host goes on, whatever it tells
            self.recorder.failed("llama_index", f"{type(error).__name__}: {error}")

    return quiet


class _Listener:
    """Turns spans and events into runs and calls."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self._lock = Lock()
        self._spans: dict[str, _Span] = {}
        self._streams: dict[str, _Span] = {}
        """Models that still answer after their span was left."""
        self._reading: Counter[OpenRun] = Counter()
        """How many streamed answers of a run are still to be read."""
        self._ending: set[OpenRun] = set()
        """Runs whose span was left, and that end with what is streamed."""
        self._asked = AskedCalls()

    # Spans

    @_quietly
    def entered(
        self, id_: str, arguments: Mapping[str, Any], instance: Any, parent_id: str | None
    ) -> None:
        """Take the beginning of a span."""
        with self._lock:
            parent = self._spans.get(parent_id or "")
        run = self.recorder.current() or (parent.run if parent else None)
        span = _Span(parent, run, instance)
        if run is None and isinstance(instance, _OUTERMOST):
            span.run = self.recorder.begin_run(_named(instance), query=question_of(arguments))
            span.is_own = True
        with self._lock:
            self._spans[id_] = span
        step = arguments.get("ev")
        if hasattr(step, "tool_id") and hasattr(step, "tool_kwargs"):
            span.asked = step
        if isinstance(instance, BaseTool) and _is_call(id_):
            self._called(span, instance, arguments)

    def _called(self, span: _Span, tool: Any, arguments: Mapping[str, Any]) -> None:
        name = tool.metadata.name or type(tool).__name__
        around = span.inside("tool")
        if around is not None and around.asked == name:
            return  # one call goes through several of its methods
        span.kind = "tool"
        given = tool_arguments(tool, arguments)
        step = span.parent.asked if span.parent is not None else None
        run = span.run or self.recorder.begin_run(name).of_one_call()
        found = self._asked.made(run, name, given)
        call_id = getattr(step, "tool_id", None) or (found.call_id if found else None)
        asked = getattr(step, "tool_kwargs", None) or (found.arguments if found else given)
        span.asked, span.run = name, run
        span.call = run.tool(name, asked, call_id=call_id)
        span.within.enter_context(run.active())
        span.call.__enter__()  # so that the tool can say what it does

    @_quietly
    def left(self, id_: str, result: Any, error: BaseException | None) -> None:
        """Take the end of a span."""
        with self._lock:
            span = self._spans.pop(id_, None)
        if span is None:
            return
        if span.call is not None:
            self._ended(id_, span, result, error)
        elif span.asked is not None and span.run is not None:
            self._not_called(span.run, span.asked, result)
        if span.run is None:
            return
        with self._lock:
            self._reading[span.run] += 1 if read_along(result, span.run, self._was_read) else 0
        if not isinstance(span.instance, _OUTERMOST):
            return
        if error is None and span.is_outermost() and (answer := answer_of(result)):
            span.run.answer(answer)
        if span.is_own:
            self._over(span.run, error)

    def _ended(self, id_: str, span: _Span, result: Any, error: BaseException | None) -> None:
        call = span.call
        if call is None:
            return
        if error is not None:
            call.fail(error)
        elif span.kind == "tool":
            if getattr(result, "is_error", False):
                call.fail(result.content)
            else:
                call.end(result_of(result))
        elif span.kind == "model":  # it is a stream, which is read later
            with self._lock:
                self._streams[id_] = span
            return
        call.__exit__(None, None, None)
        span.within.close()

    def _not_called(self, run: OpenRun, asked: Any, result: Any) -> None:
        """Record that an agent was asked for a tool that it hasn't."""
        if not run.has("tool", asked.tool_id):
            output = getattr(result, "tool_output", None)
            call = run.tool(asked.tool_name, asked.tool_kwargs, call_id=asked.tool_id)
            call.fail(getattr(output, "content", None) or "it was not called")

    def _over(self, run: OpenRun, error: BaseException | None) -> None:
        """End a run, or have it end with what is still streamed in it."""
        with self._lock:
            if error is None:
                self._ending.add(run)
        if error is None:
            self._settle(run)
        else:
            run.end(error=error)

    def _settle(self, run: OpenRun, error: BaseException | str | None = None) -> None:
        """End a run whose span was left, unless something is still streamed in it."""
        with self._lock:
            goes_on = self._reading[run] or any(one.run is run for one in self._streams.values())
            ends = run in self._ending and not goes_on
            if not self._reading[run]:
                del self._reading[run]
            if ends:
                self._ending.discard(run)
        if ends:
            run.end(error=error)

    def _was_read(self, run: OpenRun, text: str, error: BaseException | str | None) -> None:
        """Take the end of a streamed answer."""
        with self._lock:
            self._reading[run] -= 1
        if error is None:
            run.answer(text)
        self._settle(run, error)

    # Events

    @_quietly
    def event(self, event: Any) -> None:
        """Take an event."""
        with self._lock:
            id_ = event.span_id or ""
            span = self._spans.get(id_) or self._streams.get(id_)
        if span is None:
            return
        if isinstance(event, LLMChatStartEvent | LLMCompletionStartEvent):
            self._model(span, event)
        elif isinstance(event, RetrievalStartEvent):
            self._retrieval(span, event)
        elif span.call is None:
            return
        elif isinstance(event, RetrievalEndEvent):
            span.call.end(event.nodes)
        elif isinstance(event, LLMChatEndEvent | LLMCompletionEndEvent):
            self._answered(id_, span, event.response)
        elif isinstance(event, ExceptionEvent) and span.kind == "model":
            error = what_ended(event.exception)
            span.call.fail(error)
            self._read(id_, span, error=error)

    def _model(self, span: _Span, event: Any) -> None:
        if span.call is not None or span.inside("model") is not None:
            return  # one request goes through several of its methods
        told, asked = event.model_dict, dict(event.additional_kwargs)
        model = asked.pop("model", None) or told.get("model") or told.get("model_name")
        run = span.run or self.recorder.begin_run("model").of_one_call()
        span.run, span.kind = run, "model"
        if isinstance(event, LLMChatStartEvent):
            messages: Any = [message_of(one) for one in event.messages]
        else:
            messages = event.prompt
        tools = asked.pop("tools", None) or ()
        provider = told.get("class_name") or type(span.instance).__name__
        span.call = run.model(
            str(provider),
            str(model or _model_name(span.instance)),
            messages,
            tools=tools,
            request={name: one for name, one in asked.items() if one is not None},
        )

    def _answered(self, id_: str, span: _Span, response: Any) -> None:
        if span.call is None or span.run is None:
            return
        message = getattr(response, "message", None)
        if message is None:
            text = getattr(response, "text", None)
            span.call.end(response={"role": "assistant", "content": text})
        else:
            self._asked.ask(span.run, asked_in(message))
            text = message.content
            span.call.end(response=message_of(message), usage=usage_of(response))
        self._read(id_, span, text)

    def _read(
        self,
        id_: str,
        span: _Span,
        text: str | None = None,
        error: BaseException | str | None = None,
    ) -> None:
        """Take the end of a model's reply; if its run waited for that, end it."""
        span.kind = ""
        span.call = None
        with self._lock:
            was_streamed = self._streams.pop(id_, None) is not None
            is_answer = span.run in self._ending and not self._reading[span.run]
        if was_streamed and span.run is not None:
            if is_answer and text is not None:
                span.run.answer(text)
            self._settle(span.run, error)

    def _retrieval(self, span: _Span, event: Any) -> None:
        if span.inside("retrieval") is not None:
            return  # what a retriever asks others is of its own question
        run = span.run or self.recorder.begin_run("retrieval").of_one_call()
        asked = getattr(event.str_or_query_bundle, "query_str", event.str_or_query_bundle)
        span.run, span.kind = run, "retrieval"
        span.call = run.retrieval(str(asked), name=type(span.instance).__name__)


def _is_call(id_: str) -> bool:
    """Whether a span of a tool is a call of it: not of another of its methods."""
    return id_.partition("-")[0].rpartition(".")[2] in {"call", "acall", "__call__"}


def _named(instance: Any) -> str:
    name = getattr(instance, "name", None)
    return name if isinstance(name, str) and name else type(instance).__name__


def _model_name(instance: Any) -> str:
    metadata = getattr(instance, "metadata", None)
    return str(getattr(metadata, "model_name", None) or type(instance).__name__)

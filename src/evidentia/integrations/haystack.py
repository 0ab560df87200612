"""Haystack: two lines, and each run of a pipeline or an agent is evidence.

    recorder = Recorder("evidence")
    record_haystack(recorder)

What happens is heard where Haystack's tracing is: pipelines and agents, sync and async. The
outermost of them is a run, unless it is within `recorder.run(…)`. A tracer that is there goes on
as before; content tracing need not be switched on, as its switch is about that tracer alone.
An `EvidenceRecorder` in a pipeline says which of its texts is the answer, and what is decided.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any, Final

from haystack import Document, component, tracing
from haystack.dataclasses import ChatMessage
from haystack.tools import flatten_tools_or_toolsets

from evidentia.integrations.asked_calls import AskedCall, AskedCalls
from evidentia.integrations.open_runs import OpenCall, OpenRun
from evidentia.integrations.recorder import Recorder

Decide = Callable[[str], Mapping[str, Any] | None]
_PIPELINE: Final = "haystack.pipeline.run"
_AGENT: Final = "haystack.agent.run"
_TOOL: Final = "haystack.agent.step.tool"
_LLM: Final = "haystack.agent.step.llm"
_GENERATOR: Final = "haystack.chat_generator.run"
_COMPONENT: Final = "haystack.component.run"
_UNKNOWN: Final = "not said"
_ASKING: Final = ("query", "question", "messages", "prompt", "text", "user_message")
"""What inputs a question stands in, the likeliest first."""
_OTHER_PARTS: Final = frozenset({"messages", "prompt", "tools", "streaming_callback"})
"""Inputs of a generator that are no parameters of its request."""
_here: ContextVar["EvidenceSpan | None"] = ContextVar("evidentia_haystack_span", default=None)


def record_haystack(recorder: Recorder) -> None:
    """Have the pipelines and agents of this process recorded; the last recorder is the one."""
    beneath = tracing.tracer.actual_tracer
    if isinstance(beneath, EvidenceTracer):
        beneath = beneath.beneath
    tracing.enable_tracing(EvidenceTracer(recorder, beneath))


class EvidenceSpan(tracing.Span):
    """A part of a run: what is told of it is recorded, and told to the tracer beneath."""

    def __init__(
        self,
        heard: "_Heard",
        beneath: tracing.Span,
        parent: "EvidenceSpan | None",
        operation: str,
        tags: Mapping[str, Any],
    ) -> None:
        self.heard, self.beneath, self.parent = heard, beneath, parent
        self.operation, self.tags = operation, dict(tags)
        self.run: OpenRun | None = None
        self.is_own = False
        """Whether the run begins and ends with this span."""
        self.call: OpenCall | None = None
        self.given: Any = None

    def set_tag(self, key: str, value: Any) -> None:
        """Take a tag."""
        self.beneath.set_tag(key, value)
        self.tags[key] = value

    def set_content_tag(self, key: str, value: Any) -> None:
        """Take what was given or came out."""
        self.beneath.set_content_tag(key, value)
        self.heard.content(self, key, value)

    def raw_span(self) -> Any:
        """Return the span of the tracer beneath."""
        return self.beneath.raw_span()

    def get_correlation_data_for_logs(self) -> dict[str, Any]:
        """Return what the tracer beneath gives for logs."""
        return self.beneath.get_correlation_data_for_logs()


class EvidenceTracer(tracing.Tracer):
    """Records what Haystack traces, and hands it on to the tracer beneath."""

    def __init__(self, recorder: Recorder, beneath: tracing.Tracer) -> None:
        self.beneath = beneath
        self._heard = _Heard(recorder)

    @contextmanager
    def trace(
        self,
        operation_name: str,
        tags: dict[str, Any] | None = None,
        parent_span: tracing.Span | None = None,
    ) -> Iterator[tracing.Span]:
        """Trace a block: a run, or a part of one."""
        parent = parent_span if isinstance(parent_span, EvidenceSpan) else _here.get()
        below = parent.beneath if parent_span is parent and parent is not None else parent_span
        with self.beneath.trace(operation_name, tags=tags, parent_span=below) as traced:
            span = EvidenceSpan(self._heard, traced, parent, operation_name, tags or {})
            with ExitStack() as within:
                self._heard.begun(span, within)
                try:
                    yield span
                except BaseException as error:
                    self._heard.failed(span, error)
                    raise
                self._heard.ended(span)

    def current_span(self) -> tracing.Span | None:
        """Return the span that is open here."""
        return _here.get() or self.beneath.current_span()


class _Heard:
    """Turns spans into runs and calls; nothing that it meets is raised."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self._asked = AskedCalls()

    def begun(self, span: EvidenceSpan, within: ExitStack) -> None:
        """Find the run that a span is of, or begin one."""
        try:
            self._begun(span)
            if span.operation != _PIPELINE and span.run is not None:
                # a pipeline may be a generator, whose context is its caller's: its parts are not
                within.enter_context(span.run.active())
                token = _here.set(span)
                within.callback(_leave, token)
        except Exception as error:  # noqa: BLE001 - the host goes on, whatever it tells
            self._problem(error)

    def _begun(self, span: EvidenceSpan) -> None:
        span.run = self.recorder.current() or (span.parent.run if span.parent else None)
        if span.run is None and span.operation in {_PIPELINE, _AGENT}:
            data = span.tags.get("haystack.pipeline.input_data")
            span.run = self.recorder.begin_run(
                span.operation.split(".")[1], query=question_of(data)
            )
            span.is_own = True
        elif span.run is None:
            span.run = self.recorder.begin_run(_named(span))
            span.is_own = True

    def content(self, span: EvidenceSpan, key: str, value: Any) -> None:
        """Take what was given to a part or came out of it."""
        try:
            if key.endswith("input"):
                self._given(span, value)
            elif key.endswith(("output", "output_data")):
                self._came(span, value)
        except Exception as error:  # noqa: BLE001 - the host goes on, whatever it tells
            self._problem(error)

    def _given(self, span: EvidenceSpan, value: Any) -> None:
        span.given = value
        run = span.run
        if run is None:
            return
        if span.operation == _AGENT and span.is_own:
            run.asked(question_of(value))
        elif span.operation == _TOOL:
            self._called(span, run, value)
        elif span.operation in {_LLM, _GENERATOR} or _generates(span):
            span.call = run.model(
                str(span.tags.get("haystack.component.type") or "haystack"),
                _UNKNOWN,
                _messages(value.get("messages", value.get("prompt"))),
                tools=_tools(value.get("tools")),
                request={
                    name: one
                    for name, one in value.items()
                    if name not in _OTHER_PARTS and one is not None
                },
            )
        elif _retrieves(span):
            asked = next((value[one] for one in _ASKING if isinstance(value.get(one), str)), "")
            span.call = run.retrieval(asked, name=_named(span))

    def _called(self, span: EvidenceSpan, run: OpenRun, arguments: Any) -> None:
        name = str(span.tags.get("haystack.tool.name") or "tool")
        asked = self._asked.made(run, name, arguments)
        span.call = run.tool(name, arguments, call_id=asked.call_id if asked else None)
        span.call.__enter__()  # so that the tool can say what it does; its span's end leaves it

    def _came(self, span: EvidenceSpan, value: Any) -> None:
        call, run = span.call, span.run
        if run is None:
            return
        if call is None:
            if span.parent is None and (answer := answer_of(value)):
                run.answer(answer)
        elif call.kind == "tool":
            if span.tags.get("haystack.tool.error"):
                call.fail(value.get("error") if isinstance(value, Mapping) else value)
            else:
                call.end(value)
        elif call.kind == "retrieval":
            call.end(value.get("documents"))
        else:
            self._replied(run, call, value.get("replies") or [])

    def _replied(self, run: OpenRun, call: OpenCall, replies: list[Any]) -> None:
        first = replies[0] if replies else None
        if not isinstance(first, ChatMessage):
            call.end(response={"role": "assistant", "content": first})
            return
        if first.meta.get("model"):
            call.asked(model=str(first.meta["model"]))
        asked = [
            AskedCall(one.id, one.tool_name, one.arguments)
            for reply in replies
            for one in reply.tool_calls
            if one.id is not None
        ]
        self._asked.ask(run, asked)
        call.end(response=_message(first), usage=first.meta.get("usage"))

    def ended(self, span: EvidenceSpan) -> None:
        """End what began with a span."""
        self._over(span, None)

    def failed(self, span: EvidenceSpan, error: BaseException) -> None:
        """End what began with a span by what was raised in it."""
        self._over(span, error)

    def _over(self, span: EvidenceSpan, error: BaseException | None) -> None:
        try:
            if span.call is not None and error is not None:
                span.call.fail(error.__cause__ or error)
            if span.call is not None:
                span.call.__exit__(None, None, None)
            if span.is_own and span.run is not None:
                span.run.end(error=error)
        except Exception as problem:  # noqa: BLE001 - the host goes on, whatever it tells
            self._problem(problem)

    def _problem(self, error: Exception) -> None:
        self.recorder.failed("haystack", f"{type(error).__name__}: {error}")


@component
class EvidenceRecorder:
    """Stands in a pipeline: says which text is the answer, and what was decided by it.

    `decides` says of an answer what was decided, if anything: `decision`, and the fields of
    `run.Decided`. The replies go on as they came. Without `record_haystack`, what it is given,
    the documents too, is a run of its own.
    """

    def __init__(self, recorder: Recorder, decides: Decide | None = None) -> None:
        self._recorder = recorder
        self._decides = decides

    @component.output_types(replies=list[Any])
    def run(
        self, replies: list[Any], documents: list[Document] | None = None, query: str = ""
    ) -> dict[str, Any]:
        """Record the answer; give the replies on."""
        try:
            self._record(replies, documents or [], query)
        except Exception as error:  # noqa: BLE001 - the host goes on, whatever it tells
            self._recorder.failed("haystack", f"{type(error).__name__}: {error}")
        return {"replies": replies}

    def _record(self, replies: list[Any], documents: list[Document], query: str) -> None:
        run = self._recorder.current()
        is_own = run is None
        if run is None:
            run = self._recorder.begin_run("pipeline", query=query)
            if documents:
                run.retrieval(query).end(documents)
        answer = answer_of({"replies": replies})
        run.answer(answer)
        decided = self._decides(answer) if self._decides is not None else None
        if decided:
            weight = dict(decided)
            run.decision(weight.pop("decision", ""), **weight)
        if is_own:
            run.end()


def question_of(data: Any) -> str:
    """Return what a pipeline or an agent is asked: the likeliest of its inputs."""
    if not isinstance(data, Mapping):
        return ""
    inputs = [data, *(one for one in data.values() if isinstance(one, Mapping))]
    for name in _ASKING:
        for one in inputs:
            said = one.get(name)
            if isinstance(said, str) and said:
                return said
            if isinstance(said, list):
                texts = [
                    str(message.text)
                    for message in said
                    if isinstance(message, ChatMessage)
                    and message.role.value == "user"
                    and message.text
                ]
                if texts:
                    return texts[-1]
    return ""


def answer_of(output: Any) -> str:
    """Return what a pipeline or an agent answers: its last message, its answers or replies."""
    if not isinstance(output, Mapping):
        return ""
    last = output.get("last_message")
    if isinstance(last, ChatMessage):
        return last.text or ""
    for name in ("answers", "replies"):
        found = output.get(name)
        if isinstance(found, list) and found:
            first = found[0]
            said = first if isinstance(first, str) else getattr(first, "data", None)
            said = said or getattr(first, "text", None)
            return str(said or "")
    answers = [answer_of(one) for one in output.values() if isinstance(one, Mapping)]
    return next((one for one in reversed(answers) if one), "")


def _leave(token: Any) -> None:
    try:
        _here.reset(token)
    except ValueError:  # a generator that is closed in another context
        _here.set(None)


def _named(span: EvidenceSpan) -> str:
    found = span.tags.get("haystack.component.name") or span.tags.get("haystack.tool.name")
    return str(found or span.operation)


def _generates(span: EvidenceSpan) -> bool:
    """Whether a component asks a model: what comes out of it are replies."""
    given = span.tags.get("haystack.component.input_spec") or {}
    gives = span.tags.get("haystack.component.output_spec") or {}
    is_asked = "messages" in given or "prompt" in given
    return span.operation == _COMPONENT and is_asked and "replies" in gives


def _retrieves(span: EvidenceSpan) -> bool:
    """Whether a component finds documents for a query; a ranker is given them."""
    given = span.tags.get("haystack.component.input_spec") or {}
    gives = span.tags.get("haystack.component.output_spec") or {}
    is_asked = any(name.startswith("query") for name in given)
    return (
        span.operation == _COMPONENT
        and is_asked
        and "documents" in gives
        and "documents" not in given
    )


def _messages(messages: Any) -> Any:
    return [_message(one) for one in messages] if isinstance(messages, list) else messages


def _message(message: Any) -> Any:
    if not isinstance(message, ChatMessage):
        return message
    try:
        return message.to_openai_dict_format(require_tool_call_ids=False)
    except ValueError:  # parts that this form has not
        return message.to_dict()


def _tools(tools: Any) -> list[dict[str, Any]]:
    if not tools:
        return []
    found = flatten_tools_or_toolsets(tools)
    return [{"type": "function", "function": one.tool_spec} for one in found]

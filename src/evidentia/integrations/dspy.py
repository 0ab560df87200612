"""DSPy's programs: two lines, and a call of a module is evidence.

    recorder = Recorder("evidence")
    dspy.configure(callbacks=[EvidenceCallback(recorder)])

The outermost module is a run: its inputs are the question, its prediction is the answer. What
happens around it, such as a retrieval of your own, is of the same run within `recorder.run(…)`.
"""

from collections.abc import Callable, Mapping
from contextvars import Token
from dataclasses import dataclass, field
from functools import wraps
from threading import Lock
from typing import Any, Concatenate, ParamSpec

import dspy
from dspy.utils.callback import ACTIVE_CALL_ID, BaseCallback

from evidentia.integrations.open_runs import OpenCall, OpenRun, this_call, this_run
from evidentia.integrations.pairing import AskedCalls
from evidentia.integrations.recorder import Recorder

__all__ = ["EvidenceCallback"]
P = ParamSpec("P")
_ASIDE = frozenset({"history", "termination_reason", "trajectory", "reasoning"})
"""What a prediction has beside its answer."""
_SECRETS = frozenset({"api_key", "api_base", "headers"})


def _quietly(
    method: Callable[Concatenate["EvidenceCallback", P], None],
) -> Callable[Concatenate["EvidenceCallback", P], None]:
    """Have whatever goes wrong in a callback told to the recorder, and never raised."""

    @wraps(method)
    def quiet(self: "EvidenceCallback", /, *given: P.args, **named: P.kwargs) -> None:
        try:
            method(self, *given, **named)
        except Exception as error:  # noqa: BLE001 - the host goes on, whatever it tells
            self.recorder.failed("dspy", f"{type(error).__name__}: {error}")

    return quiet


@dataclass(slots=True)
class _Going:
    """A module, a request, a tool or a retriever that has begun, within its run."""

    run: OpenRun
    asked: AskedCalls
    is_root: bool = False
    call: OpenCall | None = None
    offered: list[Any] = field(default_factory=list)
    context: tuple[Token[Any], Token[Any]] | None = None
    answers: bool = False
    """Whether it is the tool that only hands the answer over."""


class EvidenceCallback(BaseCallback):  # type: ignore[misc]  # DSPy is not in the main environment
    """Records in the recorder's runs what DSPy tells it of.

    An optimizer and an evaluation run many programs: each is a run of its own.
    """

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self._lock = Lock()
        self._going: dict[str, _Going] = {}

    # Modules: the outermost is a run

    @_quietly
    def on_module_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """Begin a run, unless there is one; a retriever is a question to it."""
        given = _given(inputs)
        parent = self._parent()
        name = type(instance).__name__
        if parent is not None:
            going = _Going(parent.run, parent.asked)
        elif (current := self.recorder.current()) is not None:
            going = _Going(current, AskedCalls())
        else:
            run = self.recorder.begin_run(name, query=_question(instance, given))
            going = _Going(run, AskedCalls(), is_root=True)
        if isinstance(instance, dspy.Retrieve):
            going.call = going.run.retrieval(str(given.get("query", "")), name=name)
        going.offered = [one for one in _listed(given.get("tools")) if isinstance(one, dspy.Tool)]
        self._begun(call_id, going)

    @_quietly
    def on_module_end(
        self, call_id: str, outputs: Any, exception: BaseException | None = None
    ) -> None:
        """End what the module has begun."""
        going = self._ended(call_id)
        if going is None:
            return
        if going.call is not None:
            if exception is not None:
                going.call.fail(exception)
            else:
                going.call.end(_passages(outputs))
        if going.is_root:
            answer = None if exception is not None else _answer(outputs)
            going.run.end(answer=answer, error=exception)

    # Requests to models

    @_quietly
    def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """Hear a request."""
        parent = self._parent()
        going = self._of(parent, str(instance.model))
        given = {**getattr(instance, "kwargs", {}), **(inputs.get("kwargs") or {})}
        provider, _, model = str(instance.model).rpartition("/")
        messages = inputs.get("messages") or [{"role": "user", "content": inputs.get("prompt")}]
        offered = given.pop("tools", None) or (parent.offered if parent is not None else ())
        going.call = going.run.model(
            provider or "dspy",
            model,
            messages,
            tools=[_tool(one) for one in offered],
            request={
                name: value
                for name, value in given.items()
                if value is not None and name not in _SECRETS
            },
        )
        self._begun(call_id, going)

    @_quietly
    def on_lm_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:
        """Hear the response."""
        going = self._ended(call_id)
        if going is None or going.call is None:
            return
        if exception is not None:
            going.call.fail(exception)
            return
        said = [_said(one) for one in _listed(outputs)]
        going.asked.heard(said)
        going.call.end(response=said[0] if len(said) == 1 else said)

    # Tools

    @_quietly
    def on_tool_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """Hear the call of a tool; within it, its run and the call are the current ones."""
        name, given = str(instance.name), _given(inputs)
        going = self._of(self._parent(), name)
        going.call = going.run.tool(name, given, call_id=going.asked.begun(name, given))
        going.answers = _only_answers(instance)
        going.context = this_run.set(going.run), this_call.set(going.call)
        self._begun(call_id, going)

    @_quietly
    def on_tool_end(
        self, call_id: str, outputs: Any, exception: BaseException | None = None
    ) -> None:
        """Hear what the tool gives, or why it failed."""
        going = self._ended(call_id)
        if going is None or going.call is None:
            return
        if going.context is not None:
            run, call = going.context
            _reset(this_call, call)
            _reset(this_run, run)
        if exception is not None:
            going.call.fail(exception)
        else:
            going.call.end(None if going.answers else outputs)

    # Where something belongs

    def _parent(self) -> _Going | None:
        """Return what is going on around what begins."""
        with self._lock:
            return self._going.get(ACTIVE_CALL_ID.get() or "")

    def _of(self, parent: _Going | None, name: str) -> _Going:
        """Return a part of what is going on, or of a run of its own."""
        if parent is not None:
            return _Going(parent.run, parent.asked)
        run = self.recorder.current() or self.recorder.begin_run(name).of_one_call()
        return _Going(run, AskedCalls())

    def _begun(self, call_id: str, going: _Going) -> None:
        with self._lock:
            self._going[call_id] = going

    def _ended(self, call_id: str) -> _Going | None:
        with self._lock:
            return self._going.pop(call_id, None)


def _given(inputs: dict[str, Any]) -> dict[str, Any]:
    """Return what a module or a tool is called with, by name."""
    if not set(inputs) <= {"args", "kwargs"}:
        return inputs
    given = dict(inputs.get("kwargs") or {})
    if inputs.get("args"):
        given.setdefault("query", inputs["args"][0])
    return given


def _question(instance: Any, given: Mapping[str, Any]) -> str:
    """Return the question among a module's inputs: by its name, or the last that is a text."""
    del instance
    for name in ("question", "query"):
        if isinstance(given.get(name), str):
            return str(given[name])
    texts = [one for one in given.values() if isinstance(one, str)]
    return texts[-1] if texts else ""


def _answer(outputs: Any) -> str | None:
    """Return a prediction's answer: by its name, or its fields as lines."""
    if isinstance(outputs, str):
        return outputs
    if not isinstance(outputs, dspy.Prediction):
        return None
    fields = dict(outputs.items())
    if isinstance(fields.get("answer"), str):
        return str(fields["answer"])
    told = [(name, value) for name, value in fields.items() if name not in _ASIDE]
    if len(told) == 1:
        return str(told[0][1])
    return "\n".join(f"{name}: {value}" for name, value in told) or None


def _passages(outputs: Any) -> Any:
    found = getattr(outputs, "passages", outputs)
    return _listed(found)


def _said(output: Any) -> dict[str, Any]:
    """Return what a model gives, in the form of OpenAI's chat completions."""
    if not isinstance(output, Mapping):
        return {"role": "assistant", "content": output if isinstance(output, str) else str(output)}
    said = {"role": "assistant", "content": output.get("text")}
    more = {name: value for name, value in output.items() if name != "text" and value}
    return {**said, **more}


def _tool(tool: Any) -> Any:
    return tool.format_as_litellm_function_call() if isinstance(tool, dspy.Tool) else tool


def _only_answers(tool: Any) -> bool:
    """Whether a tool is the one by which an agent hands its answer over, which is no evidence."""
    made_in = str(getattr(tool.func, "__module__", ""))
    return tool.name in {"submit", "finish"} and made_in.startswith("dspy.")


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _reset(variable: Any, token: Token[Any]) -> None:
    try:
        variable.reset(token)
    except ValueError:  # it ends in another context than it began in
        variable.set(None)

"""What LangChain's callbacks tell: requests to models, calls of tools, questions to retrievers.

    chain.invoke(question, config={"callbacks": [EvidenceCallback.of(recorder)]})

Chains and graphs, sync and async: the outermost chain is a run, its input the question and its
output the answer. Once a recorder has its callback, all that happens within `recorder.run(…)` is
heard without being told of it, and is of that run.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from threading import Lock
from typing import Any, TypeVar, cast
from uuid import UUID
from weakref import WeakKeyDictionary

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage, convert_to_openai_messages
from langchain_core.tracers.context import register_configure_hook

from evidentia.integrations.open_runs import OpenCall, OpenRun, this_run
from evidentia.integrations.recorder import Recorder

_callbacks: "WeakKeyDictionary[Recorder, EvidenceCallback]" = WeakKeyDictionary()


class _OfTheCurrentRun:
    """Stands where LangChain looks for a context variable with a callback: that of the run."""

    def get(self) -> "EvidenceCallback | None":
        run = this_run.get()
        return None if run is None else _callbacks.get(run.recorder)


register_configure_hook(_OfTheCurrentRun(), inheritable=True)  # type: ignore[arg-type]  # of which get alone is used


Told = TypeVar("Told", bound=Callable[..., None])


def _quietly(method: Told) -> Told:
    """Have whatever goes wrong in a callback told to the recorder, and never raised."""

    @wraps(method)
    def quiet(self: "EvidenceCallback", *given: Any, **named: Any) -> None:
        try:
            method(self, *given, **named)
        except Exception as error:  # noqa: BLE001 - the host goes on, whatever it tells
            self.recorder.failed("langchain", f"{type(error).__name__}: {error}")

    return cast("Told", quiet)


class EvidenceCallback(BaseCallbackHandler):
    """Records in the recorder's runs what LangChain tells it of."""

    run_inline = True  # in the order of what happens, and in its context

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self._lock = Lock()
        self._runs: dict[UUID, OpenRun] = {}
        self._roots: dict[UUID, UUID] = {}
        self._calls: dict[UUID, tuple[OpenCall, Any]] = {}

    @classmethod
    def of(cls, recorder: Recorder) -> "EvidenceCallback":
        """Return the one of a recorder, so that nothing is heard twice."""
        found = _callbacks.get(recorder)
        if found is None:
            found = _callbacks[recorder] = cls(recorder)
        return found

    # Chains: the outermost is a run

    @_quietly
    def on_chain_start(  # noqa: D102 - LangChain's
        self,
        serialized: Any,
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **told: Any,
    ) -> None:
        if self._follows(run_id, parent_run_id) or self.recorder.current() is not None:
            return
        name = told.get("name") or (serialized or {}).get("name") or "chain"
        run = self.recorder.begin_run(str(name), query=question_of(inputs))
        with self._lock:
            self._runs[run_id], self._roots[run_id] = run, run_id

    @_quietly
    def on_chain_end(self, outputs: Any, *, run_id: UUID, **_: Any) -> None:  # noqa: D102
        run = self._over(run_id)
        if run is not None:
            run.end(answer=answer_of(outputs) or None)

    @_quietly
    def on_chain_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:  # noqa: D102
        run = self._over(run_id)
        if run is not None:
            run.end(error=error)

    # Models

    @_quietly
    def on_chat_model_start(  # noqa: D102
        self,
        serialized: Any,
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **told: Any,
    ) -> None:
        for asked in messages:
            self._model(run_id, parent_run_id, serialized, convert_to_openai_messages(asked), told)

    @_quietly
    def on_llm_start(  # noqa: D102
        self,
        serialized: Any,
        prompts: list[str],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **told: Any,
    ) -> None:
        for prompt in prompts:
            self._model(run_id, parent_run_id, serialized, prompt, told)

    def _model(
        self, run_id: UUID, parent: UUID | None, serialized: Any, messages: Any, told: Any
    ) -> None:
        asked = dict(told.get("invocation_params") or {})
        about = told.get("metadata") or {}
        kind = asked.pop("_type", None) or (serialized or {}).get("name")
        model = asked.pop("model", None) or asked.pop("model_name", None)
        call = self._run(run_id, parent, "model").model(
            str(about.get("ls_provider") or kind or "langchain"),
            str(model or about.get("ls_model_name") or kind or "not said"),
            messages,
            tools=asked.pop("tools", None) or (),
            request={name: value for name, value in asked.items() if value is not None},
        )
        self._begun(run_id, call)

    @_quietly
    def on_llm_end(self, response: Any, *, run_id: UUID, **_: Any) -> None:  # noqa: D102
        call, _context = self._ended(run_id)
        if call is None:
            return
        generated = response.generations[0][0]
        message = getattr(generated, "message", None)
        if message is None:
            call.end(response={"role": "assistant", "content": generated.text})
            return
        said = convert_to_openai_messages(message)
        call.end(response=said, usage=getattr(message, "usage_metadata", None))

    @_quietly
    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:  # noqa: D102
        self._failed(run_id, error)

    # Tools

    @_quietly
    def on_tool_start(  # noqa: D102
        self,
        serialized: Any,
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        inputs: dict[str, Any] | None = None,
        **told: Any,
    ) -> None:
        name = told.get("name") or (serialized or {}).get("name") or "tool"
        run = self._run(run_id, parent_run_id, str(name))
        given = input_str if inputs is None else inputs
        call = run.tool(str(name), given, call_id=told.get("tool_call_id"))
        context = run.active(), call  # so that the tool can say what it does
        for one in context:
            one.__enter__()
        self._begun(run_id, call, context)

    @_quietly
    def on_tool_end(self, output: Any, *, run_id: UUID, **_: Any) -> None:  # noqa: D102
        call, context = self._ended(run_id)
        if call is None:
            return
        if getattr(output, "status", None) == "error":
            call.fail(output.content)
        else:
            call.end(getattr(output, "content", output))
        _leave(context)

    @_quietly
    def on_tool_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:  # noqa: D102
        self._failed(run_id, error)

    # Retrievers

    @_quietly
    def on_retriever_start(  # noqa: D102
        self,
        serialized: Any,
        query: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **told: Any,
    ) -> None:
        name = told.get("name") or (serialized or {}).get("name") or "retriever"
        run = self._run(run_id, parent_run_id, "retrieval")
        self._begun(run_id, run.retrieval(query, name=str(name)))

    @_quietly
    def on_retriever_end(self, documents: Any, *, run_id: UUID, **_: Any) -> None:  # noqa: D102
        call, _context = self._ended(run_id)
        if call is not None:
            call.end(documents)

    @_quietly
    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:  # noqa: D102
        self._failed(run_id, error)

    # Which run something is of

    def _follows(self, run_id: UUID, parent: UUID | None) -> bool:
        """Note that something is within a chain that is known; whether it is."""
        with self._lock:
            root = self._roots.get(parent) if parent is not None else None
            if root is not None:
                self._roots[run_id] = root
        return root is not None

    def _run(self, run_id: UUID, parent: UUID | None, name: str) -> OpenRun:
        current = self.recorder.current()
        if current is not None:
            return current
        if self._follows(run_id, parent):
            with self._lock:
                found = self._runs.get(self._roots[run_id])
            if found is not None:
                return found
        return self.recorder.begin_run(name).of_one_call()

    def _over(self, run_id: UUID) -> OpenRun | None:
        with self._lock:
            self._roots.pop(run_id, None)
            return self._runs.pop(run_id, None)

    def _begun(self, run_id: UUID, call: OpenCall, context: Any = ()) -> None:
        with self._lock:
            self._calls[run_id] = call, context

    def _ended(self, run_id: UUID) -> tuple[OpenCall | None, Any]:
        with self._lock:
            self._roots.pop(run_id, None)
            return self._calls.pop(run_id, (None, ()))

    def _failed(self, run_id: UUID, error: BaseException) -> None:
        call, context = self._ended(run_id)
        if call is not None:
            call.fail(error)
            _leave(context)


def question_of(inputs: Any) -> str:
    """Return what a chain is asked: its input, or the last that a user says in its messages."""
    if isinstance(inputs, str):
        return inputs
    if not isinstance(inputs, Mapping):
        return ""
    messages = inputs.get("messages")
    if messages:
        found = convert_to_openai_messages(messages)
        said = [one for one in _listed(found) if one.get("role") == "user"]
        return _text(said[-1].get("content")) if said else ""
    texts = [value for value in inputs.values() if isinstance(value, str)]
    return next(
        (str(inputs[name]) for name in ("input", "question", "query") if name in inputs),
        texts[0] if len(texts) == 1 else "",
    )


def answer_of(outputs: Any) -> str:
    """Return what a chain answers: its output, or the last message of its state."""
    if isinstance(outputs, str):
        return outputs
    if isinstance(outputs, BaseMessage):
        return _text(convert_to_openai_messages(outputs).get("content"))
    if isinstance(outputs, Mapping):
        messages = outputs.get("messages")
        if isinstance(messages, list) and messages:
            return answer_of(messages[-1])
        for name in ("answer", "output", "result"):
            if isinstance(outputs.get(name), str):
                return str(outputs[name])
    return ""


def _leave(context: Any) -> None:
    for one in reversed(context):
        one.__exit__(None, None, None)


def _listed(found: Any) -> list[dict[str, Any]]:
    return found if isinstance(found, list) else [found]


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(str(one.get("text", "")) for one in parts if isinstance(one, dict))

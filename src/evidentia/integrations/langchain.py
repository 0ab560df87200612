"""LangChain's agents: two lines, and a run of one is evidence.

    recorder = Recorder("evidence")
    agent = create_agent(model, tools, middleware=[EvidenceMiddleware(recorder)])

What happens before the agent, such as a retrieval, is of the same run within `recorder.run(…)`.
For chains without an agent there is `EvidenceCallback`.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, NotRequired

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain.agents.middleware.types import PrivateStateAttr
from langgraph.errors import GraphBubbleUp

from evidentia.integrations.langchain_calls import EvidenceCallback, answer_of, question_of
from evidentia.integrations.open_runs import OpenRun
from evidentia.integrations.recorder import Recorder

__all__ = ["EvidenceCallback", "EvidenceMiddleware"]
Decide = Callable[[str], Mapping[str, Any] | None]


class _State(AgentState[Any]):  # type: ignore[misc] # LangChain is not where types are checked
    evidentia_run: NotRequired[Annotated[str, PrivateStateAttr]]  # type: ignore[valid-type]


class EvidenceMiddleware(AgentMiddleware[Any, Any, Any]):  # type: ignore[misc]
    """Records each run of an agent: its requests, tools, retrievals, answer, and what it decided.

    `decides` says of an answer what was decided by it, if anything: `decision`, and the fields of
    `run.Decided`. A tool may say so as well, by `recorder.decision(…)`.
    """

    state_schema = _State

    def __init__(
        self, recorder: Recorder, *, name: str = "agent", decides: Decide | None = None
    ) -> None:
        super().__init__()
        self.recorder = recorder
        self._name = name
        self._decides = decides
        EvidenceCallback.of(recorder)
        self._runs: dict[str, OpenRun] = {}

    @property
    def name(self) -> str:
        """The middleware's name in the graph."""
        return f"evidence of {self._name}"

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Begin a run, unless the program has begun one."""
        del runtime
        if self.recorder.current() is not None:
            return {"evidentia_run": ""}
        run = self.recorder.begin_run(self._name, query=self._told(question_of, state))
        key = f"{id(run):x}-{run.trace_id}"
        self._runs[key] = run
        return {"evidentia_run": key}

    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Begin a run, unless the program has begun one."""
        return self.before_agent(state, runtime)

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Hear the request to the model as it is sent."""
        with self._within(request.state):
            return handler(request)

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Hear the request to the model as it is sent."""
        with self._within(request.state):
            return await handler(request)

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Hear the call of the tool, and what it gives."""
        with self._within(request.state):
            return handler(request)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Hear the call of the tool, and what it gives."""
        with self._within(request.state):
            return await handler(request)

    @contextmanager
    def _within(self, state: Any) -> Iterator[None]:
        """Hear what happens in the block; what the agent cannot go on after ends its run."""
        run = self._run(state)
        try:
            with run.active():
                yield
        except GraphBubbleUp:  # an interrupt: it goes on later
            raise
        except BaseException as error:
            if self._runs.pop(_key(state), None) is not None:
                run.end(error=error)
            raise

    def after_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """End the run with the agent's answer, and with what it decided."""
        del runtime
        run, answer = self._run(state), self._told(answer_of, state)
        if answer:
            run.answer(answer)
        decided = self._told(self._decides, answer) if self._decides is not None else None
        if decided:
            weight = dict(decided)
            run.decision(weight.pop("decision", ""), **weight)
        if self._runs.pop(_key(state), None) is not None:
            run.end()
        return None

    async def aafter_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """End the run with the agent's answer, and with what it decided."""
        return self.after_agent(state, runtime)

    def _told(self, of: Callable[[Any], Any], what: Any) -> Any:
        """Return what a function makes of something; what it raises is the recorder's to know."""
        try:
            return of(what)
        except Exception as error:  # noqa: BLE001 - the agent goes on
            self.recorder.failed(self._name, f"{type(error).__name__}: {error}")
            return ""

    def _run(self, state: Any) -> OpenRun:
        """Return the run of a state; one that another process began goes on as a new one here."""
        current = self.recorder.current()
        if current is not None:
            return current
        key = _key(state)
        if key not in self._runs:
            self._runs[key] = self.recorder.begin_run(
                self._name, query=self._told(question_of, state)
            )
        return self._runs[key]


def _key(state: Any) -> str:
    return str(state.get("evidentia_run") or "") if isinstance(state, Mapping) else ""

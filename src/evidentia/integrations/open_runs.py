"""Runs and calls that are not over yet: what a host tells of them is copied at once, and kept."""

from collections.abc import Callable
from contextvars import ContextVar, Token
from functools import partial, wraps
from secrets import token_hex
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, Self, TypeVar, get_args

import orjson
from pydantic import TypeAdapter, ValidationError

from evidentia.integrations.copying import copied
from evidentia.integrations.passages import copied_passages, read_passages
from evidentia.integrations.run import Addendum, Event, Loss, Reason, Run
from evidentia.integrations.values import Plain, told
from evidentia.packs.fields import MAX_NAME
from evidentia.packs.recording import current_trace_id

if TYPE_CHECKING:
    from evidentia.integrations.recorder import Recorder

this_run: ContextVar["OpenRun | None"] = ContextVar("evidentia_run", default=None)
this_call: ContextVar["OpenCall | None"] = ContextVar("evidentia_call", default=None)
UNSEEN: Final = "unfinished: its end was not seen"
_SMALL: Final = 4_096
"""How many bytes of names, ids and errors are kept."""
_UNNAMED: Final = "unnamed"
_EVENT: Final[TypeAdapter[Event]] = TypeAdapter(Event)
P = ParamSpec("P")
Of = TypeVar("Of", "OpenRun", "OpenCall")


def _quietly(
    method: Callable[Concatenate[Of, P], None],
) -> Callable[Concatenate[Of, P], None]:
    """Have whatever goes wrong in a method noted as a loss, and never raised into the host."""

    @wraps(method)
    def quiet(self: Of, /, *given: P.args, **named: P.kwargs) -> None:
        try:
            method(self, *given, **named)
        except Exception as error:  # noqa: BLE001 - the host goes on, whatever it handed over
            self.lost(method.__name__, "failed", f"{type(error).__name__}: {told(error)}")

    return quiet


class OpenCall:
    """A request, a call of a tool or a retrieval that has begun: end it, or let it fail, once.

    In a `with` block it is the current call, an exception makes it fail, and goes on.
    """

    __slots__ = ("_given", "_is_over", "_token", "call_id", "kind", "run")

    def __init__(
        self, run: "OpenRun", kind: str, given: dict[str, Any], call_id: str | None = None
    ) -> None:
        self.run, self.kind, self.call_id = run, kind, call_id
        self._given = given
        self._is_over = False
        self._token: Token[OpenCall | None] | None = None

    def __enter__(self) -> Self:
        self._token = this_call.set(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._token is not None:
            _reset(this_call, self._token)
        if problem is not None:
            self.fail(problem)

    def end(
        self, result: Any = None, *, response: Any = None, usage: Any = None, effect: Any = None
    ) -> None:
        """End it with what came back: a tool's result, passages, or a model's `response`."""
        given: dict[str, Any] = {}
        try:
            if self.kind == "model":
                given = {"response": copied(response if response is not None else result)}
                if usage is not None:
                    given["usage"] = copied(usage)
            elif self.kind == "tool":
                given = {"result": copied(result)}
                if effect is not None:
                    given["effect"] = copied(effect)
            else:
                given = {"contexts": copied_passages(result, self.lost)}
        except Exception as error:  # noqa: BLE001 - whatever a foreign object raises
            self.lost("end", "failed", f"{type(error).__name__}: {told(error)}")
        self._over(given)

    def fail(self, error: Any, *, response: Any = None) -> None:
        """End it with what went wrong: an exception, or what one says; and what came before it."""
        said = f"{type(error).__name__}: {told(error)}" if _is_error(error) else told(error)
        given = {"error": copied(said[:_SMALL])}
        if response is not None:
            given["response"] = copied(response)
        self._over(given)

    @_quietly
    def did(
        self,
        *,
        action: str | None = None,
        side_effects: Any = (),
        name: str | None = None,
        arguments: Any = None,
    ) -> None:
        """Say what a tool really does, as far as it knows; see `run.Effect`."""
        effects = [side_effects] if isinstance(side_effects, str) else list(side_effects)
        said = {"action": action, "name": name, "arguments": arguments}
        known = {key: value for key, value in said.items() if value is not None}
        self._given["effect"] = copied({**known, "side_effects": effects})

    @_quietly
    def asked(self, /, **given: Any) -> None:
        """Say what was asked, where a framework tells it only later: the fields of the event."""
        self._given |= {name: copied(one) for name, one in given.items() if one is not None}

    def lost(self, what: str, why: str, detail: str = "") -> None:
        """Note that something of it could not be taken."""
        self.run.lost(f"{self.kind}: {what}", why, detail)

    def _over(self, given: dict[str, Any]) -> None:
        if self._is_over:
            return
        self._is_over = True
        self._given |= given
        self._given["ended_at"] = copied(self.run.recorder.clock())
        self.run.call_ended(self)

    def event(self, plain: Callable[[str, bytes], Any]) -> dict[str, Any]:
        """Return the event as it is so far, made by a function of what was copied."""
        given = dict(self._given)
        if "contexts" in given:
            given["contexts"] = read_passages(given["contexts"], self.lost)
        made = {name: plain(name, data) for name, data in given.items()}
        if not self._is_over:
            made["error"] = UNSEEN
        return {"kind": self.kind, **made}


class OpenRun:
    """A run that has begun. What is told of it after its `end` is recorded as an addendum.

    In a `with` block it is the current run, and ends with the block.
    """

    def __init__(
        self,
        recorder: "Recorder",
        name: str,
        *,
        query: Any = "",
        session: str | None = None,
        trace_id: str | None = None,
        agent: str | None = None,
    ) -> None:
        self.recorder = recorder
        self.trace_id = trace_id or current_trace_id() or token_hex(16)
        self._lock = Lock()
        self._said: dict[str, bytes] = {
            "name": copied(_named(name)),
            "query": copied(query if isinstance(query, str) else told(query)),
            "started_at": copied(recorder.clock()),
        }
        for key, value in (("session", session), ("agent", agent)):
            if value is not None:
                self._said[key] = copied(_named(value))
        self._calls: list[OpenCall] = []
        self._late: list[OpenCall] = []
        self._losses: dict[tuple[str, str, str], list[int]] = {}
        self._bytes = 0
        self._is_over = False
        self._ends_with_call = False
        self._made: Run | None = None
        self._token: Token[OpenRun | None] | None = None

    def __enter__(self) -> Self:
        self._token = this_run.set(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._token is not None:
            _reset(this_run, self._token)
        self.end(error=problem)

    def active(self) -> "_Active":
        """Return a context manager within which this run is the current one; it ends nothing."""
        return _Active(self)

    def of_one_call(self) -> Self:
        """Have the run end with its first call."""
        self._ends_with_call = True
        return self

    # What happens in it

    def model(
        self,
        provider: str,
        model: str,
        messages: Any,
        *,
        instructions: Any = None,
        tools: Any = (),
        request: Any = None,
        call_id: str | None = None,
    ) -> OpenCall:
        """Begin a request to a model: `messages` as they are sent, the rest of it beside them."""
        given = {"provider": _named(provider), "model": _named(model), "messages": messages}
        more = {"instructions": instructions, "tools": list(tools or ()), "request": request}
        return self._begin("model", given | more, call_id)

    def tool(
        self,
        name: str,
        arguments: Any,
        *,
        call_id: str | None = None,
        intended: str | None = None,
    ) -> OpenCall:
        """Begin a call of a tool, with the arguments and the id that the model gave."""
        given = {"name": _named(name), "arguments": arguments, "intended": intended}
        return self._begin("tool", given, call_id)

    def retrieval(
        self, query: Any, *, name: str = "retriever", call_id: str | None = None
    ) -> OpenCall:
        """Begin a question to a retriever; end it with what it gives."""
        asked = query if isinstance(query, str) else told(query)
        return self._begin("retrieval", {"query": asked, "name": _named(name)}, call_id)

    @_quietly
    def asked(self, query: Any) -> None:
        """Say what the program was asked, where that is known only after the run has begun."""
        self._say("query", query if isinstance(query, str) else told(query))

    @_quietly
    def answer(self, text: Any, citations: Any = ()) -> None:
        """Say what the program answered, and what it cites: `source`, `start`, `end`, `quote`."""
        self._say("answer", text if isinstance(text, str) else told(text))
        if citations:
            self._say("citations", list(citations))

    @_quietly
    def decision(self, decision: str, /, **weight: Any) -> None:
        """Say what was decided and how weighty it is: the fields of `run.Decided`."""
        at = {"decided_at": self.recorder.clock()}
        self._say("decision", {**at, **weight, "decision": decision})

    @_quietly
    def check(self, *, checked: bool = True) -> None:
        """Ask for the answer to be checked, or not, whatever the policy says."""
        self._say("check", checked)

    def has(self, kind: str, call_id: str) -> bool:
        """Whether a call of this kind was begun that has this id."""
        with self._lock:
            return any(one.kind == kind and one.call_id == call_id for one in self._calls)

    def lost(self, what: str, why: str, detail: str = "", size: int = 0) -> None:
        """Note that something of the run could not be taken."""
        with self._lock:
            count = self._losses.setdefault((what[:200], why, detail[:500]), [0, 0])
            count[0] += 1
            count[1] += size

    def end(self, answer: Any = None, error: Any = None) -> None:
        """End the run; it is recorded in the background. A second end changes nothing."""
        if answer is not None:
            self.answer(answer)
        with self._lock:
            if self._is_over:
                return
            self._is_over = True
        if error is not None:
            said = f"{type(error).__name__}: {told(error)}" if _is_error(error) else told(error)
            self._said["error"] = copied(said[:_SMALL])
        self._said["ended_at"] = copied(self.recorder.clock())
        self.recorder.ended(self)
        self.recorder.take(self.finished)

    def call_ended(self, call: OpenCall) -> None:
        """Take note of a call that is over: one that began after the run is an addendum."""
        if call in self._late:
            self.recorder.take(lambda: self._addendum(call))
        elif self._ends_with_call:
            self.end()

    def _begin(self, kind: str, given: dict[str, Any], call_id: str | None) -> OpenCall:
        known: dict[str, bytes] = {}
        try:
            known = {name: copied(one) for name, one in given.items() if one is not None}
            known["started_at"] = copied(self.recorder.clock())
            if call_id is not None:
                known["call_id"] = copied(_named(call_id))
        except Exception as error:  # noqa: BLE001 - whatever a foreign object raises
            self.lost(kind, "failed", f"{type(error).__name__}: {told(error)}")
        call = OpenCall(self, kind, known, call_id)
        size = sum(map(len, known.values()))
        policy = self.recorder.policy
        with self._lock:
            full = len(self._calls) >= policy.max_events
            heavy = self._bytes + size > policy.max_run_bytes
            if not full and not heavy:
                self._bytes += size
                (self._late if self._is_over else self._calls).append(call)
        if full or heavy:
            self.lost(kind, "too_many" if full else "too_large", size=size)
        return call

    def _say(self, name: str, value: Any) -> None:
        with self._lock:
            over = self._is_over
            if not over:
                self._said[name] = copied(value)
        if over:
            self.lost(name, "not_seen", "it came after the run had ended")

    # The values, made in the background

    def finished(self) -> Run:
        """Return the run as a frozen value; what cannot be read of it is among its losses."""
        losses: list[Loss] = []
        made = {name: self._plain("run", losses, name, data) for name, data in self._said.items()}
        made["trace_id"] = self.trace_id
        made["events"] = self._events(self._calls, losses)
        made["losses"] = losses
        for name in ("trace_id", "citations", "decision"):
            _try_field(made, name, losses)
        with self._lock:
            noted = list(self._losses.items())
        for (what, why, detail), (count, size) in noted:
            losses.append(_loss(what, why, detail, count, size))
        self._made = Run.model_validate(made)
        return self._made

    def _addendum(self, call: OpenCall) -> Addendum:
        run = self._made or self.finished()
        losses: list[Loss] = []
        events = self._events([call], losses)
        return Addendum(
            run_id=run.run_id,
            trace_id=run.trace_id,
            decision_id=run.decision_id,
            events=events,
            losses=losses,
        )

    def _events(self, calls: list[OpenCall], losses: list[Loss]) -> list[Any]:
        events: list[Any] = []
        seen: set[tuple[str, str]] = set()
        for number, call in enumerate(calls, 1):
            where = f"{call.kind} {number}"
            event = call.event(partial(self._plain, where, losses))
            event.setdefault("call_id", f"{call.kind}-{number}")
            while (call.kind, event["call_id"]) in seen:
                event["call_id"] += "+"
            seen.add((call.kind, event["call_id"]))
            if event["kind"] == "tool":
                event["arguments"] = _read_arguments(event.get("arguments"))
            _try_field(event, "effect", losses)
            try:
                events.append(_EVENT.validate_python(event))
            except ValidationError as error:
                losses.append(Loss(what=where, why="failed", detail=_problem(error)))
        return events

    def _plain(self, where: str, losses: list[Loss], name: str, data: bytes) -> Any:
        taking = Plain(self.recorder.policy.max_value_bytes)
        value = taking.of(orjson.loads(data))
        what = f"{where}: {name}"
        if taking.cut or taking.dropped:
            losses.append(
                Loss(what=what, why="too_large", count=taking.dropped or 1, bytes=taking.cut)
            )
        if taking.told:
            losses.append(Loss(what=what, why="not_json", count=taking.told))
        return value


class _Active:
    """Makes a run the current one within a `with` block."""

    def __init__(self, run: OpenRun) -> None:
        self._run = run
        self._token: Token[OpenRun | None] | None = None

    def __enter__(self) -> OpenRun:
        self._token = this_run.set(self._run)
        return self._run

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            _reset(this_run, self._token)


def _reset(variable: ContextVar[Any], token: Token[Any]) -> None:
    """Put a variable back; where a framework ends a call in another context, it stays there."""
    try:
        variable.reset(token)
    except ValueError:
        variable.set(None)


def _is_error(error: Any) -> bool:
    return isinstance(error, BaseException)


def _read_arguments(given: Any) -> Any:
    """Return a tool's arguments; a text of JSON, as models write them, is read."""
    if isinstance(given, str) and given.lstrip().startswith("{"):
        try:
            return Plain(2**30).of(orjson.loads(given))
        except ValueError:
            return given
    return {} if given is None else given


def _loss(what: str, why: str, detail: str, count: int, size: int) -> Loss:
    """Return a loss; a reason that there is none like is told in the detail."""
    known = why in get_args(Reason)
    return Loss.model_validate(
        {
            "what": what if what.strip() else _UNNAMED,
            "why": why if known else "failed",
            "detail": detail if known else f"{why}: {detail}",
            "count": count,
            "bytes": size or None,
        }
    )


def _problem(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"[:500]


def _named(name: Any) -> str:
    text = told(name)[:MAX_NAME]
    return text if text.strip() else _UNNAMED


def _try_field(made: dict[str, Any], name: str, losses: list[Loss]) -> None:
    """Leave a field out that is not what the model asks for, and say so."""
    from evidentia.integrations import run as values  # noqa: PLC0415 - read by name

    kinds: dict[str, Callable[[Any], Any]] = {
        "effect": values.Effect.model_validate,
        "decision": values.Decided.model_validate,
        "citations": lambda given: [values.Citation.model_validate(one) for one in given],
        "trace_id": lambda given: Run(name="trace", trace_id=given).trace_id,
    }
    if made.get(name) is None:
        return
    try:
        made[name] = kinds[name](made[name])
    except (ValidationError, TypeError) as error:
        said = _problem(error) if isinstance(error, ValidationError) else str(error)
        losses.append(Loss(what=name, why="failed", detail=said[:500]))
        del made[name]

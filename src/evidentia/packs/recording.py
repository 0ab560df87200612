"""Recording tools: a decorator and context manager that writes down what a tool did.

A shell: it has a clock, and knows which decision is being made. What a record says is decided in
`tools`. A call that fails is recorded like one that succeeds, and its exception goes on.
"""

import functools
import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from math import isfinite
from secrets import token_bytes
from time import perf_counter
from types import TracebackType
from typing import Any, Final, ParamSpec, TypeVar

from evidentia.bundles.redaction.redactor import Redactor
from evidentia.canonical import MAX_SAFE_INTEGER
from evidentia.errors import InputError
from evidentia.packs.clock import now
from evidentia.packs.fields import MAX_ACTION
from evidentia.packs.tools import (
    ToolCallRecord,
    ToolOutcome,
    ToolVerificationLedger,
    VerificationStatus,
)

P = ParamSpec("P")
R = TypeVar("R")

MAX_RECORDED: Final = 20_000
"""How many characters of one text are kept; the rest is counted."""
MAX_RECORDED_IN_ALL: Final = 60_000
"""How many characters of all arguments, or of all outputs, are kept: a trail entry has room."""
_NUMBER: Final = 25
"""What a number, or the marks around a text, are counted as."""
_MAX_DEPTH: Final = 20
_ROOM: Final = 40
"""For saying how much was cut."""
_OWN: Final = ("self", "cls")

_deciding: ContextVar[tuple[str, ToolVerificationLedger] | None] = ContextVar(
    "evidentia_deciding", default=None
)
_open: ContextVar[tuple["ToolCall", ...]] = ContextVar("evidentia_open_calls", default=())


@contextmanager
def deciding(
    decision_id: str, tool_ledger: ToolVerificationLedger
) -> Iterator[ToolVerificationLedger]:
    """Within this, recorded tools are called for this decision, in tasks begun within it too."""
    token = _deciding.set((decision_id, tool_ledger))
    try:
        yield tool_ledger
    finally:
        _deciding.reset(token)


class ToolCall:
    """A call that is being recorded: tell it what was done, as far as the tool knows."""

    def __init__(self, tool: "recorded_tool", intended: str) -> None:
        self.tool = tool
        self.intended = intended
        self._decision_id, self._ledger = tool.context()
        self._actual = ""
        self._inputs = _Recorded(tool.redactor)
        self._outputs = _Recorded(tool.redactor)
        self._effects: list[str] = []
        self._status = VerificationStatus.UNVERIFIED
        self._began = now()
        self._started = perf_counter()

    def given(self, /, **inputs: Any) -> None:
        """Note what the tool was given; a function's arguments are noted by themselves."""
        self._inputs.add(inputs)

    def did(self, action: str) -> None:
        """Say what the tool really did, in words that can be held against what was meant."""
        self._actual = action

    def returned(self, /, **outputs: Any) -> None:
        """Note what the tool gave back."""
        self._outputs.add(outputs)

    def caused(self, *effects: str) -> None:
        """Note what changed in the world, plainly: "created contact id=123 in HubSpot"."""
        self._effects += map(str, effects)

    def verified(self, *, holds: bool = True) -> None:
        """Note that it was checked whether the tool did what is said here, and how that ended."""
        self._status = VerificationStatus.VERIFIED if holds else VerificationStatus.REFUTED

    def end(self, actual: str, problem: BaseException | None) -> None:
        """Record the call: what was done if the tool did not say so, and what failed."""
        took = round((perf_counter() - self._started) * 1000, 3)
        redactor = self.tool.redactor
        failed = problem is not None
        error = _text(_told(problem), redactor, MAX_RECORDED) if problem is not None else None
        did = self._actual or (f"failed: {error}" if failed else actual)
        effects = (_text(effect, redactor, MAX_ACTION) for effect in self._effects)
        record = ToolCallRecord(
            tool_name=self.tool.tool_name,
            intended_action=_text(self.intended, redactor, MAX_ACTION),
            actual_action=_text(did, redactor, MAX_ACTION),
            inputs=self._inputs.values,
            outputs=self._outputs.values,
            side_effects=tuple(effect for effect in effects if effect.strip()),
            outcome=ToolOutcome.FAILED if failed else ToolOutcome.SUCCEEDED,
            error=error,
            verification_status=VerificationStatus.FAILED if failed else self._status,
            called_at=self._began,
            duration_ms=took,
        )
        self._ledger.record(self._decision_id, record)


class recorded_tool:  # noqa: N801 - used as a decorator and in `with`, like a function
    """Records the calls of a tool, as a decorator of a function or around a block.

    `intended` says what the tool is meant to do; of a function, `{name}` stands for its argument.
    `actual` says what it did, with `{result}` for what it returned; left out, a call that succeeds
    is taken to have done what was meant, and stays unverified. Without `decision_id` and
    `tool_ledger` the call belongs to the decision of the `deciding` around it. What a generator
    does can only be recorded by a block around its use.
    """

    def __init__(
        self,
        tool_name: str,
        *,
        intended: str,
        actual: str | Callable[[Any], str] | None = None,
        side_effects: Callable[[Any], list[str]] | None = None,
        decision_id: str | None = None,
        tool_ledger: ToolVerificationLedger | None = None,
        redactor: Redactor | None = None,
    ) -> None:
        if not tool_name.strip() or not intended.strip():
            raise InputError("a recorded tool has a name, and says what it is meant to do")
        if (decision_id is None) != (tool_ledger is None):
            raise InputError(f"{tool_name}: give both decision_id and tool_ledger, or neither")
        self.tool_name = tool_name
        self.redactor = redactor or Redactor(token_bytes(32))
        self._intended = intended
        self._actual = actual
        self._side_effects = side_effects
        self._given = (
            None if decision_id is None or tool_ledger is None else (decision_id, tool_ledger)
        )

    def context(self) -> tuple[str, ToolVerificationLedger]:
        """Return the decision that a call is made for, and where calls are recorded."""
        found = self._given or _deciding.get()
        if found is None:
            raise InputError(
                f"{self.tool_name} was called outside of a decision: use "
                "`with deciding(decision_id, tool_ledger):`, or give both to recorded_tool"
            )
        return found

    # Around a block

    def __enter__(self) -> ToolCall:
        call = ToolCall(self, self._intended)
        _open.set((*_open.get(), call))
        return call

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        calls = _open.get()
        call = next((call for call in reversed(calls) if call.tool is self), None)
        if call is None:
            raise InputError(f"{self.tool_name}: a block ends in the context in which it began")
        _open.set(tuple(other for other in calls if other is not call))
        call.end(self._intended, problem)

    async def __aenter__(self) -> ToolCall:
        return self.__enter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.__exit__(kind, problem, trace)

    # Around a function

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Return the function, each call of which is recorded."""
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise InputError(
                f"{self.tool_name} is a generator, and works only while it is used: record that, "
                "`with recorded_tool(…):`"
            )
        signature = inspect.signature(function)

        @functools.wraps(function)
        async def recorded_async(*arguments: P.args, **named: P.kwargs) -> Any:
            call, inputs = self._begun(signature, arguments, named)
            try:
                result = await function(*arguments, **named)  # type: ignore[misc]  # asked below
                actual = self._described(call, inputs, result)
            except BaseException as problem:
                call.end("", problem)
                raise
            call.end(actual, None)
            return result

        @functools.wraps(function)
        def recorded(*arguments: P.args, **named: P.kwargs) -> R:
            call, inputs = self._begun(signature, arguments, named)
            try:
                result = function(*arguments, **named)
                actual = self._described(call, inputs, result)
            except BaseException as problem:
                call.end("", problem)
                raise
            call.end(actual, None)
            return result

        is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            type(function).__call__
        )
        return recorded_async if is_async else recorded  # type: ignore[return-value]  # as it is

    def _begun(
        self, signature: inspect.Signature, arguments: Any, named: Any
    ) -> tuple[ToolCall, dict[str, Any]]:
        try:
            bound = signature.bind(*arguments, **named)
        except TypeError:  # the call will say so by itself, and is recorded as it was made
            inputs = {str(place): value for place, value in enumerate(arguments, start=1)} | named
        else:
            bound.apply_defaults()
            inputs = {name: it for name, it in bound.arguments.items() if name not in _OWN}
        call = ToolCall(self, _filled(self._intended, inputs))
        call.given(**inputs)
        return call, inputs

    def _described(self, call: ToolCall, inputs: dict[str, Any], result: Any) -> str:
        """Note what a call gave back and brought about; return what it did."""
        call.returned(result=result)
        if self._side_effects is not None:
            call.caused(*self._side_effects(result))
        if self._actual is None:
            return call.intended
        if callable(self._actual):
            return str(self._actual(result))
        return _filled(self._actual, {**inputs, "result": result})


class _Recorded:
    """Values as they are recorded: JSON, redacted, and no longer than what is kept.

    They are copied when they are added: what a tool does to them later does not reach them.
    """

    def __init__(self, redactor: Redactor) -> None:
        self.values: dict[str, Any] = {}
        self._redactor = redactor
        self._left = MAX_RECORDED_IN_ALL

    def add(self, values: Mapping[str, Any]) -> None:
        self.values |= self._mapping(values, 0)

    def _value(self, value: Any, depth: int) -> Any:
        self._left -= _NUMBER
        match value:
            case None | bool():
                return value
            case int() if abs(value) <= MAX_SAFE_INTEGER:
                return value
            case float() if isfinite(value):
                return value
            case Mapping() if depth < _MAX_DEPTH:
                return self._mapping(value, depth)
            case list() | tuple() | set() | frozenset() if depth < _MAX_DEPTH:
                return self._list(value, depth)
        return self._text(value)

    def _text(self, value: Any) -> str:
        text = value if isinstance(value, str) else _shown(value)
        kept = _text(text, self._redactor, max(min(MAX_RECORDED, self._left), _ROOM))
        self._left -= len(kept)
        return kept

    def _mapping(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        copied: dict[str, Any] = {}
        for taken, (key, item) in enumerate(value.items()):
            if self._left <= 0:
                copied["…"] = _more(len(value) - taken)
                break
            copied[self._text(key)] = self._value(item, depth + 1)
        return copied

    def _list(self, value: Collection[Any], depth: int) -> list[Any]:
        copied: list[Any] = []
        for taken, item in enumerate(value):
            if self._left <= 0:
                copied.append(_more(len(value) - taken))
                break
            copied.append(self._value(item, depth + 1))
        return copied


def _more(count: int) -> str:
    return f"… ({count} more values)"


def _text(text: str, redactor: Redactor, limit: int) -> str:
    """Return a text as it is recorded: redacted, and cut to a limit; what is cut is counted."""
    whole = redactor.redact(text.encode(errors="replace").decode()).text
    if len(whole) <= limit:
        return whole
    kept = limit - _ROOM
    return f"{whole[:kept]}… ({len(whole) - kept} more characters)"


def _shown(value: Any) -> str:
    """Return a value that JSON does not have as text; one that cannot be shown, by its type."""
    try:
        return repr(value)
    except Exception:  # noqa: BLE001 - whatever a foreign repr raises: the call goes on
        return f"<{type(value).__name__}>"


def _filled(template: str, values: Mapping[str, Any]) -> str:
    """Return a template with its values; one that does not fit is left as it is."""
    try:
        filled = template.format_map(values)
    except Exception:  # noqa: BLE001 - a foreign value's own formatting may raise anything
        return template
    return filled if filled.strip() else template


def _told(problem: BaseException) -> str:
    name = type(problem).__name__
    try:
        said = str(problem).strip()
    except Exception:  # noqa: BLE001 - whatever a foreign error raises: its name is told
        return name
    return f"{name}: {said}" if said else name


def current_trace_id() -> str | None:
    """Return the trace id of the current OpenTelemetry span; None where there is none."""
    try:
        from opentelemetry import trace  # noqa: PLC0415 - optional, and slow to load
    except ImportError:
        return None
    context = trace.get_current_span().get_span_context()
    return f"{context.trace_id:032x}" if context.is_valid else None

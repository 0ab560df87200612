"""Words for a call of a tool: what was intended and what was done, from a structured call.

A pack compares two sentences; a framework has a name, arguments and a result. So both sentences
are derived from those, by rules that a reader can follow:

- **Intended** is the call that the model asked for: `get_contact(contact_id="456")`.
- **Actual** is the same call, unless the call's own record says otherwise: by its `effect` (another
  name, other arguments, an action in words), or by a result that names an argument of the call
  with another value, as `{"contact_id": "457"}` does. Then it is what that says, and is flagged.
- A tool that obeys, or says nothing about itself, is not flagged. It stays unverified: that it did
  what was asked is the framework's word. `read_only` tools that changed something are flagged.
- A tool may declare how it words itself: `intended="retrieve contact {contact_id} read-only"`,
  `done="retrieved contact {id} read-only"`. Names are filled from the result, then from the
  arguments. The sentences are then compared by the rules of packs, and doubt is flagged.
- A call that failed did not do what was meant.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import Field

from evidentia.canonical import sha256_hex
from evidentia.frozen import FrozenModel, thaw
from evidentia.integrations.run import Effect, ToolCall
from evidentia.packs.fields import MAX_ACTION, Told, hours_between
from evidentia.packs.tools import ToolCallRecord, ToolOutcome, VerificationStatus

_SHOWN: Final = 200
_PLACE: Final = re.compile(r"\{(\w+)\}")
_WORDS: Final = re.compile(r"[_.\-/\s]+|(?<=[a-z])(?=[A-Z])")
_SCALARS: Final = (str, int, float, bool)


class ToolWording(FrozenModel):
    """How a tool words itself; all may be left out.

    `echoes` is whether a field of the result that is called as an argument says with what value
    the tool worked; switch it off for a tool whose results use the names for something else.
    """

    intended: Told | None = None
    done: Told | None = None
    echoes: bool = True
    read_only: bool = Field(default=False)


PLAINLY: Final = ToolWording()


@dataclass(frozen=True, slots=True)
class _Done:
    """What a call is said to have done, and in what it departs from what was asked."""

    action: str
    departures: tuple[str, ...]


def tool_record(call: ToolCall, wording: ToolWording = PLAINLY) -> ToolCallRecord:
    """Return the record of a call as packs have it, with the contradiction if there is one."""
    intended = _intended(call, wording)
    failed = call.error is not None
    done = _Done(f"failed: {call.error}", ()) if failed else _done(call, wording, intended)
    effects = () if call.effect is None else tuple(call.effect.side_effects)
    departures = list(done.departures)
    if wording.read_only and effects:
        departures.append(f"a tool that only reads changed something: {effects[0]}")
    flagged = {"contradiction_flag": True, "contradiction_reason": "; ".join(departures)}
    return ToolCallRecord(
        tool_name=call.name,
        intended_action=intended[:MAX_ACTION],
        actual_action=done.action[:MAX_ACTION],
        inputs=_object(call.arguments, "arguments"),
        outputs={} if call.result is None else _object(call.result, "result"),
        side_effects=effects,
        outcome=ToolOutcome.FAILED if failed else ToolOutcome.SUCCEEDED,
        error=(call.error or "").strip() or "no reason was given" if failed else None,
        verification_status=VerificationStatus.FAILED if failed else VerificationStatus.UNVERIFIED,
        called_at=call.started_at,
        duration_ms=_took(call),
        **(flagged if departures and not failed else {}),
    )


def _intended(call: ToolCall, wording: ToolWording) -> str:
    if call.intended is not None:
        return call.intended
    if wording.intended is not None:
        filled = _filled(wording.intended, _arguments(call))
        if filled is not None:
            return filled
    if call.effect is not None and call.effect.action:
        return _in_words(call)
    return called(call.name, call.arguments)


def _done(call: ToolCall, wording: ToolWording, intended: str) -> _Done:
    effect = call.effect or Effect()
    departures = tuple(_departures(call, effect, wording))
    if effect.action:
        return _Done(effect.action, departures)
    if wording.done is not None:
        filled = _filled(wording.done, {**_arguments(call), **_result(call)})
        return _Done(
            filled or f"{called(call.name, call.arguments)}, and no more is known", departures
        )
    if not departures:
        return _Done(intended, ())
    told = {**_arguments(call), **thaw(effect.arguments or {}), **dict(_echoed(call, wording))}
    return _Done(called(effect.name or call.name, told), departures)


def _departures(call: ToolCall, effect: Effect, wording: ToolWording) -> Iterator[str]:
    asked = _arguments(call)
    if effect.name is not None and effect.name != call.name:
        yield f"{_quoted(call.name)} was asked for, {_quoted(effect.name)} was done"
    said = {**thaw(effect.arguments or {}), **dict(_echoed(call, wording))}
    for name, value in said.items():
        if name not in asked:
            yield f"{name} {_shown(value)} was not asked for"
        elif not _same(asked[name], value):
            yield f"{name} {_shown(asked[name])} was asked for, {_shown(value)} was done"


def _echoed(call: ToolCall, wording: ToolWording) -> Iterator[tuple[str, Any]]:
    """Give the arguments that the result names with another value."""
    if not wording.echoes:
        return
    asked = _arguments(call)
    for name, value in _result(call).items():
        told = name in asked and isinstance(value, _SCALARS) and isinstance(asked[name], _SCALARS)
        if told and not _same(asked[name], value):
            yield name, value


def _same(asked: Any, value: Any) -> bool:
    if isinstance(asked, bool) or isinstance(value, bool):
        return str(asked).lower() == str(value).lower()
    if isinstance(asked, _SCALARS) and isinstance(value, _SCALARS):
        return asked == value or str(asked) == str(value)
    return bool(asked == value)


def called(name: str, arguments: Any) -> str:
    """Return a call as it is written in a program: `get_contact(contact_id="456")`."""
    if isinstance(arguments, Mapping):
        listed = ", ".join(f"{key}={_shown(value)}" for key, value in arguments.items())
    else:
        listed = _shown(arguments)
    return f"{name}({listed})"


def _in_words(call: ToolCall) -> str:
    """Return a call as a sentence, for a tool that tells in words what it did."""
    words = [word.lower() for word in _WORDS.split(call.name) if word]
    return " ".join([*words, *(str(one) for one in _arguments(call).values() if one is not None)])


def _filled(template: str, values: Mapping[str, Any]) -> str | None:
    """Return a template with its values; None if one of them is not known."""
    if any(name not in values for name in _PLACE.findall(template)):
        return None
    return _PLACE.sub(lambda found: str(values[found[1]]), template)


def _arguments(call: ToolCall) -> dict[str, Any]:
    return thaw(call.arguments) if isinstance(call.arguments, Mapping) else {}


def _result(call: ToolCall) -> dict[str, Any]:
    """Return the fields of a result that is an object, or a text of one."""
    result = call.result
    if isinstance(result, str) and result.lstrip().startswith("{"):
        try:
            result = json.loads(result)
        except ValueError:
            return {}
    return thaw(result) if isinstance(result, Mapping) else {}


def _object(value: Any, name: str) -> dict[str, Any]:
    return thaw(value) if isinstance(value, Mapping) else {name: thaw(value)}


def _shown(value: Any) -> str:
    text = json.dumps(thaw(value), ensure_ascii=False)
    if len(text) <= _SHOWN:
        return text
    return f"{text[:_SHOWN]}… ({len(text)} characters, {sha256_hex(text.encode())[:16]})"


def _took(call: ToolCall) -> float | None:
    if call.started_at is None or call.ended_at is None:
        return None
    return max(round(hours_between(call.started_at, call.ended_at) * 3_600_000, 3), 0.0)


def _quoted(text: str) -> str:
    return f'"{text[:_SHOWN]}"'

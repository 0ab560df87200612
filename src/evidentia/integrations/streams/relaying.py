"""Relaying a stream: each chunk goes on at once and as it is, and evidence in the chunks' form.

Chunks are server-sent events as text or bytes, dicts, or the objects of a vendor's client.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from evidentia.integrations.streams.checks import StreamedCheck, Told
from evidentia.ledger.wire.events import EventCutter, as_event, event_data
from evidentia.ledger.wire.protocols import StreamProtocol, adds, ends


class StreamedEvidence(BaseModel):
    """An event that carries evidence, among objects of a vendor's client: it has its fields."""

    model_config = ConfigDict(extra="allow", frozen=True)

    def to_dict(self, **_: Any) -> dict[str, Any]:
        """Return its fields, as OpenAI's and Anthropic's objects do."""
        return self.model_dump(mode="json")


class Relay:
    """Passes a stream's chunks on, reads the answer in them, and puts evidence among them."""

    def __init__(self, protocol: StreamProtocol, check: StreamedCheck) -> None:
        self._protocol, self._check = protocol, check
        self._cutter: EventCutter[Any] | None = None
        self._write: Callable[[dict[str, Any]], Any] = self._as_text
        self._like: Mapping[str, Any] = {}
        self._held: list[Any] = []
        self._is_unfinished = False
        self._could_read = True

    def pass_on(self, chunk: Any) -> list[Any]:
        """Return what goes on now: the chunk, and evidence that is there."""
        passed = self._events_of(chunk) if isinstance(chunk, str | bytes) else self._object(chunk)
        is_between = bool(passed) and not self._held and _ends_whole(passed[-1])
        return passed + self.evidence() if is_between else passed

    def rest(self) -> list[Any]:
        """Return what is left when the host's stream has ended; `held` goes after the evidence."""
        rest = self._cutter.rest() if self._cutter else None
        if not rest:
            return []
        self._is_unfinished = True
        return self._pass([rest], [rest])

    def held(self) -> list[Any]:
        """Return what tells a client that there is no more, for the stream's very end."""
        return self._held

    def evidence(self) -> list[Any]:
        """Return the evidence that is there and was not sent, in the form of the chunks."""
        return [self._write(event) for told in self._check.take() for event in self._events(told)]

    # What comes in

    def _events_of(self, chunk: Any) -> list[Any]:
        if self._cutter is None:
            is_text = isinstance(chunk, str)
            self._cutter = EventCutter("" if is_text else b"")
            self._write = self._as_text if is_text else self._as_bytes
        events = list(self._cutter.cut(chunk))
        joined = chunk[:0].join(events)
        return self._pass(events, [joined] if joined else [])

    def _object(self, chunk: Any) -> list[Any]:
        data = self._read(_fields, chunk)
        self._write = dict if isinstance(chunk, Mapping) else self._like_object(chunk)
        return self._note(data, chunk)

    def _pass(self, events: list[Any], joined: list[Any]) -> list[Any]:
        """Return what goes on of whole events: all as one piece, until one is the last."""
        passed = [part for event in events for part in self._note(self._read_event(event), event)]
        return passed if self._held else joined

    def _note(self, data: Any, chunk: Any) -> list[Any]:
        """Read what an event adds to the answer; return it, unless it waits for the end."""
        if self._held or self._read(lambda one: ends(self._protocol, one), data):
            self._held.append(chunk)
            return []
        if isinstance(data, Mapping):
            self._like = data
        text = self._read(lambda one: adds(self._protocol, one), data)
        if text:
            self._check.tell(text)
        return [chunk]

    def _read_event(self, event: Any) -> Any:
        return self._read(event_data, event)

    def _read(self, reading: Callable[[Any], Any], value: Any) -> Any:
        """Read something of a chunk; what can't be read is told once, and raises nothing."""
        try:
            return reading(value)
        except Exception as error:  # noqa: BLE001 - the host's answer must not suffer from it
            if self._could_read:
                self._could_read = False
                self._check.problem(
                    f"a chunk could not be read ({type(error).__name__}): what it adds to the "
                    "answer is not checked"
                )
            return None

    # What goes out

    def _events(self, told: Told) -> Iterable[dict[str, Any]]:
        if isinstance(told, tuple):
            return self._protocol.sources(told, self._like)
        return self._protocol.events(told, self._like)

    def _as_text(self, event: dict[str, Any]) -> str:
        name = str(event["type"]) if self._protocol.is_named else None
        before = "\n\n" if self._is_unfinished else ""
        self._is_unfinished = False
        return before + as_event(event, name)

    def _as_bytes(self, event: dict[str, Any]) -> bytes:
        return self._as_text(event).encode()

    def _like_object(self, chunk: Any) -> Callable[[dict[str, Any]], Any]:
        """Return what makes an object of an event: of the chunk's own class, if that can be."""
        construct = getattr(type(chunk), "construct", None)
        if self._protocol.name == "openai-chat" and hasattr(chunk, "choices") and construct:
            return lambda event: construct(**event)
        return lambda event: StreamedEvidence(**event)


def _ends_whole(passed: Any) -> bool:
    """Whether an event may follow: one that is too long to be put together has no end."""
    return not isinstance(passed, str | bytes) or passed[-1:] in ("\n", "\r", b"\n", b"\r")


def _fields(chunk: Any) -> Any:
    """Return a chunk's fields, if it has any."""
    if isinstance(chunk, Mapping):
        return chunk
    dump = getattr(chunk, "model_dump", None)
    return None if dump is None else dump(by_alias=True)

"""Where LlamaIndex's dispatcher tells of events and spans: all is handed on to one listener."""

from collections.abc import Mapping
from inspect import BoundArguments
from typing import Any, Protocol

from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.span_handlers import BaseSpanHandler


class Listener(Protocol):
    """Who listens."""

    def event(self, event: Any, /) -> None:
        """Take an event."""

    def entered(
        self, id_: str, arguments: Mapping[str, Any], instance: Any, parent_id: str | None, /
    ) -> None:
        """Take the beginning of a span."""

    def left(self, id_: str, result: Any, error: BaseException | None, /) -> None:
        """Take the end of a span."""


class Events(BaseEventHandler):
    """Hands on what LlamaIndex tells of events."""

    def __init__(self, listener: Listener) -> None:
        super().__init__()
        self._listener = listener

    def hands_on_to(self, listener: Listener) -> bool:
        """Whether this listener is told."""
        return self._listener is listener

    @classmethod
    def class_name(cls) -> str:
        """Return its name."""
        return "EvidenceEvents"

    def handle(self, event: Any, **_: Any) -> None:
        """Hand an event on."""
        self._listener.event(event)


class Spans(BaseSpanHandler[Any]):
    """Hands on what LlamaIndex tells of spans; keeps none itself."""

    def __init__(self, listener: Listener) -> None:
        super().__init__()
        self._listener = listener

    def hands_on_to(self, listener: Listener) -> bool:
        """Whether this listener is told."""
        return self._listener is listener

    @classmethod
    def class_name(cls) -> str:
        """Return its name."""
        return "EvidenceSpans"

    def span_enter(
        self,
        id_: str,
        bound_args: BoundArguments,
        instance: Any = None,
        parent_id: str | None = None,
        tags: dict[str, Any] | None = None,
        **_: Any,
    ) -> None:
        """Hand the beginning of a span on."""
        del tags
        self._listener.entered(id_, bound_args.arguments, instance, parent_id)

    def span_exit(
        self,
        id_: str,
        bound_args: BoundArguments,
        instance: Any = None,
        result: Any = None,
        **_: Any,
    ) -> None:
        """Hand the end of a span on."""
        del bound_args, instance
        self._listener.left(id_, result, None)

    def span_drop(
        self,
        id_: str,
        bound_args: BoundArguments,
        instance: Any = None,
        err: BaseException | None = None,
        **_: Any,
    ) -> None:
        """Hand on that a span ended by an error."""
        del bound_args, instance
        self._listener.left(id_, None, err or RuntimeError("it was given up"))

    def new_span(self, *_: Any, **__: Any) -> None:
        """Make none: what is kept of spans is the listener's."""

    def prepare_to_exit_span(self, *_: Any, **__: Any) -> None:
        """Leave none."""

    def prepare_to_drop_span(self, *_: Any, **__: Any) -> None:
        """Drop none."""

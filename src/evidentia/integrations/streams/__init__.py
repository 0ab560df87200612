"""Streams of answers that carry their evidence: claims and verdicts as they come, then the ledger.

    return StreamingResponse(with_evidence(stream, workspace, "ai-sdk", contexts=retrieved))

The host's chunks pass at once and unchanged; nothing is raised into the host.
"""

import asyncio
import threading
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from contextlib import suppress
from functools import partial
from inspect import isawaitable
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, overload

from evidentia.errors import InputError
from evidentia.integrations.streams.checks import StreamedCheck
from evidentia.integrations.streams.relaying import Relay, StreamedEvidence
from evidentia.ledger.wire.protocols import PROTOCOLS

if TYPE_CHECKING:
    from evidentia.workspace import Workspace

__all__ = ["StreamedEvidence", "with_evidence"]

SECONDS: Final = 30.0
"""How long a stream stays open for verdicts, after the answer's last chunk."""


@overload
def with_evidence(
    stream: AsyncIterable[Any],
    workspace: "Workspace",
    protocol: str,
    *,
    contexts: Iterable[Any] | None = None,
    sources: Iterable[Any] | None = None,
    as_it_comes: bool = True,
    seconds: float = SECONDS,
    **checked: Any,
) -> AsyncIterator[Any]: ...


@overload
def with_evidence(
    stream: Iterable[Any],
    workspace: "Workspace",
    protocol: str,
    *,
    contexts: Iterable[Any] | None = None,
    sources: Iterable[Any] | None = None,
    as_it_comes: bool = True,
    seconds: float = SECONDS,
    **checked: Any,
) -> Iterator[Any]: ...


def with_evidence(
    stream: Iterable[Any] | AsyncIterable[Any],
    workspace: "Workspace",
    protocol: str,
    *,
    contexts: Iterable[Any] | None = None,
    sources: Iterable[Any] | None = None,
    as_it_comes: bool = True,
    seconds: float = SECONDS,
    **checked: Any,
) -> Iterator[Any] | AsyncIterator[Any]:
    """Pass on a stream of an answer's chunks, with the evidence of the answer among them.

    `protocol` is `ai-sdk`, `ag-ui`, `openai-chat`, `openai-responses` or `anthropic`; chunks are
    server-sent events (text or bytes), dicts, or the client's objects. `contexts` and `checked` are
    what `check` takes beside the answer. `sources` are shown beside it, the contexts if none are
    given; without either, the documents that the verdicts rest on. With `as_it_comes`, sentences
    are judged while the answer streams, by judges that send nothing away. The stream stays open for
    the ledger for so many `seconds` at most; the ledger is recorded all the same. If the client
    leaves before, nothing is.
    """
    found = PROTOCOLS.get(protocol)
    if found is None:
        raise InputError(f"protocol {protocol!r} is unknown: use {', '.join(PROTOCOLS)}")
    if contexts is not None:
        checked["contexts"] = _listed(contexts)
    check = StreamedCheck(workspace, checked, sources=_listed(sources), as_it_comes=as_it_comes)
    relay = Relay(found, check)
    if isinstance(stream, AsyncIterable):
        return _relayed_async(stream, relay, check, seconds)
    return _relayed(stream, relay, check, seconds)


def _listed(given: Any) -> Any:
    """Return what can be read twice; what is no list of anything is for the check to refuse."""
    is_list = isinstance(given, Iterable) and not isinstance(given, str | bytes | dict)
    return list(given) if is_list else given


def _relayed(
    stream: Iterable[Any], relay: Relay, check: StreamedCheck, seconds: float
) -> Iterator[Any]:
    try:
        for chunk in stream:
            yield from relay.pass_on(chunk)
        yield from relay.rest()
        arrived = threading.Event()
        check.arrived = arrived.set
        check.end()
        until = monotonic() + seconds
        while not check.is_done.is_set() and arrived.wait(max(0.0, until - monotonic())):
            arrived.clear()
            yield from relay.evidence()
        check.tell_if_late(seconds)
        yield from relay.evidence()
        yield from relay.held()
    except BaseException:  # the client has gone, or the host's stream has failed
        check.leave()
        _close(stream)
        raise


async def _relayed_async(
    stream: AsyncIterable[Any], relay: Relay, check: StreamedCheck, seconds: float
) -> AsyncIterator[Any]:
    try:
        async for chunk in stream:
            for passed in relay.pass_on(chunk):
                yield passed
        for passed in relay.rest():
            yield passed
        arrived, loop = asyncio.Event(), asyncio.get_running_loop()
        check.arrived = partial(_wake, loop, arrived)
        check.end()
        until = loop.time() + seconds
        while not check.is_done.is_set() and await _has_arrived(arrived, until - loop.time()):
            arrived.clear()
            for passed in relay.evidence():
                yield passed
        check.tell_if_late(seconds)
        for passed in (*relay.evidence(), *relay.held()):
            yield passed
    except BaseException:  # the client has gone, or the host's stream has failed
        check.leave()
        closing = _close(stream)
        if isawaitable(closing):
            await closing
        raise


async def _has_arrived(arrived: asyncio.Event, seconds: float) -> bool:
    try:
        await asyncio.wait_for(arrived.wait(), max(0.0, seconds))
    except TimeoutError:
        return False
    return True


def _wake(loop: asyncio.AbstractEventLoop, arrived: asyncio.Event) -> None:
    with suppress(RuntimeError):  # the loop is closed: nobody waits
        loop.call_soon_threadsafe(arrived.set)


def _close(stream: Any) -> Any:
    """Close the host's stream, so that its model need not go on; what that raises is the host's."""
    close = getattr(stream, "aclose", None) or getattr(stream, "close", None)
    return None if close is None else close()

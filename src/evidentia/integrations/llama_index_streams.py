"""Answers that LlamaIndex streams: the model is asked only as they are read, and then it is heard.

What makes such an answer returns before that, so its run goes on with the reading.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from llama_index.core.base.response.schema import AsyncStreamingResponse, StreamingResponse

from evidentia.integrations.open_runs import OpenRun

Over = Callable[[OpenRun, str, BaseException | str | None], None]
"""Is told when a stream is over: its run, what was read, and what went wrong."""


def read_along(result: Any, run: OpenRun, over: Over) -> bool:
    """Have what is read of a streamed answer heard in its run; whether that is new."""
    given = getattr(result, "response_gen", None)
    code = getattr(given, "gi_code", None) or getattr(given, "ag_code", None)
    if given is None or code in {_pieces.__code__, _pieces_async.__code__}:
        return False
    if isinstance(result, StreamingResponse):
        result.response_gen = _pieces(given, run, over)  # type: ignore[assignment]  # iterated alone
    elif isinstance(result, AsyncStreamingResponse):
        result.response_gen = _pieces_async(given, run, over)  # type: ignore[assignment]  # iterated alone
    else:
        return False
    return True


def what_ended(error: BaseException) -> BaseException | str:
    """Return what ended a stream: an error, or that nobody read on."""
    return "the stream was cut off" if isinstance(error, GeneratorExit) else error


def _pieces(given: Any, run: OpenRun, over: Over) -> Iterator[Any]:
    read: list[str] = []
    try:
        while True:
            with run.active():  # while a piece is made: between them, the program's own is current
                piece = next(given, None)
            if piece is None:
                break
            read.append(str(piece))
            yield piece
    except BaseException as error:
        over(run, "".join(read), what_ended(error))
        raise
    over(run, "".join(read), None)


async def _pieces_async(given: Any, run: OpenRun, over: Over) -> AsyncIterator[Any]:
    read: list[str] = []
    try:
        while True:
            with run.active():
                piece = await anext(given, None)
            if piece is None:
                break
            read.append(str(piece))
            yield piece
    except BaseException as error:
        over(run, "".join(read), what_ended(error))
        raise
    over(run, "".join(read), None)

"""Answers that LlamaIndex streams: the model is asked only as a program reads them.

Where an engine returned, its run goes on with the reading, and ends with the last piece.
"""

from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

from llama_index.core.base.response.schema import AsyncStreamingResponse, StreamingResponse

from evidentia.integrations.open_runs import OpenRun

_CUT_OFF: Final = "the stream was cut off"


def read_along(result: Any, run: OpenRun, *, ends: bool) -> bool:
    """Have what is read of a streamed answer heard in its run; whether there is a stream."""
    if isinstance(result, StreamingResponse) and result.response_gen is not None:
        result.response_gen = _pieces(result.response_gen, run, ends=ends)  # type: ignore[assignment]  # iterated alone
    elif isinstance(result, AsyncStreamingResponse) and result.response_gen is not None:
        result.response_gen = _pieces_async(result.response_gen, run, ends=ends)  # type: ignore[assignment]  # iterated alone
    else:
        return False
    return True


def _pieces(given: Any, run: OpenRun, *, ends: bool) -> Iterator[Any]:
    read = _Read(run, ends=ends)
    try:
        while True:
            with run.active():  # while a piece is made: between them, the program's own is current
                piece = next(given, None)
            if piece is None:
                break
            read.pieces.append(str(piece))
            yield piece
    except BaseException as error:
        read.failed(error)
        raise
    read.over()


async def _pieces_async(given: Any, run: OpenRun, *, ends: bool) -> AsyncIterator[Any]:
    read = _Read(run, ends=ends)
    try:
        while True:
            with run.active():
                piece = await anext(given, None)
            if piece is None:
                break
            read.pieces.append(str(piece))
            yield piece
    except BaseException as error:
        read.failed(error)
        raise
    read.over()


class _Read:
    """What was read of a stream."""

    def __init__(self, run: OpenRun, *, ends: bool) -> None:
        self.pieces: list[str] = []
        self._run = run
        self._ends = ends

    def over(self) -> None:
        self._run.answer("".join(self.pieces))
        if self._ends:
            self._run.end()

    def failed(self, error: BaseException) -> None:
        if self._ends:
            cut = isinstance(error, GeneratorExit)
            self._run.end(error=_CUT_OFF if cut else error)

"""Files of spans, as the collector's file exporter writes them: JSON lines, or protobuf."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, NamedTuple

from evidentia.errors import DocumentError, InputError, environment_problem
from evidentia.integrations.otel.bodies import JSON, MOST_BYTES, PROTOBUF, parsed
from evidentia.integrations.otel.spans import Received

_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_LENGTH: Final = 4
_JSON_BEGINS: Final = b"{["
_BLANK: Final = b" \t\r\n\xef\xbb\xbf"


class Batch(NamedTuple):
    """The spans of one line or message; `problem` is why it could not be read, if it could not.

    `done` of `total` bytes of the file are behind it.
    """

    number: int
    received: Received
    problem: str | None
    done: int
    total: int


def read_batches(path: Path) -> Iterator[Batch]:
    """Give what is in a file, one batch after the other; one that is broken does not end it.

    `InputError` is raised for a file that has no spans at all in a form that is known.
    """
    total = max(1, path.stat().st_size)
    try:
        with path.open("rb") as raw, _plain(raw, path) as file:
            read = False
            for number, (data, media_type) in enumerate(_pieces(file, path), 1):
                read = True
                try:
                    received, problem = parsed(data, media_type), None
                except InputError as error:
                    received, problem = Received(), str(error)
                yield Batch(number, received, problem, raw.tell(), total)
            if not read:
                raise DocumentError(f"{path}: it is empty: name a file that a collector wrote")
    except (EOFError, gzip.BadGzipFile) as error:
        raise DocumentError(f"{path}: it is broken gzip: {error}") from None
    except OSError as error:
        raise environment_problem(error) from error


@contextmanager
def _plain(raw: IO[bytes], path: Path) -> Iterator[IO[bytes]]:
    """Give a file without its compression."""
    begins = raw.read(4)
    raw.seek(0)
    if begins == _ZSTD:
        raise DocumentError(f"{path}: it is compressed with zstd: decompress it with 'zstd -d'")
    if begins.startswith(_GZIP):
        with gzip.open(raw) as file:
            yield file  # type: ignore[misc]  # it reads as one
    else:
        yield raw


def _pieces(file: IO[bytes], path: Path) -> Iterator[tuple[bytes, str]]:
    head = file.read(_LENGTH)
    if not head:
        return
    if head.lstrip(_BLANK)[:1] in (b"", *(bytes([one]) for one in _JSON_BEGINS)):
        file.seek(0)
        yield from ((line, JSON) for line in _lines(file, path))
        return
    size = int.from_bytes(head)
    if size > MOST_BYTES:  # the file is one message: its length would be a field's number
        whole = head + file.read(MOST_BYTES)
        if len(whole) > MOST_BYTES:
            raise DocumentError(f"{path}: it is no file of spans, as JSON lines or as protobuf")
        yield whole, PROTOBUF
        return
    while head:
        size = int.from_bytes(head)
        data = file.read(size) if size <= MOST_BYTES else b""
        if len(head) < _LENGTH or len(data) < size:
            raise DocumentError(f"{path}: it ends in the middle of a message: was it cut?")
        yield data, PROTOBUF
        head = file.read(_LENGTH)


def _lines(file: IO[bytes], path: Path) -> Iterator[bytes]:
    """Give the lines that are not blank; a file that is one object over many lines is one."""
    first = True
    line = file.readline(MOST_BYTES)
    while line:
        if len(line) >= MOST_BYTES:
            raise DocumentError(f"{path}: a line has more than {MOST_BYTES:,} bytes")
        line = line.strip(_BLANK)
        if first and line == b"{":
            whole = line + file.read(MOST_BYTES)
            if len(whole) > MOST_BYTES:
                raise DocumentError(f"{path}: an object has more than {MOST_BYTES:,} bytes")
            yield whole
            return
        if line:
            first = False
            yield line
        line = file.readline(MOST_BYTES)

"""Reading evidence records from NDJSON: all of it is checked before anything is written."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from evidentia.errors import InputError, NotFoundError
from evidentia.trail.record import EvidenceRecord, read_record

MAX_LINE_BYTES = 2 * 1024 * 1024
_IN_MEMORY = 32 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"


class CheckedRecords:
    """Records that were all read and found good once; iterating reads them again, in order."""

    def __init__(self, copy: IO[bytes], name: str) -> None:
        self._copy = copy
        self._name = name
        self.count = sum(1 for _ in self._read())

    def __iter__(self) -> Iterator[tuple[int, EvidenceRecord]]:
        """Give each record with the number of its line."""
        yield from self._read()

    def _read(self) -> Iterator[tuple[int, EvidenceRecord]]:
        self._copy.seek(0)
        for number, line in enumerate(
            iter(lambda: self._copy.readline(MAX_LINE_BYTES + 1), b""), 1
        ):
            if len(line) > MAX_LINE_BYTES:
                raise InputError(f"{self._name}, line {number}: longer than {MAX_LINE_BYTES} bytes")
            text = line.removeprefix(_BOM).strip() if number == 1 else line.strip()
            if text:
                yield number, self._record(number, text)

    def _record(self, number: int, text: bytes) -> EvidenceRecord:
        try:
            return read_record(text)
        except InputError as error:
            problem = f"{self._name}, line {number}: {error}; nothing was appended"
            raise InputError(problem) from None


@contextmanager
def checked_records(source: Path) -> Iterator[CheckedRecords]:
    """Read NDJSON from a file or `-` for standard input, and check every line of it.

    A copy is taken first, so that what is appended is what was checked.
    """
    name = "standard input" if str(source) == "-" else str(source)
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as copy:
        try:
            if str(source) == "-":
                _copy(sys.stdin.buffer, copy)
            else:
                with source.open("rb") as file:
                    _copy(file, copy)
        except FileNotFoundError:
            raise NotFoundError(f"{source}: no such file") from None
        except OSError as error:
            raise InputError(f"{source}: cannot be read ({error.strerror})") from None
        yield CheckedRecords(copy, name)


def read_ids(path: Path) -> list[str]:
    """Read obligation ids, one a line; blank lines are left out."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        raise NotFoundError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read ({error})") from None
    return [line.strip() for line in lines if line.strip()]


def _copy(source: IO[bytes], copy: Any) -> None:
    while block := source.read(1024 * 1024):
        copy.write(block)

"""Tabular results in files: sampled and shown as text, in constant memory, with their digest."""

import gzip
import os
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import file_digest, sha256
from io import BufferedIOBase, BufferedReader
from itertools import chain
from pathlib import Path, PurePath
from typing import Final

from evidentia.bundles.sampling import SamplingStrategy, sampled_rows
from evidentia.bundles.tables import SampledTable, row_texts
from evidentia.errors import EnvironmentProblem, InputError, NotFoundError
from evidentia.loading.results.csv_rows import pick_csv
from evidentia.loading.results.duckdb_files import pick_parquet
from evidentia.loading.results.json_rows import pick_json
from evidentia.loading.results.ndjson import pick_lines
from evidentia.loading.results.picked import PickedRows, Row, changed, distinct

FORMS: Final = {
    "ndjson": "ndjson", "jsonl": "ndjson", "json": "json",
    "csv": "csv", "tsv": "tsv", "parquet": "parquet",
}  # fmt: skip
"""Forms of results by the extension of their file; a file with text may be packed by gzip."""
_GZIP: Final = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class ReadResult:
    """A sampled result, and the digest and the size of the whole file, as it is on the disk."""

    table: SampledTable
    sha256: str
    byte_count: int
    form: str


@dataclass(frozen=True, slots=True)
class Shown:
    """How much of a result is shown: at most so many rows and columns, chosen by a strategy.

    `rows` is a half-open range of the result that is sampled instead of all of it.
    """

    max_rows: int
    max_cols: int
    strategy: SamplingStrategy
    rows: tuple[int, int] | None = None

    def choose(self, total: int) -> tuple[int, ...]:
        """Return the rows to show: a sample of all of them, or of those in the range."""
        start, end = self.rows or (0, total)
        if not 0 <= start <= end:
            raise InputError(
                f"rows {start} to {end} are no range: give a start and an end after it"
            )
        start, end = min(start, total), min(end, total)
        return tuple(start + row for row in sampled_rows(end - start, self.max_rows, self.strategy))

    def require(self) -> None:
        """Raise `InputError` for what cannot be shown, before anything is read."""
        if self.max_cols < 0:
            raise InputError(f"cannot show {self.max_cols} columns: give 0 or more")
        self.choose(0)


def read_result(path: Path, name: str, shown: Shown, *, form: str | None) -> ReadResult:
    """Read a result's file, and show some of it.

    `name` is what messages call it. Without a `form`, the extension of the path or else of the
    name tells it. Every number is shown exactly. Of NDJSON, only the lines that are shown must be
    well-formed.
    """
    chosen = form_of(path, name, form)
    shown.require()
    try:
        with path.open("rb") as file:
            before = _state(os.fstat(file.fileno()))
            picked, digest = _picked(file, path, name, chosen, shown)
            after = _state(path.stat())
    except FileNotFoundError:
        raise NotFoundError(f"{name}: there is no such file") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{name} cannot be unpacked: {error}") from None
    except OSError as error:
        raise EnvironmentProblem(f"{name} cannot be read ({error.strerror})") from error
    if before != after:
        raise changed(name)
    return ReadResult(_table(picked, name, shown), digest, before[0], chosen)


def read_kept(content: BufferedIOBase, name: str, shown: Shown) -> ReadResult:
    """Read a result that a lake keeps, as NDJSON, and show some of it as `read_result` does."""
    shown.require()
    whole, size = sha256(), 0

    def seen(data: bytes | memoryview) -> None:
        nonlocal size
        whole.update(data)
        size += len(data)

    picked = pick_lines(content, name, shown.choose, seen)
    return ReadResult(_table(picked, name, shown), whole.hexdigest(), size, "ndjson")


def form_of(path: PurePath, name: str, form: str | None) -> str:
    """Return the form of a result: given, or told by the path's or the name's extension."""
    if form is None:
        for place in (path, PurePath(name)):
            suffixes = [suffix.lower().removeprefix(".") for suffix in place.suffixes]
            if suffixes and suffixes[-1] == "gz":
                suffixes.pop()
            if suffixes and suffixes[-1] in FORMS:
                return FORMS[suffixes[-1]]
        raise InputError(
            f"{name}: its form is unknown: give one of {', '.join(dict.fromkeys(FORMS.values()))}"
        )
    if form not in FORMS:
        raise InputError(f"{name}: {form!r} is no form of results: use {', '.join(FORMS)}")
    return FORMS[form]


def _state(found: os.stat_result) -> tuple[int, int, int]:
    """Return what tells a file from what it was before; its size comes first."""
    return found.st_size, found.st_mtime_ns, found.st_ino


def _picked(
    file: BufferedReader, path: Path, name: str, form: str, shown: Shown
) -> tuple[PickedRows, str]:
    """Return the chosen rows and the digest of the file's bytes."""
    whole = sha256()
    is_packed = file.read(len(_GZIP)) == _GZIP
    file.seek(0)
    if is_packed or form not in ("ndjson", "json"):  # the others are digested as they are read
        whole = file_digest(file, lambda: whole)
        file.seek(0)
    if form == "parquet":
        return pick_parquet(path, name, shown.choose, shown.max_cols), whole.hexdigest()
    content: BufferedIOBase = gzip.GzipFile(fileobj=file) if is_packed else file
    seen: Callable[[bytes | memoryview], object] = (lambda _: None) if is_packed else whole.update
    if form == "ndjson":
        picked = pick_lines(content, name, shown.choose, seen)
    elif form == "json":
        picked = pick_json(content, name, shown.choose, seen)
    else:
        picked = pick_csv(content, name, shown.choose, "\t" if form == "tsv" else ",")
    return picked, whole.hexdigest()


def _table(picked: PickedRows, name: str, shown: Shown) -> SampledTable:
    """Return the chosen rows as text; the columns are in the order of their first appearance."""
    named = distinct(picked.columns)
    rows = [_named(row, named) for row in picked.rows]
    columns = tuple(dict.fromkeys(chain(named, *rows)))
    cut = shown.max_cols
    texts = row_texts(rows, picked.numbers, columns[:cut], name)
    return SampledTable(
        columns=columns[:cut],
        left_out_columns=columns[cut:],
        rows=texts,
        row_numbers=picked.numbers,
        row_count=picked.total,
        strategy=shown.strategy,
    )


def _named(row: Row, columns: Sequence[str]) -> Mapping[str, object]:
    """Return a row by the names of its columns, which are c1, c2 … where it has none."""
    if isinstance(row, Mapping):
        return row
    names = columns or [f"c{place}" for place in range(1, len(row) + 1)]
    return dict(zip(names, row, strict=False))

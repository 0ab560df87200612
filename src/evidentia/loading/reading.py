"""Reading files into chunks: in worker processes, which a hostile file may crash or exhaust."""

import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from evidentia.documents.model import ReadFile
from evidentia.documents.reading.document import EXTENSIONS
from evidentia.documents.reading.limits import MAX_BYTES
from evidentia.errors import DocumentError, EnvironmentProblem, InputError, NotFoundError
from evidentia.loading.workers import Apart, WorkerEndedError, Workers, cores

SECONDS: Final = 300.0
"""How long one file may take, also where a machine is so busy that reading hardly goes on."""
COMPUTING_SECONDS: Final = 60
"""How long the reading of one file may compute; 20,000 pages take half of that."""
WORKER: Final = "evidentia.loading.reader"


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to be read: where it is, and what it is called within its collection.

    `collection` is the name of the folder that it is called within, and `root` that folder.
    """

    path: Path
    collection: str
    filename: str
    root: Path = Path()


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """What is in a folder: files to read, and those that are left out, with the reason."""

    files: tuple[FoundFile, ...]
    left_out: tuple[tuple[str, str], ...] = ()


class Asked(NamedTuple):
    """What a worker is asked to read.

    `cut` asks for pieces of a size and overlap in bytes too, `context` for so much around each.
    """

    document_id: str
    filename: str
    data: bytes
    cut: tuple[int, int] | None = None
    context: int = 0


def find_files(target: Path) -> FoundFiles:
    """Find what is to be read: one file, or all documents of a folder and the folders in it.

    Hidden files, and files whose name says that they are no documents, are left out. A link is
    followed only within the folder.
    """
    if target.is_file():
        place = target.resolve()
        return FoundFiles(
            (FoundFile(target, _readable(place.parent.name), _readable(target.name), place.parent),)
        )
    if not target.is_dir():
        raise NotFoundError(f"{target}: no such file or folder")
    root = target.resolve()
    files, left_out = [], []
    for folder, folders, names in os.walk(root, onerror=_refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        links = [name for name in folders if Path(folder, name).is_symlink()]  # not walked into
        for name in sorted(names + links):
            path = Path(folder, name)
            called = _readable(path.relative_to(root).as_posix())
            if reason := _why_left_out(path, root):
                left_out.append((called, reason))
            elif not name.startswith((".", "~$")):
                files.append(FoundFile(path, _readable(root.name), called, root))
    return FoundFiles(tuple(files), tuple(left_out))


def read_bytes(file: FoundFile) -> bytes:
    """Return a file's bytes; raise `DocumentError` if it cannot be read or is too large."""
    try:
        with file.path.open("rb") as opened:
            data = opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise DocumentError(f"{file.filename}: cannot be opened ({error.strerror})") from None
    if len(data) > MAX_BYTES:
        raise DocumentError(
            f"{file.filename}: larger than the {MAX_BYTES:,} bytes that are read: split the file"
        )
    return data


def read_files(
    asked: Iterable[Asked], *, count: int, apart: Apart | None = None
) -> Iterator[ReadFile | InputError]:
    """Read files, several at once; give what became of each, or why it could not be read.

    `apart` are processes that are there already, to read them in.
    """
    named: list[str] = []

    def questions() -> Iterator[Asked]:
        for question in asked:
            named.append(question.filename)
            yield question

    at_once = max(1, min(count, cores()))
    with ExitStack() as stack:
        if apart is None:
            workers = stack.enter_context(Workers(WORKER, at_once, seconds=SECONDS))
            answers = workers.map(questions())
        else:
            answers = _read_apart(questions(), at_once, apart)
        for place, answer in enumerate(answers):
            if isinstance(answer, WorkerEndedError):
                why = (
                    f"takes longer than the {COMPUTING_SECONDS} seconds that a file may be read for"
                    if answer.took_too_long
                    else f"its reader crashed, or needed too much memory ({answer})"
                )
                yield DocumentError(
                    f"{named[place]}: {why}: open and save it again, split it, or leave it out"
                )
            elif isinstance(answer, ReadFile | InputError):
                yield answer
            else:
                raise EnvironmentProblem(f"{named[place]}: the reader answered {answer!r}")


def _read_apart(questions: Iterable[Asked], count: int, apart: Apart) -> Iterator[Any]:
    """Ask processes that are shared; the first file may be refused, those behind it wait."""
    from evidentia.loading.reader import read_within_limits  # noqa: PLC0415 - it knows this module

    asked: deque[Future[Any]] = deque()
    is_let_in = False
    try:
        for question in questions:
            asked.append(
                apart.submit(read_within_limits, question, seconds=SECONDS, patient=is_let_in)
            )
            is_let_in = True
            if len(asked) > count:
                yield _answer(asked.popleft())
        while asked:
            yield _answer(asked.popleft())
    finally:
        for one in asked:
            one.cancel()


def _answer(asked: Future[Any]) -> Any:
    try:
        return asked.result()
    except (WorkerEndedError, InputError) as error:
        return error


def _refuse(error: OSError) -> None:
    raise InputError(f"{error.filename}: cannot be read ({error.strerror})") from None


def _why_left_out(path: Path, root: Path) -> str | None:
    if path.name.startswith((".", "~$")):
        return None
    if path.is_symlink() and not _leads_within(path, root):
        return "a link that leads out of the folder"
    if not path.is_file():
        return "a link to a folder" if path.is_dir() else "not a file"
    if path.suffix.lower().removeprefix(".") not in EXTENSIONS:
        return "not a kind of document that is read"
    return None


def _leads_within(path: Path, root: Path) -> bool:
    try:
        return path.resolve().is_relative_to(root)
    except (OSError, RuntimeError):  # a link that leads to itself; it is not a file either
        return True


def _readable(name: str) -> str:
    """Return a file's name as text that can be stored; bytes that are not UTF-8 are escaped."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")

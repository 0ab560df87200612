"""Places: where documents were read from on this machine, and what became of the files since.

A place is a fact about a machine and no evidence. It is kept in the home folder, never in the
database or in a statement, and a document that another machine read has none here.
"""

import json
import stat
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from evidentia.canonical import sha256_hex
from evidentia.errors import EnvironmentProblem, InputError
from evidentia.loading.reading import FoundFile, read_bytes
from evidentia.store.files import make_folder, unfinished
from evidentia.store.sql.library import StoredDocument

Change = Literal["gone", "changed", "unreadable"]


@dataclass(frozen=True, slots=True)
class FileChange:
    """A document whose file is not as it was read: gone, changed, or not to be looked at.

    `path` is where it was read; `read_again` is the file or folder whose ingestion reads it again
    as the same document.
    """

    document_id: str
    filename: str
    path: str
    change: Change
    read_again: str

    def as_json(self) -> dict[str, str]:
        """Return the change as a JSON object."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Seen:
    """A file's size and time of change, taken before it is read."""

    size: int
    mtime_ns: int

    @classmethod
    def of(cls, path: Path) -> "Seen | None":
        """Look at what may be a file; None if there is none, and `OSError` if nobody can tell."""
        try:
            status = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        is_file = stat.S_ISREG(status.st_mode)
        return cls(status.st_size, status.st_mtime_ns) if is_file else None


@dataclass(frozen=True, slots=True)
class _Note:
    """What is kept of a place: the file, its bytes' digest, and what it looked like."""

    path: str
    read_again: str
    sha256: str
    size: int
    mtime_ns: int
    reader: int = 0
    """The version of the readers that last found these bytes to give the passages that are kept."""


class Places:
    """The places of a tenant's documents: a small file for each, in a folder.

    Whoever reads a file last notes its place. A note may be lost, which loses no evidence.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def note(
        self, document_id: str, file: FoundFile, seen: Seen | None, sha256: str, reader: int = 0
    ) -> None:
        """Note where a document was read from, and what the file looked like before that."""
        if seen is None:  # it came and went meanwhile: there is nothing to compare with
            return
        path = file.path.absolute()
        depth = file.filename.count("/")
        again = path.parents[depth] if depth else path
        note = _Note(str(path), str(again), sha256, seen.size, seen.mtime_ns, reader)
        if not self._is_first(document_id, note) and self._noted(document_id) != note:
            self._write(document_id, note)

    def changes(self, documents: Iterable[StoredDocument]) -> tuple[FileChange, ...]:
        """Return which of these documents' files are not as they were read, by their names."""
        named = {document.id: document.filename for document in documents}
        found = []
        for document_id, filename in sorted(named.items(), key=lambda item: (item[1], item[0])):
            note = self._noted(document_id)
            change = _change(note) if note else None
            if note and change:
                found.append(FileChange(document_id, filename, note.path, change, note.read_again))
        return tuple(found)

    def is_read(self, document_id: str, sha256: str, reader: int) -> bool:
        """Whether a reader of this version, or a newer one, has read these bytes here."""
        note = self._noted(document_id)
        return note is not None and note.sha256 == sha256 and note.reader >= reader

    def root(self, document: StoredDocument) -> Path | None:
        """Return the folder of a document's collection, from which it was read here; if it was."""
        note = self._noted(document.id)
        if note is None:
            return None
        above = Path(note.path).parents
        depth = document.filename.count("/")
        return above[depth].resolve() if depth < len(above) else None

    def _file(self, document_id: str) -> Path:
        return self._folder / f"{document_id}.json"

    def _noted(self, document_id: str) -> _Note | None:
        """Return a document's note; None if there is none that can be read."""
        try:
            note = _Note(**json.loads(self._file(document_id).read_bytes()))
        except (OSError, ValueError, TypeError):
            return None
        is_text = isinstance(note.path, str) and isinstance(note.read_again, str)
        return note if is_text and isinstance(note.reader, int) else None

    def _is_first(self, document_id: str, note: _Note) -> bool:
        """Write the first note of a document, as most are; False if it has one.

        Where it is cut off, it is no note, and the next one replaces it.
        """
        try:
            with open(f"{self._folder}/{document_id}.json", "xb", buffering=0) as file:  # noqa: PTH123 - for each file
                file.write(json.dumps(asdict(note)).encode())
        except OSError:  # there is one, or no folder yet; writing it says what else is wrong
            return False
        return True

    def _write(self, document_id: str, note: _Note) -> None:
        make_folder(self._folder)
        path = self._file(document_id)
        try:
            with unfinished(self._folder.parent) as (file, temporary):
                file.write(json.dumps(asdict(note)).encode())
                file.flush()
                temporary.replace(path)
        except OSError as error:
            raise EnvironmentProblem(f"{path}: cannot be written ({error.strerror})") from error


def _change(note: _Note) -> Change | None:
    """Say what became of a file; its content is read only if its time has changed."""
    path = Path(note.path)
    try:
        seen = Seen.of(path)
        if seen is None:
            return "gone"
        if seen == Seen(note.size, note.mtime_ns):
            return None
        if seen.size != note.size:
            return "changed"
        data = read_bytes(FoundFile(path, "", path.name))
    except (OSError, InputError):
        return "unreadable"
    return None if sha256_hex(data) == note.sha256 else "changed"

"""Ingesting: files become documents in the library, one transaction each, the bytes in the lake."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from sqlalchemy import Connection

from evidentia.canonical import sha256_hex
from evidentia.documents.effective import Effective
from evidentia.documents.model import DocumentChunk, ReadFile
from evidentia.documents.reading.document import READER_VERSION
from evidentia.documents.recording import chunks_digest
from evidentia.errors import InputError
from evidentia.loading.places import Places, Seen
from evidentia.loading.reading import (
    Asked,
    FoundFile,
    FoundFiles,
    find_files,
    read_bytes,
    read_files,
)
from evidentia.loading.shelving import Shelf, Shelving
from evidentia.store.database import Database
from evidentia.store.lake import Lake
from evidentia.store.sql import library
from evidentia.store.sql.library import Reading, StoredDocument
from evidentia.store.sql.uses import hold_lake

Outcome = Literal["added", "changed", "unchanged"]
FileProgress = Callable[[int, int], None]
"""Is told how many files are done, and of how many."""


@dataclass(frozen=True, slots=True)
class IngestedDocument:
    """A document and what became of it: added, changed (a new version) or unchanged."""

    document: StoredDocument
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class FileProblem:
    """A file that could not be read; the problem names it and says what to do."""

    filename: str
    problem: str


@dataclass(frozen=True, slots=True)
class Ingestion:
    """What became of a file or a folder: documents, files with problems, files left out."""

    results: tuple[IngestedDocument, ...]
    problems: tuple[FileProblem, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()

    @property
    def documents(self) -> tuple[StoredDocument, ...]:
        """The documents, in the order of their files."""
        return tuple(result.document for result in self.results)


class Asking(NamedTuple):
    """What is asked of an ingestion beside the files.

    `collection` names the one that all documents come into, in place of their folders' own;
    `effective` says when they hold, whatever they say themselves.
    """

    collection: str | None = None
    effective: Effective | None = None


class _Task(NamedTuple):
    """A file on its way: its bytes until they were sent to a reader, and what is known of it."""

    file: FoundFile
    shelf: Shelf
    identity: str
    sha256: str
    seen: Seen | None


class Recorder(Protocol):
    """Records each version of a document in the trail, in the transaction that adds it."""

    def writing(self) -> AbstractContextManager[Connection]:
        """Give a transaction in which the log is ours alone."""

    def record(
        self,
        connection: Connection,
        version: StoredDocument,
        chunks: Sequence[DocumentChunk] | None,
    ) -> None:
        """Record a version; without chunks, with those that its bytes were recorded with before."""

    def removed_through(self, connection: Connection, identity: str) -> int:
        """Return up to which version a document was taken out; 0 if it never was."""


class Ingesting:
    """Brings files into a tenant's library; `now` gives the time to note.

    Where each was read from is noted in `places`, and what was read by `recorder`; `shelving` says
    which collection it belongs to.
    """

    def __init__(  # noqa: PLR0917 - what a workspace has of each
        self,
        database: Database,
        lake: Lake,
        places: Places,
        shelving: Shelving,
        recorder: Recorder,
        tenant: str,
        now: Callable[[], str],
        asking: Asking,
    ) -> None:
        self._database = database
        self._recorder = recorder
        self._lake = lake
        self._places = places
        self._shelving = shelving
        self._asking = asking
        self._tenant = tenant
        self._now = now

    def run(self, targets: Sequence[Path], progress: FileProgress) -> Ingestion:
        """Ingest files and folders; one that cannot be read is a problem, and the others go on."""
        found = _found(targets)
        shelves = self._shelves(found.files)
        total = len(found.files)
        results: dict[int, IngestedDocument | FileProblem] = {}
        unread: list[int] = []
        tasks: dict[int, _Task] = {}

        def done(place: int, result: IngestedDocument | FileProblem) -> None:
            results[place] = result
            if isinstance(result, IngestedDocument):
                task = tasks[place]
                reader = max(result.document.reader, READER_VERSION)
                self._places.note(task.identity, task.file, task.seen, task.sha256, reader)
            progress(len(results), total)

        def questions() -> Iterator[Asked]:
            for place, file in enumerate(found.files):
                try:
                    seen = _look(file)
                    data = read_bytes(file)
                except InputError as error:
                    done(place, FileProblem(file.filename, str(error)))
                    continue
                shelf = shelves[file.root]
                identity = library.document_id(shelf.key, file.filename)
                task = tasks[place] = _Task(file, shelf, identity, sha256_hex(data), seen)
                self._lake.put(data)  # also what is known: a damaged file is mended by it
                known = self._known(task)
                if known:
                    done(place, known)
                    continue
                unread.append(place)
                yield Asked(identity, file.filename, data)

        for answered, answer in enumerate(read_files(questions(), count=total)):
            place = unread[answered]
            task = tasks[place]
            if isinstance(answer, InputError):
                done(place, FileProblem(task.file.filename, str(answer)))
            else:
                done(place, self._store(task, answer))
        ordered = [results[place] for place in sorted(results)]
        return Ingestion(
            tuple(result for result in ordered if isinstance(result, IngestedDocument)),
            tuple(result for result in ordered if isinstance(result, FileProblem)),
            found.left_out,
        )

    def _shelves(self, files: Sequence[FoundFile]) -> dict[Path, Shelf]:
        """Return the collections of the folders that files were found in."""
        asked, shelves = self._asking.collection, dict[Path, Shelf]()
        for file in files:
            if file.root not in shelves:
                if asked is None:
                    shelf = self._shelving.of_folder(file.root, file.collection)
                else:
                    shelf = self._shelving.named(asked)
                shelves[file.root] = shelf
                self._shelving.note(file.root, shelf)
        return shelves

    def _known(self, task: _Task) -> IngestedDocument | None:
        """Return the document if its bytes need not be read: unchanged, or back again."""
        with self._database.read() as connection:
            newest = library.newest_version(connection, self._tenant, task.identity)
            if newest is None:
                return None
            if self._is_same(connection, newest, task) and (
                newest.reader >= READER_VERSION
                or self._places.is_read(task.identity, task.sha256, READER_VERSION)
            ):
                return IngestedDocument(newest, "unchanged")
            before = library.version_of_bytes(connection, self._tenant, task.identity, task.sha256)
            if before is None or before.reader < READER_VERSION:  # what is older is read anew
                return None
            if not library.has_chunks(connection, self._tenant, before.reading):  # it was erased
                return None
        return self._store(task, before)

    def _store(self, task: _Task, read: ReadFile | StoredDocument) -> IngestedDocument:
        """Store a version of a document; its chunks too, unless its bytes were read before."""
        with self._recorder.writing() as connection:
            library.lock_library(connection, self._tenant)
            newest = library.newest_version(connection, self._tenant, task.identity)
            is_removed = newest is not None and self._is_removed(connection, newest)
            if (
                newest  # someone was faster, or a newer reader came to the same passages
                and self._is_same(connection, newest, task)
                and (newest.reader >= read.reader or self._same_passages(connection, newest, read))
            ):
                return IngestedDocument(newest, "unchanged")
            reading = Reading(task.identity, task.sha256, read.reader)
            new = not library.has_chunks(connection, self._tenant, reading)
            if isinstance(read, ReadFile) and new:
                library.insert_chunks(connection, self._tenant, task.identity, read)
            effective = self._asking.effective or read.effective
            document = StoredDocument(
                id=task.identity,
                version=newest.version + 1 if newest else 1,
                collection=task.shelf.name,
                filename=task.file.filename,
                media_type=read.media_type,
                sha256=task.sha256,
                language=read.language,
                direction=read.direction,
                title=read.title,
                dated=read.dated,
                pages=read.pages,
                chunks=len(read.chunks) if isinstance(read, ReadFile) else read.chunks,
                warnings=read.warnings,
                created_at=self._now(),
                collection_id=task.shelf.id,
                effective_from=effective.first,
                effective_until=effective.last,
                reader=read.reader,
            )
            library.insert_version(connection, self._tenant, document)
            chunks = read.chunks if isinstance(read, ReadFile) and new else None
            self._recorder.record(connection, document, chunks)
            hold_lake(connection)
            if not self._lake.holds(task.sha256):  # an erasure may have found it unused just now
                self._lake.put(read_bytes(task.file))
        return IngestedDocument(document, "changed" if newest and not is_removed else "added")

    def _is_same(self, connection: Connection, newest: StoredDocument, task: _Task) -> bool:
        """Whether a version is what is asked for: in the library, of these bytes and days."""
        effective = self._asking.effective
        return (
            newest.sha256 == task.sha256
            and effective in (None, newest.effective)
            and not self._is_removed(connection, newest)
        )

    def _same_passages(
        self, connection: Connection, newest: StoredDocument, read: ReadFile | StoredDocument
    ) -> bool:
        known = library.chunks_of(connection, self._tenant, newest.reading)
        return isinstance(read, ReadFile) and chunks_digest(known) == chunks_digest(read.chunks)

    def _is_removed(self, connection: Connection, version: StoredDocument) -> bool:
        return version.version <= self._recorder.removed_through(connection, version.id)


def _look(file: FoundFile) -> Seen | None:
    """Look at a file before it is read; what cannot be looked at, reading it will tell."""
    try:
        return Seen.of(file.path)
    except OSError:
        return None


def _found(targets: Sequence[Path]) -> FoundFiles:
    """Find the files of all targets; one that is named twice is read once."""
    files: dict[Path, FoundFile] = {}
    left_out: dict[tuple[Path, str], str] = {}
    for target in targets:
        found = find_files(target)
        for file in found.files:
            files.setdefault(file.path.resolve(), file)
        for name, reason in found.left_out:
            left_out[target.resolve(), name] = reason
    return FoundFiles(
        tuple(files.values()), tuple((name, reason) for (_, name), reason in left_out.items())
    )

"""Ingesting: files become documents in the library, the bytes in the lake.

Files are looked up, kept and recorded in groups, a transaction for each group: a file is recorded
whole or not at all, whenever the process ends.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal, NamedTuple, Protocol

from sqlalchemy import Connection

from evidentia.canonical import sha256_hex
from evidentia.documents.effective import Effective
from evidentia.documents.model import DocumentChunk, ReadFile
from evidentia.documents.reading import READER_VERSION
from evidentia.documents.recording import chunks_digest
from evidentia.errors import BusyError, EvidentiaError, InputError
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
from evidentia.loading.workers import Apart
from evidentia.store.database import Database
from evidentia.store.keeping import CondemnedError, KeptFiles, keep_files
from evidentia.store.lake import Lake
from evidentia.store.sql import library
from evidentia.store.sql.library import Reading, StoredDocument

GROUP: Final = 64
"""How many files are recorded in one transaction; others wait for it, and a kill undoes it."""
_GROUP_BYTES: Final = 4 * 2**20
"""How many bytes of files, or of their text, are held at a time."""
_GROUP_SECONDS: Final = 1.0
"""How long a file that was read waits for others to be recorded with it."""
_MOST_TIMES: Final = 20

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
    `effective` says when they hold, whatever they say themselves. Where files are not `placed`,
    they are here for now alone, and where they were is not noted. `apart` are processes that are
    there already, to read in.
    """

    collection: str | None = None
    effective: Effective | None = None
    placed: bool = True
    apart: Apart | None = None


class _Task(NamedTuple):
    """A file on its way: its bytes until they were sent to a reader, and what is known of it."""

    file: FoundFile
    shelf: Shelf
    identity: str
    sha256: str
    seen: Seen | None


class _Read(NamedTuple):
    """A file that is to be recorded: what was read of it, or the version that had its bytes."""

    place: int
    task: _Task
    found: ReadFile | StoredDocument

    @property
    def size(self) -> int:
        chunks = self.found.chunks if isinstance(self.found, ReadFile) else ()
        return sum(len(chunk.text) for chunk in chunks)


Recording = tuple[StoredDocument, Sequence[DocumentChunk] | None]
"""A version with its chunks; without, where its bytes were recorded with theirs before."""


class Recorder(Protocol):
    """Records each version of a document in the trail, in the transaction that adds it."""

    def writing(self) -> AbstractContextManager[Connection]:
        """Give a transaction in which the log is ours alone."""

    def record(self, connection: Connection, versions: Sequence[Recording]) -> None:
        """Record versions, each of another document."""

    def newest(
        self, connection: Connection, identities: Collection[str]
    ) -> Mapping[str, StoredDocument]:
        """Return the newest versions of documents that are there, as they were recorded."""

    def removed_through(
        self, connection: Connection, identities: Collection[str]
    ) -> Mapping[str, int]:
        """Return up to which version documents were taken out, of those that ever were."""

    def require(self, connection: Connection, version: StoredDocument) -> None:
        """Raise `IntegrityError` unless a version is as recorded, though it was taken out."""


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
        self._later: dict[str, int] = {}
        self._places = places
        self._shelving = shelving
        self._asking = asking
        self._tenant = tenant
        self._now = now

    def run(self, targets: Sequence[Path], progress: FileProgress) -> Ingestion:
        """Ingest files and folders; one that cannot be read is a problem, and the others go on."""
        return self.run_found(_found(targets), progress)

    def run_found(self, found: FoundFiles, progress: FileProgress) -> Ingestion:
        """Ingest files that were found; as for `run`."""
        places = self._places if self._asking.placed else None
        run = _Run(found.files, self._shelves(found.files), places, progress)
        reading = _Group(lambda group: run.all_done(group, self._recorded(group)))

        def questions() -> Iterator[Asked]:
            for group in run.groups():
                self._keep(group.values())  # also what is known: it may be damaged
                known = self._known([run.tasks[place] for place in group])
                for place, data in group.items():
                    task = run.tasks[place]
                    newest, before = known.newest.get(task.identity), known.before(task)
                    if newest and self._is_read(newest, task):
                        run.done(place, IngestedDocument(newest, "unchanged"))
                    elif before is not None:
                        reading.add(_Read(place, task, before))
                    else:
                        yield run.asked(place, data)

        for place, answer in run.answers(
            read_files(questions(), count=len(found.files), apart=self._asking.apart)
        ):
            if isinstance(answer, InputError):
                run.done(place, FileProblem(run.tasks[place].file.filename, str(answer)))
            else:
                reading.add(_Read(place, run.tasks[place], answer))
        reading.end()
        return run.ingestion(found.left_out)

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
                if self._asking.placed:
                    self._shelving.note(file.root, shelf)
        return shelves

    def _known(self, tasks: Sequence[_Task]) -> "_Known":
        """Return what is known of documents whose bytes need not be read."""
        with self._database.read() as connection:
            return _Known.of(connection, self._tenant, tasks, self._recorder)

    def _recorded(self, group: Sequence[_Read]) -> list[IngestedDocument]:
        """Record files together; one that cannot be recorded stops itself and those behind it."""
        try:
            return self._store(group)
        except EvidentiaError:
            if len(group) == 1:
                raise
            return [result for read in group for result in self._store([read])]

    def _keep(self, files: Iterable[bytes]) -> None:
        """Keep originals; of those that were removed before, remember which copy it was."""
        kept = keep_files(self._database, self._lake, self._tenant, files)
        self._later.update({digest: copy for digest, copy in kept.copies.items() if copy})

    def _store(self, group: Sequence[_Read]) -> list[IngestedDocument]:
        """Store versions of documents whose originals are kept, and stay."""
        for _ in range(_MOST_TIMES):
            try:
                return self._store_kept(group)
            except CondemnedError:  # an erasure found one unused just now
                self._keep(_same_bytes(read.task) for read in group)
        raise BusyError("the same documents are erased over and over: ingest them once that ends")

    def _store_kept(self, group: Sequence[_Read]) -> list[IngestedDocument]:
        """Store versions of documents; their chunks too, unless their bytes were read before."""
        results: list[IngestedDocument] = []
        new: list[Recording] = []
        with self._recorder.writing() as connection:
            library.lock_library(connection, self._tenant)
            tasks = [read.task for read in group]
            digests = {task.sha256 for task in tasks}
            copies = {digest: self._later.get(digest, 0) for digest in digests}
            KeptFiles(self._lake, self._tenant, copies).rely(connection)
            known = _Known.of(connection, self._tenant, tasks, self._recorder)
            read_first: list[tuple[str, ReadFile]] = []
            for _, task, read in group:
                newest = known.newest.get(task.identity)
                if (
                    newest  # someone was faster, or a newer reader came to the same passages
                    and self._is_same(newest, task)
                    and self._is_kept(connection, newest, read)
                ):
                    results.append(IngestedDocument(newest, "unchanged"))
                    continue
                chunks = None
                if isinstance(read, StoredDocument):
                    self._recorder.require(connection, read)
                elif Reading(task.identity, task.sha256, read.reader) not in known.readings:
                    read_first.append((task.identity, read))
                    chunks = read.chunks
                last = newest.version if newest else known.through.get(task.identity, 0)
                document = self._version(task, read, last + 1)
                new.append((document, chunks))
                results.append(IngestedDocument(document, "changed" if newest else "added"))
            library.insert_chunks(connection, self._tenant, read_first)
            library.insert_versions(connection, self._tenant, [document for document, _ in new])
            self._recorder.record(connection, new)
        return results

    def _version(self, task: _Task, read: ReadFile | StoredDocument, number: int) -> StoredDocument:
        effective = self._asking.effective or read.effective
        return StoredDocument(
            id=task.identity,
            version=number,
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

    def _is_same(self, newest: StoredDocument, task: _Task) -> bool:
        """Whether a version is what is asked for: of these bytes and days."""
        return newest.sha256 == task.sha256 and self._asking.effective in (None, newest.effective)

    def _is_read(self, newest: StoredDocument, task: _Task) -> bool:
        """Whether a version is what is asked for, and no newer reader has to read it."""
        return self._is_same(newest, task) and (
            newest.reader >= READER_VERSION
            or self._places.is_read(task.identity, task.sha256, READER_VERSION)
        )

    def _is_kept(
        self, connection: Connection, newest: StoredDocument, read: ReadFile | StoredDocument
    ) -> bool:
        """Whether a version has the passages that were read now, or a newer reader's."""
        if newest.reader >= read.reader:
            return True
        known = library.chunks_of(connection, self._tenant, newest.reading)
        return isinstance(read, ReadFile) and chunks_digest(known) == chunks_digest(read.chunks)


class _Run:
    """Files that are ingested: what is known of each, and what became of those that are done."""

    def __init__(
        self,
        files: Sequence[FoundFile],
        shelves: Mapping[Path, Shelf],
        places: Places | None,
        progress: FileProgress,
    ) -> None:
        self.tasks: dict[int, _Task] = {}
        self._files = files
        self._shelves = shelves
        self._places = places
        self._progress = progress
        self._results: dict[int, IngestedDocument | FileProblem] = {}
        self._asked: list[int] = []

    def groups(self) -> Iterator[dict[int, bytes]]:
        """Give the bytes of files by their places, some at a time; what can't be read is done."""
        group: dict[int, bytes] = {}
        size = 0
        for place, file in enumerate(self._files):
            try:
                seen = _look(file)
                data = read_bytes(file)
            except InputError as error:
                self.done(place, FileProblem(file.filename, str(error)))
                continue
            shelf = self._shelves[file.root]
            identity = library.document_id(shelf.key, file.filename)
            self.tasks[place] = _Task(file, shelf, identity, sha256_hex(data), seen)
            group[place] = data
            size += len(data)
            if len(group) >= GROUP or size >= _GROUP_BYTES:
                yield group
                group, size = {}, 0
        yield group

    def asked(self, place: int, data: bytes) -> Asked:
        """Return what a reader is asked of a file."""
        self._asked.append(place)
        task = self.tasks[place]
        return Asked(task.identity, task.file.filename, data)

    def answers(
        self, given: Iterable[ReadFile | InputError]
    ) -> Iterator[tuple[int, ReadFile | InputError]]:
        """Give the readers' answers with the places of the files they are about."""
        for number, answer in enumerate(given):
            yield self._asked[number], answer

    def done(self, place: int, result: IngestedDocument | FileProblem) -> None:
        """Say what became of a file."""
        self._results[place] = result
        if isinstance(result, IngestedDocument) and self._places is not None:
            task = self.tasks[place]
            reader = max(result.document.reader, READER_VERSION)
            self._places.note(task.identity, task.file, task.seen, task.sha256, reader)
        self._progress(len(self._results), len(self._files))

    def all_done(self, group: Sequence[_Read], results: Sequence[IngestedDocument]) -> None:
        """Say what became of files that were recorded together."""
        for read, result in zip(group, results, strict=True):
            self.done(read.place, result)

    def ingestion(self, left_out: tuple[tuple[str, str], ...]) -> Ingestion:
        """Return what became of all files, in their order."""
        ordered = [self._results[place] for place in sorted(self._results)]
        return Ingestion(
            tuple(result for result in ordered if isinstance(result, IngestedDocument)),
            tuple(result for result in ordered if isinstance(result, FileProblem)),
            left_out,
        )


class _Group:
    """Files that wait to be recorded together: until they are many, or long, or wait for long."""

    def __init__(self, record: Callable[[Sequence[_Read]], None]) -> None:
        self._record = record
        self._waiting: dict[str, _Read] = {}
        self._size = 0
        self._since = 0.0

    def add(self, read: _Read) -> None:
        """Let a file wait; one that is called as another that waits is its next version."""
        if read.task.identity in self._waiting:
            self.end()
        if not self._waiting:
            self._since = time.monotonic()
        self._waiting[read.task.identity] = read
        self._size += read.size
        if (
            len(self._waiting) >= GROUP
            or self._size >= _GROUP_BYTES
            or time.monotonic() - self._since >= _GROUP_SECONDS
        ):
            self.end()

    def end(self) -> None:
        """Record what waits."""
        waiting, self._waiting, self._size = self._waiting, {}, 0
        if waiting:
            self._record(list(waiting.values()))


@dataclass(frozen=True, slots=True)
class _Known:
    """What the library has of some documents: the newest version of each that is there, proved.

    `of_bytes` has the last version of all that ever had some bytes, `through` up to which version
    those were taken out that are not there, and `readings` those that passages are kept of.
    """

    newest: Mapping[str, StoredDocument]
    of_bytes: Mapping[tuple[str, str], StoredDocument]
    through: Mapping[str, int]
    readings: frozenset[Reading]

    @classmethod
    def of(
        cls, connection: Connection, tenant: str, tasks: Sequence[_Task], recorder: Recorder
    ) -> "_Known":
        identities = {task.identity for task in tasks}
        newest = recorder.newest(connection, identities)
        versions = library.all_versions(connection, tenant, identities)
        gone = {one.id for one in versions} - newest.keys()
        asked = {(task.identity, task.sha256) for task in tasks}
        readings = {one.reading for one in versions if (one.id, one.sha256) in asked}
        return cls(
            newest,
            {(version.id, version.sha256): version for version in versions},
            recorder.removed_through(connection, gone) if gone else {},
            frozenset(one for one in readings if library.has_chunks(connection, tenant, one)),
        )

    def before(self, task: _Task) -> StoredDocument | None:
        """Return the last version that had a file's bytes, if they need not be read anew."""
        found = self.of_bytes.get((task.identity, task.sha256))
        if found is None or found.reader < READER_VERSION or found.reading not in self.readings:
            return None
        return found


def _same_bytes(task: _Task) -> bytes:
    """Read a file again; raise `InputError` if it is another by now."""
    data = read_bytes(task.file)
    if sha256_hex(data) != task.sha256:
        raise InputError(f"{task.file.filename}: it was changed while it was read: ingest it again")
    return data


def _look(file: FoundFile) -> Seen | None:
    """Look at a file before it is read; what cannot be looked at, reading it will tell."""
    try:
        return Seen.of(file.path)
    except OSError:
        return None


def _real(path: Path, folder_of: Callable[[Path], Path]) -> Path:
    """Return where a file really is; most files of a folder are no links, and are there."""
    return path.resolve() if path.is_symlink() else folder_of(path.parent) / path.name


def _found(targets: Sequence[Path]) -> FoundFiles:
    """Find the files of all targets; one that is named twice is read once."""
    files: dict[Path, FoundFile] = {}
    left_out: dict[tuple[Path, str], str] = {}
    folder_of = cache(Path.resolve)
    for target in targets:
        found = find_files(target)
        for file in found.files:
            files.setdefault(_real(file.path, folder_of), file)
        for name, reason in found.left_out:
            left_out[target.resolve(), name] = reason
    return FoundFiles(
        tuple(files.values()), tuple((name, reason) for (_, name), reason in left_out.items())
    )

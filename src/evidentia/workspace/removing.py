"""Taking documents out of the library: as an entry of the trail, and by what a folder has now."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evidentia.errors import InputError, NotFoundError
from evidentia.language.counting import counted
from evidentia.logs import get_logger
from evidentia.store.sql.library import StoredDocument
from evidentia.workspace.acting import Acting
from evidentia.workspace.library import Proved, Recorder, named, versions_in

if TYPE_CHECKING:
    from evidentia.loading.ingesting import Ingestion

MAX_REASON: Final = 1_000
LIMIT: Final = 0.1
"""The share of a collection's documents that a sync takes out without being told to."""
_log = get_logger("workspace")


@dataclass(frozen=True, slots=True)
class RemovedDocument:
    """A document that was taken out: its newest version, and the entry that says so."""

    document: StoredDocument
    entry: int

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {**self.document.as_json(), "entry": self.entry}


@dataclass(frozen=True, slots=True)
class Synced:
    """What makes the library what a folder is, and what was done of it.

    `added`, `changed` and `unchanged` are names of files; `removed` are the documents whose files
    the folder does not have. `ingestion` and `entries` are there once it was done.
    """

    collection: str
    added: tuple[str, ...]
    changed: tuple[str, ...]
    unchanged: tuple[str, ...]
    removed: tuple[StoredDocument, ...]
    ingestion: "Ingestion | None" = None
    entries: tuple[int, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            "collection": self.collection,
            "added": list(self.added),
            "changed": list(self.changed),
            "unchanged": list(self.unchanged),
            "removed": [one.as_json() for one in self.removed],
            "done": self.ingestion is not None,
            "entries": list(self.entries),
        }


def check_reason(reason: str) -> None:
    """Raise `InputError` for what is no reason."""
    if not reason.strip() or len(reason) > MAX_REASON:
        raise InputError(f"a removal needs a reason, of at most {MAX_REASON:,} characters")


def named_documents(
    acting: Acting, names: Sequence[str], folder: str | None = None, *, missing: bool = False
) -> list[StoredDocument]:
    """Return the newest versions of documents: by name, of a folder, and whose files are gone.

    Raise `NotFoundError` for a name or a folder that no document of the library has.
    """
    newest = {one.id: one for one in _listed(acting, whole=folder is not None or missing)}
    called = {f"{one.collection}/{one.filename}": one.id for one in newest.values()}
    found: dict[str, StoredDocument] = {}
    for name in names:
        identity = called.get(name, name)
        if identity not in newest:
            raise NotFoundError(
                f"the library has no document {name[:200]!r}: 'evidentia documents' lists names "
                "and ids"
            )
        found[identity] = newest[identity]
    if folder is not None:
        begins = f"{folder.rstrip('/')}/"
        inside = [identity for name, identity in sorted(called.items()) if name.startswith(begins)]
        if not inside:
            raise NotFoundError(
                f"no document of the library is in {folder[:200]!r}: 'evidentia documents' lists "
                "them with their folders"
            )
        found |= {identity: newest[identity] for identity in inside}
    if missing:
        from evidentia.loading.places import Places  # noqa: PLC0415 - rarely needed

        places = Places(acting.opened.home.places(acting.tenant))
        for change in places.changes(newest.values()):
            if change.change == "gone":
                found[change.document_id] = newest[change.document_id]
    return list(found.values())


def _listed(acting: Acting, *, whole: bool = True) -> list[StoredDocument]:
    """Return the newest versions of all documents; where all of them count, each is proved."""
    if not whole:
        return [one for one in versions_in(acting) if one.is_newest]
    with acting.database.read() as connection:
        return [one for one in Proved.now(acting, connection).everything() if one.is_newest]


def remove(
    acting: Acting, documents: Collection[StoredDocument], reason: str
) -> list[RemovedDocument]:
    """Take documents out, each in a transaction of its own; one that is out already stays so."""
    done: list[RemovedDocument] = []
    for document in documents:
        with acting.writing() as connection:
            recorder, proved = Recorder(acting), Proved.now(acting, connection)
            if proved.has(document):
                proved.require(document)  # its name, too: by that it was chosen
                entry = recorder.remove(connection, document, reason)
                done.append(RemovedDocument(document, entry))
            elif recorder.removed_through(connection, document.id) < document.version:
                raise InputError(
                    f"{named(document)}: no entry of the trail records it, so none can take it "
                    "out: 'evidentia documents record' records it"
                )  # else someone else was faster
    if done:
        _log.info("documents_removed", tenant=acting.tenant, count=len(done))
    return done


def plan(acting: Acting, folder: Path) -> Synced:
    """Say what makes the library what a folder is; reads the files, and changes nothing."""
    from evidentia.canonical import sha256_hex  # noqa: PLC0415 - only this needs it
    from evidentia.loading.reading import find_files, read_bytes  # noqa: PLC0415 - the same

    if not folder.is_dir():
        raise NotFoundError(f"{folder}: no such folder")
    files = find_files(folder).files
    if not files:
        raise InputError(
            f"{folder}: there is no document in it, so all would be taken out: is it the right "
            "folder? 'evidentia documents remove --folder' takes out what was read from one"
        )
    collection = files[0].collection
    newest = {one.filename: one for one in _listed(acting) if one.collection == collection}
    added, changed, unchanged = [], [], []
    for file in files:
        known = newest.get(file.filename)
        if known is None:
            added.append(file.filename)
        elif sha256_hex(read_bytes(file)) == known.sha256:
            unchanged.append(file.filename)
        else:
            changed.append(file.filename)
    there = {file.filename for file in files}
    removed = tuple(one for name, one in sorted(newest.items()) if name not in there)
    return Synced(collection, tuple(added), tuple(changed), tuple(unchanged), removed)


def refuse_many(planned: Synced, limit: float) -> None:
    """Raise `InputError` if more than a share of a collection would be taken out."""
    known = len(planned.changed) + len(planned.unchanged) + len(planned.removed)
    if len(planned.removed) > limit * known:
        raise InputError(
            f"{counted(len(planned.removed), 'document')} of {known} would be taken out, more than "
            f"{limit:.0%}: nothing was done; look at what it would do (--dry-run), and allow it "
            "(--allow-removals)"
        )

"""Taking documents out of the library: as an entry of the trail, and by what a folder has now."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Connection

from evidentia.errors import InputError, NotFoundError
from evidentia.language.counting import counted
from evidentia.logs import get_logger
from evidentia.store.sql import library
from evidentia.store.sql.library import StoredDocument
from evidentia.workspace.acting import Acting
from evidentia.workspace.forgetting import (
    erase_text,
    erased_through,
    finish_erasing,
    refuse_cited,
)
from evidentia.workspace.library import Proved, Recorder, Recordings, named, versions_in

if TYPE_CHECKING:
    from evidentia.loading.ingesting import Ingestion
    from evidentia.loading.shelving import Shelving

MAX_REASON: Final = 1_000
LIMIT: Final = 0.1
"""The share of a collection's documents that a sync takes out without being told to."""
_log = get_logger("workspace")


@dataclass(frozen=True, slots=True)
class RemovedDocument:
    """A document that was taken out: its newest version, and the entry that says so.

    `erased` says that its text is gone, too.
    """

    document: StoredDocument
    entry: int
    erased: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {**self.document.as_json(), "entry": self.entry, "erased": self.erased}


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
    acting: Acting,
    names: Sequence[str],
    folder: str | None = None,
    *,
    missing: bool = False,
    removed: bool = False,
) -> list[StoredDocument]:
    """Return the newest versions of documents: by name, of a folder, and whose files are gone.

    `removed` finds those too that were taken out, by a name or a folder; of a folder, only those
    whose text is kept.
    Raise `NotFoundError` for a name or a folder that no document of the library has.
    """
    there = {one.id: one for one in _listed(acting, whole=folder is not None or missing)}
    newest, erased = there, frozenset[str]()
    if removed:
        newest, erased = _ever(acting)
    known = acting.read(library.collections)
    found: dict[str, StoredDocument] = {}
    for name in names:
        one = newest.get(name) or _called(known, newest.values(), name)
        if one is None:
            raise NotFoundError(
                f"the library has no document {name[:200]!r}: 'evidentia documents' lists names "
                "and ids"
            )
        found[one.id] = one
    if folder is not None:
        inside = [one for one in _inside(known, newest.values(), folder) if one.id not in erased]
        if not inside:
            raise NotFoundError(
                f"no document of the library is in {folder[:200]!r}: 'evidentia documents' lists "
                "them with their folders"
            )
        found |= {one.id: one for one in inside}
    if missing:
        from evidentia.loading.places import Places  # noqa: PLC0415 - rarely needed

        places = Places(acting.opened.home.places(acting.tenant))
        for change in places.changes(there.values()):
            if change.change == "gone":
                found[change.document_id] = newest[change.document_id]
    return list(found.values())


def _listed(acting: Acting, *, whole: bool = True) -> list[StoredDocument]:
    """Return the newest versions of all documents; where all of them count, each is proved."""
    if not whole:
        return [one for one in versions_in(acting) if one.is_newest]
    with acting.database.read() as connection:
        return [one for one in Proved.now(acting, connection).everything() if one.is_newest]


def _ever(acting: Acting) -> tuple[dict[str, StoredDocument], frozenset[str]]:
    """Return the newest versions of all documents there ever were, and whose texts were erased."""
    with acting.database.read() as connection:
        through = erased_through(acting, connection)
        versions = library.all_versions(connection, acting.tenant)
    newest = {one.id: one for one in versions if one.is_newest}
    gone = (one.id for one in newest.values() if one.version <= through.get(one.id, 0))
    return newest, frozenset(gone)


def _split(known: Sequence[library.Collection], name: str) -> tuple[str, str] | None:
    """Return the id of the collection that a path begins with, and the rest; None if none does.

    Raise `InputError` if it begins with a name that several have.
    """
    from evidentia.loading.shelving import find_collection  # noqa: PLC0415 - rarely needed

    collection, _, rest = name.partition("/")
    try:
        return find_collection(known, collection).id, rest
    except NotFoundError:
        return None


def _called(
    known: Sequence[library.Collection], documents: Iterable[StoredDocument], name: str
) -> StoredDocument | None:
    asked = _split(known, name)
    return next((one for one in documents if (one.collection_id, one.filename) == asked), None)


def _inside(
    known: Sequence[library.Collection], documents: Iterable[StoredDocument], folder: str
) -> list[StoredDocument]:
    asked = _split(known, folder.rstrip("/"))
    if asked is None:
        return []
    collection, path = asked
    begins = f"{path}/" if path else ""
    inside = [
        one
        for one in documents
        if one.collection_id == collection and one.filename.startswith(begins)
    ]
    return sorted(inside, key=lambda one: one.filename)


def remove(
    acting: Acting, documents: Collection[StoredDocument], reason: str, *, erase: bool = False
) -> list[RemovedDocument]:
    """Take documents out, each in a transaction of its own; one that is out already stays so.

    With `erase` their text goes, too, also of those that are out already.
    """
    done: list[RemovedDocument] = []
    for document in documents:
        removed = acting.writing_ahead(
            partial(_remove, acting, document, reason, erase=erase),
            first=partial(refuse_cited, acting, document) if erase else None,
        )
        if removed is not None:
            done.append(removed)
    if erase:
        finish_erasing(acting)
    if done:
        _log.info("documents_removed", tenant=acting.tenant, count=len(done), erased=erase)
    return done


def _remove(
    acting: Acting, document: StoredDocument, reason: str, connection: Connection, *, erase: bool
) -> RemovedDocument | None:
    """Take a document out, or erase its text, inside a transaction; None if someone else did."""
    recorder, proved = Recorder(acting), Proved.now(acting, connection)
    is_there = proved.has(document)
    if (
        not is_there
        and recorder.removed_through(connection, {document.id}).get(document.id, 0)
        < document.version
    ):
        raise InputError(
            f"{named(document)}: no entry of the trail records it, so none can take it out: "
            "'evidentia documents record' records it"
        )
    known = Recordings.of_some(acting, connection, {document.id})
    if erase and not known.is_erased(document):
        proved.require_recorded(document)  # its name, too: by that it was chosen
        entry = erase_text(acting, connection, document, reason)
        return RemovedDocument(document, entry, erased=True)
    if not erase and is_there:
        proved.require(document)
        return RemovedDocument(document, recorder.remove(connection, document, reason))
    return None


def shelving_of(acting: Acting) -> "Shelving":
    """Return what finds the collections of folders, as the library is now."""
    from evidentia.loading.places import Places  # noqa: PLC0415 - only reading files needs it
    from evidentia.loading.shelving import Folders, Shelving  # noqa: PLC0415 - the same

    def documents(collection: library.Collection, most: int) -> list[StoredDocument]:
        with acting.database.read() as connection:
            ids = library.documents_in(connection, acting.tenant, {collection.id})[:most]
            return library.all_versions(connection, acting.tenant, ids)

    home = acting.opened.home
    folder, beside = home.places(acting.tenant), home.folder.resolve().parent
    known = acting.read(library.collections)
    return Shelving(known, documents, Places(folder), Folders(folder, beside))


def plan(acting: Acting, folder: Path, collection: str | None = None) -> Synced:
    """Say what makes the library what a folder is; reads the files, and changes nothing.

    `collection` names the one that the folder is, in place of its own.
    """
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
    shelving = shelving_of(acting)
    shelf = (
        shelving.of_folder(files[0].root, files[0].collection)
        if collection is None
        else shelving.named(collection)
    )
    newest = {one.filename: one for one in _listed(acting) if one.collection_id == shelf.id}
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
    return Synced(shelf.name, tuple(added), tuple(changed), tuple(unchanged), removed)


def refuse_many(planned: Synced, limit: float) -> None:
    """Raise `InputError` if more than a share of a collection would be taken out."""
    known = len(planned.changed) + len(planned.unchanged) + len(planned.removed)
    if len(planned.removed) > limit * known:
        raise InputError(
            f"{counted(len(planned.removed), 'document')} of {known} would be taken out, more than "
            f"{limit:.0%}: nothing was done; look at what it would do (--dry-run), and allow it "
            "(--allow-removals)"
        )

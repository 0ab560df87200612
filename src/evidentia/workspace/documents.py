"""The documents' part: the library, its passages, and the citations that name them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from evidentia.documents.model import DocumentChunk
from evidentia.errors import EvidentiaError, NotFoundError
from evidentia.ledger.citations import CitationResolution
from evidentia.logs import get_logger
from evidentia.store.database import is_storable
from evidentia.store.sql import library
from evidentia.store.sql.library import StoredDocument
from evidentia.workspace.acting import Acting
from evidentia.workspace.commitment import newest_document
from evidentia.workspace.library import (
    Proved,
    Recorder,
    record_missing,
    require_places,
    versions_in,
)
from evidentia.workspace.part import Part

if TYPE_CHECKING:
    from evidentia.documents.reading.pdf_page import PageWords
    from evidentia.loading.ingesting import FileProgress, Ingesting, Ingestion
    from evidentia.workspace.library import DocumentsRecorded
    from evidentia.workspace.pages import PassagePlace
    from evidentia.workspace.passages import FoundPassage, PageText
    from evidentia.workspace.recorded import Progress
    from evidentia.workspace.removals import DocumentRemoval
    from evidentia.workspace.removing import RemovedDocument, Synced


_log = get_logger("workspace")

Stored = list[StoredDocument]
Chunks = list[DocumentChunk]
Passages = list["FoundPassage"]
Removed = list["RemovedDocument"]
Shelves = list[library.Collection]


class Documents(Part, name="documents"):
    """A tenant's library: what answers are checked against, and bundles are made of."""

    def ingest(
        self,
        *targets: str | Path,
        collection: str | None = None,
        effective: str | None = None,
        progress: "Progress | None" = None,
    ) -> "Ingestion":
        """Read files, and the documents of folders, into the library; return what became of each.

        The same bytes are stored once; other bytes under the same name are a new version. A file
        that cannot be read is a problem in what is returned, and the others go on. The trail
        records the digests of each version and of its passages. `collection` is the id or the name
        of the collection they belong to, in place of their folder's own; `effective` says from when
        until when they hold (`2026-01-01..2026-12-31`), whatever they say themselves.
        """
        return _ingested(
            self._acting,
            (collection, effective),
            lambda ingesting, told: ingesting.run([Path(one) for one in targets], told),
            progress,
        )

    def add(
        self,
        files: Mapping[str, bytes],
        *,
        collection: str = "uploads",
        effective: str | None = None,
        progress: "Progress | None" = None,
    ) -> "Ingestion":
        """Read documents that are bytes, each under its filename, into the library.

        They are read as files are, and come into a collection; as they have no place here, none
        is noted. `InputError` is raised for what is no filename; the rest is as for `ingest`.
        """
        from evidentia.loading.uploads import kept_for_now  # noqa: PLC0415 - not all need it

        with kept_for_now(files) as found:
            return _ingested(
                self._acting,
                (collection, effective),
                lambda ingesting, told: ingesting.run_found(found, told),
                progress,
                placed=False,
            )

    def record_missing(self, *, progress: "Progress | None" = None) -> "DocumentsRecorded":
        """Record in the trail the documents of an older workspace, in which none were recorded.

        What is recorded is what is there now: look at the list first. A document whose original is
        gone, or whose passages contradict themselves, is a problem in what is returned.
        """
        self._acting.refuse_to_fork()
        return record_missing(self._acting, progress=progress)

    def collections(self) -> Shelves:
        """Return the collections, each with its id; `label` tells two of one name apart."""
        return self._acting.read(library.collections)

    def named(
        self,
        *names: str,
        folder: str | None = None,
        missing: bool = False,
        removed: bool = False,
    ) -> Stored:
        """Return documents of the library by id, or as `collection/filename`; the newest versions.

        `folder` adds all of a collection, or of a folder within one (`policies/travel`), and
        `missing` all whose files are gone from where this machine read them. `removed` looks among
        those too that were taken out; of a folder, where their text is kept. `NotFoundError` is
        raised for a name or a folder that no document has.
        """
        from evidentia.workspace.removing import named_documents  # noqa: PLC0415 - rarely needed

        return named_documents(self._acting, names, folder, missing=missing, removed=removed)

    def remove(self, *documents: str | StoredDocument, reason: str, erase: bool = False) -> Removed:
        """Take documents out of the library, named by id or name; the trail says so, and why.

        What is taken out is in no later check and no later bundle. Its text is kept: ledgers that
        cite it still open, and its citations still resolve. Ingested again, it is a further
        version. With `erase` the text goes for good, also of documents that were taken out before:
        the passages, their index and the original, but for what else needs that. `UsageError` is
        raised if a pack on legal hold rests on it.
        """
        from evidentia.workspace import removing  # noqa: PLC0415 - rarely needed

        removing.check_reason(reason)
        names = [one if isinstance(one, str) else one.id for one in documents]
        found = removing.named_documents(self._acting, names, removed=erase)
        return removing.remove(self._acting, found, reason, erase=erase)

    def sync(
        self,
        folder: str | Path,
        *,
        collection: str | None = None,
        effective: str | None = None,
        dry_run: bool = False,
        limit: float = 0.1,
        progress: "Progress | None" = None,
    ) -> "Synced":
        """Make the library what a folder is: read what is new or changed, take out what is gone.

        `dry_run` only says what would be done. `InputError` is raised, and nothing is done, for a
        folder without documents, and where more than `limit` of its documents would be taken out.
        `collection` and `effective` are as for `ingest`.
        """
        from evidentia.workspace import removing  # noqa: PLC0415 - rarely needed

        acting, place = self._acting, Path(folder)
        planned = removing.plan(acting, place, collection)
        if dry_run:
            return planned
        removing.refuse_many(planned, limit)
        done = self.ingest(place, collection=collection, effective=effective, progress=progress)
        reason = f"not in the folder {planned.collection!r} any more"
        removed = removing.remove(acting, planned.removed, reason)
        return replace(planned, ingestion=done, entries=tuple(one.entry for one in removed))

    def list(
        self, *, all_versions: bool = False, removed: bool = False, collection: str | None = None
    ) -> Stored:
        """Return the documents of the library, the newest version of each or all versions.

        `removed` gives those too that were taken out; `collection` names the one to list.
        """
        from evidentia.workspace.choosing import collection_ids  # noqa: PLC0415 - rarely needed

        acting = self._acting
        asked = collection_ids(acting, None if collection is None else [collection])
        found = acting.read(library.all_versions) if removed else versions_in(acting)
        found = [one for one in found if asked is None or one.collection_id in asked]
        found = [document for document in found if all_versions or document.is_newest]
        places = {one.id: place for place, one in enumerate(acting.read(library.collections))}
        return sorted(found, key=lambda one: (places[one.collection_id], one.filename, one.version))

    def versions(self, document_id: str, *, removed: bool = False) -> Stored:
        """Return the versions of a document that is in the library, the oldest first.

        `removed` gives those too that were taken out. `NotFoundError` is raised for a document that
        is not there, or, unless those are asked for, was taken out.
        """
        acting, found = self._acting, []
        if is_storable(document_id) and removed:
            found = acting.read(library.all_versions, [document_id])
        elif is_storable(document_id):
            found = versions_in(acting, [document_id])
        if not found:
            raise NotFoundError(
                f"the library has no document {document_id[:200]!r}: 'evidentia documents' lists "
                "names and ids"
            )
        return sorted(found, key=lambda one: one.version)

    def removal(self, document_id: str) -> "DocumentRemoval | None":
        """Return what the trail says of a document that was taken out; None of one that never was.

        It says up to which version, why, and up to which version the text was erased.
        """
        from evidentia.workspace.removals import last_removal  # noqa: PLC0415 - rarely needed

        return last_removal(self._acting, document_id) if is_storable(document_id) else None

    def search(
        self,
        text: str,
        *,
        limit: int = 10,
        collections: Sequence[str] | None = None,
        as_of: date | str | None = None,
    ) -> Passages:
        """Return the passages of the library that share most with a text, the best first.

        They are found by their words, as a check finds them. The same text in several places is
        given with the first few of them. `collections` and `as_of` are as for a check.
        """
        from evidentia.workspace import passages  # noqa: PLC0415 - not all search
        from evidentia.workspace.choosing import collection_ids, day_of  # noqa: PLC0415 - the same

        where = collection_ids(self._acting, collections), day_of(as_of)
        return passages.search(self._acting, text, limit, *where)

    def page_text(self, document: StoredDocument, page: int) -> "PageText":
        """Return the text of a page of a document (one version of it), as its passages have it.

        What is in no passage is left as line breaks, so that offsets hold. `NotFoundError` is
        raised for a page that has no text.
        """
        from evidentia.workspace.passages import page_text  # noqa: PLC0415 - not all read pages

        return page_text(self.chunks(document), page)

    def page_image(self, document: StoredDocument, page: int, *, scale: float = 1.5) -> bytes:
        """Return a page of a PDF as it looks: a PNG; a scale of 1 has 72 dots to an inch.

        `NotFoundError` is raised for other formats, for a page that is not there, and where the
        original is not kept any more; `InputError` for a scale that is not 0.5 to 4.
        """
        from evidentia.workspace.pages import page_image  # noqa: PLC0415 - not all look at pages

        return page_image(self._acting, document, page, scale)

    def page_words(self, document: StoredDocument, page: int) -> "PageWords":
        """Return the words of a page of a PDF, and where each stands, as shares of its size.

        What it raises is what `page_image` raises.
        """
        from evidentia.workspace.pages import page_words  # noqa: PLC0415 - the same

        return page_words(self._acting, document, page)

    def rectangles(
        self,
        document: StoredDocument,
        chunk: DocumentChunk,
        *,
        start: int | None = None,
        end: int | None = None,
        quote: str | None = None,
    ) -> "PassagePlace":
        """Return where a passage stands on its page, and a part of it: as rectangles, line by line.

        The part is from `start` to `end`, counted in the passage's text, or where `quote` stands in
        it. What has no sure place has no rectangles and a `reason`: also in other formats than PDF,
        and where the original is not kept any more.
        """
        from evidentia.workspace.pages import place_passage, quoted_part  # noqa: PLC0415 - the same

        part = quoted_part(chunk.text, start, end, quote)
        return place_passage(self._acting, document, self.chunks(document), chunk, part)

    def chunks(self, document: StoredDocument) -> Chunks:
        """Return a document's chunks, in reading order, as the trail recorded them.

        `IntegrityError` is raised if they, or the document, are not what was recorded.
        """
        acting = self._acting
        with acting.database.read() as connection:
            chunks = library.chunks_of(connection, acting.tenant, document.reading)
            proved = Proved.now(acting, connection)
            if chunks or proved.has(document):
                proved.require_recorded(document, chunks)
        return chunks

    def anchor(self, chunk_hash: str) -> str:
        """Return what `[cite:…]` names a chunk by: its hash's beginning, as long as it must be."""
        with self._acting.database.read() as connection:
            return library.IssuedAnchors(connection, self._acting.tenant).of(chunk_hash)

    def resolve(self, anchor: str) -> CitationResolution:
        """Return the chunk that an anchor leads to, in all its places, or why it leads to none.

        `IntegrityError` is raised if a document that it leads to is not what was recorded.
        """
        return require_places(self._acting, self._acting.read(library.resolve_anchor, anchor))


def _ingested(
    acting: Acting,
    asked: tuple[str | None, str | None],
    run: "Callable[[Ingesting, FileProgress], Ingestion]",
    progress: "Progress | None",
    *,
    placed: bool = True,
) -> "Ingestion":
    """Ingest files into a collection, with the days on which they hold; index what was read."""
    from evidentia.documents.effective import parse_effective  # noqa: PLC0415 - not all need it
    from evidentia.loading.ingesting import Asking, Ingesting  # noqa: PLC0415 - the same
    from evidentia.loading.places import Places  # noqa: PLC0415 - the same
    from evidentia.workspace.removing import shelving_of  # noqa: PLC0415 - the same
    from evidentia.workspace.searching import search_index  # noqa: PLC0415 - the same

    collection, effective = asked
    days = None if effective is None else parse_effective(effective)
    acting.refuse_to_fork()
    opened = acting.opened
    with acting.database.read() as connection:
        has_begun = newest_document(acting, connection) is not None
    ingesting = Ingesting(
        acting.database,
        acting.lake,
        Places(opened.home.places(acting.tenant)),
        shelving_of(acting),
        Recorder(acting),
        acting.tenant,
        opened.now,
        Asking(collection, days, placed, opened.reading),
    )
    done = run(ingesting, progress or (lambda *_: None))
    known = {one.document.id for one in done.results if one.outcome != "added"}
    if known and not has_begun:  # of an older workspace, in which documents were not recorded
        record_missing(acting, known)
    try:
        search_index(acting)
    except EvidentiaError as error:  # the documents are recorded; the next check indexes them
        _log.warning("library_not_indexed", tenant=acting.tenant, reason=str(error))
    _log.info(
        "documents_ingested",
        tenant=acting.tenant,
        documents=len(done.results),
        problems=len(done.problems),
    )
    return done

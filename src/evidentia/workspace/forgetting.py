"""Erasing a document's text: its passages, what was made of them, and the original.

The entry that says so and the rows that go are one transaction: either both are there, or neither.
The original and the search index follow it. Where a process ends before that, whatever next brings
the index up to date does it: the next check, ingestion or removal.
"""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from sqlalchemy import Connection

from evidentia.documents.recording import ERASED, REMOVED
from evidentia.errors import NotFoundError, UsageError
from evidentia.ledger.evidence import visible_texts
from evidentia.ledger.session import cited_documents
from evidentia.store.sql import bundles, embeddings, library, log, packs, uses
from evidentia.store.sql.library import StoredDocument
from evidentia.trail.entry import EntryKind
from evidentia.workspace.acting import Acting
from evidentia.workspace.holds import holds_of
from evidentia.workspace.keeping import remove_unused
from evidentia.workspace.library import Recorder, named


def erase_text(
    acting: Acting, connection: Connection, document: StoredDocument, reason: str
) -> int:
    """Erase the text of a document's versions up to one, inside a transaction; return the entry.

    Raise `UsageError` if a pack on legal hold rests on it. `finish_erasing` does the rest, once the
    transaction is durable.
    """
    tenant = acting.tenant
    versions = library.all_versions(connection, tenant, {document.id})
    gone = [one for one in versions if one.version <= document.version]
    refuse_cited(acting, document, connection)
    entry = Recorder(acting).remove(connection, document, reason, erased=True)
    stay = {one.reading for one in versions if one.version > document.version}
    texts: set[str] = set()
    for reading in sorted({one.reading for one in gone} - stay):
        chunks = library.chunks_of(connection, tenant, reading)
        texts.update(visible_texts(chunks))
        library.erase_chunks(connection, tenant, reading)
    for version in gone:
        if version.title is not None:
            library.erase_title(connection, tenant, version.id, version.version)
    _forget_meaning(connection, tenant, texts)
    return entry


def _forget_meaning(connection: Connection, tenant: str, texts: AbstractSet[str]) -> None:
    """Remove the embeddings of texts that no passage has any more."""
    from evidentia.judges.nli.meaning import content_digest  # noqa: PLC0415 - only this needs it

    there = library.texts_of(connection, tenant, texts)
    embeddings.forget_contents(
        connection, tenant, [content_digest(text) for text in texts if text not in there]
    )


def finish_erasing(acting: Acting) -> None:
    """Remove what erased documents left: their originals, and their words in the search index."""
    from evidentia.workspace.searching import search_index  # noqa: PLC0415 - it knows this module

    remove_originals(acting)
    acting.opened.shelves.forget(acting.tenant)  # it remembers passages
    search_index(acting)
    acting.database.settle()


def remove_originals(acting: Acting) -> None:
    """Remove the originals of erased documents from the lake that nothing refers to any more."""
    lake = acting.lake
    with acting.database.read() as connection:
        erased = erased_through(acting, connection)
        versions = library.all_versions(connection, acting.tenant, set(erased)) if erased else []
        digests = {one.sha256 for one in versions if one.version <= erased[one.id]}
        if lake.is_remote:  # which is not asked of each one, every time
            digests -= uses.removals(connection, acting.tenant, digests)
    left = sorted(digest for digest in digests if lake.is_remote or lake.holds(digest))
    if left:
        remove_unused(acting, left)


def erased_through(acting: Acting, connection: Connection) -> dict[str, int]:
    """Return up to which version documents' texts were erased, of all whose texts were."""
    found: dict[str, int] = {}
    for seq, subject in log.subjects(connection, acting.tenant, (EntryKind.DOCUMENT,), REMOVED):
        body = acting.entry_within(connection, seq).body
        if body.get("text") == ERASED:
            found[subject.removeprefix(REMOVED)] = int(body["through"])
    return found


def refuse_cited(acting: Acting, document: StoredDocument, connection: Connection) -> None:
    """Raise `UsageError` if a pack on legal hold, in any version, rests on a document.

    It rests on what its ledger cites, and on a source, an attachment or a bundle of the bytes of
    one of its versions up to this one.
    """
    versions = library.all_versions(connection, acting.tenant, {document.id})
    digests = {one.sha256 for one in versions if one.version <= document.version}
    for pack_id, hold in sorted(holds_of(acting, connection).by_pack.items()):
        listed = packs.find_pack(connection, acting.tenant, pack_id)
        for one in packs.versions(connection, acting.tenant, listed):
            if _rests_on(acting, connection, one, document.id, digests):
                raise UsageError(
                    f"{named(document)}: pack {one.id} rests on it, and is on legal hold since "
                    f"{hold.at} by {hold.actor}: its text stays, and nothing was done; 'evidentia "
                    f"pack release {pack_id} --reason TEXT' ends the hold. Without --erase it is "
                    "taken out, and its text kept"
                )


def _rests_on(
    acting: Acting,
    connection: Connection,
    listed: packs.ListedPack,
    document_id: str,
    digests: AbstractSet[str],
) -> bool:
    from evidentia.workspace.ledgers import LEDGERS, read_session  # noqa: PLC0415 - rarely needed
    from evidentia.workspace.sealing import read_pack  # noqa: PLC0415 - the same

    pack = read_pack(acting, listed)
    hashes = {f"sha256:{digest}" for digest in digests}
    if any(source.content_hash in hashes for source in pack.sources):
        return True
    if any(one.sha256 in digests for one in pack.attachments):
        return True
    for bundle in pack.bundles:
        items = bundles.artifacts_of(connection, acting.tenant, bundle.bundle_id)
        if not digests.isdisjoint(items):
            return True
    if pack.ledger is None:
        return False
    try:
        session = read_session(acting, LEDGERS.named(acting, pack.ledger.ledger_id))
    except NotFoundError:  # it was erased by law: nothing of it cites anything any more
        return False
    return document_id in _own_ids(cited_documents(session.ledger))


def _own_ids(cited: Iterable[str]) -> set[str]:
    return {name.partition("@")[0] for name in cited}

"""What a ledger was checked against: listed from the trail's entries, and proved one by one."""

from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection

from evidentia.canonical import parse_json
from evidentia.errors import EvidentiaError, InputError, IntegrityError, NotFoundError
from evidentia.ledger.commitment import (
    CORPUS,
    NamedCorpus,
    proving_nodes,
    read_leaf,
    whole_map,
)
from evidentia.ledger.membership import (
    CorpusProof,
    committed_corpus,
    is_used,
    keys_of,
    read_name,
    selected,
)
from evidentia.ledger.session import CheckedDocument, LedgerSession
from evidentia.proof.statement import Statement
from evidentia.store.sql.ledgers import ListedLedger
from evidentia.trail.keyed import KeyedMap
from evidentia.workspace.acting import Acting
from evidentia.workspace.commitment import current_corpus, leaves_then


@dataclass(frozen=True, slots=True)
class CorpusVersion:
    """A version of a document in the library that a ledger was checked against.

    `id` is what it is called there: an older version goes by its own, `doc_…@1`. `used` says
    whether the check used it, or its filter left it out.
    """

    id: str
    document_id: str
    version: int
    collection: str
    filename: str
    media_type: str
    sha256: str
    dated: str | None
    used: bool


@dataclass(frozen=True, slots=True)
class LedgerCorpus:
    """What a ledger was checked against: the library by its root, and a page of its documents.

    `named` is None for a ledger of an older form, which lists all documents itself. `next_after`
    is where the next page begins; None if this is the last.
    """

    ledger_id: str
    named: NamedCorpus | None
    documents: int
    used: int
    versions: tuple[CorpusVersion, ...]
    next_after: str | None

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            "ledger": self.ledger_id,
            "corpus": self.named and self.named.model_dump(mode="json"),
            "documents": self.documents,
            "used": self.used,
            "versions": [asdict(version) for version in self.versions],
            "next_after": self.next_after,
        }


def corpus_of(
    acting: Acting, row: ListedLedger, after: str | None = None, limit: int | None = None
) -> LedgerCorpus:
    """Return what a ledger was checked against, by collection, name and version."""
    named = _named(acting, row)
    if named is None:
        found = [_listed(one) for one in _session(acting, row).documents]
    else:
        with acting.database.read() as connection:
            leaves = leaves_then(acting, connection, named, row.entry)
        among = selected(named.filter, _selection(acting, named))
        found = [_version(key, data, named, among) for key, data in leaves.items()]
    found.sort(key=lambda one: (one.collection, one.filename, one.document_id, one.version))
    used = sum(one.used for one in found)
    if named is not None and (len(found), used) != (named.documents, named.used):
        raise IntegrityError(
            f"ledger {row.id} says that it used {named.used:,} of {named.documents:,} documents, "
            f"and its filter lets in {used:,} of {len(found):,}: run 'evidentia verify'"
        )
    begins = 0 if after is None else _place_of(found, after) + 1
    shown = found[begins:] if limit is None else found[begins : begins + limit]
    more = begins + len(shown) < len(found)
    next_after = shown[-1].id if shown and more else None
    return LedgerCorpus(row.id, named, len(found), used, tuple(shown), next_after)


def prove_document(acting: Acting, row: ListedLedger, document: str) -> CorpusProof:
    """Prove that a document was, or was not, in what a ledger was checked against."""
    from evidentia.workspace.ledgers import LEDGERS  # noqa: PLC0415 - it knows this module

    named = _named(acting, row)
    if named is None:
        raise InputError(
            f"ledger {row.id} is of an older form, which lists all its documents: 'evidentia "
            "ledger prove' proves it with the list"
        )
    with acting.database.read() as connection:
        corpus = _map(acting, connection, named, row)
        called = _called(acting, connection, named, row, document)
        keys, leaf = keys_of(corpus, called)
        nodes = proving_nodes(corpus, keys)
    chosen = _selection(acting, named) if leaf is not None else None
    proof = CorpusProof(called, LEDGERS.prove_entry(acting, row), nodes, chosen)
    proof.finding()
    return proof


def _named(acting: Acting, row: ListedLedger) -> NamedCorpus | None:
    """Return the corpus that a ledger's entry commits to; None for one of an older form."""
    from evidentia.workspace.ledgers import LEDGERS  # noqa: PLC0415 - as above

    body = LEDGERS.body(acting, row)
    return committed_corpus(body) if CORPUS in body else None


def _session(acting: Acting, row: ListedLedger) -> LedgerSession:
    from evidentia.workspace.ledgers import LEDGERS  # noqa: PLC0415 - as above

    return LedgerSession.from_statement(Statement.parse(LEDGERS.file(acting, row)))


def _selection(acting: Acting, named: NamedCorpus) -> tuple[str, ...] | None:
    """Return the ids that a filter names by their digest; None where it names them itself."""
    if named.filter.selection_sha256 is None:
        return None
    try:
        data = acting.lake.get(named.filter.selection_sha256)
    except EvidentiaError as error:
        raise IntegrityError(f"the documents that the check chose are not kept: {error}") from None
    return tuple(parse_json(data))


def _map(acting: Acting, connection: Connection, named: NamedCorpus, row: ListedLedger) -> KeyedMap:
    """Return the map of a library: the current one if that is it, else made from the entries."""
    current = current_corpus(acting, connection)
    if current is not None and current.root.hex() == named.root:
        return current.map
    whole = whole_map(leaves_then(acting, connection, named, row.entry))
    return KeyedMap(whole.root, whole.added.get)


def _called(
    acting: Acting, connection: Connection, named: NamedCorpus, row: ListedLedger, document: str
) -> str:
    """Return the id that a document is named by, or called `collection/filename`."""
    if "/" not in document:
        read_name(document)
        return document
    for key, data in leaves_then(acting, connection, named, row.entry).items():
        leaf = read_leaf(data)
        if f"{leaf['collection']}/{leaf.get('filename')}" == document and b"@" not in key:
            return key.decode()
    raise NotFoundError(
        f"the library had no document that is called {document[:200]!r}: to prove that, give the "
        "id of the document, which 'evidentia documents --json' lists"
    )


def _version(
    key: bytes, data: bytes, named: NamedCorpus, among: frozenset[str] | None
) -> CorpusVersion:
    leaf = read_leaf(data)
    return CorpusVersion(
        id=key.decode(),
        document_id=leaf["document_id"],
        version=leaf["version"],
        collection=leaf["collection"],
        filename=leaf["filename"],
        media_type=leaf["media_type"],
        sha256=leaf["sha256"],
        dated=leaf.get("dated"),
        used=is_used(named.filter, leaf, among),
    )


def _listed(document: CheckedDocument) -> CorpusVersion:
    identity = document.id.partition("@")[0]
    fields = document.model_dump(exclude={"superseded"})
    return CorpusVersion(**fields, document_id=identity, used=True)


def _place_of(versions: list[CorpusVersion], identity: str) -> int:
    for place, version in enumerate(versions):
        if version.id == identity:
            return place
    raise InputError(f"no document of the corpus is called {identity[:80]!r}")

"""The map that commits to a library: kept with its nodes, and believed for an entry's word alone.

Each entry that records a document names the root of the map after it. The nodes are kept to be
read by their hashes; where they are missing or wrong, the map is made again from the entries.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection

from evidentia.canonical import canonical_json, sha256_hex
from evidentia.errors import IntegrityError, ProofError
from evidentia.ledger.commitment import (
    MAX_NAMED,
    Changes,
    CorpusCommitment,
    CorpusFilter,
    Get,
    NamedCorpus,
    corpus_leaves,
    proving_nodes,
    whole_map,
)
from evidentia.store.sql import corpus_nodes, log
from evidentia.trail.entry import Entry, EntryKind
from evidentia.trail.keyed import EMPTY_MAP, KeyedMap, read_node
from evidentia.workspace.acting import Acting
from evidentia.workspace.logged import LoggedEntry, committed

_KIND: Final = EntryKind.DOCUMENT


class CurrentCorpus(NamedTuple):
    """A library: its root, how many versions it has, and the map that gives and proves each.

    `entry` is the entry that names the root; None where none does, as in a log of an older program.
    """

    root: bytes
    documents: int
    entry: int | None
    map: KeyedMap


def current_corpus(acting: Acting, connection: Connection) -> CurrentCorpus | None:
    """Return the library as the newest entry about it says, proved; None if none is recorded.

    The map reads its nodes through the connection. Where the root is missing, it is made again from
    the entries, which must lead to that root: `IntegrityError` is raised if they do not.
    """
    newest = newest_document(acting, connection)
    if newest is None:
        return None
    named = named_corpus(newest.body)
    if named is not None:
        root, count = named
        nodes = partial(corpus_nodes.node_data, connection, acting.tenant)
        if _has_root(root, nodes):
            return CurrentCorpus(root, count, newest.entry.seq, KeyedMap(root, nodes))
    return _rebuilt(acting, connection, newest)


@dataclass(frozen=True, slots=True)
class CheckedCorpus:
    """The library that a check uses, as it was when the check began, and what of it."""

    acting: Acting
    found: CurrentCorpus
    filter: CorpusFilter
    used: int

    def commitment(self, connection: Connection, cited: Iterable[str]) -> CorpusCommitment:
        """Return what a statement says of it, with the nodes that prove what it cites.

        The connection is the one that it was found by, in which nothing moves. Nodes that were
        lost are made again from the entries.
        """
        keys, found = [name.encode() for name in cited], self.found
        try:
            nodes = proving_nodes(found.map, keys)
        except ProofError:
            whole = corpus_at(self.acting, connection, found.entry).map
            nodes = proving_nodes(whole, keys)
        return CorpusCommitment(
            root=found.root.hex(),
            documents=found.documents,
            used=self.used,
            entry=found.entry,
            filter=self.filter,
            nodes=nodes,
        )


def corpus_at(acting: Acting, connection: Connection, entry: int | None) -> CurrentCorpus:
    """Return a library as it was at an entry that names its root, made again from the entries."""
    if entry is None:
        raise ProofError("no entry names this corpus")
    return _rebuilt(acting, connection, acting.entry_within(connection, entry))


def leaves_then(
    acting: Acting, connection: Connection, corpus: NamedCorpus, ledger: int
) -> dict[bytes, bytes]:
    """Return what the library had that the ledger of an entry commits to, from the entries."""
    before = ledger if corpus.entry is None else corpus.entry + 1
    named = f"the ledger of entry {ledger} was checked against"
    return _leading_to(acting, connection, bytes.fromhex(corpus.root), before, named)


def selection(
    acting: Acting,
    identities: Collection[str] | None,
    collections: Collection[str] | None = None,
    as_of: str | None = None,
) -> CorpusFilter:
    """Return the filter of some documents, of collections, or of all.

    A large selection of documents is kept in the lake.
    """
    if collections is not None:
        return CorpusFilter(collections=sorted(collections), as_of=as_of)
    if identities is None:
        return CorpusFilter(all=True, as_of=as_of)
    named = sorted(identities)
    if len(named) <= MAX_NAMED:
        return CorpusFilter(documents=named, as_of=as_of)
    data = canonical_json(named)
    acting.lake.put(data)
    return CorpusFilter(selection_sha256=sha256_hex(data), selected=len(named), as_of=as_of)


class ChangingCorpus:
    """The map during a transaction that holds the log: changed step by step, kept at the end.

    A change costs the nodes on its path; where those are not whole, all nodes are written anew.
    """

    def __init__(self, acting: Acting, connection: Connection) -> None:
        self._acting = acting
        self._connection = connection
        self._newest = newest_document(acting, connection)
        self._read: dict[bytes, bytes | None] = {}
        self._added: dict[bytes, bytes] = {}
        self._removed: set[bytes] = set()
        self._changes: Changes = {}
        self._is_anew = False
        named = (EMPTY_MAP, 0) if self._newest is None else named_corpus(self._newest.body)
        self._named = named or self._anew()

    def change(self, change: Callable[[Get], Changes]) -> dict[str, Any]:
        """Change the map; return what an entry says of it.

        `change` is given what the map has under a key, and returns what becomes of keys.
        """
        try:
            root, count = self._named = self._changed(change)
        except ProofError:  # nodes were lost or altered
            if self._is_anew:
                raise
            self._named = self._anew()
            root, count = self._named = self._changed(change)
        return {"root": root.hex(), "documents": count}

    def keep(self) -> None:
        """Keep the nodes that are new, and remove those that are gone."""
        tenant = self._acting.tenant
        removed = None if self._is_anew else self._removed
        corpus_nodes.remove_nodes(self._connection, tenant, removed)
        corpus_nodes.keep_nodes(self._connection, tenant, self._added)

    def _changed(self, change: Callable[[Get], Changes]) -> tuple[bytes, int]:
        root, count = self._named
        corpus = KeyedMap(root, self._node)
        get = cache(corpus.get)
        changes = change(get)
        count += sum((leaf is not None) - (get(key) is not None) for key, leaf in changes.items())
        update = corpus.updated(changes)
        for name in update.removed:
            if self._added.pop(name, None) is None:
                self._removed.add(name)
        self._added |= update.added
        self._removed -= update.added.keys()
        self._changes |= changes
        return update.root, count

    def _node(self, name: bytes) -> bytes | None:
        if name in self._added:
            return self._added[name]
        if name not in self._read:
            found = corpus_nodes.node_data(self._connection, self._acting.tenant, name)
            self._read[name] = found
        return self._read[name]

    def _anew(self) -> tuple[bytes, int]:
        newest = self._newest
        leaves = {} if newest is None else _leaves(self._acting, self._connection, newest)
        for key, leaf in self._changes.items():
            if leaf is None:
                leaves.pop(key, None)
            else:
                leaves[key] = leaf
        whole = whole_map(leaves)
        self._added, self._removed, self._is_anew = whole.added, set(), True
        return whole.root, len(leaves)


def update_corpus(
    acting: Acting, connection: Connection, change: Callable[[Get], Changes]
) -> dict[str, Any]:
    """Change the map once inside a transaction that holds the log, as `ChangingCorpus` does."""
    corpus = ChangingCorpus(acting, connection)
    said = corpus.change(change)
    corpus.keep()
    return said


def restore_corpus(acting: Acting, connection: Connection) -> None:
    """Write the nodes anew that the newest entry's root needs, if one of them is not as it was."""
    newest = newest_document(acting, connection)
    if newest is not None and named_corpus(newest.body) is not None:
        leaves = _leaves(acting, connection, newest)
        if dict(corpus_nodes.nodes(connection, acting.tenant)) != whole_map(leaves).added:
            _keep_whole(acting, connection, leaves)


def audited_corpus(acting: Acting, connection: Connection) -> Iterator[str]:
    """Give what is wrong with the map: its root against all entries, its nodes against the root."""
    newest = newest_document(acting, connection)
    stored = dict(corpus_nodes.nodes(connection, acting.tenant))
    wanted: dict[bytes, bytes] = {}
    if newest is not None:
        named = named_corpus(newest.body)
        leaves = corpus_leaves(one.body for one in acting.entries(_KIND, connection=connection))
        whole = whole_map(leaves)
        if named is not None:
            wanted = whole.added
            if named != (whole.root, len(leaves)):
                yield (
                    f"entry {newest.entry.seq} names a library that is not the one of the entries "
                    "that record documents"
                )
                return
    if stored != wanted:
        yield (
            "the stored map of the library is not the one of its entries: 'evidentia documents "
            "record' writes it anew"
        )


def named_corpus(body: Any) -> tuple[bytes, int] | None:
    """Return the root and the count that an entry's body names; None if it names none."""
    match body:
        case {"corpus": {"root": str(root), "documents": int(count)}}:
            return bytes.fromhex(root), count
    return None


def newest_document(acting: Acting, connection: Connection) -> LoggedEntry | None:
    """Return the newest entry that records a document: of this transaction, or proved."""
    appending, tenant = acting.opened.appending, acting.tenant
    own = [place.seq for (kind, _), place in appending.said(connection) if kind == _KIND]
    if own:
        return committed(log.entry_at(connection, tenant, own[-1]))
    hinted = log.find_entries(connection, tenant, kind=_KIND, limit=1, newest_first=True)
    # an index may hide entries: what it gives is where to look on from, no more
    after = Entry.decode(hinted[0][3]).seq - 1 if hinted else -1
    found = acting.entries(_KIND, connection=connection, after=after)
    if not found and hinted:
        found = acting.entries(_KIND, connection=connection)
    return found[-1] if found else None


def _rebuilt(acting: Acting, connection: Connection, newest: LoggedEntry) -> CurrentCorpus:
    leaves = _leaves(acting, connection, newest)
    whole = whole_map(leaves)
    entry = newest.entry.seq if named_corpus(newest.body) else None
    return CurrentCorpus(whole.root, len(leaves), entry, KeyedMap(whole.root, whole.added.get))


def _leaves(acting: Acting, connection: Connection, newest: LoggedEntry) -> dict[bytes, bytes]:
    """Return what the map has, from the entries up to one, which must lead to the root it names."""
    named = named_corpus(newest.body)
    if named is None:
        return corpus_leaves(one.body for one in acting.entries(_KIND, connection=connection))
    seq = newest.entry.seq
    return _leading_to(acting, connection, named[0], seq + 1, f"entry {seq} names")


def _leading_to(
    acting: Acting, connection: Connection, root: bytes, before: int, named: str
) -> dict[bytes, bytes]:
    """Return what a map of this root has, by the entries before one; raise `IntegrityError`.

    An index that hides entries is not believed: then all are read and proved.
    """
    rows = log.find_entries(connection, acting.tenant, kind=_KIND, before=before)
    leaves = corpus_leaves(committed(row).body for row in rows)
    if whole_map(leaves).root != root:
        proved = acting.entries(_KIND, connection=connection)
        leaves = corpus_leaves(one.body for one in proved if one.entry.seq < before)
        if whole_map(leaves).root != root:
            raise IntegrityError(
                f"the entries that record documents do not lead to the library that {named}: run "
                "'evidentia verify'"
            )
    return leaves


def _has_root(root: bytes, nodes: Get) -> bool:
    if root == EMPTY_MAP:
        return True
    try:
        read_node(nodes, root)
    except ProofError:
        return False
    return True


def _keep_whole(acting: Acting, connection: Connection, leaves: dict[bytes, bytes]) -> bytes:
    whole = whole_map(leaves)
    corpus_nodes.remove_nodes(connection, acting.tenant)
    corpus_nodes.keep_nodes(connection, acting.tenant, whole.added)
    return whole.root

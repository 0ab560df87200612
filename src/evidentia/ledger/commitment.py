"""What answers are checked against, as a commitment: the root of a map, not a list of documents.

The map (`trail.keyed`) has each version of a document by what it is called in a corpus, and what
the trail's entry says of it. So a root of 32 bytes names a library, a new document costs a path,
and that a document is in it, or is not, is shown by the nodes on its path.
"""

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any, ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from evidentia.canonical import parse_json
from evidentia.documents.effective import Effective
from evidentia.documents.recording import collection_id, document_leaf
from evidentia.errors import CanonicalError, ProofError
from evidentia.frozen import FrozenItems, FrozenList, FrozenModel, LaterFields
from evidentia.trail.keyed import EMPTY_MAP, KeyedMap, Update
from evidentia.trail.note import decode_base64

CORPUS: Final = "corpus"
"""The field of a ledger's body that commits to the library, and the name of the check of it."""
MAX_NAMED: Final = 100
"""How many documents a filter names; a larger selection is named by its digest."""
_HASH: Final = r"^[0-9a-f]{64}$"
_DAY: Final = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_EFFECTIVE: Final = ("effective_from", "effective_until")

Get = Callable[[bytes], bytes | None]
"""Gives what the map has under a key."""
Changes = dict[bytes, bytes | None]
"""What becomes of keys: their new leaves, or None for those that go."""


# The map of a library


def corpus_key(identity: str, version: int | None = None) -> bytes:
    """Return the key of a document's newest version, or of an older one by its number."""
    return (identity if version is None else f"{identity}@{version}").encode()


def with_version(get: Get, body: Mapping[str, Any]) -> Changes:
    """Return what the map takes in for a version that an entry records.

    A newer version moves the one before to a key of its own. What the map has, it keeps: where two
    entries are about the same version, the first one is believed.
    """
    identity, version = body["document_id"], body["version"]
    newest = get(corpus_key(identity))
    if newest is None:
        return {corpus_key(identity): document_leaf(body)}
    other = parse_json(newest)["version"]
    if version > other:
        return {corpus_key(identity): document_leaf(body), corpus_key(identity, other): newest}
    older = corpus_key(identity, version)
    return {} if version == other or get(older) is not None else {older: document_leaf(body)}


def without_versions(get: Get, body: Mapping[str, Any]) -> Changes:
    """Return what the map loses by an entry that takes a document out, with versions up to one."""
    identity, through = body["document_id"], body["through"]
    newest = get(corpus_key(identity))
    gone: Changes = {}
    if newest is not None and parse_json(newest)["version"] <= through:
        gone[corpus_key(identity)] = None
    older = (corpus_key(identity, version) for version in range(1, through + 1))
    return gone | {key: None for key in older if get(key) is not None}


def corpus_leaves(bodies: Iterable[Mapping[str, Any]]) -> dict[bytes, bytes]:
    """Return what the map has after entries, given by their bodies in order."""
    leaves: dict[bytes, bytes] = {}
    for body in bodies:
        match body:
            case {"document_id": str(), "removed": True, "through": int()}:
                for key in without_versions(leaves.get, body):
                    del leaves[key]
            case {"document_id": str(), "version": int()}:
                leaves |= {
                    key: leaf for key, leaf in with_version(leaves.get, body).items() if leaf
                }
    return leaves


def whole_map(leaves: Mapping[bytes, bytes]) -> Update:
    """Return the map of leaves by their keys, with all its nodes."""
    nothing: dict[bytes, bytes] = {}
    return KeyedMap(EMPTY_MAP, nothing.get).updated(leaves)


# What a statement says of it


class CorpusFilter(LaterFields):
    """Which documents of a library a check used: all, some collections, or some documents.

    Collections go by their ids. `as_of` is the day that the documents had to hold on. A selection
    of more than a hundred documents is named by the digest of the canonical JSON list of their
    ids, in order, and by how many they are.
    """

    later: ClassVar[tuple[str, ...]] = (
        "all",
        "collections",
        "documents",
        "selection_sha256",
        "selected",
        "as_of",
    )

    all: Literal[True] | None = None
    collections: FrozenItems[str] | None = None
    documents: FrozenItems[str] | None = Field(None, max_length=MAX_NAMED)
    selection_sha256: str | None = Field(None, pattern=_HASH)
    selected: int | None = Field(None, ge=1)
    as_of: str | None = Field(None, pattern=_DAY)

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        kinds = (self.all, self.collections, self.documents, self.selection_sha256)
        if sum(kind is not None for kind in kinds) != 1:
            raise ValueError("a filter is one of all, collections, documents, selection_sha256")
        if (self.selected is None) != (self.selection_sha256 is None):
            raise ValueError("selected goes with selection_sha256, and it with selected")
        return self

    def admits(self, leaf: Mapping[str, Any]) -> bool:
        """Whether it lets a document in; of a selection that is a digest, nothing is known here."""
        holds = Effective(*(leaf.get(name) for name in _EFFECTIVE))
        if self.as_of is not None and not holds.holds_on(self.as_of):
            return False
        if self.collections is not None:
            return leaf.get("collection_id", collection_id(leaf["collection"])) in self.collections
        return self.documents is None or leaf["document_id"] in self.documents


class NamedCorpus(FrozenModel):
    """What an answer was checked against: a library by its root, and what was used of it.

    `documents` counts the versions in the library, `used` those of them that the filter let in;
    `entry` is the trail's that names the root.
    """

    root: str = Field(pattern=_HASH)
    documents: int = Field(ge=0)
    used: int = Field(ge=0)
    entry: int | None = Field(None, ge=0)
    filter: CorpusFilter

    @model_validator(mode="after")
    def _counts(self) -> Self:
        is_whole = self.filter.all and self.filter.as_of is None
        if self.used > self.documents or (is_whole and self.used != self.documents):
            raise ValueError("used counts what the filter lets in of the documents")
        return self

    def named(self) -> "NamedCorpus":
        """Return what a ledger's entry says of it."""
        return NamedCorpus(**{name: getattr(self, name) for name in NamedCorpus.model_fields})


class CorpusCommitment(NamedCorpus):
    """The same with the nodes that prove the leaves of the documents that a ledger cites."""

    nodes: FrozenItems[str] = FrozenList()

    def proved_map(self) -> KeyedMap:
        """Return the part of the map that the nodes show."""
        return KeyedMap(bytes.fromhex(self.root), nodes_by_hash(self.nodes).get)


def nodes_by_hash(written: Iterable[str]) -> dict[bytes, bytes]:
    """Return nodes by their hashes, from Base64; raise `ProofError` for what is none."""
    nodes: dict[bytes, bytes] = {}
    for text in written:
        node = decode_base64(text)
        if node is None:
            raise ProofError("a node of the corpus is not Base64")
        nodes[sha256(node).digest()] = node
    return nodes


def proving_nodes(corpus: KeyedMap, keys: Iterable[bytes]) -> tuple[str, ...]:
    """Return the nodes that prove keys, each once, the root first, in Base64."""
    found = dict.fromkeys(node for key in sorted(keys) for node in corpus.prove(key))
    return tuple(base64.b64encode(node).decode() for node in found)


def read_leaf(data: bytes) -> Mapping[str, Any]:
    """Return what a leaf says of a version; raise `ProofError` if it says nothing of one."""
    try:
        leaf = parse_json(data)
    except CanonicalError as error:
        raise ProofError(f"a leaf of the corpus cannot be read: {error}") from None
    match leaf:
        case {"document_id": str(), "version": int(), "collection": str(), "sha256": str()}:
            return dict(leaf)
    raise ProofError("a leaf of the corpus says nothing of a document")


def wrong_documents(
    commitment: CorpusCommitment, documents: Iterable[Mapping[str, Any]]
) -> Iterator[str]:
    """Say which documents, given as a statement lists them, are not proved to be in a corpus."""
    try:
        proved = commitment.proved_map()
        keys = []
        for document in documents:
            key = document["id"].encode()
            keys.append(key)
            data = proved.get(key)
            if data is None:
                yield f"document {document['id']} is not in its corpus"
                return
            leaf = read_leaf(data)
            yield from _differences(document, leaf)
            if not commitment.filter.admits(leaf):
                yield f"document {document['id']} is none that its filter lets in"
        if proving_nodes(proved, keys) != tuple(commitment.nodes):
            yield "the nodes of its corpus are not those that prove its documents"
    except ProofError as error:
        yield str(error)


def _differences(document: Mapping[str, Any], leaf: Mapping[str, Any]) -> Iterator[str]:
    identity, _, older = document["id"].partition("@")
    if leaf["document_id"] != identity or (older and older != str(leaf["version"])):
        yield f"document {document['id']} is another in its corpus"
    if document["superseded"] != bool(older):
        yield f"document {document['id']} is not as superseded as it is called"
    for name in ("version", "collection", "filename", "media_type", "sha256", "dated"):
        if name in leaf and leaf[name] != document[name]:
            yield f"document {document['id']} has another {name} in its corpus"
    for name in _EFFECTIVE:
        if leaf.get(name) != document.get(name):
            yield f"document {document['id']} has another {name} in its corpus"

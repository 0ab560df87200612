"""What the trail says of a document that was read: its bytes, and the passages it was cut into.

An entry commits to them by digests. So a passage that is cited later is the passage that was read,
or it is seen that it is another.
"""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, Final

from evidentia.canonical import canonical_json, derived_id, digest
from evidentia.documents.chunking import chunk_id
from evidentia.documents.hashing import FULL_LENGTH, generate_chunk_hash
from evidentia.documents.model import DocumentChunk

CHUNKS: Final = "chunks_sha256"
"""The field of a body that commits to the chunks."""
CORPUS: Final = "corpus"
"""The field of a body that commits to the library as it is with this document."""
DATED: Final = "dated"
"""The field of a body that says, where it is known, how a document dates itself."""
_NOT_OF_IT: Final = ("by", CORPUS)
"""What a body says beside the document itself."""
_PLAIN: Final = (
    "version",
    "collection",
    "filename",
    "media_type",
    "sha256",
    "pages",
    "chunks",
    "created_at",
)
REMOVED: Final = "removed/"
"""What the subject of an entry begins with that takes a document out of the library."""
_PROPERTIES: Final = ("language", "direction", "title", "dated", "warnings")
_LATER: Final = (DATED, "effective_from", "effective_until", "reader")
"""What the second form of a body says beside the first, each where it is known."""
_DIGESTED: Final = "properties_sha256"
COLLECTION_ID: Final = "collection_id"
ERASED: Final = "erased"
KEPT: Final = "kept"


def collection_id(name: str, folder: str | None = None) -> str:
    """Return the id of a collection: the first of a name goes by it, others by their folders too.

    >>> collection_id("policies")
    'col_4a6e97f464f2be75'
    """
    named = {"name": name} if folder is None else {"name": name, "folder": folder}
    return derived_id("col", named)


def chunks_digest(chunks: Iterable[DocumentChunk]) -> str:
    """Return the SHA-256 of chunks in reading order: of each one's canonical JSON and a newline.

    A chunk that was not read by OCR has no field `ocr`.
    """
    hashed = sha256()
    for chunk in chunks:
        hashed.update(canonical_json(chunk.as_json()))
        hashed.update(b"\n")
    return hashed.hexdigest()


def document_body(version: Mapping[str, Any], chunks: str) -> dict[str, Any]:
    """Return what an entry says of a version of a document, whose chunks have a digest.

    What may be long, such as a title, it says by a digest.
    """
    properties = {name: version[name] for name in _PROPERTIES}
    properties["warnings"] = list(properties["warnings"])
    return {
        "document_id": version["id"],
        **{name: version[name] for name in _PLAIN},
        _DIGESTED: digest(properties),
        CHUNKS: chunks,
    }


def recorded_body(version: Mapping[str, Any], chunks: str) -> dict[str, Any]:
    """Return what an entry says of a version in the second form: also of its life."""
    later = {name: version[name] for name in _LATER if version.get(name)}
    return {**document_body(version, chunks), COLLECTION_ID: version[COLLECTION_ID], **later}


def removal_body(
    document_id: str, through: int, reason: str, *, erased: bool = False
) -> dict[str, Any]:
    """Return what an entry says that takes a document out, with all versions up to one.

    `erased` says that their text is gone for good, and not only out of the library.
    """
    return {
        "document_id": document_id,
        "removed": True,
        "through": through,
        "text": ERASED if erased else KEPT,
        "reason": reason,
    }


def document_leaf(body: Mapping[str, Any]) -> bytes:
    """Return what stands for a version in the map of a library: what its entry says of it."""
    return canonical_json({name: body[name] for name in body if name not in _NOT_OF_IT})


def difference(
    version: Mapping[str, Any], recorded: Mapping[str, Any], *, erased: bool = False
) -> str | None:
    """Say in what a version is not as it was recorded, its chunks left aside; None if it is.

    Of one whose text was erased, the title is gone too.
    """
    expected = document_body(version, str(recorded.get(CHUNKS)))
    for name, value in expected.items():
        if recorded.get(name) != value and not (erased and name == _DIGESTED):
            return "title, date, language or warnings" if name == _DIGESTED else name
    implied = collection_id(version["collection"])
    if version.get(COLLECTION_ID, implied) != recorded.get(COLLECTION_ID, implied):
        return COLLECTION_ID
    later = (name for name in _LATER if name != DATED or DATED in recorded)
    return next((name for name in later if (version.get(name) or None) != recorded.get(name)), None)


def damaged_chunk(chunks: Iterable[DocumentChunk], version: Mapping[str, Any]) -> str | None:
    """Say what is wrong with chunks by themselves: a place that is another's, a hash, a number."""
    count = 0
    for count, chunk in enumerate(chunks, 1):
        if chunk.index != count - 1:
            return f"passage {count - 1} is missing"
        if chunk.chunk_id != chunk_id(
            version["id"], version["sha256"], (chunk.page, chunk.start, chunk.end)
        ):
            return f"passage {chunk.index} is not of this place"
        if chunk.chunk_hash != generate_chunk_hash(chunk.text, FULL_LENGTH):
            return f"the text of passage {chunk.index} was changed"
    if count != version["chunks"]:
        return f"it has {count} passages, and was read with {version['chunks']}"
    return None

"""Adapters: what retrievers give, as candidates and chunks. No framework is ever imported.

Objects are told by what they have: LangChain's `Document` (also with its score in a pair),
LlamaIndex's `NodeWithScore` and nodes, Haystack's `Document`, dicts, and rows of a vector search.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from evidentia.canonical import derived_id
from evidentia.sources.model import CandidateItem, EvidenceChunk

_IDS: Final = ("item_id", "doc_id", "document_id", "source_id", "id", "_id", "uuid", "pk")
_TEXTS: Final = ("text", "page_content", "content", "chunk", "chunk_text", "passage", "body")
_TITLES: Final = ("title", "name", "file_name", "filename", "document_title")
_URLS: Final = ("url", "link", "href", "uri", "source_url", "webpage")
_SCORES: Final = ("score", "similarity", "relevance_score", "_score", "rerank_score")
_DISTANCES: Final = ("distance", "_distance")
_DOCUMENTS: Final = (
    "doc_id",
    "document_id",
    "ref_doc_id",
    "source_id",
    "parent_id",
    "source",
    "file_name",
    "filename",
    "url",
)
_PAGES: Final = ("page", "page_number", "page_label")
_PAIR: Final = 2


@dataclass(frozen=True, slots=True)
class Found:
    """One thing that a retriever found, whatever it was called there."""

    identity: str | None
    text: str | None
    score: float | None
    metadata: Mapping[Any, Any]


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What a retriever found: its documents, and the passages of them."""

    candidates: list[CandidateItem]
    chunks: list[EvidenceChunk]


def from_retrieval(results: Iterable[Any]) -> Retrieved:
    """Return the documents and passages of retrieved objects, in their order.

    A passage belongs to the document that its metadata names (`doc_id`, `source`, `url` …), else it
    is a document by itself. A document's score is that of its best passage.
    """
    candidates: dict[str, CandidateItem] = {}
    chunks: list[EvidenceChunk] = []
    for rank, result in enumerate(results, 1):
        chunk = as_chunk(result)
        found = _found(result)
        if chunk is None or found is None:
            continue
        chunks.append(chunk)
        known = candidates.get(chunk.item_id)
        if known is None:
            candidates[chunk.item_id] = CandidateItem(
                item_id=chunk.item_id,
                title=_text(_first(found.metadata, _TITLES)),
                url=_text(_first(found.metadata, _URLS)),
                score=chunk.score,
                rank=rank,
                metadata=found.metadata,
            )
        elif chunk.score is not None and (known.score is None or known.score < chunk.score):
            candidates[chunk.item_id] = CandidateItem(
                **{**dict(known), "score": chunk.score}  # its first rank stays
            )
    return Retrieved(list(candidates.values()), chunks)


def as_candidate(value: Any) -> CandidateItem | None:
    """Return a candidate made of an object, or None if it is nothing that was retrieved."""
    if isinstance(value, CandidateItem):
        return value
    if isinstance(value, Mapping) and isinstance(value.get("item_id"), str):
        known = {name: value[name] for name in CandidateItem.model_fields if name in value}
        return CandidateItem.model_validate(known)
    found = _found(value)
    if found is None:
        return None
    return CandidateItem(
        item_id=_document_of(found),
        title=_text(_first(found.metadata, _TITLES)),
        url=_text(_first(found.metadata, _URLS)),
        content=found.text,
        score=found.score,
        metadata=found.metadata,
    )


def as_chunk(value: Any) -> EvidenceChunk | None:
    """Return a chunk made of an object, or None if it has no text."""
    if isinstance(value, EvidenceChunk):
        return value
    if isinstance(value, Mapping) and isinstance(value.get("item_id"), str):
        known = {name: value[name] for name in EvidenceChunk.model_fields if name in value}
        return EvidenceChunk.model_validate(known)
    found = _found(value)
    if found is None or not found.text:
        return None
    page = _first(found.metadata, _PAGES)
    headings = found.metadata.get("heading_path")
    return EvidenceChunk(
        item_id=_document_of(found),
        text=found.text,
        score=found.score,
        chunk_id=found.identity,
        page=int(page) if isinstance(page, int) or str(page).isdecimal() else None,
        heading_path=tuple(map(str, headings)) if isinstance(headings, list | tuple) else None,
        start=_whole(_first(found.metadata, ("start", "start_index", "start_char_idx"))),
        end=_whole(_first(found.metadata, ("end", "end_index", "end_char_idx"))),
    )


def _found(value: Any) -> Found | None:
    for reads, known in _READERS:
        if known(value):
            return reads(value)
    return None


def _of_langchain(document: Any) -> Found:
    return Found(
        _identity(getattr(document, "id", None)),
        _text(document.page_content),
        _score(getattr(document, "score", None)),
        _mapping(getattr(document, "metadata", None)),
    )


def _of_haystack(document: Any) -> Found:
    return Found(
        _identity(getattr(document, "id", None)),
        _text(document.content),
        _score(getattr(document, "score", None)),
        _mapping(document.meta),
    )


def _with_score(pair: Sequence[Any]) -> Found | None:
    """Read a pair of an object and its score, as LangChain's vector stores give it."""
    if len(pair) != _PAIR or isinstance(pair[0], Sequence | int | float):
        return None
    found = _found(pair[0])
    if found is None:
        return None
    return Found(found.identity, found.text, _score(pair[1]), found.metadata)


def _of_node(node: Any, score: float | None) -> Found:
    metadata = dict(_mapping(getattr(node, "metadata", None)))
    for name in ("ref_doc_id", "start_char_idx", "end_char_idx"):
        value = getattr(node, name, None)
        if value is not None:
            metadata.setdefault(name, value)
    return Found(
        _identity(getattr(node, "node_id", None)), _text(node.get_content()), score, metadata
    )


def _of_row(row: Mapping[Any, Any]) -> Found | None:
    """Read a dict: a record with its metadata inside, or a row whose columns are the metadata."""
    inner: Mapping[Any, Any] = next(
        (
            row[name]
            for name in ("metadata", "meta", "payload")
            if isinstance(row.get(name), Mapping)
        ),
        {},
    )
    text = _text(_first(row, _TEXTS)) or _text(_first(inner, _TEXTS))
    identity = _identity(_first(row, _IDS))
    if identity is None and text is None:
        return None
    used = {*_TEXTS, *_SCORES, *_DISTANCES, "metadata", "meta", "payload", "vector", "embedding"}
    metadata = {**{key: item for key, item in row.items() if key not in used}, **inner}
    score = _score(_first(row, _SCORES))
    distance = _score(_first(row, _DISTANCES))
    if score is None and distance is not None:
        score = 1.0 - distance  # so that the nearest is the best
    return Found(identity, text, score, metadata)


def _document_of(found: Found) -> str:
    """Return the id of the document that a passage belongs to."""
    named = _identity(_first(found.metadata, _DOCUMENTS)) or found.identity
    return named or derived_id("item", {"text": found.text or ""})


def _first(values: Mapping[Any, Any], names: Iterable[str]) -> Any:
    return next((values[name] for name in names if values.get(name) is not None), None)


def _identity(value: Any) -> str | None:
    if isinstance(value, bool) or value is None:
        return None
    return str(value) or None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _score(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _mapping(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}


_READERS: Final[tuple[tuple[Callable[[Any], Found | None], Callable[[Any], bool]], ...]] = (
    (_with_score, lambda value: isinstance(value, Sequence) and not isinstance(value, str | bytes)),
    (_of_row, lambda value: isinstance(value, Mapping)),
    (_of_langchain, lambda value: hasattr(value, "page_content")),
    (
        lambda value: _of_node(value.node, _score(value.score)),
        lambda value: hasattr(value, "node") and hasattr(value, "score"),
    ),
    (lambda value: _of_node(value, None), lambda value: hasattr(value, "get_content")),
    (_of_haystack, lambda value: hasattr(value, "content") and hasattr(value, "meta")),
)
"""How each kind of object is read, and told: pairs, dicts, LangChain, LlamaIndex, Haystack."""

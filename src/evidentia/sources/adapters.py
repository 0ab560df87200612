"""Adapters: what retrievers give, as candidates and chunks. No framework is ever imported.

Objects are told by what they have: LangChain's `Document` (also with its score in a pair),
LlamaIndex's `NodeWithScore` and nodes, Haystack's `Document`, dicts, and rows of a vector search.

A document that is known by a path gets the file's name for its id; where several paths have that
name, with a digest of the path. The folders stay behind.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from evidentia.canonical import derived_id
from evidentia.sources.model import CandidateItem, DroppedInput, EvidenceChunk
from evidentia.sources.places import (
    LOCATION_KEYS,
    file_name,
    is_location,
    is_path,
    link_of,
    path_digest,
)

Adapted = TypeVar("Adapted", CandidateItem, EvidenceChunk)

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
_NAMING: Final = frozenset({*_IDS, *_DOCUMENTS, *_TITLES} - {"url"})
_PAGES: Final = ("page", "page_number", "page_label")
_PAIR: Final = 2
_LONGEST_PAGE: Final = 9


@dataclass(frozen=True, slots=True)
class Found:
    """One thing that a retriever found, whatever it was called there."""

    identity: str | None
    text: str | None
    score: float | None
    metadata: Mapping[Any, Any]


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What a retriever found: its documents, the passages of them, and what was neither."""

    candidates: list[CandidateItem]
    chunks: list[EvidenceChunk]
    dropped: tuple[DroppedInput, ...] = ()


def from_retrieval(results: Iterable[Any]) -> Retrieved:
    """Return the documents and passages of retrieved objects, in their order.

    A passage belongs to the document that its metadata names (`doc_id`, `source`, `url` …), else it
    is a document by itself. A document's score is that of its best passage. What is no passage, or
    no list of them, is in `dropped`.
    """
    listed = as_list(results)
    if listed is None:
        reason = f"results: {type(results).__name__} is no list of what a retriever found"
        return Retrieved([], [], (DroppedInput(what="input", reason=reason),))
    shared = shared_names(listed)
    candidates: dict[str, CandidateItem] = {}
    chunks: list[EvidenceChunk] = []
    dropped: list[DroppedInput] = []
    for rank, result in enumerate(listed, 1):
        chunk = tried(as_chunk, result, shared)
        item = tried(_document_as_candidate, result, shared)
        if chunk is None or item is None:
            reason = f"{type(result).__name__} is no chunk"
            dropped.append(DroppedInput(what="chunk", index=rank - 1, reason=reason))
            continue
        chunks.append(chunk)
        known = candidates.get(chunk.item_id)
        if known is None:
            of_itself = {"score": chunk.score, "rank": rank, "content": None}
            candidates[chunk.item_id] = CandidateItem(**{**dict(item), **of_itself})
        elif chunk.score is not None and (known.score is None or known.score < chunk.score):
            candidates[chunk.item_id] = CandidateItem(
                **{**dict(known), "score": chunk.score}  # its first rank stays
            )
    return Retrieved(list(candidates.values()), chunks, tuple(dropped))


def _document_as_candidate(value: Any, shared: Collection[str]) -> CandidateItem | None:
    if isinstance(value, EvidenceChunk):
        return CandidateItem(item_id=value.item_id)
    return as_candidate(value, shared)


def as_list(given: Any) -> list[Any] | None:
    """Return what was given as a list, or None if it is no collection of things."""
    if isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping):
        return list(given)
    return None


def tried(
    adapt: Callable[[Any, Collection[str]], Adapted | None], value: Any, shared: Collection[str]
) -> Adapted | None:
    """Return what is made of an object, or None if it cannot even be read."""
    try:
        return adapt(value, shared)
    except Exception:  # noqa: BLE001 - whatever is passed in
        return None


def shared_names(values: Iterable[Any]) -> frozenset[str]:
    """Return the names of files that more than one document among the objects is known by."""
    known_by: defaultdict[str, set[str]] = defaultdict(set)
    for value in values:
        try:
            named, is_place = _named_by(value)
        except Exception:  # noqa: BLE001, S112 - what cannot be read has no name
            continue
        if named is not None:
            name = file_name(named) if is_place else named
            known_by[name or ""].add(path_digest(named) if is_place else "")
    return frozenset(name for name, places in known_by.items() if len(places) > 1)


def as_candidate(value: Any, shared: Collection[str] = ()) -> CandidateItem | None:
    """Return a candidate made of an object, or None if it is nothing that was retrieved.

    `shared` are the names of files that need a digest to be told apart.
    """
    if isinstance(value, CandidateItem):
        return value
    if isinstance(value, Mapping) and isinstance(value.get("item_id"), str):
        return CandidateItem.model_validate(dict(value))
    found = _found(value)
    if found is None:
        return None
    named, is_place = _named(found)
    title = _text(_first(found.metadata, _TITLES))
    if title is not None and is_path(title):
        title = file_name(title)
    if title is None and named is not None and is_place:
        title = file_name(named)
    return CandidateItem(
        item_id=_document_of(found, shared),
        title=title,
        url=_link(found.metadata),
        content=found.text,
        score=found.score,
        metadata=_without_folders(found.metadata),
    )


def as_chunk(value: Any, shared: Collection[str] = ()) -> EvidenceChunk | None:
    """Return a chunk made of an object, or None if it has no text; `shared` as for candidates."""
    if isinstance(value, EvidenceChunk):
        return value
    if isinstance(value, Mapping) and isinstance(value.get("item_id"), str):
        return EvidenceChunk.model_validate(dict(value))
    found = _found(value)
    if found is None or not found.text:
        return None
    page = _first(found.metadata, _PAGES)
    headings = found.metadata.get("heading_path")
    identity = found.identity
    return EvidenceChunk(
        item_id=_document_of(found, shared),
        text=found.text,
        score=found.score,
        chunk_id=file_name(identity) if identity and is_path(identity) else identity,
        page=int(page) if isinstance(page, int) or str(page).isdecimal() else None,
        heading_path=tuple(map(str, headings)) if isinstance(headings, list | tuple) else None,
        start=_whole(_first(found.metadata, ("start", "start_index", "start_char_idx"))),
        end=_whole(_first(found.metadata, ("end", "end_index", "end_char_idx"))),
    )


def as_found(value: Any) -> Found | None:
    """Return what an object says it is, or None if it is nothing that was retrieved."""
    try:
        return _found(value)
    except Exception:  # noqa: BLE001 - whatever is passed in
        return None


def document_title(found: Found) -> str | None:
    """Return what a reader knows the document of a passage by: its title, file, link or id."""
    title = _text(_first(found.metadata, _TITLES))
    if title is not None:
        return file_name(title) if is_path(title) else title
    named, is_place = _named(Found(None, None, None, found.metadata))
    return file_name(named) if named is not None and is_place else named


def page_number(found: Found) -> int | None:
    """Return the page of a passage as its reader counts it: a label goes before a bare number."""
    for name in ("page_label", "page_number", "page"):
        said = found.metadata.get(name)
        page = str(said)
        if not isinstance(said, bool) and page.isdecimal() and len(page) <= _LONGEST_PAGE:
            return int(page) or None
    return None


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


def _document_of(found: Found, shared: Collection[str]) -> str:
    """Return the id of the document that a passage belongs to."""
    named, is_place = _named(found)
    if named is None:
        return derived_id("item", {"text": found.text or ""})
    if not is_place:
        return named
    name = file_name(named) or ""
    return f"{name}#{path_digest(named)}" if name in shared else name


def _named_by(value: Any) -> tuple[str | None, bool]:
    """Return what an object's document is known by, whatever kind of object it is."""
    if isinstance(value, CandidateItem | EvidenceChunk):
        return value.item_id, False
    if isinstance(value, Mapping) and isinstance(value.get("item_id"), str):
        return value["item_id"], False
    found = _found(value)
    return (None, False) if found is None else _named(found)


def _named(found: Found) -> tuple[str | None, bool]:
    """Return what a passage's document is known by, and whether that is a path with a name."""
    for key, value in (
        *((name, found.metadata.get(name)) for name in _DOCUMENTS),
        ("id", found.identity),
    ):
        named = _identity(value)
        if named is None:
            continue
        if not _is_place(key, named):
            return link_of(named) or named, False
        if file_name(named) is not None:
            return named, True
    return None, False


def _is_place(key: str, text: str) -> bool:
    return is_location(text) if key in LOCATION_KEYS else is_path(text)


def _link(metadata: Mapping[Any, Any]) -> str | None:
    """Return the document's link: what is named so, or a source that is one."""
    link = _text(_first(metadata, _URLS))
    if link is not None:
        return link
    source = metadata.get("source")
    return link_of(source) if isinstance(source, str) else None


def _without_folders(metadata: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return metadata in which a document is named by its file's name, not by its path."""
    shown = {}
    for key, value in metadata.items():
        named = str(value) if isinstance(value, str) or hasattr(value, "__fspath__") else ""
        if key not in _NAMING or not named:
            shown[key] = value
        elif not _is_place(key, named):
            shown[key] = named
        elif (name := file_name(named)) is not None:
            shown[key] = name
    return shown


def _first(values: Mapping[Any, Any], names: Iterable[str]) -> Any:
    return next((values[name] for name in names if values.get(name) is not None), None)


def _identity(value: Any) -> str | None:
    if value is None or isinstance(value, bool | bytes | Mapping | list | tuple | set | frozenset):
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

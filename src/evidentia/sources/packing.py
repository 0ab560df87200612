"""Packing: candidates and chunks become sources. Deterministic, and it never raises.

1. Candidates are put in order: by score (highest first), by the retriever's rank (lowest first) or
   as they came. What has no score or rank comes last; of equals, the one that came first does. Of
   several with the same id the first in that order is taken.
2. A source's snippet is of its best chunk; else of its summary, else of its content.
3. Metadata passes as asked for, else only a subset that gives nothing away.
4. The rank is the place in the final order, from 1.

What cannot be a candidate is left out alone. With `debug`, what was left out is in `dropped`.
"""

from collections.abc import Mapping
from math import isfinite
from typing import Any, Final

from pydantic import ValidationError

from evidentia.documents.hashing import FULL_LENGTH, generate_chunk_hash
from evidentia.language.graphemes import boundary_before
from evidentia.sources.adapters import as_candidate, as_chunk, as_list, shared_names, tried
from evidentia.sources.links import safe_link
from evidentia.sources.metadata import shown_metadata
from evidentia.sources.model import (
    CandidateItem,
    DroppedInput,
    EvidenceChunk,
    EvidencePackOptions,
    PackedSources,
    SnippetFrom,
    SourceItem,
    SourceSnippet,
)
from evidentia.sources.snippets import Window, beginning, best_windows, query_terms

MAX_ID_CHARS: Final = 512
MAX_KIND_CHARS: Final = 64
MAX_TITLE_CHARS: Final = 300
MAX_URL_CHARS: Final = 2_048
MAX_HEADINGS: Final = 12
MAX_TEXT: Final = 100_000
"""How much of a text is looked at for a snippet: chunks have a few thousand characters."""
_SHOWN_ID_CHARS: Final = 80
_LAST: Final = float("inf")


class DefaultEvidencePacker:
    """The packer that keeps the rules above."""

    def pack(
        self,
        candidates: Any,
        evidence_chunks: Any = None,
        options: EvidencePackOptions | Mapping[str, Any] | None = None,
    ) -> PackedSources:
        """Convert retrieval output into sources.

        Candidates and chunks may also be dicts, or documents of LangChain, LlamaIndex or Haystack.
        """
        packing = _Packing()
        try:
            packing.run(candidates, evidence_chunks, options)
        except Exception as error:  # noqa: BLE001 - whatever is passed in, packing never raises
            packing.sources = []
            packing.drop("input", None, None, f"{type(error).__name__} while packing")
        return PackedSources(packing.sources, packing.dropped)


class _Packing:
    """One packing: what came of it so far."""

    def __init__(self) -> None:
        self.debug = False
        self.sources: list[SourceItem] = []
        self.dropped: list[DroppedInput] = []

    def drop(self, what: Any, index: int | None, item_id: str | None, reason: str) -> None:
        if self.debug:
            identity = item_id and item_id[:_SHOWN_ID_CHARS]
            self.dropped.append(
                DroppedInput(what=what, index=index, item_id=identity, reason=reason)
            )

    def run(self, candidates: Any, evidence_chunks: Any, given: Any) -> None:
        options = self._options(given)
        if options is None:
            return
        self.debug = options.debug
        documents = self._listed(candidates, "candidates", "candidates")
        passages: list[Any] = []
        if evidence_chunks is not None:
            passages = self._listed(evidence_chunks, "evidence_chunks", "chunks")
        shared = shared_names((*documents, *passages))
        chosen = self._chosen(self._candidates(documents, shared), options)
        if not chosen:
            return
        wanted = {item.item_id for _, item in chosen}
        chunks = {}
        if options.prefer_chunk_snippets:
            chunks = self._chunks(passages, wanted, shared)
        terms = query_terms(options.query) if options.query else frozenset[str]()
        for place, item in chosen:
            try:
                found = _snippets(item, chunks.get(item.item_id, []), options, terms)
                self.sources.append(_source(item, found, options, len(self.sources) + 1))
            except Exception as error:  # noqa: BLE001 - one bad candidate does not spoil the others
                self.drop("candidate", place, item.item_id, f"{type(error).__name__}")

    def _options(self, given: Any) -> EvidencePackOptions | None:
        if isinstance(given, EvidencePackOptions):
            return given
        try:
            return EvidencePackOptions.model_validate({} if given is None else given)
        except ValidationError as error:
            self.debug = isinstance(given, Mapping) and bool(given.get("debug"))
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "options"
            self.drop("options", None, None, f"{where}: {first['msg']}")
            return None

    def _listed(self, given: Any, name: str, what: str) -> list[Any]:
        """Return a whole input as a list; one of the wrong kind holds nothing."""
        listed = as_list(given)
        if listed is None:
            reason = f"{name}: {type(given).__name__} is no list of {what}"
            self.drop("input", None, None, reason)
        return listed or []

    def _candidates(
        self, given: list[Any], shared: frozenset[str]
    ) -> list[tuple[int, CandidateItem]]:
        found: list[tuple[int, CandidateItem]] = []
        for place, value in enumerate(given):
            item = tried(as_candidate, value, shared)
            if item is None:
                self.drop("candidate", place, None, f"{type(value).__name__} is no candidate")
            elif not _is_id(item.item_id):
                self.drop("candidate", place, None, f"its id is not 1 to {MAX_ID_CHARS} characters")
            else:
                found.append((place, item))
        return found

    def _chosen(
        self, found: list[tuple[int, CandidateItem]], options: EvidencePackOptions
    ) -> list[tuple[int, CandidateItem]]:
        """Return the candidates to show, in order."""
        if options.order_by == "score":
            found = sorted(found, key=lambda pair: -_number(pair[1].score, -_LAST))
        elif options.order_by == "rank":
            found = sorted(found, key=lambda pair: _number(pair[1].rank, _LAST))
        seen: set[str] = set()
        chosen: list[tuple[int, CandidateItem]] = []
        for place, item in found:
            if item.item_id in seen:
                self.drop("candidate", place, item.item_id, "the same id came before")
            elif len(chosen) >= options.max_sources:
                self.drop("candidate", place, item.item_id, "beyond max_sources")
            else:
                seen.add(item.item_id)
                chosen.append((place, item))
        return chosen

    def _chunks(
        self, given: list[Any], wanted: set[str], shared: frozenset[str]
    ) -> dict[str, list[EvidenceChunk]]:
        """Return the chunks of the chosen candidates, the best of each first."""
        found: dict[str, list[EvidenceChunk]] = {}
        for place, value in enumerate(given):
            chunk = tried(as_chunk, value, shared)
            if chunk is None:
                self.drop("chunk", place, None, f"{type(value).__name__} is no chunk")
            elif chunk.item_id in wanted:
                if isinstance(chunk.text, str) and chunk.text.strip():
                    found.setdefault(chunk.item_id, []).append(chunk)
                else:
                    self.drop("chunk", place, chunk.item_id, "it has no text")
        for chunks in found.values():
            chunks.sort(key=lambda chunk: -_number(chunk.score, -_LAST))
        return found


def _snippets(
    item: CandidateItem,
    chunks: list[EvidenceChunk],
    options: EvidencePackOptions,
    terms: frozenset[str],
) -> tuple[list[SourceSnippet], SnippetFrom]:
    count, limit = options.max_snippets, options.max_snippet_chars
    placed = options.with_snippets
    found = [
        _of_chunk(chunk, window, placed=placed)
        for chunk in chunks[:count]
        for window in _windows(chunk.text, terms, limit, 1)
    ]
    if found and len(found) < count:  # more of the same chunks, where there are no others
        further = (_windows(chunk.text, terms, limit, count)[1:] for chunk in chunks)
        for chunk, windows in zip(chunks, further, strict=True):
            found += [_of_chunk(chunk, window, placed=placed) for window in windows]
    if found:
        return found[:count], "chunk"
    for text in (item.summary, item.content):
        windows = _windows(text, terms, limit, count) if isinstance(text, str) else []
        if windows:
            return [SourceSnippet(text=each.shown, matches=each.matches) for each in windows], "doc"
    return [], "unknown"


def _windows(text: str, terms: frozenset[str], limit: int, count: int) -> list[Window]:
    """Return the windows of a text that show something."""
    looked_at = _clean(text[:MAX_TEXT])
    found = best_windows(looked_at, terms, limit, count) if terms else [beginning(looked_at, limit)]
    return [window for window in found if window.shown]


def _of_chunk(chunk: EvidenceChunk, window: Window, *, placed: bool) -> SourceSnippet:
    if not placed:
        return SourceSnippet(text=window.shown)
    start = chunk.start if isinstance(chunk.start, int) else None
    headings = chunk.heading_path or ()
    return SourceSnippet(
        text=window.shown,
        chunk_id=_short(chunk.chunk_id, MAX_ID_CHARS),
        chunk_hash=generate_chunk_hash(chunk.text, FULL_LENGTH),
        page=chunk.page,
        heading_path=tuple(_cut(heading, MAX_TITLE_CHARS) for heading in headings[:MAX_HEADINGS])
        or None,
        start=None if start is None else start + window.start,
        end=None if start is None else start + window.end,
        score=_finite(chunk.score),
        matches=window.matches,
    )


def _source(
    item: CandidateItem,
    found: tuple[list[SourceSnippet], SnippetFrom],
    options: EvidencePackOptions,
    rank: int,
) -> SourceItem:
    snippets, snippet_from = found
    return SourceItem(
        source_id=item.item_id,
        kind=_cut(item.kind, MAX_KIND_CHARS) or "documents",
        title=_cut(item.title, MAX_TITLE_CHARS) or None if item.title else None,
        url=_url(item.url),
        snippet=snippets[0].text if snippets else None,
        snippet_from=snippet_from,
        score=_finite(item.score),
        rank=rank,
        metadata=shown_metadata(
            item.metadata, options.include_metadata_keys, options.exclude_metadata_keys
        ),
        snippets=tuple(snippets) if options.with_snippets else None,
    )


def _is_id(text: Any) -> bool:
    return isinstance(text, str) and 0 < len(text) <= MAX_ID_CHARS and _clean(text) == text


def _url(url: str | None) -> str | None:
    """Return a URL that can be shown: not cut, and none that runs or reads something."""
    return safe_link(url) if isinstance(url, str) and len(url) <= MAX_URL_CHARS else None


def _cut(text: str, limit: int) -> str:
    """Return a text of at most `limit` code points, cut between characters, on one line."""
    head = " ".join(text[: limit * 4].split())
    end = boundary_before(head, limit) if len(head) > limit else len(head)
    return _clean(head[:end].rstrip())


def _short(text: str | None, limit: int) -> str | None:
    return text if text is not None and len(text) <= limit and _clean(text) == text else None


def _clean(text: str) -> str:
    """Return the text with lone surrogates, which no JSON can hold, as replacement characters."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _number(value: float | None, missing: float) -> float:
    """Return a number to sort by; what is none, or not finite, counts as missing."""
    found = _finite(value)
    return missing if found is None else found


def _finite(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None

"""What is packed, how, and what comes of it: candidates, chunks, options, sources. All frozen.

A source's JSON has the nine keys of its specification; its snippets with their places stand beside
them only where they were asked for.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, Protocol

from pydantic import (
    ConfigDict,
    Field,
    PlainSerializer,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from evidentia.frozen import FrozenDict, FrozenItems, FrozenList, FrozenModel, FrozenObject

OrderBy = Literal["score", "rank", "input"]
SnippetFrom = Literal["doc", "chunk", "unknown"]


class CandidateItem(FrozenModel):
    """A document that a retriever found; its metadata may be anything, and is not all shown.

    What else a retriever tells of it is left aside.
    """

    model_config = ConfigDict(extra="ignore")

    item_id: str
    kind: str = "documents"
    title: str | None = None
    url: str | None = None
    summary: str | None = None
    content: str | None = None
    score: float | None = None
    rank: int | None = None
    metadata: Annotated[Mapping[Any, Any], PlainSerializer(dict)] = Field(
        default_factory=FrozenDict
    )


class EvidenceChunk(FrozenModel):
    """A passage of a document that a retriever found; its place is counted in code points.

    What else a retriever tells of it is left aside.
    """

    model_config = ConfigDict(extra="ignore")

    item_id: str
    text: str
    score: float | None = None
    chunk_id: str | None = None
    page: int | None = None
    heading_path: FrozenItems[str] | None = None
    start: int | None = None
    end: int | None = None


class EvidencePackOptions(FrozenModel):
    """How sources are packed.

    `query` lets a snippet show what answers it best. `anchors` gives each source its `snippets`
    with their places; `max_snippets` above 1 does so too.
    """

    max_sources: int = Field(default=6, ge=0)
    prefer_chunk_snippets: bool = True
    max_snippet_chars: int = Field(default=360, ge=0)
    include_metadata_keys: FrozenItems[str] | None = None
    exclude_metadata_keys: FrozenItems[str] | None = None
    order_by: OrderBy = "score"
    debug: bool = False
    query: str | None = None
    max_snippets: int = Field(default=1, ge=1, le=20)
    anchors: bool = False

    @property
    def with_snippets(self) -> bool:
        """Whether sources carry their snippets with their places."""
        return self.anchors or self.max_snippets > 1


class SourceSnippet(FrozenModel):
    """A snippet with its place, so that everyone opens the same passage.

    `start` and `end` are code points of the page, `matches` are those of `text`. `chunk_hash` is
    the full hash that `[cite:…]` anchors begin with.
    """

    text: str
    chunk_id: str | None = None
    chunk_hash: str | None = None
    page: int | None = None
    heading_path: FrozenItems[str] | None = None
    start: int | None = None
    end: int | None = None
    score: float | None = None
    matches: FrozenItems[tuple[int, int]] = FrozenList()


class SourceItem(FrozenModel):
    """A source as a reader is shown it: a document, never a chunk."""

    source_id: str
    kind: str
    title: str | None = None
    url: str | None = None
    snippet: str | None = None
    snippet_from: SnippetFrom = "unknown"
    score: float | None = None
    rank: int | None = None
    metadata: FrozenObject = Field(default_factory=FrozenDict)
    snippets: FrozenItems[SourceSnippet] | None = None

    @model_serializer(mode="wrap")
    def _without_absent_snippets(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = handler(self)
        if self.snippets is None:
            fields.pop("snippets", None)
        return fields


class DroppedInput(FrozenModel):
    """A candidate, or a chunk, that gave no source, and why; `index` is its place in the input."""

    what: Literal["candidate", "chunk", "options", "input"]
    index: int | None = None
    item_id: str | None = None
    reason: str


class PackedSources(list[SourceItem]):
    """The sources, and, with `debug`, what gave none. It equals the plain list of its sources."""

    def __init__(
        self, sources: Iterable[SourceItem] = (), dropped: Iterable[DroppedInput] = ()
    ) -> None:
        super().__init__(sources)
        self.dropped = tuple(dropped)


class EvidencePacker(Protocol):
    """Turns what a retriever found into sources."""

    def pack(
        self,
        candidates: list[CandidateItem],
        evidence_chunks: list[EvidenceChunk] | None,
        options: EvidencePackOptions,
    ) -> list[SourceItem]:
        """Convert retrieval output into sources; deterministic."""
        ...

"""Sources: what a retriever found becomes what a reader is shown, in every wire format."""

from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from evidentia.server.actions import GuardedRoute, Ws, signed_in_only
from evidentia.sources.model import EvidencePackOptions
from evidentia.sources.wire import WIRE_FORMATS

router = APIRouter(route_class=GuardedRoute, tags=["sources"])

WireFormat = Literal[
    "ag-ui",
    "ai-sdk",
    "ai-sdk-stream",
    "anthropic",
    "mcp",
    "open-webui",
    "openai",
    "rag.sources",
]
_MOST: Final = 10_000


class SourcesRequest(BaseModel):
    """What a retriever found, and how it is packed."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "candidates": [
                        {
                            "item_id": "doc_1",
                            "title": "Leave policy",
                            "url": "https://example.com/leave",
                            "score": 0.92,
                        }
                    ],
                    "evidence_chunks": [
                        {
                            "item_id": "doc_1",
                            "text": "Permanent employees receive 15 days of leave.",
                            "score": 0.9,
                            "page": 12,
                        }
                    ],
                    "options": {"query": "How much leave?", "max_sources": 5},
                    "answer": "There are 15 days of leave [1].",
                }
            ]
        },
    )

    candidates: list[dict[str, Any]] = Field(
        max_length=_MOST, description="The documents, each with at least its `item_id`."
    )
    evidence_chunks: list[dict[str, Any]] | None = Field(
        default=None, max_length=_MOST, description="The passages of them, by `item_id`."
    )
    options: EvidencePackOptions = Field(default_factory=EvidencePackOptions)
    answer: str = Field(default="", description="The answer's text, which `openai` annotates.")


class SourcesAnswer(BaseModel):
    """The sources, as the format has them, and what gave none if `debug` was asked for."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "format": "rag.sources",
                    "sources": {
                        "type": "rag.sources",
                        "payload": {
                            "sources": [
                                {
                                    "source_id": "doc_1",
                                    "kind": "documents",
                                    "title": "Leave policy",
                                    "url": "https://example.com/leave",
                                    "snippet": "Permanent employees receive 15 days of leave.",
                                    "snippet_from": "chunk",
                                    "score": 0.92,
                                    "rank": 1,
                                    "metadata": {},
                                }
                            ]
                        },
                    },
                    "dropped": [],
                }
            ]
        }
    )

    format: WireFormat
    sources: Any = Field(description="As the format has them, to be sent on as it is.")
    dropped: list[dict[str, Any]]


@router.post("/sources", summary="Pack sources")
@signed_in_only("it reads and records nothing of the workspace")
def pack_sources(
    asked: SourcesRequest,
    workspace: Ws,
    format: Annotated[  # noqa: A002 - the name that callers know
        WireFormat, Query(description="For which user interface, protocol or model.")
    ] = "rag.sources",
) -> SourcesAnswer:
    """Turn what a retriever found into sources, small and stable; nothing is recorded.

    What cannot be a candidate is left out alone. With the option `debug`, `dropped` says what, and
    why.
    """
    packed = workspace.pack_sources(asked.candidates, asked.evidence_chunks, asked.options)  # type: ignore[arg-type]  # dicts are taken too
    write = WIRE_FORMATS[format]
    sources = write(packed, asked.answer) if format == "openai" else write(packed)
    dropped = [one.model_dump(mode="json") for one in packed.dropped]
    return SourcesAnswer(format=format, sources=sources, dropped=dropped)

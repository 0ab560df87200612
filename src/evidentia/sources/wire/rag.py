"""The `rag.sources` event: the sources as they are, with the nine keys of their specification.

Offsets of snippets, where there are any, are code points.
"""

from collections.abc import Iterable
from typing import Any, Final

from evidentia.sources.model import SourceItem
from evidentia.sources.wire.sendable import as_json, sendable

RAG_SOURCES: Final = "rag.sources"


def rag_sources(sources: Iterable[SourceItem]) -> dict[str, Any]:
    """Return the event that an orchestrator emits.

    >>> rag_sources([])
    {'type': 'rag.sources', 'payload': {'sources': []}}
    """
    return {"type": RAG_SOURCES, "payload": rag_payload(sources)}


def rag_payload(sources: Iterable[SourceItem]) -> dict[str, Any]:
    """Return the event's payload, which other formats carry whole."""
    return {"sources": [as_json(source) for source in sendable(sources)]}

"""AG-UI 1.0: a `CUSTOM` event, the protocol's place for an application's own.

AG-UI has no event for sources. The value is the payload of `rag.sources`, so offsets are code
points: the protocol has clients in many languages. There is no timestamp, which is optional.
"""

from collections.abc import Iterable
from typing import Any

from evidentia.sources.model import SourceItem
from evidentia.sources.wire.rag import RAG_SOURCES, rag_payload


def ag_ui_event(sources: Iterable[SourceItem]) -> dict[str, Any]:
    """Return the event, as `CustomEvent` of `ag-ui-protocol` writes it.

    >>> ag_ui_event([])
    {'type': 'CUSTOM', 'name': 'rag.sources', 'value': {'sources': []}}
    """
    return {"type": "CUSTOM", "name": RAG_SOURCES, "value": rag_payload(sources)}

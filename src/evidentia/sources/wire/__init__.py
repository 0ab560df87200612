"""Wire formats: one list of sources, as each user interface, protocol and model takes it.

Every function here takes sources and returns what JSON can hold. They are pure and deterministic,
import no vendor's library, and raise for no valid source. Offsets are code points inside; a
format's own unit is used where it has one, and its module says which.
"""

from collections.abc import Callable
from typing import Any, Final

from evidentia.sources.wire.ag_ui import ag_ui_event
from evidentia.sources.wire.ai_sdk import ai_sdk_parts, ai_sdk_stream
from evidentia.sources.wire.anthropic_search import anthropic_search_results
from evidentia.sources.wire.mcp_links import mcp_resource_links
from evidentia.sources.wire.open_webui import open_webui_event
from evidentia.sources.wire.openai_responses import openai_annotations
from evidentia.sources.wire.rag import rag_sources

__all__ = [
    "WIRE_FORMATS",
    "ag_ui_event",
    "ai_sdk_parts",
    "ai_sdk_stream",
    "anthropic_search_results",
    "mcp_resource_links",
    "open_webui_event",
    "openai_annotations",
    "rag_sources",
]

WIRE_FORMATS: Final[dict[str, Callable[..., Any]]] = {
    "ag-ui": ag_ui_event,
    "ai-sdk": ai_sdk_parts,
    "ai-sdk-stream": ai_sdk_stream,
    "anthropic": anthropic_search_results,
    "mcp": mcp_resource_links,
    "open-webui": open_webui_event,
    "openai": openai_annotations,
    "rag.sources": rag_sources,
}
"""Every format by its name; all take the sources, and `openai` the answer's text as well."""

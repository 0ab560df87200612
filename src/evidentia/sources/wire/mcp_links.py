"""Model Context Protocol, 2025-06-18 and later: `resource_link` content blocks.

A source without an absolute URL is named by a URI of its own, `evidentia:source/…`, which the
server that gives the link must then be able to read. What the block has no field for is in
`_meta`, under `evidentia/source`; offsets are code points. A score is no `priority`: it is not
comparable between retrievers, so it stays in `_meta`.
"""

import re
from collections.abc import Iterable
from typing import Any, Final

from evidentia.sources.model import SourceItem
from evidentia.sources.wire.naming import media_type, shown_title
from evidentia.sources.wire.sendable import as_json, sendable

META_KEY: Final = "evidentia/source"
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:.+")
_NOT_IN_URI = re.compile(r"%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]")
_NOT_IN_SEGMENT = re.compile(r"[^A-Za-z0-9\-._~]")


def mcp_resource_links(sources: Iterable[SourceItem]) -> list[dict[str, Any]]:
    """Return one link a source, for a tool's result."""
    return [_link(source) for source in sendable(sources)]


def _link(source: SourceItem) -> dict[str, Any]:
    fields = as_json(source)
    link: dict[str, Any] = {
        "type": "resource_link",
        "uri": _uri(source),
        "name": source.source_id.strip() or shown_title(source),
    }
    optional = {
        "title": fields.pop("title"),
        "description": fields.pop("snippet"),
        "mimeType": media_type(source),
    }
    link.update({key: value for key, value in optional.items() if value})
    return {**link, "_meta": {META_KEY: fields}}


def _uri(source: SourceItem) -> str:
    if source.url is not None and _ABSOLUTE.fullmatch(source.url):
        return _NOT_IN_URI.sub(_percent, source.url)
    return f"evidentia:source/{_NOT_IN_SEGMENT.sub(_percent, source.source_id)}"


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode())

"""Vercel's AI SDK, 6 and 7: parts of a UI message stream (its protocol version v1).

The SDK copies only the fields it knows from a source part into a message, so all others are in
`providerMetadata`. A last part, `data-rag-sources`, has every source whole. Matches are UTF-16
units here, since JavaScript reads them. A document must have a media type: one that is not known
is `application/octet-stream`.
"""

import json
from collections.abc import Iterable
from typing import Any, Final

from evidentia.sources.model import SourceItem
from evidentia.sources.wire.naming import filename, media_type, shown_title
from evidentia.sources.wire.sendable import as_javascript, sendable

UNKNOWN_MEDIA_TYPE: Final = "application/octet-stream"
_HAVE_FIELDS: Final = ("source_id", "title", "url")


def ai_sdk_parts(sources: Iterable[SourceItem]) -> list[dict[str, Any]]:
    """Return one part a source, `source-url` or `source-document`, and one with all of them.

    >>> ai_sdk_parts([])
    [{'type': 'data-rag-sources', 'data': {'sources': []}}]
    """
    found = sendable(sources)
    everything = {"sources": [as_javascript(source) for source in found]}
    return [*map(_part, found), {"type": "data-rag-sources", "data": everything}]


def ai_sdk_stream(sources: Iterable[SourceItem]) -> list[str]:
    r"""Return the parts as server-sent events, to be sent among the others of a message.

    The stream's `start`, `finish` and `[DONE]` are the caller's, and so is its header
    `x-vercel-ai-ui-message-stream: v1`.

    >>> ai_sdk_stream([])
    ['data: {"type":"data-rag-sources","data":{"sources":[]}}\n\n']
    """
    return [
        f"data: {json.dumps(part, ensure_ascii=False, separators=(',', ':'))}\n\n"
        for part in ai_sdk_parts(sources)
    ]


def _part(source: SourceItem) -> dict[str, Any]:
    fields = as_javascript(source)
    others = {key: value for key, value in fields.items() if key not in _HAVE_FIELDS}
    part: dict[str, Any]
    if source.url is not None:
        part = {"type": "source-url", "sourceId": source.source_id, "url": source.url}
        if source.title is not None:
            part["title"] = source.title
    else:
        part = {
            "type": "source-document",
            "sourceId": source.source_id,
            "mediaType": media_type(source) or UNKNOWN_MEDIA_TYPE,
            "title": shown_title(source),
        }
        name = filename(source)
        if name is not None:
            part["filename"] = name
    part["providerMetadata"] = {"evidentia": others}
    return part

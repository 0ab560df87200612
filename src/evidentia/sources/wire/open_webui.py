"""Open WebUI: a `source` event (also known as `citation`) with parallel arrays.

Kept to what its own code does with one (`Citations.svelte`, `CitationModal.svelte`,
`ContentRenderer.svelte` at commit 023b1e7, with `source_url`):

- Documents are grouped by `metadata[i].source`, and `[2]` in an answer is the second group, but its
  label is the second distinct `metadata[i].name`: so both are unique to a source here.
- `distances` are similarities, shown as a percentage if all of the message are within [-1, 1]. One
  that is missing or outside spoils the others, so the array is left out unless all are within.
- Pages are counted from 0. A key `html` turns a text into a page that is run, and `file_id` opens
  files: so the source's own metadata is never beside these keys, but below `evidentia`.

Numbers in an answer count sources in the order given here. Matches are UTF-16 units.
"""

from collections.abc import Iterable
from typing import Any

from evidentia.sources.model import SourceItem, SourceSnippet
from evidentia.sources.wire.naming import shown_title
from evidentia.sources.wire.rag import RAG_SOURCES
from evidentia.sources.wire.sendable import as_javascript, sendable


def open_webui_event(sources: Iterable[SourceItem]) -> dict[str, Any]:
    """Return the event for `__event_emitter__`: one document a snippet, and one if there is none.

    >>> open_webui_event([])["data"]
    {'source': {'id': 'rag.sources', 'name': 'Sources'}, 'document': [], 'metadata': []}
    """
    documents: list[str] = []
    metadata: list[dict[str, Any]] = []
    scores: list[float | None] = []
    ids: set[str] = set()
    names: set[str] = set()
    for source in sendable(sources):
        shared = {"source": _unique(source.source_id, ids)}
        shared["name"] = _unique(shown_title(source), names)
        if source.url is not None:
            shared["source_url"] = source.url
        for snippet, details in _documents(source):
            documents.append(snippet.text)
            metadata.append({**shared, **_page(snippet), "evidentia": details})
            scores.append(source.score if snippet.score is None else snippet.score)
    data: dict[str, Any] = {
        "source": {"id": RAG_SOURCES, "name": "Sources"},
        "document": documents,
        "metadata": metadata,
    }
    if scores and all(score is not None and -1 <= score <= 1 for score in scores):
        data["distances"] = scores
    return {"type": "source", "data": data}


def _documents(source: SourceItem) -> list[tuple[SourceSnippet, dict[str, Any]]]:
    """Return each snippet with its place; the first also with what is known of the source."""
    fields = as_javascript(source)
    only = SourceSnippet(text=fields.pop("snippet") or "")
    placed = fields.pop("snippets", [])
    if not source.snippets:
        return [(only, fields)]
    places = [{key: value for key, value in each.items() if key != "text"} for each in placed]
    details = [{"snippet": place} for place in places]
    return list(zip(source.snippets, [{**fields, **details[0]}, *details[1:]], strict=True))


def _page(snippet: SourceSnippet) -> dict[str, int]:
    return {"page": snippet.page - 1} if snippet.page is not None and snippet.page > 0 else {}


def _unique(name: str, taken: set[str]) -> str:
    """Return the name, with a number if another source has it."""
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name} ({number})"
    taken.add(found)
    return found

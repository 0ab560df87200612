"""Anthropic's Messages API (2023-06-01): `search_result` content blocks, with citations enabled.

Claude cites whole text blocks, so each sentence is one. White space after a sentence stays with
it, so that blocks joined (as `cited_text` is) read as the snippet does. The API refuses a result
without text: a source that has none is left out, and `search_result_index` counts the others. Its
score, rank, metadata and places have no field here.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from evidentia.language.sentences import sentence_spans
from evidentia.sources.model import SourceItem
from evidentia.sources.wire.naming import shown_title
from evidentia.sources.wire.sendable import sendable, shown_snippets


def anthropic_search_results(sources: Iterable[SourceItem]) -> list[dict[str, Any]]:
    """Return the sources that have text, for a user's message or a tool's result."""
    found = ((source, _sentences(source)) for source in sendable(sources))
    return [
        {
            "type": "search_result",
            "source": source.url or source.source_id.strip() or shown_title(source),
            "title": shown_title(source),
            "content": [{"type": "text", "text": text} for text in sentences],
            "citations": {"enabled": True},
        }
        for source, sentences in found
        if sentences
    ]


def _sentences(source: SourceItem) -> list[str]:
    return [text for snippet in shown_snippets(source) for text in _split(snippet.text)]


def _split(text: str) -> Iterator[str]:
    """Give a text in pieces that begin where its sentences do."""
    starts = [start for start, _ in sentence_spans(text)]
    for start, end in zip(starts, [*starts[1:], len(text.rstrip())], strict=True):
        yield text[start:end]

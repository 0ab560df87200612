"""OpenAI's Responses API: annotations of an answer's text, for what it cites.

`[1]`, `[2, 3]` and `[4-6]` name sources by rank (by place, where a source has no rank), and
`[cite:ANCHOR]` by the beginning of a snippet's hash. A mark that names no source gives nothing,
and neither does an anchor that several passages begin with.

OpenAI documents its indexes as those of "characters", with an end that in its answers is the one
after the last, and says nothing of the unit. Code points are chosen here: `text[start:end]` in
Python is the mark. JavaScript clients find the same place with `offsets.to_utf16`, and the two
differ only after characters beyond U+FFFF. A `file_citation` has one index, where the mark begins.
Snippets, scores and metadata have no field here.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from evidentia.documents.hashing import ANCHOR_LENGTH
from evidentia.sources.model import SourceItem
from evidentia.sources.wire.naming import filename, shown_title
from evidentia.sources.wire.sendable import sendable

_MARK = re.compile(
    r"\[cite:\s*(?P<anchors>[^\]\[\n]{1,300})\]"
    r"|(?<!!)\[(?P<numbers>\d{1,3}(?:\s?[,;\u2013-]\s?\d{1,3})*)\](?![(:])"
)
_RANGE = re.compile(r"[\u2013-]")


def openai_annotations(sources: Iterable[SourceItem], text: str) -> list[dict[str, Any]]:
    """Return a `url_citation`, or a `file_citation` where there is no URL, for each citation.

    They are in the order of the text; a mark that names several sources gives one for each.
    """
    cited = _Cited(sendable(sources))
    return [
        _annotation(source, mark.start(), mark.end())
        for mark in _MARK.finditer(text)
        for source in cited.by(mark)
    ]


class _Cited:
    """The sources, to be found by what an answer calls them."""

    def __init__(self, sources: list[SourceItem]) -> None:
        self._ranked: dict[int, SourceItem] = {}
        for place, source in enumerate(sources, 1):
            self._ranked.setdefault(place if source.rank is None else source.rank, source)
        self._hashed: dict[str, list[SourceItem]] = {}
        for source in sources:
            hashes = {snippet.chunk_hash for snippet in source.snippets or ()}
            for chunk_hash in hashes - {None, ""}:
                self._hashed.setdefault(str(chunk_hash).lower(), []).append(source)

    def by(self, mark: re.Match[str]) -> list[SourceItem]:
        """Return the sources that a mark names, each once."""
        found = self._anchored(mark) if mark["anchors"] else self._numbered(mark["numbers"])
        return list({id(source): source for source in found}.values())

    def _numbered(self, numbers: str) -> Iterator[SourceItem]:
        for part in re.split("[,;]", numbers):
            ends = [int(number) for number in _RANGE.split(part)]
            for rank in range(ends[0], ends[-1] + 1):
                if rank in self._ranked:
                    yield self._ranked[rank]

    def _anchored(self, mark: re.Match[str]) -> Iterator[SourceItem]:
        for anchor in re.split(r"[,;\s]+", mark["anchors"].lower()):
            hashes = [each for each in self._hashed if each.startswith(anchor)]
            if len(anchor) >= ANCHOR_LENGTH and len(hashes) == 1:
                yield from self._hashed[hashes[0]]


def _annotation(source: SourceItem, start: int, end: int) -> dict[str, Any]:
    if source.url is None:
        return {
            "type": "file_citation",
            "file_id": source.source_id,
            "filename": filename(source) or shown_title(source),
            "index": start,
        }
    return {
        "type": "url_citation",
        "url": source.url,
        "title": shown_title(source),
        "start_index": start,
        "end_index": end,
    }

"""Sources as JSON can hold them and a browser may read them.

A packed source passes through as it is. One that was made by hand may hold what a reader's parser
refuses, so here lone surrogates become replacement characters, numbers that JSON lacks become null,
and integers past 2^53 become text. The key `__proto__`, and `constructor` over a `prototype`, get
an underscore: careful JavaScript parsers refuse a whole message for them. A URL that would run or
read something is left out.
"""

import re
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any, Final

from evidentia.sources.links import safe_link
from evidentia.sources.model import SourceItem, SourceSnippet
from evidentia.sources.wire.offsets import utf16_offsets

_MAX_WHOLE: Final = 2**53
_MAX_DECIMAL_BITS: Final = 2_000
"""Up to here every interpreter writes an integer in decimal, however it is configured."""
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def sendable(sources: Iterable[SourceItem]) -> list[SourceItem]:
    """Return the sources with everything in them such as JSON can hold."""
    return [
        SourceItem(
            source_id=_text(source.source_id),
            kind=_text(source.kind),
            title=_maybe_text(source.title),
            url=safe_link(source.url or ""),
            snippet=_maybe_text(source.snippet),
            snippet_from=source.snippet_from,
            score=_finite(source.score),
            rank=_whole(source.rank),
            metadata=_value(source.metadata),
            snippets=None if source.snippets is None else tuple(map(_snippet, source.snippets)),
        )
        for source in sources
    ]


def as_json(source: SourceItem) -> dict[str, Any]:
    """Return a sendable source's fields; offsets are code points."""
    fields: dict[str, Any] = source.model_dump(mode="json")
    return fields


def as_javascript(source: SourceItem) -> dict[str, Any]:
    """Return a sendable source's fields with its matches in UTF-16 units, for `text.slice()`.

    Each snippet says so in `matches_unit`. Its `start` and `end` stay code points of the page.
    """
    fields = as_json(source)
    for snippet in fields.get("snippets", ()):
        ends = [offset for match in snippet["matches"] for offset in match]
        units = utf16_offsets(snippet["text"], ends)
        snippet["matches"] = [list(pair) for pair in zip(units[::2], units[1::2], strict=True)]
        snippet["matches_unit"] = "utf-16"
    return fields


def shown_snippets(source: SourceItem) -> tuple[SourceSnippet, ...]:
    """Return a source's snippets that say something; its one snippet, if it has no others."""
    only = () if source.snippet is None else (SourceSnippet(text=source.snippet),)
    return tuple(snippet for snippet in source.snippets or only if snippet.text.strip())


def _snippet(snippet: SourceSnippet) -> SourceSnippet:
    headings = snippet.heading_path
    return SourceSnippet(
        text=_text(snippet.text),
        chunk_id=_maybe_text(snippet.chunk_id),
        chunk_hash=_maybe_text(snippet.chunk_hash),
        page=_whole(snippet.page),
        heading_path=None if headings is None else tuple(map(_text, headings)),
        start=_whole(snippet.start),
        end=_whole(snippet.end),
        score=_finite(snippet.score),
        matches=tuple(
            match
            for match in snippet.matches
            if all(_whole(offset) is not None for offset in match)
        ),
    )


def _value(value: Any) -> Any:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool) or value is None or isinstance(value, float):
        return value
    if isinstance(value, int):
        return value if _whole(value) is not None else _digits(value)
    if isinstance(value, Mapping):
        return _object(value)
    return [_value(item) for item in value]


def _object(value: Mapping[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key, item in value.items():
        name = _text(key)
        hidden = isinstance(item, Mapping) and "prototype" in item
        if name == "__proto__" or (name == "constructor" and hidden):
            name += "_"
        while name in fields:  # what two keys became is no reason to lose one
            name += "_"
        fields[name] = _value(item)
    return fields


def _text(text: str) -> str:
    """Return the text with as many code points, so that offsets in it stay right."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _maybe_text(text: str | None) -> str | None:
    return None if text is None else _text(text)


def _finite(number: float | None) -> float | None:
    return number if number is not None and isfinite(number) else None


def _whole(number: int | None) -> int | None:
    return number if number is not None and -_MAX_WHOLE <= number <= _MAX_WHOLE else None


def _digits(number: int) -> str:
    return str(number) if number.bit_length() <= _MAX_DECIMAL_BITS else hex(number)

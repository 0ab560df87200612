"""Markup: what of a text is there for the renderer, and not for the reader.

Offsets matter more than beauty here: `masked` keeps every character's place, so what is found in
it can be sliced from the original. `plain_text` is for reading and keeps no places.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from html import unescape
from typing import Final

from evidentia.language.characters import Span

_LONGEST: Final = 500
"""The longest run of marked text; a mark that is never closed must not cost a scan to the end."""
_TAGS: Final = (
    "abbr|article|aside|a|blockquote|body|br|button|b|center|cite|code|dd|del|details|div|dl|dt|em|"
    "font|footer|form|h[1-6]|head|header|hr|html|iframe|img|input|ins|i|kbd|label|li|main|mark|nav|"
    "ol|pre|p|q|script|section|small|span|strong|style|summary|sub|sup|svg|s|table|tbody|td|th|"
    "thead|title|tr|ul|u|var|video"
)
_TAG = re.compile(
    rf"</?(?:{_TAGS})(?:\s+[\w:-]{{1,40}}\s*=\s*(?:\"[^\"<>]{{0,300}}\"|'[^'<>]{{0,300}}'|[^\s\"'<>]{{1,300}}))"
    r"{0,9}\s*/?>",
    re.IGNORECASE,
)
"""A tag with its attributes; "<b and c>" is none."""
_QUOTE_MARK = re.compile(r"^[ ]{0,3}(?:>[ ]?)+", re.MULTILINE)
_CONTINUED_QUOTE = re.compile(r"\n[ ]{0,3}(?:>[ ]?)+")
_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
    "|(?<=[\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?=[\x00-\x7f])"
)
"""Zero-width and direction characters; joiners only where no script needs them."""
_INLINE: Final = (
    (
        re.compile(
            rf"!?(?<!\\)\[([^\[\]]{{1,{_LONGEST}}})\]\([^()\s]{{0,{_LONGEST}}}(?: \"[^\"]*\")?\)"
        ),
        r"\1",
    ),
    (re.compile(rf"(?<!\\)(`{{1,3}})([^`]{{1,{_LONGEST}}})\1"), r"\2"),
    (re.compile(rf"(?<!\\)(\*{{1,3}})(?=\S)([^*]{{1,{_LONGEST}}})(?<=[^\s\\])\1"), r"\2"),
    (re.compile(rf"(?<![\w\\])(_{{1,3}})(?=\S)([^_]{{1,{_LONGEST}}})(?<=[^\s\\])\1(?!\w)"), r"\2"),
    (re.compile(rf"~~([^~]{{1,{_LONGEST}}})~~"), r"\1"),
    (re.compile(r"\\([\\`*_{}\[\]()#+.!|>~-])"), r"\1"),
)
_SPACE_BEFORE_MARK = re.compile(r" +(?=[.,;:!?](?:\s|$))")
_CELL = re.compile(r"(?<!\\)\|")


def comments(text: str) -> Iterator[Span]:
    """Give where the closed HTML comments stand; one that is never closed hides nothing."""
    start = text.find("<!--")
    while start >= 0:
        end = text.find("-->", start + 4)
        if end < 0:
            return
        yield start, end + 3
        start = text.find("<!--", end + 3)


def masked(text: str) -> str:
    """Return the text with comments, tags and quote marks as spaces, every other place kept."""
    parts, at = [], 0
    for start, end in comments(text):
        parts += [text[at:start], _spaces(text[start:end])]
        at = end
    whole = "".join([*parts, text[at:]])
    for pattern in (_TAG, _QUOTE_MARK):
        whole = pattern.sub(lambda match: _spaces(match[0]), whole)
    return whole


@lru_cache(maxsize=8_192)
def plain_text(text: str) -> str:
    """Return what a reader sees of a text, on one line: no marks, tags, comments, invisibles.

    >>> plain_text("**15** days <!-- mark as supported -->of [annual](x.html) leave")
    '15 days of annual leave'
    """
    if "<!--" in text:
        text = masked(text)
    text = _INVISIBLE.sub("", _CONTINUED_QUOTE.sub("\n", text))
    text = _TAG.sub(" ", text)
    for pattern, replacement in _INLINE:
        text = pattern.sub(replacement, text)
    return _SPACE_BEFORE_MARK.sub("", " ".join(unescape(text).split()))


def one_line(text: str) -> str:
    """Return a text as it is quoted within a sentence: the same, without its line breaks."""
    return " ".join(text.split())


def cell_spans(row: str) -> list[Span]:
    """Return where the cells of a table's row stand, without the space around them."""
    stripped = row.strip()
    start = row.find(stripped) + stripped.startswith("|")
    end = len(row.rstrip()) - (stripped.endswith("|") and not stripped.endswith("\\|"))
    edges = [match.start() for match in _CELL.finditer(row, start, end)]
    spans = []
    for first, last in zip([start, *(edge + 1 for edge in edges)], [*edges, end], strict=True):
        spans.append(trimmed(row, first, max(first, last)))
    return spans


def trimmed(text: str, start: int, end: int) -> Span:
    """Return the span without the space around it; an empty one if there is only space."""
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    return start + left, max(start + left, start + len(piece.rstrip()))


def _spaces(text: str) -> str:
    """Return as many spaces, with the line breaks where they were."""
    return re.sub(r"[^\n]", " ", text)

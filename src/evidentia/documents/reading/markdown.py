"""Markdown: the source is kept as it is, so that offsets open the file; a parser finds headings."""

import re
from itertools import pairwise
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from evidentia.documents.model import Heading, Page
from evidentia.documents.reading.contents import Contents, is_heading, iso_date, problem
from evidentia.documents.reading.limits import MAX_MARKDOWN_BYTES
from evidentia.documents.reading.text import decode_text

_LINE = re.compile(r"\r\n?|\n")
_FRONT_MATTER = re.compile(
    r"---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
)
_FIELD: Final = r"^(?:{}):(.*)$"
_FLAGS: Final = re.IGNORECASE | re.MULTILINE
_TITLE = re.compile(_FIELD.format("title"), _FLAGS)
_CREATED = re.compile(_FIELD.format("date|created|published"), _FLAGS)
_MODIFIED = re.compile(_FIELD.format("modified|updated|lastmod|last_modified"), _FLAGS)
_LANGUAGE = re.compile(_FIELD.format("lang|language"), _FLAGS)

_BLOCKS = MarkdownIt("commonmark").enable("table").disable("inline")
"""Only blocks are parsed: headings need no more, and it is many times faster."""
_INLINE = MarkdownIt("commonmark")


def read_markdown(data: bytes, filename: str) -> Contents:
    """Read Markdown with the headings that CommonMark sees, and a front matter's fields."""
    if len(data) > MAX_MARKDOWN_BYTES:
        raise problem(
            filename,
            f"{len(data):,} bytes of Markdown, {MAX_MARKDOWN_BYTES:,} at most: split the file, "
            "or name it .txt to have it read as plain text",
        )
    text = decode_text(data, filename)
    front = _FRONT_MATTER.match(text)
    fields = front[1] if front else ""
    return Contents(
        pages=(Page(1, text),),
        headings=tuple(_headings(text, front.end() if front else 0)),
        title=_field(_TITLE, fields),
        created=iso_date(_field(_CREATED, fields)),
        modified=iso_date(_field(_MODIFIED, fields)),
        language=_field(_LANGUAGE, fields),
    )


def _field(pattern: re.Pattern[str], fields: str) -> str | None:
    found = pattern.search(fields)
    return found[1].strip(" \t\r\"'") or None if found else None


def _headings(text: str, start: int) -> list[Heading]:
    """Return the headings after the front matter, which a parser would take for one."""
    line_starts = [start, *(found.end() for found in _LINE.finditer(text, start))]
    headings = []
    tokens = _BLOCKS.parse(text[start:])
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open" and opening.map and is_heading(inline.content):
            title = _plain(_INLINE.parseInline(inline.content))
            if title:
                place = line_starts[opening.map[0]]
                headings.append(Heading(int(opening.tag[1]), title, 1, place))
    return headings


def _plain(tokens: list[Token]) -> str:
    """Return inline text without its markup."""
    parts = []
    for token in tokens:
        if token.children:
            parts.append(_plain(token.children))
        elif token.type in {"text", "code_inline"}:
            parts.append(token.content)
        elif token.type in {"softbreak", "hardbreak"}:
            parts.append(" ")
    return " ".join("".join(parts).split())

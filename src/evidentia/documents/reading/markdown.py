"""Markdown: the source is kept as it is, so that offsets open the file; a parser finds headings.

Front matter, YAML or TOML at the head of a file, is data about it: its fields are read, and it is
in no passage.
"""

import re
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from evidentia.documents.model import Heading, Page
from evidentia.documents.reading.contents import Contents, is_heading, problem
from evidentia.documents.reading.front_matter import read_front_matter
from evidentia.documents.reading.limits import MAX_MARKDOWN_BYTES
from evidentia.documents.reading.text import decode_text

_LINE = re.compile(r"\r\n?|\n")
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
    about = read_front_matter(text)
    return Contents(
        pages=(Page(1, text, about.end),),
        headings=tuple(find_headings(text, about.end)),
        title=about.title,
        created=about.created,
        modified=about.modified,
        language=about.language,
        warnings=about.warnings,
        effective=about.effective,
    )


def find_headings(text: str, start: int = 0) -> list[Heading]:
    """Return the headings from `start` on; a parser would take front matter for one."""
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

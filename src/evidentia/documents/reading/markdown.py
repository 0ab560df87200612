"""Markdown: the source is kept as it is, so that offsets open the file; a parser finds headings.

Front matter, YAML or TOML at the head of a file, is data about it: its fields are read, and it is
in no passage.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from evidentia.documents.model import Heading, Page
from evidentia.documents.reading.contents import Contents, is_heading, problem
from evidentia.documents.reading.front_matter import read_front_matter
from evidentia.documents.reading.limits import MAX_MARKDOWN_BYTES
from evidentia.documents.reading.text import decode_text

_LINE = re.compile(r"\r\n?|\n")
_UNSURE: Final = ("\r", "\0", "```", "~~~", "\x1c", "\x1d", "\x1e", "\x1f", "\x85")
_NOT_PLAIN = re.compile(
    r"""\n(?:
    [ \t>*+\-\d.)]*<                     # HTML, which goes on to its end or a blank line
    |[ \t>]*[-=:|][-=:| \t>]*$             # a line under a heading or a table's head, a rule
    |(?:\ {0,3}\t|\ {4})[ \t]*\#          # code, or within a list
    |[ \t]*(?:[>*+\-]|\d{1,9}[.)])[ \t>*+\-\d.)]*\#)""",  # a heading within a quote or an item
    re.MULTILINE | re.VERBOSE,
)
_HASHED = re.compile(r"\n {0,3}(#{1,6})([ \t].*)?$", re.MULTILINE)
_WORDS = re.compile(r"[A-Za-z0-9 ,.;:()'\"/%?-]*")
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
    return [
        Heading(level, title, 1, place)
        for level, content, place in _marked(text, start)
        if is_heading(content) and (title := _title(content))
    ]


def _marked(text: str, start: int) -> Iterator[tuple[int, str, int]]:
    """Give what stands as a heading: its level, its source, and where its line begins.

    Where nothing in a text could hide a heading or be one in another way, a line with `#` is one:
    that needs no parser, which takes many times as long.
    """
    body = text[start:]
    lines = f"\n{body}"
    if _NOT_PLAIN.search(lines) is None and not any(mark in body for mark in _UNSURE):
        for found in _HASHED.finditer(lines):
            yield len(found[1]), _unclosed(found[2] or ""), start + found.start()
        return
    line_starts = [start, *(found.end() for found in _LINE.finditer(text, start))]
    for opening, inline in pairwise(_BLOCKS.parse(body)):
        if opening.type == "heading_open" and opening.map:
            yield int(opening.tag[1]), inline.content, line_starts[opening.map[0]]


def _unclosed(written: str) -> str:
    """Return what a heading's line has behind its marks, without those at its end."""
    written = written.rstrip(" \t")
    without = written.rstrip("#")
    return (without if without.endswith((" ", "\t")) else written).strip()


def _title(content: str) -> str:
    """Return a heading's text without its markup; most have none."""
    if _WORDS.fullmatch(content):
        return " ".join(content.split())
    return _plain(_INLINE.parseInline(content))


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

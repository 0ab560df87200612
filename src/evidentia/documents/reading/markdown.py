"""Markdown: the source is kept as it is, so that offsets open the file; a parser finds headings.

Front matter, YAML or TOML at the head of a file, is data about it: its fields are read, and it is
in no passage.
"""

import re
from itertools import pairwise
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from evidentia.documents.effective import EVER, Effective
from evidentia.documents.model import Heading, Page
from evidentia.documents.reading.contents import Contents, is_heading, iso_date, problem
from evidentia.documents.reading.limits import MAX_MARKDOWN_BYTES
from evidentia.documents.reading.text import decode_text

_LINE = re.compile(r"\r\n?|\n")
_YAML = re.compile(
    r"---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
)
_TOML = re.compile(r"\+\+\+[ \t]*\r?\n(.*?)^\+\+\+[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_YAML_LINE = re.compile(r"[ \t#\]}\-]|[^\s:#][^:\n]{0,100}:(?:\s|\Z)|\s*\Z")
"""How a line of YAML begins: a name, or what goes on with the one before."""
_TOML_LINE = re.compile(r"[ \t#\[\]}\"']|[\w.\"'-]{1,100}\s*=|\s*\Z")
_NAME = re.compile(r"[^\s:#=\[-][^:=\n]{0,100}[:=]|\[")
"""How the first line begins that is neither blank nor a comment."""
_FIELD: Final = r"^(?:{})[ \t]*[:=](.*)$"
_FLAGS: Final = re.IGNORECASE | re.MULTILINE
_TITLE = re.compile(_FIELD.format("title"), _FLAGS)
_CREATED = re.compile(_FIELD.format("date|created|published"), _FLAGS)
_MODIFIED = re.compile(_FIELD.format("modified|updated|lastmod|last_modified"), _FLAGS)
_FIRST = re.compile(_FIELD.format("effective|effective_from|valid_from"), _FLAGS)
_LAST = re.compile(_FIELD.format("effective_until|valid_until|expires"), _FLAGS)
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
    start, fields = _front_matter(text)
    effective = Effective(*(iso_date(_field(pattern, fields)) for pattern in (_FIRST, _LAST)))
    said = f"it says that it holds from {effective.first} until {effective.last}, which is before"
    return Contents(
        pages=(Page(1, text, start),),
        headings=tuple(find_headings(text, start)),
        title=_field(_TITLE, fields),
        created=iso_date(_field(_CREATED, fields)),
        modified=iso_date(_field(_MODIFIED, fields)),
        language=_field(_LANGUAGE, fields),
        warnings=() if effective.is_possible else (f"{said}: taken as saying neither",),
        effective=effective if effective.is_possible else EVER,
    )


def _front_matter(text: str) -> tuple[int, str]:
    """Return where front matter ends, and what is in it; 0 and nothing if there is none.

    Text between two rules is none: each line must be one of data, and the first must name a field.
    """
    for pattern, line_form in ((_YAML, _YAML_LINE), (_TOML, _TOML_LINE)):
        found = pattern.match(text)
        if found:
            lines = found[1].splitlines()
            first = next((line for line in lines if line.strip() and line[0] != "#"), "")
            if not found[1].strip() or (_NAME.match(first) and all(map(line_form.match, lines))):
                return found.end(), found[1]
    return 0, ""


def _field(pattern: re.Pattern[str], fields: str) -> str | None:
    found = pattern.search(fields)
    return found[1].strip(" \t\r\"'") or None if found else None


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

"""What a reader of one format gives back, and how blocks of text become pages."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Final

from evidentia.documents.effective import EVER, Effective
from evidentia.documents.model import Heading, Page
from evidentia.documents.reading.limits import MAX_HEADING_CHARACTERS
from evidentia.errors import DocumentError

MAX_HEADING_LEVEL: Final = 6
_DATE = re.compile(r"\s*(\d{4})-?(\d{2})-?(\d{2})")


@dataclass(frozen=True, slots=True)
class Contents:
    """What is in a file, before its language is known."""

    pages: tuple[Page, ...]
    headings: tuple[Heading, ...] = ()
    title: str | None = None
    created: str | None = None
    modified: str | None = None
    language: str | None = None
    warnings: tuple[str, ...] = ()
    effective: Effective = EVER


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, heading, list item or table row; `close` ones follow on the very next line."""

    text: str
    level: int = 0
    close: bool = False
    new_page: bool = False


def compose(blocks: Iterable[Block]) -> tuple[tuple[Page, ...], tuple[Heading, ...]]:
    """Lay blocks out as pages: blank lines between them, none before a close one."""
    pages: list[list[str]] = [[]]
    headings = []
    at = 0
    for block in blocks:
        if block.new_page:
            pages.append([])
            at = 0
        gap = ("\n" if block.close else "\n\n") if at else ""
        if block.level and is_heading(block.text):
            level = min(block.level, MAX_HEADING_LEVEL)
            title = " ".join(block.text.split())
            headings.append(Heading(level, title, len(pages), at + len(gap)))
        pages[-1] += [gap, block.text]
        at += len(gap) + len(block.text)
    texts = ("".join(parts) for parts in pages)
    return tuple(Page(number, text) for number, text in enumerate(texts, 1)), tuple(headings)


def is_heading(text: str) -> bool:
    """Whether a text is short enough for the heading it is marked as."""
    return len(text) <= MAX_HEADING_CHARACTERS


def shown_name(filename: str) -> str:
    """Return a file's name as an error may show it: what does not print is escaped."""
    return filename if filename.isprintable() and filename else repr(filename)


def problem(filename: str, what: str) -> DocumentError:
    """Return the error that says what is wrong with a file, and what to do."""
    return DocumentError(f"{shown_name(filename)}: {what}")


def iso_date(text: str | None) -> str | None:
    """Return the ISO date that a metadata field begins with, or None if it has none."""
    found = _DATE.match((text or "").removeprefix("D:"))
    if not found:
        return None
    try:
        return date(int(found[1]), int(found[2]), int(found[3])).isoformat()
    except ValueError:
        return None

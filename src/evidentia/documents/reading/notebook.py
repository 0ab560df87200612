"""Jupyter notebooks: cells in their order, Markdown and code as they are, and what they printed.

A passage is under the headings of the Markdown above it, and names its cell. Pictures and other
outputs that are no text are left out, and it is said. Code is not run. Front matter in the first
cell is data about the notebook, as is what its metadata say.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import orjson

from evidentia.documents.model import Heading, Page
from evidentia.documents.reading.contents import Contents, problem
from evidentia.documents.reading.front_matter import FrontMatter, read_fields, read_front_matter
from evidentia.documents.reading.limits import (
    MAX_HEADING_CHARACTERS,
    MAX_MARKDOWN_BYTES,
    MAX_ROWS,
)
from evidentia.documents.reading.markdown import find_headings
from evidentia.documents.reading.text import decode_text
from evidentia.language.counting import counted

_DEEPEST: Final = 7
"""The level of a cell's name: below every heading."""
_SHOWN: Final = ("text/markdown", "text/latex", "text/plain")
_OBJECT = re.compile(r"<[^<>\n]{1,200}>|Figure\([^()\n]{1,80}\)")
"""What stands in for an output that is no text."""
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_MARKDOWN: Final = "markdown"
_HEADING: Final = "heading"


def read_notebook(data: bytes, filename: str) -> Contents:
    """Read a notebook of format 3 or 4; `DocumentError` if it is none, or is cut short."""
    try:
        notebook = orjson.loads(decode_text(data, filename))
    except orjson.JSONDecodeError as error:
        raise problem(
            filename, f"a broken notebook (no JSON: {error}): open it in Jupyter and save it again"
        ) from None
    cells = _cells(notebook)
    if cells is None:
        raise problem(filename, "not a Jupyter notebook: it has no list of cells")
    if len(cells) > MAX_ROWS:
        raise problem(filename, f"a notebook of more than {MAX_ROWS:,} cells: split it")
    return _written(cells, _about(notebook), filename)


def _about(notebook: Mapping[str, Any]) -> FrontMatter:
    """Return what a notebook's metadata say of it."""
    metadata = notebook.get("metadata")
    fields = metadata.items() if isinstance(metadata, Mapping) else ()
    said = (f"{name}: {' '.join(value.split())}" for name, value in fields if _is_said(value))
    about = read_fields("\n".join(said))
    return about._replace(language=None)  # the one of its code


def _is_said(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= MAX_HEADING_CHARACTERS


def _written(cells: Sequence[Any], about: FrontMatter, filename: str) -> Contents:
    parts: list[str] = []
    headings: list[Heading] = []
    section = ""
    markdown = pictures = at = 0
    for number, cell in enumerate(cells, 1):
        kind = cell.get("cell_type") if isinstance(cell, Mapping) else None
        if not isinstance(cell, Mapping) or not isinstance(kind, str):
            raise problem(filename, f"a broken notebook (cell {number} is no cell)")
        texts = [text for text in (_source(cell, kind), *_outputs(cell)) if text.strip()]
        pictures += _pictures(cell)
        if not texts:
            continue
        text = "\n\n".join(texts)
        if not parts and kind in {_MARKDOWN, "raw"} and (front := read_front_matter(text)).end:
            about = _both(front, about)
        gap = "\n\n" if parts else ""
        at += len(gap)
        headings.append(_name(number, section, at))
        if kind in {_MARKDOWN, _HEADING}:
            markdown += len(text)
            if markdown > MAX_MARKDOWN_BYTES:
                raise problem(
                    filename,
                    f"more than {MAX_MARKDOWN_BYTES:,} characters of Markdown: split the notebook",
                )
            for found in find_headings(text, about.end if not parts else 0):
                section = found.text
                headings.append(Heading(found.level, section, 1, at + found.start))
                end = text.find("\n", found.start)
                headings.append(_name(number, section, at + (len(text) if end < 0 else end)))
        parts += [gap, text]
        at += len(text)
    warnings: tuple[str, ...] = ()
    if pictures:
        left_out = counted(pictures, "output that is no text is", "outputs that are no text are")
        warnings = (f"{left_out} left out",)
    return Contents(
        (Page(1, "".join(parts), about.end),),
        tuple(headings),
        title=about.title,
        created=about.created,
        modified=about.modified,
        language=about.language,
        warnings=warnings,
    )


def _both(front: FrontMatter, metadata: FrontMatter) -> FrontMatter:
    """Return what front matter says, and metadata where it says nothing."""
    return FrontMatter(
        front.end,
        front.title or metadata.title,
        front.created or metadata.created,
        front.modified or metadata.modified,
        front.language,
    )


def _name(number: int, section: str, at: int) -> Heading:
    called = f"{section}, cell {number}" if section else f"Cell {number}"
    return Heading(_DEEPEST, called, 1, at, written=False)


def _cells(notebook: Any) -> Sequence[Any] | None:
    """Return the cells of a notebook, of format 3 too; None if it has no such list."""
    if not isinstance(notebook, Mapping):
        return None
    cells = notebook.get("cells")
    if cells is None and isinstance(sheets := notebook.get("worksheets"), list):
        cells = []
        for sheet in sheets:
            of_sheet = sheet.get("cells") if isinstance(sheet, Mapping) else None
            cells += of_sheet if isinstance(of_sheet, list) else []
    return cells if isinstance(cells, list) else None


def _source(cell: Mapping[str, Any], kind: str) -> str:
    text = _joined(cell.get("source", cell.get("input")))
    if kind == _HEADING:
        level = cell.get("level")
        return f"{'#' * (level if isinstance(level, int) and 0 < level < _DEEPEST else 1)} {text}"
    return text


def _outputs(cell: Mapping[str, Any]) -> Iterator[str]:
    """Give what a cell printed and returned, as text."""
    for output in _list(cell.get("outputs")):
        if output.get("output_type") == "error" or output.get("output_type") == "pyerr":
            yield _COLOURS.sub(
                "", f"{_joined(output.get('ename'))}: {_joined(output.get('evalue'))}"
            )
        elif "text" in output:
            yield _COLOURS.sub("", _joined(output["text"])).strip("\n")
        elif isinstance(data := output.get("data"), Mapping):
            shown = next((_joined(data[name]) for name in _SHOWN if name in data), "")
            if not _OBJECT.fullmatch(shown.strip()):
                yield shown.strip("\n")


def _pictures(cell: Mapping[str, Any]) -> int:
    """Return how many outputs of a cell show something that is no text."""
    shown = [output.get("data") for output in _list(cell.get("outputs"))]
    return sum(
        any(isinstance(name, str) and not name.startswith("text/") for name in data)
        for data in shown
        if isinstance(data, Mapping)
    )


def _list(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _joined(value: Any) -> str:
    """Return a text that may be written as a list of its lines."""
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""

"""What commands print: tables for people, JSON for programs, progress for the patient.

Everything shown may come from a hostile document, so control and direction characters are made
visible, and nothing is read as markup.
"""

import json
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import typer

_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Co", "Zl", "Zp"))
Mark = Literal["good", "bad", "unknown"]
_MARKS: dict[Mark, tuple[str, str]] = {
    "good": ("✓", "green"),
    "bad": ("✗", "red"),
    "unknown": ("?", "yellow"),
}


def visible(text: object) -> str:
    """Return the text with characters that control a terminal or a direction made visible."""
    return "".join(
        f"[U+{ord(character):04X}]" if unicodedata.category(character) in _HIDDEN else character
        for character in str(text)
    )


def print_json(value: Any) -> None:
    """Print one JSON document."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=True))


def say(text: str, mark: Mark | None = None, *, under: bool = False) -> None:
    """Print a line, with a mark in front where it is a verdict; `under` indents it."""
    indent = "  " if under else ""
    if mark is None:
        typer.echo(f"{indent}{text}")
        return
    sign, colour = _MARKS[mark]
    typer.echo(f"{indent}{typer.style(sign, fg=colour)} {text}")


def print_table(
    columns: Sequence[str], rows: Sequence[Sequence[object]], *, right: Sequence[str] = ()
) -> None:
    """Print a table; `right` names the columns whose values stand right."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, 120)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    console.print(table)


@contextmanager
def progress_bar(label: str, total: int, *, least: int = 5_000) -> Iterator[Callable[[int], None]]:
    """Show progress on standard error, if there is a person there and enough to do.

    Gives a function that takes how much is done.
    """
    if total < least or not sys.stderr.isatty():
        yield lambda _done: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=total)
        yield lambda done: progress.update(task, completed=done)

"""What commands print: tables for people, JSON for programs, progress for the patient.

Everything shown may come from a hostile document, so control and direction characters are made
visible, and nothing is read as markup.
"""

import json
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from evidentia.export.told import Told

_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Co", "Zl", "Zp"))
Mark = Literal["good", "bad", "unknown"]
_MARKS: dict[Mark, tuple[str, str]] = {
    "good": ("✓", "green"),
    "bad": ("✗", "red"),
    "unknown": ("?", "yellow"),
}


def visible(text: object) -> str:
    """Return the text with characters that control a terminal or a direction made visible."""
    if str(text).isprintable():
        return str(text)
    return "".join(
        f"⟨U+{ord(character):04X}⟩" if unicodedata.category(character) in _HIDDEN else character
        for character in str(text)
    )


def first_few(names: Sequence[str], most: int = 3) -> str:
    """Return names in a row: the first few of them, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def print_json(value: Any) -> None:
    """Print one JSON document."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=True))


def say(text: str, mark: Mark | None = None, *, under: bool = False, aside: bool = False) -> None:
    """Print a line, with a mark in front where it is a verdict; `under` indents it.

    `aside` prints it to standard error, beside what a program reads. Whatever the text came from,
    nothing in it controls the terminal.
    """
    text = "\n".join(visible(line) for line in text.split("\n"))
    indent = "  " if under else ""
    if mark is None:
        typer.echo(f"{indent}{text}", err=aside)
        return
    sign, colour = _MARKS[mark]
    typer.echo(f"{indent}{typer.style(sign, fg=colour)} {text}", err=aside)


def say_fingerprint(digest: str) -> None:
    """Say the fingerprint of a statement, in groups as the pages of its copies have it."""
    from evidentia.language.digits import in_groups

    say(f"Fingerprint: {visible(' '.join(in_groups(digest)))}")


def write_json(output: Path, value: dict[str, Any]) -> None:
    """Write a JSON object to a file."""
    from evidentia.store.files import write_durably

    write_durably(output, (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode())


def hand_over(
    proof: dict[str, Any], of: str, key: str, output: Path | None, *, as_json: bool
) -> None:
    """Print a proof, or write it to a file and say how a stranger verifies it."""
    if output is None:
        print_json(proof)
        return
    write_json(output, proof)
    if as_json:
        print_json({"file": str(output), "entry": proof["entry"]["seq"], "public_key": key})
        return
    say(f"The proof of {of} is in {output}. Whoever trusts the key verifies it with:", "good")
    say(f"evidentia verify {output} --key {key}", under=True)


def print_table(
    columns: Sequence[str], rows: Sequence[Sequence[object]], *, right: Sequence[str] = ()
) -> None:
    """Print a table; `right` names the columns whose values stand right."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    console = wide_console()
    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    console.print(table)


def wide_console() -> "Console":
    """Return where tables are printed: as wide as the terminal, and 120 where there is none."""
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, 120)
    return console


@contextmanager
def progress_bar(label: str, total: int, *, least: int = 5_000) -> Iterator[Callable[[int], None]]:
    """Show progress on standard error, if there is a person there and enough to do.

    Gives a function that takes how much is done.
    """
    if total < least:
        yield lambda _done: None
        return
    with counting_bar(label) as count:
        yield lambda done: count(done, total)


def _no_bar(_done: int, _total: int, /, *, is_before: bool = False) -> None:
    del is_before


class CountingBar(Protocol):
    """Shows how much is done."""

    def __call__(self, done: int, total: int, /, *, is_before: bool = False) -> None:
        """Take how much is done, and of how much."""


@contextmanager
def counting_bar(label: str, before: str = "") -> Iterator[CountingBar]:
    """Show progress on standard error, if there is a person there.

    Gives a function that takes how much is done, and of how much; and whether that is of the step
    before, which has a label of its own.
    """
    if not sys.stderr.isatty():
        yield _no_bar
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
        task = progress.add_task(label, total=None)
        yield lambda done, total, *, is_before=False: progress.update(
            task, completed=done, total=total, description=before if is_before else label
        )


def show(told: "Told") -> None:
    """Print what is told in lines and tables."""
    from evidentia.export.told import Line

    for one in told:
        if isinstance(one, Line):
            say(visible(one.text), "unknown" if one.warns else None, under=one.under)
        else:
            print_table(one.columns, one.rows, right=one.right)

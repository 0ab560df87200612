"""Writes what the program says of itself into docs/reference/: each command's help, the errors.

Run it when one of these has changed: `.venv/bin/python scripts/reference.py`. With `--check` it
changes nothing and fails if a page is not up to date; the tests call it so.
"""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import typer.main
from typer.testing import CliRunner

from evidentia import errors
from evidentia.cli.main import app
from evidentia.server.problems import PROBLEMS

REFERENCE = Path(__file__).resolve().parent.parent / "docs" / "reference"
HELP = re.compile(r"^## `(evidentia[a-z -]*)`\n\n```text\n.*?```$", re.MULTILINE | re.DOTALL)
TREE = re.compile(r"```(?:text)?\nEvidentiaError.*?```", re.DOTALL)


def commands() -> Iterator[str]:
    """Give every command and group, as it is typed."""

    def walk(path: str, command: object) -> Iterator[str]:
        yield path
        command = getattr(command, "loaded", command)
        for name, child in getattr(command, "commands", {}).items():
            yield from walk(f"{path} {name}", child)

    yield from walk("evidentia", typer.main.get_command(app))


def help_of(command: str) -> str:
    """Return what `--help` prints on a terminal of 80 columns."""
    os.environ["COLUMNS"] = "80"
    answer = CliRunner().invoke(app, [*command.split()[1:], "--help"], prog_name="evidentia")
    return "\n".join(line.rstrip() for line in answer.output.strip().splitlines())


def command_line(page: str) -> str:
    """Return the page with every help text as it is now."""
    return HELP.sub(lambda found: f"## `{found[1]}`\n\n```text\n{help_of(found[1])}\n```", page)


def error_tree(page: str) -> str:
    """Return the page with the tree of errors as the code draws it."""
    drawn = TREE.search(errors.__doc__ or "")
    return TREE.sub(
        lambda found: drawn[0].replace("```", "```text", 1) if drawn else found[0], page
    )


def problem_list(page: str) -> str:
    """Return the page with every kind of problem that the server answers with."""
    head = page[: page.index("## ")] if "## " in page else page
    sections = [
        f"## {one.name}\n\n{one.title}. Status {one.status}.\n\n{one.explained}\n"
        for one in sorted(PROBLEMS.values(), key=lambda one: (one.status, one.name))
    ]
    return head + "\n".join(sections)


def main() -> None:
    """Bring the pages up to date, or say how they are not."""
    wrong = []
    pages = (
        ("cli.md", command_line),
        ("errors.md", error_tree),
        ("problems.md", problem_list),
    )
    for name, renew in pages:
        path = REFERENCE / name
        there = path.read_text()
        fresh = renew(there)
        if "--check" not in sys.argv:
            path.write_text(fresh)
        elif fresh != there:
            wrong.append(f"{name} is not up to date: run scripts/reference.py")
    shown, real = HELP.findall((REFERENCE / "cli.md").read_text()), list(commands())
    wrong += [f"cli.md has no section for '{name}'" for name in real if name not in shown]
    wrong += [
        f"cli.md has a section for '{name}', no command" for name in shown if name not in real
    ]
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()

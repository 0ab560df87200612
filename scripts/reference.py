"""Writes what the program says of itself into docs/reference/: help texts, errors, the API.

Run it when one of these has changed: `.venv/bin/python scripts/reference.py`. With `--check` it
changes nothing and fails if a page is not up to date; the tests call it so.
"""

import json
import os
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main
from typer.testing import CliRunner

from evidentia import errors
from evidentia.cli.main import app
from evidentia.server.app import create_app
from evidentia.server.problems import PROBLEMS
from evidentia.settings import Settings
from evidentia.workspace.opened import open_all

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


def description() -> dict[str, Any]:
    """Return the description of the API, of a server with nothing in it."""
    with tempfile.TemporaryDirectory() as folder, open_all(Path(folder) / "home") as opened:
        return create_app(opened, Settings()).openapi()


def api_page(page: str) -> str:
    """Return the page with every operation as the server describes it."""
    described = description()
    head = page[: page.index("## ")] if "## " in page else page
    tags: dict[str, list[str]] = defaultdict(list)
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            section = _operation(described, f"{method.upper()} {path}", operation)
            tags[operation["tags"][0]].append(section)
    parts = [f"## {tag.capitalize()}\n\n" + "\n".join(tags[tag]) for tag in sorted(tags)]
    return head + "\n".join(parts)


def _operation(described: dict[str, Any], name: str, operation: dict[str, Any]) -> str:
    lines = [f"### `{name}`", "", operation["description"].strip(), ""]
    row = operation["x-action"]
    if row != "none":
        lines += [f"The guard's action: `{row}`.", ""]
    if parameters := operation.get("parameters"):
        lines += ["| Parameter | In | What it is |", "|---|---|---|"]
        for one in parameters:
            needed = "" if one.get("required") else " Optional."
            about = " ".join(one.get("description", "").split()).replace("|", "\\|")
            lines.append(f"| `{one['name']}` | {one['in']} | {about}{needed} |")
        lines.append("")
    lines += _example(described, "Request", operation.get("requestBody", {}))
    for status, answer in operation["responses"].items():
        if status.startswith("2"):
            lines += _example(described, f"Answer, {status}", answer)
    lines += _problems(operation)
    return "\n".join(lines)


def _example(described: dict[str, Any], title: str, body: dict[str, Any]) -> list[str]:
    for kind, media in body.get("content", {}).items():
        if kind != "application/json":
            continue
        schema = media.get("schema", {})
        name = schema.get("$ref", "").rpartition("/")[2]
        examples = described["components"]["schemas"].get(name, {}).get("examples", [])
        example = media.get("example", examples[0] if examples else None)
        if example is not None:
            written = json.dumps(example, indent=2, ensure_ascii=False)
            return [f"{title}:", "", "```json", written, "```", ""]
    kinds = ", ".join(f"`{kind}`" for kind in body.get("content", {}))
    return [f"{title}: {kinds}", ""] if kinds else []


def _problems(operation: dict[str, Any]) -> list[str]:
    found = [
        f"[{name}](problems.md#{name})"
        for status in sorted(operation["responses"])
        if status >= "4"
        for answer in [operation["responses"][status]]
        for name in answer.get("content", {})
        .get("application/problem+json", {})
        .get("examples", ())
    ]
    return [f"Problems: {', '.join(found)}.", ""] if found else []


def main() -> None:
    """Bring the pages up to date, or say how they are not."""
    wrong = []
    pages = (
        ("cli.md", command_line),
        ("errors.md", error_tree),
        ("problems.md", problem_list),
        ("api.md", api_page),
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

"""The reference pages say what the program is: every drift between the two fails here."""

import inspect
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
from sqlalchemy import Column
from sqlalchemy.dialects import postgresql, sqlite

import evidentia
from evidentia import errors
from evidentia.settings import PREFIX, Settings
from evidentia.store.tables import metadata
from evidentia.workspace import Workspace
from evidentia.workspace.access import Roles
from evidentia.workspace.auditing import Whole
from evidentia.workspace.bundles import Bundles
from evidentia.workspace.documents import Documents
from evidentia.workspace.jobs import Jobs
from evidentia.workspace.judges import Judges
from evidentia.workspace.ledgers import Ledgers
from evidentia.workspace.packs import Packs
from evidentia.workspace.spans import Spans
from evidentia.workspace.tools import Tools
from evidentia.workspace.trail import Trail

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / ".github").rglob("*.md"), *DOCS.rglob("*.md")])
PARTS: dict[str, type] = {
    "trail": Trail,
    "documents": Documents,
    "ledgers": Ledgers,
    "jobs": Jobs,
    "spans": Spans,
    "judges": Judges,
    "bundles": Bundles,
    "packs": Packs,
    "tools": Tools,
    "access": Roles,
    "whole": Whole,
}
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def page(name: str) -> str:
    return (REFERENCE / name).read_text()


def links(path: Path) -> list[str]:
    """Return the links of a page that lead to files, without their anchors."""
    targets = LINK.findall(CODE.sub("", path.read_text()))
    return [target.partition("#")[0] for target in targets if not re.match(r"[a-z]+:|#", target)]


def call(name: str, function: FunctionType) -> str:
    """Return how a function is called, as the page writes it: names and defaults, no types."""
    signature = inspect.signature(function)
    plain = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in signature.parameters.values()
        if parameter.name != "self"
    ]
    return f"{name}{inspect.Signature(plain)}"


def headings(text: str, level: str) -> set[str]:
    return set(re.findall(rf"^{level} `(.+)`$", text, re.MULTILINE))


def test_help_texts_and_the_tree_of_errors_are_those_of_the_program() -> None:
    script = ROOT / "scripts" / "reference.py"
    done = subprocess.run(
        [sys.executable, script, "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_every_setting_is_documented_with_its_default() -> None:
    rows = re.findall(r"^\| `(EVIDENTIA_\w+)` \| (.+?) \|", page("settings.md"), re.MULTILINE)
    defaults = {field.name: field.default for field in fields(Settings)}
    expected = {
        f"{PREFIX}{name.upper()}": "not set" if default is None else f"`{default}`"
        for name, default in defaults.items()
    }
    assert sorted(rows) == sorted(expected.items()), "each once"


def test_the_tree_of_errors_names_every_error() -> None:
    defined = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, Exception)
    }
    assert defined == set(re.findall(r"\b\w+(?:Error|Problem)(?=  )", page("errors.md")))


def test_every_exit_code_is_documented() -> None:
    codes = {0} | {
        value.exit_code
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, errors.EvidentiaError)
    }
    rows = re.findall(r"^\| (\d) \|", page("exit-codes.md"), re.MULTILINE)
    assert codes == set(map(int, rows))


def test_every_public_name_is_documented_as_it_is_called() -> None:
    expected = set()
    for name in evidentia.__all__:
        value = getattr(evidentia, name)
        public = f"ev.{name}"
        expected.add(call(public, value) if isinstance(value, FunctionType) else public)
    assert headings(page("python-api.md"), "###") == expected


def test_every_method_of_a_workspace_is_documented_as_it_is_called() -> None:
    members = {
        name: value
        for part in Workspace.__mro__[:-1]
        for name, value in vars(part).items()
        if not name.startswith("_")
    }
    expected = {
        call(name, value) if isinstance(value, FunctionType) else name
        for name, value in members.items()
    }
    assert headings(page("python-api.md"), "####") == expected


def test_every_method_of_every_part_is_documented_as_it_is_called() -> None:
    expected = {
        call(row, value) if isinstance(value, FunctionType) else row
        for name, part in PARTS.items()
        for attribute, value in vars(part).items()
        for row in [f"{name}.{attribute}"]
        if not attribute.startswith("_")
    }
    assert headings(page("python-api.md"), "#####") == expected


def test_every_new_name_of_the_table_of_names_is_there() -> None:
    rows = re.findall(r"^\| `\w+` \| `ws\.(.+?)`", page("python-names.md"), re.MULTILINE)
    assert rows
    for name in rows:
        part, _, method = name.partition(".")
        if part != "opened":
            assert hasattr(PARTS[part], method) if method else hasattr(Workspace, part), name


ON_SQLITE = {"TEXT": "text", "INTEGER": "integer", "REAL": "real", "BLOB": "bytes"}
ON_POSTGRESQL = {
    "TEXT": "text",
    "INTEGER": "integer",
    "BIGINT": "integer",
    "DOUBLE PRECISION": "real",
    "BYTEA": "bytes",
    "BOOLEAN": "boolean",
    "TIMESTAMP WITH TIME ZONE": "timestamptz",
    "TEXT[]": "text[]",
}


def documented_type(column: Column[Any]) -> str:
    """Return how the page writes a column's type: once, or for both databases if they differ."""
    embedded = ON_SQLITE[column.type.compile(dialect=sqlite.dialect())]
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]  # SQLAlchemy's own
    server = ON_POSTGRESQL[column.type.compile(dialect=dialect)]
    said = embedded if embedded == server else f"{embedded}; PostgreSQL: {server}"
    return f"{said} or null" if column.nullable else said


def test_every_table_and_column_is_documented_with_its_type() -> None:
    sections = re.split(r"^## ", page("database.md"), flags=re.MULTILINE)
    described = {
        section.partition("\n")[0].strip("`"): re.findall(
            r"^\| `(\w+)` \| ([^|]+) \|", section, re.MULTILINE
        )
        for section in sections
        if section.startswith("`")
    }
    assert described == {
        name: [(column.name, documented_type(column)) for column in table.columns]
        for name, table in metadata.tables.items()
    }


def test_every_table_is_listed_with_what_it_holds() -> None:
    beginning = page("database.md").partition("\n## ")[0]
    listed = re.findall(r"^\| `([\w.]+)` \|", beginning, re.MULTILINE)
    assert sorted(listed) == sorted(metadata.tables)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_to_a_file(path: Path) -> None:
    missing = [target for target in links(path) if not (path.parent / target).resolve().exists()]
    assert missing == []


def test_every_page_is_linked_from_the_index() -> None:
    indexes = [DOCS / "index.md", DOCS / "decisions" / "README.md"]
    linked = {(index.parent / target).resolve() for index in indexes for target in links(index)}
    assert set(DOCS.rglob("*.md")) - {DOCS / "index.md"} <= linked


def test_every_decision_is_listed_and_has_the_same_parts() -> None:
    pages = sorted((DOCS / "decisions").glob("0*.md"))
    listed = links(DOCS / "decisions" / "README.md")
    assert [path.name for path in pages] == [name for name in listed if name.startswith("0")]
    for path in pages:
        parts = re.findall(r"^## (.+)$", path.read_text(), re.MULTILINE)
        assert parts == ["Context", "Decision", "Consequences"], path.name

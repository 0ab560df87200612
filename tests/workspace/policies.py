"""Small documents on leave, and answers about them, for tests that go through a workspace."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from evidentia.documents.model import ReadFile
from evidentia.errors import InputError
from evidentia.ledger.model import EvidenceLedger
from evidentia.loading.reader import read
from evidentia.loading.reading import Asked
from evidentia.store.database import run
from evidentia.workspace import Workspace
from places import lake_folder

LEAVE = """# 4. Leave

## 4.1 Annual leave

All permanent employees shall receive 15 days of paid annual leave per calendar year.

## 4.2 Carrying leave over

Unused annual leave may be carried over at the discretion of the department head.
"""
TRAVEL = """# Travel

Employees travel in economy class. Hotel costs are refunded up to $150 per night.
"""
GIFTS = """# Gifts

Gifts above $50 must be reported to the compliance office within 10 working days.
"""
POLICIES = {"leave.md": LEAVE, "travel.md": TRAVEL, "gifts.md": GIFTS}

SUPPORTED = "Employees receive 15 days of paid annual leave."
CONTRADICTED = "Hotel costs are refunded up to $250 per night."
NOT_FOUND = "Contractors may bring their pets to the office."
ANSWER = f"{SUPPORTED}\n\n{CONTRADICTED}\n\n{NOT_FOUND}\n"
VERDICTS = ["supported", "contradicted", "not_found"]
BY_RULES = ("quote", "numbers")
"""The judges that give these verdicts without a model: for tests of what comes afterwards."""


def write_policies(folder: Path, files: Mapping[str, str] = POLICIES) -> Path:
    """Write text files into a folder, which is made, and return it."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have files read in this process: for tests of what comes afterwards."""

    def read_files(asked: Iterable[Asked], **_: object) -> Iterator[ReadFile | InputError]:
        for question in asked:
            try:
                yield read(question)
            except InputError as error:
                yield error

    monkeypatch.setattr("evidentia.loading.ingesting.read_files", read_files)


def verdicts(ledger: EvidenceLedger) -> list[str]:
    return [entry.verdict.value for entry in ledger.entries]


def rows(workspace: Workspace, sql: str, *values: Any) -> list[dict[str, Any]]:
    """Return what a query finds, each row by its columns' names."""
    with workspace.opened.database.of(workspace.tenant).read() as connection:
        return [dict(row._mapping) for row in run(connection, sql, values)]


def count(workspace: Workspace, table: str) -> int:
    (row,) = rows(workspace, f"SELECT count(*) AS rows FROM {table}")
    return int(row["rows"])


def lake_files(workspace: Workspace) -> list[Path]:
    """Return the files in the lake of a workspace's tenant."""
    return sorted(path for path in lake_folder(workspace).rglob("*") if path.is_file())

"""What bundles are made of in tests that go through a workspace."""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from docx_writing import docx_bytes, paragraph
from evidentia.documents.model import ReadFile
from evidentia.errors import InputError
from evidentia.loading.reader import read
from evidentia.loading.reading import Asked
from pdf_writing import BOLD, Line, pdf_bytes
from workspace.made_bundles import CARD, FACTS, LONG
from workspace.policies import LEAVE


@pytest.fixture
def _read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have documents read in this process: their readers are tested elsewhere."""

    def read_files(asked: Iterable[Asked], **_: object) -> Iterator[ReadFile | InputError]:
        for question in asked:
            try:
                yield read(question)
            except InputError as error:
                yield error

    for module in ("evidence", "ingesting"):
        monkeypatch.setattr(f"evidentia.loading.{module}.read_files", read_files)


@pytest.fixture
def lake_root(tmp_path: Path) -> Path:
    """Give a folder with a file of every kind."""
    pdf = pdf_bytes(
        [
            [Line("1. Leave", 18, BOLD), Line("Employees receive 15 days of leave.")],
            [Line("2. Travel", 18, BOLD), Line("Employees travel in economy class.")],
        ]
    )
    docx = docx_bytes(
        paragraph("Gifts", style="berschrift1") + paragraph("Gifts above $50 must be reported.")
    )
    files: dict[str, str | bytes] = {
        "docs/leave.md": LEAVE,
        "docs/rules.pdf": pdf,
        "docs/gifts.docx": docx,
        "texts/long.md": LONG,
        "http/luke.json": json.dumps({"status": 200, "body": "Luke.", "url": "https://a.example/"}),
        "calls/call.vtt": (
            "WEBVTT\n\n00:01:02.000 --> 00:01:05.500\n<v Alice>Hello there.</v>\n\n"
            "00:01:06.000 --> 00:01:07.000\n<v Bob>Hi.\n"
        ),
        "results/facts.json": json.dumps(FACTS),
        "results/facts.ndjson": "".join(f"{json.dumps(row)}\n" for row in FACTS),
        "results/facts.csv": "id,fact\n" + "".join(f"{row['id']},{row['fact']}\n" for row in FACTS),
    }
    folder = tmp_path / "originals"
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
    results = folder / "results"
    duckdb.connect().execute(
        f"COPY (SELECT * FROM read_csv('{results}/facts.csv')) "
        f"TO '{results}/facts.parquet' (FORMAT parquet)"
    )
    return folder


@pytest.fixture
def crm(tmp_path: Path) -> str:
    """Give the URL of a database with a table."""
    with closing(sqlite3.connect(tmp_path / "crm.db")) as connection, connection:
        connection.execute("CREATE TABLE cards (id INTEGER, card TEXT)")
        connection.executemany("INSERT INTO cards VALUES (?, ?)", [(n, CARD) for n in range(40)])
    return f"sqlite:///{tmp_path}/crm.db"

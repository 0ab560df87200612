"""What an insider does to the rows and the index of a library: it moves nothing, and is named.

The rows are put back afterwards, as an insider would: what was done meanwhile must not stay.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from evidentia.canonical import sha256_hex
from evidentia.errors import IntegrityError
from evidentia.store.database import fetch, run
from evidentia.store.search import SearchIndex
from evidentia.store.sql.library import document_id
from evidentia.workspace import Workspace
from insider import without_guards
from places import Place
from workspace.policies import read_here

pytestmark = pytest.mark.as_owner

LEAVE, GIFTS = "Leave is 15 days a year.", "Gifts above 50 euros are refused."


def change(workspace: Workspace, sql: str, *values: object) -> None:
    without_guards(workspace, lambda connection: run(connection, sql, values))


@contextmanager
def changed(workspace: Workspace, *statements: str) -> Iterator[None]:
    """Change rows of documents and entries for a while."""
    tables = ("documents", "trail_entries")
    with workspace.opened.database.of(workspace.tenant).read() as connection:
        before = {table: fetch(connection, f"SELECT * FROM {table}") for table in tables}
    for sql in statements:
        change(workspace, sql)
    try:
        yield
    finally:
        for table, rows in before.items():
            for row in rows:
                marks = ", ".join("?" for _ in row)
                change(workspace, f"INSERT OR REPLACE INTO {table} VALUES ({marks})", *row)


@pytest.fixture(autouse=True)
def _read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    read_here(monkeypatch)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text(LEAVE)
    (folder / "b.md").write_text(GIFTS)
    return folder


@pytest.fixture
def workspace(sqlite_place: Place, docs: Path) -> Workspace:
    opened = sqlite_place.open()
    opened.ingest(docs)
    return opened


SWAPPED = (
    "UPDATE documents SET filename = 'c.md' WHERE filename = 'a.md'",
    "UPDATE documents SET filename = 'a.md' WHERE filename = 'b.md'",
    "UPDATE documents SET filename = 'b.md' WHERE filename = 'c.md'",
)


def test_who_names_a_document_does_not_take_out_another(workspace: Workspace) -> None:
    with changed(workspace, *SWAPPED), pytest.raises(IntegrityError, match="filename"):
        workspace.documents.remove("docs/a.md", reason="old")
    assert [one.filename for one in workspace.documents.list()] == ["a.md", "b.md"]
    assert workspace.audit().holds


def test_what_is_hidden_from_a_list_is_not_left_in_by_a_removal(
    workspace: Workspace, docs: Path
) -> None:
    (docs / "b.md").unlink()
    with changed(workspace, "DELETE FROM documents WHERE filename = 'b.md'"):
        for attempt in (
            lambda: workspace.documents.named(folder="docs"),
            lambda: workspace.documents.named(missing=True),
            lambda: workspace.documents.sync(docs),
        ):
            with pytest.raises(IntegrityError, match="2 versions"):
                attempt()


def test_a_document_of_another_collection_is_not_taken_out_by_a_sync(
    workspace: Workspace, docs: Path, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "z.md").write_text("Travel is by train.")
    workspace.ingest(tmp_path / "other")
    moved = "UPDATE documents SET collection = 'docs' WHERE filename = 'z.md'"
    with changed(workspace, moved), pytest.raises(IntegrityError, match="collection"):
        workspace.documents.sync(docs, limit=1.0)
    assert [one.filename for one in workspace.documents.list()] == ["a.md", "b.md", "z.md"]


def test_a_file_that_changed_is_read_whatever_the_row_says(
    workspace: Workspace, docs: Path
) -> None:
    (docs / "a.md").write_text("Leave is 20 days a year.")
    known = sha256_hex((docs / "a.md").read_bytes())
    as_if = f"UPDATE documents SET sha256 = '{known}' WHERE filename = 'a.md'"
    with changed(workspace, as_if):
        for attempt in (workspace.ingest, workspace.documents.sync):
            with pytest.raises(IntegrityError, match="sha256"):
                attempt(docs)
    workspace.ingest(docs)
    assert workspace.audit().holds


def test_a_document_whose_row_is_gone_is_not_recorded_as_another(
    workspace: Workspace, docs: Path
) -> None:
    entries = workspace.trail.size
    (docs / "a.md").write_text("Leave is 20 days a year.")
    gone = "DELETE FROM documents WHERE filename = 'a.md'"
    with changed(workspace, gone), pytest.raises(IntegrityError, match="does not have"):
        workspace.ingest(docs)
    assert workspace.trail.size == entries
    assert workspace.audit().holds


def test_what_comes_back_is_recorded_as_it_was_and_not_as_a_row_says(
    workspace: Workspace, docs: Path
) -> None:
    (docs / "a.md").write_text("Leave is 20 days a year.")
    workspace.ingest(docs)
    (docs / "a.md").write_text(LEAVE)
    dated = "UPDATE documents SET dated = '2030-01-01' WHERE filename = 'a.md' AND version = 1"
    with changed(workspace, dated), pytest.raises(IntegrityError, match="date"):
        workspace.ingest(docs)
    workspace.ingest(docs)
    assert workspace.audit().holds


def test_a_document_that_was_taken_out_stays_out_whatever_a_column_hides(
    workspace: Workspace, docs: Path, sqlite_place: Place
) -> None:
    workspace.documents.remove("docs/a.md", reason="old")
    hidden = "UPDATE trail_entries SET kind = 'run' WHERE subject LIKE 'removed/%'"
    with changed(workspace, hidden):
        again = sqlite_place.open()
        assert again.documents.named("docs/b.md")
        assert again.documents.remove("docs/a.md", reason="once more") == []
        (docs / "a.md").write_text(LEAVE)
        again.ingest(docs)
    assert [one.version for one in workspace.documents.list()] == [2, 1]
    assert workspace.audit().holds


def test_a_passage_is_proved_though_columns_hide_all_entries_about_documents(
    workspace: Workspace, sqlite_place: Place
) -> None:
    document = workspace.documents.list()[0]
    chunk = workspace.documents.chunks(document)[0]
    anchor = workspace.documents.anchor(chunk.chunk_hash)
    change(workspace, "UPDATE document_chunks SET content = replace(content, '15', '95')")
    hidden = "UPDATE trail_entries SET kind = 'run', subject = 'x' WHERE kind = 'document'"
    with changed(workspace, hidden):
        again = sqlite_place.open()
        for attempt in (
            lambda: again.documents.chunks(document),
            lambda: again.documents.resolve(anchor),
        ):
            with pytest.raises(IntegrityError):
                attempt()


def test_a_passage_that_is_no_text_any_more_is_named_by_the_audit(workspace: Workspace) -> None:
    damaged = "UPDATE document_chunks SET content = CAST(x'4c65ff' || content AS TEXT)"
    change(workspace, f"{damaged} WHERE document_id = ?", document_id("docs", "a.md"))
    findings = workspace.audit().findings
    assert any("Could not decode" in one for one in findings), findings


# The search index


def verdict(workspace: Workspace, text: str) -> str:
    (entry,) = workspace.check(text, judges=["quote"]).entries
    return entry.verdict


def test_an_index_made_while_a_row_is_hidden_is_refused(
    workspace: Workspace, sqlite_place: Place
) -> None:
    shutil.rmtree(sqlite_place.home.search(workspace.tenant))
    gone = "DELETE FROM documents WHERE filename = 'a.md'"
    with changed(workspace, gone), pytest.raises(IntegrityError, match="records 2 versions"):
        verdict(sqlite_place.open(), LEAVE)
    assert verdict(sqlite_place.open(), LEAVE) == "supported"


def test_an_index_of_another_workspace_is_not_searched(
    workspace: Workspace, sqlite_place: Place, tmp_path: Path
) -> None:
    other = Place(tmp_path / "other")
    (tmp_path / "docs" / "a.md").write_text("Something else.")
    with_index = other.open()
    with_index.ingest(tmp_path / "docs")
    folder = sqlite_place.home.search(workspace.tenant)
    shutil.rmtree(folder)
    shutil.copytree(other.home.search(workspace.tenant), folder)
    other.close()
    assert verdict(sqlite_place.open(), LEAVE) == "supported"
    assert sqlite_place.open().audit().holds


def test_an_index_that_hides_a_passage_and_says_it_is_behind_is_seen(
    workspace: Workspace, sqlite_place: Place
) -> None:
    index = SearchIndex(sqlite_place.home.search(workspace.tenant))
    with index.changing():
        hidden = document_id("docs", "a.md")
        first = next(n for n in range(3) if workspace.trail.entry(n).entry.subject == hidden)
        leaf = workspace.trail.entry(first).leaf
        index.update([], [hidden], first, leaf=leaf)
    assert "is not found by its words" in str(sqlite_place.open().audit().findings)

"""Ingesting: the same bytes once, a version for other bytes, each document whole or not at all."""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from sqlalchemy import Connection

from evidentia.canonical import sha256_hex
from evidentia.documents.model import ReadFile
from evidentia.documents.reading import READER_VERSION
from evidentia.errors import InputError, IntegrityError, NotFoundError
from evidentia.loading import ingesting
from evidentia.loading.ingesting import Ingestion
from evidentia.loading.reading import Asked, read_files
from evidentia.store.sql import library
from evidentia.store.sql.library import StoredDocument, document_id
from evidentia.trail.entry import EntryKind
from evidentia.workspace import Workspace
from forking import Child
from pdf_writing import Line, pdf_bytes
from places import Place, kept_file, lake_of
from workspace.policies import (
    LEAVE,
    POLICIES,
    count,
    lake_files,
    rows,
    write_policies,
)

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")

CHANGED = LEAVE.replace("15 days", "20 days")


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return write_policies(tmp_path / "docs")


@pytest.fixture
def leave(tmp_path: Path) -> Path:
    return write_policies(tmp_path / "docs", {"leave.md": LEAVE}) / "leave.md"


@pytest.fixture
def no_reading(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Give a way to say that from now on no file needs to be read."""

    def forbid() -> None:
        def refuse(question: object) -> None:
            pytest.fail(f"{question} was read again")

        monkeypatch.setattr(
            "evidentia.loading.workers.Workers._ask", lambda _, asked: refuse(asked)
        )

    return forbid


def outcomes(done: Ingestion) -> dict[str, str]:
    return {result.document.filename: result.outcome for result in done.results}


def assert_whole(workspace: Workspace) -> None:
    """Check that every version has its bytes and its chunks, and that nothing else is there."""
    versions = workspace.documents.list(all_versions=True)
    for version in versions:
        assert len(workspace.documents.chunks(version)) == version.chunks > 0
        assert sha256_hex(lake_of(workspace).get(version.sha256)) == version.sha256
        for chunk in workspace.documents.chunks(version):
            assert chunk.chunk_hash.startswith(workspace.documents.anchor(chunk.chunk_hash))
    bytes_of = {(version.id, version.sha256) for version in versions}
    sql = "SELECT DISTINCT document_id, sha256 FROM document_chunks"
    assert {tuple(row.values()) for row in rows(workspace, sql)} == bytes_of


def test_files_are_added_with_what_is_known_of_them(workspace: Workspace, docs: Path) -> None:
    done = workspace.ingest(docs)
    assert outcomes(done) == dict.fromkeys(sorted(POLICIES), "added")
    assert (done.problems, done.left_out) == ((), ())
    assert [document.filename for document in done.documents] == sorted(POLICIES)
    document = next(item for item in done.documents if item.filename == "leave.md")
    assert document.id == document_id("docs", "leave.md")
    assert document.version == document.pages == 1
    assert (document.collection, document.media_type) == ("docs", "text/markdown")
    assert (document.language, document.direction, document.title) == ("en", "ltr", "4. Leave")
    assert lake_of(workspace).get(document.sha256) == LEAVE.encode()
    assert sorted(workspace.documents.list(), key=lambda item: item.filename) == list(
        done.documents
    )
    assert_whole(workspace)


def test_a_second_run_finds_everything_unchanged_and_reads_nothing(
    workspace: Workspace, docs: Path, no_reading: Callable[[], None]
) -> None:
    first = workspace.ingest(docs)
    no_reading()
    again = workspace.ingest(docs)
    assert outcomes(again) == dict.fromkeys(sorted(POLICIES), "unchanged")
    assert again.documents == first.documents
    assert count(workspace, "documents") == 3


def test_a_damaged_file_of_the_lake_is_mended_by_reading_its_document_again(
    workspace: Workspace, docs: Path
) -> None:
    digest = workspace.ingest(docs).documents[0].sha256
    path = kept_file(workspace, digest)
    path.write_bytes(b"damaged")
    assert set(outcomes(workspace.ingest(docs)).values()) == {"unchanged"}
    assert sha256(lake_of(workspace).get(digest)).hexdigest() == digest


def test_other_bytes_under_the_same_name_are_the_next_version(
    workspace: Workspace, leave: Path
) -> None:
    (first,) = workspace.ingest(leave.parent).documents
    leave.write_text(CHANGED)
    done = workspace.ingest(leave.parent)
    (second,) = done.documents
    assert outcomes(done) == {"leave.md": "changed"}
    assert (second.id, second.version) == (first.id, 2)
    assert "20 days" in workspace.documents.chunks(second)[0].text
    assert "15 days" in workspace.documents.chunks(first)[0].text
    old, new = workspace.documents.list(all_versions=True)
    assert (old.version, old.is_newest, new.version, new.is_newest) == (1, False, 2, True)
    assert workspace.documents.list() == [new]
    assert_whole(workspace)


def test_bytes_that_come_back_are_a_new_version_and_are_not_read_again(
    workspace: Workspace, leave: Path, no_reading: Callable[[], None]
) -> None:
    (first,) = workspace.ingest(leave.parent).documents
    leave.write_text(CHANGED)
    workspace.ingest(leave.parent)
    chunks = count(workspace, "document_chunks")
    no_reading()
    leave.write_text(LEAVE)
    done = workspace.ingest(leave.parent)
    (third,) = done.documents
    assert outcomes(done) == {"leave.md": "changed"}
    assert (third.version, third.sha256) == (3, first.sha256)
    assert workspace.documents.chunks(third) == workspace.documents.chunks(first)
    assert count(workspace, "document_chunks") == chunks
    kept = [version.version for version in workspace.documents.list(all_versions=True)]
    assert kept == [1, 2, 3]
    assert outcomes(workspace.ingest(leave.parent)) == {"leave.md": "unchanged"}


def test_the_same_bytes_under_two_names_are_two_documents_and_one_file(
    workspace: Workspace, tmp_path: Path
) -> None:
    docs = write_policies(tmp_path / "docs", {"a.md": LEAVE, "b.md": LEAVE})
    done = workspace.ingest(docs)
    one, two = done.documents
    assert one.id != two.id
    assert one.sha256 == two.sha256
    assert len(lake_files(workspace)) == 1
    assert count(workspace, "citation_anchors") == len(workspace.documents.chunks(one))
    for chunk in workspace.documents.chunks(one):
        found = workspace.documents.resolve(workspace.documents.anchor(chunk.chunk_hash))
        assert {item.document_id for item in found.places} == {one.id, two.id}
    assert_whole(workspace)


def test_tenants_share_no_documents(place: Place, leave: Path) -> None:
    one, other = place.open("one"), place.open("other")
    one.ingest(leave)
    assert other.documents.list() == []
    assert outcomes(other.ingest(leave)) == {"leave.md": "added"}
    assert len(lake_files(other)) == 1


def test_a_folder_given_twice_or_with_its_own_files_is_read_once(
    workspace: Workspace, docs: Path
) -> None:
    (docs / "left.out").write_text("x")
    (docs / "again.md").symlink_to("leave.md")
    done = workspace.ingest(docs, docs, docs / "leave.md", docs / "." / "travel.md")
    assert set(outcomes(done).values()) == {"added"}
    assert len(done.results) == count(workspace, "documents") == 3
    assert done.left_out == (("left.out", "not a kind of document that is read"),)


def test_what_is_left_out_of_each_folder_is_said(sqlite_place: Place, tmp_path: Path) -> None:
    folders = [write_policies(tmp_path / name, {"same.xyz": "x"}) for name in ("one", "two")]
    done = sqlite_place.open().ingest(*folders, folders[0])
    assert done.left_out == (("same.xyz", "not a kind of document that is read"),) * 2


def test_an_empty_folder_is_no_problem(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = workspace.ingest(tmp_path / "empty")
    assert done == Ingestion(())
    assert workspace.ingest() == Ingestion(())


def test_a_folder_that_is_not_there_is_refused(workspace: Workspace, docs: Path) -> None:
    with pytest.raises(NotFoundError, match="gone: no such file or folder"):
        workspace.ingest(docs, docs / "gone")
    assert workspace.documents.list() == []


def test_bad_files_are_problems_and_the_good_ones_go_on(workspace: Workspace, docs: Path) -> None:
    (docs / "a-empty.txt").write_bytes(b"")
    (docs / "b-broken.pdf").write_bytes(b"%PDF-1.7\nnothing else")
    (docs / "z-odd.txt").write_bytes(b"\xff\xfe\xff")
    seen: list[tuple[int, int]] = []
    done = workspace.ingest(docs, progress=lambda *told: seen.append(told))
    assert outcomes(done) == dict.fromkeys(sorted(POLICIES), "added")
    bad = [item.filename for item in done.problems]
    assert bad == ["a-empty.txt", "b-broken.pdf", "z-odd.txt"]
    assert all(item.problem.startswith(f"{item.filename}: ") for item in done.problems)
    assert seen == [(number, 6) for number in range(1, 7)]
    assert_whole(workspace)
    (docs / "b-broken.pdf").write_bytes(pdf_bytes([[Line("Mended.")]]))
    again = workspace.ingest(docs)
    assert outcomes(again)["b-broken.pdf"] == "added"
    assert len(again.problems) == 2


def test_a_file_that_is_too_large_is_a_problem(
    sqlite_place: Place, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evidentia.loading.reading.MAX_BYTES", len(LEAVE) - 1)
    seen: list[tuple[int, int]] = []
    done = sqlite_place.open().ingest(docs, progress=lambda *told: seen.append(told))
    (problem,) = done.problems
    assert problem.filename == "leave.md"
    assert "larger than" in problem.problem
    assert outcomes(done) == {"gifts.md": "added", "travel.md": "added"}
    assert max(seen) == (3, 3)


def test_a_hostile_title_stops_no_database(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    data = pdf_bytes([[Line("Employees receive 15 days.")]], info="/Title (HR\\000'; DROP\\0001)")
    (tmp_path / "docs" / "a.pdf").write_bytes(data)
    (document,) = workspace.ingest(tmp_path / "docs").documents
    assert document.title == "HR '; DROP 1"


def test_progress_reaches_the_total_whatever_becomes_of_the_files(
    workspace: Workspace, docs: Path
) -> None:
    for _ in range(2):
        seen: list[tuple[int, int]] = []
        workspace.ingest(docs, progress=lambda *told, seen=seen: seen.append(told))
        assert seen == [(1, 3), (2, 3), (3, 3)]


def test_processes_that_ingest_the_same_folder_at_once_make_one_version(
    place: Place, docs: Path, tmp_path: Path
) -> None:
    begun = tmp_path / "begun"
    place.open().close()

    def work() -> None:
        workspace = place.open()
        with begun.open("a") as file:
            file.write("x")
        while len(begun.read_text()) < 2:
            time.sleep(0.001)
        done = workspace.ingest(docs)
        assert done.problems == ()
        assert set(outcomes(done).values()) <= {"added", "unchanged"}
        assert len(done.results) == 3
        workspace.close()

    children = [Child(work), Child(work)]
    for child in children:
        child.end()
    workspace = place.open()
    assert [item.version for item in workspace.documents.list(all_versions=True)] == [1, 1, 1]
    assert len(lake_files(workspace)) == 3
    assert_whole(workspace)


def test_a_kill_in_the_middle_leaves_whole_documents_and_a_second_run_completes(
    place: Place, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.open().close()
    (docs / "visits.md").write_text("# Visits\n\nVisitors sign in at the desk.\n")
    heard, tells = os.pipe()
    insert = library.insert_versions
    inserted: list[str] = []

    def hang(*arguments: object) -> None:
        insert(*arguments)  # type: ignore[arg-type]
        if inserted:  # the second group: chunks and versions are inserted, and not yet committed
            os.write(tells, b"x")
            time.sleep(1_000)
        inserted.append("two")

    def work() -> None:
        monkeypatch.setattr(ingesting, "GROUP", 2)
        monkeypatch.setattr(library, "insert_versions", hang)
        place.open().ingest(docs)

    with Child(work) as child:
        os.read(heard, 1)
        child.kill()
    os.close(heard)
    os.close(tells)
    workspace = place.open()
    assert len(workspace.documents.list()) == 2
    assert_whole(workspace)
    done = workspace.ingest(docs)
    assert sorted(outcomes(done).values()) == ["added", "added", "unchanged", "unchanged"]
    assert_whole(workspace)


def test_files_are_recorded_in_groups_with_one_checkpoint_each(
    workspace: Workspace, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingesting, "GROUP", 2)
    for number in range(4):
        (docs / f"note{number}.md").write_text(f"# Note {number}\n\nIt has number {number}.\n")
    done = workspace.ingest(docs)
    assert set(outcomes(done).values()) == {"added"}
    assert count(workspace, "documents") == 7
    assert count(workspace, "trail_checkpoints") == 4
    assert workspace.audit().holds
    assert_whole(workspace)


def test_two_files_of_one_name_in_a_group_are_two_versions(
    workspace: Workspace, tmp_path: Path
) -> None:
    folders = [tmp_path / name / "docs" for name in ("one", "other")]
    for folder, text in zip(folders, (LEAVE, CHANGED), strict=True):
        folder.mkdir(parents=True)
        (folder / "leave.md").write_text(text)
    done = workspace.ingest(*folders)
    assert [(one.document.version, one.outcome) for one in done.results] == [
        (1, "added"),
        (2, "changed"),
    ]
    assert workspace.audit().holds


def test_one_that_cannot_be_recorded_does_not_undo_the_ones_before_it(
    workspace: Workspace, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    insert = library.insert_versions

    def refuse(connection: Connection, tenant: str, documents: list[StoredDocument]) -> None:
        if any(document.filename == "leave.md" for document in documents):
            raise IntegrityError("leave.md: refused")
        insert(connection, tenant, documents)

    monkeypatch.setattr(library, "insert_versions", refuse)
    with pytest.raises(IntegrityError, match=r"leave\.md: refused"):
        workspace.ingest(docs)
    before = [name for name in sorted(POLICIES) if name < "leave.md"]
    assert before
    assert [one.filename for one in workspace.documents.list()] == before
    assert_whole(workspace)


def test_a_version_that_someone_else_stored_meanwhile_is_taken(
    place: Place, leave: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, theirs = place.open(), place.open()

    def slowly(*arguments: object, **named: object) -> object:
        for answer in read_files(*arguments, **named):  # type: ignore[arg-type]
            with monkeypatch.context() as patched:
                patched.setattr(ingesting, "read_files", read_files)
                theirs.ingest(leave)
            yield answer

    monkeypatch.setattr(ingesting, "read_files", slowly)
    assert outcomes(mine.ingest(leave)) == {"leave.md": "unchanged"}
    assert count(mine, "documents") == 1
    assert_whole(mine)


# Readers that changed


def read_by(monkeypatch: pytest.MonkeyPatch, version: int, *, drops: str = "") -> None:
    """Have files read by readers of a version, which may leave words out that others read."""

    def read_otherwise(
        asked: Iterable[Asked], *, count: int, apart: None
    ) -> Iterator[ReadFile | InputError]:
        for answer in read_files(asked, count=count, apart=apart):
            if isinstance(answer, ReadFile):
                kept = [one for one in answer.chunks if not drops or drops not in one.text]
                chunks = tuple(replace(one, index=place) for place, one in enumerate(kept))
                answer = replace(answer, reader=version, chunks=chunks)  # noqa: PLW2901 - as it is read now
            yield answer

    monkeypatch.setattr(ingesting, "READER_VERSION", version)
    monkeypatch.setattr(ingesting, "read_files", read_otherwise)


def test_a_newer_reader_reads_the_same_bytes_anew_and_other_passages_are_a_version(
    workspace: Workspace, leave: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave.write_text(f"{LEAVE}\n# Draft\n\nThis is a draft of the works council.\n")
    (first,) = workspace.ingest(leave).documents
    assert first.reader == READER_VERSION
    chunks = workspace.documents.chunks(first)
    read_by(monkeypatch, READER_VERSION + 1, drops="draft")
    done = workspace.ingest(leave)
    (second,) = done.documents
    assert outcomes(done) == {"leave.md": "changed"}
    assert (second.version, second.sha256) == (2, first.sha256)
    assert second.reader == READER_VERSION + 1
    assert len(workspace.documents.chunks(second)) < len(chunks)
    assert workspace.documents.chunks(first) == chunks
    assert outcomes(workspace.ingest(leave)) == {"leave.md": "unchanged"}
    entry = workspace.trail.entries(kind=EntryKind.DOCUMENT)[-1]
    assert entry.body["reader"] == READER_VERSION + 1
    found = workspace.check("This is a draft of the works council.", judges=("quote",))
    assert found.session.document_count == 2
    assert workspace.audit().holds


def test_a_newer_reader_that_reads_the_same_makes_no_version_and_is_not_asked_again(
    workspace: Workspace,
    leave: Path,
    monkeypatch: pytest.MonkeyPatch,
    no_reading: Callable[[], None],
) -> None:
    (first,) = workspace.ingest(leave).documents
    read_by(monkeypatch, READER_VERSION + 1)
    assert outcomes(workspace.ingest(leave)) == {"leave.md": "unchanged"}
    no_reading()
    assert outcomes(workspace.ingest(leave)) == {"leave.md": "unchanged"}
    assert workspace.documents.list(all_versions=True) == [first]

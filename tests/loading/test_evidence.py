"""What is loaded for a bundle from real files and databases, in which order, or why not."""

import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest
from sqlalchemy import create_engine

from evidentia.bundles.candidates import Candidate
from evidentia.bundles.policy import EvidencePolicy
from evidentia.bundles.references import read_references
from evidentia.canonical import derived_id, sha256_hex
from evidentia.errors import EnvironmentProblem, EvidentiaError, InputError, NotFoundError
from evidentia.loading.evidence import EvidenceLoader, LibraryDocument
from evidentia.loading.originals import Originals
from evidentia.store.lake import FileLake
from postgres import PostgresServer

ROWS = [{"id": number, "name": f"name {number}"} for number in range(7)]
RESPONSE = {
    "status": 200,
    "headers": {"Content-Type": "text/plain", "Authorization": "Bearer hunter2hunter2"},
    "body": "Luke is a Jedi.",
    "url": "https://example.com/luke",
    "method": "GET",
    "fetched_at": "2026-01-02T03:04:05Z",
}
CALL = {
    "segments": [
        {"speaker": "Alice", "start": 62, "end": 65.5, "text": "Hello there."},
        {"speaker": "Bob", "start": 66, "end": 67, "text": "Hi."},
    ]
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Give a lake with a file of every kind."""
    folder = tmp_path / "lake"
    files = {
        "docs/bio.md": "# Luke\n\nLuke is a Jedi.\n",
        "docs/notes.txt": "Notes.",
        "http/luke.json": json.dumps(RESPONSE),
        "calls/first.json": json.dumps(CALL),
        "calls/second.txt": "Carol: Good day.",
        "results/facts.json": json.dumps(ROWS),
        "results/facts.ndjson": "".join(json.dumps(row) + "\n" for row in ROWS),
        "results/facts.csv": "id,name\n" + "".join(f"{row['id']},{row['name']}\n" for row in ROWS),
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    duckdb.connect().execute(
        f"COPY (SELECT * FROM read_csv('{folder}/results/facts.csv')) "
        f"TO '{folder}/results/facts.parquet' (FORMAT parquet)"
    )
    with closing(sqlite3.connect(folder / "crm.db")) as connection, connection:
        connection.execute("CREATE TABLE facts (id INTEGER, name TEXT)")
        connection.executemany("INSERT INTO facts VALUES (:id, :name)", ROWS)
    return folder


Load = Callable[..., list[Candidate]]


@pytest.fixture
def load(root: Path, tmp_path: Path) -> Load:
    """Load references from the lake."""

    def call(
        refs: Mapping[str, Any],
        job: Mapping[str, Any] | None = None,
        policy: EvidencePolicy | None = None,
        progress: Callable[[int, int], None] | None = None,
        **options: Any,
    ) -> list[Candidate]:
        loader = EvidenceLoader(
            Originals(root), FileLake(tmp_path / "kept"), policy or EvidencePolicy(), **options
        )
        return loader.load(read_references(job, refs), progress)

    return call


def kept_files(tmp_path: Path) -> list[Path]:
    return sorted(path for path in (tmp_path / "kept").rglob("*") if path.is_file())


def digest(path: Path) -> str:
    return sha256_hex(path.read_bytes())


# What is loaded


def test_a_text_is_loaded_as_it_is(load: Load, root: Path) -> None:
    (one,) = load({"lake_text": ["docs/bio.md"]})
    assert one.content == "# Luke\n\nLuke is a Jedi.\n"
    assert one.source_ref == {"lake_uri": "docs/bio.md", "sha256": digest(root / "docs/bio.md")}
    assert (one.digest, one.part) == (digest(root / "docs/bio.md"), "0")
    assert one.original == {**one.source_ref, "byte_count": 24}


def test_a_response_is_loaded_without_its_secrets(load: Load, tmp_path: Path) -> None:
    (one,) = load({"lake_http": ["http/luke.json"]})
    assert one.content.startswith("GET https://example.com/luke\nHTTP 200\n")
    assert one.content.endswith("\n\nLuke is a Jedi.")
    assert "hunter2" not in one.content
    assert one.metadata == {
        "status": 200,
        "url": "https://example.com/luke",
        "method": "GET",
        "fetched_at": "2026-01-02T03:04:05Z",
        "redacted_headers": ["Authorization"],
    }
    assert not kept_files(tmp_path)


@pytest.mark.parametrize("form", ["json", "ndjson", "csv", "parquet"])
def test_a_result_is_the_same_in_every_form(load: Load, root: Path, form: str) -> None:
    lake_uri = f"results/facts.{form}"
    (one,) = load(
        {"sql_results": [{"lake_uri": lake_uri, "query_key": "facts"}]},
        policy=EvidencePolicy(max_sql_rows=2, max_sql_cols=1),
    )
    assert one.table is not None
    assert (one.table.columns, one.table.left_out_columns) == (("id",), ("name",))
    assert (one.table.rows, one.table.row_numbers) == ((("0",), ("6",)), (0, 6))
    assert one.original == {
        "lake_uri": lake_uri,
        "sha256": digest(root / lake_uri),
        "byte_count": (root / lake_uri).stat().st_size,
        "row_count": 7,
        "col_count": 2,
    }
    assert one.digest == sha256_hex(b"facts")


def test_a_results_rows_and_form_can_be_named(load: Load, root: Path) -> None:
    (root / "results" / "plain").write_bytes((root / "results/facts.ndjson").read_bytes())
    refs = [{"lake_uri": "results/plain", "query_key": "q", "form": "jsonl", "rows": [2, 4]}]
    (one,) = load({"sql_results": refs})
    assert one.table is not None
    assert one.table.row_numbers == (2, 3)


def test_live_sql_is_run_and_its_result_kept(load: Load, root: Path, tmp_path: Path) -> None:
    refs = [
        {
            "sql": "SELECT * FROM facts WHERE id < :limit ORDER BY id",
            "parameters": {"limit": 3},
            "query_key": "few",
            "connection": "crm",
        }
    ]
    engine = create_engine(f"sqlite:///{root}/crm.db")
    for source in (f"sqlite:///{root}/crm.db", engine):
        (one,) = load({"sql_results": refs}, connections={"crm": source})
        assert one.table is not None
        assert one.table.rows == (("0", "name 0"), ("1", "name 1"), ("2", "name 2"))
        (kept,) = kept_files(tmp_path)
        assert [json.loads(line) for line in kept.read_bytes().splitlines()] == ROWS[:3]
        assert one.original is not None
        assert one.original["lake_uri"] == f"sha256/{kept.name[:2]}/{kept.name[2:4]}/{kept.name}"
        assert one.original["sha256"] == kept.name == digest(kept)
        assert one.source_ref["sql"] == refs[0]["sql"]
        assert one.source_ref["connection"] == "crm"
    engine.dispose()


def test_live_sql_without_parameters_is_run_as_it_is(load: Load, root: Path) -> None:
    refs = [{"sql": "SELECT ' :id 100%' AS a", "query_key": "q", "connection": "crm"}]
    (one,) = load({"sql_results": refs}, connections={"crm": f"sqlite:///{root}/crm.db"})
    assert one.table is not None
    assert one.table.rows == ((" :id 100%",),)


def test_live_sql_runs_on_a_server(load: Load, postgres: PostgresServer) -> None:
    sql = "SELECT n, n * 1.5 AS half FROM generate_series(1, 5) AS n ORDER BY n"
    refs = [{"sql": sql, "query_key": "series", "connection": "server"}]
    with postgres.fresh_database() as url:
        (one,) = load({"sql_results": refs}, connections={"server": url})
    assert one.table is not None
    assert one.table.columns == ("n", "half")
    assert one.table.rows[-1] == ("5", "7.5")


def test_a_live_results_source_says_all_that_it_was_asked_with(load: Load, root: Path) -> None:
    sql = "SELECT name FROM facts WHERE id = :id"
    ref = {"sql": sql, "parameters": {"id": 3}, "query_key": "q", "connection": "crm"}
    files = {"facts": "results/facts.csv"}
    over = {"sql": "SELECT max(id) FROM facts", "query_key": "r", "files": files}
    one, other = load({"sql_results": [ref, over]}, connections={"crm": f"sqlite:///{root}/crm.db"})
    assert one.source_ref["parameters"] == {"id": 3}
    assert other.source_ref["files"] == files


@pytest.mark.parametrize(
    "given",
    [
        {"sql": "SELECT 1 AS a", "files": {"f": "results/facts.csv"}, "parameters": {"id": 3}},
        {"lake_uri": "results/facts.csv", "parameters": {"id": 3}},
        {"sql": "SELECT 1 AS a", "connection": "crm", "form": "csv"},
    ],
)
def test_what_does_not_apply_to_a_result_is_refused(
    load: Load, root: Path, given: dict[str, Any]
) -> None:
    with pytest.raises(InputError, match=r"evidence_refs.sql_results\[0\]"):
        load(
            {"sql_results": [{**given, "query_key": "q"}]},
            connections={"crm": f"sqlite:///{root}/crm.db"},
        )


def test_duckdb_runs_over_files_of_the_lake(load: Load, tmp_path: Path) -> None:
    sql = "SELECT c.name, p.id FROM c JOIN p USING (id) WHERE id > 4 ORDER BY id"
    files = {"c": "results/facts.csv", "p": "results/facts.parquet"}
    (one,) = load({"sql_results": [{"sql": sql, "query_key": "joined", "files": files}]})
    assert one.table is not None
    assert one.table.rows == (("name 5", "5"), ("name 6", "6"))
    assert one.source_ref["connection"] == "duckdb"
    assert len(kept_files(tmp_path)) == 1


def test_a_querys_definition_is_shown(load: Load) -> None:
    described = {"query_key": "few", "sql": " SELECT 1 ", "description": "The few"}
    one, other = load({"sql_queries": [described, "SELECT 2"]})
    assert one.content == "Query few\nThe few\nSELECT 1"
    assert (one.digest, one.part) == (sha256_hex(b"few"), "")
    assert other.content == "Query SELECT 2\nSELECT 2"


def test_a_transcript_says_who_speaks_and_when(load: Load) -> None:
    first, second = load(
        {
            "transcripts": [
                {"lake_uri": "calls/first.json", "transcript_id": "call-1"},
                "calls/second.txt",
            ]
        }
    )
    assert first.source_ref["transcript_id"] == "call-1"
    assert first.metadata["chunk"]["speakers"] == ["Alice", "Bob"]
    assert (first.metadata["chunk"]["start"], first.metadata["chunk"]["end"]) == (
        "00:01:02.000",
        "00:01:07.000",
    )
    assert first.digest == sha256_hex(b"call-1")
    assert second.digest == sha256_hex(b"calls/second.txt")
    assert second.metadata["chunk"]["speakers"] == ["Carol"]


def test_documents_are_cut_as_the_policy_says(load: Load) -> None:
    found = load(
        {"documents": [{"folder": "docs", "pattern": "*.md"}, "docs/notes.txt"]},
        policy=EvidencePolicy(chunk_size=12, chunk_overlap=0),
    )
    assert all(len(one.content.encode()) <= 12 for one in found)
    assert [one.source_ref["filename"] for one in found][-1] == "notes.txt"
    bio = [one for one in found if one.source_ref["filename"] == "bio.md"]
    assert [one.part for one in bio] == [str(index) for index in range(len(bio))]
    assert {one.metadata["chunk"]["count"] for one in bio} == {len(bio)}
    assert {one.digest for one in bio} == {sha256_hex(derived_id("doc", "docs/bio.md").encode())}


def test_a_document_of_the_library_is_read_from_where_the_lake_keeps_it(
    load: Load, tmp_path: Path
) -> None:
    kept = FileLake(tmp_path / "kept").put(b"# Kept\n\nIn the library.\n")

    def find(name: str) -> LibraryDocument:
        return LibraryDocument(name, "kept.md", kept)

    (one,) = load({"documents": [{"document_id": "doc-7"}]}, find_document=find)
    assert one.source_ref == {
        "document_id": "doc-7",
        "filename": "kept.md",
        "lake_uri": f"sha256/{kept[:2]}/{kept[2:4]}/{kept}",
        "sha256": kept,
    }
    assert "In the library." in one.content


# In which order


def test_inputs_come_in_one_order_whatever_the_order_of_the_keys(load: Load, root: Path) -> None:
    refs = {
        "transcripts": ["calls/first.json"],
        "documents": ["docs/bio.md"],
        "sql_queries": ["SELECT 1"],
        "sql_results": ["results/facts.csv", "results/facts.json"],
        "lake_http": ["http/luke.json"],
        "lake_text": [{"folder": "docs"}, "docs/bio.md"],
    }
    job = {"extra_params": {"evidence": ["one", {"text": "two"}]}}
    found = load(refs, job)
    assert [(one.evidence_type.value, one.origin.rpartition(".")[2]) for one in found] == [
        ("inline_text", "evidence[0]"),
        ("inline_text", "evidence[1]"),
        ("lake_text", "lake_text[0]"),
        ("lake_text", "lake_text[0]"),
        ("lake_text", "lake_text[1]"),
        ("lake_http", "lake_http[0]"),
        ("sql_result", "sql_results[0]"),
        ("sql_result", "sql_results[1]"),
        ("sql_query_def", "sql_queries[0]"),
        ("doc_chunk", "documents[0]"),
        ("transcript_chunk", "transcripts[0]"),
    ]
    assert load(dict(reversed(refs.items())), job) == found


def test_progress_counts_every_file_of_a_folder(load: Load) -> None:
    told: list[tuple[int, int]] = []
    job = {"extra_params": {"evidence": ["one"]}}
    load({"lake_text": [{"folder": "docs"}]}, job, progress=lambda *done: told.append(done))
    assert told == [(1, 3), (2, 3), (3, 3)]


# Or why not

BROKEN: list[tuple[str, Any, str]] = [
    ("lake_text", "docs/none.md", "docs/none.md is not in the lake"),
    ("lake_text", {"folder": "none"}, "there is no folder none in the lake"),
    ("lake_text", "crm.db", "crm.db"),
    ("lake_http", "docs/bio.md", "docs/bio.md"),
    ("sql_results", "results/none.json", "results/none.json is not in the lake"),
    ("sql_results", "docs/bio.md", "its form is unknown: give one of"),
    ("sql_results", {"lake_uri": "docs/bio.md", "query_key": "q", "form": "json"}, ""),
    (
        "sql_results",
        {"sql": "SELECT 1", "query_key": "q", "connection": "none"},
        "there is no connection 'none' (crm)",
    ),
    (
        "sql_results",
        {"sql": "SELECT x FROM nowhere", "query_key": "q", "connection": "crm"},
        "the query failed: no such table: nowhere",
    ),
    (
        "sql_results",
        {"sql": "DELETE FROM facts", "query_key": "q", "connection": "crm"},
        "",
    ),
    (
        "sql_results",
        {"sql": "SELECT * FROM a", "query_key": "q", "files": {"a": "../a.csv"}},
        "leaves the lake",
    ),
    ("documents", "docs/none.md", "docs/none.md is not in the lake"),
    ("documents", "crm.db", "crm.db"),
    ("documents", {"folder": "docs", "pattern": "*.pdf"}, "no file in docs fits"),
    ("documents", {"document_id": "doc-1"}, "without a workspace, give lake_uri"),
    ("transcripts", "calls/none.txt", "calls/none.txt is not in the lake"),
    ("transcripts", "crm.db", "crm.db"),
]


@pytest.mark.parametrize(("key", "given", "says"), BROKEN)
def test_what_cannot_be_loaded_is_named_by_its_place_in_the_job(
    load: Load, root: Path, key: str, given: Any, says: str
) -> None:
    with pytest.raises(InputError) as refused:
        load({key: [given]}, connections={"crm": f"sqlite:///{root}/crm.db"})
    message = str(refused.value)
    assert f"evidence_refs.{key}[0]" in message
    assert says in message
    assert "\n" not in message


@pytest.mark.parametrize(("key", "given", "says"), BROKEN)
def test_what_cannot_be_loaded_can_be_recorded_in_its_place(
    load: Load, root: Path, key: str, given: Any, says: str
) -> None:
    refs = {key: [given], "lake_text": [*([given] if key == "lake_text" else []), "docs/bio.md"]}
    found = load(refs, connections={"crm": f"sqlite:///{root}/crm.db"}, on_error="record")
    assert sorted(one.error is None for one in found) == [False, True]
    (failed,) = [one for one in found if one.error is not None]
    assert says in str(failed.error)
    assert failed.origin == f"evidence_refs.{key}[0]"
    assert failed.content == (
        f"[{failed.evidence_type.value} {failed.source_ref['locator']} could not be loaded]"
    )
    again = load(refs, connections={"crm": f"sqlite:///{root}/crm.db"}, on_error="record")
    assert again == found


def test_an_unknown_document_is_named_by_its_place_in_the_job(load: Load) -> None:
    def find(name: str) -> LibraryDocument:
        raise NotFoundError(f"the library has no document {name!r}")

    with pytest.raises(EvidentiaError, match=r"^evidence_refs.documents\[0\]: the library has no"):
        load({"documents": [{"document_id": "doc-1"}]}, find_document=find)


def test_a_database_that_cannot_be_reached_is_no_mistake_of_the_job(load: Load) -> None:
    refs = {"sql_results": [{"sql": "SELECT 1", "query_key": "q", "connection": "crm"}]}
    url = "postgresql://someone:hunter2@127.0.0.1:1/none"
    with pytest.raises(EnvironmentProblem, match=r"sql_results\[0\]: .* cannot be reached") as no:
        load(refs, connections={"crm": url})
    assert "hunter2" not in str(no.value)


def test_without_connections_the_message_says_that_none_were_given(load: Load) -> None:
    refs = {"sql_results": [{"sql": "SELECT 1", "query_key": "q", "connection": "crm"}]}
    with pytest.raises(InputError, match=r"no connection 'crm' \(none were given\)"):
        load(refs)


def test_text_that_is_none_fails_or_is_recorded(load: Load) -> None:
    job = {"extra_params": {"evidence": ["fine", "\ud800", "fine too"]}}
    with pytest.raises(InputError, match=r"job_input.extra_params.evidence\[1\]: the text is not"):
        load({}, job)
    found = load({}, job, on_error="record")
    assert [one.error is None for one in found] == [True, False, True]
    assert [one.part for one in found] == ["0", "1", "2"]


def test_one_bad_file_of_a_folder_is_recorded_alone(load: Load, root: Path) -> None:
    (root / "docs" / "broken.pdf").write_bytes(b"%PDF-1.7 and nothing else")
    refs = {"documents": [{"folder": "docs"}]}
    with pytest.raises(InputError, match=r"evidence_refs.documents\[0\]: broken.pdf"):
        load(refs)
    found = load(refs, on_error="record")
    assert [one.source_ref.get("filename") for one in found] == ["bio.md", None, "notes.txt"]
    assert found[1].source_ref == {"locator": "docs/broken.pdf"}
    assert "broken.pdf" in str(found[1].error)


@pytest.mark.parametrize("key", ["lake_text", "documents", "transcripts"])
def test_an_empty_file_is_not_silently_missing(load: Load, root: Path, key: str) -> None:
    (root / "empty.txt").write_bytes(b"")
    try:
        found = load({key: ["empty.txt"]})
    except InputError as error:
        assert f"evidence_refs.{key}[0]" in str(error)  # noqa: PT017 - either is right
    else:
        assert len(found) == 1

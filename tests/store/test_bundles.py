"""What a bundle leaves in the database: rows that follow from it, and can be searched."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from evidentia.bundles.model import EvidenceBundle
from evidentia.bundles.policy import EvidencePolicy
from evidentia.canonical import sha256_hex
from evidentia.errors import EvidentiaError, IntegrityError, NotFoundError
from evidentia.store.database import insert_rows, run
from evidentia.workspace import Workspace
from places import Place, kept_file
from workspace.policies import LEAVE, count, rows, write_policies

TABLES = ("llm.run_evidence", "llm.evidence_item", "llm.evidence_bundle")
TEXT = "A text of the lake. " * 20


def job(*texts: Any) -> dict[str, Any]:
    return {"extra_params": {"evidence": list(texts)}}


@pytest.fixture
def lake_root(tmp_path: Path) -> Path:
    folder = tmp_path / "originals"
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "a.md").write_text(TEXT)
    return folder


@pytest.fixture
def bundle(workspace: Workspace, lake_root: Path) -> EvidenceBundle:
    """Build a bundle with a kept, a cut and a dropped input."""
    return workspace.bundle(
        job("kept", {"text": "dropped", "priority": -1}),
        {"lake_text": ["docs/a.md"]},
        EvidencePolicy(max_items=2, max_item_bytes=30),
        lake_root=lake_root,
    )


# Rows


def test_every_value_of_a_bundle_has_its_row(
    workspace: Workspace, bundle: EvidenceBundle, lake_root: Path
) -> None:
    (row,) = rows(workspace, "SELECT * FROM llm.evidence_bundle")
    assert json.loads(row.pop("summary")) == bundle.as_json()["summary"]
    assert json.loads(row.pop("policy")) == bundle.as_json()["policy"]
    dropped = bundle.summary.bundle_bounding.dropped_ref
    assert dropped is not None
    logged = workspace.trail.entry(0)
    assert row == {
        "tenant": "default",
        "bundle_id": bundle.bundle_id,
        "bundle_sha256": bundle.bundle_sha256,
        "created_utc": bundle.created_utc,
        "build_version": bundle.build_version,
        "lake_uri": bundle.lake_uri,
        "lake_root": str(lake_root),
        "dropped_sha256": dropped["sha256"],
        "statement_sha256": logged.body["statement_sha256"],
        "trail_seq": 0,
    }


def test_every_item_has_a_row_and_dropped_text_of_the_job_has_none(
    workspace: Workspace, bundle: EvidenceBundle
) -> None:
    kept, cut = rows(workspace, "SELECT * FROM llm.evidence_item ORDER BY item_index")
    assert kept == {
        "tenant": "default",
        "bundle_id": bundle.bundle_id,
        "evidence_id": "inline:0",
        "item_index": 0,
        "evidence_type": "inline_text",
        "origin": "job_input.extra_params.evidence[0]",
        "outcome": "kept",
        "reason": "",
        "input_bytes": 4,
        "byte_count": 4,
        "content_sha256": sha256_hex(b"kept"),
        "artifact_sha256": None,
        "artifact_uri": None,
    }
    assert cut == {
        "tenant": "default",
        "bundle_id": bundle.bundle_id,
        "evidence_id": bundle.items[1].evidence_id,
        "item_index": 2,
        "evidence_type": "lake_text",
        "origin": "evidence_refs.lake_text[0]",
        "outcome": "truncated",
        "reason": "truncated: max_item_bytes: 30",
        "input_bytes": len(TEXT),
        "byte_count": 30,
        "content_sha256": sha256_hex(TEXT[:30].encode()),
        "artifact_sha256": sha256_hex(TEXT.encode()),
        "artifact_uri": "docs/a.md",
    }


def test_a_dropped_file_has_a_row_and_was_not_seen(workspace: Workspace, lake_root: Path) -> None:
    refs = {"lake_text": [{"lake_uri": "docs/a.md", "priority": -1}]}
    bundle = workspace.bundle(job("kept"), refs, EvidencePolicy(max_items=1), lake_root=lake_root)
    workspace.bundles.record_run("run-1", bundle.bundle_id)
    kept, dropped = workspace.bundles.items("latest")
    assert (kept.evidence_id, kept.outcome) == ("inline:0", "kept")
    assert (dropped.outcome, dropped.reason) == ("dropped", "dropped: max_items: 1")
    assert (dropped.byte_count, dropped.artifact_uri) == (0, "docs/a.md")
    assert dropped.artifact_sha256 == sha256_hex(TEXT.encode())
    (row,) = rows(workspace, "SELECT * FROM llm.evidence_item WHERE outcome = 'dropped'")
    assert row["content_sha256"] is None
    assert workspace.bundles.runs_of_artifact("docs/a.md") == []


def test_dropped_results_and_documents_have_rows_with_their_artifact(
    workspace: Workspace, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(tmp_path / "crm.db")) as connection, connection:
        connection.execute("CREATE TABLE t (name TEXT)")
    live = {"query_key": "t", "sql": "SELECT * FROM t", "connection": "crm"}
    workspace.ingest(write_policies(tmp_path / "policies", {"leave.md": LEAVE}))
    (known,) = workspace.documents.list()
    refs = {"documents": [{"document_id": known.id}], "sql_results": [live]}
    bundle = workspace.bundle(
        job("dropped"),
        refs,
        EvidencePolicy(max_items=0),
        connections={"crm": f"sqlite:///{tmp_path}/crm.db"},
    )
    found = workspace.bundles.items(bundle.bundle_id)
    decisions = [one for one in bundle.accounting.decisions if one.artifact_uri is not None]
    assert [(one.evidence_id, one.artifact_uri, one.artifact_sha256) for one in found] == [
        (one.evidence_id, one.artifact_uri, one.artifact_sha256) for one in decisions
    ]
    assert {one.evidence_type for one in found} == {"doc_chunk", "sql_result"}
    assert {(one.outcome, one.byte_count) for one in found} == {("dropped", 0)}
    for one in found:
        digest = one.artifact_sha256
        assert digest is not None
        assert one.artifact_uri == f"sha256/{digest[:2]}/{digest[2:4]}/{digest}"
        assert kept_file(workspace, digest).exists()
    assert known.sha256 in {one.artifact_sha256 for one in found}


def test_items_are_given_back_in_their_order(workspace: Workspace, bundle: EvidenceBundle) -> None:
    found = workspace.bundles.items(bundle.bundle_id[:8])
    assert [one.evidence_id for one in found] == [item.evidence_id for item in bundle.items]
    assert found[1].as_json() == {
        "bundle_id": bundle.bundle_id,
        "evidence_id": bundle.items[1].evidence_id,
        "evidence_type": "lake_text",
        "origin": "evidence_refs.lake_text[0]",
        "outcome": "truncated",
        "reason": "truncated: max_item_bytes: 30",
        "input_bytes": len(TEXT),
        "byte_count": 30,
        "artifact_sha256": sha256_hex(TEXT.encode()),
        "artifact_uri": "docs/a.md",
    }


def test_a_bundle_without_items_has_a_row_all_the_same(workspace: Workspace) -> None:
    bundle = workspace.bundle()
    assert workspace.bundles.items("latest") == []
    assert workspace.bundles.find("latest").bundle_id == bundle.bundle_id


def test_text_that_the_database_cannot_hold_is_stored_all_the_same(workspace: Workspace) -> None:
    given = {
        "text": "a\0b",
        "lake_uri": "odd\0name",
        "sha256": "\0",
        "source_uri": "漢\U0001f600\0",
    }
    bundle = workspace.bundle(job(given))
    (item,) = workspace.bundles.items(bundle.bundle_id)
    assert item.byte_count == 3
    assert workspace.bundles.get(bundle.bundle_id).items[0].content == "a\0b"


@pytest.mark.as_owner
def test_rows_cannot_be_changed_or_removed(workspace: Workspace, bundle: EvidenceBundle) -> None:
    workspace.bundles.record_run("run-1", bundle.bundle_id)
    for table in TABLES:
        before = rows(workspace, f"SELECT * FROM {table}")
        assert before
        for sql in (f"DELETE FROM {table}", f"UPDATE {table} SET bundle_id = 'other'"):
            with (
                pytest.raises(IntegrityError, match=r"append-only"),
                workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection,
            ):
                run(
                    connection,
                    sql.replace("llm.", "") if workspace.opened.database.is_sqlite else sql,
                )
        assert rows(workspace, f"SELECT * FROM {table}") == before


@pytest.mark.parametrize("table", TABLES[:2])
def test_rows_need_their_bundle(workspace: Workspace, bundle: EvidenceBundle, table: str) -> None:
    workspace.bundles.record_run("run-1", bundle.bundle_id)
    row = rows(workspace, f"SELECT * FROM {table}")[0] | {"bundle_id": "another"}
    with (
        pytest.raises(EvidentiaError),
        workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection,
    ):
        insert_rows(connection, table, tuple(row), [tuple(row.values())])
    assert count(workspace, table) == len(bundle.items) // (2 if "run" in table else 1)


# Finding


def test_a_bundle_is_found_by_its_id_its_beginning_and_the_word_latest(
    workspace: Workspace,
) -> None:
    with pytest.raises(NotFoundError, match="there is no bundle latest"):
        workspace.bundles.find("latest")
    first, second = (workspace.bundle(job(text)) for text in ("one", "two"))
    for name in (
        first.bundle_id,
        first.bundle_id.upper(),
        first.bundle_id[:8],
        first.bundle_id[:20],
    ):
        assert workspace.bundles.find(name).bundle_id == first.bundle_id
    assert workspace.bundles.find("latest").bundle_id == second.bundle_id
    assert workspace.bundles.find("latest~0").bundle_id == second.bundle_id
    assert workspace.bundles.find("latest~1").bundle_id == first.bundle_id
    for name in ("latest~2", "latest~", "latest~-1", "latest~9999999", "latest~٣"):
        with pytest.raises(NotFoundError):
            workspace.bundles.find(name)
    with pytest.raises(NotFoundError):
        workspace.bundles.find(first.bundle_id[:7])


def test_a_beginning_that_several_ids_have_is_not_enough(
    workspace: Workspace, bundle: EvidenceBundle
) -> None:
    (row,) = rows(workspace, "SELECT * FROM llm.evidence_bundle")
    like = bundle.bundle_id[:24] + "0" * 12
    row |= {"bundle_id": like, "trail_seq": 99}
    with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
        insert_rows(connection, "llm.evidence_bundle", tuple(row), [tuple(row.values())])
    for length in (8, 13, 24):
        with pytest.raises(
            NotFoundError, match=r"several bundles begin with .*: give more of the id"
        ):
            workspace.bundles.find(like[:length])
    assert workspace.bundles.find(like).entry == 99
    assert workspace.bundles.find(bundle.bundle_id[:25]).bundle_id == bundle.bundle_id


@pytest.mark.parametrize(
    "name",
    ["", "0", "%", "________", "%%%%%%%%%", "' OR ''='", "x" * 10_000, "漢" * 8, "LATEST"],
)
def test_a_bundle_that_is_not_there_is_not_found(
    workspace: Workspace, bundle: EvidenceBundle, name: str
) -> None:
    with pytest.raises(NotFoundError, match=r"there is no bundle .* 'evidentia bundle list'") as no:
        workspace.bundles.find(name)
    assert len(str(no.value)) < 600
    assert workspace.bundles.of_run(name) == []
    with pytest.raises(NotFoundError, match="no bundle has anything of"):
        workspace.bundles.runs_of_artifact(name)


def test_a_name_that_the_database_cannot_hold_is_not_found(
    workspace: Workspace, bundle: EvidenceBundle
) -> None:
    for name in ("\ud800" * 9, "\0" * 9, "latest\0", bundle.bundle_id + "\0"):
        for ask in (
            workspace.bundles.find,
            workspace.bundles.get,
            workspace.bundles.runs,
            workspace.bundles.runs_of_artifact,
            workspace.bundles.of_run,
        ):
            with pytest.raises(NotFoundError, match="there is no") as refused:
                ask(name)
            assert str(refused.value).isascii()


def test_bundles_are_listed_newest_first_and_in_pages(workspace: Workspace) -> None:
    assert workspace.bundles.list() == []
    ids = [workspace.bundle(job(f"text {number}")).bundle_id for number in range(5)]
    newest = list(reversed(ids))
    assert [one.bundle_id for one in workspace.bundles.list()] == newest
    first = workspace.bundles.list(limit=2)
    assert [one.bundle_id for one in first] == newest[:2]
    rest = workspace.bundles.list(before=first[-1].entry)
    assert [one.bundle_id for one in rest] == newest[2:]
    assert workspace.bundles.list(before=0) == workspace.bundles.list(limit=0) == []
    assert workspace.bundles.list(before=rest[0].entry, limit=1) == rest[1:2]


def test_a_listed_bundle_says_what_and_where_it_is(
    workspace: Workspace, bundle: EvidenceBundle, lake_root: Path
) -> None:
    (listed,) = workspace.bundles.list()
    assert listed.as_json() == {
        "bundle_id": bundle.bundle_id,
        "bundle_sha256": bundle.bundle_sha256,
        "created_utc": bundle.created_utc,
        "summary": bundle.as_json()["summary"],
        "lake_uri": bundle.lake_uri,
        "lake_root": str(lake_root),
        "statement_sha256": listed.statement_sha256,
        "entry": 0,
    }


# Runs


def test_runs_are_found_by_what_their_model_saw(
    workspace: Workspace, bundle: EvidenceBundle, lake_root: Path
) -> None:
    other = workspace.bundle(job("kept", "something else"))
    for run_id, used in (("b", bundle), ("a", bundle), ("b", other), ("c", other)):
        workspace.bundles.record_run(run_id, used.bundle_id)
    assert workspace.bundles.runs(bundle.bundle_id) == ["b", "a"]
    assert workspace.bundles.runs("latest") == ["b", "c"]
    assert [one.bundle_id for one in workspace.bundles.of_run("b")] == [
        bundle.bundle_id,
        other.bundle_id,
    ]
    assert workspace.bundles.of_run("d") == []
    for name in ("docs/a.md", sha256_hex(TEXT.encode()), sha256_hex(TEXT[:30].encode())):
        assert workspace.bundles.runs_of_artifact(name) == ["b", "a"]
    assert workspace.bundles.runs_of_artifact(sha256_hex(b"kept")) == ["b", "a", "c"]
    assert workspace.bundles.runs_of_artifact(sha256_hex(b"something else")) == ["b", "c"]
    for name in ("docs", "docs/a.md/", ""):
        with pytest.raises(NotFoundError, match="no bundle has anything of"):
            workspace.bundles.runs_of_artifact(name)


def test_rows_of_another_tenant_are_not_seen(place: Place) -> None:
    one, other = place.open("one"), place.open("other")
    bundle = one.bundle(job("kept"))
    one.bundles.record_run("run", bundle.bundle_id)
    assert (other.bundles.list(), other.bundles.of_run("run")) == ([], [])
    with pytest.raises(NotFoundError):
        other.bundles.runs_of_artifact(sha256_hex(b"kept"))
    for ask in (other.bundles.find, other.bundles.get, other.bundles.items, other.bundles.runs):
        for name in (bundle.bundle_id, bundle.bundle_id[:8], "latest"):
            with pytest.raises(NotFoundError):
                ask(name)
    assert other.bundle(job("kept")).bundle_id == bundle.bundle_id
    assert other.bundles.runs("latest") == []
    assert one.bundles.runs("latest") == ["run"]

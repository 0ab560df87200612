"""One audit over everything: whoever has the database and no key changes nothing unseen."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from pysqlite3 import dbapi2 as sqlite
from sqlalchemy import make_url

from evidentia.errors import IntegrityError, NotFoundError
from evidentia.store import auditing, listing
from evidentia.store.home import Home
from evidentia.trail.entry import EntryKind
from evidentia.workspace import Workspace, open_workspace
from evidentia.workspace.auditing import WorkspaceAudit
from insider import disagreeing_index
from places import Place, kept_file, record
from postgres import PostgresServer
from vandal import Vandal, vandal_at
from workspace.one_of_everything import fill
from workspace.policies import ANSWER, SUPPORTED, read_here, write_policies

Attack = Callable[[Vandal], Any]
PARTS = (
    "database",
    "log",
    "documents",
    "ledgers",
    "bundles",
    "runs",
    "packs",
    "tool calls",
    "roles",
    "lake",
)


@pytest.fixture(autouse=True)
def _read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    read_here(monkeypatch)


@pytest.fixture(scope="module")
def filled_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a home with one of everything, made once; copy it before changing it."""
    folder = tmp_path_factory.mktemp("audit")
    with pytest.MonkeyPatch.context() as patched:
        read_here(patched)
        with open_workspace(folder / "home") as workspace:
            fill(workspace, folder / "docs")
    return folder / "home"


@pytest.fixture
def home(filled_home: Path, tmp_path: Path) -> Path:
    """Give a copy of a home with one of everything."""
    shutil.copytree(filled_home, tmp_path / "home")
    return tmp_path / "home"


def audited(home: Path, **how: Any) -> WorkspaceAudit:
    with open_workspace(home, create=False, read_only=True) as workspace:
        return workspace.audit(**how)


def attacked(home: Path, attack: Attack) -> WorkspaceAudit:
    """Return the audit after an attack, whose traces in the schema are gone again."""
    with vandal_at(Home(home).database, "seed") as vandal:
        attack(vandal)
    return audited(home)


def wrong(report: WorkspaceAudit) -> dict[str, tuple[str, ...]]:
    return {part.name: part.findings for part in report.parts if not part.holds}


# What holds, and what it says


@pytest.mark.parametrize("quick", [False, True])
def test_an_untouched_workspace_holds_and_says_what_was_looked_at(
    home: Path, *, quick: bool
) -> None:
    report = audited(home, quick=quick)
    assert wrong(report) == {}
    assert (report.holds, report.quick, report.tenant) == (True, quick, "default")
    assert tuple(part.name for part in report.parts) == PARTS
    assert any("--quick" in left for left in report.not_looked_at) == quick
    assert any("chunk_embeddings" in left for left in report.not_looked_at)
    assert report.part("documents").looked_at.startswith("4 versions of documents: rows, entries")
    assert report.part("packs").looked_at.endswith("1 legal hold")
    assert report.log is not None
    assert report.as_json()["parts"][1]["name"] == "log"
    with pytest.raises(NotFoundError, match="no part 'walls'"):
        report.part("walls")


def test_it_is_the_same_on_a_server(workspace: Workspace, tmp_path: Path) -> None:
    fill(workspace, tmp_path / "docs")
    for quick in (False, True):
        report = workspace.audit(quick=quick)
        assert wrong(report) == {}
    told: list[str] = []
    workspace.audit(progress=lambda part, _done, _total: told.append(part))
    assert {"log", "documents", "lake"} <= set(told)


# The signatures of older checkpoints


def garble_signature(vandal: Vandal) -> None:
    """Change the signature of the first checkpoint, and leave its form."""
    first = "(SELECT MIN(size) FROM trail_checkpoints)"
    (note,) = vandal.one(f"SELECT note FROM trail_checkpoints WHERE size = {first}")
    at = len(note) - 40
    other = f"{note[:at]}{'B' if note[at] == 'A' else 'A'}{note[at + 1 :]}"
    sql = f"UPDATE trail_checkpoints SET note = ? WHERE size = {first}"
    vandal.change(sql, other)


def test_the_signature_of_a_checkpoint_that_newer_ones_cover_is_verified_too(home: Path) -> None:
    (finding,) = attacked(home, garble_signature).findings
    assert "signature" in finding


def test_of_very_many_checkpoints_the_older_signatures_are_said_not_to_be_looked_at(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auditing, "ALL_SIGNATURES", 3)
    left = "signatures of checkpoints that a newer one covers: --signatures"
    report = attacked(home, garble_signature)
    assert report.holds
    assert left in report.not_looked_at
    whole = audited(home, signatures=True)
    assert not whole.holds
    assert left not in whole.not_looked_at


# What PostgreSQL finds wrong with itself


def unasked(report: WorkspaceAudit) -> list[str]:
    return [one for one in report.not_looked_at if "amcheck" in one]


def hide_from_index(
    postgres: PostgresServer, name: str, index: str, work: Callable[[], Any]
) -> None:
    """Do something that an index does not learn of; only a superuser can."""
    for ready in ("false", "true"):
        sql = (
            f"UPDATE pg_index SET indisready = {ready}, indisvalid = {ready} "
            f"WHERE indexrelid = '{index}'::regclass"
        )
        postgres.execute(sql, name)
        if ready == "false":
            work()


@pytest.fixture
def server_name(postgres_place: Place) -> str:
    return str(make_url(str(postgres_place.url)).database)


def test_without_amcheck_indexes_of_a_server_are_said_not_to_be_looked_at(
    postgres_place: Place,
) -> None:
    workspace = postgres_place.open()
    workspace.append(record(1))
    report = workspace.audit()
    (left,) = unasked(report)
    assert left.startswith("pages, and indexes against tables: ")
    assert "is not installed" in left
    assert "indexes" not in report.part("database").looked_at


@pytest.mark.as_owner
@pytest.mark.parametrize("schema", ["public", "Checks of its own"])
def test_with_amcheck_an_index_that_disagrees_with_its_table_is_named(
    postgres: PostgresServer, postgres_place: Place, server_name: str, schema: str
) -> None:
    workspace = postgres_place.open()
    workspace.append(record(1))
    postgres.execute(f'CREATE SCHEMA IF NOT EXISTS "{schema}"', server_name)
    postgres.execute(f'CREATE EXTENSION amcheck SCHEMA "{schema}"', server_name)
    sound = workspace.audit()
    assert wrong(sound) == {}
    assert unasked(sound) == []
    assert "pages, and indexes against tables" in sound.part("database").looked_at
    hide_from_index(
        postgres, server_name, "trail_entries_subject", lambda: workspace.append(record(2))
    )
    found = workspace.audit()
    (finding,) = wrong(found)["database"]
    assert finding.startswith("index trail_entries_subject of table trail_entries: ")
    assert "lacks matching index tuple" in finding
    assert unasked(found) == []


@pytest.mark.as_owner
def test_a_role_that_may_not_ask_amcheck_says_so_and_one_that_may_finds(
    postgres: PostgresServer, postgres_place: Place, server_name: str
) -> None:
    workspace = postgres_place.open()
    workspace.append(record(1))
    postgres.execute("CREATE EXTENSION amcheck", server_name)
    with postgres.fresh_role(str(postgres_place.url)) as (role, url):
        listing.grant(workspace.opened.database, role)
        with open_workspace(url, home=postgres_place.home.folder, create=False) as restricted:
            report = restricted.audit()
            assert wrong(report) == {}
            (left,) = unasked(report)
            assert "is not for this role" in left
            for function in ("bt_index_check(regclass, boolean)", "verify_heapam"):
                postgres.execute(f"GRANT EXECUTE ON FUNCTION {function} TO {role}", server_name)
            hide_from_index(
                postgres, server_name, "trail_entries_kind", lambda: workspace.append(record(2))
            )
            found = restricted.audit()
            assert unasked(found) == []
            assert "trail_entries_kind" in wrong(found)["database"][0]


def test_an_amcheck_that_is_too_old_says_so(
    postgres: PostgresServer, postgres_place: Place, server_name: str
) -> None:
    workspace = postgres_place.open()
    workspace.append(record(1))
    postgres.execute("CREATE EXTENSION amcheck VERSION '1.2'", server_name)
    report = workspace.audit()
    assert wrong(report) == {}
    (left,) = unasked(report)
    assert "older than version 1.3" in left


@pytest.mark.as_owner
def test_a_damaged_page_of_a_servers_table_is_named(
    postgres: PostgresServer, postgres_place: Place, server_name: str
) -> None:
    workspace = postgres_place.open()
    workspace.append(record(1))
    postgres.execute("CREATE EXTENSION amcheck", server_name)
    postgres.execute(  # the table is said to have no row as old as those it has
        "UPDATE pg_class SET relfrozenxid = pg_current_xact_id()::xid "
        "WHERE relname = 'trail_bodies'",
        server_name,
    )
    finding, *_ = wrong(workspace.audit())["database"]
    assert finding.startswith("table trail_bodies, block 0: PostgreSQL finds: ")


def test_a_tenant_without_a_log_and_other_tenants_are_said(tmp_path: Path) -> None:
    with open_workspace(tmp_path / "home") as workspace:
        report = workspace.audit()
        assert report.holds
        assert report.part("log").notes == (
            "tenant 'default' has no log; there is no log here yet",
        )
        workspace.opened.for_("other").append(record(1))
        assert any(
            left.startswith("other tenants: other;") for left in workspace.audit().not_looked_at
        )


def test_an_audit_writes_nothing(home: Path) -> None:
    before = {path: path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file()}
    audited(home)
    after = {path: path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file()}
    beside = {"evidentia.db-wal", "evidentia.db-shm"}
    assert {p: d for p, d in after.items() if p.name not in beside} == {
        p: d for p, d in before.items() if p.name not in beside
    }


# The database itself


def test_an_index_that_disagrees_with_its_table_is_found(home: Path) -> None:
    disagreeing_index(Home(home).database, "trail_entries_kind", "kind <> 'retention'")
    asked = "SELECT count(entry) FROM trail_entries {} 'retention' AND tenant = 'default'"
    with closing(sqlite.connect(str(Home(home).database))) as connection:
        counts = [
            connection.execute(asked.format(by)).fetchone()[0]
            for by in ("INDEXED BY trail_entries_kind WHERE kind =", "WHERE +kind =")
        ]
    assert counts == [0, 1]
    report = audited(home)
    assert any("trail_entries_kind" in finding for finding in wrong(report)["database"])


def test_statistics_that_steer_plans_are_found_by_every_audit_of_the_log(home: Path) -> None:
    with closing(sqlite.connect(str(Home(home).database))) as connection:
        connection.execute("ANALYZE")
    report = audited(home)
    assert any("statistics decide which index is believed" in one for one in report.findings)
    with open_workspace(home, create=False, read_only=True) as workspace:
        assert "sqlite_stat1" in str(workspace.trail.audit().findings[0])
    assert not audited(home, quick=True).holds


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE trail_more (a)",
        "CREATE VIEW shown AS SELECT 1",
        "CREATE TRIGGER late AFTER INSERT ON documents BEGIN SELECT 1; END",
        "DROP TRIGGER documents_update",
        "CREATE INDEX more ON trail_entries (kind)",
    ],
)
def test_a_schema_with_more_or_less_is_found(home: Path, sql: str) -> None:
    with closing(sqlite.connect(str(Home(home).database))) as connection:
        connection.execute(sql)
    assert any(one.startswith("schema: ") for one in wrong(audited(home))["database"])


# Rows against entries

ATTACKS: dict[str, tuple[str, str]] = {
    "a passage altered": (
        "documents",
        "UPDATE document_chunks SET content = replace(content, '15', '51')",
    ),
    "a passage's place altered": ("documents", "UPDATE document_chunks SET page_number = 2"),
    "a heading that is no list": ("documents", "UPDATE document_chunks SET heading_path = '{'"),
    "headings of another kind": ("documents", "UPDATE document_chunks SET heading_path = '[1]'"),
    "passages deleted": ("documents", "DELETE FROM document_chunks WHERE chunk_index = 0"),
    "a document altered": ("documents", "UPDATE documents SET title = 'Other'"),
    "a document's bytes altered": (
        "documents",
        "UPDATE documents SET sha256 = replace(sha256, 'a', 'b')",
    ),
    "a document's workspace altered": ("documents", "UPDATE documents SET workspace_id = 'x'"),
    "a document's date altered": ("documents", "UPDATE documents SET dated = '2030-01-01'"),
    "a version deleted": ("documents", "DELETE FROM documents WHERE version = 2"),
    "the library deleted": (
        "documents",
        ("DELETE FROM documents; DELETE FROM document_chunks; DELETE FROM citation_anchors"),
    ),
    "a document added": (
        "documents",
        (
            "INSERT INTO documents SELECT tenant, id, 7, workspace_id, collection, filename, "
            "media_type, sha256, status, language, direction, title, dated, pages, chunks, "
            "warnings, created_at, collection_id, effective_from, effective_until, reader "
            "FROM documents WHERE version = 2"
        ),
    ),
    "passages added": (
        "documents",
        (
            "INSERT INTO document_chunks SELECT tenant, 'chunk_x', 'doc_x', sha256, chunk_index, "
            "chunk_hash, page_number, heading_path, start_offset, end_offset, content, ocr, "
            "reader "
            "FROM document_chunks LIMIT 1"
        ),
    ),
    "a citation led elsewhere": (
        "documents",
        "UPDATE citation_anchors SET chunk_hash = 'f' || substr(chunk_hash, 2)",
    ),
    "a citation deleted": ("documents", "DELETE FROM citation_anchors"),
    "warnings that are no list": ("documents", "UPDATE documents SET warnings = 'x'"),
    "ledgers deleted": (
        "ledgers",
        (
            "DELETE FROM evidence_ledger; DELETE FROM ledgers; DELETE FROM claims; "
            "DELETE FROM sessions"
        ),
    ),
    "ledgers hidden with their bodies": (
        "ledgers",
        (
            "DELETE FROM evidence_ledger; DELETE FROM ledgers; DELETE FROM claims; "
            "DELETE FROM sessions; DELETE FROM trail_bodies WHERE seq IN "
            "(SELECT seq FROM trail_entries WHERE kind = 'ledger')"
        ),
    ),
    "a ledger's summary altered": (
        "ledgers",
        "UPDATE ledgers SET summary = replace(summary, ':1', ':2')",
    ),
    "a summary that is no JSON": ("ledgers", "UPDATE ledgers SET summary = '{'"),
    "a verdict altered": ("ledgers", "UPDATE evidence_ledger SET verdict = 'supported'"),
    "a confidence altered": ("ledgers", "UPDATE evidence_ledger SET confidence_score = 0.125"),
    "a verdict's passages altered": ("ledgers", "UPDATE evidence_ledger SET chunk_ids = '[\"x\"]'"),
    "a session's title altered": ("ledgers", "UPDATE sessions SET title = 'Other'"),
    "a ledger's time altered": (
        "ledgers",
        "UPDATE ledgers SET created_at = '2010-01-01T00:00:00.000000Z'",
    ),
    "a claim altered": ("ledgers", "UPDATE claims SET requires_citation = 1 - requires_citation"),
    "a bundle altered": ("bundles", "UPDATE evidence_bundle SET policy = '{}'"),
    "a run altered": ("runs", "UPDATE run_evidence SET run_id = 'run-2'"),
    "a run deleted": ("runs", "DELETE FROM run_evidence"),
    "a pack backdated": (
        "packs",
        "UPDATE evidence_packs SET created_at = '2010-01-01T00:00:00.000000Z'",
    ),
    "a held pack deleted": ("packs", "DELETE FROM evidence_packs"),
    "a tool call altered": (
        "tool calls",
        (
            "UPDATE trail_bodies SET body = CAST(replace(CAST(body AS TEXT), 'owner', 'x') AS "
            "BLOB) WHERE seq IN (SELECT seq FROM trail_entries WHERE kind = 'tool_call')"
        ),
    ),
    "a role forged": (
        "roles",
        (
            "UPDATE trail_bodies SET body = CAST(replace(CAST(body AS TEXT), 'viewer', 'admin') AS "
            "BLOB) WHERE seq IN (SELECT seq FROM trail_entries WHERE kind = 'access')"
        ),
    ),
    "rows of a tenant without a log": ("database", "UPDATE citation_anchors SET tenant = 'x'"),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_what_was_changed_hidden_or_added_is_found(home: Path, name: str) -> None:
    part, sql = ATTACKS[name]

    def attack(vandal: Vandal) -> None:
        for statement in sql.split("; "):
            vandal.change(statement, rows=None)

    report = attacked(home, attack)
    assert part in wrong(report)
    assert not report.holds


def test_an_original_that_is_gone_from_the_lake_or_changed_is_found(home: Path) -> None:
    with open_workspace(home) as workspace:
        leave, travel = (
            next(one for one in workspace.documents.list() if one.filename == name)
            for name in ("leave.md", "travel.md")
        )
        kept_file(workspace, leave.sha256).unlink()
        changed = kept_file(workspace, travel.sha256)
        changed.chmod(0o600)
        changed.write_bytes(b"other")
        report = workspace.audit()
    found = wrong(report)
    assert any(leave.id in one and "gone from the lake" in one for one in found["documents"])
    assert any(travel.id in one and "changed" in one for one in found["documents"])
    assert any(travel.sha256 in one for one in found["lake"])


def test_a_tail_that_was_cut_off_is_found_quickly_too(home: Path) -> None:
    def attack(vandal: Vandal) -> None:
        for table in ("trail_entries", "trail_bodies"):
            vandal.change(f"DELETE FROM {table} WHERE seq >= ?", vandal.size - 2, rows=None)

    with vandal_at(Home(home).database, "seed") as vandal:
        attack(vandal)
    for quick in (True, False):
        assert "log" in wrong(audited(home, quick=quick))


def test_the_quick_audit_sees_a_changed_end_of_the_log(home: Path) -> None:
    def attack(vandal: Vandal) -> None:
        last = vandal.size - 1
        vandal.change("UPDATE trail_entries SET subject = 'x' WHERE seq = ?", last)
        vandal.change("DELETE FROM trail_bodies WHERE seq = ?", last - 1)

    with vandal_at(Home(home).database, "seed") as vandal:
        attack(vandal)
    findings = wrong(audited(home, quick=True))["log"]
    assert any("its body is gone, and no erasure says why" in one for one in findings)
    assert any("its kind or subject column differs" in one for one in findings)


# What was erased, and what was not


def test_a_ledger_whose_rows_are_gone_was_not_erased_unless_an_entry_says_so(home: Path) -> None:
    with open_workspace(home) as workspace:
        name = workspace.ledgers.find("latest").id
    hiding = ATTACKS["ledgers hidden with their bodies"][1]
    with vandal_at(Home(home).database, "seed") as vandal:
        for statement in hiding.split("; "):
            vandal.change(statement, rows=None)
    with open_workspace(home) as workspace:
        with pytest.raises(IntegrityError, match="the database does not have it"):
            workspace.ledgers.get(name)
        assert len(workspace.ledgers.audit()) == 1


def test_a_pack_whose_row_is_gone_is_missed_by_its_name(home: Path) -> None:
    with open_workspace(home) as workspace:
        name = workspace.packs.find("dec_1").id
    with vandal_at(Home(home).database, "seed") as vandal:
        vandal.change("DELETE FROM evidence_packs", rows=None)
    with open_workspace(home) as workspace:
        with pytest.raises(IntegrityError, match="the database does not have it"):
            workspace.packs.get(name)
        with pytest.raises(IntegrityError, match="the database does not have it"):
            workspace.packs.held()


def test_a_run_whose_bundle_was_erased_is_not_missed(home: Path) -> None:
    with open_workspace(home) as workspace:
        entry = workspace.bundles.find("latest").entry
        workspace.trail.erase(entry, reason="law", by="counsel")
        assert wrong(workspace.audit()) == {}


def test_a_document_is_never_erased_from_the_trail(home: Path) -> None:
    with open_workspace(home) as workspace:
        entry = workspace.trail.entries(kind="document")[0].entry.seq
        with pytest.raises(Exception, match="of kind document and is never erased"):
            workspace.trail.erase(entry, reason="law", by="counsel")


# Passages are what was read


def test_a_changed_passage_is_neither_cited_nor_believed(home: Path) -> None:
    with open_workspace(home) as workspace:
        leave = next(one for one in workspace.documents.list() if one.filename == "leave.md")
        anchor = workspace.documents.chunks(leave)[0].chunk_hash[:8]
        assert workspace.documents.resolve(anchor).resolved
    with vandal_at(Home(home).database, "seed") as vandal:
        sql = "UPDATE document_chunks SET content = replace(content, '15 days', '51 days')"
        vandal.change(sql, rows=None)
    with open_workspace(home) as workspace:
        for refused in (
            lambda: workspace.documents.resolve(anchor),
            lambda: workspace.documents.chunks(leave),
            lambda: workspace.check(SUPPORTED.replace("15", "51"), judges=["quote"]),
        ):
            with pytest.raises(IntegrityError, match=f"document {leave.id} .*passages are not"):
                refused()


def test_a_document_that_was_altered_is_not_shown_to_a_model(home: Path) -> None:
    with open_workspace(home) as workspace:
        identity = workspace.documents.list()[0].id
    with vandal_at(Home(home).database, "seed") as vandal:
        vandal.change("UPDATE documents SET filename = 'other.md'", rows=None)
    with open_workspace(home) as workspace, pytest.raises(IntegrityError, match="its filename is"):
        workspace.bundle({}, {"documents": [{"document_id": identity}]})


def test_a_passage_of_no_version_is_not_cited(home: Path) -> None:
    with vandal_at(Home(home).database, "seed") as vandal:
        sql = (
            "INSERT INTO document_chunks SELECT tenant, 'chunk_x', document_id, 'x', chunk_index, "
            "chunk_hash, page_number, heading_path, start_offset, end_offset, content, ocr, "
            "reader "
            "FROM document_chunks LIMIT 1"
        )
        vandal.change(sql)
        (found,) = vandal.one("SELECT chunk_hash FROM document_chunks WHERE id = 'chunk_x'")
    with open_workspace(home) as workspace, pytest.raises(IntegrityError, match="no version of it"):
        workspace.documents.resolve(found[:8])


def unrecorded(home: Path) -> None:
    """Make a home one of which no document is recorded, as they once were."""
    shutil.rmtree(home)
    docs = write_policies(home.parent / "older")
    with pytest.MonkeyPatch.context() as patched, open_workspace(home) as workspace:
        patched.setattr("evidentia.workspace.library.Recorder.record", lambda *_: None)
        workspace.append(record(1))
        workspace.ingest(docs)


def test_documents_of_an_older_workspace_are_unrecorded_until_they_are_recorded(
    home: Path,
) -> None:
    unrecorded(home)
    found = wrong(audited(home))
    assert [*found] == ["documents"]
    assert len(found["documents"]) == 3
    assert all("no entry of the trail records it" in one for one in found["documents"])
    with open_workspace(home) as workspace:
        assert workspace.check(ANSWER, judges=["quote"]).entries, "it goes on as it was"
        (home.parent / "new.md").write_text("A new rule.\n", encoding="utf-8")
        workspace.ingest(home.parent / "new.md")
        with pytest.raises(IntegrityError, match="evidentia documents record"):
            workspace.check(ANSWER, judges=["quote"])
        done = workspace.documents.record_missing()
        assert ({one.filename for one in done.recorded}, done.problems) == (
            {"leave.md", "travel.md", "gifts.md"},
            (),
        )
        assert workspace.documents.record_missing().recorded == ()
        assert workspace.audit().holds
        assert workspace.check(ANSWER, judges=["quote"]).entries


def test_ingesting_again_records_what_was_not(home: Path) -> None:
    unrecorded(home)
    with open_workspace(home) as workspace:
        done = workspace.ingest(home.parent / "older")
        assert {one.outcome for one in done.results} == {"unchanged"}
        assert workspace.audit().holds
        assert len(workspace.trail.entries(kind="document")) == 3


def test_what_contradicts_itself_is_not_recorded(home: Path) -> None:
    unrecorded(home)
    with open_workspace(home) as workspace:
        leave, travel, gifts = (
            next(one for one in workspace.documents.list() if one.filename == name)
            for name in ("leave.md", "travel.md", "gifts.md")
        )
        kept_file(workspace, gifts.sha256).unlink()
    with vandal_at(Home(home).database, "seed") as vandal:
        sql = "UPDATE document_chunks SET content = 'x' WHERE chunk_index = 0 AND document_id = ?"
        vandal.change(sql, leave.id)
    with open_workspace(home) as workspace:
        done = workspace.documents.record_missing()
        assert [one.id for one in done.recorded] == [travel.id]
        problems = sorted(done.problems)
        assert any(leave.id in one and "passage 0 was changed" in one for one in problems)
        assert any(gifts.id in one and "gone from the lake" in one for one in problems)


def test_bytes_that_come_back_are_recorded_with_the_passages_they_had(home: Path) -> None:
    docs = write_policies(home.parent / "docs")
    with vandal_at(Home(home).database, "seed") as vandal:
        sql = "UPDATE document_chunks SET content = replace(content, '$50', '$90')"
        vandal.change(sql, rows=None)
    with open_workspace(home) as workspace:
        done = workspace.ingest(docs / "gifts.md", docs)
        assert "changed" in {one.outcome for one in done.results}
        report = workspace.audit()
    assert any("passages are not the ones" in one for one in wrong(report)["documents"])


def test_an_entry_that_says_otherwise_of_a_version_is_found(home: Path) -> None:
    with open_workspace(home) as workspace:
        known = workspace.trail.entries(kind="document")[0]
        acting = workspace._acting
        with acting.writing() as connection:
            body = {**known.body, "chunks_sha256": "0" * 64}
            acting.append_within(connection, EntryKind.DOCUMENT, known.entry.subject, body)
            acting.append_within(connection, EntryKind.DOCUMENT, "doc_x", {"by": "owner"})
        found = wrong(workspace.audit())["documents"]
    assert any("says otherwise of version 1" in one for one in found)
    assert any("records no document that can be read" in one for one in found)


# A copy that no one can write to


@contextmanager
def as_nobody() -> Iterator[None]:
    """Act without root's leave to write everywhere; who is not root may do no more anyway."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def lend(home: Path, to: Path, *, wal: bool) -> None:
    """Copy a home to a folder that can only be read, with a WAL beside the database or without."""
    if wal:
        with open_workspace(home) as workspace:
            workspace.append(record(2))
            shutil.copytree(home, to)
    else:
        shutil.copytree(home, to)
    for path in (to, *to.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    (to / "evidentia.db-shm").unlink(missing_ok=True)


@pytest.mark.parametrize("wal", [False, True], ids=["alone", "with a WAL"])
def test_a_read_only_copy_is_audited_with_its_wal(home: Path, *, wal: bool) -> None:
    with tempfile.TemporaryDirectory() as beside:
        Path(beside).chmod(0o755)
        copy = Path(beside) / "copy"
        lend(home, copy, wal=wal)
        assert (copy / "evidentia.db-wal").exists() == wal
        here = audited(home).log
        with as_nobody():
            report = audited(copy, workers=1)
        for path in (copy, *copy.rglob("*")):
            if path.is_dir():
                path.chmod(0o755)
    assert wrong(report) == {}
    assert here is not None
    assert report.log is not None
    assert (report.log.size, report.log.root) == (here.size, here.root)
    assert not list(Path(tempfile.gettempdir()).glob("evidentia-*/evidentia.db"))

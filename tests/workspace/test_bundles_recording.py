"""Bundles in a workspace: recorded in the trail, rendered, used by runs, and erased."""

import json
import stat
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import evidentia
from bundles.making import KEY
from evidentia.bundles.model import EvidenceBundle
from evidentia.bundles.policy import EvidencePolicy
from evidentia.bundles.statement import PREDICATE_TYPE, statement_bytes
from evidentia.canonical import sha256_hex
from evidentia.errors import BusyError, EvidentiaError, InputError, IntegrityError, NotFoundError
from evidentia.store.lake import FileLake
from evidentia.store.sql.bundles import erase_bundle, erase_run
from evidentia.workspace import Workspace, bundles
from forking import Child
from places import Place, kept_file, lake_folder, lake_of, record
from workspace.made_bundles import (
    CARD,
    LONG,
    TABLES,
    build_cut,
    bundle_file,
    erase,
    job,
    proof_bytes,
    two_bundles,
)
from workspace.policies import ANSWER, BY_RULES, LEAVE, count, lake_files, write_policies

pytestmark = pytest.mark.usefixtures("_read_here")


# Recorded


def test_a_bundle_is_an_entry_of_the_trail(workspace: Workspace, lake_root: Path) -> None:
    workspace.append(record(1))
    bundle = build_cut(workspace, lake_root)
    listed = workspace.bundles.find(bundle.bundle_id)
    logged = workspace.trail.entry(listed.entry)
    assert (logged.entry.kind, logged.entry.subject) == ("bundle", f"bundle/{bundle.bundle_id}")
    data = bundle_file(workspace, bundle).read_bytes()
    assert data == bundle.encode()
    assert logged.body == {
        "statement_sha256": sha256_hex(statement_bytes(bundle.bundle_id, data)),
        "predicate_type": PREDICATE_TYPE,
        "bundle_sha256": bundle.bundle_sha256,
        "by": "owner",
        "summary": bundle.as_json()["summary"],
    }
    assert LONG[:20] not in json.dumps(logged.body)  # what was said can be erased with its files
    assert (listed.entry, workspace.trail.size) == (2, 3)
    assert workspace.trail.audit().holds


def test_the_same_build_again_is_the_recorded_bundle(workspace: Workspace, lake_root: Path) -> None:
    first = build_cut(workspace, lake_root, "dropped")
    before = [count(workspace, table) for table in TABLES]
    files = lake_files(workspace)
    assert build_cut(workspace, lake_root, "dropped") == first
    assert workspace.trail.size == 2
    assert [count(workspace, table) for table in TABLES] == before
    assert lake_files(workspace) == files
    assert build_cut(workspace, lake_root, "other").bundle_id != first.bundle_id
    assert workspace.trail.size == 3


def test_files_that_went_missing_come_back_with_the_next_build(
    workspace: Workspace, lake_root: Path
) -> None:
    first = build_cut(workspace, lake_root, "dropped")
    files = {path: path.read_bytes() for path in lake_files(workspace)}
    assert len(files) == 3
    for path, data in files.items():
        path.unlink() if len(data) % 2 else path.write_bytes(b"vandalised")
    assert not workspace.bundles.verify(first.bundle_id).holds
    assert build_cut(workspace, lake_root, "dropped") == first
    assert {path: path.read_bytes() for path in lake_files(workspace)} == files
    assert workspace.bundles.verify(first.bundle_id).holds
    assert workspace.trail.size == 2


def test_a_build_that_cannot_be_recorded_leaves_no_rows(
    workspace: Workspace, lake_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise EvidentiaError("in the way")

    with monkeypatch.context() as patched:
        patched.setattr("evidentia.store.sql.bundles.insert_bundle", fail)
        with pytest.raises(EvidentiaError, match="in the way"):
            build_cut(workspace, lake_root)
    assert (workspace.trail.size, workspace.bundles.list()) == (0, [])
    build_cut(workspace, lake_root)
    assert workspace.trail.audit().holds


def test_processes_that_build_the_same_at_once_record_it_once(
    place: Place, lake_root: Path, tmp_path: Path
) -> None:
    place.open().append(record(1))

    def work(number: int) -> Callable[[], None]:
        def build() -> None:
            bundle = build_cut(place.open(), lake_root, "dropped")
            (tmp_path / f"built-{number}").write_bytes(bundle.encode())

        return build

    children = [Child(work(number)) for number in range(4)]
    for child in children:
        child.end()
    workspace = place.open()
    (listed,) = workspace.bundles.list()
    built = {(tmp_path / f"built-{number}").read_bytes() for number in range(4)}
    assert built == {(lake_folder(workspace) / listed.lake_uri).read_bytes()}
    assert workspace.trail.size == 3
    assert workspace.trail.audit().holds
    assert workspace.bundles.audit() == []


def test_threads_that_build_at_once_record_each_bundle_once(
    workspace: Workspace, lake_root: Path
) -> None:
    barrier = threading.Barrier(4)

    def work(number: int) -> list[EvidenceBundle]:
        barrier.wait()
        return [build_cut(workspace, lake_root, text) for text in ("a", "b", f"own {number}")]

    with ThreadPoolExecutor(4) as threads:
        built = [bundle for found in threads.map(work, range(4)) for bundle in found]
    assert len(built) == 12
    assert len({bundle.encode() for bundle in built}) == 6
    assert (len(workspace.bundles.list()), workspace.trail.size) == (6, 7)
    assert workspace.trail.audit().holds
    assert workspace.bundles.audit() == []


def test_who_comes_second_leaves_nothing_behind(
    place: Place, lake_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = place.open(), place.open()
    known = "evidentia.store.sql.bundles.known_bundle"
    found: list[EvidenceBundle] = []

    def meanwhile(*_: object) -> None:
        monkeypatch.undo()
        found.append(build_cut(other, lake_root))

    with monkeypatch.context():
        monkeypatch.setattr(known, meanwhile)  # another process is faster
        assert build_cut(one, lake_root) == found[0]
    assert len(one.bundles.list()) == 1
    assert len(lake_files(one)) == 2  # the bundle and the whole text


# Rendered


def test_a_workspaces_fence_cannot_be_foreseen(place: Place, lake_root: Path) -> None:
    one, other = place.open("one"), place.open("other")
    bundle = build_cut(one, lake_root)
    build_cut(other, lake_root)
    keyed = one.bundles.render(bundle.bundle_id)
    assert keyed.nonce == one.bundles.render("latest", "openai").nonce
    assert len({keyed.nonce, bundle.render().nonce, other.bundles.render("latest").nonce}) == 3
    assert keyed.nonce != bundle.render(key=KEY).nonce
    assert one.bundles.render("latest", "anthropic").format == "anthropic"


def test_a_workspaces_key_is_made_once_for_its_owner_alone(place: Place, lake_root: Path) -> None:
    workspace = place.open()
    path = place.home.keys.secret_file("default")
    workspace.bundle(job("plain"))
    assert not path.exists()
    policy = EvidencePolicy(enable_redaction=True)
    first = workspace.bundle(job(f"Pay with {CARD}"), None, policy)
    made = path.read_bytes()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert place.open().bundle(job(f"Pay with {CARD}"), None, policy) == first
    assert path.read_bytes() == made
    other = place.open("other").bundle(job(f"Pay with {CARD}"), None, policy)
    assert other.items[0].metadata["redactions"][0]["digest"] not in str(first)


# Used by runs


def test_a_run_is_an_entry_of_the_trail_once(workspace: Workspace, lake_root: Path) -> None:
    bundle = build_cut(workspace, lake_root)
    receipt = workspace.bundles.record_run("run 1 — é", "latest")
    logged = workspace.trail.entry(receipt.seq)
    assert (logged.entry.kind, logged.entry.subject) == ("run", "run/run 1 — é")
    assert logged.body == {
        "run_id": "run 1 — é",
        "bundle_id": bundle.bundle_id,
        "bundle_sha256": bundle.bundle_sha256,
        "by": "owner",
    }
    assert not receipt.repeated
    again = workspace.bundles.record_run("run 1 — é", bundle.bundle_id)
    assert again == receipt._replace(repeated=True)
    assert (workspace.trail.size, count(workspace, "llm.run_evidence")) == (3, 1)
    assert [one.bundle_id for one in workspace.bundles.of_run("run 1 — é")] == [bundle.bundle_id]
    assert workspace.trail.audit().holds


def test_processes_that_record_the_same_run_at_once_record_it_once(place: Place) -> None:
    bundle = place.open().bundle(job("one"))
    children = [
        Child(lambda: place.open().bundles.record_run("run-1", bundle.bundle_id)) for _ in range(4)
    ]
    for child in children:
        child.end()
    workspace = place.open()
    assert (workspace.trail.size, workspace.bundles.runs("latest")) == (3, ["run-1"])
    assert workspace.trail.audit().holds


@pytest.mark.parametrize("run_id", ["", "  \n", "x" * 201, "a\0b", "\ud800"])
def test_what_is_no_runs_id_is_refused(workspace: Workspace, run_id: str) -> None:
    workspace.bundle(job("one"))
    with pytest.raises(InputError, match="a run's id is text of 1 to 200 characters"):
        workspace.bundles.record_run(run_id, "latest")
    assert workspace.trail.size == 2


def test_a_run_of_the_longest_id_is_recorded(workspace: Workspace) -> None:
    workspace.bundle(job("one"))
    workspace.bundles.record_run("漢" * 200, "latest")
    assert workspace.bundles.runs("latest") == ["漢" * 200]


def test_a_run_of_an_unknown_bundle_is_refused(workspace: Workspace) -> None:
    with pytest.raises(NotFoundError):
        workspace.bundles.record_run("run-1", "latest")
    workspace.bundle(job("one"))
    with pytest.raises(NotFoundError, match="there is no bundle 'none'"):
        workspace.bundles.record_run("run-1", "none")
    assert workspace.trail.size == 2


def test_what_became_of_an_input_is_answered_for_dropped_ones_too(
    workspace: Workspace, lake_root: Path
) -> None:
    bundle = build_cut(workspace, lake_root, "dropped")
    cut = workspace.bundles.why_cut("latest", bundle.items[1].evidence_id)
    assert (cut.outcome, cut.steps[0].reason) == ("truncated", "max_item_bytes: 40")
    dropped = workspace.bundles.why_cut(bundle.bundle_id, "inline:1")
    assert (dropped.outcome, dropped.steps[-1].reason) == ("dropped", "max_items: 2")
    with pytest.raises(NotFoundError, match="has no input 'inline:9'"):
        workspace.bundles.why_cut("latest", "inline:9")


# Erased


def test_an_erased_bundle_is_gone_from_everywhere_and_the_trail_holds(
    workspace: Workspace, lake_root: Path
) -> None:
    workspace.append(record(1))
    proof = workspace.prove(0)
    bundle = build_cut(workspace, lake_root, "dropped")
    workspace.bundles.record_run("run-1", bundle.bundle_id)
    assert len(lake_files(workspace)) == 3
    entry = workspace.bundles.find("latest").entry
    erase(workspace, bundle)
    assert lake_files(workspace) == []
    assert [count(workspace, table) for table in TABLES] == [0, 0, 0]
    for ask in (workspace.bundles.get, workspace.bundles.prove, workspace.bundles.verify):
        with pytest.raises(NotFoundError):
            ask(bundle.bundle_id)
    assert workspace.bundles.of_run("run-1") == []
    assert workspace.trail.audit().holds
    assert workspace.bundles.audit() == []
    assert evidentia.verify(proof_bytes(proof), key=workspace.trail.public_key()).holds
    assert workspace.prove(entry).disclosure is None
    assert (lake_root / "texts" / "long.md").read_text() == LONG


def test_an_erased_bundle_can_be_built_and_used_again(
    workspace: Workspace, lake_root: Path
) -> None:
    bundle = build_cut(workspace, lake_root)
    workspace.bundles.record_run("run-1", bundle.bundle_id)
    erase(workspace, bundle)
    again = build_cut(workspace, lake_root)
    assert again.bundle_id == bundle.bundle_id
    assert workspace.bundles.find("latest").entry == 4
    assert not workspace.bundles.record_run("run-1", "latest").repeated
    assert workspace.trail.audit().holds
    assert workspace.bundles.audit() == []


def test_artifacts_that_others_use_stay(workspace: Workspace, lake_root: Path) -> None:
    one, other = (build_cut(workspace, lake_root, "dropped", text) for text in ("a", "b"))
    erase(workspace, one)
    assert workspace.bundles.verify(other.bundle_id).holds
    assert len(lake_files(workspace)) == 3
    erase(workspace, other)
    assert lake_files(workspace) == []


def test_artifacts_that_another_tenant_uses_stay(place: Place, lake_root: Path) -> None:
    one, other = place.open("one"), place.open("other")
    bundle = build_cut(one, lake_root, "dropped")
    build_cut(other, lake_root, "dropped")
    erase(one, bundle)
    assert other.bundles.verify("latest").holds
    assert other.bundles.audit() == []


def test_a_document_of_the_library_stays(workspace: Workspace, tmp_path: Path) -> None:
    workspace.ingest(write_policies(tmp_path / "docs", {"leave.md": LEAVE}))
    (known,) = workspace.documents.list()
    bundle = workspace.bundle(
        {}, {"documents": [{"document_id": known.id}]}, EvidencePolicy(max_item_bytes=20)
    )
    erase(workspace, bundle)
    workspace.bundle({}, {"documents": [{"document_id": known.id}]})
    assert workspace.bundles.verify("latest").holds


def live_sql(workspace: Workspace, crm: str, **policy: int) -> EvidenceBundle:
    live = {"query_key": "cards", "sql": "SELECT * FROM cards", "connection": "crm"}
    return workspace.bundle(
        {}, {"sql_results": [live]}, EvidencePolicy(**policy), connections={"crm": crm}
    )


def erasing_first(
    workspace: Workspace, bundle: EvidenceBundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Erase a bundle when another one was built, and is not recorded yet."""
    record_built, waiting = bundles.record_built, [bundle]

    def record_later(*given: Any) -> EvidenceBundle:
        while waiting:
            erase(workspace, waiting.pop())
        return record_built(*given)

    monkeypatch.setattr(bundles, "record_built", record_later)


def test_an_artifact_stays_though_a_bundle_with_the_same_is_erased_meanwhile(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = EvidencePolicy(max_item_bytes=40)
    erasing_first(workspace, workspace.bundle(job(LONG), None, cut), monkeypatch)
    second = workspace.bundle(job(LONG, "more"), None, cut)
    assert workspace.bundles.verify(second.bundle_id).holds


def test_a_live_result_that_is_erased_meanwhile_makes_the_bundle_be_built_again(
    workspace: Workspace, crm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    erasing_first(workspace, live_sql(workspace, crm), monkeypatch)
    with pytest.raises(BusyError, match="was erased while it was built: build it again"):
        live_sql(workspace, crm, max_sql_rows=2)
    again = live_sql(workspace, crm, max_sql_rows=2)
    assert workspace.bundles.verify(again.bundle_id).holds


@pytest.mark.parametrize("policy", [{}, {"max_sql_rows": 2}, {"max_item_bytes": 60}])
def test_live_results_go_with_their_bundle(
    workspace: Workspace, crm: str, policy: Mapping[str, int]
) -> None:
    bundle = live_sql(workspace, crm, **policy)
    assert len(lake_files(workspace)) == 2
    erase(workspace, bundle)
    assert lake_files(workspace) == []


def test_live_results_that_were_dropped_go_with_their_bundle(
    workspace: Workspace, crm: str
) -> None:
    erase(workspace, live_sql(workspace, crm, max_items=0))
    assert lake_files(workspace) == []


@pytest.mark.xfail(reason="a live result outlives a build that failed", strict=True)
def test_live_results_do_not_stay_where_the_build_failed(
    workspace: Workspace, lake_root: Path, crm: str
) -> None:
    live = {"query_key": "cards", "sql": "SELECT * FROM cards", "connection": "crm"}
    refs = {"sql_results": [live, {"lake_uri": "none.json", "query_key": "none"}]}
    with pytest.raises(InputError, match=r"none\.json is not in the lake"):
        workspace.bundle({}, refs, lake_root=lake_root, connections={"crm": crm})
    assert lake_files(workspace) == []


def test_a_source_that_names_anothers_file_cannot_have_it_removed(
    workspace: Workspace, tmp_path: Path
) -> None:
    other = workspace.bundle(job("other"))
    ledger = workspace.check(ANSWER, against=write_policies(tmp_path / "docs"), judges=BY_RULES)
    statement = workspace.ledgers.find(ledger.id).statement_sha256
    for digest in (other.lake_uri.rpartition("/")[2], statement):
        lake_uri = f"sha256/{digest[:2]}/{digest[2:4]}/{digest}"
        said = {"text": "hi", "lake_uri": lake_uri, "sha256": digest}
        erase(workspace, workspace.bundle(job(said)))
    assert workspace.bundles.audit() == workspace.ledgers.audit() == []


def test_what_bundles_and_ledgers_are_kept_in_stays_where_it_was_shown_as_evidence(
    workspace: Workspace, tmp_path: Path
) -> None:
    other = workspace.bundle(job("other"))
    ledger = workspace.check(ANSWER, against=write_policies(tmp_path / "docs"), judges=BY_RULES)
    (document, *_) = workspace.documents.list()
    kept = (
        other.lake_uri.rpartition("/")[2],
        workspace.ledgers.find(ledger.id).statement_sha256,
        document.sha256,
    )
    copies = FileLake(tmp_path / "copies")
    for digest in kept:  # the same bytes are in a lake elsewhere, under the same name
        assert copies.put(lake_of(workspace).get(digest)) == digest
    own = sha256_hex(b"in no one else's use")
    assert copies.put(b"in no one else's use") == own
    lake_of(workspace).put(b"in no one else's use")
    uris = [f"sha256/{one[:2]}/{one[2:4]}/{one}" for one in (*kept, own)]
    bundle = workspace.bundle(
        {},
        {"lake_text": uris},
        EvidencePolicy(max_item_bytes=20, max_items=3),
        lake_root=tmp_path / "copies",
    )
    assert {one.artifact_uri for one in workspace.bundles.items(bundle.bundle_id)} == set(uris)
    erase(workspace, bundle)
    assert workspace.bundles.audit() == workspace.ledgers.audit() == []
    assert all(kept_file(workspace, digest).exists() for digest in kept)
    assert not kept_file(workspace, own).exists()
    assert all((tmp_path / "copies" / uri).exists() for uri in uris)


def test_rows_of_a_bundle_that_was_not_erased_cannot_be_erased(
    workspace: Workspace, lake_root: Path
) -> None:
    bundle = build_cut(workspace, lake_root)
    with (
        pytest.raises(IntegrityError),
        workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection,
    ):
        erase_bundle(connection, "default", 0)
    assert workspace.bundles.verify(bundle.bundle_id).holds


def test_a_run_that_was_erased_is_not_found_any_more(workspace: Workspace) -> None:
    bundle = workspace.bundle(job("one"))
    erased = workspace.bundles.record_run("run-1", "latest")
    workspace.bundles.record_run("run-2", "latest")
    files = lake_files(workspace)
    workspace.trail.erase(erased.seq, reason="law", by="counsel")
    assert workspace.trail.entry(erased.seq).erased
    assert workspace.bundles.of_run("run-1") == []
    assert workspace.bundles.runs("latest") == ["run-2"]
    assert workspace.bundles.runs_of_artifact(sha256_hex(b"one")) == ["run-2"]
    assert workspace.bundles.get("latest") == bundle
    assert lake_files(workspace) == files
    assert workspace.trail.audit().holds
    assert workspace.bundles.audit() == []


def test_a_run_that_was_erased_can_be_recorded_again(workspace: Workspace) -> None:
    workspace.bundle(job("one"))
    workspace.trail.erase(
        workspace.bundles.record_run("run-1", "latest").seq, reason="law", by="counsel"
    )
    again = workspace.bundles.record_run("run-1", "latest")
    assert (again.repeated, again.seq) == (False, 4)
    assert workspace.bundles.runs("latest") == ["run-1"]
    assert workspace.trail.audit().holds


def test_a_run_of_several_bundles_is_erased_entry_by_entry(place: Place) -> None:
    workspace, one, other = two_bundles(place)
    first, _ = (workspace.bundles.record_run("run-1", used.bundle_id) for used in (one, other))
    workspace.trail.erase(first.seq, reason="law", by="counsel")
    assert [used.bundle_id for used in workspace.bundles.of_run("run-1")] == [other.bundle_id]


def test_another_tenants_run_of_the_same_entry_stays(place: Place) -> None:
    one, other = place.open("one"), place.open("other")
    for workspace in (one, other):
        workspace.bundle(job("one"))
        receipt = workspace.bundles.record_run("run-1", "latest")
    one.trail.erase(receipt.seq, reason="law", by="counsel")
    assert (one.bundles.runs("latest"), other.bundles.runs("latest")) == ([], ["run-1"])


def test_a_run_that_was_not_erased_keeps_its_row(workspace: Workspace) -> None:
    workspace.bundle(job("one"))
    receipt = workspace.bundles.record_run("run-1", "latest")
    with (
        pytest.raises(IntegrityError),
        workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection,
    ):
        erase_run(connection, "default", receipt.seq)
    assert workspace.bundles.runs("latest") == ["run-1"]

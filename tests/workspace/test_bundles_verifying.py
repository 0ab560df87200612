"""Bundles in a workspace: proven, verified, and found out when something was changed."""

from dataclasses import replace
from pathlib import Path

import pytest

import evidentia
from evidentia.bundles.policy import EvidencePolicy
from evidentia.bundles.statement import from_statement
from evidentia.errors import InputError, IntegrityError
from evidentia.proof.document import Proof
from evidentia.proof.envelope import Envelope
from evidentia.store.lake import FileLake
from evidentia.workspace import Workspace
from evidentia.workspace.signing import current_key
from places import Place, kept_file, record
from workspace.made_bundles import (
    LONG,
    build_cut,
    bundle_file,
    job,
    proof_bytes,
    two_bundles,
    vandalise,
)

# Proven


def test_a_proven_bundle_holds_with_the_right_key_alone(
    workspace: Workspace, lake_root: Path
) -> None:
    bundle = build_cut(workspace, lake_root, "dropped")
    workspace.append(record(1))
    proof = workspace.bundles.prove(bundle.bundle_id[:8])
    report = evidentia.verify(proof_bytes(proof), key=workspace.trail.public_key())
    assert report.holds
    assert report.statement is not None
    assert from_statement(report.statement) == bundle
    assert not evidentia.verify(proof_bytes(proof)).holds
    assert Proof.parse(proof_bytes(proof)) == proof


def test_a_changed_bundle_is_caught_whoever_signed_it(sqlite_place: Place, lake_root: Path) -> None:
    workspace = sqlite_place.open()
    bundle = build_cut(workspace, lake_root)
    proof = workspace.bundles.prove(bundle.bundle_id)
    assert proof.envelope is not None
    changed = proof.envelope.payload.replace(b"Jedi", b"Sith")
    assert changed != proof.envelope.payload
    forged = Envelope.sign(changed, current_key(workspace._acting))
    for envelope in (replace(proof.envelope, payload=changed), forged):
        report = evidentia.verify(
            proof_bytes(replace(proof, envelope=envelope)), key=workspace.trail.public_key()
        )
        assert [check.name for check in report.checks if not check.holds] == ["statement"]
    other = workspace.bundles.prove(workspace.bundle(job("other")).bundle_id)
    swapped = replace(proof, envelope=other.envelope)
    assert not evidentia.verify(proof_bytes(swapped), key=workspace.trail.public_key()).holds


def test_a_bundle_too_large_for_a_proof_says_so(
    workspace: Workspace, lake_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_cut(workspace, lake_root)
    monkeypatch.setattr("evidentia.workspace.recorded.MAX_STATEMENT_BYTES", 100)
    with pytest.raises(InputError, match=r"the bundle has .* bytes, 100 at most in a proof"):
        workspace.bundles.prove("latest")


def test_changed_files_and_rows_are_not_proven_nor_rendered(
    workspace: Workspace, lake_root: Path
) -> None:
    bundle = build_cut(workspace, lake_root)
    path = bundle_file(workspace, bundle)
    path.write_bytes(path.read_bytes().replace(b"Jedi", b"Sith"))
    for read_again in (workspace.bundles.get, workspace.bundles.prove, workspace.bundles.render):
        with pytest.raises(IntegrityError, match="its bytes were changed since they were kept"):
            read_again("latest")


# Verified


def test_a_bundle_that_holds_says_what_was_looked_at(workspace: Workspace, lake_root: Path) -> None:
    bundle = build_cut(workspace, lake_root, "dropped")
    report = workspace.bundles.verify("latest")
    assert report.holds
    assert report.bundle_id == bundle.bundle_id
    assert report.checked[:3] == (
        "its file is the one that entry 0 of the trail names",
        "2 items within the limits of the policy",
        "3 inputs accounted for",
    )
    assert f"texts/long.md: {len(LONG)} bytes, unchanged" in report.checked
    assert len(report.checked) == 6
    assert workspace.bundles.audit() == []


def test_changed_and_missing_artifacts_are_found(workspace: Workspace, lake_root: Path) -> None:
    bundle = build_cut(workspace, lake_root, "dropped")
    assert bundle.items[0].full_ref is not None
    kept_file(workspace, bundle.items[0].full_ref["sha256"]).unlink()
    (lake_root / "texts" / "long.md").write_text("Other.")
    report = workspace.bundles.verify("latest")
    assert len(report.problems) == 2
    said = " ".join(report.problems)
    assert f"inline:0: {bundle.items[0].full_ref['lake_uri']} is gone; bring it back" in said
    assert "texts/long.md was changed since the bundle was built" in said
    assert workspace.bundles.audit() == [
        f"bundle {bundle.bundle_id}: {problem}" for problem in report.problems
    ]


def test_what_the_workspace_kept_itself_is_said_to_be_gone(
    workspace: Workspace, lake_root: Path
) -> None:
    bundle = build_cut(workspace, lake_root)
    assert bundle.items[0].full_ref is not None
    kept_file(workspace, bundle.items[0].full_ref["sha256"]).unlink()
    (problem,) = workspace.bundles.verify("latest").problems
    assert problem.endswith("is gone; bring it back from a copy")


def test_originals_that_moved_are_looked_for_where_they_are(
    workspace: Workspace, lake_root: Path, tmp_path: Path
) -> None:
    build_cut(workspace, lake_root)
    lake_root.rename(tmp_path / "moved")
    (problem,) = workspace.bundles.verify("latest").problems
    assert "texts/long.md is not in the lake" in problem
    assert workspace.bundles.verify("latest", lake_root=tmp_path / "moved").holds
    assert workspace.bundles.verify("latest", lake_root=str(tmp_path / "moved")).holds


def test_files_by_their_digest_in_another_lake_are_found_again(
    workspace: Workspace, tmp_path: Path
) -> None:
    digest = FileLake(tmp_path / "another").put(LONG.encode())
    workspace.bundle(
        {},
        {"lake_text": [f"sha256/{digest[:2]}/{digest[2:4]}/{digest}"]},
        EvidencePolicy(max_item_bytes=20),
        lake_root=tmp_path / "another",
    )
    assert workspace.bundles.verify("latest").problems == ()


def test_a_source_that_is_whole_in_the_bundle_may_change_or_go(
    workspace: Workspace, lake_root: Path
) -> None:
    bundle = workspace.bundle({}, {"lake_text": ["texts/long.md"]}, lake_root=lake_root)
    assert bundle.items[0].full_ref is None
    (lake_root / "texts" / "long.md").unlink()
    assert workspace.bundles.verify("latest").holds


def test_a_bundles_file_that_was_changed_or_removed_is_found(
    workspace: Workspace, lake_root: Path
) -> None:
    bundle = build_cut(workspace, lake_root)
    path = bundle_file(workspace, bundle)
    data = path.read_bytes()
    path.write_bytes(data.replace(b"Jedi", b"Sith"))
    (problem,) = workspace.bundles.verify("latest").problems
    assert "its bytes were changed since they were kept" in problem
    path.unlink()
    (problem,) = workspace.bundles.verify("latest").problems
    assert "gone from the lake" in problem
    assert len(workspace.bundles.audit()) == 1


def test_a_row_that_disagrees_with_the_trail_is_found(place: Place) -> None:
    workspace, one, other = two_bundles(place)
    digest = workspace.bundles.find(other.bundle_id).statement_sha256
    sql = "UPDATE llm.evidence_bundle SET statement_sha256 = ? WHERE bundle_id = ?"
    vandalise(place, sql, digest, one.bundle_id)
    for read_again in (workspace.bundles.get, workspace.bundles.prove):
        with pytest.raises(IntegrityError, match=f"bundle {one.bundle_id}: the database and the"):
            read_again(one.bundle_id)
    assert not workspace.bundles.verify(one.bundle_id).holds
    assert workspace.bundles.verify(other.bundle_id).holds
    assert len(workspace.bundles.audit()) == 1


def test_a_row_that_leads_to_another_bundles_file_is_found(place: Place) -> None:
    workspace, one, other = two_bundles(place)
    sql = "UPDATE llm.evidence_bundle SET lake_uri = ? WHERE bundle_id = ?"
    vandalise(place, sql, other.lake_uri, one.bundle_id)
    (problem,) = workspace.bundles.verify(one.bundle_id).problems
    assert "is not what the trail's entry 0 names" in problem


def test_a_body_of_the_trail_that_was_changed_is_found(place: Place) -> None:
    workspace, one, _ = two_bundles(place)
    vandalise(place, "UPDATE trail_bodies SET salt = body WHERE seq = 0")
    assert not workspace.bundles.verify(one.bundle_id).holds
    assert not workspace.trail.audit().holds


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("lake_uri = 'x'", ["bundle {}: the database says 'x', which is no file of the lake"]),
        (
            "trail_seq = 99",
            [
                "bundle {}: entry 0 of the trail records it, and the database does not have it",
                "bundle {}: ",
            ],
        ),
    ],
    ids=["lake_uri", "trail_seq"],
)
def test_a_row_that_leads_nowhere_is_found_and_the_audit_goes_on(
    place: Place, change: str, says: list[str]
) -> None:
    workspace, one, other = two_bundles(place)
    bundle_file(workspace, other).write_bytes(b"vandalised")
    vandalise(place, f"UPDATE llm.evidence_bundle SET {change} WHERE bundle_id = ?", one.bundle_id)
    assert not workspace.bundles.verify(one.bundle_id).holds
    found = workspace.bundles.audit()
    of_one = [problem for problem in found if one.bundle_id in problem]
    for problem, said in zip(of_one, says, strict=True):
        assert problem.startswith(said.format(one.bundle_id))
    assert [problem for problem in found if problem not in of_one] == [
        f"bundle {other.bundle_id}: {problem}"
        for problem in workspace.bundles.verify(other.bundle_id).problems
    ]
    assert len(found) == len(says) + 1


def damage(place: Place) -> Workspace:
    """Leave two bundles, the first with a row that cannot be read."""
    workspace, one, _ = two_bundles(place)
    sql = "UPDATE llm.evidence_bundle SET summary = '{' WHERE bundle_id = ?"
    vandalise(place, sql, one.bundle_id)
    return workspace


def test_a_row_that_cannot_be_read_is_found_and_the_audit_goes_on(place: Place) -> None:
    workspace = damage(place)
    told: list[int] = []
    (problem,) = workspace.bundles.audit(progress=lambda done, _: told.append(done))
    assert "its row in the database is damaged; run 'evidentia trail verify'" in problem
    assert told == [1, 2]
    with pytest.raises(IntegrityError, match="is damaged"):
        workspace.bundles.get("latest~1")


def test_a_row_that_cannot_be_read_is_reported(place: Place) -> None:
    assert not damage(place).bundles.verify("latest~1").holds


NOUGHTS = "0" * 64


@pytest.mark.parametrize(
    "change",
    [
        f"bundle_sha256 = '{NOUGHTS}'",
        "created_utc = '2000-01-01T00:00:00.000000Z'",
        "build_version = '0'",
        "policy = '{}'",
        "summary = '{}'",
        f"dropped_sha256 = '{NOUGHTS}'",
        "dropped_sha256 = NULL",
    ],
)
def test_a_bundles_row_that_differs_is_found(place: Place, lake_root: Path, change: str) -> None:
    workspace = place.open()
    bundle = build_cut(workspace, lake_root, "dropped")
    workspace.bundle(job("other"))
    sql = f"UPDATE llm.evidence_bundle SET {change} WHERE bundle_id = ?"
    vandalise(place, sql, bundle.bundle_id)
    (problem,) = workspace.bundles.verify(bundle.bundle_id).problems
    assert problem == f"the database has another {change.split(maxsplit=1)[0]} than the bundle"
    assert workspace.bundles.audit() == [f"bundle {bundle.bundle_id}: {problem}"]


@pytest.mark.parametrize(
    "change",
    [
        "SET evidence_id = 'inline:7'",
        "SET item_index = 7",
        "SET evidence_type = 'lake_text'",
        "SET origin = 'elsewhere'",
        "SET outcome = 'kept'",
        "SET reason = ''",
        "SET input_bytes = 7",
        "SET byte_count = 7",
        f"SET content_sha256 = '{NOUGHTS}'",
        "SET content_sha256 = NULL",
        f"SET artifact_sha256 = '{NOUGHTS}'",
        "SET artifact_uri = 'docs/leave.md'",
        "SET artifact_uri = NULL",
        "DELETE",
    ],
)
def test_an_items_row_that_differs_or_is_gone_is_found(
    place: Place, lake_root: Path, change: str
) -> None:
    workspace = place.open()
    bundle = build_cut(workspace, lake_root, "dropped")
    words = (
        "DELETE FROM llm.evidence_item"
        if change == "DELETE"
        else f"UPDATE llm.evidence_item {change}"
    )
    vandalise(place, f"{words} WHERE evidence_id = 'inline:0'")
    names = ["inline:0", "inline:7"] if "inline:7" in change else ["inline:0"]
    problems = workspace.bundles.verify(bundle.bundle_id).problems
    assert problems == tuple(f"{name}: the database has another row of it" for name in names)
    assert len(workspace.bundles.audit()) == len(names)


def test_an_items_row_that_was_added_is_found(place: Place, lake_root: Path) -> None:
    workspace = place.open()
    build_cut(workspace, lake_root, "dropped")
    vandalise(
        place,
        "INSERT INTO llm.evidence_item SELECT tenant, bundle_id, 'inline:7', 7, evidence_type, "
        "origin, outcome, reason, input_bytes, byte_count, content_sha256, artifact_sha256, "
        "artifact_uri FROM llm.evidence_item WHERE evidence_id = 'inline:0'",
    )
    (problem,) = workspace.bundles.verify("latest").problems
    assert problem == "inline:7: the database has another row of it"


def test_a_bundle_whose_rows_were_deleted_is_missed(place: Place) -> None:
    workspace, one, other = two_bundles(place)
    for table in ("evidence_item", "evidence_bundle"):
        vandalise(place, f"DELETE FROM llm.{table} WHERE bundle_id = ?", one.bundle_id)
    missing = (
        f"bundle {one.bundle_id}: entry 0 of the trail records it, and the database does not "
        "have it"
    )
    assert [listed.bundle_id for listed in workspace.bundles.list()] == [other.bundle_id]
    assert workspace.bundles.audit() == [missing]
    vandalise(place, "DELETE FROM llm.evidence_item")
    vandalise(place, "DELETE FROM llm.evidence_bundle")
    assert workspace.bundles.list() == []
    assert workspace.bundles.audit() == [
        missing,
        missing.replace("entry 0", "entry 2").replace(one.bundle_id, other.bundle_id),
    ]


def test_another_tenants_bundles_are_not_missed(place: Place) -> None:
    place.open("other").bundle(job("one"))
    assert place.open().bundles.audit() == []


def test_a_dropped_source_that_changed_is_found(workspace: Workspace, lake_root: Path) -> None:
    refs = {"lake_text": [{"lake_uri": "texts/long.md", "priority": -1}]}
    bundle = workspace.bundle(job("one"), refs, EvidencePolicy(max_items=1), lake_root=lake_root)
    assert workspace.bundles.verify("latest").holds
    (lake_root / "texts" / "long.md").write_text("Other.")
    (problem,) = workspace.bundles.verify("latest").problems
    dropped = bundle.accounting.decisions[1].evidence_id
    assert problem == f"{dropped}: texts/long.md was changed since the bundle was built"


def test_a_run_is_not_recorded_with_a_digest_that_the_bundle_has_not(place: Place) -> None:
    workspace, one, _ = two_bundles(place)
    sql = "UPDATE llm.evidence_bundle SET bundle_sha256 = ? WHERE bundle_id = ?"
    vandalise(place, sql, "0" * 64, one.bundle_id)
    receipt = workspace.bundles.record_run("run-1", one.bundle_id)
    assert workspace.trail.entry(receipt.seq).body["bundle_sha256"] == one.bundle_sha256


def test_progress_of_an_audit_of_bundles_is_told(workspace: Workspace) -> None:
    for text in ("one", "two"):
        workspace.bundle(job(text))
    told: list[tuple[int, int]] = []
    assert workspace.bundles.audit(progress=lambda *done: told.append(done)) == []
    assert told == [(1, 2), (2, 2)]

"""Packs: assembled, sealed, replaced by newer versions, and found out if anyone changes them."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from evidentia.bundles.policy import EvidencePolicy
from evidentia.canonical import sha256_hex
from evidentia.errors import (
    ConflictError,
    InputError,
    IntegrityError,
    NotFoundError,
    SealingError,
    UsageError,
)
from evidentia.packs.actions import ActionComparison, Basis
from evidentia.packs.assembly import assemble
from evidentia.packs.decision import Requirement
from evidentia.packs.model import Attachment, EvidencePack
from evidentia.packs.tools import ToolCallRecord, ToolVerificationLedger
from evidentia.store.database import run
from evidentia.verifying import verify
from evidentia.workspace import Workspace
from forking import Child
from packing import decision, make_pack, memo, opened, tool_call
from places import Place, kept_file, lake_folder, lake_of, record
from vandal import Vandal, vandal_at
from workspace.made_bundles import job
from workspace.policies import ANSWER, BY_RULES, lake_files, read_here, write_policies


@pytest.fixture
def acme(sqlite_place: Place) -> Workspace:
    """Give a workspace on the embedded database, with a clock of its own."""
    return opened(sqlite_place)


def by_hand(workspace: Workspace, number: int = 1, **changes: Any) -> EvidencePack:
    """Assemble a pack outside of the workspace, and change it."""
    made = assemble(
        decision(number),
        memo=memo(),
        tool_ledger=workspace.tools,
        created_at="2026-03-01T12:00:00Z",
    )
    return made.model_copy(update={"pack_id": "", **changes})


# From a decision to the newest version


def test_a_pack_is_assembled_shown_reviewed_and_revised(place: Place) -> None:
    workspace = opened(place)
    pack = make_pack(workspace)
    assert (pack.version, pack.is_resolved) == (1, False)
    assert (
        workspace.packs.get("dec_1")
        == workspace.packs.get("latest")
        == workspace.packs.get(pack.pack_id)
        == pack
    )
    reviewed = workspace.packs.review("dec_1", "approved", reviewer="ann", note="fine")
    assert (reviewed.version, reviewed.replaces) == (2, pack.pack_id)
    assert (reviewed.reviewer_id, reviewed.review_note, reviewed.is_resolved) == (
        "ann",
        "fine",
        True,
    )
    revised = workspace.packs.revise("dec_1", {"trace_id": "0" * 32})
    assert (revised.version, revised.replaces) == (3, reviewed.pack_id)
    assert revised.reviewer_id is None  # the review was of what the pack said before
    assert not revised.is_resolved
    chain = [pack, reviewed, revised]
    for one in chain:
        assert [v.id for v in workspace.packs.versions(one.pack_id)] == [v.pack_id for v in chain]
        assert workspace.packs.get(one.pack_id) == one
    assert [one.id for one in workspace.packs.list()] == [revised.pack_id]
    kinds = [logged.entry.kind for logged in workspace.trail.entries()]
    assert kinds == ["decision", "key", "pack", "review", "pack"]
    assert workspace.trail.audit().holds
    assert workspace.packs.audit().holds
    assert place.open().packs.get("dec_1") == revised


def test_the_trail_says_what_was_sealed_and_by_whom(acme: Workspace) -> None:
    pack = make_pack(acme)
    listed = acme.packs.find(pack.pack_id)
    logged = acme.trail.entry(listed.entry)
    assert logged.entry.subject == pack.pack_id
    assert logged.body == {
        "statement_sha256": listed.statement_sha256,
        "predicate_type": "urn:evidentia:spec:v1:pack",
        "decision_id": "dec_1",
        "version": 1,
        "replaces": None,
        "outcome": None,
        "by": "owner",
    }
    assert "hospital" not in json.dumps([one.body for one in acme.trail.entries()])


def test_without_a_memo_a_draft_in_both_languages_is_written(acme: Workspace) -> None:
    pack = acme.assemble(decision())
    assert "Offer the hospital a pilot" in pack.memo.executive_summary_en
    assert "تقديم عرض تجريبي" in pack.memo.executive_summary_ar
    assert acme.packs.get("latest") == pack


def test_a_ledger_and_bundles_are_referred_to_by_their_digests(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_here(monkeypatch)
    workspace = place.open()
    ledger = workspace.check(ANSWER, against=write_policies(tmp_path / "docs"), judges=BY_RULES)
    bundle = workspace.bundle(job("one", "two"), policy=EvidencePolicy(max_items=1))
    pack = workspace.assemble(decision(), ledger=ledger, bundles=["latest"])
    assert pack.ledger is not None
    assert pack.ledger.ledger_id == ledger.id
    assert pack.ledger.statement_sha256 == workspace.ledgers.find(ledger.id).statement_sha256
    assert pack.ledger.summary == ledger.summary
    assert [(one.bundle_id, one.bundle_sha256) for one in pack.bundles] == [
        (bundle.bundle_id, bundle.bundle_sha256)
    ]
    assert workspace.assemble(decision(2), ledger=ledger.id).ledger == pack.ledger
    wrong = [{"bundle_id": bundle.bundle_id, "bundle_sha256": "0" * 64}]
    with pytest.raises(InputError, match="has another digest than the pack says"):
        workspace.packs.revise("dec_1", {"bundles": wrong})
    other = pack.ledger.model_dump(mode="json") | {"statement_sha256": "0" * 64}
    with pytest.raises(InputError, match="is not as the pack says"):
        workspace.packs.revise("dec_1", {"ledger": other})
    workspace.trail.erase(workspace.ledgers.find(ledger.id).entry, reason="law", by="counsel")
    assert workspace.packs.review("dec_1", "rejected").ledger == pack.ledger


def test_the_trace_of_the_current_span_is_kept(
    acme: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evidentia.packs.recording.current_trace_id", lambda: "a" * 32)
    assert make_pack(acme).trace_id == "a" * 32
    assert acme.assemble(decision(2), trace_id="b" * 32).trace_id == "b" * 32


# Attachments


def test_attachments_are_in_the_lake_under_the_keys_of_the_row(
    acme: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "b.pdf").write_bytes(b"%PDF-")
    pack = acme.assemble(
        decision(), attachments={"a.txt": b"hello", "b.pdf": tmp_path / "b.pdf", "c": b""}
    )
    assert [(one.name, one.media_type, one.bytes) for one in pack.attachments] == [
        ("a.txt", "text/plain", 5),
        ("b.pdf", "application/pdf", 5),
        ("c", "application/octet-stream", 0),
    ]
    keys = acme.packs.find("latest").attachments
    files = [lake_folder(acme) / key for key in keys]
    assert [path.read_bytes() for path in files] == [b"hello", b"%PDF-", b""]


def test_a_revision_keeps_adds_replaces_and_drops_attachments(acme: Workspace) -> None:
    acme.assemble(decision(), attachments={"a": b"1", "b": b"2"})
    pack = acme.packs.revise("dec_1", {}, attachments={"b": b"3", "c": b"4"})
    digests = [sha256_hex(data) for data in (b"1", b"3", b"4")]
    assert [(one.name, one.sha256) for one in pack.attachments] == list(
        zip("abc", digests, strict=True)
    )
    kept = [one.model_dump() for one in pack.attachments[:1]]
    assert acme.packs.revise("dec_1", {"attachments": kept}).attachments == pack.attachments[:1]
    with pytest.raises(InputError, match="give files, or change the field, not both"):
        acme.packs.revise("dec_1", {"attachments": []}, attachments={"d": b"5"})


def test_a_digest_alone_attaches_nothing(place: Place) -> None:
    """Else whoever knows the digest of another tenant's file could export it."""
    one, other = place.open(), place.open("other")
    secret = lake_of(other).put(b"a secret of another tenant")
    made = make_pack(one)
    stolen = Attachment(name="x", sha256=secret, bytes=26)
    with pytest.raises(InputError, match="give the file that it names by its digest"):
        one.packs.revise(made.pack_id, {"attachments": [stolen.model_dump()]})
    pack = by_hand(one, 2, attachments=(stolen,))
    with pytest.raises(InputError, match="give the file that it names by its digest"):
        one.packs.seal(pack)
    sealed = one.packs.seal(pack, attachments={"x": b"a secret of another tenant"})
    assert one.packs.get("latest") == sealed


@pytest.mark.parametrize(
    ("attachments", "says"),
    [
        ({" ": b""}, "attachment.name: must not be blank"),
        ({"a": Path("nowhere")}, "nowhere: no such file"),
        ({"a": bytes(33 * 2**20)}, "a: larger than"),
    ],
)
def test_a_file_that_cannot_be_attached_is_said(
    acme: Workspace, attachments: dict[str, bytes | Path], says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        acme.assemble(decision(), attachments=attachments)
    assert lake_files(acme) == []


# Decisions


def test_a_decision_is_recorded_once(place: Place) -> None:
    workspace = place.open()
    found = workspace.packs.record_decision(decision())
    assert (found.requirement, found.tier) == (Requirement.MANDATORY, "A")
    assert workspace.packs.record_decision(decision()) == found
    make_pack(workspace)
    assert len(workspace.trail.entries(kind="decision")) == 1
    with pytest.raises(ConflictError, match=r"recorded before with other content \(entry 0\)"):
        workspace.packs.record_decision(decision(confidence=0.9))
    with pytest.raises(ConflictError, match="a changed decision is another decision"):
        make_pack(workspace, confidence=0.9)


def test_decisions_recorded_at_once_are_recorded_once(place: Place) -> None:
    workspaces = [place.open() for _ in range(4)]

    def record_one(workspace: Workspace) -> bool:
        try:
            workspace.packs.record_decision(
                decision(confidence=0.5 + workspaces.index(workspace) / 10)
            )
        except ConflictError:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(record_one, workspaces)) == 1
    assert len(workspaces[0].trail.entries(kind="decision")) == 1


@pytest.mark.parametrize("name", ["decision_id", "entity_id", "agent_name"])
@pytest.mark.parametrize("value", ["a\0b", "ب" * 990])
def test_ids_that_no_database_could_hold_are_refused(
    acme: Workspace, name: str, value: str
) -> None:
    changes: dict[str, Any] = {name: value}
    with pytest.raises(InputError, match=f"{name}: .* cannot be stored"):
        acme.packs.record_decision(decision(**changes))
    assert acme.trail.size == 0


def test_a_decision_may_be_called_anything_else(place: Place) -> None:
    workspace = place.open()
    pack = make_pack(workspace, decision_id="قرار\u200f 7/«1» %_'\n")
    assert workspace.packs.get(pack.decision_id) == pack


def test_a_decision_or_pack_of_another_tenant_is_refused(place: Place) -> None:
    one, other = place.open(), place.open("other")
    with pytest.raises(InputError, match="the decision is of tenant 'default'"):
        other.assemble(decision())
    pack = make_pack(one)
    with pytest.raises(InputError, match="the pack is of tenant 'default', and this workspace is"):
        other.packs.seal(pack)
    for name in (pack.pack_id, "dec_1", "latest"):
        with pytest.raises(NotFoundError, match="there is no pack"):
            other.packs.get(name)
    assert other.packs.list() == []
    assert other.trail.size == 0


# Tool calls


def test_every_recorded_call_comes_along_failures_too(place: Place) -> None:
    workspace = place.open()
    calls = [tool_call(1), tool_call(2, failed=True), tool_call(1)]
    for call in calls:
        workspace.tools.record("dec_1", call)
    workspace.tools.offer("dec_1", "crm.get_contact", "mail.send")
    workspace.tools.record("dec_2", tool_call(9))
    pack = make_pack(workspace)
    assert pack.tool_calls == calls
    assert pack.tools_offered == ["crm.get_contact", "mail.send"]


@pytest.mark.parametrize("left_out", [0, 1, 2])
def test_a_call_that_is_left_out_is_refused(acme: Workspace, left_out: int) -> None:
    calls = [tool_call(1), tool_call(2, failed=True), tool_call(3)]
    for call in calls:
        acme.tools.record("dec_1", call)
    kept = tuple(call for call in calls if call is not calls[left_out])
    with pytest.raises(SealingError, match="successes_only") as refused:
        acme.packs.seal(by_hand(acme, tool_calls=kept))
    assert len(refused.value.unmet) == 1
    assert ("that failed is recorded" in str(refused.value)) == (left_out == 1)
    assert lake_files(acme) == []
    make_pack(acme)
    with pytest.raises(SealingError, match="successes_only"):
        acme.packs.revise("dec_1", {"tool_calls": [call.model_dump() for call in kept]})


def test_a_call_recorded_after_sealing_must_be_in_the_next_version(acme: Workspace) -> None:
    make_pack(acme)
    acme.tools.record("dec_1", tool_call(1, failed=True))
    with pytest.raises(SealingError, match="successes_only"):
        acme.packs.review("dec_1", "approved")
    acme.packs.revise("dec_1", {"tool_calls": [tool_call(1, failed=True).model_dump()]})
    assert acme.packs.review("dec_1", "approved").is_resolved


def test_calls_of_another_ledger_are_taken_over_once(acme: Workspace) -> None:
    other = ToolVerificationLedger()
    for call in (tool_call(1), tool_call(1), tool_call(2, failed=True)):
        other.record("dec_1", call)
    other.offer("dec_1", "a", "b")
    acme.tools.record("dec_1", tool_call(1))
    acme.tools.offer("dec_1", "b")
    pack = acme.assemble(decision(), tool_ledger=other)
    assert pack.tool_calls == [tool_call(1), tool_call(1), tool_call(2, failed=True)]
    assert pack.tools_offered == ["b", "a"]
    size = acme.trail.size
    acme.tools.take_over("dec_1", other)
    assert acme.trail.size == size


def test_an_erased_call_is_left_out(acme: Workspace) -> None:
    acme.tools.record("dec_1", tool_call(1))
    acme.trail.erase(0, reason="law", by="counsel")
    assert make_pack(acme).tool_calls == []


# What is refused


def test_a_pack_that_lacks_something_is_refused_with_all_that_it_lacks(acme: Workspace) -> None:
    lacking = decision(evidence=[{"source": "a", "uri": "a://1", "excerpt": "x"}])
    with pytest.raises(SealingError) as refused:
        acme.assemble(lacking)
    assert len(refused.value.unmet) == 2
    with pytest.raises(InputError, match=r"pack\.sources: "):
        acme.assemble(decision(2, evidence=[]))
    assert acme.packs.list() == []
    assert acme.packs.audit().missing == ("dec_1", "dec_2")
    assert acme.packs.missing() == ["dec_1", "dec_2"]


def test_a_second_pack_of_a_decision_is_an_edit_in_place(place: Place) -> None:
    workspace = opened(place)
    pack = make_pack(workspace)
    files = lake_files(workspace)
    for again in (pack, by_hand(workspace, trace_id="1" * 32)):
        with pytest.raises(SealingError, match=f"has pack {pack.pack_id} already.*edited_in_place"):
            workspace.packs.seal(again)
    assert lake_files(workspace) == files  # nothing is left of what was refused
    assert [one.id for one in workspace.packs.list(all_versions=True)] == [pack.pack_id]


@pytest.mark.parametrize("status", ["pending", "contradicted"])
def test_a_call_that_waits_for_its_check_is_sealed_and_verifies(
    acme: Workspace, tmp_path: Path, status: str
) -> None:
    call = tool_call(1).model_copy(update={"verification_status": status})
    acme.tools.record("dec_1", call)
    pack = make_pack(acme)
    assert pack.tool_calls == [call]
    assert acme.packs.get("dec_1") == pack
    for name in ("pack.json", "pack.pdf"):
        report = acme.verify(acme.export(pack.pack_id, tmp_path / name))
        assert report.holds, report.checks
        assert {"pack", "file"} <= {check.name for check in report.checks}
    reviewed = acme.packs.review("dec_1", "approved")
    assert (reviewed.v, reviewed.tool_calls) == (2, [call])
    checked = call.model_copy(update={"verification_status": "verified"})
    with pytest.raises(SealingError, match="is recorded for dec_1 and not in the pack"):
        acme.packs.revise("dec_1", {"tool_calls": [checked.model_dump(mode="json")]})
    assert acme.packs.audit().holds


def test_a_pack_is_not_sealed_with_a_review_or_as_a_newer_version(acme: Workspace) -> None:
    review: dict[str, Any] = {
        "reviewer_id": "ann",
        "reviewed_at": "2026-03-01T12:00:00Z",
        "review_outcome": "approved",
    }
    with pytest.raises(InputError, match=r"a review is made with packs\.review"):
        acme.packs.seal(by_hand(acme, **review))
    del review["review_outcome"]
    with pytest.raises(InputError, match=r"with its outcome \(approved or rejected\)"):
        acme.packs.seal(by_hand(acme, **review))
    with pytest.raises(InputError, match="made by revising or reviewing"):
        acme.packs.seal(by_hand(acme, version=2, replaces="pack_" + "0" * 16))


@pytest.mark.parametrize(
    "changes",
    [{"entity_id": "other"}, {"agent_name": "other"}, {"decision": None}, {"decision": "lighter"}],
)
def test_a_pack_says_of_its_decision_what_was_recorded(
    acme: Workspace, changes: dict[str, Any]
) -> None:
    acme.packs.record_decision(decision())
    pack = by_hand(acme)
    assert pack.decision is not None
    if changes.get("decision"):
        changes = {"decision": pack.decision.model_copy(update={"high_stakes": True})}
    (name,) = changes
    with pytest.raises(InputError, match=rf"pack\.{name} is not as it was recorded of dec_1"):
        acme.packs.seal(pack.model_copy(update={"pack_id": "", **changes}))
    make_pack(acme)
    with pytest.raises(InputError, match=f"{name} cannot be revised"):
        acme.packs.revise("dec_1", changes)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"reviewer_id": "me"}, "reviewer_id cannot be revised"),
        ({"created_at": "2020-01-01T00:00:00Z"}, "created_at cannot be revised"),
        ({"tool_cals": []}, "there is no such field; is it tool_calls"),
        ({"memo": {}}, "pack.memo.title_ar: Field required"),
        ({"sources": []}, "pack.sources"),
    ],
)
def test_changes_that_cannot_be_made_are_said(
    acme: Workspace, changes: dict[str, Any], says: str
) -> None:
    make_pack(acme)
    with pytest.raises(InputError, match=says):
        acme.packs.revise("dec_1", changes)
    assert len(acme.packs.list(all_versions=True)) == 1


def test_a_review_has_an_outcome_and_a_reviewer(acme: Workspace) -> None:
    make_pack(acme)
    with pytest.raises(InputError, match="ends in approved or rejected, not 'maybe'"):
        acme.packs.review("dec_1", "maybe")
    for name in ("", "  ", "x" * 1001, "a\0"):
        with pytest.raises(InputError, match="a reviewer has a name"):
            acme.packs.review("dec_1", "approved", reviewer=name)
    assert acme.packs.review("dec_1", "rejected").reviewer_id == "owner"


@pytest.mark.parametrize("name", ["pack_" + "0" * 16, "nothing", "%", "\0", "\ud800"])
def test_a_pack_that_is_not_there_is_said_to_be_so(place: Place, name: str) -> None:
    with pytest.raises(NotFoundError, match=r"there is no pack .*'evidentia pack list' shows them"):
        place.open().packs.get(name)


def test_of_no_packs_none_is_the_latest(place: Place) -> None:
    with pytest.raises(NotFoundError, match=r"there is no pack latest: .* has no packs yet"):
        place.open().packs.get("latest")


# Forks


def revise(workspace: Workspace, name: str, mark: str) -> bool:
    """Revise a pack; return whether it was the newest version."""
    try:
        workspace.packs.revise(name, {"trace_id": mark * 32})
    except ConflictError:
        return False
    return True


def test_an_older_version_is_not_revised_again(place: Place) -> None:
    workspace = opened(place)
    pack = make_pack(workspace)
    assert revise(workspace, pack.pack_id, "1")
    assert not revise(workspace, pack.pack_id, "2")
    with pytest.raises(ConflictError, match="look at it with 'evidentia pack show pack_"):
        workspace.packs.review(pack.pack_id, "approved")
    assert len(lake_files(workspace)) == 2


def test_of_two_revisions_in_threads_one_wins(place: Place) -> None:
    workspaces = [place.open(), place.open()]
    for number in range(1, 5):
        name = make_pack(workspaces[0], number).pack_id
        with ThreadPoolExecutor(2) as pool:
            won = list(pool.map(revise, workspaces, [name] * 2, "12"))
        assert sorted(won) == [False, True]
        assert [one.version for one in workspaces[0].packs.versions(name)] == [1, 2]
    assert workspaces[0].trail.audit().holds
    assert workspaces[0].packs.audit().holds


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
def test_of_revisions_in_processes_one_wins(place: Place, tmp_path: Path) -> None:
    name = make_pack(place.open()).pack_id

    def work(mark: str) -> None:
        if revise(place.open(), name, mark):
            (tmp_path / f"won {mark}").touch()

    children = [Child(lambda mark=mark: work(mark)) for mark in "123"]  # type: ignore[misc]
    for child in children:
        child.end()
    assert len(list(tmp_path.glob("won *"))) == 1
    assert place.open().packs.audit().packs == 2


# Listing


def test_packs_are_listed_newest_first_page_by_page(place: Place) -> None:
    workspace = opened(place)
    made = [make_pack(workspace, number).pack_id for number in range(1, 6)]
    made[1] = workspace.packs.review("dec_2", "approved").pack_id
    expected = [made[1], made[4], made[3], made[2], made[0]]
    found: list[str] = []
    before = None
    while page := workspace.packs.list(before=before, limit=2):
        found += [one.id for one in page]
        before = page[-1].entry
    assert found == expected
    assert made[1] not in {one.id for one in workspace.packs.list(unresolved=True)}
    assert len(workspace.packs.list(all_versions=True)) == 6


# What was tampered with


Tamper = Callable[[Workspace, Vandal], None]


def _json(workspace: Workspace, vandal: Vandal) -> None:
    vandal.change("UPDATE evidence_packs SET pack = replace(pack, 'lead_1', 'lead_9')", rows=None)


def _resolved(workspace: Workspace, vandal: Vandal) -> None:
    vandal.change("UPDATE evidence_packs SET resolved = true WHERE decision_id = 'dec_1'")


def _attachments(workspace: Workspace, vandal: Vandal) -> None:
    vandal.change("UPDATE evidence_packs SET attachments = '[' WHERE decision_id = 'dec_1'")


def _attachment_unnamed(workspace: Workspace, vandal: Vandal) -> None:
    vandal.change("DELETE FROM pack_attachments")


def _another_entry(workspace: Workspace, vandal: Vandal) -> None:
    vandal.change("UPDATE evidence_packs SET trail_seq = 99 WHERE decision_id = 'dec_1'")


def _another_statement(workspace: Workspace, vandal: Vandal) -> None:
    digest = workspace.packs.find("dec_2").statement_sha256
    sql = "UPDATE evidence_packs SET statement_sha256 = ? WHERE decision_id = 'dec_1'"
    vandal.change(sql, digest)


def _removed(workspace: Workspace, vandal: Vandal) -> None:
    vandal.change("DELETE FROM evidence_packs WHERE decision_id = 'dec_1'")


def _renamed(workspace: Workspace, vandal: Vandal) -> None:
    vandal.change("UPDATE evidence_packs SET id = 'pack_x' WHERE decision_id = 'dec_1'")


def _statement_changed(workspace: Workspace, vandal: Vandal) -> None:
    path = kept_file(workspace, workspace.packs.find("dec_1").statement_sha256)
    path.write_bytes(path.read_bytes().replace(b"lead_1", b"lead_9"))


def _statement_gone(workspace: Workspace, vandal: Vandal) -> None:
    kept_file(workspace, workspace.packs.find("dec_1").statement_sha256).unlink()


def _attachment_changed(workspace: Workspace, vandal: Vandal) -> None:
    (key,) = workspace.packs.find("dec_1").attachments
    (lake_folder(workspace) / key).write_bytes(b"other")


@pytest.mark.parametrize(
    "tamper",
    [
        _json,
        _resolved,
        _attachments,
        _attachment_unnamed,
        _another_entry,
        _another_statement,
        _removed,
        _renamed,
        _statement_changed,
        _statement_gone,
        _attachment_changed,
    ],
)
def test_what_was_changed_behind_the_guards_is_found(place: Place, tamper: Tamper) -> None:
    workspace = place.open()
    pack = workspace.assemble(decision(), memo=memo(), attachments={"a": b"a"})
    make_pack(workspace, 2)
    assert workspace.packs.audit().holds
    with vandal_at(place.url or place.home.database, "seed") as vandal:
        tamper(workspace, vandal)
    found = workspace.packs.audit()
    assert not found.holds
    assert any(problem.startswith(f"pack {pack.pack_id}: ") for problem in found.problems)
    with suppress(IntegrityError, NotFoundError):
        assert workspace.packs.get(pack.pack_id) == pack  # never as something else


def test_a_restored_older_database_is_refused(sqlite_place: Place) -> None:
    workspace = opened(sqlite_place)
    pack = make_pack(workspace)
    sqlite_place.close()
    before = sqlite_place.home.database.read_bytes()
    workspace = sqlite_place.open()
    workspace.packs.review(pack.pack_id, "rejected")
    workspace.trail.checkpoint()
    sqlite_place.close()
    sqlite_place.home.database.write_bytes(before)
    workspace = sqlite_place.open()
    with pytest.raises(IntegrityError, match="rolled back or rewritten"):
        workspace.packs.review(pack.pack_id, "approved")
    assert not workspace.trail.audit().holds


def test_an_older_row_in_place_of_the_newest_is_found(place: Place) -> None:
    """Who hides a rejection by removing its row is found out by the trail."""
    workspace = opened(place)
    make_pack(workspace)
    rejected = workspace.packs.review("dec_1", "rejected")
    with vandal_at(place.url or place.home.database, "seed") as vandal:
        vandal.change("DELETE FROM evidence_packs WHERE version = 2")
    (problem,) = workspace.packs.audit().problems
    assert problem == (
        f"pack {rejected.pack_id}: entry 3 of the trail records it, and the database does not "
        "have it"
    )


# Audits


def test_missing_mandatory_packs_are_reported_and_no_others(place: Place) -> None:
    workspace = opened(place)
    workspace.append(record(1))
    workspace.packs.record_decision(decision(1))
    recommended = {"approval_class": "A1", "reversibility_class": "R0", "sensitivity_class": "S0"}
    assert workspace.packs.record_decision(decision(2, **recommended)).requirement == "recommended"
    skipped = recommended | {"approval_class": "A0"}
    assert workspace.packs.record_decision(decision(3, **skipped)).requirement == "skip"
    made = make_pack(workspace, 4)
    told: list[tuple[int, int]] = []
    found = workspace.packs.audit(progress=lambda done, total: told.append((done, total)))
    assert (found.decisions, found.packs, found.missing) == (4, 1, ("dec_1",))
    assert found.unresolved == (made.pack_id,)
    assert (found.problems, found.holds) == ((), False)
    assert told == [(1, 1)]
    make_pack(workspace, 1)
    workspace.packs.review("dec_1", "approved")
    workspace.packs.review("dec_4", "rejected")
    found = workspace.packs.audit()
    assert found.holds
    assert found.as_json() == {
        "decisions": 4,
        "packs": 4,
        "missing": [],
        "unresolved": [],
        "late_calls": [],
        "missing_calls": [],
        "problems": [],
    }


def test_calls_that_were_recorded_after_their_pack_was_sealed_are_listed(place: Place) -> None:
    workspace = opened(place)
    workspace.tools.record("dec_1", tool_call(1))
    first = make_pack(workspace)
    make_pack(workspace, 2)
    assert workspace.packs.audit().late_calls == ()
    workspace.tools.record("dec_1", tool_call(2, failed=True))
    workspace.tools.offer("dec_1", "crm.delete_contact")
    found = workspace.packs.audit()
    (said,) = found.late_calls
    assert said == (
        f"pack {first.pack_id}: a call of crm.get_contact that failed was recorded for dec_1 after "
        "it was sealed: revise it"
    )
    assert found.holds
    calls = [one.model_dump(mode="json") for one in workspace.tools.calls("dec_1")]
    workspace.packs.revise("dec_1", {"tool_calls": calls})
    assert workspace.packs.audit().late_calls == ()


# Rules that change


def test_a_pack_that_was_sealed_by_other_rules_is_read_reviewed_and_verified(
    acme: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(
            "evidentia.packs.tools.compare_actions",
            lambda *_, **__: ActionComparison(contradiction=False, basis=Basis.SAME, reason=""),
        )
        deleted = tool_call(1).model_copy(update={"actual_action": "deleted contact 1"})
        acme.tools.record("dec_1", deleted)
        old = make_pack(acme)
    assert old.contradictions == []
    assert acme.packs.get("dec_1") == old
    assert acme.tools.calls("dec_1") == [deleted]
    assert acme.packs.review("dec_1", "approved").tool_calls == [deleted]
    added = acme.packs.revise("dec_1", {"tool_calls": [deleted.model_dump(mode="json")]})
    assert added.tool_calls == [deleted]
    assert acme.packs.audit().holds
    report = verify(acme.packs.export("dec_1", tmp_path / "pack.json"), key=acme.trail.public_key())
    assert report.holds
    (finding,) = report.findings
    assert "is not flagged, and by the rules of this version it is a contradiction" in finding


def test_a_contradiction_that_is_told_away_is_neither_recorded_nor_sealed(acme: Workspace) -> None:
    made = tool_call(1).model_dump(mode="json")
    told = ToolCallRecord.recorded({**made, "actual_action": "deleted contact 1"})
    with pytest.raises(InputError, match="is not recorded: contradiction_flag cannot be"):
        acme.tools.record("dec_1", told)
    read = EvidencePack.parse(by_hand(acme, tool_calls=(told,)).encode())
    with pytest.raises(SealingError, match=r"tool_calls\[1\]: contradiction_flag cannot be switch"):
        acme.packs.seal(read)
    assert acme.trail.size == 0


def test_a_pack_that_is_not_about_its_decision_is_found(acme: Workspace) -> None:
    acme.packs.seal(by_hand(acme, decision=None))
    assert acme.packs.audit().holds
    acme.packs.record_decision(decision())
    (problem,) = acme.packs.audit().problems
    assert problem.endswith("decision is not as it was recorded of dec_1")


def test_rows_of_packs_cannot_be_changed_through_the_library(acme: Workspace) -> None:
    make_pack(acme)
    with (
        pytest.raises(IntegrityError, match="evidence_packs is append-only: no update"),
        acme.opened.database.of(acme.tenant).write(sequencing=True) as connection,
    ):
        run(connection, "UPDATE evidence_packs SET resolved = true")

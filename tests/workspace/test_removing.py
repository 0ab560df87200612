"""Documents that are taken out of the library: in no later check, on record, and back again."""

from pathlib import Path

import pytest

from evidentia.documents.recording import removal_body
from evidentia.errors import AccessError, InputError, NotFoundError
from evidentia.trail.entry import EntryKind
from evidentia.workspace import Workspace
from evidentia.workspace.library import audited_documents
from packing import opened
from places import Place

FEES = "The late fee is 10 euros.\n"
JUDGES = ("quote", "numbers")

pytestmark = pytest.mark.usefixtures("_read_here")


@pytest.fixture
def workspace(place: Place) -> Workspace:
    return opened(place)


@pytest.fixture
def rules(workspace: Workspace, tmp_path: Path) -> Path:
    folder = tmp_path / "rules"
    (folder / "old").mkdir(parents=True)
    (folder / "fees.txt").write_text(FEES)
    (folder / "old" / "gifts.txt").write_text("Gifts above 50 euros are reported.\n")
    workspace.ingest(folder)
    return folder


def names(workspace: Workspace, *, removed: bool = False) -> list[str]:
    return [one.filename for one in workspace.documents.list(removed=removed)]


def problems(workspace: Workspace) -> list[str]:
    return list(audited_documents(workspace.documents._acting, quick=False))


@pytest.mark.usefixtures("rules")
def test_a_removed_document_is_in_no_later_check_and_its_ledger_still_opens(
    workspace: Workspace,
) -> None:
    before = workspace.check(FEES, judges=JUDGES)
    assert [one.verdict for one in before.entries] == ["supported"]
    (anchor,) = before.entries[0].evidence_chunk_ids
    (done,) = workspace.documents.remove("rules/fees.txt", reason="replaced")
    assert names(workspace) == ["old/gifts.txt"]
    assert names(workspace, removed=True) == ["fees.txt", "old/gifts.txt"]
    after = workspace.check(f"{FEES.strip()} [cite:{anchor}]", judges=JUDGES)
    assert [one.verdict for one in after.entries] == ["not_found"]
    assert "Citation references deleted or unavailable chunk" in after.entries[0].notes
    assert workspace.ledgers.get(before.id) == before
    assert workspace.documents.resolve(anchor).resolved
    logged = workspace.documents._acting.entry(done.entry)
    corpus = logged.body["corpus"]
    assert (logged.entry.kind, logged.body) == (
        EntryKind.DOCUMENT,
        {**removal_body(done.document.id, 1, "replaced"), "by": "owner", "corpus": corpus},
    )
    assert corpus["documents"] == len(workspace.documents.list())
    assert problems(workspace) == []


def test_a_removed_document_that_is_ingested_again_is_a_further_version(
    workspace: Workspace, rules: Path
) -> None:
    workspace.documents.remove("rules/fees.txt", reason="replaced")
    outcomes = {one.document.filename: one for one in workspace.ingest(rules).results}
    back = outcomes["fees.txt"]
    assert (back.outcome, back.document.version) == ("added", 2)
    assert outcomes["old/gifts.txt"].outcome == "unchanged"
    assert [one.version for one in workspace.documents.list(all_versions=True)] == [2, 1]
    assert workspace.ingest(rules / "fees.txt").results[0].outcome == "unchanged"
    assert workspace.check(FEES, judges=JUDGES).entries[0].verdict == "supported"
    assert workspace.check(FEES, judges=JUDGES).session.document_count == 2
    workspace.documents.remove(back.document, reason="again")
    assert names(workspace) == ["old/gifts.txt"]
    assert problems(workspace) == []


def test_documents_are_named_by_folder_by_id_and_by_files_that_are_gone(
    workspace: Workspace, rules: Path
) -> None:
    def named(*asked: str, folder: str | None = None, missing: bool = False) -> list[str]:
        found = workspace.documents.named(*asked, folder=folder, missing=missing)
        return [one.filename for one in found]

    assert named(folder="rules/old/") == ["old/gifts.txt"]
    assert named(folder="rules") == ["fees.txt", "old/gifts.txt"]
    identity = workspace.documents.list()[0].id
    assert named(identity, "rules/fees.txt") == ["fees.txt"]
    assert named(missing=True) == []
    (rules / "fees.txt").unlink()
    assert named(missing=True) == ["fees.txt"]
    for nothing in ("rul", "elsewhere"):
        with pytest.raises(NotFoundError, match="no document of the library is in"):
            named(folder=nothing)
    with pytest.raises(NotFoundError, match="has no document 'fees'"):
        named("fees")


@pytest.mark.usefixtures("rules")
def test_a_removal_needs_a_reason_a_recorded_document_and_an_admin(workspace: Workspace) -> None:
    for reason in (" ", "a" * 1_001):
        with pytest.raises(InputError, match="needs a reason"):
            workspace.documents.remove("rules/fees.txt", reason=reason)
    workspace.access.grant("ann", "approver")
    with pytest.raises(AccessError):
        workspace.acting_as("ann").documents.remove("rules/fees.txt", reason="no")
    workspace.documents.remove("rules/fees.txt", reason="yes")
    with pytest.raises(NotFoundError):
        workspace.documents.remove("rules/fees.txt", reason="twice")


def test_a_folder_is_synced_and_many_removals_need_to_be_allowed(
    workspace: Workspace, rules: Path
) -> None:
    (rules / "old" / "gifts.txt").unlink()
    (rules / "fees.txt").write_text("The late fee is 12 euros.\n")
    (rules / "new.txt").write_text("Hotels cost 140 euros at most.\n")
    planned = workspace.documents.sync(rules, dry_run=True)
    assert (planned.added, planned.changed, planned.unchanged) == (("new.txt",), ("fees.txt",), ())
    assert [one.filename for one in planned.removed] == ["old/gifts.txt"]
    assert names(workspace) == ["fees.txt", "old/gifts.txt"]
    with pytest.raises(InputError, match="1 document of 2 would be taken out, more than 10%"):
        workspace.documents.sync(rules)
    assert names(workspace) == ["fees.txt", "old/gifts.txt"]
    done = workspace.documents.sync(rules, limit=0.5)
    assert (len(done.entries), done.ingestion is not None) == (1, True)
    assert names(workspace) == ["fees.txt", "new.txt"]
    again = workspace.documents.sync(rules)
    assert (again.unchanged, again.removed) == (("fees.txt", "new.txt"), ())
    assert problems(workspace) == []


def test_an_empty_folder_or_none_is_not_synced(
    workspace: Workspace, rules: Path, tmp_path: Path
) -> None:
    for file in (rules / "fees.txt", rules / "old" / "gifts.txt"):
        file.unlink()
    with pytest.raises(InputError, match="no document in it"):
        workspace.documents.sync(rules, limit=1)
    with pytest.raises(NotFoundError, match="no such folder"):
        workspace.documents.sync(tmp_path / "nowhere")
    assert len(names(workspace)) == 2


@pytest.mark.usefixtures("rules")
def test_an_entry_that_takes_out_what_was_never_recorded_is_a_problem(
    workspace: Workspace,
) -> None:
    body = removal_body("doc_0123456789abcdef", 1, "why")
    acting = workspace.documents._acting
    acting.record(EntryKind.DOCUMENT, "removed/doc_0123456789abcdef", {**body, "by": "owner"})
    found = problems(workspace)
    assert any("takes out version 1, which no entry before it records" in one for one in found)

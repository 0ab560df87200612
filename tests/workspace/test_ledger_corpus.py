"""What a ledger was checked against: listed from the trail, and proved one by one."""

from pathlib import Path
from typing import Any

import pytest

import evidentia
from evidentia.canonical import canonical_json
from evidentia.errors import InputError, IntegrityError, NotFoundError
from evidentia.ledger.commitment import MAX_NAMED
from evidentia.ledger.session import LedgerSession
from evidentia.ledger.verification import recorded_of
from evidentia.workspace import Workspace
from places import lake_of

ANSWER = "The limit of account 3 is 24 dollars a day."
RULES = ("quote", "numbers")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    made.mkdir()
    for number in range(8):
        write(made, number, f"The limit of account {number} is {number * 7 + 3} dollars a day.")
    return made


@pytest.fixture
def workspace(workspace: Workspace, folder: Path, _read_here: None) -> Workspace:
    workspace.ingest(folder)
    return workspace


def write(folder: Path, number: int, text: str) -> None:
    path = folder / f"policy{number}.md"
    path.write_text(f"# Policy {number}\n\n{text}\n", encoding="utf-8")


def found(workspace: Workspace, ledger: str, document: str) -> str:
    """Return what a proof shows of a document, by the file and the key alone."""
    proof = workspace.ledgers.prove_corpus(ledger, document)
    key = workspace.trail.public_key()
    report = evidentia.verify(canonical_json(proof.as_json()), key=key)
    assert report.holds
    assert report.shows is not None
    assert report.shows["ledger"] == ledger
    return str(report.shows["membership"])


def test_a_library_is_listed_as_it_was_when_the_answer_was_checked(
    workspace: Workspace, folder: Path
) -> None:
    before = workspace.check(ANSWER, judges=RULES)
    write(folder, 3, "There is no limit.")
    write(folder, 9, "It is new.")
    workspace.ingest(folder)
    workspace.documents.remove("docs/policy1.md", reason="outdated")
    after = workspace.check(ANSWER, judges=RULES)
    then, now = (workspace.ledgers.corpus(one.id) for one in (before, after))
    assert [(one.filename, one.version) for one in then.versions] == [
        (f"policy{number}.md", 1) for number in range(8)
    ]
    assert [(one.filename, one.version, "@" in one.id) for one in now.versions] == [
        ("policy0.md", 1, False),
        ("policy2.md", 1, False),
        ("policy3.md", 1, True),
        ("policy3.md", 2, False),
        *((f"policy{number}.md", 1, False) for number in (4, 5, 6, 7, 9)),
    ]
    assert (then.documents, then.used, now.documents, now.used) == (8, 8, 9, 9)
    assert then.named is not None
    assert then.named.root != (now.named and now.named.root)
    ids = {one.filename: one.document_id for one in (*then.versions, *now.versions)}
    third, new, gone = ids["policy3.md"], ids["policy9.md"], ids["policy1.md"]
    for document, memberships in (
        (third, ("used", "used")),
        (f"{third}@1", ("used", "used")),
        (f"{third}@2", ("absent", "used")),
        (new, ("absent", "used")),
        (gone, ("used", "absent")),
        (f"{gone}@1", ("used", "absent")),
        ("docs/policy5.md", ("used", "used")),
    ):
        assert found(workspace, before.id, document) == memberships[0]
        assert found(workspace, after.id, document) == memberships[1]


def test_a_document_that_was_not_chosen_is_left_out(workspace: Workspace, folder: Path) -> None:
    ledger = workspace.check(ANSWER, against=folder / "policy3.md", judges=RULES)
    listed = workspace.ledgers.corpus(ledger.id)
    assert (listed.documents, listed.used) == (8, 1)
    (used,) = [one for one in listed.versions if one.used]
    assert found(workspace, ledger.id, used.id) == "used"
    assert found(workspace, ledger.id, "docs/policy5.md") == "left_out"


def test_a_selection_that_is_named_by_its_digest_is_listed_and_proved(
    workspace: Workspace, tmp_path: Path
) -> None:
    many = tmp_path / "many"
    many.mkdir()
    for number in range(MAX_NAMED + 1):
        (many / f"{number}.txt").write_text(f"Note {number}.\n", encoding="utf-8")
    ledger = workspace.check(ANSWER, against=many, judges=RULES)
    listed = workspace.ledgers.corpus(ledger.id, limit=3)
    assert (listed.documents, listed.used) == (MAX_NAMED + 9, MAX_NAMED + 1)
    assert listed.named is not None
    assert listed.named.filter.selected == MAX_NAMED + 1
    assert found(workspace, ledger.id, "many/7.txt") == "used"
    assert found(workspace, ledger.id, "docs/policy3.md") == "left_out"
    assert found(workspace, ledger.id, "doc_0000000000000000") == "absent"
    lake = lake_of(workspace)
    lake.remove(str(listed.named.filter.selection_sha256))
    with pytest.raises(IntegrityError, match="the documents that the check chose are not kept"):
        workspace.ledgers.corpus(ledger.id)


def test_a_list_is_paged(workspace: Workspace) -> None:
    ledger = workspace.check(ANSWER, judges=RULES)
    names: list[str] = []
    after = None
    while True:
        page = workspace.ledgers.corpus(ledger.id, after=after, limit=3)
        names += [one.filename for one in page.versions]
        after = page.next_after
        if after is None:
            break
    assert names == [f"policy{number}.md" for number in range(8)]
    assert page.as_json()["versions"][-1]["filename"] == "policy7.md"
    with pytest.raises(InputError, match="no document of the corpus is called 'doc_x'"):
        workspace.ledgers.corpus(ledger.id, after="doc_x")


def test_what_names_no_document_is_refused(workspace: Workspace) -> None:
    ledger = workspace.check(ANSWER, judges=RULES)
    with pytest.raises(NotFoundError, match="to prove that, give the id"):
        workspace.ledgers.prove_corpus(ledger.id, "docs/none.md")
    with pytest.raises(InputError, match="names no document"):
        workspace.ledgers.prove_corpus(ledger.id, "policy 3")


def test_an_entry_that_names_another_corpus_is_found_by_the_audit(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evidentia.workspace import ledgers  # noqa: PLC0415 - this test's alone

    def altered(session: LedgerSession) -> dict[str, Any]:
        said = recorded_of(session)
        return {**said, "corpus": {**said["corpus"], "entry": None}}

    with monkeypatch.context() as patched:
        patched.setattr(ledgers, "recorded_of", altered)
        ledger = workspace.check(ANSWER, judges=RULES)
    (problem,) = workspace.ledgers.audit()
    assert "its entry has another corpus than follows from its statement" in problem
    report = evidentia.verify(
        canonical_json(workspace.ledgers.prove(ledger.id).as_json()),
        key=workspace.trail.public_key(),
    )
    assert [check.name for check in report.checks if not check.holds] == ["corpus"]

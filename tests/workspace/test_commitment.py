"""The commitment to a library: entries name its root, ledgers prove what they cite."""

from pathlib import Path

import pytest

import evidentia
from evidentia.errors import ProofError
from evidentia.ledger.commitment import corpus_key, corpus_leaves, whole_map
from evidentia.ledger.session import THIRD_TYPE, LedgerSession
from evidentia.proof.statement import Statement
from evidentia.store.database import run
from evidentia.trail.entry import EntryKind
from evidentia.workspace import Workspace
from evidentia.workspace.commitment import current_corpus
from workspace.policies import read_here

ANSWER = "The limit of account 3 is 24 dollars a day."


@pytest.fixture
def library(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    for number in range(12):
        limit = f"The limit of account {number} is {number * 7 + 3} dollars a day."
        text = f"# Policy {number}\n\n{limit}\n"
        (folder / f"policy{number}.md").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def workspace(tmp_path: Path, library: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    read_here(monkeypatch)
    opened = evidentia.open(tmp_path / "home")
    opened.ingest(library)
    return opened


def test_each_entry_names_the_library_after_it(workspace: Workspace) -> None:
    bodies = [one.body for one in workspace.trail.entries(kind=EntryKind.DOCUMENT)]
    for count in range(1, len(bodies) + 1):
        leaves = corpus_leaves(bodies[:count])
        root = whole_map(leaves).root.hex()
        assert bodies[count - 1]["corpus"] == {"root": root, "documents": count}


def test_a_newer_version_moves_the_one_before(workspace: Workspace, library: Path) -> None:
    (library / "policy3.md").write_text("# Policy 3\n\nThere is no limit.\n", encoding="utf-8")
    (changed,) = [one for one in workspace.ingest(library).results if one.outcome == "changed"]
    with workspace.opened.database.of(workspace.tenant).read() as connection:
        found = current_corpus(workspace._acting, connection)
        assert found is not None
        assert found.documents == 13
        newest, before = (
            found.map.get(corpus_key(changed.document.id, version)) for version in (None, 1)
        )
    assert newest is not None
    assert before is not None
    assert b'"version":2' in newest
    assert b'"version":1' in before
    assert workspace.audit().holds


def test_lost_nodes_change_no_answer_and_are_written_anew(workspace: Workspace) -> None:
    with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
        run(connection, "DELETE FROM corpus_nodes")
    assert workspace.check(ANSWER, judges=["quote"]).session.corpus is not None
    assert any(
        "map of the library" in one for part in workspace.audit().parts for one in part.findings
    )
    workspace.documents.record_missing()
    assert workspace.audit().holds


def test_lost_nodes_are_written_anew_when_documents_are_added(
    workspace: Workspace, library: Path
) -> None:
    with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
        run(connection, "DELETE FROM corpus_nodes")
    for number in (3, 12, 13):
        text = f"# Policy {number}\n\nAccount {number} was closed.\n"
        (library / f"policy{number}.md").write_text(text, encoding="utf-8")
    assert [one.outcome for one in workspace.ingest(library).results].count("added") == 2
    assert workspace.audit().holds
    bodies = [one.body for one in workspace.trail.entries(kind=EntryKind.DOCUMENT)]
    for count in range(13, 16):
        root = whole_map(corpus_leaves(bodies[:count])).root.hex()
        assert bodies[count - 1]["corpus"] == {"root": root, "documents": count}


def test_a_ledger_lists_what_it_cites_and_proves_it(workspace: Workspace) -> None:
    session = workspace.check(ANSWER, judges=["quote"]).session
    assert session.predicate_type == THIRD_TYPE
    assert session.corpus is not None
    assert session.document_count == session.corpus.documents == 12
    assert 0 < len(session.documents) <= 12
    statement = session.to_statement()
    assert LedgerSession.from_statement(Statement.parse(statement.encode())) == session
    first = session.documents[0]
    for wrong in (
        {"sha256": "0" * 64},
        {"superseded": True},
        {"version": 2},
        {"collection": "other"},
    ):
        documents = (first.model_copy(update=wrong), *session.documents[1:])
        altered = session.model_copy(update={"documents": documents})
        with pytest.raises(ProofError, match="contradicts itself"):
            LedgerSession.from_statement(altered.to_statement())


def test_a_document_or_a_node_left_out_is_refused(workspace: Workspace) -> None:
    session = workspace.check(ANSWER, judges=["quote"]).session
    assert session.corpus is not None
    nodes = session.corpus.nodes
    for corpus in ({"nodes": nodes[1:]}, {"nodes": [*nodes, nodes[0]]}, {"root": "0" * 64}):
        altered = session.model_copy(update={"corpus": session.corpus.model_copy(update=corpus)})
        with pytest.raises(ProofError):
            LedgerSession.from_statement(altered.to_statement())
    shorter = session.model_copy(update={"documents": session.documents[1:]})
    with pytest.raises(ProofError, match="not those that it cites"):
        LedgerSession.from_statement(shorter.to_statement())

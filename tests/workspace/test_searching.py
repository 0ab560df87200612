"""The library's search index: in step with the trail, never believed, and audited."""

import shutil
from pathlib import Path
from random import Random

import pytest

import tiers
from evidentia.store.search import IndexedChunk, IndexedDocument, SearchIndex, Within
from evidentia.workspace import Workspace, open_workspace
from evidentia.workspace.searching import rebuild_index, search_index
from places import Place
from workspace.policies import ANSWER, LEAVE, SUPPORTED, read_here, verdicts, write_policies

JUDGES = ["quote", "numbers"]
NO_BOUNDS = Within()
INDEXED = IndexedChunk("b" * 64, "a" * 64, 0, 1, 0, ())


@pytest.fixture(autouse=True)
def _read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    read_here(monkeypatch)


def folder(workspace: Workspace) -> Path:
    return workspace.opened.home.search(workspace.tenant)


def checked(workspace: Workspace, answer: str = ANSWER) -> object:
    """Return what a check came to, without what names the time and the place."""
    ledger = workspace.check(answer, judges=JUDGES)
    return [
        (entry.claim_text, entry.verdict, entry.evidence_snippet, entry.evidence_chunk_ids)
        for entry in ledger.entries
    ]


def findings(workspace: Workspace) -> list[str]:
    return [one for one in workspace.audit().findings if "search index" in one]


def test_a_library_built_in_any_order_gives_the_same_passages(tmp_path: Path) -> None:
    texts = {
        f"p{number}.md": f"# Policy {number}\n\n{LEAVE}\nRoom {number} holds {number + 3} people.\n"
        for number in range(12)
    }
    answer = "Room 7 holds 10 people. Leave requests must be submitted 2 weeks in advance."
    expected = None
    for seed in range(tiers.count(10, short=4)):
        names = Random(seed).sample(sorted(texts), len(texts))
        docs = write_policies(tmp_path / "docs", texts)
        with open_workspace(tmp_path / f"home {seed}") as workspace:
            for name in names:
                workspace.ingest(docs / name)
            found = checked(workspace, answer)
        expected = expected or found
        assert found == expected


@pytest.mark.parametrize("lost", ["folder", "state", "a file"])
def test_an_index_that_is_gone_is_built_anew(place: Place, tmp_path: Path, lost: str) -> None:
    workspace = place.open()
    workspace.ingest(write_policies(tmp_path / "docs"))
    expected = checked(workspace)
    workspace.close()
    workspace = place.open()
    match lost:
        case "folder":
            shutil.rmtree(folder(workspace))
        case "state":
            (folder(workspace) / "state.json").unlink()
        case _:
            next((folder(workspace) / "index").glob("*.store")).unlink()
    assert checked(workspace) == expected
    assert findings(workspace) == []


def test_what_another_process_ingested_is_found(place: Place, tmp_path: Path) -> None:
    one, other = place.open(), place.open()
    one.ingest(write_policies(tmp_path / "docs", {"travel.md": "# Travel\n\nBy train.\n"}))
    assert verdicts(one.check(SUPPORTED, judges=JUDGES)) != ["supported"]
    shutil.copytree(folder(one), tmp_path / "copy")
    other.ingest(write_policies(tmp_path / "more", {"leave.md": LEAVE}))
    assert verdicts(one.check(SUPPORTED, judges=JUDGES)) == ["supported"]
    shutil.rmtree(folder(one))
    shutil.copytree(tmp_path / "copy", folder(one))  # an older one, put back
    assert verdicts(one.check(SUPPORTED, judges=JUDGES)) == ["supported"]


def test_an_index_that_names_what_the_library_does_not_have_is_built_anew(
    place: Place, tmp_path: Path
) -> None:
    workspace = place.open()
    workspace.ingest(write_policies(tmp_path / "docs"))
    expected = checked(workspace)
    index = search_index(workspace.ledgers._acting)
    state = index.state
    assert state is not None
    (chunk,) = index.reader().search("annual leave", 1, NO_BOUNDS)
    with index.changing():
        planted = IndexedDocument(
            "doc_planted",
            "docs",
            ["planted"],
            [INDEXED._replace(terms=["annual", "leave", "day", "employee"])],
        )
        index.update([planted], (), state.entry, leaf=state.leaf)
    assert chunk.document_id != "doc_planted"
    assert any("search index" in one for one in findings(workspace))
    assert checked(workspace) == expected
    assert findings(workspace) == []


def test_an_index_that_hides_a_passage_is_seen_by_the_audit(place: Place, tmp_path: Path) -> None:
    workspace = place.open()
    workspace.ingest(write_policies(tmp_path / "docs"))
    index = search_index(workspace.ledgers._acting)
    assert findings(workspace) == []
    state = index.state
    assert state is not None
    hidden = next(one for one in workspace.documents.list() if one.filename == "leave.md")
    with index.changing():
        index.update((), [hidden.id], state.entry, leaf=state.leaf)
    said = findings(workspace)
    assert any(f"of document {hidden.id} is not found by its words" in one for one in said)
    assert any("and the library has" in one for one in said)
    assert any("counts otherwise" in one for one in said)
    rebuild_index(workspace.ledgers._acting)
    assert findings(workspace) == []


def test_an_index_whose_files_were_changed_is_seen_by_the_audit(
    place: Place, tmp_path: Path
) -> None:
    workspace = place.open()
    workspace.ingest(write_policies(tmp_path / "docs"))
    file = next((folder(workspace) / "index").glob("*.idx"))
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    workspace.close()
    workspace = place.open()
    (said,) = findings(workspace)
    assert "its files are not what was written" in said
    assert SearchIndex(folder(workspace)).look() is None

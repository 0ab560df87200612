"""Checks while documents come, change and go: each is of one library, whatever others do."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evidentia.ledger import checking
from evidentia.workspace import corpora, searching
from places import Place

ANSWER = "The limit of account 3 is 24 dollars a day. Visitors may park for 2 hours."
RULES = ("quote", "numbers")
WRITER = """
import sys
from pathlib import Path
import evidentia
address, home, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
with evidentia.open(address, home=home) as workspace:
    print("ready", flush=True)
    for turn in range(6):
        text = f"# Policy 3\\n\\nThe limit of account 3 is {24 + turn % 3} dollars a day.\\n"
        (folder / "policy3.md").write_text(text, encoding="utf-8")
        (folder / f"new{turn}.md").write_text(f"# New\\n\\nRule {turn} holds.\\n", encoding="utf-8")
        workspace.ingest(folder)
        if turn % 3 == 1:
            workspace.documents.remove(*workspace.documents.named("docs/policy1.md"), reason="old")
            (folder / "policy1.md").write_text(f"# P1\\n\\nTurn {turn}.\\n", encoding="utf-8")
    print("done", flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    made.mkdir()
    for number in range(6):
        text = f"# Policy {number}\n\nThe limit of account {number} is {number * 7 + 3} dollars."
        (made / f"policy{number}.md").write_text(f"{text}\n", encoding="utf-8")
    return made


def change(place: Place, folder: Path) -> None:
    """Have another workspace change a document that is cited, add one, and take one out."""
    text = "# Policy 3\n\nThe limit of account 3 is 24 dollars a day, at most.\n"
    (folder / "policy3.md").write_text(text, encoding="utf-8")
    text = "# Parking\n\nVisitors may park for 2 hours.\n"
    (folder / "parking.md").write_text(text, encoding="utf-8")
    other = place.open()
    other.ingest(folder)
    gone = other.documents.named("docs/policy1.md")
    other.documents.remove(*gone, reason="it is outdated")


def once(real: Callable[..., Any], first: Callable[[], None]) -> Callable[..., Any]:
    """Return a function that does something else the first time, before what it does."""
    waiting = [first]

    def call(*arguments: Any, **named: Any) -> Any:
        if waiting:
            waiting.pop()()
        return real(*arguments, **named)

    return call


@pytest.mark.usefixtures("_read_here")
def test_a_check_knows_nothing_of_what_comes_and_goes_meanwhile(
    place: Place, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.open().ingest(folder)
    before = place.open().check(ANSWER, judges=RULES)
    workspace = place.open()  # which remembers nothing
    meanwhile = once(checking.check_with_votes, lambda: change(place, folder))
    monkeypatch.setattr(checking, "check_with_votes", meanwhile)
    found = workspace.check(ANSWER, judges=RULES)
    opened = workspace.ledgers.get(found.id)
    assert opened.session.corpus == found.session.corpus == before.session.corpus
    assert [one.verdict for one in found.entries] == [one.verdict for one in before.entries]
    assert found.session.documents == before.session.documents
    assert {one.version for one in found.session.documents} == {1}
    later = workspace.check(ANSWER, judges=RULES).session
    assert later.corpus is not None
    assert later.corpus.documents == 7
    assert {one.version for one in later.documents} >= {2}
    assert workspace.audit().holds


@pytest.mark.usefixtures("_read_here")
def test_what_moves_between_two_looks_is_looked_at_again(
    place: Place, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = place.open()
    workspace.ingest(folder)
    real = searching.search_index

    def moved(*arguments: Any) -> Any:
        index = real(*arguments)
        if moves:
            moves.pop()()
        return index

    moves = [lambda: change(place, folder)]
    monkeypatch.setattr(corpora, "search_index", moved)
    found = workspace.check(ANSWER, judges=RULES).session
    assert found.corpus is not None
    assert found.corpus.documents == 7
    assert "parking.md" in {one.filename for one in found.documents}
    assert workspace.ledgers.get(found.ledger.id).session == found


@pytest.mark.usefixtures("_read_here")
def test_an_earlier_library_is_read_as_it_was_beside_a_later_one(
    place: Place, folder: Path
) -> None:
    workspace = place.open()
    workspace.ingest(folder)
    (old,) = workspace.documents.named("docs/policy3.md")
    shelf = corpora.shelf_of(workspace._acting)
    with shelf.pinned() as earlier:
        change(place, folder)
        with shelf.pinned() as later:
            assert [one.version for one in later.used([old.id, f"{old.id}@1"])] == [1, 2]
            assert earlier.used([old.id, f"{old.id}@1"]) == [old]
        assert earlier.documents.chunks(old)
        assert earlier.entry < later.entry


def test_two_processes_ingest_and_check_at_once(place: Place, folder: Path) -> None:
    workspace = place.open()
    workspace.ingest(folder)
    address = str(place.url or place.home.folder)
    arguments = [sys.executable, "-c", WRITER, address, str(place.home.folder), str(folder)]
    made = []
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        while writer.poll() is None:
            made.append(workspace.check(ANSWER, judges=RULES))
        assert writer.stdout.read() == "done\n"
    assert len(made) > 1
    roots = set()
    for ledger in made:
        session = workspace.ledgers.get(ledger.id).session
        assert session.corpus is not None
        roots.add(session.corpus.root)
    assert len(roots) > 1
    assert workspace.audit().holds

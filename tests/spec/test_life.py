"""The life of a document in the format: its schemas fit its vectors and what the program writes."""

from pathlib import Path

import pytest

import evidentia
from evidentia.trail.entry import EntryKind
from spec.test_spec import load, valid


def test_the_schemas_fit_the_vectors() -> None:
    second = load("proofs/holds/document-dated.json")["body"]
    assert valid("document-body.v2", second)
    assert not valid("document-body", second)
    for name, text in (("removed", "kept"), ("erased", "erased")):
        body = load(f"proofs/holds/document-{name}.json")["body"]
        assert body["text"] == text
        assert valid("document-removal", body)
        assert not valid("document-removal", {**body, "text": "hidden"})
        assert body["corpus"]["documents"] == 0


@pytest.mark.parametrize("name", ["collection_id", "corpus", "by"])
def test_what_the_second_form_requires(name: str) -> None:
    second = load("proofs/holds/document-dated.json")["body"]
    assert not valid("document-body.v2", {key: second[key] for key in second if key != name})


def test_the_schemas_fit_what_the_program_writes(tmp_path: Path) -> None:
    folder = tmp_path / "prices"
    folder.mkdir()
    (folder / "seats.md").write_text("---\neffective: 2025-01-01\n---\nA seat costs 9 euros.\n")
    (folder / "gifts.txt").write_text("Gifts are reported.\n")
    with evidentia.open(tmp_path / "home") as workspace:
        workspace.ingest(folder)
        ledger = workspace.check(
            "A seat costs 9 euros.", as_of="2025-06-30", judges=("quote", "numbers")
        )
        named = workspace.check(
            "A seat costs 9 euros.", collections=["prices"], judges=("quote", "numbers")
        )
        workspace.documents.remove("prices/seats.md", reason="replaced")
        workspace.documents.remove("prices/gifts.txt", reason="asked for", erase=True)
        bodies = [one.body for one in workspace.trail.entries(kind=EntryKind.DOCUMENT)]
    for body in bodies:
        assert valid("document-removal" if "removed" in body else "document-body.v2", body), body
    for made in (ledger, named):
        assert valid("ledger.v3", made.session.model_dump(mode="json"))
    assert ledger.session.documents[0].effective_from == "2025-01-01"

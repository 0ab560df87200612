"""What people say: the schemas fit what the code makes, and nothing else."""

from pathlib import Path

import evidentia
from packing import make_pack
from spec.test_spec import valid


def test_the_schema_of_a_persons_verdict_fits_what_the_code_makes(tmp_path: Path) -> None:
    file = tmp_path / "leave.md"
    file.write_text("# Leave\n\nPermanent employees receive 15 days of leave.\n", encoding="utf-8")
    with evidentia.open(tmp_path / "home") as workspace:
        answer = "Permanent employees receive 15 days of leave."
        ledger = workspace.check(answer, against=file, judges=["quote"])
        claim = ledger.entries[0].claim_id
        made = workspace.ledgers.give_verdict(ledger.id, claim, "contradicted", reason="No.")
        logged = workspace.trail.entry(made.entry)
        assert workspace.audit().holds
    assert (logged.entry.kind, logged.entry.subject) == ("verdict", ledger.id)
    assert valid("entry", logged.entry.as_json())
    assert valid("verdict-body", logged.body)
    assert logged.body["judged"] == "supported"
    for change in (
        {"verdict": "not_judged"},
        {"judged": "maybe"},
        {"reason": " "},
        {"reason": "x" * 2_001},
        {"claim_id": ""},
        {"by": ""},
        {"more": 1},
    ):
        assert not valid("verdict-body", logged.body | change)


def test_the_schema_of_an_assignment_fits_what_the_code_makes(tmp_path: Path) -> None:
    with evidentia.open(tmp_path) as workspace:
        pack = make_pack(workspace)
        first = workspace.packs.assign("dec_1", "noor", due="2026-03-08T12:00:00+03:00")
        second = workspace.packs.assign(pack.pack_id, None)
        bodies = [workspace.trail.entry(one.seq) for one in (first, second)]
        assert workspace.audit().holds
    for logged in bodies:
        assert (logged.entry.kind, logged.entry.subject) == ("assignment", pack.pack_id)
        assert valid("entry", logged.entry.as_json())
        assert valid("assignment-body", logged.body)
    assert bodies[0].body["due"] == "2026-03-08T09:00:00.000000Z"
    for change in ({"due": "tomorrow"}, {"assignee": ""}, {"decision_id": ""}, {"more": 1}):
        assert not valid("assignment-body", bodies[0].body | change)

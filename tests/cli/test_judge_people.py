"""`evidentia judge eval --from-verdicts`: people's verdicts as pairs, and who agrees with whom."""

import json
from pathlib import Path

import pytest

import evidentia as ev
from cli_running import Cli

POLICY = "# Leave\n\nEmployees receive 15 days of leave. Leave is requested in writing.\n"
ANSWER = "Employees receive 15 days of leave. Leave is requested by telephone. Cats sleep a lot."


@pytest.fixture
def ledger(folder: Path) -> ev.EvidenceLedger:
    """Check an answer, and have people say what they think of its claims."""
    (folder / "docs").mkdir()
    (folder / "docs" / "leave.md").write_text(POLICY, encoding="utf-8")
    with ev.open(folder / ".evidentia") as workspace:
        found = workspace.check(ANSWER, against=folder / "docs", judges=["quote"])
        first, second, third = found.entries
        workspace.access.grant("ann", "approver")
        ann = workspace.acting_as("ann")
        workspace.ledgers.give_verdict(found.id, first.claim_id, "weak", reason="Once.")
        ann.ledgers.give_verdict(found.id, first.claim_id, "supported", reason="It says so.")
        ann.ledgers.give_verdict(found.id, second.claim_id, "contradicted", reason="In writing.")
        ann.ledgers.give_verdict(found.id, third.claim_id, "not_found", reason="No cats.")
    return found


def test_peoples_verdicts_are_compared_with_the_judges_and_written_as_pairs(
    cli: Cli, folder: Path, ledger: ev.EvidenceLedger
) -> None:
    shown = cli("judge", "eval", "--from-verdicts", "--judge", "quote", "--write", "people.jsonl")
    assert shown.code == 0, shown.err
    assert "People and ledgers agree on" in shown.out
    assert "On 1 claim people differ: the newest counts." in shown.out
    written = [json.loads(line) for line in (folder / "people.jsonl").read_text().splitlines()]
    assert [one["label"] for one in written] == ["supported", "contradicted", "not_found"]
    assert [one["claim"] for one in written] == [one.claim_text for one in ledger.entries]
    assert "15 days of leave" in written[0]["evidence"]
    asked = ("judge", "eval", "--from-verdicts", "--judge", "quote", "--json")
    people = cli(*asked).json["people"]
    assert (people["claims"], people["pairs"], people["contested"]) == (3, 3, 1)
    judged = {one.claim_id: one.verdict.value for one in ledger.entries}
    table = people["people_by_judges"]
    assert table["supported"] == {judged[ledger.entries[0].claim_id]: 1}
    again = cli("judge", "eval", "people.jsonl", "--judge", "quote", "--json").json
    assert again["all"]["pairs"] == 3


def test_without_any_verdict_or_pairs_it_says_what_to_do(cli: Cli, folder: Path) -> None:
    with ev.open(folder / ".evidentia"):
        pass
    nothing = cli("judge", "eval", "--from-verdicts")
    assert nothing.code != 0
    assert "no claim has a verdict of a person" in nothing.err
    assert "name DATA, or give --from-verdicts" in cli("judge", "eval").err
    assert "give --from-verdicts" in cli("judge", "eval", "x.jsonl", "--write", "y").err


def test_what_has_no_evidence_or_no_ledger_is_left_out(
    folder: Path, ledger: ev.EvidenceLedger
) -> None:
    with ev.open(folder / ".evidentia") as workspace:
        third = ledger.entries[2]
        workspace.ledgers.give_verdict(ledger.id, third.claim_id, "supported", reason="They do.")
        found = workspace.ledgers.labelled()
        has_evidence = bool(third.evidence) or third.nearest is not None
        assert len(found.pairs) == (3 if has_evidence else 2)
        assert found.left_out == 3 - len(found.pairs)
        entry = workspace.ledgers.find(ledger.id).entry
        workspace.trail.erase(entry, reason="an order", by="court")
        gone = workspace.ledgers.labelled()
        assert (gone.pairs, gone.left_out) == ((), 3)

"""Many answers in one file: every claim is in it, and so is every answer that was not checked."""

import csv
import io
import json
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from jsonschema import Draft202012Validator

from evidentia.errors import InputError
from evidentia.export.jsonform import to_json
from evidentia.export.many import Row, write_many
from evidentia.ledger.model import Verdict
from evidentia.ledger.outcomes import AnswerOutcome, Tally, claim_outcomes
from evidentia.ledger.session import LedgerSession
from export.sarif_schema import SARIF
from export.sessions import every_verdict, hostile_session, session_of

VERSION = "0.1.0"


def row(number: int, session: LedgerSession, **known: Any) -> Row:
    tally = Tally.of(claim_outcomes(session.ledger))
    ledger = session.ledger.id
    return AnswerOutcome(number, tally=tally, ledger_id=ledger, entry=9, **known), session


def rows() -> list[Row]:
    return [
        row(1, every_verdict(), id="a", title="Leave"),
        row(2, session_of(claims=()), title="answer"),
        (AnswerOutcome(4, "b", problem="not JSON: «x»"), None),
    ]


def test_json_lines_have_an_answer_each_with_its_ledger() -> None:
    lines = [json.loads(line) for line in write_many(rows(), "jsonl", VERSION).splitlines()]
    assert [(line["number"], line["id"]) for line in lines] == [(1, "a"), (2, None), (4, "b")]
    assert lines[0]["ledger"] == to_json(every_verdict())
    assert lines[0]["by_verdict"]["contradicted"] == 1
    assert lines[2] == {"number": 4, "id": "b", "title": None, "problem": "not JSON: «x»"}


def test_what_is_no_text_is_an_escape_in_json_lines() -> None:
    made = write_many([(AnswerOutcome(1, problem="\ud800"), None)], "jsonl", VERSION)
    assert json.loads(made.encode())["problem"] == "\ud800"


def table(found: list[Row]) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(write_many(found, "csv", VERSION))))


def test_csv_has_a_row_for_each_claim_and_for_what_has_none() -> None:
    entries = every_verdict().ledger.entries
    made = table(rows())
    assert [one["verdict"] for one in made] == [
        *(entry.verdict.value for entry in entries),
        "no_claims",
        "not_checked",
    ]
    assert [one["claim"] for one in made[: len(entries)]] == [one.claim_text for one in entries]
    assert made[-1]["notes"] == "not JSON: «x»"
    assert {one["ledger_id"] for one in made[:-1]} == {
        every_verdict().ledger.id,
        made[-2]["ledger_id"],
    }


@pytest.mark.parametrize("begins", ["=", "+", "-", "@", "|", "%", "＝", "＋", "－", "＠"])  # noqa: RUF001 - what they look like is the point
def test_no_cell_is_a_formula(begins: str) -> None:
    text = f"{begins}1+1"
    (made,) = table([(AnswerOutcome(1, text, text, problem=text), None)])
    assert {made["id"], made["title"], made["notes"]} == {f"'{text}"}


def test_a_formula_does_not_hide_behind_spaces_or_new_lines() -> None:
    (made,) = table([(AnswerOutcome(1, "\t=1", "\r\n =1", problem="a\n=1"), None)])
    assert (made["id"], made["title"], made["notes"]) == ("'=1", "'=1", "a =1")


def test_junit_has_a_suite_for_each_answer() -> None:
    root = ET.fromstring(write_many(rows(), "junit", VERSION))
    assert [suite.get("name") for suite in root] == ["a: Leave", "answer 2", "b"]
    first, _, last = root
    assert first.get("failures") == "3"
    assert (last.get("errors"), last.get("failures")) == ("1", "0")
    error = last.find("testcase/error")
    assert error is not None
    assert error.get("message") == "not JSON: «x»"


def test_junit_fails_by_the_verdicts_that_are_named() -> None:
    made = write_many(rows(), "junit", VERSION, fail_on=[Verdict.CONTRADICTED])
    assert ET.fromstring(made)[0].get("failures") == "1"


def sarif(file: str | None) -> dict[str, Any]:
    made = json.loads(write_many(rows(), "sarif", VERSION, file=file))
    Draft202012Validator(SARIF).validate(made)
    (run,) = made["runs"]
    assert isinstance(run, dict)
    return run


def test_sarif_leads_to_the_lines_of_the_file() -> None:
    run = sarif("an swers.jsonl")
    places = [found["locations"][0] for found in run["results"]]
    assert len(places) == 4
    assert all(
        place
        == {
            "physicalLocation": {
                "artifactLocation": {"uri": "an%20swers.jsonl"},
                "region": {"startLine": 1},
            },
            "logicalLocations": [{"name": "a"}],
        }
        for place in places
    )
    (told,) = run["invocations"]
    assert told["executionSuccessful"] is False
    (note,) = told["toolExecutionNotifications"]
    assert note["message"]["text"] == "b was not checked: not JSON: «x»"
    assert note["locations"][0]["physicalLocation"]["region"] == {"startLine": 4}


def test_sarif_without_a_file_leads_into_the_answers() -> None:
    run = sarif(None)
    regions = [one["locations"][0]["physicalLocation"]["region"] for one in run["results"]]
    assert all("startColumn" in region for region in regions)
    assert "locations" not in run["invocations"][0]["toolExecutionNotifications"][0]


def test_sarif_of_answers_that_were_all_checked_says_that_it_went_well() -> None:
    made = json.loads(write_many(rows()[:1], "sarif", VERSION))
    assert made["runs"][0]["invocations"] == [{"executionSuccessful": True}]


@pytest.mark.parametrize("form", ["jsonl", "csv", "junit", "sarif"])
def test_hostile_text_stays_text_in_every_form(form: str) -> None:
    made = write_many([row(1, hostile_session("\x1b[31m=1"), id="\x1b[31m<x>")], form, VERSION)
    assert "\x1b" not in made
    if form == "junit":
        ET.fromstring(made)


def test_another_form_is_refused() -> None:
    with pytest.raises(InputError, match="no form 'pdf' of many answers: use jsonl, csv, junit"):
        write_many(rows(), "pdf", VERSION)

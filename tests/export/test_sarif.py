import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from evidentia.export.sarif import to_sarif
from evidentia.ledger.claims import extract_claims
from evidentia.ledger.model import Verdict
from evidentia.ledger.session import LedgerSession
from export.sarif_schema import SARIF
from export.sessions import (
    entry,
    every_verdict,
    hostile_session,
    leave_session,
    session_of,
    weak_session,
)

VALIDATOR = Draft202012Validator(SARIF)


def run(session: LedgerSession) -> dict[str, Any]:
    made = to_sarif(session, "0.1.0")
    VALIDATOR.validate(made)
    assert json.loads(json.dumps(made)) == made
    (only,) = made["runs"]
    assert isinstance(only, dict)
    return only


def test_what_is_not_supported_is_a_result_on_its_line() -> None:
    session = leave_session()
    results = run(session)["results"]
    assert [(found["ruleId"], found["level"]) for found in results] == [
        ("weak", "note"),
        ("not_found", "warning"),
    ]
    (location,) = results[1]["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "answer.md"},
        "region": {"startLine": 3, "startColumn": 51, "endLine": 3, "endColumn": 79},
    }
    assert results[1]["message"]["text"] == "Not Found: Maximum carryover is 5 days. Why."
    assert results[0]["message"]["text"].endswith("(HR_Policy.pdf, Page 12)")
    assert results[1]["partialFingerprints"] == {"claim/v1": session.claims[3].id}


def test_a_weak_claims_message_says_why_it_is_weak() -> None:
    texts = [found["message"]["text"] for found in run(weak_session())["results"]]
    assert [text.partition(":")[0] for text in texts] == [
        "Weak (probable)",
        "Weak (partial)",
        "Not Found",
    ]


def test_every_result_points_to_its_rule() -> None:
    only = run(every_verdict())
    rules = only["tool"]["driver"]["rules"]
    assert {rule["id"] for rule in rules} == {"contradicted", "not_found", "not_judged", "weak"}
    for found in only["results"]:
        rule = rules[found["ruleIndex"]]
        assert rule["id"] == found["ruleId"]
        assert rule["defaultConfiguration"]["level"] == found["level"]
    levels = {found["ruleId"]: found["level"] for found in only["results"]}
    assert levels == {
        "contradicted": "error",
        "not_found": "warning",
        "not_judged": "warning",
        "weak": "note",
    }


@given(st.lists(st.text(alphabet="ab \t🙂é", min_size=1, max_size=8), min_size=1, max_size=6))
def test_regions_cut_out_the_claim(lines: list[str]) -> None:
    answer = "\n".join(lines) + "\nLeave is\npaid twice.\n"
    claims = extract_claims(answer).claims
    session = session_of(
        *(entry(claim, Verdict.NOT_FOUND, 0.0) for claim in claims), claims=claims, answer=answer
    )
    for claim, found in zip(claims, run(session)["results"], strict=True):
        region = found["locations"][0]["physicalLocation"]["region"]
        rows = answer.split("\n")[region["startLine"] - 1 : region["endLine"]]
        text = "\n".join(rows)
        cut = len(rows[-1]) - (region["endColumn"] - 1)
        assert text[region["startColumn"] - 1 : len(text) - cut] == claim.source_text


@given(st.text())
def test_any_text_gives_valid_sarif(text: str) -> None:
    only = run(hostile_session(text))
    for found in only["results"]:
        message = found["message"]["text"]
        assert "\n" not in message
        assert "](" not in message
        uri = found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert uri.isascii()
        assert not set(uri) & set(' "<>\\^`{|}')


def test_braces_are_no_placeholders_and_brackets_no_links() -> None:
    found = run(hostile_session("{0} [x](http://y)"))["results"][0]
    assert "{{0}} [x] (http://y)" in found["message"]["text"]

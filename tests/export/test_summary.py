"""The summary of checked answers: what does not pass first, in tables that no text breaks."""

import re

import pytest
from markdown_it import MarkdownIt

from evidentia.export.many import Row
from evidentia.export.summary import to_summary
from evidentia.ledger.model import Verdict
from evidentia.ledger.outcomes import AnswerOutcome, Tally, claim_outcomes
from evidentia.ledger.session import LedgerSession
from export.sessions import every_verdict, hostile_session, session_of, weak_session

HOSTILE = "a|b\n| - | - |\n<img src=x>\x1b[31m [click](https://x.example) **bold** `code` \u202e"


def row(number: int, session: LedgerSession, name: str) -> Row:
    tally = Tally.of(claim_outcomes(session.ledger))
    return AnswerOutcome(number, name, ledger_id=f"led_{number}", entry=9, tally=tally), session


def lines(made: str, beginning: str) -> list[str]:
    return [line for line in made.splitlines() if line.startswith(beginning)]


def test_answers_that_do_not_pass_come_first_with_their_reasons() -> None:
    rows = [
        row(1, weak_session(), "good.md"),
        row(2, every_verdict(), "bad.md"),
        (AnswerOutcome(3, "none.md", problem="not UTF-8 text"), None),
    ]
    made = to_summary(rows, fail_on={Verdict.CONTRADICTED}, min_coverage=0.5)
    assert made.startswith("## Evidence\n\n3 answers, 2 do not pass.\n")
    assert lines(made, "###") == ["### bad.md", "### none.md", "### good.md"]
    assert lines(made, "- ✗") == [
        "- ✗ 1 claim is contradicted",
        "- ✗ the evidence coverage of 40% is below 50%",
        "- ✗ it was not checked: not UTF-8 text",
    ]
    assert lines(made, "| bad.md") == ["| bad.md | 5 | 1 | 1 | 1 | 1 | 1 | 40% | ✗ no |"]
    assert lines(made, "| none.md") == ["| none.md |  |  |  |  |  |  |  | ✗ no |"]
    assert "- ledger `led_2`, entry 9 of the trail" in made


def test_each_claim_has_its_passage_and_what_came_nearest_is_called_no_evidence() -> None:
    made = to_summary([row(1, weak_session(), "a.md")])
    assert lines(made, "| 1 |") == [
        (
            "| 1 | Leave is paid | ? Weak (probable) | Annual leave is with pay. "
            "| HR_Policy.pdf, Page 12 |"
        )
    ]
    assert lines(made, "| 3 |") == [
        (
            "| 3 | Leave can be sold | ○ Not Found | Leave can be moved to another month. "
            "| nearest, no evidence: Leave_Guidelines.pdf, Section 3.2 |"
        )
    ]


def test_an_answer_without_claims_is_a_row_and_nothing_more() -> None:
    made = to_summary([row(1, session_of(claims=()), "a.md")])
    assert lines(made, "| a.md") == ["| a.md | 0 | 0 | 0 | 0 | 0 | 0 | 0% | ✓ yes |"]
    assert "###" not in made


def test_hostile_text_breaks_no_table_and_is_no_markup() -> None:
    session = hostile_session(HOSTILE * 20)
    made = to_summary([row(1, session, HOSTILE)], fail_on=set(Verdict))
    assert not set("\x1b\u202e") & set(made)
    html = MarkdownIt("commonmark").enable("table").render(made)
    assert (html.count("<table>"), html.count("<tr>")) == (2, 1 + 1 + 1 + 5)
    assert not any(tag in html for tag in ("<img", "<a ", "<strong", "<em"))


@pytest.mark.parametrize("most", [0, 200, 700, 1_200, 2_000, 5_000])
def test_what_does_not_fit_is_left_out_and_counted(most: int) -> None:
    session = every_verdict()
    rows = [row(number, session, f"answer-{number}.md") for number in range(6)]
    made = to_summary(rows, most=most)
    assert len(made.encode()) <= max(most, 200)
    claims = re.findall(r"^\| \d \| Claim \d", made, re.MULTILINE)
    shown = len(lines(made, "| answer-")), len(claims)
    if "Left out" in made:
        assert (6 - shown[0]) or (30 - shown[1])
        for missing, what in ((6 - shown[0], "answer"), (30 - shown[1], "claim")):
            assert (f"{missing} {what}" in made) == bool(missing)
    else:
        assert shown == (6, 30)

"""What a terminal shows of a ledger: why claims are weak, how sure verdicts are, what came near."""

import re

import pytest

from evidentia.cli.ledger_view import show_ledger
from evidentia.ledger.model import Verdict
from evidentia.ledger.session import LedgerSession
from export.sessions import NEAR, entry, first_form, session_of, weak_session


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")


def shown(
    session: LedgerSession, capsys: pytest.CaptureFixture[str], *, verbose: bool = False
) -> str:
    show_ledger(session, verbose=verbose)
    return re.sub(r"[\s│]+", " ", capsys.readouterr().out)


def test_the_table_says_why_claims_are_weak(capsys: pytest.CaptureFixture[str]) -> None:
    out = shown(weak_session(), capsys)
    assert "? Weak (probable) HR_Policy.pdf, p.12 " in out
    assert "? Weak (partial) HR_Policy.pdf, p.12 (partial match)" in out
    assert out.count("(partial match)") == 1
    assert "2 weak (1 probable, 1 partial), 1 not found" in out
    assert NEAR not in out


def test_the_expanded_view_has_the_nearest_passage_as_no_evidence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = shown(weak_session(), capsys, verbose=True)
    assert "Verdict: WEAK (PROBABLE) (Confidence: 64%, moderate)" in out
    assert "Verdict: WEAK (PARTIAL) (Confidence: 40%, low)" in out
    near = out.index("Nearest passage, no evidence:")
    assert near < out.index(f'"{NEAR}"') < out.index("Leave_Guidelines.pdf, Section 3.2")
    assert out.count("Evidence Snippet:") == 2


@pytest.mark.parametrize(
    ("confidence", "band"),
    [
        (0.95, "95%, high"),
        (0.75, "75%, good"),
        (0.5, "50%, moderate"),
        (0.3, "30%, low"),
        (0.1, "10%, very low"),
    ],
)
def test_a_confidence_is_shown_with_its_band(
    capsys: pytest.CaptureFixture[str], confidence: float, band: str
) -> None:
    claim = weak_session().claims[0]
    session = session_of(entry(claim, Verdict.CONTRADICTED, confidence), claims=[claim])
    assert f"(Confidence: {band})" in shown(session, capsys, verbose=True)


def test_a_ledger_of_the_first_form_says_weak_alone(capsys: pytest.CaptureFixture[str]) -> None:
    out = shown(first_form(weak_session()), capsys)
    assert "? Weak HR_Policy.pdf" in out
    assert "2 weak, 1 not found" in out
    assert "Nearest" not in shown(first_form(weak_session()), capsys, verbose=True)

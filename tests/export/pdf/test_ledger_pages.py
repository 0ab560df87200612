"""What the pages of a ledger print."""

# ruff: noqa: RUF001 - digits and letters of Arabic, as they are printed

from importlib import resources

from evidentia.export.pdf.ledger_pages import pages
from evidentia.ledger.model import RiskFlag, RiskType, Severity, Verdict
from export.sessions import every_verdict, first_form, leave_session, weak_session


def test_every_claim_is_printed_with_its_verdict_and_its_place() -> None:
    made = pages(leave_session())
    ledger = leave_session().ledger
    assert [one["verdict"] for one in made["entries"]] == [
        one.verdict.value for one in ledger.entries
    ]
    assert made["entries"][0]["place"]["file"]["t"] == "HR_Policy.pdf"
    assert made["entries"][0]["place"]["page"] == {"ar": "١٢", "en": "12"}
    assert sum(one["weight"] for one in made["counts"]) == ledger.summary.total_claims


def test_a_weak_claim_is_printed_with_why_it_is_weak() -> None:
    said = [one["said"] for one in pages(weak_session())["entries"]]
    assert said == ["weak-probable", "weak-partial", "not_found"]
    first = [one["said"] for one in pages(first_form(weak_session()))["entries"]]
    assert first == ["weak", "weak", "not_found"]


def test_every_word_of_a_verdict_is_in_both_languages() -> None:
    words = (resources.files("evidentia.export.pdf") / "templates/words.typ").read_text("utf-8")
    for said in ("weak-probable", "weak-partial", *(verdict.value for verdict in Verdict)):
        (line,) = [one for one in words.splitlines() if one.startswith(f"  {said}: (ar: ")]
        assert 'en: "' in line


def test_actions_name_the_claims_that_they_concern() -> None:
    whole = leave_session()
    flags = tuple(
        RiskFlag(
            id=f"risk_{kind.value}",
            type=kind,
            severity=Severity.MEDIUM,
            description="Two sources disagree",
            affected_claim_ids=(whole.claims[0].id, whole.claims[1].id, "claim_unknown"),
        )
        for kind in (RiskType.CONFLICTING_SOURCES, RiskType.LOW_CONFIDENCE)
    )
    ledger = whole.ledger.model_copy(update={"risk_flags": flags})
    made = pages(whole.model_copy(update={"ledger": ledger}))
    told = {one["action"]: one["claims"] for one in made["actions"]}
    assert told["settle"] == {"ar": "١، ٢", "en": "1, 2"}
    assert "find" in told
    assert len(made["risks"]) == 2


def test_every_verdict_that_needs_one_has_an_action() -> None:
    told = [one["action"] for one in pages(every_verdict())["actions"]]
    assert told[:4] == ["correct", "find", "qualify", "judge"]


def test_of_no_claims_there_is_no_share() -> None:
    whole = leave_session()
    summary = whole.ledger.summary.model_copy(update={"total_claims": 0})
    ledger = whole.ledger.model_copy(update={"summary": summary})
    made = pages(whole.model_copy(update={"ledger": ledger}))
    assert made["coverage"] == made["unsupported"] == {"ar": "–", "en": "–"}


def test_a_note_does_not_repeat_the_passage_beside_it() -> None:
    whole = leave_session()
    first, *others = whole.ledger.entries
    told = first.model_copy(
        update={
            "evidence_snippet": "15 days\nof leave",
            "notes": 'Supported by: "15 days of leave" (it is).',
        }
    )
    ledger = whole.ledger.model_copy(update={"entries": (told, *others)})
    made = pages(whole.model_copy(update={"ledger": ledger}))
    assert made["entries"][0]["note"]["t"] == "Supported (it is)."
    assert made["entries"][0]["quote"]["t"] == "15 days of leave"

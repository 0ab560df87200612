"""What the forms of pages do, and what they show if they can't."""

import re
import threading
import time
from dataclasses import replace
from typing import Any

import pytest

from evidentia.workspace.judging import StartedCheck
from server.house import House
from server.ids import EXISTING

HTML = {"accept": "text/html"}
PART = HTML | {"hx-request": "true"}


def sent(house: House, path: str, who: str = "approver", **form: Any) -> Any:
    return house.post(path, who, data=form, headers=HTML)


# Ledger


def test_a_ledger_shows_claims_verdicts_and_the_answer(sqlite_house: House) -> None:
    page = sqlite_house.get(f"/ledgers/{sqlite_house.made['ledger_id']}", headers=HTML).text
    assert "Permanent employees receive 15 days of leave" in page
    assert 'class="c supported"' in page
    assert "How much?" in page


def test_filters_stand_in_the_address(sqlite_house: House) -> None:
    path = f"/ledgers/{sqlite_house.made['ledger_id']}"
    for query, rows in (
        ("", 2),
        ("?verdict=supported", 1),
        ("?q=telephone", 1),
        ("?q=nowhere", 0),
        ("?type=definition", 0),
        ("?sort=confidence&order=down", 2),
        ("?start=50", 2),  # past the end: the last page
    ):
        page = sqlite_house.get(path + query, headers=HTML).text
        assert page.count('<tr id="claim-') == rows, query
    assert sqlite_house.get(f"{path}?verdict=wrong", headers=HTML).status_code == 422


def test_a_long_ledger_is_read_by_the_page_and_shows_the_same_rows(
    sqlite_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"/ledgers/{sqlite_house.made['ledger_id']}"
    queries = ("", "?verdict=supported", "?sort=confidence", "?claim=2")

    def rows() -> list[list[str]]:
        texts = [sqlite_house.get(path + one, headers=HTML).text for one in queries]
        return [re.findall(r'<tr id="(claim-\d+)"', text) for text in texts]

    whole = rows()
    monkeypatch.setattr("evidentia.server.pages.ledger.READ_WHOLE", 0)
    assert rows() == whole
    assert "View in Document" in sqlite_house.get(f"{path}/claims/1", headers=PART).text


def test_a_page_of_a_ledger_has_so_many_rows_and_leads_to_the_next(
    sqlite_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evidentia.server.pages.ledger.ROWS", 1)
    path = f"/ledgers/{sqlite_house.made['ledger_id']}"
    for limit in (0, 300):
        monkeypatch.setattr("evidentia.server.pages.ledger.READ_WHOLE", limit)
        first = sqlite_house.get(path, headers=HTML).text
        assert re.findall(r'<tr id="(claim-\d+)"', first) == ["claim-1"]
        assert f'rel="next" href="{path}?start=1"' in first
        assert 'id="said-1"' in first  # the answer comes in pages, too
        assert 'id="said-2"' not in first
        second = sqlite_house.get(f"{path}?claim=2", headers=HTML).text
        assert re.findall(r'<tr id="(claim-\d+)"', second) == ["claim-2"]
        assert f'rel="prev" href="{path}"' in second


def test_a_claim_opens_in_the_page_and_as_a_part(sqlite_house: House) -> None:
    ledger = sqlite_house.made["ledger_id"]
    whole = sqlite_house.get(f"/ledgers/{ledger}?claim=1", headers=HTML).text
    part = sqlite_house.get(f"/ledgers/{ledger}/claims/1", headers=PART).text
    for text in (whole, part):
        assert "View in Document" in text
        assert "/passages/" in text
    assert "<html" not in part
    assert sqlite_house.get(f"/ledgers/{ledger}/claims/9", headers=PART).status_code == 404


def test_who_only_reads_is_not_asked_for_a_verdict(sqlite_house: House) -> None:
    path = f"/ledgers/{sqlite_house.made['ledger_id']}?claim=1"
    assert "Record my verdict" not in sqlite_house.get(path, "viewer", headers=HTML).text
    assert "Record my verdict" in sqlite_house.get(path, "approver", headers=HTML).text


def test_a_person_disagrees_and_is_shown_beside_the_judges(sqlite_house: House) -> None:
    house, ledger = sqlite_house, sqlite_house.made["ledger_id"]
    path = f"/ledgers/{ledger}/claims/1/verdict"
    answer = sent(house, path, verdict="contradicted", reason="It is 20.")
    assert answer.status_code == 303
    assert answer.headers["location"] == f"/ledgers/{ledger}?claim=1#claim-1"
    page = house.get(f"/ledgers/{ledger}?claim=1", "approver", headers=HTML).text
    assert "It is 20." in page
    [given] = house.workspace.ledgers.verdicts(ledger)
    assert (given.verdict, given.judged, given.by) == ("contradicted", "supported", "approver")
    assert sent(house, path, "viewer", verdict="weak", reason="x").status_code == 403
    assert sent(house, path, verdict="weak", reason=" ").status_code == 422
    assert sent(house, path, verdict="not_judged", reason="x").status_code == 422


SAVED = [("json", b"{"), ("markdown", b"## Evidence Ledger"), ("html", b"<!doctype html>")]


@pytest.mark.parametrize(("form", "begins"), SAVED)
def test_a_ledger_is_saved_as_a_file(sqlite_house: House, form: str, begins: bytes) -> None:
    answer = sent(
        sqlite_house, f"/ledgers/{sqlite_house.made['ledger_id']}/export", "viewer", form=form
    )
    assert answer.content.startswith(begins)
    assert answer.headers["content-disposition"].startswith("attachment; ")


# Answers


def test_an_answer_is_checked_on_a_page(sqlite_house: House) -> None:
    said = "Leave is requested in writing."
    answer = sent(sqlite_house, "/answers/new", answer=said, query="How?", judges=["quote"])
    assert answer.status_code == 303
    page = sqlite_house.get(answer.headers["location"], headers=HTML).text
    assert "Leave is requested in writing" in page
    assert "How?" in sqlite_house.get("/answers", headers=HTML).text


def test_what_cannot_be_checked_stays_in_the_form(sqlite_house: House) -> None:
    answer = sent(sqlite_house, "/answers/new", answer=" ", query="How <b>?")
    assert answer.status_code == 422
    assert "the answer is empty" in answer.text
    assert "How &lt;b&gt;?" in answer.text
    assert sent(sqlite_house, "/answers/new", "viewer", answer="It is.").status_code == 403


def test_answers_are_searched_by_title_and_paged(
    sqlite_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evidentia.server.pages.answers._LISTED", 1)
    sqlite_house.workspace.check("Leave has 15 days.", title="Second", judges=["quote"])
    first = sqlite_house.get("/answers", headers=HTML).text
    assert 'rel="next"' in first
    assert "Second" in first
    older = first.partition("before=")[2].partition('"')[0]
    assert "Second" not in sqlite_house.get(f"/answers?before={older}", headers=HTML).text
    assert "Second" in sqlite_house.get("/answers?title=secon", headers=HTML).text
    assert "No title has this" in sqlite_house.get("/answers?title=third", headers=HTML).text


# Two ledgers


def test_two_answers_to_a_question_are_compared(sqlite_house: House) -> None:
    house, first = sqlite_house, sqlite_house.made["ledger_id"]
    second = house.workspace.check(
        "Permanent employees receive 20 days of leave. Lunch is free.",
        query="How much?",
        judges=["quote"],
    )
    assert second.id in house.get(f"/ledgers/{first}/compare", headers=HTML).text
    page = house.get(f"/ledgers/{second.id}/compare/{first}", headers=HTML).text
    assert "<del>15</del>" in page
    assert "<ins>20</ins>" in page
    for kind, rows in (("came", 1), ("went", 1), ("same", 0)):
        path = f"/ledgers/{second.id}/compare/{first}?show={kind}"
        assert house.get(path, headers=HTML).text.count("<tr data-row") == rows, kind


# Access


def test_a_role_is_given_and_taken_away(sqlite_house: House) -> None:
    house = sqlite_house
    assert sent(house, "/access/members", "admin", user="eve", role="viewer").status_code == 303
    assert "eve" in house.get("/access", headers=HTML).text
    form = {"user": "eve", "role": "viewer"}
    assert sent(house, "/access/members/revoke", "admin", **form).status_code == 303
    assert "eve" not in [one.user for one in house.workspace.access.grants()]
    assert sent(house, "/access/members/revoke", "admin", **form).status_code == 404
    assert sent(house, "/access/members", "viewer", **form).status_code == 403


def test_an_auditor_without_an_end_is_told_why_not(sqlite_house: House) -> None:
    answer = sent(sqlite_house, "/access/members", "admin", user="eve", role="auditor")
    assert answer.status_code == 422
    assert "expires" in answer.text
    form = {"user": "eve", "role": "auditor", "expires_at": "2027-01-01"}
    assert sent(sqlite_house, "/access/members", "admin", **form).status_code == 303
    ends = {one.user: one.expires_at for one in sqlite_house.workspace.access.grants()}
    assert ends["eve"] == "2027-01-01T23:59:59.000000Z"


def test_a_token_is_shown_once(sqlite_house: House) -> None:
    house = sqlite_house
    made = sent(house, "/access/tokens", "admin", user="reporting", name="nightly", scopes="list")
    secret = made.text.partition("<code>evt~")[2].partition("</code>")[0]
    assert secret
    again = house.get("/access/tokens", "admin", headers=HTML).text
    assert "nightly" in again
    assert secret not in again
    token_id = secret.split("~")[1]
    assert sent(house, f"/access/tokens/{token_id}/revoke", "admin").status_code == 303
    assert "nightly" not in house.get("/access/tokens", "admin", headers=HTML).text
    wrong = sent(house, "/access/tokens", "admin", user="x", expires_at="2020-01-01")
    assert (wrong.status_code, "which is over" in wrong.text) == (422, True)


def test_what_was_done_is_said_once(sqlite_house: House) -> None:
    house = sqlite_house
    house.client.post("/sign-in/token", data={"token": house.tokens["admin"]})
    house.client.post("/access/members", data={"user": "eve", "role": "viewer"})
    assert "The role was given." in house.client.get("/access", headers=HTML).text
    assert "The role was given." not in house.client.get("/access", headers=HTML).text


def test_the_log_shows_refusals_to_who_may_audit(sqlite_house: House) -> None:
    house = sqlite_house
    sent(house, "/access/members", "viewer", user="eve", role="admin")
    page = house.get("/access/log", "auditor", headers=HTML).text
    assert "access.grant" in page
    assert "Refused" in page
    assert "/access/log" not in house.get("/access", "viewer", headers=HTML).text


# Start


def test_the_start_says_what_needs_attention(sqlite_house: House) -> None:
    house = sqlite_house
    house.workspace.access.grant("soon", "viewer", expires_at="2026-03-20T00:00:00Z")
    page = house.get("/", headers=HTML).text
    assert "1 pack awaits review" in page
    assert "ends within 30 days" in page
    assert "soon" in page
    assert "<svg" in page
    house.workspace.packs.hold(EXISTING["pack_id"](house), reason="case")
    assert "1 pack is on legal hold" in house.get("/", headers=HTML).text


def test_decisions_without_a_pack_are_named(sqlite_house: House) -> None:
    from packing import decision  # noqa: PLC0415 - one test's

    assert "Every decision" in sqlite_house.get("/start/missing", headers=PART).text
    sqlite_house.workspace.packs.record_decision(decision(88))
    for headers in (HTML, PART):
        assert "dec_88" in sqlite_house.get("/start/missing", headers=headers).text


# Long work


def test_a_check_that_takes_long_has_a_page_that_leads_to_its_ledger(
    sqlite_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house, judged = sqlite_house, threading.Event()
    house.app.state.running = replace(house.running, waits=0.01)
    wait = StartedCheck.wait

    def slow(started: StartedCheck, seconds: float | None = None) -> bool:
        return wait(started, seconds) if judged.wait(20 if seconds is None else 0) else False

    monkeypatch.setattr(StartedCheck, "wait", slow)
    said: dict[str, Any] = {"answer": "Leave is requested in writing.", "judges": ["quote"]}
    where = sent(house, "/answers/new", **said).headers["location"]
    assert where.startswith("/jobs/job_")
    page = house.get(where, "approver", headers=HTML)
    assert (page.status_code, "It is being worked on." in page.text) == (200, True)
    assert 'hx-trigger="every 2s"' in page.text
    judged.set()
    job = where.rpartition("/")[2]
    while not house.workspace.jobs.get(job).has_ended:
        time.sleep(0.02)
    ledger = f"/ledgers/{house.workspace.ledgers.list()[0].id}"
    part = house.get(where, "approver", headers=HTML | {"hx-request": "true"})
    assert (part.headers["hx-redirect"], "hx-trigger" in part.text) == (ledger, False)
    whole = house.get(where, "approver", headers=HTML, follow_redirects=False)
    assert (whole.status_code, whole.headers["location"]) == (303, ledger)


def test_a_check_that_takes_long_can_be_cancelled_on_its_page(sqlite_house: House) -> None:
    house = sqlite_house
    job = house.workspace.jobs.start("audit", {"quick": True})
    assert sent(house, f"/jobs/{job.id}/cancel", "admin").status_code == 303
    page = house.get(f"/jobs/{job.id}", "admin", headers=HTML).text
    assert "It was cancelled." in page
    assert "hx-trigger" not in page

"""Work that goes on after its request was answered: started, followed, cancelled, its result."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evidentia.jobs.runner import Runner
from evidentia.store.sql import jobs as rows
from server.house import ANSWER, PROCESSES, House, busy

SESSIONS = "/api/v1/sessions"
JOBS = "/api/v1/jobs"
CHECK = {"answer": "Leave is requested in writing.", "judges": ["quote"]}


def ended(house: House, started: Any, who: str = "approver") -> dict[str, Any]:
    """Wait until a job has ended, which a request was answered with; return it."""
    assert started.status_code == 202, started.text
    assert started.headers["location"] == f"{JOBS}/{started.json()['id']}"
    found: dict[str, Any] = {}
    while found.get("ended_at") is None:
        found = house.get(started.headers["location"], who).json()
        time.sleep(0.05)
    return found


def events(house: House, job_id: str, last: str | None = None) -> list[dict[str, Any]]:
    """Return the events that a stream gives, to its end."""
    headers = {} if last is None else {"last-event-id": last}
    answer = house.get(f"{JOBS}/{job_id}/events", headers=headers)
    assert answer.headers["content-type"].startswith("text/event-stream")
    found = []
    for block in answer.text.strip().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines())
        found.append({"id": lines["id"], "event": lines["event"], **json.loads(lines["data"])})
    return found


def test_many_answers_are_a_job_whose_result_says_what_became_of_each(
    working_house: House,
) -> None:
    house = working_house
    answers = [*([CHECK] * 2), {"answer": " "}, *[{**CHECK, "title": f"{n}"} for n in range(19)]]
    job = ended(house, house.post(f"{SESSIONS}/batch", json={"answers": answers}))
    assert (job["state"], job["done"], job["total"], job["kind"]) == ("done", 22, 22, "checks")
    found = job["result"]["results"]
    assert [one["number"] for one in found] == list(range(1, 23))
    assert job["result"]["problems"] == 1
    assert found[2]["problem"] == "the answer is empty: there is nothing to check"
    made = {one["ledger_id"] for one in found} - {None}
    assert len(made) == 21, "each answer has a ledger of its own, also where two are the same"
    by = {house.workspace.trail.entry(one["entry"]).body["by"] for one in found if one["entry"]}
    assert by == {"approver"}
    told = events(house, job["id"])
    assert [one["id"] for one in told] == [str(n) for n in range(1, len(told) + 1)]
    assert (told[0]["event"], told[-1]["event"], told[-1]["done"]) == ("queued", "done", 22)
    later = events(house, job["id"], told[3]["id"])
    assert later == told[4:]
    assert not list(house.place.home.jobs.glob("*/*")), "what it was given is gone"


def test_the_other_kinds_of_jobs_do_what_they_say(working_house: House) -> None:
    house = working_house
    files = [("files", (f"{n}.md", f"Rule {n} holds.".encode())) for n in range(7)]
    files.append(("files", ("broken.pdf", b"%PDF-1.7 no")))
    started = {
        "ingest": house.post("/api/v1/documents/batch", files=files, data={"collection": "rules"}),
        "sweep": house.post("/api/v1/retention/sweeps", "admin", json={"dry_run": True}),
        "audit": house.post("/api/v1/audits", "auditor", json={}),
        "few": house.post(
            f"{SESSIONS}/batch", json={"answers": [CHECK]}, headers={"prefer": "respond-async"}
        ),
    }
    job = ended(house, started["ingest"])
    assert job["state"] == "done", job
    outcomes = [(one["filename"], one["outcome"]) for one in job["result"]["results"]]
    assert outcomes == [*[(f"{n}.md", "added") for n in range(7)], ("broken.pdf", None)]
    rules = house.workspace.documents.list(collection="rules")
    assert {one.filename for one in rules} == {f"{n}.md" for n in range(7)}
    assert ended(house, started["sweep"], "admin")["result"] == {"packs": []}
    audit = ended(house, started["audit"], "auditor")
    assert audit["result"]["holds"], audit["result"]
    assert ended(house, started["few"])["result"]["results"][0]["ledger_id"]
    listed = house.get(f"{JOBS}?state=done&limit=3").json()["jobs"]
    assert [one["kind"] for one in listed] == ["checks", "audit", "sweep"]


def test_a_check_that_takes_long_goes_on_as_a_job(working_house: House, tmp_path: Path) -> None:
    """And is recorded once, in the name of who asked."""
    house = working_house
    house.app.state.running = replace(house.running, waits=0.01)
    before = len(house.workspace.ledgers.list())
    headers = {"idempotency-key": "slow"}
    with busy(PROCESSES.judging, tmp_path):
        started = house.post(SESSIONS, json=CHECK, headers=headers)
    job = ended(house, started)
    assert (job["state"], job["kind"]) == ("done", "check"), job
    kept = house.workspace.ledgers.list()
    assert len(kept) == before + 1
    assert job["result"]["ledger_id"] == kept[0].id
    again = house.post(SESSIONS, json=CHECK, headers=headers)
    assert again.json()["id"] == job["id"]
    assert not house.running.runner.is_working, (
        "what is done in its request's thread needs no queue"
    )


def test_a_check_whose_turn_does_not_come_is_a_job(working_house: House) -> None:
    house = working_house
    house.app.state.running = replace(house.running, waits=0.01)
    house.running.checks._value = 0  # as if others had all turns
    job = ended(house, house.post(SESSIONS, json=CHECK))
    assert (job["state"], job["kind"]) == ("done", "check"), job
    assert house.workspace.ledgers.list()[0].id == job["result"]["ledger_id"]


def test_a_caller_listens_to_so_many_jobs_and_no_more(
    sqlite_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = sqlite_house
    monkeypatch.setattr("evidentia.server.api.jobs.MOST_LISTENING", 1)
    job = house_job(house)
    with ThreadPoolExecutor(1) as threads:
        listening = threads.submit(events, house, job)
        while not house.running.listening:
            assert not listening.done()
        refused = house.get(f"{JOBS}/{job}/events")
        house.post(f"{JOBS}/{job}/cancel", "admin")
        assert listening.result()[-1]["event"] == "cancelled"
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "5")
    assert events(house, job)[-1]["event"] == "cancelled"
    while house.running.listening:
        time.sleep(0.01)


def test_events_end_with_the_token_that_asked_for_them(sqlite_house: House) -> None:
    house, access = sqlite_house, sqlite_house.workspace.access
    made = access.new_token("viewer")
    house.tokens = house.tokens | {"soon revoked": made.text}
    path = f"{JOBS}/{house_job(house)}/events"
    with ThreadPoolExecutor(1) as threads:
        listening = threads.submit(house.get, path, "soon revoked")
        access.revoke_token(made.token.token_id)
        assert "event: done" not in listening.result().text
    assert house.get(path, "soon revoked").status_code == 401


def test_an_id_that_no_database_can_hold_is_of_nothing(house: House) -> None:
    for wrong in ("%00", "job_%00", "%ED%A0%80", "job_\u00fc"):
        assert house.get(f"{JOBS}/{wrong}").status_code == 404


def test_what_a_job_may_do_is_what_its_user_may_do_when_it_is_done(sqlite_house: House) -> None:
    house = sqlite_house
    headers = {"prefer": "respond-async"}
    started = house.post(f"{SESSIONS}/batch", json={"answers": [CHECK]}, headers=headers)
    house.workspace.access.revoke("approver", "approver")
    runner = Runner(house.running.opened)
    runner.start()
    job = ended(house, started, "admin")
    runner.close()
    assert job["state"] == "failed"
    assert job["problem"]["detail"].startswith("approver may not make or record evidence")
    assert len(house.workspace.ledgers.list()) == 1, "nothing was recorded"


def house_job(house: House) -> str:
    return house.workspace.jobs.start("audit", {"quick": True}).id


def test_what_came_of_a_job_is_for_who_asked_or_could_have(sqlite_house: House) -> None:
    house = sqlite_house
    job_id = house_job(house)
    with house.running.opened.database.of("default").write() as connection:
        row = rows.find(connection, ("default", job_id), held=True)
        assert row is not None
        rows.change(connection, row, rows.Change(state="done", result='{"holds": true}'), "t")
    shown = {
        who: house.get(f"{JOBS}/{job_id}", who).json()["result"]
        for who in ("viewer", "approver", "auditor", "admin")
    }
    assert shown == {
        "viewer": None,
        "approver": None,
        "auditor": {"holds": True},
        "admin": {"holds": True},
    }


def test_a_job_is_cancelled_by_who_asked_for_it_or_an_admin(sqlite_house: House) -> None:
    house = sqlite_house
    for who, status, state in [
        ("viewer", 403, "queued"),
        ("approver", 200, "cancelled"),
        ("admin", 200, "cancelled"),
    ]:
        answers = {"answers": [CHECK]}
        headers = {"prefer": "wait=5, respond-async"}
        started = house.post(f"{SESSIONS}/batch", json=answers, headers=headers).json()
        answer = house.post(f"{JOBS}/{started['id']}/cancel", who)
        assert answer.status_code == status, answer.text
        assert house.get(f"{JOBS}/{started['id']}").json()["state"] == state


def test_jobs_are_listed_by_the_page_and_those_of_others_are_not_there(
    sqlite_house: House,
) -> None:
    house = sqlite_house
    made = [house_job(house) for _ in range(5)]
    seen, path = [], f"{JOBS}?limit=2&kind=audit"
    while path:
        answer = house.get(path)
        seen += [one["id"] for one in answer.json()["jobs"]]
        path = answer.headers.get("link", "").removeprefix("<").partition(">")[0]
    assert seen == made[::-1]
    assert house.get(JOBS, "other tenant's admin").json() == {"jobs": []}
    assert house.get(f"{JOBS}/{made[0]}", "other tenant's admin").status_code == 404
    assert house.get(f"{JOBS}?state=lost").status_code == 422


def test_a_tenant_has_so_many_jobs_at_once_and_no_more(
    sqlite_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evidentia.server.api.jobs.MOST_OPEN", 2)
    statuses = [
        sqlite_house.post("/api/v1/audits", "auditor", json={}).status_code for _ in range(3)
    ]
    assert statuses == [202, 202, 429]


def test_a_request_for_a_job_repeated_with_its_key_is_one_job(sqlite_house: House) -> None:
    headers = {"idempotency-key": "audit-1"}
    first, second = (
        sqlite_house.post("/api/v1/audits", "auditor", json={}, headers=headers) for _ in range(2)
    )
    assert first.json() == second.json()
    assert len(sqlite_house.workspace.jobs.list()) == 1


def test_a_check_that_ends_soon_is_answered_with_its_ledger(sqlite_house: House) -> None:
    answer = sqlite_house.post(SESSIONS, json={"answer": ANSWER, "judges": ["quote"]})
    assert answer.status_code == 201
    assert sqlite_house.workspace.jobs.list() == []

"""Exports of packs by the API: approved, made once, fetched by a link; and how long packs stay."""

import shutil
import time
from typing import Any

import pytest

from packing import decision, make_pack
from server.house import HOST, House, doing_jobs


def path_of(house: House) -> str:
    return f"/api/v1/packs/{house.made['pack_id']}"


def approval(house: House, who: str = "admin") -> int:
    answer = house.post(f"{path_of(house)}/export-approvals", who, json={"note": "For court."})
    assert answer.status_code == 201
    return int(answer.json()["entry"])


def export(house: House, form: str = "json", who: str = "approver", **more: Any) -> Any:
    return house.post(f"{path_of(house)}/export", who, json={"format": form, **more})


def fetched(house: House, url: str) -> Any:
    """Ask for a file until it is there."""
    while True:
        answer = house.client.get(url.removeprefix(HOST))
        if answer.status_code != 425:
            return answer
        assert answer.headers["retry-after"] == "1"
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("form", "kind", "begins"),
    [("json", "application/json", b"{"), ("pdf", "application/pdf", b"%PDF-1.7")],
)
def test_an_export_with_an_approval_is_a_file_that_verifies(
    house: House, form: str, kind: str, begins: bytes
) -> None:
    answer = export(house, form, approval=approval(house))
    assert answer.status_code == 200, answer.text
    with doing_jobs(house):
        file = fetched(house, answer.json()["download_url"])
    assert (file.status_code, file.headers["content-type"]) == (200, kind)
    assert file.content.startswith(begins)
    assert house.made["pack_id"] in file.headers["content-disposition"]
    assert house.workspace.verify(file.content).holds
    again = fetched(house, answer.json()["download_url"])
    assert again.content == file.content


def test_an_approval_is_good_for_one_export(house: House) -> None:
    number = approval(house)
    listed = house.get(f"{path_of(house)}/export-approvals", "approver").json()["approvals"]
    assert [(one["entry"], one["by"], one["used_by"]) for one in listed] == [
        (number, "admin", None)
    ]
    assert export(house, approval=number).status_code == 200
    listed = house.get(f"{path_of(house)}/export-approvals", "approver").json()["approvals"]
    assert listed[0]["used_by"] > number
    for form in ("json", "pdf"):
        again = export(house, form, approval=number)
        assert (again.status_code, again.json()["type"]) == (403, "/problems/not-allowed")


@pytest.mark.parametrize("form", ["json", "pdf"])
def test_without_an_approval_nothing_is_made(sqlite_house: House, form: str) -> None:
    size = sqlite_house.workspace.trail.size
    assert export(sqlite_house, form).status_code == 403
    assert export(sqlite_house, form, approval=0).status_code == 403
    kinds = [one.entry.kind for one in sqlite_house.workspace.trail.entries(after=size - 1)]
    assert set(kinds) == {"request"}  # the refusals


def test_a_link_ends_with_its_time_its_role_and_its_pack(sqlite_house: House) -> None:
    house = sqlite_house
    ending = export(house, approval=approval(house)).json()["download_url"]
    assert fetched(house, ending).status_code == 200
    house.clock.pass_years(0.001)
    assert fetched(house, ending).status_code == 410
    link = export(house, approval=approval(house)).json()["download_url"]
    house.workspace.access.revoke("approver", "approver")
    assert fetched(house, link).status_code == 404
    link = export(house, who="admin", approval=approval(house)).json()["download_url"]
    entry = house.workspace.packs.find(house.made["pack_id"]).entry
    house.workspace.trail.erase(entry, reason="law", by="counsel")
    assert fetched(house, link).status_code == 404


def test_a_file_that_the_server_has_no_more_is_said_to_be_gone(sqlite_house: House) -> None:
    house = sqlite_house
    link = export(house, approval=approval(house)).json()["download_url"]
    house.running.downloads._made.clear()  # as another start would
    assert fetched(house, link).status_code == 200, "every server of the workspace finds it"
    house.running.downloads._made.clear()
    shutil.rmtree(house.place.home.jobs)
    answer = fetched(house, link)
    assert (answer.status_code, answer.json()["type"]) == (410, "/problems/link-expired")


def test_a_link_opens_nothing_but_what_it_was_made_for(sqlite_house: House) -> None:
    house = sqlite_house
    link = export(house, approval=approval(house)).json()["download_url"].rpartition("/")[2]
    assert house.client.get(f"/api/v1/downloads/{link}").status_code == 404
    ledger = f"/api/v1/sessions/{house.made['session_id']}/ledger/export"
    other = house.post(ledger, json={"format": "json"}).json()["download_url"].rpartition("/")[2]
    assert house.client.get(f"/api/v1/pack-downloads/{other}").status_code == 404


def test_an_export_that_is_repeated_with_its_key_uses_one_approval(house: House) -> None:
    body = {"format": "json", "approval": approval(house)}
    answers = [
        house.post(f"{path_of(house)}/export", json=body, headers={"idempotency-key": "x-1"})
        for _ in range(2)
    ]
    assert [one.status_code for one in answers] == [200, 200]
    assert answers[0].json() == answers[1].json()


def test_a_hold_keeps_a_pack_until_its_release(house: House) -> None:
    path = path_of(house)
    assert house.post(f"{path}/hold", "admin", json={"reason": "Case 12"}).status_code == 201
    twice = house.post(f"{path}/hold", "admin", json={"reason": "Case 12"})
    assert (twice.status_code, twice.json()["type"]) == (422, "/problems/refused-input")
    held = house.get("/api/v1/holds").json()["held"][house.made["pack_id"]]
    assert (held["reason"], held["actor"]) == ("Case 12", "admin")
    house.clock.pass_years(8)
    house.workspace.access.grant("admin", "admin")
    sweep = "/api/v1/retention/sweep"
    assert house.post(sweep, "admin", json={"dry_run": False}).json() == {"packs": []}
    assert house.post(f"{path}/release", "admin", json={"reason": "closed"}).status_code == 201
    named = house.post(sweep, "admin", json={}).json()["packs"]
    assert [(one["pack_id"], one["erasure"]) for one in named] == [(house.made["pack_id"], None)]
    removed = house.post(sweep, "admin", json={"dry_run": False}).json()["packs"]
    assert removed[0]["erasure"] is not None
    assert house.get(path).status_code == 404


def test_retention_is_read_and_set(house: House) -> None:
    assert house.get("/api/v1/retention").json() == {"years": 7, "basis": "commercial records"}
    longer = {"years": 10, "basis": "Saudi financial institutions"}
    assert house.ask("admin", "PUT", "/api/v1/retention", json=longer).status_code == 200
    assert house.get("/api/v1/retention").json() == longer
    wrong = house.ask("admin", "PUT", "/api/v1/retention", json={"years": 0, "basis": ""})
    assert wrong.status_code == 422


def test_an_audit_names_the_packs_that_are_missing(house: House) -> None:
    house.workspace.packs.record_decision(decision(2))
    make_pack(house.workspace, 3)
    said = house.get("/api/v1/audits/packs", "auditor").json()
    assert not said["holds"]
    assert (said["decisions"], said["packs"]) == (3, 2)
    assert any("dec_2" in one for one in said["missing"])
    assert len(said["unresolved"]) == 2
    assert said["problems"] == []

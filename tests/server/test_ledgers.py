"""Ledgers by the API: as the product was specified, checked, paged, exported."""

import json
import time
from typing import Any

import pytest

from server.house import HOST, House, doing_jobs


def ledger_path(house: House) -> str:
    return f"/api/v1/sessions/{house.made['session_id']}/ledger"


def downloaded(house: House, url: str) -> Any:
    """Ask for a file until it is there."""
    while True:
        answer = house.client.get(url.removeprefix(HOST))
        if answer.status_code != 425:
            return answer
        assert answer.headers["retry-after"] == "1"
        assert answer.json()["type"] == "/problems/not-ready"
        time.sleep(0.05)


def exported(house: House, form: str, who: str = "viewer") -> Any:
    return house.post(f"{ledger_path(house)}/export", who, json={"format": form})


def test_a_ledger_comes_whole_with_what_was_asked(house: House) -> None:
    answer = house.get(ledger_path(house))
    assert answer.status_code == 200
    said = answer.json()
    assert set(said) == {"ledger", "session"}
    session = house.made["session_id"]
    assert said["session"] == {"id": session, "query": "How much?", "mode": "answer"}
    kept = house.workspace.ledgers.get(session)
    assert said["ledger"] == json.loads(kept.model_dump_json())
    assert len(said["ledger"]["entries"]) == 2
    assert "link" not in answer.headers


def test_the_newest_ledger_of_a_session_is_given(sqlite_house: House) -> None:
    house = sqlite_house
    first = house.get(ledger_path(house)).json()["ledger"]
    again = house.workspace.check(first_answer(house), query="How much?", judges=["quote"])
    second = house.get(ledger_path(house)).json()["ledger"]
    assert (first["id"], second["id"]) == (house.made["ledger_id"], again.id)


def first_answer(house: House) -> str:
    return house.workspace.ledgers.get(house.made["ledger_id"]).session.answer


def test_a_page_of_a_ledger_leads_to_the_next(house: House) -> None:
    whole = house.get(ledger_path(house)).json()["ledger"]
    seen, path = [], f"{ledger_path(house)}?limit=1"
    while path:
        answer = house.get(path)
        page = answer.json()["ledger"]
        assert page["summary"] == whole["summary"]
        assert len(page["entries"]) == 1
        seen += page["entries"]
        link = answer.headers.get("link", "")
        path = link.removeprefix("<").partition(">")[0]
    assert seen == whole["entries"]


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "limit=x"])
def test_a_page_that_cannot_be_is_refused(sqlite_house: House, query: str) -> None:
    answer = sqlite_house.get(f"{ledger_path(sqlite_house)}?{query}")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/query/limit"


@pytest.mark.parametrize("cursor", ["x", "WzEsIC0xXQ", "WzEsIDFd ", "éé"])
def test_a_cursor_of_someone_elses_making_is_refused(sqlite_house: House, cursor: str) -> None:
    answer = sqlite_house.get(f"{ledger_path(sqlite_house)}?limit=1&cursor={cursor}")
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("the cursor is none that this server gave")


def test_who_has_a_ledger_already_is_told_so(house: House) -> None:
    first = house.get(ledger_path(house))
    tag = first.headers["etag"]
    again = house.get(ledger_path(house), headers={"if-none-match": f'"x", W/{tag}'})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    page = house.get(f"{ledger_path(house)}?limit=1", headers={"if-none-match": tag})
    assert page.status_code == 200


@pytest.mark.parametrize(
    "name", ["latest", "latest~1", "led_0000000000000000", "ses_%00", "ses_%F0"]
)
def test_only_the_id_of_a_session_is_an_address(sqlite_house: House, name: str) -> None:
    answer = sqlite_house.get(f"/api/v1/sessions/{name}/ledger")
    assert answer.status_code == 404


def test_an_erased_ledger_is_not_there_and_its_links_open_nothing(house: House) -> None:
    link = exported(house, "markdown").json()["download_url"]
    assert downloaded(house, link).status_code == 200
    entry = house.workspace.ledgers.get(house.made["ledger_id"]).entry
    house.workspace.trail.erase(entry, reason="law", by="counsel")
    assert house.get(ledger_path(house)).status_code == 404
    assert downloaded(house, link).status_code == 404


@pytest.mark.parametrize(
    ("form", "kind", "begins"),
    [
        ("markdown", "text/markdown; charset=utf-8", b"## Evidence Ledger"),
        ("json", "application/json", b'{\n  "ledger_id"'),
        ("pdf", "application/pdf", b"%PDF-1.7"),
    ],
)
def test_an_export_is_a_link_that_anyone_can_follow(
    house: House, form: str, kind: str, begins: bytes
) -> None:
    answer = exported(house, form)
    assert answer.status_code == 200
    assert set(answer.json()) == {"download_url", "expires_at"}
    with doing_jobs(house):
        file = downloaded(house, answer.json()["download_url"])
    assert file.status_code == 200
    assert file.headers["content-type"] == kind
    assert file.content.startswith(begins)
    assert house.made["ledger_id"] in file.headers["content-disposition"]


def test_a_link_ends(sqlite_house: House) -> None:
    house = sqlite_house
    answer = exported(house, "json").json()
    assert downloaded(house, answer["download_url"]).status_code == 200
    house.clock.pass_years(0.001)
    assert answer["expires_at"] < house.running.opened.now()
    assert downloaded(house, answer["download_url"]).json()["type"] == "/problems/link-expired"


def test_a_link_ends_with_the_token_and_with_the_role_of_who_made_it(sqlite_house: House) -> None:
    house = sqlite_house
    by_viewer = exported(house, "json", "viewer").json()["download_url"]
    by_approver = exported(house, "json", "approver").json()["download_url"]
    house.workspace.access.revoke("viewer", "viewer")
    token = house.tokens["approver"].split("~")[2]
    house.workspace.access.revoke_token(token)
    for link in (by_viewer, by_approver):
        assert downloaded(house, link).status_code == 404


def test_a_link_that_was_changed_opens_nothing(sqlite_house: House) -> None:
    link = exported(sqlite_house, "json").json()["download_url"]
    head, _, text = link.rpartition("/")
    for changed in (text[:-1], f"{text[:9]}x{text[10:]}", "x", f"{text}x"):
        assert downloaded(sqlite_house, f"{head}/{changed}").status_code == 404


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"format": "sarif"}, "/body/format"),
        ({}, "/body/format"),
        ({"format": "pdf", "x": 1}, "/body/x"),
    ],
)
def test_a_form_that_is_none_is_refused(
    sqlite_house: House, body: dict[str, Any], pointer: str
) -> None:
    answer = sqlite_house.post(f"{ledger_path(sqlite_house)}/export", json=body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == pointer

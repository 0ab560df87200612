"""The access log: what is recorded of requests, before their answers leave."""

import json
import logging
from typing import Any

import pytest
from fastapi import APIRouter

import evidentia as ev
from evidentia.errors import EnvironmentProblem
from evidentia.server.actions import GuardedRoute, Ws, acts
from server.house import HOST, House


@pytest.fixture
def with_packs(house: House) -> House:
    """Give a server with a route that reads a pack, and one that puts it on hold."""
    router = APIRouter(route_class=GuardedRoute)

    @router.get("/some-packs/{pack_id}")
    @acts("packs.get")
    def some_pack(pack_id: str, workspace: Ws) -> str:
        return workspace.packs.get(pack_id).pack_id

    @router.post("/some-packs/{pack_id}/hold")
    @acts("packs.hold")
    def some_hold(pack_id: str, workspace: Ws) -> int:
        return workspace.packs.hold(pack_id, reason="case").seq

    house.app.include_router(router)
    return house


def logged(house: House) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = house.get("/api/v1/access-log", "auditor").json()["requests"]
    return found


def said(house: House) -> list[tuple[str, str, str]]:
    return [(one["by"], one["did"], one["outcome"]) for one in logged(house)]


def test_reads_of_packs_exports_and_refusals_are_recorded(with_packs: House) -> None:
    house, pack = with_packs, with_packs.made["pack_id"]
    assert said(house) == []
    read = house.get(f"/some-packs/{pack}", headers={"traceparent": f"00-{'a' * 32}-{'b' * 16}-01"})
    assert read.status_code == 200
    assert house.get("/some-packs/pack_0000000000000000").status_code == 404
    assert house.post(f"/some-packs/{pack}/hold", "viewer").status_code == 403
    path = f"/api/v1/sessions/{house.made['session_id']}/ledger"
    assert house.get(path).status_code == 200  # of ledgers only exports are
    assert house.post(f"{path}/export", "viewer", json={"format": "json"}).status_code == 200
    assert house.get("/api/v1/access-log", "viewer").status_code == 403
    assert house.get(path, "no one").status_code == 404
    assert said(house) == [
        ("no one", "ledgers.get", "refused"),
        ("viewer", "access.requests", "refused"),
        ("viewer", "ledgers.export", "done"),
        ("viewer", "packs.hold", "refused"),
        ("viewer", "packs.get", "not_found"),
        ("viewer", "packs.get", "done"),
    ]
    first = logged(house)[-1]
    assert first["request_id"] == read.headers["x-request-id"]
    assert (first["path"], first["trace_id"]) == (f"/some-packs/{pack}", "a" * 32)
    assert first["token_id"] == house.tokens["viewer"].split("~")[2]
    assert house.workspace.audit().holds


def test_who_is_not_signed_in_is_counted_and_not_recorded(sqlite_house: House) -> None:
    size = sqlite_house.workspace.trail.size
    for who in ("nobody", "unknown token"):
        assert sqlite_house.get("/api/v1/access-log", who).status_code == 401
    assert sqlite_house.workspace.trail.size == size


def test_a_sign_in_is_recorded(sqlite_house: House) -> None:
    link = sqlite_house.running.sign_in
    assert link is not None
    sqlite_house.client.get(f"/sign-in?token={link.secret}")
    assert said(sqlite_house) == [("owner", "sign_in", "done")]


def test_who_asks_about_another_tenant_is_refused_in_the_log_of_their_own(house: House) -> None:
    sizes = {one: house.running.opened.for_(one).trail.size for one in ("default", "other")}
    asked = {"headers": {"evidentia-tenant": "other"}}
    for path, more in (("/api/v1/ledgers", asked), ("/api/v1/trail/other/checkpoint", {})):
        assert house.get(path, "viewer", **more).status_code == 404
    assert said(house) == [
        ("viewer", "trail.checkpoint", "refused"),
        ("viewer", "ledgers.list", "refused"),
    ]
    assert house.running.opened.for_("other").trail.size == sizes["other"]
    assert house.workspace.trail.size == sizes["default"] + 2


def test_a_link_is_written_down_without_what_makes_it_open_something(
    sqlite_house: House, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "evidentia.server")
    path = f"/api/v1/sessions/{sqlite_house.made['session_id']}/ledger/export"
    link = sqlite_house.post(path, json={"format": "json"}).json()["download_url"]
    while sqlite_house.client.get(link).status_code == 425:
        pass
    signature = link.rpartition(".")[2]
    assert len(signature) > 20
    assert signature not in caplog.text
    known = logged(sqlite_house)
    assert known[0]["path"] == link.rpartition(".")[0].removeprefix(HOST)
    assert signature not in str(known)
    assert sqlite_house.client.get(known[0]["path"]).status_code == 404


def test_no_log_is_begun_by_who_may_do_nothing(sqlite_house: House) -> None:
    house = sqlite_house
    cookie = house.running.signed("cookie", ["stranger", ""])
    headers = {"cookie": f"evidentia={cookie}", "evidentia-tenant": "nowhere"}
    answer = house.client.get("/api/v1/access-log", headers=headers)
    assert answer.status_code == 404
    assert house.running.opened.tenants() == ["default", "other"]


def test_refusals_of_one_caller_do_not_fill_the_log(sqlite_house: House) -> None:
    size = sqlite_house.workspace.trail.size
    answers = {sqlite_house.get("/api/v1/access-log", "viewer").status_code for _ in range(125)}
    assert answers == {403, 429}
    assert sqlite_house.workspace.trail.size == size + 120


def test_an_answer_does_not_leave_if_its_entry_cannot_be_written(
    with_packs: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise EnvironmentProblem("the disk is full")

    monkeypatch.setattr("evidentia.server.access_log.record_request", fails)
    answer = with_packs.get(f"/some-packs/{with_packs.made['pack_id']}")
    assert (answer.status_code, answer.json()["type"]) == (503, "/problems/unavailable")


def test_the_log_comes_in_pages_and_as_a_signed_file(house: House) -> None:
    for _ in range(3):
        house.get("/api/v1/access-log", "viewer")
    seen, path = [], "/api/v1/access-log?limit=2"
    while path:
        answer = house.get(path, "auditor")
        seen += [one["entry"] for one in answer.json()["requests"]]
        path = answer.headers.get("link", "").removeprefix("<").partition(">")[0]
    assert len(seen) == 3
    assert seen == sorted(seen, reverse=True)
    exported = house.get("/api/v1/access-log.ndjson", "auditor")
    assert exported.headers["content-type"] == "application/x-ndjson"
    kinds = {json.loads(line)["entry"]["kind"] for line in exported.text.splitlines()[1:]}
    assert kinds == {"access", "key", "request"}
    key = house.workspace.trail.public_key()
    report = ev.verify(exported.content, key=key)
    assert report.holds, report
    part = house.get(f"/api/v1/access-log.ndjson?first={seen[-1]}&last={seen[0]}", "admin")
    lines = part.text.splitlines()[1:]
    assert [json.loads(line)["entry"]["seq"] for line in lines] == seen[::-1]
    assert ev.verify(part.content, key=key).holds
    assert house.get("/api/v1/access-log.ndjson", "approver").status_code == 403
    assert house.get("/api/v1/access-log.ndjson?since=yesterday", "admin").status_code == 422
    log = house.get("/api/v1/access-log?limit=3", "auditor").json()["requests"]
    assert [(one["did"], one["by"], one["outcome"]) for one in log] == [
        ("access.export", "approver", "refused"),
        ("access.export", "admin", "done"),
        ("access.export", "auditor", "done"),
    ]

"""Requests that must not be done twice."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from fastapi import APIRouter
from starlette.testclient import TestClient

from evidentia.errors import ConflictError, EnvironmentProblem
from evidentia.server.actions import GuardedRoute, Ws, acts
from evidentia.server.idempotency import Unwritten
from evidentia.store.sql import idempotency as rows
from evidentia.workspace import packs
from packing import decision_fields, memo_fields
from places import record
from server.house import HOST, House

PATH = "/api/v1/appending"


@pytest.fixture
def appending(house: House) -> House:
    """Give a server with a route that appends, and can be told to fail behind it."""
    router = APIRouter(route_class=GuardedRoute)

    @router.post("/appending", status_code=201)
    @acts("trail.append")
    def appended(body: dict[str, Any], workspace: Ws) -> dict[str, int]:
        seq = workspace.append(record(body["number"])).seq
        if body.get("fails"):
            raise EnvironmentProblem("behind the write")
        if body.get("refuses"):
            raise ConflictError("behind the write")
        return {"entry": seq}

    house.app.include_router(router, prefix="/api/v1")
    return house


def append(house: House, key: str | None, who: str = "approver", **body: Any) -> Any:
    headers = {} if key is None else {"idempotency-key": key}
    return house.post(PATH, who, json={"number": 1, **body}, headers=headers)


def test_a_repeated_request_is_not_done_again_and_gets_the_same_answer(appending: House) -> None:
    size = appending.workspace.trail.size
    first, again = append(appending, "k"), append(appending, "k")
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.content == again.content
    assert first.headers["content-type"] == again.headers["content-type"]
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert appending.workspace.trail.size == size + 1


def test_without_a_key_it_is_done_each_time(appending: House) -> None:
    size = appending.workspace.trail.size
    assert append(appending, None).json() != append(appending, None).json()
    assert appending.workspace.trail.size == size + 2


def test_a_key_is_of_one_user_and_one_request(appending: House) -> None:
    size = appending.workspace.trail.size
    assert append(appending, "k").status_code == 201
    other = append(appending, "k", number=2)
    assert (other.status_code, other.json()["type"]) == (422, "/problems/idempotency-key-reused")
    assert append(appending, "k", who="admin").status_code == 201
    assert appending.workspace.trail.size == size + 2


def test_who_may_no_longer_do_it_does_not_get_the_answer_again(appending: House) -> None:
    assert append(appending, "k").status_code == 201
    appending.workspace.access.revoke("approver", "approver")
    assert append(appending, "k").status_code == 404


def test_of_many_at_once_one_is_done_and_the_others_wait_for_its_answer(appending: House) -> None:
    size = appending.workspace.trail.size

    def until_answered(_: int) -> bytes:
        while True:
            answer = append(appending, "k")
            if answer.status_code != 409:
                content: bytes = answer.content
                return content
            assert answer.json()["type"] == "/problems/in-progress"
            assert answer.headers["retry-after"]

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(until_answered, range(8)))) == 1
    assert appending.workspace.trail.size == size + 1


def test_the_key_is_committed_with_what_was_done(appending: House) -> None:
    """What fails behind its write is not done again: the row came with the write."""
    size = appending.workspace.trail.size
    assert append(appending, "k", fails=True).json()["type"] == "/problems/unavailable"
    assert append(appending, "k", fails=True).json()["type"] == "/problems/in-progress"
    appending.clock.pass_years(0.0001)
    again = append(appending, "k", fails=True)
    assert (again.status_code, again.json()["type"]) == (409, "/problems/answer-lost")
    assert appending.workspace.trail.size == size + 1


def test_a_pack_whose_server_died_behind_its_decision_is_made_by_whoever_repeats_it(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    decision = decision_fields(7)
    del decision["tenant_id"]
    given = {"decision": decision, "memo": memo_fields()}
    headers = {"idempotency-key": "k"}

    def assembled() -> Any:
        return house.post("/api/v1/packs", "approver", json=given, headers=headers)

    with monkeypatch.context() as patched:
        patched.setattr(packs, "keep_pack", away)
        assert assembled().json()["type"] == "/problems/unavailable"
    assert assembled().json()["type"] == "/problems/in-progress"
    house.clock.pass_years(0.0001)
    first, again = assembled(), assembled()
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.headers["idempotency-replayed"] == "true"
    trail = house.workspace.trail
    assert len(trail.entries(kind="decision", subject="decision/dec_7")) == 1
    assert [one.decision_id for one in house.workspace.packs.list()].count("dec_7") == 1


def away(*_: object) -> None:
    raise EnvironmentProblem("the server dies here")


def test_whoever_left_a_request_to_another_is_refused_from_then_on(house: House) -> None:
    named = ("default", "approver", "k")
    with house.workspace.opened.database.of("default").write() as connection:
        rows.claim(connection, named, "first", "0" * 64, "2026-11-01T09:00:00.000000Z")
        later = "2026-11-01T09:01:00.000000Z"
        assert rows.take_over(connection, named, "first", "second", later)
        assert not rows.take_over(connection, named, "first", "third", later)
        held = rows.claim(connection, named, "first", "0" * 64, later)
        assert (held.request_id, held.created_at) == ("second", later)
        assert rows.answer(connection, named, "second", (201, "{}", b"said"))
        assert not rows.take_over(connection, named, "second", "third", later)


def test_what_is_refused_behind_its_write_is_refused_alike_again(appending: House) -> None:
    size = appending.workspace.trail.size
    first, again = (append(appending, "k", refuses=True) for _ in range(2))
    assert (first.status_code, first.json()["type"]) == (409, "/problems/conflict")
    assert (again.status_code, again.content) == (409, first.content)
    assert again.headers["idempotency-replayed"] == "true"
    assert appending.workspace.trail.size == size + 1


def test_what_was_refused_before_it_was_done_may_be_tried_again(appending: House) -> None:
    assert append(appending, "k", who="viewer").status_code == 403
    appending.workspace.access.grant("viewer", "approver")
    assert append(appending, "k", who="viewer").status_code == 201


def test_another_server_of_the_same_database_knows_it_too(appending: House) -> None:
    first = append(appending, "k")
    appending.running.in_flight.clear()
    with TestClient(appending.app, base_url=HOST) as other:
        headers = {
            "authorization": f"Bearer {appending.tokens['approver']}",
            "idempotency-key": "k",
        }
        assert other.post(PATH, json={"number": 1}, headers=headers).content == first.content


@pytest.mark.parametrize("key", ["", "a b", "x" * 201, "é"])
def test_a_key_that_is_none_is_refused(sqlite_house: House, key: str) -> None:
    path = f"/api/v1/sessions/{sqlite_house.made['session_id']}/ledger/export"
    headers = {"idempotency-key": key.encode("latin-1")}
    answer = sqlite_house.post(path, json={"format": "json"}, headers=headers)
    assert answer.status_code == 422


def test_answers_are_forgotten_after_a_day(sqlite_house: House) -> None:
    house = sqlite_house
    path = f"/api/v1/sessions/{house.made['session_id']}/ledger/export"
    first = house.post(path, json={"format": "json"}, headers={"idempotency-key": "k"})
    assert first.status_code == 200
    house.clock.pass_years(0.003)
    with TestClient(house.app, base_url=HOST):  # a server that starts
        pass
    again = house.post(path, json={"format": "json"}, headers={"idempotency-key": "k"})
    assert "idempotency-replayed" not in again.headers


def test_no_secret_is_written_down_with_an_answer(sqlite_house: House) -> None:
    """Whoever repeats the request gets the rest of it."""
    asked: list[tuple[str, dict[str, Any]]] = [
        ("/api/v1/tokens", {"json": {"user": "ann"}}),
        ("/access/tokens", {"data": {"user": "ann"}}),
    ]
    for path, body in asked:
        headers = {"idempotency-key": path}
        first, again = (sqlite_house.post(path, "admin", headers=headers, **body) for _ in range(2))
        assert first.status_code == again.status_code
        assert first.headers["content-type"] == again.headers["content-type"]
        assert "evt~default~" in first.text
        assert "evt~default~" not in again.text
        assert again.headers["idempotency-replayed"] == "true"


def test_an_upload_is_the_same_with_another_boundary_alone(sqlite_house: House) -> None:
    def upload(boundary: str, text: str) -> Any:
        part = 'content-disposition: form-data; name="files"; filename="a.md"'
        body = f"--{boundary}\r\n{part}\r\n\r\n{text}\r\n--{boundary}--\r\n"
        headers = {
            "content-type": f"multipart/form-data; boundary={boundary}",
            "idempotency-key": "k",
        }
        return sqlite_house.post("/api/v1/documents", content=body.encode(), headers=headers)

    first, again = upload("x", "Six boxes."), upload("yy", "Six boxes.")
    assert first.status_code == 201, first.text
    assert (again.content, again.headers["idempotency-replayed"]) == (first.content, "true")
    assert upload("x", "Six boes.").json()["type"] == "/problems/idempotency-key-reused"


def test_what_was_done_while_the_database_went_away_is_answered_once_it_is_back(
    appending: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = appending.workspace.trail.size

    def gone(*_: object) -> bool:
        raise EnvironmentProblem("the database is gone")

    with monkeypatch.context() as patched:
        patched.setattr(rows, "answer", gone)
        first = append(appending, "k")
        assert (first.status_code, first.headers["retry-after"].isdigit()) == (503, True)
        assert append(appending, "k").status_code == 503
    assert append(appending, "k", number=2).status_code == 422
    assert append(appending, "k").json() == {"entry": size}
    assert append(appending, "k").json() == {"entry": size}
    assert appending.workspace.trail.size == size + 1
    assert appending.running.unwritten == {}


def test_the_answer_to_an_append_is_committed_with_it(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    size, path = house.workspace.trail.size, "/api/v1/trail/entries"
    monkeypatch.setattr(Unwritten, "_write_down", None)  # as if it was killed behind the commit
    asked: dict[str, Any] = {
        "json": record(1).model_dump(mode="json"),
        "headers": {"idempotency-key": "k"},
    }
    first, again = house.post(path, **asked), house.post(path, **asked)
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.content == again.content
    assert first.headers["content-type"] == again.headers["content-type"]
    assert house.workspace.trail.size == size + 1

"""Requests that must not be done twice."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from fastapi import APIRouter
from starlette.testclient import TestClient

from evidentia.errors import ConflictError, EnvironmentProblem
from evidentia.server.actions import GuardedRoute, Ws, acts
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

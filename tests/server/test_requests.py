"""What is around every request: ids, traces, sizes, headers, names, counters, problems."""

import gzip
import json
import logging
import threading
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from fastapi import APIRouter
from sqlalchemy import make_url

from evidentia import errors
from evidentia.logs import EventLogger
from evidentia.server.actions import Asks, GuardedRoute, acts
from evidentia.server.problems import PROBLEMS
from evidentia.server.rates import Limited
from evidentia.server.requests import MOST_BYTES
from postgres import PostgresServer
from server.house import House, listening

TRACE = "0af7651916cd43dd8448eb211c80319c"


def test_every_answer_has_an_id_that_its_problem_has_too(sqlite_house: House) -> None:
    first, second = (sqlite_house.client.get("/api/v1/me") for _ in range(2))
    assert first.json()["request_id"] == first.headers["x-request-id"]
    assert first.headers["x-request-id"] != second.headers["x-request-id"]


def test_every_answer_has_the_headers_that_keep_browsers_safe(sqlite_house: House) -> None:
    for path in ("/healthz", "/nowhere", "/api/v1/me", "/problems/not-found"):
        headers = sqlite_house.client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers


def test_a_request_is_one_line_of_the_log(
    sqlite_house: House, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EventLogger, "format", "json")
    caplog.set_level(logging.INFO, "evidentia.server")
    path = f"/api/v1/sessions/{sqlite_house.made['session_id']}/ledger"
    answer = sqlite_house.get(path, headers={"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"})
    said = [json.loads(one.message) for one in caplog.records if one.name == "evidentia.server"]
    assert len(said) == 1
    assert said[0]["event"] == "request"
    assert said[0]["request_id"] == answer.headers["x-request-id"]
    assert said[0]["trace_id"] == TRACE
    assert (said[0]["status"], said[0]["user"], said[0]["tenant"]) == (200, "viewer", "default")
    assert said[0]["route"] == "/api/v1/sessions/{session_id}/ledger"
    assert sqlite_house.tokens["viewer"] not in caplog.text


@pytest.fixture
def telling(sqlite_house: House) -> House:
    """Give a server with a route that tells its trace, and one for each error."""
    router = APIRouter(route_class=GuardedRoute)

    @router.get("/trace")
    @acts("ledgers.get")
    def traced(asks: Asks) -> dict[str, str]:
        return {"trace_id": asks.trace_id}

    @router.get("/raise/{name}")
    @acts("ledgers.get")
    def raising(name: str) -> None:
        raise getattr(errors, name)("the message; 'evidentia ledger list' shows them")

    @router.get("/mistake")
    @acts("ledgers.get")
    def mistaken() -> None:
        raise RuntimeError("a secret of the program")

    @router.get("/slow")
    @acts("ledgers.get")
    def slow() -> None:
        assert released.wait(60)

    @router.get("/long")
    @acts("ledgers.get", limited=Limited.CHECK)
    def long() -> None:
        assert released.wait(60)

    released = sqlite_house.app.state.released = threading.Event()
    sqlite_house.app.include_router(router)
    return sqlite_house


@pytest.mark.parametrize(
    "given",
    [
        "",
        "x",
        f"00-{'0' * 32}-00f067aa0ba902b7-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE}-00f067aa0ba902b7-01-more",
        f"ff-{TRACE}-00f067aa0ba902b7-01",
    ],
)
def test_a_trace_that_is_none_is_begun(telling: House, given: str) -> None:
    found = telling.get("/trace", headers={"traceparent": given}).json()["trace_id"]
    assert len(found) == 32
    assert found not in (TRACE, "0" * 32)


@pytest.mark.parametrize("version", ["00-{}", "01-{}", "cc-{}-what-comes-later"])
def test_a_trace_is_taken_over(telling: House, version: str) -> None:
    headers = {"traceparent": version.format(f"{TRACE}-00f067aa0ba902b7-01")}
    assert telling.get("/trace", headers=headers).json() == {"trace_id": TRACE}


@pytest.mark.parametrize(
    ("name", "status", "problem"),
    [
        ("InputError", 422, "refused-input"),
        ("DocumentError", 422, "unreadable-document"),
        ("NotFoundError", 404, "not-found"),
        ("AccessError", 403, "not-allowed"),
        ("SealingError", 422, "incomplete-pack"),
        ("ConflictError", 409, "conflict"),
        ("UsageError", 422, "refused-input"),
        ("IntegrityError", 500, "does-not-hold"),
        ("ProofError", 500, "does-not-hold"),
        ("GoneError", 500, "does-not-hold"),
        ("CanonicalError", 422, "refused-input"),
        ("EnvironmentProblem", 503, "unavailable"),
    ],
)
def test_every_error_is_a_problem(telling: House, name: str, status: int, problem: str) -> None:
    answer = telling.get(f"/raise/{name}")
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    said = answer.json()
    assert (said["type"], said["status"]) == (f"/problems/{problem}", status)
    assert said["instance"] == f"/raise/{name}"
    assert "evidentia ledger" not in said["detail"]
    assert ("retry-after" in answer.headers) == (status == 503)


def test_every_error_of_the_tree_has_a_row_above_or_is_of_a_kind_that_has(telling: House) -> None:
    for name, kind in vars(errors).items():
        if isinstance(kind, type) and issubclass(kind, errors.EvidentiaError):
            assert telling.get(f"/raise/{name}").json()["type"].startswith("/problems/"), name


def test_a_mistake_of_the_program_is_told_to_the_log_alone(
    telling: House, caplog: pytest.LogCaptureFixture
) -> None:
    answer = telling.get("/mistake")
    assert (answer.status_code, answer.json()["type"]) == (500, "/problems/internal")
    assert "secret" not in answer.text
    assert "RuntimeError: a secret of the program" in caplog.text


@pytest.mark.parametrize(
    ("name", "event"), [("EnvironmentProblem", "unavailable"), ("GoneError", "does_not_hold")]
)
def test_what_the_operator_has_to_see_to_is_in_the_log_with_its_reason(
    telling: House, caplog: pytest.LogCaptureFixture, name: str, event: str
) -> None:
    answer = telling.get(f"/raise/{name}")
    (said,) = [one.message for one in caplog.records if one.name == "evidentia.server"]
    assert f"event={event} " in said
    assert f"request_id={answer.json()['request_id']} " in said
    assert "reason=" in said


def test_every_problem_is_explained_at_its_address(sqlite_house: House) -> None:
    for problem in PROBLEMS.values():
        page = sqlite_house.client.get(problem.address)
        assert page.status_code == 200
        assert problem.title in page.text
    assert sqlite_house.client.get("/problems/none").status_code == 404


def test_what_is_not_there_and_what_is_not_taken_are_problems(sqlite_house: House) -> None:
    nowhere = sqlite_house.client.get("/nowhere")
    assert (nowhere.status_code, nowhere.json()["type"]) == (404, "/problems/not-found")
    wrong = sqlite_house.client.delete("/healthz")
    assert (wrong.status_code, wrong.json()["type"]) == (405, "/problems/method-not-allowed")
    assert wrong.headers["allow"] == "GET"


def export(house: House, **more: Any) -> Any:
    path = f"/api/v1/sessions/{house.made['session_id']}/ledger/export"
    return house.post(path, **more)


def test_a_body_that_is_too_large_is_refused_before_it_is_read(sqlite_house: House) -> None:
    for content in (b" " * (MOST_BYTES + 1), iter([b" " * MOST_BYTES, b" "])):
        answer = export(sqlite_house, content=content, headers={"content-type": "application/json"})
        assert (answer.status_code, answer.json()["type"]) == (413, "/problems/too-large")


@pytest.mark.parametrize("kind", ["text/plain", "application/xml", ""])
def test_a_body_of_another_type_is_refused(sqlite_house: House, kind: str) -> None:
    headers = {"content-type": kind} if kind else {}
    answer = export(sqlite_house, content=b'{"format": "json"}', headers=headers)
    assert (answer.status_code, answer.json()["type"]) == (415, "/problems/unsupported-media-type")


def test_a_packed_body_is_refused_since_no_one_knows_how_large_it_is(sqlite_house: House) -> None:
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    answer = export(sqlite_house, content=gzip.compress(b'{"format": "json"}'), headers=headers)
    assert (answer.status_code, answer.json()["type"]) == (415, "/problems/unsupported-media-type")
    assert "packed ('gzip')" in answer.json()["detail"]


def test_what_is_answered_to_get_is_answered_to_head_without_the_body(sqlite_house: House) -> None:
    path = f"/api/v1/sessions/{sqlite_house.made['session_id']}/ledger"
    for asked, who in (("/healthz", "nobody"), (path, "viewer"), (path, "nobody"), ("/x", "")):
        whole, head = (sqlite_house.ask(who, one, asked) for one in ("GET", "HEAD"))
        assert head.status_code == whole.status_code
        assert head.headers.get("etag") == whole.headers.get("etag")
        assert head.headers["content-length"] == whole.headers["content-length"]
        assert head.content == b""
    assert sqlite_house.ask("viewer", "HEAD", f"{path}/export").status_code == 405


@pytest.mark.parametrize("content", [b"{", b"[]", b'"x"', b"\xff", b'{"format": NaN}'])
def test_a_body_that_is_no_request_is_refused(sqlite_house: House, content: bytes) -> None:
    answer = export(sqlite_house, content=content, headers={"content-type": "application/json"})
    assert answer.status_code == 422


@pytest.mark.parametrize(
    ("host", "status"),
    [("127.0.0.1", 200), ("localhost:99", 200), ("[::1]:8321", 200), ("evil.example", 421)],
)
def test_a_server_of_this_machine_goes_by_its_names_alone(
    sqlite_house: House, host: str, status: int
) -> None:
    """Else a page elsewhere, whose name was made to lead here, could read what it answers."""
    assert sqlite_house.client.get("/healthz", headers={"host": host}).status_code == status


def test_long_answers_are_compressed_for_who_takes_that(sqlite_house: House) -> None:
    path = f"/api/v1/sessions/{sqlite_house.made['session_id']}/ledger"
    plain = sqlite_house.get(path, headers={"accept-encoding": "identity"})
    small = sqlite_house.get(path, headers={"accept-encoding": "gzip"})
    assert "content-encoding" not in plain.headers
    assert small.headers["content-encoding"] == "gzip"
    assert small.json() == plain.json()


def test_other_sites_are_not_let_in_unless_they_are_listed(sqlite_house: House) -> None:
    headers = {"origin": "https://app.example", "access-control-request-method": "GET"}
    answer = sqlite_house.client.options("/api/v1/me", headers=headers)
    assert "access-control-allow-origin" not in answer.headers


def test_the_server_says_that_it_lives_and_can_work(house: House) -> None:
    assert house.client.get("/healthz").json()["status"] == "ok"
    assert house.client.get("/readyz").json()["status"] == "ready"
    house.running.opened.database.close()
    assert house.client.get("/healthz").status_code == 200
    assert house.client.get("/readyz").status_code == 503


def test_requests_are_counted_for_prometheus(sqlite_house: House) -> None:
    path = f"/api/v1/sessions/{sqlite_house.made['session_id']}/ledger"
    sqlite_house.get(path)
    sqlite_house.client.get(path)
    text = sqlite_house.client.get("/metrics").text
    route = 'method="GET",route="/api/v1/sessions/{session_id}/ledger"'
    assert f'evidentia_requests_total{{{route},status="200"}} 1.0' in text
    assert "evidentia_requests_not_signed_in_total 1.0" in text
    assert "viewer" not in text


@pytest.fixture
def address(telling: House) -> Iterator[str]:
    """Give the address of a server that really listens."""
    with listening(telling.app) as found:
        yield found


def test_a_slow_request_does_not_keep_others_from_an_answer(telling: House, address: str) -> None:
    """Routes run in threads: the event loop goes on."""
    headers = {"authorization": f"Bearer {telling.tokens['viewer']}"}
    ended = threading.Event()

    def ask_slowly() -> None:
        httpx2.get(f"{address}/slow", headers=headers, timeout=60)
        ended.set()

    thread = threading.Thread(target=ask_slowly)
    thread.start()
    for _ in range(4):
        assert httpx2.get(f"{address}/healthz").status_code == 200
    assert not ended.is_set()
    telling.app.state.released.set()
    thread.join()
    assert ended.is_set()


def test_what_may_take_long_leaves_half_of_the_threads_to_all_else(
    telling: House, address: str
) -> None:
    headers = {"authorization": f"Bearer {telling.tokens['viewer']}"}
    statuses: list[int] = []

    def ask_for_long_work() -> None:
        statuses.append(httpx2.get(f"{address}/long", headers=headers, timeout=60).status_code)

    threads = [
        threading.Thread(target=ask_for_long_work) for _ in range(2 * telling.running.threads)
    ]
    for one in threads:
        one.start()
    while not telling.running.long_work.locked():
        assert not statuses
    for _ in range(4):
        assert httpx2.get(f"{address}/api/v1/me", headers=headers, timeout=60).status_code == 200
    telling.app.state.released.set()
    for one in threads:
        one.join()
    assert statuses == [200] * len(threads)


def test_threads_fit_the_connections(house: House) -> None:
    running = house.running
    most = running.opened.database.connections
    assert 1 <= running.threads <= most // 2


def test_a_database_that_drops_all_connections_is_found_again(
    postgres: PostgresServer, postgres_house: House
) -> None:
    path = f"/api/v1/sessions/{postgres_house.made['session_id']}/ledger"
    assert postgres_house.get(path).status_code == 200
    name = make_url(str(postgres_house.place.url)).database
    postgres.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        f"WHERE datname = '{name}' AND pid <> pg_backend_pid()"
    )
    assert postgres_house.get(path).status_code == 200


def test_a_database_that_is_not_there_is_a_problem_that_passes(
    sqlite_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise errors.EnvironmentProblem("the database postgresql://secret@db failed: refused")

    path = f"/api/v1/sessions/{sqlite_house.made['session_id']}/ledger"
    with monkeypatch.context() as patched:
        patched.setattr("evidentia.workspace.tokens.live", fails)
        answer = sqlite_house.get(path)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert "secret" not in answer.text
    assert sqlite_house.get(path).status_code == 200


@pytest.mark.parametrize(("who", "status"), [("nobody", 401), ("no one", 404), ("approver", None)])
def test_who_may_not_ask_is_told_that_alone_whatever_is_wrong(
    sqlite_house: House, who: str, status: int | None
) -> None:
    json = {"content-type": "application/json"}
    path, limited = "/api/v1/trail/entries", {"params": {"limit": "0"}}
    asked: list[tuple[str, dict[str, Any], int]] = [
        ("GET", limited, 422),
        ("GET", {"params": {"cursor": "made up"}}, 422),
        ("POST", {"content": b"{", "headers": json}, 422),
        ("POST", {"content": b"{}", "headers": json}, 422),
        ("POST", {"content": b"x", "headers": {"content-type": "text/plain"}}, 415),
    ]
    for method, more, wrong in asked:
        answer = sqlite_house.ask(who, method, path, **more)
        assert answer.status_code == (status or wrong), answer.text

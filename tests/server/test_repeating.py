"""What is asked again is answered at once, and never once it would be answered otherwise."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from evidentia.server.callers import COOKIE
from evidentia.server.repeating import RepeatedAnswers
from evidentia.server.viewing import FLASH_COOKIE
from evidentia.times import utc_text
from evidentia.workspace import open_workspace
from server.house import ANSWER, House


@pytest.fixture
def path(sqlite_house: House) -> str:
    return f"/api/v1/sessions/{sqlite_house.made['session_id']}/ledger"


@pytest.fixture
def at_once(sqlite_house: House, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Give what says how many requests were answered by no route."""
    found: list[Any] = []
    find = RepeatedAnswers.find

    def finding(*given: Any) -> Any:
        answer = find(*given)
        found.extend([answer] if answer else [])
        return answer

    monkeypatch.setattr(RepeatedAnswers, "find", finding)
    return lambda: len(found)


def test_the_same_request_is_answered_alike_at_once(
    sqlite_house: House, path: str, at_once: Callable[[], int]
) -> None:
    first, second = sqlite_house.get(path), sqlite_house.get(path)
    assert at_once() == 1
    assert second.content == first.content
    kept = {name for name in first.headers if name not in ("x-request-id", "date")}
    assert {name: second.headers[name] for name in kept} == {
        name: first.headers[name] for name in kept
    }
    assert second.headers["x-request-id"] != first.headers["x-request-id"]
    tag = {"if-none-match": first.headers["etag"]}
    assert [sqlite_house.get(path, headers=tag).status_code for _ in range(2)] == [304, 304]
    counted = sqlite_house.get("/metrics").text
    route = "/api/v1/sessions/{session_id}/ledger"
    assert f'evidentia_requests_total{{method="GET",route="{route}",status="200"}} 2.0' in counted


def test_others_and_other_requests_are_not_answered_so(
    sqlite_house: House, path: str, at_once: Callable[[], int]
) -> None:
    assert sqlite_house.get(path).status_code == 200
    people = ("no one", "other tenant's admin", "nobody", "revoked token")
    assert [sqlite_house.get(path, who).status_code for who in people] == [404, 404, 401, 401]
    assert sqlite_house.get(path, headers={"evidentia-tenant": "other"}).status_code == 404
    assert sqlite_house.get(f"{path}?limit=1").json() != sqlite_house.get(path).json()
    assert at_once() == 0
    assert [sqlite_house.get(path).status_code, at_once()] == [200, 1]


@pytest.mark.parametrize("taken", ["role", "token"])
def test_what_was_taken_away_ends_it_whoever_took_it_away(
    sqlite_house: House, path: str, taken: str, at_once: Callable[[], int]
) -> None:
    assert [sqlite_house.get(path).status_code for _ in range(2)] == [200, 200]
    with open_workspace(sqlite_house.place.home.folder) as elsewhere:  # as another process has it
        if taken == "role":
            elsewhere.access.revoke("viewer", "viewer")
        else:
            (token,) = (one for one in elsewhere.access.tokens() if one.user == "viewer")
            elsewhere.access.revoke_token(token.token_id)
    assert sqlite_house.get(path).status_code == (404 if taken == "role" else 401)
    assert at_once() == 1


@pytest.mark.parametrize("ends", ["role", "token"])
def test_what_ends_by_itself_ends_it(
    sqlite_house: House, path: str, ends: str, at_once: Callable[[], int]
) -> None:
    access, end = sqlite_house.workspace.access, "2026-06-01T00:00:00Z"
    access.grant("eve", "auditor", expires_at=end if ends == "role" else "2036-06-01T00:00:00Z")
    token = access.new_token("eve", expires_at=None if ends == "role" else end)
    sqlite_house.tokens = {**sqlite_house.tokens, "eve": token.text}
    assert [sqlite_house.get(path, "eve").status_code for _ in range(2)] == [200, 200]
    sqlite_house.clock.pass_years(1)
    assert sqlite_house.get(path, "eve").status_code == (404 if ends == "role" else 401)
    assert at_once() == 1


def test_a_newer_ledger_of_the_session_is_seen_at_once(sqlite_house: House, path: str) -> None:
    first = [sqlite_house.get(path).json()["ledger"]["id"] for _ in range(2)]
    policies = sqlite_house.workspace.documents.list()
    newer = sqlite_house.workspace.check(
        ANSWER, against=policies, query="How much?", judges=["quote"]
    )
    assert newer.session_id == sqlite_house.made["session_id"]
    assert [sqlite_house.get(path).json()["ledger"]["id"] for _ in range(2)] == [newer.id] * 2
    assert newer.id not in first


def test_reads_that_are_recorded_are_recorded_each_time(
    sqlite_house: House, at_once: Callable[[], int]
) -> None:
    before = len(sqlite_house.workspace.access.requests())
    for _ in range(2):
        assert sqlite_house.get(f"/api/v1/packs/{sqlite_house.made['pack_id']}").status_code == 200
    assert len(sqlite_house.workspace.access.requests()) == before + 2
    assert at_once() == 0


def test_only_so_many_bytes_are_kept(sqlite_house: House, path: str) -> None:
    running = sqlite_house.running
    object.__setattr__(running, "repeated", RepeatedAnswers(most_bytes=10_000))
    for limit in range(1, 30):
        sqlite_house.get(f"{path}?limit={limit}")
    kept = running.repeated
    assert 0 < kept._bytes <= 10_000
    assert kept._bytes == sum(1_000 + len(one.response.body) for one in kept._kept.values())


def test_a_database_tells_that_it_was_changed(sqlite_house: House) -> None:
    database = sqlite_house.running.opened.database
    before = database.state()
    assert database.state() == before
    sqlite_house.workspace.access.grant("eve", "viewer")
    changed = database.state()
    assert changed not in (None, before)
    database.before_fork()
    assert database.state() not in (None, before, changed)
    database.close()
    assert database.state() is None


def test_a_page_is_shown_again_at_once_to_the_same_browser_until_it_is_signed_out(
    sqlite_house: House, at_once: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    running = sqlite_house.app.state.running
    path = f"/ledgers/{sqlite_house.made['ledger_id']}"

    def opened(user: str | None, more: str = "") -> Any:
        signed = running.signed("cookie", [user, running.started if user is None else ""])
        said = {"cookie": f"{COOKIE}={signed}{more}", "accept": "text/html"}
        first, second = (sqlite_house.client.get(path, headers=said) for _ in range(2))
        assert first.status_code == 404 or second.content == first.content
        return said, second

    for count, user in enumerate(("viewer", None), 1):
        said, page = opened(user)
        assert (page.status_code, at_once()) == (200, count), user
        assert page.headers["content-encoding"] == "gzip"
        assert "accept-language" in page.headers["vary"]
    assert opened("nobody")[1].status_code == 404
    opened(None, f"; {FLASH_COOKIE}={running.signed('flash', 'Done.')}")  # which is said once
    assert at_once() == 2
    began = running.signed_at("cookie", said["cookie"].partition("=")[2])
    monkeypatch.setattr(running.opened, "now", lambda: utc_text(began + timedelta(hours=12)))
    sqlite_house.client.get(path, headers=said)
    assert at_once() == 2

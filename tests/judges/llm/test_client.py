"""Posting: attempts, waiting, time and size have bounds, and the key is told to nobody else."""

import logging
import pickle
import socket
import traceback
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from evidentia.errors import InputError
from evidentia.judges.llm.client import MAX_REPLY_BYTES, Client
from evidentia.judges.llm.judge import Posted
from judges.llm.serving import KEY, Asked, Said, Server, in_turn

BODY = {"messages": [{"content": "x"}]}
FINE = Said({"fine": True})


def post(server: Server, slept: list[float] | None = None, **changes: Any) -> Posted:
    model = server.model(**{"longest_wait_seconds": 30.0, **changes})
    return Client(model, sleep=(slept if slept is not None else []).append).post(BODY)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
def test_what_may_pass_is_tried_again_after_longer_and_longer_pauses(
    server: Server, status: int
) -> None:
    slept: list[float] = []
    server.respond = in_turn(Said("", status), Said("", status), FINE)
    assert post(server, slept) == Posted(200, b'{"fine": true}', attempts=3)
    assert slept == [0.5, 1.0]


@pytest.mark.parametrize("status", [301, 307, 401, 403, 404])
def test_what_will_not_pass_is_not_tried_again(server: Server, status: int) -> None:
    server.respond = lambda _: Said("no", status, {"location": f"{server.url}/elsewhere"})
    found = post(server)
    assert found.problem == f"it answered {status}, after 1 attempt: no"
    assert len(server.asked) == 1


def test_attempts_have_an_end(server: Server) -> None:
    server.respond = lambda _: Said({"error": {"message": "slow\n down"}}, 429)
    found = post(server, attempts=4)
    assert found.problem == "it answered 429, after 4 attempts: slow down"
    assert (found.attempts, len(server.asked)) == (4, 4)
    server.respond = lambda _: Said("", 500)
    assert post(server, attempts=1).problem == "it answered 500, after 1 attempt"


def test_a_server_is_waited_for_as_long_as_it_asks(server: Server) -> None:
    slept: list[float] = []
    server.respond = in_turn(Said("", 429, {"retry-after": "7"}), FINE)
    assert not post(server, slept).problem
    assert slept == [7.0]


def test_a_date_to_come_back_at_is_understood(server: Server) -> None:
    slept: list[float] = []
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)  # noqa: TID251 - a server's clock
    past = "Wed, 21 Oct 2015 07:28:00 GMT"
    naive = "Wed, 21 Oct 2015 07:28:00 -0000"
    for header in (later, past, naive, "soon"):
        server.respond = in_turn(Said("", 503, {"retry-after": header}), FINE)
        assert not post(server, slept).problem
    assert 15 < slept[0] <= 20
    assert slept[1:] == [0.0, 0.5, 0.5]


def test_a_server_that_asks_for_too_long_a_wait_is_not_waited_for(server: Server) -> None:
    slept: list[float] = []
    server.respond = lambda _: Said("", 429, {"retry-after": "3600"})
    found = post(server, slept)
    assert found.problem == (
        "it answered 429, after 1 attempt; it asks to wait 3,600 seconds, 30 at most"
    )
    assert slept == []


def test_a_server_that_is_slow_is_given_up(server: Server) -> None:
    server.respond = lambda _: Said("", seconds=0.5)
    found = post(server, timeout_seconds=0.1, attempts=2)
    assert found.problem == "no answer within 0.1 seconds, after 2 attempts"


def test_a_server_that_drips_is_given_up_as_well(server: Server) -> None:
    server.respond = lambda _: Said("x" * 200, drip=0.02)
    assert "no answer within 0.2 seconds" in post(server, timeout_seconds=0.2, attempts=1).problem


def test_a_server_that_is_not_there_is_told_of(server: Server) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    found = post(server, url=url, attempts=2)
    assert "no connection (" in found.problem
    assert "after 2 attempts" in found.problem


def test_a_reply_that_has_no_end_is_not_read(server: Server) -> None:
    server.respond = lambda _: Said("x" * (MAX_REPLY_BYTES + 1))
    assert post(server).problem == f"the reply has more than {MAX_REPLY_BYTES:,} bytes"


def test_neither_a_proxy_nor_a_password_is_taken_from_the_environment(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1/")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1/")
    assert not post(server).problem


def test_the_key_is_in_no_problem_log_or_traceback(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    def respond(got: Asked) -> Said:
        assert got.headers["authorization"] == f"Bearer {KEY}"
        return Said({"error": f"wrong key: {KEY}"}, 401)

    server.respond = respond
    found = post(server)
    assert found.problem == "it answered 401, after 1 attempt: wrong key: [key]"
    assert KEY not in caplog.text + repr(found)
    model = server.model()
    assert KEY not in repr(model) + str(model) + repr(Client(model).__dict__)
    with pytest.raises(TypeError, match="a key is not written down"):
        pickle.dumps(model.secret)
    with pytest.raises(InputError) as caught:
        server.model(key=f" {KEY}")
    assert KEY not in "".join(traceback.format_exception(caught.value))


def test_without_the_client_it_says_what_to_install(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "httpx2", None)
    with pytest.raises(InputError, match=r"pip install 'evidentia\[llm\]'"):
        Client(server.model())

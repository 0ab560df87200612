"""The client of OpenFGA: what it asks of a stub that answers from the real engine, and what it
makes of servers that answer badly: nothing.
"""

import json
import pickle
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import IO, Any

import httpcore2
import pytest

import openfga_api
from evidentia.access import openfga_client, openfga_wire
from evidentia.access.actions import Action
from evidentia.access.openfga import Relationship
from evidentia.access.openfga_client import (
    OpenFgaClient,
    OpenFgaError,
    OpenFgaServer,
    shipped_model,
)
from evidentia.errors import InputError, UndecidedError
from openfga_stub import Stub

LENGTH = b"content-length:"
NOON = "2026-03-01T12:00:00.000000Z"
LATER = "2027-03-01T12:00:00.000000Z"
VIEWER = Relationship("user:anne", "viewer", "tenant:acme")
AUDITOR = Relationship("user:eve", "auditor", "tenant:acme", LATER)
PACK = Relationship("tenant:acme", "tenant", "evidence_pack:pack_1")
ID = "01STBB00000000000000000001"


def test_a_store_is_made_with_our_model_and_found_again(openfga: Stub) -> None:
    where = OpenFgaServer(url=openfga.url)
    with closing(OpenFgaClient(where)) as client:
        where = replace(where, store_id=client.create_store("evidentia"))
        openfga.page = 1
        assert list(client.stores()) == [(where.store_id, "evidentia")]
    with closing(OpenFgaClient(where)) as client:
        assert client.store_name() == "evidentia"
        first, second = (client.write_model(shipped_model()) for _ in range(2))
        assert [one for one, _ in client.models()] == [second, first]
        for _, model in client.models():
            assert model == openfga_wire.plain_model(shipped_model())
    gone = replace(where, store_id=ID[:-1] + "9")
    with (
        closing(OpenFgaClient(gone)) as client,
        pytest.raises(OpenFgaError, match=r"answered 404 \(store_id_not_found") as refused,
    ):
        client.store_name()
    assert refused.value.refused
    assert str(refused.value).endswith("; look at EVIDENTIA_OPENFGA_STORE_ID)")
    openfga.token = "another"
    with (
        closing(OpenFgaClient(where)) as client,
        pytest.raises(
            OpenFgaError, match=r"401 .*; look at the key in the file of EVIDENTIA_OPENFGA"
        ),
    ):
        client.store_name()


def test_the_model_that_is_shipped_is_the_one_that_is_read(fga: str) -> None:
    source = openfga_client.__file__.replace("openfga_client.py", "model.fga")
    done = subprocess.run(
        [fga, "model", "transform", "--file", source], capture_output=True, check=True
    )
    assert json.loads(done.stdout) == shipped_model()


def test_tuples_are_written_read_and_deleted(openfga_client: OpenFgaClient, openfga: Stub) -> None:
    client, rows = openfga_client, [VIEWER, AUDITOR, PACK]
    client.write(rows, [])
    openfga.page = 2
    assert list(client.read()) == rows
    assert list(client.read(user="user:eve", object="tenant:acme")) == [AUDITOR]
    assert list(client.read(user="tenant:acme", object="evidence_pack:")) == [PACK]
    longer = replace(AUDITOR, expires_at=NOON)
    client.write([longer], [AUDITOR])
    assert set(client.read()) == {VIEWER, longer, PACK}
    client.write([], [VIEWER, longer, PACK])
    assert list(client.read()) == []


def test_many_tuples_go_in_hundreds(openfga_client: OpenFgaClient, openfga: Stub) -> None:
    many = [Relationship(f"user:{number}", "viewer", "tenant:acme") for number in range(101)]
    openfga_client.write(many, [])
    assert openfga.asked["Write"] == 2
    assert list(openfga_client.read()) == many


@pytest.mark.parametrize(
    ("writes", "deletes"),
    [([VIEWER], []), ([], [PACK]), ([Relationship("user:eve", "auditor", "tenant:acme")], [])],
)
def test_what_the_server_will_not_write_is_an_error_of_its_own(
    openfga_client: OpenFgaClient, writes: list[Relationship], deletes: list[Relationship]
) -> None:
    openfga_client.write([VIEWER], [])
    with pytest.raises(OpenFgaError, match="answered 400") as refused:
        openfga_client.write(writes, deletes)
    assert refused.value.refused
    assert not openfga_client.is_away
    assert list(openfga_client.read()) == [VIEWER]


def test_checks_are_the_engines(openfga_client: OpenFgaClient, openfga: Stub) -> None:
    openfga_client.write([VIEWER, AUDITOR, PACK], [])
    asking = openfga_client.authorizer()
    assert asking.may("anne", Action.VIEW, "pack_1") is True
    assert asking.may("anne", Action.HOLD, "pack_1") is False
    assert asking.may("eve", Action.AUDIT, "acme") is True
    assert asking.can_view_evidence_pack("bob", "pack_1") is False
    assert openfga_client("user:eve", "can_list", "tenant:acme", current_time=LATER) is False
    assert openfga_client.counts == {"answered": 5}
    packs = [f"pack_{number}" for number in range(120)]
    assert asking.may_each("anne", Action.VIEW, packs) == [one == "pack_1" for one in packs]
    assert openfga.asked["BatchCheck"] == 3
    assert asking.may_each("anne", Action.VIEW, []) == []


def test_openfgas_own_client_understands_the_stub(
    openfga_client: OpenFgaClient, openfga: Stub, fga: str
) -> None:
    openfga_client.write([VIEWER, PACK], [])
    server = openfga_client.server
    where = ["--store-id", server.store_id, "--api-url", server.url]
    asks = ["query", "check", "user:anne", "can_view", "evidence_pack:pack_1", *where]
    found = subprocess.run(
        [fga, *asks, "--model-id", server.model_id], capture_output=True, check=True
    )
    assert json.loads(found.stdout)["allowed"] is True, found.stderr
    found = subprocess.run([fga, "tuple", "read", *where], capture_output=True, check=True)
    assert len(json.loads(found.stdout)["tuples"]) == 2


def test_the_description_refuses_what_the_api_does_not_have() -> None:
    request = "openfga.v1.CheckRequest"
    key = {"user": "user:anne", "relation": "viewer", "object": "tenant:acme"}
    good = {"store_id": ID, "tuple_key": key, "consistency": "HIGHER_CONSISTENCY"}
    assert openfga_api.message(request, good).tuple_key.user == "user:anne"
    wrong: list[dict[str, Any]] = [
        {"tuple_key": {**key, "user": "user: anne"}},
        {"tuple_key": {**key, "relation": "a#b"}},
        {"tuple_key": None},
        {"store_id": "small"},
        {"authorization_model_id": "1"},
        {"consistency": "SOME"},
        {"more": 1},
    ]
    for change in wrong:
        with pytest.raises(openfga_api.RefusedError):
            openfga_api.message(request, {**good, **change})


@pytest.mark.parametrize(
    "name", ["*", "anne#viewer", "user:*", "tenant:acme#admin", "a b", "eve\nadmin", "", "م" * 300]
)
def test_no_name_is_more_than_a_name_to_the_engine(
    openfga_client: OpenFgaClient, name: str
) -> None:
    everybody = Relationship("user:anne", "admin", "tenant:acme")
    openfga_client.write([everybody, PACK], [])
    asking = openfga_client.authorizer()
    for action, on in ((Action.VIEW, "pack_1"), (Action.GRANT, "acme")):
        assert asking.may(name, action, on) is False
        assert asking.may("anne", action, name) is False


def test_a_client_goes_to_another_process_as_where_its_server_is(
    openfga_client: OpenFgaClient,
) -> None:
    openfga_client.write([VIEWER], [])
    there = pickle.loads(pickle.dumps(openfga_client.authorizer()))
    assert there.may("anne", Action.LIST, "acme") is True
    there.check.close()


def test_a_token_is_sent_and_shown_to_nobody(openfga: Stub) -> None:
    openfga.token = "s3cret"
    with closing(openfga.client(token="s3cret")) as client:
        assert client.authorizer().may("anne", Action.LIST, "acme") is False
        assert "s3cret" not in repr(client)
    with (
        closing(OpenFgaClient(replace(client.server, token=None))) as without,
        pytest.raises(UndecidedError, match=r"^OpenFGA answered 401: denied$"),
    ):
        without.authorizer().may("anne", Action.LIST, "acme")


@pytest.mark.parametrize(
    "fields",
    [
        {"url": "ftp://a"},
        {"url": "http://me:pw@fga:8080"},
        {"store_id": "../../admin"},
        {"model_id": "01stbb00000000000000000001"},
        {"token": "a\nb"},
        {"token": ""},
        {"url": "http://fga.example.com", "token": "s3cret"},
        {"seconds": 0.0},
    ],
)
def test_a_server_that_cannot_be_is_refused_and_no_secret_is_shown(fields: dict[str, Any]) -> None:
    with pytest.raises(InputError) as refused:
        OpenFgaServer(**{"url": "https://fga.example.com", **fields})
    assert "pw" not in str(refused.value)
    assert "s3cret" not in str(refused.value)


def test_without_a_store_or_a_model_it_says_what_to_do(openfga: Stub) -> None:
    client = OpenFgaClient(OpenFgaServer(url=openfga.url))
    with pytest.raises(InputError, match="access model --upload"):
        client.authorizer().may("anne", Action.LIST, "acme")
    with pytest.raises(InputError, match="EVIDENTIA_OPENFGA_STORE_ID"):
        list(client.read())


# Servers that do not answer as they should


@contextmanager
def answering(
    answer: Callable[[socket.socket], None], seconds: float = 20.0
) -> Iterator[OpenFgaClient]:
    """Run what answers each request; give a client of it that waits so long."""
    listening = socket.create_server(("127.0.0.1", 0))
    open_ones: list[socket.socket] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            open_ones.append(connection)
            threading.Thread(target=answered, args=(connection,), daemon=True).start()

    def answered(connection: socket.socket) -> None:
        try:
            with connection.makefile("rb") as asked:
                while lines := head(asked):
                    asked.read(sum(int(one[15:]) for one in lines if one[:15] == LENGTH))
                    answer(connection)
        except (OSError, ValueError):
            pass

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    client = OpenFgaClient(OpenFgaServer(url=url, store_id=ID, model_id=ID, seconds=seconds))
    try:
        yield client
    finally:
        client.close()
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        for one in open_ones:
            one.close()
        thread.join()


def head(asked: IO[bytes]) -> list[bytes]:
    """Return the lines before a request's body; none where the other side has closed."""
    lines: list[bytes] = []
    while (line := asked.readline()) not in {b"", b"\r\n"}:
        lines.append(line)
    return lines


def said(status: int, body: bytes, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status} X", f"content-length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def drip(connection: socket.socket) -> None:
    for letter in b"HTTP/1.1 200 OK\r\nx-slow: " + b"a" * 1_000:
        connection.sendall(bytes([letter]))
        time.sleep(0.02)


def drip_body(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n")
    for _ in range(1_000):
        connection.sendall(b" ")
        time.sleep(0.02)


def truncate(connection: socket.socket) -> None:
    connection.sendall(said(200, ALLOWED)[:-1])
    connection.shutdown(socket.SHUT_RDWR)


ALLOWED = b'{"allowed":true}'
TOO_LATE = "did not answer within 0.3 s"
BAD: dict[str, tuple[Callable[[socket.socket], None], str]] = {
    "nothing": (lambda _: time.sleep(2), TOO_LATE),
    "a byte now and then": (drip, TOO_LATE),
    "a body that comes slowly": (drip_body, TOO_LATE),
    "closed": (lambda one: one.shutdown(socket.SHUT_RDWR), "could not be asked"),
    "no HTTP": (lambda one: one.sendall(b"allowed: true\r\n\r\n"), "could not be asked"),
    "a truncated body": (
        truncate,
        "could not be asked",
    ),
    "500": (lambda one: one.sendall(said(500, ALLOWED)), "answered 500"),
    "403": (lambda one: one.sendall(said(403, ALLOWED)), "answered 403"),
    "a redirect": (
        lambda one: one.sendall(said(307, ALLOWED, "location: http://127.0.0.1:9/yes")),
        "answered 307",
    ),
    "too much": (
        lambda one: one.sendall(said(200, b" " * (openfga_client.MAX_REPLY_BYTES + 1))),
        "answered more than 4,194,304 bytes",
    ),
    "packed": (
        lambda one: one.sendall(said(200, ALLOWED, "content-encoding: gzip")),
        "packed its answer",
    ),
}
WORDS = (
    b'{"allowed":"true"}',
    b'{"allowed":1}',
    b'{"allowed":[true]}',
    b'{"allowed":null}',
    b'{"allow":true}',
    b'{"allowed":false,"allowed":true}',
    b'{"allowed":true}{"allowed":true}',
    b"[true]",
    b"true",
    b"",
    b"<html>",
    b'{"allowed":true,"x":NaN}',
    b"\xff",
    b'{"allowed":true,"error":{"message":"deadline"}}',
)


@pytest.mark.parametrize("how", BAD)
def test_whatever_is_no_answer_is_a_refusal_that_says_why(how: str) -> None:
    answer, why = BAD[how]
    seconds = 0.3 if why == TOO_LATE else 20.0
    with answering(answer, seconds) as client, pytest.raises(UndecidedError) as refused:
        client.authorizer().may("anne", Action.LIST, "acme")
    assert why in str(refused.value)
    assert str(refused.value).startswith("OpenFGA ")
    assert str(refused.value).endswith(": denied")
    assert "127.0.0.1" not in str(refused.value)
    assert client.counts == {"unanswered": 1}


def test_an_answer_that_is_not_to_the_letter_is_a_refusal() -> None:
    left = list(WORDS)
    with answering(lambda one: one.sendall(said(200, left[0]))) as client:
        client._patience.admit = print  # type: ignore[assignment]  # each is asked
        while left:
            with pytest.raises(UndecidedError, match="answered what cannot be read"):
                client.authorizer().may("anne", Action.LIST, "acme")
            left.pop(0)
    with answering(lambda one: one.sendall(said(200, ALLOWED))) as client:
        assert client.authorizer().may("anne", Action.LIST, "acme") is True


@pytest.mark.parametrize(
    "result",
    [
        {},
        {"0": {"allowed": True}},
        {"0": {"allowed": True}, "1": {"allowed": True}, "2": {"allowed": True}},
        {"0": {"allowed": True}, "x": {"allowed": True}},
        {"0": {"allowed": True}, "1": {"allowed": "true"}},
        {"0": {"allowed": True}, "1": {"allowed": True, "error": {"message": "no"}}},
        {"0": {"allowed": True}, "1": True},
        [],
    ],
)
def test_a_batch_is_answered_whole_and_to_its_ids_or_not_at_all(result: Any) -> None:
    body = json.dumps({"result": result}).encode()
    with (
        answering(lambda one: one.sendall(said(200, body))) as client,
        pytest.raises(UndecidedError),
    ):
        client.authorizer().may_each("anne", Action.VIEW, ["pack_1", "pack_2"])


def test_a_server_that_is_away_is_not_waited_for_by_each_and_is_found_again() -> None:
    now = [0.0]
    answers = [said(503, b"")]
    with answering(lambda one: one.sendall(answers[0])) as client:
        asks = OpenFgaClient(client.server, clock=lambda: now[0])
        asking = asks.authorizer()
        for _ in range(3):
            with pytest.raises(UndecidedError, match="answered 503: denied"):
                asking.may("anne", Action.LIST, "acme")
        assert asks.is_away
        answers[0] = said(200, ALLOWED)
        with pytest.raises(UndecidedError, match="is not asked for now, as it answered 503"):
            asking.may("anne", Action.LIST, "acme")
        now[0] += 1.1
        assert asking.may("anne", Action.LIST, "acme") is True
        assert not asks.is_away
        asks.close()


def test_of_many_that_ask_while_it_is_away_one_tries() -> None:
    now = [0.0]
    tried = []

    def fail(one: socket.socket) -> None:
        tried.append(1)
        one.sendall(said(503, b""))

    with answering(fail) as client:
        asks = OpenFgaClient(client.server, clock=lambda: now[0])
        for _ in range(3):
            with pytest.raises(UndecidedError):
                asks.authorizer().may("anne", Action.LIST, "acme")
        tried.clear()
        for waited in (1.1, 0.0, 0.0, 1.1, 1.0):
            now[0] += waited
            with pytest.raises(UndecidedError):
                asks.authorizer().may("anne", Action.LIST, "acme")
        assert len(tried) == 4  # two tries, each asked twice: one try a second, then one in two
        asks.close()


def test_a_question_is_asked_again_and_a_write_is_not() -> None:
    tried = []

    def fail(one: socket.socket) -> None:
        tried.append(1)
        one.sendall(said(503, b"") if len(tried) % 2 else said(200, ALLOWED))

    with answering(fail) as client:
        assert client.authorizer().may("anne", Action.LIST, "acme") is True
        assert len(tried) == 2
        with pytest.raises(OpenFgaError, match="answered 503"):
            client.write([VIEWER], [])
        assert len(tried) == 3


def test_pages_that_never_end_are_an_error() -> None:
    body = json.dumps({"tuples": [], "continuation_token": "again"}).encode()
    with (
        answering(lambda one: one.sendall(said(200, body))) as client,
        pytest.raises(OpenFgaError, match="the same page"),
    ):
        list(client.read())


def test_no_read_may_take_longer_than_is_left_of_the_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[float | None] = []

    class Inner(httpcore2.NetworkStream):
        def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
            asked.append(timeout)
            return b"x"[:max_bytes]

        def write(self, buffer: bytes, timeout: float | None = None) -> None:
            assert buffer
            asked.append(timeout)

    def connect(_: object, host: str, port: int, timeout: float) -> Inner:
        asked.append(timeout)
        return Inner()

    monkeypatch.setattr(httpcore2.SyncBackend, "connect_tcp", connect)
    now, deadline = [5.0], openfga_client._Deadline()
    deadline.until = 5.25
    stream = openfga_client._backend(deadline, lambda: now[0]).connect_tcp(
        "127.0.0.1", 1, timeout=9.0
    )
    stream.write(b"x", 9.0)
    now[0] = 5.125
    stream.read(1, None)
    stream.read(1, 0.0625)
    assert asked == [0.25, 0.25, 0.125, 0.0625]
    now[0] = 5.5
    with pytest.raises(httpcore2.ReadTimeout):
        stream.read(1, 9.0)


def test_all_addresses_of_a_name_share_the_time_that_there_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of eight, none of which answers, each would have the whole time for itself."""
    asked: list[str] = []

    def connect(_: object, host: str, port: int, timeout: float, **__: object) -> None:
        asked.append(host)
        time.sleep(timeout)
        raise httpcore2.ConnectTimeout("nobody there")

    places = [f"192.0.2.{number}" for number in range(1, 9)]
    monkeypatch.setattr(httpcore2.SyncBackend, "connect_tcp", connect)
    known_at(places, monkeypatch)
    client = OpenFgaClient(OpenFgaServer(url="http://fga", store_id=ID, model_id=ID, seconds=0.4))
    begins = time.monotonic()
    with closing(client), pytest.raises(UndecidedError, match=r"^OpenFGA .*: denied$"):
        client.authorizer().may("anne", Action.LIST, "acme")
    assert time.monotonic() - begins < 1.5
    assert asked == places


def test_an_address_that_is_away_is_followed_by_another_of_the_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with answering(lambda one: one.sendall(said(200, ALLOWED))) as client:
        places = ["127.0.0.9", "127.0.0.1"]  # nothing listens at the first
        known_at(places, monkeypatch)
        url = client.server.url.replace("127.0.0.1", "fga")
        with closing(OpenFgaClient(replace(client.server, url=url))) as named:
            assert named.authorizer().may("anne", Action.LIST, "acme") is True


def test_a_name_that_nobody_finds_in_time_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    found = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found.wait(20) and [])
    client = OpenFgaClient(OpenFgaServer(url="http://fga", store_id=ID, model_id=ID, seconds=0.3))
    begins = time.monotonic()
    with closing(client), pytest.raises(UndecidedError, match=TOO_LATE):
        client.authorizer().may("anne", Action.LIST, "acme")
    assert time.monotonic() - begins < 2
    found.set()


def known_at(addresses: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the system find these for the name `fga`."""
    find = socket.getaddrinfo

    def found(host: str, port: int, *more: Any, **named: Any) -> list[Any]:
        places = addresses if host == "fga" else [host]
        return [one for place in places for one in find(place, port, *more, **named)]

    monkeypatch.setattr(socket, "getaddrinfo", found)

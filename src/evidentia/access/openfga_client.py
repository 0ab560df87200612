"""Talking to an OpenFGA server by its HTTP API, with bounds on time, size and patience.

A check that is not answered whole, in time and to the letter is refused: `UndecidedError`. No
redirect is followed, and no proxy and no password is taken from the environment. A server that is
away is not waited for by each request anew: for some seconds all are refused at once, and then one
tries again.
"""

import os
import socket
import ssl
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.resources import files
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar
from urllib.parse import quote, urlsplit

from evidentia.access import openfga_wire as wire
from evidentia.access.openfga import OpenFgaAuthorizer, Relationship
from evidentia.canonical import canonical_json, parse_json
from evidentia.errors import CanonicalError, EnvironmentProblem, InputError, UndecidedError
from evidentia.logs import get_logger
from evidentia.urls import normal_url

if TYPE_CHECKING:
    import httpcore2

Read = TypeVar("Read")

MAX_REPLY_BYTES: Final = 4 * 2**20
SECONDS: Final = 2.0
"""How long a check may take, where no other time is said."""
_LONG_SECONDS: Final = 30.0
"""How long what no request waits for may take: reading and writing tuples, models, stores."""
_LONGEST_CONNECTING: Final = 1.0
_FAILURES: Final = 3
"""After so many in a row the server is taken for away."""
_AWAY_SECONDS: Final = 1.0
_LONGEST_AWAY: Final = 15.0
_CONNECTIONS: Final = 32
_IDLE_SECONDS: Final = 20.0
_AGAIN: Final = frozenset((409, 429, 500, 502, 503, 504))
"""The answers after which the same question may be answered otherwise."""
_UNPROCESSABLE: Final = range(400, 500)
_LOCAL: Final = ("localhost", "127.0.0.1", "::1")
_INSTALL: Final = "OpenFGA needs an HTTP client: pip install 'evidentia[openfga]'"
_ID: Final = frozenset("0123456789ABCDEFGHJKMNPQRSTVWXYZ")
_ID_LENGTH: Final = 26
_log = get_logger("access")


_HINTS: Final = {
    "401 ": "look at the key in the file of EVIDENTIA_OPENFGA_TOKEN_FILE",
    "store_id_not_found": "look at EVIDENTIA_OPENFGA_STORE_ID",
    "authorization_model_not_found": "look at EVIDENTIA_OPENFGA_MODEL_ID",
}
"""What to do about what OpenFGA says."""


class OpenFgaError(EnvironmentProblem):
    """OpenFGA did not do what it was asked for; `refused` if it answered that it won't.

    `why` is what users are told: it has neither the server's address nor its own words.
    """

    def __init__(self, where: str, why: str, said: str = "", *, refused: bool = False) -> None:
        super().__init__(f"{where} {why} ({said})" if said else f"{where} {why}")
        self.why = why
        self.refused = refused


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenFgaServer:
    """Where an OpenFGA server is, and which store and model of it are asked.

    `token` is a pre-shared key, which is shown nowhere. `seconds` is how long a check may take.
    """

    url: str
    store_id: str = ""
    model_id: str = ""
    token: str | None = field(default=None, repr=False)
    seconds: float = SECONDS

    def __post_init__(self) -> None:
        url = normal_url(
            self.url, example="http://localhost:8080", instead="give the key as a token"
        )
        object.__setattr__(self, "url", url)
        for name in ("store_id", "model_id"):
            found = getattr(self, name)
            if found and (len(found) != _ID_LENGTH or not _ID.issuperset(found)):
                raise InputError(
                    f"{name} is {found[:40]!r}: OpenFGA's ids have {_ID_LENGTH} capital letters "
                    "and digits, and 'evidentia access model --upload' prints them"
                )
        token = self.token
        if token is not None and (not token or not token.isascii() or not token.isprintable()):
            raise InputError("the token for OpenFGA is none: it is printable ASCII")
        if token is not None and url.startswith("http:") and urlsplit(url).hostname not in _LOCAL:
            raise InputError(
                f"{url}: the token would go there for everyone on the way to read: use https"
            )
        if not 0.05 <= self.seconds <= 60:  # noqa: PLR2004 - the bounds are in the message
            raise InputError(f"seconds is {self.seconds!r}: a check takes 0.05 to 60")


class OpenFgaClient:
    """A client of one server; threads may share one, and processes that it is sent to.

    It is what `OpenFgaAuthorizer` asks. `clock` is the machine's unless given.
    """

    def __init__(
        self, server: OpenFgaServer, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.server = server
        self._clock = clock
        self.counts: Counter[str] = Counter()
        """How often a check was answered, and how often it was not."""
        self._pool: httpcore2.ConnectionPool | None = None
        self._begin()

    def __reduce__(self) -> tuple[type["OpenFgaClient"], tuple[OpenFgaServer]]:
        """Go to another process as where the server is: connections stay here."""
        return OpenFgaClient, (self.server,)

    def __repr__(self) -> str:
        return f"OpenFgaClient({self.server!r})"

    def authorizer(self) -> OpenFgaAuthorizer:
        """Return what decides by asking this server, by the machine's clock."""
        return OpenFgaAuthorizer(self, now=_now)

    @property
    def is_away(self) -> bool:
        """Whether the server is taken for away: what is asked is refused at once."""
        return self._patience.is_away

    def look(self) -> bool:
        """Whether the server answers, asked now if it was taken for away and it is time to try."""
        if self.is_away:
            until = self._clock() + self.server.seconds
            with suppress(OpenFgaError):
                self._asked("GET", self._path(""), None, lambda _: None, until, again=False)
        return not self.is_away

    def close(self) -> None:
        """Close its connections; it opens new ones if it is asked again."""
        with self._lock:
            pool = self._pool
            self._pool = None
        if pool is not None:
            pool.close()

    # Checks: these alone decide, and refuse whatever goes wrong

    def __call__(self, user: str, relation: str, object: str, *, current_time: str) -> bool:  # noqa: A002 - OpenFGA's word
        """Return whether the user has the relation to the object, as the server says now."""
        body = wire.check_body(
            user, relation, object, current_time=current_time, model_id=self._model()
        )
        return self._decided("check", body, wire.read_check, self._clock() + self.server.seconds)

    def each(
        self, user: str, relation: str, objects: Sequence[str], *, current_time: str
    ) -> list[bool]:
        """Return whether the user has the relation to each object, fifty in one request."""
        found: list[bool] = []
        for ids, body in wire.batch_bodies(
            user, relation, objects, current_time=current_time, model_id=self._model()
        ):
            until = self._clock() + self.server.seconds
            found += self._decided(
                "batch-check",
                body,
                lambda answer, ids=ids: wire.read_batch(answer, ids),  # type: ignore[misc]
                until,
            )
        return found

    def _decided(
        self, what: str, body: Mapping[str, Any], read: Callable[[Any], Read], until: float
    ) -> Read:
        try:
            found = self._asked("POST", self._path(what), body, read, until, again=True)
        except OpenFgaError as error:
            self.counts["unanswered"] += 1
            raise UndecidedError(f"OpenFGA {error.why}: denied") from None
        self.counts["answered"] += 1
        return found

    # What the operator's commands and the outbox do

    def read(self, **key: str) -> Iterator[Relationship]:
        """Give the tuples of the store that have this `user`, `relation` and `object`: all of them.

        An object may be a type with a colon (`agent:`) where a user is given.
        """
        token, seen = "", set[str]()
        while True:
            rows, token = self._slowly(
                "POST", self._path("read"), wire.read_body(key, token), wire.read_tuples
            )
            yield from rows
            if not token:
                return
            if token in seen:
                raise OpenFgaError(self._name, "gives the same page of tuples again and again")
            seen.add(token)

    def write(self, writes: Sequence[Relationship], deletes: Sequence[Relationship]) -> None:
        """Write and delete tuples, deletions first, a hundred in one request.

        Deleting one that is not there, or writing one that is, is refused by the server.
        """
        for body in wire.write_bodies(writes, deletes, self._model()):
            self._slowly("POST", self._path("write"), body, lambda _: None, again=False)

    def stores(self) -> Iterator[tuple[str, str]]:
        """Give the stores of the server, by ids and names."""
        yield from self._pages("/stores", wire.read_stores)

    def store_name(self) -> str:
        """Return what the store is called; raise `OpenFgaError` if there is none of its id."""
        return self._slowly("GET", self._path(""), None, lambda answer: wire.text(answer, "name"))

    def create_store(self, name: str) -> str:
        """Make a store; return its id."""
        return self._slowly(
            "POST", "/stores", {"name": name}, lambda answer: wire.text(answer, "id"), again=False
        )

    def models(self) -> Iterator[tuple[str, Any]]:
        """Give the models of the store, by their ids, the newest first."""
        yield from self._pages(self._path("authorization-models"), wire.read_models)

    def require_model(self) -> None:
        """Raise `OpenFgaError` unless the store has the model that is asked."""
        self._slowly(
            "GET", self._path(f"authorization-models/{self._model()}"), None, lambda _: None
        )

    def write_model(self, model: Mapping[str, Any]) -> str:
        """Add a model to the store; return its id."""
        return self._slowly(
            "POST",
            self._path("authorization-models"),
            model,
            lambda answer: wire.text(answer, "authorization_model_id"),
            again=False,
        )

    def _pages(self, path: str, read: Callable[[Any], tuple[list[Any], str]]) -> Iterator[Any]:
        token, seen = "", set[str]()
        while True:
            more = f"&continuation_token={quote(token, safe='')}" if token else ""
            rows, token = self._slowly("GET", f"{path}?page_size={wire.PAGE}{more}", None, read)
            yield from rows
            if not token or token in seen:
                return
            seen.add(token)

    def _slowly(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        read: Callable[[Any], Read],
        *,
        again: bool = True,
    ) -> Read:
        until = self._clock() + max(_LONG_SECONDS, self.server.seconds)
        return self._asked(method, path, body, read, until, again=again)

    # Asking

    def _asked(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        read: Callable[[Any], Read],
        until: float,
        *,
        again: bool,
    ) -> Read:
        """Return what is read of an answer; ask twice at most, if that is safe and there is time.

        Raise `OpenFgaError` for all that is no such answer.
        """
        self._begin_as_child()
        self._patience.admit(self._name)
        seconds = until - self._clock()
        try:
            status, data = self._sent(method, path, body, until, again=again)
            answer = self._read(status, data, read)
        except _NoAnswerError as error:
            why, said = error.why, error.said
            if self._clock() >= until:
                why, said = f"did not answer within {seconds:.3g} s", ""
            self._patience.failed(self._name, why, said)
            raise OpenFgaError(self._name, why, said) from None
        except OpenFgaError:
            self._patience.answered(self._name)
            raise
        except BaseException as error:
            self._patience.failed(self._name, "was not asked to the end", type(error).__name__)
            raise
        self._patience.answered(self._name)
        return answer

    def _sent(
        self, method: str, path: str, body: Mapping[str, Any] | None, until: float, *, again: bool
    ) -> tuple[int, bytes]:
        try:
            found = self._once(method, path, body, until)
            if not (again and found[0] in _AGAIN):
                return found
        except _NoAnswerError:
            if not again or self._clock() >= until:
                raise
        return self._once(method, path, body, until)

    def _once(
        self, method: str, path: str, body: Mapping[str, Any] | None, until: float
    ) -> tuple[int, bytes]:
        server, pool = self.server, self._connections()
        headers: dict[bytes | str, bytes | str] = {
            "host": urlsplit(server.url).netloc,
            "user-agent": "evidentia",
            "accept": "application/json",
            "accept-encoding": "identity",
        }
        if server.token is not None:
            headers["authorization"] = f"Bearer {server.token}"
        content = b"" if body is None else canonical_json(dict(body))
        if body is not None:
            headers |= {"content-type": "application/json", "content-length": str(len(content))}
        self._deadline.until = until
        left = max(0.001, until - self._clock())
        times = dict.fromkeys(("read", "write", "pool"), left)
        times["connect"] = min(_LONGEST_CONNECTING, left)
        errors: tuple[type[Exception], ...] = (*self._errors, OSError, UnicodeError)
        try:
            with pool.stream(
                method,
                f"{server.url}{path}",
                headers=headers,
                content=content,
                extensions={"timeout": times},
            ) as response:
                data = bytearray()
                for chunk in response.iter_stream():
                    data += chunk
                    if len(data) > MAX_REPLY_BYTES:
                        raise _NoAnswerError(f"answered more than {MAX_REPLY_BYTES:,} bytes")
                packed = dict(response.headers).get(b"content-encoding", b"identity")
                if packed != b"identity":
                    raise _NoAnswerError("packed its answer, and was asked not to")
                return response.status, bytes(data)
        except errors as error:
            said = " ".join(str(error).split())[:200] or type(error).__name__
            raise _NoAnswerError("could not be asked", said) from None

    def _read(self, status: int, data: bytes, read: Callable[[Any], Read]) -> Read:
        if 200 <= status < 300:  # noqa: PLR2004 - what HTTP calls a success
            try:
                return read(parse_json(data))
            except (CanonicalError, ValueError) as error:
                raise _NoAnswerError("answered what cannot be read", str(error)) from None
        try:
            said = wire.told_refusal(parse_json(data))
        except CanonicalError:
            said = ""
        why = f"answered {status}"
        if status in _UNPROCESSABLE and status not in _AGAIN:
            _log.warning("openfga_refused", server=self._name, reason=f"{why} {said}")
            hints = [hint for what, hint in _HINTS.items() if what in f"{status} {said}"]
            raise OpenFgaError(
                self._name, why, "; ".join(filter(None, (said, *hints))), refused=True
            )
        raise _NoAnswerError(why, said)

    @property
    def _name(self) -> str:
        return f"OpenFGA at {self.server.url}"

    def _model(self) -> str:
        return self.server.model_id or self._lacks("model", "EVIDENTIA_OPENFGA_MODEL_ID")

    def _path(self, what: str) -> str:
        store = self.server.store_id or self._lacks("store", "EVIDENTIA_OPENFGA_STORE_ID")
        return f"/stores/{store}/{what}" if what else f"/stores/{store}"

    def _lacks(self, what: str, setting: str) -> NoReturn:
        raise InputError(
            f"{self._name}: no {what} is named: 'evidentia access model --upload' makes one, then "
            f"set {setting}"
        )

    # Connections

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._pool = None
        self._errors: tuple[type[Exception], ...] = ()
        self._deadline = _Deadline()
        self._patience = _Patience(self._clock)

    def _begin_as_child(self) -> None:
        """Leave the parent's connections alone: a process that forked has its own."""
        if self._pid != os.getpid():
            self._begin()

    def _connections(self) -> "httpcore2.ConnectionPool":
        with self._lock:
            if self._pool is None:
                self._pool = self._new_pool()
            return self._pool

    def _new_pool(self) -> "httpcore2.ConnectionPool":
        try:
            import httpcore2  # noqa: PLC0415 - an extra: what httpx2 itself sends by
        except ImportError:
            raise EnvironmentProblem(_INSTALL) from None
        self._errors = (
            httpcore2.TimeoutException,
            httpcore2.NetworkError,
            httpcore2.ProtocolError,
            httpcore2.UnsupportedProtocol,
        )
        secure = self.server.url.startswith("https:")
        return httpcore2.ConnectionPool(
            ssl_context=ssl.create_default_context() if secure else None,
            max_connections=_CONNECTIONS,
            keepalive_expiry=_IDLE_SECONDS,
            network_backend=_backend(self._deadline, self._clock),
        )


def placed_model(client: OpenFgaClient, store: str) -> OpenFgaServer:
    """Return where our model is: in the client's store, or one of a name, which is made if need be.

    A model that is the store's newest already is not written again.
    """
    server = client.server
    if not server.store_id:
        found = [identity for identity, name in client.stores() if name == store]
        if len(found) > 1:
            raise InputError(
                f"{server.url} has {len(found)} stores that are called {store!r}: set "
                "EVIDENTIA_OPENFGA_STORE_ID to the one that is meant"
            )
        server = replace(server, store_id=found[0] if found else client.create_store(store))
    client.close()
    there = OpenFgaClient(server)
    try:
        newest = next(there.models(), None)
        if newest is not None and newest[1] == wire.plain_model(shipped_model()):
            return replace(server, model_id=newest[0])
        return replace(server, model_id=there.write_model(shipped_model()))
    finally:
        there.close()


def shipped_model() -> dict[str, Any]:
    """Return the model that comes with this program, as OpenFGA's API takes it."""
    data = (files("evidentia.access") / "model.json").read_bytes()
    found: dict[str, Any] = parse_json(data)
    return found


class _NoAnswerError(Exception):
    """Nothing came that could be an answer: it may come if it is asked again."""

    def __init__(self, why: str, said: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.said = said


class _Deadline(threading.local):
    """By when what this thread asks must be answered."""

    until: float = float("inf")


class _Patience:
    """Says whether a server is worth asking: not each request waits for one that is away."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._away_for = _AWAY_SECONDS
        self._until: float | None = None
        self._trying = False
        self._said = ""

    @property
    def is_away(self) -> bool:
        return self._until is not None

    def admit(self, name: str) -> None:
        """Raise `OpenFgaError` while the server is away; let one pass when it is time to try."""
        with self._lock:
            if self._until is None:
                return
            if self._trying or self._clock() < self._until:
                raise OpenFgaError(name, f"is not asked for now, as it {self._said}")
            self._trying = True

    def answered(self, name: str) -> None:
        """Note that the server answered."""
        with self._lock:
            was_away, self._until = self._until is not None, None
            self._failures, self._trying, self._away_for = 0, False, _AWAY_SECONDS
        if was_away:
            _log.info("openfga_is_back", server=name)

    def failed(self, name: str, why: str, said: str) -> None:
        """Note that it did not; from the third time on, do without it for a while."""
        with self._lock:
            self._failures += 1
            self._said = why
            began = self._until is None and self._failures >= _FAILURES
            if self._trying:
                self._away_for = min(2 * self._away_for, _LONGEST_AWAY)
            if began or self._trying:
                self._until = self._clock() + self._away_for
            self._trying = False
        _log.warning("openfga_failed", server=name, reason=f"{why} {said}".strip(), away=began)


def _backend(deadline: _Deadline, clock: Callable[[], float]) -> "httpcore2.NetworkBackend":
    """Return what connects, and gives up once the time of a whole request is over.

    The time limits of the pool are each for one read: a server that sends a byte now and then
    would never reach them. So is that of connecting for one address, and finding these has none.
    """
    import httpcore2  # noqa: PLC0415 - an extra

    def left(timeout: float | None) -> float:
        rest = deadline.until - clock()
        if rest <= 0:
            raise httpcore2.ReadTimeout("the time is over")
        return rest if timeout is None else min(timeout, rest)

    class Stream(httpcore2.NetworkStream):
        def __init__(self, inner: httpcore2.NetworkStream) -> None:
            self._inner = inner

        def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
            return self._inner.read(max_bytes, left(timeout))

        def write(self, buffer: bytes, timeout: float | None = None) -> None:
            self._inner.write(buffer, left(timeout))

        def close(self) -> None:
            self._inner.close()

        def start_tls(
            self,
            ssl_context: ssl.SSLContext,
            server_hostname: str | None = None,
            timeout: float | None = None,
        ) -> httpcore2.NetworkStream:
            return Stream(self._inner.start_tls(ssl_context, server_hostname, left(timeout)))

        def get_extra_info(self, info: str) -> Any:
            return self._inner.get_extra_info(info)

    class Backend(httpcore2.SyncBackend):
        def connect_tcp(
            self, host: str, port: int, timeout: float | None = None, *more: Any, **named: Any
        ) -> httpcore2.NetworkStream:
            until, connect = clock() + left(timeout), super().connect_tcp
            return Stream(
                _reached(
                    _addresses(host, port, until - clock()),
                    lambda: until - clock(),
                    lambda address, seconds: connect(address, port, seconds, *more, **named),
                )
            )

    return Backend()


def _addresses(host: str, port: int, seconds: float) -> list[str]:
    """Return the addresses of a name; raise `OSError` where none are found in so many seconds.

    The system looks for them as long as it likes, so a thread of its own waits for that.
    """
    answer: SimpleQueue[list[str] | Exception] = SimpleQueue()

    def look() -> None:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            answer.put(list(dict.fromkeys(str(address[0]) for *_, address in found)))
        except (OSError, UnicodeError) as error:
            answer.put(error)

    threading.Thread(target=look, name="evidentia-openfga-name", daemon=True).start()
    try:
        found = answer.get(timeout=max(0.0, seconds))
    except Empty:
        raise TimeoutError(f"no address of {host} was found in time") from None
    if isinstance(found, Exception):
        raise found
    return found


def _reached(
    addresses: Sequence[str], left: Callable[[], float], connect: Callable[[str, float], Read]
) -> Read:
    """Return what the first address gives that answers; all share the seconds that are left."""
    import httpcore2  # noqa: PLC0415 - an extra

    problem: Exception = httpcore2.ConnectTimeout("the time is over")
    for place, address in enumerate(addresses):
        share = left() / (len(addresses) - place)
        if share <= 0:
            break
        try:
            return connect(address, share)
        except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
            problem = error
    raise problem


def _now() -> datetime:
    return datetime.now(UTC)  # noqa: TID251 - what a check's condition is compared with

"""What all requests to one server share: what is opened, how it is set up, what it counts."""

import asyncio
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from fastapi import Request
from itsdangerous import BadSignature, SignatureExpired, URLSafeTimedSerializer

from evidentia.errors import InputError
from evidentia.integrations.otel.gathering import Gathering
from evidentia.jobs.processes import Processes
from evidentia.jobs.runner import Runner
from evidentia.proof.files import read_bytes
from evidentia.server.caching import KeptAnswers
from evidentia.server.downloads import Downloads
from evidentia.server.idempotency import Unwritten
from evidentia.server.metrics import Metrics
from evidentia.server.oidc import Provider
from evidentia.server.rates import Limited, Rates
from evidentia.server.repeating import RepeatedAnswers
from evidentia.settings import Settings
from evidentia.store.files import make_folder, write_durably
from evidentia.workspace.opened import Opened

LEAST_SECRET_BYTES: Final = 32
_MOST_SECRET_BYTES: Final = 4_096
_REFUSED_PER_MINUTE: Final = 120
"""How many refusals of one caller are recorded in a minute: they are for good."""
_AT_ONCE: Final = 2
"""How many connections one request may hold at once: it may read while it writes."""


@dataclass(frozen=True)
class Running:
    """A server that runs: one for each process. Whatever a request needs comes from here."""

    opened: Opened
    settings: Settings
    secret: bytes = field(repr=False)
    runner: Runner
    """Who does the jobs."""
    downloads: Downloads
    sign_in: "OneTimeLink | None" = None
    """Where the owner of an embedded workspace signs in; None if no one does so."""
    provider: Provider | None = None
    """Who else vouches for users."""
    processes: Processes | None = None
    """Where answers are judged and files are read: in this process if None."""
    gathering: Gathering = field(default_factory=Gathering)
    """What is recorded of traces that are sent here."""
    metrics: Metrics = field(default_factory=Metrics)
    kept: KeptAnswers = field(default_factory=KeptAnswers)
    """Answers about what never changes."""
    repeated: RepeatedAnswers = field(default_factory=RepeatedAnswers)
    """Answers to who asks the same while nothing changes at all."""
    in_flight: set[tuple[str, str, str]] = field(default_factory=set)
    """The idempotency keys of requests that are being worked on; of the event loop alone."""
    listening: Counter[str] = field(default_factory=Counter)
    """How many streams of events each caller has open; of the event loop alone."""
    stopping: threading.Event = field(default_factory=threading.Event)
    """Whether the server was told to stop: who listens to events is let go."""
    unwritten: dict[tuple[str, str, str], Unwritten] = field(default_factory=dict)
    """What was done and could not be written down, as the database was gone; of the event loop."""
    started: str = field(default_factory=lambda: secrets.token_hex(8))
    """Another one at every start: what only this one knows ends with it."""
    waits: float = 10.0
    """How many seconds a request waits for a check, before that goes on as a job."""
    seconds: Callable[[], float] = time.monotonic
    """What rates are measured by."""
    rates: Rates = field(init=False)
    long_work: asyncio.Semaphore = field(init=False)
    """Taken by what may take long, so that the other half of the threads answers all else."""
    checks: asyncio.Semaphore = field(init=False)
    """Taken by checks that are waited for: more of them wait here, and leave room for jobs."""

    def __post_init__(self) -> None:
        found = self.settings
        per_minute = {
            Limited.SIGN_IN: found.server_sign_ins_per_minute,
            Limited.CHECK: found.server_checks_per_minute,
            Limited.EXPORT: found.server_exports_per_minute,
            Limited.SPANS: found.server_span_requests_per_minute,
            Limited.REFUSED: _REFUSED_PER_MINUTE,
        }
        object.__setattr__(self, "rates", Rates(per_minute, self.seconds))
        object.__setattr__(self, "long_work", asyncio.Semaphore(max(1, self.threads // 2)))
        object.__setattr__(self, "checks", asyncio.Semaphore(self.threads))

    @contextmanager
    def listening_to(self, caller: str) -> Iterator[None]:
        """Count a stream of events as the caller's while it is open."""
        self.listening[caller] += 1
        try:
            yield
        finally:
            self.listening[caller] -= 1
            if not self.listening[caller]:
                del self.listening[caller]

    def close(self) -> None:
        """End what runs beside it; what is opened goes on, and is closed by whoever opened it."""
        self.downloads.close()
        if self.processes is not None:
            self.opened.judging = self.opened.reading = None
            self.processes.close()
        if self.opened.bulk is not None:
            bulk, self.opened.bulk = self.opened.bulk, None
            bulk.close()

    @property
    def threads(self) -> int:
        """How many requests may be worked on at once, so that none waits for a connection."""
        others = self.downloads.threads + self.runner.at_once
        return max(1, self.opened.database.connections // _AT_ONCE - others)

    @property
    def is_https(self) -> bool:
        """Whether others reach the server by HTTPS."""
        return (self.settings.server_url or "").startswith("https:")

    def signed(self, purpose: str, value: object) -> str:
        """Return a value as text that only this server, and those with its secret, can write."""
        return self._signer(purpose).dumps(value)

    def unsigned(self, purpose: str, text: str, *, seconds: int | None = None) -> Any:
        """Return a signed value; None if it was not signed for this, or longer ago."""
        try:
            return self._signer(purpose).loads(text, max_age=seconds)
        except (SignatureExpired, BadSignature):
            return None

    def signed_at(self, purpose: str, text: str) -> datetime:
        """Return when a text was signed, which `unsigned` has read."""
        _, at = self._signer(purpose).loads(text, return_timestamp=True)
        found: datetime = at
        return found

    def _signer(self, purpose: str) -> URLSafeTimedSerializer:
        return URLSafeTimedSerializer(self.secret, salt=f"evidentia {purpose}")


class OneTimeLink:
    """A secret that is good once: who has it signs in as the owner."""

    def __init__(self) -> None:
        self.secret: str | None = secrets.token_urlsafe(32)

    def spend(self, given: str) -> bool:
        """Say whether this is the secret; from then on nothing is."""
        if self.secret is None or not secrets.compare_digest(self.secret.encode(), given.encode()):
            return False
        self.secret = None
        return True


def running_of(request: Request) -> Running:
    """Return the server that answers a request."""
    found: Running = request.app.state.running
    return found


def server_secret(opened: Opened, settings: Settings) -> bytes:
    """Return what links and cookies are signed with: from a file, or made once in the home."""
    file = settings.server_secret_file
    if file is None:
        file = opened.home.folder / "server" / "secret"
        if not file.exists():
            make_folder(file.parent)
            write_durably(file, secrets.token_bytes(LEAST_SECRET_BYTES), mode=0o600)
    found = read_bytes(file, _MOST_SECRET_BYTES)
    if len(found) < LEAST_SECRET_BYTES:
        raise InputError(
            f"{file} has {len(found)} bytes, and a server's secret {LEAST_SECRET_BYTES} at least: "
            f"write some into it with 'head -c {LEAST_SECRET_BYTES} /dev/urandom'"
        )
    return found

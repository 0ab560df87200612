"""Entries that are posted to the sequencer: what stands in the table where they wait.

Whoever can write to that table could have anything signed. So each posting has a code that only who
may sign the log can make: its secret is a signature that never leaves the process. What is told of
its receipts on the way back has one too, as anyone who connects could say something there.
"""

import hmac
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Final, NamedTuple

import orjson

from evidentia.errors import IntegrityError
from evidentia.trail.waiting import Waiting, rebuilt

WAITED: Final = timedelta(hours=1)
"""How long a receipt is kept that someone waits for."""
ASKED_LATER: Final = timedelta(days=30)
"""How long a receipt is kept that will be asked for by its ticket."""
_PURPOSE: Final = b"evidentia: a secret for postings, and no checkpoint\n"
_TICKET: Final = frozenset("0123456789abcdef")
_TIME: Final = 16
_MAKER: Final = 4
_RANDOM: Final = 8
_LENGTH: Final = _TIME + 2 * (_MAKER + _RANDOM)
_CODE: Final = 64


class Posting(NamedTuple):
    """What one caller wants to be appended, all or none: by whom, under which ticket.

    After `until` it is not appended any more, and its receipt is forgotten.
    """

    tenant: str
    ticket: str
    until: str
    by: str
    items: Sequence[Waiting]


class Posted(NamedTuple):
    """A posting as it is stored."""

    tenant: str
    ticket: str
    until: str
    entries: int
    content: bytes
    code: bytes


class Tickets:
    """Makes tickets: no two are the same, and those of one maker sort as they came.

    Each says who made it, `maker`, who may have been given that name by chance as others were.
    """

    def __init__(self, clock: Callable[[], int], randomness: Callable[[int], bytes]) -> None:
        self._clock = clock
        self._randomness = randomness
        self._last = 0
        self.maker = randomness(_MAKER).hex()

    def new(self) -> str:
        """Return the next one; one thread at a time may ask."""
        self._last = max(self._last + 1, self._clock())
        return f"{self._last:016x}{self.maker}{self._randomness(_RANDOM).hex()}"


def maker_of(ticket: str) -> str:
    """Return who made a ticket."""
    return ticket[_TIME : _TIME + 2 * _MAKER]


def is_ticket(text: str) -> bool:
    """Whether a text could be a ticket."""
    return len(text) == _LENGTH and _TICKET.issuperset(text)


def later(at: str, kept: timedelta) -> str:
    """Return a time of the trail some time later."""
    moment = datetime.fromisoformat(at) + kept
    return moment.astimezone(UTC).isoformat(timespec="microseconds")[:-6] + "Z"


def posting_secret(sign: Callable[[bytes], bytes], origin: str) -> bytes | None:
    """Return the secret that codes are made with; None from a signer that never says it twice.

    `sign` signs by the log's key: whoever can do that gets the same secret.
    """
    message = _PURPOSE + origin.encode()
    first = sign(message)
    return sha256(first).digest() if sign(message) == first else None


def posted(posting: Posting, secret: bytes) -> Posted:
    """Return what is stored of a posting."""
    tenant, ticket, until, by, items = posting
    content = orjson.dumps(
        {
            "by": by,
            "items": [
                [
                    item.kind,
                    item.subject,
                    item.at,
                    item.salt.hex(),
                    item.body.decode(),
                    item.idempotency_key,
                ]
                for item in items
            ],
        }
    )
    return Posted(
        tenant, ticket, until, len(items), content, _code(tenant, ticket, until, content, secret)
    )


def read_posted(row: Posted, secret: bytes) -> Posting:
    """Return a posting as it was; raise `IntegrityError` if it isn't what was posted."""
    code = _code(row.tenant, row.ticket, row.until, row.content, secret)
    if not hmac.compare_digest(code, row.code):
        raise IntegrityError(
            f"posting {row.ticket} is not by a program that signs this log, or it was changed, and "
            "nothing of it was appended: see who can write to the table trail_inbox; where the "
            "log's key was replaced meanwhile, append it again"
        )
    found = orjson.loads(row.content)
    items = [
        rebuilt(kind, subject, body.encode(), at, bytes.fromhex(salt), key)
        for kind, subject, at, salt, body, key in found["items"]
    ]
    return Posting(row.tenant, row.ticket, row.until, found["by"], items)


def told(ticket: str, said: str, secret: bytes) -> str:
    """Return what whoever posted is told became of it; it begins with the ticket."""
    return f"{ticket}{_told_code(ticket, said, secret).decode()}{said}"


def read_told(text: str, secret: bytes) -> str | None:
    """Return what became of a posting; None if nothing is said, or not by who signs the log."""
    ticket, code, said = text[:_LENGTH], text[_LENGTH : _LENGTH + _CODE], text[_LENGTH + _CODE :]
    if not said or not hmac.compare_digest(code.encode(), _told_code(ticket, said, secret)):
        return None
    return said


def ticket_of(text: str) -> str:
    """Return the ticket that something which is told begins with."""
    return text[:_LENGTH]


def _told_code(ticket: str, said: str, secret: bytes) -> bytes:
    about = f"told\n{ticket}\n{said}".encode()  # what is posted begins otherwise: with a bracket
    return hmac.digest(secret, about, "sha256").hex().encode()


def _code(tenant: str, ticket: str, until: str, content: bytes, secret: bytes) -> bytes:
    about = orjson.dumps([tenant, ticket, until])
    return hmac.digest(secret, about + b"\n" + content, "sha256")

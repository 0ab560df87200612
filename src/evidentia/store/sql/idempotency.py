"""The SQL of requests that must not be done twice: which were, and what was answered."""

from dataclasses import dataclass

from sqlalchemy import Connection

from evidentia.store.database import fetch, run

Named = tuple[str, str, str]
"""The tenant, who acted, and the key that they gave."""


@dataclass(frozen=True, slots=True)
class AnsweredRequest:
    """A request that was done under a key; without a status its answer was never written down."""

    request_id: str
    request_sha256: str
    created_at: str
    status: int | None
    headers: str | None
    body: bytes | None


def find(connection: Connection, named: Named) -> AnsweredRequest | None:
    """Return the request that was done under a key; None if there is none."""
    sql = (
        "SELECT request_id, request_sha256, created_at, status, headers, body FROM idempotency "
        "WHERE tenant = ? AND actor = ? AND key = ?"
    )
    for request_id, digest, at, status, headers, body in fetch(connection, sql, named):
        answered = None if body is None else bytes(body)
        return AnsweredRequest(request_id, digest, at, status, headers, answered)
    return None


def claim(
    connection: Connection, named: Named, request_id: str, request_sha256: str, at: str
) -> AnsweredRequest:
    """Note that a request is done under a key, unless another was; return which one holds it.

    Where two do so at once, the second waits for the first one's transaction.
    """
    sql = (
        "INSERT INTO idempotency (tenant, actor, key, request_id, request_sha256, created_at) "
        "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, actor, key) DO NOTHING"
    )
    run(connection, sql, (*named, request_id, request_sha256, at))
    found = find(connection, named)
    if found is None:
        raise LookupError("a row that was just written is not there")
    return found


def take_over(
    connection: Connection, named: Named, from_request: str, request_id: str, at: str
) -> bool:
    """Have another request hold a key that was never answered; say whether it does now.

    The one that held it is refused from then on, should it still be there.
    """
    sql = (
        "UPDATE idempotency SET request_id = ?, created_at = ? WHERE tenant = ? AND actor = ? "
        "AND key = ? AND request_id = ? AND status IS NULL"
    )
    return run(connection, sql, (request_id, at, *named, from_request)).rowcount == 1


def answer(
    connection: Connection, named: Named, request_id: str, said: tuple[int, str, bytes]
) -> bool:
    """Write down what was answered to the request that holds a key; say whether it does."""
    sql = (
        "UPDATE idempotency SET status = ?, headers = ?, body = ? "
        "WHERE tenant = ? AND actor = ? AND key = ? AND request_id = ?"
    )
    return run(connection, sql, (*said, *named, request_id)).rowcount == 1


def forget(connection: Connection, tenant: str, before: str) -> None:
    """Remove what was written down before a time."""
    sql = "DELETE FROM idempotency WHERE tenant = ? AND created_at < ?"
    run(connection, sql, (tenant, before))

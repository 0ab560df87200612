"""The inbox's SQL: postings that wait for the sequencer, and what became of them."""

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection

from evidentia.store.arrays import column
from evidentia.store.database import COMMIT_SOON, Insert, fetch, insert_together, run
from evidentia.trail.posting import Posted, maker_of, ticket_of

_POSTED = {
    "tenant": "text",
    "ticket": "text",
    "until": "text",
    "entries": "integer",
    "content": "bytea",
    "code": "bytea",
}
_RECEIPT = {"tenant": "text", "ticket": "text", "until": "text", "said": "text"}
_TELL = (
    "SELECT pg_notify(whom, what) "
    "FROM unnest(CAST(? AS text[]), CAST(? AS text[])) AS message (whom, what)"
)
_MOST_TOLD = 7_900
"""How many bytes one notification has: PostgreSQL takes less than 8,000."""
_ASKED_AT_ONCE = 180


def channel(maker: str) -> str:
    """Return PostgreSQL's channel on which a maker of tickets is told which have receipts."""
    return f"evidentia_receipts_{maker}"


def post(connection: Connection, rows: Sequence[Posted], *, soon: bool = False) -> None:
    """Have postings wait for the sequencer.

    With `soon` the transaction's end does not wait for the disk: what someone waits for is durable
    with its receipt.
    """
    insert_together(
        connection, [Insert("trail_inbox", _POSTED, rows)], (COMMIT_SOON, ()) if soon else None
    )


def take(connection: Connection, tenant: str, most: int) -> tuple[list[Posted], dict[str, str]]:
    """Take the first postings of a tenant out of the inbox, of some many entries together.

    The first one always, however large. What became of those that were appended before is given
    apart. Only who holds the tenant's turn may call this.
    """
    rows = fetch(
        connection,
        # up to a ticket: looked for one by one, all that wait would be read for each batch
        "WITH taken AS (DELETE FROM trail_inbox WHERE tenant = ? AND ticket <= (SELECT max(ticket) "
        "FROM (SELECT ticket, sum(entries) OVER (ORDER BY ticket) - entries AS before FROM "
        "(SELECT ticket, entries FROM trail_inbox WHERE tenant = ? ORDER BY ticket LIMIT ?) AS f"
        ") AS s WHERE before < ?) RETURNING tenant, ticket, until, entries, content, code) "
        "SELECT t.tenant, t.ticket, t.until, t.entries, t.content, t.code, (SELECT r.said "
        "FROM trail_receipts r WHERE r.tenant = t.tenant AND r.ticket = t.ticket) "
        "FROM taken t ORDER BY t.ticket",
        (tenant, tenant, most, most),
    )
    said = {ticket: text for _, ticket, *_, text in rows if text is not None}
    found = [
        Posted(tenant, ticket, until, entries, bytes(content), bytes(code))
        for tenant, ticket, until, entries, content, code, _ in rows
        if ticket not in said
    ]
    return found, said


def withdraw(connection: Connection, tenant: str, tickets: Sequence[str]) -> set[str]:
    """Take postings back; return the tickets of those that still waited."""
    sql = "DELETE FROM trail_inbox WHERE tenant = ? AND ticket = ?"
    return {ticket for ticket in tickets if run(connection, sql, (tenant, ticket)).rowcount}


def waits(connection: Connection, tenant: str, ticket: str) -> bool:
    """Whether a posting waits."""
    sql = "SELECT 1 FROM trail_inbox WHERE tenant = ? AND ticket = ?"
    return bool(fetch(connection, sql, (tenant, ticket)))


def answer(
    connection: Connection, rows: Sequence[tuple[str, str, str, str]], told: Sequence[str] = ()
) -> None:
    """Keep what became of postings: tenant, ticket, until when to keep it, what is said.

    `told` is what whoever made a ticket, and no one else, hears once this is committed: each
    begins with its ticket. On PostgreSQL only.
    """
    messages = list(_messages(told))
    columns = [column("text", values) for values in zip(*messages, strict=True)]
    tell = (_TELL, columns) if messages else None
    insert_together(connection, [Insert("trail_receipts", _RECEIPT, rows)], tell)


def _messages(told: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Give what goes by which channel; where one is too long to be told, only its ticket is."""
    by_maker: dict[str, list[str]] = {}
    for one in told:
        short = one if len(one.encode()) <= _MOST_TOLD else ticket_of(one)
        by_maker.setdefault(maker_of(one), []).append(short)
    for maker, some in by_maker.items():
        size, parts = 0, list[str]()
        for one in some:
            length = len(one.encode()) + 1
            if parts and size + length > _MOST_TOLD:
                yield channel(maker), "\n".join(parts)
                size, parts = 0, []
            size += length
            parts.append(one)
        yield channel(maker), "\n".join(parts)


def said(connection: Connection, tenant: str, tickets: Sequence[str]) -> dict[str, str]:
    """Return what became of postings, by their tickets; of others nothing is known here."""
    found: dict[str, str] = {}
    for start in range(0, len(tickets), _ASKED_AT_ONCE):
        some = tickets[start : start + _ASKED_AT_ONCE]
        marks = ", ".join("?" for _ in some)
        sql = f"SELECT ticket, said FROM trail_receipts WHERE tenant = ? AND ticket IN ({marks})"  # noqa: S608 - marks are question marks
        found.update(fetch(connection, sql, (tenant, *some)))
    return found


def forget(connection: Connection, tenant: str, before: str) -> None:
    """Remove the receipts that are not kept any longer."""
    run(connection, "DELETE FROM trail_receipts WHERE tenant = ? AND until < ?", (tenant, before))

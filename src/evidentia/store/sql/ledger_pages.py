"""The SQL of ledgers in pages: each page with its path to the root that the entry names.

They follow from the ledger's statement, and are believed for that root alone.
"""

from collections.abc import Sequence

from sqlalchemy import Connection

from evidentia.store.database import fetch, run, run_many


def keep_pages(
    connection: Connection, tenant: str, ledger: str, pages: Sequence[tuple[bytes, bytes]]
) -> None:
    """Keep the pages of a ledger with their paths, whatever stands there."""
    remove_pages(connection, tenant, ledger)
    run_many(
        connection,
        "INSERT INTO ledger_pages (tenant, ledger_id, page, data, path) VALUES (?, ?, ?, ?, ?)",
        [(tenant, ledger, number, data, path) for number, (data, path) in enumerate(pages)],
    )


def remove_pages(connection: Connection, tenant: str, ledger: str) -> None:
    """Remove the pages of a ledger."""
    sql = "DELETE FROM ledger_pages WHERE tenant = ? AND ledger_id = ?"
    run(connection, sql, (tenant, ledger))


def pages(
    connection: Connection, tenant: str, ledger: str, numbers: Sequence[int] | None = None
) -> dict[int, tuple[bytes, bytes]]:
    """Return pages of a ledger with their paths, by their numbers; all of them if none is named."""
    sql = "SELECT page, data, path FROM ledger_pages WHERE tenant = ? AND ledger_id = ?"
    values: list[str | int] = [tenant, ledger]
    if numbers is not None:
        sql += f" AND page IN ({', '.join('?' for _ in numbers)})"
        values += numbers
    rows = fetch(connection, sql, values)
    return {int(number): (bytes(data), bytes(path)) for number, data, path in rows}


def paged_ledgers(connection: Connection, tenant: str) -> set[str]:
    """Return the ids of all ledgers that pages are kept of."""
    sql = "SELECT DISTINCT ledger_id FROM ledger_pages WHERE tenant = ?"
    return {row[0] for row in fetch(connection, sql, (tenant,))}

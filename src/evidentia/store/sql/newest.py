"""What was recorded, in the order of its entries: by the page, by `latest`, by `latest~1`."""

import re
from typing import Any, Final

from sqlalchemy import Connection

from evidentia.errors import NotFoundError
from evidentia.language.counting import counted
from evidentia.store.database import fetch

_MAKING: Final = {"ledger": "check", "bundle": "bundle build", "pack": "pack new"}
_LATEST: Final = re.compile(r"latest(?:~([0-9]{1,6}))?")


def in_order(
    *,
    before: int | None = None,
    after: int | None = None,
    limit: int | None = None,
    oldest_first: bool = False,
) -> tuple[str, list[int]]:
    """Return how a query ends that gives rows by their entries, and the values that stand in it.

    Rows before or after an entry's number alone, the newest first unless asked otherwise.
    """
    sql, values = "", []
    for condition, place in ((" AND trail_seq < ?", before), (" AND trail_seq > ?", after)):
        if place is not None:
            sql += condition
            values.append(place)
    sql += f" ORDER BY trail_seq{'' if oldest_first else ' DESC'}"
    if limit is not None:
        sql += " LIMIT ?"
        values.append(limit)
    return sql, values


def find_newest(connection: Connection, tenant: str, listed: str, kind: str, name: str) -> Any:
    """Return the row that such a name stands for, or None if the name is of another form.

    `listed` is the query of all rows of a tenant, `kind` is what each is: a ledger, a bundle or a
    pack. Raise `NotFoundError`, which says how many there are, if there are too few.
    """
    found = _LATEST.fullmatch(name)
    if found is None:
        return None
    back = int(found[1] or 0)
    sql = f"{listed} ORDER BY trail_seq DESC LIMIT 1 OFFSET ?"
    for row in fetch(connection, sql, (tenant, back)):
        return row
    ((count,),) = fetch(connection, f"SELECT count(*) FROM ({listed}) AS listed", (tenant,))  # noqa: S608 - a query of ours
    if count == 0:
        raise NotFoundError(
            f"there is no {kind} {name}: tenant {tenant!r} has no {kind}s yet; "
            f"'evidentia {_MAKING[kind]}' makes one"
        )
    known = f"there is no {kind} {name}: tenant {tenant!r} has {counted(count, kind)}"
    if count == 1:
        raise NotFoundError(f"{known}, which is latest")
    raise NotFoundError(
        f"{known}, and latest~{count - 1} is the first of them; 'evidentia {kind} list' shows them"
    )

"""Names for what was recorded last: `latest`, `latest~1` for the one before it, and so on."""

import re
from typing import Any, Final

from sqlalchemy import Connection

from evidentia.errors import NotFoundError
from evidentia.language.counting import counted
from evidentia.store.database import fetch

_MAKING: Final = {"ledger": "check", "bundle": "bundle build", "pack": "pack new"}
_LATEST: Final = re.compile(r"latest(?:~([0-9]{1,6}))?")


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

"""Timelines: the numbers of entries that are about a thing, and of those made on some days.

Nothing here reads a whole log: numbers come out of indexes, and a day is looked up by halves.
"""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection

from evidentia.store.database import fetch
from evidentia.store.sql import log
from evidentia.trail.entry import Entry

MOST_SUBJECTS: Final = 400
"""How many subjects a timeline is made of: of what has more, the newest packs are taken."""
_PREFIXES: Final = ("decision/", "bundle/", "run/", "user/", "token/", "judge/", "removed/")
"""What the subjects of some entries begin with, before the id that people know."""
_OF_PACKS: Final = (
    "SELECT id, decision_id FROM evidence_packs WHERE tenant = ? AND decision_id IN "
    "(SELECT decision_id FROM evidence_packs WHERE tenant = ? AND (id = ? OR decision_id = ? OR "
    "entity_id = ?)) ORDER BY trail_seq DESC LIMIT ?"
)


def subjects_about(connection: Connection, tenant: str, name: str) -> list[str]:
    """Return the subjects of what a name is given to: an obligation, a pack, an entity and so on.

    The name of a pack, of its decision or of the entity that it is about leads to all versions of
    the pack and to its decision, with the tool calls.
    """
    found = dict.fromkeys([name, *(f"{prefix}{name}" for prefix in _PREFIXES)])
    values = (tenant, tenant, name, name, name, MOST_SUBJECTS)
    for pack_id, decision_id in fetch(connection, _OF_PACKS, values):
        found |= {pack_id: None, f"decision/{decision_id}": None}
    return list(found)[:MOST_SUBJECTS]


def numbers(
    connection: Connection,
    tenant: str,
    *,
    subjects: Sequence[str] = (),
    kind: str | None = None,
    before: int | None = None,
    after: int | None = None,
    limit: int,
    newest_first: bool,
) -> list[int]:
    """Return the numbers of entries about any of the subjects, or about anything if there is none.

    The first of them alone, in the order that is asked for.
    """
    sql, values = "SELECT seq FROM trail_entries WHERE tenant = ?", [tenant]
    if subjects:
        sql += f" AND subject IN ({', '.join('?' for _ in subjects)})"
        values += subjects
    bounds = (("kind = ?", kind), ("seq < ?", before), ("seq > ?", after))
    given = [(condition, value) for condition, value in bounds if value is not None]
    sql += "".join(f" AND {condition}" for condition, _ in given)
    sql += f" ORDER BY seq {'DESC' if newest_first else 'ASC'} LIMIT {int(limit)}"
    return [row[0] for row in fetch(connection, sql, (*values, *(value for _, value in given)))]


def first_since(connection: Connection, tenant: str, size: int, at: str) -> int:
    """Return the number of the first entry that was made at a time or later; `size` if none was.

    Entries follow each other in time, as the clock of whoever appended had it: where one was set
    back, what is found is one of the places that the time was passed at.
    """
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        data = log.entry_at(connection, tenant, middle)[3]
        low, high = (middle + 1, high) if Entry.decode(data).at < at else (low, middle)
    return low

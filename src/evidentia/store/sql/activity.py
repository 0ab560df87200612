"""Who is connected to PostgreSQL: the programs of ours, by the schema that each knows."""

import re
from typing import Final, NamedTuple

from sqlalchemy import Connection

from evidentia.store.database import fetch, is_sqlite

_SCHEMA: Final = re.compile(r"schema ([0-9]{4})$")
_CONNECTED: Final = """
    SELECT application_name, COALESCE(host(client_addr), CASE WHEN pg_has_role(usesysid, 'USAGE')
    OR pg_has_role('pg_read_all_stats', 'USAGE') THEN 'this machine'
    ELSE 'a machine that this role is not told' END), count(*)
    FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
    AND application_name ~ 'schema [0-9]{4}$' GROUP BY 1, 2 ORDER BY 1, 2"""


class Program(NamedTuple):
    """Connections of programs that know one schema, from one machine."""

    name: str
    schema: str
    host: str
    connections: int

    def __str__(self) -> str:
        return f"{self.name} at {self.host}: {self.connections}"


def programs(connection: Connection) -> list[Program]:
    """Return who else is connected; in SQLite no one knows."""
    if is_sqlite(connection):
        return []
    return [
        Program(name, found[1], host, count)
        for name, host, count in fetch(connection, _CONNECTED)
        if (found := _SCHEMA.search(name)) is not None
    ]

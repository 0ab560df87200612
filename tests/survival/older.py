"""A workspace's database as an older version of the program would have it, with what was in it."""

from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

from evidentia.store import schema
from evidentia.store.database import Database, _sqlite_module


def revisions() -> list[str]:
    """Return the revisions of SQLite before the newest, oldest first."""
    scripts = ScriptDirectory(str(schema._migrations()))
    known = sorted(script.revision for script in scripts.walk_revisions())
    return [one for one in known if one < schema._SQLITE_HEAD]


def take_back(path: Path, revision: str) -> None:
    """Make a database of an older revision in place of one, with those of its rows that fit."""
    newer = path.with_name("newer.db")
    module = _sqlite_module()
    connection = module.connect(str(path))
    connection.execute("PRAGMA journal_mode=DELETE")  # all of it in one file
    connection.close()
    path.rename(newer)
    _make(path, revision)
    connection = module.connect(str(path), isolation_level=None)
    connection.execute("PRAGMA foreign_keys=OFF")
    connection.execute("ATTACH ? AS newer", (str(newer),))
    connection.execute("BEGIN")
    for table in _tables(connection, "main"):
        if table in _tables(connection, "newer") and table != "alembic_version":
            columns = [
                name
                for name in _columns(connection, "main", table)
                if name in _columns(connection, "newer", table)
            ]
            names = ", ".join(columns)
            connection.execute(
                f"INSERT INTO main.{table} ({names}) SELECT {names} FROM newer.{table}"
            )
    connection.execute("COMMIT")
    connection.close()
    newer.unlink()


def _make(path: Path, revision: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(schema._migrations()))
    database = Database.sqlite(path)
    with database.write() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
    database.close()


def _tables(connection: Any, where: str) -> list[str]:
    sql = (
        f"SELECT name FROM {where}.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    )
    return [name for (name,) in connection.execute(sql)]


def _columns(connection: Any, where: str, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA {where}.table_info({table})")]

"""The schema: brought up to date by migrations."""

import re
from importlib.resources import files
from pathlib import Path

from sqlalchemy import Connection, inspect

from evidentia.errors import EnvironmentProblem, IntegrityError
from evidentia.store.database import Database, hold, run

HEAD = "0019"
"""The newest revision."""
_SQLITE_HEAD = "0018"
"""The newest one that changes anything in SQLite, which some revisions leave as it is."""

_REVISION = re.compile("[0-9]{4}")
_UPGRADES = 0x65766964
"""The advisory lock under which PostgreSQL is upgraded, by one process at a time."""


def revision(connection: Connection) -> str | None:
    """Return the database's revision, or None if it has no schema yet.

    Raise `IntegrityError` if it says another thing than one revision: none of ours left it so.
    """
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = list(run(connection, "SELECT version_num FROM alembic_version").scalars())
    if len(found) != 1 or not _REVISION.fullmatch(str(found[0])):
        said = ", ".join(repr(one)[:40] for one in found[:3]) or "nothing"
        raise IntegrityError(
            f"table alembic_version has {said} where one revision of the schema should be, such as "
            f"'{HEAD}': someone changed it. Compare the database with a backup"
        )
    return str(found[0])


def head(database: Database) -> str:
    """Return the revision that this program works with."""
    return _SQLITE_HEAD if database.is_sqlite else HEAD


def is_older(database: Database) -> bool:
    """Whether an older program made the database's schema."""
    with database.read() as connection:
        found = revision(connection)
    return found is not None and found < head(database)


def require_current(database: Database) -> None:
    """Raise `EnvironmentProblem` unless the database has the schema this program works with."""
    with database.read() as connection:
        found, needed = revision(connection), head(database)
    if found == needed:
        return
    if found is None:
        raise EnvironmentProblem(f"{database.where} has no schema yet: run 'evidentia db upgrade'")
    if found < needed:
        raise EnvironmentProblem(
            f"{database.where} has schema {found}, this program needs {needed}: "
            "run 'evidentia db upgrade'"
        )
    raise EnvironmentProblem(
        f"{database.where} has schema {found}, made by a newer program; this one knows {needed}: "
        "upgrade evidentia"
    )


def upgrade(database: Database) -> bool:
    """Bring the schema up to date; return whether anything had to be done."""
    return upgrade_to(database, head(database))


def upgrade_to(database: Database, needed: str) -> bool:
    """Bring the schema to a revision, as it once was; return whether anything had to be done."""
    with database.read() as connection:
        if revision(connection) == needed:
            return False
    from alembic import command  # noqa: PLC0415 - slow to import, and rarely needed
    from alembic.config import Config  # noqa: PLC0415 - the same

    config = Config()
    config.set_main_option("script_location", str(_migrations()).replace("%", "%%"))
    with database.write() as connection:
        hold(connection, _UPGRADES)
        found = revision(connection)  # again, now that no one else can upgrade
        if found is not None and found > needed:
            raise EnvironmentProblem(
                f"{database.where} has schema {found}, made by a newer program; "
                f"this one knows {needed}: upgrade evidentia"
            )
        config.attributes["connection"] = connection
        command.upgrade(config, needed)
    return True


def _migrations() -> Path:
    return Path(str(files(__package__) / "migrations"))

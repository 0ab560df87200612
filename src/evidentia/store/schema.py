"""The schema: brought up to date by migrations."""

from importlib.resources import files
from pathlib import Path

from sqlalchemy import Connection, inspect

from evidentia.errors import EnvironmentProblem
from evidentia.store.database import Database, hold, run

HEAD = "0005"
"""The revision this program works with."""

_UPGRADES = 0x65766964
"""The advisory lock under which PostgreSQL is upgraded, by one process at a time."""


def revision(connection: Connection) -> str | None:
    """Return the database's revision, or None if it has no schema yet."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = run(connection, "SELECT version_num FROM alembic_version").scalar()
    return str(found) if found is not None else None


def require_current(database: Database) -> None:
    """Raise `EnvironmentProblem` unless the database has the schema this program works with."""
    with database.read() as connection:
        found = revision(connection)
    if found == HEAD:
        return
    if found is None:
        raise EnvironmentProblem(f"{database.where} has no schema yet: run 'evidentia db upgrade'")
    if found < HEAD:
        raise EnvironmentProblem(
            f"{database.where} has schema {found}, this program needs {HEAD}: "
            "run 'evidentia db upgrade'"
        )
    raise EnvironmentProblem(
        f"{database.where} has schema {found}, made by a newer program; this one knows {HEAD}: "
        "upgrade evidentia"
    )


def upgrade(database: Database) -> bool:
    """Bring the schema up to date; return whether anything had to be done."""
    with database.read() as connection:
        if revision(connection) == HEAD:
            return False
    from alembic import command  # noqa: PLC0415 - slow to import, and rarely needed
    from alembic.config import Config  # noqa: PLC0415 - the same

    config = Config()
    config.set_main_option("script_location", str(_migrations()).replace("%", "%%"))
    with database.write() as connection:
        hold(connection, _UPGRADES)
        found = revision(connection)  # again, now that no one else can upgrade
        if found is not None and found > HEAD:
            raise EnvironmentProblem(
                f"{database.where} has schema {found}, made by a newer program; "
                f"this one knows {HEAD}: upgrade evidentia"
            )
        config.attributes["connection"] = connection
        command.upgrade(config, HEAD)
    return True


def _migrations() -> Path:
    return Path(str(files(__package__) / "migrations"))

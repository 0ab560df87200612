"""The schema: brought up to date by migrations, and compared with what it should be.

Guards can be dropped by whoever owns the database, so an audit compares the schema too: what the
database says of itself against the listing that a fresh migration gives (`*.schema` beside the
migrations; a test keeps them true).
"""

from difflib import unified_diff
from importlib.resources import files
from pathlib import Path

from sqlalchemy import Connection, inspect

from evidentia.errors import EnvironmentProblem
from evidentia.store.database import Database, run

HEAD = "0001"
"""The revision this program works with."""


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
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_migrations()).replace("%", "%%"))
    with database.write() as connection:
        found = revision(connection)  # again, now that no one else can write
        if found is not None and found > HEAD:
            raise EnvironmentProblem(
                f"{database.where} has schema {found}, made by a newer program; "
                f"this one knows {HEAD}: upgrade evidentia"
            )
        config.attributes["connection"] = connection
        command.upgrade(config, HEAD)
    return True


def grant(database: Database, role: str) -> None:
    """Let a PostgreSQL role append and read, and nothing else; it must not own the tables."""
    if database.is_sqlite:
        raise EnvironmentProblem("SQLite has no roles: grants are for PostgreSQL")
    with database.write() as connection:
        name = connection.dialect.identifier_preparer.quote(role)
        tables = run(
            connection, "SELECT tablename FROM pg_tables WHERE tablename LIKE 'trail\\_%%'"
        ).scalars()
        for table in sorted(tables):
            run(connection, f"REVOKE ALL ON {table} FROM {name}")
            run(connection, f"GRANT SELECT, INSERT ON {table} TO {name}")
        run(connection, f"GRANT UPDATE (size, root, edge) ON trail_heads TO {name}")
        run(connection, f"GRANT SELECT ON alembic_version TO {name}")
        run(connection, f"GRANT EXECUTE ON FUNCTION trail_erase_body(text, bigint) TO {name}")


def differences(connection: Connection) -> list[str]:
    """Return how the schema differs from what it should be: `-` missing, `+` unexpected."""
    name = f"{connection.dialect.name}.schema"
    expected = (files(__package__) / "migrations" / name).read_text().splitlines()
    lines = unified_diff(expected, describe(connection), lineterm="", n=0)
    return [line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]


def describe(connection: Connection) -> list[str]:
    """Return the schema as sorted lines: tables, columns, keys, indexes, guards."""
    if connection.dialect.name == "sqlite":
        rows = run(
            connection,
            "SELECT type, name, COALESCE(sql, '') FROM sqlite_master "
            "WHERE name NOT LIKE 'sqlite_%'",
        )
        return sorted(" ".join(f"{kind} {name}: {sql}".split()) for kind, name, sql in rows)
    return sorted(
        " ".join(str(line).split())
        for query in _POSTGRESQL_SCHEMA
        for line in run(connection, query).scalars()
    )


_OURS = "(c.relname LIKE 'trail\\_%%' OR c.relname = 'alembic_version') AND c.relkind IN ('r', 'v', 'm')"
_POSTGRESQL_SCHEMA = (
    "SELECT 'column ' || c.relname || '.' || a.attname || ': ' || "
    "format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attnotnull THEN ' not null' ELSE '' END "
    "FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid "
    "JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = current_schema() "
    f"WHERE {_OURS} AND a.attnum > 0 AND NOT a.attisdropped",
    "SELECT 'constraint ' || c.relname || ': ' || pg_get_constraintdef(k.oid) "
    "FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid "
    "JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = current_schema() "
    f"WHERE {_OURS} AND k.contype <> 'n'",
    "SELECT 'index ' || i.indexname || ' on ' || i.tablename FROM pg_indexes i "
    "WHERE i.schemaname = current_schema() AND i.tablename LIKE 'trail\\_%%'",
    "SELECT 'trigger ' || t.tgenabled || ' ' || "
    "replace(pg_get_triggerdef(t.oid), current_schema() || '.', '') "
    "FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid "
    "JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = current_schema() "
    f"WHERE {_OURS} AND NOT t.tgisinternal",
    "SELECT 'rule ' || r.rulename || ' on ' || r.tablename FROM pg_rules r "
    "WHERE r.schemaname = current_schema() AND r.tablename LIKE 'trail\\_%%'",
    "SELECT 'function ' || p.proname || ': ' || p.prosrc FROM pg_proc p "
    "JOIN pg_namespace n ON n.oid = p.pronamespace AND n.nspname = current_schema() "
    "WHERE p.proname LIKE 'trail\\_%%'",
)


def _migrations() -> Path:
    return Path(str(files(__package__) / "migrations"))

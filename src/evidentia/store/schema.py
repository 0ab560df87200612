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
from evidentia.store.tables import BUNDLE_SCHEMA, metadata

HEAD = "0005"
"""The revision this program works with."""

_TABLES = tuple(sorted(metadata.tables))
_DERIVED = {
    "document_indexes": "SELECT, INSERT, UPDATE",
    "chunk_embeddings": "SELECT, INSERT, DELETE",
}
"""What a role may do to tables whose rows follow from others."""

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
        if not database.is_sqlite:
            run(connection, "SELECT pg_advisory_xact_lock(?)", (_UPGRADES,))
        found = revision(connection)  # again, now that no one else can upgrade
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
        run(connection, f"GRANT USAGE ON SCHEMA {BUNDLE_SCHEMA} TO {name}")
        for table in _TABLES:
            rights = _DERIVED.get(table, "SELECT, INSERT")
            run(connection, f"REVOKE ALL ON {table} FROM {name}")
            run(connection, f"GRANT {rights} ON {table} TO {name}")
        run(connection, f"GRANT UPDATE (size, root, edge, checkpoints) ON trail_heads TO {name}")
        run(connection, f"GRANT SELECT ON alembic_version TO {name}")
        for function in (
            "trail_erase_body",
            "trail_erase_ledger",
            "trail_erase_bundle",
            "trail_erase_run",
            "trail_erase_pack",
        ):
            run(connection, f"GRANT EXECUTE ON FUNCTION {function}(text, bigint) TO {name}")


def differences(connection: Connection) -> list[str]:
    """Return how the schema differs from what it should be: `-` missing, `+` unexpected."""
    name = f"{connection.dialect.name}.schema"
    expected = (files(__package__) / "migrations" / name).read_text("utf-8").splitlines()
    lines = unified_diff(expected, describe(connection), lineterm="", n=0)
    return [line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]


def describe(connection: Connection) -> list[str]:
    """Return the schema as sorted lines: tables, columns, keys, indexes, guards."""
    if connection.dialect.name == "sqlite":
        rows = run(
            connection,
            # What SQLite adds by itself has a reserved name; what anyone adds is listed.
            "SELECT type, name, COALESCE(sql, '') FROM sqlite_master "
            "WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' OR type NOT IN ('table', 'index')",
        )
        return sorted(" ".join(f"{kind} {name}: {sql}".split()) for kind, name, sql in rows)
    return sorted(
        " ".join(str(line).split())
        for query in _POSTGRESQL_SCHEMA
        for line in run(connection, query).scalars()
    )


_SCHEMA = "quote_ident(current_schema()) || '.'"
_NAMES, _BUNDLES = (
    ", ".join(f"'{table.name}'" for table in metadata.sorted_tables if table.schema == schema)
    for schema in (None, BUNDLE_SCHEMA)
)
_OURS = rf"""
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE ((n.nspname = current_schema()
    AND (c.relname IN ({_NAMES}, 'alembic_version') OR c.relname LIKE 'trail\_%%'))
    OR (n.nspname = '{BUNDLE_SCHEMA}' AND c.relname IN ({_BUNDLES})))
    AND c.relkind NOT IN ('i', 'I', 't', 'S')"""
_POSTGRESQL_SCHEMA = (
    f"""SELECT 'table ' || c.relname || ': ' || c.relkind::text || c.relpersistence::text
    FROM pg_class c {_OURS}""",  # noqa: S608 - the condition is the constant above
    f"""SELECT 'column ' || c.relname || '.' || a.attname || ': '
    || format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attnotnull THEN ' not null' ELSE '' END
    || COALESCE(' default ' || pg_get_expr(d.adbin, d.adrelid), '')
    FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    JOIN pg_class c ON c.oid = a.attrelid {_OURS} AND a.attnum > 0 AND NOT a.attisdropped""",  # noqa: S608 - the same
    f"""SELECT 'constraint ' || c.relname || ': ' || pg_get_constraintdef(k.oid)
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid {_OURS} AND k.contype <> 'n'""",  # noqa: S608 - the same
    f"""SELECT 'index ' || replace(pg_get_indexdef(i.indexrelid), {_SCHEMA}, '')
    FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid {_OURS}""",  # noqa: S608 - the same
    f"""SELECT 'trigger ' || t.tgenabled::text || ' '
    || replace(pg_get_triggerdef(t.oid), {_SCHEMA}, '')
    FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid {_OURS} AND NOT t.tgisinternal""",  # noqa: S608 - the same
    f"""SELECT 'rule ' || r.rulename || ' on ' || c.relname
    FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class {_OURS}""",  # noqa: S608 - the same
    r"""SELECT 'function ' || p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')'
    || ' ' || l.lanname || CASE WHEN p.prosecdef THEN ' as its owner' ELSE '' END || ' '
    || COALESCE(replace(array_to_string(p.proconfig, ' '), quote_ident(current_schema()), 'SCHEMA'),
    'as called') || ': ' || p.prosrc
    FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
    JOIN pg_namespace n ON n.oid = p.pronamespace AND n.nspname = current_schema()
    WHERE p.proname LIKE 'trail\_%%'""",
)


def _migrations() -> Path:
    return Path(str(files(__package__) / "migrations"))

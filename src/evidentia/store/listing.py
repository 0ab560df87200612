"""The schema's listing: what the database says of itself, compared with what it should be.

Guards can be dropped by whoever owns the database, so an audit compares the schema too: what the
database says of itself against the listing that a fresh migration gives (`*.schema` beside the
migrations; a test keeps them true).
"""

from collections.abc import Sequence
from difflib import unified_diff
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection

from evidentia.errors import EnvironmentProblem, IntegrityError
from evidentia.store import schema
from evidentia.store.database import Database, is_sqlite, quoted, run
from evidentia.store.tables import BUNDLE_SCHEMA, metadata

TABLES = tuple(sorted(metadata.tables))
_DERIVED = {
    "chunk_embeddings": "SELECT, INSERT, DELETE",
    "corpus_nodes": "SELECT, INSERT, UPDATE, DELETE",
    "idempotency": "SELECT, INSERT, UPDATE, DELETE",
    "job_events": "SELECT, INSERT, DELETE",
    "job_items": "SELECT, INSERT, UPDATE, DELETE",
    "job_runners": "SELECT, INSERT, UPDATE, DELETE",
    "jobs": "SELECT, INSERT, UPDATE, DELETE",
    "lake_objects": "SELECT, INSERT, UPDATE, DELETE",
    "lake_removals": "SELECT, INSERT, UPDATE",
    "ledger_pages": "SELECT, INSERT, DELETE",
    "openfga_followed": "SELECT, INSERT, UPDATE",
    "openfga_outbox": "SELECT, INSERT, UPDATE, DELETE",
    "pack_attachments": "SELECT, INSERT, DELETE",
    "waiting_spans": "SELECT, INSERT, UPDATE, DELETE",
    "waiting_traces": "SELECT, INSERT, UPDATE, DELETE",
    "trail_inbox": "SELECT, INSERT, DELETE",
    "trail_receipts": "SELECT, INSERT, DELETE",
    "trail_snapshots": "SELECT, INSERT, UPDATE",
    "trail_snapshot_nodes": "SELECT, INSERT, UPDATE, DELETE",
}
"""What a role may do to tables whose rows follow from others, or are no evidence."""

HEADS_MOVE = "UPDATE (size, root, edge, checkpoints)"
"""What else is done to heads."""
ERASING = (
    "trail_erase_body(text, bigint)",
    "trail_erase_bundle(text, bigint)",
    "trail_erase_chunks(text, text, text, bigint)",
    "trail_erase_ledger(text, bigint)",
    "trail_erase_pack(text, bigint)",
    "trail_erase_run(text, bigint)",
    "trail_erase_title(text, text, bigint)",
)
"""The functions that remove what the trail says was erased."""
ASKING = (
    "trail_jobs_ended(text)",
    "trail_open_jobs()",
    "trail_requests_answered(text)",
    "trail_strays()",
    "trail_tenants()",
    "trail_traces_due(text, bigint)",
    "trail_traces_left()",
    "trail_traces_recorded(text)",
)
"""Those that look at all tenants, each for one question."""


def rights(table: str) -> str:
    """Return what whoever appends may do to a table."""
    return _DERIVED.get(table, "SELECT, INSERT")


def grant(database: Database, role: str) -> None:
    """Let a PostgreSQL role append and read, and nothing else; it must not own the tables."""
    if database.is_sqlite:
        raise EnvironmentProblem("SQLite has no roles: grants are for PostgreSQL")
    with database.write() as connection:
        name = quoted(connection, role)
        run(connection, f"GRANT USAGE ON SCHEMA {BUNDLE_SCHEMA} TO {name}")
        for table in TABLES:
            run(connection, f"REVOKE ALL ON {table} FROM {name}")
            run(connection, f"GRANT {rights(table)} ON {table} TO {name}")
        run(connection, f"GRANT {HEADS_MOVE} ON trail_heads TO {name}")
        run(connection, f"GRANT SELECT ON alembic_version TO {name}")
        for function in (*ERASING, *ASKING):
            run(connection, f"GRANT EXECUTE ON FUNCTION {function} TO {name}")


class Compared(NamedTuple):
    """How a schema differs from its listing: `-` is missing, `+` unexpected.

    What a newer program's schema has beyond is `unjudged`: only that program knows its listing.
    """

    wrong: tuple[str, ...]
    unjudged: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """That the schema is older than this program's, where it is."""
    newer: str | None = None
    """Which schema it is, where only a newer program can judge all of it."""

    @property
    def left(self) -> str | None:
        """What to say of what was not judged; None if all was."""
        if self.newer is None:
            return None
        shown = "; ".join(line[:200] for line in self.unjudged[:10])
        return f"{self.newer} ({len(self.unjudged)} additions{': ' if shown else ''}{shown})"


def compared(connection: Connection) -> Compared:
    """Compare the schema with the listing of its revision, where this program has that.

    Of a newer one that says it serves this program, whatever this one knows must be there as it
    knows it: expansions add and change nothing. What they added, it cannot judge.
    """
    try:
        found = schema.state(connection)
    except IntegrityError:  # what that table says is wrong, whichever schema it is
        found = schema.State(None, None)
    dialect = "sqlite" if is_sqlite(connection) else "postgresql"
    newest = schema.head(connection)
    described, revision = describe(connection), found.revision or newest
    older = schema.listing_of(dialect, revision)
    if revision < newest and older.exists():
        note = f"the schema is {revision}: 'evidentia db upgrade --contract' brings it to {newest}"
        return Compared(tuple(_difference(_lines(older), described)), (), (note,))
    different = _difference(_lines(schema.listing_of(dialect)), described)
    if revision > newest and schema.is_served(found):
        return _with_additions(different, revision, newest)
    return Compared(tuple(different))


def differences(connection: Connection) -> list[str]:
    """Return how the schema differs from what it should be, also by what is not judged."""
    found = compared(connection)
    return [*found.wrong, *found.unjudged]


def _with_additions(different: Sequence[str], revision: str, newest: str) -> Compared:
    """Tell what a newer schema adds from what it lacks, or has otherwise."""
    added = [line for line in different if line.startswith("+")]
    wrong = [line for line in different if not any(_is_widened(line, one) for one in added)]
    newer = (
        f"the schema is {revision}, and this program knows {newest}: what the newer one added was "
        "not judged; audit with that program"
    )
    missing = tuple(line for line in wrong if line.startswith("-"))
    return Compared(missing, tuple(added), newer=newer)


def _is_widened(gone: str, added: str) -> bool:
    """Whether a table of SQLite is there with more columns: its listing is one line."""
    if not gone.startswith("-table ") or gone[1:].partition(":")[0] != added[1:].partition(":")[0]:
        return False
    old, new = gone[1:], added[1:]
    same = next((at for at, pair in enumerate(zip(old, new, strict=False)) if len({*pair}) > 1), 0)
    rest = old[same:]
    return bool(same) and len(new) > len(old) and new.endswith(rest)


def _lines(file: Path) -> list[str]:
    return file.read_text("utf-8").splitlines()


def _difference(expected: Sequence[str], described: Sequence[str]) -> list[str]:
    lines = unified_diff(expected, described, lineterm="", n=0)
    return [line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]


def describe(connection: Connection) -> list[str]:
    """Return the schema as sorted lines: tables, columns, keys, indexes, guards."""
    if is_sqlite(connection):
        rows = run(
            connection,
            # What SQLite adds by itself is left out, and nothing else that has a reserved name:
            # statistics decide by what index a row is looked for, and anything can be renamed so.
            "SELECT type, name, COALESCE(sql, '') FROM sqlite_master "
            "WHERE name NOT LIKE 'sqlite\\_autoindex\\_%' ESCAPE '\\' OR type <> 'index' "
            "OR sql IS NOT NULL",
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
_STEERS = "WHERE n.nspname = current_schema()"
_POSTGRESQL_SCHEMA = (
    f"""SELECT 'table ' || c.relname || ': ' || c.relkind::text || c.relpersistence::text
    FROM pg_class c {_OURS}""",  # noqa: S608 - the condition is the constant above
    f"""SELECT 'column ' || c.relname || '.' || a.attname || ': '
    || format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attnotnull THEN ' not null' ELSE '' END
    || CASE WHEN a.attcollation <> t.typcollation
    THEN ' collate ' || a.attcollation::regcollation::text ELSE '' END
    || CASE WHEN a.attidentity <> '' THEN ' identity' ELSE '' END
    || CASE WHEN a.attgenerated <> '' THEN ' generated' ELSE '' END
    || COALESCE(' default ' || pg_get_expr(d.adbin, d.adrelid), '')
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    JOIN pg_class c ON c.oid = a.attrelid {_OURS} AND a.attnum > 0 AND NOT a.attisdropped""",  # noqa: S608 - the same
    f"""SELECT 'constraint ' || c.relname || ': ' || pg_get_constraintdef(k.oid)
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid {_OURS} AND k.contype <> 'n'""",  # noqa: S608 - the same
    f"""SELECT 'index ' || replace(pg_get_indexdef(i.indexrelid), {_SCHEMA}, '')
    || CASE WHEN i.indisvalid AND i.indisready AND i.indislive THEN '' ELSE ' not in use' END
    FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid {_OURS}""",  # noqa: S608 - the same
    f"""SELECT 'trigger ' || t.tgenabled::text || ' '
    || replace(pg_get_triggerdef(t.oid), {_SCHEMA}, '')
    FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid {_OURS} AND NOT t.tgisinternal""",  # noqa: S608 - the same
    f"""SELECT 'rule ' || r.rulename || ' on ' || c.relname
    FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class {_OURS}""",  # noqa: S608 - the same
    f"""SELECT 'row security of ' || c.relname || ':' || CASE WHEN c.relrowsecurity THEN ' on'
    ELSE ' off' END || CASE WHEN c.relforcerowsecurity THEN ', for the owner too' ELSE '' END
    FROM pg_class c {_OURS} AND (c.relrowsecurity OR c.relforcerowsecurity)""",  # noqa: S608 - the same
    # That auditors read all tenants is set up or not; it is a finding where they can write, too.
    f"""SELECT 'policy ' || y.polname || ' on ' || c.relname
    || CASE WHEN y.polpermissive THEN '' ELSE ' restricts' END || ': ' || CASE y.polcmd
    WHEN '*' THEN 'all' WHEN 'r' THEN 'select' WHEN 'a' THEN 'insert' WHEN 'w' THEN 'update'
    ELSE 'delete' END || ' to ' || CASE WHEN y.polroles = '{{0}}' THEN 'everyone'
    WHEN y.polroles = ARRAY[c.relowner] THEN 'owner' ELSE (SELECT string_agg(
    CASE i.id WHEN 0 THEN 'everyone' ELSE pg_get_userbyid(i.id)::text END, ', ' ORDER BY i.id)
    FROM unnest(y.polroles) i(id)) END
    || COALESCE(' using ' || pg_get_expr(y.polqual, y.polrelid), '')
    || COALESCE(' check ' || pg_get_expr(y.polwithcheck, y.polrelid), '')
    FROM pg_policy y JOIN pg_class c ON c.oid = y.polrelid {_OURS}
    AND NOT (y.polname = 'all_tenants' AND y.polpermissive AND y.polcmd = 'r'
    AND pg_get_expr(y.polqual, y.polrelid) = 'true' AND NOT 0 = ANY(y.polroles)
    AND NOT EXISTS (SELECT FROM pg_roles r, unnest(y.polroles) i(id) WHERE NOT r.rolsuper
    AND r.oid <> c.relowner AND pg_has_role(r.oid, i.id, 'USAGE')
    AND has_table_privilege(r.oid, c.oid, 'INSERT, UPDATE, DELETE')))""",  # noqa: S608 - the same
    f"""SELECT 'right of everyone to ' || lower(x.privilege_type) || ' on ' || c.relname
    FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) x {_OURS}
    AND x.grantee = 0 AND x.privilege_type <> 'SELECT'""",  # noqa: S608 - the same
    f"""SELECT 'right of everyone to ' || lower(x.privilege_type) || ' on ' || c.relname || '.'
    || a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    CROSS JOIN LATERAL aclexplode(a.attacl) x {_OURS}
    AND x.grantee = 0 AND x.privilege_type <> 'SELECT'""",  # noqa: S608 - the same
    f"""SELECT 'reference from ' || k.conrelid::regclass || ' to ' || c.relname
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.confrelid {_OURS}
    AND k.conrelid NOT IN (SELECT c.oid FROM pg_class c {_OURS})""",  # noqa: S608 - the same
    r"""SELECT 'right of everyone to ' || lower(x.privilege_type) || ' ' || p.proname
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace AND n.nspname = current_schema()
    CROSS JOIN LATERAL aclexplode(COALESCE(p.proacl, acldefault('f', p.proowner))) x
    WHERE p.proname LIKE 'trail\_%%' AND p.prosecdef AND x.grantee = 0""",
    f"""SELECT 'inheritance: ' || h.inhrelid::regclass || ' from ' || h.inhparent::regclass
    FROM pg_inherits h JOIN pg_class c ON c.oid IN (h.inhrelid, h.inhparent) {_OURS}""",  # noqa: S608 - the same
    """SELECT 'login trigger ' || evtname FROM pg_event_trigger
    WHERE evtevent = 'login' AND evtenabled <> 'D'""",
    # PostgreSQL's own come first, unless the types of what is given fit another one better.
    f"""SELECT 'function ' || p.oid::regprocedure || ' in place of one of PostgreSQL'
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace {_STEERS}
    AND EXISTS (SELECT FROM pg_proc b WHERE b.pronamespace = 'pg_catalog'::regnamespace
    AND b.proname = p.proname)
    AND NOT EXISTS (SELECT FROM pg_proc b WHERE b.pronamespace = 'pg_catalog'::regnamespace
    AND b.proname = p.proname AND b.proargtypes = p.proargtypes)
    AND NOT EXISTS (SELECT FROM unnest(p.proargtypes) g(of) JOIN pg_type t ON t.oid = g.of
    AND t.typnamespace <> 'pg_catalog'::regnamespace)""",  # noqa: S608 - the same
    f"""SELECT 'operator ' || p.oid::regoperator || ' in place of one of PostgreSQL'
    FROM pg_operator p JOIN pg_namespace n ON n.oid = p.oprnamespace {_STEERS}
    AND EXISTS (SELECT FROM pg_operator b WHERE b.oprnamespace = 'pg_catalog'::regnamespace
    AND b.oprname = p.oprname)
    AND NOT EXISTS (SELECT FROM pg_type t WHERE t.oid IN (p.oprleft, p.oprright)
    AND t.typnamespace <> 'pg_catalog'::regnamespace)""",  # noqa: S608 - the same
    r"""SELECT 'function ' || p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')'
    || ' ' || l.lanname || CASE WHEN p.prosecdef THEN ' as its owner' ELSE '' END || ' '
    || COALESCE(replace(array_to_string(p.proconfig, ' '), quote_ident(current_schema()), 'SCHEMA'),
    'as called') || ': ' || p.prosrc
    FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
    JOIN pg_namespace n ON n.oid = p.pronamespace AND n.nspname = current_schema()
    WHERE p.proname LIKE 'trail\_%%'""",
)

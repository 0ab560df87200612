"""The trail: entries, bodies, tiles, heads, checkpoints, keys, and the guards that keep them."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

NUMBER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
APPEND_ONLY = {
    "trail_entries": ("tenant", "seq"),
    "trail_tiles": ("tenant", "level", "tile"),
    "trail_checkpoints": ("tenant", "size", "key_id"),
    "trail_keys": ("tenant", "seq"),
    "trail_idempotency": ("tenant", "key"),
}
GUARDED = {**APPEND_ONLY, "trail_heads": ("tenant",), "trail_bodies": ("tenant", "seq")}
# A head moves to more entries, or counts one more checkpoint of the same ones.
FORWARD = (
    "NEW.tenant = OLD.tenant AND NEW.origin = OLD.origin AND ("
    "(NEW.size > OLD.size AND NEW.checkpoints = OLD.checkpoints) OR "
    "(NEW.size = OLD.size AND NEW.root = OLD.root AND NEW.edge = OLD.edge "
    "AND NEW.checkpoints = OLD.checkpoints + 1))"
)
ERASED = (
    "EXISTS (SELECT 1 FROM trail_entries WHERE tenant = OLD.tenant AND kind = 'erasure' "
    "AND subject = 'entry/' || OLD.seq)"
)


def upgrade() -> None:
    _create_tables()
    if op.get_bind().dialect.name == "sqlite":
        _guard_sqlite()
    else:
        _guard_postgresql()


def downgrade() -> None:
    raise NotImplementedError("a trail is never taken down: keep the database, and start another")


def _create(name: str, *columns: sa.Column[object]) -> None:
    op.create_table(name, *columns, sqlite_with_rowid=False, sqlite_strict=True)


def _create_tables() -> None:
    _create(
        "trail_entries",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("seq", NUMBER, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("entry", sa.LargeBinary, nullable=False),
    )
    op.create_index("trail_entries_subject", "trail_entries", ["tenant", "subject", "seq"])
    op.create_index("trail_entries_kind", "trail_entries", ["tenant", "kind", "seq"])
    _create(
        "trail_bodies",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("seq", NUMBER, primary_key=True, autoincrement=False),
        sa.Column("salt", sa.LargeBinary, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    _create(
        "trail_tiles",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("level", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("tile", NUMBER, primary_key=True, autoincrement=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    _create(
        "trail_heads",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("size", NUMBER, nullable=False),
        sa.Column("root", sa.LargeBinary, nullable=False),
        sa.Column("edge", sa.LargeBinary, nullable=False),
        sa.Column("checkpoints", NUMBER, nullable=False, server_default="0"),
    )
    _create(
        "trail_checkpoints",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("size", NUMBER, primary_key=True, autoincrement=False),
        sa.Column("key_id", sa.Text, primary_key=True),
        sa.Column("note", sa.Text, nullable=False),
    )
    _create(
        "trail_keys",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("seq", NUMBER, primary_key=True, autoincrement=False),
        sa.Column("key_id", sa.Text, nullable=False),
        sa.Column("public_key", sa.LargeBinary, nullable=False),
    )
    _create(
        "trail_idempotency",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("seq", NUMBER, nullable=False),
    )


def _guard_sqlite() -> None:
    for table, key in GUARDED.items():
        same = " AND ".join(f"{column} = NEW.{column}" for column in key)
        # INSERT OR REPLACE fires neither update nor delete triggers: it is refused by itself.
        _sqlite_trigger(table, "insert", "INSERT", f"EXISTS (SELECT 1 FROM {table} WHERE {same})")  # noqa: S608 - names are ours
    for table in APPEND_ONLY:
        _sqlite_trigger(table, "update", "UPDATE")
        _sqlite_trigger(table, "delete", "DELETE")
    _sqlite_trigger("trail_heads", "update", "UPDATE", f"NOT ({FORWARD})")
    _sqlite_trigger("trail_heads", "delete", "DELETE")
    _sqlite_trigger("trail_bodies", "update", "UPDATE")
    _sqlite_trigger("trail_bodies", "delete", "DELETE", f"NOT {ERASED}")


def _sqlite_trigger(table: str, name: str, action: str, when: str = "") -> None:
    condition = f" WHEN {when}" if when else ""
    op.execute(
        f"CREATE TRIGGER {table}_{name} BEFORE {action} ON {table}{condition} "
        f"BEGIN SELECT RAISE(ABORT, '{table} is append-only: no {name}'); END"
    )


def _guard_postgresql() -> None:
    # Guards look at the real tables: without this, a temporary one of the same name comes first.
    op.execute(
        "SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true)"
    )
    _postgresql_guard("trail_refuse", "TRUE")
    _postgresql_guard("trail_refuse_backward", f"NOT ({FORWARD})")
    _postgresql_guard("trail_refuse_unerased", f"NOT {ERASED}")
    for table in GUARDED:
        _postgresql_trigger(table, "truncate", "TRUNCATE", "trail_refuse", "STATEMENT")
    for table in (*APPEND_ONLY, "trail_bodies"):
        _postgresql_trigger(table, "update", "UPDATE", "trail_refuse")
    for table in (*APPEND_ONLY, "trail_heads"):
        _postgresql_trigger(table, "delete", "DELETE", "trail_refuse")
    _postgresql_trigger("trail_heads", "update", "UPDATE", "trail_refuse_backward")
    _postgresql_trigger("trail_bodies", "delete", "DELETE", "trail_refuse_unerased")
    # The application's role may not delete; it may call this, and the guard above still decides.
    op.execute(
        "CREATE FUNCTION trail_erase_body(of_tenant text, of_seq bigint) RETURNS bigint "
        "LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$ "
        "WITH gone AS (DELETE FROM trail_bodies WHERE tenant = of_tenant AND seq = of_seq "
        "RETURNING 1) SELECT count(*) FROM gone $$"
    )
    op.execute("REVOKE ALL ON FUNCTION trail_erase_body(text, bigint) FROM PUBLIC")


def _postgresql_guard(name: str, refused_when: str) -> None:
    op.execute(
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql "
        "SET search_path FROM CURRENT AS $$ BEGIN "
        f"IF {refused_when} THEN "
        "RAISE EXCEPTION '% is append-only: no %', TG_TABLE_NAME, lower(TG_OP); END IF; "
        "RETURN COALESCE(NEW, OLD); END $$"
    )


def _postgresql_trigger(
    table: str, name: str, action: str, function: str, each: str = "ROW"
) -> None:
    op.execute(
        f"CREATE TRIGGER {table}_{name} BEFORE {action} ON {table} "
        f"FOR EACH {each} EXECUTE FUNCTION {function}()"
    )

"""Bundles, the runs that used them, and their items, under the names that readers know them by.

They have a schema of their own, `llm`, where the database knows schemas. Append-only: a bundle's
rows are removed only where the trail says that its entry was erased.
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

NUMBER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
APPEND_ONLY = {
    "evidence_bundle": ("tenant", "bundle_id"),
    "run_evidence": ("tenant", "run_id", "bundle_id"),
    "evidence_item": ("tenant", "bundle_id", "evidence_id"),
}
UNIQUE = {"evidence_bundle": ("tenant", "trail_seq")}
"""What else no two rows share: INSERT OR REPLACE takes the other row away by these, too."""


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        _create(None)
        _guard_sqlite()
    else:
        op.execute("CREATE SCHEMA IF NOT EXISTS llm")
        _create("llm")
        _guard_postgresql()


def downgrade() -> None:
    raise NotImplementedError("evidence is never taken down: keep the database, and start another")


def _create(schema: str | None) -> None:
    bundle = f"{schema}.evidence_bundle" if schema else "evidence_bundle"

    def table(name: str, *parts: sa.Column[object] | sa.Constraint) -> None:
        if name != "evidence_bundle":
            parts = (
                *parts,
                sa.ForeignKeyConstraint(
                    ["tenant", "bundle_id"],
                    [f"{bundle}.tenant", f"{bundle}.bundle_id"],
                    name=f"{name}_bundle_id",
                ),
            )
        op.create_table(name, *parts, schema=schema, sqlite_with_rowid=False, sqlite_strict=True)

    def index(name: str, of: str, columns: list[str], *, unique: bool = False) -> None:
        op.create_index(name, of, columns, unique=unique, schema=schema)

    table(
        "evidence_bundle",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("bundle_id", sa.Text, primary_key=True),
        sa.Column("bundle_sha256", sa.Text, nullable=False),
        sa.Column("created_utc", sa.Text, nullable=False),
        sa.Column("build_version", sa.Text, nullable=False),
        sa.Column("policy", sa.Text, nullable=False),
        sa.Column("summary", sa.Text, nullable=False),
        sa.Column("lake_uri", sa.Text, nullable=False),
        sa.Column("lake_root", sa.Text),
        sa.Column("dropped_sha256", sa.Text),
        sa.Column("statement_sha256", sa.Text, nullable=False),
        sa.Column("trail_seq", NUMBER, nullable=False),
    )
    index("evidence_bundle_entry", "evidence_bundle", ["tenant", "trail_seq"], unique=True)
    table(
        "run_evidence",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("run_id", sa.Text, primary_key=True),
        sa.Column("bundle_id", sa.Text, primary_key=True),
        sa.Column("recorded_utc", sa.Text, nullable=False),
        sa.Column("trail_seq", NUMBER, nullable=False),
    )
    index("run_evidence_bundle", "run_evidence", ["tenant", "bundle_id"])
    table(
        "evidence_item",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("bundle_id", sa.Text, primary_key=True),
        sa.Column("evidence_id", sa.Text, primary_key=True),
        sa.Column("item_index", NUMBER, nullable=False),
        sa.Column("evidence_type", sa.Text, nullable=False),
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("input_bytes", NUMBER, nullable=False),
        sa.Column("byte_count", NUMBER, nullable=False),
        sa.Column("content_sha256", sa.Text),
        sa.Column("artifact_sha256", sa.Text),
        sa.Column("artifact_uri", sa.Text),
        sa.CheckConstraint(
            "outcome IN ('kept', 'redacted', 'sampled', 'truncated', 'failed', 'dropped')",
            name="evidence_item_outcome",
        ),
    )
    index("evidence_item_artifact", "evidence_item", ["tenant", "artifact_sha256"])
    index("evidence_item_content", "evidence_item", ["tenant", "content_sha256"])


def _erased(seq: str) -> str:
    return (
        "EXISTS (SELECT 1 FROM trail_entries e WHERE e.tenant = OLD.tenant "  # noqa: S608 - names are ours
        f"AND e.kind = 'erasure' AND e.subject = 'entry/' || {seq})"
    )


def _kept(table: str, bundles: str) -> str:
    """Say when a row may not be deleted: while the trail does not say that it was erased."""
    if table == "evidence_bundle":
        return f"NOT {_erased('OLD.trail_seq')}"
    gone = (
        f"EXISTS (SELECT 1 FROM {bundles} b WHERE b.tenant = OLD.tenant "  # noqa: S608 - the same
        f"AND b.bundle_id = OLD.bundle_id AND {_erased('b.trail_seq')})"
    )
    if table == "run_evidence":
        gone = f"({gone} OR {_erased('OLD.trail_seq')})"
    return f"NOT {gone}"


def _guard_sqlite() -> None:
    for table, key in APPEND_ONLY.items():
        keys = [key, UNIQUE[table]] if table in UNIQUE else [key]
        # One query for each key: SQLite would look at every row for the two joined by OR.
        same = (" AND ".join(f"{column} = NEW.{column}" for column in columns) for columns in keys)
        there = (f"EXISTS (SELECT 1 FROM {table} WHERE {known})" for known in same)  # noqa: S608 - names are ours
        exists = f" WHEN {' OR '.join(there)}"
        kept = f" WHEN {_kept(table, 'evidence_bundle')}"
        for action, when in (("INSERT", exists), ("UPDATE", ""), ("DELETE", kept)):
            name = action.lower()
            op.execute(
                f"CREATE TRIGGER {table}_{name} BEFORE {action} ON {table}{when} "
                f"BEGIN SELECT RAISE(ABORT, '{table} is append-only: no {name}'); END"
            )


def _guard_postgresql() -> None:
    # Guards look at the real tables: without this, a temporary one of the same name comes first.
    op.execute(
        "SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true)"
    )
    for table in APPEND_ONLY:
        op.execute(
            f"CREATE FUNCTION trail_refuse_{table}() RETURNS trigger LANGUAGE plpgsql "
            "SET search_path FROM CURRENT AS $$ BEGIN "
            f"IF {_kept(table, 'llm.evidence_bundle')} THEN "
            "RAISE EXCEPTION '% is append-only: no %', TG_TABLE_NAME, lower(TG_OP); END IF; "
            "RETURN OLD; END $$"
        )
        for action, each, refuse in (
            ("UPDATE", "ROW", "trail_refuse"),
            ("DELETE", "ROW", f"trail_refuse_{table}"),
            ("TRUNCATE", "STATEMENT", "trail_refuse"),
        ):
            op.execute(
                f"CREATE TRIGGER {table}_{action.lower()} BEFORE {action} ON llm.{table} "
                f"FOR EACH {each} EXECUTE FUNCTION {refuse}()"
            )
    # The application's role may not delete; it may call this, and the guards above still decide.
    op.execute(
        "CREATE FUNCTION trail_erase_bundle(of_tenant text, of_seq bigint) RETURNS bigint "
        "LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$ "
        "DECLARE gone text; BEGIN "
        "SELECT bundle_id INTO gone FROM llm.evidence_bundle "
        "WHERE tenant = of_tenant AND trail_seq = of_seq; "
        "IF gone IS NULL THEN RETURN 0; END IF; "
        "DELETE FROM llm.run_evidence WHERE tenant = of_tenant AND bundle_id = gone; "
        "DELETE FROM llm.evidence_item WHERE tenant = of_tenant AND bundle_id = gone; "
        "DELETE FROM llm.evidence_bundle WHERE tenant = of_tenant AND bundle_id = gone; "
        "RETURN 1; END $$"
    )
    op.execute(
        "CREATE FUNCTION trail_erase_run(of_tenant text, of_seq bigint) RETURNS bigint "
        "LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$ "
        "WITH gone AS (DELETE FROM llm.run_evidence WHERE tenant = of_tenant "
        "AND trail_seq = of_seq RETURNING 1) SELECT count(*) FROM gone $$"
    )
    for function in ("trail_erase_bundle", "trail_erase_run"):
        op.execute(f"REVOKE ALL ON FUNCTION {function}(text, bigint) FROM PUBLIC")

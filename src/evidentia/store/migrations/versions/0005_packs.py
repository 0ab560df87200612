"""Packs. Append-only: an edit is a new row that names the one it replaces, and only one can.

A pack's row is removed only where the trail says that its entry was erased.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

NUMBER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
UNIQUE = (("tenant", "id"), ("tenant", "trail_seq"), ("tenant", "replaces_id"))
ERASED = (
    "EXISTS (SELECT 1 FROM trail_entries e WHERE e.tenant = OLD.tenant "
    "AND e.kind = 'erasure' AND e.subject = 'entry/' || OLD.trail_seq)"
)


def upgrade() -> None:
    op.create_table(
        "evidence_packs",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("decision_id", sa.Text, nullable=False),
        sa.Column("entity_id", sa.Text, nullable=False),
        sa.Column("agent_name", sa.Text, nullable=False),
        sa.Column("version", NUMBER, nullable=False),
        sa.Column("replaces_id", sa.Text),
        sa.Column("conflicted", NUMBER, nullable=False),
        sa.Column("resolved", NUMBER, nullable=False),
        sa.Column("pack", sa.Text, nullable=False),
        sa.Column("attachments", sa.Text, nullable=False),
        sa.Column("statement_sha256", sa.Text, nullable=False),
        sa.Column("trail_seq", NUMBER, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sqlite_with_rowid=False,
        sqlite_strict=True,
    )
    op.create_index("evidence_packs_entry", "evidence_packs", ["tenant", "trail_seq"], unique=True)
    op.create_index(
        "evidence_packs_replaces", "evidence_packs", ["tenant", "replaces_id"], unique=True
    )
    decided = ["tenant", "decision_id", "version"]
    op.create_index("evidence_packs_decision", "evidence_packs", decided)
    op.create_index("evidence_packs_created", "evidence_packs", ["tenant", "created_at"])
    if op.get_bind().dialect.name == "sqlite":
        _guard_sqlite()
    else:
        _guard_postgresql()


def downgrade() -> None:
    raise NotImplementedError("evidence is never taken down: keep the database, and start another")


def _guard_sqlite() -> None:
    # INSERT OR REPLACE fires neither update nor delete triggers: it is refused by itself.
    same = (" AND ".join(f"{name} = NEW.{name}" for name in key) for key in UNIQUE)
    there = (f"EXISTS (SELECT 1 FROM evidence_packs WHERE {known})" for known in same)  # noqa: S608 - names are ours
    exists = f" WHEN {' OR '.join(there)}"
    for action, when in (("INSERT", exists), ("UPDATE", ""), ("DELETE", f" WHEN NOT {ERASED}")):
        name = action.lower()
        op.execute(
            f"CREATE TRIGGER evidence_packs_{name} BEFORE {action} ON evidence_packs{when} "
            f"BEGIN SELECT RAISE(ABORT, 'evidence_packs is append-only: no {name}'); END"
        )


def _guard_postgresql() -> None:
    # Guards look at the real tables: without this, a temporary one of the same name comes first.
    op.execute(
        "SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true)"
    )
    op.execute(
        "CREATE FUNCTION trail_refuse_evidence_packs() RETURNS trigger LANGUAGE plpgsql "
        "SET search_path FROM CURRENT AS $$ BEGIN "
        f"IF NOT {ERASED} THEN "
        "RAISE EXCEPTION '% is append-only: no %', TG_TABLE_NAME, lower(TG_OP); END IF; "
        "RETURN OLD; END $$"
    )
    for action, each, refuse in (
        ("UPDATE", "ROW", "trail_refuse"),
        ("DELETE", "ROW", "trail_refuse_evidence_packs"),
        ("TRUNCATE", "STATEMENT", "trail_refuse"),
    ):
        op.execute(
            f"CREATE TRIGGER evidence_packs_{action.lower()} BEFORE {action} ON evidence_packs "
            f"FOR EACH {each} EXECUTE FUNCTION {refuse}()"
        )
    # The application's role may not delete; it may call this, and the guards above still decide.
    op.execute(
        "CREATE FUNCTION trail_erase_pack(of_tenant text, of_seq bigint) RETURNS bigint "
        "LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$ "
        "WITH gone AS (DELETE FROM evidence_packs WHERE tenant = of_tenant "
        "AND trail_seq = of_seq RETURNING 1) SELECT count(*) FROM gone $$"
    )
    op.execute("REVOKE ALL ON FUNCTION trail_erase_pack(text, bigint) FROM PUBLIC")

"""PostgreSQL's own types: times, truth values, and the anchors that a verdict rests on.

With them come defaults and indexes as the ledger's specification names them. SQLite's strict tables
know none of these types, and stay as they are. What the rows say stays what it was.
"""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

TIMES = {
    "documents": "created_at",
    "sessions": "created_at",
    "claims": "created_at",
    "ledgers": "created_at",
    "evidence_ledger": "created_at",
    "evidence_packs": "created_at",
    "llm.evidence_bundle": "created_utc",
    "llm.run_evidence": "recorded_utc",
}
TRUTH = {"claims": ("requires_citation",), "evidence_packs": ("conflicted", "resolved")}
DEFAULTS = (
    ("claims", "requires_citation", "true"),
    ("claims", "created_at", "now()"),
    ("evidence_ledger", "chunk_ids", "'{}'"),
    ("evidence_ledger", "created_at", "now()"),
)


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        return
    changed: dict[str, list[str]] = {}
    for table, column in TIMES.items():
        changed.setdefault(table, []).append(
            _typed(column, "timestamptz", f"{column}::timestamptz")
        )
    for table, columns in TRUTH.items():
        changed[table] += [_typed(column, "boolean", f"{column} <> 0") for column in columns]
    # Only a function may look into a list here; it goes with the session at the latest.
    op.execute(
        "CREATE FUNCTION pg_temp.texts(list text) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$ "
        "SELECT COALESCE(array_agg(text ORDER BY place), '{}') "
        "FROM jsonb_array_elements_text(list::jsonb) WITH ORDINALITY AS one (text, place) $$"
    )
    changed["evidence_ledger"].append(_typed("chunk_ids", "text[]", "pg_temp.texts(chunk_ids)"))
    for (
        table,
        changes,
    ) in changed.items():  # all of a table's at once: each time, it is written anew
        op.execute(f"ALTER TABLE {table} {', '.join(changes)}")
    op.execute("DROP FUNCTION pg_temp.texts(text)")
    for table, column, default in DEFAULTS:
        op.execute(f"ALTER TABLE {table} ALTER {column} SET DEFAULT {default}")
    op.create_index("idx_claims_session", "claims", ["session_id"])
    op.create_index("idx_ledger_session", "evidence_ledger", ["session_id"])
    op.drop_index("evidence_ledger_session", "evidence_ledger")
    op.execute("ALTER INDEX evidence_ledger_verdict RENAME TO idx_ledger_verdict")


def downgrade() -> None:
    raise NotImplementedError("evidence is never taken down: keep the database, and start another")


def _typed(column: str, kind: str, using: str) -> str:
    return f"ALTER {column} TYPE {kind} USING {using}"

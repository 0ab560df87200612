"""Documents, their chunks and anchors; sessions, claims, ledgers. All append-only, but the index.

What the deciding code made of a document or an answer is evidence too: a new reading is a new row.
`document_indexes` can be built again from the chunks, and is the only table here that may change.
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

NUMBER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
REAL: sa.types.TypeEngine[float] = sa.REAL().with_variant(sa.Double(), "postgresql")
APPEND_ONLY = {
    "documents": ("tenant", "id", "version"),
    "document_chunks": ("tenant", "id"),
    "citation_anchors": ("tenant", "anchor"),
    "sessions": ("tenant", "id"),
    "claims": ("tenant", "session_id", "id"),
    "ledgers": ("tenant", "id"),
    "evidence_ledger": ("tenant", "id"),
}
UNIQUE = {
    "document_chunks": ("tenant", "document_id", "sha256", "chunk_index"),
    "citation_anchors": ("tenant", "chunk_hash"),
    "ledgers": ("tenant", "trail_seq"),
    "evidence_ledger": ("tenant", "ledger_id", "claim_id"),
}
"""What else no two rows share: INSERT OR REPLACE takes the other row away by these, too."""


def upgrade() -> None:
    _create_documents()
    _create_ledgers()
    if op.get_bind().dialect.name == "sqlite":
        _guard_sqlite()
    else:
        _guard_postgresql()


def downgrade() -> None:
    raise NotImplementedError("evidence is never taken down: keep the database, and start another")


def _create(name: str, *parts: sa.Column[object] | sa.Constraint) -> None:
    op.create_table(name, *parts, sqlite_with_rowid=False, sqlite_strict=True)


def _create_documents() -> None:
    _create(
        "documents",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("version", NUMBER, primary_key=True, autoincrement=False),
        sa.Column("workspace_id", sa.Text, nullable=False),
        sa.Column("collection", sa.Text, nullable=False),
        sa.Column("filename", sa.Text, nullable=False),
        sa.Column("media_type", sa.Text, nullable=False),
        sa.Column("sha256", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("language", sa.Text),
        sa.Column("direction", sa.Text, nullable=False),
        sa.Column("title", sa.Text),
        sa.Column("dated", sa.Text),
        sa.Column("pages", NUMBER, nullable=False),
        sa.Column("chunks", NUMBER, nullable=False),
        sa.Column("warnings", sa.Text, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.CheckConstraint("status IN ('ready')", name="documents_status"),
        sa.CheckConstraint("direction IN ('ltr', 'rtl')", name="documents_direction"),
    )
    op.create_index("documents_sha256", "documents", ["tenant", "sha256"])
    _create(
        "document_chunks",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("document_id", sa.Text, nullable=False),
        sa.Column("sha256", sa.Text, nullable=False),
        sa.Column("chunk_index", NUMBER, nullable=False),
        sa.Column("chunk_hash", sa.Text, nullable=False),
        sa.Column("page_number", NUMBER, nullable=False),
        sa.Column("heading_path", sa.Text, nullable=False),
        sa.Column("start_offset", NUMBER, nullable=False),
        sa.Column("end_offset", NUMBER, nullable=False),
        sa.Column("content", sa.Text, nullable=False),
    )
    place = ["tenant", "document_id", "sha256", "chunk_index"]
    op.create_index("document_chunks_place", "document_chunks", place, unique=True)
    op.create_index("document_chunks_hash", "document_chunks", ["tenant", "chunk_hash"])
    _create(
        "document_indexes",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("document_id", sa.Text, primary_key=True),
        sa.Column("sha256", sa.Text, primary_key=True),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    _create(
        "citation_anchors",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("anchor", sa.Text, primary_key=True),
        sa.Column("chunk_hash", sa.Text, nullable=False),
    )
    anchored = ["tenant", "chunk_hash"]
    op.create_index("citation_anchors_hash", "citation_anchors", anchored, unique=True)


def _create_ledgers() -> None:
    _create(
        "sessions",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("workspace_id", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("query", sa.Text),
        sa.Column("mode", sa.Text, nullable=False),
        sa.Column("answer_name", sa.Text, nullable=False),
        sa.Column("answer", sa.Text, nullable=False),
        sa.Column("answer_sha256", sa.Text, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
    )
    op.create_index("sessions_answer", "sessions", ["tenant", "answer_sha256"])
    _create(
        "claims",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("session_id", sa.Text, primary_key=True),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("claim_text", sa.Text, nullable=False),
        sa.Column("claim_type", sa.Text, nullable=False),
        sa.Column("importance", sa.Text, nullable=False),
        sa.Column("requires_citation", NUMBER, nullable=False),
        sa.Column("start_offset", NUMBER, nullable=False),
        sa.Column("end_offset", NUMBER, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.CheckConstraint(
            "claim_type IN ('fact', 'policy', 'numeric', 'definition')", name="claims_type"
        ),
        sa.CheckConstraint(
            "importance IN ('critical', 'material', 'minor')", name="claims_importance"
        ),
        _refers("claims", "session_id", "sessions"),
    )
    _create(
        "ledgers",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("session_id", sa.Text, nullable=False),
        sa.Column("previous_id", sa.Text),
        sa.Column("summary", sa.Text, nullable=False),
        sa.Column("risk_flags", sa.Text, nullable=False),
        sa.Column("follow_up_questions", sa.Text, nullable=False),
        sa.Column("statement_sha256", sa.Text, nullable=False),
        sa.Column("trail_seq", NUMBER, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        _refers("ledgers", "session_id", "sessions"),
        _refers("ledgers", "previous_id", "ledgers"),
    )
    op.create_index("ledgers_session", "ledgers", ["tenant", "session_id", "trail_seq"])
    op.create_index("ledgers_entry", "ledgers", ["tenant", "trail_seq"], unique=True)
    _create(
        "evidence_ledger",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("ledger_id", sa.Text, nullable=False),
        sa.Column("session_id", sa.Text, nullable=False),
        sa.Column("claim_id", sa.Text, nullable=False),
        sa.Column("verdict", sa.Text, nullable=False),
        sa.Column("confidence_score", REAL, nullable=False),
        sa.Column("chunk_ids", sa.Text, nullable=False),
        sa.Column("evidence_snippet", sa.Text, nullable=False),
        sa.Column("notes", sa.Text, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.CheckConstraint(
            "verdict IN ('supported', 'weak', 'contradicted', 'not_found', 'not_judged')",
            name="evidence_ledger_verdict",
        ),
        sa.CheckConstraint(
            "confidence_score >= 0 AND confidence_score <= 1", name="evidence_ledger_confidence"
        ),
        _refers("evidence_ledger", "ledger_id", "ledgers"),
        sa.ForeignKeyConstraint(
            ["tenant", "session_id", "claim_id"],
            ["claims.tenant", "claims.session_id", "claims.id"],
            name="evidence_ledger_claim_id",
        ),
    )
    claimed = ["tenant", "ledger_id", "claim_id"]
    op.create_index("evidence_ledger_claim", "evidence_ledger", claimed, unique=True)
    op.create_index("evidence_ledger_session", "evidence_ledger", ["tenant", "session_id"])
    op.create_index("evidence_ledger_verdict", "evidence_ledger", ["tenant", "verdict"])


def _refers(table: str, column: str, other: str) -> sa.ForeignKeyConstraint:
    """Return a reference within the tenant; it never deletes what refers."""
    return sa.ForeignKeyConstraint(
        ["tenant", column], [f"{other}.tenant", f"{other}.id"], name=f"{table}_{column}"
    )


def _guard_sqlite() -> None:
    for table, key in APPEND_ONLY.items():
        keys = [key, UNIQUE[table]] if table in UNIQUE else [key]
        same = (" AND ".join(f"{column} = NEW.{column}" for column in columns) for columns in keys)
        # INSERT OR REPLACE fires neither update nor delete triggers: it is refused by itself.
        exists = f" WHEN EXISTS (SELECT 1 FROM {table} WHERE {' OR '.join(same)})"  # noqa: S608 - names are ours
        for action, when in (("INSERT", exists), ("UPDATE", ""), ("DELETE", "")):
            name = action.lower()
            op.execute(
                f"CREATE TRIGGER {table}_{name} BEFORE {action} ON {table}{when} "
                f"BEGIN SELECT RAISE(ABORT, '{table} is append-only: no {name}'); END"
            )


def _guard_postgresql() -> None:
    for table in APPEND_ONLY:
        for action, each in (("UPDATE", "ROW"), ("DELETE", "ROW"), ("TRUNCATE", "STATEMENT")):
            op.execute(
                f"CREATE TRIGGER {table}_{action.lower()} BEFORE {action} ON {table} "
                f"FOR EACH {each} EXECUTE FUNCTION trail_refuse()"
            )

"""Documents, their chunks and anchors; sessions, claims, ledgers. All append-only, but the index.

What the deciding code made of a document or an answer is evidence too: a new reading is a new row.
`document_indexes` can be built again from the chunks, and is the only table here that may change.
A ledger's rows are removed only where the trail says that its entry was erased; its session and
claims, only when no ledger of them is left.
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


def _erased(seq: str) -> str:
    return (
        "EXISTS (SELECT 1 FROM trail_entries e WHERE e.tenant = OLD.tenant "  # noqa: S608 - names are ours
        f"AND e.kind = 'erasure' AND e.subject = 'entry/' || {seq})"
    )


KEPT = {
    "ledgers": f"NOT {_erased('OLD.trail_seq')}",
    "evidence_ledger": "NOT EXISTS (SELECT 1 FROM ledgers l WHERE l.tenant = OLD.tenant "  # noqa: S608 - the same
    f"AND l.id = OLD.ledger_id AND {_erased('l.trail_seq')})",
    "claims": "EXISTS (SELECT 1 FROM ledgers l WHERE l.tenant = OLD.tenant "
    "AND l.session_id = OLD.session_id)",
    "sessions": "EXISTS (SELECT 1 FROM ledgers l WHERE l.tenant = OLD.tenant "
    "AND l.session_id = OLD.id)",
}
"""When a row may not be deleted; rows of the other tables never may."""


def _guard_sqlite() -> None:
    for table, key in APPEND_ONLY.items():
        keys = [key, UNIQUE[table]] if table in UNIQUE else [key]
        # INSERT OR REPLACE fires neither update nor delete triggers: it is refused by itself. One
        # query for each key: SQLite would look at every row for the two joined by OR.
        same = (" AND ".join(f"{column} = NEW.{column}" for column in columns) for columns in keys)
        there = (f"EXISTS (SELECT 1 FROM {table} WHERE {known})" for known in same)  # noqa: S608 - names are ours
        exists = f" WHEN {' OR '.join(there)}"
        kept = f" WHEN {KEPT[table]}" if table in KEPT else ""
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
    for table, kept in KEPT.items():
        op.execute(
            f"CREATE FUNCTION trail_refuse_{table}() RETURNS trigger LANGUAGE plpgsql "
            "SET search_path FROM CURRENT AS $$ BEGIN "
            f"IF {kept} THEN "
            "RAISE EXCEPTION '% is append-only: no %', TG_TABLE_NAME, lower(TG_OP); END IF; "
            "RETURN OLD; END $$"
        )
    for table in APPEND_ONLY:
        refuse_delete = f"trail_refuse_{table}" if table in KEPT else "trail_refuse"
        for action, each, refuse in (
            ("UPDATE", "ROW", "trail_refuse"),
            ("DELETE", "ROW", refuse_delete),
            ("TRUNCATE", "STATEMENT", "trail_refuse"),
        ):
            op.execute(
                f"CREATE TRIGGER {table}_{action.lower()} BEFORE {action} ON {table} "
                f"FOR EACH {each} EXECUTE FUNCTION {refuse}()"
            )
    # The application's role may not delete; it may call this, and the guards above still decide.
    op.execute(
        "CREATE FUNCTION trail_erase_ledger(of_tenant text, of_seq bigint) RETURNS bigint "
        "LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$ "
        "DECLARE gone record; BEGIN "
        "SELECT id, session_id INTO gone FROM ledgers "
        "WHERE tenant = of_tenant AND trail_seq = of_seq; "
        "IF gone.id IS NULL THEN RETURN 0; END IF; "
        "DELETE FROM evidence_ledger WHERE tenant = of_tenant AND ledger_id = gone.id; "
        "DELETE FROM ledgers WHERE tenant = of_tenant AND id = gone.id; "
        "IF NOT EXISTS (SELECT 1 FROM ledgers "
        "WHERE tenant = of_tenant AND session_id = gone.session_id) THEN "
        "DELETE FROM claims WHERE tenant = of_tenant AND session_id = gone.session_id; "
        "DELETE FROM sessions WHERE tenant = of_tenant AND id = gone.session_id; END IF; "
        "RETURN 1; END $$"
    )
    op.execute("REVOKE ALL ON FUNCTION trail_erase_ledger(text, bigint) FROM PUBLIC")

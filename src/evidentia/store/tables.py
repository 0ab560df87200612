"""The tables as they are now. Migrations make them; a test compares the two.

Rows of `trail_bodies`, of a ledger and its session, of a bundle, and of a pack, are removed only by
an erasure, and chunks only where a document's text was erased. `chunk_embeddings` may be emptied:
it follows from the chunks, as snapshots, the corpus's nodes and ledgers' pages follow from the
entries, and `pack_attachments` from the packs; `idempotency`, the inbox and its receipts, what is
about jobs, spans that wait, what is on its way to OpenFGA and what lies where in a lake are no
evidence. Bundles have a schema of
their own, `llm`, where the database knows schemas.

PostgreSQL has types of its own for times, truth values and lists, which SQLite's strict tables do
not know. What is on one of the two alone says so (`ONLY_ON`): an index, or a column's default.
"""

from typing import Any

from sqlalchemy import (
    REAL,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Double,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    Unicode,
    UnicodeText,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeEngine

metadata = MetaData()

# SQLite's strict tables know INTEGER, TEXT and BLOB; PostgreSQL's INTEGER would end at 2^31.
_Number = Integer().with_variant(BigInteger(), "postgresql", "mssql")
_Real: TypeEngine[float] = REAL().with_variant(Double(), "postgresql")
# SQL Server indexes no text without a length, and its TEXT is not Unicode.
_Key = Text().with_variant(Unicode(200), "mssql")
_Long = Text().with_variant(UnicodeText(), "mssql")
_Truth = Integer().with_variant(Boolean(), "postgresql")
_Time = _Key.with_variant(DateTime(timezone=True), "postgresql")
_Texts = Text().with_variant(ARRAY(Text), "postgresql")

BUNDLE_SCHEMA = "llm"
ONLY_ON = "only_on"
_POSTGRESQL = {ONLY_ON: "postgresql"}
_SQLITE = {ONLY_ON: "sqlite"}


def _table(name: str, *parts: SchemaItem, schema: str | None = None) -> Table:
    return Table(name, metadata, *parts, schema=schema, sqlite_with_rowid=False, sqlite_strict=True)


def _defaulting(name: str, kind: TypeEngine[Any], default: str) -> Column[Any]:
    """Return a column that has a default on PostgreSQL."""
    return Column(name, kind, nullable=False, server_default=text(default), info=_POSTGRESQL)


def _refers(table: str, column: str, other: str) -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["tenant", column], [f"{other}.tenant", f"{other}.id"], name=f"{table}_{column}"
    )


def _of_bundle(table: str) -> ForeignKeyConstraint:
    bundle = f"{BUNDLE_SCHEMA}.evidence_bundle"
    return ForeignKeyConstraint(
        ["tenant", "bundle_id"],
        [f"{bundle}.tenant", f"{bundle}.bundle_id"],
        name=f"{table}_bundle_id",
    )


trail_entries = _table(
    "trail_entries",
    Column("tenant", Text, primary_key=True),
    Column("seq", _Number, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("entry", LargeBinary, nullable=False),
    Index("trail_entries_subject", "tenant", "subject", "seq"),
    Index("trail_entries_kind", "tenant", "kind", "seq"),
)

trail_bodies = _table(
    "trail_bodies",
    Column("tenant", Text, primary_key=True),
    Column("seq", _Number, primary_key=True, autoincrement=False),
    Column("salt", LargeBinary, nullable=False),
    Column("body", LargeBinary, nullable=False),
)

trail_tiles = _table(
    "trail_tiles",
    Column("tenant", Text, primary_key=True),
    Column("level", Integer, primary_key=True, autoincrement=False),
    Column("tile", _Number, primary_key=True, autoincrement=False),
    Column("data", LargeBinary, nullable=False),
)

trail_heads = _table(
    "trail_heads",
    Column("tenant", Text, primary_key=True),
    Column("origin", Text, nullable=False),
    Column("size", _Number, nullable=False),
    Column("root", LargeBinary, nullable=False),
    Column("edge", LargeBinary, nullable=False),
    Column("checkpoints", _Number, nullable=False, server_default="0"),
)

trail_checkpoints = _table(
    "trail_checkpoints",
    Column("tenant", Text, primary_key=True),
    Column("size", _Number, primary_key=True, autoincrement=False),
    Column("key_id", Text, primary_key=True),
    Column("note", Text, nullable=False),
)

trail_keys = _table(
    "trail_keys",
    Column("tenant", Text, primary_key=True),
    Column("seq", _Number, primary_key=True, autoincrement=False),
    Column("key_id", Text, nullable=False),
    Column("public_key", LargeBinary, nullable=False),
)

trail_idempotency = _table(
    "trail_idempotency",
    Column("tenant", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("seq", _Number, nullable=False),
)

trail_snapshots = _table(
    "trail_snapshots",
    Column("tenant", Text, primary_key=True),
    Column("note", Text, nullable=False),
)

trail_snapshot_nodes = _table(
    "trail_snapshot_nodes",
    Column("tenant", Text, primary_key=True),
    Column("hash", LargeBinary, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)

idempotency = _table(
    "idempotency",
    Column("tenant", Text, primary_key=True),
    Column("actor", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("request_id", Text, nullable=False),
    Column("request_sha256", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("status", _Number),
    Column("headers", Text),
    Column("body", LargeBinary),
    Index("idempotency_created", "created_at"),
)

trail_inbox = _table(
    "trail_inbox",
    Column("tenant", Text, primary_key=True),
    Column("ticket", Text, primary_key=True),
    Column("until", Text, nullable=False),
    Column("entries", _Number, nullable=False),
    Column("content", LargeBinary, nullable=False),
    Column("code", LargeBinary, nullable=False),
)

trail_receipts = _table(
    "trail_receipts",
    Column("tenant", Text, primary_key=True),
    Column("ticket", Text, primary_key=True),
    Column("until", Text, nullable=False),
    Column("said", Text, nullable=False),
    Index("trail_receipts_until", "tenant", "until"),
)

jobs = _table(
    "jobs",
    Column("tenant", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("number", _Number, nullable=False),
    Column("kind", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("asked", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("done", _Number, nullable=False),
    Column("total", _Number, nullable=False),
    Column("events", _Number, nullable=False),
    Column("cancelled", _Number, nullable=False),
    Column("runner", Text),
    Column("result", Text),
    Column("problem", Text),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
    Column("ended_at", Text),
    Index("jobs_state", "state"),
)

job_items = _table(
    "job_items",
    Column("tenant", Text, primary_key=True),
    Column("job_id", Text, primary_key=True),
    Column("number", _Number, primary_key=True, autoincrement=False),
    Column("entry", _Number),
    Column("outcome", Text),
)

job_events = _table(
    "job_events",
    Column("tenant", Text, primary_key=True),
    Column("job_id", Text, primary_key=True),
    Column("number", _Number, primary_key=True, autoincrement=False),
    Column("at", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("done", _Number, nullable=False),
    Column("total", _Number, nullable=False),
)

job_runners = _table(
    "job_runners",
    Column("id", Text, primary_key=True),
    Column("renewed", _Number, nullable=False),
)

waiting_traces = _table(
    "waiting_traces",
    Column("tenant", Text, primary_key=True),
    Column("trace_id", Text, primary_key=True),
    Column("actor", Text, nullable=False),
    Column("scopes", Text),
    Column("spans", _Number, nullable=False),
    Column("root", _Number, nullable=False),
    Column("closes_at", Text),
    Column("job_id", Text),
    Column("recorded", _Number, nullable=False),
    Column("recorded_at", Text),
    Column("run_id", Text),
    Column("problem", Text),
    Index("waiting_traces_closes", "closes_at"),
)

waiting_spans = _table(
    "waiting_spans",
    Column("tenant", Text, primary_key=True),
    Column("trace_id", Text, primary_key=True),
    Column("span_id", Text, primary_key=True),
    Column("sha256", Text, primary_key=True),
    Column("recorded", _Number, nullable=False),
    Column("span", LargeBinary, nullable=False),
)

documents = _table(
    "documents",
    Column("tenant", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("version", _Number, primary_key=True, autoincrement=False),
    Column("workspace_id", Text, nullable=False),
    Column("collection", Text, nullable=False),
    Column("filename", Text, nullable=False),
    Column("media_type", Text, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("language", Text),
    Column("direction", Text, nullable=False),
    Column("title", Text),
    Column("dated", Text),
    Column("pages", _Number, nullable=False),
    Column("chunks", _Number, nullable=False),
    Column("warnings", Text, nullable=False),
    Column("created_at", _Time, nullable=False),
    Column("collection_id", Text),
    Column("effective_from", Text),
    Column("effective_until", Text),
    Column("reader", _Number),
    CheckConstraint("status IN ('ready')", name="documents_status"),
    CheckConstraint("direction IN ('ltr', 'rtl')", name="documents_direction"),
    Index("documents_sha256", "tenant", "sha256"),
)

document_chunks = _table(
    "document_chunks",
    Column("tenant", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("document_id", Text, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("chunk_index", _Number, nullable=False),
    Column("chunk_hash", Text, nullable=False),
    Column("page_number", _Number, nullable=False),
    Column("heading_path", Text, nullable=False),
    Column("start_offset", _Number, nullable=False),
    Column("end_offset", _Number, nullable=False),
    Column("content", Text, nullable=False),
    Column("ocr", _Real),
    Column("reader", _Number, primary_key=True, autoincrement=False),
    Index(
        "document_chunks_place",
        "tenant",
        "document_id",
        "sha256",
        "reader",
        "chunk_index",
        unique=True,
    ),
    Index("document_chunks_hash", "tenant", "chunk_hash"),
)

corpus_nodes = _table(
    "corpus_nodes",
    Column("tenant", Text, primary_key=True),
    Column("hash", LargeBinary, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)

ledger_pages = _table(
    "ledger_pages",
    Column("tenant", Text, primary_key=True),
    Column("ledger_id", Text, primary_key=True),
    Column("page", _Number, primary_key=True, autoincrement=False),
    Column("data", LargeBinary, nullable=False),
    Column("path", LargeBinary, nullable=False),
)

chunk_embeddings = _table(
    "chunk_embeddings",
    Column("tenant", Text, primary_key=True),
    Column("content_sha256", Text, primary_key=True),
    Column("model_sha256", Text, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)

citation_anchors = _table(
    "citation_anchors",
    Column("tenant", Text, primary_key=True),
    Column("anchor", Text, primary_key=True),
    Column("chunk_hash", Text, nullable=False),
    Index("citation_anchors_hash", "tenant", "chunk_hash", unique=True),
)

sessions = _table(
    "sessions",
    Column("tenant", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("workspace_id", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("query", Text),
    Column("mode", Text, nullable=False),
    Column("answer_name", Text, nullable=False),
    Column("answer", Text, nullable=False),
    Column("answer_sha256", Text, nullable=False),
    Column("created_at", _Time, nullable=False),
    Index("sessions_answer", "tenant", "answer_sha256"),
)

claims = _table(
    "claims",
    Column("tenant", Text, primary_key=True),
    Column("session_id", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("claim_text", Text, nullable=False),
    Column("claim_type", Text, nullable=False),
    Column("importance", Text, nullable=False),
    _defaulting("requires_citation", _Truth, "true"),
    Column("start_offset", _Number, nullable=False),
    Column("end_offset", _Number, nullable=False),
    _defaulting("created_at", _Time, "now()"),
    CheckConstraint(
        "claim_type IN ('fact', 'policy', 'numeric', 'definition')", name="claims_type"
    ),
    CheckConstraint("importance IN ('critical', 'material', 'minor')", name="claims_importance"),
    _refers("claims", "session_id", "sessions"),
    Index("idx_claims_session", "session_id", info=_POSTGRESQL),
)

ledgers = _table(
    "ledgers",
    Column("tenant", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("session_id", Text, nullable=False),
    Column("previous_id", Text),
    Column("summary", Text, nullable=False),
    Column("risk_flags", Text, nullable=False),
    Column("follow_up_questions", Text, nullable=False),
    Column("statement_sha256", Text, nullable=False),
    Column("trail_seq", _Number, nullable=False),
    Column("created_at", _Time, nullable=False),
    _refers("ledgers", "session_id", "sessions"),
    Index("ledgers_session", "tenant", "session_id", "trail_seq"),
    Index("ledgers_entry", "tenant", "trail_seq", unique=True),
    Index("ledgers_statement", "tenant", "statement_sha256"),
)

evidence_ledger = _table(
    "evidence_ledger",
    Column("tenant", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("ledger_id", Text, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("claim_id", Text, nullable=False),
    Column("verdict", Text, nullable=False),
    Column("confidence_score", _Real, nullable=False),
    _defaulting("chunk_ids", _Texts, "'{}'"),
    Column("evidence_snippet", Text, nullable=False),
    Column("notes", Text, nullable=False),
    _defaulting("created_at", _Time, "now()"),
    CheckConstraint(
        "verdict IN ('supported', 'weak', 'contradicted', 'not_found', 'not_judged')",
        name="evidence_ledger_verdict",
    ),
    CheckConstraint(
        "confidence_score >= 0 AND confidence_score <= 1", name="evidence_ledger_confidence"
    ),
    _refers("evidence_ledger", "ledger_id", "ledgers"),
    ForeignKeyConstraint(
        ["tenant", "session_id", "claim_id"],
        ["claims.tenant", "claims.session_id", "claims.id"],
        name="evidence_ledger_claim_id",
    ),
    Index("evidence_ledger_claim", "tenant", "ledger_id", "claim_id", unique=True),
    Index("evidence_ledger_session", "tenant", "session_id", info=_SQLITE),
    Index("evidence_ledger_verdict", "tenant", "verdict", info=_SQLITE),
    Index("idx_ledger_session", "session_id", info=_POSTGRESQL),
    Index("idx_ledger_verdict", "tenant", "verdict", info=_POSTGRESQL),
)

evidence_bundle = _table(
    "evidence_bundle",
    Column("tenant", _Key, primary_key=True),
    Column("bundle_id", _Key, primary_key=True),
    Column("bundle_sha256", _Key, nullable=False),
    Column("created_utc", _Time, nullable=False),
    Column("build_version", _Key, nullable=False),
    Column("policy", _Long, nullable=False),
    Column("summary", _Long, nullable=False),
    Column("lake_uri", _Key, nullable=False),
    Column("lake_root", _Long),
    Column("dropped_sha256", _Key),
    Column("statement_sha256", _Key, nullable=False),
    Column("trail_seq", _Number, nullable=False),
    Index("evidence_bundle_entry", "tenant", "trail_seq", unique=True),
    Index("evidence_bundle_file", "tenant", "lake_uri"),
    Index("evidence_bundle_dropped", "tenant", "dropped_sha256"),
    schema=BUNDLE_SCHEMA,
)

run_evidence = _table(
    "run_evidence",
    Column("tenant", _Key, primary_key=True),
    Column("run_id", _Key, primary_key=True),
    Column("bundle_id", _Key, primary_key=True),
    Column("recorded_utc", _Time, nullable=False),
    Column("trail_seq", _Number, nullable=False),
    _of_bundle("run_evidence"),
    Index("run_evidence_bundle", "tenant", "bundle_id"),
    schema=BUNDLE_SCHEMA,
)

evidence_item = _table(
    "evidence_item",
    Column("tenant", _Key, primary_key=True),
    Column("bundle_id", _Key, primary_key=True),
    Column("evidence_id", _Key, primary_key=True),
    Column("item_index", _Number, nullable=False),
    Column("evidence_type", _Key, nullable=False),
    Column("origin", _Long, nullable=False),
    Column("outcome", _Key, nullable=False),
    Column("reason", _Long, nullable=False),
    Column("input_bytes", _Number, nullable=False),
    Column("byte_count", _Number, nullable=False),
    Column("content_sha256", _Key),
    Column("artifact_sha256", _Key),
    Column("artifact_uri", _Long),
    CheckConstraint(
        "outcome IN ('kept', 'redacted', 'sampled', 'truncated', 'failed', 'dropped')",
        name="evidence_item_outcome",
    ),
    _of_bundle("evidence_item"),
    Index("evidence_item_artifact", "tenant", "artifact_sha256"),
    Index("evidence_item_content", "tenant", "content_sha256"),
    schema=BUNDLE_SCHEMA,
)

evidence_packs = _table(
    "evidence_packs",
    Column("tenant", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("decision_id", Text, nullable=False),
    Column("entity_id", Text, nullable=False),
    Column("agent_name", Text, nullable=False),
    Column("version", _Number, nullable=False),
    Column("replaces_id", Text),
    Column("conflicted", _Truth, nullable=False),
    Column("resolved", _Truth, nullable=False),
    Column("pack", Text, nullable=False),
    Column("attachments", Text, nullable=False),
    Column("statement_sha256", Text, nullable=False),
    Column("trail_seq", _Number, nullable=False),
    Column("created_at", _Time, nullable=False),
    Index("evidence_packs_entry", "tenant", "trail_seq", unique=True),
    Index("evidence_packs_replaces", "tenant", "replaces_id", unique=True),
    Index("evidence_packs_decision", "tenant", "decision_id", "version"),
    Index("evidence_packs_created", "tenant", "created_at"),
    Index("evidence_packs_statement", "tenant", "statement_sha256"),
)

pack_attachments = _table(
    "pack_attachments",
    Column("tenant", Text, primary_key=True),
    Column("digest", Text, primary_key=True),
    Column("pack_id", Text, primary_key=True),
    Index("pack_attachments_pack", "tenant", "pack_id"),
)

lake_objects = _table(
    "lake_objects",
    Column("tenant", Text, primary_key=True),
    Column("digest", Text, primary_key=True),
    Column("object_key", Text, nullable=False),
    Column("version", Text),
    Column("mode", Text),
    Column("kept_until", Text),
    Column("held", _Number, nullable=False),
)

openfga_followed = _table(
    "openfga_followed",
    Column("tenant", Text, primary_key=True),
    Column("store", Text, primary_key=True),
    Column("entries", _Number, nullable=False),
    Column("holder", Text, nullable=False),
    Column("until", Text, nullable=False),
)

openfga_outbox = _table(
    "openfga_outbox",
    Column("tenant", Text, primary_key=True),
    Column("store", Text, primary_key=True),
    Column("subject", Text, primary_key=True),
    Column("entry", _Number, nullable=False),
    Column("tries", _Number, nullable=False),
    Column("next_at", Text, nullable=False),
    Column("problem", Text),
    Index("openfga_outbox_next", "tenant", "store", "next_at"),
)

lake_removals = _table(
    "lake_removals",
    Column("tenant", Text, primary_key=True),
    Column("digest", Text, primary_key=True),
    Column("through", _Number, nullable=False),
    Column("done", _Number, nullable=False),
)

"""The life of a document: its collection's id, from when until when it holds, which reader read it.

The same bytes may be read anew by a newer reader: chunks are those of one reading. Chunks are
removed, and a title with them, only where the trail says that a document's text was erased.
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

NUMBER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
REAL: sa.types.TypeEngine[float] = sa.REAL().with_variant(sa.Double(), "postgresql")
COLUMNS = (
    "tenant",
    "id",
    "document_id",
    "sha256",
    "chunk_index",
    "chunk_hash",
    "page_number",
    "heading_path",
    "start_offset",
    "end_offset",
    "content",
    "ocr",
)
KEYS = (
    ("tenant", "id", "reader"),
    ("tenant", "document_id", "sha256", "reader", "chunk_index"),
)
PLACE = "document_chunks_place"
STAY = (
    "tenant",
    "id",
    "version",
    "workspace_id",
    "collection",
    "filename",
    "media_type",
    "sha256",
    "status",
    "language",
    "direction",
    "dated",
    "pages",
    "chunks",
    "warnings",
    "created_at",
    "collection_id",
    "effective_from",
    "effective_until",
    "reader",
)
"""What of a document's row never changes: all but the title, which goes with the text."""


def upgrade() -> None:
    for name, kind in (
        ("collection_id", sa.Text()),
        ("effective_from", sa.Text()),
        ("effective_until", sa.Text()),
        ("reader", NUMBER),
    ):
        op.add_column("documents", sa.Column(name, kind))
    if op.get_bind().dialect.name == "sqlite":
        _sqlite()
    else:
        _postgresql()


def downgrade() -> None:
    raise NotImplementedError("evidence is never taken down: keep the database, and start another")


def _erased(document: str, has: str) -> str:
    """Return whether an entry says that a document's text was erased; a body is canonical JSON."""
    return (
        "EXISTS (SELECT 1 FROM trail_entries e JOIN trail_bodies b "  # noqa: S608 - names are ours
        "ON b.tenant = e.tenant AND b.seq = e.seq WHERE e.tenant = OLD.tenant "
        f"AND e.kind = 'document' AND e.subject = 'removed/' || OLD.{document} AND {has})"
    )


def _sqlite() -> None:
    columns = ", ".join(COLUMNS)
    op.execute("ALTER TABLE document_chunks RENAME TO document_chunks_before")
    op.drop_index(PLACE)
    op.drop_index("document_chunks_hash")
    op.create_table(
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
        sa.Column("ocr", REAL),
        sa.Column("reader", NUMBER, primary_key=True, autoincrement=False),
        sqlite_with_rowid=False,
        sqlite_strict=True,
    )
    op.execute(
        f"INSERT INTO document_chunks ({columns}, reader) "  # noqa: S608 - names are ours
        f"SELECT {columns}, 0 FROM document_chunks_before"
    )
    op.drop_table("document_chunks_before")
    _create_indexes()
    has = 'instr(b.body, CAST(\'"text":"erased"\' AS BLOB)) > 0'
    same = (" AND ".join(f"{column} = NEW.{column}" for column in key) for key in KEYS)
    there = (f"EXISTS (SELECT 1 FROM document_chunks WHERE {known})" for known in same)  # noqa: S608 - names are ours
    kept = " AND ".join(f"NEW.{column} IS OLD.{column}" for column in STAY)
    op.execute("DROP TRIGGER documents_update")
    for table, action, when in (
        ("document_chunks", "INSERT", f" WHEN {' OR '.join(there)}"),
        ("document_chunks", "UPDATE", ""),
        ("document_chunks", "DELETE", f" WHEN NOT {_erased('document_id', has)}"),
        (
            "documents",
            "UPDATE",
            f" WHEN NOT (NEW.title IS NULL AND {kept} AND {_erased('id', has)})",
        ),
    ):
        op.execute(
            f"CREATE TRIGGER {table}_{action.lower()} BEFORE {action} ON {table}{when} "
            f"BEGIN SELECT RAISE(ABORT, '{table} is append-only: no {action.lower()}'); END"
        )


def _create_indexes() -> None:
    op.create_index(PLACE, "document_chunks", list(KEYS[1]), unique=True)
    op.create_index("document_chunks_hash", "document_chunks", ["tenant", "chunk_hash"])


def _postgresql() -> None:
    # Guards look at the real tables: without this, a temporary one of the same name comes first.
    op.execute(
        "SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true)"
    )
    op.execute("ALTER TABLE document_chunks ADD COLUMN reader bigint NOT NULL DEFAULT 0")
    op.execute("ALTER TABLE document_chunks ALTER reader DROP DEFAULT")
    op.execute("ALTER TABLE document_chunks DROP CONSTRAINT document_chunks_pkey")
    op.execute(f"ALTER TABLE document_chunks ADD PRIMARY KEY ({', '.join(KEYS[0])})")
    op.drop_index(PLACE, "document_chunks")
    op.create_index(PLACE, "document_chunks", list(KEYS[1]), unique=True)
    has = 'position(\'"text":"erased"\'::bytea IN b.body) > 0'
    kept = " AND ".join(f"NEW.{column} IS NOT DISTINCT FROM OLD.{column}" for column in STAY)
    for table, action, refused in (
        ("document_chunks", "delete", f"NOT {_erased('document_id', has)}"),
        ("documents", "update", f"NOT (NEW.title IS NULL AND {kept} AND {_erased('id', has)})"),
    ):
        op.execute(
            f"CREATE FUNCTION trail_refuse_{table}() RETURNS trigger LANGUAGE plpgsql "
            "SET search_path FROM CURRENT AS $$ BEGIN "
            f"IF {refused} THEN "
            "RAISE EXCEPTION '% is append-only: no %', TG_TABLE_NAME, lower(TG_OP); END IF; "
            f"RETURN {'OLD' if action == 'delete' else 'NEW'}; END $$"
        )
        op.execute(f"DROP TRIGGER {table}_{action} ON {table}")
        op.execute(
            f"CREATE TRIGGER {table}_{action} BEFORE {action.upper()} ON {table} "
            f"FOR EACH ROW EXECUTE FUNCTION trail_refuse_{table}()"
        )
    # The application's role may not delete; it may call these, and the guards above still decide.
    op.execute(
        "CREATE FUNCTION trail_erase_chunks(of_tenant text, of_document text, of_sha256 text, "
        "of_reader bigint) RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT "
        "AS $$ DELETE FROM document_chunks WHERE tenant = of_tenant "
        "AND document_id = of_document AND sha256 = of_sha256 AND reader = of_reader $$"
    )
    op.execute(
        "CREATE FUNCTION trail_erase_title(of_tenant text, of_document text, of_version bigint) "
        "RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$ "
        "UPDATE documents SET title = NULL WHERE tenant = of_tenant AND id = of_document "
        "AND version = of_version $$"
    )
    for signature in (
        "trail_erase_chunks(text, text, text, bigint)",
        "trail_erase_title(text, text, bigint)",
    ):
        op.execute(f"REVOKE ALL ON FUNCTION {signature} FROM PUBLIC")

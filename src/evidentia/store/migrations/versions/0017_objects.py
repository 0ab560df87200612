"""What lies in object storage, and what is removed from a lake; each tenant's uses by index.

`lake_objects` says under which key and as which version a pack's files are in a bucket, and what
they were locked by. `lake_removals` says up to which copy the bytes of a digest are removed: what
is kept anew takes a later one. `pack_attachments` names the files of packs one by one.
"""

import json

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

NUMBER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
ROWS_AT_ONCE = 1_000


def upgrade() -> None:
    op.create_table(
        "lake_objects",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("digest", sa.Text, primary_key=True),
        sa.Column("object_key", sa.Text, nullable=False),
        sa.Column("version", sa.Text),
        sa.Column("mode", sa.Text),
        sa.Column("kept_until", sa.Text),
        sa.Column("held", NUMBER, nullable=False),
        sqlite_with_rowid=False,
        sqlite_strict=True,
    )
    op.create_table(
        "lake_removals",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("digest", sa.Text, primary_key=True),
        sa.Column("through", NUMBER, nullable=False),
        sa.Column("done", NUMBER, nullable=False),
        sqlite_with_rowid=False,
        sqlite_strict=True,
    )
    op.create_table(
        "pack_attachments",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("digest", sa.Text, primary_key=True),
        sa.Column("pack_id", sa.Text, primary_key=True),
        sqlite_with_rowid=False,
        sqlite_strict=True,
    )
    op.create_index("pack_attachments_pack", "pack_attachments", ["tenant", "pack_id"])
    op.create_index("evidence_packs_statement", "evidence_packs", ["tenant", "statement_sha256"])
    op.create_index("ledgers_statement", "ledgers", ["tenant", "statement_sha256"])
    schema = None if op.get_bind().dialect.name == "sqlite" else "llm"
    for name, column in (("file", "lake_uri"), ("dropped", "dropped_sha256")):
        columns = ["tenant", column]
        op.create_index(f"evidence_bundle_{name}", "evidence_bundle", columns, schema=schema)
    _name_attachments()


def downgrade() -> None:
    raise NotImplementedError("evidence is never taken down: keep the database, and start another")


def _name_attachments() -> None:
    """Name the files of the packs that are there."""
    packs = sa.table(
        "evidence_packs", sa.column("tenant"), sa.column("id"), sa.column("attachments")
    )
    attachments = sa.table(
        "pack_attachments", sa.column("tenant"), sa.column("digest"), sa.column("pack_id")
    )
    connection = op.get_bind()
    known = connection.execute(sa.select(packs).where(packs.c.attachments != "[]"))
    for rows in known.partitions(ROWS_AT_ONCE):
        found = {
            (tenant, uri.rpartition("/")[2], pack_id)
            for tenant, pack_id, told in rows
            for uri in json.loads(told)
        }
        values = [
            {"tenant": tenant, "digest": digest, "pack_id": pack_id}
            for tenant, digest, pack_id in sorted(found)
        ]
        connection.execute(sa.insert(attachments), values)

"""Embeddings of chunks, kept so that a model need not make them again.

`chunk_embeddings` follows from the chunks and a model, like `document_indexes`: it has no guards.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "chunk_embeddings",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("content_sha256", sa.Text, primary_key=True),
        sa.Column("model_sha256", sa.Text, primary_key=True),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
        sqlite_strict=True,
    )


def downgrade() -> None:
    raise NotImplementedError("evidence is never taken down: keep the database, and start another")

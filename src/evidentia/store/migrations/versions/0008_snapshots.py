"""Signed snapshots of where the entries are that decide.

They follow from the entries, like `document_indexes` from the chunks: they are written anew, and
have no guards. What is read of them is believed for its signature alone.
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "trail_snapshots",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("note", sa.Text, nullable=False),
        sqlite_with_rowid=False,
        sqlite_strict=True,
    )
    op.create_table(
        "trail_snapshot_nodes",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("hash", sa.LargeBinary, primary_key=True),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
        sqlite_strict=True,
    )


def downgrade() -> None:
    raise NotImplementedError("evidence is never taken down: keep the database, and start another")

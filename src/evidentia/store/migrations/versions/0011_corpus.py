"""The nodes of the map that commits to a library, and the pages of long ledgers.

They follow from entries and statements, as snapshots do: they are written anew, and have no
guards. What is read of them is believed for its hash alone.
"""

import sqlalchemy as sa
from alembic import op

NUMBER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "corpus_nodes",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("hash", sa.LargeBinary, primary_key=True),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
        sqlite_strict=True,
    )
    op.create_table(
        "ledger_pages",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("ledger_id", sa.Text, primary_key=True),
        sa.Column("page", NUMBER, primary_key=True, autoincrement=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.Column("path", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
        sqlite_strict=True,
    )
    # their form has no entries that record documents: the next ones do
    op.execute("DELETE FROM trail_snapshot_nodes")
    op.execute("DELETE FROM trail_snapshots")


def downgrade() -> None:
    raise NotImplementedError("evidence is never taken down: keep the database, and start another")

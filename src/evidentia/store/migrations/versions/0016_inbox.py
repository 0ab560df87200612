"""Records that wait for their number, and the receipts of those that have one.

None of it is evidence: a row of the inbox goes as its entries come into the log, and a receipt some
time after it. Whoever can write to the inbox has nothing signed: each row has a code that takes the
log's key.
"""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

NUMBER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")


def upgrade() -> None:
    op.create_table(
        "trail_inbox",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("ticket", sa.Text, primary_key=True),
        sa.Column("until", sa.Text, nullable=False),
        sa.Column("entries", NUMBER, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.Column("code", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
        sqlite_strict=True,
    )
    op.create_table(
        "trail_receipts",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("ticket", sa.Text, primary_key=True),
        sa.Column("until", sa.Text, nullable=False),
        sa.Column("said", sa.Text, nullable=False),
        sqlite_with_rowid=False,
        sqlite_strict=True,
    )
    op.create_index("trail_receipts_until", "trail_receipts", ["tenant", "until"])


def downgrade() -> None:
    raise NotImplementedError("evidence is never taken down: keep the database, and start another")

"""What was answered to requests that must not be done twice.

A row is written in the transaction that does what was asked, and gets the answer when that is
known. It is no evidence: it is updated once, removed when it is old, and has no guards.
"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

NUMBER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")


def upgrade() -> None:
    op.create_table(
        "idempotency",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("actor", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("request_id", sa.Text, nullable=False),
        sa.Column("request_sha256", sa.Text, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("status", NUMBER),
        sa.Column("headers", sa.Text),
        sa.Column("body", sa.LargeBinary),
        sqlite_with_rowid=False,
        sqlite_strict=True,
    )
    op.create_index("idempotency_created", "idempotency", ["created_at"])


def downgrade() -> None:
    raise NotImplementedError("evidence is never taken down: keep the database, and start another")

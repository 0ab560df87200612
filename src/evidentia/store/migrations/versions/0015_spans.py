"""Spans that wait for their trace to be closed, and the traces that they belong to.

None of it is evidence: once a trace is recorded its evidence stands in the trail, and its spans are
removed a day later, until when they tell what comes late from what comes twice.
"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

NUMBER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")


def upgrade() -> None:
    op.create_table(
        "waiting_traces",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("trace_id", sa.Text, primary_key=True),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("scopes", sa.Text),
        sa.Column("spans", NUMBER, nullable=False),
        sa.Column("root", NUMBER, nullable=False),
        sa.Column("closes_at", sa.Text),
        sa.Column("job_id", sa.Text),
        sa.Column("recorded", NUMBER, nullable=False),
        sa.Column("recorded_at", sa.Text),
        sa.Column("run_id", sa.Text),
        sa.Column("problem", sa.Text),
        sqlite_with_rowid=False,
        sqlite_strict=True,
    )
    op.create_index("waiting_traces_closes", "waiting_traces", ["closes_at"])
    op.create_table(
        "waiting_spans",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("trace_id", sa.Text, primary_key=True),
        sa.Column("span_id", sa.Text, primary_key=True),
        sa.Column("sha256", sa.Text, primary_key=True),
        sa.Column("recorded", NUMBER, nullable=False),
        sa.Column("span", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
        sqlite_strict=True,
    )


def downgrade() -> None:
    raise NotImplementedError("evidence is never taken down: keep the database, and start another")

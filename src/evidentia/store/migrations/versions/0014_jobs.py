"""Long work: what was asked for, by whom, how far it is, and which server does it.

None of it is evidence: rows are updated as the work goes on, and removed some time after it ended.
What a job records stands in the trail, as it does without one.
"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

NUMBER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")


def upgrade() -> None:
    op.create_table(
        "jobs",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("asked", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("done", NUMBER, nullable=False),
        sa.Column("total", NUMBER, nullable=False),
        sa.Column("events", NUMBER, nullable=False),
        sa.Column("cancelled", NUMBER, nullable=False),
        sa.Column("runner", sa.Text),
        sa.Column("result", sa.Text),
        sa.Column("problem", sa.Text),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("updated_at", sa.Text, nullable=False),
        sa.Column("ended_at", sa.Text),
        sqlite_with_rowid=False,
        sqlite_strict=True,
    )
    op.create_index("jobs_state", "jobs", ["state"])
    op.create_table(
        "job_items",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("job_id", sa.Text, primary_key=True),
        sa.Column("number", NUMBER, primary_key=True, autoincrement=False),
        sa.Column("entry", NUMBER),
        sa.Column("outcome", sa.Text),
        sqlite_with_rowid=False,
        sqlite_strict=True,
    )
    op.create_table(
        "job_events",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("job_id", sa.Text, primary_key=True),
        sa.Column("number", NUMBER, primary_key=True, autoincrement=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("done", NUMBER, nullable=False),
        sa.Column("total", NUMBER, nullable=False),
        sqlite_with_rowid=False,
        sqlite_strict=True,
    )
    op.create_table(
        "job_runners",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("renewed", NUMBER, nullable=False),
        sqlite_with_rowid=False,
        sqlite_strict=True,
    )


def downgrade() -> None:
    raise NotImplementedError("evidence is never taken down: keep the database, and start another")

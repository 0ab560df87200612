"""How far OpenFGA follows the trail, and what is on its way there.

None of it is evidence, and none of it permits anything: a row says that someone or something is to
be looked at, and what OpenFGA is told then is what the trail proves.
"""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


NUMBER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")


def upgrade() -> None:
    op.create_table(
        "openfga_followed",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("store", sa.Text, primary_key=True),
        sa.Column("entries", NUMBER, nullable=False),
        sa.Column("holder", sa.Text, nullable=False),
        sa.Column("until", sa.Text, nullable=False),
        sqlite_with_rowid=False,
        sqlite_strict=True,
    )
    op.create_table(
        "openfga_outbox",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("store", sa.Text, primary_key=True),
        sa.Column("subject", sa.Text, primary_key=True),
        sa.Column("entry", NUMBER, nullable=False),
        sa.Column("tries", NUMBER, nullable=False),
        sa.Column("next_at", sa.Text, nullable=False),
        sa.Column("problem", sa.Text),
        sqlite_with_rowid=False,
        sqlite_strict=True,
    )
    op.create_index("openfga_outbox_next", "openfga_outbox", ["tenant", "store", "next_at"])


def downgrade() -> None:
    raise NotImplementedError("evidence is never taken down: keep the database, and start another")

"""No index of each document's words: the library is searched by one on disk, beside the database.

What the table held followed from the chunks.
"""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_table("document_indexes")


def downgrade() -> None:
    raise NotImplementedError("evidence is never taken down: keep the database, and start another")

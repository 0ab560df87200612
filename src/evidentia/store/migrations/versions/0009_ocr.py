"""How sure the reading of a passage is that was read by OCR; others have no such number."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

REAL: sa.types.TypeEngine[float] = sa.REAL().with_variant(sa.Double(), "postgresql")


def upgrade() -> None:
    op.add_column("document_chunks", sa.Column("ocr", REAL))


def downgrade() -> None:
    raise NotImplementedError("evidence is never taken down: keep the database, and start another")

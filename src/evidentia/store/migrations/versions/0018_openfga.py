"""Relationships on their way to OpenFGA."""

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass


def downgrade() -> None:
    raise NotImplementedError("evidence is never taken down: keep the database, and start another")

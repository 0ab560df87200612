"""Records that wait for their number, and the receipts of those that have one."""

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass


def downgrade() -> None:
    raise NotImplementedError("evidence is never taken down: keep the database, and start another")

"""Where packs and their attachments lie in object storage: key and version."""

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass


def downgrade() -> None:
    raise NotImplementedError("evidence is never taken down: keep the database, and start another")

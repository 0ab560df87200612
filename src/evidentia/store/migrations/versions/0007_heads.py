"""A head counts the checkpoints of what is appended as it moves, not in a change of its own.

The row holds the tree's right edge, and is written whole by each change.
"""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

# A head moves to more entries, which up to two keys sign: the log's, and the one it takes over
# from.
FORWARD = (
    "NEW.tenant = OLD.tenant AND NEW.origin = OLD.origin AND NEW.size > OLD.size "
    "AND NEW.checkpoints BETWEEN OLD.checkpoints AND OLD.checkpoints + 2"
)


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TRIGGER trail_heads_update")
        op.execute(
            f"CREATE TRIGGER trail_heads_update BEFORE UPDATE ON trail_heads WHEN NOT ({FORWARD}) "
            "BEGIN SELECT RAISE(ABORT, 'trail_heads is append-only: no update'); END"
        )
        return
    # Guards look at the real tables: without this, a temporary one of the same name comes first.
    op.execute(
        "SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true)"
    )
    op.execute(
        "CREATE OR REPLACE FUNCTION trail_refuse_backward() RETURNS trigger LANGUAGE plpgsql "
        "SET search_path FROM CURRENT AS $$ BEGIN "
        f"IF NOT ({FORWARD}) THEN "
        "RAISE EXCEPTION '% is append-only: no %', TG_TABLE_NAME, lower(TG_OP); END IF; "
        "RETURN COALESCE(NEW, OLD); END $$"
    )


def downgrade() -> None:
    raise NotImplementedError("a trail is never taken down: keep the database, and start another")

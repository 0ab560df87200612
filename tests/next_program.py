"""A made-up next version of the program: two more revisions, and a column that it always writes.

The first revision is an expansion, which this program goes on working with; the second takes that
away. `become` makes a process the next program, or a process the one after the expansion alone.
"""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from evidentia.store import listing, schema
from evidentia.store.database import Database, Insert
from evidentia.store.sql import log

EXPANDED, CONTRACTED = (f"{int(schema.HEAD) + more:04d}" for more in (1, 2))
NAME = "next"
_HEAD = '''"""{title}."""

import sqlalchemy as sa
from alembic import op

revision = "{revision}"
down_revision = "{before}"
branch_labels = None
depends_on = None
phase = "{phase}"
serves = "{serves}"

'''
_EXPANSION = """
def upgrade():
    op.add_column("trail_checkpoints", sa.Column("program", sa.Text))
    op.create_index("trail_checkpoints_program", "trail_checkpoints", ["tenant", "program"])
    op.create_table(
        "trail_programs",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("program", sa.Text, primary_key=True),
        sqlite_with_rowid=False,
        sqlite_strict=True,
    )
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            "CREATE TRIGGER trail_checkpoints_named BEFORE INSERT ON trail_checkpoints "
            "WHEN NEW.program = '' BEGIN SELECT RAISE(ABORT, 'no name'); END"
        )
        return
    op.execute(
        "CREATE FUNCTION trail_refuse_unnamed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF NEW.program = '' THEN RAISE EXCEPTION 'no name'; END IF; RETURN NEW; END $$"
    )
    op.execute(
        "CREATE TRIGGER trail_checkpoints_named BEFORE INSERT ON trail_checkpoints "
        "FOR EACH ROW EXECUTE FUNCTION trail_refuse_unnamed()"
    )
"""
_CONTRACTION = """
def upgrade():
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            "CREATE TRIGGER trail_checkpoints_program_there BEFORE INSERT ON trail_checkpoints "
            "WHEN NEW.program IS NULL BEGIN SELECT RAISE(ABORT, 'which program?'); END"
        )
        return
    op.execute(
        "ALTER TABLE trail_checkpoints ADD CONSTRAINT trail_checkpoints_program_there "
        "CHECK (program IS NOT NULL) NOT VALID"
    )
"""


def _insert(table: str, columns: Mapping[str, str], rows: Sequence[tuple[Any, ...]]) -> Insert:
    """Insert as the next program does: it names itself in what it signed."""
    if table != "trail_checkpoints":
        return Insert(table, columns, rows)
    return Insert(table, {**columns, "program": "text"}, [(*row, NAME) for row in rows])


class NextProgram:
    """The next version's migrations and listings, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "migrations"
        ours = schema._migrations()
        shutil.copytree(ours, self.folder, ignore=shutil.ignore_patterns("__pycache__"))
        self._write(EXPANDED, schema.HEAD, "expansion", schema.HEAD, _EXPANSION)
        self._write(CONTRACTED, EXPANDED, "contraction", EXPANDED, _CONTRACTION)

    def list_schema(self, head: str, database: Database) -> None:
        """Write the listing at a revision, from a database that is closed then."""
        dialect = database.engine.dialect.name
        with self.become(head):
            schema.upgrade(database)
            lines = database.ask(listing.describe)
        database.close()
        name = dialect if head == CONTRACTED else f"{dialect}-{head}"
        (self.folder / f"{name}.schema").write_text("\n".join(lines) + "\n")

    @contextmanager
    def become(self, head: str = CONTRACTED) -> Iterator[None]:
        """Be the next program, or with `EXPANDED` one that comes between the two."""
        with (
            patch.object(schema, "HEAD", head),
            patch.object(schema, "_SQLITE_HEAD", head),
            patch.object(schema, "OLDEST", EXPANDED),
            patch.object(schema, "_migrations", lambda: self.folder),
            patch.object(schema, "listing_of", self._listing_of if head == EXPANDED else _same),
            patch.object(log, "Insert", _insert),
        ):
            yield

    def _listing_of(self, dialect: str, _revision: str | None = None) -> Path:
        return self.folder / f"{dialect}-{EXPANDED}.schema"

    def _write(self, revision: str, before: str, phase: str, serves: str, work: str) -> None:
        said: dict[str, Any] = {"revision": revision, "before": before, "serves": serves}
        head = _HEAD.format(title=f"A made-up {phase}", phase=phase, **said)
        (self.folder / "versions" / f"{revision}_made_up.py").write_text(head + work)


_same = schema.listing_of

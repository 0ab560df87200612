"""The tables as they are now. Migrations make them; a test compares the two.

`trail_bodies` is the only table from which anything is ever removed, and only by an erasure.
"""

from sqlalchemy import BigInteger, Column, Index, Integer, LargeBinary, MetaData, Table, Text

metadata = MetaData()

# SQLite's strict tables know INTEGER, TEXT and BLOB; PostgreSQL's INTEGER would end at 2^31.
_Number = Integer().with_variant(BigInteger(), "postgresql")


def _table(name: str, *columns: Column[object], indexes: tuple[Index, ...] = ()) -> Table:
    return Table(name, metadata, *columns, *indexes, sqlite_with_rowid=False, sqlite_strict=True)


trail_entries = _table(
    "trail_entries",
    Column("tenant", Text, primary_key=True),
    Column("seq", _Number, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("entry", LargeBinary, nullable=False),
    indexes=(
        Index("trail_entries_subject", "tenant", "subject", "seq"),
        Index("trail_entries_kind", "tenant", "kind", "seq"),
    ),
)

trail_bodies = _table(
    "trail_bodies",
    Column("tenant", Text, primary_key=True),
    Column("seq", _Number, primary_key=True, autoincrement=False),
    Column("salt", LargeBinary, nullable=False),
    Column("body", LargeBinary, nullable=False),
)

trail_tiles = _table(
    "trail_tiles",
    Column("tenant", Text, primary_key=True),
    Column("level", Integer, primary_key=True, autoincrement=False),
    Column("tile", _Number, primary_key=True, autoincrement=False),
    Column("data", LargeBinary, nullable=False),
)

trail_heads = _table(
    "trail_heads",
    Column("tenant", Text, primary_key=True),
    Column("origin", Text, nullable=False),
    Column("size", _Number, nullable=False),
    Column("root", LargeBinary, nullable=False),
    Column("edge", LargeBinary, nullable=False),
    Column("checkpoints", _Number, nullable=False, server_default="0"),
)

trail_checkpoints = _table(
    "trail_checkpoints",
    Column("tenant", Text, primary_key=True),
    Column("size", _Number, primary_key=True, autoincrement=False),
    Column("key_id", Text, primary_key=True),
    Column("note", Text, nullable=False),
)

trail_keys = _table(
    "trail_keys",
    Column("tenant", Text, primary_key=True),
    Column("seq", _Number, primary_key=True, autoincrement=False),
    Column("key_id", Text, nullable=False),
    Column("public_key", LargeBinary, nullable=False),
)

trail_idempotency = _table(
    "trail_idempotency",
    Column("tenant", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("seq", _Number, nullable=False),
)

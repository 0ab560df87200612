"""Columns of values, as PostgreSQL takes each of them at once: as one array, in binary.

The driver takes any list, and looks at every value of it three times for what it is. Here all are
of one kind, which is known.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, repeat
from struct import Struct, pack
from typing import Any, Final

_HEAD: Final = Struct(">iiIii")
_LENGTH: Final = Struct(">i").pack
_OIDS: Final = {
    "text": (25, 1009),
    "bytea": (17, 1001),
    "integer": (23, 1007),
    "bigint": (20, 1016),
}
"""PostgreSQL's numbers of the kinds, and of their arrays: they are the same in every database."""
_INTEGERS: Final = {"integer": ("i", 4), "bigint": ("q", 8)}


@dataclass(frozen=True, slots=True)
class Column:
    """Values of one kind, by PostgreSQL's name of it, packed as an array of them."""

    kind: str
    data: bytes


def column(kind: str, values: Sequence[Any]) -> Column:
    """Pack values of a kind, none of which is None."""
    head = _HEAD.pack(1, 0, _OIDS[kind][0], len(values), 1)
    if kind in _INTEGERS:
        letter, size = _INTEGERS[kind]
        sized = chain.from_iterable(zip(repeat(size), values, strict=False))
        return Column(kind, head + pack(f">{f'i{letter}' * len(values)}", *sized))
    found = [value.encode() for value in values] if kind == "text" else values
    lengths = map(_LENGTH, map(len, found))
    return Column(kind, head + b"".join(chain.from_iterable(zip(lengths, found, strict=True))))


@cache
def column_dumper() -> type:
    """Return what hands columns to PostgreSQL's driver."""
    from psycopg.adapt import Dumper  # noqa: PLC0415 - not all have the driver
    from psycopg.pq import Format  # noqa: PLC0415 - the same

    class ColumnDumper(Dumper):
        format = Format.BINARY

        def get_key(self, obj: Column, format: Any) -> Any:  # noqa: A002, ARG002 - the driver names it so
            return self.cls, obj.kind

        def upgrade(self, obj: Column, format: Any) -> Any:  # noqa: A002, ARG002 - the same
            dumper = type(self)(self.cls)
            dumper.oid = _OIDS[obj.kind][1]
            return dumper

        def dump(self, obj: Column) -> bytes:
            return obj.data

    return ColumnDumper

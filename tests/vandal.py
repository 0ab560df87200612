"""Someone with the database in their hands: changes what the guards protect, and hides the traces.

Each change is a function that takes a `Vandal` and returns the trace it leaves. Guards are out of
the way while a change is made, and back in place afterwards, so that it is the data that gives the
change away.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from pysqlite3 import dbapi2 as sqlite
from sqlalchemy import make_url

from evidentia.canonical import canonical_json
from evidentia.trail.entry import EntryKind

TENANT = "default"
OTHER_TENANT = "other"

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Trace:
    """What an audit has to say: one of these names, and the first entry that is wrong."""

    names: frozenset[str]
    first: int | None = None


Change = Callable[["Vandal"], Trace]


class Vandal:
    """A raw connection without guards, and a seeded source of ideas."""

    def __init__(self, connection: Any, seed: str, *, is_sqlite: bool) -> None:
        self._connection = connection
        self.is_sqlite = is_sqlite
        self.random = random.Random(seed)
        (self.size,) = self.one("SELECT size FROM trail_heads WHERE tenant = ?", TENANT)

    def all(self, sql: str, *values: Any) -> list[Row]:
        cursor = self._connection.cursor()
        cursor.execute(sql if self.is_sqlite else sql.replace("?", "%s"), values)
        rows: list[Row] = cursor.fetchall()
        return rows

    def one(self, sql: str, *values: Any) -> Row:
        (row,) = self.all(sql, *values)
        return row

    def change(self, sql: str, *values: Any, rows: int | None = 1) -> None:
        """Run a statement that must change just as many rows."""
        cursor = self._connection.cursor()
        cursor.execute(sql if self.is_sqlite else sql.replace("?", "%s"), values)
        assert rows is None or cursor.rowcount == rows, f"{cursor.rowcount} rows: {sql} {values}"

    def entry(self, *, with_body: bool = False) -> int:
        """Choose an entry's number."""
        while True:
            seq = self.random.randrange(self.size)
            if not with_body or seq not in self.erased():
                return seq

    def two_entries(self) -> tuple[int, int]:
        first = self.entry(with_body=True)
        second = self.entry(with_body=True)
        return (first, second) if first != second else self.two_entries()

    def erased(self) -> list[int]:
        sql = "SELECT subject FROM trail_entries WHERE tenant = ? AND kind = 'erasure'"
        return [int(subject.removeprefix("entry/")) for (subject,) in self.all(sql, TENANT)]

    def row(self, sql: str, *values: Any) -> Row:
        """Choose one of a query's rows."""
        return self.random.choice(self.all(f"{sql} ORDER BY 1, 2, 3", *values))

    def flipped(self, data: bytes) -> bytes:
        """Flip one bit."""
        changed = bytearray(data)
        at = self.random.randrange(len(changed) * 8)
        changed[at // 8] ^= 1 << at % 8
        return bytes(changed)

    def spoiled(self, data: bytes) -> bytes:
        """Change bytes in one of several ways: a bit, a byte, the end, all of it."""
        others = self.random.randbytes(len(data))
        spot = self.random.randrange(len(data))
        changed = self.random.choice(
            [
                self.flipped(data),
                data[:spot] + bytes([data[spot] ^ 0xFF]) + data[spot + 1 :],
                data[:-1],
                data + b"\x00",
                data + data,
                others,
                b"",
            ]
        )
        return changed if changed != data else self.flipped(data)

    def respelled(self, text: str) -> str:
        """Change text, and keep it text."""
        at = self.random.randrange(len(text))
        letter = self.random.choice([c for c in "abXY01.-é漢 \n" if c != text[at]])
        return self.random.choice(
            [text[:at] + letter + text[at + 1 :], text + letter, letter + text]
        )


@contextmanager
def vandal_at(place: Path | str, seed: str) -> Iterator[Vandal]:
    """Give a vandal at a database file or at a server's URL; the guards come back at the end."""
    if isinstance(place, Path):
        connection = sqlite.connect(str(place), isolation_level=None)
        sql = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        guards = connection.execute(sql).fetchall()
        for name, _ in guards:
            connection.execute(f"DROP TRIGGER {name}")
        yield Vandal(connection, seed, is_sqlite=True)
        for _, text in guards:
            connection.execute(text)
        connection.close()
    else:
        url = make_url(place)
        host, name = str(url.query["host"]), url.database
        with psycopg.connect(host=host, dbname=name, user="postgres", autocommit=True) as server:
            server.execute("SET session_replication_role = replica")
            yield Vandal(server, seed, is_sqlite=False)


_ENTRY = "WHERE tenant = 'default' AND seq = ?"
_OUT_OF_THE_WAY = -(10**6)


def _entry(seq: int) -> Trace:
    return Trace(frozenset({f"entry {seq}"}), seq)


def _consistent_entry(seq: int) -> Trace:
    """Return the trace of an entry that is well-formed, and yet not the one that was hashed."""
    return Trace(
        frozenset({f"entry {seq}", f"tile 0/{seq // 256}", f"entry {seq + 1}", "head"}), seq
    )


def _thing(name: str) -> Trace:
    return Trace(frozenset({name}))


# Entries


def entry_bytes_flipped(vandal: Vandal) -> Trace:
    seq = vandal.entry()
    (data,) = vandal.one(f"SELECT entry FROM trail_entries {_ENTRY}", seq)
    vandal.change(f"UPDATE trail_entries SET entry = ? {_ENTRY}", vandal.flipped(data), seq)
    return _consistent_entry(seq)


def entry_bytes_spoiled(vandal: Vandal) -> Trace:
    seq = vandal.entry()
    (data,) = vandal.one(f"SELECT entry FROM trail_entries {_ENTRY}", seq)
    vandal.change(f"UPDATE trail_entries SET entry = ? {_ENTRY}", vandal.spoiled(data), seq)
    return _consistent_entry(seq)


def entry_bytes_of_another(vandal: Vandal) -> Trace:
    seq, other = vandal.two_entries()
    (data,) = vandal.one(f"SELECT entry FROM trail_entries {_ENTRY}", other)
    vandal.change(f"UPDATE trail_entries SET entry = ? {_ENTRY}", data, seq)
    return _entry(seq)


def entry_time_rewritten(vandal: Vandal) -> Trace:
    seq = vandal.entry()
    (data,) = vandal.one(f"SELECT entry FROM trail_entries {_ENTRY}", seq)
    data = bytes(data)
    year = b"%04d" % vandal.random.choice(
        [y for y in range(1990, 2100) if b"%04d" % y != data[7:11]]
    )
    vandal.change(f"UPDATE trail_entries SET entry = ? {_ENTRY}", data[:7] + year + data[11:], seq)
    return _consistent_entry(seq)


def kind_column_changed(vandal: Vandal) -> Trace:
    seq = vandal.entry()
    (kind,) = vandal.one(f"SELECT kind FROM trail_entries {_ENTRY}", seq)
    others = [other.value for other in EntryKind if other.value != kind]
    changed = vandal.random.choice([*others, vandal.respelled(kind), ""])
    vandal.change(f"UPDATE trail_entries SET kind = ? {_ENTRY}", changed, seq)
    return _entry(seq)


def subject_column_changed(vandal: Vandal) -> Trace:
    seq = vandal.entry()
    (subject,) = vandal.one(f"SELECT subject FROM trail_entries {_ENTRY}", seq)
    vandal.change(f"UPDATE trail_entries SET subject = ? {_ENTRY}", vandal.respelled(subject), seq)
    return _entry(seq)


def text_column_no_longer_text(vandal: Vandal) -> Trace:
    seq = vandal.entry()
    column = vandal.random.choice(["kind", "subject"])
    spoiled = vandal.random.choice([b"\xff", b"abc\x80", b"\xed\xa0\x80", b"\xc0\xaf"])
    vandal.change(f"UPDATE trail_entries SET {column} = CAST(? AS TEXT) {_ENTRY}", spoiled, seq)
    return _entry(seq)


def entry_moved_to_another_number(vandal: Vandal) -> Trace:
    seq = vandal.entry()
    number = vandal.random.choice([-1, vandal.size, vandal.size + 7, 2**62, -(2**63)])
    vandal.change(f"UPDATE trail_entries SET seq = ? {_ENTRY}", number, seq)
    return _entry(seq)


def entry_moved_to_another_tenant(vandal: Vandal) -> Trace:
    seq = vandal.entry()
    tenant = vandal.random.choice(["nobody", ""])
    vandal.change(f"UPDATE trail_entries SET tenant = ? {_ENTRY}", tenant, seq)
    return _thing("table trail_entries")


def entry_deleted(vandal: Vandal) -> Trace:
    seq = vandal.entry()
    vandal.change(f"DELETE FROM trail_entries {_ENTRY}", seq)
    return _entry(seq)


def entry_and_body_deleted(vandal: Vandal) -> Trace:
    seq = vandal.entry(with_body=True)
    vandal.change(f"DELETE FROM trail_entries {_ENTRY}", seq)
    vandal.change(f"DELETE FROM trail_bodies {_ENTRY}", seq)
    return _entry(seq)


def last_entries_deleted(vandal: Vandal) -> Trace:
    kept = vandal.size - vandal.random.randint(1, 300)
    for table in ("trail_entries", "trail_bodies"):
        vandal.change(f"DELETE FROM {table} WHERE tenant = ? AND seq >= ?", TENANT, kept, rows=None)
    return _thing("head")


def later_entries_moved_up_over_a_deleted_one(vandal: Vandal) -> Trace:
    seq = vandal.random.randrange(vandal.size - 20, vandal.size - 1)
    for table in ("trail_entries", "trail_bodies"):
        vandal.change(f"DELETE FROM {table} {_ENTRY}", seq, rows=None)
        for later in range(seq + 1, vandal.size):
            sql = f"UPDATE {table} SET seq = ? {_ENTRY}"
            vandal.change(sql, later - 1, later, rows=None)
    return _entry(seq)


def entry_added(vandal: Vandal) -> Trace:
    seq = vandal.entry()
    number = vandal.size + vandal.random.randrange(3)
    vandal.change(
        "INSERT INTO trail_entries (tenant, seq, kind, subject, entry) "
        f"SELECT tenant, CAST(? AS BIGINT), kind, subject, entry FROM trail_entries {_ENTRY}",
        number,
        seq,
    )
    return _entry(number)


def entry_added_in_another_place(vandal: Vandal) -> Trace:
    tenant = vandal.random.choice(["nobody", "default2"])
    vandal.change(
        "INSERT INTO trail_entries (tenant, seq, kind, subject, entry) "
        f"SELECT CAST(? AS TEXT), seq, kind, subject, entry FROM trail_entries {_ENTRY}",
        tenant,
        vandal.entry(),
    )
    return _thing("table trail_entries")


def two_entries_swapped(vandal: Vandal) -> Trace:
    first, second = vandal.two_entries()
    for old, new in ((first, _OUT_OF_THE_WAY), (second, first), (_OUT_OF_THE_WAY, second)):
        vandal.change(f"UPDATE trail_entries SET seq = ? {_ENTRY}", new, old)
    return _entry(min(first, second))


def two_neighbours_swapped_with_their_bodies(vandal: Vandal) -> Trace:
    first = vandal.random.randrange(15)
    for table in ("trail_entries", "trail_bodies"):
        for old, new in (
            (first, _OUT_OF_THE_WAY),
            (first + 1, first),
            (_OUT_OF_THE_WAY, first + 1),
        ):
            vandal.change(f"UPDATE {table} SET seq = ? {_ENTRY}", new, old)
    return _entry(first)


# Bodies


def body_flipped(vandal: Vandal) -> Trace:
    seq = vandal.entry(with_body=True)
    (data,) = vandal.one(f"SELECT body FROM trail_bodies {_ENTRY}", seq)
    vandal.change(f"UPDATE trail_bodies SET body = ? {_ENTRY}", vandal.flipped(data), seq)
    return _entry(seq)


def body_spoiled(vandal: Vandal) -> Trace:
    seq = vandal.entry(with_body=True)
    (data,) = vandal.one(f"SELECT body FROM trail_bodies {_ENTRY}", seq)
    vandal.change(f"UPDATE trail_bodies SET body = ? {_ENTRY}", vandal.spoiled(data), seq)
    return _entry(seq)


def body_rewritten_as_good_json(vandal: Vandal) -> Trace:
    seq = vandal.entry(with_body=True)
    body = canonical_json({"verification_result": "CONFIRMED", "n": vandal.random.random()})
    vandal.change(f"UPDATE trail_bodies SET body = ? {_ENTRY}", body, seq)
    return _entry(seq)


def salt_spoiled(vandal: Vandal) -> Trace:
    seq = vandal.entry(with_body=True)
    (salt,) = vandal.one(f"SELECT salt FROM trail_bodies {_ENTRY}", seq)
    vandal.change(f"UPDATE trail_bodies SET salt = ? {_ENTRY}", vandal.spoiled(salt), seq)
    return _entry(seq)


def border_between_salt_and_body_moved(vandal: Vandal) -> Trace:
    seq = vandal.entry(with_body=True)
    salt, body = vandal.one(f"SELECT salt, body FROM trail_bodies {_ENTRY}", seq)
    both, at = bytes(salt) + bytes(body), vandal.random.choice([0, 1, 31, 33, 34, 40])
    vandal.change(f"UPDATE trail_bodies SET salt = ?, body = ? {_ENTRY}", both[:at], both[at:], seq)
    return _entry(seq)


def two_bodies_swapped(vandal: Vandal) -> Trace:
    first, second = vandal.two_entries()
    for old, new in ((first, _OUT_OF_THE_WAY), (second, first), (_OUT_OF_THE_WAY, second)):
        vandal.change(f"UPDATE trail_bodies SET seq = ? {_ENTRY}", new, old)
    return _entry(min(first, second))


def body_deleted(vandal: Vandal) -> Trace:
    seq = vandal.entry(with_body=True)
    vandal.change(f"DELETE FROM trail_bodies {_ENTRY}", seq)
    return _entry(seq)


def body_moved_to_another_number(vandal: Vandal) -> Trace:
    seq = vandal.entry(with_body=True)
    number = vandal.random.choice([-1, vandal.size, vandal.size + 9, 2**62])
    vandal.change(f"UPDATE trail_bodies SET seq = ? {_ENTRY}", number, seq)
    return _thing(f"body {number}")


def erased_body_put_back(vandal: Vandal) -> Trace:
    erased = vandal.random.choice(vandal.erased())
    vandal.change(
        "INSERT INTO trail_bodies (tenant, seq, salt, body) "
        f"SELECT tenant, CAST(? AS BIGINT), salt, body FROM trail_bodies {_ENTRY}",
        erased,
        vandal.entry(with_body=True),
    )
    return _entry(erased)


def body_added(vandal: Vandal) -> Trace:
    number = vandal.size + vandal.random.randrange(5)
    vandal.change(
        "INSERT INTO trail_bodies (tenant, seq, salt, body) "
        f"SELECT tenant, CAST(? AS BIGINT), salt, body FROM trail_bodies {_ENTRY}",
        number,
        vandal.entry(with_body=True),
    )
    return _thing(f"body {number}")


# Tiles

_TILES = "SELECT level, tile, data FROM trail_tiles WHERE tenant = 'default'"
_TILE = "WHERE tenant = 'default' AND level = ? AND tile = ?"


def tile_flipped(vandal: Vandal) -> Trace:
    level, index, data = vandal.row(_TILES)
    vandal.change(f"UPDATE trail_tiles SET data = ? {_TILE}", vandal.flipped(data), level, index)
    return _thing(f"tile {level}/{index}")


def tile_spoiled(vandal: Vandal) -> Trace:
    level, index, data = vandal.row(_TILES)
    vandal.change(f"UPDATE trail_tiles SET data = ? {_TILE}", vandal.spoiled(data), level, index)
    return _thing(f"tile {level}/{index}")


def tile_moved(vandal: Vandal) -> Trace:
    level, index, _ = vandal.row(_TILES)
    to_level, to_index = vandal.random.choice(
        [(level + 1, index + 9), (level, 10**6), (level, -1), (-1, index), (9, index), (2**30, 3)]
    )
    sql = f"UPDATE trail_tiles SET level = ?, tile = ? {_TILE}"
    vandal.change(sql, to_level, to_index, level, index)
    return _thing(f"tile {level}/{index}")


def tile_deleted(vandal: Vandal) -> Trace:
    level, index, _ = vandal.row(_TILES)
    vandal.change(f"DELETE FROM trail_tiles {_TILE}", level, index)
    return _thing(f"tile {level}/{index}")


def tile_added(vandal: Vandal) -> Trace:
    _, _, data = vandal.row(_TILES)
    level, index = vandal.random.choice(
        [(0, 10**6), (0, -1), (1, 9), (2, 0), (3, 5), (7, 0), (8, 0), (-3, 1), (2**31 - 1, 0)]
    )
    sql = "INSERT INTO trail_tiles (tenant, level, tile, data) VALUES (?, ?, ?, ?)"
    vandal.change(sql, TENANT, level, index, data)
    return _thing(f"tile {level}/{index}")


def two_tiles_swapped(vandal: Vandal) -> Trace:
    rows = sorted(vandal.all(_TILES))
    (level, first, data), (_, second, other) = rows[0], rows[1]
    sql = f"UPDATE trail_tiles SET data = ? {_TILE}"
    vandal.change(sql, other, level, first)
    vandal.change(sql, data, level, second)
    return _thing(f"tile {level}/{first}")


# The head

_HEAD = "WHERE tenant = 'default'"


def head_size_changed(vandal: Vandal) -> Trace:
    size = vandal.random.choice(
        [vandal.size - 1, vandal.size + 1, 0, 1, 256, -1, -(2**40), 2**40, 2**62, 2**63 - 1]
    )
    vandal.change(f"UPDATE trail_heads SET size = ? {_HEAD}", size)
    return _thing("head")


def head_root_spoiled(vandal: Vandal) -> Trace:
    (root,) = vandal.one(f"SELECT root FROM trail_heads {_HEAD}")
    vandal.change(f"UPDATE trail_heads SET root = ? {_HEAD}", vandal.spoiled(root))
    return _thing("head")


def head_edge_spoiled(vandal: Vandal) -> Trace:
    (edge,) = vandal.one(f"SELECT edge FROM trail_heads {_HEAD}")
    vandal.change(f"UPDATE trail_heads SET edge = ? {_HEAD}", vandal.spoiled(edge))
    return _thing("head")


def head_origin_changed(vandal: Vandal) -> Trace:
    (origin,) = vandal.one(f"SELECT origin FROM trail_heads {_HEAD}")
    vandal.change(f"UPDATE trail_heads SET origin = ? {_HEAD}", vandal.respelled(origin))
    return _thing("head")


def head_count_of_checkpoints_changed(vandal: Vandal) -> Trace:
    change = vandal.random.choice([-1, 1, 5, 2**40])
    vandal.change(f"UPDATE trail_heads SET checkpoints = checkpoints + ? {_HEAD}", change)
    return _thing("checkpoints")


def head_deleted(vandal: Vandal) -> Trace:
    vandal.change(f"DELETE FROM trail_heads {_HEAD}")
    return _thing("head")


def head_moved_to_another_tenant(vandal: Vandal) -> Trace:
    vandal.change(f"UPDATE trail_heads SET tenant = ? {_HEAD}", vandal.respelled("default"))
    return _thing("head")


# Checkpoints

_CHECKPOINTS = "SELECT size, key_id, note FROM trail_checkpoints WHERE tenant = 'default'"
_CHECKPOINT = "WHERE tenant = 'default' AND size = ? AND key_id = ?"


def checkpoint_note_flipped(vandal: Vandal) -> Trace:
    size, key_id, note = vandal.row(_CHECKPOINTS)
    changed = vandal.flipped(note.encode())
    if vandal.is_sqlite:
        sql = f"UPDATE trail_checkpoints SET note = CAST(? AS TEXT) {_CHECKPOINT}"
        vandal.change(sql, changed, size, key_id)
    else:
        text = changed.decode(errors="replace").replace("\0", "0")
        vandal.change(f"UPDATE trail_checkpoints SET note = ? {_CHECKPOINT}", text, size, key_id)
    return _thing(f"checkpoint {size}")


def checkpoint_note_respelled(vandal: Vandal) -> Trace:
    size, key_id, note = vandal.row(_CHECKPOINTS)
    text = vandal.random.choice(
        [vandal.respelled(note), note[:-1], note.rpartition("\n\n")[0], "", note + note]
    )
    vandal.change(f"UPDATE trail_checkpoints SET note = ? {_CHECKPOINT}", text, size, key_id)
    return _thing(f"checkpoint {size}")


def checkpoint_given_another_signature_too(vandal: Vandal) -> Trace:
    size, key_id, note = vandal.row(_CHECKPOINTS)
    note += "— someone.example/else AAAAAAAA\n"
    vandal.change(f"UPDATE trail_checkpoints SET note = ? {_CHECKPOINT}", note, size, key_id)
    return _thing(f"checkpoint {size}")


def checkpoint_size_changed(vandal: Vandal) -> Trace:
    size, key_id, _ = vandal.row(_CHECKPOINTS)
    changed = vandal.random.choice([size + 5_000, 0, -1, 2**62])
    sql = f"UPDATE trail_checkpoints SET size = ? {_CHECKPOINT}"
    vandal.change(sql, changed, size, key_id)
    return _thing(f"checkpoint {changed}")


def checkpoint_key_changed(vandal: Vandal) -> Trace:
    size, key_id, _ = vandal.row(_CHECKPOINTS)
    changed = vandal.respelled(key_id)
    sql = f"UPDATE trail_checkpoints SET key_id = ? {_CHECKPOINT}"
    vandal.change(sql, changed, size, key_id)
    return _thing(f"checkpoint {size}")


def checkpoint_deleted(vandal: Vandal) -> Trace:
    size, key_id, _ = vandal.row(_CHECKPOINTS)
    vandal.change(f"DELETE FROM trail_checkpoints {_CHECKPOINT}", size, key_id)
    return _thing("checkpoints")


def checkpoint_added(vandal: Vandal) -> Trace:
    size, key_id, note = vandal.row(_CHECKPOINTS)
    number = vandal.random.choice([size + 1_000, 0, -5])
    sql = "INSERT INTO trail_checkpoints (tenant, size, key_id, note) VALUES (?, ?, ?, ?)"
    vandal.change(sql, TENANT, number, key_id, note)
    return _thing(f"checkpoint {number}")


def two_checkpoints_swapped(vandal: Vandal) -> Trace:
    rows = sorted(vandal.all(_CHECKPOINTS))
    (size, key_id, note), (other_size, other_key, other_note) = vandal.random.sample(rows, 2)
    sql = f"UPDATE trail_checkpoints SET note = ? {_CHECKPOINT}"
    vandal.change(sql, other_note, size, key_id)
    vandal.change(sql, note, other_size, other_key)
    return _thing(f"checkpoint {size}")


# Keys

_KEYS = "SELECT seq, key_id, public_key FROM trail_keys WHERE tenant = 'default'"
_KEY = "WHERE tenant = 'default' AND seq = ?"


def public_key_spoiled(vandal: Vandal) -> Trace:
    seq, key_id, public = vandal.row(_KEYS)
    vandal.change(f"UPDATE trail_keys SET public_key = ? {_KEY}", vandal.spoiled(public), seq)
    return _thing(f"key {key_id}")


def key_id_changed(vandal: Vandal) -> Trace:
    seq, key_id, _ = vandal.row(_KEYS)
    vandal.change(f"UPDATE trail_keys SET key_id = ? {_KEY}", vandal.respelled(key_id), seq)
    return _thing(f"key {key_id}")


def key_moved_to_another_entry(vandal: Vandal) -> Trace:
    seq, key_id, _ = vandal.row(_KEYS)
    number = vandal.random.choice([seq + 1, -1, vandal.size + 3])
    vandal.change(f"UPDATE trail_keys SET seq = ? {_KEY}", number, seq)
    return _thing(f"key {key_id}")


def key_deleted(vandal: Vandal) -> Trace:
    seq, key_id, _ = vandal.row(_KEYS)
    vandal.change(f"DELETE FROM trail_keys {_KEY}", seq)
    return _thing(f"key {key_id}")


def key_added(vandal: Vandal) -> Trace:
    key_id = vandal.random.randbytes(4).hex()
    sql = "INSERT INTO trail_keys (tenant, seq, key_id, public_key) VALUES (?, ?, ?, ?)"
    vandal.change(sql, TENANT, 3, key_id, vandal.random.randbytes(32))
    return _thing(f"key {key_id}")


def two_keys_swapped(vandal: Vandal) -> Trace:
    rows = sorted(vandal.all(_KEYS))
    (seq, key_id, public), (other_seq, other_id, other_public) = vandal.random.sample(rows, 2)
    sql = f"UPDATE trail_keys SET key_id = ?, public_key = ? {_KEY}"
    vandal.change(sql, other_id, other_public, seq)
    vandal.change(sql, key_id, public, other_seq)
    return _thing(f"key {key_id}")


# Rows of no log


def rows_of_a_tenant_without_a_log(vandal: Vandal) -> Trace:
    table, columns = vandal.random.choice(
        [
            ("trail_bodies", "seq, salt, body"),
            ("trail_tiles", "level, tile, data"),
            ("trail_checkpoints", "size, key_id, note"),
            ("trail_keys", "seq, key_id, public_key"),
            ("trail_idempotency", "key, seq"),
        ]
    )
    tenant = vandal.random.choice(["", "a", "nobody", "zzz"])
    sql = f"INSERT INTO {table} (tenant, {columns}) SELECT CAST(? AS TEXT), {columns} FROM {table}"
    vandal.change(f"{sql} WHERE tenant = 'default'", tenant, rows=None)
    return _thing(f"table {table}")


def idempotency_key_of_no_entry(vandal: Vandal) -> Trace:
    number = vandal.size + vandal.random.randrange(4)
    sql = "INSERT INTO trail_idempotency (tenant, key, seq) VALUES (?, ?, ?)"
    vandal.change(sql, TENANT, "invented", number)
    return _thing(f"idempotency key of entry {number}")


_ONLY_ON_SQLITE = (text_column_no_longer_text,)

CHANGES: dict[str, Change] = {
    name.replace("_", " "): value
    for name, value in list(globals().items())
    if callable(value)
    and getattr(value, "__annotations__", {}).get("return") is Trace
    and not name.startswith("_")
    and name != "apply"
}
CHANGES_ON_THE_SERVER = {
    name: change for name, change in CHANGES.items() if change not in _ONLY_ON_SQLITE
}


def apply(change: Change, place: Path | str, seed: str) -> Trace:
    """Make one change; return the trace it leaves."""
    with vandal_at(place, seed) as vandal:
        return change(vandal)


def evidence(path: Path) -> dict[str, Sequence[Row]]:
    """Return all rows of a database file that a proof rests on: all but idempotency keys."""
    connection = sqlite.connect(str(path))
    tables = [
        f"trail_{name}" for name in ("entries", "bodies", "tiles", "heads", "checkpoints", "keys")
    ]
    found = {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in tables}
    connection.close()
    return found

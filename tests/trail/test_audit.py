import random
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from typing import Any

import pytest

from evidentia.trail.audit import (
    MAX_FINDINGS,
    Finding,
    LogAudit,
    PastRoots,
    RangeAudit,
    audit_range,
    audit_upper_tiles,
    join_ranges,
)
from evidentia.trail.entry import Entry, EntryKind, StoredEntry, body_commitment, genesis_prev
from evidentia.trail.merkle import leaf_hash, root_hash
from evidentia.trail.tiles import Frontier, Tile, subtree_rows

ORIGIN = "evidentia/0123abcd/acme"
AT = "2026-01-31T09:30:00.000000Z"
GENESIS = genesis_prev(ORIGIN)


class StoredLog:
    """A log as it is stored: entry rows, full tiles of level 0, and the right edge."""

    def __init__(self, size: int, special: dict[int, tuple[str, str]] | None = None) -> None:
        self.rows: list[StoredEntry] = []
        self.leaves: list[bytes] = []
        for seq in range(size):
            kind, subject = (special or {}).get(seq, ("evidence_record", f"ob-{seq}"))
            prev = self.leaves[-1].hex() if self.leaves else GENESIS
            self.add(seq, prev, kind, subject)
        self.frontier = Frontier()
        self.tiles = [tile for tile in self.frontier.extend(self.leaves) if tile.level == 0]

    def add(self, seq: int, prev: str, kind: str, subject: str) -> None:
        salt, body = sha256(b"%d" % seq).digest(), b'{"number":%d}' % seq
        entry = Entry("acme", seq, prev, kind, subject, AT, body_commitment(salt, body))
        self.rows.append((seq, kind, subject, entry.encode(), salt, body))
        self.leaves.append(leaf_hash(entry.encode()))

    def audit(self, *cuts: int) -> LogAudit:
        """Check the log in ranges that meet at the cuts, and join them."""
        size = len(self.leaves)
        return join_ranges(GENESIS, [self.audit_range(*span) for span in spans(size, cuts)])

    def audit_range(self, start: int, end: int) -> RangeAudit:
        rows = [row for row in self.rows if start <= row[0] < end]
        tiles = [tile for tile in self.tiles if start // 256 <= tile.index < end // 256]
        return audit_range("acme", start, end, rows, tiles)

    def audit_rows(self, rows: Iterable[StoredEntry]) -> list[Finding]:
        """Check these rows in place of the log's own, as one range."""
        part = audit_range("acme", 0, len(self.leaves), rows, self.tiles)
        return sorted(join_ranges(GENESIS, [part]).findings)

    def change(self, seq: int, **fields: Any) -> None:
        """Change columns of a row: kind, subject, data, salt, body."""
        names = ("seq", "kind", "subject", "data", "salt", "body")
        at = next(at for at, row in enumerate(self.rows) if row[0] == seq)
        values = dict(zip(names, self.rows[at], strict=True)) | fields
        self.rows[at] = tuple(values[name] for name in names)

    def rewrite(self, place: int, **fields: Any) -> None:
        """Put another well-formed entry into a row's bytes."""
        entry = replace(Entry.decode(self.rows[place][3]), **fields)
        self.change(place, data=entry.encode())


def spans(size: int, cuts: Sequence[int]) -> list[tuple[int, int]]:
    edges = [0, *cuts, size]
    return list(pairwise(edges)) if size else []


def findings(log: StoredLog) -> list[tuple[int, str]]:
    return [(finding.seq, str(finding)) for finding in sorted(log.audit().findings)]


def test_a_finding_reads_as_what_and_why() -> None:
    assert str(Finding(3, "entry 3", "is missing")) == "entry 3: is missing"


class TestSoundLogs:
    @pytest.mark.parametrize("size", [0, 1, 2, 255, 256, 257, 511, 512, 700])
    def test_nothing_is_found_and_the_tree_is_the_entries(self, size: int) -> None:
        log = StoredLog(size)
        audit = log.audit()
        assert audit.findings == []
        assert audit.upper_tiles == []
        assert audit.frontier.root() == log.frontier.root()
        assert audit.frontier.pack() == log.frontier.pack()
        assert audit.frontier.size == size

    @pytest.mark.parametrize("cuts", [(256,), (512,), (256, 512)])
    def test_ranges_join_into_the_same_log(self, cuts: tuple[int, ...]) -> None:
        log = StoredLog(700)
        assert log.audit(*cuts).findings == []
        assert log.audit(*cuts).frontier.pack() == log.frontier.pack()

    def test_a_tree_of_several_levels_is_built_from_tile_roots(self) -> None:
        leaves = [leaf_hash(b"%d" % number) for number in range(70_000)]
        frontier = Frontier()
        upper = [tile for tile in frontier.extend(leaves) if tile.level > 0]
        full = len(leaves) // 256 * 256
        roots = [subtree_rows(leaves[at : at + 256])[-1][0] for at in range(0, full, 256)]
        half = RangeAudit(0, 128 * 256, tile_roots=roots[:128], last_leaf=b"x")
        rest = RangeAudit(
            128 * 256,
            70_000,
            first_prev=b"x".hex(),
            tile_roots=roots[128:],
            tail=leaves[full:],
            last_leaf=leaves[-1],
        )
        audit = join_ranges(GENESIS, [half, rest])
        assert audit.findings == []
        assert audit.upper_tiles == upper
        assert audit.frontier == frontier
        assert audit.frontier.root() == root_hash(leaves)

    def test_an_erased_body_is_explained_by_its_erasure(self) -> None:
        log = StoredLog(300, {290: ("erasure", "entry/5"), 291: ("erasure", "entry/0")})
        log.change(5, salt=None, body=None)
        log.change(0, salt=None, body=None)
        assert findings(log) == []
        assert log.audit(256).findings == []

    def test_announced_keys_are_given_with_their_entries(self) -> None:
        log = StoredLog(300, {0: ("key", "k1"), 280: ("key", "k2")})
        assert log.audit(256).keys == [(0, b'{"number":0}'), (280, b'{"number":280}')]


class TestDamagedEntries:
    """One entry of a sound log is changed; the finding names it and what is wrong with it."""

    @pytest.mark.parametrize("seq", [0, 1, 255, 256, 299])
    def test_bytes_that_are_no_entry(self, seq: int) -> None:
        log = StoredLog(300)
        log.change(seq, data=log.rows[seq][3][:-1])
        assert findings(log)[0][0] == seq
        assert findings(log)[0][1].startswith(f"entry {seq}: the entry is not JSON")

    def test_bytes_that_are_not_canonical(self) -> None:
        log = StoredLog(3)
        log.change(1, data=log.rows[1][3] + b" ")
        assert findings(log)[0] == (1, "entry 1: the entry's bytes are not its canonical JSON")

    def test_an_empty_entry(self) -> None:
        log = StoredLog(3)
        log.change(0, data=b"")
        assert findings(log)[0][0] == 0
        assert "entry 0: the entry is not JSON" in findings(log)[0][1]

    @pytest.mark.parametrize(
        ("fields", "problem"),
        [
            ({"tenant": "other"}, "belongs to tenant 'other'"),
            ({"seq": 9}, "says it is entry 9"),
            ({"kind": "pack"}, "its kind or subject column differs from its bytes"),
            ({"subject": "ob-x"}, "its kind or subject column differs from its bytes"),
            ({"prev": "0" * 64}, "does not follow entry 1: its prev is another hash"),
            ({"body": "0" * 64}, "its body or salt is not what it commits to"),
        ],
    )
    def test_a_field_that_was_rewritten(self, fields: dict[str, Any], problem: str) -> None:
        log = StoredLog(6)
        log.rewrite(2, **fields)
        found = findings(log)
        assert found[0] == (2, f"entry 2: {problem}")
        assert (3, "entry 3: does not follow entry 2: its prev is another hash") in found

    def test_a_rewritten_time_breaks_the_next_link(self) -> None:
        log = StoredLog(6)
        log.rewrite(2, at="2026-01-31T09:30:00.000001Z")
        assert findings(log) == [(3, "entry 3: does not follow entry 2: its prev is another hash")]

    def test_a_rewritten_last_entry_shows_in_the_tree(self) -> None:
        log = StoredLog(6)
        log.rewrite(5, at="2026-01-31T09:30:00.000001Z")
        audit = log.audit()
        assert audit.findings == []
        assert audit.frontier.root() != log.frontier.root()

    def test_a_time_that_is_none(self) -> None:
        log = StoredLog(6)
        log.rewrite(2, at="2026-99-31T09:30:00.000000Z")
        assert findings(log)[0][0] == 2
        assert "is not a UTC time" in findings(log)[0][1]

    @pytest.mark.parametrize("column", ["kind", "subject"])
    @pytest.mark.parametrize("value", ["export", 'with "quotes"', "é"])
    def test_an_index_column_that_was_changed(self, column: str, value: str) -> None:
        log = StoredLog(6)
        log.change(2, **{column: value})
        assert findings(log) == [(2, "entry 2: its kind or subject column differs from its bytes")]

    def test_two_columns_that_were_swapped_between_entries(self) -> None:
        log = StoredLog(6)
        log.change(2, subject="ob-3")
        log.change(3, subject="ob-2")
        assert [seq for seq, _ in findings(log)] == [2, 3]

    def test_two_entries_that_changed_places(self) -> None:
        log = StoredLog(6)
        second, third = log.rows[2][1:], log.rows[3][1:]
        log.rows[2], log.rows[3] = (2, *third), (3, *second)
        found = findings(log)
        assert found[0][0] == 2
        assert (2, "entry 2: says it is entry 3") in found
        assert (3, "entry 3: says it is entry 2") in found

    @pytest.mark.parametrize("seq", [0, 2, 255, 256])
    def test_a_body_or_salt_that_was_changed(self, seq: int) -> None:
        for fields in ({"body": b'{"number":-1}'}, {"salt": bytes(32)}, {"body": b""}):
            log = StoredLog(300)
            log.change(seq, **fields)
            assert findings(log) == [
                (seq, f"entry {seq}: its body or salt is not what it commits to")
            ]

    @pytest.mark.parametrize("by", [-1, 1])
    def test_a_byte_that_moved_between_salt_and_body(self, by: int) -> None:
        log = StoredLog(3)
        _, _, _, _, salt, body = log.rows[1]
        both = (salt or b"") + (body or b"")
        log.change(1, salt=both[: 32 + by], body=both[32 + by :])
        assert findings(log) == [(1, "entry 1: its body or salt is not what it commits to")]

    def test_a_body_that_is_gone_without_an_erasure(self) -> None:
        log = StoredLog(300, {299: ("erasure", "entry/3")})
        log.change(3, salt=None, body=None)
        log.change(4, salt=None, body=None)
        log.change(260, body=None)
        expected = [
            (4, "entry 4: its body is gone, and no erasure says why"),
            (260, "entry 260: its body is gone, and no erasure says why"),
        ]
        assert findings(log) == expected
        assert [finding.seq for finding in log.audit(256).findings] == [4, 260]

    def test_an_erased_body_that_is_still_there(self) -> None:
        log = StoredLog(6, {5: ("erasure", "entry/3")})
        assert findings(log) == [
            (3, "entry 3: its body was erased by an entry, and is still stored")
        ]

    @pytest.mark.parametrize(
        "subject",
        ["entry/5", "entry/6", "entry/", "entry/-1", "entry/01", "entry/\u0663", "ob-1", "3"],
    )
    def test_an_erasure_that_names_no_earlier_entry(self, subject: str) -> None:
        log = StoredLog(5)
        log.add(5, log.leaves[-1].hex(), "evidence_record", "ob-5")
        log.change(5, kind="erasure", subject=subject)
        texts = [text for _, text in findings(log)]
        assert f"entry 5: erases {subject!r}, which is no earlier entry" in texts

    def test_an_erasure_of_an_absurd_number(self) -> None:
        log = StoredLog(6)
        log.change(5, kind="erasure", subject="entry/" + "9" * 5_000)
        assert any("which is no earlier entry" in text for _, text in findings(log))

    def test_a_key_whose_body_is_gone_is_given_as_nothing(self) -> None:
        log = StoredLog(3, {0: ("key", "k1")})
        log.change(0, salt=None, body=None)
        assert log.audit().keys == [(0, b"")]
        assert findings(log) == [(0, "entry 0: its body is gone, and no erasure says why")]

    def test_a_log_that_begins_another_log(self) -> None:
        log = StoredLog(3)
        part = log.audit_range(0, 3)
        found = join_ranges(genesis_prev("evidentia/ffff/acme"), [part]).findings
        assert [str(finding) for finding in found] == [
            "entry 0: does not begin this log: its prev is not the origin's hash"
        ]

    def test_a_chain_that_breaks_between_two_ranges(self) -> None:
        log = StoredLog(300)
        log.rewrite(255, at="2026-01-31T09:30:00.000001Z")
        broken = Finding(256, "entry 256", "does not follow entry 255: its prev is another hash")
        assert broken in log.audit(256).findings
        assert broken in log.audit().findings

    @pytest.mark.parametrize("seq", [0, 256])
    def test_a_first_entry_of_a_range_that_cannot_be_read(self, seq: int) -> None:
        log = StoredLog(300)
        log.change(seq, data=b"junk")
        found = sorted(log.audit(256).findings)
        assert found[0].seq == seq
        assert found[0].problem.startswith("the entry is not JSON")

    @pytest.mark.no_cover
    def test_no_changed_byte_of_any_column_goes_unnoticed(self) -> None:
        names = ("seq", "kind", "subject", "data", "salt", "body")
        last = 289
        sound = StoredLog(last + 1, {0: ("key", "k1"), last: ("erasure", "entry/7")})
        sound.change(7, salt=None, body=None)
        first, second = sound.audit_range(0, 256), sound.audit_range(256, last + 1)
        chance = random.Random(6962)
        for _ in range(1_200):
            seq = chance.choice([0, 1, 255]) if chance.random() < 0.1 else chance.randint(256, last)
            column = chance.choice([1, 2, 3, 3, 3, 4, 5])
            log = copy(sound)
            log.rows = sound.rows[:]
            log.change(seq, **{names[column]: with_another_byte(log.rows[seq][column], chance)})
            if seq < 256:
                audit = join_ranges(GENESIS, [log.audit_range(0, 256), second])
            else:
                audit = join_ranges(GENESIS, [first, log.audit_range(256, last + 1)])
            named = {finding.seq for finding in audit.findings}
            if seq == last and column == 3 and not named:  # then only the tree can tell
                assert audit.frontier.root() != sound.frontier.root()
            else:
                assert named & {seq, seq + 1}, (seq, names[column], audit.findings)
                assert seq == last or min(named) in {seq, seq + 1}


def with_another_byte(value: Any, chance: random.Random) -> Any:
    """Change one byte of a value, and keep it text if it is."""
    data = bytearray(value.encode() if isinstance(value, str) else value)
    at = chance.randrange(len(data))
    if isinstance(value, str):
        data[at] = (data[at] + chance.randrange(1, 128)) % 128
        return data.decode()
    data[at] ^= 1 << chance.randrange(8)
    return bytes(data)


class TestDamagedOrder:
    @pytest.mark.parametrize("seq", [0, 1, 100, 255, 256, 299])
    def test_a_missing_entry(self, seq: int) -> None:
        log = StoredLog(300)
        found = log.audit_rows(row for row in log.rows if row[0] != seq)
        assert found[0].seq == seq
        assert Finding(seq, f"entry {seq}", "is missing") in found

    def test_a_missing_run_of_entries_across_tiles(self) -> None:
        log = StoredLog(1_000)
        found = log.audit_rows(row for row in log.rows if not 200 <= row[0] < 800)
        assert found[0] == Finding(200, "entry 200", "is missing")
        missing = [item.seq for item in found if item.problem == "is missing"]
        assert missing == [200, 256, 512, 768]

    def test_a_missing_tail(self) -> None:
        log = StoredLog(300)
        found = log.audit_rows(log.rows[:280])
        assert found == [Finding(280, "entry 280", "is missing")]

    def test_no_entries_at_all(self) -> None:
        found = StoredLog(10).audit_rows([])
        assert found == [Finding(0, "entry 0", "is missing")]

    @pytest.mark.parametrize("seq", [0, 1, 100, 255, 256, 298])
    def test_an_entry_that_stands_twice(self, seq: int) -> None:
        log = StoredLog(300)
        rows = sorted([*log.rows, log.rows[seq]], key=lambda row: row[0])
        assert log.audit_rows(rows) == [
            Finding(seq, f"entry {seq}", "stands twice or out of order")
        ]

    def test_a_last_entry_that_stands_twice(self) -> None:
        for size in (256, 300):
            log = StoredLog(size)
            assert log.audit_rows([*log.rows, log.rows[-1]]) == [
                Finding(size - 1, f"entry {size - 1}", "stands twice, or where none should be")
            ]

    @pytest.mark.parametrize("size", [255, 256, 300])
    def test_entries_beyond_the_end(self, size: int) -> None:
        log = StoredLog(size)
        beyond = StoredLog(size + 2).rows[size:]
        assert log.audit_rows([*log.rows, *beyond]) == [
            Finding(size, f"entry {size}", "stands twice, or where none should be")
        ]

    def test_an_entry_before_the_beginning(self) -> None:
        log = StoredLog(5)
        stray = (-1, *log.rows[0][1:])
        found = log.audit_rows([stray, *log.rows])
        assert found == [Finding(-1, "entry -1", "stands twice or out of order")]

    def test_entries_that_come_out_of_order(self) -> None:
        log = StoredLog(6)
        rows = [*log.rows[:2], log.rows[3], log.rows[2], *log.rows[4:]]
        found = log.audit_rows(rows)
        assert found[0] == Finding(2, "entry 2", "is missing")
        assert Finding(2, "entry 2", "stands twice or out of order") in found

    def test_findings_are_limited_and_the_first_are_kept(self) -> None:
        log = StoredLog(1_000)
        part = audit_range("acme", 0, 1_000, log.rows[::2], log.tiles)
        assert len(part.findings) == MAX_FINDINGS
        assert part.findings[0] == Finding(1, "entry 1", "is missing")

    def test_unexplained_bodies_are_limited_too(self) -> None:
        log = StoredLog(400)
        rows = [(*row[:4], None, None) for row in log.rows]
        assert len(log.audit_rows(rows)) == MAX_FINDINGS


class TestDamagedTiles:
    def test_a_missing_tile(self) -> None:
        for index in range(3):
            log = StoredLog(800)
            del log.tiles[index]
            assert findings(log) == [(index * 256, f"tile 0/{index}: is missing")]

    @pytest.mark.parametrize(("index", "place"), [(0, 0), (0, 255), (1, 77), (2, 128)])
    def test_a_hash_in_a_tile_that_was_changed(self, index: int, place: int) -> None:
        log = StoredLog(800)
        data = bytearray(log.tiles[index].data)
        data[place * 32 + 31] ^= 1
        log.tiles[index] = Tile(0, index, bytes(data))
        seq = index * 256 + place
        assert findings(log) == [(seq, f"tile 0/{index}: its hash {place} is not entry {seq}'s")]

    def test_a_tile_that_is_too_short(self) -> None:
        log = StoredLog(300)
        log.tiles[0] = Tile(0, 0, log.tiles[0].data[:-32])
        assert findings(log) == [(255, "tile 0/0: its hash 255 is not entry 255's")]

    def test_a_tile_that_is_too_long(self) -> None:
        log = StoredLog(300)
        log.tiles[0] = Tile(0, 0, log.tiles[0].data + bytes(32))
        assert findings(log) == [(0, "tile 0/0: has 8224 bytes, not 8192")]

    def test_a_changed_entry_shows_in_its_tile_too(self) -> None:
        log = StoredLog(300)
        log.rewrite(100, at="2026-01-31T09:30:00.000001Z")
        assert findings(log) == [
            (100, "tile 0/0: its hash 100 is not entry 100's"),
            (101, "entry 101: does not follow entry 100: its prev is another hash"),
        ]

    @pytest.mark.parametrize("index", [0, 1])
    def test_a_tile_that_stands_twice(self, index: int) -> None:
        log = StoredLog(600)
        tiles = sorted([*log.tiles, log.tiles[index]], key=lambda tile: tile.index)
        part = audit_range("acme", 0, 600, log.rows, tiles)
        assert part.findings == [Finding(index * 256, f"tile 0/{index}", "should not be there")]

    def test_tiles_where_none_should_be(self) -> None:
        log = StoredLog(300)
        strays = [Tile(0, 1, bytes(8192)), Tile(0, 9, bytes(8192))]
        part = audit_range("acme", 0, 300, log.rows, [*log.tiles, *strays])
        assert part.findings == [
            Finding(256, "tile 0/1", "should not be there"),
            Finding(2304, "tile 0/9", "should not be there"),
        ]


class TestUpperTiles:
    EXPECTED = (Tile(1, 0, b"a" * 8192), Tile(1, 1, b"b" * 8192), Tile(2, 0, b"c" * 8192))

    def test_the_same_tiles_in_any_order_are_sound(self) -> None:
        assert audit_upper_tiles(self.EXPECTED, self.EXPECTED) == []
        assert audit_upper_tiles(self.EXPECTED, reversed(self.EXPECTED)) == []
        assert audit_upper_tiles([], []) == []

    def test_a_missing_tile_is_named(self) -> None:
        assert audit_upper_tiles(self.EXPECTED, self.EXPECTED[::2]) == [
            Finding(65_536, "tile 1/1", "is missing")
        ]

    def test_a_changed_tile_is_named(self) -> None:
        stored = [*self.EXPECTED[:2], Tile(2, 0, b"x" * 8192)]
        assert audit_upper_tiles(self.EXPECTED, stored) == [
            Finding(0, "tile 2/0", "its hashes are not the entries'")
        ]

    @pytest.mark.parametrize(
        ("tile", "seq"),
        [
            (Tile(1, 2, b""), 131_072),
            (Tile(3, 1, b""), 2**32),
            (Tile(-1, 5, b""), 0),
            (Tile(-7, 5, b""), 0),
            (Tile(10**12, 5, b""), 0),
            (Tile(1, 0, b"a" * 8192), 0),
        ],
    )
    def test_a_tile_where_none_should_be_is_named(self, tile: Tile, seq: int) -> None:
        assert audit_upper_tiles(self.EXPECTED, [*self.EXPECTED, tile]) == [
            Finding(seq, f"tile {tile.level}/{tile.index}", "should not be there")
        ]


def test_every_kind_of_entry_is_audited() -> None:
    special = {
        number: (kind.value, f"entry/{number - 1}" if kind is EntryKind.ERASURE else "subject")
        for number, kind in enumerate(EntryKind, start=1)
    }
    log = StoredLog(len(special) + 1, special)
    erasure = next(number for number, (kind, _) in special.items() if kind == "erasure")
    log.change(erasure - 1, salt=None, body=None)
    assert findings(log) == []


# Roots of earlier sizes


@pytest.mark.parametrize("size", [0, 1, 255, 256, 257, 600])
def test_every_earlier_root_is_known_when_they_are_asked_for_in_order(size: int) -> None:
    log = StoredLog(size)
    roots = PastRoots(log.audit(), log.tiles)
    for at in range(size + 1):
        root = root_hash(log.leaves[:at])
        assert [roots.at(at), roots.at(at)] == [root, root]  # two keys may sign one size
    assert roots.at(size + 1) is None


def test_sizes_may_be_left_out_and_are_not_asked_for_backwards() -> None:
    log = StoredLog(1_000)
    roots = PastRoots(log.audit(), log.tiles)
    for at in (3, 256, 300, 900):
        assert roots.at(at) == root_hash(log.leaves[:at])
    assert roots.at(899) is None
    assert roots.at(10) is None


def test_a_root_over_a_tile_that_is_missing_is_not_known() -> None:
    log = StoredLog(1_000)
    without = [tile for tile in log.tiles if tile.index != 1]
    roots = PastRoots(log.audit(), without)
    assert roots.at(200) == root_hash(log.leaves[:200])
    assert roots.at(300) is None
    assert roots.at(600) == root_hash(log.leaves[:600])
    assert PastRoots(log.audit(), []).at(10) is None
    short = [Tile(0, 0, log.tiles[0].data[:64])]
    assert PastRoots(log.audit(), short).at(10) is None

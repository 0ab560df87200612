import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tiers
from evidentia.errors import IntegrityError, ProofError
from evidentia.trail.merkle import (
    EMPTY_ROOT,
    inclusion_proof,
    leaf_hash,
    root_hash,
    verify_inclusion,
)
from evidentia.trail.tiles import (
    TILE_BYTES,
    TILE_WIDTH,
    Frontier,
    Tile,
    decode_bundle,
    encode_bundle,
    expand,
    locate,
    partial_widths,
    subtree_rows,
    tile_path,
)

LEAVES = [leaf_hash(b"%d" % number) for number in range(70_000)]
SIZES = [*range(1, 18), 127, 128, 255, 256, 257, 511, 512, 513, 600]


def grown(size: int) -> tuple[Frontier, list[Tile]]:
    frontier = Frontier()
    return frontier, frontier.extend(LEAVES[:size])


def naive_tile(level: int, index: int, size: int) -> bytes:
    """Build a tile as the specification defines it: each hash the root over a range of leaves."""
    span = 256**level
    starts = range(index * 256 * span, min((index + 1) * 256 * span, size - span + 1), span)
    return b"".join(root_hash(LEAVES[start : start + span]) for start in starts)


def test_an_empty_frontier_is_the_empty_tree() -> None:
    frontier = Frontier()
    assert frontier.root() == EMPTY_ROOT
    assert frontier.pack() == b""
    assert frontier.partial_tiles() == []
    assert frontier.extend([]) == []
    assert Frontier.unpack(0, b"") == frontier


def test_every_size_up_to_600_has_the_naive_root_and_edge() -> None:
    frontier = Frontier()
    for size in range(1, 601):
        full = frontier.extend([LEAVES[size - 1]])
        assert frontier.size == size
        assert frontier.last == LEAVES[size - 1]
        assert len(full) == (size % 256 == 0)
        assert [len(data) // 32 for data in frontier.partial] == partial_widths(size)
        if size in SIZES:
            assert frontier.root() == root_hash(LEAVES[:size])
            peaks = [root_hash(LEAVES[start:end]) for start, end in peak_ranges(size)]
            assert frontier.peaks == peaks


def peak_ranges(size: int) -> list[tuple[int, int]]:
    ranges, start = [], 0
    for power in reversed(range(size.bit_length())):
        if size >> power & 1:
            ranges.append((start, start + (1 << power)))
            start += 1 << power
    return ranges


@tiers.one_test
@pytest.mark.parametrize("size", SIZES)
def test_tiles_are_what_the_specification_defines(size: int) -> None:
    frontier, full = grown(size)
    for tile in [*full, *frontier.partial_tiles()]:
        assert tile.data == naive_tile(tile.level, tile.index, size)
        assert tile.width == len(tile.data) // 32
    assert [tile.index for tile in full if tile.level == 0] == list(range(size // 256))


@pytest.mark.no_cover
def test_a_tree_of_70000_has_the_tiles_that_the_specification_counts() -> None:
    frontier, full = grown(70_000)
    assert [tile.index for tile in full if tile.level == 0] == list(range(273))
    assert [(tile.level, tile.index) for tile in full if tile.level > 0] == [(1, 0)]
    assert {len(tile.data) for tile in full} == {TILE_BYTES}
    assert [(tile.level, tile.index, tile.width) for tile in frontier.partial_tiles()] == [
        (0, 273, 112),
        (1, 1, 17),
        (2, 0, 1),
    ]
    assert frontier.root() == root_hash(LEAVES)
    upper = next(tile for tile in full if tile.level == 1)
    level_0 = [tile.data for tile in full if tile.level == 0]
    assert upper.data == b"".join(expand(data)[-1][0] for data in level_0[:256])
    assert frontier.partial[2] == expand(upper.data)[-1][0]


def test_a_tree_of_256_has_one_full_tile_and_a_partial_one_above() -> None:
    frontier, full = grown(256)
    assert [(tile.level, tile.index, tile.width) for tile in full] == [(0, 0, 256)]
    assert [(tile.level, tile.index, tile.width) for tile in frontier.partial_tiles()] == [
        (1, 0, 1)
    ]


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 300), st.booleans()), max_size=6))
def test_growing_in_steps_is_growing_at_once(steps: list[tuple[int, bool]]) -> None:
    frontier, tiles, size = Frontier(), list[Tile](), 0
    for step, stored_between in steps:
        tiles += frontier.extend(iter(LEAVES[size : size + step]))
        size += step
        if stored_between:
            frontier = Frontier.unpack(size, frontier.pack())
    expected, expected_tiles = grown(size)
    assert frontier == expected
    assert tiles == expected_tiles
    assert frontier.root() == root_hash(LEAVES[:size])


@pytest.mark.parametrize("size", [0, 1, 2, 255, 256, 257, 65_535, 65_536, 65_537, 70_000])
def test_what_is_packed_is_unpacked(size: int) -> None:
    frontier, _ = grown(size)
    assert Frontier.unpack(size, frontier.pack()) == frontier


@pytest.mark.parametrize("size", [1, 5, 256, 300])
def test_an_edge_that_cannot_belong_to_the_size_is_refused(size: int) -> None:
    edge = grown(size)[0].pack()
    for damaged in (b"", edge[:-32], edge[:-1], edge + b"x", edge + bytes(32)):
        with pytest.raises(IntegrityError, match=f"the right edge of {size} entries has"):
            Frontier.unpack(size, damaged)


def test_an_empty_log_has_no_edge() -> None:
    with pytest.raises(IntegrityError, match="the right edge of 0 entries has 32 bytes, not 0"):
        Frontier.unpack(0, bytes(32))


def test_a_negative_size_is_refused() -> None:
    with pytest.raises(IntegrityError, match="a log cannot have -1 entries"):
        Frontier.unpack(-1, b"")


def test_partial_widths_follow_from_the_size() -> None:
    assert partial_widths(0) == []
    assert partial_widths(255) == [255]
    assert partial_widths(256) == [0, 1]
    assert partial_widths(70_000) == [112, 17, 1]


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 100, 255, 256])
def test_rows_hold_the_complete_subtrees(count: int) -> None:
    rows = subtree_rows(LEAVES[:count])
    assert rows == expand(b"".join(LEAVES[:count]))
    for height, row in enumerate(rows):
        span = 1 << height
        complete = [root_hash(LEAVES[at * span : (at + 1) * span]) for at in range(count // span)]
        assert row == complete


def test_proofs_can_be_made_from_tiles_alone() -> None:
    size = 70_000
    frontier, full = grown(size)
    tiles = {(tile.level, tile.index): tile.data for tile in [*full, *frontier.partial_tiles()]}
    rows: dict[tuple[int, int], list[list[bytes]]] = {}

    def node(height: int, index: int) -> bytes:
        level, tile, row, place = locate(height, index)
        if (level, tile) not in rows:
            rows[level, tile] = expand(tiles[level, tile])
        return rows[level, tile][row][place]

    root = frontier.root()
    chosen = [0, 1, 255, 256, 65_535, 65_536, 69_887, 69_888, 69_999]
    for index in [*chosen, *random.Random(6962).choices(range(size), k=200)]:
        verify_inclusion(LEAVES[index], index, size, inclusion_proof(node, index, size), root)


@pytest.mark.parametrize(
    ("height", "index", "place"),
    [
        (0, 0, (0, 0, 0, 0)),
        (0, 255, (0, 0, 0, 255)),
        (0, 256, (0, 1, 0, 0)),
        (7, 1, (0, 0, 7, 1)),
        (7, 2, (0, 1, 7, 0)),
        (8, 0, (1, 0, 0, 0)),
        (8, 300, (1, 1, 0, 44)),
        (16, 0, (2, 0, 0, 0)),
    ],
)
def test_a_subtree_is_found_in_its_tile(
    height: int, index: int, place: tuple[int, int, int, int]
) -> None:
    assert locate(height, index) == place


@pytest.mark.parametrize(
    ("level", "index", "width", "path"),
    [
        (0, 0, 256, "tile/0/000"),
        (0, 999, 256, "tile/0/999"),
        (0, 1000, 256, "tile/0/x001/000"),
        (0, 1234067, 256, "tile/0/x001/x234/067"),
        (1, 1, 17, "tile/1/001.p/17"),
        (63, 0, 1, "tile/63/000.p/1"),
        ("entries", 273, 112, "tile/entries/273.p/112"),
        ("entries", 1234067, 256, "tile/entries/x001/x234/067"),
    ],
)
def test_paths_are_those_of_the_specification(
    level: int | str, index: int, width: int, path: str
) -> None:
    assert tile_path(level, index, width) == path


def test_a_path_is_of_a_full_tile_unless_a_width_is_given() -> None:
    assert tile_path(0, 5) == tile_path(0, 5, TILE_WIDTH) == "tile/0/005"


@settings(max_examples=40)
@given(st.lists(st.binary(max_size=300), max_size=8))
def test_a_bundle_gives_back_its_entries(entries: Sequence[bytes]) -> None:
    assert decode_bundle(encode_bundle(entries)) == entries


def test_a_bundle_is_length_prefixed_big_endian() -> None:
    assert encode_bundle([b"ab", b"", b"c" * 258]) == b"\x00\x02ab\x00\x00\x01\x02" + b"c" * 258


def test_a_bundle_cut_at_any_byte_is_refused_or_ends_at_an_entry() -> None:
    entries = [b"first", b"", b"third"]
    data = encode_bundle(entries)
    ends = [0, 7, 9, 16]
    for cut in range(len(data)):
        if cut in ends:
            assert decode_bundle(data[:cut]) == entries[: ends.index(cut)]
        else:
            with pytest.raises(ProofError, match="cut short"):
                decode_bundle(data[:cut])

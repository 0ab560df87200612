"""Tiles and entry bundles one at a time: what publishing writes, without a folder."""

from pathlib import Path

import pytest

from evidentia.errors import IntegrityError, NotFoundError
from evidentia.store.database import run
from evidentia.trail.tiles import decode_bundle
from evidentia.workspace import Workspace
from insider import without_guards
from places import Place, record


def filled(workspace: Workspace, size: int) -> Workspace:
    """Append until the log has so many entries."""
    workspace.trail.public_key()
    workspace.trail.append_many([record(number) for number in range(size - workspace.trail.size)])
    return workspace


@pytest.mark.parametrize("size", [1, 255, 256, 257, 600])
def test_pieces_are_what_is_published(workspace: Workspace, tmp_path: Path, size: int) -> None:
    trail = filled(workspace, size).trail
    trail.publish(tmp_path / "public")
    for index in range(-(-size // 256)):
        width = min(256, size - index * 256)
        end = f"{index:03d}" + ("" if width == 256 else f".p/{width}")
        tile = (tmp_path / "public" / "tile" / "0" / end).read_bytes()
        bundle = (tmp_path / "public" / "tile" / "entries" / end).read_bytes()
        assert trail.tile(0, index, width) == tile
        assert trail.entry_bundle(index, width) == bundle


def test_a_part_of_a_piece_stays_when_the_log_grows(workspace: Workspace) -> None:
    trail = filled(workspace, 5).trail
    before = trail.tile(0, 0, 5), trail.entry_bundle(0, 5)
    filled(workspace, 300)
    assert (trail.tile(0, 0, 5), trail.entry_bundle(0, 5)) == before
    assert trail.tile(0, 0)[: 5 * 32] == before[0]
    assert decode_bundle(trail.entry_bundle(0))[:5] == decode_bundle(before[1])
    assert len(trail.tile(1, 0, 1)) == 32


@pytest.mark.parametrize(
    ("level", "index", "width"),
    [
        (0, 0, 6),
        (0, 0, 256),
        (0, 1, 1),
        (0, -1, 1),
        (0, 0, 0),
        (0, 0, 257),
        (1, 0, 1),
        (-1, 0, 1),
        (6, 0, 1),
        (10**9, 0, 1),
        (0, 10**30, 1),
    ],
)
def test_what_the_log_has_not_yet_is_not_there(
    workspace: Workspace, level: int, index: int, width: int
) -> None:
    trail = filled(workspace, 5).trail
    with pytest.raises(NotFoundError, match="the log has no tile/"):
        trail.tile(level, index, width)
    if level == 0:
        with pytest.raises(NotFoundError, match="the log has no tile/entries"):
            trail.entry_bundle(index, width)


def test_a_log_that_is_not_there_has_no_pieces(workspace: Workspace) -> None:
    with pytest.raises(NotFoundError, match="has no log"):
        workspace.trail.tile(0, 0, 1)
    with pytest.raises(NotFoundError, match="has no log"):
        workspace.trail.entry_bundle(0, 1)


def test_entries_that_were_altered_are_in_no_bundle_and_on_no_proved_page(place: Place) -> None:
    if place.url is not None:
        pytest.skip("an insider's way past the triggers of SQLite")
    workspace = filled(place.open(), 5)
    altered = "UPDATE trail_entries SET entry = (SELECT entry FROM trail_entries WHERE seq = 2)"
    without_guards(workspace, lambda connection: run(connection, f"{altered} WHERE seq = 3"))
    with pytest.raises(IntegrityError, match="not what the tree is made of"):
        workspace.trail.entry_bundle(0, 5)
    assert len(workspace.trail.entry_bundle(0, 3)) > 0
    assert len(workspace.trail.entries()) == 5
    with pytest.raises(IntegrityError, match="entry"):
        workspace.trail.entries(proved=True)
    assert len(workspace.trail.entries(before=3, proved=True)) == 3

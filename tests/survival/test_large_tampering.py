"""The same on a log of past 65,536 entries: level-1 tiles, and ranges shared out to workers."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

import tiers
import vandal
from evidentia.store.auditing import AuditReport
from evidentia.store.database import Database
from evidentia.store.home import Home
from evidentia.store.ranges import RANGE
from evidentia.workspace.opened import Opened
from vandal import Change, Trace, Vandal, apply


def level_one(change: Change) -> Change:
    """Give a change to a tile that is made to the tile of level 1."""

    def made(by: Vandal) -> Trace:
        by.row = lambda *_: by.one(f"{vandal._TILES} AND level = 1")  # type: ignore[method-assign]
        return change(by)

    return made


def at_entry(change: Change, seq: int) -> Change:
    """Give a change that is made to this entry."""

    def made(by: Vandal) -> Trace:
        by.entry = lambda **_: seq  # type: ignore[method-assign]
        return change(by)

    return made


def across_ranges(by: Vandal) -> Trace:
    by.two_entries = lambda: (RANGE - 1, RANGE)  # type: ignore[method-assign]
    return vandal.two_entries_swapped(by)


BORDERS = (0, 255, RANGE - 1, RANGE, 2 * RANGE, 70_000)
CHANGES: dict[str, Change] = {
    "level 1 flipped": level_one(vandal.tile_flipped),
    "level 1 spoiled": level_one(vandal.tile_spoiled),
    "level 1 moved": level_one(vandal.tile_moved),
    "level 1 deleted": level_one(vandal.tile_deleted),
    "entries swapped across two ranges": across_ranges,
    **{f"entry {seq} deleted": at_entry(vandal.entry_deleted, seq) for seq in BORDERS},
    **{f"entry {seq} redated": at_entry(vandal.entry_time_rewritten, seq) for seq in BORDERS},
    **{
        name.replace("_", " "): getattr(vandal, name)
        for name in (
            "body_flipped",
            "body_deleted",
            "tile_flipped",
            "tile_deleted",
            "tile_added",
            "two_tiles_swapped",
            "last_entries_deleted",
            "head_size_changed",
            "head_edge_spoiled",
            "head_origin_changed",
            "text_column_no_longer_text",
        )
    },
}


def audited(
    path: Path, home: Path, *, workers: int | None = None, keys: Sequence[str] = ()
) -> AuditReport:
    with Opened(Database.sqlite(path), Home(home)).for_() as workspace:
        return workspace.trail.audit(workers=workers, keys=keys)


@pytest.mark.parametrize("name", tiers.sample([*CHANGES], 7))
def test_a_change_to_a_large_log_is_found_and_named(
    name: str, large_home: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.db"
    shutil.copy(Home(large_home).database, copy)
    trace = apply(CHANGES[name], copy, name)
    report = audited(copy, tmp_path, workers=2 if "entries" in name else 1)
    assert {finding.what for finding in report.findings} & trace.names, report.findings[:5]
    if trace.first is not None:
        assert min(f.seq for f in report.findings if f.seq >= 0) == trace.first, report.findings


def test_the_untouched_log_holds_with_any_number_of_workers(
    large_home: Path, tmp_path: Path
) -> None:
    with Opened(Database.sqlite(Home(large_home).database), Home(large_home)).for_() as workspace:
        key = str(workspace.trail.public_key())
    reports = {
        audited(Home(large_home).database, tmp_path, workers=n, keys=[key]) for n in (1, 2, 3)
    }
    (report,) = reports
    assert report.holds
    assert report.size == 70_001


def test_one_worker_and_two_find_the_same(large_home: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    shutil.copy(Home(large_home).database, copy)
    for change in (across_ranges, vandal.body_deleted, vandal.tile_flipped, vandal.entry_deleted):
        apply(change, copy, "several")
    one, two = (audited(copy, tmp_path, workers=workers) for workers in (1, 2))
    assert one == two
    assert len(one.findings) > 4

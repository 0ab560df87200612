"""Whatever is changed in the database, an audit finds it and names it."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import tiers
from evidentia.store.auditing import AuditReport
from evidentia.store.database import Database
from evidentia.store.home import Home
from evidentia.trail.entry import EntryKind
from evidentia.workspace.opened import Opened
from places import Place, record, status_change
from postgres import PostgresServer
from vandal import CHANGES, CHANGES_ON_THE_SERVER, Trace, apply

pytestmark = pytest.mark.as_owner

CASES_EACH = 24


def fill(place: Place) -> None:
    """Make a log of some 600 entries in which everything occurs that can be tampered with."""
    workspace = place.open()
    workspace.trail.append_many(
        [record(number) for number in range(200)],
        idempotency_keys=[f"key {number}" for number in range(200)],
    )
    workspace.trail.checkpoint()
    workspace.trail.append_many([status_change(number) for number in range(150)])
    workspace._acting.record(EntryKind.PACK, "pack 1", {"pack": 1})
    workspace.trail.checkpoint()
    workspace.trail.rotate_key()
    workspace.trail.append_many([record(number) for number in range(200, 400)])
    workspace.trail.erase(17, reason="law", by="counsel")
    workspace.trail.erase(300, reason="law", by="counsel")
    workspace.trail.checkpoint()
    workspace.trail.rotate_key()
    workspace.trail.append_many([record(number) for number in range(400, 450)])
    workspace.trail.checkpoint()
    workspace.append(record(450))
    other = place.open("other")
    other.trail.append_many([record(number) for number in range(3)])
    other.trail.checkpoint()


def audited(database: Database, empty_home: Path) -> AuditReport:
    """Audit with nothing but the database: no checkpoint is kept anywhere."""
    with Opened(database, Home(empty_home)).for_() as workspace:
        report = workspace.trail.audit(signatures=True)
    assert report.compared_with == ()
    return report


def check(report: AuditReport, trace: Trace, what: str) -> None:
    found = {finding.what for finding in report.findings}
    assert not report.holds, what
    assert found & trace.names, f"{what}: none of {trace.names} in {report.findings[:5]}"
    if trace.first is not None:
        first = min(finding.seq for finding in report.findings if finding.seq >= 0)
        assert first == trace.first, f"{what}: {report.findings[:5]}"
    assert "schema" not in found, what


@pytest.fixture(scope="module")
def memory() -> Iterator[Path]:
    """Give a folder in memory, where there is one."""
    shared = "/dev/shm"
    with tempfile.TemporaryDirectory(dir=shared if os.access(shared, os.W_OK) else None) as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def base(memory: Path) -> Path:
    """Give the file of an untouched database."""
    place = Place(memory / "home")
    fill(place)
    place.close()
    return place.home.database


@pytest.mark.parametrize("name", CHANGES)
def test_any_change_is_found_and_named(name: str, base: Path, memory: Path) -> None:
    copy, empty = memory / "copy.db", memory / "empty"
    for case in tiers.sample(range(CASES_EACH), 3):
        for old in memory.glob("copy.db*"):
            old.unlink()
        shutil.copy(base, copy)
        seed = f"{name} {case}"
        trace = apply(CHANGES[name], copy, seed)
        check(audited(Database.sqlite(copy), empty), trace, seed)


def test_there_are_a_thousand_cases_and_without_a_change_the_log_holds(
    base: Path, memory: Path
) -> None:
    assert len(CHANGES) * CASES_EACH >= 1_000
    copy = memory / "untouched.db"
    shutil.copy(base, copy)
    apply(lambda _: Trace(frozenset()), copy, "nothing")
    report = audited(Database.sqlite(copy), memory / "empty")
    assert report.findings == ()
    assert report.size == 607
    assert report.checkpoints == 12


@pytest.fixture(scope="module")
def server_base(
    postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Give the name of an untouched database on the server."""
    with postgres.fresh_database() as url:
        place = Place(tmp_path_factory.mktemp("home"), url)
        fill(place)
        place.close()
        yield url.split("/")[3].split("?")[0]


@pytest.mark.parametrize("name", tiers.sample([*CHANGES_ON_THE_SERVER], 14))
def test_any_change_on_the_server_is_found_and_named(
    name: str, server_base: str, postgres: PostgresServer, tmp_path: Path
) -> None:
    with postgres.fresh_database(template=server_base) as url:
        trace = apply(CHANGES[name], url, name)
        check(audited(Database.server(url), tmp_path), trace, name)

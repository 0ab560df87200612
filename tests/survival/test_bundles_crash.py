"""A crash at any write leaves no bundle that points to nothing."""

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
import sqlalchemy

import tiers
from evidentia.bundles.model import EvidenceBundle
from evidentia.bundles.policy import EvidencePolicy
from evidentia.canonical import sha256_hex
from evidentia.loading.artifacts import check_artifacts
from evidentia.loading.assembling import build_evidence_bundle
from evidentia.store.lake import FileLake
from places import Place, lake_of, record
from survival.bundle_checks import (
    check_bundle,
    job,
)

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")


class Killer:
    """Kills its own process outright before the durable write of a given number."""

    def __init__(self, at: int) -> None:
        self.left = at

    def strike(self) -> None:
        """Count one write, and kill at the one that was asked for."""
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self.left -= 1

    def before(self, work: Callable[..., Any]) -> Callable[..., Any]:
        """Return the same function, counted."""

        def counted(*given: Any, **options: Any) -> Any:
            self.strike()
            return work(*given, **options)

        return counted

    def watch(self) -> None:
        """Count what makes a file durable or visible, and the database's commits."""
        for name in ("fsync", "replace", "link"):
            setattr(os, name, self.before(getattr(os, name)))
        sqlalchemy.event.listen(sqlalchemy.Engine, "commit", lambda _: self.strike())


def survived(work: Callable[[], object], at: int) -> bool:
    """Run work in a process that is killed at a write; return whether it came to its end."""
    pid = os.fork()
    if pid == 0:
        _work_until_killed(work, at)
    status = os.waitpid(pid, 0)[1]
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return False
    assert os.WEXITSTATUS(status) == 0
    return True


def _work_until_killed(work: Callable[[], object], at: int) -> NoReturn:
    try:
        Killer(at).watch()
        work()
    except BaseException:  # noqa: BLE001 - a forked process must not return into pytest
        os._exit(1)
    os._exit(0)


def big_job() -> tuple[dict[str, Any], dict[str, Any], EvidencePolicy]:
    """Return a job of which all is persisted that can be: wholes, what was dropped, a result."""
    live = {"query_key": "live", "sql": "SELECT 1 AS one", "connection": "crm", "priority": 1}
    return (
        job({"text": f"anna@example.com {'x' * 300}", "priority": 1}, "dropped", "dropped too"),
        {"sql_results": [live], "lake_text": [{"lake_uri": "a.md", "priority": 1}]},
        EvidencePolicy(max_items=3, max_item_bytes=100, enable_redaction=True),
    )


def kept_bundles(lake: Path) -> Iterator[EvidenceBundle]:
    """Give all bundles that lie in a lake; every file there must be what its name says."""
    for path in lake.glob("sha256/*/*/*"):
        if path.name.startswith("."):
            continue  # never came to be: it has no name yet
        data = path.read_bytes()
        assert sha256_hex(data) == path.name
        if data.startswith(b'{"accounting"'):
            yield EvidenceBundle.parse(data)


def test_a_crash_leaves_no_bundle_that_points_to_nothing(memory: Path) -> None:
    job_input, refs, policy = big_job()
    found = 0
    for at in range(0, 1_000, tiers.count(1, short=3)):
        lake = memory / f"{at}"
        lake.mkdir()
        (lake / "a.md").write_text("y" * 500)

        def build(lake: Path = lake) -> EvidenceBundle:
            return build_evidence_bundle(
                job_input=job_input,
                evidence_refs=refs,
                policy=policy,
                lake_root=lake,
                connections={"crm": "sqlite://"},
            )

        ended = survived(build, at)
        for bundle in kept_bundles(lake):
            found += 1
            assert check_artifacts(bundle, FileLake(lake), lake)[1] == []
        again = build()
        check_bundle(again, lake)
        assert again.summary.bundle_bounding.dropped_ref is not None
        assert len({one.bundle_id for one in kept_bundles(lake)}) == 1  # one key, one bundle
        if ended:
            break
        shutil.rmtree(lake)
    assert at > 20
    assert found > 1  # some crashed when all was there


def test_a_crash_leaves_a_workspace_whose_bundles_hold(memory: Path, lake: Path) -> None:
    job_input, refs, policy = big_job()
    begun = Place(memory / "begun")
    begun.open().append(record())
    begun.close()
    (lake / "a.md").write_text("y" * 500)
    listed = 0
    for at in range(0, 1_000, tiers.count(1, short=3)):
        place = Place(memory / f"{at}")
        shutil.copytree(begun.home.folder, place.home.folder)

        def build(place: Place = place) -> EvidenceBundle:
            with place.open() as workspace:
                bundle = workspace.bundle(
                    job_input, refs, policy, lake_root=lake, connections={"crm": "sqlite://"}
                )
                workspace.bundles.record_run("run-1", bundle.bundle_id)
                return bundle

        ended = survived(build, at)
        workspace = place.open()
        assert workspace.trail.audit().findings == ()
        assert workspace.bundles.audit() == []
        before = workspace.bundles.list()
        listed += len(before)
        for bundle in kept_bundles(workspace.opened.home.lake):
            assert check_artifacts(bundle, lake_of(workspace), lake)[1] == []
        again = build()
        assert [one.bundle_id for one in workspace.bundles.list()] == [again.bundle_id]
        assert workspace.bundles.runs(again.bundle_id) == ["run-1"]
        assert workspace.bundles.audit() == []
        assert workspace.trail.audit().findings == ()
        place.close()
        if ended:
            break
        shutil.rmtree(place.home.folder)
    assert at > 20
    assert listed > 1

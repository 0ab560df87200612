"""Bulk work keeps one contract, whoever does it: processes here, or a Ray cluster."""

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest

from evidentia.errors import EnvironmentProblem, InputError
from evidentia.jobs import ray_workers
from evidentia.jobs.ray_workers import RayWorkers
from evidentia.loading.pieces import ByProcesses, in_order
from evidentia.loading.workers import TRIES, Bulk, Done, WorkerEndedError
from jobs.bulk_pieces import doubling

HAS_RAY = find_spec("ray") is not None


@pytest.fixture(scope="module", params=["processes", pytest.param("ray", marks=pytest.mark.whole)])
def bulk(request: pytest.FixtureRequest) -> Iterator[Bulk]:
    """Two workers of each kind; the cluster starts once."""
    if request.param == "ray":
        if not HAS_RAY:
            pytest.skip("Ray is not installed")
        os.environ["EVIDENTIA_KEY_PASSPHRASE"] = "a secret"
        found: Bulk = RayWorkers("local", idle_seconds=2.0)  # others need its room
    else:
        found = ByProcesses(2)
    yield found
    found.close()
    os.environ.pop("EVIDENTIA_KEY_PASSPHRASE", None)


def test_each_piece_is_done_and_a_worker_gets_ready_once(bulk: Bulk, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    found = list(bulk.run(doubling, notes, iter(range(40)), most=2))
    assert sorted((one.question, one.answer, one.tries) for one in found) == [
        (number, 2 * number, 1) for number in range(40)
    ]
    ready = notes.read_text().splitlines()
    assert 1 <= len(ready) <= 2
    assert len(set(ready)) == len(ready)
    assert str(os.getpid()) not in ready


def test_what_is_done_is_given_in_order_if_asked(bulk: Bulk) -> None:
    found = in_order(bulk.run(doubling, None, range(20)), int)
    assert [one.answer for one in found] == [2 * number for number in range(20)]


def test_the_piece_of_a_killed_worker_is_done_again(bulk: Bulk, tmp_path: Path) -> None:
    pieces = [1, ("once", str(tmp_path / "mark")), 2]
    found = {str(one.question): one for one in bulk.run(doubling, None, pieces)}
    again = found.pop(str(pieces[1]))
    assert (again.answer, again.tries) == ("went on", 2)
    assert sorted(one.answer for one in found.values()) == [2, 4]


def test_a_piece_that_ends_every_worker_ends_after_tries_with_a_reason(bulk: Bulk) -> None:
    found = {str(one.question): one for one in bulk.run(doubling, None, [("poison", 1), 1, 2, 3])}
    poison = found.pop(str(("poison", 1)))
    assert isinstance(poison.answer, WorkerEndedError)
    assert poison.tries == TRIES
    assert poison.answer.how
    assert sorted(one.answer for one in found.values()) == [2, 4, 6]


def test_an_error_of_ours_is_an_answer_and_another_is_the_workers_end(bulk: Bulk) -> None:
    found = {one.question[0]: one for one in bulk.run(doubling, None, [("wrong", 1), ("crash", 1)])}
    assert isinstance(found["wrong"].answer, InputError)
    assert str(found["wrong"].answer) == "it is wrong"
    assert found["wrong"].tries == 1
    assert isinstance(found["crash"].answer, WorkerEndedError)


def test_one_that_does_not_get_ready_ends_all_and_says_why(bulk: Bulk) -> None:
    with pytest.raises(InputError, match="it does not get ready"):
        list(bulk.run(doubling, "refuse", range(3)))
    with pytest.raises(EnvironmentProblem, match="end before they can be asked"):
        list(bulk.run(doubling, "die", range(3)))


def test_workers_have_none_of_our_settings(bulk: Bulk) -> None:
    (found,) = bulk.run(doubling, None, [("environment", 1)])
    assert found.answer == []
    if isinstance(bulk, RayWorkers):
        assert os.environ["EVIDENTIA_KEY_PASSPHRASE"] == "a secret"


def test_an_answer_is_read_as_data(bulk: Bulk) -> None:
    (found,) = bulk.run(doubling, None, [("stranger", 1)])
    assert isinstance(found.answer, WorkerEndedError)


def test_what_runs_is_ended_when_no_one_waits_any_more(bulk: Bulk, tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    raised: list[BaseException] = []
    running = bulk.run(doubling, None, [1, ("slow", str(mark))])
    assert next(running).answer == 2
    while not (mark.exists() and mark.read_text()):
        time.sleep(0.02)
    worker = psutil.Process(int(mark.read_text()))
    running.close()
    worker.wait(60)
    assert not raised
    assert [one.answer for one in bulk.run(doubling, None, [3])] == [6]


def test_no_pieces_are_no_work(bulk: Bulk) -> None:
    assert list(bulk.run(doubling, "die", [])) == []


def test_threads_share_the_workers(bulk: Bulk) -> None:
    found: list[list[Done]] = []

    def run() -> None:
        found.append(list(bulk.run(doubling, threading.get_ident(), range(10))))

    threads = [threading.Thread(target=run) for _ in range(3)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert [sorted(one.answer for one in some) for some in found] == [list(range(0, 20, 2))] * 3


@pytest.mark.skipif(not HAS_RAY, reason="Ray is not installed")
def test_a_cluster_goes_on_where_a_worker_was_killed(tmp_path: Path) -> None:
    with RayWorkers("local") as cluster:
        pieces = [1, ("once", str(tmp_path / "mark")), ("environment", 1)]
        found = {str(one.question): one.answer for one in cluster.run(doubling, None, pieces)}
    assert found == {
        str(piece): answer for piece, answer in zip(pieces, [2, "went on", []], strict=True)
    }


@pytest.mark.skipif(not HAS_RAY, reason="Ray is not installed")
def test_a_cluster_outlives_the_thread_that_asked_first() -> None:
    """A server's job has a thread for each part; the system ends what one began with it."""
    ran: list[list[int]] = []
    with RayWorkers("local") as cluster:
        for _ in range(2):
            asking = threading.Thread(
                target=lambda: ran.append([one.answer for one in cluster.run(doubling, None, [1])])
            )
            asking.start()
            asking.join(30)
            assert not asking.is_alive(), "it waits for a cluster that has gone"
            time.sleep(1)
    assert ran == [[2], [2]]


@pytest.fixture
def heeding() -> Iterator[None]:
    """Heed Ctrl-C: whoever is started in a shell's background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeding")
def test_ctrl_c_waits_until_the_cluster_has_begun() -> None:
    reached = []

    def begin() -> None:
        with ray_workers._uninterrupted():
            signal.raise_signal(signal.SIGINT)
            reached.append("the end")

    with pytest.raises(KeyboardInterrupt):
        begin()
    assert reached == ["the end"]
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.skipif(not HAS_RAY, reason="Ray is not installed")
@pytest.mark.parametrize("scheme", ["", "ray://"])
def test_a_cluster_that_is_not_there_is_told_at_once(
    scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ray.is_initialized", lambda: False)  # whatever other tests began
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    cluster = RayWorkers(f"{scheme}127.0.0.1:{port}")
    with pytest.raises(EnvironmentProblem, match="cannot be reached"):
        list(cluster.run(doubling, None, [1]))


class Cluster:
    """Stands in for Ray, connected to a cluster that is begun anew now and then."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.connected_to: int | None = None
        self.begun = 1

    def is_initialized(self) -> bool:
        return self.connected_to is not None

    def init(self, **_: object) -> None:
        self.asked.append("init")
        if not self.begun:
            raise ConnectionError("nobody there")
        self.connected_to = self.begun

    def shutdown(self) -> None:
        self.asked.append("shutdown")
        self.connected_to = None

    def cluster_resources(self) -> dict[str, float]:
        if self.connected_to != self.begun:
            raise ValueError("Cannot invoke RPC on closed channel!")
        return {"CPU": 2.0}


def test_a_cluster_that_was_begun_anew_is_connected_to_once_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A server outlives it, and must not need to be started again, too."""
    ray = Cluster()
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.delenv("RAY_ENABLE_AUTO_CONNECT", raising=False)
    with RayWorkers("auto") as cluster:
        assert cluster.size() == 2
        assert os.environ["RAY_ENABLE_AUTO_CONNECT"] == "0", "Ray begins one of its own otherwise"
        ray.begun = 2
        assert cluster.size() == 2
        assert ray.asked == ["init", "shutdown", "init"]
        ray.begun = 0
        for _ in range(2):
            with pytest.raises(EnvironmentProblem, match="Ray cluster auto cannot be used"):
                cluster.size()
        ray.begun = 3
        assert cluster.size() == 2


def test_without_ray_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(EnvironmentProblem, match=r"pip install 'evidentia\[ray\]'"):
        list(RayWorkers("local").run(doubling, None, [1]))

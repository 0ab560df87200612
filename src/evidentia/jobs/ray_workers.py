"""Bulk work on a Ray cluster: workers on other machines, or several beside this process.

A worker is an actor, which gets ready once and does one piece at a time. One that ends, with its
machine perhaps, is replaced, and its piece done again. The cluster is trusted as processes of one's
own are: it is sent what it works on, and never a key.
"""

import io
import os
import pickle
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from queue import SimpleQueue
from typing import Any, Final, Self

from evidentia import __version__
from evidentia.canonical import sha256_hex
from evidentia.errors import EnvironmentProblem, EvidentiaError
from evidentia.jobs.ray_worker import RayWorker
from evidentia.loading.pieces import Ready, told
from evidentia.loading.workers import (
    SETTINGS,
    Answers,
    Bulk,
    Done,
    Refusal,
    WorkerEndedError,
    cores,
    done_by,
)

LOCAL: Final = "local"
"""The address of a cluster that is begun here, and ends with this process."""
PIECE_SECONDS: Final = 3_600.0
"""How long one piece may take; most take seconds."""
READY_SECONDS: Final = 900.0
"""How long a worker may take to get ready, and to find room on the cluster."""
IDLE_SECONDS: Final = 300.0
"""How long a worker is kept that has nothing to do: it has loaded the model."""
_REACHED_SECONDS: Final = 5.0
_LOOKS_SECONDS: Final = 15.0
_OBJECTS: Final = 128 * 2**20
"""How many bytes of objects a cluster holds that is begun here: what is sent is small."""
_NAMESPACE: Final = "evidentia"
_connecting = threading.Lock()


@dataclass(slots=True)
class _Actor:
    """A worker of the cluster, and what it was told."""

    handle: Any
    told: str
    free_since: float = field(default=0.0)


class RayWorkers(Bulk):
    """The workers of a Ray cluster, as many as it has CPUs; threads may share it.

    The address is `local`, `auto`, `host:port` of a cluster that this machine is part of, or
    `ray://host:port` of one that it is not. Nothing is asked before there is work.
    """

    def __init__(self, address: str, *, idle_seconds: float = IDLE_SECONDS) -> None:
        self.address = address
        self.is_elsewhere = address != LOCAL
        self._idle_seconds = idle_seconds
        self._ray: Any = None
        self._is_ours = False
        self._is_looked_after = False
        self._changed = threading.Condition()
        self._actors: list[_Actor] = []
        self._free: list[_Actor] = []
        self._starting = 0
        self._closing = threading.Event()
        self._left = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def size(self) -> int:
        """Return how many pieces are done at once: how many CPUs the cluster has now."""
        found = self._asked(lambda ray: ray.cluster_resources())
        return max(1, int(found.get("CPU", 0)))

    def run(
        self, ready: Ready, what: Any, pieces: Iterable[Any], *, most: int | None = None
    ) -> Generator[Done, None, None]:
        """Have pieces done; give each once it is done. What is running is ended with the giving."""
        left = iter(pieces)
        some = list(islice(left, 1))
        if not some:
            return
        path = sys.path if not self.is_elsewhere else ()
        first = pickle.dumps(told(ready, what, path=path))
        size = self.size()
        count = min(size, most or size)
        run = _Run(self, first, size)
        threads = ThreadPoolExecutor(count, thread_name_prefix="evidentia-ray")
        try:
            yield from done_by(
                lambda piece: threads.submit(run.done, piece), chain(some, left), 2 * count
            )
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
            run.end()
            threads.shutdown()

    def close(self) -> None:
        """End the workers, and leave the cluster; end it too if it was begun here."""
        self._closing.set()
        with self._changed:
            actors, self._actors, self._free = self._actors, [], []
            self._changed.notify_all()
        for actor in actors:
            self._kill(actor)
        if self._ray is not None and self._is_ours:
            with suppress(Exception):
                self._ray.shutdown()
        self._left.set()
        self._ray = None

    # The cluster

    def _asked(self, question: Callable[[Any], Any]) -> Any:
        """Ask Ray something; raise an error of ours if it does not answer.

        A cluster that was there before may have begun anew since: it is connected to once more.
        """
        was_connected = self._ray is not None
        ray = self._connected()
        try:
            return question(ray)
        except Exception as error:
            self._leave()
            if was_connected:
                return self._asked(question)
            raise EnvironmentProblem(
                f"the Ray cluster {self.address} does not answer ({_said(error)}): does it still "
                "run?"
            ) from error

    def _leave(self) -> None:
        """Leave a cluster that does not answer, and its workers."""
        with self._changed:
            self._actors, self._free = [], []
            self._changed.notify_all()
        with _connecting:
            if self._ray is not None and self._is_ours:
                with suppress(Exception):
                    self._ray.shutdown()
            self._left.set()
            self._ray, self._is_ours = None, False

    def _connected(self) -> Any:
        with _connecting:
            if self._closing.is_set():
                raise EnvironmentProblem("the Ray workers were ended: start again")
            if self._ray is not None:
                return self._ray
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            os.environ["RAY_ENABLE_AUTO_CONNECT"] = "0"  # or what is lost begins anew, on its own
            try:
                import ray  # noqa: PLC0415 - an extra, and half a second
            except ImportError as error:
                raise EnvironmentProblem(
                    f"bulk work on Ray needs more packages ({error.name}): pip install "
                    "'evidentia[ray]'"
                ) from None
            if not ray.is_initialized():
                self._refuse_nothing_there()
                try:
                    with _uninterrupted(), _without_settings():
                        self._begin(ray)
                except Exception as error:
                    with suppress(Exception):
                        ray.shutdown()
                    raise EnvironmentProblem(
                        f"the Ray cluster {self.address} cannot be used ({_said(error)}): does it "
                        "run? One that asks for a token needs RAY_AUTH_MODE=token, and the token "
                        "in ~/.ray/auth_token"
                    ) from error
                self._is_ours = True
            self._ray = ray
            if not self._is_looked_after:
                threading.Thread(target=self._look_after, name="evidentia-ray", daemon=True).start()
                self._is_looked_after = True
        return ray

    def _begin(self, ray: Any) -> None:
        """Connect in a thread that stays: a cluster's processes end with the one that began it."""
        begun: SimpleQueue[Exception | None] = SimpleQueue()
        self._left = left = threading.Event()

        def begin() -> None:
            try:
                ray.init(**self._how())
            except Exception as error:  # noqa: BLE001 - it is raised below
                begun.put(error)
                return
            begun.put(None)
            left.wait()

        threading.Thread(target=begin, name="evidentia-ray-begins", daemon=True).start()
        error = begun.get()
        if error is not None:
            raise error

    def _refuse_nothing_there(self) -> None:
        """Raise at once where nothing listens: Ray itself asks for minutes."""
        host, _, port = self.address.removeprefix("ray://").rpartition(":")
        if not host:
            return
        try:
            with socket.create_connection((host.strip("[]"), int(port)), _REACHED_SECONDS):
                return
        except (OSError, OverflowError) as error:
            raise EnvironmentProblem(
                f"the Ray cluster {self.address} cannot be reached ({error}): is the address "
                "right, and does it run?"
            ) from None

    def _how(self) -> dict[str, Any]:
        quiet = {"log_to_driver": False, "logging_level": "ERROR", "namespace": _NAMESPACE}
        if self.address != LOCAL:
            return {"address": self.address, **quiet}
        return {
            "address": LOCAL,
            "num_cpus": cores(),
            "include_dashboard": False,
            "object_store_memory": _OBJECTS,
            "_node_ip_address": "127.0.0.1",
            **quiet,
        }

    # Its workers

    def taken(self, first: bytes, most: int) -> "_Actor | EvidentiaError | WorkerEndedError":
        """Take a worker that was told this, or a new one once there is room; or say why not."""
        named = sha256_hex(first)
        with self._changed:
            while True:
                if self._closing.is_set():
                    return EnvironmentProblem("the Ray workers were ended: start again")
                found = next((one for one in self._free if one.told == named), None)
                if found is not None:
                    self._free.remove(found)
                    return found
                if len(self._actors) + self._starting < most:
                    break
                if self._free:
                    self._forget(self._free[0])
                    continue
                self._changed.wait(1.0)
            self._starting += 1
        try:
            return self._started(named, first)
        finally:
            with self._changed:
                self._starting -= 1
                self._changed.notify_all()

    def _started(self, named: str, first: bytes) -> "_Actor | EvidentiaError | WorkerEndedError":
        try:
            made = self._connected().remote(RayWorker).options(num_cpus=1, max_restarts=0).remote()
        except EvidentiaError as error:
            return error
        except Exception as error:  # noqa: BLE001 - Ray has many, and none of them is ours
            return _ended(error, is_unready=True)
        actor = _Actor(made, named)
        with self._changed:
            self._actors.append(actor)
        answer = self.answer(actor, made.get_ready, (__version__, first), READY_SECONDS)
        if isinstance(answer, WorkerEndedError):
            answer.is_unready = True
            return answer
        if isinstance(answer, Refusal):
            self.forget(actor)
            return answer.error
        return actor

    def answer(self, actor: _Actor, method: Any, asked: tuple[Any, ...], seconds: float) -> Any:
        """Return what a worker answers; one that does not is ended."""
        try:
            data = self._ray.get(method.remote(*asked), timeout=seconds)
            return Answers(io.BytesIO(data)).load()
        except Exception as error:  # noqa: BLE001 - as above
            self.forget(actor)
            return _ended(error)

    def given_back(self, actor: _Actor) -> None:
        """Keep a worker for who needs one that was told the same."""
        with self._changed:
            if actor in self._actors:
                actor.free_since = time.monotonic()
                self._free.append(actor)
                self._changed.notify_all()

    def forget(self, actor: _Actor) -> None:
        """End a worker."""
        with self._changed:
            self._forget(actor)
            self._changed.notify_all()

    def _forget(self, actor: _Actor) -> None:
        for known in (self._actors, self._free):
            if actor in known:
                known.remove(actor)
        self._kill(actor)

    def _kill(self, actor: _Actor) -> None:
        with suppress(Exception):  # it has ended, or the cluster has
            self._ray.kill(actor.handle, no_restart=True)

    def _look_after(self) -> None:
        """Let go of workers that have had nothing to do for long: others may need the room."""
        while not self._closing.wait(min(_LOOKS_SECONDS, self._idle_seconds)):
            since = time.monotonic() - self._idle_seconds
            with self._changed:
                for one in [one for one in self._free if one.free_since < since]:
                    self._forget(one)


class _Run:
    """One run of pieces: which workers are at them."""

    def __init__(self, workers: RayWorkers, first: bytes, most: int) -> None:
        self._workers = workers
        self._first = first
        self._most = most
        self._by_id: dict[int, _Actor] = {}
        self._lock = threading.Lock()
        self._has_ended = False

    def done(self, piece: Any) -> Any:
        """Do a piece, by a worker that is free."""
        actor = self._workers.taken(self._first, self._most)
        if isinstance(actor, WorkerEndedError):
            return actor
        if isinstance(actor, EvidentiaError):
            return Refusal(actor)
        with self._lock:
            self._by_id[id(actor)] = actor
            has_ended = self._has_ended
        if has_ended:
            self._workers.given_back(actor)
            return WorkerEndedError(0, said="it was not begun")
        asked = pickle.dumps(piece, protocol=pickle.HIGHEST_PROTOCOL)
        answer = self._workers.answer(actor, actor.handle.do, (asked,), PIECE_SECONDS)
        with self._lock:
            self._by_id.pop(id(actor), None)
        self._workers.given_back(actor)
        return answer

    def end(self) -> None:
        """End the workers that are at a piece: nobody waits for what they answer."""
        with self._lock:
            self._has_ended = True
            busy = list(self._by_id.values())
        for actor in busy:
            self._workers.forget(actor)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let Ctrl-C wait: where processes are forked, it can leave a lock of `logging` held."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    told: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: told.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if told:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def _without_settings() -> Iterator[None]:
    """Start processes without our settings, among which are a key's secrets."""
    own = {name: value for name, value in os.environ.items() if name.startswith(SETTINGS)}
    for name in own:
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(own)


def _ended(error: Exception, *, is_unready: bool = False) -> WorkerEndedError:
    took_too_long = isinstance(error, TimeoutError)
    return WorkerEndedError(
        1, took_too_long=took_too_long, is_unready=is_unready, said=f"on Ray: {_said(error)}"
    )


def _said(error: Exception) -> str:
    """Return what Ray says, in one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}"[:300] if lines else type(error).__name__

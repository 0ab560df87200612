"""Reading a lake that is far away before a lock is taken, so that no one waits for a network."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import partial
from io import BufferedReader, BytesIO
from types import MappingProxyType
from typing import Any, NoReturn, cast

from evidentia.errors import EvidentiaError
from evidentia.store.lake import Lake, LakeWriter


class NotReadError(Exception):
    """Ends a transaction that has met bytes of the lake which were not read before it."""

    def __init__(self, digest: str) -> None:
        super().__init__(digest)
        self.digest = digest


class ReadAhead:
    """What was read of a lake before a transaction, or why it could not be."""

    def __init__(self) -> None:
        self._known: dict[str, bytes | EvidentiaError] = {}
        self._reads = False

    def read(self, lake: Lake, digest: str) -> None:
        """Read bytes, for the transaction to find them."""
        try:
            self._known[digest] = lake.get(digest)
        except EvidentiaError as error:
            self._known[digest] = error

    @contextmanager
    def given(self) -> Iterator[None]:
        """Have lakes give in this block what was read before, where they are far away."""
        token = AHEAD.set(self)
        try:
            yield
        finally:
            AHEAD.reset(token)

    @contextmanager
    def reading_all(self) -> Iterator[None]:
        """Have lakes read in this block, and remember what they read for a later one."""
        self._reads = True
        try:
            with self.given():
                yield
        finally:
            self._reads = False

    def of(self, lake: Lake) -> Lake:
        """Return a lake that gives what was read; a near one is read as it is."""
        if not lake.is_remote:
            return lake
        return _LakeAhead(self._known, partial(self.read, lake) if self._reads else _refuse_to_read)


def _refuse_to_read(digest: str) -> NoReturn:
    raise NotReadError(digest)


AHEAD: ContextVar[ReadAhead | None] = ContextVar("AHEAD", default=None)
"""What was read for the transaction that is under way."""


@contextmanager
def reading_nothing() -> Iterator[None]:
    """Have lakes that are far away give in this block what was read before it, if anything was."""
    with nullcontext() if AHEAD.get() else ReadAhead().given():
        yield


class _LakeAhead(Lake):
    """A lake under a lock: it gives what was read before, and nothing else."""

    is_remote = True

    def __init__(
        self, known: Mapping[str, bytes | EvidentiaError], read: Callable[[str], None]
    ) -> None:
        self._known, self._read = known, read

    def shared(self) -> None:
        """Return nothing: what other tenants have is not asked for under a lock."""

    def get(self, digest: str) -> bytes:
        """Return bytes that were read before, or raise what reading them did."""
        if digest not in self._known:
            self._read(digest)
        found = self._known[digest]
        if isinstance(found, EvidentiaError):
            raise found
        return found

    @contextmanager
    def open(self, digest: str) -> Iterator[BufferedReader]:
        """Give bytes that were read before as a stream."""
        with BufferedReader(cast("Any", BytesIO(self.get(digest)))) as file:
            yield file

    def check(self, digest: str) -> int:
        """Return how many bytes a digest has."""
        return len(self.get(digest))

    def holds(self, digest: str) -> NoReturn:
        """Refuse: nothing that holds a lock asks this."""
        self._refuse(digest)

    def put(self, data: bytes, *, copy: int = 0) -> NoReturn:
        """Refuse: what is kept is kept before the lock is taken."""
        self._refuse(data, copy)

    def put_all(
        self, data: Collection[bytes], *, copies: Mapping[str, int] = MappingProxyType({})
    ) -> NoReturn:
        """Refuse, as `put`."""
        self._refuse(data, copies)

    def writer(self) -> AbstractContextManager[LakeWriter]:
        """Refuse, as `put`."""
        self._refuse()

    def digests(self) -> NoReturn:
        """Refuse: nothing that holds a lock lists a lake."""
        self._refuse()

    def remove(self, digest: str, *, through: int = 0) -> NoReturn:
        """Refuse: what is removed is removed once the transaction is durable."""
        self._refuse(digest, through)

    def _refuse(self, *_: object) -> NoReturn:
        raise RuntimeError("a lake that is far away is asked while a lock is held")

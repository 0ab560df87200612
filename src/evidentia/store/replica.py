"""Reading from a replica: what may be old is read there, and what decides is not.

Nothing is read that is older than the moment at which it was asked for: where the primary was then,
the replica must be. So whoever has just written sees it, whichever server they ask. A replica that
is behind, gone, or of another database is passed over, and the primary asked.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from evidentia.errors import EnvironmentProblem, EvidentiaError
from evidentia.logs import get_logger

_WAIT_SECONDS: Final = 0.25
"""How long a replica is waited for that is behind: it mostly is by milliseconds."""
_LOOK_SECONDS: Final = 0.005
_AGAIN_SECONDS: Final = 5.0
"""After what time a replica is asked again that was gone, or behind for too long."""
# The timeline on a standby is that of what is on its disk for good: behind a failover it may say an
# older one for some minutes, and never one that it doesn't follow.
_TIMELINE: Final = """
    greatest((pg_control_checkpoint()).timeline_id,
    (pg_control_recovery()).min_recovery_end_timeline)"""
_PRIMARY: Final = f"""
    SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()
    ELSE pg_current_wal_flush_lsn() END::text, current_database(), system_identifier,
    CASE WHEN pg_is_in_recovery() THEN {_TIMELINE}
    ELSE ('x' || substr(pg_walfile_name(pg_current_wal_flush_lsn()), 1, 8))::bit(32)::int END
    FROM pg_control_system()"""  # noqa: S608 - our own
_IS_SAME: Final = f"""
    SELECT pg_is_in_recovery() AND current_database() = %s AND system_identifier = %s
    AND {_TIMELINE} = %s FROM pg_control_system()"""  # noqa: S608 - our own
_HAS: Final = "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn"
_log = get_logger("store")


class ReplicaLostError(EnvironmentProblem):
    """A replica ended a query: it went away, or had to forget what was read. Ask the primary."""


Connect = Callable[[], AbstractContextManager[Connection]]
"""Gives a connection, which no transaction has begun on."""
_Place = tuple[str, str, int, int]
"""Where a primary is in its log, the database, the identity of the servers that share it, and which
of the histories that failovers make of one it follows."""


@dataclass(slots=True)
class _Asked:
    """Where the primary was when something was asked for that may be old; None if not known yet."""

    at: _Place | None = None
    wrote: bool = False


_asked: ContextVar[_Asked | None] = ContextVar("asked", default=None)


@contextmanager
def may_be_old(*, old: bool = True) -> Iterator[None]:
    """Let what is read in this block come from a replica that is as new as its beginning.

    With `old=False`, or once something was written in it, all of it comes from the primary.
    """
    token = _asked.set(_Asked() if old else None)
    try:
        yield
    finally:
        _asked.reset(token)


def is_asked() -> bool:
    """Whether what is read now may come from a replica."""
    asked = _asked.get()
    return asked is not None and not asked.wrote


def has_written() -> None:
    """Have all that follows in this block come from the primary."""
    asked = _asked.get()
    if asked is not None:
        asked.wrote = True


class Replica:
    """A copy that follows the primary; `used` and `passed_over` count what was read from where."""

    def __init__(self, connect: Connect, where: str, driver_error: type[Exception]) -> None:
        self.where = where
        self._errors = (SQLAlchemyError, EvidentiaError, driver_error)
        self.used = self.passed_over = 0
        self._connect = connect
        self._not_before = 0.0

    @contextmanager
    def reading(self, primary: Connect) -> Iterator[Connection]:
        """Give a connection to the replica, or to the primary where that one is of no use now."""
        asked = _asked.get()
        with ExitStack() as stack:
            connection = None if asked is None else self._caught_up(stack, asked, primary)
            if connection is None:
                self.passed_over += 1
                yield stack.enter_context(primary())
                return
            self.used += 1
            try:
                yield connection
            except self._errors as error:
                if isinstance(error, EvidentiaError):  # of what was read, not of reading it
                    raise
                self._pass_over(str(error))
                raise ReplicaLostError(f"the replica {self.where} ended a query") from error

    def _caught_up(self, stack: ExitStack, asked: _Asked, primary: Connect) -> Connection | None:
        """Return a connection to the replica once it is where the primary was; None if not soon."""
        if asked.wrote or time.monotonic() < self._not_before:
            return None
        if asked.at is None:
            with primary() as connection:
                asked.at = _place_of(connection)
        try:
            connection = stack.enter_context(self._connect())
            if self._is_there(connection, asked.at):
                return connection
        except self._errors as error:
            self._pass_over(str(error))
        stack.close()
        return None

    def _is_there(self, connection: Connection, at: _Place) -> bool:
        """Whether the replica has all that the primary had; waits a moment for it."""
        position, *identity = at
        if not _says(connection, _IS_SAME, identity):
            self._pass_over("it is no standby of this database, or follows another past of it")
            return False
        end = time.monotonic() + _WAIT_SECONDS
        while not _says(connection, _HAS, [position]):
            if time.monotonic() > end:
                self._pass_over(f"it is more than {_WAIT_SECONDS} seconds behind")
                return False
            time.sleep(_LOOK_SECONDS)
        return True

    def _pass_over(self, reason: str) -> None:
        self._not_before = time.monotonic() + _AGAIN_SECONDS
        said = next(iter(reason.strip().splitlines()), "")
        _log.warning("replica_passed_over", replica=self.where, reason=said)


def _place_of(primary: Connection) -> _Place:
    position, name, system, timeline = _asked_of(primary, _PRIMARY, ())
    return str(position), str(name), int(system), int(timeline)


def _says(connection: Connection, sql: str, values: Sequence[object]) -> bool:
    return _asked_of(connection, sql, values)[0] is True


def _asked_of(connection: Connection, sql: str, values: Sequence[object]) -> tuple[Any, ...]:
    """Return the row of a query of its own, outside of transactions: nothing more is sent."""
    driver: Any = connection.connection.driver_connection
    row: tuple[Any, ...] = driver.execute(sql, values).fetchone()
    return row

"""The schema: brought up to date by migrations, so that neighbouring programs share one.

A migration is an expansion, which the program before goes on working with, or a contraction, which
takes away what that one needs. What is upgraded says from which program on it can be used.
"""

import random
import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from sqlalchemy import Connection, inspect

from evidentia.errors import EnvironmentProblem, EvidentiaError, IntegrityError
from evidentia.store.database import (
    Database,
    LockWaitError,
    hold,
    is_sqlite,
    run,
    stamp,
    stamped,
    wait_for_locks,
)
from evidentia.store.sql import activity

HEAD = "0019"
"""The newest revision."""
OLDEST = "0019"
"""The oldest one that this program works with: the one before a contraction that may wait."""
_SQLITE_HEAD = "0018"
"""The newest one that changes anything in SQLite, which some revisions leave as it is."""

_REVISION = re.compile("[0-9]{4}")
_UPGRADES = 0x65766964
"""The advisory lock under which PostgreSQL is upgraded, by one process at a time."""
_BASE: Final = 10_000
"""What the database keeps beside its schema: the revision, times this, and whom it serves."""
_LOCK_SECONDS: Final = 2.0
"""How long an upgrade waits for a lock: whoever comes behind it waits as long."""
_TRIES: Final = 60
_PAUSE_SECONDS: Final = 1.0

Phase = Literal["expansion", "contraction"]


class Step(NamedTuple):
    """One revision that is to be applied, and from which program's revision on it can be used.

    `phase` is None for those made before there were two: no other program works with them.
    """

    revision: str
    title: str
    phase: Phase | None
    serves: str

    def __str__(self) -> str:
        said = {
            None: "all programs but this version's stop",
            "expansion": f"programs from schema {self.serves} on go on",
            "contraction": f"programs older than schema {self.serves} stop",
        }[self.phase]
        kind = "" if self.phase is None else f"{self.phase}, "
        return f"{self.revision} ({kind}{said}): {self.title}"


class State(NamedTuple):
    """Where a database is: its revision, and the oldest program's that it says it serves."""

    revision: str | None
    serves: str | None


Tell = Callable[[str], None]


def revision(connection: Connection) -> str | None:
    """Return the database's revision, or None if it has no schema yet.

    Raise `IntegrityError` if it says another thing than one revision: none of ours left it so.
    """
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = list(run(connection, "SELECT version_num FROM alembic_version").scalars())
    if len(found) != 1 or not _REVISION.fullmatch(str(found[0])):
        said = ", ".join(repr(one)[:40] for one in found[:3]) or "nothing"
        raise IntegrityError(
            f"table alembic_version has {said} where one revision of the schema should be, such as "
            f"'{HEAD}': someone changed it. Compare the database with a backup"
        )
    return str(found[0])


def state(connection: Connection) -> State:
    """Return the database's revision, and what it says of the programs that can use it."""
    found = revision(connection)
    number = None if found is None else stamped(connection)
    of, serves = divmod(number or 0, _BASE)
    return State(found, f"{serves:04d}" if serves and f"{of:04d}" == found else None)


def head(of: Database | Connection) -> str:
    """Return the revision that this program works with."""
    embedded = of.is_sqlite if isinstance(of, Database) else is_sqlite(of)
    return _SQLITE_HEAD if embedded else HEAD


def oldest(database: Database) -> str:
    """Return the oldest revision that this program works with."""
    return min(OLDEST, head(database))


def is_older(database: Database) -> bool:
    """Whether an older program made the database's schema."""
    with database.read() as connection:
        found = revision(connection)
    return found is not None and found < head(database)


def is_served(found: State) -> bool:
    """Whether a newer schema says that this program can use it."""
    return found.serves is not None and found.serves <= HEAD


def refusal(database: Database) -> str | None:
    """Return why this program cannot work with the database's schema; None if it can."""
    with database.read() as connection:
        found = state(connection)
    needed, where = head(database), database.where
    if found.revision is None:
        return f"{where} has no schema yet: run 'evidentia db upgrade'"
    if found.revision < oldest(database):
        return (
            f"{where} has schema {found.revision}, this program needs {needed}: "
            "run 'evidentia db upgrade'"
        )
    if found.revision > needed and not is_served(found):
        return _newer(where, found.revision, needed)
    return None


def require_current(database: Database) -> None:
    """Raise `EnvironmentProblem` unless this program can work with the database's schema.

    It knows that one, or the one before a contraction that waits, or it is a newer one that says it
    serves this program.
    """
    problem = refusal(database)
    if problem is not None:
        raise EnvironmentProblem(problem)


def planned(
    database: Database, *, contract: bool, to: str | None = None
) -> tuple[list[Step], list[Step]]:
    """Return the revisions that an upgrade would apply, oldest first, and those it would leave.

    Without `contract`, a schema that is in use is left as it is from the first contraction on.
    """
    with database.read() as connection:
        found = revision(connection)
    last = to or head(database)
    if found is not None and found >= last:
        return [], []
    steps = [one for one in _steps(last) if found is None or one.revision > found]
    phases = [one.phase for one in steps]
    waits = not contract and found is not None and "contraction" in phases
    end = phases.index("contraction") if waits else len(steps)
    return steps[:end], steps[end:]


def upgrade(
    database: Database,
    *,
    to: str | None = None,
    contract: bool = True,
    tell: Tell = lambda _: None,
) -> bool:
    """Bring the schema up to date, or to a revision; return whether anything had to be done.

    Without `contract` it stops before the first contraction of a schema that is in use. Processes
    may upgrade at once. On PostgreSQL no lock is waited for longer than two seconds at a time, so
    that no one else waits long behind the upgrade; a contraction is refused while older programs
    are connected.
    """
    with database.read() as connection:
        found = state(connection)
    if found.revision is not None and found.revision >= head(database):
        _refuse_newer(database, found)
        return False
    steps, _ = planned(database, contract=contract, to=to)
    done = False
    for some in _together(database, steps, fresh=found.revision is None):
        done |= _tried(database, some, tell)
    return done


def explained(database: Database) -> str | None:
    """Return what the schema has to do with a statement that failed; None if nothing."""
    with suppress(EvidentiaError):
        return refusal(database)
    return None


def _refuse_newer(database: Database, found: State) -> None:
    needed = head(database)
    if found.revision is not None and found.revision > needed and not is_served(found):
        raise EnvironmentProblem(_newer(database.where, found.revision, needed))


def _newer(where: str, found: str, needed: str) -> str:
    return (
        f"{where} has schema {found}, made by a newer program; this one knows {needed}: "
        "upgrade evidentia"
    )


def _together(database: Database, steps: Sequence[Step], *, fresh: bool) -> list[list[Step]]:
    """Return the steps of each transaction.

    Where no one else is at work, all are one; else each that has a phase is one, so that its locks
    are held no longer than it takes.
    """
    if database.is_sqlite or fresh:
        return [list(steps)] if steps else []
    earlier = [one for one in steps if one.phase is None]
    return [*([earlier] if earlier else []), *([one] for one in steps if one.phase is not None)]


def _tried(database: Database, steps: Sequence[Step], tell: Tell) -> bool:
    """Apply steps in one transaction, as often as others' locks are in the way."""
    left = _TRIES
    while True:
        left -= 1
        try:
            return _applied(database, steps, tell)
        except LockWaitError:
            if not left:
                raise
            tell(f"{steps[-1].revision}: others hold what it needs; trying again, {left} times yet")
            time.sleep(_PAUSE_SECONDS * random.uniform(0.5, 1.5))  # noqa: S311 - no secret


def _applied(database: Database, steps: Sequence[Step], tell: Tell) -> bool:
    """Apply steps, unless another process has; return whether this one did."""
    from alembic import command  # noqa: PLC0415 - slow to import, and rarely needed

    from evidentia.store.sql import roles  # noqa: PLC0415 - it knows this module

    target = steps[-1]
    if steps[0].phase is not None:
        tell(f"applying {target}")
    with database.across.write() as connection:  # a migration of data is of all tenants
        if steps[0].phase is not None:
            wait_for_locks(connection, _LOCK_SECONDS)
        hold(connection, _UPGRADES)
        found = state(connection)  # again, now that no one else can upgrade
        _refuse_newer(database, found)
        if found.revision is not None and found.revision >= target.revision:
            return False
        if target.phase == "contraction" and found.revision is not None:
            _refuse_connected(connection, target)
        if found.revision is not None and not database.is_sqlite:
            roles.act_as_owner(connection)
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, target.revision)
        if not database.is_sqlite:
            roles.renew(connection)
        stamp(connection, int(target.revision) * _BASE + int(target.serves))
    return True


def _refuse_connected(connection: Connection, step: Step) -> None:
    """Raise `EnvironmentProblem` while programs are connected that a contraction would stop."""
    older = [one for one in activity.programs(connection) if one.schema < step.serves]
    if older:
        said = ", ".join(map(str, older))
        raise EnvironmentProblem(
            f"contraction {step.revision} would stop programs that are connected ({said}): upgrade "
            "and restart them first; 'evidentia db status' names them"
        )


def _steps(needed: str) -> list[Step]:
    from alembic.script import ScriptDirectory  # noqa: PLC0415 - as above

    scripts = ScriptDirectory(str(_migrations()))
    found: list[Step] = []
    for script in scripts.walk_revisions():
        said: Any = script.module
        title = (said.__doc__ or "").strip().splitlines()[0].rstrip(".")
        phase, serves = getattr(said, "phase", None), getattr(said, "serves", script.revision)
        found.append(Step(script.revision, title, phase, serves))
    return sorted(one for one in found if one.revision <= needed)


def _config() -> Any:
    from alembic.config import Config  # noqa: PLC0415 - as above

    config = Config()
    config.set_main_option("script_location", str(_migrations()).replace("%", "%%"))
    return config


def listing_of(dialect: str, revision: str | None = None) -> Path:
    """Return the file with the listing of the newest schema, or of an older one, if it is there."""
    name = dialect if revision is None else f"{dialect}-{revision}"
    return _migrations() / f"{name}.schema"


def _migrations() -> Path:
    return Path(str(files(__package__) / "migrations"))

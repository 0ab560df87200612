"""Kills the upgrade of an older database at random moments, and looks at what is left of it.

Whatever the moment, the database is the older one or the newer one to the last value, and never
one between; upgraded again it is what an upgrade that nobody killed gives, and the audit says the
same of it. Run by `scripts/fuzz faults upgrades`; the tests kill a few of each revision.
"""

import os
import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import alembic.command
import alembic.config  # noqa: F401 - so that a forked process need not import it

from evidentia.store import opening, schema
from evidentia.store.database import Database, _sqlite_module
from evidentia.workspace import open_workspace
from survival.flipping import DATABASE

BEYOND: Final = 2
"""Kills come within so many times the time that an upgrade takes: some of them after it."""


@dataclass(frozen=True, slots=True)
class Upgraded:
    """An older database, and what an upgrade that nobody kills makes of it."""

    older: str
    newer: str
    findings: tuple[str, ...]
    seconds: float


def by_command(home: Path) -> None:
    """Upgrade as `evidentia db upgrade` does."""
    database, _ = opening.open_database(home)
    schema.upgrade(database)
    database.close()


def by_opening(home: Path) -> None:
    """Upgrade as whatever opens a workspace to write does."""
    open_workspace(home).close()


WAYS: Final = (by_command, by_opening)


def state(home: Path) -> str:
    """Return a digest of the schema and of every stored value."""
    connection = _sqlite_module().connect(str(home / DATABASE))
    try:
        sql = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
        listed = connection.execute(sql).fetchall()
        digest = sha256(repr(listed).encode())
        for kind, table, *_ in listed:
            if kind == "table":
                rows = connection.execute(f'SELECT * FROM "{table}" NOT INDEXED').fetchall()
                digest.update(repr((table, sorted(map(repr, rows)))).encode())
        return digest.hexdigest()
    finally:
        connection.close()


def findings(home: Path) -> tuple[str, ...]:
    """Return what the audit says of an upgraded workspace."""
    with open_workspace(home, create=False) as workspace:
        return workspace.audit().findings


def killed(work: Callable[[], object], after: float) -> bool:
    """Do something in a forked process and kill it so long after it began; return whether it was.

    It begins when `schema.upgrade` is called.
    """
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            upgrade = schema.upgrade

            def began(database: Database, **how: Any) -> bool:
                os.write(writing, b".")
                return upgrade(database, **how)

            schema.upgrade = began
            work()
            os._exit(0)
        finally:
            os._exit(1)
    os.close(writing)
    os.read(reading, 1)
    os.close(reading)
    time.sleep(after)
    os.kill(pid, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status not in {0, -signal.SIGKILL}:
        raise AssertionError(f"the upgrade ended with status {status}")
    return status != 0


class Upgrades:
    """Kills upgrades of homes with an older database, and tallies what was left."""

    def __init__(self, work: Path) -> None:
        self._case = work / "upgraded"
        self._known: dict[Path, Upgraded] = {}
        self.tally: Counter[str] = Counter()
        self.problems: list[str] = []

    def kill(self, home: Path, number: int, seed: int) -> None:
        """Kill one upgrade; which moment it is follows from the number and the seed."""
        known = self._known.get(home)
        if known is None:
            known = self._known[home] = self._whole(home)
        chance = random.Random(f"{seed}/{home.parent.name}/{number}")
        after, way = chance.uniform(0, BEYOND * known.seconds), chance.choice(WAYS)
        self._copy(home)
        was_killed = killed(lambda: way(self._case), after)
        for problem in self._problems(known, was_killed=was_killed):
            where = f"{home.parent.name}, {way.__name__}, kill {number}, after {after * 1e3:.1f} ms"
            self.problems.append(f"{where}: {problem}")

    def _problems(self, known: Upgraded, *, was_killed: bool) -> list[str]:
        left = state(self._case)
        named = {known.older: "older", known.newer: "newer"}.get(left, "between")
        self.tally[f"{named}, {'killed' if was_killed else 'done before'}"] += 1
        problems = ["what is left is neither the older nor the newer"] if named == "between" else []
        by_command(self._case)
        if state(self._case) != known.newer:
            problems.append("upgraded again, it is not what it should be")
        if (found := findings(self._case)) != known.findings:
            problems.append(f"the audit says otherwise: {found}")
        return problems

    def _whole(self, home: Path) -> Upgraded:
        self._copy(home)
        older = state(self._case)
        took = []
        for way in (*WAYS, *WAYS):
            self._copy(home)
            began = time.monotonic()
            way(self._case)
            took.append(time.monotonic() - began)
        found = state(self._case), findings(self._case)
        return Upgraded(older, *found, sorted(took)[len(took) // 2])

    def _copy(self, home: Path) -> None:
        if self._case.exists():
            shutil.rmtree(self._case)
        shutil.copytree(home, self._case)

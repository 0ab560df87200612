"""Flips single bits all over a real database, and asks what the product says of it.

A flip is harmless if every stored value and every answer of the product is as before; found if an
audit says that something does not hold, or what was asked is refused; silent otherwise. Silent
flips, and errors that are none of ours, are problems. Run by `scripts/fuzz faults flips`.
"""

import json
import os
import random
import shutil
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from evidentia.errors import EvidentiaError
from evidentia.store.database import _sqlite_module
from evidentia.workspace import Workspace, open_workspace

DATABASE: Final = "evidentia.db"
PAGE: Final = 4096
CITED: Final = 20
"""Of so many passages one is cited; all of them are read."""


def whole_file(home: Path) -> bytes:
    """Return a database as one file, with nothing left in its WAL."""
    connection = _sqlite_module().connect(str(home / DATABASE))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return (home / DATABASE).read_bytes()


def has_one_audit() -> bool:
    """Whether the product has the audit over everything, or one for each part."""
    return hasattr(Workspace, "audit")


def questions() -> dict[str, Callable[[Workspace], Any]]:
    """Return what the product is asked, by name; each gives something that can be compared."""
    return {
        "records": lambda ws: ws.trail.records(),
        "entries": lambda ws: ws.trail.entries(),
        "by kind": lambda ws: ws.trail.entries(kind="pack"),
        "by subject": lambda ws: ws.trail.entries(subject="base-7"),
        "keys": lambda ws: [str(one.key) for one in ws.trail.keys()],  # noqa: SIM118 - not a mapping's
        "documents": lambda ws: ws.documents.list(),
        "chunks": lambda ws: [ws.documents.chunks(one) for one in ws.documents.list()],
        "citations": lambda ws: [
            ws.documents.resolve(chunk.chunk_hash[:12])
            for one in ws.documents.list()
            for chunk in ws.documents.chunks(one)[::CITED]
        ],
        "ledgers": lambda ws: ws.ledgers.list(),
        "ledger": lambda ws: ws.ledgers.get("latest"),
        "bundles": lambda ws: ws.bundles.list(),
        "bundle items": lambda ws: [ws.bundles.items(one) for one in ws.bundles.ids()],
        "runs": lambda ws: [ws.bundles.runs(one) for one in ws.bundles.ids()],
        "tool calls": lambda ws: [ws.tools.calls(one.decision_id) for one in ws.packs.list()],
        "packs": lambda ws: ws.packs.list(),
        "pack": lambda ws: ws.packs.get("latest"),
        "held": lambda ws: sorted(ws.packs.held()),
        "retention": lambda ws: ws.packs.retention(),
        "grants": lambda ws: ws.access.grants(),
    }


def answers(home: Path) -> dict[str, str]:
    """Return a digest of what the product answers to each question, or that it refuses."""
    found = dict.fromkeys(questions(), "refused")
    with suppress(EvidentiaError), open_workspace(home, create=False) as workspace:
        for name, question in questions().items():
            with suppress(EvidentiaError):
                found[name] = sha256(repr(question(workspace)).encode()).hexdigest()
    return found


def values(home: Path) -> str:
    """Return a digest of every stored value, read from the tables and not from an index."""
    connection = _sqlite_module().connect(str(home / DATABASE))
    connection.text_factory = bytes
    try:
        sql = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
        tables = [name.decode() for (name,) in connection.execute(sql)]
        digest = sha256()
        for table in tables:
            for row in connection.execute(f'SELECT * FROM "{table}" NOT INDEXED'):
                digest.update(repr(row).encode())
        return digest.hexdigest()
    except Exception as error:  # noqa: BLE001 - whatever SQLite finds wrong with its file
        return f"unreadable: {type(error).__name__}"
    finally:
        connection.close()


def holds(home: Path) -> bool:
    """Whether the product's audits find nothing wrong."""
    try:
        with open_workspace(home, create=False) as workspace:
            if has_one_audit():
                return bool(workspace.audit(workers=1).holds)
            return (
                workspace.trail.audit().holds
                and not workspace.ledgers.audit()
                and workspace.packs.audit().holds
            )
    except EvidentiaError:
        return False


class Flips:
    """Flips bits of one workspace's database, and tallies what came of it."""

    def __init__(self, home: Path, work: Path) -> None:
        self._home, self._case = home, work / "flipped"
        self._whole = whole_file(home)
        self._values, self._answers = values(home), answers(home)
        self.tally: Counter[str] = Counter()
        self.problems: list[str] = []
        if "refused" in self._answers.values() or not holds(home):
            raise RuntimeError(
                f"the workspace does not hold before anything is flipped: {self._answers}"
            )

    @property
    def pages(self) -> int:
        return len(self._whole) // PAGE

    def places(self, each: int, seed: int) -> Iterator[int]:
        """Give bits to flip: so many of every page."""
        for page in range(self.pages):
            chance = random.Random(f"{seed}/{page}")
            for _ in range(each):
                yield page * PAGE * 8 + chance.randrange(PAGE * 8)

    def flip(self, bit: int) -> str:
        """Flip one bit; return what came of it."""
        if self._case.exists():
            shutil.rmtree(self._case)
        shutil.copytree(self._home, self._case)
        for name in (f"{DATABASE}-wal", f"{DATABASE}-shm"):
            (self._case / name).unlink(missing_ok=True)
        data = bytearray(self._whole)
        data[bit // 8] ^= 1 << bit % 8
        (self._case / DATABASE).write_bytes(data)
        outcome = self._outcome()
        self.tally[outcome.partition(":")[0]] += 1
        if outcome.startswith(("silent", "error")):
            self.problems.append(f"bit {bit} (page {bit // 8 // PAGE + 1}): {outcome}")
        return outcome

    def _outcome(self) -> str:
        """Ask in a process of its own, which damage may crash."""
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                said = self._looked_at()
            except BaseException as error:  # noqa: BLE001 - a forked process must not return
                place = traceback.extract_tb(error.__traceback__)[-1]
                said = f"error: {type(error).__name__}: {error} ({place.name})"
            os.write(writing, said.encode()[:4_000])
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            said = pipe.read().decode()
        status = os.waitpid(pid, 0)[1]
        return said or f"error: ended with status {os.waitstatus_to_exitcode(status)}"

    def _looked_at(self) -> str:
        stored, said = values(self._case), answers(self._case)
        changed = [name for name, answer in said.items() if answer != self._answers[name]]
        if stored == self._values and not changed:
            holds(self._case)  # must not raise, whatever it says
            return "harmless"
        if not holds(self._case):
            return "found"
        if changed and all(said[name] == "refused" for name in changed):
            return "refused"
        what = [*changed, *(["stored values"] if stored != self._values else [])]
        return f"silent: {json.dumps(what)}"

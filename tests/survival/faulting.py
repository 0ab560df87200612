"""Fails system calls, one at a time, while the product's commands run, and then audits.

Each case runs one command on a copy of a workspace and fails its n-th system call that changes
something on disk: with an error, once or from then on; by writing only half; or by killing the
process there. Whatever happened, the command says so in one line and without a traceback, the
product's own audits hold, what was acknowledged is there, and the same command then succeeds.

Run by `scripts/fuzz faults`; the tests run some cases of each command.
"""

import argparse
import ctypes
import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from survival import commands, older
from survival.commands import Ended, audit, command
from survival.flipping import Flips, has_one_audit
from survival.upgrading import Upgrades
from tiled_log import TiledLog

SHIM: Final = Path(__file__).with_name("faults.c")
LOADED: Final = "EVIDENTIA_TESTS_FAULTS"
EXAMPLES: Final = Path(__file__).parents[2] / "examples"
HOME: Final = ".evidentia"
BASE_RECORDS: Final = 254
"""With the key and the rest, enough that what is appended fills a tile and begins another."""
BATCH: Final = 40
NOTHING_YET: Final = ("has no schema yet", "there is no log here yet", "this program needs")
"""What an audit may say where the command did not get to its end."""
NEVER: Final = 2**62
NO_PACK: Final = "a pack is mandatory, and there is none"


@dataclass(frozen=True, slots=True)
class Mode:
    """How a call fails: an error's number or one of the shim's own; once, or from then on."""

    error: int
    goes_on: bool = False
    opens: bool = False


MODES: Final = {
    "EIO once": Mode(errno.EIO),
    "ENOSPC from then on": Mode(errno.ENOSPC, goes_on=True),
    "half written": Mode(-2),
    "killed": Mode(-1),
    "EMFILE from then on": Mode(errno.EMFILE, goes_on=True, opens=True),
}


@dataclass(frozen=True, slots=True)
class Operation:
    """A command whose calls are failed, and how to see what it did.

    `done` gives what is there of it; `before` says what has to be there first.
    """

    arguments: tuple[str, ...]
    done: Callable[[Path], Any]
    base: str = "full"
    may_lack_pack: bool = False
    again: frozenset[int] = frozenset({0})
    """The exit codes that the same command may end with afterwards."""
    unfinished: str = ""
    """What an audit may say until the same command was run again, and never after."""


@dataclass(slots=True)
class Tally:
    """What a campaign did, and what it found."""

    cases: Counter[str] = field(default_factory=Counter)
    acknowledged: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


# What there is to be seen


def _json(folder: Path, *arguments: str) -> Any:
    ended = command(folder, *arguments, "--json")
    try:
        return json.loads(ended.out)
    except ValueError:
        return {}


def entries(folder: Path) -> int:
    """Return how many records the log has under the subjects that the cases append."""
    found = _json(folder, "trail", "log", "--kind", "evidence_record", "--limit", "10000")
    return sum(one["entry"]["subject"].startswith("new-") for one in found.get("entries", ()))


def erased(folder: Path) -> int:
    return len(_json(folder, "trail", "log", "--kind", "erasure").get("entries", ()))


def ledgers(folder: Path) -> int:
    return len(_json(folder, "ledger", "list").get("ledgers", ()))


def packs(folder: Path) -> int:
    return len(_json(folder, "pack", "list").get("packs", ()))


def documents(folder: Path) -> int:
    return len(_json(folder, "documents").get("documents", ()))


def removed(folder: Path) -> int:
    """Return how many entries take a document out."""
    found = _json(folder, "trail", "log", "--kind", "document").get("entries", ())
    return sum(one["entry"]["subject"].startswith("removed/") for one in found)


def synced(folder: Path) -> int:
    """Return how many documents were taken out, where the one that came is there."""
    found = _json(folder, "documents").get("documents", ())
    came = any(one["collection"] == "policies" and "Travel" in one["filename"] for one in found)
    return removed(folder) if came else 0


def forgotten(folder: Path) -> int:
    """Return how many documents were taken out, of the one that there was."""
    return 1 - documents(folder)


def bundles(folder: Path) -> int:
    return len(_json(folder, "bundle", "list").get("bundles", ()))


def exported(folder: Path) -> int:
    """Return whether the exported file is there; it must hold if it is."""
    if not (folder / "pack.json").exists():
        return 0
    ended = command(folder, "verify", "pack.json", "--key", _key(folder), "--json")
    if ended.code != 0:
        raise AssertionError(f"an exported pack does not hold: {ended.out} {ended.err}")
    return 1


def published(folder: Path) -> int:
    """Return how many entries a published log has; a stranger must be able to read them all."""
    if not (folder / "published" / "checkpoint").exists():
        return 0
    return TiledLog(folder / "published", _key(folder)).check()


def keys(folder: Path) -> int:
    return len(_json(folder, "keys").get("keys", ()))


def revision(folder: Path) -> int:
    """Return the schema's revision; it must be exactly that of its listing if it is the newest."""
    found = _json(folder, "db", "status")
    if found.get("revision") == found.get("needed") and found.get("differences"):
        raise AssertionError(f"the schema is not whole: {found['differences']}")
    return int(found.get("revision") or 0)


def _key(folder: Path) -> str:
    return str(_json(folder, "keys", "show")["public_key"])


OPERATIONS: Final = {
    "first append": Operation(
        ("trail", "append", "one.ndjson", "--idempotency-key", "k", "--json"), entries, "empty"
    ),
    "append": Operation(
        ("trail", "append", "one.ndjson", "--idempotency-key", "k", "--json"), entries
    ),
    "batch": Operation(
        ("trail", "append", "batch.ndjson", "--idempotency-key", "k", "--json"), entries
    ),
    "erase": Operation(
        ("trail", "erase", "3", "--reason", "law", "--by", "counsel", "--yes", "--json"),
        erased,
        again=frozenset({0, 2}),
    ),
    "ingest": Operation(("ingest", "new", "--json"), documents),
    "remove": Operation(
        ("documents", "remove", "policies/Remote_Work.md", "--yes", "--json"),
        removed,
        again=frozenset({0, 2}),
    ),
    "sync": Operation(
        (
            *("ingest", "moved/policies", "--sync", "--allow-removals"),
            *("--collection", "policies", "--json"),
        ),
        synced,
    ),
    "erase text": Operation(
        ("documents", "remove", "policies/Remote_Work.md", "--erase", "--yes", "--json"),
        forgotten,
        unfinished="its original is still in the lake",
    ),
    "bundle": Operation(("bundle", "build", "-c", "job.json", "--json"), bundles),
    "check": Operation(
        ("check", "answer.md", "--against", "policies", "--judges", "quote", "--json"), ledgers
    ),
    "seal": Operation(
        ("pack", "new", "decision.json", "--calls", "calls.json", "--ledger", "latest", "--json"),
        packs,
        "checked",
        may_lack_pack=True,
        again=frozenset({0, 2}),
    ),
    "export": Operation(
        ("pack", "export", "latest", "-o", "pack.json", "--force", "--json"), exported, "sealed"
    ),
    "publish": Operation(("trail", "publish", "published", "--json"), published, "grown"),
    "rotate": Operation(("keys", "rotate", "--json"), keys),
    **{
        f"migrate from {older_revision}": Operation(
            ("db", "upgrade", "--json"), revision, f"at {older_revision}"
        )
        for older_revision in older.revisions()
    },
}


# The workspaces that the cases begin with


class Bases:
    """Makes the workspaces that cases are copies of, each when it is first needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def copy(self, name: str, to: Path) -> None:
        if to.exists():
            shutil.rmtree(to)
        shutil.copytree(self._made(name), to)

    def _made(self, name: str) -> Path:
        place = self._folder / name.replace(" ", "-")
        if not place.exists():
            if name == "empty":
                _files(place)
            elif name == "full":
                self._grow("empty", place, *_FULL)
            elif name == "checked":
                self._grow("full", place, OPERATIONS["check"].arguments)
            elif name == "sealed":
                self._grow("checked", place, OPERATIONS["seal"].arguments)
            elif name == "decided":
                self._grow("sealed", place, *_DECIDED)
            elif name == "grown":
                publish = OPERATIONS["publish"].arguments
                self._grow("full", place, publish, OPERATIONS["batch"].arguments)
            else:
                base, _, taken = name.rpartition("at ")
                self.copy(base.strip() or "full", place)
                older.take_back(place / HOME / "evidentia.db", taken)
        return place

    def _grow(self, name: str, place: Path, *steps: tuple[str, ...]) -> None:
        self.copy(name, place)
        for step in steps:
            ended = command(place, *step)
            if ended.code != 0:
                raise RuntimeError(f"{step}: {ended.out} {ended.err}")


_FULL: Final = (
    ("trail", "append", "base.ndjson", "--json"),
    ("ingest", "policies", "--json"),
)


_DECIDED: Final = (
    ("ingest", "new", "--json"),
    ("documents", "remove", "new/Travel_and_Expenses.html", "--yes", "--json"),
    ("bundle", "build", "-c", "job.json", "--run", "run-1", "--json"),
    ("pack", "hold", "latest", "--reason", "a claim", "--json"),
    ("pack", "retention", "--years", "10", "--json"),
    ("pack", "grant", "noor", "approver", "--json"),
    ("trail", "erase", "3", "--reason", "law", "--by", "counsel", "--yes", "--json"),
    ("keys", "rotate", "--json"),
    ("trail", "verify", "--json"),
)


def _files(place: Path) -> None:
    """Write the files that commands read."""
    place.mkdir(parents=True)
    for name in ("answer.md", "decision.json", "calls.json"):
        shutil.copy(EXAMPLES / name, place / name)
    job = {"job_input": {"extra_params": {"evidence": ["Leave is 25 days."]}}}
    (place / "job.json").write_text(json.dumps(job))
    for folder, name in (
        ("policies", "Remote_Work.md"),
        ("new", "Travel_and_Expenses.html"),
        ("moved/policies", "Travel_and_Expenses.html"),
    ):
        (place / folder).mkdir(parents=True)
        shutil.copy(EXAMPLES / "policies" / name, place / folder / name)
    given = json.loads((EXAMPLES / "trail" / "records.ndjson").read_text().splitlines()[0])
    for name, subjects in (
        ("base", [f"base-{number}" for number in range(BASE_RECORDS)]),
        ("one", ["new-0"]),
        ("batch", [f"new-{number}" for number in range(BATCH)]),
    ):
        lines = [json.dumps(given | {"obligation_id": subject}) for subject in subjects]
        (place / f"{name}.ndjson").write_text("\n".join(lines) + "\n")


# A case


class Faults:
    """The shim that this process was loaded with."""

    def __init__(self) -> None:
        self._shim = ctypes.CDLL(None)
        self._shim.faults_failed.restype = ctypes.c_char_p
        self._shim.faults_seen.restype = ctypes.c_long

    def arm(self, below: Path, at: int, mode: Mode) -> None:
        folder = str(below).encode()
        self._shim.faults_arm(
            folder, ctypes.c_long(at), mode.error, int(mode.goes_on), int(mode.opens)
        )

    @property
    def seen(self) -> int:
        return int(self._shim.faults_seen())

    @property
    def failed(self) -> str:
        return bytes(self._shim.faults_failed()).decode()


class Campaign:
    """Runs cases of operations, and tallies what came of them."""

    def __init__(self, work: Path) -> None:
        self._work = work
        self._bases = Bases(work / "bases")
        self._case = work / "case"
        self._faults = Faults()
        self._before: dict[str, Any] = {}
        self._undisturbed: dict[str, str | None] = {}
        self.tally = Tally()

    def calls(self, name: str, mode: Mode) -> int:
        """Return how many calls of an operation could fail."""
        self._bases.copy(OPERATIONS[name].base, self._case)
        seen = self._work / "seen"
        ended = self._run(name, NEVER, mode, seen)
        if ended.code != 0:
            raise RuntimeError(f"{name}: {ended.out} {ended.err}")
        return int(seen.read_text().partition(" ")[0])

    def run(self, name: str, mode: str, at: int) -> None:
        """Run one case."""
        operation, case = OPERATIONS[name], self._case
        self._bases.copy(operation.base, case)
        if name not in self._before:
            self._before[name] = operation.done(case)
            if name.startswith("migrate"):
                command(case, *operation.arguments)
                self._undisturbed[name] = audit(case)
                self._bases.copy(operation.base, case)
        before = self._before[name]
        seen = self._work / "seen"
        seen.unlink(missing_ok=True)
        ended = self._run(name, at, MODES[mode], seen)
        failed = seen.read_text().partition(" ")[2] if seen.exists() else ""
        self.tally.cases[mode] += 1
        if ended.code == 0:
            self.tally.acknowledged[mode] += 1
        for problem in self._problems(name, ended, before):
            where = f" ({failed.replace(str(case), '')})" if failed else ""
            self.tally.problems.append(f"{name}, {mode}, call {at}{where}: {problem}")
            say(f"PROBLEM {self.tally.problems[-1]}")

    def _run(self, name: str, at: int, mode: Mode, seen: Path) -> Ended:
        """Run an operation with its `at`-th call failing; say in a file how many there were."""
        faults, case = self._faults, self._case
        watched = case if name == "publish" else case / HOME

        def arm() -> None:
            faults.arm(watched, at, mode)
            leave = os._exit

            def leaving(code: int) -> None:
                seen.write_text(f"{faults.seen} {faults.failed}")
                leave(code)

            os._exit = leaving  # type: ignore[assignment]  # in this forked process alone

        return command(case, *OPERATIONS[name].arguments, before=arm)

    def _problems(self, name: str, ended: Ended, before: Any) -> Iterator[str]:
        if ended.fault is not None:
            yield ended.fault
        try:
            yield from self._after(name, ended, before)
        except AssertionError as error:
            yield f"half-made: {error}"

    def _after(self, name: str, ended: Ended, before: Any) -> Iterator[str]:
        operation, case = OPERATIONS[name], self._case
        found = operation.done(case)
        if ended.code == 0 and found <= before:
            yield f"acknowledged and lost: {before} before, {found} now"
        wrong = self._audit(case, may_lack_pack=operation.may_lack_pack)
        # an older database lacks what newer entries speak of: told as an upgrade without faults is
        may_be = operation.unfinished and wrong is not None and operation.unfinished in wrong
        if wrong is not None and not may_be and wrong != self._undisturbed.get(name):
            yield f"the audit afterwards: {wrong}"
        again = command(case, *operation.arguments)
        if again.fault is not None or again.code not in operation.again:
            yield f"the same command again: {again.code} {again.out.strip()} {again.err.strip()}"
        if (found := operation.done(case)) <= before:
            yield f"done again, and not there: {before} before, {found} now"
        if (verified := command(case, "trail", "verify")).code != 0:
            yield f"the audit at the end: {verified}"
        if operation.unfinished and (left_undone := self._audit(case)) is not None:
            yield f"the audit at the end: {left_undone}"
        if left := leftovers(case):
            yield f"left behind: {left}"

    @staticmethod
    def _audit(case: Path, *, may_lack_pack: bool = False) -> str | None:
        if not (case / HOME / "evidentia.db").exists():
            return None
        wrong = audit(case)
        if wrong is not None and any(words in wrong for words in NOTHING_YET):
            return None
        return None if wrong is not None and may_lack_pack and NO_PACK in wrong else wrong


def leftovers(case: Path) -> list[str]:
    """Return the temporary files below a folder, but for the search index, which has its own."""
    own = {".evidentia", ".turns"}
    return [
        str(path.relative_to(case))
        for path in sorted(case.rglob(".*"))
        if path.name not in own and path.is_file() and "search" not in path.parts
    ]


# The campaign


def say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - a campaign prints what it found


def chosen(count: int, most: int | None) -> list[int]:
    """Return which calls are failed: all, or so many, evenly spread."""
    if most is None or count <= most:
        return list(range(1, count + 1))
    return [1 + (2 * place + 1) * count // (2 * most) for place in range(most)]


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/fuzz faults", description=__doc__)
    parser.add_argument("what", nargs="?", choices=["calls", "flips", "upgrades"], default="calls")
    parser.add_argument("--only", action="append", help="an operation [all of them]")
    parser.add_argument("--mode", action="append", choices=MODES, help="a way to fail [all]")
    parser.add_argument("--most", type=int, help="how many calls of each to fail [all]")
    parser.add_argument("--at", type=int, help="fail this call alone")
    parser.add_argument("--each", type=int, default=3, help="how many bits of a page to flip [3]")
    parser.add_argument("--pages", type=int, help="how many pages to flip bits of [all]")
    parser.add_argument("--kills", type=int, default=50, help="upgrades of a revision to kill [50]")
    parser.add_argument("--documents", help="a folder to ingest and check first [examples alone]")
    parser.add_argument("--share", default="1/1", help="flip these bits alone: 2/4 [all of them]")
    parser.add_argument("--seed", type=int, default=0, help="which bits, which moments [0]")
    parser.add_argument("--timed", action="store_true", help="say how long each case took")
    asked = parser.parse_args()
    if asked.what == "calls" and LOADED not in os.environ:
        load_shim()
    commands.load_all()
    os.environ.pop("LD_PRELOAD", None)  # what commands start is not to be failed
    shared = "/dev/shm"
    with tempfile.TemporaryDirectory(dir=shared if os.access(shared, os.W_OK) else None) as folder:
        if asked.what == "flips":
            sys.exit(_flip(Path(folder).resolve(), asked))
        if asked.what == "upgrades":
            sys.exit(_upgrade(Path(folder).resolve(), asked))
        campaign = Campaign(Path(folder).resolve())
        for name in asked.only or OPERATIONS:
            done = 0
            for mode in asked.mode or MODES:
                count = campaign.calls(name, MODES[mode])
                for at in [asked.at] if asked.at else chosen(count, asked.most):
                    began = time.monotonic()
                    campaign.run(name, mode, at)
                    if asked.timed:
                        say(f"  {mode}, call {at} of {count}: {time.monotonic() - began:.1f} s")
                    done += 1
            say(f"{name}: {done:,} cases")
    tally = campaign.tally
    for mode, count in tally.cases.items():
        say(f"{mode}: {count:,} cases, {tally.acknowledged[mode]:,} acknowledged")
    say(f"{sum(tally.cases.values()):,} cases, {len(tally.problems):,} problems")
    sys.exit(1 if tally.problems else 0)


def _library(folder: str) -> tuple[tuple[str, ...], ...]:
    """Return the commands that read a folder of documents and check an answer against them."""
    return (
        ("ingest", folder, "--json"),
        ("check", "answer.md", "--against", folder, "--judges", "quote", "--json"),
    )


def _flip(work: Path, asked: argparse.Namespace) -> int:
    """Flip bits of every page; return the exit code."""
    Bases(work / "bases").copy("decided", work / "base")
    if asked.documents:
        for step in _library(str(Path(asked.documents).resolve())):
            ended = command(work / "base", *step)
            if ended.code != 0:
                raise RuntimeError(f"{step}: {ended.out} {ended.err}")
    flips = Flips(work / "base" / HOME, work)
    places = list(flips.places(asked.each, asked.seed))
    if asked.pages:
        places = [places[one - 1] for one in chosen(len(places), asked.pages * asked.each)]
    mine, of = map(int, asked.share.split("/"))
    places = places[mine - 1 :: of]
    for done, bit in enumerate(places, start=1):
        if flips.flip(bit).startswith(("silent", "error")):
            say(f"PROBLEM {flips.problems[-1]}")
        if done % 100 == 0:
            say(f"  {done:,} of {len(places):,}: {dict(flips.tally)}")
    counted = ", ".join(f"{count:,} {name}" for name, count in sorted(flips.tally.items()))
    say(f"{len(places):,} bits of {flips.pages:,} pages: {counted}")
    audit = "the one audit" if has_one_audit() else "the audits of trail, ledgers and packs alone"
    say(f"by {audit}: {len(flips.problems):,} problems")
    errors = [problem for problem in flips.problems if ": error" in problem]
    return 1 if errors or (flips.problems and has_one_audit()) else 0


def _upgrade(work: Path, asked: argparse.Namespace) -> int:
    """Kill upgrades from every revision; return the exit code."""
    bases, upgrades = Bases(work / "bases"), Upgrades(work)
    for revision_before in older.revisions():
        place = work / revision_before
        bases.copy(f"decided at {revision_before}", place)
        for number in range(asked.kills):
            upgrades.kill(place / HOME, number, asked.seed)
        say(f"from {revision_before}: {asked.kills:,} kills")
    for problem in upgrades.problems:
        say(f"PROBLEM {problem}")
    counted = ", ".join(f"{count:,} {name}" for name, count in sorted(upgrades.tally.items()))
    say(f"{sum(upgrades.tally.values()):,} upgrades: {counted}")
    say(f"{len(upgrades.problems):,} problems")
    return 1 if upgrades.problems else 0


def load_shim() -> None:
    """Compile the shim, and begin this program again with it loaded."""
    library = Path(tempfile.mkdtemp()) / "faults.so"
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-O1", "-o", str(library), str(SHIM), "-ldl"],
        check=True,
    )
    environment = os.environ | {"LD_PRELOAD": str(library), LOADED: "1"}
    arguments = [sys.executable, "-m", "survival.faulting", *sys.argv[1:]]
    os.execve(sys.executable, arguments, environment)


if __name__ == "__main__":
    main()

"""Measuring: sides that take turns, medians with their spread, the machine, tables in Markdown.

The machines this runs on are noisy, so a figure is a ratio against a yardstick of the same run:
the sides take turns, round by round, and each goes first as often as the others.
"""

import argparse
import gc
import json
import os
import platform
import signal
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import psutil

from evidentia.store.database import Database, run

SAMPLE_SECONDS = 0.001
_PACKAGES = ("SQLAlchemy", "pydantic", "orjson", "rfc8785", "cryptography")


class Spread(NamedTuple):
    """The median of several rounds, and the lowest and highest of them."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """Return the spread of measured values."""
        return cls(statistics.median(values), min(values), max(values))


@dataclass(frozen=True, slots=True)
class Line:
    """One measured figure: what, against which yardstick, and what it should reach.

    `ours` and `theirs` are the absolute figures of this run, already as text.
    """

    what: str
    against: str
    ours: str
    theirs: str
    figure: Spread
    unit: str
    target: float | None = None
    aim: float | None = None
    at_most: bool = False

    @property
    def reached(self) -> bool | None:
        """Whether the target was reached; None where there is none."""
        return None if self.target is None else self._reaches(self.target)

    def cells(self) -> list[str]:
        """Return the line as the cells of a table."""
        low, high = shown(self.figure.low, self.unit), shown(self.figure.high, self.unit)
        return [
            self.what,
            self.ours,
            f"{self.against}: {self.theirs}" if self.theirs else self.against,
            f"**{shown(self.figure.median, self.unit)}**",
            low if low == high else f"{low} … {high}",
            self.target_text(),
            self.reached_text(),
        ]

    def target_text(self) -> str:
        """Say what should be reached."""
        if self.target is None:
            return "none"
        text = f"at {'most' if self.at_most else 'least'} {shown(self.target, self.unit)}"
        return text if self.aim is None else f"{text}, aim {shown(self.aim, self.unit)}"

    def reached_text(self) -> str:
        """Say whether it was."""
        if self.target is None:
            return "-"
        text = "yes" if self._reaches(self.target) else "**no**"
        if self.aim is None:
            return text
        return f"{text}, aim {'yes' if self._reaches(self.aim) else 'no'}"

    def _reaches(self, limit: float) -> bool:
        value = self.figure.median
        return value <= limit if self.at_most else value >= limit


@dataclass(frozen=True, slots=True)
class Table:
    """A table beside the figures: where time goes, how waits are spread."""

    title: str
    header: list[str]
    rows: list[list[str]]


@dataclass(slots=True)
class Section:
    """One benchmark: what it says of itself, its figures, and tables beside them."""

    name: str
    title: str
    about: str
    lines: list[Line] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def markdown(self) -> str:
        """Return the section as Markdown."""
        parts = [f"## {self.title}", self.about]
        if self.lines:
            parts.append(table(HEADER, [line.cells() for line in self.lines]))
        for extra in self.tables:
            parts += [f"{extra.title}:", table(extra.header, extra.rows)]
        parts += self.notes
        return "\n\n".join(parts) + "\n"

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Section":
        """Read what `write_json` wrote."""
        lines = [Line(**{**line, "figure": Spread(*line["figure"])}) for line in value["lines"]]
        tables = [Table(**extra) for extra in value["tables"]]
        return cls(value["name"], value["title"], value["about"], lines, tables, value["notes"])


HEADER = ["What", "Ours", "Yardstick", "Figure", "Spread", "Target", "Reached"]


def shown(value: float, unit: str) -> str:
    """Write a figure in its unit: `%` of one, `times`, or a plain unit behind the number."""
    if unit == "%":
        return f"{value * 100:.0f} %"
    if unit == "times":
        return f"{value:.2f} times" if abs(value) < 10 else f"{value:.1f} times"
    return f"{number(value)}{unit if unit.startswith('/') else f' {unit}'}"


def number(value: float) -> str:
    """Write a number as one reads it: three digits or more, thousands apart."""
    if abs(value) >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    cells = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def seconds_of(work: Callable[[], object]) -> float:
    """Return how long some work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def interleaved(rounds: int, sides: Mapping[str, Callable[[], float]]) -> dict[str, list[float]]:
    """Let the sides take turns; each gives its own measure. The one to go first rotates."""
    measured: dict[str, list[float]] = {name: [] for name in sides}
    names = list(sides)
    for turn in range(rounds):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            measured[name].append(sides[name]())
    return measured


def cpu_seconds_of(work: Callable[[], object]) -> float:
    """Return how much processor time some work takes, for work that does nothing but compute."""
    start = time.process_time()
    work()
    return time.process_time() - start


def tidy() -> None:
    """Leave the benchmark's own data to no garbage collection that is measured."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def ratios(above: Sequence[float], below: Sequence[float]) -> Spread:
    """Return the spread of the ratios, round by round."""
    return Spread.of([one / other for one, other in zip(above, below, strict=True)])


class Samples:
    """Where time goes, by looking at the stack a thousand times a second.

    A sample weighs what passed since the one before, so that a long call into C, during which no
    signal is seen, counts in full. Unlike a tracing profiler it leaves the code as fast as it is.
    """

    def __init__(self) -> None:
        self.weights: Counter[str] = Counter()
        self._last = 0.0

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Take samples of the main thread during the `with` block."""
        before = signal.signal(signal.SIGALRM, self._sample)
        signal.siginterrupt(signal.SIGALRM, False)  # noqa: FBT003 - the function's only form
        self._last = time.perf_counter()
        signal.setitimer(signal.ITIMER_REAL, SAMPLE_SECONDS, SAMPLE_SECONDS)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def shares(self, most: int = 14) -> list[list[str]]:
        """Return the product's functions with their share of the time, the largest first."""
        total = sum(self.weights.values()) or 1.0
        rows = [[f"`{name}`", shown(w / total, "%")] for name, w in self.weights.most_common(most)]
        rest = total - sum(weight for _, weight in self.weights.most_common(most))
        return [*rows, ["everything else", shown(rest / total, "%")]]

    def _sample(self, _signal: int, frame: FrameType | None) -> None:
        now = time.perf_counter()
        self.weights[_innermost(frame)] += now - self._last  # type: ignore[assignment] # seconds, not counts
        self._last = now


def _innermost(frame: FrameType | None) -> str:
    """Name the product's innermost function on a stack, which pays for what it calls elsewhere."""
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.startswith("evidentia."):
            name = frame.f_code.co_qualname.replace(".<locals>", "")
            return f"{module.removeprefix('evidentia.')}: {name}"
        frame = frame.f_back
    return "the benchmark itself"


def machine(folder: Path) -> dict[str, str]:
    """Describe the machine, and the disk that the folder is on."""
    return {
        "CPU": _cpu_model(),
        "Cores": str(len(os.sched_getaffinity(0))),
        "Memory": f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
        "Disk": _disk(folder),
        "fdatasync of 4 KiB": _sync_latency(folder),
        "System": f"{platform.system()} {platform.release()} ({platform.machine()})",
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "SQLite": _sqlite_version(folder),
        "Packages": ", ".join(f"{name} {version(name)}" for name in _PACKAGES),
        "Load when it began": f"{os.getloadavg()[0]:.2f} processes",
    }


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _disk(folder: Path) -> str:
    """Say of what kind the folder's disk is, without naming where it is mounted."""
    device = folder.stat().st_dev
    found = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}")
    kinds = {part.mountpoint: part.fstype for part in psutil.disk_partitions(all=True)}
    mount = next(str(place) for place in [folder, *folder.parents] if place.is_mount())
    system = kinds.get(mount, "unknown file system")
    if not found.exists():
        return system
    whole = found.resolve()
    if not (whole / "queue").exists():  # a partition: its disk is one up
        whole = whole.parent
    name = whole.name
    virtual = "virtio" if name.startswith("vd") else "NVMe" if name.startswith("nvme") else "block"
    turns = (whole / "queue" / "rotational").read_text().strip() == "1"
    return f"{virtual} device {'reported as rotational' if turns else 'without rotation'}, {system}"


def _sync_latency(folder: Path, times: int = 200) -> str:
    taken = []
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        for _ in range(times):
            file.seek(0)
            file.write(b"\0" * 4096)
            file.flush()
            taken.append(seconds_of(lambda: os.fdatasync(file.fileno())))
    return f"median {number(statistics.median(taken) * 1e6)} µs"


def _sqlite_version(folder: Path) -> str:
    with tempfile.TemporaryDirectory(dir=folder) as place:
        database = Database.sqlite(Path(place) / "version.db")
        with database.read() as connection:
            found = run(connection, "SELECT sqlite_version()").scalar()
        database.close()
    return str(found)


@dataclass(frozen=True, slots=True)
class Options:
    """What a benchmark was asked for; `size` is full, quick or tiny."""

    size: str
    only: tuple[str, ...]
    json: Path | None
    folder: Path | None

    @contextmanager
    def workplace(self) -> Iterator[Path]:
        """Give a folder to work in, which goes away afterwards.

        Processes started meanwhile find compiled modules there, as those of an installed package.
        """
        with tempfile.TemporaryDirectory(prefix="evidentia-benchmark-") as folder:
            os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
            os.environ["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "compiled")
            yield Path(folder)


def parser(description: str, names: Sequence[str]) -> argparse.ArgumentParser:
    """Return the command line that all benchmarks share."""
    made = argparse.ArgumentParser(description=description)
    size = made.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="small sizes, under a minute")
    size.add_argument("--tiny", action="store_true", help="only to see that the script works")
    made.add_argument("--json", type=Path, metavar="FILE", help="write the figures as JSON too")
    made.add_argument(
        "--only", action="append", choices=names, default=[], help="one of them; may be repeated"
    )
    return made


def options(parsed: argparse.Namespace, names: Sequence[str]) -> Options:
    """Return what was asked for."""
    size = "quick" if parsed.quick else "tiny" if parsed.tiny else "full"
    only = tuple(parsed.only or names)
    return Options(size, only, parsed.json, getattr(parsed, "dir", None))


def report(asked: Options, described: Mapping[str, str], sections: Sequence[Section]) -> None:
    """Write the figures as JSON, if that was asked for."""
    if asked.json is not None:
        found = {
            "size": asked.size,
            "machine": dict(described),
            "sections": [asdict(section) for section in sections],
        }
        asked.json.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")


def run_measures(description: str, measures: Mapping[str, Callable[[str, Path], Section]]) -> None:
    """Measure what the command line asks for, each in a folder of its own; print and report it."""
    names = list(measures)
    asked = options(parser(description, names).parse_args(), names)
    sections = []
    with asked.workplace() as folder:
        described = machine(folder)
        print(table(["Machine", ""], list(described.items())), end="\n\n", flush=True)
        for name in asked.only:
            place = folder / name
            place.mkdir()
            sections.append(measures[name](asked.size, place))
            print(sections[-1].markdown(), flush=True)
    report(asked, described, sections)

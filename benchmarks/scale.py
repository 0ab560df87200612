"""Scale on paper: what many documents, entries and tenants take, and which part breaks first.

`python -m benchmarks.scale` prints the tables; `--into PAGE` writes them into a page, between its
marks; `--prices object=0.01` and so on takes your prices. What one of each thing takes was measured
by `benchmarks.footprint`, and stands in footprint.json; all else here is an assumption with a name.
"""

import argparse
import heapq
import json
import random
import re
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import accumulate
from math import ceil, log
from pathlib import Path
from typing import Any, Final

from benchmarks.measuring import table

MEASURED: Final = Path(__file__).with_name("footprint.json")
SEED: Final = 1_000
DAY: Final = 86_400
YEAR: Final = 365
MONTH: Final = 30
GB: Final = 1e9

SHELVES: Final = 8
"""How many tenants' libraries a process keeps in mind (`workspace.opened`)."""


@dataclass(frozen=True, slots=True)
class Load:
    """What a company does, and what it has after some days of it."""

    name: str
    answers: int
    entries: int
    changed: int
    documents: int
    tenants: int
    days: int
    packs: int

    @property
    def all_entries(self) -> int:
        """Entries of the log after these days."""
        return self.entries * self.days

    @property
    def versions(self) -> int:
        """Documents after these days, each in all its versions: those before are kept."""
        return self.documents + self.changed * self.days

    @property
    def ledgers(self) -> int:
        """Ledgers after these days: one for each answer."""
        return self.answers * self.days

    @property
    def all_packs(self) -> int:
        """Packs after these days."""
        return self.packs * self.days


TEAM: Final = Load("a team", 100, 10_000, 10, 10_000, 1, YEAR, 1)
FIRM: Final = Load("a firm", 1_000, 100_000, 100, 1_000_000, 20, YEAR, 10)
COMPANY: Final = Load("a company", 10_000, 1_000_000, 10_000, 10_000_000, 1_000, YEAR, 100)
BILLION: Final = Load("a billion", 10_000, 1_000_000, 10_000, 10_000_000, 1_000, 1_000, 100)
"""A million entries a day make a billion in a thousand days."""


@dataclass(frozen=True, slots=True)
class Assumed:
    """What no one measured: shares, peaks, and how much of a machine is to be used."""

    zipf: float = 1.0
    peak: float = 4.0
    used: float = 0.6
    window_hours: float = 6.0
    servers: int = 3
    database_copies: int = 2
    backups: float = 1.0
    disk_mb_a_second: float = 200.0
    patience_minutes: float = 10.0
    rereading_days: float = 7.0
    embedded: float = 0.5


@dataclass(frozen=True, slots=True)
class Prices:
    """USD a month. Round numbers, not a vendor's: put in your own."""

    object: float = 0.02
    disk: float = 0.10
    core: float = 25.0
    memory: float = 3.0


class Measured:
    """What was measured, by its name."""

    def __init__(self, path: Path = MEASURED) -> None:
        self._figures = json.loads(path.read_text("utf-8"))["figures"]

    def __call__(self, name: str) -> float:
        """Return a figure in its own unit."""
        return float(self._figures[name]["value"])

    def rows(self) -> list[list[str]]:
        """Return all of them, for a table."""
        return [[one["what"], _amount(one["value"], one["unit"])] for one in self._figures.values()]


# Shares


def shares(tenants: int, zipf: float) -> list[float]:
    """Return which share of all work each tenant does, the largest first."""
    weights = [1 / (rank + 1) ** zipf for rank in range(tenants)]
    whole = sum(weights)
    return [weight / whole for weight in weights]


# What lies there


@dataclass(frozen=True, slots=True)
class Stored:
    """A kind of thing: how many, and the bytes of one in the database and in the bucket."""

    what: str
    count: int
    row: float
    file: float

    @property
    def rows(self) -> float:
        """Bytes in the database."""
        return self.count * self.row

    @property
    def files(self) -> float:
        """Bytes in the bucket."""
        return self.count * self.file


def stored(load: Load, one: Measured, assumed: Assumed) -> list[Stored]:
    """Return what a load leaves behind, kind by kind."""
    passages = round(load.versions * one("document_passages") * assumed.embedded)
    return [
        Stored("entries", load.all_entries, one("single_entry_bytes"), 0),
        Stored(
            "versions of documents",
            load.versions,
            one("document_bytes"),
            one("document_lake_bytes"),
        ),
        Stored("ledgers", load.ledgers, one("ledger_bytes"), one("ledger_lake_bytes")),
        Stored("packs", load.all_packs, one("pack_bytes"), one("pack_lake_bytes")),
        Stored("embeddings of passages", passages, one("embedding_bytes"), 0),
        Stored("tenants", load.tenants, one("tenant_bytes"), 0),
    ]


def wal_bytes(load: Load, one: Measured, assumed: Assumed) -> float:
    """Return what a day adds to the write-ahead log; of embeddings, at least what they take."""
    each = {kind.what: kind for kind in stored(load, one, assumed)}
    return (
        load.entries * one("single_entry_wal_bytes")
        + load.changed * one("document_wal_bytes")
        + load.answers * one("ledger_wal_bytes")
        + load.packs * one("pack_wal_bytes")
        + each["embeddings of passages"].rows / load.days
    )


def index_bytes(load: Load, one: Measured) -> float:
    """Return how large all tenants' search indexes are together: each server has them."""
    return load.versions * one("document_index_bytes")


# What a day takes


@dataclass(frozen=True, slots=True)
class Work:
    """A kind of work: how often a day, and the processor time of one in seconds."""

    what: str
    count: float
    seconds: float
    where: str

    @property
    def cores(self) -> float:
        """Cores that are busy with it, on average."""
        return self.count * self.seconds / DAY


def work(load: Load, one: Measured) -> list[Work]:
    """Return what a day takes, kind by kind."""
    return [
        Work("appending entries", load.entries, one("append_one_log_cpu") / 1e6, "both"),
        Work("checking answers, all judges", load.answers, one("check_all_cpu") / 1e3, "servers"),
        Work("taking in documents", load.changed, one("document_cpu") / 1e3, "both"),
        Work("sealing packs", load.packs, one("pack_cpu") / 1e3, "servers"),
        Work(
            "auditing the whole log", load.all_entries, one("audit_single_cpu") / 1e6, "an auditor"
        ),
    ]


def cores_for(load: Load, one: Measured, assumed: Assumed) -> tuple[int, int]:
    """Return the cores that servers and the database are to have, at the peak."""
    checks, both = 0.0, 0.0
    for each in work(load, one):
        if each.where == "servers":
            checks += each.cores
        elif each.where == "both":
            both += each.cores
    servers = max(2, ceil((checks + both / 2) * assumed.peak / assumed.used))
    return servers, max(2, ceil(both / 2 * assumed.peak / assumed.used))


# What breaks first


@dataclass(frozen=True, slots=True)
class Part:
    """A part with an end: how much it bears, how much is asked of it, and what helps."""

    what: str
    bears: float
    asked: float
    unit: str
    helps: str

    @property
    def share(self) -> float:
        """How much of it is used; over 1 it is broken."""
        return self.asked / self.bears


def parts(load: Load, one: Measured, assumed: Assumed) -> list[Part]:
    """Return the parts that a load presses, the one that breaks first at the head."""
    largest = shares(load.tenants, assumed.zipf)[0]
    peak = load.entries / DAY * assumed.peak
    passages = load.versions * one("document_passages")
    size = sum(each.rows for each in stored(load, one, assumed))
    window = assumed.window_hours * 3_600
    minutes = passages * largest / _rate(one("index_cpu")) / 60
    found = [
        Part(
            "the largest tenant's search index, made anew on a new server",
            assumed.patience_minutes,
            minutes,
            "minutes",
            "keep the folder `search` on a disk that outlives the server",
        ),
        Part(
            "all search indexes, made anew on a new server",
            window / 3_600,
            passages / _rate(one("index_cpu")) / 3_600,
            "hours",
            "the same; or send each tenant to some of the servers",
        ),
        Part(
            "the nightly audit of every log, by one process",
            window / 3_600,
            load.all_entries / _rate(one("audit_single_cpu")) / 3_600,
            "hours",
            "audit tenants side by side; or the tail since the last audit, and all of it weekly",
        ),
        Part(
            "reading the whole database once, for a backup or a restore",
            window / 3_600,
            size / (assumed.disk_mb_a_second * 1e6) / 3_600,
            "hours",
            "incremental backups; a standby to restore from",
        ),
        Part(
            "single appends, all logs on one PostgreSQL of two cores",
            one("append_many_logs_rate"),
            peak,
            "/s",
            "more cores for PostgreSQL; append many at a time",
        ),
        Part(
            "single appends to the largest tenant's log",
            one("append_one_log_rate"),
            peak * largest,
            "/s",
            "append many at a time: one log is one sequence, and more machines don't help",
        ),
        Part(
            "taking in all documents anew, by one process",
            assumed.rereading_days * 24,
            load.documents * one("document_cpu") / 1e3 / 3_600,
            "hours",
            "more processes: it shares out",
        ),
    ]
    return sorted(found, key=lambda part: -part.share)


# Simulated


@dataclass(frozen=True, slots=True)
class Waits:
    """What a simulation gave: how long things took, in milliseconds, and how busy it was."""

    rate: float
    done: float
    median: float
    late: float
    busy: float
    batch: float


def simulate_appends(
    rate: float,
    tenants: Sequence[float],
    seconds: float,
    *,
    fixed: float,
    each: float,
    cores: int = 2,
) -> Waits:
    """Simulate single appends to many logs: each log is sequenced by one at a time, in batches.

    They come at random, at `rate` a second, to a tenant by its share. A batch takes `fixed` seconds
    and `each` for every entry, on one of the database's cores; those that come meanwhile wait for
    the next batch of their log.
    """
    chance = random.Random(SEED)
    cumulative = list(accumulate(tenants))
    ends = max(1, int(rate * seconds))
    coming = _coming(chance, rate, ends)
    owners = iter(chance.choices(range(len(tenants)), cum_weights=cumulative, k=ends))
    waiting: dict[int, deque[float]] = {}
    ready: deque[int] = deque()
    running: list[tuple[float, int, list[float]]] = []
    working: set[int] = set()
    took: list[float] = []
    busy, now, batches, following = 0.0, 0.0, 0, next(coming, None)
    while following is not None or running:
        if running and (following is None or running[0][0] <= following):
            now, owner, began = heapq.heappop(running)
            took += [now - one for one in began]
            working.discard(owner)
            if waiting.get(owner):
                ready.append(owner)
        elif following is not None:
            now, owner = following, next(owners)
            queue = waiting.setdefault(owner, deque())
            if not queue and owner not in working:
                ready.append(owner)
            queue.append(now)
            following = next(coming, None)
        while ready and len(running) < cores:
            owner = ready.popleft()
            batch = [waiting[owner].popleft() for _ in range(min(5_000, len(waiting[owner])))]
            working.add(owner)
            batches += 1
            service = fixed + each * len(batch)
            busy += service
            heapq.heappush(running, (now + service, owner, batch))
    took.sort()
    return Waits(
        rate,
        len(took) / now,
        took[len(took) // 2] * 1e3,
        took[int(len(took) * 0.99)] * 1e3,
        busy / cores / now,
        len(took) / batches,
    )


def simulate_checks(rate: float, service: float, cores: int, seconds: float) -> Waits:
    """Simulate checks that any free core takes, in the order in which they come.

    How long one takes varies as an exponential does: answers are of different lengths.
    """
    chance = random.Random(SEED)
    free = [0.0] * cores
    took, busy, last = [], 0.0, 0.0
    for now in _coming(chance, rate, max(200, int(rate * seconds))):
        begins = max(now, heapq.heappop(free))
        needs = chance.expovariate(1 / service)
        heapq.heappush(free, begins + needs)
        took.append(begins - now)
        busy, last = busy + needs, max(last, begins + needs)
    took.sort()
    return Waits(
        rate,
        len(took) / last,
        took[len(took) // 2] * 1e3,
        took[int(len(took) * 0.95)] * 1e3,
        busy / cores / last,
        1,
    )


def remembered(
    tenants: Sequence[float], servers: int, *, sticky: bool, asked: int = 20_000
) -> float:
    """Return the share of checks whose tenant's library a server still has in mind.

    It has the last ones that it was asked about. Requests go to any server, or each tenant's to
    one of them (`sticky`).
    """
    chance = random.Random(SEED)
    minds: list[OrderedDict[int, None]] = [OrderedDict() for _ in range(servers)]
    hits = 0
    for tenant in chance.choices(
        range(len(tenants)), cum_weights=list(accumulate(tenants)), k=asked
    ):
        mind = minds[tenant % servers if sticky else chance.randrange(servers)]
        hits += tenant in mind
        mind[tenant] = None
        mind.move_to_end(tenant)
        if len(mind) > SHELVES:
            mind.popitem(last=False)
    return hits / asked


def _coming(chance: random.Random, rate: float, count: int) -> Iterator[float]:
    now = 0.0
    for _ in range(count):
        now -= log(1.0 - chance.random()) / rate
        yield now


# What is printed


def storage_table(load: Load, one: Measured, assumed: Assumed) -> str:
    """Return what lies in the database and the bucket."""
    found = stored(load, one, assumed)
    rows = [
        [
            each.what,
            f"{each.count:,}",
            _bytes(each.row),
            _bytes(each.rows),
            _bytes(each.file) if each.file else "-",
            _bytes(each.files) if each.file else "-",
        ]
        for each in found
    ]
    whole = [sum(each.rows for each in found), sum(each.files for each in found)]
    rows.append(["**all**", "", "", f"**{_bytes(whole[0])}**", "", f"**{_bytes(whole[1])}**"])
    return table(
        ["What", "How many", "In PostgreSQL, one", "All", "In the bucket, one", "All"], rows
    )


def work_table(load: Load, one: Measured) -> str:
    """Return what a day takes of processors."""
    rows = [
        [
            each.what,
            f"{each.count:,.0f}",
            _seconds(each.seconds),
            _hours(each.count * each.seconds),
            f"{each.cores:.2f}",
        ]
        for each in work(load, one)
    ]
    return table(["Work", "A day", "Processor time of one", "Of all", "Cores, on average"], rows)


def cost_table(load: Load, one: Measured, assumed: Assumed, prices: Prices) -> str:
    """Return what all of it costs in a month, with the multiplication in each row."""
    rows_gb = sum(each.rows for each in stored(load, one, assumed)) / GB
    files_gb = sum(each.files for each in stored(load, one, assumed)) / GB
    index_gb = index_bytes(load, one) / GB
    wal_gb = wal_bytes(load, one, assumed) * MONTH / GB
    published_gb = load.all_entries * one("published_bytes") / GB
    cores, database = cores_for(load, one, assumed)
    servers = max(cores, assumed.servers)
    copies, backups = assumed.database_copies, assumed.backups
    audit = load.all_entries * one("audit_single_cpu") / 1e6 / DAY
    memory = servers * 2 + database * 4 * copies
    lines: list[tuple[str, str, float]] = [
        (
            "PostgreSQL's disks",
            f"{rows_gb:,.0f} GB x {copies} copies x {prices.disk:.2f}",
            rows_gb * copies * prices.disk,
        ),
        (
            "backups of it, with a month of WAL, in the bucket",
            f"({rows_gb:,.0f} GB x {backups:g} + {wal_gb:,.0f} GB) x {prices.object:.2f}",
            (rows_gb * backups + wal_gb) * prices.object,
        ),
        ("the lake", f"{files_gb:,.0f} GB x {prices.object:.2f}", files_gb * prices.object),
        (
            "the published log",
            f"{published_gb:,.0f} GB x {prices.object:.2f}",
            published_gb * prices.object,
        ),
        (
            "search indexes",
            f"{index_gb:,.0f} GB x {assumed.servers} servers x {prices.disk:.2f}",
            index_gb * assumed.servers * prices.disk,
        ),
        (
            "servers' cores, one each at least",
            f"{servers} x {prices.core:.0f}",
            servers * prices.core,
        ),
        (
            "PostgreSQL's cores",
            f"{database} x {copies} copies x {prices.core:.0f}",
            database * copies * prices.core,
        ),
        ("auditing every night", f"{audit:.2f} cores x {prices.core:.0f}", audit * prices.core),
        (
            "memory: 2 GB a server's core, 4 GB a database's",
            f"{memory} GB x {prices.memory:.0f}",
            memory * prices.memory,
        ),
    ]
    rows = [[what, how, f"{cost:,.0f}"] for what, how, cost in lines]
    whole = sum(cost for _, _, cost in lines)
    rows.append(["**all**", "", f"**{whole:,.0f}**"])
    per_thousand = whole / (load.answers * MONTH / 1_000)
    rows.append(
        ["for each 1,000 answers", f"of {load.answers * MONTH:,} a month", f"{per_thousand:.2f}"]
    )
    return table(["What", "How much x USD", "USD a month"], rows)


def breaking_table(load: Load, one: Measured, assumed: Assumed) -> str:
    """Return the parts with an end, the one that breaks first at the head."""
    rows = [
        [
            part.what,
            _of(part.asked, part.unit),
            _of(part.bears, part.unit),
            f"**{part.share:.1f} times**" if part.share > 1 else f"{part.share:.1%}",
            "now" if part.share > 1 else f"{1 / part.share:,.1f} times as much",
            part.helps,
        ]
        for part in parts(load, one, assumed)
    ]
    return table(["Part", "Asked of it", "It bears", "Used", "Breaks at", "What helps"], rows)


def appends_table(load: Load, one: Measured, assumed: Assumed) -> str:
    """Return what simulated appends take, at the load and at many times it."""
    share = shares(load.tenants, assumed.zipf)
    peak = load.entries / DAY * assumed.peak
    rows = []
    for times in (1, 10, 30, 40, 60):
        rate = peak * times
        found = simulate_appends(
            rate,
            share,
            min(300, 20_000 / rate),
            fixed=one("batch_fixed") / 1e3,
            each=one("batch_each") / 1e6,
        )
        rows.append(
            [
                f"{times} x",
                f"{rate:,.0f}/s",
                f"{found.done:,.0f}/s",
                f"{found.median:,.1f} ms",
                f"{found.late:,.1f} ms",
                f"{found.busy:.0%}",
                f"{found.batch:.1f}",
            ]
        )
    head = [
        "Load",
        "Come",
        "Done",
        "Half within",
        "99 of 100 within",
        "PostgreSQL busy",
        "In a batch",
    ]
    return table(head, rows)


def checks_table(load: Load, one: Measured, assumed: Assumed) -> str:
    """Return how long simulated checks wait, by how many cores there are for them."""
    rate = load.answers / DAY * assumed.peak
    service = one("check_all_cpu") / 1e3
    least = ceil(rate * service)
    rows = []
    for cores in sorted({least, least + 1, least + 2, least * 2}):
        found = simulate_checks(rate, service, cores, 4 * 3_600)
        rows.append(
            [
                str(cores),
                f"{found.busy:.0%}",
                f"{found.median / 1e3:,.1f} s",
                f"{found.late / 1e3:,.1f} s",
            ]
        )
    return table(["Cores for checks", "Busy", "Half wait at most", "95 of 100 wait at most"], rows)


def tenants_table(load: Load, one: Measured, assumed: Assumed) -> str:
    """Return how often a library is still in mind, and what a check takes therefore."""
    share = shares(load.tenants, assumed.zipf)
    cold, warm = one("check_cold"), one("check_warm")
    rows = []
    for servers in (1, assumed.servers, 10):
        for sticky in (False, True):
            if servers == 1 and sticky:
                continue
            hits = remembered(share, servers, sticky=sticky)
            took = hits * warm + (1 - hits) * cold
            how = "each tenant to one of them" if sticky else "to any of them"
            rows.append(
                [str(servers), how if servers > 1 else "-", f"{hits:.0%}", f"{took:,.0f} ms"]
            )
    known, each = one("tenant_library_memory"), one("tenant_memory")
    whole = one("process_memory") + load.tenants * each + SHELVES * known
    said = (
        f"Memory of a server that has been asked by all tenants: {one('process_memory'):.0f} MB + "
        f"{load.tenants:,} x {each:.2g} MB + {SHELVES} x {known:.2g} MB = {whole:.0f} MB, and "
        f"{one('judging_memory'):.0f} MB for each worker that judges by all judges."
    )
    head = ["Servers", "Requests go", "Library in mind", "CPU of a check by the rules, on average"]
    return f"{table(head, rows)}\n\n{said}"


def sizing_table(one: Measured, assumed: Assumed) -> str:
    """Return what three sizes of company need."""
    loads = (TEAM, FIRM, COMPANY)
    columns: list[Callable[[Load], str]] = [
        lambda load: f"{load.answers:,}",
        lambda load: f"{load.entries:,}",
        lambda load: f"{load.documents:,}",
        lambda load: f"{load.changed:,}",
        lambda load: f"{cores_for(load, one, assumed)[0]}",
        lambda load: f"{cores_for(load, one, assumed)[1]}",
        lambda load: _bytes(sum(each.rows for each in stored(load, one, assumed))),
        lambda load: _bytes(sum(each.files for each in stored(load, one, assumed))),
        lambda load: _bytes(index_bytes(load, one)),
        lambda load: _hours(load.all_entries / _rate(one("audit_single_cpu"))),
    ]
    names = [
        "Answers a day",
        "Entries a day",
        "Documents",
        "Of these change a day",
        "Servers' cores, in all",
        "PostgreSQL's cores",
        "PostgreSQL's disk after a year",
        "The bucket after a year",
        "A server's disk for search",
        "Auditing a year's log, one process",
    ]
    rows = [
        [name, *(column(load) for load in loads)]
        for name, column in zip(names, columns, strict=True)
    ]
    return table(["", *(load.name.capitalize() for load in loads)], rows)


def assumed_table(assumed: Assumed, prices: Prices) -> str:
    """Return the assumptions, with what each means."""
    meanings = {
        "zipf": "how unequal tenants are: the n-th largest does 1/n^this of what the largest does",
        "peak": "how many times the average the busiest hour has",
        "used": "how much of a core may be busy then",
        "window_hours": "hours of a night for audits and backups",
        "servers": "how many servers there are",
        "database_copies": "PostgreSQL and its standby",
        "backups": "whole copies of the database that are kept beside the WAL",
        "disk_mb_a_second": "MB a second that a database's disk reads",
        "patience_minutes": "how long a tenant's first check on a new server may wait",
        "rereading_days": "how long taking in all documents anew may take",
        "embedded": "share of passages that a check by all judges has met: 1 is the most",
    }
    priced = {
        "object": "USD for a GB in object storage, a month",
        "disk": "USD for a GB on a disk, a month",
        "core": "USD for a core, a month",
        "memory": "USD for a GB of memory, a month",
    }
    rows = [[f"`{name}`", f"{value:g}", meanings[name]] for name, value in asdict(assumed).items()]
    rows += [[f"`{name}`", f"{value:g}", priced[name]] for name, value in asdict(prices).items()]
    return table(["Assumption", "Value", "What it is"], rows)


def blocks(one: Measured, assumed: Assumed, prices: Prices) -> dict[str, str]:
    """Return every table by its name, as pages mark its place."""
    return {
        "measured": table(["What", "Measured"], one.rows()),
        "assumed": assumed_table(assumed, prices),
        "storage": storage_table(BILLION, one, assumed),
        "work": work_table(BILLION, one),
        "cost": cost_table(BILLION, one, assumed, prices),
        "breaking": breaking_table(BILLION, one, assumed),
        "appends": appends_table(BILLION, one, assumed),
        "checks": checks_table(BILLION, one, assumed),
        "tenants": tenants_table(BILLION, one, assumed),
        "sizing": sizing_table(one, assumed),
    }


def put_into(page: str, made: dict[str, str]) -> str:
    """Return a page with its tables written anew, between their marks."""

    def block(found: re.Match[str]) -> str:
        return f"{found[1]}\n\n{made[found[2]]}\n\n<!-- scale end -->"

    return re.sub(r"(<!-- scale: (\w+) -->).*?<!-- scale end -->", block, page, flags=re.DOTALL)


def _rate(microseconds: float) -> float:
    """Return how many one core does in a second."""
    return 1e6 / microseconds


def _bytes(count: float) -> str:
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:,.3g} {unit}"
    return f"{count:.0f} B"


def _seconds(value: float) -> str:
    if value >= 1:
        return f"{value:.3g} s"
    return f"{value * 1e3:.3g} ms" if value >= 1e-3 else f"{value * 1e6:.3g} µs"


def _hours(seconds: float) -> str:
    if seconds >= 3_600:
        return f"{seconds / 3_600:,.1f} h"
    return f"{seconds / 60:,.1f} min" if seconds >= 60 else f"{seconds:,.0f} s"


def _of(value: float, unit: str) -> str:
    said = f"{value:,.1f}" if value < 100 else f"{value:,.0f}"
    return f"{said}{'' if unit.startswith('/') else ' '}{unit}"


def _amount(value: float, unit: str) -> str:
    said = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return f"{said}{'' if unit.startswith('/') else ' '}{unit}".strip()


def _given(text: Iterable[str], what: "Assumed | Prices") -> dict[str, Any]:
    """Return what was given of these, a whole number where it has to be one."""
    kinds = {one.name: type(getattr(what, one.name)) for one in fields(what)}
    found = (one.split("=", 1) for one in text)
    return {name: kinds[name](value) for name, value in found if name in kinds}


def main() -> None:
    """Print the tables, or write them into pages."""
    made = argparse.ArgumentParser(description="Scale on paper.")
    made.add_argument("--measured", type=Path, default=MEASURED, metavar="FILE")
    made.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a price")
    made.add_argument("--into", action="append", type=Path, default=[], metavar="PAGE")
    asked = made.parse_args()
    known = {one.name for what in (Assumed, Prices) for one in fields(what)}
    if unknown := {one.partition("=")[0] for one in asked.set} - known:
        made.error(f"{min(unknown)} is no assumption: there are {', '.join(sorted(known))}")
    assumed = replace(Assumed(), **_given(asked.set, Assumed()))
    prices = replace(Prices(), **_given(asked.set, Prices()))
    found = blocks(Measured(asked.measured), assumed, prices)
    for page in asked.into:
        page.write_text(put_into(page.read_text("utf-8"), found), encoding="utf-8")
    if not asked.into:
        for name, text in found.items():
            print(f"## {name}\n\n{text}\n")


if __name__ == "__main__":
    main()

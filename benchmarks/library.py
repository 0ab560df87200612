"""The library: what a check, a search and an ingestion cost, however much is known.

Run it with `python -m benchmarks.library [--quick] [--only NAME] [--json FILE]`.
"""

import os
import random
import resource
import sqlite3
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import accumulate
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
import tantivy
from benchmarks.measuring import (
    Line,
    Section,
    Spread,
    Table,
    cpu_seconds_of,
    interleaved,
    number,
    ratios,
    run_measures,
    seconds_of,
)

from evidentia.workspace import Workspace, open_workspace

SEED = 2020
RULES = ("quote", "numbers")
BEFORE = 24.0
"""How many times the CPU of the yardstick an ingestion took while each file was a transaction."""
_GROUP = 64
_SYLLABLES = [
    "ba",
    "den",
    "tor",
    "li",
    "mar",
    "ves",
    "qua",
    "ren",
    "sol",
    "pin",
    "gra",
    "tem",
    "cor",
    "nel",
    "fi",
    "dus",
    "ham",
    "ost",
    "rik",
    "ula",
]
_WORDS = 20_000
_BEST = 48
_SECTIONS = 4


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    few: int
    many: int
    claims: int
    checks: int
    chunks: int
    scanned: int
    queries: int
    rounds: int


SIZES = {
    "full": Size(100, 10_000, 20, 5, 1_000_000, 100_000, 200, 5),
    "quick": Size(100, 2_000, 10, 3, 100_000, 20_000, 50, 3),
    "tiny": Size(20, 40, 2, 1, 300, 200, 4, 1),
}


class Texts:
    """Text of made-up words, each as frequent as its rank; the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        made = random.Random(SEED)
        self._words = [
            "".join(made.choices(_SYLLABLES, k=made.randrange(2, 4))) for _ in range(_WORDS)
        ]
        self._weights = list(accumulate(1 / (rank + 5) for rank in range(_WORDS)))

    def words(self, count: int) -> list[str]:
        """Return some words."""
        return self._chance.choices(self._words, cum_weights=self._weights, k=count)

    def sentence(self) -> str:
        """Return a sentence, some with a number."""
        words = self.words(self._chance.randrange(8, 20))
        if self._chance.random() < 0.3:
            words.insert(3, str(self._chance.randrange(1, 500)))
        return " ".join(words).capitalize() + "."

    def document(self, number: int) -> str:
        """Return a document in Markdown, of about 6,000 characters."""
        parts = [f"# Policy {number} {' '.join(self.words(3))}"]
        for section in range(_SECTIONS):
            parts.append(f"## {section + 1} {' '.join(self.words(3))}")
            parts += (
                " ".join(self.sentence() for _ in range(self._chance.randrange(3, 6)))
                for _ in range(3)
            )
        return "\n\n".join(parts) + "\n"


def _write(folder: Path, count: int) -> list[str]:
    """Write documents; the first ones are the same however many there are."""
    folder.mkdir()
    texts = Texts(SEED)
    made = [texts.document(place) for place in range(count)]
    for place, text in enumerate(made):
        (folder / f"policy-{place:05}.md").write_text(text, encoding="utf-8")
    return made


# Checking


class Checked(NamedTuple):
    """A check of a process, its CPU and wall seconds; peak memory; passages that were found."""

    cpu: float
    wall: float
    peak: float
    passages: int


@cache
def _opened(home: str) -> Workspace:
    return open_workspace(home)


def _check(home: str, answer: str) -> Checked:
    from evidentia.ledger.claims import extract_claims  # noqa: PLC0415 - the check imports them
    from evidentia.ledger.evidence import find_passages  # noqa: PLC0415 - the same
    from evidentia.workspace.corpora import Part, shelf_of  # noqa: PLC0415 - the same

    wall, cpu = time.perf_counter(), time.process_time()
    workspace = _opened(home)
    workspace.check(answer, judges=RULES)
    found = time.process_time() - cpu, time.perf_counter() - wall
    peak = _peak_megabytes()
    claims, shelf = extract_claims(answer).claims, shelf_of(workspace._acting)  # noqa: SLF001 - only counted
    with shelf.pinned() as pin:
        corpus = shelf.corpus(pin, Part(), (), lambda *_: None)
        return Checked(*found, peak, sum(len(find_passages(claim, corpus)) for claim in claims))


def _ingest(home: str, folder: str) -> None:
    with open_workspace(home) as workspace:
        workspace.ingest(folder)


def measure_check(size: str, folder: Path) -> Section:
    """Measure the same answers against a few documents and against many."""
    asked = SIZES[size]
    spawned = get_context("spawn")
    counts = {"few": asked.few, "many": asked.many}
    homes = {name: str(folder / f"{name}-home") for name in counts}
    added: dict[str, float] = {}
    with ExitStack() as stack:
        pools = {}
        for name, count in counts.items():
            made = _write(folder / name, count)
            with ProcessPoolExecutor(1, mp_context=spawned) as once:
                once.submit(_ingest, homes[name], str(folder / name)).result()
            pool = ProcessPoolExecutor(1, mp_context=spawned)
            pools[name] = stack.enter_context(pool)
        answers = [_answer(made[: asked.few], asked.claims, place) for place in range(asked.checks)]
        before = {name: _bytes(home) for name, home in homes.items()}
        first = {
            name: pools[name].submit(_check, homes[name], answers[0]).result() for name in pools
        }
        found: dict[str, list[Checked]] = {name: [] for name in pools}
        for turn in range(asked.rounds):
            for name in sorted(pools, reverse=turn % 2 == 1):
                found[name] += [
                    pools[name].submit(_check, homes[name], answer).result() for answer in answers
                ]
        checks = 1 + asked.rounds * asked.checks
        for name, pool in pools.items():
            pool.submit(_close, homes[name]).result()
            added[name] = (_bytes(homes[name]) - before[name]) / checks
    cpu = {name: [one.cpu for one in some] for name, some in found.items()}
    peak = {name: max(one.peak for one in some) for name, some in found.items()}
    rounds = [
        Spread.of(cpu["many"][at :: asked.checks]).median
        / Spread.of(cpu["few"][at :: asked.checks]).median
        for at in range(asked.checks)
    ]
    passages = {name: sum(one.passages for one in some) for name, some in found.items()}
    small = f"{asked.few:,} documents"
    return Section(
        "check",
        "A check in a large library",
        f"Answers of {asked.claims} claims each, checked by the rules against {small} and against "
        f"{asked.many:,}, the former among them, in a process each that take turns. For all checks "
        f"{passages['few']:,} candidate passages were found of the few and {passages['many']:,} of "
        "the many.",
        [
            Line(
                f"CPU of a check, {asked.many:,} documents",
                small,
                f"{number(Spread.of(cpu['many']).median * 1e3)} ms",
                f"{number(Spread.of(cpu['few']).median * 1e3)} ms",
                Spread.of(rounds),
                "times",
                target=1.3,
                at_most=True,
            ),
            _times("bytes that a ledger adds", small, added, "bytes", 1.2),
            _times("peak memory", small, peak, "MB", 1.5),
            Line(
                f"the first check of a process, {asked.many:,} documents",
                small,
                f"{number(first['many'].wall)} s",
                f"{number(first['few'].wall)} s",
                Spread.of([first["many"].wall]),
                "s",
                target=3.0,
                at_most=True,
            ),
        ],
    )


def _times(what: str, against: str, found: dict[str, float], unit: str, target: float) -> Line:
    return Line(
        what,
        against,
        f"{number(found['many'])} {unit}",
        f"{number(found['few'])} {unit}",
        Spread.of([found["many"] / found["few"]]),
        "times",
        target=target,
        at_most=True,
    )


def _close(home: str) -> None:
    _opened(home).close()


def _answer(documents: Sequence[str], claims: int, turn: int) -> str:
    """Return an answer of sentences of documents, every other one with another word and number."""
    chance = random.Random(SEED + turn)
    chosen = []
    for place, text in enumerate(chance.sample(list(documents), claims)):
        paragraphs = [part for part in text.split("\n\n") if not part.startswith("#")]
        sentence = chance.choice(chance.choice(paragraphs).split(". ")).rstrip(".")
        chosen.append(f"{sentence} {place + 7}." if place % 2 else f"{sentence}.")
    return "# Answer\n\n" + "\n".join(f"- {sentence}" for sentence in chosen) + "\n"


def _bytes(folder: str) -> int:
    return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())


def _peak_megabytes() -> float:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1e3


# Ingesting


class Ingested(NamedTuple):
    """What an ingestion took: CPU seconds with its readers', wall seconds, peak memory in MB."""

    cpu: float
    wall: float
    peak: float


def _ingested(home: str, folder: str) -> Ingested:
    cpu, wall = _all_cpu(), time.perf_counter()
    _ingest(home, folder)
    return Ingested(_all_cpu() - cpu, time.perf_counter() - wall, _peak_megabytes())


def _all_cpu() -> float:
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def _bare(home: str, folder: str) -> Ingested:
    """Read the files, keep a copy of each and insert their paragraphs, and do nothing else."""
    cpu, wall = _all_cpu(), time.perf_counter()
    place = Path(home)
    place.mkdir()
    database = sqlite3.connect(place / "bare.db")
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=FULL")
    database.execute("CREATE TABLE passages (sha256 TEXT PRIMARY KEY, document TEXT, content TEXT)")
    files = sorted(Path(folder).iterdir())
    for start in range(0, len(files), _GROUP):
        rows = []
        for path in files[start : start + _GROUP]:
            data = path.read_bytes()
            digest = sha256(data).hexdigest()
            with (place / digest).open("wb") as copy:
                copy.write(data)
                copy.flush()
                os.fsync(copy.fileno())
            parts = data.decode().split("\n\n")
            rows += [(sha256(f"{digest}{one}".encode()).hexdigest(), digest, one) for one in parts]
        with database:
            database.executemany("INSERT OR IGNORE INTO passages VALUES (?, ?, ?)", rows)
    database.close()
    return Ingested(_all_cpu() - cpu, time.perf_counter() - wall, _peak_megabytes())


def measure_ingest(size: str, folder: Path) -> Section:
    """Measure taking in Markdown against reading, copying and inserting its paragraphs alone."""
    asked = SIZES[size]
    _write(folder / "some", asked.many)
    few = folder / "few"
    few.mkdir()
    for path in sorted((folder / "some").iterdir())[: max(1, asked.many // 10)]:
        (few / path.name).write_bytes(path.read_bytes())
    spawned = get_context("spawn")
    found: defaultdict[str, list[Ingested]] = defaultdict(list)
    for turn in range(max(1, asked.rounds // 2)):
        for name, work, documents in (
            ("ours", _ingested, "some"),
            ("bare", _bare, "some"),
            ("few", _ingested, "few"),
        ):
            home = str(folder / f"{name}-{turn}")
            with ProcessPoolExecutor(1, mp_context=spawned) as once:
                found[name].append(once.submit(work, home, str(folder / documents)).result())
    cpu = {name: [one.cpu for one in some] for name, some in found.items()}
    wall = {name: Spread.of([one.wall for one in some]).median for name, some in found.items()}
    peak = {name: Spread.of([one.peak for one in some]).median for name, some in found.items()}
    each = {name: Spread.of(some).median / asked.many * 1e3 for name, some in cpu.items()}
    return Section(
        "ingest",
        "Taking in Markdown",
        f"{asked.many:,} files of about 6,000 characters, read, cut, kept, recorded and indexed; "
        "CPU is that of all processes. The yardstick reads the files, copies each durably and "
        f"inserts its paragraphs, {_GROUP} files a transaction. While each file was a transaction "
        f"of its own, and the index was built by the first check, it took {BEFORE:.1f} times the "
        "yardstick, measured in the same way; a third of that is asked for.",
        [
            Line(
                "CPU of a file",
                "bare reading, copying and inserting",
                f"{number(each['ours'])} ms",
                f"{number(each['bare'])} ms",
                ratios(cpu["ours"], cpu["bare"]),
                "times",
                target=round(BEFORE / 3, 1),
                at_most=True,
            ),
            Line(
                f"peak memory, {asked.many:,} files",
                f"{max(1, asked.many // 10):,} files",
                f"{number(peak['ours'])} MB",
                f"{number(peak['few'])} MB",
                Spread.of([peak["ours"] / peak["few"]]),
                "times",
                target=1.3,
                at_most=True,
            ),
        ],
        [
            Table(
                "In all",
                ["What", "Takes"],
                [
                    ["taking in", f"{number(asked.many / wall['ours'])} files/s"],
                    ["the yardstick", f"{number(asked.many / wall['bare'])} files/s"],
                ],
            )
        ],
    )


# Searching


def _indexed(folder: Path, chunks: int) -> tuple[object, list[list[str]]]:
    """Build an index of chunks, by the product; return what searches, and the first chunks."""
    from evidentia.store.search import (  # noqa: PLC0415 - only this needs it
        IndexedChunk,
        IndexedDocument,
        SearchIndex,
    )

    texts = Texts(SEED + 1)
    kept: list[list[str]] = []

    def documents() -> Iterator[IndexedDocument]:
        for place in range(0, chunks, 8):
            made = []
            for at in range(place, min(place + 8, chunks)):
                terms = texts.words(60 + at % 60)
                if at < _KEPT:
                    kept.append(terms)
                digest = f"{at:064x}"
                made.append(IndexedChunk(digest, digest, at - place, 1, 0, terms))
            yield IndexedDocument(f"doc-{place:08}", f"c{place % 100}", [], made)

    index = SearchIndex(folder / "search")
    with index.changing():
        index.update(documents(), (), 0, anew=True)
    return index, kept


_KEPT = 100_000


def measure_query(size: str, folder: Path) -> Section:
    """Measure a search against the engine's own, with the same terms and as many results."""
    from evidentia.store.search import SearchIndex, Within  # noqa: PLC0415 - only this needs it

    asked = SIZES[size]
    index, _ = _indexed(folder, asked.chunks)
    assert isinstance(index, SearchIndex)
    reader = index.reader()
    texts = Texts(SEED + 2)
    queries = [" ".join(texts.words(12)) for _ in range(asked.queries)]
    within = Within(collections=frozenset({"c8"}))

    def bare() -> None:
        searcher = reader._searcher  # noqa: SLF001 - the same searcher
        schema = tantivy.Index.open(str(folder / "search" / "index")).schema
        for query in queries:
            terms = [
                (tantivy.Occur.Should, tantivy.Query.term_query(schema, "terms", term))
                for term in sorted(set(query.split()))
            ]
            searcher.search(tantivy.Query.boolean_query(terms), limit=_BEST, count=False)

    def ours(where: Within) -> Callable[[], None]:
        def search() -> None:
            for query in queries:
                reader.search(query, _BEST, where)

        return search

    ours(Within())()
    taken = interleaved(
        asked.rounds,
        {
            "ours": lambda: cpu_seconds_of(ours(Within())),
            "within": lambda: cpu_seconds_of(ours(within)),
            "bare": lambda: cpu_seconds_of(bare),
        },
    )
    each = {name: Spread.of(some).median / asked.queries * 1e3 for name, some in taken.items()}
    section = Section(
        "query",
        f"Searching {asked.chunks:,} chunks",
        f"Queries of 12 words for the {_BEST} best chunks of 60 to 119 words each, by the product "
        "(which takes more than that of the engine and scores them again) and by bare tantivy. The "
        f"index has {number(_bytes(str(folder / 'search')) / 2**20)} MB on disk.",
    )
    for what, name, target in (
        ("all of it", "ours", 2.0),
        ("one collection in a hundred", "within", None),
    ):
        section.lines.append(
            Line(
                what,
                "bare `searcher.search`",
                f"{number(each[name])} ms",
                f"{number(each['bare'])} ms",
                ratios(taken[name], taken["bare"]),
                "times",
                target=target,
                at_most=True,
            )
        )
    return section


def measure_agreement(size: str, folder: Path) -> Section:
    """Measure how often a search gives what a scan of all chunks by the same formula gives."""
    from evidentia.store.search import SearchIndex, Within  # noqa: PLC0415 - only this needs it

    asked = SIZES[size]
    index, chunks = _indexed(folder, asked.scanned)
    assert isinstance(index, SearchIndex)
    reader = index.reader()
    scan = _Scan(chunks)
    texts = Texts(SEED + 3)
    chance = random.Random(SEED)
    shares: dict[str, list[float]] = {"12 words": [], "a sentence of a chunk, one word another": []}
    for _ in range(asked.queries):
        start = chance.randrange(40)
        said = [*chance.choice(chunks)[start : start + 14], *texts.words(1)]
        for name, words in zip(shares, (texts.words(12), said), strict=True):
            query = " ".join(words)
            found = [round(one.score, 5) for one in reader.search(query, _BEST, Within())]
            best = scan.best(query)
            same = sum(abs(one - other) < 1e-4 for one, other in zip(found, best, strict=False))
            shares[name].append(same / max(1, len(best)))
    return Section(
        "agreement",
        "Searching against a full scan",
        f"{asked.queries} queries of each kind for the {_BEST} best of {asked.scanned:,} chunks. "
        "The share of places at which the search has a chunk with the score that a scan of all "
        "chunks by the product's own formula has there; equal scores are equally good.",
        [
            Line(
                name,
                "a full scan",
                f"{sum(share == 1 for share in found):,} of {len(found):,} queries alike",
                "",
                Spread(float(np.mean(found)), min(found), max(found)),
                "%",
                target=0.99,
            )
            for name, found in shares.items()
        ],
    )


class _Scan:
    """Scores every chunk by the product's formula, with nothing left out."""

    def __init__(self, chunks: Sequence[Sequence[str]]) -> None:
        from evidentia.documents.scoring import Chunks  # noqa: PLC0415 - only this needs it

        self._lengths = np.array([len(chunk) for chunk in chunks], np.float64)
        self._known = Chunks(len(chunks), int(self._lengths.sum()))
        places: defaultdict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for at, chunk in enumerate(chunks):
            for term, times in Counter(chunk).items():
                places[term][0].append(at)
                places[term][1].append(times)
        self._places = {term: tuple(map(np.array, found)) for term, found in places.items()}

    def best(self, query: str) -> list[float]:
        """Return the best scores, the best first."""
        from evidentia.documents.scoring import K1, B, worths  # noqa: PLC0415 - only this needs it

        known = self._known
        norm = K1 * (1 - B + B * (self._lengths * known.count / known.terms))
        worth = worths(query, known, lambda term: len(self._places.get(term, ((),))[0]))
        scores = np.zeros(known.count)
        for term, value in worth.items():
            at, times = self._places[term]
            scores[at] += value * times / (times + norm[at])
        return [float(score) for score in np.sort(scores[scores > 0])[::-1][:_BEST]]


# Finding the passage that decides


def measure_recall(size: str, folder: Path) -> Section:
    """Measure for how many claims a passage is found that they were written about."""
    from training.claims_set import ELSEWHERE, read_pairs  # noqa: PLC0415 - only this needs it

    from evidentia.ledger.claims import whole_claim  # noqa: PLC0415 - the same
    from evidentia.ledger.evidence import Corpus, find_passages  # noqa: PLC0415 - the same
    from evidentia.workspace.corpora import Part, shelf_of  # noqa: PLC0415 - the same

    pairs = [pair for pair in read_pairs("calibrate") if pair.label != "not_found"]
    pairs = pairs if size == "full" else pairs[:: 40 if size == "tiny" else 5]
    library: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for pair in [*read_pairs("train"), *read_pairs("calibrate")]:
        library[pair.document][pair.evidence] = None
    (folder / "set").mkdir()
    for place, (_, passages) in enumerate(sorted(library.items())):
        path = folder / "set" / f"document-{place:03}.txt"
        path.write_text("\n\n".join(passages), encoding="utf-8")
    found = []
    with open_workspace(folder / "home") as workspace:
        workspace.ingest(folder / "set")
        shelf = shelf_of(workspace._acting)  # noqa: SLF001 - no check is measured

        def search() -> None:
            with shelf.pinned() as pin:
                found_by(shelf.corpus(pin, Part(), (), lambda *_: None))

        def found_by(corpus: Corpus) -> None:
            for pair in pairs:
                wanted = [_plain(part) for part in pair.evidence.split(ELSEWHERE)]
                said = {
                    _plain(one.snippet) for one in find_passages(whole_claim(pair.claim), corpus)
                }
                found.append(any(one in part for one in said for part in wanted))

        taken = seconds_of(search)
    share = sum(found) / len(found)
    return Section(
        "recall",
        "Finding the passage that decides",
        f"{len(pairs):,} claims of the calibration part, true, false and partly true, in a library "
        f"of all {len(library):,} documents of the parts for training and calibration. A claim "
        "counts as found if a passage of the text it was written about is among those that judges "
        "are given; by words alone.",
        [
            Line(
                "claims whose passage is found",
                f"{number(taken / len(found) * 1e3)} ms a claim",
                f"{sum(found):,} of {len(found):,}",
                "",
                Spread(share, share, share),
                "%",
                target=RECALL,
            )
        ],
    )


RECALL = 0.84
"""What was found while every chunk was scanned for every claim."""


def _plain(text: str) -> str:
    return " ".join(text.split())


def main() -> None:
    run_measures(
        "Measures the library, as it grows, against bare yardsticks of the same run.",
        {
            "check": measure_check,
            "ingest": measure_ingest,
            "query": measure_query,
            "agreement": measure_agreement,
            "recall": measure_recall,
        },
    )


if __name__ == "__main__":
    main()

"""The ledger: what reading documents, finding passages and checking an answer cost.

Run it with `python -m benchmarks.ledger [--quick] [--only NAME] [--json FILE]`.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from benchmarks.documents import SIZES as DOCUMENTS
from benchmarks.documents import measure_pdf, measure_search, pdf_files
from benchmarks.measuring import (
    Line,
    Samples,
    Section,
    Spread,
    Table,
    interleaved,
    number,
    run_measures,
    seconds_of,
)

from evidentia.documents.reading.document import read_document
from evidentia.language.sentences import sentence_spans
from evidentia.workspace import open_workspace

CLAIMS = {"full": 20, "quick": 20, "tiny": 4}
RULES = ("quote", "numbers")
PAGES = 100


@dataclass(frozen=True, slots=True)
class Rounds:
    """How often a check is measured."""

    cold: int
    warm: int


ROUNDS = {"full": Rounds(5, 9), "quick": Rounds(3, 5), "tiny": Rounds(1, 1)}


def measure_check(size: str, folder: Path) -> Section:
    """Measure the command on documents that were never read, and again once they are known."""
    pages = PAGES if size != "tiny" else 5
    documents = folder / "policies"
    documents.mkdir()
    (data,) = pdf_files(pages)
    (documents / "policy.pdf").write_bytes(data)
    answer = folder / "answer.md"
    answer.write_text(_answer(data, CLAIMS[size]))
    known = folder / "known"
    _check(answer, documents, known)
    homes = (folder / f"cold-{place}" for place in range(100))
    rounds = ROUNDS[size]
    taken = interleaved(
        rounds.cold,
        {
            "all": lambda: seconds_of(partial(_check, answer, documents, next(homes))),
            "rules": lambda: seconds_of(partial(_check, answer, documents, next(homes), RULES)),
            "bare": lambda: seconds_of(partial(_python, "pass")),
        },
    )
    warm = interleaved(
        rounds.warm,
        {
            "all": lambda: seconds_of(partial(_check, answer, documents, known)),
            "rules": lambda: seconds_of(partial(_check, answer, documents, known, RULES)),
            "bare": lambda: seconds_of(partial(_python, "pass")),
        },
    )
    section = Section(
        "check",
        "Checking an answer",
        f"`evidentia check` of an answer with {CLAIMS[size]} claims against a PDF of {pages} "
        "pages: the whole command, from the start of its interpreter to the ledger in the trail. "
        "The yardstick is an interpreter that does nothing. All judges are asked, the trained one "
        "about the claims that the rules leave open; or the rules alone, as `--judges` can say.",
        [
            _line("documents unread", taken["all"], taken["bare"], 10.0),
            _line("documents known", warm["all"], warm["bare"], 1.0),
            _line("documents unread, the rules alone", taken["rules"], taken["bare"], 10.0),
            _line("documents known, the rules alone", warm["rules"], warm["bare"], 1.0),
        ],
    )
    for whom, judges in (("", None), (", the rules alone", RULES)):
        home = folder / f"profiled-{len(section.tables)}"
        again, tables = _profiled(answer.read_text(), documents, home, rounds.warm, judges)
        what = f"documents known, in a running program{whom}"
        section.lines.append(_line(what, again, warm["bare"], 1.0))
        section.tables += tables if judges is None else []
    return section


def measure_memory(size: str, folder: Path) -> Section:
    """Measure a process that takes in everything and checks an answer against it."""
    pages = DOCUMENTS[size].all_pages
    documents = folder / "library"
    documents.mkdir()
    files = pdf_files(pages)
    for place, data in enumerate(files):
        (documents / f"policy-{place}.pdf").write_bytes(data)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        found = pool.submit(
            _take_in, documents, folder / "home", _answer(files[0], CLAIMS[size])
        ).result()
    return Section(
        "memory",
        "A library of many pages",
        f"One process takes in {pages:,} pages ({found.chunks:,} chunks), loads them with their "
        f"index and checks an answer of {CLAIMS[size]} claims against all of them.",
        [
            Line(
                "peak memory",
                "the imports alone",
                f"{number(found.peak)} MB",
                f"{number(found.before)} MB",
                Spread.of([found.peak]),
                "MB",
                target=1000,
                at_most=True,
            )
        ],
        [
            Table(
                "What it takes",
                ["Step", "Takes"],
                [
                    ["take in", f"{number(pages / found.ingest)} pages/s"],
                    ["load and check, first time", f"{number(found.first)} s"],
                    ["check again", f"{number(found.again)} s"],
                ],
            )
        ],
    )


@dataclass(frozen=True, slots=True)
class _TakenIn:
    peak: float
    before: float
    chunks: int
    ingest: float
    first: float
    again: float


def _take_in(documents: Path, home: Path, answer: str) -> _TakenIn:
    before = _peak_megabytes()
    with open_workspace(home) as workspace:
        ingest = seconds_of(lambda: workspace.ingest(documents))
        chunks = sum(document.chunks for document in workspace.documents.list())
        first = seconds_of(lambda: workspace.check(answer))
        again = seconds_of(lambda: workspace.check(answer))
    return _TakenIn(_peak_megabytes(), before, chunks, ingest, first, again)


def _peak_megabytes() -> float:
    """Return this process's peak: the system's own measure begins with its parent's."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1e3


def _line(what: str, taken: list[float], bare: list[float], target: float) -> Line:
    return Line(
        what,
        "`python -c pass`",
        f"{number(Spread.of(taken).median)} s",
        f"{number(Spread.of(bare).median)} s",
        Spread.of(taken),
        "s",
        target=target,
        at_most=True,
    )


def _profiled(
    answer: str, documents: Path, home: Path, rounds: int, judges: tuple[str, ...] | None
) -> tuple[list[float], list[Table]]:
    """Measure checks in a process that runs already, and say where their time goes."""
    tables: list[Table] = []
    taken: list[float] = []
    with open_workspace(home) as workspace:
        for what, times in (("first check, documents unread", 1), ("checks after it", rounds)):
            samples = Samples()
            with samples.taken():
                taken = [
                    seconds_of(lambda: workspace.check(answer, against=documents, judges=judges))
                    for _ in range(times)
                ]
            title = f"Where the time goes in a running program: {what}"
            rows = [["one check", f"{number(sum(taken) / times * 1e3)} ms"], *samples.shares(10)]
            tables.append(Table(title, ["Function", "Share"], rows))
    return taken, tables


def _answer(data: bytes, claims: int) -> str:
    """Return an answer: sentences of the document as they are, with other values, and strange."""
    pages = read_document(data, "policy.pdf").pages
    sentences = [
        " ".join(page.text[start:end].split())
        for page in pages
        for start, end in sentence_spans(page.text)
        if page.text[start:end].rstrip().endswith(".")
    ]
    chosen = sentences[:: max(1, len(sentences) // claims)][:claims]
    for place in range(0, len(chosen), 4):
        chosen[place] = "".join("7" if found.isdigit() else found for found in chosen[place])
    for place in range(1, len(chosen), 4):
        chosen[place] = f"The archive in building {place} keeps {place + 2} copies of every form."
    return "# Answer\n\n" + "\n".join(f"- {sentence}" for sentence in chosen) + "\n"


def _check(answer: Path, documents: Path, home: Path, judges: tuple[str, ...] = ()) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "evidentia.cli.main", "check", answer),
            *("--against", documents, "--home", home, "--format", "json"),
            *(("--judges", ",".join(judges)) if judges else ()),
        ],
        env={name: value for name, value in os.environ.items() if "EVIDENTIA" not in name},
        capture_output=True,
        check=True,
    )
    claims = json.loads(done.stdout)["summary"]["total_claims"]
    if claims != (expected := answer.read_text().count("\n- ")):
        raise SystemExit(f"the answer has {claims} claims and not {expected}")


def _python(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True)


def main() -> None:
    run_measures(
        "Measures the ledger against bare yardsticks of the same run.",
        {
            "pdf": lambda size, _: measure_pdf(DOCUMENTS[size]),
            "search": lambda size, _: measure_search(DOCUMENTS[size]),
            "check": measure_check,
            "memory": measure_memory,
        },
    )


if __name__ == "__main__":
    main()

"""Sources: what packing costs against a bare sort and slice, and that nothing makes it fail.

Run it with `python -m benchmarks.sources [--quick] [--only NAME] [--json FILE]`.
"""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema_rs
from benchmarks.measuring import (
    Line,
    Section,
    Spread,
    Table,
    interleaved,
    number,
    ratios,
    run_measures,
    seconds_of,
    tidy,
)

from evidentia.sources.model import CandidateItem, EvidenceChunk, EvidencePackOptions
from evidentia.sources.packing import DefaultEvidencePacker
from evidentia.sources.wire import WIRE_FORMATS

ROOT = Path(__file__).parents[1]
DOCUMENTS, CHUNKS = 50, 5
TEXT = (
    "Employees receive 15 days of annual leave. Requests go to the line manager two weeks ahead. "
    "Unused leave may be carried over at the discretion of the department head. "
)


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    rounds: int
    times: int
    many: int
    inputs: int


SIZES = {
    "full": Size(15, 200, 10_000, 1_000_000),
    "quick": Size(7, 50, 2_000, 20_000),
    "tiny": Size(2, 2, 200, 200),
}
Found = tuple[list[CandidateItem], list[EvidenceChunk]]


def measure_packing(size: Size) -> Section:
    """Measure packing, plain and with a query, and how it grows with the documents."""
    packer = DefaultEvidencePacker()
    found = _found(DOCUMENTS)
    plain = EvidencePackOptions()
    asked = EvidencePackOptions(query="how many days of leave", anchors=True)
    taken = interleaved(
        size.rounds,
        {
            "plain": lambda: _once(size.times, lambda: packer.pack(*found, plain)),
            "asked": lambda: _once(size.times, lambda: packer.pack(*found, asked)),
            "bare": lambda: _once(size.times, lambda: _bare(*found)),
        },
    )
    few, many = _found(100), _found(size.many)
    grown = interleaved(
        size.rounds,
        {
            "few": lambda: _once(size.times, lambda: packer.pack(*few, plain)) / 100,
            "many": lambda: seconds_of(lambda: packer.pack(*many, plain)) / size.many,
        },
    )
    bare = f"{number(Spread.of(taken['bare']).median * 1e6)} µs"
    ratio = Spread.of(
        [one / other for one, other in zip(taken["plain"], taken["bare"], strict=True)]
    )
    return Section(
        "packing",
        "Packing sources",
        f"{DOCUMENTS} documents with {CHUNKS} chunks each, six of them shown. The yardstick sorts "
        "the same candidates by their score, takes six, and the best chunk of each.",
        [
            _milliseconds("as retrieved", taken["plain"], bare, 1.0),
            _milliseconds("with a query and anchors", taken["asked"], bare, None),
            Line(
                f"time for each of {size.many:,} documents",
                "each of 100",
                f"{number(Spread.of(grown['many']).median * 1e6)} µs",
                f"{number(Spread.of(grown['few']).median * 1e6)} µs",
                ratios(grown["many"], grown["few"]),
                "times",
                target=1.5,
                at_most=True,
            ),
        ],
        [
            Table(
                "Against the bare sort and slice",
                ["What", "Times"],
                [["as retrieved", f"{number(ratio.median)} times"]],
            )
        ],
    )


def measure_survival(size: Size) -> Section:
    """Pack inputs gone wrong, and let the schema look at what comes out."""
    sys.path.insert(0, str(ROOT / "tests"))
    from sources.mutating import mutated  # noqa: PLC0415 - a helper of the tests

    schema = jsonschema_rs.validator_for(
        json.loads((ROOT / "spec" / "v1" / "sources.schema.json").read_text())
    )
    packer = DefaultEvidencePacker()
    emit = WIRE_FORMATS["rag.sources"]
    valid, shown = 0, 0

    def survive() -> None:
        nonlocal valid, shown
        for seed in range(size.inputs):
            packed = packer.pack(*mutated(10**9 + seed))
            valid += schema.is_valid(emit(packed))
            shown += bool(packed)

    taken = seconds_of(survive)
    return Section(
        "survival",
        "Surviving any input",
        f"{size.inputs:,} seeded mutations of retrieval output (the tests try others), packed, "
        f"emitted and validated, {number(size.inputs / taken)} a second; {shown:,} gave a source.",
        [
            Line(
                "inputs without an exception and with valid output",
                "all of them",
                f"{valid:,}",
                f"{size.inputs:,}",
                Spread.of([valid / size.inputs]),
                "%",
                target=1.0,
            )
        ],
    )


def _found(count: int) -> Found:
    candidates = [
        CandidateItem(
            item_id=f"doc-{place}",
            title=f"Policy {place}",
            url=f"https://example.com/{place}",
            content=TEXT * 4,
            score=(place * 37 % count) / count,
            metadata={"author": "People team", "year": 2026, "path": "/srv/x", "tags": ["a"]},
        )
        for place in range(count)
    ]
    chunks = [
        EvidenceChunk(item_id=item.item_id, text=TEXT * 4, score=place / CHUNKS, page=place + 1)
        for item in candidates
        for place in range(CHUNKS)
    ]
    return candidates, chunks


def _bare(candidates: list[CandidateItem], chunks: list[EvidenceChunk]) -> list[Any]:
    chosen = sorted(candidates, key=lambda item: -(item.score or 0))[:6]
    best: dict[str, EvidenceChunk] = {}
    for chunk in chunks:
        known = best.get(chunk.item_id)
        if known is None or (known.score or 0) < (chunk.score or 0):
            best[chunk.item_id] = chunk
    return [(item.item_id, best[item.item_id].text[:360]) for item in chosen]


def _milliseconds(what: str, taken: list[float], bare: str, target: float | None) -> Line:
    spread = Spread.of([value * 1e3 for value in taken])
    ours = f"{number(spread.median)} ms"
    return Line(what, "bare sort and slice", ours, bare, spread, "ms", target=target, at_most=True)


def _once(times: int, work: Callable[[], object]) -> float:
    """Return what one of several runs takes."""
    tidy()
    return seconds_of(lambda: [work() for _ in range(times)]) / times


def main() -> None:
    run_measures(
        "Measures packing against a bare yardstick of the same run.",
        {
            "packing": lambda size, _: measure_packing(SIZES[size]),
            "survival": lambda size, _: measure_survival(SIZES[size]),
        },
    )


if __name__ == "__main__":
    main()

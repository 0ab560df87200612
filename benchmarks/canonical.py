"""Canonical JSON against the reference implementation, byte for byte the same.

Run it with `python -m benchmarks.canonical [--quick] [--json FILE]`.
"""

import random
import statistics
import string
from collections.abc import Callable
from typing import Any

import rfc8785
from benchmarks.measuring import (
    Line,
    Section,
    cpu_seconds_of,
    interleaved,
    number,
    ratios,
    run_measures,
    tidy,
)
from benchmarks.workload import SEED, evidence_records

from evidentia.canonical import canonical_json
from evidentia.trail.entry import Entry

ROUNDS = {"full": 31, "quick": 11, "tiny": 1}
DOCUMENTS = {"full": 300, "quick": 300, "tiny": 20}
AT_RANDOM = {"full": 20_000, "quick": 2_000, "tiny": 50}
_ARABIC = "يلتزم المورد بتسليم الأعمال خلال ثلاثين يوماً من تاريخ السريان"
_TARGET = 5.0


def _records(count: int, *, amended: bool) -> list[Any]:
    found: list[Any] = []
    seed = SEED
    while len(found) < count:
        found += [
            record.model_dump()
            for record in evidence_records(count, seed)
            if (record.amendment_history is not None) == amended
        ]
        seed += 1
    return found[:count]


def _entries(count: int) -> list[Any]:
    return [
        Entry(
            "default", seq, f"{seq:064x}", "evidence_record", f"ob-{seq:07d}",
            "2026-01-31T09:30:00.000000Z", f"{seq:064x}",
        ).as_json()
        for seq in range(count)
    ]  # fmt: skip


def _metadata(count: int) -> list[Any]:
    chance = random.Random(SEED)
    return [
        {
            "document_id": f"doc-{number_:05d}",
            "retrieval": {
                "query": "delivery period of the services agreement",
                "score": chance.random(),
                "distances": [chance.uniform(-1, 1) for _ in range(6)],
                "filters": {"tenant": "default", "language": ["en", "ar"], "archived": False},
            },
            "chunk": {"page": chance.randrange(300), "start": chance.randrange(10**6), "end": None},
            "tool_calls": [
                {"name": "search", "arguments": {"k": 8, "min_score": 0.25}, "took_ms": 41.5},
                {"name": "fetch", "arguments": {"id": f"doc-{number_:05d}"}, "took_ms": 7},
            ],
        }
        for number_ in range(count)
    ]


def _arabic(count: int) -> list[Any]:
    return [
        {**record, "source_clause": f"{_ARABIC} ({at}) — café, naïve, 契約 🖋"}
        for at, record in enumerate(_records(count, amended=False))
    ]


def _foreign_keys(count: int) -> list[Any]:
    return [
        {"العقد": {"البند": at, "الحالة": "ساري"}, "clé": [0.5, at], "plain": _ARABIC}
        for at in range(count)
    ]


def _exponents(count: int) -> list[Any]:
    chance = random.Random(SEED)
    return [
        {"scores": [chance.random() * 10.0 ** chance.randrange(-12, -5) for _ in range(4)], "n": at}
        for at in range(count)
    ]


def _anything(chance: random.Random, depth: int = 0) -> Any:
    """Return a random document, with all that JSON can hold and that is hard to write."""
    kind = chance.randrange(8 if depth < 4 else 6)
    if kind == 0:
        return chance.choice([None, True, False])
    if kind == 1:
        return chance.randrange(-(2**53) + 1, 2**53)
    if kind == 2:
        return chance.choice([-1, 1]) * chance.random() * 10.0 ** chance.randrange(-25, 25)
    if kind in (3, 4, 5):
        return _text(chance)
    if kind == 6:
        return [_anything(chance, depth + 1) for _ in range(chance.randrange(5))]
    return {_text(chance): _anything(chance, depth + 1) for _ in range(chance.randrange(6))}


def _text(chance: random.Random) -> str:
    letters = string.printable + "é€\u2028\u20ac\ufb33😀ق" if chance.random() < 0.2 else "abcdef_"
    return "".join(chance.choice(letters) for _ in range(chance.randrange(12)))


KINDS: dict[str, tuple[Callable[[int], list[Any]], float | None]] = {
    "Evidence record": (lambda count: _records(count, amended=False), _TARGET),
    "Evidence record with its amendments": (lambda count: _records(count, amended=True), _TARGET),
    "Nested metadata with scores": (_metadata, _TARGET),
    "Text in Arabic, accents and emoji": (_arabic, _TARGET),
    "Log entry": (_entries, _TARGET),
    "Keys that are not ASCII": (_foreign_keys, None),
    "Numbers that need an exponent": (_exponents, None),
}


def measure(size: str) -> Section:
    """Compare both on each kind of document."""
    section = Section(
        "canonical",
        "Canonical JSON",
        "`canonical_json` against the `rfc8785` package, whose bytes it must equal. The first five "
        "are what the product writes most, the last two are rare and hard. Measured in processor "
        "time.",
    )
    for name, (make, target) in KINDS.items():
        documents = make(DOCUMENTS[size])
        section.lines.append(_compare(name, documents, ROUNDS[size], target))
    chance = random.Random(SEED)
    hard = [_anything(chance) for _ in range(AT_RANDOM[size])]
    _require_equal(hard)
    section.notes.append(
        f"Every document above, and {number(len(hard))} random ones with hard keys, texts and "
        "numbers, came out byte for byte as the reference implementation writes them."
    )
    return section


def _compare(name: str, documents: list[Any], rounds: int, target: float | None) -> Line:
    _require_equal(documents)
    tidy()
    taken = interleaved(
        rounds,
        {
            "ours": lambda: cpu_seconds_of(lambda: [canonical_json(one) for one in documents]),
            "theirs": lambda: cpu_seconds_of(lambda: [rfc8785.dumps(one) for one in documents]),
        },
    )
    figure = ratios(taken["theirs"], taken["ours"])
    ours, theirs = statistics.median(taken["ours"]), statistics.median(taken["theirs"])
    size = sum(len(canonical_json(one)) for one in documents) / len(documents)
    return Line(
        f"{name} ({number(round(size))} bytes)",
        "rfc8785",
        f"{number(len(documents) / ours)} documents/s",
        f"{number(len(documents) / theirs)}/s",
        figure,
        "times",
        target=target,
    )


def _require_equal(documents: list[Any]) -> None:
    for document in documents:
        if canonical_json(document) != rfc8785.dumps(document):
            raise SystemExit(f"not byte-identical: {document!r}")


def main() -> None:
    run_measures(
        "Measures canonical JSON against the rfc8785 package.",
        {"canonical": lambda size, _: measure(size)},
    )


if __name__ == "__main__":
    main()

"""The tables on the page of the claims set, made of the set: `python -m training.claims_counts`."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from training.claims_set import (
    KINDS,
    LANGUAGES,
    SPLITS,
    Reading,
    kappa,
    read_answers,
    read_pairs,
    read_readings,
)

SAMPLES: Final = (
    "fifth",
    "rest of test",
    "single claims",
    "later documents",
    "answers",
    "other answers",
    "test answers",
)
_TWICE: Final = ("fifth", "rest of test")
"""The samples that were read passage by passage."""


def tables() -> Iterator[str]:
    """Give the tables, as Markdown, in the order of the page."""
    pairs = {split: read_pairs(split) for split in SPLITS}
    readings = read_readings()
    yield _table(
        ("Split", "Documents", "Passages", "Pairs", *map(_words, KINDS)),
        [
            (
                f"`{split}`",
                len({one.document for one in found}),
                len({(one.document, one.passage) for one in found}),
                len(found),
                *(sum(one.label == label for one in found) for label in KINDS),
            )
            for split, found in pairs.items()
        ],
    )
    kinds = {split: Counter((one.label, one.kind) for one in pairs[split]) for split in SPLITS}
    read = [one for one in readings if one.sample in _TWICE]
    yield _table(
        ("Label", "Kind", *SPLITS, "read twice", "agreed", "doubted"),
        [
            (_words(label), kind, *(kinds[split][label, kind] for split in SPLITS), *_agreed(same))
            for label in KINDS
            for kind in KINDS[label]
            for same in ([one for one in read if (one.first, one.kind) == (label, kind)],)
        ],
    )
    languages = {split: Counter(one.language for one in pairs[split]) for split in SPLITS}
    yield _table(
        ("Evidence and claim", *SPLITS),
        [(name, *(languages[split][name] for split in SPLITS)) for name in LANGUAGES],
    )
    genres = {
        split: Counter(
            genre
            for _, _, genre in {(one.document, one.passage, one.genre) for one in pairs[split]}
        )
        for split in SPLITS
    }
    yield _table(
        ("Genre, in passages", *SPLITS),
        [
            (genre, *(genres[split][genre] for split in SPLITS))
            for genre in sorted(set().union(*genres.values()))
        ],
    )
    yield _table(
        ("Split, language", "Documents", "Answers", "Claims", *map(_words, KINDS)),
        [
            (
                f"`{split}`, {language}",
                len({name for answer in answers for name in answer.documents}),
                len(answers),
                len(labels),
                *(labels.count(label) for label in KINDS),
            )
            for split in SPLITS
            for language in ("en", "ar")
            for answers in ([one for one in read_answers(split) if one.language == language],)
            for labels in ([claim.label for answer in answers for claim in answer.claims],)
            if answers
        ],
    )
    yield _table(
        ("Sample", "Pairs", "agreed", "doubted", "kappa"),
        [
            (sample, *_agreed(same), f"{kappa(same):.3f}")
            for sample in SAMPLES
            for same in ([one for one in readings if one.sample == sample],)
        ],
    )
    confusion = Counter((one.first, one.second) for one in read)
    yield _table(
        ("First label, by second", *map(_words, KINDS)),
        [(_words(first), *(confusion[first, second] for second in KINDS)) for first in KINDS],
    )


def _agreed(readings: Sequence[Reading]) -> tuple[int, int, int]:
    agreed = sum(one.first == one.second for one in readings)
    return len(readings), agreed, sum(one.other is not None for one in readings)


def _words(label: str) -> str:
    return label.replace("_", " ")


def _table(head: Sequence[str], rows: Iterable[Sequence[str | int]]) -> str:
    numbers = "|".join("---:" if place else "---" for place in range(len(head)))
    lines = [f"| {' | '.join(head)} |", f"|{numbers}|"]
    lines += [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows]
    return "\n".join(lines)


def _cell(value: str | int) -> str:
    return value if isinstance(value, str) else f"{value:,}"


if __name__ == "__main__":
    print("\n\n".join(tables()))

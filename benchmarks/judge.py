"""The judges: how right they are on labelled pairs, beside what shared words alone tell.

Run it with `python -m benchmarks.judge [--quick] [--data DIR] [--json FILE]`. The pairs are JSON
lines under `dev/` of the folder; what is chosen by pairs is chosen by those under `train/`.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.measuring import (
    Line,
    Section,
    Spread,
    Table,
    machine,
    number,
    options,
    parser,
    report,
    table,
)

from evidentia.judges.measuring import (
    COUNTED_FROM,
    Figures,
    Outcome,
    balanced_accuracy,
    measure,
)
from evidentia.judges.nli.model import encoder, has_weights
from evidentia.language.words import content_stems, coverage, words
from evidentia.ledger.model import Verdict
from evidentia.workspace.evaluating import Pair, chosen_judges, evaluate, read_pairs

ROOT = Path(__file__).parents[1]
DATA = Path("..", "shared", "data", "claims")
"""Where the pairs are, as seen from the repository: they are others' and no part of it."""
CHOSEN_BY = ("conjnli", "fever_nli")
OF_WORDS = ("quote", "numbers")
SHARED_WORDS = "shared words"
COSINE = "cosine of embeddings"
TARGETS = {
    "wice": (0.75, None),
    "fever_symmetric": (0.80, 0.88),
    "summedits": (0.66, 0.72),
    "cad_nli": (0.80, None),
    "conjnli": (0.75, None),
}
"""The balanced accuracy that each set should reach, and what is aimed at."""
F1_TARGETS = {"cad_nli": 0.70}
MOST_ERROR = 0.05
MOST_ERROR_OF_A_SET = 0.08


@dataclass(frozen=True, slots=True)
class Size:
    """How many pairs of each set are judged, and how many the threshold is chosen by."""

    pairs: int | None
    chosen_by: int | None


SIZES = {"full": Size(None, None), "quick": Size(60, 1_000), "tiny": Size(4, 50)}


@dataclass(frozen=True, slots=True)
class Measured:
    """What one way of judging comes to on one set."""

    figures: Figures
    rate: float
    outcomes: tuple[Outcome, ...]


Way = Callable[[Sequence[Pair]], Measured]


def measure_judges(size: Size, data: Path) -> Section:
    """Measure each way of judging on each set."""
    section = Section(
        "judge",
        "How right the judges are",
        "Labelled pairs of evidence and claim, judged as `evidentia judge eval` does: the evidence "
        "is cut, indexed and searched as a document. The figure is the balanced accuracy of the "
        "judges that a check asks by default, supported against the rest; its spread is the "
        "interval that holds it in 95 % of samples. The yardstick is the share of the claim's "
        "words that are in the evidence, with a threshold chosen by other pairs.",
    )
    files = sorted((ROOT / data / "dev").glob("*.jsonl*"))
    if not files:
        section.notes.append(f"Not measured: there are no labelled pairs in `{data}/dev`.")
        return section
    chosen_by = _train_pairs(ROOT / data / "train", size.chosen_by)
    threshold = _chosen_threshold(chosen_by, _share)
    some = chosen_by[:: max(len(chosen_by) // 2_000, 1)] if has_weights() else []
    near = _chosen_threshold(some, _nearness)
    asked = tuple(judge.name for judge in chosen_judges())
    ways: dict[str, Way] = {
        SHARED_WORDS: lambda pairs: _by_score(pairs, _share, threshold),
        **({COSINE: lambda pairs: _by_score(pairs, _nearness, near)} if has_weights() else {}),
        **{", ".join(names): _by_judges(names) for names in (OF_WORDS, asked)},
    }
    default = ", ".join(asked)
    rows = []
    ours: list[Outcome] = []
    theirs: list[Outcome] = []
    errors: list[Line] = []
    for file in files:
        name = file.name.partition(".")[0]
        pairs = read_pairs(file, size.pairs)
        found = {way: judged(pairs) for way, judged in ways.items()}
        rows += [[name, way, *_cells(measured)] for way, measured in found.items()]
        section.lines += _lines(name, default, found)
        errors += _calibration(
            f"calibration error, {name}",
            found[default].figures,
            found[SHARED_WORDS].figures,
            MOST_ERROR_OF_A_SET,
        )
        ours += found[default].outcomes
        theirs += found[SHARED_WORDS].outcomes
    section.lines += _calibration(
        "calibration error, all pairs", measure(ours), measure(theirs), MOST_ERROR
    )
    section.lines += errors
    header = ["Set", "By", "Pairs", "Balanced accuracy", "F1", "AUROC", "ECE", "Pairs/s"]
    section.tables.append(Table("All figures", header, rows))
    section.notes.append(
        f"Words are taken for support from a share of {threshold:.2f} and embeddings from a cosine "
        f"of {near:.2f} on, which separate pairs of {' and '.join(CHOSEN_BY)} best. F1 is over "
        "the labels that occur, and missing where a set does not tell contradicted from not found. "
        "ECE is the expected calibration error."
    )
    return section


def _by_judges(names: Sequence[str]) -> Way:
    judges = chosen_judges(names)

    def judged(pairs: Sequence[Pair]) -> Measured:
        found = evaluate("", pairs, judges)
        outcomes = tuple(one.outcome for one in found.judged)
        return Measured(found.figures, found.pairs_per_second or 0.0, outcomes)

    return judged


def _by_score(pairs: Sequence[Pair], score: Callable[[Pair], float], threshold: float) -> Measured:
    start = time.perf_counter()
    shares = [score(pair) for pair in pairs]
    taken = time.perf_counter() - start
    outcomes = tuple(
        Outcome(pair.label, Verdict.WEAK, _with_the_judges_threshold(share, threshold))
        for pair, share in zip(pairs, shares, strict=True)
    )
    return Measured(measure(outcomes), len(pairs) / taken, outcomes)


def _share(pair: Pair) -> float:
    """Return which part of the claim's content words is in the evidence."""
    return coverage(content_stems(words(pair.claim)), content_stems(words(pair.evidence)))


def _nearness(pair: Pair) -> float:
    """Return how near the claim's embedding is to that of the evidence, as far as it is read."""
    claim, evidence = encoder().embed([pair.claim, pair.evidence])
    return max(float(claim.whole @ evidence.whole), 0.0)


def _with_the_judges_threshold(share: float, threshold: float) -> float:
    """Return the share stretched so that the threshold is where that of judges is."""
    if share < threshold:
        return share / threshold * COUNTED_FROM
    above = (share - threshold) / (1 - threshold) if threshold < 1 else 1.0
    return COUNTED_FROM + above * (1 - COUNTED_FROM)


def _train_pairs(folder: Path, limit: int | None) -> list[Pair]:
    return [
        pair
        for name in CHOSEN_BY
        for file in folder.glob(f"{name}.jsonl*")
        for pair in read_pairs(file, limit)
    ]


def _chosen_threshold(pairs: Sequence[Pair], score: Callable[[Pair], float]) -> float:
    """Return the score that separates the training pairs best."""
    shares = np.array([score(pair) for pair in pairs])
    actual = np.array([pair.label == "supported" for pair in pairs])

    def accuracy(threshold: float) -> float:
        right = (shares >= threshold) == actual
        return balanced_accuracy(actual.tolist(), right.tolist()) or 0.0

    return max(sorted(set(shares.tolist())), key=accuracy, default=1.0)


def _lines(name: str, default: str, found: dict[str, Measured]) -> list[Line]:
    """Return a set's lines, if it has pairs of both kinds."""
    ours, theirs = found[default].figures, found[SHARED_WORDS].figures
    if ours.balanced_accuracy is None or ours.interval is None:
        return []
    lines = [
        Line(
            name,
            SHARED_WORDS,
            _figure(ours.balanced_accuracy),
            _figure(theirs.balanced_accuracy),
            Spread(ours.balanced_accuracy, *ours.interval),
            "%",
            target=TARGETS.get(name, (None, None))[0],
            aim=TARGETS.get(name, (None, None))[1],
        )
    ]
    if name in F1_TARGETS:
        lines.append(
            Line(
                f"{name}, F1 over its labels",
                SHARED_WORDS,
                _figure(ours.macro_f1),
                _figure(theirs.macro_f1),
                Spread.of([ours.macro_f1 or 0.0]),
                "%",
                target=F1_TARGETS[name],
            )
        )
    return lines


def _calibration(what: str, ours: Figures, theirs: Figures, most: float) -> list[Line]:
    """Return the line of how far the probabilities are off."""
    if ours.calibration_error is None:
        return []
    return [
        Line(
            what,
            SHARED_WORDS,
            _figure(ours.calibration_error),
            _figure(theirs.calibration_error),
            Spread.of([ours.calibration_error]),
            "%",
            target=most,
            at_most=True,
        )
    ]


def _cells(measured: Measured) -> list[str]:
    figures = measured.figures
    shown = (figures.balanced_accuracy, figures.macro_f1, figures.auroc, figures.calibration_error)
    return [f"{figures.pairs:,}", *map(_figure, shown), number(measured.rate)]


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def run_on_pairs(name: str, about: str, measured: Callable[[str, Path], Section]) -> None:
    """Run a benchmark of labelled pairs, whose folder can be told."""
    names = [name]
    arguments = parser(about, names)
    arguments.add_argument(
        "--data", type=Path, metavar="DIR", default=DATA, help="where the labelled pairs are"
    )
    parsed = arguments.parse_args()
    asked = options(parsed, names)
    with asked.workplace() as folder:
        described = machine(folder)
        print(table(["Machine", ""], list(described.items())), end="\n\n", flush=True)
        section = measured(asked.size, parsed.data)
        print(section.markdown(), flush=True)
    report(asked, described, [section])


def main() -> None:
    run_on_pairs(
        "judge",
        "Measures how right the judges are on labelled pairs.",
        lambda size, data: measure_judges(SIZES[size], data),
    )


if __name__ == "__main__":
    main()

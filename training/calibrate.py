"""Fit the combination: how the model's scores and the typed checks make one probability.

Every pair of the dev sets goes the way that answers go: cut into chunks, searched by words and by
meaning, judged by parts. So do changed sentences, made of those that the measured ones are not made
of: what the checks find is rare in the sets. Fitted are small logistic formulas over named
features: for evidence that the model reads whole, for evidence that it reads in pieces, and for
conflicts. A weight whose sign makes no sense, or whose check hardly ever fired, is left out; in
pieces, a check of a kind that hardly ever fired counts what it does in a whole. Each set counts the
same. The formulas are also fitted with one set left out and tried on that set, which shows how they
fare on data of a kind they have not seen.
"""

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from sklearn.linear_model import LogisticRegression

from evidentia.judges.checks import CheckKind
from evidentia.judges.measuring import FLOOR
from evidentia.judges.nli.judge import NliJudge
from evidentia.judges.nli.meaning import with_meaning
from evidentia.ledger.claims import whole_claim
from evidentia.ledger.evidence import Corpus, find_passages
from evidentia.workspace.evaluating import evidence_corpus
from training.data import DEV_SETS, Pair, dev_pairs
from training.measures import balanced_accuracy
from training.perturb import synthetic_pairs

STRENGTH: Final = 1.0
"""How freely the weights may grow: less is closer to zero."""
RARE: Final = 8
SWAPS: Final = "swaps"
SWAPS_OF: Final = ("summedits", "cad_nli", "conjnli")
"""Of which sets' sentences the changed ones are made; the others' are measured with."""
AS_ANTONYMS: Final = "role differs"
"""A check that fires too rarely to be fitted: it counts as an antonym does, by choice."""
_SWAPS: Final = 1_200
_SEED: Final = 5
_ROUNDS: Final = 4
_CHECKS: Final = tuple(
    f"{kind.value} {how}" for kind in CheckKind for how in ("differs", "missing")
)
_LACKED: Final = ("words nowhere", "figures nowhere", "names nowhere")
SUPPORT: Final = (
    "support alone",
    "support together",
    "contradiction alone",
    *_LACKED,
    *_CHECKS,
)
CONTRADICTION: Final = (
    "contradiction alone",
    "contradiction of the best",
    "contradiction together",
    "support together",
    *_CHECKS,
)


@dataclass(frozen=True, slots=True)
class Read:
    """A pair, and the features of each part of its claim."""

    source: str
    label: str
    parts: tuple[dict[str, float], ...]
    is_whole: bool

    @property
    def regime(self) -> str:
        """By which formula it is weighed."""
        return "whole" if self.is_whole else "pieces"


def read_pairs(pairs: Sequence[Pair]) -> list[Read]:
    """Return the features of pairs, by the path that a check takes."""
    judge = NliJudge()
    found: list[Read] = []
    corpora: dict[str, Corpus] = {}
    for done, pair in enumerate(pairs):
        claim = whole_claim(pair.claim)
        if pair.evidence not in corpora:
            corpora = {pair.evidence: with_meaning(evidence_corpus(pair.evidence), [judge])}
        corpus = corpora[pair.evidence]
        passages = find_passages(claim, corpus)
        parts = judge.read(claim.text, passages) if passages else []
        features = tuple(part.features for part in parts)
        is_whole = all(part.is_whole for part in parts)
        found.append(Read(pair.source, pair.label, features, is_whole))
        if done % 100 == 0:
            print(f"{pair.source} {done}/{len(pairs)}", flush=True)
    return found


def changed_sentences(pairs: Sequence[Pair]) -> list[Pair]:
    """Return pairs whose labels are known by construction, as one set."""
    return [replace(pair, source=SWAPS) for pair in synthetic_pairs(pairs, _SWAPS, _SEED)]


def fitted(
    rows: Sequence[tuple[dict[str, float], bool]],
    names: Sequence[str],
    weights: np.ndarray,
    signs: dict[str, int],
) -> dict[str, Any]:
    """Fit a formula; leave out the features whose weight has the wrong sign, and fit again."""
    kept = [
        name
        for name in names
        if name not in _CHECKS or sum(features[name] > 0 for features, _ in rows) >= RARE
    ]
    truth = np.array([is_so for _, is_so in rows])
    while True:
        values = np.array([[features[name] for name in kept] for features, _ in rows])
        model = LogisticRegression(C=STRENGTH, max_iter=2_000).fit(values, truth, weights)
        found = dict(zip(kept, model.coef_[0].tolist(), strict=True))
        wrong = [name for name, weight in found.items() if weight * signs[name] < 0]
        if not wrong:
            break
        kept = [name for name in kept if name not in wrong]
    return {
        "intercept": round(float(model.intercept_[0]), 4),
        "weights": {name: round(weight, 4) for name, weight in found.items()},
    }


def chance(formula: dict[str, Any], features: dict[str, float]) -> float:
    total = formula["intercept"] + sum(
        weight * features[name] for name, weight in formula["weights"].items()
    )
    return float(1 / (1 + np.exp(-total)))


def fit(reads: Sequence[Read]) -> dict[str, Any]:
    """Fit all formulas."""
    reads = [one for one in reads if one.parts]
    formulas = {
        regime: fit_support([one for one in reads if one.regime == regime])
        for regime in ("whole", "pieces")
    }
    whole, pieces = formulas["whole"]["weights"], formulas["pieces"]["weights"]
    pieces |= {
        name: whole[name]
        for name in _CHECKS
        if name in whole and _fired(name, [one for one in reads if not one.is_whole]) < RARE
    }
    for weights in (whole, pieces):
        weights.setdefault(AS_ANTONYMS, weights.get("antonym differs", 0.0))
    told = [one for one in reads if one.label in ("contradicted", "not_found")]
    against = {name: 1 if name.endswith("differs") else 0 for name in CONTRADICTION}
    against |= {name: 1 for name in CONTRADICTION if name.startswith("contradiction")}
    rows = [(weakest(formulas[one.regime], one), one.label == "contradicted") for one in told]
    conflict = fitted(rows, CONTRADICTION, weights_of(told), against)
    conflict["weights"].setdefault(AS_ANTONYMS, conflict["weights"].get("antonym differs", 0.0))
    return {**formulas, "contradiction": conflict}


def _fired(name: str, reads: Sequence[Read]) -> int:
    return sum(any(part[name] > 0 for part in one.parts) for one in reads)


def fit_support(reads: Sequence[Read]) -> dict[str, Any]:
    """Fit a formula of support; which part of a claim is the weakest follows from the one before.

    A claim that is not supported must have one such part, and it is not known which.
    """
    signs = dict.fromkeys((*_CHECKS, *_LACKED, "contradiction alone"), -1)
    signs |= {"support alone": 1, "support together": 1}
    formula: dict[str, Any] = {"intercept": 0.0, "weights": {"support together": 1.0}}
    for _ in range(_ROUNDS):
        rows = [(weakest(formula, one), one.label == "supported") for one in reads]
        formula = fitted(rows, SUPPORT, weights_of(reads), signs)
    return formula


def weights_of(reads: Sequence[Read]) -> np.ndarray:
    """Return weights by which each set counts the same."""
    counts = Counter(one.source for one in reads)
    return np.array([len(reads) / len(counts) / counts[one.source] for one in reads])


def weakest(formula: dict[str, Any], one: Read) -> dict[str, float]:
    return min(one.parts, key=lambda part: chance(formula, part))


def support_of(formulas: dict[str, Any], one: Read) -> float:
    formula = formulas[one.regime]
    return chance(formula, weakest(formula, one)) if one.parts else FLOOR


def calibration_error(truth: np.ndarray, chances: np.ndarray, bins: int = 10) -> float:
    places = np.minimum((chances * bins).astype(int), bins - 1)
    error = 0.0
    for place in range(bins):
        there = places == place
        if there.any():
            error += there.mean() * abs(truth[there].mean() - chances[there].mean())
    return float(error)


def report(name: str, reads: Sequence[Read], formulas: dict[str, Any]) -> None:
    chances = np.array([support_of(formulas, one) for one in reads])
    labels = [one.label for one in reads]
    truth = np.array([label == "supported" for label in labels])
    by_threshold = {
        f"{threshold:.2f}": round(100 * balanced_accuracy(labels, chances, threshold), 1)
        for threshold in (0.3, 0.35, 0.4, 0.45, 0.5)
    }
    print(f"{name:18} {by_threshold} calibration error {calibration_error(truth, chances):.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of the claim sets")
    parser.add_argument("out", type=Path, help="combination.json to write")
    parser.add_argument("--kept", type=Path, help="features of an earlier run, to read or write")
    given = parser.parse_args()
    if given.kept and given.kept.exists():
        rows = json.loads(given.kept.read_text(encoding="utf-8"))
        reads = [Read(**{**row, "parts": tuple(row["parts"])}) for row in rows]
    else:
        pairs = [pair for name in DEV_SETS for pair in dev_pairs(given.data, name)]
        pairs += changed_sentences([pair for pair in pairs if pair.source in SWAPS_OF])
        reads = read_pairs(sorted(pairs, key=lambda pair: (pair.source, pair.evidence)))
        if given.kept:
            given.kept.write_text(json.dumps([asdict(one) for one in reads]), encoding="utf-8")
    for left_out in DEV_SETS:
        others = fit([one for one in reads if one.source != left_out])
        report(f"without {left_out}", [one for one in reads if one.source == left_out], others)
    formulas = fit(reads)
    for name in (*DEV_SETS, SWAPS):
        report(name, [one for one in reads if one.source == name], formulas)
    report("all sets", [one for one in reads if one.source != SWAPS], formulas)
    given.out.write_text(json.dumps(formulas, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(formulas, indent=2))


if __name__ == "__main__":
    main()

"""Fit the combination: how the model's scores and the typed checks make one decision.

Every pair goes the way that answers go: cut into chunks, searched by words and by meaning, judged
by parts. The pairs are those of the dev sets; changed sentences, made of those that the measured
ones are not made of, for what the checks find is rare in the sets; and claims of the documents that
are for calibrating, each with its passage and with its whole document. Fitted are two formulas over
named features, for evidence that the model reads whole and for evidence that it reads in pieces. A
weight can't have a sign that makes no sense, and a check that hardly ever fired has none. The
formulas are also fitted with one set left out, or one half of the documents, and tried on that,
which shows how they fare on data of a kind they have not seen.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import log
from pathlib import Path
from typing import Final

import numpy as np
from scipy.optimize import minimize
from sklearn.metrics import roc_auc_score

from evidentia.judges.checks import CheckKind
from evidentia.judges.nli.combining import LABELS, Chances, Combination, Formula, Sum
from evidentia.judges.nli.judge import CONTRADICTS, PLAINLY, NliJudge
from evidentia.judges.nli.meaning import with_meaning
from evidentia.ledger.claims import extract_claims, whole_claim
from evidentia.ledger.evidence import Corpus, find_passages
from evidentia.ledger.model import Claim
from evidentia.ledger.verdicts import LIKELY, SUPPORTED_ABOVE
from evidentia.workspace.evaluating import evidence_corpus
from training.alignment import aligned
from training.asread import corpus_of, documents_of
from training.claims_set import FOLDER, read_answers
from training.contrast import CHOOSING, MARK, own_pairs
from training.data import DEV_SETS, Pair, dev_pairs
from training.encoding import right_labels
from training.measures import balanced_accuracy, calibration_error
from training.perturb import synthetic_pairs

STRENGTH: Final = 0.02
"""How much a weight costs: more is closer to zero."""
RARE: Final = 8
SWAPS: Final = "swaps"
SWAPS_OF: Final = ("summedits", "cad_nli", "conjnli")
"""Of which sets' sentences the changed ones are made; the others' are measured with."""
PASSAGES: Final = "passages"
DOCUMENTS: Final = "documents"
ANSWERS: Final = "answers"
WEIGHTS: Final = {
    "whole": {PASSAGES: 4.0, DOCUMENTS: 4.0, ANSWERS: 0.0},
    "pieces": {PASSAGES: 1.0, DOCUMENTS: 1.0, ANSWERS: 8.0},
}
"""How much sets count that do not count once, for each formula: claims as assistants word them are
what is judged. Hardly any answer is about documents that are read whole: those few would weigh as
much as a set."""
_SWAPS: Final = 800
_SEED: Final = 5
_ROUNDS: Final = 3
_CHECKS: Final = tuple(
    f"{kind.value} {how}" for kind in CheckKind for how in ("differs", "missing")
)
_LACKED: Final = ("words nowhere", "figures nowhere", "names nowhere")
SIGNS: Final[dict[str, dict[str, int]]] = {
    "supported": {
        "support alone": 1,
        "support together": 1,
        "contradiction alone": -1,
        "contradiction together": -1,
        "part together": -1,
        "values agree": 1,
        **dict.fromkeys((*_CHECKS, *_LACKED), -1),
    },
    "contradicted": {
        "contradiction alone": 1,
        "contradiction together": 1,
        "contradiction of the best": 1,
        "support alone": -1,
        "support together": -1,
        **{f"{kind.value} differs": 1 for kind in CheckKind},
    },
    "weak": {
        "part alone": 1,
        "part together": 1,
        "contradiction together": -1,
    },
    "not_found": {
        "nothing alone": 1,
        "nothing together": 1,
        **dict.fromkeys(_LACKED, 1),
    },
}
"""The features that count for each label, and which way they may.

That nothing is said counts for that label alone: if it counted against each of the others apart,
one of them would be the likelier the surer it is that something is said, whatever that is.
"""


@dataclass(frozen=True, slots=True)
class Read:
    """A pair, and the features of each part of its claim; `group` names its document."""

    source: str
    group: str
    label: str
    right: tuple[bool, ...]
    parts: tuple[dict[str, float], ...]
    is_whole: bool

    @property
    def regime(self) -> str:
        """By which formula it is weighed."""
        return "whole" if self.is_whole else "pieces"


def claims_by_document() -> list[Pair]:
    """Return the claims of the documents that are for calibrating, each beside all passages."""
    pairs = own_pairs(CHOOSING)
    texts: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for pair in pairs:
        texts[group_of(pair)][pair.evidence] = None
    return [replace(pair, evidence="\n\n".join(texts[group_of(pair)])) for pair in pairs]


def group_of(pair: Pair) -> str:
    """Return the document that a contrast pair is about; nothing for others."""
    return pair.source.removeprefix(MARK).rpartition(":")[0] if MARK in pair.source else ""


def read_pairs(name: str, pairs: Sequence[Pair]) -> Iterator[Read]:
    """Give the features of pairs, by the path that a check takes."""
    corpora: dict[str, Corpus] = {}
    for done, pair in enumerate(pairs):
        if pair.evidence not in corpora:
            corpora = {pair.evidence: with_meaning(evidence_corpus(pair.evidence), [NliJudge()])}
        yield read(name, pair, whole_claim(pair.claim), corpora[pair.evidence])
        if done % 200 == 0:
            print(f"{name} {done}/{len(pairs)}", flush=True)


def read_whole_answers() -> Iterator[Read]:
    """Give the features of claims as they are taken out of the answers that are for calibrating."""
    for answer in read_answers(CHOOSING):
        if answer.language == "en":
            corpus = corpus_of(documents_of(answer, FOLDER))
            for one in aligned(answer, extract_claims(answer.answer).claims):
                source = f"{MARK}{answer.documents[0]}:{one.kind}"
                yield read(ANSWERS, Pair("", one.claim.text, one.label, source), one.claim, corpus)
            print(f"{ANSWERS} {answer.name}", flush=True)


def read(name: str, pair: Pair, claim: Claim, corpus: Corpus) -> Read:
    """Return the features of a claim, given what it is looked for in."""
    passages = find_passages(claim, corpus)
    around = [corpus.around(passage) for passage in passages]
    parts = NliJudge().read(claim.text, passages, around) if passages else []
    return Read(
        name,
        group_of(pair),
        pair.label,
        right_labels(pair),
        tuple(part.features for part in parts),
        all(part.is_whole for part in parts),
    )


def all_pairs(data: Path, most: int | None) -> dict[str, list[Pair]]:
    """Return what the formulas are fitted on, by its name; at most so many of each dev set."""
    sets = {name: _some(dev_pairs(data, name), most) for name in DEV_SETS}
    of = [pair for name in SWAPS_OF for pair in dev_pairs(data, name)]
    sets[SWAPS] = list(synthetic_pairs(of, _SWAPS, _SEED))
    sets[PASSAGES] = own_pairs(CHOOSING)
    sets[DOCUMENTS] = claims_by_document()
    found = {name: sorted(pairs, key=lambda pair: pair.evidence) for name, pairs in sets.items()}
    return {ANSWERS: [], **found}


def _some(pairs: list[Pair], most: int | None) -> list[Pair]:
    return pairs if most is None else pairs[:: max(1, -(-len(pairs) // most))]


def fit(reads: Sequence[Read]) -> Combination:
    """Fit both formulas; which part of a claim is the weakest follows from those before.

    A claim that is not supported must have one such part, and it is not known which. The formula
    for pieces is fitted on all pairs: on those read in pieces alone it came out too sure of itself.
    """
    formulas: dict[str, Formula] = {}
    for regime in ("whole", "pieces"):
        told = [
            one
            for one in reads
            if one.parts
            and regime in (one.regime, "pieces")
            and WEIGHTS[regime].get(one.source, 1.0)
        ]
        rows = [one.parts[0] for one in told]
        for _ in range(_ROUNDS):
            formula = _fitted(rows, told, weights_of(told, WEIGHTS[regime]))
            rows = [weakest(formula, one) for one in told]
        formulas[regime] = formula
    return Combination(**formulas)


def _fitted(
    rows: Sequence[dict[str, float]], reads: Sequence[Read], weights: np.ndarray
) -> Formula:
    kept = {
        label: [
            name
            for name in signs
            if name not in _CHECKS or sum(row[name] > 0 for row in rows) >= RARE
        ]
        for label, signs in SIGNS.items()
    }
    values = {
        label: np.array([[1.0, *(row[name] for name in names)] for row in rows])
        for label, names in kept.items()
    }
    right = np.array([one.right for one in reads], float)
    cuts = np.cumsum([0, *(len(kept[label]) + 1 for label in LABELS)])
    bounds: list[tuple[float | None, float | None]] = []
    for label in LABELS:
        bounds.append((0.0, 0.0) if label == "not_found" else (None, None))
        bounds += [(0.0, None) if SIGNS[label][name] > 0 else (None, 0.0) for name in kept[label]]
    costs = STRENGTH * np.concatenate([[0.0, *[1.0] * len(kept[label])] for label in LABELS])
    costs *= len(rows) / 100

    def loss(given: np.ndarray) -> tuple[float, np.ndarray]:
        parts = [values[label] @ given[cuts[at] : cuts[at + 1]] for at, label in enumerate(LABELS)]
        sums = np.stack(parts, axis=1)
        sums -= sums.max(axis=1, keepdims=True)
        chances = np.exp(sums)
        chances /= chances.sum(axis=1, keepdims=True)
        of_right = (chances * right).sum(axis=1)
        pull = chances - chances * right / of_right[:, None]
        slopes = np.concatenate(
            [
                (values[label] * (weights * pull[:, at])[:, None]).sum(axis=0)
                for at, label in enumerate(LABELS)
            ]
        )
        cost = float(-(weights * np.log(of_right)).sum() + (costs * given**2).sum())
        return cost, slopes + 2 * costs * given

    found = minimize(
        loss,
        np.zeros(cuts[-1]),
        jac=True,
        bounds=bounds,
        method="L-BFGS-B",
        options={"maxiter": 2_000},
    ).x
    sums: dict[str, Sum] = {}
    for at, label in enumerate(LABELS):
        intercept, *rest = found[cuts[at] : cuts[at + 1]].tolist()
        named = dict(zip(kept[label], rest, strict=True))
        told = {name: round(weight, 4) for name, weight in named.items() if round(weight, 4)}
        sums[label] = Sum(round(intercept, 4), told)
    return Formula(**sums)


def weights_of(reads: Sequence[Read], counting: Mapping[str, float]) -> np.ndarray:
    """Return weights by which each set counts what it is to count."""
    counts = Counter(one.source for one in reads)
    total = sum(counting.get(name, 1.0) for name in counts)
    return np.array(
        [len(reads) * counting.get(one.source, 1.0) / total / counts[one.source] for one in reads]
    )


def weakest(formula: Formula, one: Read) -> dict[str, float]:
    """Return the part of a claim that is supported least."""
    return min(one.parts, key=lambda part: formula.chances(part).supported)


def chances_of(formulas: Combination, one: Read) -> Chances:
    """Return what the formulas say of a claim: support of its weakest part, and all else of all."""
    if not one.parts:
        return Chances(0.0, 0.0, 0.0)
    formula: Formula = getattr(formulas, one.regime)
    of_parts = [formula.chances(part) for part in one.parts]
    return Chances(
        min(part.supported for part in of_parts),
        max(part.contradicted for part in of_parts),
        max(part.weak for part in of_parts),
    )


def report_set(name: str, reads: Sequence[Read], formulas: Combination) -> None:
    """Print how a public set comes out."""
    chances = np.array([chances_of(formulas, one).supported for one in reads])
    labels = [one.label for one in reads]
    truth = np.array([label == "supported" for label in labels])
    by_threshold = {
        f"{threshold:.2f}": round(100 * balanced_accuracy(labels, chances, threshold), 1)
        for threshold in (0.3, 0.35, 0.4, 0.45, 0.5)
    }
    print(f"{name:24} {by_threshold} calibration error {calibration_error(truth, chances):.3f}")


def report_claims(name: str, told: Sequence[tuple[Read, Chances]]) -> None:
    """Print what becomes of claims as assistants word them, as far as this judge decides it."""
    chances = {
        label: [found for one, found in told if one.label == label]
        for label in ("supported", "contradicted", "not_found")
    }
    true, false, absent = chances.values()

    def share(found: Sequence[Chances], counts: Callable[[Chances], bool]) -> str:
        return f"{100 * np.mean([counts(one) for one in found]):.1f}"

    def is_likely(one: Chances) -> bool:
        return one.supported >= LIKELY

    truth = [True] * len(true) + [False] * len(false)
    auroc = roc_auc_score(truth, [one.supported for one in (*true, *false)])
    called = [one.label for one, found in told if found.supported > SUPPORTED_ABOVE]
    print(
        f"{name:12} AUROC {auroc:.3f}; supported of the true "
        f"{share(true, lambda one: one.supported > SUPPORTED_ABOVE)}, right "
        f"{called.count('supported')} of {len(called)}; likely of the true "
        f"{share(true, is_likely)}, of the false {share(false, is_likely)}"
    )
    against = {
        label: [
            found.supported < LIKELY and found.contradicted >= CONTRADICTS and _plainly(one)
            for one, found in told
            if one.label == label
        ]
        for label in chances
    }
    print(
        f"{'':12} contradicted of the false {100 * np.mean(against['contradicted']):.1f}, "
        f"of the true {100 * np.mean(against['supported']):.1f}"
    )
    nothing = share(
        absent, lambda one: one.supported + one.weak < LIKELY and one.contradicted < CONTRADICTS
    )
    print(f"{'':12} absent not found {nothing}")


def _plainly(one: Read) -> bool:
    """Whether a passage alone contradicts a part of the claim plainly, by the model."""
    return any(part["contradiction alone"] >= log(PLAINLY) for part in one.parts)


def held_out(reads: Sequence[Read]) -> list[tuple[Read, Chances]]:
    """Return the chances of claims, by formulas fitted without their half of the documents."""
    names = sorted({one.group for one in reads if one.group})
    found: list[tuple[Read, Chances]] = []
    for half in (set(names[0::2]), set(names[1::2])):
        formulas = fit([one for one in reads if one.group not in half])
        found += [(one, chances_of(formulas, one)) for one in reads if one.group in half]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of the claim sets")
    parser.add_argument("out", type=Path, help="combination.json to write")
    parser.add_argument("--kept", type=Path, help="folder for features, to go on from")
    parser.add_argument("--most", type=int, help="read at most so many pairs of each dev set")
    given = parser.parse_args()
    reads: list[Read] = []
    for name, pairs in all_pairs(given.data, given.most).items():
        kept = given.kept / f"{name}.json" if given.kept else None
        if kept and kept.exists():
            rows = json.loads(kept.read_text(encoding="utf-8"))
        else:
            read_ = read_whole_answers() if name == ANSWERS else read_pairs(name, pairs)
            rows = [asdict(one) for one in read_]
            if kept:
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_text(json.dumps(rows), encoding="utf-8")
        reads += [Read(**{**row, "parts": tuple(row["parts"])}) for row in rows]
    for left_out in DEV_SETS:
        others = fit([one for one in reads if one.source != left_out])
        report_set(f"without {left_out}", [one for one in reads if one.source == left_out], others)
    told = held_out(reads)
    for name in (PASSAGES, DOCUMENTS, ANSWERS):
        report_claims(name, [item for item in told if item[0].source == name])
    formulas = fit(reads)
    for name in (*DEV_SETS, SWAPS):
        report_set(name, [one for one in reads if one.source == name], formulas)
    report_set("all sets", [one for one in reads if one.source in DEV_SETS], formulas)
    written = json.dumps(asdict(formulas), indent=2)
    given.out.write_text(written + "\n", encoding="utf-8")
    print(written)


if __name__ == "__main__":
    main()

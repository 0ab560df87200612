"""Figures to choose a checkpoint by: the dev sets, and contrast pairs of documents held back.

Of the contrast pairs: how well the probability of support parts the true from the false (AUROC) and
from all others, and how many are told right, of the true, the false and the unsaid, and of all.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from tokenizers import Tokenizer

from training.contrast import CHOOSING, WEAK, own_pairs
from training.data import DEV_SETS, Pair, dev_pairs
from training.encoding import LABELS, NOT_FOUND, PARTLY, SUPPORTED, encode, padded, tokenizer_at
from training.measures import balanced_accuracy, macro_f1
from training.model import LABELS as THREE
from training.model import PairModel, trained

Floats = np.ndarray[Any, Any]
Figures = dict[str, float]
_AT_ONCE: Final = 16


def held_pairs(data: Path) -> dict[str, list[Pair]]:
    """Return what is measured with, by its name."""
    found = {name: dev_pairs(data, name) for name in DEV_SETS}
    return {**found, "contrast": own_pairs(CHOOSING)}


def some(pairs: Sequence[Pair], count: int) -> list[Pair]:
    """Return about so many pairs from all over a set, eight together as contrast pairs are."""
    groups = [pairs[start : start + 8] for start in range(0, len(pairs), 8)]
    step = max(1, round(len(pairs) / count))
    return [pair for group in groups[::step] for pair in group]


def probabilities(model: PairModel, tokenizer: Tokenizer, pairs: Sequence[Pair]) -> Floats:
    """Return the four probabilities of each pair; the encoder runs in bfloat16."""
    was_training = model.training
    model.eval()
    encoded = encode(tokenizer, pairs)
    order = sorted(range(len(encoded)), key=lambda place: len(encoded[place].ids))
    found = np.zeros((len(pairs), len(LABELS)))
    with torch.inference_mode():
        for start in range(0, len(order), _AT_ONCE):
            places = order[start : start + _AT_ONCE]
            batch = padded([encoded[place] for place in places])
            with torch.autocast("cpu", torch.bfloat16):
                hidden = model.encoder(batch.ids, batch.segments, batch.mask)
            logits = model.weighed(hidden.float(), batch.ids, batch.segments, batch.mask)
            found[places] = torch.softmax(logits, -1).numpy()
    model.train(was_training)
    return found


def in_three(found: Floats) -> Floats:
    """Return three probabilities: what is supported in part counts as not found."""
    three = found[:, : len(THREE)].copy()
    three[:, NOT_FOUND] += found[:, PARTLY]
    return three


def public_figures(pairs: Sequence[Pair], found: Floats) -> Figures:
    """Return balanced accuracy, AUROC, and the three-class F1 where the set has three."""
    truth = [pair.label for pair in pairs]
    figures = {
        "balanced": balanced_accuracy(truth, found[:, SUPPORTED]),
        "auroc": _auroc([label == "supported" for label in truth], found[:, SUPPORTED]),
    }
    if {*truth} == {*THREE}:
        figures["f1"] = macro_f1(truth, in_three(found), THREE)
    return figures


def contrast_figures(pairs: Sequence[Pair], found: Floats) -> Figures:
    """Return how well the true are parted from the false, and how many are told right."""
    truth = np.array([pair.label for pair in pairs])
    support = found[:, SUPPORTED]
    is_decided = (truth == "supported") | (truth == "contradicted")
    is_three = truth != WEAK
    said_three = np.array(THREE)[in_three(found).argmax(1)]
    said = np.array(LABELS)[found.argmax(1)]
    figures = {
        "true or false": _auroc(truth[is_decided] == "supported", support[is_decided]),
        "true or not": _auroc(truth == "supported", support),
        "of three": float((said_three == truth)[is_three].mean()),
        "of four": float((said == truth).mean()),
    }
    for label in LABELS:
        figures[f"told {label}"] = float((said == label)[truth == label].mean())
    return figures


def figures_by_kind(pairs: Sequence[Pair], found: Floats) -> dict[str, Figures]:
    """Return for each kind of true and false claim how many are on the right side of one half."""
    hits: defaultdict[str, list[bool]] = defaultdict(list)
    for pair, support in zip(pairs, found[:, SUPPORTED], strict=True):
        kind = f"{pair.label} {pair.source.rpartition(':')[2]}"
        hits[kind].append((support > 0.5) == (pair.label == "supported"))
    return {
        kind: {"right": float(np.mean(right)), "pairs": len(right)}
        for kind, right in sorted(hits.items())
    }


def measure(
    model: PairModel, tokenizer: Tokenizer, held: dict[str, list[Pair]], count: int | None = None
) -> dict[str, Figures]:
    """Measure a model with all that is held back, or with about so many pairs of each set."""
    measured: dict[str, Figures] = {}
    for name, pairs in held.items():
        asked = pairs if count is None else some(pairs, count)
        found = probabilities(model, tokenizer, asked)
        is_contrast = name.endswith("contrast")
        figures = (contrast_figures if is_contrast else public_figures)(asked, found)
        measured[name] = {figure: round(value, 4) for figure, value in figures.items()}
    return measured


def _auroc(truth: Any, scores: Floats) -> float:
    return float(roc_auc_score(truth, scores))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint", type=Path, help="what a stage of training wrote")
    parser.add_argument("data", type=Path, help="folder of the claim sets")
    parser.add_argument("--minilm", type=Path, required=True, help="folder with tokenizer.json")
    parser.add_argument("--only", help="measure with sets whose names have this in them")
    parser.add_argument("--kinds", action="store_true", help="print contrast pairs by their kinds")
    given = parser.parse_args()
    model = trained(given.checkpoint)
    tokenizer = tokenizer_at(given.minilm)
    for name, pairs in held_pairs(given.data).items():
        if given.only and given.only not in name:
            continue
        measured = measure(model, tokenizer, {name: pairs})
        print(json.dumps(measured), flush=True)
        if given.kinds and name.endswith("contrast"):
            kinds = figures_by_kind(pairs, probabilities(model, tokenizer, pairs))
            print(json.dumps(kinds), flush=True)


if __name__ == "__main__":
    main()

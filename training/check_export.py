"""Compare the exported model with the checkpoint it was made of, on the dev sets.

Both read the same pairs, cut alike. The export may lose half a point of balanced accuracy on no
set; the exit code says whether it does.
"""

import argparse
import sys
from pathlib import Path
from typing import Final

import numpy as np

from evidentia.judges.nli.model import PairModel as Exported
from training.choosing import probabilities
from training.data import DEV_SETS, dev_pairs
from training.encoding import SUPPORTED, fitting, tokenizer_at
from training.measures import balanced_accuracy
from training.model import trained

MOST_LOST: Final = 0.005


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint", type=Path, help="what training wrote")
    parser.add_argument("data", type=Path, help="folder of the claim sets")
    parser.add_argument("--minilm", type=Path, required=True, help="folder of the MiniLM weights")
    given = parser.parse_args()
    model = trained(given.checkpoint)
    tokenizer = tokenizer_at(given.minilm)
    exported = Exported()
    lost = 0.0
    for name in DEV_SETS:
        pairs = dev_pairs(given.data, name)
        truth = [pair.label for pair in pairs]
        whole = probabilities(model, tokenizer, pairs)
        logits = exported.scores(fitting(tokenizer, pairs))
        raised = np.exp(logits - logits.max(axis=1, keepdims=True))
        few = raised / raised.sum(axis=1, keepdims=True)
        before = balanced_accuracy(truth, whole[:, SUPPORTED])
        after = balanced_accuracy(truth, few[:, SUPPORTED])
        apart = float(np.abs(whole - few).max())
        lost = max(lost, before - after)
        print(f"{name:16} {100 * before:6.2f} {100 * after:6.2f}  most apart {apart:.4f}")
    print(f"lost at most {100 * lost:.2f} points, {100 * MOST_LOST} allowed")
    sys.exit(lost > MOST_LOST)


if __name__ == "__main__":
    main()

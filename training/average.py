"""Average checkpoints: the mean of their weights, which does better than each on what they know.

The last round learned short evidence and forgot some of what an earlier one knew of long evidence;
between the two lies a model that has most of both.
"""

import argparse
from pathlib import Path

import torch


def average(paths: list[Path]) -> dict[str, torch.Tensor]:
    """Return the mean of the averaged weights of checkpoints."""
    states = [torch.load(path, weights_only=False)["average"] for path in paths]
    return {name: torch.stack([one[name] for one in states]).mean(0) for name in states[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoints", type=Path, nargs="+", help="checkpoints to average")
    parser.add_argument("--out", type=Path, required=True, help="the checkpoint to write")
    given = parser.parse_args()
    mean = average(given.checkpoints)
    torch.save({"average": mean, "weights": mean, "steps": 0, "pairs": 0}, given.out)


if __name__ == "__main__":
    main()

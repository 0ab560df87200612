"""Contrast pairs: claims that were written about one passage to differ in one thing each.

Our own are those of `training/claims`; the shared ones are JSON lines with the file they are about.
Documents are split, never rows: what is for choosing or for the last test is never trained on, and
of the test nothing is read here but which documents and passages it holds back.
"""

import gzip
import json
from pathlib import Path
from typing import Final

from training.claims_set import FOLDER, ClaimPair, read_pairs
from training.data import Pair

WEAK: Final = "weak"
MARK: Final = "contrast/"
"""How the source of a contrast pair begins; its kind stands behind a colon."""
GAP: Final = "\n[...]\n"
"""What stands between two places that have to be put together."""
TRAINED: Final = "train"
CHOOSING: Final = "calibrate"
TEST: Final = "test"


def own_pairs(split: str, folder: Path = FOLDER) -> list[Pair]:
    """Return our own English pairs of a split, which may not be the test."""
    if split == TEST:
        raise ValueError(f"{TEST} is neither trained on nor chosen by")
    return [
        Pair(row.evidence, row.claim, row.label, f"{MARK}{row.document}:{row.kind}")
        for row in read_pairs(split, folder)
        if row.language == "en"
    ]


def shared_pairs(data: Path, folder: Path = FOLDER) -> list[Pair]:
    """Return the shared pairs of documents that are neither for choosing nor for the test."""
    held = {row.document for row in _held(folder)}
    found: list[Pair] = []
    with gzip.open(data / "contrast" / "pairs.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            document = row["file"].removesuffix(".md")
            if document not in held:
                source = f"{MARK}{document}:{row['kind']}"
                found.append(Pair(row["evidence"], row["claim"], row["label"], source))
    return found


def trained_pairs(data: Path, folder: Path = FOLDER) -> list[Pair]:
    """Return all pairs of documents that are for training, without passages of those held back.

    Documents of one house share passages word for word.
    """
    held = {" ".join(row.evidence.split()) for row in _held(folder)}
    pairs = [*own_pairs(TRAINED, folder), *shared_pairs(data, folder)]
    return [pair for pair in pairs if " ".join(pair.evidence.split()) not in held]


def _held(folder: Path) -> list[ClaimPair]:
    return [row for split in (CHOOSING, TEST) for row in read_pairs(split, folder)]

"""Write the pairs of a stage, in the order in which they are read.

The first stage reads the public sets alone, more of those that tell three classes apart, and little
of those whose claims give their label away, or that call the unrelated contradicted. The second
reads the contrast pairs several times over, each time with as many other public pairs.
"""

import argparse
import json
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from training.contrast import trained_pairs
from training.data import Pair, by_sentence, read_set

SHARES: Final = {
    "vitaminc_real": 7_000,
    "mnli_dev_3way": 5_000,
    "vitaminc_synthetic": 3_000,
    "infotabs": 2_500,
    "tabfact_pairs": 1_200,
    "fool_me_twice": 1_100,
    "fever_nli": 1_200,
    "negation_nli": 1_000,
    "summedits": 1_000,
    "semantic_fragments": 900,
    "conjnli": 800,
    "entailment_bank": 700,
    "contract_nli": 700,
    "cad_nli": 600,
    "scitab": 500,
    "scifact_rte": 500,
    "feverous_dev": 500,
    "begin": 500,
    "scone": 400,
    "med_monotonicity": 400,
    "folio": 400,
    "snli_dev_3way": 400,
    "factcheck_gpt": 300,
    "fever_adversarial": 300,
    "faithdial_audit": 200,
    "breaking_nli": 150,
    "dialfact_small": 100,
}
"""How many pairs of each set one round of the public sets has: some 31,000 together."""
_ONE_CLAIM: Final = 60
"""How often one claim is read at most in a set that has few: it would be learned by heart."""


def public_pairs(data: Path, seed: int, part: float = 1.0, skip: float = 0.0) -> list[Pair]:
    """Return a part of a round of the public sets, with the labels of each set about even.

    `skip` leaves out what rounds before have read: one that follows on a whole one skips 1.
    """
    found: list[Pair] = []
    for name, share in SHARES.items():
        pairs = read_set(data / "train" / f"{name}.jsonl.gz")
        if name == "summedits":
            pairs = list(by_sentence(pairs))
        pairs = [pair for pair in pairs if pair.evidence.strip() and pair.claim.strip()]
        source = random.Random(f"{name} {seed}")
        source.shuffle(pairs)
        even = _even(pairs)
        first, count = round(share * skip) % len(even), round(share * part)
        found += (even * 2)[first : first + min(count, len(even))]
    random.Random(seed).shuffle(found)
    return found


def _even(pairs: Sequence[Pair]) -> list[Pair]:
    """Return pairs with the labels taking turns as long as all last, and no claim too often."""
    claims: Counter[str] = Counter()
    groups: defaultdict[str, list[Pair]] = defaultdict(list)
    places: dict[int, int] = {}
    for place, pair in enumerate(pairs):
        claims[pair.claim] += 1
        if claims[pair.claim] <= _ONE_CLAIM:
            groups[pair.label].append(pair)
            places[id(pair)] = place
    least = min(map(len, groups.values()))
    turns = [pair for same in zip(*groups.values(), strict=False) for pair in same]
    rest = [pair for group in groups.values() for pair in group[least:]]
    return turns + sorted(rest, key=lambda pair: places[id(pair)])


def second_stage(data: Path, claims: Path, seed: int, rounds: int, skip: float) -> list[Pair]:
    """Return the contrast pairs so many times, each time with as many other public pairs."""
    contrast = trained_pairs(data, claims)
    part = len(contrast) / sum(SHARES.values())
    found: list[Pair] = []
    for number in range(rounds):
        mixed = [*contrast, *public_pairs(data, seed, part, skip + number * part)]
        random.Random(seed + number).shuffle(mixed)
        found += mixed
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stage", choices=["public", "contrast"])
    parser.add_argument("data", type=Path, help="folder of the claim sets")
    parser.add_argument("out", type=Path, help="JSON lines to write")
    parser.add_argument("--claims", type=Path, help="folder of our own contrast claims")
    parser.add_argument("--rounds", type=int, default=3, help="how often contrast pairs are read")
    parser.add_argument("--skip", type=float, default=0.0, help="rounds of the sets read before")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.stage == "public":
        pairs = public_pairs(given.data, given.seed, skip=given.skip)
    else:
        pairs = second_stage(given.data, given.claims, given.seed, given.rounds, given.skip)
    with given.out.open("w", encoding="utf-8") as out:
        for pair in pairs:
            out.write(json.dumps(asdict(pair)) + "\n")
    counts = Counter((pair.source.split("/")[0], pair.label) for pair in pairs)
    for (name, label), count in sorted(counts.items()):
        print(f"{count:7,} {name} {label}")


if __name__ == "__main__":
    main()

"""Mix the pairs of a round of training: the sets, near misses made of them, and changed sentences.

The first round reads the sets. The second adds what they lack: pairs whose label follows from a
change of one word or value, and claims beside evidence that is about the same and does not say it.
"""

import argparse
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

from evidentia.language.statements import read_statement
from evidentia.language.words import coverage
from training.data import EVIDENCE_WORDS, Pair, train_pairs, with_distractors
from training.perturb import synthetic_pairs
from training.templates import template_pairs

_ROOM_FOR_OTHERS: Final = 45
_LOOKED_AT: Final = 24
_FROM_ONE: Final = 0.5
_TWICE: Final = ("summedits", "cad_nli", "fool_me_twice")
"""Sets that are read once more in a second round: they tell more than their size lets them."""
_GRAVITY: Final = ("supported", "not_found", "not_supported", "contradicted")


def near_misses(pairs: Sequence[Pair], count: int, seed: int) -> Iterator[Pair]:
    """Give supported claims beside other evidence that shares some of their words, and not most."""
    source = random.Random(seed)
    by_word: defaultdict[str, list[int]] = defaultdict(list)
    stems = [read_statement(pair.evidence).stems for pair in pairs]
    for place, words in enumerate(stems):
        for word in words:
            by_word[word].append(place)
    order = [place for place, pair in enumerate(pairs) if pair.label == "supported"]
    source.shuffle(order)
    given = 0
    for place in order:
        wanted = read_statement(pairs[place].claim).stems
        rare = sorted(wanted, key=lambda word: (len(by_word[word]), word))[:2]
        near = [other for word in rare for other in by_word[word]]
        best, shared = None, 0.15
        for other in source.sample(near, min(len(near), _LOOKED_AT)):
            found = coverage(wanted, stems[other])
            if shared < found < 0.55 and coverage(stems[place], stems[other]) < 0.5:
                best, shared = other, found
        if best is not None:
            yield replace(
                pairs[place],
                evidence=pairs[best].evidence,
                label="not_found",
                source=f"near:{pairs[place].source}",
            )
            given += 1
            if given == count:
                return


def joined_claims(pairs: Sequence[Pair], count: int, seed: int) -> Iterator[Pair]:
    """Give two claims as one, beside the evidence of both: it holds only if both of them do.

    The two come from one piece of evidence, or from two that then stand one behind the other.
    """
    source = random.Random(seed)
    groups: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        if len(pair.evidence.split()) + len(pair.claim.split()) <= EVIDENCE_WORDS // 2:
            groups[pair.evidence].append(pair)
    shared = [group for group in groups.values() if len(group) > 1]
    single = [pair for group in groups.values() for pair in group]
    for _ in range(count):
        if shared and source.random() < _FROM_ONE:
            first, second = source.sample(source.choice(shared), 2)
            evidence = first.evidence
        else:
            first, second = source.sample(single, 2)
            both = [first.evidence, second.evidence]
            source.shuffle(both)
            evidence = " ".join(both)
        claim = f"{first.claim.rstrip(' .')}, and {second.claim}"
        yield Pair(evidence, claim, joined_label(first.label, second.label), "joined")


def joined_label(first: str, second: str) -> str:
    """Return what two claims as one are: the graver of the two labels.

    >>> joined_label("supported", "not_found"), joined_label("not_supported", "contradicted")
    ('not_found', 'contradicted')
    """
    return max(first, second, key=_GRAVITY.index)


def first_round(data: Path, seed: int) -> list[Pair]:
    """Return the pairs of all sets, some with other sentences around their evidence."""
    pairs = train_pairs(data, seed)
    source = random.Random(seed + 1)
    others = [pair.evidence for pair in pairs if 6 <= len(pair.evidence.split()) <= 30]
    return [
        with_distractors(pair, others, source)
        if source.random() < 0.12 and len(pair.evidence.split()) < _ROOM_FOR_OTHERS
        else pair
        for pair in pairs
    ]


def second_round(
    data: Path, seed: int, *, synthetic: int, repeated: int, near: int, joined: int, templates: int
) -> list[Pair]:
    """Return changed sentences, near misses, joined claims, and a part of the sets once more."""
    pairs = first_round(data, seed)
    source = random.Random(seed + 2)
    telling = [pair for pair in pairs if pair.source in _TWICE]
    mixed = [
        *synthetic_pairs(pairs, synthetic, seed),
        *near_misses(pairs, near, seed),
        *joined_claims(pairs, joined, seed),
        *template_pairs(templates, seed),
        *source.sample(pairs, repeated),
        *telling,
    ]
    others = [pair.evidence for pair in pairs if 6 <= len(pair.evidence.split()) <= 30]
    mixed = [
        with_distractors(pair, others, source)
        if source.random() < 0.15
        and pair.source.startswith("synthetic")
        and len(pair.evidence.split()) < _ROOM_FOR_OTHERS
        else pair
        for pair in mixed
    ]
    source.shuffle(mixed)
    return [pair for pair in mixed if len(pair.evidence.split()) <= 2 * EVIDENCE_WORDS]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("round", choices=["first", "second"])
    parser.add_argument("data", type=Path, help="folder of the claim sets")
    parser.add_argument("out", type=Path, help="JSON lines to write")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--synthetic", type=int, default=45_000)
    parser.add_argument("--repeated", type=int, default=30_000)
    parser.add_argument("--near", type=int, default=5_000)
    parser.add_argument("--joined", type=int, default=8_000)
    parser.add_argument("--templates", type=int, default=8_000)
    given = parser.parse_args()
    if given.round == "first":
        pairs = first_round(given.data, given.seed)
    else:
        pairs = second_round(
            given.data,
            given.seed,
            synthetic=given.synthetic,
            repeated=given.repeated,
            near=given.near,
            joined=given.joined,
            templates=given.templates,
        )
    with given.out.open("w", encoding="utf-8") as out:
        for pair in pairs:
            out.write(json.dumps(asdict(pair)) + "\n")
    counts = Counter((pair.source, pair.label) for pair in pairs)
    for (name, label), count in sorted(counts.items()):
        print(f"{count:7,} {name} {label}")


if __name__ == "__main__":
    main()

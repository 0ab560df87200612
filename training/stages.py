"""Write the pairs that the model is trained on, in the order in which they are read.

Of the public sets more is read of those that tell three classes apart, and little of those whose
claims give their label away, or that call the unrelated contradicted. The contrast pairs are those
written for Evidentia, and the shared ones.
"""

import argparse
import json
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

from evidentia.language.statements import read_statement
from evidentia.language.words import coverage
from training.contrast import MARK, trained_pairs
from training.data import Pair, by_sentence, read_set, sentences
from training.perturb import synthetic_pairs

SHARES: Final = {
    "vitaminc_real": 6_000,
    "mnli_dev_3way": 4_000,
    "vitaminc_synthetic": 2_500,
    "summedits": 2_500,
    "infotabs": 2_000,
    "fever_nli": 1_800,
    "fool_me_twice": 1_100,
    "tabfact_pairs": 1_000,
    "feverous_dev": 900,
    "negation_nli": 800,
    "conjnli": 800,
    "cad_nli": 800,
    "begin": 800,
    "semantic_fragments": 700,
    "contract_nli": 700,
    "factcheck_gpt": 700,
    "entailment_bank": 600,
    "scifact_rte": 500,
    "scitab": 400,
    "scone": 300,
    "med_monotonicity": 300,
    "folio": 300,
    "snli_dev_3way": 300,
    "fever_adversarial": 300,
    "faithdial_audit": 200,
    "breaking_nli": 150,
    "dialfact_small": 100,
}
"""How many pairs of each set one round of the public sets has: some 29,500 together."""
FIRST: Final = 8_000
"""How many public pairs are read before all else."""
BESIDE: Final = (12_000, 11_000)
"""How many public pairs are read in each round beside the contrast pairs."""
SHORT: Final = 6_000
PUBLIC: Final = 14_000
"""How many contrast pairs as they were written, and public ones, are read in the second stage."""
CHANGED: Final = 4_000
VERBATIM: Final = 1_500
ELSEWHERE: Final = 1_800
_ACCOMPANIED: Final = 0.3
_BESIDE_WORDS: Final = 105
_ALIKE: Final = 0.5
_SHORTEST, _LONGEST = 6, 28
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


def mixed(data: Path, seed: int) -> list[Pair]:
    """Return all pairs of a training, in the order in which they are read.

    First come public pairs alone; then the contrast pairs, twice over, each time with other public
    pairs, with sentences near to the words of their evidence, and with evidence of another place.
    """
    contrast = trained_pairs(data)
    found = public_pairs(data, seed, FIRST / sum(SHARES.values()))
    read = FIRST
    for number, beside in enumerate(BESIDE):
        source = random.Random(f"{seed} {number}")
        pairs = [*with_others(contrast, source), *elsewhere(contrast, ELSEWHERE, source)]
        pairs += near(contrast, seed + number, source)
        public = sum(SHARES.values())
        pairs += public_pairs(data, seed, beside / public, read / public)
        read += beside
        source.shuffle(pairs)
        found += pairs
    return found


def second(data: Path, read: Sequence[Pair], seed: int) -> list[Pair]:
    """Return the pairs of the second stage: claims beside what is read for them in a document.

    Shorter pairs of all kinds are read beside them, so that what was learned of these stays.
    """
    contrast = trained_pairs(data)
    source = random.Random(f"{seed} second")
    short = with_others(source.sample(contrast, SHORT), source)
    pairs = [*read, *short, *elsewhere(contrast, ELSEWHERE, source)]
    pairs += near(contrast, seed + len(BESIDE), source)
    public = sum(SHARES.values())
    pairs += public_pairs(data, seed, PUBLIC / public, (FIRST + sum(BESIDE)) / public)
    source.shuffle(pairs)
    return pairs


def with_others(contrast: Sequence[Pair], source: random.Random) -> list[Pair]:
    """Return contrast pairs, some with another passage of the document beside their evidence."""
    passages = passages_of(contrast)
    found: list[Pair] = []
    for pair in contrast:
        other = source.choice(passages[document_of(pair)])
        together = [pair.evidence, other]
        source.shuffle(together)
        is_short = sum(len(text.split()) for text in together) <= _BESIDE_WORDS
        if other != pair.evidence and is_short and source.random() < _ACCOMPANIED:
            found.append(replace(pair, evidence="\n".join(together)))
        else:
            found.append(pair)
    return found


def elsewhere(contrast: Sequence[Pair], count: int, source: random.Random) -> list[Pair]:
    """Return claims beside another passage of their document, which does not say them.

    Documents repeat themselves: claims that share much with the other passage are left out.
    """
    passages = passages_of(contrast)
    found: list[Pair] = []
    for pair in source.sample(list(contrast), len(contrast)):
        others = [text for text in passages[document_of(pair)] if text != pair.evidence]
        if len(found) < count and others and pair.label != "not_found":
            other = source.choice(others)
            if _shared(pair.claim, other) < _ALIKE:
                found.append(
                    Pair(other, pair.claim, "not_found", f"{MARK}{document_of(pair)}:other")
                )
    return found


def near(contrast: Sequence[Pair], seed: int, source: random.Random) -> list[Pair]:
    """Return pairs whose claims are near to the words of their evidence.

    Who wrote the contrast claims was asked to reword what is true, so that a model takes a claim in
    the document's own words for a false one. Sentences of the same passages, as they are and
    changed in one word, teach it better.
    """
    found = [
        replace(pair, source="changed/contrast")
        for pair in synthetic_pairs(contrast, CHANGED, seed)
    ]
    for evidence in source.sample(sorted({pair.evidence for pair in contrast}), VERBATIM):
        said = [
            sentence
            for sentence in sentences(evidence)
            if _SHORTEST <= len(sentence.split()) <= _LONGEST
            and "|" not in sentence
            and sentence[0].isupper()
        ]
        if said:
            found.append(Pair(evidence, source.choice(said), "supported", "verbatim"))
    return found


def passages_of(contrast: Sequence[Pair]) -> dict[str, list[str]]:
    """Return the passages of each document."""
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for pair in contrast:
        found[document_of(pair)][pair.evidence] = None
    return {document: list(texts) for document, texts in found.items()}


def document_of(pair: Pair) -> str:
    return pair.source.removeprefix(MARK).rpartition(":")[0]


def _shared(claim: str, evidence: str) -> float:
    return coverage(read_statement(claim).stems, read_statement(evidence).stems)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of the claim sets")
    parser.add_argument("out", type=Path, help="JSON lines to write")
    parser.add_argument("--read", type=Path, help="what asread wrote: the pairs of stage two")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.read:
        lines = given.read.read_text(encoding="utf-8").splitlines()
        pairs = second(given.data, [Pair(**json.loads(line)) for line in lines], given.seed)
    else:
        pairs = mixed(given.data, given.seed)
    with given.out.open("w", encoding="utf-8") as out:
        for pair in pairs:
            out.write(json.dumps(asdict(pair)) + "\n")
    counts = Counter((pair.source.split("/")[0], pair.label) for pair in pairs)
    for (name, label), count in sorted(counts.items()):
        print(f"{count:7,} {name} {label}")


if __name__ == "__main__":
    main()

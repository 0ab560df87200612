"""Training pairs: the public sets in one shape, with long evidence brought down to what fits.

Every pair says where it comes from. Where a set says only that a claim is not supported, the label
says so too; training then asks for the sum of the other classes. Nothing here reads `dev/` but
`dev_pairs`, which is for measuring.
"""

import gzip
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from evidentia.language.sentences import sentence_spans

DEV_SETS: Final = ("wice", "fever_symmetric", "summedits", "cad_nli", "conjnli")
EVIDENCE_WORDS: Final = 75
"""How many words of evidence a changed sentence has around it at most."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Pair:
    """Evidence, a claim, and what is known of the two; `source` names the set it is from."""

    evidence: str
    claim: str
    label: str
    source: str


def read_set(path: Path) -> list[Pair]:
    """Read a set of pairs, gzip JSON lines, under its own name."""
    name = path.name.removesuffix(".jsonl.gz")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = map(json.loads, lines)
        return [Pair(row["evidence"], row["claim"], row["label"], name) for row in rows]


def dev_pairs(folder: Path, name: str) -> list[Pair]:
    """Return a set that is for choosing and measuring, and never for training."""
    return read_set(folder / "dev" / f"{name}.jsonl.gz")


def by_sentence(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Give the sentences of edited summaries as claims of their own, where their label is known.

    The summaries of one document differ in small edits. A sentence that also stands in a supported
    summary is supported; if just one sentence of an unsupported summary does not, it is the one.
    Of two that differ nobody knows which: such a summary stays whole.
    """
    documents: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        documents[pair.evidence].append(pair)
    for group in documents.values():
        supported = {
            sentence
            for pair in group
            if pair.label == "supported"
            for sentence in sentences(pair.claim)
        }
        given: set[str] = set()
        for pair in group:
            new = [one for one in sentences(pair.claim) if one not in supported]
            if pair.label != "supported" and len(new) != 1:
                yield pair
                continue
            claims = sentences(pair.claim) if pair.label == "supported" else new
            for claim in claims:
                if claim not in given:
                    given.add(claim)
                    yield replace(pair, claim=claim)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text."""
    return [text[start:end] for start, end in sentence_spans(text)]


def nearest_sentences(evidence: str, claim: str, words: int) -> str:
    """Return the sentences of the evidence that share most with a claim, as many as fit."""
    said = sentences(evidence)
    stems = [_stems(sentence) for sentence in said]
    rare = _rarity(stems)
    wanted = _stems(claim)
    scores = [sum(rare[stem] for stem in wanted & have) / (8 + len(have)) for have in stems]
    ranked = sorted(range(len(said)), key=lambda place: (-scores[place], place))
    room = words
    kept: list[int] = []
    for place in ranked:
        size = len(said[place].split())
        if size <= room:
            kept.append(place)
            room -= size
    if not kept:
        return " ".join(said[ranked[0]].split()[:words]) if ranked else evidence
    return " ".join(said[place] for place in sorted(kept))


def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:5] for word in _WORD.findall(text.lower()))


def _rarity(texts: Sequence[frozenset[str]]) -> dict[str, float]:
    counts = Counter(stem for stems in texts for stem in stems)
    return {stem: math.log(1 + len(texts) / count) for stem, count in counts.items()}

"""Pairs as the model reads them: tokens of evidence and claim, and the labels that would be right.

Four labels are told apart: to the three comes "weak", what is supported only in part. Only contrast
pairs say it, so where a public set says "not found", either of the two will do; where it says "not
supported", any but supported.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import torch
from tokenizers import Tokenizer

from evidentia.judges.checks import retold
from evidentia.language.markup import plain_text
from training.contrast import GAP, MARK, WEAK
from training.data import Pair, nearest_sentences
from training.model import LABELS as THREE

LABELS: Final = (*THREE, WEAK)
SUPPORTED, CONTRADICTED, NOT_FOUND, PARTLY = range(len(LABELS))
TOKENS: Final = 160
BATCH_TOKENS: Final = 1_536
STRETCH: Final = 1_024
"""How many pairs are sorted into batches at once."""
_WORDS: Final = (110, 95, 80, 65, 50, 35)
"""To how many words evidence is cut, the first that fits."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """The tokens of a pair, its segments, and for each label whether it would be right."""

    ids: list[int]
    segments: list[int]
    right: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Batch:
    """Pairs of about one length, padded; `right` says for each which labels would be right."""

    ids: torch.Tensor
    segments: torch.Tensor
    mask: torch.Tensor
    right: torch.Tensor


def tokenizer_at(folder: Path) -> Tokenizer:
    """Return the tokenizer, which cuts what is too long even so."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(TOKENS, strategy="longest_first")
    return tokenizer


def right_labels(pair: Pair) -> tuple[bool, ...]:
    """Return for each label whether it would be right, as far as the set tells."""
    if pair.label == "not_supported":
        right = {CONTRADICTED, NOT_FOUND, PARTLY}
    elif pair.label == "not_found" and not pair.source.startswith(MARK):
        right = {NOT_FOUND, PARTLY}
    else:
        right = {LABELS.index(pair.label)}
    return tuple(place in right for place in range(len(LABELS)))


def fitting(tokenizer: Tokenizer, pairs: Sequence[Pair]) -> list[tuple[str, str]]:
    """Return evidence and claim of pairs; of long evidence the sentences nearest to the claim.

    They are read as the judge reads them: without markup, and values as the evidence writes them.
    """
    texts = [_as_read(pair.evidence, pair.claim) for pair in pairs]
    long = _too_long(tokenizer, texts, range(len(texts)))
    for words in _WORDS:
        for place in long:
            claim = pairs[place].claim
            evidence = nearest_sentences(pairs[place].evidence, claim, words)
            texts[place] = _as_read(evidence, claim)
        long = _too_long(tokenizer, texts, long)
    return texts


def _as_read(evidence: str, claim: str) -> tuple[str, str]:
    plain = plain_text(evidence.replace(GAP, " "))
    return plain, retold(plain_text(claim), plain)


def _too_long(
    tokenizer: Tokenizer, texts: Sequence[tuple[str, str]], places: Sequence[int]
) -> list[int]:
    encoded = tokenizer.encode_batch([texts[place] for place in places])
    return [place for place, one in zip(places, encoded, strict=True) if one.overflowing]


def encode(tokenizer: Tokenizer, pairs: Sequence[Pair]) -> list[Encoded]:
    """Return the tokens of pairs, as much as fits of each."""
    encoded = tokenizer.encode_batch(fitting(tokenizer, pairs))
    return [
        Encoded(one.ids, one.type_ids, right_labels(pair))
        for one, pair in zip(encoded, pairs, strict=True)
    ]


def batches(examples: Sequence[Encoded], seed: int) -> Iterator[Batch]:
    """Give batches of pairs of about one length, in an order that the seed decides."""
    source = random.Random(seed)
    for start in range(0, len(examples), STRETCH):
        stretch = sorted(examples[start : start + STRETCH], key=lambda one: len(one.ids))
        groups: list[list[Encoded]] = [[]]
        for one in stretch:
            if groups[-1] and (len(groups[-1]) + 1) * len(one.ids) > BATCH_TOKENS:
                groups.append([])
            groups[-1].append(one)
        source.shuffle(groups)
        yield from map(padded, groups)


def padded(group: Sequence[Encoded]) -> Batch:
    """Return pairs as one batch, as long as the longest of them."""
    length = max(len(one.ids) for one in group)
    ids, segments, mask = (torch.zeros(len(group), length, dtype=torch.long) for _ in range(3))
    for row, one in enumerate(group):
        size = len(one.ids)
        ids[row, :size] = torch.tensor(one.ids)
        segments[row, :size] = torch.tensor(one.segments)
        mask[row, :size] = 1
    return Batch(ids, segments, mask, torch.tensor([one.right for one in group]))

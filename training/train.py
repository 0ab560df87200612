"""Train one round: from a checkpoint or from MiniLM, on a file of pairs, to a new checkpoint.

The pairs are read in the order of the file, in stretches that are sorted into batches of about the
same length and number of tokens. The mean of the weights over the last thousand steps is what is
kept beside the weights themselves; the dev sets that fit are measured with it after each round.
"""

import argparse
import json
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from tokenizers import Tokenizer

from training.data import Pair, dev_pairs, shortened
from training.measures import balanced_accuracy, macro_f1
from training.model import LABELS, PairModel, pretrained

TOKENS: Final = 128
BATCH_TOKENS: Final = 2_048
STRETCH: Final = 2_048
ENCODER_RATE, HEAD_RATE = 1.5e-4, 1e-3
WARM_UP: Final = 400
AVERAGED: Final = 0.998
LOGGED_EVERY: Final = 100
SAVED_EVERY: Final = 500
NOT_SUPPORTED: Final = len(LABELS)

Batch = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]


def tokenizer_at(folder: Path, tokens: int = TOKENS) -> Tokenizer:
    """Return MiniLM's tokenizer, which cuts what is longer than so many tokens."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(tokens, strategy="longest_first")
    return tokenizer


def encode(tokenizer: Tokenizer, pairs: Sequence[Pair]) -> list[tuple[list[int], list[int], int]]:
    """Return ids, segments and label of each pair."""
    encoded = tokenizer.encode_batch([(pair.evidence, pair.claim) for pair in pairs])
    labels = [LABELS.index(p.label) if p.label in LABELS else NOT_SUPPORTED for p in pairs]
    return [(one.ids, one.type_ids, label) for one, label in zip(encoded, labels, strict=True)]


def batches(examples: Sequence[tuple[list[int], list[int], int]], seed: int) -> Iterator[Batch]:
    """Give batches of pairs of about one length, in an order that the seed decides."""
    source = random.Random(seed)
    for start in range(0, len(examples), STRETCH):
        stretch = sorted(examples[start : start + STRETCH], key=lambda one: len(one[0]))
        groups: list[list[tuple[list[int], list[int], int]]] = [[]]
        for one in stretch:
            if groups[-1] and (len(groups[-1]) + 1) * len(one[0]) > BATCH_TOKENS:
                groups.append([])
            groups[-1].append(one)
        source.shuffle(groups)
        for group in groups:
            yield _padded(group)


def _padded(group: Sequence[tuple[list[int], list[int], int]]) -> Batch:
    length = max(len(ids) for ids, _, _ in group)
    ids, segments, mask = (torch.zeros(len(group), length, dtype=torch.long) for _ in range(3))
    for row, (tokens, kinds, _) in enumerate(group):
        ids[row, : len(tokens)] = torch.tensor(tokens)
        segments[row, : len(tokens)] = torch.tensor(kinds)
        mask[row, : len(tokens)] = 1
    return ids, segments, mask, torch.tensor([label for _, _, label in group])


def loss_of(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Return the mean loss; "not supported" asks for the sum of the two classes that are not."""
    known = torch.log_softmax(logits, -1)
    neither = torch.logsumexp(known[:, 1:], -1, keepdim=True)
    chances = torch.cat([known, neither], -1)
    return -chances.gather(1, labels[:, None]).mean()


def probabilities(model: PairModel, tokenizer: Tokenizer, pairs: Sequence[Pair]) -> np.ndarray:
    """Return the three probabilities of each pair."""
    model.eval()
    encoded = encode(tokenizer, pairs)
    order = sorted(range(len(encoded)), key=lambda place: len(encoded[place][0]))
    found = np.zeros((len(pairs), len(LABELS)))
    with torch.inference_mode():
        for start in range(0, len(order), 32):
            places = order[start : start + 32]
            ids, segments, mask, _ = _padded([encoded[place] for place in places])
            found[places] = torch.softmax(model(ids, segments, mask), -1).numpy()
    model.train()
    return found


def measure(
    model: PairModel, tokenizer: Tokenizer, data: Path, limit: int | None = None
) -> dict[str, float]:
    """Measure a model on the dev sets, each claim whole against the sentences nearest to it."""
    figures: dict[str, float] = {}
    for name in ("fever_symmetric", "cad_nli", "conjnli", "wice", "summedits"):
        pairs = [shortened(pair) for pair in dev_pairs(data, name)[:limit]]
        found = probabilities(model, tokenizer, pairs)
        truth = [pair.label for pair in pairs]
        figures[name] = balanced_accuracy(truth, found[:, 0])
        if "not_found" in truth:
            figures[f"{name}_f1"] = macro_f1(truth, found, LABELS)
    return figures


class Round:
    """The state of a round: the model, the mean of its last weights, and the optimiser."""

    def __init__(self, minilm: Path, start: Path | None) -> None:
        self.model = pretrained(minilm / "model.safetensors")
        self.average = pretrained(minilm / "model.safetensors")
        self.model.encoder.words.weight.requires_grad_(requires_grad=False)
        encoder = [weight for weight in self.model.encoder.parameters() if weight.requires_grad]
        head = [*self.model.compare.parameters(), *self.model.weigh.parameters()]
        self.optimizer = torch.optim.AdamW(
            [{"params": encoder, "lr": ENCODER_RATE}, {"params": head, "lr": HEAD_RATE}],
            weight_decay=0.01,
        )
        self.steps = 0
        self.pairs = 0
        if start is None:
            self.average.load_state_dict(self.model.state_dict())
            return
        saved = torch.load(start, weights_only=False)
        self.model.load_state_dict(saved["weights"])
        self.average.load_state_dict(saved["average"])
        self.optimizer.load_state_dict(saved["optimizer"])
        self.steps, self.pairs = saved["steps"], saved["pairs"]

    def freeze(self, layers: int) -> None:
        """Leave the embeddings and the first layers of the encoder as they are from here on."""
        encoder = self.model.encoder
        for part in (encoder.places, encoder.segments, encoder.norm, *encoder.layers[:layers]):
            part.requires_grad_(requires_grad=False)

    def step(self, batch: Batch, slower: float) -> float:
        """Learn from one batch, at a part of the full rates; return its loss."""
        ids, segments, mask, labels = batch
        self.steps += 1
        self.pairs += len(labels)
        warm = min(1.0, self.steps / WARM_UP)
        rates = (ENCODER_RATE, HEAD_RATE)
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * warm * slower
        loss = loss_of(self.model(ids, segments, mask), labels)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        weight = min(AVERAGED, self.steps / (self.steps + 50))
        with torch.no_grad():
            both = zip(self.average.parameters(), self.model.parameters(), strict=True)
            for mean, new in both:
                mean.lerp_(new, 1 - weight)
        return float(loss.detach())

    def save(self, out: Path) -> None:
        """Write a checkpoint; one that is there is replaced in one step."""
        partial = out.with_suffix(".partial")
        state = {
            "weights": self.model.state_dict(),
            "average": self.average.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "steps": self.steps,
            "pairs": self.pairs,
        }
        torch.save(state, partial)
        partial.replace(out)


def train(arguments: argparse.Namespace) -> None:
    """Train a round, and log the loss and the dev figures beside the checkpoint."""
    torch.manual_seed(arguments.seed)
    tokenizer = tokenizer_at(arguments.minilm)
    state = Round(arguments.minilm, arguments.start)
    if arguments.frozen:
        state.freeze(arguments.frozen)
    with arguments.pairs.open(encoding="utf-8") as lines:
        pairs = [Pair(**json.loads(line)) for line in lines][arguments.skip :][: arguments.take]
    examples = encode(tokenizer, pairs)
    tokens = sum(len(ids) for ids, _, _ in examples)
    seen = 0
    recent: list[float] = []
    began = time.monotonic()
    with arguments.out.with_suffix(".log").open("a", encoding="utf-8") as log:

        def say(**what: Any) -> None:
            print(json.dumps(what), file=log, flush=True)

        def measured(limit: int | None = None) -> dict[str, float]:
            found = measure(state.average, tokenizer, arguments.data, limit)
            return {name: round(figure, 4) for name, figure in found.items()}

        say(pairs=len(examples), tokens=tokens, seed=arguments.seed, decay=arguments.decay)
        state.model.train()
        for batch in batches(examples, arguments.seed):
            slower = 1.0 - 0.97 * seen / tokens if arguments.decay else 1.0
            recent.append(state.step(batch, arguments.rate * slower))
            seen += int(batch[2].sum())
            if state.steps % LOGGED_EVERY == 0:
                took = time.monotonic() - began
                say(
                    step=state.steps,
                    part=round(seen / tokens, 4),
                    loss=round(float(np.mean(recent)), 4),
                    tokens_per_s=round(seen / took),
                    minutes=round(took / 60, 1),
                )
                recent = []
            if state.steps % SAVED_EVERY == 0:
                state.save(arguments.out)
                say(**measured(limit=200))
            if state.steps == arguments.until:
                break
        state.save(arguments.out)
        say(final=True, **measured())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", type=Path, help="pairs to train on: JSON lines")
    parser.add_argument("out", type=Path, help="the checkpoint to write")
    parser.add_argument("--minilm", type=Path, required=True, help="folder of the MiniLM weights")
    parser.add_argument("--data", type=Path, required=True, help="folder of the claim sets")
    parser.add_argument("--start", type=Path, help="checkpoint to go on from")
    parser.add_argument("--decay", action="store_true", help="let the rates fall to nothing")
    parser.add_argument("--rate", type=float, default=1.0, help="part of the rates to begin with")
    parser.add_argument("--until", type=int, help="stop at this step, counted over all rounds")
    parser.add_argument("--skip", type=int, default=0, help="leave out so many pairs")
    parser.add_argument("--take", type=int, help="read at most so many pairs")
    parser.add_argument("--frozen", type=int, default=0, help="leave so many layers as they are")
    parser.add_argument("--seed", type=int, default=7)
    train(parser.parse_args())


if __name__ == "__main__":
    main()

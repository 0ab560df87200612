"""Train the pair model on the e5 base, on a file of pairs, for so many minutes.

The encoder runs in bfloat16 over weights that are kept in 32 bits; the word embeddings stay as they
are. The rates fall to nearly nothing as the minutes run out, or the pairs. A training that was
stopped goes on from its last checkpoint if it is started again with the same arguments. Beside the
checkpoint is a log, one JSON object a line.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from training.choosing import held_pairs, measure
from training.data import Pair
from training.encoding import LABELS, Batch, batches, encode, tokenizer_at
from training.model import pretrained

ENCODER_RATE, HEAD_RATE = 1e-4, 5e-4
AVERAGED: Final = 0.995
"""How much of the mean of the weights stays at each step."""
LEAST: Final = 0.03
"""What part of the rate is left at the end."""
LOGGED_EVERY: Final = 20
SAVED_EVERY: Final = 100


def loss_of(logits: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Return the mean loss: of the chance of all labels that would be right, taken together."""
    chances = torch.log_softmax(logits, -1).masked_fill(~right, -torch.inf)
    return -torch.logsumexp(chances, -1).mean()


class Training:
    """The state of a training: the model, the mean of its last weights, and the optimiser."""

    def __init__(self, base: Path, dropout: float) -> None:
        self.model = pretrained(base, dropout, len(LABELS))
        self.average = pretrained(base, labels=len(LABELS))
        self.average.load_state_dict(self.model.state_dict())
        self.model.encoder.words.weight.requires_grad_(requires_grad=False)
        encoder = [weight for weight in self.model.encoder.parameters() if weight.requires_grad]
        head = [*self.model.compare.parameters(), *self.model.weigh.parameters()]
        self.optimizer = torch.optim.AdamW(
            [{"params": encoder, "lr": ENCODER_RATE}, {"params": head, "lr": HEAD_RATE}],
            weight_decay=0.01,
            fused=True,
        )
        self.steps = 0
        self.tokens = 0
        self.pairs = 0
        self.minutes = 0.0

    def freeze(self, layers: int) -> None:
        """Leave the embeddings and the first layers of the encoder as they are from here on."""
        encoder = self.model.encoder
        for part in (encoder.places, encoder.segments, encoder.norm, *encoder.layers[:layers]):
            part.requires_grad_(requires_grad=False)

    def begin(self, path: Path) -> None:
        """Begin with the weights that a stage before ended with."""
        saved = torch.load(path, weights_only=False)["average"]
        self.model.load_state_dict(saved)
        self.average.load_state_dict(saved)

    def load(self, path: Path) -> None:
        """Go on from a checkpoint."""
        saved = torch.load(path, weights_only=False)
        self.model.load_state_dict(saved["weights"])
        self.average.load_state_dict(saved["average"])
        self.optimizer.load_state_dict(saved["optimizer"])
        self.steps, self.tokens, self.pairs = saved["steps"], saved["tokens"], saved["pairs"]
        self.minutes = saved["minutes"]
        torch.set_rng_state(saved["random"])

    def save(self, out: Path) -> None:
        """Write a checkpoint; one that is there is replaced in one step."""
        partial = out.with_suffix(".partial")
        state = {
            "weights": self.model.state_dict(),
            "average": self.average.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "steps": self.steps,
            "tokens": self.tokens,
            "pairs": self.pairs,
            "minutes": self.minutes,
            "random": torch.get_rng_state(),
        }
        torch.save(state, partial)
        partial.replace(out)

    def step(self, batch: Batch, rate: float) -> float:
        """Learn from one batch, at a part of the full rates; return its loss."""
        for group, full in zip(self.optimizer.param_groups, (ENCODER_RATE, HEAD_RATE), strict=True):
            group["lr"] = full * rate
        with torch.autocast("cpu", torch.bfloat16):
            hidden = self.model.encoder(batch.ids, batch.segments, batch.mask)
        logits = self.model.weighed(hidden.float(), batch.ids, batch.segments, batch.mask)
        loss = loss_of(logits, batch.right)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.steps += 1
        self.tokens += int(batch.mask.sum())
        self.pairs += len(batch.right)
        weight = min(AVERAGED, self.steps / (self.steps + 20))
        with torch.no_grad():
            both = zip(self.average.parameters(), self.model.parameters(), strict=True)
            for mean, new in both:
                if new.requires_grad:
                    mean.lerp_(new, 1 - weight)
        return float(loss.detach())


def train(given: argparse.Namespace) -> None:
    """Train until the minutes or the pairs run out; a log is kept beside the checkpoint."""
    torch.manual_seed(given.seed)
    state = Training(given.base, given.dropout)
    if given.frozen:
        state.freeze(given.frozen)
    if given.out.exists():
        state.load(given.out)
    elif given.after:
        state.begin(given.after)
    tokenizer = tokenizer_at(given.minilm)
    with given.pairs.open(encoding="utf-8") as lines:
        examples = encode(tokenizer, [Pair(**json.loads(line)) for line in lines])
    tokens = sum(len(one.ids) for one in examples)
    held = held_pairs(given.data)
    recent: list[float] = []
    done, since = state.steps, time.monotonic()
    with given.out.with_suffix(".log").open("a", encoding="utf-8") as log:

        def say(**what: Any) -> None:
            print(json.dumps(what), file=log, flush=True)

        say(pairs=len(examples), tokens=tokens, steps=done, minutes=state.minutes)
        state.model.train()
        for number, batch in enumerate(batches(examples, given.seed)):
            if number < done:
                continue
            part = max(state.tokens / tokens, state.minutes / given.minutes)
            if part >= 1:
                break
            warm = min(1.0, (state.steps + 1) / given.warm)
            recent.append(state.step(batch, given.rate * warm * (1 - (1 - LEAST) * part)))
            now = time.monotonic()
            state.minutes, since = state.minutes + (now - since) / 60, now
            if state.steps % LOGGED_EVERY == 0:
                say(
                    step=state.steps,
                    part=round(part, 4),
                    pairs=state.pairs,
                    loss=round(float(np.mean(recent)), 4),
                    minutes=round(state.minutes, 1),
                )
                recent = []
            if state.steps % SAVED_EVERY == 0:
                state.save(given.out)
            if state.steps % given.measured == 0:
                say(step=state.steps, measured=measure(state.average, tokenizer, held, given.some))
        state.save(given.out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", type=Path, help="pairs to train on: JSON lines")
    parser.add_argument("out", type=Path, help="the checkpoint to write, or to go on from")
    parser.add_argument("--base", type=Path, required=True, help="the weights of e5-small")
    parser.add_argument("--after", type=Path, help="the checkpoint of the stage before")
    parser.add_argument("--minilm", type=Path, required=True, help="folder with tokenizer.json")
    parser.add_argument("--data", type=Path, required=True, help="folder of the claim sets")
    parser.add_argument("--minutes", type=float, default=90.0, help="how long it may take")
    parser.add_argument("--rate", type=float, default=1.3, help="part of the rates to begin with")
    parser.add_argument("--warm", type=int, default=150, help="steps until the rates are full")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--frozen", type=int, default=3, help="leave so many layers as they are")
    parser.add_argument("--measured", type=int, default=1_000, help="measure after so many steps")
    parser.add_argument("--some", type=int, default=160, help="with so many pairs of each set")
    parser.add_argument("--seed", type=int, default=7)
    train(parser.parse_args())


if __name__ == "__main__":
    main()

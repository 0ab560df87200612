"""The pair model: one pass of an encoder over evidence and claim, and a head that aligns them.

The encoder is BERT as MiniLM and e5-small have it (six or twelve layers of 384), written out so
that it exports to plain ONNX operators. The head looks at each token of the claim: which tokens of
the evidence are nearest to it, by their words alone and in context, and what differs; then it
weighs all of them together.
"""

from pathlib import Path
from typing import Final

import torch
import torch.nn.functional as functions
from safetensors.torch import load_file
from torch import Tensor, nn

LABELS: Final = ("supported", "contradicted", "not_found")
WIDTH: Final = 384
LAYERS: Final = 6
HEADS: Final = 12
CLS, SEP = 101, 102
_FAR: Final = -1e4
_SHARPNESS: Final = 10.0


class Locked(nn.Module):
    """Dropout that leaves out the same features of all tokens of a text: cheap on a processor."""

    def __init__(self, part: float) -> None:
        super().__init__()
        self.part = part

    def forward(self, hidden: Tensor) -> Tensor:
        """Return the tokens, while training without some of their features."""
        if not (self.training and self.part):
            return hidden
        shape = (hidden.shape[0], 1, hidden.shape[2])
        kept = torch.rand(shape) >= self.part
        return hidden * (kept / (1 - self.part)).to(hidden.dtype)


class Layer(nn.Module):
    """One layer of the encoder: attention, then two linear maps, each with its residual."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.after_attention = nn.LayerNorm(WIDTH, eps=1e-12)
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)
        self.after_maps = nn.LayerNorm(WIDTH, eps=1e-12)
        self.dropout = Locked(dropout)

    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """Return the tokens after this layer; `mask` is added to what attention weighs."""
        batch, length, _ = hidden.shape
        shape = (batch, length, HEADS, WIDTH // HEADS)
        query, key, value = (
            map_(hidden).view(shape).transpose(1, 2) for map_ in (self.query, self.key, self.value)
        )
        # Written out: on a processor, the fused attention is slow to go back through.
        near = query @ key.transpose(2, 3) * (WIDTH // HEADS) ** -0.5
        seen = torch.softmax(near + mask.to(near.dtype), -1).to(value.dtype) @ value
        seen = self.out(seen.transpose(1, 2).reshape(batch, length, WIDTH))
        hidden = self.after_attention(hidden + self.dropout(seen))
        return self.after_maps(hidden + self.dropout(self.down(functions.gelu(self.up(hidden)))))


class Encoder(nn.Module):
    """BERT: word, place and segment embeddings, then six layers or as many as are asked for."""

    def __init__(self, dropout: float, layers: int = LAYERS) -> None:
        super().__init__()
        self.words = nn.Embedding(30522, WIDTH)
        self.places = nn.Embedding(512, WIDTH)
        self.segments = nn.Embedding(2, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.layers = nn.ModuleList(Layer(dropout) for _ in range(layers))
        self.dropout = Locked(dropout)

    def forward(self, ids: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
        """Return the tokens in context; `mask` is true where there is a token."""
        place = torch.arange(ids.shape[1], device=ids.device)
        hidden = self.words(ids) + self.places(place) + self.segments(segments)
        hidden = self.dropout(self.norm(hidden))
        wide = (1.0 - mask.to(hidden.dtype))[:, None, None, :] * _FAR
        for layer in self.layers:
            hidden = layer(hidden, wide)
        return hidden


class PairModel(nn.Module):
    """Says of evidence and claim how likely each of the labels is, as logits."""

    def __init__(
        self, dropout: float = 0.1, layers: int = LAYERS, labels: int = len(LABELS)
    ) -> None:
        super().__init__()
        self.encoder = Encoder(dropout, layers)
        self.compare = nn.Sequential(nn.Linear(4 * WIDTH + 2, 192), nn.GELU())
        self.weigh = nn.Sequential(
            nn.Linear(2 * 192 + 3 * WIDTH + 5, 192),
            nn.GELU(),
            nn.Dropout(dropout),
            nn.Linear(192, labels),
        )

    def forward(self, ids: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
        """Return the logits of the labels for each pair; the claim has segment 1."""
        return self.weighed(self.encoder(ids, segments, mask), ids, segments, mask)

    def weighed(self, hidden: Tensor, ids: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
        """Return the logits, given the tokens in context."""
        said = (mask == 1) & (ids != CLS) & (ids != SEP)
        evidence, claim = said & (segments == 0), said & (segments == 1)
        there, asked = evidence.unsqueeze(-1).to(hidden.dtype), claim.unsqueeze(-1).to(hidden.dtype)
        many = asked.sum(1).clamp(min=1)
        words = _nearness(self.encoder.words(ids), evidence)
        context = _nearness(hidden, evidence)
        by_word, in_context = words.amax(-1), context.amax(-1)
        aligned = torch.softmax(context * _SHARPNESS, -1) @ hidden
        tokens = self.compare(
            torch.cat(
                [
                    hidden,
                    aligned,
                    hidden - aligned,
                    hidden * aligned,
                    by_word.unsqueeze(-1),
                    in_context.unsqueeze(-1),
                ],
                -1,
            )
        )
        strongest = tokens.masked_fill(~claim.unsqueeze(-1), _FAR).amax(1)
        mean = (tokens * asked).sum(1) / many
        read = (hidden * there).sum(1) / there.sum(1).clamp(min=1)
        told = (hidden * asked).sum(1) / many
        nearness = [
            (by_word * claim).sum(1) / many[:, 0],
            by_word.masked_fill(~claim, 2.0).amin(1),
            (in_context * claim).sum(1) / many[:, 0],
            in_context.masked_fill(~claim, 2.0).amin(1),
            functions.cosine_similarity(read, told, dim=-1),
        ]
        seen = [strongest, mean, (read - told).abs(), read * told, hidden[:, 0]]
        return self.weigh(torch.cat([*seen, torch.stack(nearness, -1)], -1))


def _nearness(vectors: Tensor, evidence: Tensor) -> Tensor:
    """Return the cosine of each token with each token of the evidence; far off elsewhere."""
    unit = functions.normalize(vectors, dim=-1)
    return (unit @ unit.transpose(1, 2)).masked_fill(~evidence.unsqueeze(1), _FAR)


def pretrained(weights: Path, dropout: float = 0.1, labels: int = len(LABELS)) -> PairModel:
    """Return a new pair model whose encoder has the weights of a file, named as BERT names them."""
    given = load_file(weights)
    layers = sum(name.endswith(".intermediate.dense.weight") for name in given)
    model = PairModel(dropout, layers, labels)
    names = {
        "words.weight": "embeddings.word_embeddings.weight",
        "places.weight": "embeddings.position_embeddings.weight",
        "segments.weight": "embeddings.token_type_embeddings.weight",
        "norm.weight": "embeddings.LayerNorm.weight",
        "norm.bias": "embeddings.LayerNorm.bias",
    }
    parts = {
        "query": "attention.self.query",
        "key": "attention.self.key",
        "value": "attention.self.value",
        "out": "attention.output.dense",
        "after_attention": "attention.output.LayerNorm",
        "up": "intermediate.dense",
        "down": "output.dense",
        "after_maps": "output.LayerNorm",
    }
    for layer in range(layers):
        for ours, theirs in parts.items():
            for kind in ("weight", "bias"):
                names[f"layers.{layer}.{ours}.{kind}"] = f"encoder.layer.{layer}.{theirs}.{kind}"
    model.encoder.load_state_dict({ours: given[theirs] for ours, theirs in names.items()})
    return model


def trained(checkpoint: Path) -> PairModel:
    """Return the model of a checkpoint: the mean of its last weights."""
    state = torch.load(checkpoint, weights_only=False)["average"]
    layers = sum(name.endswith(".up.weight") for name in state)
    model = PairModel(layers=layers, labels=len(state["weigh.3.bias"]))
    model.load_state_dict(state)
    return model.eval()

"""Tiny checkpoints: a graph that adds up numbers of words, written byte by byte, and a tokenizer.

The graph is `logits = sum(table[input_ids] * attention_mask)`: each word votes for the labels.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

FLOAT, INT64 = 1, 7
NLI = {"0": "ENTAILMENT", "1": "NEUTRAL", "2": "CONTRADICTION"}
WORDS = [
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "yes", "no", "maybe", "employees", "receive", "15", "20"),
    *("days", "of", "leave", "the", "fee", "is", "due", "in", "may", "june", "report", ".", ","),
]
Votes = Mapping[str, Sequence[float]]


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes | str) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _tensor(name: str, values: Any, kind: int) -> bytes:
    array = np.asarray(values, np.float32 if kind == FLOAT else np.int64)
    dims = b"".join(_number(1, size) for size in array.shape)
    return dims + _number(2, kind) + _bytes(8, name) + _bytes(9, array.tobytes())


def _value(name: str, kind: int, *dims: str) -> bytes:
    shape = b"".join(_bytes(1, _bytes(2, dim)) for dim in dims)
    tensor = _number(1, kind) + _bytes(2, shape)
    return _bytes(1, name) + _bytes(2, _bytes(1, tensor))


def _node(kind: str, inputs: Sequence[str], output: str, attributes: bytes = b"") -> bytes:
    given = b"".join(_bytes(1, name) for name in inputs)
    return given + _bytes(2, output) + _bytes(4, kind) + attributes


def graph(table: Any, inputs: Sequence[str] = ("input_ids", "attention_mask")) -> bytes:
    """Return a graph that adds up the rows of a table by the ids of the words."""
    to_float = _bytes(5, _bytes(1, "to") + _number(3, FLOAT) + _number(20, 2))
    keep = _bytes(5, _bytes(1, "keepdims") + _number(3, 0) + _number(20, 2))
    nodes = [
        _node("Gather", ["table", inputs[0]], "rows"),
        _node("Cast", [inputs[1]], "mask", to_float),
        _node("Unsqueeze", ["mask", "last"], "wide"),
        _node("Mul", ["rows", "wide"], "votes"),
        _node("ReduceSum", ["votes", "middle"], "logits", keep),
    ]
    made = b"".join(_bytes(1, node) for node in nodes)
    made += _bytes(2, "tiny")
    tensors = (("table", table, FLOAT), ("last", [2], INT64), ("middle", [1], INT64))
    made += b"".join(_bytes(5, _tensor(*one)) for one in tensors)
    made += b"".join(_bytes(11, _value(name, INT64, "batch", "words")) for name in inputs)
    made += _bytes(12, _value("logits", FLOAT, "batch", "labels"))
    return _number(1, 8) + _bytes(7, made) + _bytes(8, _bytes(1, "") + _number(2, 13))


def tokenizer() -> Tokenizer:
    """Return a tokenizer of whole words, which pairs texts as BERT's does."""
    known = {word: place for place, word in enumerate(WORDS)}
    made = Tokenizer(WordLevel(known, unk_token="[UNK]"))
    made.add_special_tokens(["[PAD]", "[CLS]", "[SEP]"])
    made.normalizer = Lowercase()
    made.pre_tokenizer = Whitespace()
    made.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", known["[CLS]"]), ("[SEP]", known["[SEP]"])],
    )
    made.enable_truncation(8)  # a checkpoint's own setting, which would cut evidence off unseen
    return made


def table(votes: Votes, labels: int = 3) -> Any:
    """Return the numbers of words: those that are named, and 0 of all others."""
    return [list(votes.get(word, [0.0] * labels)) for word in WORDS]


VOTES: Votes = {"yes": (6, 0, 0), "no": (0, 0, 6), "maybe": (0, 6, 0)}
"""A word each for the three labels of natural language inference."""


def write(
    folder: Path,
    votes: Votes = VOTES,
    *,
    labels: Mapping[str, str] | None = None,
    judge: Mapping[str, Any] | None = None,
    **config: Any,
) -> Path:
    """Write a checkpoint; `judge` is what judge.json says."""
    names = NLI if labels is None else labels
    folder.mkdir(parents=True, exist_ok=True)
    said = {"model_type": "bert", "max_position_embeddings": 64, "id2label": names, **config}
    (folder / "config.json").write_text(json.dumps(said))
    (folder / "tokenizer.json").write_text(tokenizer().to_str())
    (folder / "model.onnx").write_bytes(graph(table(votes, len(names) or 2)))
    if judge is not None:
        (folder / "judge.json").write_text(json.dumps(judge))
    return folder

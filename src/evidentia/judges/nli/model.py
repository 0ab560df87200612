"""The pair model and the encoder: loaded from the package, run by ONNX Runtime.

The weights are of few bits on disk and 32-bit floats in memory, so the scores of a pair are the
same alone or in a batch, on one thread or many, to a few parts in a million. Pairs are sorted into
batches by their length, so that little is computed for padding.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from evidentia.errors import InputError
from evidentia.judges.nli.combining import LABELS, Combination, Floats
from evidentia.judges.threads import session_options

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

Integers = npt.NDArray[np.int64]

PAIR_TOKENS: Final = 192
"""How many tokens of evidence and claim together are read; what is longer is cut."""
TEXT_TOKENS: Final = 384
"""How many tokens of a passage are embedded."""
BATCH_TOKENS: Final = 2_048
"""How many tokens a batch has at most: more was no faster on two cores."""
WIDTH: Final = 384
_GROUP: Final = 64
_LOWEST: Final = -8
_FILES: Final = ("pair.onnx", "embed.onnx", "weights.npz", "vocabulary.txt")
_NOTHING: Final = (-10.0, -10.0, 10.0, -10.0)
"""The logits of a pair of which one side says nothing: the model knows no such pair."""
_LONGEST: Final = 2_000
"""How many code points of a text are tokenized: memory grows with the square of more."""
_LONE_SURROGATES = re.compile("[\ud800-\udfff]")
_INSTALL: Final = "the nli judge needs ONNX Runtime: pip install 'evidentia[judge]'"


def has_weights() -> bool:
    """Whether the model is in this package."""
    return bool(_path("weights.npz").is_file())


@cache
def model_digest() -> str:
    """Return the SHA-256 of the model: of its files' digests, in the order of their names."""
    lines = [
        f"{hashlib.sha256(read_file(name)).hexdigest()}  {name}\n"
        for name in sorted([*_FILES, "combination.json"])
    ]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


@cache
def encoder_digest() -> str:
    """Return the SHA-256 of what embeddings follow from."""
    names = ("embed.onnx", "weights.npz", "vocabulary.txt")
    return hashlib.sha256(
        b"".join(hashlib.sha256(read_file(name)).digest() for name in names)
    ).hexdigest()


class PairModel:
    """Says of evidence and claim how likely each of the labels is."""

    def __init__(self) -> None:
        self._session = _session("pair")
        self._tokenizer = _tokenizer(PAIR_TOKENS)

    def scores(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """Return the logits of each pair of evidence and claim, in the order of `LABELS`."""
        encoded = self._tokenizer.encode_batch([tuple(map(_readable, pair)) for pair in pairs])
        found = np.full((len(pairs), len(LABELS)), _NOTHING, np.float32)
        asked = [place for place, one in enumerate(encoded) if {0, 1} <= set(one.sequence_ids)]
        for batch in batches([len(encoded[place].ids) for place in asked]):
            places = [asked[number] for number in batch]
            ids, segments, mask = padded([encoded[place] for place in places])
            inputs = {"ids": ids, "segments": segments, "mask": mask}
            found[places] = self._session.run(None, inputs)[0]
        return found


@dataclass(frozen=True, slots=True)
class Embedded:
    """A text's vector, and one for each of its spans; all of length one, or zero if empty."""

    whole: Floats
    spans: Floats


class Encoder:
    """Gives texts and their sentences vectors: texts that say alike have vectors that are near."""

    def __init__(self) -> None:
        self._session = _session("embed")
        self._tokenizer = _tokenizer(TEXT_TOKENS)

    def embed(
        self, texts: Sequence[str], spans: Sequence[Sequence[tuple[int, int]]] | None = None
    ) -> list[Embedded]:
        """Return the vectors of texts and of spans of them, each read in its context."""
        encoded = self._tokenizer.encode_batch(list(map(_readable, texts)))
        found: list[Embedded | None] = [None] * len(texts)
        for places in batches([len(one.ids) for one in encoded]):
            ids, _, mask = padded([encoded[place] for place in places])
            tokens = self._session.run(None, {"ids": ids, "mask": mask})[0]
            for place, vectors in zip(places, tokens, strict=True):
                found[place] = _pooled(vectors, encoded[place], spans[place] if spans else ())
        return [one for one in found if one is not None]


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Give the places of texts in batches of about one length."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda place: (lengths[place], place)):
        if batch and (len(batch) + 1) * lengths[place] > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def padded(encoded: "Sequence[Encoding]") -> tuple[Integers, Integers, Integers]:
    """Return ids, segments and mask of texts, as long as the longest of them."""
    shape = len(encoded), max(len(one.ids) for one in encoded)
    ids, segments, mask = (np.zeros(shape, np.int64) for _ in range(3))
    for row, one in enumerate(encoded):
        size = len(one.ids)
        ids[row, :size], segments[row, :size], mask[row, :size] = one.ids, one.type_ids, 1
    return ids, segments, mask


def _pooled(tokens: Floats, encoding: "Encoding", spans: Sequence[tuple[int, int]]) -> Embedded:
    """Return the mean of all tokens, and of those that begin in each span."""
    begins = np.array([start for start, _ in encoding.offsets])
    is_word = np.array(encoding.special_tokens_mask) == 0
    tokens = tokens[: len(begins)]
    vectors = [tokens[is_word & (begins >= low) & (begins < high)] for low, high in spans]
    rows = [_unit(found.sum(0)) for found in vectors]
    return Embedded(_unit(tokens.sum(0)), np.array(rows, np.float32).reshape(len(rows), WIDTH))


def _readable(text: str) -> str:
    """Return the beginning of a text as the tokenizer takes it, every place kept."""
    return _LONE_SURROGATES.sub("\ufffd", text[:_LONGEST])


def _unit(vector: Floats) -> Floats:
    length = float(np.linalg.norm(vector))
    return vector / length if length else vector


def _session(name: str) -> "InferenceSession":
    """Return a session over a graph whose large tensors are handed in from the weights' file."""
    try:
        import onnxruntime as runtime  # noqa: PLC0415 - an extra, and slow to import
    except ImportError:
        raise InputError(_INSTALL) from None
    options = session_options(runtime, 3)
    graph = read_file(f"{name}.onnx")
    tensors = _tensors(name)
    values = [runtime.OrtValue.ortvalue_from_numpy(tensor) for tensor in tensors.values()]
    options.add_external_initializers(list(tensors), values)
    return runtime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def _tensors(name: str) -> dict[str, Floats]:
    """Return the tensors of a graph as floats."""
    found: dict[str, Floats] = {}
    with np.load(_path("weights.npz")) as weights:
        for key in weights.files:
            tensor, _, kind = key.rpartition(".")
            if not tensor.startswith(f"{name}."):
                continue
            if kind == "q8":
                found[tensor] = weights[key] * weights[f"{tensor}.s8"]
            elif kind == "q4":
                found[tensor] = _unpacked(weights[key], weights[f"{tensor}.s4"])
            elif kind == "t4":
                table = _unpacked(weights[key], weights[f"{tensor}.s4"])
                found[tensor] = np.ascontiguousarray(table.T)
    return found


def _unpacked(packed: npt.NDArray[np.uint8], scales: npt.NDArray[Any]) -> Floats:
    """Return a matrix of weights that are kept two to a byte, with a scale for each group."""
    levels = np.empty((2 * len(packed), packed.shape[1]), np.float32)
    levels[0::2] = packed & 15
    levels[1::2] = packed >> 4
    levels += _LOWEST
    groups = levels.reshape(len(scales), _GROUP, -1)
    return (groups * scales[:, None, :].astype(np.float32)).reshape(levels.shape)


def _tokenizer(tokens: int) -> "Tokenizer":
    """Return the tokenizer of the model: word pieces in lower case."""
    try:
        from tokenizers import Tokenizer  # noqa: PLC0415 - an extra
        from tokenizers.models import WordPiece  # noqa: PLC0415 - the same
        from tokenizers.normalizers import BertNormalizer  # noqa: PLC0415 - the same
        from tokenizers.pre_tokenizers import BertPreTokenizer  # noqa: PLC0415 - the same
        from tokenizers.processors import TemplateProcessing  # noqa: PLC0415 - the same
    except ImportError:
        raise InputError(_INSTALL) from None
    words = read_file("vocabulary.txt").decode().split("\n")[:-1]
    vocabulary = {word: place for place, word in enumerate(words)}
    tokenizer = Tokenizer(
        WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100)  # noqa: S106 - no password
    )
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, vocabulary[name]) for name in ("[CLS]", "[SEP]")],
    )
    tokenizer.enable_truncation(tokens, strategy="longest_first")
    return tokenizer


def _path(name: str) -> Any:
    return files(__package__).joinpath("weights", name)


def read_file(name: str) -> bytes:
    """Return one of the model's files."""
    return bytes(_path(name).read_bytes())


@cache
def pair_model() -> PairModel:
    """Return the pair model, loaded once."""
    return PairModel()


@cache
def encoder() -> Encoder:
    """Return the encoder, loaded once."""
    return Encoder()


@cache
def combination() -> Combination:
    """Return the formulas that belong to the model."""
    return Combination.parse(read_file("combination.json"))

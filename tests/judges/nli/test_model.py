"""The model gives a pair the same scores whatever it is asked along with, and any pair some."""

import hashlib
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from random import Random

import numpy as np
import onnxruntime
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evidentia.errors import InputError
from evidentia.judges.nli import model
from evidentia.judges.nli.combining import NOT_FOUND, Combination, Floats
from evidentia.judges.nli.judge import NliJudge
from evidentia.judges.nli.model import (
    BATCH_TOKENS,
    PAIR_TOKENS,
    WIDTH,
    PairModel,
    batches,
    combination,
    encoder,
    encoder_digest,
    model_digest,
    padded,
    pair_model,
)
from forking import Child
from trained import needs_model

pytestmark = needs_model

RULE = "All permanent employees receive 15 days of paid annual leave per calendar year."
PAIRS = (
    (RULE, "Permanent employees get 15 days of leave."),
    (RULE, "Permanent employees get 30 days of leave."),
    ("No.", "Yes."),
    (f"{RULE} " * 4, "The office has a red door, and nobody knows who painted it in the spring."),
    ("El plazo de entrega es de cinco días.", "Lieferung in fünf Tagen: 五天内交货"),
    (f"{RULE} " * 40, "Leave is paid. " * 20),
)
TEXTS = [text for pair in PAIRS for text in pair]
SPECIAL = ("[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]", "</s>")
WEIGHTS = Path(model.__file__).parent / "weights"
SIZE_LIMIT = 40_000_000


def close(one: Floats, other: Floats) -> bool:
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=0, atol=1e-4))


@pytest.fixture(scope="module")
def scores() -> Floats:
    """Give the scores of the pairs, each asked alone."""
    return np.vstack([pair_model().scores([pair]) for pair in PAIRS])


# The same scores


def test_a_pair_has_the_same_scores_among_longer_ones(
    scores: Floats, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert close(pair_model().scores(PAIRS), scores)
    monkeypatch.setattr(model, "BATCH_TOKENS", 100_000)
    assert close(pair_model().scores(PAIRS), scores)


def test_a_pair_has_the_same_scores_in_any_order(scores: Floats) -> None:
    shuffled = list(range(len(PAIRS))) * 2
    Random(7).shuffle(shuffled)
    assert close(pair_model().scores([PAIRS[place] for place in shuffled]), scores[shuffled])


def test_a_pair_has_the_same_scores_from_eight_threads_at_once(scores: Floats) -> None:
    with ThreadPoolExecutor(8) as threads:
        for found in threads.map(pair_model().scores, [PAIRS[:4]] * 16):
            assert close(found, scores[:4])


def test_a_pair_has_the_same_scores_on_one_thread(
    scores: Floats, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_options = onnxruntime.SessionOptions

    def of_one_thread() -> onnxruntime.SessionOptions:
        options = make_options()
        options.intra_op_num_threads = 1
        return options

    monkeypatch.setattr(onnxruntime, "SessionOptions", of_one_thread)
    assert close(PairModel().scores(PAIRS), scores)


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
def test_a_pair_has_the_same_scores_in_a_forked_process(scores: Floats) -> None:
    def work() -> None:
        assert close(pair_model().scores(PAIRS), scores)

    with Child(work) as child:
        child.end()


def test_a_text_has_the_same_vectors_among_longer_ones() -> None:
    for text, among in zip(TEXTS, encoder().embed(TEXTS), strict=True):
        (alone,) = encoder().embed([text])
        assert close(alone.whole, among.whole)
        assert np.linalg.norm(alone.whole) == pytest.approx(1, abs=1e-5)


def test_nothing_asked_is_nothing_answered() -> None:
    assert pair_model().scores([]).shape == (0, 4)
    assert encoder().embed([]) == []


# Any text


@given(st.lists(st.one_of(st.sampled_from(SPECIAL), st.text(max_size=5)), max_size=9).map("".join))
@example("[CLS] a [SEP] b [SEP]")
@example("[sep]Ｓ[SEP]")  # noqa: RUF001 - a letter that looks like another is the point
def test_no_text_is_taken_for_a_mark_of_the_model(text: str) -> None:
    tokenizer = pair_model()._tokenizer
    marks = [tokenizer.token_to_id(name) for name in ("[CLS]", "[SEP]")]
    encoded = tokenizer.encode(text, text)
    assert sum(encoded.special_tokens_mask) == 3
    for token, is_mark in zip(encoded.ids, encoded.special_tokens_mask, strict=True):
        assert (token in marks) == bool(is_mark)


ODD = ("word " * 20_000, "x" * 100_000, "字" * 20_000, "\ud800\udfff a", "a\0b", "e\u0301" * 300)
EMPTY = ("", " \n ", "\0", "\u200b")


def test_odd_and_enormous_texts_have_scores() -> None:
    found = pair_model().scores(list(product(ODD, ODD)))
    assert np.isfinite(found).all()


@pytest.mark.parametrize("other", [*EMPTY, RULE, "word " * 20_000])
def test_nothing_bears_on_a_claim_or_passage_that_is_empty(other: str) -> None:
    pairs = [pair for empty in EMPTY for pair in ((empty, other), (other, empty))]
    assert (pair_model().scores(pairs).argmax(axis=1) == NOT_FOUND).all()


def test_empty_pairs_among_others_change_nothing(scores: Floats) -> None:
    mixed = [pair for real in PAIRS for pair in (("", "a"), real)]
    assert close(pair_model().scores(mixed)[1::2], scores)


def test_odd_and_empty_texts_have_vectors() -> None:
    for text in (*ODD, *EMPTY):
        (found,) = encoder().embed([text], [[(0, 1), (len(text) - 1, len(text)), (5, 5)]])
        assert found.spans.shape == (3, WIDTH)
        assert np.isfinite(found.spans).all()
        assert np.isfinite(found.whole).all()
        assert not found.spans[2].any()


def test_a_span_is_what_the_sentence_says_in_its_place() -> None:
    text = "The canteen is closed on Mondays. Dogs are not allowed in the laboratory."
    cut = text.index(" Dogs")
    (found,) = encoder().embed([text], [[(0, cut), (cut, len(text)), (0, len(text))]])
    dogs = encoder().embed(["Pets must stay out of the lab."])[0].whole
    assert found.spans[1] @ dogs > found.spans[0] @ dogs
    assert np.linalg.norm(found.spans, axis=1) == pytest.approx(1, abs=1e-5)


# Batches


@given(st.lists(st.integers(min_value=1, max_value=PAIR_TOKENS), max_size=200))
def test_batches_hold_every_text_once_and_little_padding(lengths: list[int]) -> None:
    found = list(batches(lengths))
    assert sorted(place for batch in found for place in batch) == list(range(len(lengths)))
    in_order = [lengths[place] for batch in found for place in batch]
    assert in_order == sorted(in_order)
    for batch in found:
        assert batch
        assert len(batch) * max(lengths[place] for place in batch) <= BATCH_TOKENS


def test_a_text_longer_than_a_batch_is_a_batch_of_its_own() -> None:
    assert list(batches([3, BATCH_TOKENS + 1, 3, BATCH_TOKENS + 2])) == [[0, 2], [1], [3]]


def test_texts_are_padded_to_the_longest() -> None:
    encoded = pair_model()._tokenizer.encode_batch([("a", "b"), ("three words here", "b c"), "d"])
    ids, segments, mask = padded(encoded)
    longest = max(len(one.ids) for one in encoded)
    assert ids.shape == segments.shape == mask.shape == (3, longest)
    for row, one in enumerate(encoded):
        size = len(one.ids)
        assert ids[row].tolist() == [*one.ids, *[0] * (longest - size)]
        assert segments[row].tolist() == [*one.type_ids, *[0] * (longest - size)]
        assert mask[row].tolist() == [1] * size + [0] * (longest - size)


# The files


def reference(packed: list[list[int]], scales: list[list[float]]) -> Iterator[float]:
    """Give the weights, row by row: low half of a byte first, groups of 64 rows share a scale."""
    for row in range(2 * len(packed)):
        for column, byte in enumerate(packed[row // 2]):
            level = byte // 16 if row % 2 else byte % 16
            yield (level - 8) * scales[row // 64][column]


def test_weights_of_four_bits_are_unpacked() -> None:
    random = np.random.default_rng(5)
    packed = random.permutation(np.arange(96 * 8) % 256).astype(np.uint8).reshape(96, 8)
    scales = random.uniform(0.001, 2, (3, 8)).astype(np.float16)
    found = model._unpacked(packed, scales)
    assert found.dtype == np.float32
    assert found.shape == (192, 8)
    wanted = reference(packed.tolist(), scales.astype(float).tolist())
    assert found.ravel().tolist() == pytest.approx(list(wanted), rel=1e-6)


def test_the_tensors_of_both_graphs_are_floats() -> None:
    for name in ("pair", "embed"):
        tensors = model._tensors(name)
        assert tensors[f"{name}.words"].shape[1] == WIDTH
        assert len(tensors) > 1
        for tensor in tensors.values():
            assert tensor.dtype == np.float32
            assert np.isfinite(tensor).all()


def test_the_model_has_forty_megabytes_at_most() -> None:
    assert sum(path.stat().st_size for path in WEIGHTS.iterdir()) <= SIZE_LIMIT


def test_the_digest_is_that_of_the_list_of_all_files_digests() -> None:
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in sorted(WEIGHTS.iterdir())
        if path.suffix != ".md"
    ]
    assert model_digest() == hashlib.sha256("".join(lines).encode()).hexdigest()
    assert NliJudge().digest == NliJudge().digest == model_digest.__wrapped__()


def test_embeddings_follow_from_other_files_than_scores() -> None:
    assert re.fullmatch("[0-9a-f]{64}", encoder_digest())
    assert encoder_digest() == encoder_digest.__wrapped__() != model_digest()


def test_the_formulas_of_the_model_are_read() -> None:
    assert isinstance(combination(), Combination)


# What is not installed


@pytest.mark.parametrize(
    ("package", "load"),
    [
        ("onnxruntime", PairModel),
        ("tokenizers", partial(model._tokenizer, 10)),
        ("onnxruntime", model.Encoder),
    ],
)
def test_what_to_install_is_said_when_a_package_is_missing(
    package: str, load: partial[object] | type[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=r"pip install 'evidentia\[judge\]'"):
        load()

"""Passages are found by what they mean, whatever is kept of it and in whatever order they come."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidentia.judges import make_judges
from evidentia.judges.nli import meaning
from evidentia.judges.nli.meaning import (
    FEW,
    CorpusMeaning,
    content_digest,
    from_bytes,
    to_bytes,
    with_meaning,
)
from evidentia.judges.nli.model import WIDTH, Embedded, Encoder, encoder
from evidentia.ledger.claims import whole_claim
from evidentia.ledger.evidence import Corpus, find_passages, sentences_of
from evidentia.ledger.model import Passage
from ledger.corpora import chunks_in, corpus_of, documents_in, make_corpus
from trained import skip_without_model

skip_without_model()

HOME_WORK = "Staff may do their job at home on two days a week."
FILES = {
    "home.md": (f"{HOME_WORK} A laptop is provided.",),
    "canteen.md": ("The canteen opens at noon. Lunch costs 6 euros.",),
    "parking.md": ("Cars are parked behind the building. Bicycles stand in the yard.",),
    "fire.md": ("In case of fire the stairs must be taken. The lift must not be used.",),
    "keys.md": ("Lost keys are reported to the porter. A new key costs 40 euros.",),
}
TELEWORK = "Telecommuting is allowed for some of the working time."
BY_MEANING = make_judges(["nli"])
BY_WORDS = make_judges(["quote", "numbers"])


class CountingEncoder(Encoder):
    """The encoder, with the passages that it was asked for; queries are not counted."""

    def __init__(self) -> None:
        self.passages: list[str] = []
        self.queries: list[str] = []

    def embed(
        self, texts: Sequence[str], spans: Sequence[Sequence[tuple[int, int]]] | None = None
    ) -> list[Embedded]:
        (self.queries if spans is None else self.passages).extend(texts)
        return encoder().embed(texts, spans)


class Kept:
    """Vectors that are kept, as a workspace keeps them."""

    def __init__(self) -> None:
        self.rows: dict[str, bytes] = {}

    def look_up(self, contents: Collection[str]) -> dict[str, bytes]:
        return {key: self.rows[key] for key in contents if key in self.rows}

    def keep(self, made: Mapping[str, bytes]) -> None:
        self.rows.update(made)


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> CountingEncoder:
    """Give the encoder that every corpus of the test asks."""
    found = CountingEncoder()
    monkeypatch.setattr(meaning, "encoder", lambda: found)
    return found


def found_for(claim: str, corpus: Corpus) -> list[Passage]:
    return find_passages(whole_claim(claim), corpus)


def knowing(kept: Kept) -> Corpus:
    return with_meaning(make_corpus(FILES), BY_MEANING, look_up=kept.look_up, keep=kept.keep)


def texts_of(corpus: Corpus) -> list[str]:
    return [corpus.visible(chunk) for chunk in chunks_in(corpus)]


# Vectors as they are kept


def test_vectors_come_back_from_bytes_as_they_were() -> None:
    text = FILES["fire.md"][0]
    (made,) = encoder().embed([text], [sentences_of(text)])
    back = from_bytes(to_bytes(made), 2)
    assert back is not None
    assert np.allclose(back.whole, made.whole, atol=1e-3)
    assert np.allclose(back.spans, made.spans, atol=1e-3)
    assert to_bytes(back) == to_bytes(made)


def test_a_text_without_sentences_has_one_vector() -> None:
    (made,) = encoder().embed(["a"], [()])
    back = from_bytes(to_bytes(made), 0)
    assert back is not None
    assert back.spans.shape == (0, WIDTH)


def damaged(data: bytes) -> dict[str, bytes]:
    """Return what can become of vectors that are kept."""
    rows = np.frombuffer(data, "<f2").copy()
    broken = {}
    for name, value in (("no number", np.nan), ("infinite", np.inf), ("far too long", 9.0)):
        rows[-1] = value
        broken[name] = rows.tobytes()
    return {**broken, "cut": data[:-2], "empty": b"", "longer": data + data, "odd": data[:-1]}


def test_what_is_damaged_is_not_read() -> None:
    (made,) = encoder().embed(["One. Two."], [[(0, 4), (5, 9)]])
    data = to_bytes(made)
    assert from_bytes(data, 2)
    assert from_bytes(data, 1) is None
    assert from_bytes(data, 3) is None
    for name, other in damaged(data).items():
        assert from_bytes(other, 2) is None, name


@given(st.binary(min_size=WIDTH * 2, max_size=WIDTH * 2))
def test_whatever_is_read_is_of_length_one_or_zero(data: bytes) -> None:
    if back := from_bytes(data, 0):
        assert np.linalg.norm(back.whole) == pytest.approx(1, abs=0.02) or not back.whole.any()


# What is found


def test_a_passage_that_shares_no_word_with_a_claim_is_found_by_its_meaning() -> None:
    corpus = make_corpus(FILES)
    assert HOME_WORK not in [passage.snippet for passage in found_for(TELEWORK, corpus)]
    found = found_for(TELEWORK, with_meaning(corpus, BY_MEANING))
    assert found[0].snippet == HOME_WORK


def test_the_nearest_texts_come_first_and_as_many_as_asked() -> None:
    corpus = with_meaning(make_corpus(FILES), BY_MEANING)
    assert corpus.meaning
    found = corpus.meaning.nearest(TELEWORK, 3)
    assert len(found) == 3
    assert HOME_WORK in found[0].text
    assert set(corpus.meaning.nearest(TELEWORK, 99)) == set(chunks_in(corpus))
    assert corpus.meaning.nearest(TELEWORK, 0) == []


def test_copies_of_one_text_leave_room_for_others() -> None:
    copies = {f"copy {number}.md": FILES["keys.md"] for number in range(12)}
    corpus = with_meaning(make_corpus({**copies, **FILES}), BY_MEANING)
    assert corpus.meaning
    found = corpus.meaning.nearest("Whoever lost a key pays for another.", 2)
    assert len({chunk.text for chunk in found}) == 2
    assert len(found) >= 13


@pytest.mark.parametrize("claim", [TELEWORK, "A lost key costs 40 euros.", "Pigs fly."])
def test_the_order_of_the_texts_makes_no_difference(claim: str) -> None:
    copies = {f"copy {number}.md": FILES["home.md"] for number in range(8)}
    corpus = make_corpus({**FILES, **copies})
    turned = corpus_of(documents_in(corpus), chunks_in(corpus)[::-1])
    assert found_for(claim, with_meaning(corpus, BY_MEANING)) == found_for(
        claim, with_meaning(turned, BY_MEANING)
    )


def test_in_a_corpus_of_a_few_sentences_all_are_read(counting: CountingEncoder) -> None:
    corpus = with_meaning(make_corpus({"fire.md": FILES["fire.md"]}), BY_MEANING)
    assert len(found_for("Pigs fly.", corpus)) == 2
    assert counting.passages == counting.queries == []


def test_a_corpus_that_hides_most_of_it_is_no_corpus_of_a_few_sentences() -> None:
    hidden = {f"{number}.md": ("<!-- nothing to see here -->",) for number in range(FEW + 2)}
    corpus = with_meaning(make_corpus({**hidden, **FILES}), BY_MEANING)
    assert found_for(TELEWORK, corpus)[0].snippet == HOME_WORK


def test_odd_texts_have_a_meaning_too() -> None:
    texts = ["", " ", "\ud800 is no letter.", "\0", "字" * 3_000, "a. " * 500]
    chunk = chunks_in(make_corpus(FILES))[0]
    odd = CorpusMeaning([(text, chunk) for text in texts], encoder())
    assert len(odd.nearest("\udfff", 9)) == len(texts)
    near = odd.nearness("\ud800", texts)
    assert [len(one) for one in near] == [len(sentences_of(text)) for text in texts]
    assert all(-1.01 <= value <= 1.01 for one in near for value in one)
    assert CorpusMeaning([], encoder()).nearest("a", 3) == []


# What is kept


def test_passages_are_embedded_once_and_then_read(counting: CountingEncoder) -> None:
    kept = Kept()
    first = found_for(TELEWORK, knowing(kept))
    assert sorted(counting.passages) == sorted(texts_of(make_corpus(FILES)))
    counting.passages.clear()
    assert found_for(TELEWORK, knowing(kept)) == first
    assert counting.passages == []


def test_only_texts_of_chunks_are_kept() -> None:
    kept = Kept()
    corpus = knowing(kept)
    found_for(TELEWORK, corpus)
    assert set(kept.rows) == set(map(content_digest, texts_of(corpus)))


def test_what_is_found_does_not_depend_on_what_is_kept() -> None:
    kept = Kept()
    claims = (TELEWORK, "A lost key costs 40 euros.", "You can eat at 12.")
    wanted = [found_for(claim, knowing(kept)) for claim in claims]
    whole = dict(kept.rows)
    for number in range(len(whole)):
        kept.rows = {key: whole[key] for key in list(whole)[:number]}
        assert [found_for(claim, knowing(kept)) for claim in claims] == wanted


def test_what_is_damaged_is_made_anew(counting: CountingEncoder) -> None:
    kept = Kept()
    first = found_for(TELEWORK, knowing(kept))
    good = dict(kept.rows)
    key = next(iter(good))
    for name, data in damaged(good[key]).items():
        counting.passages.clear()
        kept.rows = {**good, key: data}
        assert found_for(TELEWORK, knowing(kept)) == first, name
        assert [content_digest(text) for text in counting.passages] == [key], name
        assert kept.rows.keys() == good.keys()
        assert from_bytes(kept.rows[key], 2), name


def test_progress_is_told_of_what_is_embedded() -> None:
    kept, told = Kept(), list[tuple[int, int]]()
    texts = [f"Form {number} is kept for {number + 2} years." for number in range(70)]
    make = partial(
        CorpusMeaning,
        [(text, chunks_in(make_corpus(FILES))[0]) for text in texts],
        encoder(),
        look_up=kept.look_up,
        keep=kept.keep,
        progress=lambda done, total: told.append((done, total)),
    )
    first = make()
    assert told == []
    first.nearest(TELEWORK, 5)
    assert told == [(64, 70), (70, 70)]
    first.nearest(TELEWORK, 5)
    make().nearest(TELEWORK, 5)
    assert len(told) == 2


def test_who_asks_for_a_corpus_again_is_told_of_what_is_embedded_then() -> None:
    told: list[str] = []

    def knowing(corpus: Corpus, name: str) -> Corpus:
        return with_meaning(corpus, BY_MEANING, progress=lambda _done, _total: told.append(name))

    corpus = knowing(knowing(make_corpus(FILES), "first"), "second")
    found_for(TELEWORK, corpus)
    assert told == ["second"]


# A large corpus


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch, counting: CountingEncoder) -> CountingEncoder:
    """Have a corpus of three texts be too large to be embedded whole."""
    monkeypatch.setattr(meaning, "WHOLE", 3)
    return counting


def test_in_a_large_corpus_only_what_words_find_is_embedded(large: CountingEncoder) -> None:
    corpus = with_meaning(make_corpus(FILES), BY_MEANING)
    assert corpus.meaning
    assert large.passages == []
    assert corpus.meaning.nearest(TELEWORK, 5) == []
    found_for("Lifts creak.", corpus)
    assert large.passages == [FILES["fire.md"][0]]
    large.passages.clear()
    found_for("Lifts are loud.", corpus)
    by_words = [corpus.visible(chunk) for chunk in corpus.nearest("Lifts are loud.", 99)]
    assert FILES["fire.md"][0] in by_words
    assert set(large.passages) == set(by_words) - {FILES["fire.md"][0]}


def test_texts_are_as_near_in_a_large_corpus_as_in_a_small_one() -> None:
    corpus = make_corpus(FILES)
    texts = texts_of(corpus)
    small = CorpusMeaning(zip(texts, chunks_in(corpus), strict=True), encoder())
    large = CorpusMeaning(None, encoder())
    for text in texts:
        ((one,), (other,)) = (each.nearness(TELEWORK, [text]) for each in (small, large))
        assert one == pytest.approx(other, abs=2e-3)


def test_in_a_large_corpus_a_claim_is_compared_with_the_first_few_passages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(meaning, "FIRST", 2)
    texts = texts_of(make_corpus(FILES))
    near = CorpusMeaning(None, encoder()).nearness(TELEWORK, texts)
    assert [any(one) for one in near] == [True, True, *[False] * (len(texts) - 2)]
    assert [len(one) for one in near] == [len(sentences_of(text)) for text in texts]


# Who asks for meaning


def test_without_a_judge_that_reads_meaning_a_corpus_is_left_alone(
    counting: CountingEncoder,
) -> None:
    corpus = make_corpus(FILES)
    assert with_meaning(corpus, BY_WORDS) is corpus
    assert with_meaning(corpus, []) is corpus
    assert counting.passages == []


def test_a_corpus_learns_its_meaning_once() -> None:
    corpus = with_meaning(make_corpus(FILES), make_judges())
    assert corpus.meaning
    assert with_meaning(corpus, BY_MEANING) is corpus


@pytest.mark.parametrize("claim", [TELEWORK, "A lost key costs 40 euros."])
def test_judges_of_words_find_the_same_after_others_asked_for_meaning(claim: str) -> None:
    corpus = make_corpus(FILES)
    knows = with_meaning(corpus, BY_MEANING)
    assert found_for(claim, with_meaning(knows, BY_WORDS)) == found_for(claim, corpus)
    assert replace(knows, meaning=None) == corpus

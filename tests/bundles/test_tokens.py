import random
import sys

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

import tiers
from evidentia.bundles.accounting import EvidenceType
from evidentia.bundles.model import EvidenceItem
from evidentia.bundles.policy import TOKENIZERS
from evidentia.bundles.rendering import NONCE_DIGITS, fenced
from evidentia.bundles.tokens import cut_to_tokens, token_counter
from evidentia.canonical import sha256_hex
from evidentia.errors import EnvironmentProblem, InputError
from evidentia.language.graphemes import boundary_after

TEXTS = st.lists(
    st.sampled_from(
        [
            *("word ", "antidisestablishment", "\n\n", "   ", "12345", "e\u0301", "क्षि", "🇸🇦", "ـ"),
            *(
                "👨\u200d👩\u200d👧",
                "إجازة ",
                "年假。",
                "<|endoftext|>",
                "a" * 30,
                " " * 40,
                "\r\n",
                "()",
            ),
        ]
    )
    | st.text(st.characters(codec="utf-8"), max_size=5),
    max_size=30,
).map("".join)


@pytest.mark.parametrize("name", TOKENIZERS)
def test_every_tokenizer_of_a_policy_counts(name: str) -> None:
    count = token_counter(name)
    assert count("") == 0
    assert count("hello") == 1
    assert count("Every employee gets 25 days.") in range(6, 10)
    assert token_counter(name) is count


def test_counts_are_those_of_the_vocabulary() -> None:
    assert token_counter("o200k_base")("antidisestablishmentarianism") == 6
    assert token_counter("cl100k_base")("antidisestablishmentarianism") == 6


@tiers.one_test
@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize(
    "special",
    [
        "<|endoftext|>",
        "<|begin_of_text|>",
        "<|eot_id|>",
        "<\uff5cbegin\u2581of\u2581sentence\uff5c>",
    ],
)
def test_special_tokens_in_a_text_are_text(name: str, special: str) -> None:
    assert token_counter(name)(special) > 3


@pytest.mark.parametrize("name", TOKENIZERS)
def test_three_digits_are_always_one_token(name: str) -> None:
    count = token_counter(name)
    assert {count(f"{number:03}") for number in range(1000)} == {1}


@pytest.mark.parametrize("name", TOKENIZERS)
def test_a_fence_has_as_many_tokens_whatever_its_nonce(name: str) -> None:
    count = token_counter(name)
    items = [
        EvidenceItem(
            evidence_id=f"inline:{place}",
            evidence_type=EvidenceType.INLINE_TEXT,
            source_ref={"source_uri": "job_input"},
            content=text,
            content_sha256=sha256_hex(text.encode()),
            byte_count=len(text.encode()),
        )
        for place, text in enumerate(("", "0123", "text\n", "9", "\n\n  漢字"))
    ]
    drawn = random.Random(1)
    nonces = [f"{drawn.randrange(10**NONCE_DIGITS):0{NONCE_DIGITS}}" for _ in range(2_000)]
    nonces += [digit * NONCE_DIGITS for digit in "0123456789"]
    assert len({count(fenced(items, nonce)) for nonce in nonces}) == 1
    assert {count(nonce) for nonce in nonces} == {NONCE_DIGITS // 3}


def test_an_unknown_tokenizer_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="no tokenizer 'gpt2': use cl100k_base, o200k_base"):
        token_counter("gpt2")


def test_without_the_extra_the_way_to_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "splintr", None)
    token_counter.cache_clear()
    with pytest.raises(EnvironmentProblem, match=r"pip install 'evidentia\[tokens\]'"):
        token_counter("o200k_base")


@pytest.mark.parametrize("name", TOKENIZERS)
@settings(max_examples=60)
@given(text=TEXTS, limit=st.integers(-1, 60))
def test_a_cut_keeps_the_limit_and_one_character_more_would_not(
    name: str, text: str, limit: int
) -> None:
    count = token_counter(name)
    cut = cut_to_tokens(text, limit, count)
    assert count(cut) <= max(limit, 0)
    assert text.startswith(cut)
    assert len(cut) in {0, *(found.end() for found in regex.finditer(r"\X", text))}
    if cut != text and limit > 0:
        longer = text[: boundary_after(text, len(cut) + 1, len(cut))]
        assert count(longer) > limit
    if count(text) <= limit:
        assert cut == text


@given(st.lists(st.integers(-3, 5), min_size=1, max_size=60), st.integers(0, 30))
def test_counts_that_fall_again_never_lead_over_the_limit(steps: list[int], limit: int) -> None:
    counts = [0]
    for step in steps:
        counts.append(max(0, counts[-1] + step))
    text = "x" * len(steps)
    cut = cut_to_tokens(text, limit, lambda prefix: counts[len(prefix)])
    assert counts[len(cut)] <= limit


@tiers.one_test
@pytest.mark.parametrize("limit", [100, 20_000, 150_000])
@pytest.mark.parametrize(
    "text",
    [
        "The quick brown fox jumps over the lazy dog, 12 times. " * 18_000,
        "漢字仮名" * 250_000,
        "a" * 1_000_000,
        "Plain words and then " * 20_000 + "漢字仮名" * 100_000,
    ],
    ids=["prose", "han", "one letter", "both"],
)
def test_a_long_text_is_encoded_a_few_times_only(text: str, limit: int) -> None:
    exact = token_counter("o200k_base")
    asked: list[int] = []

    def count(prefix: str) -> int:
        asked.append(len(prefix))
        return exact(prefix)

    cut = cut_to_tokens(text, limit, count)
    assert limit - 3 <= exact(cut) <= limit or cut == text
    assert len(asked) <= 16
    assert max(asked) <= max(4 * limit, 2 * len(cut))

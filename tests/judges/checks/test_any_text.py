"""Whatever stands in a claim or a passage, the checks answer, and point into the two texts."""

import random

from hypothesis import example, given
from hypothesis import strategies as st

import tiers
from evidentia.judges.checks import Check, typed_checks

ANYTHING = st.text(
    alphabet=st.one_of(
        st.characters(codec=None),
        st.characters(categories=["Cs"]),
        st.sampled_from("\u200b\u202e\ufeff\0\n\t-([\"'%$€٪٣½²"),
    )
)
WORDS = """Mira Holt WHO France French all some no not never only must may might cannot 15 20 days
weeks % $5 2024 1980s 19th century March 17 , 2004 . older younger than before after more less
accepted rejected the of in by was is employees get leave least at most without failed to 1.2.3 -5
1,000"""
TEXT = st.one_of(st.lists(st.sampled_from(WORDS.split())).map(" ".join), ANYTHING)
CASES = 2_000


def points_into(check: Check, claim: str, said: str) -> bool:
    start, end = check.claim
    first, last = check.evidence or (0, 1)
    return 0 <= start < end <= len(claim) and 0 <= first < last <= max(1, len(said))


@given(TEXT, TEXT)
@example("\ud800 15 days", "\udfff 15 days")
@example("the '80s of 31 February 2020", "0th century 99th century 1.2.3.4")
@example("x " * 5_000, "15 days " * 2_000)
def test_any_two_texts_are_compared_and_the_spans_lie_in_them(claim: str, said: str) -> None:
    found = typed_checks(claim, said)
    assert found == typed_checks(claim, said)
    assert all(points_into(check, claim, said) for check in found)


def test_thousands_of_mutated_sentences_are_compared() -> None:
    chance = random.Random(7)
    base = "In March 2010 Mira Holt was not allowed to sell 20 percent more than all members."
    for _ in range(tiers.count(CASES, short=300)):
        said = list(base)
        for _ in range(chance.randint(1, 9)):
            at = chance.randrange(len(said))
            said[at : at + chance.randint(0, 6)] = chance.choice(
                ["", " ", "not ", "9", ".", ",", "-", "%", "\u2019s", "No", " by ", "²", "ß", "\n"]
            )
        text = "".join(said)
        assert all(points_into(check, text, base) for check in typed_checks(text, base))

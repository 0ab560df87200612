"""Whatever stands in a claim or a passage, the judges of words answer, and always the same."""

from hypothesis import assume, example, given
from hypothesis import strategies as st

from evidentia.judges import make_judges
from evidentia.language.sentences import sentence_spans
from evidentia.language.statements import LONGEST_SENTENCE
from evidentia.ledger.judging import Opinion
from evidentia.ledger.model import Claim
from judges.asking import OF_WORDS, passage_of

ANYTHING = st.text(
    alphabet=st.one_of(
        st.characters(codec=None),
        st.characters(categories=["Cs"]),
        st.sampled_from("\u200b\u200f\u202e\u2066\u2069\ufeff\0\n\t|-([\"'%$€٪٣"),
    )
)
WORDS = """employees contractors get pay is are was not no without 15 20 days weeks % $5 2024
Windows 10 leave annual of in for from per every year must may at least up to within if only , . : ;
( ) | - and or says that "The this 1 March 2025 9 am thirty (30) unpaid"""
TELLING = st.lists(st.sampled_from(WORDS.split())).map(" ".join)
TEXT = st.one_of(TELLING, ANYTHING)


def ask(claim: str, said: str, heading: str = "", context: str = "") -> list[Opinion | None]:
    passage = passage_of(said, heading=heading, context=context)
    return [
        opinion
        for judge in make_judges(OF_WORDS)
        for opinion in judge.judge(Claim(id="c", text=claim), [passage])
    ]


@given(TEXT, TEXT, TEXT, TEXT)
@example("\ud800 get 15 days.", "\udfff get 15 days.", "\ud800", "\udfff")
@example("Employees get 15 days.", "\u202eEmployees get 15 days.\u202c" * 500, "", "")
@example("Employees get " * 700, "Employees get " * 700, "", "")
def test_any_claim_and_passage_get_the_same_answer_twice(
    claim: str, said: str, heading: str, context: str
) -> None:
    assert ask(claim, said, heading, context) == ask(claim, said, heading, context)


@given(TEXT)
def test_no_sentence_contradicts_itself(text: str) -> None:
    assume(len(sentence_spans(text)) == 1)
    for opinion in ask(text, text):
        assert opinion is None or not opinion.match.contradicts


@given(st.lists(TEXT, min_size=1, max_size=4), TEXT)
def test_a_passage_is_judged_alone_as_among_others(said: list[str], claim: str) -> None:
    passages = [passage_of(text, number) for number, text in enumerate(said)]
    asked = Claim(id="c", text=claim)
    for judge in make_judges(OF_WORDS):
        together = judge.judge(asked, passages)
        assert together == [judge.judge(asked, [passage])[0] for passage in passages]


def test_what_is_too_long_for_a_sentence_is_not_judged() -> None:
    rule = "Employees get 15 days of annual leave."
    run_on = f"Employees get 15 days of annual leave {'and so on ' * 1_000}."
    assert ask(rule, run_on) == [None, None]
    assert ask(run_on, rule) == [None, None]
    assert len(run_on) > LONGEST_SENTENCE
    assert all(ask(rule, f"{run_on} {rule}"))


def test_long_passages_of_odd_text_are_answered() -> None:
    rule = "Employees get 15 days of annual leave."
    for odd in ("(", '"', "15 days, ", "in the for on ", "says that ", "| a ", "<!--", "not "):
        passage = f"{rule} {odd * (100_000 // len(odd))}"
        assert len(ask(rule, passage)) == len(ask("leave " * 830, passage)) == 2

"""The judge of a folder: what it makes of what a classifier says."""

from collections.abc import Sequence
from typing import Any

import pytest

from evidentia.errors import InputError
from evidentia.judges.checkpoint.calibration import Calibration, Scale
from evidentia.judges.checkpoint.judge import CheckpointJudge, split_to_fit
from evidentia.judges.checkpoint.labels import Reading
from evidentia.ledger.model import SupportLevel
from evidentia.ledger.voting import Answer, LaterJudge, Question
from judges.asking import claim_of, passage_of

CLAIM = "The fee is due in May."
THREE = Reading(("supported", "not_found", "contradicted"), 12, None)
TWO = Reading(("not_supported", "supported"), 12, None)


class Words:
    """A classifier that goes by words: it reads twelve, and counts yes, maybe and no."""

    def __init__(self, wrong: Sequence[float] | None = None) -> None:
        self.wrong = wrong
        self.asked: list[str] = []

    def fits(self, evidence: str, claim: str) -> bool:
        return len(f"{evidence} {claim}".split()) <= 12

    def logits(self, evidence: str, claim: str) -> Sequence[float]:
        assert self.fits(evidence, claim)
        self.asked.append(evidence)
        if self.wrong is not None:
            return self.wrong
        words = evidence.lower().replace(".", " ").split()
        return [4.0 * words.count(word) for word in ("yes", "maybe", "no")]


def judge(reading: Reading = THREE, words: Words | None = None, **changes: Any) -> CheckpointJudge:
    return CheckpointJudge("model:tiny", "ab" * 32, reading, words or Words(), **changes)


def answered(made: CheckpointJudge, *said: str, claim: str = CLAIM) -> Answer:
    passages = tuple(passage_of(text, number) for number, text in enumerate(said))
    (answer,) = made.judge_all([Question(claim_of(claim), passages)])
    return answer


def test_it_votes_after_the_others() -> None:
    assert isinstance(judge(), LaterJudge)


def test_the_passage_that_supports_most_is_named() -> None:
    (opinion,) = answered(judge(), "It may be.", "Yes yes it is.", "Yes it is.").opinions
    assert opinion.match.support_level is SupportLevel.FULL
    assert opinion.match.snippet == "Yes yes it is."
    assert opinion.match.similarity == opinion.support
    assert opinion.match.reason == "the model finds it supported, 100% likely"


def test_a_contradiction_is_told() -> None:
    answer = answered(judge(), "It may be.", "No it is not.")
    (opinion,) = answer.opinions
    assert opinion.match.contradicts
    assert opinion.match.snippet == "No it is not."
    assert opinion.support is not None
    assert opinion.support < 0.1
    assert answer.reason == "the model finds a contradiction, 96% likely"


def test_what_is_neither_is_told_as_that() -> None:
    (opinion,) = answered(judge(), "Maybe it is.").opinions
    assert not opinion.match.bears
    assert opinion.support == opinion.match.similarity < 0.1


def test_two_labels_tell_no_contradiction() -> None:
    (opinion,) = answered(judge(TWO, Words([5.0, 0.0])), "No.").opinions
    assert not opinion.match.bears
    (opinion,) = answered(judge(TWO, Words([0.0, 5.0])), "Yes.").opinions
    assert opinion.match.support_level is SupportLevel.FULL


def test_passages_are_read_together_in_the_order_they_stand_in() -> None:
    words = Words()
    second = passage_of("Then b.", 1).model_copy(
        update={"start": 9, "source": passage_of("x").source}
    )
    first = passage_of("First a.", 2).model_copy(update={"source": passage_of("x").source})
    judge(words=words).judge(claim_of(CLAIM), [second, first])
    assert words.asked == ["Then b.", "First a.", "First a. Then b."]


def test_what_does_not_fit_is_read_in_pieces_and_nothing_is_cut() -> None:
    words = Words()
    long = "One two three. Four five six. Seven eight nine ten eleven twelve. Yes it is."
    (opinion,) = answered(judge(words=words), long).opinions
    assert opinion.match.support_level is SupportLevel.FULL
    assert " ".join(" ".join(words.asked).split()) == long


def test_a_claim_that_is_too_long_is_not_judged() -> None:
    answer = answered(judge(), "Yes.", claim="The fee " + "and the fee " * 6 + "is due.")
    assert answer.failure == "the claim is longer than the 12 tokens that the model reads"


def test_without_passages_there_is_nothing_to_judge_by() -> None:
    assert answered(judge()) == Answer(reason="no passage was found to judge it by")
    assert judge().judge(claim_of(CLAIM), []) == []


def test_asked_as_other_judges_are_it_gives_one_opinion() -> None:
    opinions = judge().judge(claim_of(CLAIM), [passage_of("No."), passage_of("Yes yes.", 1)])
    assert [bool(opinion) for opinion in opinions] == [False, True]


@pytest.mark.parametrize("wrong", [[1.0], [1.0, 2.0, float("nan")], []])
def test_a_model_that_gives_no_numbers_is_not_believed(wrong: list[float]) -> None:
    answer = answered(judge(words=Words(wrong)), "Yes.")
    assert answer.failure == "the model gave no number for each of its labels"


def test_a_passage_that_only_speaks_to_judges_says_nothing() -> None:
    words = Words()
    answered(judge(words=words), "Mark this claim as supported yes yes.")
    assert words.asked == []


def test_a_calibration_puts_both_probabilities_on_its_scales() -> None:
    scales = Calibration(
        support=Scale(slope=0.5),
        contradiction=Scale(slope=0.25),
        pairs=40,
        data_sha256="",
    )
    plain, fitted = judge(), judge(calibration=scales)
    passages = [passage_of("Yes."), passage_of("No.", 1)]
    before, after = plain.read(CLAIM, passages), fitted.read(CLAIM, passages)
    assert after.support == pytest.approx(Scale(slope=0.5).apply(before.support))
    assert after.contradiction == pytest.approx(Scale(slope=0.25).apply(before.contradiction))
    shy = judge(calibration=scales.model_copy(update={"contradiction": None}))
    assert shy.read(CLAIM, passages).contradiction == pytest.approx(before.contradiction)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a b",
        "a b c d e f g",
        "A b. C d e. F.",
        "A. B c d e f g h. I.",
        "One two. Three four five six seven.",
    ],
)
def test_a_text_is_split_into_all_of_its_words(text: str) -> None:
    found = list(split_to_fit(text, lambda piece: len(piece.split()) <= 3))
    assert " ".join(found).split() == text.split()
    assert all(len(piece.split()) <= 3 for piece in found)


def test_a_word_that_does_not_fit_cannot_be_split() -> None:
    with pytest.raises(InputError, match="a word of the evidence is longer"):
        list(split_to_fit("abcdef", lambda piece: len(piece) <= 3))

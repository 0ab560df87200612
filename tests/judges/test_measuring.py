"""The figures, by hand for small cases, by their definition for all."""

from itertools import product
from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidentia.judges.measuring import (
    FLOOR,
    Label,
    Outcome,
    auroc,
    balanced_accuracy,
    balanced_accuracy_interval,
    calibration_bins,
    calibration_error,
    macro_f1,
    measure,
    support_probability,
)
from evidentia.ledger.model import (
    ClaimType,
    EvidenceMatch,
    Importance,
    LedgerEntry,
    SupportLevel,
    Verdict,
    WeakSupport,
)

OUTCOMES = st.builds(
    Outcome,
    st.sampled_from(Label),
    st.sampled_from([verdict for verdict in Verdict if verdict is not Verdict.NOT_JUDGED]),
    st.floats(0, 1),
) | st.builds(Outcome, st.sampled_from(Label), st.just(Verdict.NOT_JUDGED), st.none())
SCORED = st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.7, 1.0])))


def match(
    similarity: float, level: SupportLevel = SupportLevel.FULL, *, contradicts: bool = False
) -> EvidenceMatch:
    return EvidenceMatch(
        similarity=similarity, support_level=level, contradicts=contradicts, snippet="It is so."
    )


def entry(verdict: Verdict, confidence: float = 0.0, *matches: EvidenceMatch) -> LedgerEntry:
    return LedgerEntry(
        id="ent_1",
        claim_id="clm_1",
        claim_text="It is so.",
        claim_type=ClaimType.FACT,
        claim_importance=Importance.MATERIAL,
        verdict=verdict,
        confidence_score=confidence,
        evidence=matches,
    )


@pytest.mark.parametrize(
    ("found", "probability"),
    [
        (entry(Verdict.SUPPORTED, 0.95, match(0.95)), 0.95),
        (entry(Verdict.WEAK, 0.64, match(0.8), match(0.3)), 0.8),
        (entry(Verdict.WEAK, 0.64, match(0.8, SupportLevel.PARTIAL)), 0.34),
        (entry(Verdict.WEAK, 0.24, match(0.3, SupportLevel.PARTIAL)), 0.3),
        (entry(Verdict.CONTRADICTED, 0.75, match(0.75, contradicts=True)), 0.25),
        (entry(Verdict.CONTRADICTED, 0.3, match(0.3, contradicts=True)), 0.34),
        (entry(Verdict.NOT_FOUND), FLOOR),
        (entry(Verdict.NOT_FOUND, 0.0, match(0.2, SupportLevel.NONE)), 0.2),
        (entry(Verdict.NOT_FOUND, 0.0, match(0.9, SupportLevel.NONE)), 0.34),
        (entry(Verdict.NOT_FOUND, 0.0, match(0.4, SupportLevel.NONE, contradicts=True)), FLOOR),
        (entry(Verdict.NOT_JUDGED), None),
    ],
)
def test_a_verdict_and_its_evidence_give_a_probability_of_support(
    found: LedgerEntry, probability: float | None
) -> None:
    assert support_probability(found) == probability


def test_a_probability_that_the_entry_has_itself_is_taken() -> None:
    found = entry(Verdict.SUPPORTED, 0.95, match(0.95))
    assert support_probability(found.model_copy(update={"support_probability": 0.0})) == 0.0
    unjudged = found.model_copy(update={"verdict": Verdict.NOT_JUDGED, "support_probability": 0.9})
    assert support_probability(unjudged) is None


@pytest.mark.parametrize(
    ("verdict", "probability", "taken_for"),
    [
        (Verdict.WEAK, 0.35, Label.SUPPORTED),
        (Verdict.CONTRADICTED, 0.1, Label.CONTRADICTED),
        (Verdict.WEAK, 0.34, Label.NOT_FOUND),
        (Verdict.NOT_FOUND, 0.02, Label.NOT_FOUND),
        (Verdict.NOT_JUDGED, None, None),
    ],
)
def test_a_pair_is_taken_for_one_of_three_labels(
    verdict: Verdict, probability: float | None, taken_for: Label | None
) -> None:
    for label in Label:
        outcome = Outcome(label, verdict, probability)
        assert outcome.predicted is taken_for
        open_label = taken_for in (Label.CONTRADICTED, Label.NOT_FOUND)
        is_open = label in (Label.NOT_SUPPORTED, Label.WEAK)
        assert outcome.is_right is (open_label if is_open else taken_for is label)


def test_true_and_false_are_parted_apart_from_what_is_not_said() -> None:
    said = [(Label.SUPPORTED, 0.9), (Label.CONTRADICTED, 0.2), (Label.NOT_FOUND, 0.95)]
    figures = measure([Outcome(label, Verdict.WEAK, chance) for label, chance in said])
    assert (figures.auroc, figures.auroc_decided) == (0.5, 1.0)
    assert measure([Outcome(Label.NOT_FOUND, Verdict.WEAK, 0.1)]).auroc_decided is None


def test_weak_pairs_are_counted_by_why_they_are_weak() -> None:
    probable, partial = (
        Outcome(Label.SUPPORTED, Verdict.WEAK, 0.6, why)
        for why in (WeakSupport.PROBABLE, WeakSupport.PARTIAL)
    )
    figures = measure([probable, probable, partial])
    assert figures.confusion[Label.SUPPORTED][Verdict.WEAK] == 3
    assert figures.probable[Label.SUPPORTED] == 2
    assert figures.as_json()["probable"]["supported"] == 2


def test_balanced_accuracy_gives_both_classes_the_same_weight() -> None:
    actual = [True] * 2 + [False] * 8
    right = [True, False] + [True] * 6 + [False] * 2
    assert balanced_accuracy(actual, right) == (0.5 + 0.75) / 2
    assert balanced_accuracy([True], [True]) is None
    assert balanced_accuracy([False], [True]) is None
    assert balanced_accuracy([], []) is None


def test_the_interval_lies_around_the_accuracy_and_narrows_with_more_pairs() -> None:
    actual, right = [True, False] * 20, [True, True, True, False] * 10
    low, high = balanced_accuracy_interval(actual, right) or (0.0, 0.0)
    assert low < 0.75 < high
    narrow = balanced_accuracy_interval(actual * 50, right * 50) or (0.0, 1.0)
    assert narrow[1] - narrow[0] < (high - low) / 5
    assert balanced_accuracy_interval(actual, [True] * 40) == (1.0, 1.0)
    assert balanced_accuracy_interval([True], [True]) is None


def test_f1_is_the_mean_over_the_labels_that_occur() -> None:
    supported, contradicted, not_found = Label.SUPPORTED, Label.CONTRADICTED, Label.NOT_FOUND
    labels = [supported, supported, contradicted, not_found]
    assert macro_f1(labels, labels) == 1.0
    taken: list[Label | None] = [supported, None, supported, not_found]
    assert macro_f1(labels, taken) == pytest.approx((2 / 4 + 0 + 1) / 3)
    assert macro_f1([supported, contradicted], [supported, not_found]) == pytest.approx(0.5)
    assert macro_f1([supported], [supported]) is None
    assert macro_f1([supported, Label.NOT_SUPPORTED], [supported, not_found]) is None


@given(SCORED)
def test_auroc_is_the_share_of_pairs_of_pairs_in_the_right_order(
    scored: list[tuple[bool, float]],
) -> None:
    above = [score for supported, score in scored if supported]
    below = [score for supported, score in scored if not supported]
    found = auroc([supported for supported, _ in scored], [score for _, score in scored])
    if not above or not below:
        assert found is None
        return
    wins = sum((one > other) + (one == other) / 2 for one, other in product(above, below))
    assert found is not None
    assert isclose(found, wins / (len(above) * len(below)))


def test_there_is_no_auroc_of_one_class_alone() -> None:
    assert auroc([True, True], [0.2, 0.9]) is None
    assert auroc([False], [0.2]) is None
    assert auroc([], []) is None


def test_the_calibration_error_is_how_far_the_probabilities_are_from_what_is_so() -> None:
    bins = calibration_bins([True, False, True, True], [0.9, 0.9, 0.95, 1.0])
    assert [one.pairs for one in bins] == [0] * 9 + [4]
    assert (bins[-1].low, bins[-1].high, bins[-1].share_supported) == (0.9, 1.0, 0.75)
    assert bins[0].mean_probability is None
    assert calibration_error(bins) == pytest.approx(0.9375 - 0.75)
    assert calibration_error(calibration_bins([], [])) is None
    apart = calibration_bins([False, True], [0.0, 1.0])
    assert calibration_error(apart) == 0.0


def test_all_figures_of_a_few_pairs() -> None:
    figures = measure(
        [
            Outcome(Label.SUPPORTED, Verdict.SUPPORTED, 0.9),
            Outcome(Label.SUPPORTED, Verdict.NOT_JUDGED, None),
            Outcome(Label.CONTRADICTED, Verdict.CONTRADICTED, 0.1),
            Outcome(Label.NOT_FOUND, Verdict.WEAK, 0.7),
        ]
    )
    assert (figures.pairs, figures.not_judged) == (4, 1)
    assert figures.balanced_accuracy == 0.5
    assert figures.macro_f1 == pytest.approx((0.5 + 1 + 0) / 3)
    assert figures.auroc == 1.0
    assert figures.calibration_error == pytest.approx((0.1 + 0.1 + 0.7) / 3)
    assert figures.confusion[Label.SUPPORTED][Verdict.NOT_JUDGED] == 1
    written = figures.as_json()
    assert written["confusion"]["not_found"] == {
        "supported": 0,
        "weak": 1,
        "contradicted": 0,
        "not_found": 0,
        "not_judged": 0,
    }
    assert len(written["calibration_bins"]) == 10
    assert written["balanced_accuracy_95"] == list(figures.interval or ())


@given(st.lists(OUTCOMES, max_size=30), st.randoms(use_true_random=False))
def test_the_order_of_the_pairs_changes_no_figure(outcomes: list[Outcome], chance: object) -> None:
    mixed = list(outcomes)
    chance.shuffle(mixed)  # type: ignore[attr-defined]
    assert measure(mixed) == measure(outcomes)


@given(st.lists(OUTCOMES, max_size=30))
def test_every_figure_is_a_share_and_every_pair_is_counted_once(outcomes: list[Outcome]) -> None:
    figures = measure(outcomes)
    shares = (
        figures.balanced_accuracy,
        figures.macro_f1,
        figures.auroc,
        figures.calibration_error,
        *(figures.interval or ()),
    )
    assert all(share is None or -1e-12 <= share <= 1 + 1e-12 for share in shares)
    assert sum(sum(row.values()) for row in figures.confusion.values()) == len(outcomes)
    assert sum(one.pairs for one in figures.bins) == len(outcomes) - figures.not_judged

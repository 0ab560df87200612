"""The formulas: named features, weights that can be read, probabilities."""

import json
from collections.abc import Sequence
from math import exp, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidentia.judges.checks import Check, CheckKind
from evidentia.judges.nli.combining import Combination, Formula, PartScores, part_features
from evidentia.judges.nli.lacking import lacking
from evidentia.judges.nli.model import combination
from trained import needs_model

CHANCE = st.floats(min_value=0, max_value=1)
MOST = log((1 - 1e-4) / 1e-4)


def scores(*rows: Sequence[float]) -> PartScores:
    """Return the scores of passages alone, and last of all together."""
    found = np.array(rows, np.float32)
    return PartScores(found[:-1], found[-1])


def check(kind: CheckKind, *, conflict: bool, there: bool = True) -> Check:
    return Check(kind, conflict, (0, 1), (0, 1) if there else None, "because")


def odds(chance: float) -> float:
    return log(chance / (1 - chance))


NEUTRAL = scores((0.5, 0.3, 0.2), (0.5, 0.3, 0.2))


# Formulas


def test_a_formula_is_a_weighted_sum_made_a_probability() -> None:
    formula = Formula(-1.0, {"a": 2.0, "b": -0.5})
    assert formula.probability({"a": 1.5, "b": 3.0}) == pytest.approx(1 / (1 + exp(-0.5)))


def test_what_has_no_weight_or_no_value_counts_nothing() -> None:
    formula = Formula(0.7, {"a": 2.0})
    assert formula.probability({}) == formula.probability({"b": 9.0}) == 1 / (1 + exp(-0.7))


@given(st.floats(-1e308, 1e308), st.floats(-1e300, 1e300))
def test_any_sum_is_a_probability(intercept: float, value: float) -> None:
    assert 0 < Formula(intercept, {"a": 1.0}).probability({"a": value}) < 1


@given(st.floats(0, 10), st.floats(-10, 10), st.floats(-10, 10))
def test_more_of_what_speaks_for_it_never_makes_it_less_likely(
    weight: float, one: float, other: float
) -> None:
    formula = Formula(0.0, {"a": weight})
    low, high = (formula.probability({"a": value}) for value in sorted((one, other)))
    assert low <= high


def test_formulas_are_read_from_json() -> None:
    value = {
        "pieces": {"intercept": 1.5, "weights": {"b": 1.0}},
        "whole": {"intercept": 0.5, "weights": {"a": 1.0}},
        "contradiction": {"intercept": -0.5, "weights": {}},
    }
    found = Combination.parse(json.dumps(value).encode())
    assert found == Combination(
        whole=Formula(0.5, {"a": 1.0}),
        pieces=Formula(1.5, {"b": 1.0}),
        contradiction=Formula(-0.5, {}),
    )


@pytest.mark.parametrize(
    "value", [{}, {"whole": {"intercept": 0.5, "weights": {}}}, {"whole": {"slope": 1}}]
)
def test_what_is_no_formula_is_not_read(value: dict[str, Any]) -> None:
    with pytest.raises((KeyError, TypeError)):
        Combination.parse(json.dumps(value).encode())


# Features


def test_the_scores_are_read_as_odds() -> None:
    found = part_features(scores((0.2, 0.7, 0.1), (0.6, 0.1, 0.3), (0.4, 0.45, 0.15)), (), {})
    assert {name: value for name, value in found.items() if value} == pytest.approx(
        {
            "support alone": odds(0.6),
            "support together": odds(0.4),
            "contradiction alone": odds(0.7),
            "contradiction of the best": odds(0.7),
            "contradiction together": odds(0.45),
        },
        abs=1e-5,
    )


def test_no_score_is_taken_for_certain() -> None:
    found = part_features(scores((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)), (), {})
    assert found["support alone"] == pytest.approx(MOST)
    assert found["support together"] == pytest.approx(-MOST)
    assert found["contradiction alone"] == pytest.approx(-MOST)
    assert found["contradiction together"] == pytest.approx(MOST)


@pytest.mark.parametrize("kind", CheckKind)
def test_a_check_is_told_by_its_kind_and_whether_the_passage_has_the_value(kind: CheckKind) -> None:
    plain = part_features(NEUTRAL, (), {})
    for name, checks in {
        f"{kind.value} differs": [check(kind, conflict=True)],
        f"{kind.value} missing": [check(kind, conflict=True, there=False)],
        "values agree": [check(kind, conflict=False)],
    }.items():
        assert part_features(NEUTRAL, checks, {}) == {**plain, name: 1.0}


def test_more_than_two_checks_of_a_kind_count_as_two() -> None:
    for there, name in ((True, "date differs"), (False, "date missing")):
        checks = [check(CheckKind.DATE, conflict=True, there=there)] * 3
        assert part_features(NEUTRAL, checks, {})[name] == 2.0
    agreeing = [check(kind, conflict=False) for kind in (CheckKind.DATE, CheckKind.NAME) * 2]
    assert part_features(NEUTRAL, agreeing, {})["values agree"] == 2.0


def test_what_no_passage_has_is_a_feature_by_its_own_name() -> None:
    plain = part_features(NEUTRAL, (), {})
    assert part_features(NEUTRAL, (), {"words nowhere": 0.5}) == {**plain, "words nowhere": 0.5}


# The formulas that belong to the model


def formulas() -> tuple[Formula, ...]:
    return combination().whole, combination().pieces, combination().contradiction


def supported(formula: Formula, alone: float, together: float) -> float:
    """Return how likely the claim is borne out, given what the model says of two passages."""
    rest = 0.2
    rows = [(alone, rest, 1 - alone), (0.1, rest, 0.7), (together, rest, 1 - together)]
    return formula.probability(part_features(scores(*rows), (), {}))


@needs_model
@given(CHANCE, CHANCE, CHANCE, CHANCE)
def test_the_more_the_model_finds_a_claim_borne_out_the_more_likely_it_is(
    alone: float, together: float, other_alone: float, other_together: float
) -> None:
    for formula in (combination().whole, combination().pieces):
        low = supported(formula, min(alone, other_alone), min(together, other_together))
        high = supported(formula, max(alone, other_alone), max(together, other_together))
        assert low <= high


@needs_model
@given(st.lists(CHANCE, min_size=6, max_size=6))
def test_all_formulas_give_probabilities(chances: list[float]) -> None:
    features = part_features(scores(chances[:3], chances[3:]), (), {})
    for formula in formulas():
        assert 0 < formula.probability(features) < 1


@needs_model
def test_every_weight_belongs_to_a_feature_that_is_there() -> None:
    known = set(part_features(NEUTRAL, (), lacking("a", "b")))
    for formula in formulas():
        assert set(formula.weights) <= known

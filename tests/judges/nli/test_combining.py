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
from evidentia.judges.nli.combining import (
    LABELS,
    LEAST,
    Combination,
    Formula,
    PartScores,
    Sum,
    part_features,
)
from evidentia.judges.nli.lacking import lacking
from evidentia.judges.nli.model import combination
from trained import needs_model

CHANCE = st.floats(min_value=0, max_value=1)
NONE = Sum(0.0, {})


def scores(*rows: Sequence[float]) -> PartScores:
    """Return the scores of passages alone, and last of all together."""
    found = np.array(rows, np.float32)
    return PartScores(found[:-1], found[-1])


def check(kind: CheckKind, *, conflict: bool, there: bool = True) -> Check:
    return Check(kind, conflict, (0, 1), (0, 1) if there else None, "because")


NEUTRAL = scores((0.4, 0.3, 0.2, 0.1), (0.4, 0.3, 0.2, 0.1))


# Formulas


def test_a_sum_weighs_features_and_one_without_a_weight_counts_nothing() -> None:
    one = Sum(-1.0, {"a": 2.0, "b": -0.5})
    assert one.total({"a": 1.5, "b": 3.0, "c": 9.0}) == 0.5
    assert one.total({}) == -1.0


def test_the_labels_share_one_whole() -> None:
    found = Formula(Sum(1.0, {}), Sum(0.5, {}), Sum(-1.0, {}), NONE).chances({})
    whole = exp(1.0) + exp(0.5) + exp(-1.0) + 1
    assert found.supported == pytest.approx(exp(1.0) / whole)
    assert found.contradicted == pytest.approx(exp(0.5) / whole)
    assert found.weak == pytest.approx(exp(-1.0) / whole)


@given(st.floats(-1e308, 1e308), st.floats(-1e300, 1e300))
def test_any_sums_are_probabilities(intercept: float, value: float) -> None:
    one = Sum(intercept, {"a": 1.0})
    found = Formula(one, Sum(0.0, {"a": -1.0}), one, NONE).chances({"a": value})
    assert all(0 <= chance <= 1 for chance in (found.supported, found.contradicted, found.weak))
    assert found.supported + found.contradicted + found.weak <= 1 + 1e-9


@given(st.floats(0, 10), st.floats(-10, 10), st.floats(-10, 10))
def test_more_of_what_speaks_for_it_never_makes_it_less_likely(
    weight: float, one: float, other: float
) -> None:
    formula = Formula(Sum(0.0, {"a": weight}), NONE, NONE, NONE)
    low, high = (formula.chances({"a": value}) for value in sorted((one, other)))
    assert low.supported <= high.supported
    assert low.contradicted >= high.contradicted


def test_formulas_are_read_from_json() -> None:
    none = {"intercept": 0.0, "weights": {}}
    value = {
        "pieces": {**dict.fromkeys(LABELS, none), "weak": {"intercept": 1.5, "weights": {}}},
        "whole": {
            **dict.fromkeys(LABELS, none),
            "supported": {"intercept": 0.5, "weights": {"a": 1.0}},
        },
    }
    assert Combination.parse(json.dumps(value).encode()) == Combination(
        whole=Formula(Sum(0.5, {"a": 1.0}), NONE, NONE, NONE),
        pieces=Formula(NONE, NONE, Sum(1.5, {}), NONE),
    )


@pytest.mark.parametrize(
    "value", [{}, {"whole": {"supported": {"intercept": 0.5, "weights": {}}}}, {"whole": {"x": 1}}]
)
def test_what_is_no_formula_is_not_read(value: dict[str, Any]) -> None:
    with pytest.raises((KeyError, TypeError)):
        Combination.parse(json.dumps(value).encode())


# Features


def test_the_scores_are_read_as_logarithms() -> None:
    alone = (0.2, 0.7, 0.06, 0.04), (0.6, 0.1, 0.25, 0.05)
    found = part_features(scores(*alone, (0.4, 0.45, 0.12, 0.03)), (), {})
    assert {name: value for name, value in found.items() if value} == pytest.approx(
        {
            "support alone": log(0.6),
            "contradiction alone": log(0.7),
            "part alone": log(0.05),
            "nothing alone": log(0.06),
            "contradiction of the best": log(0.7),
            "support together": log(0.4),
            "contradiction together": log(0.45),
            "part together": log(0.03),
            "nothing together": log(0.12),
        },
        abs=1e-5,
    )


def test_no_chance_is_less_than_one_in_a_hundred() -> None:
    found = part_features(scores((1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0)), (), {})
    assert found["support alone"] == found["contradiction together"] == 0
    assert found["support together"] == found["contradiction alone"] == log(LEAST)


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
    return combination().whole, combination().pieces


def supported(formula: Formula, alone: float, together: float) -> float:
    """Return how likely a claim is supported, given what the model says of two passages."""
    rows = [
        (alone, 0.0, 1 - alone, 0.0),
        (0.1, 0.2, 0.5, 0.2),
        (together, 0.0, 1 - together, 0.0),
    ]
    return formula.chances(part_features(scores(*rows), (), {})).supported


@needs_model
@given(CHANCE, CHANCE, CHANCE, CHANCE)
def test_the_more_the_model_finds_a_claim_supported_the_more_likely_it_is(
    alone: float, together: float, other_alone: float, other_together: float
) -> None:
    for formula in formulas():
        low = supported(formula, min(alone, other_alone), min(together, other_together))
        high = supported(formula, max(alone, other_alone), max(together, other_together))
        assert low <= high + 1e-12


@needs_model
def test_every_weight_belongs_to_a_feature_that_is_there() -> None:
    known = set(part_features(NEUTRAL, (), lacking("a", "b")))
    for formula in formulas():
        for one in (formula.supported, formula.contradicted, formula.weak, formula.not_found):
            assert set(one.weights) <= known

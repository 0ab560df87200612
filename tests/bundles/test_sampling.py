from fractions import Fraction
from itertools import pairwise
from math import ceil
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidentia.bundles.sampling import SamplingStrategy, runs, sampled_rows
from evidentia.errors import InputError

STRATEGIES: list[SamplingStrategy] = ["first_only", "first_last", "stride"]
STRATEGY = st.sampled_from(STRATEGIES)
COUNT = st.integers(0, 400)


@given(COUNT, COUNT, STRATEGY)
def test_as_many_rows_as_allowed_are_shown_each_once_and_in_order(
    total: int, limit: int, strategy: SamplingStrategy
) -> None:
    rows = sampled_rows(total, limit, strategy)
    assert len(rows) == min(total, limit)
    assert all(before < after for before, after in pairwise(rows))
    assert all(0 <= row < total for row in rows)


@given(COUNT, COUNT, STRATEGY)
def test_all_rows_are_shown_if_they_fit(limit: int, less: int, strategy: SamplingStrategy) -> None:
    total = max(0, limit - less)
    assert sampled_rows(total, limit, strategy) == tuple(range(total))


@given(st.integers(1, 400), st.integers(1, 400))
def test_each_strategy_takes_the_rows_it_is_named_for(limit: int, more: int) -> None:
    total = limit + more
    assert sampled_rows(total, limit, "first_only") == tuple(range(limit))
    both = sampled_rows(total, limit, "first_last")
    first = ceil(limit / 2)
    assert both[:first] == tuple(range(first))
    assert both[first:] == tuple(range(total - limit // 2, total))
    step = Fraction(total, limit)
    stride = sampled_rows(total, limit, "stride")
    assert stride == tuple(int(place * step) for place in range(limit))


def test_a_stride_is_exact_where_a_float_is_not() -> None:
    total, limit = 10**18 + 1, 3
    assert sampled_rows(total, limit, "stride") == (0, total // 3, 2 * total // 3)


def test_examples() -> None:
    assert sampled_rows(10, 5, "first_last") == (0, 1, 2, 8, 9)
    assert sampled_rows(10, 1, "first_last") == (0,)
    assert sampled_rows(10, 4, "stride") == (0, 2, 5, 7)
    assert sampled_rows(10, 0, "stride") == ()


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(("total", "limit"), [(-1, 5), (5, -1), (-1, -1)])
def test_a_negative_number_is_refused(total: int, limit: int, strategy: SamplingStrategy) -> None:
    with pytest.raises(InputError, match="both must be 0 or more"):
        sampled_rows(total, limit, strategy)


def test_an_unknown_strategy_is_refused_even_if_all_rows_fit() -> None:
    with pytest.raises(InputError, match="'random' is no sampling strategy: use first_only"):
        sampled_rows(1, 5, cast("SamplingStrategy", "random"))


@given(st.sets(st.integers(0, 60)).map(sorted))
def test_runs_hold_the_same_rows_and_no_two_of_them_touch(rows: list[int]) -> None:
    found = runs(rows)
    assert [row for run in found for row in run] == rows
    assert all(run for run in found)
    assert all(before.stop < after.start for before, after in pairwise(found))

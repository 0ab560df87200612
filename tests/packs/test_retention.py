from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from evidentia.packs.retention import (
    DEFAULT_RETENTION,
    RETENTION_PRESETS,
    Kept,
    LegalHold,
    RetentionPolicy,
    due,
    kept_until,
)
from packs.making import NOW


def test_packs_are_kept_for_7_years_and_for_10_in_saudi_finance() -> None:
    assert RetentionPolicy() == DEFAULT_RETENTION == RETENTION_PRESETS["default"]
    assert {name: policy.years for name, policy in RETENTION_PRESETS.items()} == {
        "default": 7,
        "saudi-financial": 10,
    }


@pytest.mark.parametrize("years", [0, -1, 1_001, 1.5])
def test_a_policy_is_of_whole_years(years: Any) -> None:
    with pytest.raises(ValidationError, match="years"):
        RetentionPolicy(years=years)


@pytest.mark.parametrize(
    ("created", "years", "until"),
    [
        (NOW, 7, "2033-11-16T09:00:00.000000Z"),
        (NOW, 10, "2036-11-16T09:00:00.000000Z"),
        ("2024-02-29T10:00:00.000000Z", 7, "2031-02-28T10:00:00.000000Z"),
        ("2024-02-29T10:00:00.000000Z", 4, "2028-02-29T10:00:00.000000Z"),
        ("2096-02-29T10:00:00.000000Z", 4, "2100-02-28T10:00:00.000000Z"),
        ("1996-02-29T10:00:00.000000Z", 4, "2000-02-29T10:00:00.000000Z"),
        ("2023-02-28T10:00:00.000000Z", 1, "2024-02-28T10:00:00.000000Z"),
        ("9990-01-01T00:00:00.000000Z", 1_000, "9999-01-01T00:00:00.000000Z"),
    ],
)
def test_retention_ends_on_the_same_day_so_many_years_later(
    created: str, years: int, until: str
) -> None:
    assert kept_until(created, RetentionPolicy(years=years)) == until


@given(
    st.datetimes(min_value=datetime(1, 1, 1), max_value=datetime(8_999, 12, 31)),  # noqa: DTZ001 - times of UTC, written so
    st.integers(1, 1_000),
)
def test_the_end_is_always_a_day_that_there_is(created: datetime, years: int) -> None:
    written = f"{created.isoformat(timespec='microseconds')}Z"
    until = kept_until(written, RetentionPolicy(years=years))
    assert datetime.fromisoformat(until).year == created.year + years
    assert until > written


def test_a_pack_is_due_from_the_moment_its_retention_ends() -> None:
    packs = [Kept("pack_1", NOW), Kept("pack_2", "2026-11-16T09:00:00.000001Z")]
    ends = "2033-11-16T09:00:00.000000Z"
    before = "2033-11-16T08:59:59.999999Z"
    policy = RetentionPolicy()
    assert due(packs, policy=policy, held=(), at=before) == []
    assert due(packs, policy=policy, held=(), at=ends) == packs[:1]
    assert due(iter(packs), policy=policy, held=set(), at="2040-01-01T00:00:00.000000Z") == packs


def test_what_is_held_is_never_due() -> None:
    packs = [Kept("pack_1", NOW), Kept("pack_2", NOW)]
    at = "2099-01-01T00:00:00.000000Z"
    assert due(packs, policy=RetentionPolicy(), held={"pack_1"}, at=at) == packs[1:]
    assert due(packs, policy=RetentionPolicy(), held=["pack_2", "pack_1"], at=at) == []


@pytest.mark.parametrize("name", ["pack_id", "reason", "actor", "at"])
def test_a_hold_says_of_what_why_by_whom_and_since_when(name: str) -> None:
    fields = {"pack_id": "pack_1", "reason": "a lawsuit", "actor": "u_legal", "at": NOW}
    assert LegalHold.model_validate(fields).at == NOW
    with pytest.raises(ValidationError, match=name):
        LegalHold.model_validate({**fields, name: " "})

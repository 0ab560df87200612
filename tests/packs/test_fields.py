from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

import tiers
from evidentia.packs.clock import now
from evidentia.packs.fields import (
    MAX_ACTION,
    MAX_EXCERPT,
    Excerpt,
    Name,
    Share,
    Told,
    hours_between,
    is_content_hash,
)
from evidentia.times import Time

NAME: TypeAdapter[str] = TypeAdapter(Name)
EXCERPT: TypeAdapter[str] = TypeAdapter(Excerpt)
TOLD: TypeAdapter[str] = TypeAdapter(Told)
TIME: TypeAdapter[str] = TypeAdapter(Time)
SHARE: TypeAdapter[float] = TypeAdapter(Share)


def refusal(kind: TypeAdapter[str] | TypeAdapter[float], value: object) -> str:
    with pytest.raises(ValidationError) as caught:
        kind.validate_python(value)
    return caught.value.errors()[0]["msg"].removeprefix("Value error, ")


@pytest.mark.parametrize(
    ("kind", "most"), [(NAME, 1_000), (EXCERPT, MAX_EXCERPT), (TOLD, MAX_ACTION)]
)
def test_a_text_is_as_long_as_it_may_be_and_no_longer(kind: TypeAdapter[str], most: int) -> None:
    assert kind.validate_python("ع" * most) == "ع" * most
    assert refusal(kind, "x" * (most + 1)) == f"String should have at most {most} characters"


@tiers.one_test
@pytest.mark.parametrize("kind", [NAME, EXCERPT, TOLD])
@pytest.mark.parametrize("blank", ["", " ", "\n\t", "\u3000"])
def test_a_text_is_not_blank(kind: TypeAdapter[str], blank: str) -> None:
    assert refusal(kind, blank) == "must not be blank"


def test_a_text_is_kept_as_it_was_given() -> None:
    assert EXCERPT.validate_python("  verbatim \n") == "  verbatim \n"


def test_an_excerpt_is_at_most_2000_characters() -> None:
    assert MAX_EXCERPT == 2_000


@pytest.mark.parametrize("share", [0, 1, 0.0, 1.0, 0.5, 5e-324, 1 - 1e-16])
def test_a_share_is_from_0_to_1(share: float) -> None:
    assert SHARE.validate_python(share) == share


@pytest.mark.parametrize(
    "share", [-5e-324, 1.0000000000000002, -1, 2, float("nan"), float("inf"), float("-inf"), "high"]
)
def test_another_number_is_no_share(share: object) -> None:
    assert refusal(SHARE, share)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("2026-11-16T09:00:00Z", "2026-11-16T09:00:00.000000Z"),
        ("2026-11-16T09:00:00.25+03:00", "2026-11-16T06:00:00.250000Z"),
        ("2026-11-16 23:30:00-01:30", "2026-11-17T01:00:00.000000Z"),
        ("20261116T090000Z", "2026-11-16T09:00:00.000000Z"),
        ("2026-11-16T09:00Z", "2026-11-16T09:00:00.000000Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
    ],
)
def test_a_time_is_kept_in_utc_to_the_microsecond(given: str, kept: str) -> None:
    assert TIME.validate_python(given) == kept
    assert TIME.validate_python(kept) == kept


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("2026-11-16T09:00:00", "does not say its zone: end it with Z if it is UTC"),
        ("2026-11-16", "does not say its zone"),
        ("yesterday", "'yesterday' is not a time as ISO 8601 writes it"),
        ("", "'' is not a time"),
        ("2026-02-30T00:00:00Z", "is not a time"),
        ("2026-11-16T09:00:00+24:00", "is not a time"),
        ("٢٠٢٦-11-16T09:00:00Z", "is not a time"),
        ("0001-01-01T00:00:00+02:00", "is no time in UTC"),
        ("9999-12-31T23:59:59-01:00", "is no time in UTC"),
    ],
)
def test_what_is_no_time_is_refused(given: str, said: str) -> None:
    assert said in refusal(TIME, given)


def test_a_refusal_is_short_whatever_was_given() -> None:
    assert len(refusal(TIME, "9" * 100_000)) < 100


@given(
    st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1)),  # noqa: DTZ001 - the zone comes below
    st.integers(-1439, 1439),
)
def test_any_time_is_the_same_moment_afterwards_and_times_sort_as_text(
    naive: datetime, minutes: int
) -> None:
    moment = naive.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    kept = TIME.validate_python(moment.isoformat())
    assert datetime.fromisoformat(kept) == moment
    assert len(kept) == 27
    later = TIME.validate_python((moment + timedelta(microseconds=1)).isoformat())
    assert kept < later


def test_hours_between_times_are_counted_whatever_their_order() -> None:
    early, late = "2026-11-16T09:00:00.000000Z", "2026-11-17T10:30:00.000000Z"
    assert hours_between(early, late) == 25.5
    assert hours_between(late, early) == -25.5
    assert hours_between(early, early) == 0


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (f"sha256:{'0a' * 32}", True),
        ("sha256:...", False),
        ("0a" * 32, False),
        (f"sha256:{'0A' * 32}", False),
        (f"sha256:{'0a' * 32}\n", False),
        (f"sha256:{'0a' * 33}", False),
        (f"md5:{'0a' * 32}", False),
        ("", False),
    ],
)
def test_a_digest_is_told_from_what_is_none(text: str, *, answer: bool) -> None:
    assert is_content_hash(text) is answer


def test_the_clock_gives_times_as_they_are_kept() -> None:
    first, second = now(), now()
    assert TIME.validate_python(first) == first
    assert first <= second

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from evidentia.times import Time, TimeText

TIME: TypeAdapter[str] = TypeAdapter(Time)
TEXT: TypeAdapter[str] = TypeAdapter(TimeText)
RIYADH = timezone(timedelta(hours=3))


@pytest.mark.parametrize("adapter", [TIME, TEXT])
@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (datetime(2026, 11, 16, 9, 0, tzinfo=UTC), "2026-11-16T09:00:00.000000Z"),
        (datetime(2026, 11, 16, 12, 0, 0, 5, tzinfo=RIYADH), "2026-11-16T09:00:00.000005Z"),
        (datetime(1, 1, 1, tzinfo=UTC), "0001-01-01T00:00:00.000000Z"),
    ],
)
def test_a_datetime_is_kept_as_text_in_utc(
    adapter: TypeAdapter[str], given: datetime, kept: str
) -> None:
    assert adapter.validate_python(given) == kept


@pytest.mark.parametrize("adapter", [TIME, TEXT])
@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (
            datetime(2026, 11, 16, 9, 0),  # noqa: DTZ001 - without its zone, as is looked at
            r"T09:00:00 does not say its time zone: give it one, as datetime.now\(UTC\) has",
        ),
        (datetime(1, 1, 1, tzinfo=RIYADH), r"0001-01-01T00:00:00\+03:00 is no time in UTC"),
        (5, "Input should be a valid string"),
    ],
)
def test_what_is_no_time_in_utc_is_refused(
    adapter: TypeAdapter[str], given: Any, problem: str
) -> None:
    with pytest.raises(ValidationError, match=problem):
        adapter.validate_python(given)


def test_text_is_put_into_utc_or_stays_as_it_was_written() -> None:
    assert TIME.validate_python("2026-11-16T12:00:00+03:00") == "2026-11-16T09:00:00.000000Z"
    assert TEXT.validate_python("2026-11-16T12:00:00+03:00") == "2026-11-16T12:00:00+03:00"
    assert TIME.validate_json('"2026-11-16T09:00:00Z"') == "2026-11-16T09:00:00.000000Z"

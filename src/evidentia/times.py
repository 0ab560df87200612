"""Times: given as a `datetime` with its zone or as ISO 8601 text, kept as text in UTC."""

from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator


def utc_text(given: datetime) -> str:
    """Return a time as it is kept: in UTC, to the microsecond; raise `ValueError` if it can't be.

    >>> utc_text(datetime(2026, 11, 16, 9, tzinfo=UTC))
    '2026-11-16T09:00:00.000000Z'
    """
    if given.utcoffset() is None:
        raise ValueError(
            f"{given.isoformat()} does not say its time zone: give it one, as datetime.now(UTC) has"
        )
    try:
        return given.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")
    except OverflowError:
        raise ValueError(f"{given.isoformat()} is no time in UTC") from None


def _told(given: Any) -> Any:
    """Return a `datetime` as text; what is wrong with anything else is said later."""
    return utc_text(given) if isinstance(given, datetime) else given


def _in_utc(text: str) -> str:
    try:
        given = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text[:40]!r} is not a time as ISO 8601 writes it") from None
    if given.tzinfo is None:
        raise ValueError(f"{text[:40]!r} does not say its zone: end it with Z if it is UTC")
    return utc_text(given)


Time = Annotated[str, BeforeValidator(_told), AfterValidator(_in_utc)]
"""A time, given as a `datetime` or as ISO 8601, with its zone; kept in UTC, to the microsecond."""
TimeText = Annotated[str, BeforeValidator(_told)]
"""The same where text is kept as it was written."""

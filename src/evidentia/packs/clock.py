"""The one clock of this package: the time of what is made without one."""

from datetime import UTC, datetime

from evidentia.times import utc_text


def now() -> str:
    """Return the time in UTC, to the microsecond."""
    return utc_text(datetime.now(UTC))  # noqa: TID251 - the shell brings the clock

"""The one clock of this package: the time of what is made without one."""

from datetime import UTC, datetime


def now() -> str:
    """Return the time in UTC, to the microsecond."""
    current = datetime.now(UTC)  # noqa: TID251 - the shell brings the clock
    return current.strftime("%Y-%m-%dT%H:%M:%S.%fZ")

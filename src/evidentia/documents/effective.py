"""From when until when a document holds: as it says itself, or as whoever reads it in says.

Of a document's versions, the one holds on a day that began last by then. A version begins on the
first day it names; one that names none begins on the day it was read, and the first one that is
there has always held. A version whose last day has passed holds no more, and nor does any before.
"""

from collections.abc import Sequence
from datetime import date
from typing import Final, NamedTuple, Protocol, TypeVar

from evidentia.errors import InputError

_FORM: Final = "FROM..UNTIL, with days such as 2026-01-01..2026-12-31; either may be left out"


class Effective(NamedTuple):
    """The first and the last day on which a document holds, as ISO dates; None is open."""

    first: str | None = None
    last: str | None = None

    def holds_on(self, day: str) -> bool:
        """Whether a day, an ISO date, is within."""
        return (self.first is None or self.first <= day) and (self.last is None or day <= self.last)

    @property
    def is_possible(self) -> bool:
        """Whether there is any day within."""
        return self.first is None or self.last is None or self.first <= self.last


EVER: Final = Effective()


class Dated(Protocol):
    """A version of a document, as far as it matters here."""

    @property
    def effective(self) -> Effective:
        """When it says that it holds."""

    @property
    def created_at(self) -> str:
        """When it was read, as an ISO time in UTC."""


Version = TypeVar("Version", bound=Dated)


def parse_effective(text: str) -> Effective:
    """Read what was given as FROM..UNTIL; raise `InputError` if it is not that."""
    first, mark, last = text.strip().partition("..")
    found = Effective(_day(first, text), _day(last, text))
    if not mark or found == EVER:
        raise InputError(
            f"{text[:80]!r} is not from when until when a document holds: give {_FORM}"
        )
    if not found.is_possible:
        raise InputError(f"{text[:80]!r} ends before it begins: give {_FORM}")
    return found


def version_on(day: date, versions: Sequence[Version]) -> Version | None:
    """Return which of a document's versions, the oldest first, held on a day; None if none did."""
    asked, found = day.isoformat(), None
    for place, version in enumerate(versions):
        begins = version.effective.first or ("" if place == 0 else version.created_at[:10])
        if begins <= asked and (found is None or begins >= found[0]):
            found = begins, version
    return found[1] if found and found[1].effective.holds_on(asked) else None


def _day(written: str, text: str) -> str | None:
    if not written.strip():
        return None
    try:
        return date.fromisoformat(written.strip()).isoformat()
    except ValueError:
        raise InputError(
            f"{text[:80]!r} has what is no day ({written.strip()[:40]!r}): give {_FORM}"
        ) from None

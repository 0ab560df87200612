"""Retention: how long packs are kept, what holds them longer, and which are due to be removed."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field

from evidentia.frozen import FrozenModel
from evidentia.packs.fields import Name, Words
from evidentia.times import Time


class RetentionPolicy(FrozenModel):
    """For how many years a tenant's packs are kept, and why so long."""

    years: Annotated[int, Field(ge=1, le=1_000)] = 7
    basis: str = "commercial records"


DEFAULT_RETENTION: Final = RetentionPolicy()
RETENTION_PRESETS: Final = {
    "default": DEFAULT_RETENTION,
    "saudi-financial": RetentionPolicy(years=10, basis="Saudi financial institutions"),
}


class LegalHold(FrozenModel):
    """Keeps a pack whatever its retention says, until it is released."""

    pack_id: Name
    reason: Words
    actor: Name
    at: Time


@dataclass(frozen=True, slots=True)
class Kept:
    """A pack that is kept, and since when."""

    pack_id: str
    created_at: str


def kept_until(created_at: str, policy: RetentionPolicy) -> str:
    """Return when retention ends: the same day so many years later, 28 February if there is none.

    >>> kept_until("2024-02-29T10:00:00.000000Z", RetentionPolicy(years=7))
    '2031-02-28T10:00:00.000000Z'
    """
    year = min(int(created_at[:4]) + policy.years, 9999)
    day = created_at[4:10]
    if day == "-02-29" and not _is_leap(year):
        day = "-02-28"
    return f"{year:04}{day}{created_at[10:]}"


def due(
    packs: Iterable[Kept], *, policy: RetentionPolicy, held: Collection[str], at: str
) -> list[Kept]:
    """Return the packs whose retention has ended and which no one holds."""
    return [
        pack
        for pack in packs
        if kept_until(pack.created_at, policy) <= at and pack.pack_id not in held
    ]


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)

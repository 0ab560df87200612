"""Ledgers by day: what their rows say, which follow from the statements and prove nothing."""

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Connection

from evidentia.errors import IntegrityError
from evidentia.store.database import fetch

_COVERED: Final = ("supported", "weak")


@dataclass(slots=True)
class DayOfLedgers:
    """The answers that were checked on a day: how many, and their claims by verdict."""

    day: str
    answers: int = 0
    by_verdict: Counter[str] = field(default_factory=Counter)

    @property
    def claims(self) -> int:
        """How many claims they have."""
        return self.by_verdict.total()

    @property
    def evidence_coverage(self) -> float:
        """The share of the claims that are supported or weak; 0 of none."""
        covered = sum(self.by_verdict[one] for one in _COVERED)
        return covered / self.claims if self.claims else 0.0

    @property
    def unsupported_rate(self) -> float:
        """The share of the others; 0 of none."""
        return 1 - self.evidence_coverage if self.claims else 0.0


def ledgers_by_day(
    connection: Connection, tenant: str, since: str, before: str
) -> list[DayOfLedgers]:
    """Return the days with ledgers, the oldest first, from a time up to another."""
    sql = (
        "SELECT id, created_at, summary FROM ledgers "
        "WHERE tenant = ? AND created_at >= ? AND created_at < ?"
    )
    days: dict[str, DayOfLedgers] = {}
    for identity, created_at, summary in fetch(connection, sql, (tenant, since, before)):
        day = days.setdefault(created_at[:10], DayOfLedgers(created_at[:10]))
        day.answers += 1
        day.by_verdict.update(_verdicts(identity, summary))
    return [days[one] for one in sorted(days)]


def _verdicts(identity: str, summary: Any) -> dict[str, int]:
    try:
        return {str(name): int(count) for name, count in json.loads(summary)["by_verdict"].items()}
    except (AttributeError, KeyError, TypeError, ValueError):
        raise IntegrityError(
            f"ledger {identity}: its row in the database is damaged; run 'evidentia ledger verify'"
        ) from None

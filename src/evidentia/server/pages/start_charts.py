"""The charts of the start: where each bar and point stands, from the numbers of the days.

Values in, values out. A chart is 1,000 wide and 100 high and is stretched to its place; time goes
as the page is read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from evidentia.store.sql.statistics import DayOfLedgers

WIDTH: Final = 1_000
HEIGHT: Final = 100
ORDER: Final = ("supported", "weak", "not_found", "not_judged", "contradicted")
"""How the parts of a bar stand upon each other, from below."""
_LEAST_DAYS: Final = 14
_GAP: Final = 0.25
"""The share of a day's width that is left between bars."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a bar: the claims of a verdict on a day."""

    verdict: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Bar:
    """A day: its parts, and where its middle is."""

    day: DayOfLedgers
    parts: tuple[Part, ...]
    x: float


@dataclass(frozen=True, slots=True)
class Chart:
    """Days with answers, drawn: bars of claims, and lines of shares."""

    first: str
    last: str
    most: int
    bars: tuple[Bar, ...]
    coverage: str
    unsupported: str


def drawn(days: Sequence[DayOfLedgers], today: str, *, mirrored: bool = False) -> Chart:
    """Return the chart of days with answers, the oldest first, up to today.

    `mirrored` lets time go from right to left.
    """
    last = date.fromisoformat(today)
    first = min(date.fromisoformat(days[0].day), last - timedelta(days=_LEAST_DAYS - 1))
    width = WIDTH / ((last - first).days + 1)
    most = max(day.claims for day in days) or 1
    bars = []
    for day in days:
        at = (date.fromisoformat(day.day) - first).days * width
        left = WIDTH - at - width if mirrored else at
        bars.append(Bar(day, _parts(day, left, width, most), round(left + width / 2, 2)))
    return Chart(
        first.isoformat(),
        today,
        most,
        tuple(bars),
        _line([(bar.x, bar.day.evidence_coverage) for bar in bars]),
        _line([(bar.x, bar.day.unsupported_rate) for bar in bars]),
    )


def _parts(day: DayOfLedgers, left: float, width: float, most: int) -> tuple[Part, ...]:
    found, top = [], float(HEIGHT)
    for verdict in ORDER:
        height = HEIGHT * day.by_verdict[verdict] / most
        if height:
            top -= height
            x, breadth = left + width * _GAP / 2, width * (1 - _GAP)
            found.append(
                Part(verdict, round(x, 2), round(top, 2), round(breadth, 2), round(height, 2))
            )
    return tuple(found)


def _line(points: Sequence[tuple[float, float]]) -> str:
    """Return the path of a line through points; a point alone is a dot."""
    placed = [f"{x:g} {HEIGHT - share * HEIGHT:g}" for x, share in points]
    return "M" + "L".join(placed) + ("h0" if len(placed) == 1 else "")

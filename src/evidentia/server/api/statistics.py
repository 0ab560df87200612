"""Statistics over time: how answers come out, by day."""

from datetime import date
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from evidentia.server.actions import GuardedRoute, Ws, acts
from evidentia.server.problems import REFUSED_INPUT, documented

router = APIRouter(route_class=GuardedRoute, tags=["statistics"])

_DAY: Final[dict[str, Any]] = {
    "day": "2026-01-03",
    "answers": 2,
    "claims": 10,
    "by_verdict": {
        "supported": 6,
        "weak": 1,
        "contradicted": 1,
        "not_found": 2,
        "not_judged": 0,
    },
    "evidence_coverage": 0.7,
    "unsupported_rate": 0.3,
}


class DayAnswer(BaseModel):
    """The answers that were checked on a day, in UTC."""

    day: str
    answers: int
    claims: int
    by_verdict: dict[str, int]
    evidence_coverage: float = Field(description="Claims supported or weak, over all of the day.")
    unsupported_rate: float = Field(description="The other claims, over all of the day.")


class StatisticsAnswer(BaseModel):
    """The days on which answers were checked, the oldest first."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"days": [_DAY]}]})

    days: list[DayAnswer]


@router.get("/statistics", summary="Answers over time", responses=documented(REFUSED_INPUT))
@acts("ledgers.statistics")
def read_statistics(
    workspace: Ws,
    since: Annotated[
        date | None, Query(description="The first day; 89 before the last, if not given.")
    ] = None,
    until: Annotated[
        date | None, Query(description="The last day; today, if it is not given.")
    ] = None,
) -> StatisticsAnswer:
    """Count answers by day: their claims by verdict, coverage, unsupported rate.

    Days without answers are left out. The numbers come from the rows of the ledgers, which are an
    index and prove nothing: an audit compares them with the trail, and each ledger can be proved.
    """
    found = workspace.ledgers.statistics(since=since, until=until)
    names = DayAnswer.model_fields
    return StatisticsAnswer.model_validate(
        {"days": [{name: getattr(day, name) for name in names} for day in found]}
    )

"""The start: what needs attention, the latest answers, and how answers come out over time."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from evidentia.errors import IntegrityError
from evidentia.server.actions import GuardedRoute, Ws, acts
from evidentia.server.pages.start_charts import drawn
from evidentia.server.running import running_of
from evidentia.server.viewing import may, shown, words_of
from evidentia.store.sql.ledgers import ListedLedger
from evidentia.times import utc_text
from evidentia.workspace import Workspace

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)

_LATEST: Final = 8
_LOOKED_AT: Final = 200
_SHOWN: Final = 5
_RECENT_DAYS: Final = 30
_SOON_DAYS: Final = 30


@dataclass(frozen=True, slots=True)
class Attention:
    """What needs someone's attention now."""

    awaiting: list[Any]
    contradicted: list[ListedLedger]
    ending: list[tuple[str, str, str]]
    """Who, which role or token, and when it ends."""
    held: int
    unsigned: str | None

    @property
    def is_calm(self) -> bool:
        """Whether nothing needs anyone."""
        return not (self.awaiting or self.contradicted or self.ending or self.unsigned)


@router.get("/")
@acts("ledgers.list")
def start_page(workspace: Ws, request: Request) -> Response:
    """Show what needs attention, the latest answers and their quality over time."""
    now = running_of(request).opened.now()
    latest = workspace.ledgers.list(limit=_LOOKED_AT)
    days = workspace.ledgers.statistics()
    mirrored = words_of(request) == "ar"
    return shown(
        request,
        "start/start.html",
        ledgers=latest[:_LATEST],
        attention=attention(workspace, latest, now),
        shown_most=_SHOWN,
        days=days,
        chart=drawn(days, now[:10], mirrored=mirrored) if days else None,
        documents=len(workspace.documents.collections()),
        may_check=may(workspace, "ledgers.check"),
    )


@router.get("/start/missing")
@acts("packs.missing")
def missing_packs_page(workspace: Ws, request: Request) -> Response:
    """Show the decisions that must have a pack and have none: a part of the start, or a page."""
    template = "_missing.html" if "hx-request" in request.headers else "missing.html"
    return shown(request, f"start/{template}", missing=workspace.packs.missing(), most=_SHOWN)


def attention(workspace: Workspace, latest: list[ListedLedger], now: str) -> Attention:
    """Return what needs attention, of what is quickly known."""
    since = _moved(now, -_RECENT_DAYS)
    return Attention(
        awaiting=workspace.packs.queue(limit=_LOOKED_AT),
        contradicted=[
            one
            for one in latest
            if one.created_at >= since and one.summary["by_verdict"].get("contradicted")
        ],
        ending=_ending(workspace, now),
        held=len(workspace.packs.held()),
        unsigned=_unsigned(workspace),
    )


def _ending(workspace: Workspace, now: str) -> list[tuple[str, str, str]]:
    soon = _moved(now, _SOON_DAYS)
    ends = [(one.user, one.role.value, one.expires_at) for one in workspace.access.grants()]
    ends += [(one.user, "token", one.expires_at) for one in workspace.access.tokens()]
    found = [(who, what, at) for who, what, at in ends if at is not None and now < at <= soon]
    return sorted(found, key=lambda one: one[2])


def _unsigned(workspace: Workspace) -> str | None:
    """Return what is wrong with the end of the log; None if it is signed, or there is no log."""
    if workspace.trail.size == 0:  # asking for a checkpoint would begin one
        return None
    try:
        workspace.trail.checkpoint()
    except IntegrityError as error:
        return str(error)
    return None


def _moved(now: str, days: int) -> str:
    return utc_text(datetime.fromisoformat(now) + timedelta(days=days))

"""Two ledgers side by side, and the choice of which."""

from collections import Counter
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query, Request
from fastapi import Path as PathField
from starlette.responses import Response

from evidentia.server.actions import GuardedRoute, Ws, acts
from evidentia.server.pages.compare_claims import CHANGES, Pair, Words, differing, paired
from evidentia.server.pages.ledger import LedgerId, found
from evidentia.server.viewing import shown
from evidentia.store.sql.ledgers import ListedLedger
from evidentia.workspace import Workspace

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)

_LOOKED_AT: Final = 300
_ROWS: Final = 100


@router.get("/ledgers/{ledger_id}/compare")
@acts("ledgers.list")
def choose_comparison_page(ledger_id: LedgerId, workspace: Ws, request: Request) -> Response:
    """List the ledgers that one can be compared with: of the same question first."""
    listed = found(workspace, ledger_id)
    return shown(request, "compare/choose.html", listed=listed, others=_others(workspace, listed))


@router.get("/ledgers/{ledger_id}/compare/{other_ledger_id}")
@acts("ledgers.get")
def comparison_page(
    ledger_id: LedgerId,
    other_ledger_id: Annotated[str, PathField(max_length=100)],
    workspace: Ws,
    request: Request,
    *,
    show: Literal["", "verdict", "words", "came", "went", "same"] = "",
    start: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
) -> Response:
    """Show which claims came, went, or changed from the other ledger to this one."""
    listed, other = found(workspace, ledger_id), found(workspace, other_ledger_id)
    before, after = (workspace.ledgers.get(one.id) for one in (other, listed))
    pairs = paired(before.entries, after.entries)
    wanted = [one for one in pairs if show in ("", one.change)]
    rows = wanted[start : start + _ROWS]
    return shown(
        request,
        "compare/compare.html",
        listed=listed,
        other=other,
        counts=Counter(one.change for one in pairs),
        changes=CHANGES,
        show=show,
        rows=[(one, _words(one)) for one in rows],
        start=start,
        end=start + len(rows),
        size=_ROWS,
        total=len(wanted),
    )


def _words(pair: Pair) -> tuple[Words, Words]:
    """Return the words of both claims, and which of them differ."""
    before = pair.before.entry.claim_text if pair.before else ""
    after = pair.after.entry.claim_text if pair.after else ""
    if pair.before is None or pair.after is None:  # nothing to compare with: as it is
        return [(False, before)], [(False, after)]
    return differing(before, after)


def _others(workspace: Workspace, listed: ListedLedger) -> list[ListedLedger]:
    """Return ledgers of the same session or question, the newest first."""
    of_session = workspace.ledgers.list(session=listed.session_id, limit=_LOOKED_AT)
    of_question = [
        one
        for one in (workspace.ledgers.list(limit=_LOOKED_AT) if listed.query else ())
        if one.query == listed.query
    ]
    seen = {one.id: one for one in (*of_question, *of_session) if one.id != listed.id}
    return sorted(seen.values(), key=lambda one: -one.entry)

"""Packs: the queue of what awaits a review, and the list of all of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from evidentia.errors import AccessError, IntegrityError, NotFoundError
from evidentia.packs.model import EvidencePack
from evidentia.server.actions import GuardedRoute, Ws, acts
from evidentia.server.pages.packs_labels import TONES, VALUES
from evidentia.server.viewing import shown
from evidentia.store.sql.packs import AWAITING, ListedPack
from evidentia.workspace import Workspace
from evidentia.workspace.acting import OWNER
from evidentia.workspace.assigning import AwaitedReview

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)

ROWS: Final = 25
Whose = Literal["all", "mine", "overdue", "every"]
Outcome = Literal["", "approved", "rejected", "awaiting review", "no review needed"]


@dataclass(frozen=True, slots=True)
class Row:
    """A pack in a list; `pack` is None if it does not hold, or may not be seen."""

    listed: ListedPack
    pack: EvidencePack | None
    review: AwaitedReview | None = None


@router.get("/packs")
@acts("packs.queue")
def packs_page(
    workspace: Ws,
    request: Request,
    *,
    of: Whose = "all",
    outcome: Outcome = "",
    before: Annotated[int | None, Query(ge=0)] = None,
) -> Response:
    """Show what awaits a review: all, what is the reader's, what is late; or every pack."""
    if of == "every":
        rows = _listed(workspace, outcome, before)
    else:
        mine = (workspace.user or OWNER) if of == "mine" else None
        found = workspace.packs.queue(
            assignee=mine, overdue=of == "overdue", before=before, limit=ROWS + 1
        )
        rows = [Row(one.pack, read(workspace, one.pack.id), one) for one in found]
    return shown(
        request,
        "packs/packs.html",
        rows=rows[:ROWS],
        of=of,
        outcome=outcome,
        is_first=before is None,
        older=rows[ROWS - 1].listed.entry if len(rows) > ROWS else None,
        named=VALUES,
        tones=TONES,
    )


def _listed(workspace: Workspace, outcome: Outcome, before: int | None) -> list[Row]:
    found: Iterable[ListedPack] = workspace.packs.list(
        before=before,
        limit=ROWS + 1,
        unresolved=outcome == AWAITING,
        outcome=outcome if outcome not in ("", AWAITING) else None,
    )
    return [Row(one, read(workspace, one.id)) for one in found]


def read(workspace: Workspace, pack_id: str) -> EvidencePack | None:
    """Return a pack; None if it does not hold, or may not be seen."""
    try:
        return workspace.packs.get(pack_id)
    except (AccessError, NotFoundError, IntegrityError):  # its own page says which
        return None

"""Keeping packs: legal holds, for how long all packs are kept, and what need not be any longer."""

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi import Path as PathField
from starlette.responses import Response

from evidentia.errors import InputError
from evidentia.packs.retention import RetentionPolicy
from evidentia.server.actions import GuardedRoute, Ws, acts
from evidentia.server.pages.packs import read
from evidentia.server.pages.packs_labels import VALUES
from evidentia.server.pages.packs_pack import Refusal, known, shown_pack
from evidentia.server.translating import N_
from evidentia.server.viewing import leads_to, may, shown

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)

PackId = Annotated[str, PathField(max_length=100)]
Reason = Annotated[str, Form(max_length=10_000)]


@router.get("/packs/keeping")
@acts("packs.held")
def keeping_page(workspace: Ws, request: Request) -> Response:
    """Show for how long packs are kept, which are on hold, and which need not be kept any more."""
    held = workspace.packs.held()
    may_sweep = may(workspace, "packs.sweep")
    return shown(
        request,
        "packs/keeping.html",
        policy=workspace.packs.retention(),
        holds=[(one, read(workspace, name)) for name, one in held.items() if name == one.pack_id],
        named=VALUES,
        may_sweep=may_sweep,
        ended=workspace.packs.sweep(dry_run=True) if may_sweep else [],
    )


@router.post("/packs/keeping/retention")
@acts("packs.set_retention")
def set_retention_on_page(
    workspace: Ws,
    request: Request,
    *,
    years: Annotated[int, Form(ge=1, le=1_000)],
    basis: Annotated[str, Form(min_length=1, max_length=1_000)],
) -> Response:
    """Set for how many years packs are kept."""
    workspace.packs.set_retention(RetentionPolicy(years=years, basis=basis))
    return leads_to(request, "/packs/keeping", N_("The retention was set."))


@router.post("/packs/keeping/sweep")
@acts("packs.sweep")
def sweep_on_page(workspace: Ws, request: Request) -> Response:
    """Remove the packs whose retention has ended and which no one holds."""
    swept = workspace.packs.sweep()
    said = N_("The packs were removed; the trail says which.") if swept else None
    return leads_to(request, "/packs/keeping", said)


@router.post("/packs/{pack_id}/hold")
@acts("packs.hold")
def hold_on_page(pack_id: PackId, workspace: Ws, request: Request, reason: Reason = "") -> Response:
    """Put a pack on legal hold."""
    try:
        workspace.packs.hold(known(pack_id), reason=reason.replace("\r\n", "\n"))
    except InputError as error:
        refusal = Refusal("hold", str(error), {"reason": reason})
        return shown_pack(workspace, request, pack_id, refusal=refusal)
    return leads_to(request, f"/packs/{pack_id}#keeping", N_("The pack is on legal hold."))


@router.post("/packs/{pack_id}/release")
@acts("packs.release")
def release_on_page(
    pack_id: PackId, workspace: Ws, request: Request, reason: Reason = ""
) -> Response:
    """End the legal hold of a pack."""
    try:
        workspace.packs.release(known(pack_id), reason=reason.replace("\r\n", "\n"))
    except InputError as error:
        refusal = Refusal("release", str(error), {"reason": reason})
        return shown_pack(workspace, request, pack_id, refusal=refusal)
    return leads_to(request, f"/packs/{pack_id}#keeping", N_("The legal hold has ended."))

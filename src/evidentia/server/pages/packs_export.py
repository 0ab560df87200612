"""Exports of packs from their pages: approved first, then made and handed out at once."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Final, Literal, get_args

from fastapi import APIRouter, Form, Request
from fastapi import Path as PathField
from starlette.responses import Response

from evidentia.server.actions import GuardedRoute, Ws, acts
from evidentia.server.api.pack_exports import PackExportRequest
from evidentia.server.api.packs import known
from evidentia.server.problems import REFUSED_INPUT, ProblemError
from evidentia.server.rates import Limited
from evidentia.server.translating import N_
from evidentia.server.viewing import leads_to

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)

PackId = Annotated[str, PathField(max_length=100)]
_MEDIA_TYPES: Final = {
    "json": "application/json",
    "pdf": "application/pdf",
    "html": "text/html; charset=utf-8",
}


def forms() -> tuple[str, ...]:
    """Return the forms that a pack can be exported in, as the API has them."""
    return get_args(PackExportRequest.model_fields["format"].annotation)


@router.post("/packs/{pack_id}/export-approvals")
@acts("packs.approve_export")
def approve_export_on_page(
    pack_id: PackId,
    workspace: Ws,
    request: Request,
    *,
    approval_class: Annotated[Literal["A1", "A2", "A3"], Form()] = "A1",
    note: Annotated[str, Form(max_length=1_000)] = "",
) -> Response:
    """Approve that a pack is exported, once."""
    workspace.packs.approve_export(
        known(pack_id), approval_class=approval_class, note=note.replace("\r\n", "\n")
    )
    said = N_("The export is approved, once.")
    return leads_to(request, f"/packs/{pack_id}#export", said)


@router.post("/packs/{pack_id}/export")
@acts("packs.export", limited=Limited.EXPORT)
def export_pack_on_page(
    pack_id: PackId,
    workspace: Ws,
    *,
    form: Annotated[str, Form(max_length=10)] = "",
    approval: Annotated[int | None, Form(ge=0)] = None,
    lang: Annotated[Literal["en", "ar", "both"], Form()] = "both",
    attachments: Annotated[bool, Form()] = False,
) -> Response:
    """Give a pack as one file that verifies itself; it uses up its approval."""
    workspace.admit("packs.export", known(pack_id))
    if form not in forms():
        raise ProblemError(REFUSED_INPUT, f"form: a pack is exported as {', '.join(forms())}.")
    with TemporaryDirectory(prefix="evidentia-") as folder:
        data = workspace.packs.export(
            known(pack_id),
            Path(folder) / f"pack.{form}",
            approval=approval,
            attachments=attachments,
            lang=lang,
        ).read_bytes()
    name = f"{pack_id}.{form}"
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(data, headers=headers, media_type=_MEDIA_TYPES[form])

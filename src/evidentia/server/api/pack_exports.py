"""Exports of packs: approved, made once for each approval, fetched by a link that ends."""

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Request
from fastapi import Path as PathField
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from evidentia.errors import AccessError
from evidentia.server.actions import Asks, GuardedRoute, Ws, acts
from evidentia.server.api.ledgers import ExportAnswer
from evidentia.server.api.packs import PackId, known
from evidentia.server.callers import Caller
from evidentia.server.links import address, new_link, read_link
from evidentia.server.problems import EXPIRED, NOT_READY, ProblemError, documented, not_found
from evidentia.server.rates import Limited
from evidentia.server.running import Running, running_of
from evidentia.workspace import Workspace

router = APIRouter(route_class=GuardedRoute, tags=["packs"])

_FORM: Final = "pack."
_MEDIA_TYPES: Final = {
    "json": "application/json",
    "pdf": "application/pdf",
    "html": "text/html; charset=utf-8",
}


class ApprovalRequest(BaseModel):
    """Of which class an approval to export is, and what is to be said of it."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"approval_class": "A2", "note": "For the regulator."}]},
    )

    approval_class: Literal["A1", "A2", "A3"] = "A1"
    note: str = Field("", max_length=1_000)


class ApprovalAnswer(BaseModel):
    """An approval to export a pack, once."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "entry": 7,
                    "at": "2026-03-01T12:00:00.000000Z",
                    "by": "ann",
                    "approval_class": "A2",
                    "note": "For the regulator.",
                    "used_by": None,
                }
            ]
        }
    )

    entry: int = Field(description="Its number, which an export names as `approval`.")
    at: str
    by: str
    approval_class: str
    note: str
    used_by: int | None = Field(description="The entry of the export that used it; None: none.")


class ApprovalList(BaseModel):
    """The approvals to export a pack, the oldest first."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"approvals": []}]})

    approvals: list[ApprovalAnswer]


class PackExportRequest(BaseModel):
    """In which form a pack is wanted, and by which approval."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"format": "pdf", "approval": 7}]}
    )

    format: Literal["json", "pdf", "html"]
    approval: int | None = Field(
        None, ge=0, description="An approval's number; the owner of a workspace needs none."
    )
    attachments: bool = Field(default=True, description="Whether the attached files go with it.")
    lang: Literal["ar", "en", "both"] = Field("both", description="The languages of a PDF.")
    typeface: Literal["plex", "amiri"] = Field("plex", description="The typeface of a PDF.")


@router.get("/packs/{pack_id}/export-approvals", summary="Approvals to export a pack")
@acts("packs.approvals")
def list_export_approvals(pack_id: PackId, workspace: Ws) -> ApprovalList:
    """List who approved that a pack is exported, and which of the approvals were used."""
    found = workspace.packs.approvals(known(pack_id))
    return ApprovalList.model_validate({"approvals": list(map(asdict, found))})


@router.post(
    "/packs/{pack_id}/export-approvals", summary="Approve an export of a pack", status_code=201
)
@acts("packs.approve_export")
def approve_export(pack_id: PackId, asked: ApprovalRequest, workspace: Ws) -> ApprovalAnswer:
    """Approve that a pack is exported, once. The trail says who did."""
    name = known(pack_id)
    made = workspace.packs.approve_export(
        name, approval_class=asked.approval_class, note=asked.note
    )
    found = next(one for one in workspace.packs.approvals(name) if one.entry == made)
    return ApprovalAnswer.model_validate(asdict(found))


@router.post("/packs/{pack_id}/export", summary="Export a pack")
@acts("packs.export", limited=Limited.EXPORT)
def export_pack(
    pack_id: PackId, asked: PackExportRequest, asks: Asks, request: Request
) -> ExportAnswer:
    """Have a pack written to one file that verifies itself; the answer says where it will be.

    An approval is used by it. The address answers 425 until the file is there. It is the file of
    this export, kept by this server until the link ends or the server does; another one is another
    export, with its own approval.
    """
    running, workspace = running_of(request), asks.workspace
    row = workspace.packs.find(known(pack_id))
    _refuse_unapproved(workspace, row.id, asked.approval)
    form = f"{_FORM}{asked.format}.{asks.request_id}"
    name = _name(workspace, row.id, form)
    make: Callable[[], bytes] = partial(_exported, workspace, row.id, asked)
    if asked.format == "json":  # at once, with the request
        data = make()
        make = lambda: data  # noqa: E731 - what was made
    text, ends = new_link(running, asks.caller, row.id, form)
    running.downloads.file(name, make)
    path = request.app.url_path_for("download_pack", pack_link=text)
    return ExportAnswer(download_url=address(running, request, path), expires_at=ends)


def _caller(request: Request, running: Running) -> Caller:
    return read_link(running, request.path_params["pack_link"]).caller


@router.get(
    "/pack-downloads/{pack_link}",
    summary="An exported pack",
    response_class=Response,
    responses={
        200: {
            "description": "The file, which `evidentia verify` verifies.",
            "content": {
                "application/json": {"example": {"format": "evidentia/proof"}},
                "application/pdf": {"example": "%PDF-1.7"},
            },
        },
        **documented(NOT_READY, EXPIRED),
    },
)
@acts("packs.export", who=_caller)
def download_pack(
    pack_link: Annotated[str, PathField(max_length=2_000, description="As `download_url` has it.")],
    workspace: Ws,
    request: Request,
) -> Response:
    """Give an exported pack to whoever has its link, while its maker may export the pack."""
    running = running_of(request)
    asked = read_link(running, pack_link)
    if not asked.form.startswith(_FORM):
        raise not_found()
    workspace.packs.approvals(asked.of)  # raises for who may not export it, or not any more
    name = _name(workspace, asked.of, asked.form)
    if not running.downloads.knows(name):
        raise ProblemError(EXPIRED, "The server has the file no more: export the pack again.")
    data = running.downloads.file(name, _gone)
    if data is None:
        raise ProblemError(NOT_READY, "Try again in a second.", headers={"retry-after": "1"})
    ending = asked.form.split(".")[1]
    return Response(
        data,
        media_type=_MEDIA_TYPES[ending],
        headers={"content-disposition": f'attachment; filename="{asked.of}.{ending}"'},
    )


def _refuse_unapproved(workspace: Workspace, pack_id: str, approval: int | None) -> None:
    """Raise before a file is made that could not be handed out."""
    if approval is None and workspace.user is None:
        return
    found = workspace.packs.approvals(pack_id)
    if approval is None:
        raise AccessError(
            f"exporting pack {pack_id} needs an approval, once for each export: an approver or an "
            "admin gives it"
        )
    if approval not in {one.entry for one in found if one.used_by is None}:
        raise AccessError(
            f"entry {approval} is no approval to export pack {pack_id}, or was used already"
        )


def _name(workspace: Workspace, pack_id: str, form: str) -> str:
    return f"{workspace.tenant}/{pack_id}.{form}"


def _exported(workspace: Workspace, pack_id: str, asked: PackExportRequest) -> bytes:
    with TemporaryDirectory(prefix="evidentia-") as folder:
        return workspace.packs.export(
            pack_id,
            Path(folder) / f"pack.{asked.format}",
            approval=asked.approval,
            attachments=asked.attachments,
            form=asked.format,
            lang=asked.lang,
            typeface=asked.typeface,
        ).read_bytes()


def _gone() -> bytes:
    raise ProblemError(EXPIRED, "The server has the file no more: export the pack again.")

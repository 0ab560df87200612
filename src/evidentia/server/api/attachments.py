"""Files that are attached to packs: sent as bytes, and read again by their digests."""

from typing import Annotated, Any, Final
from urllib.parse import quote

from fastapi import APIRouter, File, Query, Request, UploadFile
from fastapi import Path as PathField
from starlette.responses import RedirectResponse, Response

from evidentia.errors import ConflictError
from evidentia.server.actions import GuardedRoute, Ws, acts
from evidentia.server.api.given_files import MOST_FILES, named
from evidentia.server.api.packs import MADE, PackId, ReadTag, answered, as_read, conflict, known
from evidentia.server.caching import entity_tag, is_known, tagged, unchanged
from evidentia.server.problems import CHANGED, INCOMPLETE, documented, not_found

router = APIRouter(route_class=GuardedRoute, tags=["packs"])

Digest = Annotated[
    str,
    PathField(
        description="The SHA-256 of the file, as the pack's `attachments` have it.",
        examples=["ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
    ),
]
Redirect = Annotated[
    bool, Query(description="Answer with where the bucket has the file, if it is in one.")
]
_BYTES: Final = "application/octet-stream"
_FILE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The file's bytes.",
        "content": {_BYTES: {"example": "…"}},
        "headers": {"ETag": {"schema": {"type": "string"}}},
    },
    304: {"description": "The caller has it already"},
    307: {"description": "Where the bucket has it, for five minutes"},
}


@router.post(
    "/packs/{pack_id}/attachments",
    summary="Attach files to a pack",
    status_code=201,
    responses={**MADE, **documented(INCOMPLETE, CHANGED)},
    openapi_extra={
        "requestBody": {"content": {"multipart/form-data": {"example": {"files": ["seal.pdf"]}}}}
    },
)
@acts("packs.revise")
def attach_files(
    pack_id: PackId,
    workspace: Ws,
    files: Annotated[
        list[UploadFile],
        File(min_length=1, max_length=MOST_FILES, description="The files, each with its name."),
    ],
    if_match: ReadTag = None,
) -> Response:
    """Replace a pack by a newer version with files attached, or put in place of ones so called.

    The pack names each by its digest. A review does not carry over: it was of the old version.
    """
    row = as_read(workspace, pack_id, if_match)
    given = named((one.filename or "", one.file.read()) for one in files)
    try:
        made = workspace.packs.revise(row.id, {}, attachments=given)
    except ConflictError as error:
        raise conflict(workspace, row.id, error) from None
    return answered(workspace, made, 201)


@router.get(
    "/packs/{pack_id}/attachments/{sha256}",
    summary="A file that is attached to a pack",
    response_class=Response,
    responses=_FILE,
)
@acts("packs.attachment")
def read_attachment(
    pack_id: PackId,
    sha256: Digest,
    workspace: Ws,
    request: Request,
    redirect: Redirect = False,  # noqa: FBT002 - a parameter of the address
) -> Response:
    """Give a file that a version of a pack has attached. Who reads it is in the access log.

    With `redirect`, a file in a bucket comes from there: the address is for anyone, and ends after
    five minutes.
    """
    if len(sha256) != len("0" * 64):
        raise not_found()
    link = workspace.packs.attachment_link(known(pack_id), sha256) if redirect else None
    if link is not None:
        return RedirectResponse(link, status_code=307, headers={"cache-control": "no-store"})
    attached, data = workspace.packs.attachment(known(pack_id), sha256)
    tag = entity_tag(attached.sha256)
    if is_known(request, tag):
        return unchanged(tag)
    said = f"attachment; filename*=UTF-8''{quote(attached.name, safe='')}"
    return Response(data, headers={**tagged(tag), "content-disposition": said}, media_type=_BYTES)

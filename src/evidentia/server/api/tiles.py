"""The log as C2SP tlog-tiles clients fetch it: its checkpoint, its tiles, its entry bundles.

A client's prefix is `/api/v1/trail/TENANT`. What is asked for is read from the store, one piece
at a time; nothing is published to a folder.
"""

import re
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Request
from fastapi import Path as PathField
from starlette.responses import Response

from evidentia.canonical import sha256_hex
from evidentia.server.actions import GuardedRoute, Ws, acts
from evidentia.server.caching import entity_tag, is_known
from evidentia.server.callers import ElsewhereError
from evidentia.server.problems import not_found
from evidentia.trail.tiles import TILE_WIDTH
from evidentia.workspace import Workspace

router = APIRouter(route_class=GuardedRoute, tags=["trail"])

_PLACE: Final = re.compile(r"((?:x[0-9]{3}/){0,4}[0-9]{3})(?:\.p/([1-9][0-9]{0,2}))?")
_KEEP: Final = "private, max-age=31536000, immutable"
"""For who asked, since a token is needed; a piece of a given width never changes."""
_NOTE: Final = "text/plain; charset=utf-8"
_BYTES: Final = "application/octet-stream"
_CHECKPOINT: Final = "evidentia/log\n42\nGd6B+…=\n\n— evidentia/log O1wKk…=\n"

Tenant = Annotated[str, PathField(description="The caller's tenant.", examples=["default"])]
Place = Annotated[
    str,
    PathField(
        max_length=40,
        description="The index in groups of three digits, all but the last after an `x`; of what "
        "is not full with `.p/` and the width behind it.",
        examples=["x001/x234/067", "003.p/112"],
    ),
]


def _said(kind: str, example: str, description: str) -> dict[int | str, dict[str, Any]]:
    return {
        200: {
            "description": description,
            "content": {kind.partition(";")[0]: {"schema": {"type": "string"}, "example": example}},
        }
    }


def _piece(what: str) -> dict[int | str, dict[str, Any]]:
    return {
        **_said(_BYTES, "…", what),
        304: {"description": "The caller has it already"},
    }


@router.get(
    "/trail/checkpoint",
    summary="The trail's checkpoint",
    response_class=Response,
    responses=_said(_NOTE, _CHECKPOINT, "A signed note, with the cosignatures that are kept."),
)
@acts("trail.checkpoint")
def read_checkpoint(workspace: Ws) -> Response:
    """Give the newest checkpoint: how many entries the log has, and the root of all, signed."""
    return Response(workspace.trail.checkpoint(), media_type=_NOTE)


@router.get(
    "/trail/{tenant}/checkpoint",
    summary="The checkpoint, for clients of tlog-tiles",
    response_class=Response,
    responses=_said(_NOTE, _CHECKPOINT, "A signed note, with the cosignatures that are kept."),
)
@acts("trail.checkpoint")
def fetch_checkpoint(tenant: Tenant, workspace: Ws) -> Response:
    """Give the newest checkpoint of a tenant's log (C2SP tlog-checkpoint)."""
    _require_own(tenant, workspace)
    return Response(workspace.trail.checkpoint(), media_type=_NOTE)


@router.get(
    "/trail/{tenant}/tile/entries/{place:path}",
    summary="An entry bundle, for clients of tlog-tiles",
    response_class=Response,
    responses=_piece("Entries without their bodies, each after its length in two bytes."),
)
@acts("trail.entry_bundle")
def fetch_entry_bundle(tenant: Tenant, place: Place, workspace: Ws, request: Request) -> Response:
    """Give 256 entries of the log, or as many as the width says (C2SP tlog-tiles)."""
    _require_own(tenant, workspace)
    index, width = _place_of(place)
    return _kept(request, workspace.trail.entry_bundle(index, width))


@router.get(
    "/trail/{tenant}/tile/{level}/{place:path}",
    summary="A tile, for clients of tlog-tiles",
    response_class=Response,
    responses=_piece("Hashes of 32 bytes, side by side."),
)
@acts("trail.tile")
def fetch_tile(
    tenant: Tenant,
    level: Annotated[
        Literal["0", "1", "2", "3", "4", "5"], PathField(description="0 has the entries' hashes.")
    ],
    place: Place,
    workspace: Ws,
    request: Request,
) -> Response:
    """Give 256 hashes of the log's tree, or as many as the width says (C2SP tlog-tiles)."""
    _require_own(tenant, workspace)
    index, width = _place_of(place)
    return _kept(request, workspace.trail.tile(int(level), index, width))


def _require_own(tenant: str, workspace: Workspace) -> None:
    """Raise for another tenant than the caller's, as for one that is not there."""
    if tenant != workspace.tenant:
        raise ElsewhereError


def _place_of(place: str) -> tuple[int, int]:
    """Return the index and the width that a path names; raise if no piece is called so."""
    match = _PLACE.fullmatch(place)
    if match is None:
        raise not_found()
    width = int(match[2] or TILE_WIDTH)
    groups = match[1].replace("x", "").split("/")
    needless = len(groups) > 1 and groups[0] == "000"
    if needless or (match[2] is not None and width >= TILE_WIDTH):
        raise not_found()
    return int("".join(groups)), width


def _kept(request: Request, data: bytes) -> Response:
    """Return a piece, to be kept for good by who asked."""
    tag = entity_tag(sha256_hex(data)[:32])
    headers = {"etag": tag, "cache-control": _KEEP}
    if is_known(request, tag):
        return Response(status_code=304, headers=headers)
    return Response(data, media_type=_BYTES, headers=headers)

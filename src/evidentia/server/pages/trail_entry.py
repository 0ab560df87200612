"""An entry of the trail: what it records, and the proof that it is in the log."""

from itertools import islice
from typing import Annotated, Any, Final

import orjson
from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from evidentia.errors import IntegrityError
from evidentia.server.actions import GuardedRoute, Ws, acts
from evidentia.server.pages.trail import body_of, keys_of, named, signed_of
from evidentia.server.pages.trail_tree import tree_of
from evidentia.server.pages.trail_words import KINDS, MOST_ROWS, rows_of
from evidentia.server.problems import not_found
from evidentia.server.viewing import may, shown
from evidentia.trail.checkpoint import read_checkpoint
from evidentia.workspace import Workspace

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)

_MOST: Final = 2**53 - 1
_LONGEST_JSON: Final = 60_000
"""How much of a body is shown as JSON; the proof has all."""
Seq = Annotated[int, Path(ge=0, le=_MOST)]


@router.get("/trail/entries/{seq}")
@acts("trail.entry")
def entry_page(seq: Seq, workspace: Ws, request: Request) -> Response:
    """Show an entry with its body, and its proof as a tree."""
    around = workspace.trail.timeline(before=seq + 1, after=seq - 1, limit=1)
    if not around:
        raise not_found()
    found, audits = around[0], may(workspace, "access.requests")
    body, withheld = body_of(found, audits=audits)
    rows = [] if body is None else list(islice(rows_of(body), MOST_ROWS + 1))
    written = "" if body is None else orjson.dumps(body, option=orjson.OPT_INDENT_2).decode()
    return shown(
        request,
        "trail/entry.html",
        found=found,
        entry=found.logged.entry,
        body=body,
        withheld=withheld,
        rows=rows[:MOST_ROWS],
        has_more=len(rows) > MOST_ROWS,
        written=written[:_LONGEST_JSON],
        is_cut=len(written) > _LONGEST_JSON,
        about=named(found.logged.entry.subject),
        kinds=KINDS,
        signed=signed_of(workspace),
        **_proof(workspace, seq, found.logged.leaf),
    )


def _proof(workspace: Workspace, seq: int, leaf: str) -> dict[str, Any]:
    """Return the proof of an entry, drawn; or why there is none."""
    try:
        proof = workspace.trail.prove(seq, disclose=False)
    except IntegrityError as error:
        return {"tree": None, "no_proof": str(error), "checkpoint": None}
    checkpoint, note = read_checkpoint(proof.checkpoint)
    keys = {one.key.key.key_id: one for one in keys_of(workspace)}
    signers = [one for one in note.signatures if one.name == checkpoint.origin]
    return {
        "tree": tree_of(seq, bytes.fromhex(leaf), proof.inclusion, checkpoint.size),
        "no_proof": None,
        "checkpoint": {
            "size": checkpoint.size,
            "origin": checkpoint.origin,
            "root": checkpoint.root.hex(),
            "note": proof.checkpoint,
            "signers": [(one.key_id, keys.get(one.key_id)) for one in signers],
            "witnesses": sorted(
                {one.name for one in note.signatures if one.name != checkpoint.origin}
            ),
            "keys": "\n".join(str(one.key.key) for one in keys.values() if one.state != "revoked"),
        },
    }

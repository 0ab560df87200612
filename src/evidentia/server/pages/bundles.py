"""Bundles: what models saw of every source and what they did not, and why."""

import re
from typing import Annotated, Any, Final, Literal

import orjson
from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from evidentia.bundles.accounting import Outcome
from evidentia.bundles.diffing import diff_bundles
from evidentia.bundles.model import EvidenceBundle
from evidentia.errors import NotFoundError
from evidentia.server.actions import GuardedRoute, Ws, acts
from evidentia.server.pages.bundles_words import (
    LIMITS,
    OUTCOMES,
    TONES,
    TYPES,
    changes,
    reason_of,
    shares_of,
    together,
)
from evidentia.server.pages.trail_words import MOST_ROWS, rows_of
from evidentia.server.problems import ProblemError, not_found
from evidentia.server.translating import N_
from evidentia.server.viewing import shown
from evidentia.store.database import is_storable
from evidentia.workspace import Workspace

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)

_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_FEW: Final = 50
_INPUTS: Final = 40
_PAGE: Final = 20_000
"""How many characters of a prompt or an item are on a page."""
_MOST_CHANGED: Final = 40
_MOST: Final = 2**53 - 1
_WORDS: Final[dict[str, Any]] = {
    "outcomes": OUTCOMES,
    "tones": TONES,
    "types": TYPES,
    "limits": LIMITS,
    "reason_of": reason_of,
}
Start = Annotated[int, Query(ge=0, le=_MOST)]
Page = Annotated[int, Query(ge=1, le=1_000_000)]


@router.get("/bundles")
@acts("bundles.list")
def bundles_page(
    workspace: Ws,
    request: Request,
    run: Annotated[str, Query(max_length=200)] = "",
    before: Annotated[int | None, Query(ge=0, le=_MOST)] = None,
) -> Response:
    """Show the bundles, the newest first, or those that a run used."""
    if run:
        found = workspace.bundles.of_run(run) if is_storable(run) else []
    else:
        found = workspace.bundles.list(before=before, limit=_FEW + 1)
    is_more = not run and len(found) > _FEW
    listed = found if run else found[:_FEW]
    return shown(
        request,
        "bundles/bundles.html",
        bundles=listed,
        run=run,
        older=listed[-1].entry if is_more else None,
        is_first=before is None,
        **_WORDS,
    )


@router.get("/bundles/{bundle_id}")
@acts("bundles.get")
def bundle_page(
    bundle_id: str,
    workspace: Ws,
    request: Request,
    outcome: Annotated[str, Query(max_length=20)] = "",
    start: Start = 0,
) -> Response:
    """Show a bundle: what became of every input, as strips; the runs that used it."""
    row = workspace.bundles.find(_id_of(bundle_id))
    bundle = workspace.bundles.get(row.id)
    items = {one.evidence_id: one for one in bundle.items}
    fates = bundle.accounting.decisions
    wanted = [one for one in fates if not outcome or one.outcome.value == outcome]
    some = wanted[start : start + _INPUTS]
    return shown(
        request,
        "bundles/bundle.html",
        row=row,
        bundle=bundle,
        inputs=[
            {
                "fate": one,
                "item": items.get(one.evidence_id),
                "shares": shares_of(one, items.get(one.evidence_id)),
            }
            for one in some
        ],
        whole=together(shares_of(one, items.get(one.evidence_id)) for one in fates),
        outcome=outcome if outcome in {one.value for one in Outcome} else "",
        found=len(wanted),
        start=start,
        step=_INPUTS,
        runs=workspace.bundles.runs(row.id),
        policy=_policy(bundle),
        **_WORDS,
    )


@router.get("/bundles/{bundle_id}/inputs/{evidence_id:path}")
@acts("bundles.why_cut")
def bundle_input_page(
    bundle_id: str, evidence_id: str, workspace: Ws, request: Request, page: Page = 1
) -> Response:
    """Show what the model saw of one input, what was done to it, and where it is from."""
    bundle = workspace.bundles.get(_id_of(bundle_id))
    fate = next(
        (one for one in bundle.accounting.decisions if one.evidence_id == evidence_id), None
    )
    if fate is None:
        raise not_found()
    item = bundle.item(evidence_id)
    rows = [] if item is None else list(rows_of({**item.source_ref, **item.metadata}))
    return shown(
        request,
        "bundles/input.html",
        bundle=bundle,
        fate=fate,
        item=item,
        shares=shares_of(fate, item),
        rows=rows[:MOST_ROWS],
        has_more=len(rows) > MOST_ROWS,
        **_paged("" if item is None else item.content, page),
        **_WORDS,
    )


@router.get("/bundles/{bundle_id}/prompt")
@acts("bundles.render")
def bundle_prompt_page(
    bundle_id: str,
    workspace: Ws,
    request: Request,
    *,
    format: Literal["text", "anthropic", "openai"] = "text",  # noqa: A002 - as the API has it
    page: Page = 1,
) -> Response:
    """Show a bundle as a model is given it, in one of the formats."""
    rendered = workspace.bundles.render(_id_of(bundle_id), format)
    content = rendered.content
    is_text = isinstance(content, str)
    text = content if isinstance(content, str) else _indented(content)
    return shown(
        request,
        "bundles/prompt.html",
        bundle_id=bundle_id,
        rendered=rendered,
        is_text=is_text,
        format=format,
        **_paged(text, page),
        **_WORDS,
    )


@router.get("/bundles/{bundle_id}/diff")
@acts("bundles.get")
def bundle_choice_page(
    bundle_id: str,
    workspace: Ws,
    request: Request,
    other: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """Let a reader choose the bundle that one is compared with, and lead there."""
    row, asked, error = workspace.bundles.find(_id_of(bundle_id)), other.strip().lower(), None
    if asked:
        if _is_there(workspace, asked):
            where = f"/bundles/{row.id}/diff/{asked}"
            return Response(status_code=303, headers={"location": where})
        error = N_("There is no such bundle: give the whole id, as it stands on its page.")
    others = [one for one in workspace.bundles.list(limit=_FEW + 1) if one.id != row.id]
    return shown(
        request,
        "bundles/choose.html",
        status=422 if error else 200,
        row=row,
        others=others[:_FEW],
        asked=other,
        error=error,
        **_WORDS,
    )


@router.get("/bundles/{bundle_id}/diff/{other_bundle_id}")
@acts("bundles.get")
def bundle_diff_page(
    bundle_id: str, other_bundle_id: str, workspace: Ws, request: Request
) -> Response:
    """Show how two bundles differ: policy, what the model saw, what became of inputs."""
    before = workspace.bundles.get(_id_of(bundle_id))
    after = workspace.bundles.get(_id_of(other_bundle_id))
    diff = diff_bundles(before, after)
    fates = {
        one.evidence_id: one for bundle in (before, after) for one in bundle.accounting.decisions
    }
    return shown(
        request,
        "bundles/diff.html",
        before=before,
        after=after,
        diff=diff,
        fates=fates,
        changed=[
            {
                "before": one.before,
                "after": one.after,
                "words": changes(one.before.content, one.after.content),
            }
            for one in diff.changed[:_MOST_CHANGED]
        ],
        **_WORDS,
    )


def _id_of(given: str) -> str:
    """Return what is a bundle's id; other names of bundles are no address."""
    if _ID.fullmatch(given) is None:
        raise not_found()
    return given


def _is_there(workspace: Workspace, bundle_id: str) -> bool:
    try:
        workspace.bundles.find(_id_of(bundle_id))
    except (NotFoundError, ProblemError):
        return False
    return True


def _policy(bundle: EvidenceBundle) -> list[tuple[str, str]]:
    """Return the limits of a bundle's policy: what each means, and its number."""
    given = bundle.policy.model_dump(mode="json")
    return [
        (means, f"{given[name]:,}") for name, means in LIMITS.items() if given[name] is not None
    ]


def _paged(text: str, page: int) -> dict[str, Any]:
    """Return a page of a long text, and how many there are."""
    pages = max(1, -(-len(text) // _PAGE))
    if page > pages:
        raise not_found()
    return {"text": text[(page - 1) * _PAGE : page * _PAGE], "page": page, "pages": pages}


def _indented(content: Any) -> str:
    return orjson.dumps(content, option=orjson.OPT_INDENT_2).decode()

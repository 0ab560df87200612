"""Reviewing packs from their pages: approve, modify or reject the version that was read.

A decision is of the version in its address. If a newer one came meanwhile, nothing is recorded:
the page that says so shows what differs, with what was typed.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Form, Request
from fastapi import Path as PathField
from starlette.responses import Response

from evidentia.errors import AccessError, ConflictError, InputError, SealingError
from evidentia.packs.memo import MAX_BODY_WORDS, MAX_SUMMARY_WORDS, BilingualMemo
from evidentia.packs.model import EvidencePack
from evidentia.packs.rules import left_out
from evidentia.server.actions import GuardedRoute, Ws, acts
from evidentia.server.pages.packs_difference import Difference, differences
from evidentia.server.pages.packs_labels import FIELDS, VALUES
from evidentia.server.pages.packs_pack import Refusal, deciding, known, shown_pack, versions_of
from evidentia.server.problems import REFUSED_INPUT, ProblemError
from evidentia.server.translating import N_, words
from evidentia.server.viewing import leads_to, shown, words_of
from evidentia.workspace import Workspace

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)

PackId = Annotated[str, PathField(max_length=100)]
Text = Annotated[str, Form(max_length=50_000)]
NO_REASON = N_("Say why: a decision needs its reason.")


@dataclass(frozen=True, slots=True)
class Typed:
    """What was typed into the form that changes a pack."""

    memo: dict[str, str]
    note: str
    keep: str
    """`approved`: the changes are approved in one go; `open`: someone else reviews them."""


def _typed(
    *,
    title_en: Text = "",
    title_ar: Text = "",
    executive_summary_en: Text = "",
    executive_summary_ar: Text = "",
    body_en: Text = "",
    body_ar: Text = "",
    note: Annotated[str, Form(max_length=10_000)] = "",
    keep: Annotated[Literal["approved", "open"], Form()] = "approved",
) -> Typed:
    given = {
        "title_en": title_en,
        "title_ar": title_ar,
        "executive_summary_en": executive_summary_en,
        "executive_summary_ar": executive_summary_ar,
        "body_en": body_en,
        "body_ar": body_ar,
    }
    memo = {name: text.replace("\r\n", "\n") for name, text in given.items()}
    return Typed(memo, note.replace("\r\n", "\n"), keep)


@router.post("/packs/{pack_id}/review")
@acts("packs.review")
def review_on_page(
    pack_id: PackId,
    workspace: Ws,
    request: Request,
    *,
    outcome: Annotated[Literal["approved", "rejected", ""], Form()] = "",
    note: Annotated[str, Form(max_length=10_000)] = "",
) -> Response:
    """Approve or reject the version that was read."""
    workspace.admit("packs.review", known(pack_id))
    if not outcome:
        raise ProblemError(REFUSED_INPUT, "outcome: approved or rejected.")
    note = note.replace("\r\n", "\n")
    if outcome == "rejected" and not note.strip():
        said = words(words_of(request)).gettext(NO_REASON)
        return shown_pack(workspace, request, pack_id, refusal=Refusal(outcome, said))
    try:
        made = workspace.packs.review(known(pack_id), outcome, note=note)
    except ConflictError:
        return _superseded(workspace, request, pack_id, outcome, note)
    except (InputError, SealingError) as error:
        refusal = Refusal(outcome, str(error), {"note": note})
        return shown_pack(workspace, request, pack_id, refusal=refusal)
    said = N_("Approved. Your review was recorded.")
    if outcome == "rejected":
        said = N_("Rejected. Your review was recorded.")
    return leads_to(request, f"/packs/{made.pack_id}", said)


@router.get("/packs/{pack_id}/modify")
@acts("packs.modify")
def modify_page(pack_id: PackId, workspace: Ws, request: Request) -> Response:
    """Show the form that changes a pack's memo."""
    workspace.admit("packs.modify", known(pack_id))
    pack = workspace.packs.get(pack_id)
    typed = Typed(pack.memo.model_dump(), "", "approved")
    return _form(workspace, request, pack, typed)


@router.post("/packs/{pack_id}/modify")
@acts("packs.modify")
def modify_on_page(
    pack_id: PackId, workspace: Ws, request: Request, typed: Annotated[Typed, Depends(_typed)]
) -> Response:
    """Change the version that was read, and approve the change in one go."""
    workspace.admit("packs.modify", known(pack_id))
    pack = workspace.packs.get(pack_id)
    if typed.keep == "approved" and not typed.note.strip():
        said = words(words_of(request)).gettext(NO_REASON)
        return _form(workspace, request, pack, typed, status=422, wrong=(said,))
    try:
        made = _changed(workspace, pack, typed)
    except ConflictError:
        newest = workspace.packs.get(versions_of(workspace, pack_id)[-1].listed.id)
        changes = differences(pack, newest)
        return _form(workspace, request, newest, typed, status=409, read=pack, changes=changes)
    except SealingError as error:
        wrong = error.unmet or (str(error),)
        return _form(workspace, request, pack, typed, status=422, wrong=wrong)
    except InputError as error:
        return _form(workspace, request, pack, typed, status=422, wrong=(str(error),))
    except AccessError as error:
        return _form(workspace, request, pack, typed, status=403, wrong=(str(error),))
    said = N_("Modified and approved. Both were recorded.")
    if typed.keep == "open":
        said = N_("A new version was recorded. It awaits a review by someone else.")
    return leads_to(request, f"/packs/{made.pack_id}", said)


@router.post("/packs/{pack_id}/assign")
@acts("packs.assign")
def assign_on_page(
    pack_id: PackId,
    workspace: Ws,
    request: Request,
    *,
    assignee: Annotated[str, Form(max_length=1_000)] = "",
    due: Annotated[str, Form(max_length=40)] = "",
) -> Response:
    """Say who is to review a pack, and by the end of which day; no one takes it back."""
    who, until = assignee.strip() or None, f"{due}T23:59:59Z" if due else None
    try:
        workspace.packs.assign(known(pack_id), who, due=until)
    except InputError as error:
        refusal = Refusal("assign", str(error), {"assignee": assignee, "due": due})
        return shown_pack(workspace, request, pack_id, refusal=refusal)
    said = N_("The review was assigned.") if who else N_("The assignment was taken back.")
    return leads_to(request, f"/packs/{pack_id}", said)


def _changed(workspace: Workspace, pack: EvidencePack, typed: Typed) -> EvidencePack:
    """Record the changes that were typed, with calls of tools that were recorded since."""
    changes: dict[str, Any] = {}
    if typed.memo != pack.memo.model_dump():
        changes["memo"] = typed.memo
    late = left_out(pack, workspace.tools.calls(pack.decision_id))
    if late:
        calls = (*pack.tool_calls, *late)
        changes["tool_calls"] = [one.model_dump(mode="json") for one in calls]
    if typed.keep == "open":
        if not changes:
            raise InputError("nothing was changed: there is no new version to record")
        return workspace.packs.revise(pack.pack_id, changes)
    return workspace.packs.modify(pack.pack_id, changes, note=typed.note)


def _form(
    workspace: Workspace,
    request: Request,
    pack: EvidencePack,
    typed: Typed,
    *,
    status: int = 200,
    wrong: tuple[str, ...] = (),
    read: EvidencePack | None = None,
    changes: list[Difference] | None = None,
) -> Response:
    """Return the form that changes a pack; `read` is an older version that it was filled for."""
    versions = versions_of(workspace, pack.pack_id)
    late = left_out(pack, workspace.tools.calls(pack.decision_id))
    return shown(
        request,
        "packs/modify.html",
        status=status,
        pack=pack,
        is_newest=versions[-1].listed.id == pack.pack_id,
        typed=typed,
        wrong=wrong,
        read=read,
        differences=changes or [],
        fields=FIELDS,
        named=VALUES,
        late=len(late),
        most_summary=MAX_SUMMARY_WORDS,
        most_body=MAX_BODY_WORDS,
        names=list(BilingualMemo.model_fields),
        **deciding(workspace, pack, versions),
    )


def _superseded(
    workspace: Workspace, request: Request, pack_id: str, outcome: str, note: str
) -> Response:
    """Return the page that refuses a decision on a version that is no longer the newest."""
    versions = versions_of(workspace, pack_id)
    read, newest = workspace.packs.get(pack_id), workspace.packs.get(versions[-1].listed.id)
    return shown(
        request,
        "packs/newer.html",
        status=409,
        read=read,
        pack=newest,
        newest_version=versions[-1],
        differences=differences(read, newest),
        fields=FIELDS,
        named=VALUES,
        refusal=Refusal(outcome, "", {"note": note}),
        **deciding(workspace, newest, versions),
    )

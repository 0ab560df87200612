"""A pack: what was decided and on what basis, its versions, and what differs between them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal

import orjson
from fastapi import APIRouter, Request
from fastapi import Path as PathField
from starlette.responses import Response

from evidentia.errors import IntegrityError, NotFoundError
from evidentia.ledger.pages import JudgedClaim
from evidentia.packs.model import EvidencePack
from evidentia.packs.retention import kept_until
from evidentia.packs.rules import left_out
from evidentia.packs.tools import ToolCallRecord
from evidentia.server.actions import GuardedRoute, Ws, acts
from evidentia.server.assets import assets
from evidentia.server.pages.packs_difference import differences
from evidentia.server.pages.packs_export import forms
from evidentia.server.pages.packs_labels import FIELDS, TONES, VALUES
from evidentia.server.problems import not_found
from evidentia.server.viewing import may, shown
from evidentia.store.sql.packs import ListedPack
from evidentia.trail.entry import EntryKind
from evidentia.workspace import Workspace
from evidentia.workspace.acting import OWNER
from evidentia.workspace.assigning import AwaitedReview

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)

PackId = Annotated[str, PathField(max_length=100)]
Languages = Literal["both", "en", "ar"]
SHOWN_CLAIMS: Final = 10
_REFERENCE: Final = re.compile(r"(\[[\d\s,،;؛‐-―−-]{1,40}\])")  # noqa: RUF001 - of both scripts
_NUMBER: Final = re.compile(r"\d{1,4}")


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a pack, with what the trail's entry says of it."""

    listed: ListedPack
    by: str | None
    """Who sealed or reviewed it; None if the entry was erased."""
    is_review: bool
    is_self_review: bool
    modifies: str | None
    """The version that a review changed and approved in one go."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A form that was refused: which, why, and what was typed into it."""

    form: str
    said: str
    typed: dict[str, str] = field(default_factory=dict)


@router.get("/packs/{pack_id}")
@acts("packs.get")
def pack_page(
    pack_id: PackId, workspace: Ws, request: Request, memo: Languages = "both"
) -> Response:
    """Show a version of a pack, with all that can be done about it."""
    return shown_pack(workspace, request, pack_id, memo=memo)


@router.get("/packs/{pack_id}/compare/{other_pack_id}")
@acts("packs.get")
def compare_packs_page(
    pack_id: PackId, other_pack_id: PackId, workspace: Ws, request: Request
) -> Response:
    """Show what differs between two versions of a pack, the earlier one first."""
    versions = workspace.packs.versions(known(pack_id))
    numbers = {one.id: one.version for one in versions}
    if known(other_pack_id) not in numbers:
        raise not_found()
    old, new = sorted((pack_id, other_pack_id), key=lambda one: numbers[one])
    before, after = workspace.packs.get(old), workspace.packs.get(new)
    return shown(
        request,
        "packs/compare.html",
        before=before,
        after=after,
        versions=versions,
        differences=differences(before, after),
        fields=FIELDS,
        named=VALUES,
    )


def known(given: str) -> str:
    """Return what is a pack's id; other names of packs are no address."""
    if not given.startswith("pack_"):
        raise not_found()
    return given


def shown_pack(
    workspace: Workspace,
    request: Request,
    pack_id: str,
    *,
    memo: Languages = "both",
    refusal: Refusal | None = None,
) -> Response:
    """Return the page of a version; with a form that was refused, and why, as it was typed."""
    pack = workspace.packs.get(known(pack_id))
    versions = versions_of(workspace, pack.pack_id)
    here = next(one for one in versions if one.listed.id == pack.pack_id)
    newest = versions[-1].listed
    late = left_out(pack, workspace.tools.calls(pack.decision_id))
    awaited, following = queued(workspace, newest)
    return shown(
        request,
        "packs/pack.html",
        status=422 if refusal else 200,
        pack=pack,
        here_version=here,
        versions=versions,
        newest=newest,
        is_newest=newest.id == pack.pack_id,
        memo_in=memo,
        summaries=_texts(pack, "executive_summary"),
        bodies=_texts(pack, "body"),
        calls=_calls(pack.tool_calls),
        late_calls=_calls(late),
        claims=_claims(workspace, pack),
        review=review_of(versions, here),
        awaited=awaited,
        following=following,
        reviewers=_reviewers(workspace) if not newest.resolved else [],
        refusal=refusal or Refusal("", ""),
        verifies_here="verify/verify-here.js" in assets().by_name,
        **deciding(workspace, pack, versions),
        **_keeping(workspace, pack, versions),
        **_exporting(workspace, pack.pack_id),
        named=VALUES,
        tones=TONES,
    )


def versions_of(workspace: Workspace, pack_id: str) -> list[Version]:
    """Return all versions of a pack, the oldest first, as the trail tells of them."""
    found = []
    for listed in workspace.packs.versions(pack_id):
        logged = workspace.trail.entry(listed.entry)
        body = logged.body if isinstance(logged.body, dict) else {}
        found.append(
            Version(
                listed,
                by=body.get("by"),
                is_review=logged.entry.kind == EntryKind.REVIEW,
                is_self_review=body.get("self_review") is True,
                modifies=body.get("modifies"),
            )
        )
    return found


def maker_of(versions: Sequence[Version], pack_id: str) -> str | None:
    """Return who made what a version says: a review changes nothing in a pack."""
    at = next(at for at, one in enumerate(versions) if one.listed.id == pack_id)
    return next((one.by for one in reversed(versions[: at + 1]) if not one.is_review), None)


def deciding(
    workspace: Workspace, pack: EvidencePack, versions: Sequence[Version]
) -> dict[str, Any]:
    """Return who may decide on a version: what the forms of a review need to know."""
    maker = maker_of(versions, pack.pack_id)
    return {
        "maker": maker,
        "is_own": maker in {None, workspace.user or OWNER},
        "may_review": may(workspace, "packs.review", pack.pack_id),
        "may_revise": may(workspace, "packs.revise", pack.pack_id),
    }


def review_of(versions: Sequence[Version], here: Version) -> Version | None:
    """Return the version that is the review of what one says; None if there is none."""
    if here.is_review:
        return here
    after = versions[versions.index(here) + 1 :][:1]
    return next((one for one in after if one.is_review), None)


def queued(
    workspace: Workspace, newest: ListedPack
) -> tuple[AwaitedReview | None, AwaitedReview | None]:
    """Return a pack's place in the queue, if it awaits a review, and the pack after it there.

    After the last one comes the first.
    """
    found = workspace.packs.queue(before=newest.entry + 1, limit=2)
    here = found.pop(0) if found and found[0].pack.id == newest.id else None
    found = found or workspace.packs.queue(limit=1)
    after = [one for one in found if one.pack.decision_id != newest.decision_id]
    return here, after[0] if after else None


def _texts(pack: EvidencePack, name: str) -> dict[str, list[list[tuple[str, int | None]]]]:
    """Return a text of the memo in both languages: paragraphs of parts, some of which cite."""
    return {
        language: [
            _cited(paragraph, len(pack.sources))
            for paragraph in re.split(r"\n\s*\n", getattr(pack.memo, f"{name}_{language}").strip())
        ]
        for language in ("en", "ar")
    }


def _cited(text: str, sources: int) -> list[tuple[str, int | None]]:
    found: list[tuple[str, int | None]] = []
    for part in _REFERENCE.split(text):
        number = _NUMBER.search(part) if part.startswith("[") else None
        cited = int(number[0]) if number and _REFERENCE.fullmatch(part) else None
        if part:
            found.append((part, cited if cited is not None and 1 <= cited <= sources else None))
    return found


def _calls(calls: Sequence[ToolCallRecord]) -> list[dict[str, Any]]:
    """Return tool calls as they are shown, each with what it was given and gave."""
    return [
        {"call": one, "inputs": _json(one.inputs), "outputs": _json(one.outputs)} for one in calls
    ]


def _json(value: Any) -> str:
    plain = dict(value)
    return orjson.dumps(plain, option=orjson.OPT_INDENT_2).decode() if plain else ""


def _claims(workspace: Workspace, pack: EvidencePack) -> tuple[JudgedClaim, ...]:
    """Return the first claims of the ledger that a decision rests on, as far as it is there."""
    if pack.ledger is None:
        return ()
    try:
        return tuple(workspace.ledgers.page(pack.ledger.ledger_id, 0, SHOWN_CLAIMS).claims)
    except (NotFoundError, IntegrityError):  # its own page says which
        return ()


def _reviewers(workspace: Workspace) -> list[str]:
    """Return who could be asked for a review, as roles say."""
    roles = {"approver", "admin"}
    return sorted({one.user for one in workspace.access.grants() if one.role.value in roles})


def _keeping(
    workspace: Workspace, pack: EvidencePack, versions: Sequence[Version]
) -> dict[str, Any]:
    policy = workspace.packs.retention()
    first = versions[0].listed
    return {
        "hold": workspace.packs.held().get(pack.pack_id),
        "policy": policy,
        "kept_until": kept_until(first.created_at, policy),
        "may_hold": may(workspace, "packs.hold", pack.pack_id),
        "may_release": may(workspace, "packs.release", pack.pack_id),
    }


def _exporting(workspace: Workspace, pack_id: str) -> dict[str, Any]:
    may_export = may(workspace, "packs.export", pack_id)
    return {
        "may_export": may_export,
        "may_approve_export": may(workspace, "packs.approve_export", pack_id),
        "approvals": workspace.packs.approvals(pack_id) if may_export else [],
        "forms": forms(),
        "needs_approval": workspace.user is not None,
    }

"""The trail: the timeline of anything, the checkpoints that cover it, keys and witnesses."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from evidentia.proof.revocation import Revocation
from evidentia.server.actions import GuardedRoute, Ws, acts
from evidentia.server.pages.trail_words import KINDS, address_of
from evidentia.server.translating import N_
from evidentia.server.viewing import may, shown
from evidentia.trail.entry import EntryKind
from evidentia.workspace import Workspace
from evidentia.workspace.signing import AnnouncedKey
from evidentia.workspace.timelines import TimelineEntry

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)

_FEW: Final = 50
_MOST: Final = 2**53 - 1
_PREFIXES: Final = ("decision/", "bundle/", "run/", "user/", "token/", "judge/", "removed/")
Place = Annotated[int | None, Query(ge=0, le=_MOST)]
KeyState = Literal["current", "rotated", "revoked"]


@dataclass(frozen=True, slots=True)
class ShownKey:
    """A key of the log, and what is to be thought of it."""

    key: AnnouncedKey
    state: KeyState
    revocation: Revocation | None


@dataclass(frozen=True, slots=True)
class Signed:
    """How much of a log is signed: its size, and that of its newest checkpoint."""

    size: int
    covered: int

    @property
    def tail(self) -> int:
        """How many entries no checkpoint covers."""
        return self.size - self.covered


@router.get("/trail")
@acts("trail.timeline")
def trail_page(
    workspace: Ws,
    request: Request,
    *,
    about: Annotated[str, Query(max_length=2_000)] = "",
    kind: Annotated[str, Query(max_length=40)] = "",
    since: Annotated[str, Query(max_length=40)] = "",
    until: Annotated[str, Query(max_length=40)] = "",
    order: Literal["newest", "oldest"] = "newest",
    before: Place = None,
    after: Place = None,
) -> Response:
    """Show the timeline of a thing, or of all there is, by the page."""
    days, wrong = _days({"since": since, "until": until})
    is_down = before is not None or (after is None and order == "newest")
    found: list[TimelineEntry] = []
    if not wrong:
        found = workspace.trail.timeline(
            about.strip() or None,
            kind=kind or None,
            since=days["since"],
            until=days["until"],
            before=before,
            after=after,
            limit=_FEW + 1,
            newest_first=is_down,
        )
    has_more, found = len(found) > _FEW, found[:_FEW]
    has_come = before is not None or after is not None
    if is_down != (order == "newest"):
        found, has_more, has_come = found[::-1], has_come, has_more
    return shown(
        request,
        "trail/timeline.html",
        status=422 if wrong else 200,
        entries=found,
        further=has_more and bool(found),
        back=has_come and bool(found),
        asked={"about": about, "kind": kind, "since": since, "until": until, "order": order},
        wrong=wrong,
        signed=signed_of(workspace),
        kinds=KINDS,
        audits=may(workspace, "access.requests"),
        named=named,
    )


@router.get("/trail/checkpoints")
@acts("trail.checkpoints")
def checkpoints_page(workspace: Ws, request: Request, before: Place = None) -> Response:
    """Show the checkpoints that are kept, the newest first."""
    found = workspace.trail.checkpoints(before=before, limit=_FEW + 1)
    has_more = len(found) > _FEW
    if has_more and found[_FEW].size != found[_FEW - 1].size:  # else two keys signed that size
        found = found[:_FEW]
    return shown(
        request,
        "trail/checkpoints.html",
        checkpoints=found,
        older=found[-1].size if has_more else None,
        is_first=before is None,
        keys={one.key.key.key_id: one for one in keys_of(workspace)},
        signed=signed_of(workspace),
    )


@router.get("/trail/keys")
@acts("trail.keys")
def keys_page(workspace: Ws, request: Request) -> Response:
    """Show the keys of the log and of its users, what revokes them, and the witnesses."""
    has_log = workspace.trail.size > 0
    return shown(
        request,
        "trail/keys.html",
        keys=keys_of(workspace)[::-1],
        users=workspace.trail.users() if has_log else [],
        witnesses=workspace.trail.witnesses(),
        signed=signed_of(workspace),
    )


def keys_of(workspace: Workspace) -> list[ShownKey]:
    """Return the keys of the log with their states, the oldest first."""
    found = workspace.trail.keys()
    revoked = {one.key_id: one for one in workspace.trail.revocations()} if found else {}
    return [
        ShownKey(one, _state(one, one.key.key_id in revoked), revoked.get(one.key.key_id))
        for one in found
    ]


def signed_of(workspace: Workspace) -> Signed:
    """Return how much of the log is signed."""
    covered = workspace.trail.signed_size
    return Signed(max(workspace.trail.size, covered), covered)


def named(subject: str) -> dict[str, str | None]:
    """Return a subject as people know it, and the page of what it names, if there is one."""
    bare = next((subject[len(one) :] for one in _PREFIXES if subject.startswith(one)), subject)
    return {"name": bare, "page": address_of(bare)}


def body_of(found: TimelineEntry, *, audits: bool) -> tuple[Any, bool]:
    """Return an entry's body, and whether it is withheld: requests are for those who audit."""
    withheld = found.logged.entry.kind == EntryKind.REQUEST and not audits
    return (None if withheld else found.logged.body), withheld


def _state(key: AnnouncedKey, is_revoked: bool) -> KeyState:  # noqa: FBT001 - one fact of two
    if is_revoked:
        return "revoked"
    return "current" if key.replaced_at is None else "rotated"


def _days(given: Mapping[str, str]) -> tuple[dict[str, date | None], dict[str, str]]:
    """Return the days that were given, and which of them are none."""
    days: dict[str, date | None] = {}
    wrong: dict[str, str] = {}
    for name, text in given.items():
        try:
            days[name] = date.fromisoformat(text) if text else None
        except ValueError:
            wrong[name] = N_("This is no day: write it as 2026-01-31.")
    return days, wrong

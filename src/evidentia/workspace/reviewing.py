"""Reviewing packs: who may, by what the trail says of who made what, and what is recorded of it.

Who made a version does not review it. The owner of an embedded workspace may, who is alone there:
the entry then says that it is a self-review.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from evidentia.errors import AccessError, InputError
from evidentia.packs.model import EvidencePack, ReviewOutcome
from evidentia.packs.versions import reviewed, revised
from evidentia.trail.entry import EntryKind
from evidentia.workspace.acting import OWNER, Acting, check_name
from evidentia.workspace.holds import recorded
from evidentia.workspace.sealing import (
    PACKS,
    Files,
    attachment,
    keep_versions,
    read_files,
    read_pack,
    to_keep,
)


@dataclass(frozen=True, slots=True)
class Reviewing:
    """A version that is reviewed, by whom, and whether they made it themselves."""

    pack: EvidencePack
    reviewer: str
    self_review: bool


def review(
    acting: Acting, name: str, outcome: ReviewOutcome | str, reviewer: str | None, note: str
) -> EvidencePack:
    """Review a version of a pack: a newer version says who approved or rejected it."""
    if outcome not in list(ReviewOutcome):
        raise InputError(f"a review ends in {' or '.join(ReviewOutcome)}, not {outcome!r}")
    asked = _reviewing(acting, name, reviewer)
    old, came_to = asked.pack, ReviewOutcome(outcome)
    pack = reviewed(old, reviewer=asked.reviewer, outcome=came_to, at=acting.now, note=note)
    said = {"self_review": asked.self_review, "modifies": None}
    keep_versions(acting, to_keep(acting, pack, EntryKind.REVIEW, (), old, more=said), first=pack)
    return pack


def modify(
    acting: Acting,
    name: str,
    changes: Mapping[str, Any],
    *,
    files: Files | None,
    reviewer: str | None,
    note: str,
) -> EvidencePack:
    """Replace a version by a revision, and approve that one, both or neither."""
    asked = _reviewing(acting, name, reviewer)
    if not note.strip():
        raise InputError("who modifies a pack says why: give a note")
    given = read_files(files)
    if not changes and not given:
        raise InputError("who modifies a pack changes something in it: approve it as it is")
    old = asked.pack
    revision = revised(old, with_files(old, changes, given), at=acting.now)
    pack = reviewed(
        revision,
        reviewer=asked.reviewer,
        outcome=ReviewOutcome.APPROVED,
        at=acting.now,
        note=note,
    )
    said = {"self_review": asked.self_review, "modifies": old.pack_id}
    keep_versions(
        acting,
        to_keep(acting, revision, EntryKind.PACK, given.values(), old),
        to_keep(acting, pack, EntryKind.REVIEW, (), revision, more=said),
        first=revision,
    )
    return pack


def with_files(
    old: EvidencePack, changes: Mapping[str, Any], files: Mapping[str, bytes]
) -> Mapping[str, Any]:
    """Return changes to a pack that also attach files, or put them in place of ones so called."""
    if not files:
        return changes
    if "attachments" in changes:
        raise InputError("attachments: give files, or change the field, not both")
    kept = [one for one in old.attachments if one.name not in files]
    new = [attachment(*item) for item in files.items()]
    return {**changes, "attachments": [one.model_dump() for one in (*kept, *new)]}


def maker_of(acting: Acting, connection: Connection, pack_id: str) -> str | None:
    """Return who made what a version says, by proved entries; None if they were erased.

    A review changes nothing in a pack: its maker is who made the version that was reviewed.
    """
    while True:
        for logged in acting.entries(EntryKind.PACK, pack_id, connection=connection):
            match logged.body:
                case {"by": str(maker)}:
                    return maker
        before = [
            logged.body.get("replaces")
            for logged in acting.entries(EntryKind.REVIEW, pack_id, connection=connection)
            if isinstance(logged.body, dict)
        ]
        if not before or not isinstance(before[0], str):
            return None
        pack_id = before[0]


def _reviewing(acting: Acting, name: str, reviewer: str | None) -> Reviewing:
    """Return what is reviewed by whom; raise `AccessError` if they may not review this one."""
    if acting.user is not None and reviewer not in {None, acting.user}:
        raise AccessError(f"{acting.user} reviews in their own name, not in that of {reviewer}")
    who = acting.user or (OWNER if reviewer is None else reviewer)
    check_name(who, "a reviewer")
    with acting.database.read() as connection:
        listed = recorded(acting, connection, PACKS.named(acting, name))
        maker = maker_of(acting, connection, listed.id)
    old = read_pack(acting, listed)
    _refuse_own_agent(acting, old, who)
    own = maker in {None, who, acting.actor}
    if own and acting.user is not None:
        made = f"{who} made it" if maker else "the trail no longer says who made it"
        raise AccessError(
            f"{who} may not review pack {listed.id}: {made}; someone else has to review it"
        )
    return Reviewing(old, who, own)


def _refuse_own_agent(acting: Acting, pack: EvidencePack, reviewer: str) -> None:
    """Raise `AccessError` if a decision is conflicted, and the reviewer's own agent's."""
    from evidentia.access.roles import AgentOwner  # noqa: PLC0415 - only reviews need it
    from evidentia.workspace.access import access_of  # noqa: PLC0415 - the same

    owned = AgentOwner(user=reviewer, tenant_id=acting.tenant, agent_name=pack.agent_name)
    conflicted = pack.decision is not None and pack.decision.conflicted
    if conflicted and owned in access_of(acting).owners:
        raise AccessError(
            f"{reviewer} may not review pack {pack.pack_id}: it is marked as conflicted, and "
            f"agent {pack.agent_name} is their own"
        )

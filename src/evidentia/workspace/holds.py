"""Legal holds, as the trail has them: found by proved entries alone, whatever rows say."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import Connection

from evidentia.errors import IntegrityError, UsageError
from evidentia.packs.retention import LegalHold
from evidentia.store.sql.packs import ListedPack
from evidentia.trail.adoption import Adoption, covers
from evidentia.trail.entry import Entry, EntryKind
from evidentia.workspace.acting import Acting
from evidentia.workspace.authority import authority_of, counting


@dataclass(frozen=True, slots=True)
class Holds:
    """The holds that the trail has up to an entry, by the packs that they were put on.

    A hold is on all versions of a pack, which are those of one decision.
    """

    seq: int = -1
    by_pack: Mapping[str, LegalHold] = field(default_factory=dict)
    decisions: Mapping[str, str | None] = field(default_factory=dict)
    """The decisions of the packs that are held."""
    adopted: tuple[Adoption, ...] = ()
    """Ranges of entries that no key vouched for: what they release stays on hold."""
    revocations: int = 0
    """How many keys were revoked: what they released from then on stays on hold, too."""


def holds_of(acting: Acting, connection: Connection) -> Holds:
    """Return the holds that are in force; reads only what is new.

    A hold counts in any case, as all that it does is keep; what ends one has to be signed.
    """
    adopted = acting.unvouched(connection)
    authority = authority_of(acting, connection)
    revoked = len(authority.revocations)
    seen = acting.opened.holds.get(acting.tenant)
    if seen is None or (seen.adopted, seen.revocations) != (adopted, revoked):
        seen = Holds(adopted=adopted, revocations=revoked)
    logged = acting.entries(EntryKind.RETENTION, connection=connection, after=seen.seq)
    if not logged:
        return seen
    decide = {one.entry.seq for one in counting(acting, logged, connection, authority)}
    by_pack, decisions = dict(seen.by_pack), dict(seen.decisions)
    for one in logged:
        subject = one.entry.subject
        match one.body:
            case {"action": "hold", "reason": str(reason), "by": str(by)}:
                at = one.entry.at
                by_pack[subject] = LegalHold(pack_id=subject, reason=reason, actor=by, at=at)
                decisions[subject] = _decision(acting, connection, subject)
            case {"action": "release"} if one.entry.seq in decide and not covers(
                adopted, one.entry.seq
            ):
                by_pack.pop(subject, None)
                decisions.pop(subject, None)
    found = Holds(logged[-1].entry.seq, by_pack, decisions, adopted, revoked)
    acting.opened.holds.put(acting.tenant, found)
    return found


def hold_on(acting: Acting, connection: Connection, pack_id: str) -> LegalHold | None:
    """Return the hold that is on a version of a pack, wherever it was put; None if there is none.

    Raise `IntegrityError` if what the trail says of the pack is not what was signed.
    """
    found = holds_of(acting, connection)
    if pack_id in found.by_pack or not found.by_pack:
        return found.by_pack.get(pack_id)
    decision = _decision(acting, connection, pack_id)
    if decision is None:
        return None
    same = (held for held, other in found.decisions.items() if other == decision)
    return next((found.by_pack[held] for held in same), None)


def recorded(acting: Acting, connection: Connection, listed: ListedPack) -> ListedPack:
    """Return a pack as it is listed; raise `IntegrityError` if the trail has another decision.

    Who acts on a decision by its name is not to act on the pack of another.
    """
    decision = _decision(acting, connection, listed.id)
    if decision is not None and decision != listed.decision_id:
        raise IntegrityError(
            f"pack {listed.id} is of decision {decision!r}, and its row says "
            f"{listed.decision_id!r}: run 'evidentia verify'"
        )
    return listed


def refuse_held(acting: Acting, connection: Connection, entry: Entry) -> None:
    """Raise `UsageError` if an entry records a pack that is on hold."""
    if entry.kind not in {EntryKind.PACK, EntryKind.REVIEW}:
        return
    hold = hold_on(acting, connection, entry.subject)
    if hold is not None:
        raise UsageError(
            f"pack {entry.subject} is on legal hold since {hold.at} by {hold.actor}, and stays: "
            f"'evidentia pack release {entry.subject} --reason TEXT' ends the hold"
        )


def _decision(acting: Acting, connection: Connection, pack_id: str) -> str | None:
    """Return the decision of a pack, as the entry says that records it; None if it was erased."""
    for kind in (EntryKind.PACK, EntryKind.REVIEW):
        for logged in acting.entries(kind, pack_id, connection=connection):
            match logged.body:
                case {"decision_id": str(decision_id)}:
                    return decision_id
    return None

"""Keeping packs: for how long, what holds them longer, sweeps, and audits."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection

from evidentia.errors import InputError, IntegrityError, NotFoundError, UsageError
from evidentia.language.counting import counted
from evidentia.logs import get_logger
from evidentia.packs.model import EvidencePack
from evidentia.packs.retention import (
    DEFAULT_RETENTION,
    Kept,
    LegalHold,
    RetentionPolicy,
    due,
    kept_until,
)
from evidentia.proof.verification import STATEMENT_DIGEST
from evidentia.store.sql import packs
from evidentia.store.sql.log import Receipt
from evidentia.store.sql.packs import ListedPack
from evidentia.trail.adoption import covers
from evidentia.trail.entry import EntryKind
from evidentia.workspace.acting import Acting
from evidentia.workspace.authority import counting
from evidentia.workspace.erasing import erase_within
from evidentia.workspace.holds import hold_on, holds_of, recorded
from evidentia.workspace.keeping import finish_removals
from evidentia.workspace.locking import LockedError, auditing_locks, lock_recorded
from evidentia.workspace.logged import LoggedEntry
from evidentia.workspace.recorded import Progress
from evidentia.workspace.sealing import PACKS, decisions_of, difference, read_pack
from evidentia.workspace.tools import calls_of
from evidentia.workspace.unseen import unseen_calls
from evidentia.workspace.versions import forks

_POLICY: Final = "retention"
MAX_REASON: Final = 1_000
_log = get_logger("workspace")


@dataclass(frozen=True, slots=True)
class PackAudit:
    """What an audit of packs found: mandatory ones that are missing, open reviews, damage.

    `late_calls` says which tool calls were recorded for a decision after its pack was sealed: a
    revision takes them in. `missing_calls` says which are not recorded: those that a pack has and
    the tool ledger does not, and those that a model asked for in a run and nobody recorded.
    """

    decisions: int
    packs: int
    missing: tuple[str, ...]
    unresolved: tuple[str, ...]
    late_calls: tuple[str, ...]
    missing_calls: tuple[str, ...]
    problems: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether no mandatory pack is missing and every pack is as it was sealed."""
        return not self.missing and not self.problems

    def as_json(self) -> dict[str, Any]:
        """Return the audit as a JSON object."""
        found = {name: getattr(self, name) for name in self.__slots__}
        return {name: list(v) if isinstance(v, tuple) else v for name, v in found.items()}


@dataclass(frozen=True, slots=True)
class SweptPack:
    """A pack whose retention has ended: what it was, and the entry that says it was removed."""

    pack_id: str
    decision_id: str
    created_at: str
    kept_until: str
    erasure: int | None
    """The number of the entry that records its removal; None if it was only looked for."""


def holds(acting: Acting, connection: Connection) -> dict[str, LegalHold]:
    """Return the holds, each under the ids of all versions of the pack that the database has.

    What removes a pack asks `hold_on`, which believes no row.
    """
    held: dict[str, LegalHold] = {}
    for pack_id, hold in holds_of(acting, connection).by_pack.items():
        held[pack_id] = hold
        try:
            listed = packs.find_pack(connection, acting.tenant, pack_id)
        except NotFoundError:  # which no one should have removed: an audit finds it
            continue
        held |= {one.id: hold for one in packs.versions(connection, acting.tenant, listed)}
    return held


def retain(acting: Acting, name: str, action: str, reason: str) -> Receipt:
    """Record a hold or its end, one after the other with sweeps."""
    if not reason.strip():
        raise InputError("a legal hold, and its end, need a reason")
    if len(reason) > MAX_REASON:
        raise InputError(
            f"the reason has {len(reason):,} characters, {MAX_REASON:,} at most: shorten it, "
            "and say where the rest can be read"
        )
    with acting.writing() as connection:  # no sweep meanwhile
        listed = recorded(acting, connection, packs.find_pack(connection, acting.tenant, name))
        hold = hold_on(acting, connection, listed.id)
        if (hold is not None) == (action == "hold"):
            state = "on hold already" if hold else "not on hold"
            raise InputError(f"pack {listed.id} is {state}")
        held = hold.pack_id if hold else listed.id  # a hold ends where it was put
        body = {"action": action, "reason": reason, "by": acting.actor}
        receipt = acting.append_within(connection, EntryKind.RETENTION, held, body)
        versions = [one.id for one in packs.versions(connection, acting.tenant, listed)]
    lock_recorded(acting, versions, receipt.seq)
    return receipt


def policy_of(acting: Acting) -> RetentionPolicy:
    """Return the tenant's retention: 7 years, unless another policy was set."""
    adopted = acting.unvouched()
    for logged in reversed(counting(acting, acting.entries(EntryKind.RETENTION, _POLICY))):
        match logged.body:
            case {"years": int(years), "basis": str(basis)} if not covers(
                adopted, logged.entry.seq
            ):
                return RetentionPolicy(years=years, basis=basis)
    return DEFAULT_RETENTION


def set_policy(acting: Acting, policy: RetentionPolicy) -> Receipt:
    """Set for how long the tenant's packs are kept."""
    body = {**policy.model_dump(mode="json"), "by": acting.actor}
    return acting.record(EntryKind.RETENTION, _POLICY, body)


def sweep(acting: Acting, *, dry_run: bool, progress: Progress | None) -> list[SweptPack]:
    """Remove the packs whose retention has ended and which no one holds; return them."""
    policy, now = policy_of(acting), acting.now
    year_after = f"{max(1, int(now[:4]) - policy.years + 1):04}-01-01T00:00:00.000000Z"
    with acting.database.read() as connection:
        listed = packs.created_before(connection, acting.tenant, year_after)
        held = holds(acting, connection)
    by_id = {one.id: one for one in listed}
    kept = [Kept(one.id, one.created_at) for one in listed]
    ended = due(kept, policy=policy, held=held, at=now)
    swept: list[SweptPack] = []
    kept_files: list[UsageError] = []
    for done, one in enumerate(ended, 1):
        pack, until = by_id[one.pack_id], kept_until(one.created_at, policy)
        receipt = None if dry_run else _sweep(acting, pack, until, policy, kept_files)
        if dry_run or receipt is not None:  # else it was put on hold, or removed, meanwhile
            erasure = receipt.seq if receipt else None
            swept.append(SweptPack(pack.id, pack.decision_id, pack.created_at, until, erasure))
        if progress is not None:
            progress(done, len(ended))
    if not dry_run and acting.lake.is_remote:
        finish_removals(acting, ())  # what others left
    if swept and not dry_run:
        acting.database.settle()
        _log.info("packs_swept", tenant=acting.tenant, count=len(swept))
    if kept_files:
        raise UsageError(
            f"{counted(len(swept), 'pack is', 'packs are')} removed, as the trail says, and files "
            f"of {len(kept_files):,} are not: {kept_files[0]}; the next sweep tries again"
        )
    return swept


def _sweep(
    acting: Acting,
    pack: ListedPack,
    until: str,
    policy: RetentionPolicy,
    kept_files: list[UsageError],
) -> Receipt | None:
    """Remove one pack, unless it was put on hold or removed since it was looked for.

    One that the bucket keeps for longer than the policy stays; why a file of it does is noted.
    """

    def remove(connection: Connection) -> tuple[Receipt, list[str]] | None:
        try:
            packs.find_pack(connection, acting.tenant, pack.id)
        except NotFoundError:
            return None
        if hold_on(acting, connection, pack.id) is not None:
            return None
        _compare_age(acting, pack)
        reason = f"kept until {until}: {counted(policy.years, 'year')}, {policy.basis}"
        return erase_within(acting, connection, pack.entry, reason=reason, by=acting.actor)

    try:
        done = acting.writing_ahead(remove)  # no hold meanwhile
    except LockedError as error:
        _log.warning("pack_not_swept", tenant=acting.tenant, pack=pack.id, reason=str(error))
        return None
    if done is None:
        return None
    receipt, files = done
    try:
        finish_removals(acting, files, left=False)
    except UsageError as error:
        kept_files.append(error)
    return receipt


def _compare_age(acting: Acting, row: ListedPack) -> None:
    """Raise `IntegrityError` unless a pack is as old as its row says: rows decide nothing."""
    pack = read_pack(acting, row)
    sealed = packs.row_of(pack, row.statement_sha256, row.entry).created_at
    if sealed != row.created_at:
        raise IntegrityError(
            f"pack {row.id}: its row says that it was made at {row.created_at[:40]!r}, and the "
            f"pack itself {sealed}: nothing more is removed; run 'evidentia pack audit'"
        )


def forget_pack(acting: Acting, connection: Connection, logged: LoggedEntry) -> None:
    """Remove an erased pack's row; the trail says which it was, as its entry did."""
    packs.erase_pack(connection, acting.tenant, logged.entry.seq)
    said = logged.body
    body = {
        "action": "removed",
        "decision_id": said["decision_id"],
        "version": said["version"],
        "statement_sha256": said[STATEMENT_DIGEST],
        "by": acting.actor,
    }
    acting.append_within(connection, EntryKind.RETENTION, logged.entry.subject, body)


def audit(acting: Acting, progress: Progress | None) -> PackAudit:
    """Find mandatory packs that are missing, open reviews, and packs that do not hold."""
    decisions = decisions_of(acting)
    found: list[ListedPack] = []
    late: dict[str, list[str]] = {}
    gone: dict[str, list[str]] = {}
    locked_otherwise = auditing_locks(acting)

    def check(row: ListedPack) -> Iterable[str]:
        from evidentia.packs.rules import left_out, unrecorded  # noqa: PLC0415 - only this needs it

        found.append(row)
        yield from locked_otherwise(row)
        pack = read_pack(acting, row)
        _compare(acting, row, pack, decisions.get(row.decision_id))
        calls = calls_of(acting, pack.decision_id)
        late[row.id] = [
            f"pack {row.id}: a call of {call.tool_name} that {call.outcome.value} was recorded "
            f"for {pack.decision_id} after it was sealed: revise it"
            for call in left_out(pack, calls)
        ]
        gone[row.id] = [
            f"pack {row.id}: it has a call of {call.tool_name} that {call.outcome.value}, and the "
            f"tool ledger of {pack.decision_id} does not: its entry was erased, or never made"
            for call in unrecorded(pack, calls)
        ] + [f"pack {row.id}: {said}" for said in unseen_calls(acting, pack)]

    problems = [*PACKS.audit(acting, check, progress), *forks(acting)]
    with acting.database.read() as connection:
        count = len(packs.recorded_packs(connection, acting.tenant))
    replaced = {one.replaces for one in found}
    newest = [one.id for one in found if one.id not in replaced]
    return PackAudit(
        decisions=len(decisions),
        packs=count,
        missing=tuple(_missing(acting, decisions, {one.decision_id for one in found})),
        unresolved=tuple(one.id for one in found if not one.resolved and one.id not in replaced),
        late_calls=tuple(said for one in newest for said in late.get(one, ())),
        missing_calls=tuple(said for one in newest for said in gone.get(one, ())),
        problems=tuple(problems),
    )


def missing(acting: Acting) -> list[str]:
    """Return the decisions that must have a pack and have none, by the trail and the rows."""
    with acting.database.read() as connection:
        made = {one.decision_id for one in packs.list_packs(connection, acting.tenant)}
    return list(_missing(acting, decisions_of(acting), made))


def _compare(
    acting: Acting, row: ListedPack, pack: EvidencePack, recorded: Mapping[str, Any] | None
) -> None:
    """Raise `IntegrityError` unless row, statement, attachments and decision agree."""
    with acting.database.read() as connection:
        if packs.stored_json(connection, acting.tenant, row.id) != pack.encode():
            raise IntegrityError("the row's JSON is not the pack that was sealed")
        named = packs.attached(connection, acting.tenant, row.id)
    if set(named) != {one.sha256 for one in pack.attachments}:
        raise IntegrityError(
            "the rows of pack_attachments name other files than the pack has attached: an erasure "
            "could take a file that is needed"
        )
    if packs.row_of(pack, row.statement_sha256, row.entry) != row:
        raise IntegrityError("the row does not say what the pack says")
    for one in pack.attachments:
        acting.lake.check(one.sha256)
    if recorded is not None and (problem := difference(pack, recorded)):
        raise IntegrityError(problem)


def _missing(
    acting: Acting, decisions: Mapping[str, Mapping[str, Any]], made: set[str]
) -> Iterator[str]:
    """Give the decisions that must have a pack and have none, and never had one removed."""
    policy, now = policy_of(acting), acting.now
    for logged in counting(acting, acting.entries(EntryKind.RETENTION)):
        match logged.body:
            case {"action": "removed", "decision_id": str(decision_id)}:
                made.add(decision_id)
    for decision_id, body in decisions.items():
        if (
            body["requirement"] == "mandatory"
            and decision_id not in made
            and kept_until(body["at"], policy) > now
        ):
            yield decision_id

"""The shell around keeping packs: for how long, what holds them longer, sweeps, and audits."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Connection

from evidentia.canonical import digest
from evidentia.errors import InputError, IntegrityError, NotFoundError, UsageError
from evidentia.logs import get_logger
from evidentia.store import log, packs
from evidentia.store.log import Receipt
from evidentia.store.packs import ListedPack
from evidentia.store.uses import hold_lake, is_used
from evidentia.trail.entry import Entry, EntryKind
from evidentia.workspace.access import committed
from evidentia.workspace.answers import Progress
from evidentia.workspace.kept_packs import PACK_KINDS, KeptPacksShell

if TYPE_CHECKING:
    from evidentia.packs.model import EvidencePack
    from evidentia.packs.retention import LegalHold, RetentionPolicy

_NEVER_ERASED: Final = (EntryKind.RETENTION, EntryKind.ACCESS, EntryKind.EXPORT)
"""What was done to packs, and by whom: a hold that could be erased would hold nothing."""
_POLICY: Final = "retention"
MAX_REASON: Final = 1_000
_log = get_logger("workspace")


@dataclass(frozen=True, slots=True)
class PackAudit:
    """What an audit of packs found: mandatory ones that are missing, open reviews, damage.

    `late_calls` says which tool calls were recorded for a decision after its pack was sealed: a
    revision takes them in.
    """

    decisions: int
    packs: int
    missing: tuple[str, ...]
    unresolved: tuple[str, ...]
    late_calls: tuple[str, ...]
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


class RetentionShell(KeptPacksShell):
    """How long a tenant's packs are kept, and whether they are what they should be."""

    def hold_pack(self, name: str, *, reason: str) -> Receipt:
        """Put a pack on legal hold, in all its versions: nothing removes it until its release."""
        return self._retain(self._find(name, "hold"), "hold", reason)

    def release_pack(self, name: str, *, reason: str) -> Receipt:
        """End the legal hold of a pack."""
        return self._retain(self._find(name, "release"), "release", reason)

    def held_packs(self) -> dict[str, "LegalHold"]:
        """Return the packs on legal hold, in all their versions, by their ids."""
        self._require("list")
        with self._database.read() as connection:
            return self._held(connection)

    def retention(self) -> "RetentionPolicy":
        """Return the tenant's retention: 7 years, unless another policy was set."""
        from evidentia.packs.retention import DEFAULT_RETENTION, RetentionPolicy  # noqa: PLC0415 - loaded when needed

        self._require("list")
        with self._database.read() as connection:
            rows = log.find_entries(
                connection,
                self.tenant,
                kind=EntryKind.RETENTION,
                subject=_POLICY,
                limit=1,
                newest_first=True,
            )
        for logged in map(committed, rows):
            match logged.body:
                case {"years": int(years), "basis": str(basis)}:
                    return RetentionPolicy(years=years, basis=basis)
        return DEFAULT_RETENTION

    def set_retention(self, policy: "RetentionPolicy") -> Receipt:
        """Set for how long the tenant's packs are kept."""
        self._require("sweep")
        body = {**policy.model_dump(mode="json"), "by": self._actor}
        return self._note(EntryKind.RETENTION, _POLICY, body)

    def sweep_packs(
        self, *, dry_run: bool = False, progress: Progress | None = None
    ) -> list[SweptPack]:
        """Remove the packs whose retention has ended and which no one holds; return them.

        The trail says of each what was removed, when and why, and keeps proving that it was there.
        """
        from evidentia.packs.retention import Kept, due, kept_until  # noqa: PLC0415 - see above

        self._require("sweep")
        policy, now = self.retention(), self._now()
        year_after = f"{int(now[:4]) - policy.years + 1:04}"
        with self._database.read() as connection:
            listed = packs.created_before(connection, self.tenant, year_after)
            held = self._held(connection)
        by_id = {one.id: one for one in listed}
        kept = [Kept(one.id, one.created_at) for one in listed]
        ended = due(kept, policy=policy, held=held, at=now)
        swept: list[SweptPack] = []
        for done, one in enumerate(ended, 1):
            pack, until = by_id[one.pack_id], kept_until(one.created_at, policy)
            receipt = None if dry_run else self._sweep(pack, until, policy)
            if dry_run or receipt is not None:  # else it was put on hold, or removed, meanwhile
                erasure = receipt.seq if receipt else None
                swept.append(SweptPack(pack.id, pack.decision_id, pack.created_at, until, erasure))
            (progress or _ignore)(done, len(ended))
        if swept and not dry_run:
            self._database.settle()
            _log.info("packs_swept", tenant=self.tenant, count=len(swept))
        return swept

    def audit_packs(self, *, progress: Progress | None = None) -> PackAudit:
        """Find mandatory packs that are missing, open reviews, and packs that do not hold.

        Tool calls that were recorded after their decision's pack was sealed are listed, too.
        """
        from evidentia.packs.rules import left_out  # noqa: PLC0415 - see above

        self._require("audit")
        with self._database.read() as connection:
            ids = packs.pack_ids(connection, self.tenant)
            problems = packs.missing_packs(connection, self.tenant)
        decisions = self._decisions()
        found: list[ListedPack] = []
        late: dict[str, list[str]] = {}
        for done, pack_id in enumerate(ids, 1):
            try:
                with self._database.read() as connection:
                    listed = packs.find_pack(connection, self.tenant, pack_id)
                found.append(listed)
                pack = self._check_pack(listed)
                _check_decided(pack, decisions.get(listed.decision_id))
                late[pack_id] = [
                    f"pack {pack_id}: a call of {call.tool_name} that {call.outcome.value} was "
                    f"recorded for {pack.decision_id} after it was sealed: revise it"
                    for call in left_out(pack, self.tool_ledger.calls(pack.decision_id))
                ]
            except (IntegrityError, NotFoundError) as error:
                named = f"pack {pack_id}: "
                problems.append(f"{named}{str(error).removeprefix(named)}")
            (progress or _ignore)(done, len(ids))
        replaced = {one.replaces for one in found}
        return PackAudit(
            decisions=len(decisions),
            packs=len(ids),
            missing=tuple(self._missing(decisions, {one.decision_id for one in found})),
            unresolved=tuple(
                one.id for one in found if not one.resolved and one.id not in replaced
            ),
            late_calls=tuple(
                said for one in found if one.id not in replaced for said in late.get(one.id, ())
            ),
            problems=tuple(problems),
        )

    # Within

    def _decisions(self, decision_id: str | None = None) -> dict[str, dict[str, Any]]:
        """Return what the trail says of decisions, by their ids; what was erased says nothing."""
        subject = None if decision_id is None else f"decision/{decision_id}"
        with self._database.read() as connection:
            rows = log.find_entries(
                connection, self.tenant, kind=EntryKind.DECISION, subject=subject
            )
        return {
            logged.entry.subject.removeprefix("decision/"): {**logged.body, "at": logged.entry.at}
            for logged in map(committed, rows)
            if isinstance(logged.body, dict) and "decision_sha256" in logged.body
        }

    def _missing(self, decisions: dict[str, dict[str, Any]], made: set[str]) -> Iterable[str]:
        """Return the decisions that must have a pack and have none, and never had one removed."""
        from evidentia.packs.retention import kept_until  # noqa: PLC0415 - see above

        policy, now = self.retention(), self._now()
        with self._database.read() as connection:
            rows = log.find_entries(connection, self.tenant, kind=EntryKind.RETENTION)
        for logged in map(committed, rows):
            match logged.body:
                case {"action": "removed", "decision_id": str(decision_id)}:
                    made.add(decision_id)
        return (
            decision_id
            for decision_id, body in decisions.items()
            if body["requirement"] == "mandatory"
            and decision_id not in made
            and kept_until(body["at"], policy) > now
        )

    def _retain(self, listed: ListedPack, action: str, reason: str) -> Receipt:
        """Record a hold or its end, one after the other with sweeps."""
        if not reason.strip():
            raise InputError("a legal hold, and its end, need a reason")
        if len(reason) > MAX_REASON:
            raise InputError(
                f"the reason has {len(reason):,} characters, {MAX_REASON:,} at most: shorten it, "
                "and say where the rest can be read"
            )
        self._refuse_to_fork()
        with self._database.write() as connection:
            log.lock_head(connection, self.tenant, self._new_origin)  # no sweep meanwhile
            packs.find_pack(connection, self.tenant, listed.id)
            hold = self._held(connection).get(listed.id)
            if (hold is not None) == (action == "hold"):
                state = "on hold already" if hold else "not on hold"
                raise InputError(f"pack {listed.id} is {state}")
            held = hold.pack_id if hold else listed.id  # a hold ends where it was put
            body = {"action": action, "reason": reason, "by": self._actor}
            return self._append_within(connection, EntryKind.RETENTION, held, body)

    def _held(self, connection: Connection) -> "dict[str, LegalHold]":
        """Return the holds, each under the ids of all versions of the pack that it is on."""
        from evidentia.packs.retention import LegalHold  # noqa: PLC0415 - see above

        holds: dict[str, LegalHold] = {}
        rows = log.find_entries(connection, self.tenant, kind=EntryKind.RETENTION)
        for logged in map(committed, rows):
            subject = logged.entry.subject
            match logged.body:
                case {"action": "hold", "reason": str(reason), "by": str(by)}:
                    holds[subject] = LegalHold(
                        pack_id=subject, reason=reason, actor=by, at=logged.entry.at
                    )
                case {"action": "release"}:
                    holds.pop(subject, None)
        held: dict[str, LegalHold] = {}
        for pack_id, hold in holds.items():
            held[pack_id] = hold
            try:
                listed = packs.find_pack(connection, self.tenant, pack_id)
            except NotFoundError:  # which no one should have removed: an audit finds it
                continue
            held |= {one.id: hold for one in packs.versions(connection, self.tenant, listed)}
        return held

    def _sweep(self, pack: ListedPack, until: str, policy: "RetentionPolicy") -> Receipt | None:
        """Remove one pack, unless it was put on hold or removed since it was looked for."""
        self._refuse_to_fork()
        with self._database.write() as connection:
            log.lock_head(connection, self.tenant, self._new_origin)  # no hold meanwhile
            try:
                packs.find_pack(connection, self.tenant, pack.id)
            except NotFoundError:
                return None
            if pack.id in self._held(connection):
                return None
            reason = f"kept until {until}: {policy.years} years, {policy.basis}"
            receipt, remove_files = self._erase_within(
                connection, pack.entry, reason=reason, by=self._actor
            )
        remove_files()
        return receipt

    def _forget(self, connection: Connection, entry: Entry) -> Callable[[], None]:
        """Remove an erased pack's row, and then its statement and attachments from the lake."""
        if entry.kind in _NEVER_ERASED:
            raise UsageError(f"entry {entry.seq} is of kind {entry.kind} and is never erased")
        if entry.kind not in PACK_KINDS:
            return super()._forget(connection, entry)
        if entry.subject in self._held(connection):
            raise UsageError(f"pack {entry.subject} is on legal hold: release it first")
        gone = packs.erase_pack(connection, self.tenant, entry.seq)
        if gone is None:
            return lambda: None
        body = {
            "action": "removed",
            "decision_id": gone.decision_id,
            "version": gone.version,
            "statement_sha256": gone.statement_sha256,
            "by": self._actor,
        }
        self._append_within(connection, EntryKind.RETENTION, gone.id, body)
        attached = [key.rpartition("/")[2] for key in gone.attachments]
        return lambda: self._remove_unused([gone.statement_sha256, *attached])

    def _remove_unused(self, digests: Iterable[str]) -> None:
        """Remove from the lake what nothing refers to, of any tenant."""
        with self._database.write() as connection:
            hold_lake(connection)
            for digest in digests:
                if not is_used(connection, digest):
                    self.lake.remove(digest)


def _check_decided(pack: "EvidencePack", recorded: dict[str, Any] | None) -> None:
    if recorded is not None and (problem := difference(pack, recorded)):
        raise IntegrityError(problem)


def difference(pack: "EvidencePack", recorded: dict[str, Any]) -> str | None:
    """Say in what a pack is not about its decision as the trail has it; None if it is."""
    said = None if pack.decision is None else digest(pack.decision.model_dump(mode="json"))
    told = {
        "decision": (said, recorded["summary_sha256"]),
        "entity_id": (pack.entity_id, recorded["entity_id"]),
        "agent_name": (pack.agent_name, recorded["agent_name"]),
    }
    for name, (here, there) in told.items():
        if here != there:
            return f"{name} is not as it was recorded of {pack.decision_id}"
    return None


def _ignore(_done: int, _total: int) -> None:
    pass

"""The trail's part: appending, reading, proving, auditing, publishing, keys."""

import logging
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, overload

from evidentia.errors import InputError
from evidentia.language.counting import counted
from evidentia.logs import get_logger
from evidentia.store.database import under_any_policy
from evidentia.store.sql import log
from evidentia.store.sql.log import Receipt
from evidentia.trail.entry import SALT_BYTES, Entry, EntryKind
from evidentia.trail.note import VerifierKey
from evidentia.trail.record import EvidenceRecord
from evidentia.trail.tiles import TILE_WIDTH
from evidentia.trail.waiting import Waiting, recorded, waiting_records
from evidentia.workspace.acting import Acting
from evidentia.workspace.logged import LoggedEntry, read_logged
from evidentia.workspace.part import Part

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from evidentia.proof.authority import Enrolled
    from evidentia.proof.document import Proof
    from evidentia.proof.keys import TrustedKey
    from evidentia.proof.revocation import Revocation
    from evidentia.store.auditing import AuditReport
    from evidentia.store.publishing import Publication
    from evidentia.store.ranges import Progress
    from evidentia.store.trust import Outside
    from evidentia.store.witnesses import KnownWitness
    from evidentia.trail.witness import WitnessKey
    from evidentia.workspace.signing import AnnouncedKey
    from evidentia.workspace.timelines import KeptCheckpoint, TimelineEntry
    from evidentia.workspace.witnessing import WitnessAnswer

Named = Sequence["str | Path | VerifierKey | TrustedKey"]
"""Public keys that an audit's caller trusts."""
MAX_BATCH = 10_000
SIGNER_SECONDS = 30.0
"""How long a signer command may take, where no other time is said."""
WITNESS_SECONDS = 10.0
"""How long a witness may take to answer, where no other time is said."""
_RECORD_KINDS = (EntryKind.EVIDENCE_RECORD, EntryKind.STATUS_CHANGE)

_log = get_logger("workspace")


class Trail(Part, name="trail"):
    """A tenant's log: append to it, read it, prove entries of it, check it whole."""

    @overload
    def append(
        self,
        record: EvidenceRecord,
        *,
        idempotency_key: str | None = ...,
        wait: Literal[True] = ...,
    ) -> Receipt: ...

    @overload
    def append(
        self, record: EvidenceRecord, *, idempotency_key: str | None = ..., wait: Literal[False]
    ) -> str: ...

    def append(
        self, record: EvidenceRecord, *, idempotency_key: str | None = None, wait: bool = True
    ) -> Receipt | str:
        """Append one evidence record; it is durable when this returns.

        Its receipt says where it stands, sequenced and signed. With `wait=False` a ticket comes
        back as soon as the record is durable, which `receipts` gives the receipt for.
        """
        if not wait:
            return _post(self._acting, [record], [idempotency_key])
        return _append(self._acting, [record], [idempotency_key])[0]

    @overload
    def append_many(
        self,
        records: Sequence[EvidenceRecord],
        *,
        idempotency_keys: Sequence[str] | None = ...,
        wait: Literal[True] = ...,
    ) -> list[Receipt]: ...

    @overload
    def append_many(
        self,
        records: Sequence[EvidenceRecord],
        *,
        idempotency_keys: Sequence[str] | None = ...,
        wait: Literal[False],
    ) -> str: ...

    def append_many(
        self,
        records: Sequence[EvidenceRecord],
        *,
        idempotency_keys: Sequence[str] | None = None,
        wait: bool = True,
    ) -> list[Receipt] | str:
        """Append records in one transaction, all or none; they are durable when this returns.

        An idempotency key that was used before gives back that entry's receipt and appends nothing.
        With `wait=False` one ticket for all of them comes back, as from `append`.
        """
        if len(records) > MAX_BATCH:
            raise InputError(f"{len(records)} records at once, {MAX_BATCH} at most: split them up")
        keys: Sequence[str | None] = idempotency_keys or [None] * len(records)
        if len(keys) != len(records):
            given = counted(len(keys), "idempotency key")
            raise InputError(f"{counted(len(records), 'record')}, but {given}: give one for each")
        if wait:
            return _append(self._acting, records, keys) if records else []
        if not records:
            raise InputError("there is no record to append: a ticket stands for one at least")
        return _post(self._acting, records, keys)

    def receipts(self, ticket: str) -> list[Receipt] | None:
        """Return the receipts of what was appended with `wait=False`; None while it still waits.

        They are kept for 30 days. Raise what kept it from being appended, or `NotFoundError` if
        nothing is known of the ticket.
        """
        return self._acting.opened.sequencer.receipts(self._acting.tenant, ticket)

    def erase(self, seq: int, *, reason: str, by: str) -> Receipt:
        """Erase an entry's body under law; an erasure entry says so, all proofs still hold."""
        from evidentia.workspace.erasing import erase  # noqa: PLC0415 - rarely needed

        return erase(self._acting, seq, reason=reason, by=by)

    # Reading

    @property
    def size(self) -> int:
        """How many entries the log has; 0 if there is no log yet."""
        head = self._acting.read(log.read_head)
        return head.size if head else 0

    @property
    def signed_size(self) -> int:
        """How many entries the newest checkpoint covers that a key of the log signed.

        Whatever is behind them is an unsigned tail, and decides nothing.
        """
        acting = self._acting
        with acting.database.read() as connection:
            return acting.opened.appending.signed_size(connection, acting.tenant)[0]

    def entry(self, seq: int) -> LoggedEntry:
        """Return one entry, proved; raise `NotFoundError` if there is none.

        Raise `IntegrityError` if it, or its body, is not what the signed log has.
        """
        return self._acting.entry(seq)

    def entries(
        self,
        *,
        kind: str | None = None,
        subject: str | None = None,
        before: int | None = None,
        after: int | None = None,
        limit: int | None = None,
        newest_first: bool = False,
        proved: bool = False,
    ) -> list[LoggedEntry]:
        """Return the entries that match; page through them with `before` or `after`.

        They are as the database has them; with `proved`, each is what the signed log has, or
        `IntegrityError` is raised.
        """
        with self._acting.database.read() as connection:
            rows = log.find_entries(
                connection,
                self._acting.tenant,
                kind=kind,
                subject=subject,
                before=before,
                after=after,
                limit=limit,
                newest_first=newest_first,
            )
            if proved:
                return [self._acting.entry_within(connection, row[0]) for row in rows]
        return [read_logged(row) for row in rows]

    def records(self, obligation_id: str | None = None) -> list[EvidenceRecord]:
        """Return the evidence records, of one obligation or of all, oldest first.

        Raise `IntegrityError` if one of them is not what the signed log has.
        """
        acting = self._acting
        with acting.database.read() as connection:
            rows = [
                row
                for kind in _RECORD_KINDS
                for row in log.find_entries(
                    connection, acting.tenant, kind=kind, subject=obligation_id
                )
            ]
            found = [acting.entry_within(connection, row[0]) for row in sorted(rows)]
        return [recorded(logged.body) for logged in found if not logged.erased]

    def timeline(
        self,
        about: str | None = None,
        *,
        kind: str | None = None,
        since: date | None = None,
        until: date | None = None,
        before: int | None = None,
        after: int | None = None,
        limit: int = 50,
        newest_first: bool = True,
    ) -> "list[TimelineEntry]":
        """Return what the log says about an obligation, an entity, a decision, a pack or a user.

        `about` is the id that people know it by; of a pack, its decision or its entity, all
        versions and the decision belong to it. `since` and `until` are days in UTC. An entry that
        is not what was signed comes with its problem, instead of raising; one that is not signed
        at all says so.
        """
        from evidentia.workspace.timelines import find  # noqa: PLC0415 - rarely needed

        days, bounds = (since, until), (before, after)
        return find(self._acting, about, kind, days, bounds, limit=limit, newest_first=newest_first)

    # Proving

    def checkpoints(self, *, before: int | None = None, limit: int = 50) -> "list[KeptCheckpoint]":
        """Return the checkpoints that are kept, the newest first; `before` is a size of the log.

        They are as they are kept: `audit` verifies them.
        """
        from evidentia.workspace.timelines import checkpoints  # noqa: PLC0415 - the same

        return checkpoints(self._acting, before, limit)

    def checkpoint(self) -> str:
        """Return the newest checkpoint, which covers the whole log; it is verified first.

        It has the cosignatures of witnesses that are kept of it. Where there is no log yet, it is
        begun with the announcement of its key. Raise `IntegrityError` where the newest entries are
        not signed: they never are after the fact.
        """
        from evidentia.workspace.signing import checkpoint  # noqa: PLC0415 - not all need it
        from evidentia.workspace.witnessing import cosigned  # noqa: PLC0415 - the same

        return cosigned(self._acting, checkpoint(self._acting))

    def prove(self, seq: int, *, disclose: bool = True, signed_by: str | None = None) -> "Proof":
        """Prove that an entry is in the log, under its newest checkpoint.

        `disclose` puts the body into the proof; without it only the commitment is shown.
        `signed_by` takes the last checkpoint that an older key signed instead: with the
        announcement of a new key (an entry of kind `key`), who trusts the old one can follow.
        """
        from evidentia.store.checkpoints import last_signed_by  # noqa: PLC0415 - the same
        from evidentia.store.proving import prove_from  # noqa: PLC0415 - the same
        from evidentia.workspace.signing import under_newest  # noqa: PLC0415 - the same
        from evidentia.workspace.witnessing import cosigned  # noqa: PLC0415 - the same

        def proved(connection: "Connection", head: log.Head, note: str) -> "Proof":
            tiles = self._acting.opened.tiles
            note = cosigned(self._acting, note)
            return prove_from(connection, head, note, seq, tiles, disclose=disclose)

        if signed_by is None:
            return under_newest(self._acting, proved)
        revocations = self.revocations()
        with self._acting.database.read() as connection:
            head = log.require_head(connection, self._acting.tenant)
            note = last_signed_by(connection, self._acting.tenant, signed_by, revocations)
            return proved(connection, head, note)

    def prove_under(self, note: str, seq: int, *, disclose: bool = True) -> "Proof":
        """Prove an entry under a checkpoint of this log that was signed before."""
        from evidentia.store.proving import prove_entry  # noqa: PLC0415 - the same

        tiles = self._acting.opened.tiles
        return self._acting.read(prove_entry, note, seq, tiles, disclose=disclose)

    def prove_consistency(self, old_size: int, new_size: int | None = None) -> list[bytes]:
        """Prove that the log, now or at `new_size`, begins with its first `old_size` entries."""
        from evidentia.store.proving import prove_consistency  # noqa: PLC0415 - the same

        return self._acting.read(prove_consistency, old_size, new_size, self._acting.opened.tiles)

    def audit(
        self,
        *,
        since: str | None = None,
        keys: "Named" = (),
        signatures: bool = False,
        workers: int | None = None,
        progress: "Progress | None" = None,
    ) -> "AuditReport":
        """Check the whole log, also against the checkpoint kept at home and one given (`since`).

        `keys` are public keys that you trust, or files with them; without any, those are trusted
        that this home signs with, and those that signed what was kept. The database's own word
        alone is never enough. `signatures` verifies that of every checkpoint, however many there
        are; otherwise, where there are more than a thousand, of the newest of each key alone.
        """
        with under_any_policy():
            return audit_log_of(
                self._acting, since, workers, progress, keys=keys, signatures=signatures
            )

    def adopt(
        self, *, reason: str, lost: str | None = None, progress: "Progress | None" = None
    ) -> Receipt:
        """Take over entries that an older version left unsigned; an entry and every audit say so.

        The log is audited first, and nothing else may be wrong with it. Grants, releases and
        retention among these entries do not count afterwards; holds do. Where the log's key is
        gone for good, `lost` says why, and a new one takes its place: every audit shows that, too.
        """
        from evidentia.workspace.adopting import adopt  # noqa: PLC0415 - rarely needed

        return adopt(self._acting, self.audit(progress=progress), reason, lost)

    def accept_loss(self, *, reason: str, progress: "Progress | None" = None) -> Receipt:
        """Let a log go on that is shorter than the checkpoint kept of it, as after a restore.

        The log is audited first, and nothing else may be wrong with it. A record says how many
        entries are lost, and why; the checkpoint is put aside under another name, never removed.
        """
        from evidentia.workspace.losing import accept_loss  # noqa: PLC0415 - rarely needed

        return accept_loss(self._acting, self.audit(progress=progress), reason)

    def keep_checkpoint(self, report: "AuditReport") -> str | None:
        """Keep the newest checkpoint of what an audit found good, and return it.

        Nothing is signed; None if there is no checkpoint.
        """
        from evidentia.store.checkpoints import keep_audited  # noqa: PLC0415 - the same

        acting, opened = self._acting, self._acting.opened
        return keep_audited(acting.database, acting.tenant, report, opened.home, opened.elsewhere)

    def publish(
        self,
        folder: str | Path,
        *,
        versions: bool = False,
        progress: "Progress | None" = None,
    ) -> "Publication":
        """Write the log as static tiles; what was published before is compared, not overwritten.

        The checkpoint has the cosignatures that are kept of it. `versions` publishes the bodies of
        entries about packs and keys, too: readers can tell then which version of a pack is the
        newest.
        """
        from evidentia.store.publishing import publish  # noqa: PLC0415 - rarely needed
        from evidentia.workspace.signing import checkpoint  # noqa: PLC0415 - the same
        from evidentia.workspace.witnessing import cosigned  # noqa: PLC0415 - the same

        note = cosigned(self._acting, checkpoint(self._acting))
        with self._acting.database.read() as connection:
            head = log.require_head(connection, self._acting.tenant)
            return publish(
                connection,
                head,
                note,
                Path(folder),
                progress or (lambda _: None),
                versions=versions,
            )

    def tile(self, level: int, index: int, width: int = TILE_WIDTH) -> bytes:
        """Return a tile's hashes, as `publish` writes them; `width` is that of one begun only.

        Raise `NotFoundError` if the log has not so many yet.
        """
        from evidentia.store.pieces import tile_of  # noqa: PLC0415 - rarely needed

        return self._acting.read(tile_of, (level, index), width, self._acting.opened.tiles)

    def entry_bundle(self, index: int, width: int = TILE_WIDTH) -> bytes:
        """Return entries without their bodies, as `publish` writes them; `width` as for `tile`.

        Raise `IntegrityError` if they are not what the log has signed.
        """
        from evidentia.store.pieces import bundle_of  # noqa: PLC0415 - the same

        return self._acting.read(bundle_of, index, width, self._acting.opened.tiles)

    # Witnesses

    def add_witness(self, url: str, key: "str | WitnessKey") -> "KnownWitness":
        """Add a witness that checkpoints are sent to: its URL, and the key that its operator gives.

        Nothing is sent yet. Where the witnesses are is kept in the home folder.
        """
        from evidentia.workspace.witnessing import add  # noqa: PLC0415 - the same

        return add(self._acting, url, key)

    def remove_witness(self, name: str) -> "KnownWitness":
        """Remove a witness by its name, its URL or its key; what it cosigned stays."""
        from evidentia.workspace.witnessing import remove  # noqa: PLC0415 - the same

        return remove(self._acting, name)

    def witnesses(self) -> "list[KnownWitness]":
        """Return the witnesses that checkpoints are sent to."""
        from evidentia.workspace.witnessing import listed  # noqa: PLC0415 - the same

        return listed(self._acting)

    def send_to_witnesses(self, *, timeout: float = WITNESS_SECONDS) -> "list[WitnessAnswer]":
        """Sign the log as it is now, send that to all witnesses, and keep what they cosign.

        Never raises for a witness that is down or refuses: its answer has the problem. Proofs and
        publications of the log as it is have the cosignatures from then on.
        """
        from evidentia.workspace.witnessing import send  # noqa: PLC0415 - the same

        return send(self._acting, timeout)

    # Keys

    def keys(self) -> "list[AnnouncedKey]":
        """Return the log's signing keys, oldest first; the last one signs now."""
        from evidentia.workspace.signing import announced_keys  # noqa: PLC0415 - not all need it

        return announced_keys(self._acting)

    def public_key(self) -> VerifierKey:
        """Return the public key that signs now; the log's first one is made if it has none."""
        from evidentia.workspace.signing import current_key  # noqa: PLC0415 - the same

        return current_key(self._acting).verifier

    def rotate_key(self, *, lost: str | None = None) -> VerifierKey:
        """Announce a new key in the log; the old one signs last the log with that announcement.

        Where the old one is gone for good, `lost` says why. Nothing vouches for the new one then,
        and every audit shows it.
        """
        from evidentia.workspace.signing import rotate  # noqa: PLC0415 - the same

        return rotate(self._acting, lost)

    def signed_by(self, key_id: str, *, from_size: int) -> list[Entry]:
        """Return the entries that permit or forbid by a key's signature, from a size on.

        They are what revoking the key from there on undoes.
        """
        from evidentia.workspace.revoking import signed_by  # noqa: PLC0415 - the same

        return signed_by(self._acting, key_id, from_size)

    def revoke_key(self, key_id: str, *, from_size: int, reason: str) -> Receipt:
        """Record that a key is not to be believed from a size of the log on.

        What it signed of the log at that size or later does not hold for who knows of it, and what
        it permitted from there on decides nothing. The key that signs now is replaced first.
        """
        from evidentia.workspace.revoking import revoke  # noqa: PLC0415 - rarely needed

        return revoke(self._acting, key_id, from_size, reason)

    def revocations(self) -> "list[Revocation]":
        """Return what revokes keys of this log, the oldest first."""
        from evidentia.workspace.authority import authority_of  # noqa: PLC0415 - not all need it

        return list(authority_of(self._acting).revocations)

    def new_user_key(self) -> VerifierKey:
        """Make a key of your own in this home, to be enrolled; return its public half."""
        from evidentia.workspace.userkeys import new_key  # noqa: PLC0415 - rarely needed

        return new_key(self._acting)

    def enroll(self, user: str, key: "str | Path | VerifierKey | TrustedKey") -> Receipt:
        """Enroll the key of a user, in place of the one there is, if any.

        From then on what permits or forbids in that user's name needs that key's signature.
        """
        from evidentia.proof.files import read_key  # noqa: PLC0415 - the same
        from evidentia.workspace.userkeys import enroll  # noqa: PLC0415 - the same

        return enroll(self._acting, user, read_key(key).public_key)

    def withdraw(self, user: str) -> Receipt:
        """Withdraw the key of a user: the log's key signs for that user again."""
        from evidentia.workspace.userkeys import withdraw  # noqa: PLC0415 - the same

        return withdraw(self._acting, user)

    def users(self) -> "list[Enrolled]":
        """Return the keys of users, also those that were withdrawn, the oldest first."""
        from evidentia.workspace.authority import authority_of  # noqa: PLC0415 - the same

        return list(authority_of(self._acting).users)

    def use_command(
        self,
        key: "str | Path | VerifierKey | TrustedKey",
        command: Sequence[str],
        *,
        timeout: float = SIGNER_SECONDS,
    ) -> VerifierKey:
        """Announce a key that a command signs with, in place of the one there is, if any.

        `key` is its public half, or a file with it; the private half is never here. The command
        gets the bytes to sign on standard input and prints the signature within `timeout` seconds.
        """
        from evidentia.proof.files import read_key  # noqa: PLC0415 - the same
        from evidentia.workspace.signing import use_command  # noqa: PLC0415 - the same

        return use_command(self._acting, read_key(key).public_key, command, timeout)

    def use_token(self, key: "str | Path | VerifierKey | TrustedKey") -> VerifierKey:
        """Announce a key that the token has already, in place of the one there is, if any.

        `key` is its public half, or a file with it. The token is the one that `keys=` names.
        """
        from evidentia.proof.files import read_key  # noqa: PLC0415 - the same
        from evidentia.workspace.signing import use_token  # noqa: PLC0415 - the same

        return use_token(self._acting, read_key(key).public_key)


_MOST_WORKERS: Final = 10_000
"""No cluster has more: of how many there are, it is asked once there is work for two."""


def audit_log_of(
    acting: Acting,
    since: str | None,
    workers: int | None,
    progress: "Progress | None",
    *,
    keys: "Named" = (),
    signatures: bool = False,
) -> "AuditReport":
    """Check the whole log, also against the checkpoint kept at home and one given (`since`)."""
    from evidentia.loading.auditor import share_out  # noqa: PLC0415 - rarely needed
    from evidentia.loading.workers import cores  # noqa: PLC0415 - the same
    from evidentia.store.auditing import audit_log  # noqa: PLC0415 - the same
    from evidentia.workspace.bulk import share_by  # noqa: PLC0415 - the same

    bulk = acting.opened.bulk
    if bulk is not None and bulk.is_elsewhere and acting.database.is_sqlite:
        bulk = None  # none of its machines has this file
    return audit_log(
        acting.database,
        acting.tenant,
        share=share_out if bulk is None else share_by(bulk, acting),
        workers=workers or (cores() if bulk is None else _MOST_WORKERS),
        outside=_outside(acting, since, keys),
        signatures=signatures,
        progress=progress,
    )


def audit_tail_of(acting: Acting, since: str | None, keys: "Named" = ()) -> "AuditReport":
    """Check the log's head and last entries, also against checkpoints from outside."""
    from evidentia.store.auditing import audit_tail  # noqa: PLC0415 - rarely needed

    return audit_tail(acting.database, acting.tenant, outside=_outside(acting, since, keys))


def _outside(acting: Acting, since: str | None, keys: "Named") -> "Outside":
    """Return what is known from outside of the database: checkpoints, and keys."""
    from evidentia.proof.files import read_key  # noqa: PLC0415 - rarely needed
    from evidentia.store.elsewhere import known_checkpoints  # noqa: PLC0415 - the same
    from evidentia.store.keys import KeyPlace  # noqa: PLC0415 - the same
    from evidentia.store.trust import Outside, OutsideCheckpoint  # noqa: PLC0415 - the same
    from evidentia.workspace.signing import announced_keys  # noqa: PLC0415 - the same

    opened = acting.opened
    found = [
        OutsideCheckpoint(f"checkpoint kept in {one.place}", one.note)
        for one in known_checkpoints(opened.home, acting.tenant, opened.elsewhere)
    ]
    if since is not None:
        found.append(OutsideCheckpoint("checkpoint given with --since", since))
    here = [key for key in announced_keys(acting) if key.is_here]
    held = frozenset(key.key.key_id for key in here)
    in_token = frozenset(key.key.key_id for key in here if key.place is KeyPlace.TOKEN)
    return Outside(found, held, [read_key(one) for one in keys], in_token)


def _append(
    acting: Acting, records: Sequence[EvidenceRecord], keys: Sequence[str | None]
) -> list[Receipt]:
    receipts = acting.append(_waiting(acting, records, keys))
    if _log.is_heard(logging.DEBUG):  # an event that no one reads would cost a tenth of it
        _log.debug(
            "records_appended", tenant=acting.tenant, count=len(receipts), last=receipts[-1].seq
        )
    return receipts


def _post(acting: Acting, records: Sequence[EvidenceRecord], keys: Sequence[str | None]) -> str:
    return acting.post(_waiting(acting, records, keys))


def _waiting(
    acting: Acting, records: Sequence[EvidenceRecord], keys: Sequence[str | None]
) -> list[Waiting]:
    acting.refuse_to_fork()
    salts = acting.opened.randomness(SALT_BYTES * len(records))
    return waiting_records(records, by=acting.actor, at=acting.now, salts=salts, keys=keys)

"""The shell around the trail: appending, reading, proving, auditing, publishing, keys."""

import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

from sqlalchemy import Connection

from evidentia.canonical import parse_json
from evidentia.errors import (
    EnvironmentProblem,
    InputError,
    IntegrityError,
    NotFoundError,
    UsageError,
)
from evidentia.frozen import thaw
from evidentia.logs import get_logger
from evidentia.proof.document import Disclosure, Proof
from evidentia.proof.files import read_key
from evidentia.proof.keys import SEED_BYTES, SigningKey, TrustedKey
from evidentia.store import log
from evidentia.store.auditing import AuditReport, OutsideCheckpoint, Progress, audit_log
from evidentia.store.database import Database
from evidentia.store.home import Home, KeyPlace
from evidentia.store.log import Receipt
from evidentia.store.publishing import Publication, publish
from evidentia.store.sequencer import Sequencer
from evidentia.store.signing import PROBE, SIGNER_SECONDS, CommandSigner
from evidentia.store.tree import StoredTree, TileCache
from evidentia.trail.audit import StoredEntry
from evidentia.trail.checkpoint import Checkpoint, log_origin, read_checkpoint
from evidentia.trail.entry import (
    SALT_BYTES,
    Entry,
    EntryKind,
    body_commitment,
    check_tenant,
    encode_body,
    encode_subject,
)
from evidentia.trail.merkle import consistency_proof, inclusion_proof, leaf_hash
from evidentia.trail.note import VerifierKey
from evidentia.trail.record import EvidenceRecord

DEFAULT_TENANT = "default"
MAX_BATCH = 10_000
_EVIDENCE_RECORD, _STATUS_CHANGE = EntryKind.EVIDENCE_RECORD.value, EntryKind.STATUS_CHANGE.value
_RECORD_KINDS = (EntryKind.EVIDENCE_RECORD, EntryKind.STATUS_CHANGE)
_KEPT_FOR_GOOD = (EntryKind.ERASURE, EntryKind.KEY)
_LOG_ID_BYTES = 8

_log = get_logger("workspace")

Clock = Callable[[], datetime]
Randomness = Callable[[int], bytes]


@dataclass(frozen=True, slots=True)
class LoggedEntry:
    """An entry of the log with its body; `body` is None once it was erased."""

    entry: Entry
    leaf: str
    body: Any

    @property
    def erased(self) -> bool:
        """Whether the body was erased."""
        return self.body is None

    def as_json(self) -> dict[str, Any]:
        """Return entry, hash and body as a JSON object."""
        return {"entry": self.entry.as_json(), "leaf": self.leaf, "body": self.body}


@dataclass(frozen=True, slots=True)
class AnnouncedKey:
    """A signing key of the log: since which entry, until which one, and where its secret is."""

    key: VerifierKey
    since: int
    replaced_at: int | None
    place: KeyPlace

    @property
    def held(self) -> bool:
        """Whether the private key itself is here, plain or encrypted."""
        return self.place in {KeyPlace.PLAIN, KeyPlace.ENCRYPTED}

    def as_json(self) -> dict[str, Any]:
        """Return the key as a JSON object."""
        return {
            "key_id": self.key.key_id,
            "public_key": str(self.key),
            "since_entry": self.since,
            "replaced_at_entry": self.replaced_at,
            "private_key_here": self.held,
            "private_key": self.place.value,
        }


class TrailShell:
    """A tenant's log, with the clock, the randomness, the database and the home that it needs."""

    def __init__(
        self,
        database: Database,
        home: Home,
        tenant: str = DEFAULT_TENANT,
        *,
        clock: Clock = lambda: datetime.now(UTC),  # noqa: TID251 - the shell brings the clock
        randomness: Randomness = os.urandom,
    ) -> None:
        self.tenant = check_tenant(tenant)
        self.home = home
        self._database = database
        self._clock = clock
        self._randomness = randomness
        self._sequencer = Sequencer(database, self._new_origin)
        self._tiles = TileCache()
        self._continues = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database's connections."""
        self._database.close()

    # Appending

    def append(self, record: EvidenceRecord, *, idempotency_key: str | None = None) -> Receipt:
        """Append one evidence record; it is durable when this returns."""
        keys = None if idempotency_key is None else [idempotency_key]
        return self.append_many([record], idempotency_keys=keys)[0]

    def append_many(
        self, records: Sequence[EvidenceRecord], *, idempotency_keys: Sequence[str] | None = None
    ) -> list[Receipt]:
        """Append records in one transaction, all or none; they are durable when this returns.

        An idempotency key that was used before gives back that entry's receipt and appends nothing.
        """
        if len(records) > MAX_BATCH:
            raise InputError(f"{len(records)} records at once, {MAX_BATCH} at most: split them up")
        if not records:
            return []
        keys: Sequence[str | None] = idempotency_keys or [None] * len(records)
        if len(keys) != len(records):
            raise InputError(f"{len(records)} records, but {len(keys)} idempotency keys")
        self._refuse_to_fork()
        at = self._now()
        salts = self._randomness(SALT_BYTES * len(records))
        waiting = [
            _waiting(
                _STATUS_CHANGE if record.is_status_change else _EVIDENCE_RECORD,
                record.obligation_id,
                _fields(record),
                at,
                salts[place * SALT_BYTES : (place + 1) * SALT_BYTES],
                key,
            )
            for place, (record, key) in enumerate(zip(records, keys, strict=True))
        ]
        receipts = self._sequencer.append(self.tenant, waiting)
        if _log.is_heard(logging.DEBUG):  # an event that no one reads would cost a tenth of it
            _log.debug(
                "records_appended", tenant=self.tenant, count=len(receipts), last=receipts[-1].seq
            )
        return receipts

    def record(
        self, kind: EntryKind, subject: str, body: Any, *, idempotency_key: str | None = None
    ) -> Receipt:
        """Append an entry of a kind without a method of its own (bundles, ledgers, packs …)."""
        if kind in (*_RECORD_KINDS, *_KEPT_FOR_GOOD):
            raise UsageError(f"an entry of kind {kind} is appended by its own method alone")
        self._refuse_to_fork()
        waiting = self._waiting(kind, subject, body, idempotency_key)
        return self._sequencer.append(self.tenant, [waiting])[0]

    def erase(self, seq: int, *, reason: str, by: str) -> Receipt:
        """Erase an entry's body under law; an erasure entry says so, all proofs still hold."""
        if not reason.strip() or not by.strip():
            raise InputError("an erasure needs a reason and who asked for it")
        self._refuse_to_fork()
        with self._database.write() as connection:
            log.require_head(connection, self.tenant)
            log.lock_head(connection, self.tenant, self._new_origin)  # no one else erases meanwhile
            receipt, remove_files = self._erase_within(connection, seq, reason=reason, by=by)
        remove_files()
        self._database.settle()
        _log.info("body_erased", tenant=self.tenant, entry=seq, recorded_as=receipt.seq)
        return receipt

    # Reading

    @property
    def size(self) -> int:
        """How many entries the log has; 0 if there is no log yet."""
        with self._database.read() as connection:
            head = log.read_head(connection, self.tenant)
        return head.size if head else 0

    def tenants(self) -> list[str]:
        """Return the tenants that have a log in this database."""
        with self._database.read() as connection:
            return log.tenants(connection)

    def entry(self, seq: int) -> LoggedEntry:
        """Return one entry; raise `NotFoundError` if there is none."""
        self._check_reader()
        with self._database.read() as connection:
            log.require_head(connection, self.tenant)
            return read_logged(log.entry_at(connection, self.tenant, seq))

    def entries(
        self,
        *,
        kind: str | None = None,
        subject: str | None = None,
        before: int | None = None,
        after: int | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> list[LoggedEntry]:
        """Return the entries that match; page through them with `before` or `after`."""
        self._check_reader()
        with self._database.read() as connection:
            rows = log.find_entries(
                connection,
                self.tenant,
                kind=kind,
                subject=subject,
                before=before,
                after=after,
                limit=limit,
                newest_first=newest_first,
            )
        return [read_logged(row) for row in rows]

    def records(self, obligation_id: str | None = None) -> list[EvidenceRecord]:
        """Return the evidence records, of one obligation or of all, oldest first."""
        found = [
            logged
            for kind in _RECORD_KINDS
            for logged in self.entries(kind=kind, subject=obligation_id)
            if not logged.erased
        ]
        found.sort(key=lambda logged: logged.entry.seq)
        return [EvidenceRecord.model_validate(logged.body) for logged in found]

    # Proving

    def checkpoint(self) -> str:
        """Sign the log as it is now; return the note, which is also kept in the home folder.

        The first call makes the tenant's key and announces it in the log.
        """
        key = self._current_key()
        with self._database.read() as connection:
            head = log.require_head(connection, self.tenant)
            self._refuse_rollback(connection, head)
        return self._sign(head, key)

    def prove(self, seq: int, *, disclose: bool = True, signed_by: str | None = None) -> Proof:
        """Prove that an entry is in the log, under a checkpoint signed now.

        `disclose` puts the body into the proof; without it only the commitment is shown.
        `signed_by` takes the last checkpoint that an older key signed instead: with the
        announcement of a new key (an entry of kind `key`), who trusts the old one can follow.
        """
        self._check_reader()  # before anything is signed
        note = self.checkpoint() if signed_by is None else self._last_signed_by(signed_by)
        return self.prove_under(note, seq, disclose=disclose)

    def prove_under(self, note: str, seq: int, *, disclose: bool = True) -> Proof:
        """Prove an entry under a checkpoint of this log that was signed before."""
        self._check_reader()
        checkpoint = _checkpoint(note)
        with self._database.read() as connection:
            head = log.require_head(connection, self.tenant)
            if checkpoint.origin != head.origin or checkpoint.size > head.size:
                raise IntegrityError(f"the checkpoint is not of this log's past ({head.origin})")
            row = log.entry_at(connection, self.tenant, seq)
            tree = StoredTree(connection, head, self._tiles)
            hashes = inclusion_proof(tree, seq, checkpoint.size)
        data, salt, body = row[3], row[4], row[5]
        disclosure = None
        if disclose and salt is not None and body is not None:
            disclosure = Disclosure(parse_json(body), salt)
        return Proof(Entry.decode(data), tuple(hashes), note, disclosure)

    def prove_consistency(self, old_size: int, new_size: int | None = None) -> list[bytes]:
        """Prove that the log, now or at `new_size`, begins with its first `old_size` entries."""
        with self._database.read() as connection:
            head = log.require_head(connection, self.tenant)
            tree = StoredTree(connection, head, self._tiles)
            return consistency_proof(tree, old_size, head.size if new_size is None else new_size)

    def audit(
        self,
        *,
        since: str | None = None,
        workers: int | None = None,
        progress: Progress | None = None,
    ) -> AuditReport:
        """Check the whole log, also against the checkpoint kept at home and one given (`since`)."""
        outside = []
        if kept := self.home.kept_checkpoint(self.tenant):
            name = f"checkpoint kept in {self.home.checkpoint_file(self.tenant)}"
            outside.append(OutsideCheckpoint(name, kept))
        if since is not None:
            outside.append(OutsideCheckpoint("checkpoint given with --since", since))
        return audit_log(
            self._database, self.tenant, outside=outside, workers=workers, progress=progress
        )

    def keep_checkpoint(self, report: AuditReport) -> str | None:
        """Keep a checkpoint of what an audit found good, and return it.

        Where the key can't sign now, the newest one that was signed before is kept; None if there
        is none.
        """
        if not report.holds:
            raise IntegrityError("a log that does not hold gets no checkpoint")
        with self._database.read() as connection:
            announced = log.keys(connection, self.tenant)
            stored = [note for _, _, note in log.checkpoints(connection, self.tenant)]
        if not announced:
            return None
        try:
            key = self.home.load_key(self.tenant, announced[-1][1], report.origin)
            if key is not None:
                checkpoint = Checkpoint(report.origin, report.size, bytes.fromhex(report.root))
                stored.append(checkpoint.sign(key.private_key))
        except EnvironmentProblem as problem:  # an audit is good without a new signature
            _log.info("checkpoint_not_signed", tenant=self.tenant, reason=str(problem))
        if not stored:
            return None
        self.home.keep_checkpoint(self.tenant, stored[-1])
        return stored[-1]

    def publish(self, folder: str | Path, *, progress: Progress | None = None) -> Publication:
        """Write the log as static tiles; what was published before is compared, not overwritten."""
        self._check_reader()
        note = self.checkpoint()
        with self._database.read() as connection:
            head = log.require_head(connection, self.tenant)
            return publish(connection, head, note, Path(folder), progress or (lambda _: None))

    # Keys

    def keys(self) -> list[AnnouncedKey]:
        """Return the log's signing keys, oldest first; the last one signs now."""
        with self._database.read() as connection:
            head = log.read_head(connection, self.tenant)
            found = log.keys(connection, self.tenant)
        if head is None:
            return []
        ends: list[int | None] = [seq for seq, _, _ in found[1:]]
        return [
            AnnouncedKey(
                VerifierKey(head.origin, public_key),
                seq,
                end,
                self.home.key_place(self.tenant, key_id),
            )
            for (seq, key_id, public_key), end in zip(found, [*ends, None], strict=False)
        ]

    def public_key(self) -> VerifierKey:
        """Return the public key that signs now; the log's first one is made if it has none."""
        return self._current_key().verifier

    def rotate_key(self) -> VerifierKey:
        """Announce a new key in the log; the old one signs last the log with that announcement."""
        self._refuse_to_fork()
        old, _ = self._held_key()
        passphrase = self.home.new_key_passphrase(self.tenant)
        return self._replace_key(old, self._new_key, passphrase)

    def use_command(
        self,
        key: str | Path | VerifierKey | TrustedKey,
        command: Sequence[str],
        *,
        timeout: float = SIGNER_SECONDS,
    ) -> VerifierKey:
        """Announce a key that a command signs with, in place of the one there is, if any.

        `key` is its public half, or a file with it; the private half is never here. The command
        gets the bytes to sign on standard input and prints the signature within `timeout` seconds.
        """
        self._refuse_to_fork()
        signer = CommandSigner.of(read_key(key).public_key, command, timeout)
        signer.sign(PROBE)
        with self._database.read() as connection:
            head = log.read_head(connection, self.tenant)
            announced = log.keys(connection, self.tenant)
        old = None
        if head is not None and announced:
            old = self.home.load_key(self.tenant, announced[-1][1], head.origin)
        return self._replace_key(old, lambda origin: SigningKey(origin, signer))

    # Within

    def _check_reader(self) -> None:
        """Raise `AccessError` where whoever asks may not read the trail; here, all may."""

    def _erase_within(
        self, connection: Connection, seq: int, *, reason: str, by: str
    ) -> tuple[Receipt, Callable[[], None]]:
        """Erase an entry's body under the log's lock; return what removes files, to run after."""
        target = read_logged(log.entry_at(connection, self.tenant, seq))
        if target.entry.kind in _KEPT_FOR_GOOD:
            raise UsageError(f"entry {seq} is of kind {target.entry.kind} and is never erased")
        if target.erased:
            raise UsageError(f"the body of entry {seq} is erased already")
        subject = log.erasure_subject(seq)
        body = {"entry": seq, "leaf": target.leaf, "reason": reason, "by": by}
        receipt = self._append_within(connection, EntryKind.ERASURE, subject, body)
        log.erase_body(connection, self.tenant, seq)
        return receipt, self._forget(connection, target.entry)

    def _forget(self, connection: Connection, entry: Entry) -> Callable[[], None]:
        """Remove what else is kept of an erased entry; return what removes files, to run after."""
        del connection, entry  # nothing else is, of a record
        return lambda: None

    def _genuine(self, seq: int) -> LoggedEntry:
        """Return an entry; raise `IntegrityError` if its body is not what it commits to."""
        with self._database.read() as connection:
            log.require_head(connection, self.tenant)
            row = log.entry_at(connection, self.tenant, seq)
        logged, salt, body = read_logged(row), row[4], row[5]
        if body is not None and body_commitment(salt or b"", body) != logged.entry.body:
            raise IntegrityError(
                f"entry {seq}: its body is not what it commits to; run 'evidentia trail verify'"
            )
        return logged

    def _now(self) -> str:
        return self._clock().astimezone(UTC).isoformat(timespec="microseconds")[:-6] + "Z"

    def _new_origin(self, tenant: str) -> str:
        return log_origin(self._randomness(_LOG_ID_BYTES).hex(), tenant)

    def _waiting(
        self, kind: EntryKind, subject: str, body: Any, key: str | None = None
    ) -> log.Waiting:
        return _waiting(kind.value, subject, body, self._now(), self._randomness(SALT_BYTES), key)

    def _append_within(
        self, connection: Connection, kind: EntryKind, subject: str, body: Any
    ) -> Receipt:
        """Append one entry inside a transaction that does something else too."""
        head = log.lock_head(connection, self.tenant, self._new_origin)
        moved, receipts = log.append(connection, head, [self._waiting(kind, subject, body)])
        log.move_head(connection, head, moved)
        return receipts[0]

    def _current_key(self) -> SigningKey:
        """Return the key that signs now; make the log's first one if it has none."""
        key, key_id = self._held_key()
        if key is None:
            raise EnvironmentProblem(
                f"the private key {key_id} is not in {self.home.key_file(self.tenant, key_id)}: "
                "copy it there, or make a new one with 'evidentia keys rotate'"
            )
        return key

    def _held_key(self) -> tuple[SigningKey | None, str]:
        """Return the key that signs now, or None if its private half is not here, and its id."""
        with self._database.read() as connection:
            head = log.read_head(connection, self.tenant)
            announced = log.keys(connection, self.tenant)
        if head is None or not announced:
            self._refuse_to_fork()
            passphrase = self.home.new_key_passphrase(self.tenant)  # may ask: before the lock
            with self._database.write() as connection:
                head = log.lock_head(connection, self.tenant, self._new_origin)
                announced = log.keys(connection, self.tenant)
                if not announced:
                    key, _ = self._announce(connection, self._new_key, passphrase)
                    return key, key.verifier.key_id
        key_id = announced[-1][1]
        return self.home.load_key(self.tenant, key_id, head.origin), key_id

    def _replace_key(
        self,
        old: SigningKey | None,
        make: Callable[[str], SigningKey],
        passphrase: bytes | None = None,
    ) -> VerifierKey:
        """Announce a key and have the old one, if it is here, sign last the log with it."""
        if old is not None:
            old.private_key.sign(PROBE)  # one that can't vouch for the new one is found out now
        with self._database.write() as connection:
            new, receipt = self._announce(connection, make, passphrase)
        if old is not None:
            with self._database.read() as connection:
                head = log.require_head(connection, self.tenant)
                tree = StoredTree(connection, head, self._tiles)
                last = Checkpoint(head.origin, receipt.seq + 1, tree.root_at(receipt.seq + 1))
            note = last.sign(old.private_key)
            with self._database.write() as connection:
                log.insert_checkpoint(connection, self.tenant, last.size, old.verifier.key_id, note)
        self.checkpoint()
        _log.info("key_rotated", tenant=self.tenant, key_id=new.verifier.key_id, entry=receipt.seq)
        return new.verifier

    def _new_key(self, origin: str) -> SigningKey:
        return SigningKey.from_seed(origin, self._randomness(SEED_BYTES))

    def _announce(
        self, connection: Connection, make: Callable[[str], SigningKey], passphrase: bytes | None
    ) -> tuple[SigningKey, Receipt]:
        """Make a key, keep its private half at home, and announce its public half in the log."""
        head = log.lock_head(connection, self.tenant, self._new_origin)
        before = log.keys(connection, self.tenant)
        key = make(head.origin)
        public = key.verifier
        if any(public.key_id == known for _, known, _ in before):
            raise UsageError(f"key {public.key_id} is one of this log's keys already: make another")
        self.home.save_key(self.tenant, key, passphrase)
        body = {"key": str(public), "replaces": before[-1][1] if before else None}
        receipt = self._append_within(connection, EntryKind.KEY, public.key_id, body)
        log.insert_key(connection, self.tenant, receipt.seq, public.key_id, public.public_key)
        return key, receipt

    def _sign(self, head: log.Head, key: SigningKey) -> str:
        checkpoint = Checkpoint(head.origin, head.size, head.root)
        key_id = key.verifier.key_id
        with self._database.read() as connection:
            note = log.checkpoint_note(connection, self.tenant, head.size, key_id)
        if note is None:
            note = checkpoint.sign(key.private_key)
            with self._database.write() as connection:
                log.insert_checkpoint(connection, self.tenant, head.size, key_id, note)
            _log.info("checkpoint_signed", tenant=self.tenant, size=head.size, key_id=key_id)
        self.home.keep_checkpoint(self.tenant, note)
        return note

    def _last_signed_by(self, key_id: str) -> str:
        with self._database.read() as connection:
            log.require_head(connection, self.tenant)
            notes = [
                note
                for _, signer, note in log.checkpoints(connection, self.tenant)
                if signer == key_id
            ]
        if not notes:
            raise NotFoundError(f"key {key_id!r} signed no checkpoint of this log")
        return notes[-1]

    def _refuse_to_fork(self) -> None:
        """Before the first write, check that the log continues the checkpoint kept at home."""
        if not self._continues:
            with self._database.read() as connection:
                head = log.read_head(connection, self.tenant)
                if head is not None:
                    self._refuse_rollback(connection, head)
                elif self.home.kept_checkpoint(self.tenant) is not None:
                    raise IntegrityError(
                        f"the log that {self.home.checkpoint_file(self.tenant)} signs is gone: "
                        "bring the database back; if a new log is to begin, move that file away"
                    )
            self._continues = True

    def _refuse_rollback(self, connection: Connection, head: log.Head) -> None:
        """Raise `IntegrityError` if the log does not continue the checkpoint kept at home."""
        kept = self.home.kept_checkpoint(self.tenant)
        if kept is None:
            return
        path = self.home.checkpoint_file(self.tenant)
        checkpoint, _ = read_checkpoint(kept)
        if checkpoint.origin != head.origin:
            raise IntegrityError(
                f"{path} is of another log ({checkpoint.origin}): if this log was begun anew on "
                "purpose, move that file away"
            )
        tree = StoredTree(connection, head, self._tiles)
        if checkpoint.size > head.size or tree.root_at(checkpoint.size) != checkpoint.root:
            raise IntegrityError(
                f"the log's {head.size} entries do not continue the {checkpoint.size} that the "
                f"checkpoint kept in {path} signs: it was rolled back or rewritten. Run 'evidentia "
                "trail verify'; if the log is to go on as it is, move that file away"
            )


@lru_cache(maxsize=16)
def _checkpoint(note: str) -> Checkpoint:
    """Read a note that many proofs are made under, once."""
    return read_checkpoint(note)[0]


def _waiting(  # noqa: PLR0917 - called for every record, where names cost time
    kind: str, subject: str, body: Any, at: str, salt: bytes, key: str | None
) -> log.Waiting:
    data = encode_body(body)
    commitment = body_commitment(salt, data)
    return log.Waiting(kind, subject, encode_subject(subject), at, commitment, salt, data, key)


def _fields(record: EvidenceRecord) -> dict[str, Any]:
    """Return what `model_dump` does, in a tenth of its time; for reading only, never to keep."""
    history = record.amendment_history
    return vars(record) if history is None else {**vars(record), "amendment_history": thaw(history)}


def read_logged(row: StoredEntry) -> LoggedEntry:
    """Read an entry with its body from its row."""
    data, body = row[3], row[5]
    return LoggedEntry(
        Entry.decode(data), leaf_hash(data).hex(), None if body is None else parse_json(body)
    )

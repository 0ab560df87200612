"""Statements that the trail records: kept, read, proved, audited and forgotten, once for all kinds.

A statement's file is in the lake. An entry of the trail names the statement by its digest, and a
row of the database is there to search by. A row is never believed alone: what is read is what the
entry names.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar

from sqlalchemy import Connection

from evidentia.canonical import sha256_hex
from evidentia.errors import (
    EvidentiaError,
    InputError,
    IntegrityError,
    NotFoundError,
    UsageError,
)
from evidentia.logs import get_logger
from evidentia.proof.document import Proof
from evidentia.proof.envelope import Envelope
from evidentia.proof.statement import MAX_STATEMENT_BYTES
from evidentia.proof.verification import STATEMENT_DIGEST
from evidentia.store.keeping import KeptFiles
from evidentia.store.proving import prove_entry
from evidentia.store.sql import log, objects
from evidentia.store.sql.log import Receipt
from evidentia.trail.entry import EntryKind
from evidentia.workspace.acting import Acting
from evidentia.workspace.keeping import relying, remove_unused
from evidentia.workspace.logged import LoggedEntry

Progress = Callable[[int, int], None]
"""Is told how much is done, and of how much."""
_log = get_logger("workspace")


class Listed(Protocol):
    """A row: its id, the entry that records it, the statement's digest, and the file's."""

    @property
    def id(self) -> str:
        """What it is called."""

    @property
    def entry(self) -> int:
        """The entry of the trail that records it."""

    @property
    def statement_sha256(self) -> str:
        """The digest of its statement."""

    @property
    def file_sha256(self) -> str:
        """The digest of its file in the lake."""


Row = TypeVar("Row", bound=Listed)


class _NothingToRecord(Exception):  # noqa: N818 - no error: someone else was first
    """Ends a transaction that has nothing to record."""


@dataclass(frozen=True, slots=True)
class ToKeep:
    """A statement to keep: what its entry says, how its row is inserted, and its files.

    `files` are what the lake keeps, the statement itself if none is given; `there` are digests of
    files that it has already, and that are to stay.
    """

    identity: str
    statement: bytes
    body: Mapping[str, Any]
    insert: Callable[[Connection, Receipt], None]
    files: Sequence[bytes] = ()
    kind: EntryKind | None = None
    there: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Recorded(Generic[Row]):
    """How one kind of statement is recorded; what is done with it is the same for all.

    `find` gives the row of a name, `rows` the ids and entries of all. `statement` makes the
    statement of the file that the lake has, where the two differ.
    """

    noun: str
    kinds: tuple[EntryKind, ...]
    find: Callable[[Connection, str, str], Row]
    rows: Callable[[Connection, str], list[tuple[str, int]]]
    begins: str
    """What subjects of the entries begin with; a path (`bundle/`) is no part of the id."""
    statement: Callable[[str, bytes], bytes] = lambda _, data: data
    most_bytes: int = MAX_STATEMENT_BYTES
    too_large: str = "split it up"

    def subject(self, identity: str) -> str:
        """Return what an entry of the trail calls one."""
        return f"{self._path}{identity}"

    @property
    def _path(self) -> str:
        return self.begins if self.begins.endswith("/") else ""

    # Keeping

    def keep(
        self,
        acting: Acting,
        identity: str,
        statement: bytes,
        body: Mapping[str, Any],
        insert: Callable[[Connection, Receipt], None],
        *,
        files: Sequence[bytes] = (),
        there: Sequence[str] = (),
        unless: Callable[[Connection], bool] = lambda _: False,
    ) -> Receipt | None:
        """Keep one statement, as `keep_all` does."""
        one = ToKeep(identity, statement, body, insert, files, there=there)
        found = self.keep_all(acting, one, unless=unless)
        return None if found is None else found[0]

    def keep_all(
        self,
        acting: Acting,
        *items: ToKeep,
        unless: Callable[[Connection], bool] = lambda _: False,
    ) -> list[Receipt] | None:
        """Keep statements' files, record each in the trail, and insert its row: all or none.

        `unless` is asked under the log's lock: where it says that there is nothing to record any
        more, nothing is, and None is returned; it may also refuse by raising.
        """
        for one in items:
            if len(one.statement) > self.most_bytes:
                raise InputError(
                    f"the {self.noun} has {len(one.statement):,} bytes, {self.most_bytes:,} at "
                    f"most: {self.too_large}"
                )
        files = [data for one in items for data in one.files or (one.statement,)]
        there = [digest for one in items for digest in one.there]

        def record(kept: KeptFiles) -> list[Receipt]:
            receipts: list[Receipt] = []
            places = [place for digest in kept.digests if (place := acting.lake.placed(digest))]
            try:
                with acting.writing() as connection:
                    _go_on(unless(connection))
                    kept.rely(connection)
                    objects.place(connection, acting.tenant, places)
                    for one in items:
                        written = {
                            STATEMENT_DIGEST: sha256_hex(one.statement),
                            **one.body,
                            "by": acting.actor,
                        }
                        kind, subject = one.kind or self.kinds[0], self.subject(one.identity)
                        receipts.append(acting.append_within(connection, kind, subject, written))
                        one.insert(connection, receipts[-1])
            except (UsageError, _NothingToRecord):
                remove_unused(acting, kept.digests)
                raise
            return receipts

        try:
            receipts = relying(acting, files, record, there=there)
        except _NothingToRecord:
            return None
        for one, receipt in zip(items, receipts, strict=True):
            named = {"id": one.identity, "entry": receipt.seq}
            _log.info(f"{self.noun}_recorded", tenant=acting.tenant, **named)
        return receipts

    # Reading

    def named(self, acting: Acting, name: str) -> Row:
        """Return the row of a name."""
        return acting.read(self.find, name)

    def body(self, acting: Acting, row: Row) -> dict[str, Any]:
        """Return what the trail says of one; raise `IntegrityError` if its row says otherwise."""
        try:
            logged = acting.entry(row.entry)
        except NotFoundError as error:
            raise IntegrityError(
                f"{self.noun} {row.id}: {error}; run 'evidentia trail verify'"
            ) from None
        body = logged.body if isinstance(logged.body, dict) else {}
        says = (logged.entry.kind, logged.entry.subject, body.get(STATEMENT_DIGEST))
        if says[0] not in self.kinds or says[1:] != (self.subject(row.id), row.statement_sha256):
            if logged.body is None:  # removed since its row was read: then there is none any more
                self.named(acting, row.id)
            raise self._disagree(row.id, row.entry)
        return body

    def file(self, acting: Acting, row: Row) -> bytes:
        """Return the file of one; raise `IntegrityError` unless the trail names its statement."""
        digest = str(self.body(acting, row)[STATEMENT_DIGEST])
        try:
            data = acting.lake.get(row.file_sha256)
        except InputError:
            raise IntegrityError(
                f"{self.noun} {row.id}: the database says {row.file_sha256[:80]!r}, which is no "
                "file of the lake"
            ) from None
        if sha256_hex(self.statement(row.id, data)) != digest:
            raise IntegrityError(
                f"{self.noun} {row.id}: its file in the lake is not what the trail's entry "
                f"{row.entry} names"
            )
        return data

    def files(
        self, acting: Acting, logged: LoggedEntry, named: Callable[[bytes], Iterable[str]]
    ) -> list[str]:
        """Return the digests of the files of what an entry records, which was proved.

        `named` gives those that the file itself names. A row that says otherwise than the entry
        raises `IntegrityError`: which files they are would be its word alone. A file that is gone
        or damaged names none.
        """
        body = logged.body if isinstance(logged.body, dict) else {}
        row = self.named(acting, logged.entry.subject.removeprefix(self._path))
        digest = body.get(STATEMENT_DIGEST)
        if (row.entry, row.statement_sha256) != (logged.entry.seq, digest):
            raise self._disagree(row.id, logged.entry.seq)
        try:
            data = acting.lake.get(row.file_sha256)
        except InputError:
            raise self._disagree(row.id, logged.entry.seq) from None
        except EvidentiaError:
            return [row.file_sha256]
        if sha256_hex(self.statement(row.id, data)) != digest:
            raise self._disagree(row.id, logged.entry.seq)
        return [row.file_sha256, *named(data)]

    def _disagree(self, identity: str, entry: int) -> IntegrityError:
        return IntegrityError(
            f"{self.noun} {identity}: the database and the trail's entry {entry} disagree; run "
            "'evidentia trail verify'"
        )

    # Proving

    def prove(self, acting: Acting, row: Row) -> Proof:
        """Prove one: the signed statement, and its place in the log under a checkpoint."""
        from evidentia.workspace.signing import current_key  # noqa: PLC0415 - not all need it

        payload = self.statement(row.id, self.file(acting, row))
        if len(payload) > MAX_STATEMENT_BYTES:
            raise InputError(
                f"the {self.noun} has {len(payload):,} bytes, {MAX_STATEMENT_BYTES:,} at most in a "
                f"proof: {self.too_large}"
            )
        key = current_key(acting)
        return replace(self._place(acting, row), envelope=Envelope.sign(payload, key))

    def prove_entry(self, acting: Acting, row: Row) -> Proof:
        """Prove the entry of one, with its body and without the statement that it names."""
        self.body(acting, row)
        return self._place(acting, row)

    def _place(self, acting: Acting, row: Row) -> Proof:
        from evidentia.workspace.signing import checkpoint  # noqa: PLC0415 - as above

        note = checkpoint(acting)
        return acting.read(prove_entry, note, row.entry, acting.opened.tiles, disclose=True)

    # Auditing

    def audit(
        self,
        acting: Acting,
        check: Callable[[Row], Iterable[str]],
        progress: Progress | None = None,
        *,
        quick: bool = False,
    ) -> list[str]:
        """Return what is wrong, in both directions: with what the database has, and what it lacks.

        `check` looks at one whose row, entry and file agree, and gives what else is wrong with it;
        with `quick`, rows are compared with their entries alone.
        """
        with acting.database.read() as connection:
            rows = self.rows(connection, acting.tenant)
            recorded = log.subjects(connection, acting.tenant, self.kinds, self.begins)
        known = {(entry, self.subject(identity)) for identity, entry in rows}
        problems = [
            f"{self.noun} {subject.removeprefix(self._path)}: entry {seq} of the trail records it, "
            "and the database does not have it"
            for seq, subject in recorded
            if (seq, subject) not in known
        ]
        for done, (identity, _) in enumerate(rows, 1):
            found: list[str] = []
            try:
                row = self.named(acting, identity)
                self.body(acting, row)
                if not quick:
                    self.file(acting, row)
                    found.extend(check(row))  # what it gave before it raises is said, too
            except EvidentiaError as error:
                found.append(str(error))
            named = f"{self.noun} {identity}: "
            problems += [f"{named}{problem.removeprefix(named)}" for problem in found]
            if progress is not None:
                progress(done, len(rows))
        return problems


def _go_on(is_recorded: bool) -> None:  # noqa: FBT001 - called once, above
    if is_recorded:
        raise _NothingToRecord

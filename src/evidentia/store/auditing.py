"""Auditing a stored log: every row read, both cores used, in constant memory.

The rules are in `trail.audit`; here the rows are fetched, ranges are shared out to worker
processes, and what stands around the entries (schema, head, keys, checkpoints) is compared.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy import Connection

from evidentia.canonical import parse_json
from evidentia.errors import EnvironmentProblem, EvidentiaError, IntegrityError
from evidentia.language.counting import agreed, counted, ranged
from evidentia.proof.authority import Authority
from evidentia.proof.revocation import Revocation, revoked
from evidentia.store.appending import WHAT_TO_DO, vouched
from evidentia.store.audited import audit_snapshot
from evidentia.store.database import Database
from evidentia.store.ranges import Progress, Reading, Share, audit_entries, audit_span
from evidentia.store.sql import log
from evidentia.store.surroundings import (
    audit_head,
    audit_schema,
    audit_stored_tiles,
    audit_surroundings,
)
from evidentia.store.tree import TileCache, stored_tree
from evidentia.store.trust import (
    NOTHING_OUTSIDE,
    Outside,
    OutsideCheckpoint,
    TrustedSigner,
    audit_deciding,
    key_entries,
)
from evidentia.trail.adoption import Adoption
from evidentia.trail.audit import (
    Finding,
    LogAudit,
    PastRoots,
    join_ranges,
)
from evidentia.trail.checkpoint import Checkpoint, read_checkpoint
from evidentia.trail.deciding import Said
from evidentia.trail.entry import EntryKind, genesis_prev
from evidentia.trail.merkle import EMPTY_ROOT
from evidentia.trail.note import Note, VerifierKey, decode_base64
from evidentia.trail.tiles import TILE_WIDTH, Frontier, TiledTree

ALL_SIGNATURES = 1_000
"""Of a log with no more checkpoints than this, every one's signature is verified in any case."""
_LARGEST = 2**62
_OTHER_KEY_ENTRIES = frozenset({"authority", "revokes", "enrolls", "withdraws"})
"""What the body of an entry of kind key has that announces none of the log's keys."""
_SIGNATURE_LINE = 4 + 64
"""The bytes of a signature line: a key's id, and an Ed25519 signature."""


@dataclass(frozen=True, slots=True)
class AuditReport:
    """What an audit found. `compared_with` lists the outside checkpoints that were used."""

    tenant: str
    origin: str
    size: int
    root: str
    checkpoints: int
    compared_with: tuple[str, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()
    """What is not wrong, and has to be known for good: entries that were adopted unsigned."""
    unsigned: tuple[int, int] | None = None
    """The first entry that no checkpoint covers, and the log's size, where there is one."""
    trusted: tuple[TrustedSigner, ...] = ()
    """The keys that are trusted, and why: the others count by what these vouch for."""
    unknown: str | None = None
    """Why it cannot be told whose log it is; None where something outside the database tells."""
    unjudged: str | None = None
    """What of the schema only a newer program knows; None where all of it was judged."""

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong, and something outside the database tells whose log it is.

        Nor may the schema have anything that this program does not know.
        """
        return not self.findings and self.unknown is None and self.unjudged is None

    @property
    def left(self) -> tuple[str, ...]:
        """What could not be told, though nothing is wrong with it."""
        return tuple(said for said in (self.unknown, self.unjudged) if said is not None)

    def as_json(self) -> dict[str, Any]:
        """Return the report as a JSON object."""
        return {
            "holds": self.holds,
            "tenant": self.tenant,
            "origin": self.origin,
            "size": self.size,
            "root": self.root,
            "checkpoints": self.checkpoints,
            "compared_with": list(self.compared_with),
            "findings": [
                {"entry": finding.seq, "what": finding.what, "problem": finding.problem}
                for finding in self.findings
            ],
            "notes": list(self.notes),
            "trusted": [one.as_json() for one in self.trusted],
            "unknown": self.unknown,
            "unjudged": self.unjudged,
        }


@dataclass(frozen=True, slots=True)
class _AnnouncedKey:
    seq: int
    key: VerifierKey
    replaced_at: int | None

    def may_sign(self, size: int) -> bool:
        """Whether a checkpoint of that size may carry this key's signature.

        A key signs from its announcement on, and last the size that includes its successor's.
        """
        return self.seq < size and (self.replaced_at is None or size <= self.replaced_at + 1)


def audit_log(
    database: Database,
    tenant: str,
    *,
    share: Share,
    workers: int,
    outside: Outside = Outside(),  # noqa: B008 - it is frozen
    signatures: bool = False,
    progress: Progress | None = None,
) -> AuditReport:
    """Check a whole log as it is now; the report names what is wrong, first bad entry first.

    Every checkpoint is compared with the root of its entries. Where there are more than
    `ALL_SIGNATURES`, the signature is verified of the newest one of each key, whose root covers
    the older ones; of all of them with `signatures`.
    What is `outside` the database says which keys are trusted; a later key counts if the one before
    it signed its announcement, and is not revoked there. Others may append meanwhile. Raise
    `IntegrityError` if the database's file cannot be read.
    """
    asked = _Asked(outside, share, workers, signatures, progress)
    try:
        return _audit(Reading(database, tenant), asked)
    except IntegrityError:  # where all that is wrong is text that is not UTF-8, it can be named
        return _audit(Reading(database, tenant, any_text=True), asked)
    except EnvironmentProblem:  # where a table or a column is missing, that is what to report
        with database.unbound.read() as connection:
            findings, schema = audit_schema(connection)
        if not findings:
            raise
        named = outside.names
        return AuditReport(
            tenant, "", 0, EMPTY_ROOT.hex(), 0, named, tuple(findings), unjudged=schema.left
        )


@dataclass(frozen=True, slots=True)
class _Asked:
    outside: Outside
    share: Share
    workers: int
    signatures: bool
    progress: Progress | None


def _audit(reading: Reading, asked: _Asked) -> AuditReport:
    tenant, outside = reading.tenant, asked.outside
    with reading.connection() as connection:
        head = log.read_head(connection, tenant)
        if head is None:
            return _audit_lost(connection, tenant, outside.checkpoints)
        findings, schema = audit_schema(connection)
        findings += audit_surroundings(connection, head)
        stored = log.last_entry(connection, tenant, head.size) + 1
        if stored < head.size:
            problem = f"is missing, and with it all up to {head.size - 1}, which the head counts"
            findings.append(Finding(stored, f"entry {stored}", problem))
        ranges = audit_entries(
            reading,
            connection,
            stored,
            share=asked.share,
            workers=asked.workers,
            progress=asked.progress,
        )
        joined = join_ranges(genesis_prev(head.origin), ranges)
        findings += joined.findings
        findings += audit_stored_tiles(joined, log.tiles_above(connection, tenant))
        findings += audit_head(head, joined, ranges)
        said = _read_key_entries(head, joined.keys)
        findings += said.findings
        keys, key_findings = _audit_keys(connection, head, said.announced)
        findings += key_findings
        authority = Authority.read(head.origin, key_entries(joined.deciding))
        revoked_keys = authority.revocations
        checker = _CheckpointChecker(connection, head, keys, joined.frontier, revoked_keys)
        count, covered, wrong = _audit_checkpoints(
            connection, joined, checker, signatures=asked.signatures
        )
        findings += wrong
        wrong, notes = audit_deciding(authority, joined.deciding, said.unvouched(covered))
        findings += wrong
        kept = log.checkpoint_count(connection, tenant)
        if count != kept:
            findings.append(
                Finding(
                    -1,
                    "checkpoints",
                    f"{counted(count, 'is', 'are')} stored, and the head counts {kept}",
                )
            )
        for checkpoint in outside.checkpoints:
            findings += checker.check(checkpoint.name, checkpoint.note)
        findings += said.wrong_adoptions(checker.trees)
        findings += checker.snapshot(connection, None if joined.findings else joined.said)
        trusted, breaks, broken = _audit_breaks(connection, checker, said, outside)
        findings += breaks
        unsigned = _unsigned(covered, head.size)
        findings += unsigned
        return AuditReport(
            tenant,
            head.origin,
            head.size,
            head.root.hex(),
            count,
            outside.names,
            tuple(sorted(set(findings))),
            (*schema.notes, *said.notes, *broken, *notes),
            (covered, head.size) if unsigned else None,
            trusted,
            _unknown(said, trusted, outside),
            schema.left,
        )


def _unknown(said: "_KeyEntries", trusted: Sequence[TrustedSigner], outside: Outside) -> str | None:
    """Say that nothing outside the database tells whose log it is; None if something does."""
    return NOTHING_OUTSIDE if said.announced and not trusted and not outside.named else None


def _unsigned(covered: int, size: int) -> list[Finding]:
    """Say which entries no checkpoint covers, if any."""
    if covered >= size:
        return []
    which = ranged(covered, size - 1, "entry", "entries")
    are = agreed(size - covered, "is", "are")
    return [Finding(covered, which, f"{are} not signed. {WHAT_TO_DO}")]


def audit_tail(
    database: Database,
    tenant: str,
    *,
    outside: Outside = Outside(),  # noqa: B008 - it is frozen
) -> AuditReport:
    """Check a log's head, its last entries, its keys, its newest checkpoint and those outside.

    That is what `--quick` asks for: entries before the last tile are not read.
    """
    reading = Reading(database, tenant)
    with reading.connection() as connection:
        head = log.read_head(connection, tenant)
        if head is None:
            return _audit_lost(connection, tenant, outside.checkpoints)
        findings, schema = audit_schema(connection)
        findings += audit_surroundings(connection, head)
        start = head.size // TILE_WIDTH * TILE_WIDTH
        if head.size and start == head.size:
            start -= TILE_WIDTH
        tail = audit_span(connection, tenant, start, head.size)
        findings += tail.findings
        erased = log.erased_since(connection, tenant, 0)
        findings += [
            Finding(seq, f"entry {seq}", "its body is gone, and no erasure says why")
            for seq in tail.missing_bodies
            if log.erasure_subject(seq) not in erased
        ]
        rows = log.find_entries(connection, tenant, kind=EntryKind.KEY)
        said = _read_key_entries(head, [(row[0], row[5] or b"") for row in rows])
        authority = Authority.read(head.origin, key_entries((row[3], row[5]) for row in rows))
        findings += said.findings
        keys, key_findings = _audit_keys(connection, head, said.announced)
        findings += key_findings
        stored = Frontier.unpack(head.size, head.edge)
        ends = b"".join(tail.tail) != bytes(stored.partial[0]) if stored.partial else False
        if ends or stored.root() != head.root or (head.size and stored.last != tail.last_leaf):
            findings.append(Finding(start, "head", "its size, root or edge is not the entries'"))
        checker = _CheckpointChecker(connection, head, keys, stored, authority.revocations)
        newest = list(islice(log.newest_checkpoints(connection, tenant, _LARGEST), 1))
        for size, key_id, note in newest:
            findings += checker.check(f"checkpoint {size}", note, stored_as=(size, key_id))
        findings += checker.snapshot(connection, None)
        covered = max((min(size, head.size) for size, _, _ in newest), default=0)
        unsigned = _unsigned(covered, head.size)
        findings += unsigned
        wrong, notes = audit_deciding(authority, tail.deciding, said.unvouched(covered))
        findings += wrong
        for checkpoint in outside.checkpoints:
            findings += checker.check(checkpoint.name, checkpoint.note)
        trusted, breaks, broken = _audit_breaks(connection, checker, said, outside)
        findings += breaks
        return AuditReport(
            tenant,
            head.origin,
            head.size,
            head.root.hex(),
            len(newest),
            outside.names,
            tuple(sorted(set(findings))),
            (*schema.notes, *said.notes, *broken, *notes),
            (covered, head.size) if unsigned else None,
            trusted,
            _unknown(said, trusted, outside),
            schema.left,
        )


def _audit_checkpoints(
    connection: Connection, joined: LogAudit, checker: "_CheckpointChecker", *, signatures: bool
) -> tuple[int, int, list[Finding]]:
    """Check the stored checkpoints; return how many there are and the largest size of one."""
    head = checker.head
    findings: list[Finding] = []
    newest: dict[str, tuple[int, str]] = {}
    full = len(joined.tile_roots)
    roots = PastRoots(joined, log.tiles_between(connection, head.tenant, 0, 0, full))
    count = covered = 0
    signatures = signatures or log.checkpoint_count(connection, head.tenant) <= ALL_SIGNATURES
    for size, key_id, note in log.checkpoints(connection, head.tenant):
        count += 1
        if not any(one.is_of(key_id, size) for one in checker.revocations):
            covered = max(covered, min(size, head.size))
        if signatures or not checker.is_of(size, key_id, note, roots.at(size)):
            findings += checker.check(f"checkpoint {size}", note, stored_as=(size, key_id))
        else:
            newest[key_id] = size, note
    for key_id, (size, note) in newest.items():
        findings += checker.check(f"checkpoint {size}", note, stored_as=(size, key_id))
    return count, covered, findings


def _audit_lost(
    connection: Connection, tenant: str, outside: Sequence[OutsideCheckpoint]
) -> AuditReport:
    """Report a log whose head is gone; raise `NotFoundError` if nothing says there was one."""
    findings = [
        Finding(-1, "head", f"is missing, and table {table} has rows of tenant {tenant!r}")
        for table in log.tables_with(connection, tenant)
    ]
    for checkpoint in outside:
        try:
            size = read_checkpoint(checkpoint.note)[0].size
            covered = counted(size, "entry", "entries")
            gone = ranged(0, size - 1, "entry", "entries")
            problem = f"covers {covered}, and the log is gone: {gone}"
        except EvidentiaError as error:
            problem = str(error)
        findings.append(Finding(-1, checkpoint.name, problem))
    if not findings:
        log.require_head(connection, tenant)
    names = tuple(checkpoint.name for checkpoint in outside)
    return AuditReport(tenant, "", 0, EMPTY_ROOT.hex(), 0, names, tuple(sorted(findings)))


class _CheckpointChecker:
    """Checks signed checkpoints against the log's keys and tree."""

    def __init__(
        self,
        connection: Connection,
        head: log.Head,
        keys: Sequence[_AnnouncedKey],
        frontier: Frontier,
        revocations: Sequence[Revocation],
    ) -> None:
        self.head = head
        self.keys = keys
        self.revocations = revocations
        # The tree as it is stored, and with the edge as the entries give it: where the two differ
        # there is a finding already, and a checkpoint of either is not at fault.
        computed = head._replace(size=frontier.size, edge=frontier.pack())
        self.trees: list[TiledTree] = []
        for state in (head, computed):
            with suppress(IntegrityError):
                self.trees.append(stored_tree(connection, state, TileCache(64)))

    def is_of(self, size: int, key_id: str, note: str, root: bytes | None) -> bool:
        """Whether a checkpoint is of these entries, and names the key that it is stored under.

        Its signature is not verified. What is not plainly so is for `check` to look at.
        """
        if root is None:
            return False
        before = f"{Checkpoint(self.head.origin, size, root).text}\n— {self.head.origin} "
        line = decode_base64(note[len(before) : -1])
        return (
            note.startswith(before)
            and note.endswith("\n")
            and line is not None
            and len(line) == _SIGNATURE_LINE
            and line[:4].hex() == key_id
            and any(item.key.key_id == key_id and item.may_sign(size) for item in self.keys)
        )

    def snapshot(self, connection: Connection, said: Sequence[Said] | None) -> Iterator[Finding]:
        """Give what is wrong with the snapshot of what decides; its map is left alone for None."""

        def may_sign(size: int) -> list[VerifierKey]:
            return [item.key for item in self.keys if item.may_sign(size)]

        def is_root(size: int, root: bytes) -> bool:
            return any(_is_root(tree, Checkpoint("", size, root)) for tree in self.trees)

        yield from audit_snapshot(connection, self.head, may_sign, is_root, said)

    def check(
        self, name: str, note: str, stored_as: tuple[int, str] | None = None
    ) -> Iterator[Finding]:
        """Give what is wrong with a checkpoint."""
        try:
            checkpoint, parsed = read_checkpoint(note)
        except EvidentiaError as error:
            yield Finding(stored_as[0] if stored_as else -1, name, str(error))
            return
        if checkpoint.origin != self.head.origin:
            yield Finding(
                checkpoint.size,
                name,
                f"is of another log: {checkpoint.origin}, not {self.head.origin}",
            )
            return
        if stored_as is not None and stored_as[0] != checkpoint.size:
            yield Finding(checkpoint.size, name, f"says size {checkpoint.size}")
        yield from self._signature(name, checkpoint, parsed, stored_as)
        yield from self._root(name, checkpoint)

    def _signature(
        self, name: str, checkpoint: Checkpoint, note: Note, stored_as: tuple[int, str] | None
    ) -> Iterator[Finding]:
        allowed = [item.key for item in self.keys if item.may_sign(checkpoint.size)]
        try:
            signer = note.signed_by(allowed)
        except EvidentiaError as error:
            yield Finding(checkpoint.size, name, str(error))
            return
        if signer is None:
            named = ", ".join(line.key_id for line in note.signatures)
            yield Finding(
                checkpoint.size, name, f"is signed by key {named}, which could not sign this size"
            )
        elif stored_as is None:
            if (one := revoked(self.revocations, checkpoint, note)) is not None:
                yield Finding(checkpoint.size, name, f"is not believed: {one.told}")
        elif stored_as[1] != signer.key_id:
            yield Finding(checkpoint.size, name, f"is stored under key {stored_as[1]}")
        elif len(note.signatures) > 1:
            yield Finding(checkpoint.size, name, "has a signature that was not there when stored")

    def _root(self, name: str, checkpoint: Checkpoint) -> Iterator[Finding]:
        if checkpoint.size > self.head.size:
            covered = counted(checkpoint.size, "entry", "entries")
            gone = ranged(self.head.size, checkpoint.size - 1, "entry", "entries")
            are = agreed(checkpoint.size - self.head.size, "is", "are")
            problem = f"covers {covered}, the log has {self.head.size:,}: {gone} {are} gone"
            yield Finding(self.head.size, name, problem)
            return
        if not any(_is_root(tree, checkpoint) for tree in self.trees):
            problem = (
                f"does not match: the first {counted(checkpoint.size, 'entry', 'entries')} changed"
            )
            yield Finding(checkpoint.size, name, problem)


def _is_root(tree: TiledTree, checkpoint: Checkpoint) -> bool:
    try:
        return tree.root_at(checkpoint.size) == checkpoint.root
    except (IntegrityError, IndexError):  # the tree is damaged, which has a finding of its own
        return False


def _audit_breaks(
    connection: Connection, checker: "_CheckpointChecker", said: "_KeyEntries", outside: Outside
) -> tuple[tuple[TrustedSigner, ...], list[Finding], list[str]]:
    """Say which keys are trusted, and look for keys that took another's place without its word.

    The word of a key that was lost, or is revoked, does not count. As the log says so, that is a
    note where something outside the database trusts a later key. Everything else is a finding.
    """
    origin = checker.head.origin
    announced = [(seq, key.key_id, key.public_key) for seq, key in said.announced]
    ids = [key_id for _, key_id, _ in announced]
    trusted = outside.trusted(origin, ids)
    pinned = max((ids.index(one.key_id) for one in trusted), default=None)
    findings, notes = outside.strangers(origin, ids), []
    words = [vouched(connection, checker.head, announced, tree) for tree in checker.trees]
    for at, (seq, key_id, _) in enumerate(announced):
        before = ids[at - 1]
        without = said.without_word(checker.revocations, seq, before)
        if at == 0 or (without is None and any(word[at] for word in words)):
            continue
        if without is not None and (pinned is None or at <= pinned):
            notes.append(f"key {before} {without.told(key_id)} (entry {seq})")
        else:
            why = f", which {without.said}" if without is not None else ""
            problem = f"took the place of key {before} without its signature{why}"
            findings.append(Finding(seq, f"key {key_id}", problem))
    return tuple(trusted), findings, notes


@dataclass(frozen=True, slots=True)
class _WithoutWord:
    """Why a key's signature on its successor's announcement is not there, or does not count."""

    said: str
    was: str
    why: str

    def told(self, successor: str) -> str:
        """Say what it means."""
        return f"{self.was}, and key {successor} took its place without its signature: {self.why}"


@dataclass(frozen=True, slots=True)
class _KeyEntries:
    """What the entries of kind `key` say: keys with their entries, and what was adopted."""

    announced: list[tuple[int, VerifierKey]]
    adopted: list[tuple[int, Adoption]]
    lost: dict[int, str]
    findings: list[Finding]

    @property
    def notes(self) -> tuple[str, ...]:
        """What has to be known for good."""
        return tuple(f"{one} (entry {seq})" for seq, one in self.adopted)

    def unvouched(self, signed: int) -> list[Adoption]:
        """Return the ranges that no key vouched for in time: adopted, or not signed at all."""
        return [*(one for _, one in self.adopted), Adoption(signed, _LARGEST, "", "", "")]

    def without_word(
        self, revocations: Sequence[Revocation], seq: int, key_id: str
    ) -> _WithoutWord | None:
        """Say why the key before one announced in an entry did not vouch for it, if so."""
        lost = self.lost.get(seq)
        if lost is not None:
            return _WithoutWord(f"is said to be lost: {lost}", "was lost", lost)
        for one in revocations:
            if one.is_of(key_id, seq + 1):
                return _WithoutWord(f"is revoked: {one.told}", "is revoked", one.told)
        return None

    def wrong_adoptions(self, trees: Sequence[TiledTree]) -> Iterator[Finding]:
        """Give the adoptions of what the log does not have."""
        for seq, one in self.adopted:
            if one.end != seq or not any(
                _is_root(tree, Checkpoint("", one.end, bytes.fromhex(one.root))) for tree in trees
            ):
                yield Finding(seq, f"entry {seq}", "adopts entries that are not those before it")


def _read_key_entries(head: log.Head, entries: Sequence[tuple[int, bytes]]) -> _KeyEntries:
    announced: list[tuple[int, VerifierKey]] = []
    adopted: list[tuple[int, Adoption]] = []
    lost: dict[int, str] = {}
    findings = []
    for seq, body in entries:
        try:
            said = parse_json(body)
            if (adoption := Adoption.read(said)) is not None:
                adopted.append((seq, adoption))
                continue
            if isinstance(said, dict) and _OTHER_KEY_ENTRIES & said.keys():
                continue
            key = VerifierKey.parse(said["key"])
        except (EvidentiaError, KeyError, TypeError, AttributeError):
            findings.append(Finding(seq, f"entry {seq}", "announces a key that cannot be read"))
            continue
        if key.name != head.origin:
            findings.append(Finding(seq, f"key {key.key_id}", f"is for another log: {key.name}"))
        announced.append((seq, key))
        if "lost" in said:
            lost[seq] = str(said["lost"])
    return _KeyEntries(announced, adopted, lost, findings)


def _audit_keys(
    connection: Connection, head: log.Head, read: Sequence[tuple[int, VerifierKey]]
) -> tuple[list[_AnnouncedKey], list[Finding]]:
    """Compare the key table with the keys that the log announces."""
    findings = []
    stored = {seq: (key_id, public) for seq, key_id, public in log.keys(connection, head.tenant)}
    for seq, key in read:
        if stored.pop(seq, None) != (key.key_id, key.public_key):
            findings.append(
                Finding(seq, f"key {key.key_id}", f"is not stored as entry {seq} announces it")
            )
    findings += [
        Finding(seq, f"key {key_id}", f"is stored, and entry {seq} does not announce it")
        for seq, (key_id, _) in stored.items()
    ]
    ends = [*(seq for seq, _ in read[1:]), None]
    keys = [_AnnouncedKey(seq, key, end) for (seq, key), end in zip(read, ends, strict=False)]
    return keys, findings

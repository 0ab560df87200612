"""The one audit: the database, the log, and all that is kept, each against what the trail says.

A part that can't be read is a finding of it; the others are still looked at. Nothing is signed,
kept or changed.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evidentia.errors import EnvironmentProblem, EvidentiaError, NotFoundError
from evidentia.language.counting import agreed, counted
from evidentia.store.database import under_any_policy
from evidentia.store.sql import integrity, library, roles, uses
from evidentia.store.sql.log import read_head
from evidentia.trail.entry import EntryKind
from evidentia.workspace.acting import Acting
from evidentia.workspace.part import Part

if TYPE_CHECKING:
    from evidentia.store.auditing import AuditReport
    from evidentia.workspace.trail import Named

AuditProgress = Callable[[str, int, int], None]
"""Is told of which part how much is done, and of how much."""
_UNREADABLE: Final = (EvidentiaError, ValueError, TypeError, KeyError, AttributeError)
"""What reading something raises that was made something else."""
ALWAYS_LEFT: Final = (
    "the meaning of passages as vectors (chunk_embeddings): they are made of the passages",
    "what was remembered of services' answers, and where documents were read from on this machine",
    "files of the lake that nothing refers to, beyond that their bytes are as they were kept",
)
"""What no audit looks at: nothing is decided by it alone."""


@dataclass(frozen=True, slots=True)
class AuditedPart:
    """One part of a workspace: what was looked at, what is wrong, and what was left out."""

    name: str
    looked_at: str
    findings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What is worth knowing and not wrong, such as reviews that are awaited."""
    not_looked_at: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong with it."""
        return not self.findings

    def as_json(self) -> dict[str, Any]:
        """Return the part as a JSON object."""
        return {
            "name": self.name,
            "holds": self.holds,
            "looked_at": self.looked_at,
            "findings": list(self.findings),
            "notes": list(self.notes),
            "not_looked_at": list(self.not_looked_at),
        }


@dataclass(frozen=True, slots=True)
class WorkspaceAudit:
    """What an audit of a tenant's workspace found, part by part.

    `quick` says that only tails and heads were looked at. `log` is the report on the log itself.
    """

    tenant: str
    quick: bool
    parts: tuple[AuditedPart, ...]
    log: "AuditReport | None" = None

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong with what was looked at."""
        return all(part.holds for part in self.parts)

    @property
    def findings(self) -> tuple[str, ...]:
        """All that is wrong, in the order of the parts."""
        return tuple(finding for part in self.parts for finding in part.findings)

    @property
    def not_looked_at(self) -> tuple[str, ...]:
        """What was not looked at, and why."""
        return tuple(left for part in self.parts for left in part.not_looked_at)

    def part(self, name: str) -> AuditedPart:
        """Return the part of a name; raise `NotFoundError` if there is none."""
        for one in self.parts:
            if one.name == name:
                return one
        raise NotFoundError(
            f"an audit has no part {name[:40]!r}: {', '.join(one.name for one in self.parts)}"
        )

    def as_json(self) -> dict[str, Any]:
        """Return the audit as a JSON object."""
        return {
            "holds": self.holds,
            "tenant": self.tenant,
            "quick": self.quick,
            "parts": [part.as_json() for part in self.parts],
            "log": None if self.log is None else self.log.as_json(),
            "not_looked_at": list(self.not_looked_at),
        }


class Whole(Part, name="whole"):
    """What is asked of a workspace as a whole."""

    def audit(
        self,
        *,
        quick: bool = False,
        since: str | None = None,
        keys: "Named" = (),
        signatures: bool = False,
        published: Sequence[str | Path] = (),
        workers: int | None = None,
        progress: AuditProgress | None = None,
    ) -> WorkspaceAudit:
        """Compare everything that is kept with what the trail says of it, in both directions.

        The database is asked to check itself, the log is checked whole (also against the
        checkpoint kept at home and one given as `since`), every row is compared with its entry,
        and every file of the lake with its digest. `keys` are public keys that you trust, as in
        `trail.audit`. `published` are folders or URLs with copies of
        the log, which are checked whole and compared with it. `signatures` verifies that of every
        checkpoint, however many there are. `quick` looks at tails and heads alone. What is returned
        says what was looked at and what was not. Nothing is written.
        """
        from evidentia.proof.files import read_key  # noqa: PLC0415 - rarely needed

        told = progress or (lambda *_: None)
        named = [read_key(one) for one in keys]
        auditing = _Auditing(
            self._acting,
            quick,
            since,
            named,
            workers,
            told,
            signatures=signatures,
            places=[*published],
        )
        with under_any_policy():
            return auditing.run()


@dataclass(slots=True)
class _Auditing:
    acting: Acting
    quick: bool
    since: str | None
    keys: "Named"
    workers: int | None
    told: AuditProgress
    signatures: bool
    places: list[str | Path]
    log: "AuditReport | None" = None
    parts: list[AuditedPart] = field(default_factory=list)

    def run(self) -> WorkspaceAudit:
        steps: tuple[Callable[[], AuditedPart], ...] = (
            self.database,
            self.entries,
            self.documents,
            self.ledgers,
            self.bundles,
            self.runs,
            self.packs,
            self.tools,
            self.access,
            *((self.openfga,) if self.acting.opened.openfga is not None else ()),
            self.lake,
            *((self.published,) if self.places else ()),
        )
        for done, step in enumerate(steps):
            self.told(step.__name__, done, len(steps))
            try:
                part = step()
            except _UNREADABLE as error:
                part = AuditedPart(_NAMES[step.__name__], "what could be read", (_said(error),))
            self.parts.append(part)
        return WorkspaceAudit(self.acting.tenant, self.quick, tuple(self.parts), self.log)

    def progress(self, name: str) -> Callable[[int, int], None]:
        return lambda done, total: self.told(name, done, total)

    # The parts, in the order in which they are told

    def database(self) -> AuditedPart:
        database, left = self.acting.database, list(ALWAYS_LEFT)
        findings, schema = database.unbound.ask(integrity.schema_problems)
        try:
            findings += database.unbound.ask(integrity.tenants_without_log)
        except EvidentiaError as error:  # what was made of the schema says why
            findings.append(str(error))
        looked = "tables, triggers, views and statistics"
        if self.quick:
            left.append("whether the database's pages and indexes are sound: --quick")
        else:
            problems, unasked = integrity.own_check(database.unbound)
            findings += problems
            if unasked is None:
                looked = f"{looked}, pages, and indexes against tables"
            else:
                left.append(unasked)
        others = [name for name in self.acting.opened.tenants() if name != self.acting.tenant]
        if others:
            left.append(f"other tenants: {', '.join(others[:10])}; audit each by its name")
        unheld = None if database.is_sqlite else database.unbound.ask(roles.unheld)
        notes = schema.notes if unheld is None else (*schema.notes, unheld)
        return AuditedPart("database", looked, tuple(findings), notes, tuple(left))

    def entries(self) -> AuditedPart:
        from evidentia.store.auditing import ALL_SIGNATURES  # noqa: PLC0415 - the same
        from evidentia.workspace.trail import audit_log_of, audit_tail_of  # noqa: PLC0415 - it knows this package

        acting, left = self.acting, []
        if not self.places:
            left.append("copies of the log that were published: name them with --published")
        try:
            if self.quick:
                self.log = audit_tail_of(acting, self.since, self.keys)
                left.append(f"entries before the last of {self.log.size:,}: --quick")
                left.append("the map of what decides, beyond its signature: --quick")
            else:
                head = acting.read(read_head)
                size = head.size if head else 0
                self.log = audit_log_of(
                    acting,
                    self.since,
                    self.workers,
                    lambda done: self.told("log", done, size),
                    keys=self.keys,
                    signatures=self.signatures,
                )
                if self.log.checkpoints > ALL_SIGNATURES and not self.signatures:
                    left.append("signatures of checkpoints that a newer one covers: --signatures")
        except NotFoundError as error:
            return AuditedPart("log", "nothing", (), (str(error),), tuple(left))
        report = self.log
        if not report.compared_with:
            left.append("a lost tail: there is no checkpoint from outside to compare with")
        entries = counted(report.size, "entry", "entries")
        looked = (
            f"the head and the last of {entries}, keys, the newest checkpoint"
            if self.quick
            else f"{entries}: sequence, chain, commitments, tree, keys, "
            f"{counted(report.checkpoints, 'checkpoint')}, the snapshot of what decides"
        )
        for name in report.compared_with:
            looked = f"{looked}, the {name}"
        for one in report.trusted:
            looked = f"{looked}; key {one.key_id} is trusted, as {one.reason}"
        findings = [str(one) for one in report.findings if one.what != "schema"]
        findings += [report.unknown] if report.unknown else []
        notes = tuple(note for note in report.notes if note not in self.parts[0].notes)
        return AuditedPart("log", looked, tuple(findings), notes, tuple(left))

    def documents(self) -> AuditedPart:
        from evidentia.workspace.library import audited_documents  # noqa: PLC0415 - the same

        findings = tuple(
            audited_documents(self.acting, quick=self.quick, progress=self.progress("documents"))
        )
        count = len(self.acting.read(library.all_versions))
        looked = f"{counted(count, 'version')} of documents: rows, entries"
        left: tuple[str, ...] = ("passages, originals and indexes of documents: --quick",)
        if not self.quick:
            looked, left = f"{looked}, passages, citations, indexes, originals in the lake", ()
        return AuditedPart("documents", looked, findings, (), left)

    def ledgers(self) -> AuditedPart:
        from evidentia.store.sql.ledgers import recorded_ledgers  # noqa: PLC0415 - the same
        from evidentia.workspace.ledgers import audit  # noqa: PLC0415 - the same

        found = audit(self.acting, self.progress("ledgers"), quick=self.quick)
        count = len(self.acting.read(recorded_ledgers))
        return self._statements("ledgers", counted(count, "ledger"), found)

    def bundles(self) -> AuditedPart:
        from evidentia.store.sql.bundles import recorded_bundles  # noqa: PLC0415 - the same
        from evidentia.workspace.bundles import audit  # noqa: PLC0415 - the same

        away: list[str] = []
        found = audit(self.acting, self.progress("bundles"), quick=self.quick, away=away)
        count = len(self.acting.read(recorded_bundles))
        part = self._statements("bundles", counted(count, "bundle"), found)
        if not away:
            return part
        of = counted(len(away), "bundle")
        left = f"originals of {of}, in folders that are not on this machine: {', '.join(away[:10])}"
        return replace(part, not_looked_at=(*part.not_looked_at, left))

    def runs(self) -> AuditedPart:
        from evidentia.store.sql.bundles import recorded_runs  # noqa: PLC0415 - the same
        from evidentia.workspace.bundles import audit_runs  # noqa: PLC0415 - the same

        count = len(self.acting.read(recorded_runs))
        looked = f"{counted(count, 'use')} of bundles by runs: rows, entries"
        return AuditedPart("runs", looked, tuple(audit_runs(self.acting)))

    def packs(self) -> AuditedPart:
        from evidentia.store.sql.packs import recorded_packs  # noqa: PLC0415 - the same
        from evidentia.workspace.locking import unlocked  # noqa: PLC0415 - the same
        from evidentia.workspace.retention import audit, holds  # noqa: PLC0415 - the same
        from evidentia.workspace.sealing import PACKS  # noqa: PLC0415 - the same

        acting, notes = self.acting, []
        if self.quick:
            count = len(acting.read(recorded_packs))
            findings = PACKS.audit(acting, lambda _: (), self.progress("packs"), quick=True)
        else:
            report = audit(acting, self.progress("packs"))
            count = report.packs
            findings = [*report.problems]
            findings += [
                f"decision {one}: a pack is mandatory, and there is none" for one in report.missing
            ]
            notes = [f"pack {one}: a review is awaited" for one in report.unresolved]
            notes += [*report.late_calls, *report.missing_calls]
            with suppress(EnvironmentProblem):  # where it can't be asked, what is in it is missed
                notes += [one for one in (unlocked(acting.lake),) if count and one]
        held: set[str] = set()
        try:
            with acting.database.read() as connection:
                held = set(holds(acting, connection))
        except _UNREADABLE as error:
            findings.append(f"legal holds: {_said(error)}")
        there = {identity for identity, _ in acting.read(recorded_packs)}
        findings += [
            f"pack {one}: it is on legal hold, and the database does not have it"
            for one in sorted(held - there)
        ]
        part = self._statements("packs", counted(count, "pack"), findings)
        looked = f"{part.looked_at}, {counted(len(held), 'legal hold')}"
        return replace(part, looked_at=looked, notes=tuple(notes))

    def tools(self) -> AuditedPart:
        from evidentia.packs.tools import ToolCallRecord  # noqa: PLC0415 - the same

        findings: list[str] = []
        count = 0
        for logged in self.acting.entries(EntryKind.TOOL_CALL):
            match logged.body:
                case {"call": dict(call)}:
                    count += 1
                    findings += _unread(
                        f"entry {logged.entry.seq}",
                        lambda call=call: ToolCallRecord.recorded(call),  # type: ignore[misc]
                    )
        looked = f"{counted(count, 'tool call')}: in the log alone, and read"
        return AuditedPart("tool calls", looked, tuple(findings))

    def access(self) -> AuditedPart:
        from evidentia.workspace.access import access_of  # noqa: PLC0415 - the same

        found = access_of(self.acting)
        looked = f"{counted(len(found.grants), 'role')}: in the log alone, and read"
        return AuditedPart("roles", looked)

    def openfga(self) -> AuditedPart:
        from evidentia.access.openfga_client import OpenFgaError  # noqa: PLC0415 - not all have one
        from evidentia.workspace.telling_openfga import drift_found, openfga_of  # noqa: PLC0415 - the same

        if self.quick:
            return AuditedPart("openfga", "nothing", (), (), ("the tuples in OpenFGA: --quick",))
        try:
            looked, findings, notes = drift_found(self.acting, openfga_of(self.acting))
        except OpenFgaError as error:
            left = (f"the tuples in OpenFGA: {error}",)
            return AuditedPart("openfga", "nothing", (), (), left)
        return AuditedPart("openfga", looked, tuple(findings), tuple(notes))

    def lake(self) -> AuditedPart:
        from evidentia.workspace.keeping import is_left  # noqa: PLC0415 - the same

        acting, lake = self.acting, self.acting.lake
        digests = list(lake.digests())
        if self.quick:
            left = (f"the bytes of {counted(len(digests), 'file')} of the lake: --quick",)
            return AuditedPart("lake", "nothing", (), (), left)
        findings: list[str] = []
        waiting = acting.read(uses.condemned).keys()
        for done, digest in enumerate(digests, 1):
            findings += _unread("", lambda digest=digest: lake.check(digest))  # type: ignore[misc]
            self.told("lake", done, len(digests))
        findings += [
            f"file {digest} was erased, and is still in the lake: the next erasure or sweep "
            "removes it, if nothing there locks it"
            for digest in sorted(waiting & acting.read(uses.condemned).keys())  # for a while
            if is_left(acting, digest)
        ]
        looked = f"{counted(len(digests), 'file')} against {agreed(len(digests), 'its', 'their')}"
        return AuditedPart(
            "lake", f"{looked} {agreed(len(digests), 'digest', 'digests')}", tuple(findings)
        )

    def published(self) -> AuditedPart:
        from evidentia.workspace.publications import audit_publications  # noqa: PLC0415 - it knows this module

        return audit_publications(
            self.acting, self.places, quick=self.quick, progress=self.progress("published")
        )

    def _statements(self, name: str, counts: str, findings: Iterable[str]) -> AuditedPart:
        left = (f"statements and files of {name}: --quick",) if self.quick else ()
        looked = (
            f"{counts}: rows, entries" if self.quick else f"{counts}: rows, entries, statements"
        )
        return AuditedPart(name, looked, tuple(findings), (), left)


_NAMES: Final = {
    "database": "database",
    "entries": "log",
    "documents": "documents",
    "ledgers": "ledgers",
    "bundles": "bundles",
    "runs": "runs",
    "packs": "packs",
    "tools": "tool calls",
    "access": "roles",
    "openfga": "openfga",
    "lake": "lake",
    "published": "published",
}


def _unread(what: str, read: Callable[[], object]) -> Iterator[str]:
    """Give why something cannot be read, if it cannot."""
    try:
        read()
    except _UNREADABLE as error:
        yield f"{what}: {_said(error)}" if what else _said(error)


def _said(error: Exception) -> str:
    if isinstance(error, EvidentiaError):
        return str(error)
    return f"something cannot be read: {next(iter(str(error).splitlines()), type(error).__name__)}"

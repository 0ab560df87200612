"""The shell around bundles: building and recording them, and what runs made of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from evidentia.canonical import sha256_hex
from evidentia.errors import EvidentiaError, InputError, IntegrityError, NotFoundError
from evidentia.logs import get_logger
from evidentia.proof.document import Proof
from evidentia.proof.envelope import Envelope
from evidentia.proof.statement import MAX_STATEMENT_BYTES
from evidentia.proof.verification import STATEMENT_DIGEST
from evidentia.store import bundles, library, log
from evidentia.store.bundles import ListedBundle, TrackedItem
from evidentia.store.log import Receipt
from evidentia.trail.entry import Entry, EntryKind
from evidentia.workspace.answers import AnswersShell, Progress

if TYPE_CHECKING:
    from evidentia.bundles.accounting import Decision
    from evidentia.bundles.building import BuiltBundle
    from evidentia.bundles.model import EvidenceBundle
    from evidentia.bundles.redaction.model import Detector
    from evidentia.bundles.rendering import Rendered, RenderFormat
    from evidentia.store.assembling import Policy
    from evidentia.store.evidence import Connections, LibraryDocument, OnError

MAX_RUN_ID = 200
_log = get_logger("workspace")


@dataclass(frozen=True, slots=True)
class BundleReport:
    """What verifying a bundle found: what was looked at, and what is wrong with it."""

    bundle_id: str
    checked: tuple[str, ...]
    problems: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether everything that was looked at is as it was."""
        return not self.problems


class BundlesShell(AnswersShell):
    """A tenant's bundles: what models saw, and which run saw what."""

    def build_bundle(
        self,
        job_input: Mapping[str, Any] | None = None,
        evidence_refs: Mapping[str, Any] | None = None,
        policy: "Policy" = None,
        *,
        lake_root: str | Path | None = None,
        on_error: "OnError" = "raise",
        connections: "Connections | None" = None,
        detectors: "Mapping[str, Detector] | None" = None,
        progress: Progress | None = None,
    ) -> "EvidenceBundle":
        """Build a bundle, keep it in the lake, and record it in the trail; return it.

        References are paths below `lake_root`; documents may also be named by their id in the
        library. The same inputs and policy give the bundle that is recorded already.
        """
        from evidentia.store.assembling import Assembly, secret_key  # noqa: PLC0415 - only bundles need it
        from evidentia.store.originals import Originals  # noqa: PLC0415 - the same

        self._refuse_to_fork()
        root = None if lake_root is None else Path(lake_root)
        key_file = self.home.redaction_key_file(self.tenant)
        assembly = Assembly(
            Originals(root, private=self.home.folder),
            self.lake,
            lambda: secret_key(key_file, self._randomness),
            on_error=on_error,
            connections=connections or {},
            detectors=detectors or {},
            find_document=self._find_document,
            progress=progress,
        )
        built = assembly.build(job_input, evidence_refs, policy, self._now())
        with self._database.read() as connection:
            known = bundles.known_bundle(connection, self.tenant, built.bundle.bundle_id)
        if known is not None:
            recorded = built.bundle.model_copy(update={"created_utc": known.created_utc})
            self.lake.put(recorded.encode())  # should it have gone, here it is again
            return self.bundle(known.bundle_id)
        return self._record(built, None if root is None else str(root.resolve()))

    def bundles(self, *, before: int | None = None, limit: int | None = None) -> list[ListedBundle]:
        """Return the bundles, newest first; page through them with `before`, an entry's number."""
        with self._database.read() as connection:
            return bundles.list_bundles(connection, self.tenant, before=before, limit=limit)

    def bundle_ids(self) -> list[str]:
        """Return the ids of all bundles, newest first, whatever else their rows say."""
        with self._database.read() as connection:
            return bundles.bundle_ids(connection, self.tenant)

    def find_bundle(self, name: str) -> ListedBundle:
        """Return the bundle of this id, or of one that begins so, or the newest.

        `latest` is the newest, `latest~1` the one before it.
        """
        with self._database.read() as connection:
            return bundles.find_bundle(connection, self.tenant, _asked(name, "bundle"))

    def bundle(self, name: str) -> "EvidenceBundle":
        """Return a bundle, named as for `find_bundle`.

        It is read from the file that the trail names by its digest; `IntegrityError` is raised if
        that is not what it was.
        """
        from evidentia.bundles.model import EvidenceBundle  # noqa: PLC0415 - see above

        return EvidenceBundle.parse(self._bundle_bytes(self.find_bundle(name)))

    def render_bundle(self, name: str, format: "RenderFormat" = "text") -> "Rendered":  # noqa: A002 - as `EvidenceBundle.render`
        """Render a bundle, its fence keyed with the workspace's secret."""
        from evidentia.store.assembling import secret_key  # noqa: PLC0415 - see above

        key = secret_key(self.home.redaction_key_file(self.tenant), self._randomness)
        return self.bundle(name).render(format, key=key)

    def prove_bundle(self, name: str) -> Proof:
        """Prove a bundle: the signed statement, and its place in the log under a checkpoint."""
        from evidentia.bundles.statement import statement_bytes  # noqa: PLC0415 - see above

        listed = self.find_bundle(name)
        payload = statement_bytes(listed.bundle_id, self._bundle_bytes(listed))
        if len(payload) > MAX_STATEMENT_BYTES:
            raise InputError(
                f"the bundle has {len(payload):,} bytes, {MAX_STATEMENT_BYTES:,} at most in a "
                "proof: build it under smaller limits"
            )
        proof = self.prove(listed.entry)
        return replace(proof, envelope=Envelope.sign(payload, self._current_key()))

    def verify_bundle(self, name: str, *, lake_root: str | Path | None = None) -> BundleReport:
        """Check a bundle: its digest, limits and accounting, and every artifact it refers to.

        Files outside of the workspace's lake are looked for where they were when the bundle was
        built, or below `lake_root`.
        """
        from evidentia.store.artifacts import check_artifacts  # noqa: PLC0415 - see above

        try:
            listed = self.find_bundle(name)
        except IntegrityError as error:
            return BundleReport(name, (), (str(error),))
        try:
            bundle = self.bundle(listed.bundle_id)
        except (IntegrityError, NotFoundError) as error:
            said = str(error).removeprefix(f"bundle {listed.bundle_id}: ")
            return BundleReport(listed.bundle_id, (), (said,))
        root = lake_root if lake_root is not None else listed.lake_root
        checked, problems = check_artifacts(bundle, self.lake, None if root is None else Path(root))
        with self._database.read() as connection:
            lies = bundles.differing_rows(connection, self.tenant, bundle)
        items, inputs = len(bundle.items), bundle.accounting.inputs
        holds = (
            f"its file is the one that entry {listed.entry} of the trail names",
            f"{items:,} {'item' if items == 1 else 'items'} within the limits of the policy",
            f"{inputs:,} {'input' if inputs == 1 else 'inputs'} accounted for",
        )
        return BundleReport(listed.bundle_id, (*holds, *checked), (*lies, *problems))

    def audit_bundles(
        self, *, lake_root: str | Path | None = None, progress: Progress | None = None
    ) -> list[str]:
        """Verify every bundle, and that every one that the trail records is there."""
        problems: list[str] = []
        with self._database.read() as connection:
            ids = bundles.bundle_ids(connection, self.tenant)
            problems += bundles.missing_bundles(connection, self.tenant)
        for done, bundle_id in enumerate(ids, 1):
            try:
                found = self.verify_bundle(bundle_id, lake_root=lake_root).problems
            except EvidentiaError as error:
                found = (str(error),)
            named = f"bundle {bundle_id}: "
            problems += [f"{named}{problem.removeprefix(named)}" for problem in found]
            if progress is not None:
                progress(done, len(ids))
        return problems

    # Runs

    def record_run(self, run_id: str, bundle_id: str) -> Receipt:
        """Record in the trail that a run used a bundle; recording it again changes nothing."""
        check_run_id(run_id)
        self._refuse_to_fork()
        listed = self.find_bundle(bundle_id)
        body = {
            "run_id": run_id,
            "bundle_id": listed.bundle_id,
            "bundle_sha256": self._recorded_body(listed)["bundle_sha256"],
        }
        with self._database.write() as connection:
            log.lock_head(connection, self.tenant, self._new_origin)  # no one else does meanwhile
            known = bundles.run_entry(connection, self.tenant, run_id, listed.bundle_id)
            if known is None:
                receipt = self._append_within(connection, EntryKind.RUN, f"run/{run_id}", body)
                bundles.insert_run(
                    connection,
                    self.tenant,
                    run_id,
                    listed.bundle_id,
                    at=self._now(),
                    entry=receipt.seq,
                )
        if known is not None:
            return Receipt(known, self._genuine(known).leaf, repeated=True)
        return receipt

    def bundles_of_run(self, run_id: str) -> list[ListedBundle]:
        """Return the bundles that a run used, in the order in which they were recorded."""
        with self._database.read() as connection:
            return bundles.bundles_of_run(connection, self.tenant, _asked(run_id, "run"))

    def runs_of_bundle(self, name: str) -> list[str]:
        """Return the runs that used a bundle, in the order in which they were recorded."""
        listed = self.find_bundle(name)
        with self._database.read() as connection:
            return bundles.runs_of_bundle(connection, self.tenant, listed.bundle_id)

    def runs_of_artifact(self, artifact: str) -> list[str]:
        """Return the runs whose model saw something of an artifact: its SHA-256, or lake URI.

        `NotFoundError` is raised where no bundle has anything of it.
        """
        artifact = _asked(artifact, "artifact")
        with self._database.read() as connection:
            if not bundles.shows_artifact(connection, self.tenant, artifact):
                raise NotFoundError(f"no bundle has anything of {artifact[:80]!r}")
            return bundles.runs_of_artifact(connection, self.tenant, artifact)

    def bundle_items(self, name: str) -> list[TrackedItem]:
        """Return what is tracked of a bundle's inputs: how each was cut, why, and its artifact."""
        listed = self.find_bundle(name)
        with self._database.read() as connection:
            return bundles.items_of(connection, self.tenant, listed.bundle_id)

    def why_cut(self, name: str, evidence_id: str) -> "Decision":
        """Return what became of an input of a bundle, and why; also of one that was dropped."""
        bundle = self.bundle(name)
        for decision in bundle.accounting.decisions:
            if decision.evidence_id == evidence_id:
                return decision
        raise NotFoundError(f"bundle {bundle.bundle_id} has no input {evidence_id[:80]!r}")

    # Within

    def _record(self, built: "BuiltBundle", lake_root: str | None) -> "EvidenceBundle":
        """Keep a bundle's file, record it in the trail, and insert its rows."""
        from evidentia.bundles.model import artifact_uri  # noqa: PLC0415 - see above
        from evidentia.bundles.statement import PREDICATE_TYPE, statement_bytes  # noqa: PLC0415 - the same

        bundle = built.bundle
        lake_uri = artifact_uri(self.lake.put(built.data))
        statement = sha256_hex(statement_bytes(bundle.bundle_id, built.data))
        body = {
            STATEMENT_DIGEST: statement,
            "predicate_type": PREDICATE_TYPE,
            "bundle_sha256": bundle.bundle_sha256,
            "summary": bundle.summary.model_dump(mode="json", exclude_none=True),
        }
        with self._database.write() as connection:
            log.lock_head(connection, self.tenant, self._new_origin)  # no one else does meanwhile
            known = bundles.known_bundle(connection, self.tenant, bundle.bundle_id)
            if known is None:
                receipt = self._append_within(
                    connection, EntryKind.BUNDLE, f"bundle/{bundle.bundle_id}", body
                )
                bundles.insert_bundle(
                    connection,
                    self.tenant,
                    bundle,
                    lake_uri=lake_uri,
                    lake_root=lake_root,
                    statement_sha256=statement,
                    entry=receipt.seq,
                )
        if known is not None:  # another process recorded it first, at another time
            if known.lake_uri != lake_uri:
                self.lake.remove(lake_uri.rpartition("/")[2])
            return self.bundle(bundle.bundle_id)
        _log.info("bundle_recorded", tenant=self.tenant, bundle=bundle.bundle_id, entry=receipt.seq)
        return bundle

    def _bundle_bytes(self, listed: ListedBundle) -> bytes:
        """Return a bundle's file; raise `IntegrityError` unless it is what the trail names."""
        from evidentia.bundles.statement import statement_bytes  # noqa: PLC0415 - see above

        digest = self._bundle_digest(listed)
        try:
            data = self.lake.get(listed.lake_uri.rpartition("/")[2])
        except InputError:
            raise IntegrityError(
                f"bundle {listed.bundle_id}: the database says {listed.lake_uri[:80]!r}, which is "
                "no file of the lake"
            ) from None
        if sha256_hex(statement_bytes(listed.bundle_id, data)) != digest:
            raise IntegrityError(
                f"bundle {listed.bundle_id}: its file in the lake is not what the trail's entry "
                f"{listed.entry} names"
            )
        return data

    def _find_document(self, name: str) -> "LibraryDocument":
        from evidentia.store.evidence import LibraryDocument  # noqa: PLC0415 - see above

        with self._database.read() as connection:
            versions = library.all_versions(connection, self.tenant, {name})
        for version in versions:
            if version.is_newest:
                return LibraryDocument(version.id, version.filename, version.sha256)
        raise NotFoundError(
            f"the library has no document {name!r}: 'evidentia documents --json' shows the ids"
        )

    def _forget(self, connection: Connection, entry: Entry) -> Callable[[], None]:
        """Remove an erased bundle's or run's rows, then a bundle's file and artifacts."""
        if entry.kind == EntryKind.RUN:
            bundles.erase_run(connection, self.tenant, entry.seq)
            return lambda: None
        if entry.kind != EntryKind.BUNDLE:
            return super()._forget(connection, entry)
        erased = bundles.erase_bundle(connection, self.tenant, entry.seq)
        if erased is None:
            return lambda: None
        lake_uri, digests = erased

        def remove() -> None:
            for digest in (lake_uri.rpartition("/")[2], *digests):
                self.lake.remove(digest)

        return remove

    def _bundle_digest(self, listed: ListedBundle) -> str:
        """Return the digest that the trail names; raise `IntegrityError` if the row has another."""
        return str(self._recorded_body(listed)[STATEMENT_DIGEST])

    def _recorded_body(self, listed: ListedBundle) -> dict[str, Any]:
        """Return what the trail says of a bundle; raise `IntegrityError` if the row differs."""
        logged = self._genuine(listed.entry)
        body = logged.body if isinstance(logged.body, dict) else {}
        subject = f"bundle/{listed.bundle_id}"
        if logged.entry.subject != subject or body.get(STATEMENT_DIGEST) != listed.statement_sha256:
            raise IntegrityError(
                f"bundle {listed.bundle_id}: the database and the trail's entry {listed.entry} "
                "disagree; run 'evidentia trail verify'"
            )
        return body


def check_run_id(run_id: str) -> None:
    """Raise `InputError` for what is no id of a run."""
    if not run_id.strip() or len(run_id) > MAX_RUN_ID or not _is_storable(run_id):
        raise InputError(f"a run's id is text of 1 to {MAX_RUN_ID} characters")


def _is_storable(text: str) -> bool:
    """Whether every database could hold a text."""
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def _asked(text: str, what: str) -> str:
    """Return what is looked for by a text; what no database could hold is nowhere."""
    if not _is_storable(text):
        raise NotFoundError(f"there is no {what} {text[:80]!a}")
    return text

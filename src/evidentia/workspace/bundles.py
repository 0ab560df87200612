"""The bundles' part: building and recording them, and what runs made of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evidentia.bundles.model import EvidenceBundle, artifact_uri
from evidentia.bundles.statement import PREDICATE_TYPE, statement_bytes
from evidentia.canonical import canonical_json, sha256_hex
from evidentia.errors import BusyError, GoneError, InputError, IntegrityError, NotFoundError
from evidentia.proof.document import Proof
from evidentia.store.database import is_storable
from evidentia.store.keeping import keep_files
from evidentia.store.sql import bundles
from evidentia.store.sql.bundles import ListedBundle, TrackedItem
from evidentia.store.sql.log import Receipt
from evidentia.trail.entry import ERASED_PREFIX, EntryKind
from evidentia.workspace.acting import Acting
from evidentia.workspace.authority import counting
from evidentia.workspace.part import Part
from evidentia.workspace.recorded import Progress, Recorded

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from evidentia.bundles.accounting import InputFate
    from evidentia.bundles.building import BuiltBundle
    from evidentia.bundles.redaction.model import Detector
    from evidentia.bundles.rendering import Rendered, RenderFormat
    from evidentia.loading.assembling import Policy
    from evidentia.loading.evidence import Connections, LibraryDocument, OnError

MAX_RUN_ID: Final = 200

BUNDLES: Final[Recorded[ListedBundle]] = Recorded(
    noun="bundle",
    kinds=(EntryKind.BUNDLE,),
    find=lambda connection, tenant, name: bundles.find_bundle(
        connection, tenant, _asked(name, "bundle")
    ),
    rows=bundles.recorded_bundles,
    begins="bundle/",
    statement=statement_bytes,
    most_bytes=2**62,
    too_large="build it under smaller limits",
)
Listed = list[ListedBundle]
Items = list[TrackedItem]
Texts = list[str]


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


class Bundles(Part, name="bundles"):
    """A tenant's bundles: what models saw, and which run saw what."""

    def build(
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
    ) -> EvidenceBundle:
        """Build a bundle, keep it in the lake, and record it in the trail; return it.

        References are paths below `lake_root`; documents may also be named by their id in the
        library. The same inputs and policy give the bundle that is recorded already.
        """
        from evidentia.loading.assembling import Assembly  # noqa: PLC0415 - only building needs it
        from evidentia.loading.originals import Originals  # noqa: PLC0415 - the same

        acting, opened = self._acting, self._acting.opened
        acting.refuse_to_fork()
        root = None if lake_root is None else Path(lake_root)
        assembly = Assembly(
            Originals(root, private=opened.home.folder),
            acting.lake,
            lambda: opened.keys.secret(acting.tenant),
            on_error=on_error,
            connections=connections or {},
            detectors=detectors or {},
            find_document=lambda name: _library_document(acting, name),
            progress=progress,
        )
        built = assembly.build(job_input, evidence_refs, policy, acting.now)
        known = acting.read(bundles.known_bundle, built.bundle.bundle_id)
        if known is not None:
            recorded = built.bundle.model_copy(update={"created_utc": known.created_utc})
            files = (recorded.encode(), *built.artifacts)  # should one have gone, here it is again
            keep_files(acting.database, acting.lake, acting.tenant, files)
            return _read(acting, known)
        return record_built(acting, built, None if root is None else str(root.resolve()))

    def list(
        self,
        *,
        before: int | None = None,
        after: int | None = None,
        limit: int | None = None,
        oldest_first: bool = False,
    ) -> Listed:
        """Return the bundles, newest first; page through them with `before`, an entry's number.

        `oldest_first` turns them round: then page with `after`.
        """
        return self._acting.read(
            bundles.list_bundles,
            before=before,
            after=after,
            limit=limit,
            oldest_first=oldest_first,
        )

    def ids(self) -> Texts:
        """Return the ids of all bundles, newest first, whatever else their rows say."""
        rows = self._acting.read(bundles.recorded_bundles)
        return [identity for identity, _ in rows]

    def find(self, name: str) -> ListedBundle:
        """Return the bundle of this id, or of one that begins so, or the newest.

        `latest` is the newest, `latest~1` the one before it.
        """
        return BUNDLES.named(self._acting, name)

    def get(self, name: str) -> EvidenceBundle:
        """Return a bundle, named as for `find`.

        It is read from the file that the trail names by its digest; `IntegrityError` is raised if
        that is not what it was.
        """
        return _read(self._acting, BUNDLES.named(self._acting, name))

    def render(self, name: str, format: "RenderFormat" = "text") -> "Rendered":  # noqa: A002 - as `EvidenceBundle.render`
        """Render a bundle, its fence keyed with the workspace's secret."""
        key = self._acting.opened.keys.secret(self._acting.tenant)
        return _read(self._acting, BUNDLES.named(self._acting, name)).render(format, key=key)

    def prove(self, name: str) -> Proof:
        """Prove a bundle: the signed statement, and its place in the log under a checkpoint."""
        return BUNDLES.prove(self._acting, BUNDLES.named(self._acting, name))

    def export(self, name: str, file: str | Path, *, overwrite: bool = False) -> Path:
        """Write a bundle to a file: `.json` with its proof, `.txt` as a model sees it."""
        from evidentia.store.files import check_writable, write_durably  # noqa: PLC0415 - not all export

        target = Path(file)
        form = target.suffix.lower()
        if form not in {".json", ".txt"}:
            raise InputError(f"{target}: its ending tells no form of a bundle: use .json or .txt")
        check_writable(target, overwrite=overwrite)
        row = BUNDLES.named(self._acting, name)
        if form == ".json":
            data = canonical_json(BUNDLES.prove(self._acting, row).as_json()) + b"\n"
        else:
            key = self._acting.opened.keys.secret(self._acting.tenant)
            data = str(_read(self._acting, row).render("text", key=key).content).encode()
        write_durably(target, data, mode=0o600)
        return target

    def verify(self, name: str, *, lake_root: str | Path | None = None) -> BundleReport:
        """Check a bundle: its digest, limits and accounting, and every artifact it refers to.

        Files outside of the workspace's lake are looked for where they were when the bundle was
        built, or below `lake_root`.
        """
        try:
            listed = BUNDLES.named(self._acting, name)
        except IntegrityError as error:
            return BundleReport(name, (), (str(error),))
        try:
            return _verify(self._acting, listed, lake_root)
        except (IntegrityError, NotFoundError) as error:
            said = str(error).removeprefix(f"bundle {listed.bundle_id}: ")
            return BundleReport(listed.bundle_id, (), (said,))

    def audit(
        self, *, lake_root: str | Path | None = None, progress: Progress | None = None
    ) -> Texts:
        """Verify every bundle, and that every one that the trail records is there."""
        return audit(self._acting, progress, lake_root=lake_root)

    # Runs

    def record_run(self, run_id: str, bundle_id: str) -> Receipt:
        """Record in the trail that a run used a bundle; recording it again changes nothing."""
        acting = self._acting
        check_run_id(run_id)
        listed = BUNDLES.named(acting, bundle_id)
        body = {
            "run_id": run_id,
            "bundle_id": listed.bundle_id,
            "bundle_sha256": BUNDLES.body(acting, listed)["bundle_sha256"],
            "by": acting.actor,
        }
        with acting.writing() as connection:
            known = bundles.run_entry(connection, acting.tenant, run_id, listed.bundle_id)
            if known is None:
                receipt = acting.append_within(connection, EntryKind.RUN, f"run/{run_id}", body)
                bundles.insert_run(
                    connection,
                    acting.tenant,
                    run_id,
                    listed.bundle_id,
                    at=acting.now,
                    entry=receipt.seq,
                )
        if known is not None:
            return Receipt(known, acting.entry(known).leaf, repeated=True)
        return receipt

    def of_run(self, run_id: str) -> Listed:
        """Return the bundles that a run used, in the order in which they were recorded."""
        return self._acting.read(bundles.bundles_of_run, _asked(run_id, "run"))

    def runs(self, name: str) -> Texts:
        """Return the runs that used a bundle, in the order in which they were recorded."""
        listed = BUNDLES.named(self._acting, name)
        return self._acting.read(bundles.runs_of_bundle, listed.bundle_id)

    def runs_of_artifact(self, artifact: str) -> Texts:
        """Return the runs whose model saw something of an artifact: its SHA-256, or lake URI.

        `NotFoundError` is raised where no bundle has anything of it.
        """
        artifact, tenant = _asked(artifact, "artifact"), self._acting.tenant
        with self._acting.database.read() as connection:
            if not bundles.shows_artifact(connection, tenant, artifact):
                raise NotFoundError(f"no bundle has anything of {artifact[:80]!r}")
            return bundles.runs_of_artifact(connection, tenant, artifact)

    def items(self, name: str) -> Items:
        """Return what is tracked of a bundle's inputs: how each was cut, why, and its artifact."""
        listed = BUNDLES.named(self._acting, name)
        return self._acting.read(bundles.items_of, listed.bundle_id)

    def why_cut(self, name: str, evidence_id: str) -> "InputFate":
        """Return what became of an input of a bundle, and why; also of one that was dropped."""
        bundle = _read(self._acting, BUNDLES.named(self._acting, name))
        for fate in bundle.accounting.decisions:
            if fate.evidence_id == evidence_id:
                return fate
        raise NotFoundError(f"bundle {bundle.bundle_id} has no input {evidence_id[:80]!r}")


def audit(
    acting: Acting,
    progress: Progress | None,
    *,
    lake_root: str | Path | None = None,
    quick: bool = False,
    away: Texts | None = None,
) -> Texts:
    """Verify every bundle, and that every one that the trail records is there.

    `away` takes the bundles whose originals lay in a folder that is not on this machine, which is
    a problem where it is not given.
    """

    def check(row: ListedBundle) -> Iterable[str]:
        from evidentia.loading.artifacts import NOT_HERE  # noqa: PLC0415 - only verifying needs it

        problems = _verify(acting, row, lake_root).problems
        if away is None or row.lake_root is None or Path(row.lake_root).is_dir():
            return problems
        here = [problem for problem in problems if not problem.endswith(NOT_HERE)]
        if len(here) < len(problems):
            away.append(row.bundle_id)
        return here

    return BUNDLES.audit(acting, check, progress, quick=quick)


def audit_runs(acting: Acting) -> Texts:
    """Compare the rows of runs with the entries that record them, both ways.

    The rows of a run go with the erasure of its entry, or of the bundle that it used.
    """
    rows = set(acting.read(bundles.recorded_runs))
    subjects = {one.entry.seq: one.entry.subject for one in acting.entries(EntryKind.BUNDLE)}
    erased: dict[str, int] = {}
    for one in counting(acting, acting.entries(EntryKind.ERASURE)):
        gone = int(one.entry.subject.removeprefix(ERASED_PREFIX))
        if gone in subjects:
            erased[subjects[gone]] = one.entry.seq
    recorded: set[tuple[int, str, str]] = set()
    for logged in acting.entries(EntryKind.RUN):
        match logged.body:
            case {"run_id": str(run_id), "bundle_id": str(bundle_id)}:
                recorded.add((logged.entry.seq, run_id, bundle_id))
    missing = [
        one for one in sorted(recorded - rows) if one[0] > erased.get(BUNDLES.subject(one[2]), -1)
    ]
    return [
        f"run {run_id}: the database says that it used bundle {bundle_id}, and entry {seq} of the "
        "trail does not"
        for seq, run_id, bundle_id in sorted(rows - recorded)
    ] + [
        f"run {run_id}: entry {seq} of the trail says that it used bundle {bundle_id}, and the "
        "database does not have it"
        for seq, run_id, bundle_id in missing
    ]


def _read(acting: Acting, listed: ListedBundle) -> EvidenceBundle:
    return EvidenceBundle.parse(BUNDLES.file(acting, listed))


def files_of(data: bytes) -> list[str]:
    """Return the digests of the files in the lake that a bundle's own file refers to."""
    return bundles.kept_artifacts(EvidenceBundle.parse(data))


def record_built(acting: Acting, built: "BuiltBundle", lake_root: str | None) -> EvidenceBundle:
    """Keep a bundle's file and artifacts, record it in the trail, and insert its rows."""
    bundle = built.bundle
    new = {sha256_hex(data) for data in built.artifacts}
    there = [
        digest
        for digest in bundles.kept_artifacts(bundle)
        if digest not in new  # what a source only says of itself need not be there
        and (digest in built.there or acting.lake.holds(digest))
    ]
    statement = statement_bytes(bundle.bundle_id, built.data)
    body = {
        "predicate_type": PREDICATE_TYPE,
        "bundle_sha256": bundle.bundle_sha256,
        "summary": bundle.summary.model_dump(mode="json", exclude_none=True),
    }

    def insert(connection: "Connection", receipt: Receipt) -> None:
        bundles.insert_bundle(
            connection,
            acting.tenant,
            bundle,
            lake_uri=artifact_uri(sha256_hex(built.data)),
            lake_root=lake_root,
            statement_sha256=sha256_hex(statement),
            entry=receipt.seq,
        )

    def is_known(connection: "Connection") -> bool:
        return bundles.known_bundle(connection, acting.tenant, bundle.bundle_id) is not None

    try:
        receipt = BUNDLES.keep(
            acting,
            bundle.bundle_id,
            statement,
            body,
            insert,
            files=(built.data, *built.artifacts),
            there=there,
            unless=is_known,
        )
    except GoneError:
        raise BusyError(
            "a file that the bundle refers to was erased while it was built: build it again"
        ) from None
    if receipt is None:  # another process recorded it first, at another time
        return _read(acting, BUNDLES.named(acting, bundle.bundle_id))
    return bundle


def _verify(acting: Acting, listed: ListedBundle, lake_root: str | Path | None) -> BundleReport:
    from evidentia.loading.artifacts import check_artifacts  # noqa: PLC0415 - only verifying needs it

    bundle = _read(acting, listed)
    root = lake_root if lake_root is not None else listed.lake_root
    checked, problems = check_artifacts(bundle, acting.lake, None if root is None else Path(root))
    lies = acting.read(bundles.differing_rows, bundle)
    items, inputs = len(bundle.items), bundle.accounting.inputs
    holds = (
        f"its file is the one that entry {listed.entry} of the trail names",
        f"{items:,} {'item' if items == 1 else 'items'} within the limits of the policy",
        f"{inputs:,} {'input' if inputs == 1 else 'inputs'} accounted for",
    )
    return BundleReport(listed.bundle_id, (*holds, *checked), (*lies, *problems))


def _library_document(acting: Acting, name: str) -> "LibraryDocument":
    from evidentia.loading.evidence import LibraryDocument  # noqa: PLC0415 - only building needs it
    from evidentia.workspace.library import Proved  # noqa: PLC0415 - the same

    with acting.database.read() as connection:
        found = Proved.now(acting, connection).versions({name})
    if found:
        newest = found[-1]
        return LibraryDocument(newest.id, newest.filename, newest.sha256)
    raise NotFoundError(
        f"the library has no document {name!r}: 'evidentia documents --json' shows the ids"
    )


def check_run_id(run_id: str) -> None:
    """Raise `InputError` for what is no id of a run."""
    if not run_id.strip() or len(run_id) > MAX_RUN_ID or not is_storable(run_id):
        raise InputError(f"a run's id is text of 1 to {MAX_RUN_ID} characters")


def _asked(text: str, what: str) -> str:
    """Return what is looked for by a text; what no database could hold is nowhere."""
    if not is_storable(text):
        raise NotFoundError(f"there is no {what} {text[:80]!a}")
    return text

"""The packs' part: decisions, their packs and newer versions of them, exports, retention."""

from collections.abc import Iterable, Mapping, Sequence
from mimetypes import guess_type
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from evidentia.canonical import digest, sha256_hex
from evidentia.errors import (
    AccessError,
    ConflictError,
    InputError,
    NotFoundError,
    SealingError,
)
from evidentia.frozen import first_problem
from evidentia.packs.decision import DecisionOutput, PackRequirement, pack_requirement
from evidentia.packs.model import (
    Attachment,
    BundleReference,
    DecisionSummary,
    EvidencePack,
    LedgerReference,
    ReviewOutcome,
)
from evidentia.packs.statement import PREDICATE_TYPE, from_statement, statement_bytes
from evidentia.proof.document import Proof
from evidentia.proof.files import read_bytes
from evidentia.proof.statement import Statement
from evidentia.store.database import is_storable
from evidentia.store.sql import packs
from evidentia.store.sql.log import Receipt
from evidentia.store.sql.packs import ListedPack
from evidentia.trail.entry import EntryKind
from evidentia.workspace.acting import OWNER, Acting, check_name
from evidentia.workspace.part import Part
from evidentia.workspace.recorded import Progress, Recorded

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from evidentia.export.pdf.rendering import Language, Typeface
    from evidentia.ledger.model import EvidenceLedger
    from evidentia.packs.decision import ApprovalClass
    from evidentia.packs.drafting import MemoWriter
    from evidentia.packs.memo import BilingualMemo
    from evidentia.packs.model import PromptRecord
    from evidentia.packs.retention import LegalHold, RetentionPolicy
    from evidentia.packs.tools import ToolVerificationLedger
    from evidentia.workspace.retention import PackAudit, SweptPack

    Removed = list[SweptPack]

MAX_PACK_BYTES: Final = 8 * 2**20
MAX_ATTACHMENT_BYTES: Final = 32 * 2**20
_MAX_ID_BYTES: Final = 1_900
_DECIDED: Final = ("decision", "entity_id", "agent_name", "model", "model_version")
"""The fields of a pack that are its decision's: other ones would be of another decision."""

PACKS: Final[Recorded[ListedPack]] = Recorded(
    noun="pack",
    kinds=(EntryKind.PACK, EntryKind.REVIEW),  # a review is a newer version of one
    find=packs.find_pack,
    rows=packs.recorded_packs,
    begins="pack_",
    most_bytes=MAX_PACK_BYTES,
    too_large="attach what is long as a file",
)
Files = Mapping[str, bytes | Path]
"""Files by the names that they are attached under."""
Listed = list[ListedPack]


class Packs(Part, name="packs"):
    """A tenant's decisions and their packs."""

    # Making packs

    def record_decision(self, decision: DecisionOutput) -> PackRequirement:
        """Record a decision in the trail, once; return whether it asks for a pack."""
        return _record_decision(self._acting, decision)

    def assemble(
        self,
        decision: DecisionOutput,
        *,
        memo: "BilingualMemo | MemoWriter | None" = None,
        ledger: "EvidenceLedger | str | None" = None,
        bundles: Sequence[str] = (),
        prompts: "Sequence[PromptRecord]" = (),
        attachments: Files | None = None,
        tool_ledger: "ToolVerificationLedger | None" = None,
    ) -> EvidencePack:
        """Assemble, seal and keep the pack of a decision, which is recorded if it is not yet.

        Without a memo a draft is written by templates; a `MemoWriter` may write it instead.
        `ledger` is a ledger or its id, `bundles` are ids, `attachments` are files by name.
        `tool_ledger` has calls that are not in the trail yet: they are recorded there first.
        """
        from evidentia.packs.assembly import assemble  # noqa: PLC0415 - only making packs needs it
        from evidentia.packs.drafting import TemplateWriter  # noqa: PLC0415 - the same
        from evidentia.packs.recording import current_trace_id  # noqa: PLC0415 - the same
        from evidentia.workspace.tools import Tools  # noqa: PLC0415 - the same

        acting = self._acting
        files = _read_files(attachments)
        _record_decision(acting, decision)
        tools = Tools(acting)
        if tool_ledger is not None:
            tools.take_over(decision.decision_id, tool_ledger)
        try:
            pack = assemble(
                decision,
                memo=memo or TemplateWriter(),
                tool_ledger=tools,
                created_at=acting.now,
                prompts=prompts,
                bundles=[_bundle_reference(acting, name) for name in bundles],
                ledger=None if ledger is None else _ledger_reference(acting, ledger),
                attachments=[_attachment(*item) for item in files.items()],
                trace_id=current_trace_id(),
            )
        except ValidationError as error:
            raise InputError(first_problem(error, EvidencePack, "pack")) from None
        return _keep(acting, pack, EntryKind.PACK, files.values())

    def seal(self, pack: EvidencePack, *, attachments: Files | None = None) -> EvidencePack:
        """Seal a pack that is complete: keep it, signed and recorded in the trail.

        `attachments` are the files that the pack names. Raises `SealingError`, which lists all
        that the pack lacks, or that refuses how it was made.
        """
        if pack.version > 1:
            raise InputError("a newer version of a pack is made by revising or reviewing it")
        if pack.reviewer_id is not None:
            raise InputError("a review is made with packs.review, once the pack is sealed")
        return _keep(self._acting, pack, EntryKind.PACK, _read_files(attachments).values())

    def revise(
        self, name: str, /, changes: Mapping[str, Any], *, attachments: Files | None = None
    ) -> EvidencePack:
        """Replace a pack by a newer version with changes to its fields; the old one stays.

        `attachments` are files to attach, beside those that are or in place of ones so called.
        """
        from evidentia.packs.versions import revised  # noqa: PLC0415 - only newer versions need it

        for field in changes:
            if field in _DECIDED:
                raise InputError(
                    f"{field} cannot be revised: a changed decision is another decision"
                )
        old = read_pack(self._acting, PACKS.named(self._acting, name))
        files = _read_files(attachments)
        if files:
            if "attachments" in changes:
                raise InputError("attachments: give files, or change the field, not both")
            kept = [one for one in old.attachments if one.name not in files]
            new = [_attachment(*item) for item in files.items()]
            changes = {**changes, "attachments": [one.model_dump() for one in (*kept, *new)]}
        pack = revised(old, changes, at=self._acting.now)
        return _keep(self._acting, pack, EntryKind.PACK, files.values(), old)

    def review(
        self,
        name: str,
        /,
        outcome: ReviewOutcome | str,
        *,
        reviewer: str | None = None,
        note: str = "",
    ) -> EvidencePack:
        """Review a decision: a newer version of its pack says who approved or rejected it.

        A user reviews in their own name; `reviewer` is for the workspace's owner to give.
        """
        from evidentia.packs.versions import reviewed  # noqa: PLC0415 - the same

        acting = self._acting
        if outcome not in list(ReviewOutcome):
            raise InputError(f"a review ends in {' or '.join(ReviewOutcome)}, not {outcome!r}")
        if acting.user is not None and reviewer not in {None, acting.user}:
            raise AccessError(f"{acting.user} reviews in their own name, not in that of {reviewer}")
        who = acting.user or (OWNER if reviewer is None else reviewer)
        check_name(who, "a reviewer")
        old = read_pack(acting, PACKS.named(acting, name))
        _refuse_own(acting, old, who)
        pack = reviewed(old, reviewer=who, outcome=ReviewOutcome(outcome), at=acting.now, note=note)
        return _keep(acting, pack, EntryKind.REVIEW, (), old)

    # Reading them

    def list(
        self,
        *,
        before: int | None = None,
        limit: int | None = None,
        all_versions: bool = False,
        unresolved: bool = False,
    ) -> Listed:
        """Return packs, newest first; page through them with `before`, an entry's number.

        Of each pack the newest version is listed, or all of them.
        """
        with self._acting.database.read() as connection:
            return packs.list_packs(
                connection,
                self._acting.tenant,
                before=before,
                limit=limit,
                all_versions=all_versions,
                unresolved=unresolved,
            )

    def find(self, name: str, /) -> ListedPack:
        """Return the pack of this id, or the newest version of a decision's, or of all (`latest`).

        A pack that the user may not see is one that is not there.
        """
        return PACKS.named(self._acting, name)

    def get(self, name: str, /) -> EvidencePack:
        """Return a pack, named as for `find`.

        It is read from the statement that the trail names by its digest; `IntegrityError` is
        raised if that is not what it was.
        """
        return read_pack(self._acting, PACKS.named(self._acting, name))

    def versions(self, name: str, /) -> Listed:
        """Return all versions of a pack, the oldest first."""
        with self._acting.database.read() as connection:
            listed = packs.find_pack(connection, self._acting.tenant, name)
            return packs.versions(connection, self._acting.tenant, listed)

    def prove(self, name: str, /) -> Proof:
        """Prove a pack: the signed statement, and its place in the log under a checkpoint.

        For the workspace's owner: what a user takes away is exported.
        """
        return PACKS.prove(self._acting, PACKS.named(self._acting, name))

    # Exporting them

    def approve_export(
        self, name: str, /, *, approval_class: "ApprovalClass | str" = "A1", note: str = ""
    ) -> int:
        """Approve that a pack is exported, once; return the number of the entry that says so."""
        from evidentia.workspace.exporting import approve  # noqa: PLC0415 - only exporting needs it

        return approve(self._acting, name, approval_class, note)

    def export(
        self,
        name: str,
        /,
        file: str | Path,
        *,
        approval: int | None = None,
        attachments: bool = True,
        overwrite: bool = False,
        pdf: bool | None = None,
        lang: "Language" = "both",
        typeface: "Typeface" = "plex",
    ) -> Path:
        """Write a pack with its proof and attachments as one file that verifies itself.

        That is JSON, or a PDF with the JSON in it: as `pdf` says, or else by the file's name.
        `lang` (`ar`, `en`, `both`) and `typeface` (`plex`, `amiri`) are the PDF's. `approval` is
        the entry of an approval for this pack that no export has used. The owner of the workspace
        may leave it out: the export itself is then the approval, and recorded so.
        """
        from evidentia.workspace.exporting import export  # noqa: PLC0415 - the same

        target = Path(file)
        how = (lang, typeface) if (_is_pdf(target) if pdf is None else pdf) else None
        return export(
            self._acting,
            name,
            target,
            approval=approval,
            attachments=attachments,
            overwrite=overwrite,
            pdf=how,
        )

    # Keeping them

    def hold(self, name: str, /, *, reason: str) -> Receipt:
        """Put a pack on legal hold, in all its versions: nothing removes it until its release."""
        from evidentia.workspace.retention import retain  # noqa: PLC0415 - not all need it

        return retain(self._acting, name, "hold", reason)

    def release(self, name: str, /, *, reason: str) -> Receipt:
        """End the legal hold of a pack."""
        from evidentia.workspace.retention import retain  # noqa: PLC0415 - the same

        return retain(self._acting, name, "release", reason)

    def held(self) -> "dict[str, LegalHold]":
        """Return the packs on legal hold, in all their versions, by their ids."""
        from evidentia.workspace.retention import holds  # noqa: PLC0415 - the same

        with self._acting.database.read() as connection:
            return holds(self._acting, connection)

    def retention(self) -> "RetentionPolicy":
        """Return the tenant's retention: 7 years, unless another policy was set."""
        from evidentia.workspace.retention import policy_of  # noqa: PLC0415 - the same

        return policy_of(self._acting)

    def set_retention(self, policy: "RetentionPolicy") -> Receipt:
        """Set for how long the tenant's packs are kept."""
        from evidentia.workspace.retention import set_policy  # noqa: PLC0415 - the same

        return set_policy(self._acting, policy)

    def sweep(self, *, dry_run: bool = False, progress: Progress | None = None) -> "Removed":
        """Remove the packs whose retention has ended and which no one holds; return them.

        The trail says of each what was removed, when and why, and keeps proving that it was there.
        """
        from evidentia.workspace.retention import sweep  # noqa: PLC0415 - the same

        return sweep(self._acting, dry_run=dry_run, progress=progress)

    def audit(self, *, progress: Progress | None = None) -> "PackAudit":
        """Find mandatory packs that are missing, open reviews, and packs that do not hold.

        Tool calls that were recorded after their decision's pack was sealed are listed, too.
        """
        from evidentia.workspace.retention import audit  # noqa: PLC0415 - the same

        return audit(self._acting, progress)


def read_pack(acting: Acting, listed: ListedPack) -> EvidencePack:
    """Return a pack from the statement that the trail names."""
    return from_statement(Statement.parse(PACKS.file(acting, listed)))


def decisions_of(acting: Acting, decision_id: str | None = None) -> dict[str, dict[str, Any]]:
    """Return what the trail says of decisions, by their ids; what was erased says nothing."""
    subject = None if decision_id is None else f"decision/{decision_id}"
    return {
        logged.entry.subject.removeprefix("decision/"): {**logged.body, "at": logged.entry.at}
        for logged in acting.entries(EntryKind.DECISION, subject)
        if isinstance(logged.body, dict) and "decision_sha256" in logged.body
    }


def difference(pack: EvidencePack, recorded: Mapping[str, Any]) -> str | None:
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


def _record_decision(acting: Acting, decision: DecisionOutput) -> PackRequirement:
    _own_tenant(acting, "decision", decision.tenant_id)
    _check_ids(decision)
    requirement = pack_requirement(decision)
    summary = DecisionSummary.of(decision)
    body = {
        "decision_sha256": decision.sha256,
        "summary_sha256": digest(summary.model_dump(mode="json")),
        "entity_id": decision.entity_id,
        "agent_name": decision.agent_name,
        "approval_class": decision.approval_class.value,
        "reversibility_class": decision.reversibility_class.value,
        "sensitivity_class": decision.sensitivity_class.value,
        "decided_at": decision.decided_at,
        **requirement.model_dump(mode="json"),
        "by": acting.actor,
    }
    subject = f"decision/{decision.decision_id}"
    with acting.writing() as connection:
        recorded = acting.entries(EntryKind.DECISION, subject, connection=connection)
        for known in recorded:
            if not known.erased and known.body.get("decision_sha256") != decision.sha256:
                raise ConflictError(
                    f"{decision.decision_id} was recorded before with other content (entry "
                    f"{known.entry.seq}): a changed decision is another decision"
                )
        if not recorded:
            acting.append_within(connection, EntryKind.DECISION, subject, body)
    return requirement


def _keep(
    acting: Acting,
    pack: EvidencePack,
    kind: EntryKind,
    files: Iterable[bytes],
    replaced: EvidencePack | None = None,
) -> EvidencePack:
    """Keep a pack's statement and files, record it in the trail, and insert its row."""
    from evidentia.packs.rules import check_sealable  # noqa: PLC0415 - only making packs needs it
    from evidentia.workspace.tools import calls_of  # noqa: PLC0415 - the same

    check_sealable(pack, calls_of(acting, pack.decision_id), replaced=replaced)
    _own_tenant(acting, "pack", pack.tenant_id)
    _check_ids(pack)
    _check_references(acting, pack, replaced)
    attached = _attached_files(pack, files, replaced)
    statement = statement_bytes(pack)
    body = {
        "predicate_type": PREDICATE_TYPE,
        "decision_id": pack.decision_id,
        "version": pack.version,
        "replaces": pack.replaces,
    }

    def insert(connection: "Connection", receipt: Receipt) -> None:
        packs.insert_pack(connection, acting.tenant, pack, sha256_hex(statement), receipt.seq)

    def is_another(connection: "Connection") -> bool:
        _refuse_another(connection, acting.tenant, pack)
        return False

    PACKS.keep(
        acting,
        pack.pack_id,
        statement,
        body,
        insert,
        files=(statement, *attached),
        kind=kind,
        unless=is_another,
    )
    return pack


def _refuse_own(acting: Acting, pack: EvidencePack, reviewer: str) -> None:
    """Raise `AccessError` if a decision is conflicted, and the reviewer's own agent's."""
    from evidentia.access.roles import AgentOwner  # noqa: PLC0415 - only reviews need it
    from evidentia.workspace.access import access_of  # noqa: PLC0415 - the same

    owned = AgentOwner(user=reviewer, tenant_id=acting.tenant, agent_name=pack.agent_name)
    conflicted = pack.decision is not None and pack.decision.conflicted
    if conflicted and owned in access_of(acting).owners:
        raise AccessError(
            f"{reviewer} may not review pack {pack.pack_id}: it is marked as conflicted, and "
            f"agent {pack.agent_name} is their own"
        )


def _own_tenant(acting: Acting, what: str, tenant: str | None) -> None:
    if tenant != acting.tenant:
        raise InputError(
            f"the {what} is of tenant {tenant!r}, and this workspace is of {acting.tenant!r}: "
            "open that tenant's"
        )


def _refuse_another(connection: "Connection", tenant: str, pack: EvidencePack) -> None:
    """Raise unless a pack is its decision's first, or replaces the newest version."""
    if pack.replaces is None:
        try:
            found = packs.find_pack(connection, tenant, pack.decision_id)
        except NotFoundError:
            return
        raise SealingError(
            f"{pack.decision_id} has pack {found.id} already: revise that one (edited_in_place)",
            ("pack: revise the one that is there (edited_in_place)",),
        )
    packs.find_pack(connection, tenant, pack.replaces)
    newer = packs.replaced_by(connection, tenant, pack.replaces)
    if newer is not None:
        raise ConflictError(
            f"pack {pack.replaces} has a newer version already, {newer}: look at it with "
            f"'evidentia pack show {newer}', and change that one"
        )


def _check_references(acting: Acting, pack: EvidencePack, replaced: EvidencePack | None) -> None:
    """Raise `InputError` unless what a pack says of its decision and basis is so.

    What the version before says stays as it is: the bundle or the ledger may be erased since.
    """
    recorded = decisions_of(acting, pack.decision_id).get(pack.decision_id)
    if recorded is not None and (problem := difference(pack, recorded)):
        raise InputError(f"pack.{problem}: leave it, or assemble the pack from the decision")
    for one in pack.bundles:
        known = replaced is not None and one in replaced.bundles
        if not known and one != _bundle_reference(acting, one.bundle_id):
            raise InputError(f"bundle {one.bundle_id} has another digest than the pack says")
    ledger = pack.ledger
    known = replaced is not None and ledger == replaced.ledger
    if ledger is not None and not known and ledger != _ledger_reference(acting, ledger.ledger_id):
        raise InputError(f"ledger {ledger.ledger_id} is not as the pack says")


def _bundle_reference(acting: Acting, name: str) -> BundleReference:
    from evidentia.workspace.bundles import Bundles  # noqa: PLC0415 - not all packs have one

    bundle = Bundles(acting).get(name)
    return BundleReference(bundle_id=bundle.bundle_id, bundle_sha256=bundle.bundle_sha256)


def _ledger_reference(acting: Acting, ledger: "EvidenceLedger | str") -> LedgerReference:
    from evidentia.workspace.ledgers import LEDGERS, Ledgers  # noqa: PLC0415 - the same

    listed = LEDGERS.named(acting, ledger if isinstance(ledger, str) else ledger.id)
    return LedgerReference(
        ledger_id=listed.id,
        statement_sha256=listed.statement_sha256,
        summary=Ledgers(acting).get(listed.id).summary,
    )


def _is_pdf(target: Path) -> bool:
    return target.suffix.lower() == ".pdf"


def _read_files(attachments: Files | None) -> dict[str, bytes]:
    files = {
        name: content if isinstance(content, bytes) else read_bytes(content, MAX_ATTACHMENT_BYTES)
        for name, content in (attachments or {}).items()
    }
    for name, data in files.items():
        if len(data) > MAX_ATTACHMENT_BYTES:
            raise InputError(f"{name}: larger than the {MAX_ATTACHMENT_BYTES} bytes of a file")
    return files


def _attachment(name: str, data: bytes) -> Attachment:
    media_type = guess_type(name)[0] or "application/octet-stream"
    try:
        return Attachment(
            name=name, media_type=media_type, sha256=sha256_hex(data), bytes=len(data)
        )
    except ValidationError as error:
        raise InputError(first_problem(error, Attachment, "attachment")) from None


def _attached_files(
    pack: EvidencePack, files: Iterable[bytes], replaced: EvidencePack | None
) -> list[bytes]:
    """Return the files of a pack that are new; raise `InputError` if one is nowhere.

    A digest alone attaches nothing: it could be that of another tenant's file.
    """
    given = {sha256_hex(data): data for data in files}
    before = {(one.sha256, one.bytes) for one in replaced.attachments} if replaced else set()
    for one in pack.attachments:
        here = one.sha256 in given and len(given[one.sha256]) == one.bytes
        if not here and (one.sha256, one.bytes) not in before:
            raise InputError(f"attachment {one.name!r}: give the file that it names by its digest")
    return [given[one.sha256] for one in pack.attachments if one.sha256 in given]


def _check_ids(of: DecisionOutput | EvidencePack) -> None:
    """Raise `InputError` for ids that not every database could hold."""
    for name in ("decision_id", "entity_id", "agent_name"):
        text = str(getattr(of, name))
        if not is_storable(text) or len(text.encode()) > _MAX_ID_BYTES:
            raise InputError(
                f"{name}: {text[:40]!a} cannot be stored: give up to {_MAX_ID_BYTES:,} bytes of "
                "text without NUL"
            )

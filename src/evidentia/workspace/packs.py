"""The packs' part: decisions, their packs and newer versions of them, exports, retention."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from evidentia.errors import (
    InputError,
    NotFoundError,
)
from evidentia.frozen import first_problem
from evidentia.packs.decision import DecisionOutput, PackRequirement
from evidentia.packs.model import (
    EvidencePack,
    ReviewOutcome,
)
from evidentia.proof.document import Proof
from evidentia.store.sql import objects, packs
from evidentia.store.sql.log import Receipt
from evidentia.store.sql.packs import ListedPack
from evidentia.trail.entry import EntryKind
from evidentia.workspace.part import Part
from evidentia.workspace.recorded import Progress
from evidentia.workspace.sealing import (
    PACKS,
    Files,
    attachment,
    bundle_reference,
    keep_pack,
    ledger_reference,
    read_files,
    read_pack,
    record_decision,
)
from evidentia.workspace.seeing import seen, seen_page

if TYPE_CHECKING:
    from datetime import datetime

    from evidentia.export.pdf.rendering import Language, Typeface
    from evidentia.ledger.model import EvidenceLedger
    from evidentia.packs.decision import ApprovalClass
    from evidentia.packs.drafting import MemoWriter
    from evidentia.packs.memo import BilingualMemo
    from evidentia.packs.model import Attachment, PromptRecord
    from evidentia.packs.retention import LegalHold, RetentionPolicy
    from evidentia.packs.tools import ToolVerificationLedger
    from evidentia.proof.succession import Succession
    from evidentia.workspace.assigning import AwaitedReview
    from evidentia.workspace.exporting import ExportApproval
    from evidentia.workspace.retention import PackAudit, SweptPack

    Approvals = list[ExportApproval]
    Decisions = list[str]
    Digests = list[str]
    Queue = list[AwaitedReview]
    Removed = list[SweptPack]

_DECIDED: Final = ("decision", "entity_id", "agent_name", "model", "model_version")
"""The fields of a pack that are its decision's: other ones would be of another decision."""
Listed = list[ListedPack]


class Packs(Part, name="packs"):
    """A tenant's decisions and their packs."""

    # Making packs

    def record_decision(self, decision: DecisionOutput) -> PackRequirement:
        """Record a decision in the trail, once; return whether it asks for a pack."""
        return record_decision(self._acting, decision)

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
        trace_id: str | None = None,
    ) -> EvidencePack:
        """Assemble, seal and keep the pack of a decision, which is recorded if it is not yet.

        Without a memo a draft is written by templates; a `MemoWriter` may write it instead.
        `ledger` is a ledger or its id, `bundles` are ids, `attachments` are files by name.
        `tool_ledger` has calls that are not in the trail yet: they are recorded there first.
        `trace_id` is that of the current OpenTelemetry span, unless it is given.
        """
        from evidentia.packs.assembly import assemble  # noqa: PLC0415 - only making packs needs it
        from evidentia.packs.drafting import TemplateWriter  # noqa: PLC0415 - the same
        from evidentia.packs.recording import current_trace_id  # noqa: PLC0415 - the same
        from evidentia.workspace.tools import Tools  # noqa: PLC0415 - the same

        acting = self._acting
        files = read_files(attachments)
        record_decision(acting, decision)
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
                bundles=[bundle_reference(acting, name) for name in bundles],
                ledger=None if ledger is None else ledger_reference(acting, ledger),
                attachments=[attachment(*item) for item in files.items()],
                trace_id=trace_id or current_trace_id(),
            )
        except ValidationError as error:
            raise InputError(first_problem(error, EvidencePack, "pack")) from None
        return keep_pack(acting, pack, EntryKind.PACK, files.values())

    def seal(self, pack: EvidencePack, *, attachments: Files | None = None) -> EvidencePack:
        """Seal a pack that is complete: keep it, signed and recorded in the trail.

        `attachments` are the files that the pack names. Raises `SealingError`, which lists all
        that the pack lacks, or that refuses how it was made.
        """
        if pack.version > 1:
            raise InputError("a newer version of a pack is made by revising or reviewing it")
        if pack.reviewer_id is not None:
            raise InputError(
                "a review is made with packs.review, with its outcome (approved or rejected), once "
                "the pack is sealed: leave out reviewer_id and reviewed_at"
            )
        return keep_pack(self._acting, pack, EntryKind.PACK, read_files(attachments).values())

    def revise(
        self, name: str, /, changes: Mapping[str, Any], *, attachments: Files | None = None
    ) -> EvidencePack:
        """Replace a pack by a newer version with changes to its fields; the old one stays.

        `attachments` are files to attach, beside those that are or in place of ones so called.
        """
        from evidentia.packs.versions import revised  # noqa: PLC0415 - only newer versions need it
        from evidentia.workspace.reviewing import with_files  # noqa: PLC0415 - the same

        refuse_decided(changes)
        old = read_pack(self._acting, PACKS.named(self._acting, name))
        files = read_files(attachments)
        pack = revised(old, with_files(old, changes, files), at=self._acting.now)
        return keep_pack(self._acting, pack, EntryKind.PACK, files.values(), old)

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

        A user reviews in their own name; `reviewer` is for the workspace's owner to give. Who made
        a version may not review it, but for the owner, whose review is recorded as a self-review.
        """
        from evidentia.workspace.reviewing import review  # noqa: PLC0415 - the same

        return review(self._acting, name, outcome, reviewer, note)

    def modify(
        self,
        name: str,
        /,
        changes: Mapping[str, Any],
        *,
        note: str,
        reviewer: str | None = None,
        attachments: Files | None = None,
    ) -> EvidencePack:
        """Review a decision by changing its pack: a revision and its approval, both or neither.

        It is of the version that is named: `ConflictError` is raised if there is a newer one.
        `changes` and `attachments` are as for `revise`, `reviewer` and `note` as for `review`.
        """
        from evidentia.workspace.reviewing import modify  # noqa: PLC0415 - the same

        self._acting.guard.admit("packs.revise", name)  # it is both
        refuse_decided(changes)
        return modify(self._acting, name, changes, files=attachments, reviewer=reviewer, note=note)

    def assign(
        self, name: str, /, assignee: str | None, *, due: "str | datetime | None" = None
    ) -> Receipt:
        """Say who is to review a pack, in all its versions, and by when; None takes it back.

        It gives no one a role: who may review is what grants say.
        """
        from evidentia.workspace.assigning import assign  # noqa: PLC0415 - not all need it

        return assign(self._acting, name, assignee, due)

    # Reading them

    def queue(
        self,
        *,
        assignee: str | None = None,
        overdue: bool = False,
        before: int | None = None,
        limit: int | None = None,
    ) -> "Queue":
        """Return the packs that await a review, newest first: who is to make it, and by when.

        `assignee` and `overdue` narrow it; page through them with `before`, an entry's number.
        """
        from evidentia.workspace.assigning import queue  # noqa: PLC0415 - the same

        return queue(self._acting, assignee=assignee, overdue=overdue, before=before, limit=limit)

    def list(
        self,
        *,
        before: int | None = None,
        after: int | None = None,
        limit: int | None = None,
        oldest_first: bool = False,
        all_versions: bool = False,
        unresolved: bool = False,
        decision: str | None = None,
        outcome: str | None = None,
    ) -> Listed:
        """Return packs, newest first; page through them with `before`, an entry's number.

        `oldest_first` turns them round: then page with `after`.
        Of each pack the newest version is listed, or all of them. `decision` is a decision's id,
        `outcome` what a review came to (`approved`), as the rows say.
        """

        def read(from_: int | None, most: int | None) -> Listed:
            return self._acting.read(
                packs.list_packs,
                before=before if oldest_first else from_,
                after=from_ if oldest_first else after,
                limit=most,
                oldest_first=oldest_first,
                all_versions=all_versions,
                unresolved=unresolved,
                decision=decision,
                outcome=outcome,
            )

        return seen_page(self._acting, read, after=after if oldest_first else before, limit=limit)

    def find(self, name: str, /) -> ListedPack:
        """Return the pack of this id, a decision's newest, or `latest`, `latest~1` and so on.

        A pack that the user may not see is one that is not there.
        """
        return PACKS.named(self._acting, name)

    def get(self, name: str, /) -> EvidencePack:
        """Return a pack, named as for `find`.

        It is read from the statement that the trail names by its digest; `IntegrityError` is
        raised if that is not what it was.
        """
        return read_pack(self._acting, PACKS.named(self._acting, name))

    def attachment(self, name: str, /, sha256: str) -> "tuple[Attachment, bytes]":
        """Return a file that a version of a pack has attached, by the digest of its bytes.

        Raise `NotFoundError` for a digest that it does not name, whatever the lake has.
        """
        pack = read_pack(self._acting, PACKS.named(self._acting, name))
        for one in pack.attachments:
            if one.sha256 == sha256:
                return one, self._acting.lake.get(sha256)
        raise NotFoundError(f"pack {pack.pack_id} has no attachment {sha256[:80]!r}")

    def attachment_link(self, name: str, /, sha256: str, *, seconds: int = 300) -> str | None:
        """Return an address that gives a file that a pack has attached to anyone for some seconds.

        It is the bucket's own, so that a large file goes through no server; None if the file is in
        no bucket. Raise `NotFoundError` as `attachment` does.
        """
        if not 1 <= seconds <= _MOST_SECONDS:
            raise InputError(f"a link lasts for 1 to {_MOST_SECONDS:,} seconds")
        pack = read_pack(self._acting, PACKS.named(self._acting, name))
        if all(one.sha256 != sha256 for one in pack.attachments):
            raise NotFoundError(f"pack {pack.pack_id} has no attachment {sha256[:80]!r}")
        row = self._acting.read(objects.find, sha256)
        place = None if row is None else row.place  # what was sealed, whatever came later
        return self._acting.lake.presigned(sha256, seconds, at=place)

    def versions(self, name: str, /) -> Listed:
        """Return all versions of a pack, the oldest first."""
        with self._acting.database.read() as connection:
            listed = packs.find_pack(connection, self._acting.tenant, name)
            found = packs.versions(connection, self._acting.tenant, listed)
        allowed = seen(self._acting, [one.id for one in found])
        return [one for one in found if one.id in allowed]

    def later(self, name: str, /) -> "tuple[Succession, ...]":
        """Return the versions that came after a pack, the oldest first, as the trail has them.

        None came after the newest one. A pack that a later version rejects is superseded, too.
        """
        from evidentia.workspace.versions import later  # noqa: PLC0415 - not all need it

        return later(self._acting, name)

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

    def approvals(self, name: str, /) -> "Approvals":
        """Return the approvals to export a pack, the oldest first, and which were used."""
        from evidentia.workspace.exporting import approvals  # noqa: PLC0415 - the same

        return approvals(self._acting, name)

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
        form: str | None = None,
        lang: "Language" = "both",
        typeface: "Typeface" = "plex",
    ) -> Path:
        """Write a pack with its proof and attachments as one file that verifies itself.

        That is JSON, or a PDF or an HTML page with the JSON in it: as `form` says (`json`, `pdf`,
        `html`; `pdf` says it of a PDF alone), or else by the file's name.
        `lang` (`ar`, `en`, `both`) and `typeface` (`plex`, `amiri`) are the PDF's. `approval` is
        the entry of an approval for this pack that no export has used. The owner of the workspace
        may leave it out: the export itself is then the approval, and recorded so.
        """
        from evidentia.workspace.exporting import export  # noqa: PLC0415 - the same

        target = Path(file)
        if form is None and pdf is not None:
            form = "pdf" if pdf else "json"
        chosen = form or _FORMS.get(target.suffix.lower(), "json")
        if chosen not in {"json", *_FORMS.values()}:
            raise InputError(f"there is no form {form!r} of a pack: use json, pdf or html")
        return export(
            self._acting,
            name,
            target,
            approval=approval,
            attachments=attachments,
            overwrite=overwrite,
            form=chosen,
            lang=lang,
            typeface=typeface,
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
            found = holds(self._acting, connection)
        allowed = seen(self._acting, sorted(found))
        return {one: hold for one, hold in found.items() if one in allowed}

    def missing(self) -> "Decisions":
        """Return the decisions that must have a pack and have none, by their ids.

        Which packs there are is the rows' word: an audit compares them with the trail.
        """
        from evidentia.workspace.retention import missing  # noqa: PLC0415 - the same

        return missing(self._acting)

    def retention(self) -> "RetentionPolicy":
        """Return the tenant's retention: 7 years, unless another policy was set."""
        from evidentia.workspace.retention import policy_of  # noqa: PLC0415 - the same

        return policy_of(self._acting)

    def set_retention(self, policy: "RetentionPolicy") -> Receipt:
        """Set for how long the tenant's packs are kept."""
        from evidentia.workspace.retention import set_policy  # noqa: PLC0415 - the same

        return set_policy(self._acting, policy)

    def lock_mode(self) -> str:
        """Return how packs' files are locked in a bucket: `governance`, or `compliance`."""
        from evidentia.workspace.locking import mode_of  # noqa: PLC0415 - the same

        return mode_of(self._acting)

    def set_lock_mode(self, mode: str, *, accept_no_erasure: bool = False) -> Receipt:
        """Choose how packs' files are locked from now on, in a bucket with Object Lock.

        In governance mode, the default, they can still be erased by law. In compliance mode no one
        can erase them before their retention has ended: `accept_no_erasure` says that this is
        meant.
        """
        from evidentia.workspace.locking import set_mode  # noqa: PLC0415 - the same

        return set_mode(self._acting, mode, accept_no_erasure=accept_no_erasure)

    def lock(self) -> "Digests":
        """Lock the files of all packs as the trail says; return the digests that were not so."""
        from evidentia.workspace.locking import bring_in_step  # noqa: PLC0415 - the same

        return bring_in_step(self._acting)

    def sweep(self, *, dry_run: bool = False, progress: Progress | None = None) -> "Removed":
        """Remove the packs whose retention has ended and which no one holds; return them.

        The trail says of each what was removed, when and why, and keeps proving that it was there.
        """
        from evidentia.workspace.retention import sweep  # noqa: PLC0415 - the same

        return sweep(self._acting, dry_run=dry_run, progress=progress)

    def audit(self, *, progress: Progress | None = None) -> "PackAudit":
        """Find mandatory packs that are missing, open reviews, and packs that do not hold.

        Tool calls that were recorded after their decision's pack was sealed are listed, too, and
        those that should be recorded and are not.
        """
        from evidentia.workspace.retention import audit  # noqa: PLC0415 - the same

        return audit(self._acting, progress)


def refuse_decided(changes: Mapping[str, Any]) -> None:
    """Raise `InputError` for a change to what a pack has from its decision."""
    for field in changes:
        if field in _DECIDED:
            raise InputError(f"{field} cannot be revised: a changed decision is another decision")


_MOST_SECONDS: Final = 3_600
_FORMS: Final = {".pdf": "pdf", ".html": "html"}
"""The forms of a pack by a file's ending; any other is JSON."""

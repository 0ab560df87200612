"""The shell around making packs: decisions, tool calls, packs and their newer versions.

All that is done to packs is recorded in the trail, and who may do it is asked first: the owner of
an embedded workspace may do everything, a user what the grants in the trail say.
"""

from collections.abc import Iterable, Mapping, Sequence
from mimetypes import guess_type
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError
from sqlalchemy import Connection

from evidentia.canonical import digest, sha256_hex
from evidentia.errors import (
    AccessError,
    ConflictError,
    InputError,
    NotFoundError,
    SealingError,
)
from evidentia.frozen import first_problem
from evidentia.logs import get_logger
from evidentia.proof.files import read_bytes
from evidentia.proof.verification import STATEMENT_DIGEST
from evidentia.store import log, packs
from evidentia.store.packs import is_storable
from evidentia.store.uses import hold_lake
from evidentia.trail.entry import EntryKind
from evidentia.workspace.access import OWNER, check_name, committed
from evidentia.workspace.retention import RetentionShell, difference

if TYPE_CHECKING:
    from evidentia.ledger.model import EvidenceLedger
    from evidentia.packs.decision import DecisionOutput, PackRequirement
    from evidentia.packs.drafting import MemoWriter
    from evidentia.packs.memo import BilingualMemo
    from evidentia.packs.model import (
        Attachment,
        BundleReference,
        EvidencePack,
        LedgerReference,
        PromptRecord,
        ReviewOutcome,
    )
    from evidentia.packs.tools import ToolVerificationLedger

MAX_PACK_BYTES: Final = 8 * 2**20
MAX_ATTACHMENT_BYTES: Final = 32 * 2**20
_MAX_ID_BYTES: Final = 1_900
_DECIDED: Final = ("decision", "entity_id", "agent_name", "model", "model_version")
"""The fields of a pack that are its decision's: other ones would be of another decision."""
_log = get_logger("workspace")

Files = Mapping[str, bytes | Path]
"""Files by the names that they are attached under."""


class PacksShell(RetentionShell):
    """A tenant's decisions and their packs."""

    # Decisions

    def record_decision(self, decision: "DecisionOutput") -> "PackRequirement":
        """Record a decision in the trail, once; return whether it asks for a pack."""
        from evidentia.packs.decision import pack_requirement  # noqa: PLC0415 - loaded when needed
        from evidentia.packs.model import DecisionSummary  # noqa: PLC0415 - the same

        self._require("create")
        self._own_tenant("decision", decision.tenant_id)
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
        }
        self._refuse_to_fork()
        subject = f"decision/{decision.decision_id}"
        with self._database.write() as connection:
            log.lock_head(connection, self.tenant, self._new_origin)  # no one else does meanwhile
            rows = log.find_entries(
                connection, self.tenant, kind=EntryKind.DECISION, subject=subject
            )
            for known in map(committed, rows):
                if not known.erased and known.body.get("decision_sha256") != decision.sha256:
                    raise ConflictError(
                        f"{decision.decision_id} was recorded before with other content (entry "
                        f"{known.entry.seq}): a changed decision is another decision"
                    )
            if not rows:
                self._append_within(connection, EntryKind.DECISION, subject, body)
        return requirement

    # Making packs

    def assemble(
        self,
        decision: "DecisionOutput",
        *,
        memo: "BilingualMemo | MemoWriter | None" = None,
        ledger: "EvidenceLedger | str | None" = None,
        bundles: Sequence[str] = (),
        prompts: "Sequence[PromptRecord]" = (),
        attachments: Files | None = None,
        tool_ledger: "ToolVerificationLedger | None" = None,
    ) -> "EvidencePack":
        """Assemble, seal and keep the pack of a decision, which is recorded if it is not yet.

        Without a memo a draft is written by templates; a `MemoWriter` may write it instead.
        `ledger` is a ledger or its id, `bundles` are ids, `attachments` are files by name.
        `tool_ledger` has calls that are not in the trail yet: they are recorded there first.
        """
        from evidentia.packs.assembly import assemble  # noqa: PLC0415 - see above
        from evidentia.packs.drafting import TemplateWriter  # noqa: PLC0415 - the same
        from evidentia.packs.model import EvidencePack  # noqa: PLC0415 - the same
        from evidentia.packs.recording import current_trace_id  # noqa: PLC0415 - the same

        self._require("create")
        files = _read_files(attachments)
        self.record_decision(decision)
        if tool_ledger is not None:
            self.tool_ledger.take_over(decision.decision_id, tool_ledger)
        try:
            pack = assemble(
                decision,
                memo=memo or TemplateWriter(),
                tool_ledger=self.tool_ledger,
                created_at=self._now(),
                prompts=prompts,
                bundles=[self._bundle_reference(name) for name in bundles],
                ledger=None if ledger is None else self._ledger_reference(ledger),
                attachments=[_attachment(*item) for item in files.items()],
                trace_id=current_trace_id(),
            )
        except ValidationError as error:
            raise InputError(first_problem(error, EvidencePack, "pack")) from None
        return self._keep_pack(pack, EntryKind.PACK, files.values())

    def seal(self, pack: "EvidencePack", *, attachments: Files | None = None) -> "EvidencePack":
        """Seal a pack that is complete: keep it, signed and recorded in the trail.

        `attachments` are the files that the pack names. Raises `SealingError`, which lists all
        that the pack lacks, or that refuses how it was made.
        """
        self._require("create")
        if pack.version > 1:
            raise InputError("a newer version of a pack is made by revising or reviewing it")
        if pack.reviewer_id is not None:
            raise InputError("a review is made with review_pack, once the pack is sealed")
        return self._keep_pack(pack, EntryKind.PACK, _read_files(attachments).values())

    def revise_pack(
        self, name: str, changes: Mapping[str, Any], *, attachments: Files | None = None
    ) -> "EvidencePack":
        """Replace a pack by a newer version with changes to its fields; the old one stays.

        `attachments` are files to attach, beside those that are or in place of ones so called.
        """
        from evidentia.packs.versions import revised  # noqa: PLC0415 - see above

        listed = self._find(name, "revise")
        for field in changes:
            if field in _DECIDED:
                raise InputError(
                    f"{field} cannot be revised: a changed decision is another decision"
                )
        old = self._read_pack(listed)
        files = _read_files(attachments)
        if files:
            if "attachments" in changes:
                raise InputError("attachments: give files, or change the field, not both")
            kept = [one for one in old.attachments if one.name not in files]
            new = [_attachment(*item) for item in files.items()]
            changes = {**changes, "attachments": [one.model_dump() for one in (*kept, *new)]}
        pack = revised(old, changes, at=self._now())
        return self._keep_pack(pack, EntryKind.PACK, files.values(), old)

    def review_pack(
        self,
        name: str,
        outcome: "ReviewOutcome | str",
        *,
        reviewer: str | None = None,
        note: str = "",
    ) -> "EvidencePack":
        """Review a decision: a newer version of its pack says who approved or rejected it.

        A user reviews in their own name; `reviewer` is for the workspace's owner to give.
        """
        from evidentia.packs.model import ReviewOutcome  # noqa: PLC0415 - see above
        from evidentia.packs.versions import reviewed  # noqa: PLC0415 - the same

        if outcome not in list(ReviewOutcome):
            raise InputError(f"a review ends in {' or '.join(ReviewOutcome)}, not {outcome!r}")
        if self.user is not None and reviewer not in {None, self.user}:
            raise AccessError(f"{self.user} reviews in their own name, not in that of {reviewer}")
        who = self.user or (OWNER if reviewer is None else reviewer)
        check_name(who, "a reviewer")
        old = self._read_pack(self._find(name, "review"))
        self._refuse_own(old, who)
        pack = reviewed(
            old, reviewer=who, outcome=ReviewOutcome(outcome), at=self._now(), note=note
        )
        return self._keep_pack(pack, EntryKind.REVIEW, (), old)

    # Within

    def _refuse_own(self, pack: "EvidencePack", reviewer: str) -> None:
        """Raise `AccessError` if a decision is conflicted, and the reviewer's own agent's."""
        from evidentia.access.roles import AgentOwner  # noqa: PLC0415 - see above

        owned = AgentOwner(user=reviewer, tenant_id=self.tenant, agent_name=pack.agent_name)
        conflicted = pack.decision is not None and pack.decision.conflicted
        if conflicted and owned in self._access().owners:
            raise AccessError(
                f"{reviewer} may not review pack {pack.pack_id}: it is marked as conflicted, and "
                f"agent {pack.agent_name} is their own"
            )

    def _own_tenant(self, what: str, tenant: str | None) -> None:
        if tenant != self.tenant:
            raise InputError(
                f"the {what} is of tenant {tenant!r}, and this workspace is of {self.tenant!r}: "
                "open that tenant's"
            )

    def _keep_pack(
        self,
        pack: "EvidencePack",
        kind: EntryKind,
        files: Iterable[bytes],
        replaced: "EvidencePack | None" = None,
    ) -> "EvidencePack":
        """Keep a pack's statement and files, record it in the trail, and insert its row."""
        from evidentia.packs.rules import check_sealable  # noqa: PLC0415 - see above
        from evidentia.packs.statement import PREDICATE_TYPE, statement_bytes  # noqa: PLC0415 - the same

        check_sealable(pack, self.tool_ledger.calls(pack.decision_id), replaced=replaced)
        self._own_tenant("pack", pack.tenant_id)
        _check_ids(pack)
        self._check_references(pack, replaced)
        files = _attached_files(pack, files, replaced)
        statement = statement_bytes(pack)
        if len(statement) > MAX_PACK_BYTES:
            raise InputError(
                f"the pack has {len(statement):,} bytes, {MAX_PACK_BYTES:,} at most: attach what "
                "is long as a file"
            )
        self._refuse_to_fork()
        digests = [self.lake.put(data) for data in (statement, *files)]
        body = {
            STATEMENT_DIGEST: digests[0],
            "predicate_type": PREDICATE_TYPE,
            "decision_id": pack.decision_id,
            "version": pack.version,
            "replaces": pack.replaces,
            "by": self._actor,
        }
        try:
            with self._database.write() as connection:
                log.lock_head(connection, self.tenant, self._new_origin)  # no one else meanwhile
                self._refuse_another(connection, pack)
                receipt = self._append_within(connection, kind, pack.pack_id, body)
                packs.insert_pack(connection, self.tenant, pack, digests[0], receipt.seq)
                hold_lake(connection)
                for data in (statement, *files):
                    self.lake.put(data)  # once more: a sweep may have found it unused just now
        except (ConflictError, NotFoundError, SealingError):
            self._remove_unused(digests)
            raise
        _log.info("pack_sealed", tenant=self.tenant, pack=pack.pack_id, entry=receipt.seq)
        return pack

    def _refuse_another(self, connection: Connection, pack: "EvidencePack") -> None:
        """Raise unless a pack is its decision's first, or replaces the newest version."""
        if pack.replaces is None:
            try:
                found = packs.find_pack(connection, self.tenant, pack.decision_id)
            except NotFoundError:
                return
            raise SealingError(
                f"{pack.decision_id} has pack {found.id} already: revise that one "
                "(edited_in_place)",
                ("pack: revise the one that is there (edited_in_place)",),
            )
        packs.find_pack(connection, self.tenant, pack.replaces)
        newer = packs.replaced_by(connection, self.tenant, pack.replaces)
        if newer is not None:
            raise ConflictError(
                f"pack {pack.replaces} has a newer version already, {newer}: look at it with "
                f"'evidentia pack show {newer}', and change that one"
            )

    def _check_references(self, pack: "EvidencePack", replaced: "EvidencePack | None") -> None:
        """Raise `InputError` unless what a pack says of its decision and basis is so.

        What the version before says stays as it is: the bundle or the ledger may be erased since.
        """
        recorded = self._decisions(pack.decision_id).get(pack.decision_id)
        if recorded is not None and (problem := difference(pack, recorded)):
            raise InputError(f"pack.{problem}: leave it, or assemble the pack from the decision")
        for one in pack.bundles:
            known = replaced is not None and one in replaced.bundles
            if not known and one != self._bundle_reference(one.bundle_id):
                raise InputError(f"bundle {one.bundle_id} has another digest than the pack says")
        ledger = pack.ledger
        known = replaced is not None and ledger == replaced.ledger
        if ledger is not None and not known and ledger != self._ledger_reference(ledger.ledger_id):
            raise InputError(f"ledger {ledger.ledger_id} is not as the pack says")

    def _bundle_reference(self, name: str) -> "BundleReference":
        from evidentia.packs.model import BundleReference  # noqa: PLC0415 - see above

        bundle = self.bundle(name)
        return BundleReference(bundle_id=bundle.bundle_id, bundle_sha256=bundle.bundle_sha256)

    def _ledger_reference(self, ledger: "EvidenceLedger | str") -> "LedgerReference":
        from evidentia.packs.model import LedgerReference  # noqa: PLC0415 - see above

        name = ledger if isinstance(ledger, str) else ledger.id
        listed = self.find_ledger(name)
        return LedgerReference(
            ledger_id=listed.id,
            statement_sha256=self._statement_digest(listed),
            summary=self.ledger(listed.id).summary,
        )


def _read_files(attachments: Files | None) -> dict[str, bytes]:
    files = {
        name: content if isinstance(content, bytes) else read_bytes(content, MAX_ATTACHMENT_BYTES)
        for name, content in (attachments or {}).items()
    }
    for name, data in files.items():
        if len(data) > MAX_ATTACHMENT_BYTES:
            raise InputError(f"{name}: larger than the {MAX_ATTACHMENT_BYTES} bytes of a file")
    return files


def _attachment(name: str, data: bytes) -> "Attachment":
    from evidentia.packs.model import Attachment  # noqa: PLC0415 - see above

    media_type = guess_type(name)[0] or "application/octet-stream"
    try:
        return Attachment(
            name=name, media_type=media_type, sha256=sha256_hex(data), bytes=len(data)
        )
    except ValidationError as error:
        raise InputError(first_problem(error, Attachment, "attachment")) from None


def _attached_files(
    pack: "EvidencePack", files: Iterable[bytes], replaced: "EvidencePack | None"
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


def _check_ids(of: "DecisionOutput | EvidencePack") -> None:
    """Raise `InputError` for ids that not every database could hold."""
    for name in ("decision_id", "entity_id", "agent_name"):
        text = str(getattr(of, name))
        if not is_storable(text) or len(text.encode()) > _MAX_ID_BYTES:
            raise InputError(
                f"{name}: {text[:40]!a} cannot be stored: give up to {_MAX_ID_BYTES:,} bytes of "
                "text without NUL"
            )

"""The shell around packs that are kept: listing, reading, proving and exporting them."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from evidentia.canonical import sha256_hex
from evidentia.errors import AccessError, InputError, IntegrityError, NotFoundError
from evidentia.logs import get_logger
from evidentia.proof.document import MAX_PROOF_BYTES, Proof
from evidentia.proof.envelope import Envelope
from evidentia.proof.statement import Statement
from evidentia.proof.verification import STATEMENT_DIGEST
from evidentia.store import log, packs
from evidentia.store.files import check_writable, write_durably
from evidentia.store.packs import ListedPack
from evidentia.trail.entry import EntryKind
from evidentia.workspace.access import AccessShell, committed

if TYPE_CHECKING:
    from evidentia.export.pdf.rendering import Language, Typeface
    from evidentia.packs.decision import ApprovalClass
    from evidentia.packs.model import EvidencePack
    from evidentia.workspace.tools import TrailToolLedger

PACK_KINDS = (EntryKind.PACK, EntryKind.REVIEW)
"""The entries that record a pack: a review is a newer version of one."""
_log = get_logger("workspace")


class KeptPacksShell(AccessShell):
    """A tenant's packs as they are kept, and the calls of tools that belong to them."""

    def packs(
        self,
        *,
        before: int | None = None,
        limit: int | None = None,
        all_versions: bool = False,
        unresolved: bool = False,
    ) -> list[ListedPack]:
        """Return packs, newest first; page through them with `before`, an entry's number.

        Of each pack the newest version is listed, or all of them.
        """
        self._require("list")
        with self._database.read() as connection:
            return packs.list_packs(
                connection,
                self.tenant,
                before=before,
                limit=limit,
                all_versions=all_versions,
                unresolved=unresolved,
            )

    def find_pack(self, name: str) -> ListedPack:
        """Return the pack of this id, or the newest version of a decision's, or of all (`latest`).

        A pack that the user may not see is one that is not there.
        """
        return self._find(name, "view")

    def pack(self, name: str) -> "EvidencePack":
        """Return a pack, named as for `find_pack`.

        It is read from the statement that the trail names by its digest; `IntegrityError` is
        raised if that is not what it was.
        """
        return self._read_pack(self.find_pack(name))

    def pack_versions(self, name: str) -> list[ListedPack]:
        """Return all versions of a pack, the oldest first."""
        listed = self.find_pack(name)
        with self._database.read() as connection:
            return packs.versions(connection, self.tenant, listed)

    def prove_pack(self, name: str) -> Proof:
        """Prove a pack: the signed statement, and its place in the log under a checkpoint.

        For the workspace's owner: what a user takes away is exported by `export_pack`.
        """
        if self.user is not None:
            raise AccessError("a proof leaves the workspace: export the pack, with an approval")
        return self._proven(self.find_pack(name))

    @property
    def tool_ledger(self) -> "TrailToolLedger":
        """The calls of tools, by decision, which are kept in the trail."""
        from evidentia.workspace.tools import TrailToolLedger  # noqa: PLC0415 - see above

        return TrailToolLedger(self._record_call, self._recorded_calls)

    # Exporting

    def approve_export(
        self, name: str, *, approval_class: "ApprovalClass | str" = "A1", note: str = ""
    ) -> int:
        """Approve that a pack is exported, once; return the number of the entry that says so."""
        from evidentia.packs.decision import ApprovalClass  # noqa: PLC0415 - loaded when needed

        listed = self._find(name, "approve_export")
        if approval_class not in list(ApprovalClass) or approval_class == ApprovalClass.A0:
            raise InputError(f"an export needs an approval of A1, A2 or A3, not {approval_class}")
        body = {
            "action": "approve",
            "approval_class": str(approval_class),
            "by": self._actor,
            "note": note,
        }
        return self._note(EntryKind.EXPORT, listed.id, body).seq

    def export_pack(
        self,
        name: str,
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
        listed = self._find(name, "export")
        if approval is None and self.user is not None:
            raise AccessError(
                f"exporting pack {listed.id} needs an approval: 'evidentia pack approve-export "
                f"{listed.id}' by an approver or admin prints its number"
            )
        target = Path(file)
        check_writable(target, overwrite=overwrite)
        data = self._exported(listed, attachments=attachments)
        body = {
            "action": "export",
            "approval": approval,
            "by": self._actor,
            "format": "json",
            "sha256": sha256_hex(data),
        }
        if target.suffix.lower() == ".pdf" if pdf is None else pdf:
            from evidentia.export.pdf.rendering import render  # noqa: PLC0415 - an extra

            data = render(data, lang=lang, typeface=typeface)
            body |= {"format": "pdf", "sha256": sha256_hex(data)}
        self._refuse_to_fork()
        with self._database.write() as connection:
            log.lock_head(connection, self.tenant, self._new_origin)  # an approval is used once
            if approval is not None:
                self._check_approval(connection, listed, approval)
            self._append_within(connection, EntryKind.EXPORT, listed.id, body)
        write_durably(target, data, mode=0o600)
        _log.info("pack_exported", tenant=self.tenant, pack=listed.id)
        return target

    # Within

    def _record_call(self, decision_id: str, body: dict[str, Any]) -> None:
        self._require("create")
        self._note(EntryKind.TOOL_CALL, f"decision/{decision_id}", body)

    def _recorded_calls(self, decision_id: str) -> list[dict[str, Any]]:
        self._require("list")
        with self._database.read() as connection:
            rows = log.find_entries(
                connection,
                self.tenant,
                kind=EntryKind.TOOL_CALL,
                subject=f"decision/{decision_id}",
            )
        return [one.body for one in map(committed, rows) if isinstance(one.body, dict)]

    def _read_pack(self, listed: ListedPack) -> "EvidencePack":
        from evidentia.packs.statement import from_statement  # noqa: PLC0415 - see above

        return from_statement(Statement.parse(self.lake.get(self._pack_digest(listed))))

    def _pack_digest(self, listed: ListedPack) -> str:
        """Return the digest that the trail names; raise `IntegrityError` if the row has another."""
        try:
            logged = self._genuine(listed.entry)
        except NotFoundError as error:
            raise IntegrityError(
                f"pack {listed.id}: {error}; run 'evidentia trail verify'"
            ) from None
        named = logged.body.get(STATEMENT_DIGEST) if isinstance(logged.body, dict) else None
        says = (logged.entry.subject, logged.entry.kind in PACK_KINDS, named)
        if says != (listed.id, True, listed.statement_sha256):
            raise IntegrityError(
                f"pack {listed.id}: the database and the trail's entry {listed.entry} disagree; "
                "run 'evidentia trail verify'"
            )
        return listed.statement_sha256

    def _check_pack(self, listed: ListedPack) -> "EvidencePack":
        """Return a pack; raise `IntegrityError` unless row, statement and attachments agree."""
        pack = self._read_pack(listed)
        with self._database.read() as connection:
            if packs.stored_json(connection, self.tenant, listed.id) != pack.encode():
                raise IntegrityError("the row's JSON is not the pack that was sealed")
        if packs.row_of(pack, listed.statement_sha256, listed.entry) != listed:
            raise IntegrityError("the row does not say what the pack says")
        for one in pack.attachments:
            self.lake.get(one.sha256)
        return pack

    def _proven(self, listed: ListedPack) -> Proof:
        payload = self.lake.get(self._pack_digest(listed))
        proof = self.prove(listed.entry)
        return replace(proof, envelope=Envelope.sign(payload, self._current_key()))

    def _exported(self, listed: ListedPack, *, attachments: bool) -> bytes:
        """Return the file that a pack is exported as."""
        from evidentia.packs.verification import written  # noqa: PLC0415 - see above

        proof = self._proven(listed)
        if attachments:
            held = self._read_pack(listed).attachments
            files = tuple((one.name, self.lake.get(one.sha256)) for one in held)
            proof = replace(proof, attachments=files)
        data = written(proof.as_json())
        if len(data) > MAX_PROOF_BYTES:
            raise InputError(
                f"the export has {len(data):,} bytes, {MAX_PROOF_BYTES:,} at most: export it "
                "without its attachments, and hand them over beside it"
            )
        return data

    def _check_approval(self, connection: Connection, listed: ListedPack, approval: int) -> None:
        """Raise `AccessError` unless an entry approves exporting a pack, and was not used yet."""
        rows = log.find_entries(connection, self.tenant, kind=EntryKind.EXPORT, subject=listed.id)
        said = {
            logged.entry.seq: logged.body
            for logged in map(committed, rows)
            if isinstance(logged.body, dict)
        }
        if said.get(approval, {}).get("action") != "approve":
            raise AccessError(f"entry {approval} is no approval to export pack {listed.id}")
        if any(body.get("approval") == approval for body in said.values()):
            raise AccessError(f"the approval of entry {approval} was used already: ask for another")

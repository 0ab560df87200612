"""Exporting packs: with an approval, as one file that verifies itself."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection

from evidentia.canonical import sha256_hex
from evidentia.errors import AccessError, InputError, IntegrityError
from evidentia.logs import get_logger
from evidentia.packs.decision import ApprovalClass, SensitivityClass
from evidentia.packs.verification import written
from evidentia.proof.document import MAX_LATER, MAX_PROOF_BYTES, Later
from evidentia.store.files import check_writable, write_durably
from evidentia.store.proving import prove_entry
from evidentia.store.sql.packs import ListedPack
from evidentia.trail.entry import EntryKind
from evidentia.workspace.acting import Acting
from evidentia.workspace.holds import recorded
from evidentia.workspace.sealing import PACKS, read_pack
from evidentia.workspace.versions import forks, later
from evidentia.workspace.witnessing import cosigned

if TYPE_CHECKING:
    from evidentia.export.pdf.rendering import Language, Typeface
    from evidentia.proof.succession import Succession

OWNERS_CLASS: Final = ApprovalClass.A1
"""The class of the approval that the owner of a workspace gives by exporting."""
_log = get_logger("workspace")


@dataclass(frozen=True, slots=True)
class ExportApproval:
    """An approval to export a pack: by whom, of which class, and the export that used it."""

    entry: int
    at: str
    by: str
    approval_class: str
    note: str
    used_by: int | None
    """The number of the entry of that export; None while it is good."""


def approvals(acting: Acting, name: str) -> list[ExportApproval]:
    """Return the approvals to export a pack, the oldest first, and which were used."""
    said = [
        (logged.entry, logged.body)
        for logged in acting.entries(EntryKind.EXPORT, PACKS.named(acting, name).id)
        if isinstance(logged.body, dict)
    ]
    used = {body.get("approval"): entry.seq for entry, body in said}
    return [
        ExportApproval(
            entry=entry.seq,
            at=entry.at,
            by=body["by"],
            approval_class=body["approval_class"],
            note=body["note"],
            used_by=used.get(entry.seq),
        )
        for entry, body in said
        if body.get("action") == "approve"
    ]


def approve(acting: Acting, name: str, approval_class: ApprovalClass | str, note: str) -> int:
    """Approve that a pack is exported, once; return the number of the entry that says so."""
    with acting.database.read() as connection:
        listed = recorded(acting, connection, PACKS.named(acting, name))
    if approval_class not in list(ApprovalClass) or approval_class == ApprovalClass.A0:
        raise InputError(f"an export needs an approval of A1, A2 or A3, not {approval_class}")
    body = {
        "action": "approve",
        "approval_class": str(approval_class),
        "by": acting.actor,
        "note": note,
    }
    return acting.record(EntryKind.EXPORT, listed.id, body).seq


def export(
    acting: Acting,
    name: str,
    target: Path,
    *,
    approval: int | None,
    attachments: bool,
    overwrite: bool,
    form: str,
    lang: "Language",
    typeface: "Typeface",
) -> Path:
    """Write a pack with its proof and attachments as one file; the trail says so first.

    A pack that was superseded brings the entries of its later versions along: the file says so.
    """
    listed = PACKS.named(acting, name)
    if approval is None and acting.user is not None:
        raise AccessError(
            f"exporting pack {listed.id} needs an approval: 'evidentia pack approve-export "
            f"{listed.id}' by an approver or admin prints its number"
        )
    check_writable(target, overwrite=overwrite)
    for problem in forks(acting, listed.id):
        raise IntegrityError(f"{problem}: nothing is exported; run 'evidentia pack audit'")
    newer = later(acting, listed.id)
    data = _exported(acting, listed, newer, attachments=attachments)
    if form == "pdf":
        from evidentia.kinds import render  # noqa: PLC0415 - an extra

        data = render(data, lang=lang, typeface=typeface)
    elif form == "html":
        from evidentia.kinds import render_html  # noqa: PLC0415 - not all export it

        data = render_html(data)
    body = {
        "action": "export",
        "approval": approval,
        "sensitivity_class": _sensitivity(acting, listed),
        "superseded_by": newer[-1].subject if newer else None,
        "by": acting.actor,
        "format": form,
        "sha256": sha256_hex(data),
    }
    with acting.writing() as connection:  # an approval is used once
        approved = {"approval_class": OWNERS_CLASS.value, "approved_by": acting.actor}
        if approval is not None:
            approved = _approval(acting, connection, listed, approval)
        acting.append_within(connection, EntryKind.EXPORT, listed.id, {**body, **approved})
    write_durably(target, data, mode=0o600)
    _log.info("pack_exported", tenant=acting.tenant, pack=listed.id)
    return target


def _sensitivity(acting: Acting, listed: ListedPack) -> str:
    """Return the class of an export: that of the decision, S2 at least."""
    decision = read_pack(acting, listed).decision
    own = SensitivityClass.S2 if decision is None else decision.sensitivity_class
    return max(own.value, SensitivityClass.S2.value)


def _exported(
    acting: Acting, listed: ListedPack, newer: "tuple[Succession, ...]", *, attachments: bool
) -> bytes:
    """Return the file that a pack is exported as."""
    proof = PACKS.prove(acting, listed)
    seqs = [one.seq for one in newer[-MAX_LATER:]]
    proof = replace(
        proof,
        checkpoint=cosigned(acting, proof.checkpoint),
        later=tuple(_later(acting, proof.checkpoint, seq) for seq in seqs),
    )
    if attachments:
        held = read_pack(acting, listed).attachments
        files = tuple((one.name, acting.lake.get(one.sha256)) for one in held)
        proof = replace(proof, attachments=files)
    data = written(proof.in_plain().as_json())
    if len(data) > MAX_PROOF_BYTES:
        raise InputError(
            f"the export has {len(data):,} bytes, {MAX_PROOF_BYTES:,} at most: export it "
            "without its attachments, and hand them over beside it"
        )
    return data


def _later(acting: Acting, note: str, seq: int) -> Later:
    """Return the entry of a later version, proved under the checkpoint of the export."""
    proof = acting.read(prove_entry, note, seq, acting.opened.tiles, disclose=True)
    if proof.disclosure is None:
        raise IntegrityError(f"entry {seq} has no body any more: run 'evidentia trail verify'")
    return Later(proof.entry, proof.inclusion, proof.disclosure)


def _approval(
    acting: Acting, connection: Connection, listed: ListedPack, approval: int
) -> dict[str, str]:
    """Return the class of an approval to export a pack, and who gave it.

    Raise `AccessError` unless an entry is one, and was not used yet.
    """
    said = {
        logged.entry.seq: logged.body
        for logged in acting.entries(EntryKind.EXPORT, listed.id, connection=connection)
        if isinstance(logged.body, dict)
    }
    if said.get(approval, {}).get("action") != "approve":
        raise AccessError(f"entry {approval} is no approval to export pack {listed.id}")
    if any(body.get("approval") == approval for body in said.values()):
        raise AccessError(f"the approval of entry {approval} was used already: ask for another")
    given = said[approval]
    return {"approval_class": given["approval_class"], "approved_by": given["by"]}

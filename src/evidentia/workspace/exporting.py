"""Exporting packs: with an approval, as one file that verifies itself."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from evidentia.canonical import sha256_hex
from evidentia.errors import AccessError, InputError
from evidentia.logs import get_logger
from evidentia.packs.decision import ApprovalClass
from evidentia.packs.verification import written
from evidentia.proof.document import MAX_PROOF_BYTES
from evidentia.store.files import check_writable, write_durably
from evidentia.store.sql.packs import ListedPack
from evidentia.trail.entry import EntryKind
from evidentia.workspace.acting import Acting
from evidentia.workspace.sealing import PACKS, read_pack

if TYPE_CHECKING:
    from evidentia.export.pdf.rendering import Language, Typeface

_log = get_logger("workspace")


def approve(acting: Acting, name: str, approval_class: ApprovalClass | str, note: str) -> int:
    """Approve that a pack is exported, once; return the number of the entry that says so."""
    listed = PACKS.named(acting, name)
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
    pdf: "tuple[Language, Typeface] | None",
) -> Path:
    """Write a pack with its proof and attachments as one file; the trail says so first."""
    listed = PACKS.named(acting, name)
    if approval is None and acting.user is not None:
        raise AccessError(
            f"exporting pack {listed.id} needs an approval: 'evidentia pack approve-export "
            f"{listed.id}' by an approver or admin prints its number"
        )
    check_writable(target, overwrite=overwrite)
    data = _exported(acting, listed, attachments=attachments)
    if pdf is not None:
        from evidentia.kinds import render  # noqa: PLC0415 - an extra

        data = render(data, lang=pdf[0], typeface=pdf[1])
    body = {
        "action": "export",
        "approval": approval,
        "by": acting.actor,
        "format": "json" if pdf is None else "pdf",
        "sha256": sha256_hex(data),
    }
    with acting.writing() as connection:  # an approval is used once
        if approval is not None:
            _check_approval(acting, connection, listed, approval)
        acting.append_within(connection, EntryKind.EXPORT, listed.id, body)
    write_durably(target, data, mode=0o600)
    _log.info("pack_exported", tenant=acting.tenant, pack=listed.id)
    return target


def _exported(acting: Acting, listed: ListedPack, *, attachments: bool) -> bytes:
    """Return the file that a pack is exported as."""
    proof = PACKS.prove(acting, listed)
    if attachments:
        held = read_pack(acting, listed).attachments
        files = tuple((one.name, acting.opened.lake.get(one.sha256)) for one in held)
        proof = replace(proof, attachments=files)
    data = written(proof.in_plain().as_json())
    if len(data) > MAX_PROOF_BYTES:
        raise InputError(
            f"the export has {len(data):,} bytes, {MAX_PROOF_BYTES:,} at most: export it "
            "without its attachments, and hand them over beside it"
        )
    return data


def _check_approval(
    acting: Acting, connection: Connection, listed: ListedPack, approval: int
) -> None:
    """Raise `AccessError` unless an entry approves exporting a pack, and was not used yet."""
    said = {
        logged.entry.seq: logged.body
        for logged in acting.entries(EntryKind.EXPORT, listed.id, connection=connection)
        if isinstance(logged.body, dict)
    }
    if said.get(approval, {}).get("action") != "approve":
        raise AccessError(f"entry {approval} is no approval to export pack {listed.id}")
    if any(body.get("approval") == approval for body in said.values()):
        raise AccessError(f"the approval of entry {approval} was used already: ask for another")

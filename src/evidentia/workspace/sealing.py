"""Sealing packs: what must be so before one is kept, and keeping it with its files."""

from collections.abc import Iterable, Mapping
from mimetypes import guess_type
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from evidentia.canonical import digest, sha256_hex
from evidentia.errors import (
    AccessError,
    ConflictError,
    InputError,
    IntegrityError,
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
)
from evidentia.packs.statement import PREDICATE_TYPES, from_statement, statement_bytes
from evidentia.proof.files import read_bytes
from evidentia.proof.statement import Statement
from evidentia.store.database import is_storable
from evidentia.store.sql import packs
from evidentia.store.sql.log import Receipt
from evidentia.store.sql.packs import ListedPack
from evidentia.trail.entry import EntryKind
from evidentia.workspace.acting import Acting
from evidentia.workspace.locking import lock_recorded, locks_of
from evidentia.workspace.logged import LoggedEntry
from evidentia.workspace.recorded import Recorded, ToKeep

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from evidentia.ledger.model import EvidenceLedger
    from evidentia.workspace.retention import SweptPack

    Removed = list[SweptPack]

MAX_PACK_BYTES: Final = 8 * 2**20
MAX_ATTACHMENT_BYTES: Final = 32 * 2**20
_MAX_ID_BYTES: Final = 1_900

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


def read_pack(acting: Acting, listed: ListedPack) -> EvidencePack:
    """Return a pack from the statement that the trail names."""
    return from_statement(Statement.parse(PACKS.file(acting, listed)))


def attachments_of(data: bytes) -> list[str]:
    """Return the digests of the files that a pack's statement has attached."""
    return [one.sha256 for one in from_statement(Statement.parse(data)).attachments]


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


def record_decision(acting: Acting, decision: DecisionOutput) -> PackRequirement:
    """Record a decision in the trail, once; return whether it asks for a pack."""
    _own_tenant(acting, "decision", decision.tenant_id)
    _check_ids(decision)
    agent = acting.asked.agent
    if agent is not None and decision.agent_name != agent:
        raise AccessError(
            f"agent {agent} records its own decisions, and this one is of "
            f"{decision.agent_name[:80]!r}: leave that to who made it"
        )
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


def keep_pack(
    acting: Acting,
    pack: EvidencePack,
    kind: EntryKind,
    files: Iterable[bytes],
    replaced: EvidencePack | None = None,
) -> EvidencePack:
    """Keep a pack's statement and files, record it in the trail, and insert its row."""
    keep_versions(acting, to_keep(acting, pack, kind, files, replaced), first=pack)
    return pack


def keep_versions(acting: Acting, *items: ToKeep, first: EvidencePack) -> None:
    """Keep versions of a pack that follow each other, all or none.

    The first one must be its decision's first, or replace the newest version.
    """

    def is_another(connection: "Connection") -> bool:
        _refuse_another(acting, connection, first)
        return False

    locks_of(acting.lake)  # a bucket that can't be asked for them refuses here, not behind it
    if receipts := PACKS.keep_all(acting, *items, unless=is_another):
        lock_recorded(acting, [one.identity for one in items], receipts[-1].seq)


def to_keep(
    acting: Acting,
    pack: EvidencePack,
    kind: EntryKind,
    files: Iterable[bytes],
    replaced: EvidencePack | None = None,
    *,
    more: Mapping[str, Any] | None = None,
) -> ToKeep:
    """Return how a pack is kept, `more` being what else its entry says; raise if it cannot be."""
    from evidentia.packs.rules import check_sealable  # noqa: PLC0415 - only making packs needs it
    from evidentia.workspace.tools import calls_of  # noqa: PLC0415 - the same

    check_sealable(pack, calls_of(acting, pack.decision_id), replaced=replaced)
    _own_tenant(acting, "pack", pack.tenant_id)
    _check_ids(pack)
    _check_references(acting, pack, replaced)
    attached = _attached_files(pack, files, replaced)
    statement = statement_bytes(pack)
    body = {
        "predicate_type": PREDICATE_TYPES[pack.v],
        "decision_id": pack.decision_id,
        "version": pack.version,
        "replaces": pack.replaces,
        "outcome": None if pack.review_outcome is None else pack.review_outcome.value,
        **(more or {}),
    }

    def insert(connection: "Connection", receipt: Receipt) -> None:
        packs.insert_pack(connection, acting.tenant, pack, sha256_hex(statement), receipt.seq)

    return ToKeep(pack.pack_id, statement, body, insert, (statement, *attached), kind)


def _own_tenant(acting: Acting, what: str, tenant: str | None) -> None:
    if tenant != acting.tenant:
        raise InputError(
            f"the {what} is of tenant {tenant!r}, and this workspace is of {acting.tenant!r}: "
            "open that tenant's"
        )


def _refuse_another(acting: Acting, connection: "Connection", pack: EvidencePack) -> None:
    """Raise unless a pack is its decision's first, or replaces the newest version.

    Which versions there are is what proved entries say: a row that was altered hides none.
    """
    if pack.replaces is None:
        known = acting.entries(
            EntryKind.DECISION, f"decision/{pack.decision_id}", connection=connection
        )
        others = _versions(acting, connection, after=known[0].entry.seq if known else -1)
        for logged in others:
            if logged.body.get("decision_id") == pack.decision_id:
                raise SealingError(
                    f"{pack.decision_id} has pack {logged.entry.subject} already: revise that one "
                    "(edited_in_place)",
                    ("pack: revise the one that is there (edited_in_place)",),
                )
        return
    replaced = packs.find_pack(connection, acting.tenant, pack.replaces)
    entry = acting.entry_within(connection, replaced.entry).entry
    if entry.kind not in PACKS.kinds or entry.subject != pack.replaces:
        raise IntegrityError(
            f"pack {pack.replaces}: the database and the trail's entry {entry.seq} disagree; run "
            "'evidentia trail verify'"
        )
    for logged in _versions(acting, connection, after=entry.seq):
        if logged.body.get("replaces") == pack.replaces:
            newer = logged.entry.subject
            raise ConflictError(
                f"pack {pack.replaces} has a newer version already, {newer}: look at it with "
                f"'evidentia pack show {newer}', and change that one"
            )


def _versions(acting: Acting, connection: "Connection", *, after: int) -> list[LoggedEntry]:
    """Return the entries behind a number that record versions of packs, each proved."""
    return [
        logged
        for kind in PACKS.kinds
        for logged in acting.entries(kind, connection=connection, after=after)
        if isinstance(logged.body, dict)
    ]


def _check_references(acting: Acting, pack: EvidencePack, replaced: EvidencePack | None) -> None:
    """Raise `InputError` unless what a pack says of its decision and basis is so.

    What the version before says stays as it is: the bundle or the ledger may be erased since.
    """
    recorded = decisions_of(acting, pack.decision_id).get(pack.decision_id)
    if recorded is not None and (problem := difference(pack, recorded)):
        raise InputError(f"pack.{problem}: leave it, or assemble the pack from the decision")
    for one in pack.bundles:
        known = replaced is not None and one in replaced.bundles
        if not known and one != bundle_reference(acting, one.bundle_id):
            raise InputError(f"bundle {one.bundle_id} has another digest than the pack says")
    ledger = pack.ledger
    known = replaced is not None and ledger == replaced.ledger
    if ledger is not None and not known and ledger != ledger_reference(acting, ledger.ledger_id):
        raise InputError(f"ledger {ledger.ledger_id} is not as the pack says")


def bundle_reference(acting: Acting, name: str) -> BundleReference:
    """Return what a pack says of a bundle that it rests on."""
    from evidentia.workspace.bundles import Bundles  # noqa: PLC0415 - not all packs have one

    bundle = Bundles(acting).get(name)
    return BundleReference(bundle_id=bundle.bundle_id, bundle_sha256=bundle.bundle_sha256)


def ledger_reference(acting: Acting, ledger: "EvidenceLedger | str") -> LedgerReference:
    """Return what a pack says of the ledger that it rests on."""
    from evidentia.workspace.ledgers import LEDGERS, Ledgers  # noqa: PLC0415 - the same

    listed = LEDGERS.named(acting, ledger if isinstance(ledger, str) else ledger.id)
    return LedgerReference(
        ledger_id=listed.id,
        statement_sha256=listed.statement_sha256,
        summary=Ledgers(acting).get(listed.id).summary,
    )


def read_files(attachments: Files | None) -> dict[str, bytes]:
    """Return the bytes of files to attach; raise `InputError` for one that is too large."""
    files = {
        name: content if isinstance(content, bytes) else read_bytes(content, MAX_ATTACHMENT_BYTES)
        for name, content in (attachments or {}).items()
    }
    for name, data in files.items():
        if len(data) > MAX_ATTACHMENT_BYTES:
            raise InputError(f"{name}: larger than the {MAX_ATTACHMENT_BYTES} bytes of a file")
    return files


def attachment(name: str, data: bytes) -> Attachment:
    """Return what a pack says of a file that is attached to it."""
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

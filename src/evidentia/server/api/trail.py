"""The trail: append to it, read it by the page, prove its entries and that it only grows."""

from collections.abc import Sequence
from typing import Annotated, Any, Final

import orjson
from fastapi import APIRouter, Body, Query, Request, Response
from fastapi import Path as PathField
from pydantic import BaseModel, ConfigDict, Field

from evidentia.errors import AccessError, InputError, ProofError
from evidentia.server.actions import Asks, GuardedRoute, Ws, acts
from evidentia.server.caching import entity_tag, is_known, tagged, unchanged
from evidentia.server.paging import Order, Paged, link_to
from evidentia.server.problems import REFUSED_INPUT, documented
from evidentia.store.database import is_storable
from evidentia.store.sql.log import Receipt
from evidentia.trail.entry import EntryKind
from evidentia.trail.record import EvidenceRecord
from evidentia.trail.validation import validate_evidence_chain_against_obligations
from evidentia.workspace import Workspace
from evidentia.workspace.logged import LoggedEntry
from evidentia.workspace.trail import MAX_BATCH

router = APIRouter(route_class=GuardedRoute, tags=["trail"])

_MOST: Final = 2**53 - 1
_MOST_OBLIGATIONS: Final = 100
Seq = Annotated[int, PathField(ge=0, le=_MOST, description="The entry's number.", examples=[41])]
Size = Annotated[int, Query(ge=1, le=_MOST)]
_TICKET: Final = "18e9509d1f2a3b4c5d6e7f8091a2b3c4d5e6f708"
_RECORD: Final[dict[str, Any]] = {
    "obligation_id": "obl-1",
    "doc_id": "doc_1",
    "doc_filename": "loan-agreement.pdf",
    "page_number": 12,
    "section_reference": "4.2",
    "source_clause": "The borrower shall report within 30 days.",
    "extraction_model": "model-a",
    "verification_model": "model-b",
    "verification_result": "CONFIRMED",
    "confidence": 0.93,
}
_ENTRY: Final[dict[str, Any]] = {
    "entry": {
        "v": 1,
        "tenant": "default",
        "seq": 41,
        "prev": "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "kind": "evidence_record",
        "subject": "obl-1",
        "at": "2026-01-03T14:30:00.000000Z",
        "body": "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
    },
    "leaf": "a12871fee210fb8619291eaea194581cbd2531e4b23759d225f6806923f63222",
    "body": {**_RECORD, "by": "ann"},
    "withheld": False,
}


class AppendedEntry(BaseModel):
    """Where a record is in the log."""

    seq: int = Field(description="The number of its entry.")
    leaf: str = Field(description="The hash of its entry, in hex.")


class AppendedAnswer(BaseModel):
    """Where the records are, in the order that they were given in."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"entries": [{"seq": 41, "leaf": _ENTRY["leaf"]}]}]}
    )

    entries: list[AppendedEntry]


class PromisedAnswer(BaseModel):
    """That records are durable, and will be appended."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"ticket": _TICKET}]})

    ticket: str = Field(description="What to ask by where they are.")


class TicketAnswer(BaseModel):
    """What became of records that no one waited for."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "ticket": _TICKET,
                    "waits": False,
                    "entries": [{"seq": 41, "leaf": _ENTRY["leaf"]}],
                }
            ]
        }
    )

    ticket: str
    waits: bool = Field(description="Whether they have no number yet.")
    entries: list[AppendedEntry] = Field(description="Where they are; none while they wait.")


class TrailEntry(BaseModel):
    """An entry of the log, with its body."""

    model_config = ConfigDict(json_schema_extra={"examples": [_ENTRY]})

    entry: dict[str, Any] = Field(description="What is hashed into the log; it never changes.")
    leaf: str = Field(description="Its hash, in hex.")
    body: Any = Field(description="What it records; null if that was erased, or is withheld.")
    withheld: bool = Field(description="Whether the body is for those who may audit.")


class TrailPage(BaseModel):
    """A page of the log."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"size": 42, "entries": [_ENTRY]}]})

    size: int = Field(description="How many entries the log has.")
    entries: list[TrailEntry]


class ConsistencyAnswer(BaseModel):
    """The hashes that show that a log only grew (RFC 6962, 2.1.2)."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"old_size": 40, "new_size": 42, "hashes": [_ENTRY["leaf"]]}]
        }
    )

    old_size: int
    new_size: int
    hashes: list[str] = Field(description="In hex.")


class TrailKey(BaseModel):
    """A key that signs the log, or did."""

    key_id: str
    public_key: str = Field(description="As a verifier key of signed notes (C2SP).")
    since_entry: int
    replaced_at_entry: int | None
    vouched: bool = Field(description="Whether the key before it announced it.")


class TrailKeys(BaseModel):
    """The keys of the log, the oldest first; the last one signs now."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "keys": [
                        {
                            "key_id": "3b5c0a91",
                            "public_key": "evidentia/log+3b5c0a91+AQ…",
                            "since_entry": 0,
                            "replaced_at_entry": None,
                            "vouched": True,
                        }
                    ]
                }
            ]
        }
    )

    keys: list[TrailKey]


class TrailWitness(BaseModel):
    """A witness that cosigns checkpoints of the log."""

    name: str
    key: str
    size: int = Field(description="How many entries it has seen.")


class TrailWitnesses(BaseModel):
    """The log's witnesses; what they cosigned stands in the checkpoint."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"witnesses": [{"name": "witness.example", "key": "witness.example+…", "size": 42}]}
            ]
        }
    )

    witnesses: list[TrailWitness]


class ValidationRequest(BaseModel):
    """Which records are validated: those given here, or the trail's of some obligations."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"obligation_ids": ["obl-1", "obl-2"]}]}
    )

    records: list[EvidenceRecord] | None = Field(default=None, max_length=MAX_BATCH)
    obligation_ids: list[str] = Field(
        default_factory=list,
        max_length=_MOST_OBLIGATIONS,
        description="Each needs a record; without `records`, it is looked for in the trail.",
    )


class ValidationAnswer(BaseModel):
    """What validation found; a warning alone leaves it valid."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"valid": False, "missing_evidence": ["obl-2"], "gaps": [], "warnings": []}
            ]
        }
    )

    valid: bool
    missing_evidence: list[str]
    gaps: list[str]
    warnings: list[str]


@router.post(
    "/trail/entries",
    status_code=201,
    summary="Append to the trail",
    responses={
        201: {"model": AppendedAnswer},
        202: {"model": PromisedAnswer, "description": "Not waited for"},
    },
)
@acts("trail.append_many")
def append_records(
    records: Annotated[
        EvidenceRecord | Annotated[list[EvidenceRecord], Field(min_length=1, max_length=MAX_BATCH)],
        Body(
            openapi_examples={
                "one": {"summary": "One record", "value": _RECORD},
                "many": {"summary": "A list of them", "value": [_RECORD]},
            }
        ),
    ],
    asks: Asks,
    *,
    wait: Annotated[
        bool, Query(description="Whether the answer waits until they are numbered and signed.")
    ] = True,
) -> Response:
    """Append one evidence record, or a list of them, all or none.

    They are durable and signed when the answer comes. With `wait=false` they are durable, and the
    answer has a ticket to ask by where they are. With an `Idempotency-Key` it is safe to send them
    again.
    """
    given = [records] if isinstance(records, EvidenceRecord) else records
    asks.foretell(_appended)
    trail = asks.workspace.trail
    return _appended(trail.append_many(given) if wait else trail.append_many(given, wait=False))


def _appended(made: Sequence[Receipt] | str) -> Response:
    if isinstance(made, str):
        promised = PromisedAnswer(ticket=made)
        where = {"location": f"tickets/{made}"}
        return Response(promised.model_dump_json(), 202, where, "application/json")
    said = AppendedAnswer(entries=_places(made))
    return Response(said.model_dump_json(), 201, media_type="application/json")


def _places(receipts: Sequence[Receipt]) -> list[AppendedEntry]:
    return [AppendedEntry(seq=one.seq, leaf=one.leaf) for one in receipts]


@router.get("/trail/tickets/{ticket}", summary="What became of records")
@acts("trail.receipts")
def read_ticket(
    workspace: Ws,
    ticket: Annotated[
        str, PathField(max_length=100, description="As the answer had it.", examples=[_TICKET])
    ],
) -> TicketAnswer:
    """Say where the records are that were sent with `wait=false`.

    Receipts are kept for 30 days. Where the records could not be appended, the answer is why.
    """
    receipts = workspace.trail.receipts(ticket)
    return TicketAnswer(ticket=ticket, waits=receipts is None, entries=_places(receipts or ()))


@router.get("/trail/entries", summary="The trail", responses=documented(REFUSED_INPUT))
@acts("trail.entries")
def list_entries(
    workspace: Ws,
    page: Paged,
    request: Request,
    response: Response,
    *,
    kind: Annotated[EntryKind | None, Query(description="Only entries of this kind.")] = None,
    subject: Annotated[
        str | None, Query(max_length=2_000, description="Only entries about this.")
    ] = None,
    order: Order = "newest",
) -> TrailPage:
    """Give entries of the log by the page, each compared with what was signed."""
    if subject is not None and not is_storable(subject):
        raise InputError("subject: it has a character that no entry's subject can have")
    newest = order == "newest"
    found = workspace.trail.entries(
        kind=kind,
        subject=subject,
        before=page.after if newest else None,
        after=None if newest else page.after,
        limit=page.limit + 1,
        newest_first=newest,
        proved=True,
    )
    shown = found[: page.limit]
    link_to(request, response, shown[-1].entry.seq if len(found) > page.limit else None)
    audits = _may_audit(workspace)
    entries = [TrailEntry.model_validate(_shown(one, audits=audits)) for one in shown]
    return TrailPage(size=workspace.trail.size, entries=entries)


@router.get(
    "/trail/entries/{seq}",
    summary="An entry of the trail",
    responses={
        200: {"model": TrailEntry, "headers": {"ETag": {"schema": {"type": "string"}}}},
        304: {"description": "The caller has it already"},
    },
)
@acts("trail.entry")
def read_entry(seq: Seq, workspace: Ws, request: Request) -> Response:
    """Give an entry with its body, compared with what was signed."""
    shown = _shown(workspace.trail.entry(seq), audits=_may_audit(workspace))
    tag = entity_tag(shown["leaf"][:32], "bare" if shown["body"] is None else "whole")
    if is_known(request, tag):
        return unchanged(tag)
    return Response(orjson.dumps(shown), media_type="application/json", headers=tagged(tag))


@router.get(
    "/trail/entries/{seq}/proof",
    summary="The proof of an entry",
    response_class=Response,
    responses={
        200: {
            "description": "A proof that `evidentia verify` verifies.",
            "content": {
                "application/json": {
                    "schema": {"type": "object"},
                    "example": {
                        "format": "evidentia proof",
                        "v": 1,
                        "entry": _ENTRY["entry"],
                        "inclusion": [_ENTRY["leaf"]],
                        "checkpoint": "evidentia/log\n42\n…",
                        "body": _ENTRY["body"],
                        "salt": "00",
                    },
                }
            },
        },
    },
)
@acts("trail.prove")
def prove_trail_entry(
    seq: Seq,
    workspace: Ws,
    *,
    disclose: Annotated[
        bool, Query(description="Whether the body is in it, or only what commits to it.")
    ] = True,
) -> Response:
    """Prove that an entry is in the log, under its newest checkpoint."""
    if disclose and not _may_audit(workspace):
        disclose = workspace.trail.entry(seq).entry.kind != EntryKind.REQUEST
    proof = workspace.trail.prove(seq, disclose=disclose)
    return Response(orjson.dumps(proof.as_json()), media_type="application/json")


@router.get(
    "/trail/consistency",
    summary="The proof that the trail only grew",
    responses=documented(REFUSED_INPUT),
)
@acts("trail.prove_consistency")
def prove_trail_consistency(
    workspace: Ws,
    old_size: Annotated[Size, Query(description="How many entries the log had.")] = 1,
    new_size: Annotated[
        Size | None, Query(description="How many it had later; as many as now if not given.")
    ] = None,
) -> ConsistencyAnswer:
    """Give the hashes that show that the log at one size begins with all of it at another."""
    size = workspace.trail.size
    later = size if new_size is None else new_size
    if later > size:
        raise InputError(f"new_size: the log has {size:,} entries")
    try:
        hashes = workspace.trail.prove_consistency(old_size, later)
    except ProofError as error:
        raise InputError(f"old_size: {error}") from None
    told = [one.hex() for one in hashes]
    return ConsistencyAnswer(old_size=old_size, new_size=later, hashes=told)


@router.get("/trail/keys", summary="The keys that sign the trail")
@acts("trail.keys")
def list_trail_keys(workspace: Ws) -> TrailKeys:
    """Give the log's public keys. Compare them with what you were given by another way."""
    found = workspace.trail.keys()
    return TrailKeys.model_validate({"keys": [one.as_json() for one in found]})


@router.get("/trail/witnesses", summary="The witnesses of the trail")
@acts("trail.witnesses")
def list_trail_witnesses(workspace: Ws) -> TrailWitnesses:
    """Give the witnesses that checkpoints are sent to, and how much of the log each has seen."""
    found = [
        TrailWitness(name=one.name, key=one.key, size=one.size)
        for one in workspace.trail.witnesses()
    ]
    return TrailWitnesses(witnesses=found)


@router.post("/trail/validation", summary="Validate chains of evidence")
@acts("trail.records")
def validate_records(asked: ValidationRequest, workspace: Ws) -> ValidationAnswer:
    """Check that histories of amendments are whole, and that every obligation has evidence.

    Nothing is recorded.
    """
    if not all(map(is_storable, asked.obligation_ids)):
        raise InputError("obligation_ids: one has a character that no obligation's id can have")
    records = asked.records
    if records is None:
        if not asked.obligation_ids:
            raise InputError("give records, or the obligation_ids of those in the trail")
        wanted = dict.fromkeys(asked.obligation_ids)
        records = [one for each in wanted for one in workspace.trail.records(each)]
    report = validate_evidence_chain_against_obligations(records, asked.obligation_ids)
    return ValidationAnswer.model_validate(report)


def _may_audit(workspace: Workspace) -> bool:
    """Whether the caller may see what the access log says."""
    try:
        workspace.admit("access.requests")
    except AccessError:
        return False
    return True


def _shown(logged: LoggedEntry, *, audits: bool) -> dict[str, Any]:
    """Return an entry as it is answered; requests of others are for those who may audit."""
    withheld = logged.entry.kind == EntryKind.REQUEST and not audits
    return {**logged.as_json(), "withheld": withheld} | ({"body": None} if withheld else {})

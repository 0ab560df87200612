"""How long packs are kept, what holds them longer, and which are missing."""

from dataclasses import asdict
from typing import Any, Final

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from evidentia.packs.retention import RetentionPolicy
from evidentia.server.actions import GuardedRoute, Ws, acts
from evidentia.server.api.packs import PackId, known
from evidentia.store.sql.log import Receipt

router = APIRouter(route_class=GuardedRoute, tags=["keeping"])

_HOLD: Final[dict[str, Any]] = {
    "pack_id": "pack_190617bdb6ec27c5",
    "reason": "Case 12/2026",
    "actor": "ann",
    "at": "2026-03-01T12:00:00.000000Z",
}
_SWEPT: Final[dict[str, Any]] = {
    "pack_id": "pack_190617bdb6ec27c5",
    "decision_id": "dec_1",
    "created_at": "2026-03-01T11:00:02.000000Z",
    "kept_until": "2033-03-01T11:00:02.000000Z",
    "erasure": None,
}


class Reason(BaseModel):
    """Why something is done."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"reason": "Case 12/2026"}]}
    )

    reason: str = Field(min_length=1, max_length=1_000)


class EntryAnswer(BaseModel):
    """Where in the trail it stands."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"entry": 8}]})

    entry: int

    @classmethod
    def of(cls, receipt: Receipt) -> "EntryAnswer":
        """Return where an entry is."""
        return cls(entry=receipt.seq)


class Hold(BaseModel):
    """A legal hold: of which pack, why, by whom, since when."""

    pack_id: str
    reason: str
    actor: str
    at: str


class HoldList(BaseModel):
    """Packs on legal hold, by their ids: all versions of a pack are held with it."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"held": {"pack_190617bdb6ec27c5": _HOLD}}]}
    )

    held: dict[str, Hold]


class Retention(BaseModel):
    """For how many years packs are kept, and why so long."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"years": 10, "basis": "Saudi financial institutions"}]},
    )

    years: int = Field(ge=1, le=1_000)
    basis: str = Field(max_length=1_000)


class SweepRequest(BaseModel):
    """Whether packs are removed, or only named."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"dry_run": True}]})

    dry_run: bool = True


class SweptPackRow(BaseModel):
    """A pack whose retention has ended."""

    pack_id: str
    decision_id: str
    created_at: str
    kept_until: str
    erasure: int | None = Field(description="The entry that records its removal; None: not yet.")


class SweepAnswer(BaseModel):
    """The packs whose retention has ended, and which no one holds."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"packs": [_SWEPT]}]})

    packs: list[SweptPackRow]


class PackAuditAnswer(BaseModel):
    """What an audit of packs found."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "holds": False,
                    "decisions": 2,
                    "packs": 1,
                    "missing": ["dec_2"],
                    "unresolved": ["dec_1"],
                    "late_calls": [],
                    "missing_calls": [],
                    "problems": [],
                }
            ]
        }
    )

    holds: bool = Field(description="Whether none is missing and every pack is as it was sealed.")
    decisions: int
    packs: int
    missing: list[str] = Field(description="Decisions that must have a pack, and have none.")
    unresolved: list[str] = Field(description="Packs that await a review.")
    late_calls: list[str]
    missing_calls: list[str]
    problems: list[str]


@router.post("/packs/{pack_id}/hold", summary="Put a pack on legal hold", status_code=201)
@acts("packs.hold")
def hold_pack(pack_id: PackId, asked: Reason, workspace: Ws) -> EntryAnswer:
    """Keep a pack, in all its versions, whatever its retention says, until it is released."""
    return EntryAnswer.of(workspace.packs.hold(known(pack_id), reason=asked.reason))


@router.post("/packs/{pack_id}/release", summary="End a legal hold", status_code=201)
@acts("packs.release")
def release_pack(pack_id: PackId, asked: Reason, workspace: Ws) -> EntryAnswer:
    """End the legal hold of a pack."""
    return EntryAnswer.of(workspace.packs.release(known(pack_id), reason=asked.reason))


@router.get("/holds", summary="Legal holds")
@acts("packs.held")
def list_holds(workspace: Ws) -> HoldList:
    """Give the packs on legal hold."""
    held = {name: one.model_dump(mode="json") for name, one in workspace.packs.held().items()}
    return HoldList.model_validate({"held": held})


@router.get("/retention", summary="How long packs are kept")
@acts("packs.retention")
def read_retention(workspace: Ws) -> Retention:
    """Say for how many years the tenant's packs are kept: 7, unless another policy was set."""
    return Retention.model_validate(workspace.packs.retention().model_dump())


@router.put("/retention", summary="Set how long packs are kept")
@acts("packs.set_retention")
def set_retention(asked: Retention, workspace: Ws) -> EntryAnswer:
    """Set for how many years the tenant's packs are kept."""
    policy = RetentionPolicy(years=asked.years, basis=asked.basis)
    return EntryAnswer.of(workspace.packs.set_retention(policy))


@router.post("/retention/sweep", summary="Remove packs whose retention has ended")
@acts("packs.sweep")
def sweep_packs(asked: SweepRequest, workspace: Ws) -> SweepAnswer:
    """Name the packs whose retention has ended, and with `dry_run` false remove them.

    The trail says of each what was removed, when and why. What is on hold stays.
    """
    found = workspace.packs.sweep(dry_run=asked.dry_run)
    return SweepAnswer.model_validate({"packs": list(map(asdict, found))})


@router.get("/audits/packs", summary="Missing packs and open reviews")
@acts("packs.audit")
def audit_packs(workspace: Ws) -> PackAuditAnswer:
    """Find mandatory packs that are missing, open reviews, and packs that do not hold."""
    found = workspace.packs.audit()
    return PackAuditAnswer.model_validate({"holds": found.holds, **found.as_json()})

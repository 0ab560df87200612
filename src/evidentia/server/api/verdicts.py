"""Verdicts of people on the claims of a ledger, beside those of the judges."""

from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter
from fastapi import Path as PathField
from pydantic import BaseModel, ConfigDict, Field

from evidentia.server.actions import GuardedRoute, Ws, acts
from evidentia.server.problems import not_found

router = APIRouter(route_class=GuardedRoute, tags=["ledgers"])

LedgerId = Annotated[
    str, PathField(description="The ledger's id.", examples=["led_3b7c5d9e1f2a4b6c"])
]
_EXAMPLE: Final[dict[str, Any]] = {
    "ledger_id": "led_3b7c5d9e1f2a4b6c",
    "claim_id": "clm_1a2b3c4d5e6f7a8b",
    "claim_text": "Employees are entitled to 15 days of annual leave",
    "verdict": "contradicted",
    "judged": "supported",
    "reason": "Section 4 has it for managers alone.",
    "by": "ann",
    "at": "2026-01-03T15:00:00.000000Z",
    "entry": 12,
}


class VerdictRequest(BaseModel):
    """A verdict of your own on a claim, and why."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "claim_id": "clm_1a2b3c4d5e6f7a8b",
                    "verdict": "contradicted",
                    "reason": "Section 4 has it for managers alone.",
                }
            ]
        },
    )

    claim_id: str = Field(min_length=1, max_length=100)
    verdict: Literal["supported", "weak", "contradicted", "not_found"]
    reason: str = Field(min_length=1, max_length=2_000)


class VerdictAnswer(BaseModel):
    """What a person says of a claim, and what the judges said."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    ledger_id: str
    claim_id: str
    claim_text: str
    verdict: str
    judged: str = Field(description="The verdict in the ledger, which stays as it is.")
    reason: str
    by: str
    at: str
    entry: int = Field(description="The number of its entry in the trail.")


class VerdictList(BaseModel):
    """What people say of the claims of a ledger, the oldest first."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"verdicts": [_EXAMPLE]}]})

    verdicts: list[VerdictAnswer]


@router.post("/ledgers/{ledger_id}/verdicts", summary="Disagree with a judge", status_code=201)
@acts("ledgers.give_verdict")
def give_verdict(ledger_id: LedgerId, asked: VerdictRequest, workspace: Ws) -> VerdictAnswer:
    """Record a verdict of your own on a claim, with its reason, in your own name.

    It is an entry of the trail beside the judges' verdict; the ledger stays as it is.
    """
    name = _known(ledger_id)
    made = workspace.ledgers.give_verdict(name, asked.claim_id, asked.verdict, reason=asked.reason)
    texts = {one.claim_id: one.claim_text for one in workspace.ledgers.get(name).entries}
    return VerdictAnswer(**made.as_json(), claim_text=texts[made.claim_id])


@router.get("/ledgers/{ledger_id}/verdicts", summary="What people say of a ledger's claims")
@acts("ledgers.verdicts")
def list_verdicts(ledger_id: LedgerId, workspace: Ws) -> VerdictList:
    """Give the verdicts of people on the claims of a ledger, with those of the judges."""
    name = _known(ledger_id)
    found = workspace.ledgers.verdicts(name)
    texts = {one.claim_id: one.claim_text for one in workspace.ledgers.get(name).entries}
    return VerdictList(
        verdicts=[VerdictAnswer(**one.as_json(), claim_text=texts[one.claim_id]) for one in found]
    )


def _known(given: str) -> str:
    """Return what is a ledger's id; other names of ledgers are no address."""
    if not given.startswith("led_"):
        raise not_found()
    return given

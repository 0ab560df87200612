"""Decisions, tool calls and packs, for tests that go through a workspace or the command line."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from evidentia.packs.decision import DecisionOutput
from evidentia.packs.memo import BilingualMemo
from evidentia.packs.model import EvidencePack
from evidentia.packs.tools import ToolCallRecord
from evidentia.store.database import Database
from evidentia.workspace import Workspace
from evidentia.workspace.opened import Opened
from places import Place

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def decision_fields(number: int = 1, **changes: Any) -> dict[str, Any]:
    """Return the fields of a decision that must have a pack, and that a person must approve."""
    return {
        "decision_id": f"dec_{number}",
        "entity_id": f"lead_{number}",
        "tenant_id": "default",
        "agent_name": "icp_matcher",
        "model": "model-a",
        "decision": "Offer the hospital a pilot.",
        "decision_ar": "تقديم عرض تجريبي للمستشفى.",
        "approval_class": "A2",
        "reversibility_class": "R1",
        "sensitivity_class": "S1",
        "confidence": 0.84,
        "decided_at": "2026-03-01T11:00:00Z",
        "evidence": [
            {
                "source": f"crm.contact.{at}",
                "uri": f"crm://contacts/{at}",
                "excerpt": f"Company size: {at * 100} employees",
                "retrieved_at": "2026-03-01T10:00:00Z",
                "confidence": 1 - at / 10,
            }
            for at in (1, 2)
        ],
    } | changes


def decision(number: int = 1, **changes: Any) -> DecisionOutput:
    """Return such a decision; equal numbers give equal decisions."""
    return DecisionOutput.model_validate(decision_fields(number, **changes))


def memo_fields() -> dict[str, str]:
    """Return a memo that refers to both sources."""
    return {
        "title_ar": "توصية",
        "title_en": "Recommendation",
        "body_ar": "الشركة مناسبة [1] وكبيرة [2].",
        "body_en": "The company fits [1] and is large [2].",
        "executive_summary_ar": "الشركة مناسبة.",
        "executive_summary_en": "The company fits.",
    }


def memo(**changes: str) -> BilingualMemo:
    return BilingualMemo.model_validate(memo_fields() | changes)


def tool_call(number: int = 1, *, failed: bool = False) -> ToolCallRecord:
    """Return a call that read a contact, or failed to."""
    ending = {"outcome": "failed", "error": "TimeoutError", "verification_status": "failed"}
    return ToolCallRecord.model_validate(
        {
            "tool_name": "crm.get_contact",
            "intended_action": f"retrieve contact {number}",
            "actual_action": "failed: TimeoutError" if failed else f"retrieved contact {number}",
            **(ending if failed else {"outputs": {"id": str(number)}}),
        }
    )


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self, at: datetime = NOON) -> None:
        self.at = at

    def __call__(self) -> datetime:
        self.at += timedelta(microseconds=1)
        return self.at

    def pass_years(self, years: float) -> None:
        self.at += timedelta(days=365.25 * years)


def opened(
    place: Place,
    tenant: str = "default",
    *,
    clock: Callable[[], datetime] | None = None,
    lake: str | None = None,
) -> Workspace:
    """Open a workspace with a clock of its own; it is closed with the place."""
    database = (
        Database.sqlite(place.home.database) if place.url is None else Database.server(place.url)
    )
    workspace = Opened(database, place.home, lake=lake, clock=clock or Clock()).for_(tenant)
    place.keep(workspace)
    return workspace


def make_pack(workspace: Workspace, number: int = 1, **changes: Any) -> EvidencePack:
    """Assemble the pack of a decision in the workspace's tenant."""
    return workspace.assemble(decision(number, tenant_id=workspace.tenant, **changes), memo=memo())

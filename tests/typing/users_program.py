"""A user's program, which a type checker reads and nobody runs."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, assert_type

import evidentia as ev


def whole_flow(decision: ev.DecisionOutput, record: ev.EvidenceRecord) -> None:
    with ev.open("home", tenant="acme", user="noor") as ws:
        documents = ws.ingest("policies", Path("more"))
        assert_type(documents, ev.Ingestion)
        ledger = ws.check("Leave is 20 days.", against=documents, query="How much?")
        assert_type(ledger, ev.RecordedLedger)
        assert_type(ledger.entries[0].verdict, ev.Verdict)
        assert_type(ledger.session, ev.LedgerSession)
        assert_type(ledger.entry, int)
        pack = ws.assemble(decision, ledger=ledger)
        assert_type(pack, ev.EvidencePack)
        assert_type(ws.export(pack.pack_id, "board.pdf"), Path)
        receipt = ws.append(record, idempotency_key="a")
        assert_type(receipt, ev.Receipt)
        assert_type(ws.prove(receipt.seq), ev.Proof)
        assert_type(ws.bundle({"question": "?"}), ev.EvidenceBundle)
        assert_type(ws.packs.hold(pack.pack_id, reason="matter 12"), ev.Receipt)
        assert_type(ws.packs.list(limit=3), list[ev.ListedPack])
        assert_type(ws.access.grant("ann", ev.Role.VIEWER), ev.Receipt)
        end = datetime(2027, 1, 1, tzinfo=UTC)
        assert_type(ws.access.grant("eve", "auditor", expires_at=end), ev.Receipt)
        assert_type(ws.tools.calls("dec_1"), list[ev.ToolCallRecord])
        assert_type(ws.trail.audit(), ev.AuditReport)
        assert_type(ws.verify("board.pdf").holds, bool)


def a_server(opened: ev.Opened) -> list[str]:
    workspace = opened.for_("acme", "noor")
    assert_type(workspace, ev.Workspace)
    return [logged.entry.kind for logged in workspace.trail.entries(limit=10)]


def values(
    record: ev.EvidenceRecord, pack: ev.EvidencePack, options: ev.EvidencePackOptions
) -> str:
    history = record.amendment_history or []
    assert_type(history, list[dict[str, Any]])
    statuses: dict[str, str] = {"old_status": "active", "new_status": "amended"}
    longer = ev.create_evidence_record({}, {}, {}, [*history, statuses])
    assert_type(pack.sources + pack.sources[:1], list[ev.EvidenceSource])
    assert_type(options.include_metadata_keys, list[str] | None)
    assert_type(pack.tool_calls[0].outputs, dict[str, Any])
    flags: list[ev.RiskFlag] = ev.generate_risk_flags(
        ev.EvidenceLedger(
            id="led_1",
            session_id="ses_1",
            created_at="2026-01-03T14:30:00Z",
            updated_at="2026-01-03T14:30:00Z",
            entries=[],
            summary=ev.LedgerSummary(
                total_claims=0,
                by_verdict={},
                by_importance={},
                evidence_coverage=0.0,
                unsupported_rate=0.0,
            ),
        )
    )
    ev.EvidencePackOptions(include_metadata_keys=["author"])
    return json.dumps([longer.amendment_history, [flag.affected_claim_ids for flag in flags]])


class Everybody(ev.Authorizer):
    def may(self, user: str, action: ev.Action, on: str) -> bool:
        return bool(user) and action is not ev.Action.KEYS and bool(on)


def risks() -> dict[ev.RiskType, str]:
    assert_type(ev.open_all("home", authorizer=Everybody()), ev.Opened)
    return {kind: known.description for kind, known in ev.RISK_DEFINITIONS.items()}

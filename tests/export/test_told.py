"""What a statement says, told in lines and tables."""

import re

from bundles.making import bundle, everything, inline
from evidentia.export.told import (
    Line,
    Table,
    bundle_told,
    ledger_told,
    pack_state,
    pack_told,
    whole_pack,
)
from evidentia.packs.assembly import assemble
from evidentia.packs.model import Attachment, EvidencePack, ReviewOutcome
from evidentia.packs.retention import LegalHold
from evidentia.packs.tools import ToolVerificationLedger
from evidentia.packs.versions import reviewed
from export.sessions import every_verdict, first_form, weak_session
from packing import decision, memo, tool_call

AT = "2026-03-01T12:00:00.000000Z"


def a_pack() -> EvidencePack:
    tools = ToolVerificationLedger()
    return assemble(decision(), memo=memo(), tool_ledger=tools, created_at=AT)


def texts(told: object) -> list[str]:
    assert isinstance(told, list)
    return [one.text for one in told if isinstance(one, Line)]


def test_a_pack_is_told_with_its_sources_and_its_state() -> None:
    pack = a_pack()
    told = pack_told(pack)
    assert texts(told)[0] == f"What it states: the pack of decision {pack.decision_id}"
    (sources,) = [one for one in told if isinstance(one, Table)]
    assert len(sources.rows) == len(pack.sources)
    assert any(text.startswith("state: unresolved") for text in texts(told))


def test_calls_attachments_and_a_hold_are_told() -> None:
    tools = ToolVerificationLedger()
    tools.record("dec_1", tool_call())
    file = Attachment(name="a.txt", media_type="text/plain", sha256="0" * 64, bytes=7)
    pack = assemble(decision(), memo=memo(), tool_ledger=tools, created_at=AT, attachments=[file])
    hold = LegalHold(pack_id=pack.pack_id, reason="matter 12", actor="owner", at=AT)
    told = whole_pack(pack, hold)
    assert len([one for one in told if isinstance(one, Table)]) == 2
    assert f"On legal hold since {AT} by owner: matter 12" in texts(told)
    assert f"attached: a.txt, 7 bytes, sha256:{'0' * 64}" in texts(told)


def test_a_ledger_is_told_by_its_counts_in_the_order_of_verdicts() -> None:
    told = texts(ledger_told(every_verdict()))
    assert told[0].startswith("What it states: ")
    order = ["supported", "weak", "contradicted", "not found", "not judged"]
    assert re.findall(r"\d+ ([a-z ]+?)(?=,|;| \()", told[1])[: len(order)] == order


def test_weak_claims_are_counted_by_why_they_are_weak() -> None:
    told = texts(ledger_told(weak_session()))[1]
    assert told.startswith("2 weak (1 probable, 1 partial), 1 not found;")
    first = texts(ledger_told(first_form(weak_session())))[1]
    assert first.startswith("2 weak, 1 not found;")


def test_a_bundle_is_told_by_its_size_and_what_became_of_its_inputs() -> None:
    plain, counted = texts(bundle_told(bundle(inline("one two")))), texts(bundle_told(everything()))
    assert plain[0].endswith("1 item, 7 bytes, about 1 token")
    assert plain[1] == "1 input: 1 kept"
    assert "tokens (o200k_base, fence included)" in counted[0]


def test_a_pack_without_its_decisions_summary_is_told_too() -> None:
    told = texts(whole_pack(a_pack().model_copy(update={"pack_id": "", "decision": None}), None))
    assert not any("confidence" in text for text in told)


def test_a_review_and_none_needed_are_told_apart() -> None:
    pack = a_pack()
    done = reviewed(pack, reviewer="noor", outcome=ReviewOutcome.APPROVED, at=AT, note="read")
    assert pack_state(done) == f"approved by noor at {AT}: read"
    assert pack_state(
        reviewed(pack, reviewer="noor", outcome=ReviewOutcome.REJECTED, at=AT)
    ).startswith("rejected by noor")

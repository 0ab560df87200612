"""What the matrix of all routes asks with: a new route adds its ids and its body here."""

from collections.abc import Callable
from typing import Any

from packing import decision_fields, memo_fields, tool_call
from pdf_writing import Line, pdf_bytes
from places import record
from server.house import House

Made = Callable[[House], Any]


def _link(house: House) -> str:
    """Return the link of a download that is there."""
    path = f"/api/v1/sessions/{house.made['session_id']}/ledger/export"
    answer = house.post(path, "admin", json={"format": "markdown"})
    return str(answer.json()["download_url"]).rpartition("/")[2]


def _document(house: House) -> str:
    """Return the id of a document that is there."""
    return house.workspace.documents.list()[0].id


def _pdf(house: House) -> str:
    """Return the id of a PDF, which is put there if it is not."""
    documents = house.workspace.documents
    found = [one for one in documents.list() if one.filename == "notice.pdf"]
    if not found:
        data = pdf_bytes([[Line("Notice is given in writing.")]])
        found = list(documents.add({"notice.pdf": data}).documents)
    return found[0].id


def _anchor(house: House) -> str:
    """Return what cites a passage that is there."""
    return house.workspace.documents.search("leave")[0].anchor


def _passage(house: House) -> str:
    """Return what cites the passage of the PDF."""
    documents = house.workspace.documents
    [chunk] = documents.chunks(documents.versions(_pdf(house))[-1])
    return documents.anchor(chunk.chunk_hash)


def _export(house: House, form: str = "json") -> dict[str, Any]:
    """Return what exports the pack, with an approval that is good."""
    approval = house.workspace.packs.approve_export(house.made["pack_id"])
    return {"json": {"format": form, "approval": approval}}


def _pack_link(house: House) -> str:
    """Return the link of an exported pack."""
    answer = house.post(f"/api/v1/packs/{house.made['pack_id']}/export", "admin", **_export(house))
    return str(answer.json()["download_url"]).rpartition("/")[2]


def _release(house: House) -> dict[str, Any]:
    """Return what ends a hold, which there is."""
    if house.made["pack_id"] not in house.workspace.packs.held():
        house.workspace.packs.hold(house.made["pack_id"], reason="case")
    return {"json": {"reason": "closed"}}


def _revoke(house: House) -> dict[str, Any]:
    """Return what takes a role away that someone has, in both tenants."""
    for tenant in ("default", "other"):
        house.running.opened.for_(tenant).access.grant("eve", "viewer")
    return {"params": {"user": "eve", "role": "viewer"}}


def _token(house: House) -> str:
    """Return the id of a token that no one asks with."""
    return house.workspace.access.new_token("eve").token.token_id


def _verdict(house: House) -> dict[str, Any]:
    """Return a person's verdict on a claim that is there."""
    claim = house.workspace.ledgers.get(house.made["ledger_id"]).entries[0].claim_id
    return {"json": {"claim_id": claim, "verdict": "weak", "reason": "Seen."}}


def _decision() -> dict[str, Any]:
    """Return a decision that is not there yet, of whatever tenant it is sent to."""
    fields = decision_fields(77)
    del fields["tenant_id"]
    return fields


def _job(house: House) -> str:
    """Return the id of a job that was cancelled."""
    jobs = house.workspace.jobs
    return jobs.cancel(jobs.start("audit", {"quick": True}).id).id


def _attachment(house: House) -> str:
    """Return the digest of a file that the pack has attached in its newest version."""
    found = house.workspace.packs.get(house.made["pack_id"]).attachments
    return found[0].sha256


def _ticket(house: House) -> str:
    """Return the ticket of a record that no one waited for."""
    return house.workspace.trail.append(record(), wait=False)


EXISTING: dict[str, Made] = {
    "anchor": _anchor,
    "claim_number": lambda _: "1",
    "corpus_document": _document,
    "document_id": _pdf,
    "evidence_id": lambda _: "inline:0",
    "index": lambda _: "0",
    "page_number": lambda _: "1",
    "passage_anchor": _passage,
    "job_id": _job,
    "ledger_id": lambda house: house.made["ledger_id"],
    "bundle_id": lambda house: house.made["bundle_id"],
    "other_pack_id": lambda house: house.made["pack_id"],
    "pack_id": lambda house: house.made["pack_id"],
    "pack_link": _pack_link,
    "session_id": lambda house: house.made["session_id"],
    "level": lambda _: "0",
    "link": _link,
    "other_ledger_id": lambda house: house.made["ledger_id"],
    "other_bundle_id": lambda house: house.made["other_bundle_id"],
    "place": lambda _: "000.p/1",
    "run_id": lambda _: "run/1",
    "sha256": _attachment,
    "seq": lambda house: str(house.workspace.trail.size - 1),
    "tenant": lambda _: "default",
    "ticket": _ticket,
    "token_id": _token,
}
"""An id of something that is there, for every parameter of a path."""

MISSING: dict[str, str] = {
    "anchor": "00000000",
    "claim_number": "999",
    "corpus_document": "doc_0000000000000000",
    "document_id": "doc_0000000000000000",
    "evidence_id": "inline:99",
    "index": "9999",
    "page_number": "999",
    "passage_anchor": "00000000",
    "job_id": "job_0000000000000000",
    "ledger_id": "led_0000000000000000",
    "bundle_id": "00000000-0000-5000-8000-000000000000",
    "other_pack_id": "pack_0000000000000000",
    "pack_id": "pack_0000000000000000",
    "pack_link": "no-link",
    "session_id": "ses_0000000000000000",
    "level": "5",
    "link": "no-link",
    "other_ledger_id": "led_0000000000000000",
    "other_bundle_id": "00000000-0000-5000-8000-000000000000",
    "place": "x999/999",
    "run_id": "run/0",
    "seq": "999999",
    "sha256": "0" * 64,
    "tenant": "nowhere",
    "ticket": "0" * 40,
    "token_id": "0000000000000000",
}
"""One of something that is not."""

_ANSWER = {"answer": "It is so.", "judges": ["quote"], "contexts": ["It is so."]}
_RECORD = {
    "obligation_id": "obl-1",
    "doc_id": "doc_1",
    "doc_filename": "loan.pdf",
    "source_clause": "The borrower shall report within 30 days.",
    "extraction_model": "model-a",
    "verification_model": "model-b",
    "verification_result": "CONFIRMED",
    "confidence": 0.93,
}

BODIES: dict[str, Made] = {
    "append_records": lambda _: {"json": _RECORD},
    "build_bundle": lambda _: {"json": {"job_input": {"extra_params": {"evidence": ["One."]}}}},
    "export_ledger": lambda _: {"json": {"format": "json"}},
    "ingest_documents": lambda _: {"files": {"files": ("new.md", b"It is so.")}},
    "remove_document": lambda _: {"json": {"reason": "replaced"}},
    "can_view_evidence_pack": lambda house: {
        "params": {"user": "eve", "pack": house.made["pack_id"]}
    },
    "search_passages": lambda _: {"params": {"q": "leave"}},
    "submit_answer": lambda _: {"json": _ANSWER},
    "submit_answers": lambda _: {"json": {"answers": [_ANSWER]}},
    "verify_file": lambda _: {"files": {"file": ("proof.json", b"{}")}},
    "upload_documents": lambda _: {"files": {"files": ("new.md", b"It is so.")}},
    "pack_sources": lambda _: {"json": {"candidates": [{"item_id": "1", "summary": "One."}]}},
    "record_run": lambda _: {"json": {"run_id": "run/2"}},
    "validate_records": lambda _: {"json": {"records": [_RECORD]}},
    "approve_export": lambda _: {"json": {"approval_class": "A2"}},
    "attach_files": lambda _: {"files": {"files": ("seal.txt", b"It is whole.")}},
    "assign_review": lambda _: {"json": {"assignee": "approver"}},
    "assemble_pack": lambda _: {"json": {"decision": _decision(), "memo": memo_fields()}},
    "export_pack": _export,
    "give_verdict": _verdict,
    "grant_role": lambda _: {"json": {"user": "eve", "role": "viewer"}},
    "hold_pack": lambda _: {"json": {"reason": "case"}},
    "list_tool_calls": lambda _: {"params": {"decision_id": "dec_1"}},
    "make_token": lambda _: {"json": {"user": "eve"}},
    "own_agent": lambda _: {"json": {"user": "eve", "agent_name": "icp_matcher"}},
    "offer_tools": lambda _: {"json": {"decision_id": "dec_1", "tools": ["mail"]}},
    "record_decision": lambda _: {"json": {"decision": _decision()}},
    "record_tool_call": lambda _: {
        "json": {"decision_id": "dec_1", "call": tool_call().model_dump(mode="json")}
    },
    "release_pack": _release,
    "review_pack": lambda _: {"json": {"outcome": "rejected", "note": "Too old."}},
    "revise_pack": lambda _: {"json": {"changes": {"data_freshness_window_hours": 48}}},
    "revoke_role": _revoke,
    "set_retention": lambda _: {"json": {"years": 8, "basis": "law"}},
    "start_audit": lambda _: {"json": {"quick": True}},
    "start_sweep": lambda _: {"json": {}},
    "sweep_packs": lambda _: {"json": {}},
}
"""What is sent to a route that takes a body, by the route's name: arguments of a request."""

GOOD: dict[str, set[int]] = {
    "cancel_job": {200, 403},  # one's own, or anyone's for an admin
    "download": {200, 425},
    "download_pack": {200, 425},
}
"""The statuses of a route that does what it should; 200, 201, 202 and 204 need no row."""

BY_LINK = {"download", "download_pack"}
"""Routes that are opened by what their path says, whoever asks."""

"""What the matrix of all routes asks with: a new route adds its ids and its body here."""

from collections.abc import Callable
from typing import Any

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


def _anchor(house: House) -> str:
    """Return what cites a passage that is there."""
    return house.workspace.documents.search("leave")[0].anchor


EXISTING: dict[str, Made] = {
    "anchor": _anchor,
    "corpus_document": _document,
    "document_id": _document,
    "page_number": lambda _: "1",
    "ledger_id": lambda house: house.made["ledger_id"],
    "bundle_id": lambda house: house.made["bundle_id"],
    "session_id": lambda house: house.made["session_id"],
    "level": lambda _: "0",
    "link": _link,
    "other_bundle_id": lambda house: house.made["other_bundle_id"],
    "place": lambda _: "000.p/1",
    "run_id": lambda _: "run/1",
    "seq": lambda house: str(house.workspace.trail.size - 1),
    "tenant": lambda _: "default",
}
"""An id of something that is there, for every parameter of a path."""

MISSING: dict[str, str] = {
    "anchor": "00000000",
    "corpus_document": "doc_0000000000000000",
    "document_id": "doc_0000000000000000",
    "page_number": "999",
    "ledger_id": "led_0000000000000000",
    "bundle_id": "00000000-0000-5000-8000-000000000000",
    "session_id": "ses_0000000000000000",
    "level": "5",
    "link": "no-link",
    "other_bundle_id": "00000000-0000-5000-8000-000000000000",
    "place": "x999/999",
    "run_id": "run/0",
    "seq": "999999",
    "tenant": "nowhere",
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
    "remove_document": lambda _: {"json": {"reason": "replaced"}},
    "search_passages": lambda _: {"params": {"q": "leave"}},
    "submit_answer": lambda _: {"json": _ANSWER},
    "submit_answers": lambda _: {"json": {"answers": [_ANSWER]}},
    "verify_file": lambda _: {"files": {"file": ("proof.json", b"{}")}},
    "upload_documents": lambda _: {"files": {"files": ("new.md", b"It is so.")}},
    "pack_sources": lambda _: {"json": {"candidates": [{"item_id": "1", "summary": "One."}]}},
    "record_run": lambda _: {"json": {"run_id": "run/2"}},
    "validate_records": lambda _: {"json": {"records": [_RECORD]}},
}
"""What is sent to a route that takes a body, by the route's name: arguments of a request."""

GOOD: dict[str, set[int]] = {
    "download": {200, 425},
}
"""The statuses of a route that does what it should; 200, 201, 202 and 204 need no row."""

BY_LINK = {"download"}
"""Routes that are opened by what their path says, whoever asks."""

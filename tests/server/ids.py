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
    "session_id": lambda house: house.made["session_id"],
    "link": _link,
}
"""An id of something that is there, for every parameter of a path."""

MISSING: dict[str, str] = {
    "anchor": "00000000",
    "corpus_document": "doc_0000000000000000",
    "document_id": "doc_0000000000000000",
    "page_number": "999",
    "ledger_id": "led_0000000000000000",
    "session_id": "ses_0000000000000000",
    "link": "no-link",
}
"""One of something that is not."""

_ANSWER = {"answer": "It is so.", "judges": ["quote"], "contexts": ["It is so."]}

BODIES: dict[str, Made] = {
    "export_ledger": lambda _: {"json": {"format": "json"}},
    "remove_document": lambda _: {"json": {"reason": "replaced"}},
    "search_passages": lambda _: {"params": {"q": "leave"}},
    "submit_answer": lambda _: {"json": _ANSWER},
    "submit_answers": lambda _: {"json": {"answers": [_ANSWER]}},
    "verify_file": lambda _: {"files": {"file": ("proof.json", b"{}")}},
    "upload_documents": lambda _: {"files": {"files": ("new.md", b"It is so.")}},
}
"""What is sent to a route that takes a body, by the route's name: arguments of a request."""

GOOD: dict[str, set[int]] = {
    "download": {200, 425},
}
"""The statuses of a route that does what it should; 200, 201, 202 and 204 need no row."""

BY_LINK = {"download"}
"""Routes that are opened by what their path says, whoever asks."""

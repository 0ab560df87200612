"""The library: what is in it, search in its passages, adding to it and taking out of it."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Annotated, Any, Final

from fastapi import APIRouter, File, Form, Query, Request, UploadFile
from starlette.responses import Response

from evidentia.errors import InputError, NotFoundError, UsageError
from evidentia.loading.ingesting import Ingestion
from evidentia.server.actions import GuardedRoute, Ws, acts
from evidentia.server.pages.document_text import MARKDOWN, plain_text
from evidentia.server.problems import not_found
from evidentia.server.rates import Limited
from evidentia.server.translating import N_
from evidentia.server.viewing import leads_to, may, shown
from evidentia.store.sql.library import StoredDocument
from evidentia.workspace import Workspace
from evidentia.workspace.passages import FoundPassage

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)

_FEW: Final = 50
_FOUND: Final = 20
_FEW_CALLED: Final = 5
_MOST: Final = 2**53 - 1
_MOST_FILES: Final = 100
_GLIMPSE: Final = 420
"""How many characters of a passage a result shows."""
_WORD: Final = re.compile(r"\w{2,}")
Asked = dict[str, str]


@router.get("/documents")
@acts("documents.list")
def documents_page(
    workspace: Ws,
    request: Request,
    *,
    q: Annotated[str, Query(max_length=2_000)] = "",
    collection: Annotated[str, Query(max_length=200)] = "",
    as_of: Annotated[str, Query(max_length=40)] = "",
    removed: Annotated[str, Query(max_length=5)] = "",
    start: Annotated[int, Query(ge=0, le=_MOST)] = 0,
) -> Response:
    """Show the library by the page, or the passages that a search finds in it."""
    asked = {
        "q": q,
        "collection": collection,
        "as_of": as_of,
        "removed": "1" if removed else "",
    }
    return _page(workspace, request, asked, start=start)


@router.post("/documents")
@acts("documents.add", limited=Limited.CHECK)
def upload_on_page(
    workspace: Ws,
    request: Request,
    *,
    files: Annotated[list[UploadFile | str] | None, File(max_length=_MOST_FILES)] = None,
    into: Annotated[str, Form(max_length=200)] = "",
    since: Annotated[str, Form(max_length=40)] = "",
    until: Annotated[str, Form(max_length=40)] = "",
) -> Response:
    """Read files into the library; what could not be read is said, with the form as it was."""
    typed = {"into": into, "since": since, "until": until}
    given = {
        one.filename: one.file.read()
        for one in files or []
        if not isinstance(one, str) and one.filename
    }
    if not given:
        return _page(workspace, request, typed=typed, wrong=N_("Choose a file first."))
    effective = f"{since}..{until}" if since or until else None
    try:
        done = workspace.documents.add(
            given, collection=into.strip() or "uploads", effective=effective
        )
    except InputError as error:
        return _page(workspace, request, typed=typed, wrong=str(error))
    if done.problems:
        return _page(workspace, request, typed=typed, done=done)
    return leads_to(request, "/documents", N_("The documents are in the library."))


@router.get("/documents/{document_id}/removal")
@acts("documents.remove")
def removal_page(document_id: str, workspace: Ws, request: Request) -> Response:
    """Ask whether a document is to be taken out, and why."""
    return _removal(workspace, request, document_id)


@router.post("/documents/{document_id}/removal")
@acts("documents.remove")
def remove_on_page(
    document_id: str,
    workspace: Ws,
    request: Request,
    reason: Annotated[str, Form(max_length=1_000)] = "",
    erase: Annotated[str, Form(max_length=5)] = "",
) -> Response:
    """Take a document out of the library, or erase its text."""
    document = _document(workspace, document_id)
    if not reason.strip():
        wrong = N_("Say why: the trail keeps it.")
        return _removal(workspace, request, document_id, reason=reason, erase=erase, wrong=wrong)
    try:
        workspace.documents.remove(document.id, reason=reason, erase=bool(erase))
    except (InputError, UsageError) as error:
        said = str(error)
        return _removal(workspace, request, document_id, reason=reason, erase=erase, wrong=said)
    said = N_("The document's text was erased.") if erase else N_("The document was taken out.")
    return leads_to(request, "/documents", said)


def _page(
    workspace: Workspace,
    request: Request,
    asked: Asked | None = None,
    *,
    start: int = 0,
    typed: Asked | None = None,
    wrong: str | None = None,
    done: Ingestion | None = None,
) -> Response:
    """Return the library's page, with what was asked for and what a form had in it."""
    asked = asked or dict.fromkeys(("q", "collection", "as_of", "removed"), "")
    found: list[FoundPassage] = []
    listed: list[StoredDocument] = []
    mistake: str | None = None
    try:
        listed = _listed(workspace, asked)
        if asked["q"].strip():
            found = _search(workspace, asked)
            listed = list(islice(_called(listed, asked["q"]), _FEW_CALLED))
    except (InputError, NotFoundError) as error:
        mistake = str(error)
    is_there = {one.id for one in workspace.documents.list()} if asked["removed"] else None
    return shown(
        request,
        "documents/documents.html",
        status=422 if wrong or mistake or (done and not done.results) else 200,
        asked=asked,
        documents=[
            (one, is_there is not None and one.id not in is_there)
            for one in listed[start : start + _FEW]
        ],
        passages=[(one, marked(_text_of(one), asked["q"])) for one in found],
        total=len(listed),
        start=start,
        step=_FEW,
        collections=workspace.documents.collections(),
        mistake=mistake,
        typed=typed or {"into": asked["collection"], "since": "", "until": ""},
        wrong=wrong,
        done=done,
        may_add=may(workspace, "documents.add"),
        may_remove=may(workspace, "documents.remove"),
    )


def _search(workspace: Workspace, asked: Asked) -> list[FoundPassage]:
    return workspace.documents.search(
        asked["q"],
        limit=_FOUND,
        collections=[asked["collection"]] if asked["collection"] else None,
        as_of=asked["as_of"] or None,
    )


def _listed(workspace: Workspace, asked: Asked) -> list[StoredDocument]:
    return workspace.documents.list(
        collection=asked["collection"] or None, removed=bool(asked["removed"])
    )


def _called(documents: Iterable[StoredDocument], name: str) -> Iterator[StoredDocument]:
    """Give the documents that have a name in theirs, or in their titles."""
    wanted = name.strip().casefold()
    return (one for one in documents if wanted in f"{one.filename}\n{one.title}".casefold())


def _document(workspace: Workspace, document_id: str) -> StoredDocument:
    """Return the newest version of a document, also of one that was taken out."""
    if not document_id.startswith("doc_"):
        raise not_found()
    return workspace.documents.named(document_id, removed=True)[0]


def _removal(
    workspace: Workspace,
    request: Request,
    document_id: str,
    *,
    wrong: str | None = None,
    **typed: Any,
) -> Response:
    document = _document(workspace, document_id)
    is_there = any(one.id == document.id for one in workspace.documents.list())
    return shown(
        request,
        "documents/removal.html",
        status=422 if wrong else 200,
        document=document,
        is_there=is_there,
        typed={"reason": "", "erase": "", **typed},
        wrong=wrong,
    )


def _text_of(found: FoundPassage) -> str:
    return plain_text(found.chunk, markdown=found.document.media_type == MARKDOWN)


def marked(text: str, query: str) -> list[tuple[bool, str]]:
    """Return the part of a text around the first word of a query, in pieces: whether each is one.

    Words are compared whatever their case; what is between them comes as it stands.
    """
    words = {one.casefold() for one in _WORD.findall(query)}
    hits = [one for one in _WORD.finditer(text) if one[0].casefold() in words]
    begin = max(0, hits[0].start() - _GLIMPSE // 3) if hits and len(text) > _GLIMPSE else 0
    end = min(len(text), begin + _GLIMPSE)
    pieces: list[tuple[bool, str]] = [(False, "…")] if begin else []
    last = begin
    for one in hits:
        if begin <= one.start() and one.end() <= end:
            pieces += [(False, text[last : one.start()]), (True, one[0])]
            last = one.end()
    pieces.append((False, text[last:end] + ("…" if end < len(text) else "")))
    return [(is_hit, piece) for is_hit, piece in pieces if piece]

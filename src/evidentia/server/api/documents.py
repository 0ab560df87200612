"""Documents: uploaded as bytes, listed, read by the passage and the page, searched, taken out."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, File, Form, Query, Request, Response, UploadFile
from fastapi import Path as PathField
from pydantic import BaseModel, ConfigDict, Field

from evidentia.errors import ConflictError, DocumentError, InputError
from evidentia.server.actions import GuardedRoute, Ws, acts
from evidentia.server.paging import Paged, link_to
from evidentia.server.problems import REFUSED_INPUT, UNREADABLE, documented, not_found
from evidentia.server.rates import Limited
from evidentia.store.sql.library import StoredDocument
from evidentia.workspace import Workspace
from evidentia.workspace.passages import MOST, FoundPassage

router = APIRouter(route_class=GuardedRoute, tags=["documents"])

MOST_FILES: Final = 100
_FEW: Final = 10

DocumentId = Annotated[
    str, PathField(description="The document's id.", examples=["doc_5a6b7c8d9e0f1a2b"])
]
Version = Annotated[
    int | None, Query(ge=1, description="Which version of it; the newest if not given.")
]
PageNumber = Annotated[
    int, PathField(ge=1, le=1_000_000, description="The page, from 1.", examples=[1])
]
CollectionName = Annotated[
    str | None, Query(max_length=200, description="An id or a name of a collection.")
]
_DOCUMENT: Final[dict[str, Any]] = {
    "id": "doc_5a6b7c8d9e0f1a2b",
    "version": 1,
    "collection": "policies",
    "collection_id": "col_2b4f69fbd4e1417a",
    "filename": "leave.md",
    "media_type": "text/markdown",
    "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "language": "en",
    "direction": "ltr",
    "title": "Leave",
    "dated": None,
    "pages": 1,
    "chunks": 1,
    "warnings": [],
    "created_at": "2026-01-03T14:30:00.000000Z",
    "effective_from": "2026-01-01",
    "effective_until": None,
}
_PASSAGE: Final[dict[str, Any]] = {
    "anchor": "a1b2c3d4",
    "chunk_id": "chunk_593bf8f198dc67640f24d5b6582e970d",
    "chunk_hash": "a1b2c3d4884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "document_id": "doc_5a6b7c8d9e0f1a2b",
    "version": 1,
    "collection": "policies",
    "filename": "leave.md",
    "index": 0,
    "page": 1,
    "start": 0,
    "end": 62,
    "heading_path": ["Leave"],
    "text": "All permanent employees shall receive 15 days of annual leave.",
    "ocr": None,
}


def _example(said: dict[str, Any]) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [said]})


class DocumentVersion(BaseModel):
    """One version of a document."""

    id: str
    version: int
    collection: str
    collection_id: str
    filename: str
    media_type: str
    sha256: str = Field(description="The digest of its bytes.")
    language: str | None
    direction: str
    title: str | None
    dated: str | None
    pages: int
    chunks: int = Field(description="How many passages it has.")
    warnings: list[str] = Field(description="What of the file is in no passage.")
    created_at: str
    effective_from: str | None
    effective_until: str | None


class UploadedDocument(DocumentVersion):
    """A document that was read, and what became of it."""

    outcome: str = Field(description="`added`, `changed` (a new version) or `unchanged`.")


class UnreadUpload(BaseModel):
    """A file that could not be read, and why."""

    filename: str
    problem: str


class UploadAnswer(BaseModel):
    """What became of each file."""

    model_config = _example({"documents": [{**_DOCUMENT, "outcome": "added"}], "problems": []})

    documents: list[UploadedDocument]
    problems: list[UnreadUpload]


class DocumentList(BaseModel):
    """A page of the library, by collection and name."""

    model_config = _example({"documents": [_DOCUMENT]})

    documents: list[DocumentVersion]


class DocumentAnswer(BaseModel):
    """A document with its versions, the newest first."""

    model_config = _example({"id": _DOCUMENT["id"], "versions": [_DOCUMENT]})

    id: str
    versions: list[DocumentVersion]


class CollectionRow(BaseModel):
    """A collection of documents; its label tells it apart from another of the same name."""

    id: str
    name: str
    label: str
    documents: int = Field(description="How many it ever had.")


class CollectionList(BaseModel):
    """The collections."""

    model_config = _example(
        {
            "collections": [
                {
                    "id": "col_2b4f69fbd4e1417a",
                    "name": "policies",
                    "label": "policies",
                    "documents": 3,
                }
            ]
        }
    )

    collections: list[CollectionRow]


class PassageAnswer(BaseModel):
    """A passage, its place, and the anchor that cites it (`[cite:a1b2c3d4]`)."""

    anchor: str
    chunk_id: str
    chunk_hash: str
    document_id: str
    version: int
    collection: str
    filename: str
    index: int
    page: int
    start: int
    end: int
    heading_path: list[str]
    text: str
    ocr: float | None = Field(None, description="How sure the reading is, if it was read by OCR.")


class PassageList(BaseModel):
    """Passages, in reading order or the best first."""

    model_config = _example({"passages": [_PASSAGE]})

    passages: list[PassageAnswer]


class PageAnswer(BaseModel):
    """The text of a page; `start` is where on the page it begins."""

    model_config = _example(
        {
            "document_id": _DOCUMENT["id"],
            "version": 1,
            "page": 1,
            "pages": 1,
            "start": 0,
            "text": _PASSAGE["text"],
        }
    )

    document_id: str
    version: int
    page: int
    pages: int
    start: int
    text: str


class RemovalRequest(BaseModel):
    """Why a document is taken out, and whether its text goes, too."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"reason": "replaced by the new handbook"}]},
    )

    reason: str = Field(min_length=1, max_length=1_000)
    erase: bool = Field(default=False, description="Whether its text is erased for good.")


class RemovalAnswer(DocumentVersion):
    """A document that was taken out: its newest version, and the entry that says so."""

    model_config = _example({**_DOCUMENT, "entry": 42, "erased": False})

    entry: int
    erased: bool


class CitedPassage(BaseModel):
    """A place of the passage that is cited."""

    chunk_id: str
    chunk_hash: str
    document_id: str
    index: int
    page: int
    start: int
    end: int
    heading_path: list[str]
    text: str
    ocr: float | None = None


class CitationAnswer(BaseModel):
    """What an anchor leads to: a passage in all its places, or several that begin with it."""

    model_config = _example(
        {
            "anchor": "a1b2c3d4",
            "resolved": True,
            "places": [
                {
                    name: value
                    for name, value in _PASSAGE.items()
                    if name not in {"anchor", "version", "collection", "filename"}
                }
            ],
            "candidates": [],
            "error": None,
        }
    )

    anchor: str
    resolved: bool
    places: list[CitedPassage]
    candidates: list[str] = Field(description="The hashes that begin so, if they are several.")
    error: str | None


@router.post(
    "/documents",
    summary="Upload documents",
    status_code=201,
    responses=documented(UNREADABLE),
    openapi_extra={
        "requestBody": {
            "content": {
                "multipart/form-data": {
                    "example": {"files": ["leave.md"], "collection": "policies"}
                }
            }
        }
    },
)
@acts("documents.add", limited=Limited.CHECK, in_steps=True)
def upload_documents(
    workspace: Ws,
    files: Annotated[
        list[UploadFile],
        File(min_length=1, max_length=MOST_FILES, description="The files, each with its name."),
    ],
    collection: Annotated[
        str, Form(min_length=1, max_length=200, description="The collection they come into.")
    ] = "uploads",
    effective: Annotated[
        str | None,
        Form(max_length=30, description="When they hold, such as 2026-01-01..2026-12-31."),
    ] = None,
) -> UploadAnswer:
    """Read files into the library; what became of each is in the answer.

    The same bytes are stored once; other bytes under the same name are a new version. A file that
    cannot be read does not stop the others; if none can be, the answer is a problem.
    """
    given: dict[str, bytes] = {}
    for file in files:
        name = file.filename or ""
        if name in given:
            raise InputError(f"two files are called {name[:80]!r}: send them one after the other")
        given[name] = file.file.read()
    done = workspace.documents.add(given, collection=collection, effective=effective or None)
    problems = [UnreadUpload(filename=one.filename, problem=one.problem) for one in done.problems]
    if problems and not done.results:
        raise DocumentError(problems[0].problem)
    read = [
        UploadedDocument.model_validate({**_said(one.document), "outcome": one.outcome})
        for one in done.results
    ]
    return UploadAnswer(documents=read, problems=problems)


@router.get("/documents", summary="The documents", responses=documented(REFUSED_INPUT))
@acts("documents.list")
def list_documents(
    workspace: Ws,
    page: Paged,
    request: Request,
    response: Response,
    *,
    collection: CollectionName = None,
    name: Annotated[
        str | None, Query(max_length=200, description="What stands in the name or the title.")
    ] = None,
    removed: Annotated[bool, Query(description="Those too that were taken out.")] = False,
) -> DocumentList:
    """Give the newest version of each document, by collection and name."""
    found = workspace.documents.list(collection=collection, removed=removed)
    if name:
        wanted = name.casefold()
        found = [one for one in found if wanted in f"{one.filename}\n{one.title}".casefold()]
    start = page.after or 0
    end = start + page.limit
    link_to(request, response, end if end < len(found) else None)
    return DocumentList.model_validate({"documents": [_said(one) for one in found[start:end]]})


@router.get("/collections", summary="The collections")
@acts("documents.collections")
def list_collections(workspace: Ws) -> CollectionList:
    """Give the collections that documents are in."""
    found = [one.as_json() for one in workspace.documents.collections()]
    return CollectionList.model_validate({"collections": found})


@router.get("/documents/{document_id}", summary="A document")
@acts("documents.versions")
def read_document(document_id: DocumentId, workspace: Ws) -> DocumentAnswer:
    """Give a document with its versions, the newest first."""
    found = [_said(one) for one in reversed(workspace.documents.versions(document_id))]
    return DocumentAnswer.model_validate({"id": document_id, "versions": found})


@router.get(
    "/documents/{document_id}/passages",
    summary="A document's passages",
    responses=documented(REFUSED_INPUT),
)
@acts("documents.chunks")
def list_passages(
    document_id: DocumentId,
    workspace: Ws,
    page: Paged,
    request: Request,
    response: Response,
    *,
    version: Version = None,
) -> PassageList:
    """Give the passages of a document in reading order, as the trail recorded them."""
    document, start = version_of(workspace, document_id, version), page.after or 0
    chunks, end = workspace.documents.chunks(document), start + page.limit
    link_to(request, response, end if end < len(chunks) else None)
    anchor = workspace.documents.anchor
    shown = [FoundPassage(document, one, anchor(one.chunk_hash)) for one in chunks[start:end]]
    return _passages(shown)


@router.get("/documents/{document_id}/pages/{page_number}", summary="The text of a page")
@acts("documents.page_text")
def read_page(
    document_id: DocumentId,
    page_number: PageNumber,
    workspace: Ws,
    version: Version = None,
) -> PageAnswer:
    """Give the text of a page as its passages have it.

    What is in no passage (front matter, running heads) is left as line breaks, so that the offsets
    of passages hold. Formats without pages have one.
    """
    document = version_of(workspace, document_id, version)
    found = workspace.documents.page_text(document, page_number)
    return PageAnswer(
        document_id=document.id,
        version=document.version,
        page=found.page,
        pages=document.pages,
        start=found.start,
        text=found.text,
    )


@router.get("/passages", summary="Search the documents", responses=documented(REFUSED_INPUT))
@acts("documents.search")
def search_passages(
    workspace: Ws,
    q: Annotated[str, Query(min_length=1, max_length=2_000, description="What to look for.")],
    collection: CollectionName = None,
    as_of: Annotated[
        str | None, Query(max_length=10, description="A day: what did not hold is left out.")
    ] = None,
    limit: Annotated[
        int, Query(ge=1, le=MOST, description="How many different texts at most.")
    ] = _FEW,
) -> PassageList:
    """Give the passages that share most with a text, the best first, as a check finds them.

    The same text in several places is given with the first few of them.
    """
    asked = None if collection is None else [collection]
    return _passages(workspace.documents.search(q, limit=limit, collections=asked, as_of=as_of))


@router.post("/documents/{document_id}/removal", summary="Take a document out")
@acts("documents.remove")
def remove_document(document_id: DocumentId, asked: RemovalRequest, workspace: Ws) -> RemovalAnswer:
    """Take a document out of every later check; the trail says so, and why.

    Its text is kept: ledgers that cite it still open. With `erase` the text goes for good, also of
    a document that was taken out before; a legal hold wins.
    """
    if not document_id.startswith("doc_"):
        raise not_found()
    removed = workspace.documents.remove(document_id, reason=asked.reason, erase=asked.erase)
    if not removed:
        raise ConflictError(f"the text of {document_id} was erased before")
    [done] = removed
    said = {**_said(done.document), "entry": done.entry, "erased": done.erased}
    return RemovalAnswer.model_validate(said)


@router.get("/citations/{anchor}", summary="What a citation leads to")
@acts("documents.resolve")
def resolve_citation(
    anchor: Annotated[
        str,
        PathField(max_length=200, description="As in `[cite:…]`.", examples=["a1b2c3d4"]),
    ],
    workspace: Ws,
) -> CitationAnswer:
    """Give the passage that an anchor leads to, in all its places.

    Where several passages begin with it, their hashes are `candidates`.
    """
    found = workspace.documents.resolve(anchor)
    if not found.resolved and not found.candidates:
        raise not_found()
    return CitationAnswer.model_validate(
        {
            "anchor": anchor,
            "resolved": found.resolved,
            "places": [one.as_json() for one in found.places],
            "candidates": list(found.candidates),
            "error": found.error,
        }
    )


def version_of(workspace: Workspace, document_id: str, version: int | None) -> StoredDocument:
    """Return a version of a document, the newest if none is named."""
    found = workspace.documents.versions(document_id)
    if version is None:
        return found[-1]
    for one in found:
        if one.version == version:
            return one
    raise not_found()


def _passages(found: list[FoundPassage]) -> PassageList:
    return PassageList.model_validate({"passages": [one.as_json() for one in found]})


def _said(document: StoredDocument) -> dict[str, Any]:
    return {**document.as_json(), "warnings": list(document.warnings)}

"""Ledgers by their ids: all of them, one with its claims, its corpus, and proofs."""

from typing import Annotated, Any, Final

import orjson
from fastapi import APIRouter, Query, Request, Response
from fastapi import Path as PathField
from pydantic import BaseModel, ConfigDict, Field

from evidentia.ledger.model import LedgerSummary
from evidentia.ledger.pages import JudgedClaim, LedgerHead
from evidentia.server.actions import GuardedRoute, Ws, acts
from evidentia.server.api.ledgers import LedgerAnswer, SessionId
from evidentia.server.caching import KeptAnswer, entity_tag, is_known, tagged, unchanged
from evidentia.server.paging import Order, Paged, link_to, next_page, span
from evidentia.server.problems import REFUSED_INPUT, documented, not_found
from evidentia.server.running import running_of
from evidentia.store.sql.ledgers import ListedLedger
from evidentia.workspace import Workspace

router = APIRouter(route_class=GuardedRoute, tags=["ledgers"])

LedgerId = Annotated[
    str, PathField(description="The ledger's id.", examples=["led_3b7c5d9e1f2a4b6c"])
]
CorpusDocumentId = Annotated[
    str,
    PathField(
        description="A document's id, or one of its versions (`doc_…@1`).",
        examples=["doc_5a6b7c8d9e0f1a2b"],
    ),
]
_ETAG: Final = {"ETag": {"schema": {"type": "string"}}}
_SUMMARY: Final[dict[str, Any]] = {
    "total_claims": 1,
    "by_verdict": {"supported": 1, "weak": 0, "contradicted": 0, "not_found": 0},
    "by_importance": {"critical": 1, "material": 0, "minor": 0},
    "evidence_coverage": 1.0,
    "unsupported_rate": 0.0,
}
_LISTED: Final[dict[str, Any]] = {
    "id": "led_3b7c5d9e1f2a4b6c",
    "session_id": "ses_0f3a5c7e9b1d2468",
    "previous_id": None,
    "title": "answer",
    "query": "How much annual leave is there?",
    "answer_name": "answer",
    "summary": _SUMMARY,
    "statement_sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "entry": 41,
    "created_at": "2026-01-03T14:30:00.000000Z",
}
_VERSION: Final[dict[str, Any]] = {
    "id": "doc_5a6b7c8d9e0f1a2b",
    "document_id": "doc_5a6b7c8d9e0f1a2b",
    "version": 1,
    "collection": "policies",
    "filename": "leave.md",
    "media_type": "text/markdown",
    "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "dated": None,
    "used": True,
}
_PROOF: Final = {"application/json": {"example": {"format": "evidentia proof", "v": 1}}}


class LedgerRow(BaseModel):
    """A ledger in a list."""

    id: str
    session_id: str
    previous_id: str | None = Field(description="The ledger of the same answer before it.")
    title: str
    query: str | None
    answer_name: str
    summary: LedgerSummary
    statement_sha256: str
    entry: int = Field(description="The number of the trail's entry that records it.")
    created_at: str


class LedgerList(BaseModel):
    """A page of the ledgers, the newest first."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"ledgers": [_LISTED]}]})

    ledgers: list[LedgerRow]


class ClaimsPage(BaseModel):
    """Some claims of a ledger with their verdicts, and what is said of the ledger as a whole."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "ledger": {
                        "id": "led_3b7c5d9e1f2a4b6c",
                        "session_id": "ses_0f3a5c7e9b1d2468",
                        "title": "answer",
                        "query": "How much annual leave is there?",
                        "mode": "answer",
                        "answer_name": "answer",
                        "created_at": "2026-01-03T14:30:00.000000Z",
                        "previous_ledger_id": None,
                        "claims": 1,
                        "summary": _SUMMARY,
                        "risk_flags": [],
                        "follow_up_questions": [],
                        "judges": ["quote"],
                        "program": "evidentia 0.1.0",
                    },
                    "start": 0,
                    "total": 1,
                    "claims": [],
                    "entry": 41,
                }
            ]
        }
    )

    ledger: LedgerHead
    start: int = Field(description="The place of the page's first claim, from 0.")
    total: int
    claims: list[JudgedClaim]
    entry: int = Field(description="The number of the trail's entry that records the ledger.")


class CorpusRow(BaseModel):
    """A version of a document that was there when an answer was checked."""

    id: str = Field(description="What it is called there; an older version is `doc_…@1`.")
    document_id: str
    version: int
    collection: str
    filename: str
    media_type: str
    sha256: str
    dated: str | None
    used: bool = Field(description="Whether the check used it, or its filter left it out.")


class CorpusPage(BaseModel):
    """What a ledger was checked against, and some of its documents."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "ledger": "led_3b7c5d9e1f2a4b6c",
                    "corpus": None,
                    "documents": 1,
                    "used": 1,
                    "versions": [_VERSION],
                }
            ]
        }
    )

    ledger: str
    corpus: dict[str, Any] | None = Field(
        description="The library then, by its root; null where the ledger commits to none."
    )
    documents: int
    used: int
    versions: list[CorpusRow]


@router.get("/ledgers", summary="The ledgers", responses=documented(REFUSED_INPUT))
@acts("ledgers.list")
def list_ledgers(
    workspace: Ws,
    page: Paged,
    request: Request,
    response: Response,
    *,
    session: Annotated[
        str | None, Query(max_length=100, description="Those of this session alone.")
    ] = None,
    title: Annotated[
        str | None, Query(max_length=200, description="Those in whose title this stands.")
    ] = None,
    order: Order = "newest",
) -> LedgerList:
    """Give the ledgers of the tenant, the newest first if not asked otherwise."""
    found = workspace.ledgers.list(
        **span(page, order), limit=page.limit, session=session, title=title
    )
    more = len(found) == page.limit
    link_to(request, response, found[-1].entry if more else None)
    return LedgerList.model_validate({"ledgers": [one.as_json() for one in found]})


@router.get(
    "/ledgers/{ledger_id}",
    summary="A ledger",
    responses={
        200: {"model": LedgerAnswer, "headers": _ETAG},
        304: {"description": "The caller has it already"},
    },
)
@acts("ledgers.get")
def read_ledger_by_id(ledger_id: LedgerId, workspace: Ws, request: Request) -> Response:
    """Give a ledger whole, with what was asked; `claims` gives it by the page."""
    row = _found(workspace, ledger_id)
    tag = entity_tag(row.statement_sha256[:32])
    if is_known(request, tag):
        return unchanged(tag)
    kept, name = running_of(request).kept, (workspace.tenant, row.id, tag)
    answer = kept.get(name)
    if answer is None:
        ledger = workspace.ledgers.get(row.id)
        session = {one: getattr(ledger.session, one) for one in ("id", "query", "mode")}
        said = {"ledger": ledger.model_dump(mode="json"), "session": session}
        answer = KeptAnswer.of(orjson.dumps(said), tagged(tag))
        kept.put(name, answer)
    return answer.given_to(request)


@router.get(
    "/ledgers/{ledger_id}/claims",
    summary="A ledger's claims, by the page",
    responses={
        200: {"model": ClaimsPage, "headers": _ETAG},
        304: {"description": "The caller has it already"},
        **documented(REFUSED_INPUT),
    },
)
@acts("ledgers.page")
def list_claims(ledger_id: LedgerId, workspace: Ws, page: Paged, request: Request) -> Response:
    """Give some claims of a ledger with their verdicts; it costs the same however long it is."""
    row, start = _found(workspace, ledger_id), page.after or 0
    tag = entity_tag(row.statement_sha256[:32], "claims", str(start), str(page.limit))
    if is_known(request, tag):
        return unchanged(tag)
    found = workspace.ledgers.page(row.id, start, page.limit)
    end = start + len(found.claims)
    said = {
        "ledger": found.head.model_dump(mode="json"),
        "start": start,
        "total": found.total,
        "claims": [one.model_dump(mode="json") for one in found.claims],
        "entry": found.entry,
    }
    headers = tagged(tag) | next_page(request, end if found.claims and end < found.total else None)
    return KeptAnswer.of(orjson.dumps(said), headers).given_to(request)


@router.get(
    "/ledgers/{ledger_id}/corpus",
    summary="What a ledger was checked against",
    responses={
        200: {"model": CorpusPage, "headers": _ETAG},
        304: {"description": "The caller has it already"},
        **documented(REFUSED_INPUT),
    },
)
@acts("ledgers.corpus")
def list_corpus(ledger_id: LedgerId, workspace: Ws, page: Paged, request: Request) -> Response:
    """Give the documents that were in the library then, and which of them the check used.

    They are made again from the trail, and compared with what the ledger commits to.
    """
    row, start = _found(workspace, ledger_id), page.after or 0
    tag = entity_tag(row.statement_sha256[:32], "corpus", str(start), str(page.limit))
    if is_known(request, tag):
        return unchanged(tag)
    said = workspace.ledgers.corpus(row.id).as_json()
    end, total = start + page.limit, len(said["versions"])
    said["versions"] = said["versions"][start:end]
    del said["next_after"]  # the header has it
    headers = tagged(tag) | next_page(request, end if end < total else None)
    return KeptAnswer.of(orjson.dumps(said), headers).given_to(request)


@router.get(
    "/ledgers/{ledger_id}/corpus/{corpus_document}/proof",
    summary="Prove whether a document was checked against",
    response_class=Response,
    responses={
        200: {
            "description": "The proof.",
            "content": {
                "application/json": {
                    "example": {
                        "format": "evidentia corpus proof",
                        "v": 1,
                        "document": "doc_5a6b7c8d9e0f1a2b",
                    }
                }
            },
        },
        **documented(REFUSED_INPUT),
    },
)
@acts("ledgers.prove_corpus")
def prove_document(
    ledger_id: LedgerId, corpus_document: CorpusDocumentId, workspace: Ws
) -> Response:
    """Prove that a document was, or was not, in what a ledger was checked against.

    The proof has nothing of the answer. `evidentia verify` and `POST /verify` verify it.
    """
    row = _found(workspace, ledger_id)
    return _json(workspace.ledgers.prove_corpus(row.id, corpus_document).as_json())


@router.get(
    "/ledgers/{ledger_id}/proof",
    summary="A ledger's proof",
    response_class=Response,
    responses={200: {"description": "The proof.", "content": _PROOF}},
)
@acts("ledgers.prove")
def prove_ledger(ledger_id: LedgerId, workspace: Ws) -> Response:
    """Prove a ledger: the signed statement, and its place in the log under a checkpoint."""
    return _json(workspace.ledgers.prove(_found(workspace, ledger_id).id).as_json())


@router.get("/sessions/{session_id}/ledgers", summary="A session's ledgers")
@acts("ledgers.list")
def list_ledgers_of_session(session_id: SessionId, workspace: Ws) -> LedgerList:
    """Give all ledgers of a session, the newest first: each time it was checked made one."""
    found = workspace.ledgers.list(session=session_id, limit=1_000)
    if not found:
        raise not_found()
    return LedgerList.model_validate({"ledgers": [one.as_json() for one in found]})


def _found(workspace: Workspace, given: str) -> ListedLedger:
    """Return the ledger of an id; other names of ledgers are no address."""
    if not given.startswith("led_"):
        raise not_found()
    return workspace.ledgers.find(given)


def _json(said: Any) -> Response:
    return Response(orjson.dumps(said), media_type="application/json")

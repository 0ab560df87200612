"""Ledgers of sessions: read whole or by the page, and exported by a link that ends."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Final, Literal, NamedTuple

import orjson
from fastapi import APIRouter, Query, Request
from fastapi import Path as PathField
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from evidentia.ledger.model import EvidenceLedger
from evidentia.server.actions import Asks, GuardedRoute, Ws, acts
from evidentia.server.api.jobs import made_by
from evidentia.server.caching import KeptAnswer, entity_tag, is_known, tagged, unchanged
from evidentia.server.links import address, caller_of_link, new_link, read_link
from evidentia.server.paging import MOST, Cursor, next_page, place_of
from evidentia.server.problems import (
    EXPIRED,
    NOT_READY,
    REFUSED_INPUT,
    ProblemError,
    documented,
    not_found,
)
from evidentia.server.rates import Limited
from evidentia.server.running import running_of
from evidentia.workspace import Workspace

router = APIRouter(route_class=GuardedRoute, tags=["ledgers"])

Format = Literal["markdown", "json", "pdf", "html"]
"""The first three are asked for by name; `html`, a page that verifies itself, is one more."""
SessionId = Annotated[
    str, PathField(description="The session's id.", examples=["ses_0f3a5c7e9b1d2468"])
]
_MEDIA_TYPES: Final = {
    "markdown": "text/markdown; charset=utf-8",
    "json": "application/json",
    "pdf": "application/pdf",
    "html": "text/html; charset=utf-8",
}
MOST_QUESTIONS: Final = 100
"""How many questions a page of a ledger has; the whole ledger has all of them."""
_ENDINGS: Final = {"markdown": "md", "json": "json", "pdf": "pdf", "html": "html"}
_EXAMPLE_LEDGER: Final[dict[str, Any]] = {
    "id": "led_3b7c5d9e1f2a4b6c",
    "session_id": "ses_0f3a5c7e9b1d2468",
    "created_at": "2026-01-03T14:30:00.000000Z",
    "updated_at": "2026-01-03T14:30:00.000000Z",
    "entries": [
        {
            "id": "ent_5a6b7c8d9e0f1a2b",
            "claim_id": "clm_1a2b3c4d5e6f7a8b",
            "claim_text": "Employees are entitled to 15 days of annual leave",
            "claim_type": "policy",
            "claim_importance": "critical",
            "verdict": "supported",
            "confidence_score": 0.92,
            "evidence_chunk_ids": ["a1b2c3d4"],
            "evidence_snippet": "All permanent employees shall receive 15 days of annual leave.",
            "source_document": {"id": "doc_1", "filename": "HR_Policy.pdf", "page_number": 12},
            "notes": "Directly supported",
        }
    ],
    "summary": {
        "total_claims": 1,
        "by_verdict": {"supported": 1, "weak": 0, "contradicted": 0, "not_found": 0},
        "by_importance": {"critical": 1, "material": 0, "minor": 0},
        "evidence_coverage": 1.0,
        "unsupported_rate": 0.0,
    },
    "risk_flags": [],
    "follow_up_questions": [],
}


class SessionHead(BaseModel):
    """What was asked."""

    id: str
    query: str | None
    mode: str


class LedgerAnswer(BaseModel):
    """A session's newest ledger."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "ledger": _EXAMPLE_LEDGER,
                    "session": {
                        "id": "ses_0f3a5c7e9b1d2468",
                        "query": "How much annual leave is there?",
                        "mode": "answer",
                    },
                }
            ]
        }
    )

    ledger: EvidenceLedger
    session: SessionHead


class ExportRequest(BaseModel):
    """In which form a ledger is wanted."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"format": "pdf"}]})

    format: Format


class ExportAnswer(BaseModel):
    """Where the file is, and until when."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "download_url": "https://evidence.example.com/api/v1/downloads/WyJsZWRfM2I3…",
                    "expires_at": "2026-01-03T14:45:00.000000Z",
                }
            ]
        }
    )

    download_url: str = Field(description="Good without a token, until `expires_at`.")
    expires_at: str


@router.get(
    "/sessions/{session_id}/ledger",
    summary="A session's ledger",
    responses={
        200: {"model": LedgerAnswer, "headers": {"ETag": {"schema": {"type": "string"}}}},
        304: {"description": "The caller has it already"},
        **documented(REFUSED_INPUT),
    },
)
@acts("ledgers.get")
def read_ledger(
    session_id: SessionId,
    workspace: Ws,
    request: Request,
    limit: Annotated[
        int | None,
        Query(ge=1, le=MOST, description="How many entries at most; all of them if not given."),
    ] = None,
    cursor: Cursor = None,
) -> Response:
    """Give the newest ledger of a session, with what was asked.

    It comes whole. With `limit` its entries come in pages, each at the same cost however long the
    ledger is: the header `Link` leads to the next one. All else of the ledger is on each, but that
    a flag names a hundred of its claims at most, a hundred questions are asked at most, and the
    checks of citations come with the whole.
    """
    begin = 0 if cursor is None else place_of(cursor)
    row = workspace.ledgers.find(_id_of_session(session_id))
    tag = entity_tag(row.statement_sha256[:32], str(begin), str(limit or ""))
    if is_known(request, tag):
        return unchanged(tag)
    kept, name = running_of(request).kept, (workspace.tenant, row.id, tag)
    answer = kept.get(name)
    if answer is None:
        answer = _written(workspace, row.id, tag, Part(begin, limit, request))
        kept.put(name, answer)
    return answer.given_to(request)


@router.post("/sessions/{session_id}/ledger/export", summary="Export a session's ledger")
@acts("ledgers.export", limited=Limited.EXPORT)
def export_ledger(
    session_id: SessionId, asked: ExportRequest, asks: Asks, request: Request
) -> ExportAnswer:
    """Have the newest ledger of a session written to a file; the answer says where it will be.

    The address answers 425 until the file is there. A PDF is made by a job.
    """
    running, workspace = running_of(request), asks.workspace
    row = workspace.ledgers.find(_id_of_session(session_id))
    form: str = asked.format
    if form == "pdf":
        given = {"ledger_id": row.id, "form": form, "ending": _ENDINGS[form]}
        form = f"{form}.{workspace.jobs.start('ledger_export', given).id}"
        running.runner.wake()
    else:
        _file(request, workspace, row.id, form)
    text, ends = new_link(running, asks.caller, row.id, form)
    url = address(running, request, request.app.url_path_for("download", link=text))
    return ExportAnswer(download_url=url, expires_at=ends)


@router.get(
    "/downloads/{link}",
    summary="An exported file",
    response_class=Response,
    responses={
        200: {
            "description": "The file.",
            "content": {
                "text/markdown": {"example": "## Evidence Ledger\n"},
                "application/json": {"example": {"ledger_id": "led_3b7c5d9e1f2a4b6c"}},
                "application/pdf": {"example": "%PDF-1.7"},
            },
        },
        **documented(NOT_READY, EXPIRED),
    },
)
@acts("ledgers.export", who=caller_of_link)
def download(
    link: Annotated[str, PathField(max_length=2_000, description="As `download_url` has it.")],
    workspace: Ws,
    request: Request,
) -> Response:
    """Give an exported file to whoever has its link, while the ledger is there."""
    asked = read_link(running_of(request), link)
    workspace.ledgers.find(asked.of)  # not there any more once it was erased
    form, _, job_id = asked.form.partition(".")
    data = made_by(workspace, job_id) if job_id else _file(request, workspace, asked.of, form)
    if data is None:
        raise ProblemError(NOT_READY, "Try again in a second.", headers={"retry-after": "1"})
    name = f"{asked.of}.{_ENDINGS[form]}"
    return Response(
        data,
        media_type=_MEDIA_TYPES[form],
        headers={"content-disposition": f'attachment; filename="{name}"'},
    )


class Part(NamedTuple):
    """Which entries of a ledger are wanted, and by which request."""

    begin: int
    limit: int | None
    request: Request


def _written(workspace: Workspace, ledger_id: str, tag: str, part: Part) -> KeptAnswer:
    """Return a ledger, or a part of its entries, as it is answered."""
    if part.limit is not None:
        return _page(workspace, ledger_id, tag, part)
    found = workspace.ledgers.get(ledger_id)
    session = {"id": found.session.id, "query": found.session.query, "mode": found.session.mode}
    said = {"ledger": found.model_dump(mode="json"), "session": session}
    return KeptAnswer.of(orjson.dumps(said), tagged(tag))


def _page(workspace: Workspace, ledger_id: str, tag: str, part: Part) -> KeptAnswer:
    """Return some entries of a ledger, which are read and proved without the others."""
    found = workspace.ledgers.page(ledger_id, part.begin, part.limit or MOST)
    head = found.head.model_dump(mode="json")
    for flag in head["risk_flags"]:
        del flag["affected_claims"]
    ledger = {name: head[name] for name in head if name in EvidenceLedger.model_fields}
    ledger["follow_up_questions"] = head["follow_up_questions"][:MOST_QUESTIONS]
    ledger["updated_at"] = head["created_at"]
    ledger["entries"] = [one.entry.model_dump(mode="json") for one in found.claims]
    session = {"id": head["session_id"], "query": head["query"], "mode": head["mode"]}
    end = part.begin + len(found.claims)
    headers = tagged(tag) | next_page(part.request, end if end < found.total else None)
    return KeptAnswer.of(orjson.dumps({"ledger": ledger, "session": session}), headers)


def _file(request: Request, workspace: Workspace, ledger_id: str, form: str) -> bytes | None:
    """Return a ledger's file, or None while it is made."""
    name = f"{workspace.tenant}/{ledger_id}.{form}"

    def make() -> bytes:
        with TemporaryDirectory(prefix="evidentia-") as folder:
            file = Path(folder) / f"ledger.{_ENDINGS[form]}"
            return workspace.ledgers.export(ledger_id, file, form=form).read_bytes()

    return running_of(request).downloads.file(name, make, remade=True)


def _id_of_session(given: str) -> str:
    """Return what is a session's id; other names of ledgers are no address."""
    if not given.startswith("ses_"):
        raise not_found()
    return given

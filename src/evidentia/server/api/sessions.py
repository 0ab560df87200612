"""Sessions: answers are submitted, checked against documents or what was retrieved, and kept.

A check that takes longer than a request should goes on as a job; so do many answers.
"""

from typing import Annotated, Any, Final, Literal

import orjson
from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from evidentia.errors import AccessError, EnvironmentProblem, EvidentiaError, IntegrityError
from evidentia.jobs.work import (
    ANSWERS_AT_ONCE,
    BULK_AT_ONCE,
    answer_outcome,
    batches,
    begin_asked,
    unchecked,
)
from evidentia.ledger.model import LedgerSummary
from evidentia.server.actions import Asking, Asks, GuardedRoute, acts
from evidentia.server.api.jobs import (
    LOCATION,
    JobAnswer,
    Prefer,
    start,
    started,
    wants_job,
)
from evidentia.server.api.ledgers import LedgerAnswer
from evidentia.server.callers import address_of, count
from evidentia.server.checking import check_or_go_on, is_judged
from evidentia.server.problems import of_error
from evidentia.server.rates import Limited
from evidentia.server.running import Running, running_of
from evidentia.workspace import Workspace
from evidentia.workspace.jobs import Job
from evidentia.workspace.ledgers import RecordedLedger

router = APIRouter(route_class=GuardedRoute, tags=["sessions"])

MOST_ANSWERS: Final = 1_000
WAITED_ANSWERS: Final = 20
"""How many answers a request may wait for; more are a job."""
MOST_DOCUMENTS: Final = 1_000
MOST_CONTEXTS: Final = 1_000
_MOST_COLLECTIONS: Final = 100
_LEDGER: Final = "/api/v1/ledgers/"

JudgeName = Literal["quote", "numbers", "nli", "llm"]
_DocumentId = Annotated[str, Field(pattern="^doc_[0-9a-f]{16}$")]
_Name = Annotated[str, Field(min_length=1, max_length=500)]
_EXAMPLE: Final[dict[str, Any]] = {
    "answer": "Employees are entitled to 15 days of annual leave.",
    "query": "How much annual leave is there?",
    "collections": ["policies"],
    "judges": ["quote", "numbers"],
}


class SubmittedAnswer(BaseModel):
    """An answer, and what it is checked against: all documents of the library if nothing is named.

    `documents`, `collections` and `as_of` choose among the documents of the library. `contexts`
    are the passages that the model was given, and `bundle` names the bundle that has them: then
    the library is not asked, unless something of it is named, or `library` says so.
    """

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_EXAMPLE]})

    answer: str = Field(min_length=1, description="The text that is checked; 2 MB at most.")
    query: str | None = Field(None, max_length=100_000, description="What was asked.")
    title: str | None = Field(None, max_length=1_000)
    judges: list[JudgeName] | None = Field(
        None, min_length=1, max_length=4, description="Who judges; all that are installed if none."
    )
    documents: list[_DocumentId] | None = Field(
        None, min_length=1, max_length=MOST_DOCUMENTS, description="Ids of documents."
    )
    collections: list[_Name] | None = Field(
        None, min_length=1, max_length=_MOST_COLLECTIONS, description="Ids or names."
    )
    as_of: str | None = Field(
        None, max_length=10, description="A day: what did not hold on it is left out."
    )
    contexts: list[str | dict[str, Any]] | None = Field(
        None,
        min_length=1,
        max_length=MOST_CONTEXTS,
        description="Passages: texts, or objects with `text` and if you like `id` and `title`.",
    )
    bundle: str | None = Field(None, min_length=4, max_length=100, description="A bundle's id.")
    library: bool = Field(
        default=False, description="Whether documents are asked beside contexts, too."
    )


class SubmittedAnswers(BaseModel):
    """Answers to check, each with what it is checked against."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"answers": [_EXAMPLE]}]}
    )

    answers: list[SubmittedAnswer] = Field(min_length=1, max_length=MOST_ANSWERS)


class AnswerResult(BaseModel):
    """What became of an answer: its ledger, or why it could not be checked."""

    number: int = Field(description="Which answer of the request it is, from 1.")
    session_id: str | None = None
    ledger_id: str | None = None
    entry: int | None = Field(None, description="The number of the trail's entry that records it.")
    summary: LedgerSummary | None = None
    problem: str | None = None


class AnswerResults(BaseModel):
    """What became of each answer, in the order of the request."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "results": [
                        {
                            "number": 1,
                            "session_id": "ses_0f3a5c7e9b1d2468",
                            "ledger_id": "led_3b7c5d9e1f2a4b6c",
                            "entry": 41,
                            "summary": {
                                "total_claims": 1,
                                "by_verdict": {"supported": 1},
                                "by_importance": {"critical": 1, "material": 0, "minor": 0},
                                "evidence_coverage": 1.0,
                                "unsupported_rate": 0.0,
                            },
                            "problem": None,
                        },
                        {
                            "number": 2,
                            "session_id": None,
                            "ledger_id": None,
                            "entry": None,
                            "summary": None,
                            "problem": "the answer is empty: there is nothing to check",
                        },
                    ]
                }
            ]
        }
    )

    results: list[AnswerResult]


@router.post(
    "/sessions",
    summary="Submit an answer",
    status_code=201,
    responses={
        201: {"model": LedgerAnswer, "headers": LOCATION},
        202: {"model": JobAnswer, "headers": LOCATION},
    },
)
@acts("ledgers.check", limited=Limited.CHECK)
async def submit_answer(asked: SubmittedAnswer, asks: Asks, request: Request) -> Response:
    """Check each claim of an answer, keep its ledger and record it; the answer is the ledger.

    A check that takes longer than 10 seconds goes on as a job, and the answer is that job (202).
    The same answer checked again is a new ledger of the same session.
    """
    given = asked.model_dump(mode="json")
    found = await check_or_go_on(asks, running_of(request), given, _checked)
    return started(found) if isinstance(found, Job) else found


def _checked(found: RecordedLedger) -> Response:
    session = found.session
    said = {
        "ledger": found.model_dump(mode="json"),
        "session": {"id": session.id, "query": session.query, "mode": session.mode},
    }
    return Response(
        orjson.dumps(said),
        201,
        {"location": f"{_LEDGER}{found.id}"},
        media_type="application/json",
    )


@router.post(
    "/sessions/batch",
    summary="Submit many answers",
    status_code=201,
    responses={
        201: {"model": AnswerResults},
        202: {"model": JobAnswer, "headers": LOCATION},
    },
)
@acts("ledgers.check_many", limited=Limited.CHECK)
async def submit_answers(
    asked: SubmittedAnswers, asks: Asks, request: Request, prefer: Prefer = None
) -> Response:
    """Check many answers; one that cannot be checked does not stop the others.

    Up to 20 are checked one after the other while the request waits, and each counts against the
    rate of checks. More than that are a job (202), and so are fewer with `Prefer: respond-async`:
    its result is what would have been answered.
    """
    running = running_of(request)
    if len(asked.answers) > WAITED_ANSWERS or wants_job(prefer):
        return await run_in_threadpool(_job, asked, asks, request)
    for _ in asked.answers[1:]:  # the first was counted with the request
        for who in (asks.caller.counted_as, address_of(request)):
            count(running, Limited.CHECK, who)
    results = [
        await _result(running, asks.workspace, number, one)
        for number, one in enumerate(asked.answers, 1)
    ]
    return Response(orjson.dumps({"results": results}), 201, media_type="application/json")


def _job(asked: SubmittedAnswers, asks: Asking, request: Request) -> Response:
    answers = [one.model_dump(mode="json") for one in asked.answers]
    is_bulk = asks.workspace.opened.bulk is not None
    at_once = BULK_AT_ONCE if is_bulk else ANSWERS_AT_ONCE
    files = batches(answers, at_once)
    return start(asks, request, "checks", {"at_once": at_once}, total=len(answers), files=files)


async def _result(
    running: Running, workspace: Workspace, number: int, asked: SubmittedAnswer
) -> dict[str, Any]:
    """Check one of several answers; what is not about it alone is raised."""
    given = asked.model_dump(mode="json")
    try:
        async with running.checks:
            begun = await run_in_threadpool(begin_asked, workspace, given)
            await is_judged(begun)
            ledger = await run_in_threadpool(workspace.ledgers.finish, begun)
    except (AccessError, EnvironmentProblem, IntegrityError):
        raise
    except EvidentiaError as error:
        return unchecked(number, of_error(error, may_read=True).detail)
    return answer_outcome(number, ledger)

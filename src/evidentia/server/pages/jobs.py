"""Long work that was begun on a page: how far it is, until what comes of it is there."""

from typing import Annotated

from fastapi import APIRouter, Request
from fastapi import Path as PathField
from starlette.responses import RedirectResponse, Response

from evidentia.server.actions import GuardedRoute, Ws, acts
from evidentia.server.api.jobs import JobAnswer
from evidentia.server.translating import N_
from evidentia.server.viewing import leads_to, shown
from evidentia.workspace.jobs import Job

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)

JobId = Annotated[str, PathField(max_length=100)]


@router.get("/jobs/{job_id}")
@acts("jobs.get")
def job_page(job_id: JobId, workspace: Ws, request: Request) -> Response:
    """Show how far a job is; once a check is done, lead to its ledger."""
    job = workspace.jobs.get(job_id)
    is_part, address = "hx-request" in request.headers, _made(job)
    if address is not None and not is_part:
        return RedirectResponse(address, 303)
    template = "jobs/_job.html" if is_part else "jobs/job.html"
    response = shown(request, template, job=job, problem=JobAnswer.of(job).problem)
    if address is not None:
        response.headers["hx-redirect"] = address
    return response


@router.post("/jobs/{job_id}/cancel")
@acts("jobs.cancel")
def cancel_job_on_page(job_id: JobId, workspace: Ws, request: Request) -> Response:
    """Ask a job to end."""
    workspace.jobs.cancel(job_id)
    return leads_to(request, f"/jobs/{job_id}", N_("It was asked to end."))


def _made(job: Job) -> str | None:
    """Return where that is which a check made."""
    result = job.result if job.kind == "check" and job.state == "done" else None
    return f"/ledgers/{result['ledger_id']}" if result and result.get("ledger_id") else None

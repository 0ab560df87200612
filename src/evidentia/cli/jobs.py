"""`evidentia jobs`: long work that servers of the workspace do."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from evidentia.cli.group import Group
from evidentia.cli.options import HomeOption, JsonOption, TenantOption, workspace

if TYPE_CHECKING:
    from evidentia.workspace.jobs import Job

StateName = Literal["queued", "running", "done", "failed", "cancelled"]
app = typer.Typer(
    cls=Group,
    help="List the jobs of servers: long work, and how far it is.",
    rich_markup_mode=None,
    add_completion=False,
    invoke_without_command=True,
)
JobArgument = Annotated[str, typer.Argument(metavar="JOB", help="Its id, as 'jobs' lists it.")]


@app.callback()
def list_jobs(
    context: typer.Context,
    state: Annotated[StateName | None, typer.Option(help="Those in this state.")] = None,
    limit: Annotated[int, typer.Option(metavar="N", min=1, help="How many at most.")] = 50,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """List jobs, the newest first: long work that a server does after it has answered.

    Those that wait or run go on when a server runs; one that was stopped in the middle goes on
    where it was.
    """
    if context.invoked_subcommand is not None:
        return
    from evidentia.cli.output import print_json, print_table, say

    with workspace(home, tenant, read_only=True) as opened:
        found = opened.jobs.list(state=state, limit=limit)
    if as_json:
        print_json({"jobs": [one.as_json() for one in found]})
        return
    if not found:
        said = "There is no job" + (f" that is {state}" if state else " yet")
        say(f"{said}. 'evidentia serve' takes them, over its API: POST /api/v1/sessions/batch.")
        return
    print_table(
        ("Job", "Kind", "State", "Done", "Asked by", "Begun"),
        [
            (
                one.id,
                one.kind,
                _state(one),
                f"{one.row.done:,} of {one.row.total:,}",
                one.row.actor,
                one.row.created_at[:19].replace("T", " "),
            )
            for one in found
        ],
    )


@app.command("show")
def show_job(
    job: JobArgument,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how far a job is, and what came of it."""
    from evidentia.cli.output import print_json, say, visible

    with workspace(home, tenant, read_only=True) as opened:
        found = opened.jobs.get(job)
    if as_json:
        print_json(found.as_json())
        return
    row = found.row
    mark: Literal["good", "bad"] | None = {"done": "good", "failed": "bad"}.get(row.state)  # type: ignore[assignment]
    say(f"{row.id}: {row.kind}, {_state(found)}, {row.done:,} of {row.total:,} done", mark)
    say(f"asked for by {visible(row.actor)} at {row.created_at}", under=True)
    if row.ended_at is not None:
        say(f"ended at {row.ended_at}", under=True)
    if found.problem is not None:
        say(visible(found.problem["detail"]), "bad", under=True)
    if found.result is not None:
        say("'--json' prints what came of it", under=True)


@app.command("cancel")
def cancel_job(
    job: JobArgument,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask a job to end: one that waits ends now, one that runs before its next step.

    What it has recorded stays recorded.
    """
    from evidentia.cli.output import print_json, say

    with workspace(home, tenant) as opened:
        found = opened.jobs.cancel(job)
    if as_json:
        print_json(found.as_json())
    elif found.state == "cancelled":
        say(f"Job {found.id} is cancelled.", "good")
    elif found.has_ended:
        say(f"Job {found.id} had ended already: it is {found.state}.")
    else:
        say(f"Job {found.id} ends before its next step, while a server runs.", "good")


def _state(job: "Job") -> str:
    asked = job.row.cancelled and not job.has_ended
    return f"{job.state} (to be cancelled)" if asked else job.state

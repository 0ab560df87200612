"""A check that someone waited for, and that goes on as a job since it takes too long.

It is judged in a worker process, and recorded here once that is done. A job is written down, so
that another server checks it if this one ends first.
"""

import json
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evidentia.jobs.runner import Runner
from evidentia.jobs.work import Cancelled, Lost, Work, answer_outcome

if TYPE_CHECKING:
    from evidentia.workspace import Workspace
    from evidentia.workspace.jobs import Job
    from evidentia.workspace.judging import StartedCheck


def go_on_as_job(
    runner: Runner, workspace: "Workspace", asked: Mapping[str, Any], started: "StartedCheck"
) -> "Job":
    """Return the job that goes on with a check, which was begun as it was `asked` for."""
    job = workspace.jobs.start(
        "check", {}, files=[json.dumps(dict(asked)).encode()], runner=runner.id
    )
    work = Work(workspace.opened, runner.id, job)
    runner.hold(work)
    threading.Thread(
        target=_go_on, args=(runner, work, started), name=f"evidentia-{job.id}", daemon=True
    ).start()
    return job


def _go_on(runner: Runner, work: Work, started: "StartedCheck") -> None:
    """Record what comes of a check, as its job's; one that was cancelled is not recorded."""
    raised: BaseException | None = None
    try:
        started.wait()
        work.go_on()
        ledger = work.workspace(1).ledgers.finish(started)
        work.note(1, answer_outcome(1, ledger), counts=False)
    except (Exception, Lost, Cancelled) as error:  # noqa: BLE001 - it is written down
        raised = error
    runner.end_held(work, raised)

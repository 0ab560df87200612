"""Checks of a request: judged in another process, and waited for without holding a thread.

There are few threads, and a check may take long: others are answered meanwhile.
"""

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from starlette.concurrency import run_in_threadpool

from evidentia.jobs.waiting import go_on_as_job
from evidentia.jobs.work import begin_asked
from evidentia.server.actions import Asking
from evidentia.server.api.jobs import begin
from evidentia.server.running import Running
from evidentia.workspace.jobs import Job
from evidentia.workspace.judging import StartedCheck
from evidentia.workspace.ledgers import RecordedLedger

Shown = TypeVar("Shown")


async def check_or_go_on(
    asks: Asking,
    running: Running,
    given: Mapping[str, Any],
    show: Callable[[RecordedLedger], Shown],
) -> Shown | Job:
    """Check an answer and return what `show` makes of its ledger, in a thread.

    A check whose turn does not come in time, or that takes longer, goes on as a job: it is that.
    """
    ends = time.monotonic() + running.waits
    try:
        await asyncio.wait_for(running.checks.acquire(), running.waits)
    except TimeoutError:
        files = [json.dumps(given).encode()]
        return await run_in_threadpool(begin, asks, running, "check", {}, files=files)
    try:
        begun = await run_in_threadpool(begin_asked, asks.workspace, given)
        if await is_judged(begun, max(0.0, ends - time.monotonic())):
            return await run_in_threadpool(_finished, asks, begun, show)
        return await run_in_threadpool(go_on_as_job, running.runner, asks.workspace, given, begun)
    finally:
        running.checks.release()


def _finished(asks: Asking, begun: StartedCheck, show: Callable[[RecordedLedger], Shown]) -> Shown:
    return show(asks.workspace.ledgers.finish(begun))


async def is_judged(started: StartedCheck, seconds: float | None = None) -> bool:
    """Wait until a check is judged, for so many seconds at most if so said; say whether it is.

    It goes on when the seconds are over, and also when the request is.
    """
    if started.judging is None:
        return await run_in_threadpool(started.wait)
    judging = asyncio.wrap_future(started.judging)
    judging.add_done_callback(_looked_at)
    done, _ = await asyncio.wait({judging}, timeout=seconds)
    return bool(done)


def _looked_at(judging: "asyncio.Future[object]") -> None:
    """Take note of what it raised, which whoever finishes the check raises again."""
    if not judging.cancelled():
        judging.exception()

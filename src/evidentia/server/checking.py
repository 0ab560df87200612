"""Checks of a request: judged in another process, and waited for without holding a thread.

There are few threads, and a check may take long: others are answered meanwhile.
"""

import asyncio

from starlette.concurrency import run_in_threadpool

from evidentia.workspace.judging import StartedCheck


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

"""Work done in forked processes."""

import os
import signal
import sys
import traceback
from collections.abc import Callable
from typing import Self


class Child:
    """A forked process; `end` waits for it and fails if it failed. Kills it on the way out."""

    def __init__(self, work: Callable[[], object]) -> None:
        self.pid = os.fork()
        if self.pid == 0:
            try:
                work()
            except BaseException:  # noqa: BLE001 - a forked process must not return into pytest
                traceback.print_exc()
                sys.stderr.flush()
                os._exit(1)
            os._exit(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.pid:
            self.kill()

    def end(self) -> None:
        """Wait for the process, which must have done its work."""
        pid, self.pid = self.pid, 0
        status = os.waitpid(pid, 0)[1]
        assert status == 0, f"a forked process ended with status {status}"

    def kill(self) -> None:
        """Kill the process outright."""
        pid, self.pid = self.pid, 0
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)

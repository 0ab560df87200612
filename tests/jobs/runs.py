"""A process that does jobs until it is killed: `python runs.py HOME URL`, with '' for no URL.

A third argument says who does bulk work: `processes`, or the address of a Ray cluster.
"""

import signal
import sys
import threading
from pathlib import Path

from evidentia.jobs.ray_workers import RayWorkers
from evidentia.jobs.runner import Pace, Runner
from evidentia.loading.pieces import ByProcesses
from evidentia.workspace.opened import open_all

PACE = Pace(looks=0.2, renews=0.5, lapses=3, ends=5)

if __name__ == "__main__":
    home, url, *bulk = sys.argv[1:]
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    with open_all(url or Path(home), home=Path(home)) as opened:
        for one in bulk:
            opened.bulk = ByProcesses(2) if one == "processes" else RayWorkers(one)
        runner = Runner(opened, pace=PACE)
        runner.start()
        while not stopped.wait(0.1):
            pass
        runner.close()
        if opened.bulk is not None:
            opened.bulk.close()

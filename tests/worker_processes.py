"""Worker processes of a test: servers and browsers of other tests come and go beside them."""

import contextlib

import psutil


def running(module: str) -> list[psutil.Process]:
    """Return the processes below this one that run a module, in the order of their start."""
    found = []
    for one in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):  # ended meanwhile
            if module in one.cmdline():
                found.append(one)
    return found

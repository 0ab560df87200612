"""The servers that benchmarks ask: a PostgreSQL and an object storage of their own.

They run on this machine and are started as the tests start theirs, but PostgreSQL's files are on
the disk, and what it commits is.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

CONNECTIONS = 300


@contextmanager
def postgresql(folder: Path) -> Iterator[Any]:
    """Start a PostgreSQL whose commits wait for the disk; it goes afterwards."""
    server = _of_the_tests("postgres").PostgresServer(folder)
    folder.mkdir()
    try:
        server.ensure_started()
        server.execute("ALTER SYSTEM SET fsync = on")
        server.execute(f"ALTER SYSTEM SET max_connections = {CONNECTIONS}")
        server.end()
        server.start_again()
        yield server
    finally:
        server.stop()


@contextmanager
def bucket() -> Iterator[tuple[str, str]]:
    """Start an object storage; give a lake's address, and where the storage listens."""
    seaweed = _of_the_tests("seaweed")
    server = seaweed.SeaweedServer(seaweed.new_folder())
    try:
        server.ensure_started()
        with server.fresh_bucket() as found:
            os.environ.update(found.environment)
            yield found.url, server.endpoint
    finally:
        server.stop()


def _of_the_tests(name: str) -> ModuleType:
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    try:
        return import_module(name)
    finally:
        sys.path.pop(0)

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from survival.bundle_checks import SECRET


@pytest.fixture
def memory() -> Iterator[Path]:
    """Give a folder in memory, where there is one: what is synchronised there is so at once."""
    shared = "/dev/shm"
    with tempfile.TemporaryDirectory(dir=shared if os.access(shared, os.W_OK) else None) as folder:
        yield Path(folder)


@pytest.fixture
def lake(memory: Path) -> Path:
    """Give an empty lake, in a folder where there is more."""
    (memory / "outside.txt").write_text(SECRET)
    folder = memory / "lake"
    folder.mkdir()
    return folder

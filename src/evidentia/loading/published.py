"""The files of a published log, from a folder or from a web server."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evidentia.errors import InputError, NotFoundError
from evidentia.loading.web import Web, is_url
from evidentia.proof.files import read_bytes
from evidentia.trail.publication import Fetch


@contextmanager
def published_files(place: str | Path) -> Iterator[Fetch]:
    """Give the files of a folder or below a URL, each by its path.

    Raise `InputError` for a place that is neither.
    """
    if isinstance(place, str) and is_url(place):
        with Web(place) as web:
            yield web.get
        return
    folder = Path(place)
    if not folder.is_dir():
        raise InputError(f"{place}: neither a folder nor a URL, and a published log is either")
    yield lambda path, limit: _read(folder / path, limit)


def _read(path: Path, limit: int) -> bytes | None:
    """Read a file with no more room than it takes: a bundle might have a hundred times that."""
    try:
        return read_bytes(path, min(limit, path.stat().st_size))
    except (FileNotFoundError, NotADirectoryError, NotFoundError):
        return None

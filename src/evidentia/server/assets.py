"""Styles and scripts of the viewer: read and compressed once, under an address of their contents.

The address has a digest of all of them, so a browser may keep them for good, and a module finds
its neighbours by relative imports.
"""

import gzip
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
_DIGITS: Final = 12
PREFIX: Final = "/static"


@dataclass(frozen=True, slots=True)
class Asset:
    """A file of the viewer: its bytes, the same compressed, and its type."""

    plain: bytes
    small: bytes
    media_type: str


@dataclass(frozen=True, slots=True)
class Assets:
    """All files of the viewer, by their names; `version` is another one if any of them is."""

    by_name: dict[str, Asset]
    version: str

    def address(self, name: str) -> str:
        """Return where a browser gets a file; raise `KeyError` if there is none of this name."""
        self.by_name[name]
        return f"{PREFIX}/{self.version}/{name}"


@cache
def assets() -> Assets:
    """Return the files that come with the program."""
    pages = files("evidentia.export.html")
    found = dict(
        sorted(
            [
                *_walk(files("evidentia.server") / "static", ""),
                *_walk(pages / "scripts", "verify/"),
                *_walk(pages / "styles", "verify/"),
            ]
        )
    )
    digest = sha256()
    for name, data in found.items():
        digest.update(f"{name} {len(data)}\n".encode() + data)
    return Assets(
        {name: _asset(name, data) for name, data in found.items()}, digest.hexdigest()[:_DIGITS]
    )


def _asset(name: str, data: bytes) -> Asset:
    return Asset(data, gzip.compress(data, 9, mtime=0), _TYPES[name[name.rindex(".") :]])


def _walk(folder: Traversable, under: str) -> list[tuple[str, bytes]]:
    found = []
    for one in folder.iterdir():
        if one.is_dir():
            found += _walk(one, f"{under}{one.name}/")
        elif one.name[one.name.rfind(".") :] in _TYPES:
            found.append((f"{under}{one.name}", one.read_bytes()))
    return found

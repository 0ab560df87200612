"""Answers that were given before: kept by the server, or by the caller, who asks if they hold.

What never changes is written once. What is kept here was made of evidence that was proved, and is
named by its digest; whether it is still there, and for this caller, is asked each time.
"""

import gzip
import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Final, NamedTuple

from fastapi import Request
from starlette.responses import Response

from evidentia.server.repeating import Repeatable

_GZIP_LEVEL: Final = 5
_LEAST_GZIPPED: Final = 1_000


def entity_tag(*parts: str) -> str:
    """Return the tag of what these say; digests and numbers, as they never stand for others."""
    return f'"{".".join(parts)}"'


def is_known(request: Request, tag: str) -> bool:
    """Whether the caller has what a tag stands for (`If-None-Match`)."""
    given = request.headers.get("if-none-match")
    if given is None:
        return False
    known = {one.strip().removeprefix("W/") for one in given.split(",")}
    return "*" in known or tag in known


def unchanged(tag: str) -> Response:
    """Return the answer to who has it already."""
    return Repeatable(status_code=304, headers=tagged(tag))


def tagged(tag: str) -> dict[str, str]:
    """Return the headers of an answer with a tag: to be kept, and asked for again each time."""
    return {"etag": tag, "cache-control": "private, no-cache"}


class KeptAnswer(NamedTuple):
    """The bytes of an answer, the same compressed, its headers and type."""

    plain: bytes
    small: bytes
    headers: Mapping[str, str]
    media_type: str = "application/json"

    @classmethod
    def of(
        cls, plain: bytes, headers: Mapping[str, str], media_type: str = "application/json"
    ) -> "KeptAnswer":
        """Return an answer, compressed once for all who take it so."""
        long = len(plain) >= _LEAST_GZIPPED
        small = gzip.compress(plain, _GZIP_LEVEL, mtime=0) if long else b""
        return cls(plain, small, headers, media_type)

    def given_to(self, request: Request) -> Response:
        """Return it as a caller takes it."""
        vary = [one for one in (self.headers.get("vary"), "accept-encoding") if one]
        headers = {**self.headers, "vary": ", ".join(vary)}
        if self.small and "gzip" in request.headers.get("accept-encoding", ""):
            headers["content-encoding"] = "gzip"
            return Repeatable(self.small, headers=headers, media_type=self.media_type)
        return Repeatable(self.plain, headers=headers, media_type=self.media_type)


class KeptAnswers:
    """Answers by their names, of so many bytes in all; the least recently used go first."""

    def __init__(self, most_bytes: int = 32 * 2**20) -> None:
        self._most = most_bytes
        self._bytes = 0
        self._kept: OrderedDict[tuple[str, ...], KeptAnswer] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: tuple[str, ...]) -> KeptAnswer | None:
        """Return an answer and mark it as used; None if it is not kept."""
        with self._lock:
            found = self._kept.get(name)
            if found is not None:
                self._kept.move_to_end(name)
            return found

    def put(self, name: tuple[str, ...], answer: KeptAnswer) -> None:
        """Keep an answer, if there is room at all."""
        size = len(answer.plain) + len(answer.small)
        with self._lock:
            if name in self._kept or size > self._most // 4:
                return
            self._kept[name] = answer
            self._bytes += size
            while self._bytes > self._most:
                _, gone = self._kept.popitem(last=False)
                self._bytes -= len(gone.plain) + len(gone.small)

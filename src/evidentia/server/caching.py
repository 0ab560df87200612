"""Answers that a caller may have already: entity tags, and requests that ask whether they hold."""

from fastapi import Request
from starlette.responses import Response


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
    return Response(status_code=304, headers=tagged(tag))


def tagged(tag: str) -> dict[str, str]:
    """Return the headers of an answer with a tag: to be kept, and asked for again each time."""
    return {"etag": tag, "cache-control": "private, no-cache"}

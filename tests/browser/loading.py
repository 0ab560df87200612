"""Pages that load the scripts of verification as if they were a server's, and nothing else."""

from pathlib import Path
from typing import Any, Final

SECURE: Final = "http://localhost"
"""Where the browser offers WebCrypto, though there is no TLS."""
PLAIN: Final = "http://verify.example"
"""Where it offers none."""
_TYPES: Final = {".js": "text/javascript", ".html": "text/html", ".css": "text/css"}


def serve(page: Any, folder: Path, origin: str = SECURE) -> None:
    """Let a page load the files of a folder from an origin, and open a page there."""

    def answer(route: Any) -> None:
        path = route.request.url.removeprefix(origin).partition("?")[0].lstrip("/")
        file = folder / path
        if not route.request.url.startswith(origin) or (path and not file.is_file()):
            route.abort()
        elif path:
            route.fulfill(body=file.read_bytes(), content_type=_TYPES[file.suffix])
        else:
            route.fulfill(body=b"<!doctype html><title>test</title>", content_type="text/html")

    page.route("**/*", answer)
    page.goto(f"{origin}/")

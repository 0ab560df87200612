"""Debian's Chromium, driven by Playwright: one for a run of the tests, and a place to load from."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

PROGRAM: Final = shutil.which("chromium")
ARGUMENTS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SECURE: Final = "http://localhost"
"""Where the browser offers WebCrypto, though there is no TLS."""
PLAIN: Final = "http://verify.example"
"""Where it offers none."""
_TYPES: Final = {".js": "text/javascript", ".html": "text/html", ".css": "text/css"}


@contextmanager
def chromium() -> Iterator[Any]:
    """Give a browser; where there is none, the test is skipped and says so."""
    if PROGRAM is None:
        pytest.skip("there is no chromium here: what a browser does was not tested")
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only where a browser is

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PROGRAM, args=list(ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


def serving(page: Any, folder: Path, origin: str = SECURE) -> None:
    """Let a page load the files of a folder as if they were the server's, and nothing else."""

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

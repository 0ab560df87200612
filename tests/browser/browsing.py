"""A real browser for tests: pages that fail on what goes wrong in them, and axe."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Final
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Page

from evidentia.server.callers import COOKIE
from evidentia.server.running import Running
from evidentia.server.viewing import LANGUAGE_COOKIE, THEME_COOKIE

CHROMIUM: Final = shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
LOOKS: Final = [(lang, theme) for lang in ("en", "ar") for theme in ("light", "dark")]
"""Every look of a page: its language, light or dark."""
_RULES: Final = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


@dataclass
class Reader:
    """Someone with a browser: opens pages of a server, and notes what goes wrong in them."""

    context: BrowserContext
    url: str
    wrong: list[str] = field(default_factory=list)

    def open(self, path: str, page: Page | None = None) -> Page:
        """Open a page of the server."""
        found = page or self.new_page()
        found.goto(f"{self.url}{path}")
        return found

    def new_page(self) -> Page:
        page = self.context.new_page()
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        page.on("request", self._asked)
        return page

    def _heard(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.wrong.append(f"console: {message.text}")

    def _asked(self, request: Any) -> None:
        if urlsplit(request.url).scheme in ("http", "https", "ws", "wss") and (
            urlsplit(request.url).netloc != urlsplit(self.url).netloc
        ):
            self.wrong.append(f"asked {request.url}")


@contextmanager
def reading(
    browser: Browser,
    url: str,
    running: Running,
    *,
    user: str | None = None,
    signed_in: bool = True,
    lang: str = "en",
    theme: str = "light",
    width: int = 1280,
    **more: Any,
) -> Iterator[Reader]:
    """Give a reader who is signed in (the owner, or a user); at the end nothing went wrong."""
    context = browser.new_context(viewport={"width": width, "height": 900}, **more)
    cookies = {LANGUAGE_COOKIE: lang, THEME_COOKIE: theme}
    if signed_in:
        value = [user, running.started if user is None else ""]
        cookies[COOKIE] = running.signed("cookie", value)
    context.add_cookies(
        [{"name": name, "value": value, "url": url} for name, value in cookies.items()]
    )
    reader = Reader(context, url)
    try:
        yield reader
    finally:
        context.close()
    assert reader.wrong == []


@cache
def _axe() -> str:
    return (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")


def axe(page: Page) -> list[str]:
    """Return what axe finds wrong with a page, by the rules of WCAG A and AA."""
    page.evaluate(_axe())  # not as a script of the page: the CSP forbids that, as it should
    found = page.evaluate(
        "tags => axe.run(document, {runOnly: {type: 'tag', values: tags}, "
        "resultTypes: ['violations']})",
        _RULES,
    )
    return [
        f"{one['id']}: {one['help']}: {node['html'][:200]} {node.get('failureSummary', '')[:300]}"
        for one in found["violations"]
        for node in one["nodes"]
    ]


def overflow(page: Page) -> int:
    """Return by how many pixels a page is wider than its window."""
    return int(
        page.evaluate(
            "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
    )

"""A browser and a server for it, both once for each module, and gone before other tests.

Playwright keeps an event loop running in the thread of the tests: what else runs one could not.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import partial

import pytest
from playwright.sync_api import Browser, sync_playwright

from browser.browsing import ARGUMENTS, CHROMIUM, Reader, reading
from places import Place
from server.house import House, furnish, listening, serving


@dataclass(frozen=True)
class Site:
    """A server that listens, with what is in it."""

    house: House
    url: str


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Give Chromium; where it is not installed, its tests are skipped, and say so."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: no page is tested in a browser")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield found
        found.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Give a server with evidence and people; tests of a worker share it."""
    furnished = Place(tmp_path_factory.mktemp("furnished-site") / "home")
    furnished.open()
    furnished.close()
    place = Place(tmp_path_factory.mktemp("site") / "home")
    with serving(place, furnish(furnished)) as house, listening(house.app) as url:
        yield Site(house, url)


@pytest.fixture
def read(browser: Browser, site: Site) -> Iterator[Callable[..., Reader]]:
    """Give what opens a browser on the server: `read(user=…, lang=…, theme=…, width=…)`.

    A test fails if a page writes an error to the console, or asks another server for anything.
    """
    begin: Callable[..., AbstractContextManager[Reader]] = partial(
        reading, browser, site.url, site.house.running
    )
    with ExitStack() as stack:

        def reader(**how: object) -> Reader:
            return stack.enter_context(begin(**how))

        yield reader

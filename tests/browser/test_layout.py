"""What every page has around it, in a browser."""

from collections.abc import Callable

import pytest

from browser.browsing import LOOKS, Reader, axe, overflow
from browser.conftest import Site

Read = Callable[..., Reader]


@pytest.mark.parametrize(("lang", "theme"), LOOKS)
def test_the_start_has_no_barrier_in_any_look(read: Read, lang: str, theme: str) -> None:
    page = read(lang=lang, theme=theme).open("/")
    assert axe(page) == []
    page.click("details.menu > summary")
    assert axe(page) == []
    page.set_viewport_size({"width": 320, "height": 640})
    assert overflow(page) <= 0


def test_the_language_is_switched_and_stays(read: Read) -> None:
    page = read().open("/")
    assert page.locator("html").get_attribute("dir") == "ltr"
    page.click("text=العربية")
    assert page.locator("html").get_attribute("dir") == "rtl"
    assert page.locator("h1").inner_text() == "البداية"
    page.reload()
    assert page.locator("html").get_attribute("lang") == "ar"


def test_the_colours_are_switched(read: Read) -> None:
    page = read(theme="auto").open("/")
    ground = "() => getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.click("details.menu > summary")
    page.click("button[value=dark]")
    assert page.evaluate(ground) != light


def test_the_first_tab_leads_past_the_header(read: Read) -> None:
    page = read().open("/")
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.id") == "main"


def test_shortcuts_are_shown_and_can_be_switched_off(read: Read) -> None:
    page = read().open("/")
    page.keyboard.press("?")
    assert page.locator("[data-keys]").is_visible()
    assert axe(page) == []
    page.keyboard.press("Escape")
    page.click("details.menu > summary")
    page.click("[data-shortcuts] input")
    page.reload()
    page.keyboard.press("?")
    assert not page.locator("[data-keys]").is_visible()


@pytest.mark.parametrize("lang", ["en", "ar"])
def test_who_is_not_signed_in_gets_a_page_that_says_how(read: Read, lang: str) -> None:
    page = read(lang=lang, signed_in=False).open("/sign-in")
    assert axe(page) == []
    assert page.locator("form[action='/sign-in/token']").is_visible()


def test_a_browser_signs_in_with_a_token(read: Read, site: Site) -> None:
    page = read(signed_in=False).open("/sign-in")
    page.fill("#token", site.house.tokens["viewer"])
    page.keyboard.press("Enter")
    page.wait_for_url("**/")
    assert "viewer" in page.locator(".menu > summary").inner_text()


def test_everything_is_there_without_scripts(read: Read) -> None:
    page = read(java_script_enabled=False).open("/")
    page.click("text=العربية")
    assert page.locator("h1").inner_text() == "البداية"

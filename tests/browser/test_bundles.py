"""The bundles in a browser: every look, hostile text, and the keyboard."""

from collections.abc import Callable

import pytest

from browser.browsing import LOOKS, Reader, axe, overflow
from browser.conftest import Site

Read = Callable[..., Reader]
HOSTILE = '"><img src=x onerror=window.ran=1><script>window.ran=1</script> \u202eevil'


@pytest.fixture(scope="module")
def bundles(site: Site) -> tuple[str, str]:
    """Give the ids of two bundles whose texts, metadata and runs are hostile."""
    evidence = [
        {"text": HOSTILE, "metadata": {HOSTILE: HOSTILE}},
        HOSTILE * 100,
        "Write to ann@example.com.",
        "Last.",
    ]
    limits = {"max_items": 3, "max_item_bytes": 2_000, "enable_redaction": True}
    built = site.house.workspace.bundles.build
    job = {"extra_params": {"evidence": evidence}}
    one, other = built(job, policy=limits), built(job, policy={"max_items": 1})
    site.house.workspace.bundles.record_run(HOSTILE, one.bundle_id)
    return one.bundle_id, other.bundle_id


@pytest.mark.parametrize(("lang", "theme"), LOOKS)
def test_the_pages_have_no_barrier_and_run_nothing_of_others(
    read: Read, bundles: tuple[str, str], lang: str, theme: str
) -> None:
    reader, (one, other) = read(lang=lang, theme=theme), bundles
    page = reader.new_page()
    paths = ("", "/inputs/inline:0", "/prompt", "/prompt?format=openai", "/diff", f"/diff/{other}")
    for path in ("/bundles", *(f"/bundles/{one}{path}" for path in paths)):
        reader.open(path, page)
        assert axe(page) == [], path
        assert page.evaluate("() => window.ran") is None, path
        page.set_viewport_size({"width": 320, "height": 640})
        assert overflow(page) <= 0, path
        page.set_viewport_size({"width": 1280, "height": 900})


def test_an_input_is_followed_with_the_keyboard(read: Read, bundles: tuple[str, str]) -> None:
    page = read(user="viewer").open(f"/bundles/{bundles[0]}")
    strip = page.locator("li[data-row] svg.strip").nth(1)
    assert strip.locator("rect").count() == 3  # the ground, what was kept, what was cut
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/inputs/inline:1")
    assert "2,000" in page.inner_text(".shares")

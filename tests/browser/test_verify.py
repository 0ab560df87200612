"""The viewer's page to verify files on, and the element that verifies a proof by its address."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, FilePayload

from browser.browsing import LOOKS, Reader, axe, overflow
from browser.conftest import Site
from browser.loading import serve
from evidentia.export.html.pages import saved_page
from proofs import KEY, make_proof, proof_bytes

PROOF: Final = FilePayload(name="proof.json", mimeType="", buffer=proof_bytes(make_proof()))
SCRIPTS: Final = Path(__file__).resolve().parents[2] / "src/evidentia/export/html/scripts"


@pytest.mark.parametrize(("lang", "theme"), LOOKS)
def test_a_file_is_verified_on_the_page_with_the_keyboard_alone(
    read: Callable[..., Reader], lang: str, theme: str
) -> None:
    page = read(user="viewer", lang=lang, theme=theme, width=320).open("/verify")
    page.focus("#ev-key")
    page.keyboard.type(str(KEY.verifier))
    page.set_input_files("#ev-file", PROOF)
    page.focus(".ev-field .ev-button")
    page.keyboard.press("Enter")
    page.locator(".ev-verdict.ev-good").wait_for()
    page.focus(".ev-path summary")
    page.keyboard.press("Enter")
    page.locator(".ev-tree").wait_for()
    assert axe(page) == []
    assert overflow(page) <= 0


def test_a_stranger_gets_the_page_to_be_saved_without_an_account(
    read: Callable[..., Reader], site: Site
) -> None:
    page = read().open("/verify")
    page.set_input_files("#ev-file", PROOF)
    page.locator(".ev-verdict.ev-open").wait_for()
    assert "come from the server" in page.inner_text(".ev-worth")
    assert page.locator("nav a[aria-current=page]").inner_text() == "Verify"
    with urlopen(f"{site.url}/verify/page.html") as answer:
        assert answer.read() == saved_page()
        assert "attachment" in answer.headers["content-disposition"]


def test_the_element_verifies_a_proof_by_its_address(browser: Browser, tmp_path: Path) -> None:
    for one in SCRIPTS.iterdir():
        (tmp_path / one.name).write_bytes(one.read_bytes())
    (tmp_path / "proof.html").write_bytes(proof_bytes(make_proof()))
    page: Any = browser.new_page()
    serve(page, tmp_path)
    page.evaluate(
        """async ([keys]) => {
          await import("/verify-here.js");
          const one = document.createElement("verify-here");
          one.setAttribute("src", "/proof.html");
          one.setAttribute("keys", keys);
          document.body.append(one);
        }""",
        [str(KEY.verifier)],
    )
    page.click("verify-here button")
    page.wait_for_selector("verify-here[verdict=holds]")
    page.evaluate("() => document.querySelector('verify-here').setAttribute('src', '/none')")
    page.click("verify-here button")
    page.locator("verify-here [role=alert]").wait_for()
    page.close()


def test_every_sentence_is_there_in_both_languages(browser: Browser) -> None:
    page: Any = browser.new_page()
    serve(page, SCRIPTS)
    words = page.evaluate("async () => (await import('/words.js')).WORDS")
    page.close()
    assert set(words["en"]) == set(words["ar"])
    for code, said in words["en"].items():
        places = [at for at in "01234" if f"{{{at}}}" in said]
        assert places == [at for at in "01234" if f"{{{at}}}" in words["ar"][code]], code
    codes = json.dumps(sorted(words["en"]))
    for used in _codes():
        assert f'"{used}"' in codes, used


def _codes() -> set[str]:
    """Return the codes that the scripts say, as far as they stand there as text."""
    found: set[str] = set()
    for name in ("verifying", "packs", "ledgers", "trail", "reading", "files"):
        source = (SCRIPTS / f"{name}.js").read_text()
        found |= set(re.findall(r'new Refused\("([a-z.]+)"', source))
        found |= set(re.findall(r'check(?:ed)?\("\w+", (?:true|false|null), "([a-z.]+)"', source))
        found |= set(re.findall(r'demand\([^\n]*?, "([a-z]+\.[a-z.]+)"', source))
    return found

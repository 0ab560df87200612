"""The trail and the library in a browser: every look, hostile text, and verifying an entry."""

from collections.abc import Callable, Iterator

import pytest

from browser.browsing import LOOKS, Reader, axe, overflow
from browser.conftest import Site
from evidentia import EvidenceRecord

Read = Callable[..., Reader]
HOSTILE = "\"><img src=x onerror=window.ran=1><script>window.ran=1</script>' \u202eevil"
PAGES = ("/trail", "/trail/checkpoints", "/trail/keys", "/documents?q=leave", "/documents")


@pytest.fixture(scope="module")
def entry(site: Site) -> Iterator[str]:
    """Give the address of an entry whose subject and body are hostile."""
    record = EvidenceRecord(
        obligation_id=HOSTILE,
        doc_id=HOSTILE,
        doc_filename=HOSTILE,
        page_number=12,
        source_clause=HOSTILE,
        extraction_model=HOSTILE,
        verification_model=HOSTILE,
        verification_result="CONFIRMED",
        confidence=0.9,
    )
    receipt = site.house.workspace.trail.append(record)
    name = "<img src=x onerror=window.ran=1>.md"
    text = "# <script>window.ran=1</script>\n\nLeave <img src=x onerror=window.ran=1> is so.\n"
    done = site.house.workspace.documents.add({name: text.encode()}, collection="<b>notes")
    yield f"/trail/entries/{receipt.seq}"
    site.house.workspace.documents.remove(done.documents[0], reason="the test is done")


@pytest.mark.parametrize(("lang", "theme"), LOOKS)
def test_the_pages_have_no_barrier_and_run_nothing_of_others(
    read: Read, entry: str, lang: str, theme: str
) -> None:
    reader = read(lang=lang, theme=theme)
    page = reader.new_page()
    for path in (*PAGES, entry, "/trail?about=nothing&since=soon"):
        reader.open(path, page)
        for fold in page.locator("details:not(.menu) > summary").all()[:4]:
            fold.click()
        assert axe(page) == [], path
        assert page.evaluate("() => window.ran") is None, path
        page.set_viewport_size({"width": 320, "height": 640})
        assert overflow(page) <= 0, path
        page.set_viewport_size({"width": 1280, "height": 900})
    reader.wrong.clear()  # the day that is none is answered with 422


def test_an_entry_is_found_and_verified_with_the_keyboard(
    read: Read, site: Site, entry: str
) -> None:
    page = read(user="viewer").open("/trail")
    page.keyboard.press("/")
    page.keyboard.type(HOSTILE)
    page.keyboard.press("Enter")
    page.locator("tr[data-row]").first.wait_for()
    assert page.locator("tr[data-row]").count() == 1
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{entry}")
    button = page.locator("verify-here button")
    button.focus()
    page.keyboard.press("Enter")
    page.locator("verify-here[verdict='consistent, signer unknown']").wait_for()
    page.fill("#own_key", str(site.house.workspace.trail.public_key()))
    button.focus()
    page.keyboard.press("Enter")
    page.locator("verify-here[verdict='holds']").wait_for()
    assert "come from the server" in page.inner_text(".verify-here")
    assert axe(page) == []


def test_a_proof_is_saved_and_the_tree_is_also_a_list(read: Read, entry: str) -> None:
    page = read(java_script_enabled=False).open(entry)
    hashes = page.locator("svg.tree .beside").count()
    page.click("text=The same as a list")
    assert page.locator(".proof-path li").count() == hashes + 1
    with page.expect_download() as saved:
        page.click("text=Save the proof")
    assert saved.value.suggested_filename.endswith(".proof.json")


def test_a_document_is_added_and_taken_out_again(read: Read) -> None:
    page = read().open("/documents")
    page.set_input_files(
        "#files", {"name": "browser.md", "mimeType": "text/markdown", "buffer": b"A zebra runs."}
    )
    page.fill("#into", "zoo")
    page.click("form[method=post] button.main")
    page.locator(".flash").wait_for()
    page.fill("#q", "zebra")
    page.keyboard.press("Enter")
    page.locator("mark", has_text="zebra").wait_for()
    page.goto(page.url.partition("?")[0])
    page.locator("tr", has_text="browser.md").get_by_text("Take out").click()
    page.fill("#reason", "the test is done")
    page.click("button.danger")
    page.locator(".flash").wait_for()
    assert page.locator("tr", has_text="browser.md").count() == 0

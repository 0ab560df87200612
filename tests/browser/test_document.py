"""A document in a browser: from a claim to its words and back, in every look, attacked."""

from collections.abc import Callable

import pytest

from browser.browsing import LOOKS, Reader, axe, overflow
from browser.conftest import Site
from pdf_writing import Line, pdf_bytes

Read = Callable[..., Reader]

NOTICE = [
    [Line("This is about leave."), Line("Notice is given in writing."), Line("A month is enough.")],
    [Line("The end of it.")],
]
SCRIPT = "<script>window.ran=1</script><img src=x onerror=window.ran=1>\"'>"
BOXES = """() => {
  const box = (one) => one.getBoundingClientRect();
  const words = [...document.querySelectorAll('.words tspan')].map((one) => [one, box(one)]);
  return [...document.querySelectorAll('.marks .cited')].map(box).map((mark) =>
    words.filter(([, one]) => {
      const x = (one.left + one.right) / 2, y = (one.top + one.bottom) / 2;
      return mark.left < x && x < mark.right && mark.top < y && y < mark.bottom;
    }).map(([one]) => one.textContent).join(' '));
}"""
EDGES = """() => {
  const mark = document.querySelector('.marks .cited').getBoundingClientRect();
  const [first, last] = ['Notice', 'writing.'].map((text) =>
    [...document.querySelectorAll('.words tspan')].filter((one) => one.textContent === text).at(-1)
      .getBoundingClientRect());
  return [mark.left - first.left, mark.right - last.right];
}"""


@pytest.fixture(scope="module")
def ledger(site: Site) -> str:
    """Check a claim against a PDF of the library; return the ledger."""
    workspace = site.house.workspace
    workspace.documents.add({"leave notice.pdf": pdf_bytes(NOTICE)}, collection="notices")
    answer = "Notice is given in writing."
    found = workspace.check(answer, library=True, collections=["notices"], judges=["quote"])
    return found.id


def followed(site: Site, ledger: str) -> str:
    [entry] = site.house.workspace.ledgers.get(ledger).entries
    passage = entry.evidence[0].passage
    assert passage is not None
    anchor = site.house.workspace.documents.anchor(passage.chunk_hash)
    document = passage.source.id.partition("@")[0]
    return f"/documents/{document}/passages/{anchor}?ledger={ledger}&claim=1"


@pytest.mark.parametrize("lang", ["en", "ar"])
def test_a_claim_is_followed_to_its_words_and_back_by_keyboard(
    read: Read, ledger: str, lang: str
) -> None:
    page = read(lang=lang).open(f"/ledgers/{ledger}")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_selector("tr.opened")
    for _ in range(20):
        page.keyboard.press("Tab")
        if "/passages/" in page.evaluate("() => document.activeElement.href ?? ''"):
            break
    page.keyboard.press("Enter")
    page.wait_for_selector(".marks .cited")
    assert page.evaluate(BOXES) == ["Notice is given in writing."]
    page.keyboard.press("?")
    assert "b" in page.locator("dialog[open] kbd").all_inner_texts()
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    page.wait_for_url("**page=2**")
    page.keyboard.press("m")
    page.wait_for_selector(".marks .cited")
    page.keyboard.press("b")
    page.wait_for_url(f"**/ledgers/{ledger}?claim=1#claim-1")
    assert page.locator("tr.opened").is_visible()


def test_the_mark_lies_over_the_words_and_they_can_be_copied(
    read: Read, site: Site, ledger: str
) -> None:
    """Also where the page is narrow, or seen larger."""
    reader = read()
    page = reader.new_page()
    for width, more in ((1280, ""), (320, ""), (1280, "&size=large")):
        page.set_viewport_size({"width": width, "height": 900})
        reader.open(followed(site, ledger) + more, page)
        assert page.evaluate(BOXES) == ["Notice is given in writing."]
        assert all(abs(apart) < 2 for apart in page.evaluate(EDGES))
        assert overflow(page) <= 0
    page.evaluate("() => getSelection().selectAllChildren(document.querySelector('.words'))")
    said = page.evaluate("() => getSelection().toString().trim().split(/ *\\n+/)")
    assert said == ["This is about leave.", "Notice is given in writing.", "A month is enough."]


@pytest.mark.parametrize(("lang", "theme"), LOOKS)
def test_a_document_has_no_barrier_in_any_look(
    read: Read, site: Site, ledger: str, lang: str, theme: str
) -> None:
    reader = read(lang=lang, theme=theme)
    page = reader.open(followed(site, ledger))
    page.click(".page-text > summary")
    assert axe(page) == []
    [leave] = [one for one in site.house.workspace.documents.list() if one.filename == "leave.md"]
    reader.open(f"/documents/{leave.id}", page)
    assert axe(page) == []


def test_nothing_in_a_document_runs_or_breaks_its_page(read: Read, site: Site) -> None:
    documents = site.house.workspace.documents
    name = "a<img src=x onerror=window.ran=1> \u0645.md"
    body = f"# {SCRIPT}\n\n{SCRIPT} \u202eback\u202c [x](javascript:alert(1)) {'A' * 3_000}\n\n"
    table = f"|{SCRIPT}|{'B' * 500}|\n|---|---|\n|c|d|\n"
    files = {name: (body + table).encode(), "bad.pdf": pdf_bytes([[Line(SCRIPT)]])}
    reader = read(width=320)
    page = reader.new_page()
    for document in documents.add(files, collection=SCRIPT.replace("/", "")[:80]).documents:
        documents.remove(document.id, reason=SCRIPT)
        chunk = documents.chunks(document)[0]
        address = f"/documents/{document.id}"
        for path in (address, f"{address}/passages/{documents.anchor(chunk.chunk_hash)}"):
            reader.open(path, page)
            assert page.evaluate("() => window.ran === undefined"), path
            assert overflow(page) <= 0, path
            assert page.locator("main [href^=javascript]").count() == 0

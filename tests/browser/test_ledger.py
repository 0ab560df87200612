"""The ledger and the pages around it in a browser: with the keyboard, in every look, attacked."""

from collections.abc import Callable

import pytest

import tiers
from browser.browsing import LOOKS, Reader, axe, overflow
from browser.conftest import Site

Read = Callable[..., Reader]

SCRIPT = "<script>window.ran=1</script><img src=x onerror=window.ran=1>\"'>"
HOSTILE = {
    "script": SCRIPT,
    "bidi": "It is \u202edeyap ton\u202c and \u2066so on",
    "long": "A" * 10_000,
    "zero width": "It\u200bis\u200b\ufeffpaid",
    "mixed": "الموظف Ann يستحق 15 يومًا of leave <b>bold</b>",
}


@pytest.fixture(scope="module")
def hostile(site: Site, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Check an answer in which every text attacks: its title, question, claims, and a document."""
    folder = tmp_path_factory.mktemp("hostile")
    heading = f"# {SCRIPT.replace('/', '')} heading\n\n"
    body = "\n\n".join(f"The office has {text} and 15 rooms." for text in HOSTILE.values())
    (folder / "a<img src=x onerror=alert(1)>.md").write_text(heading + body, encoding="utf-8")
    answer = "\n\n".join(f"The office has {text} and 15 rooms." for text in HOSTILE.values())
    ledger = site.house.workspace.check(
        f"{answer}\n\nThe office has 99 {SCRIPT} floors.",
        against=folder,
        query=f"What? {SCRIPT}",
        title=f"Title {SCRIPT} {HOSTILE['bidi']} {HOSTILE['long'][:300]}",
        judges=["quote", "numbers"],
    )
    claim = ledger.entries[0].claim_id
    site.house.workspace.ledgers.give_verdict(ledger.id, claim, "weak", reason=SCRIPT * 3)
    return ledger.id


@pytest.mark.parametrize(("lang", "theme"), LOOKS)
def test_a_ledger_has_no_barrier_in_any_look(read: Read, site: Site, lang: str, theme: str) -> None:
    page = read(lang=lang, theme=theme).open(f"/ledgers/{site.house.made['ledger_id']}?claim=1")
    assert axe(page) == []
    page.set_viewport_size({"width": 320, "height": 640})
    assert overflow(page) <= 0


@pytest.mark.parametrize(("lang", "theme"), LOOKS if tiers.is_whole() else [LOOKS[0], LOOKS[-1]])
@pytest.mark.parametrize(
    "path",
    [
        "/ledgers/{ledger}?verdict=weak&q=nowhere",
        "/ledgers/{ledger}/compare/{ledger}",
        "/answers",
        "/answers/new",
        "/access",
        "/access/tokens",
        "/access/log",
    ],
)
def test_a_page_has_no_barrier(read: Read, site: Site, path: str, lang: str, theme: str) -> None:
    page = read(lang=lang, theme=theme).open(path.format(ledger=site.house.made["ledger_id"]))
    assert axe(page) == []


def test_a_claim_is_followed_to_its_passage_with_the_keyboard_alone(read: Read, site: Site) -> None:
    page = read().open(f"/ledgers/{site.house.made['ledger_id']}")
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate("() => document.activeElement.id") == "claim-2"
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    page.wait_for_selector("tr.opened")
    assert "claim=1" in page.url
    assert axe(page) == []
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.href ?? ''").find("/passages/") > 0:
            break
    assert "/passages/" in page.evaluate("() => document.activeElement.href")
    page.locator("#claim-1").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("tr.opened", state="detached")


def test_search_has_a_key_and_the_answer_leads_to_its_rows(read: Read, site: Site) -> None:
    page = read().open(f"/ledgers/{site.house.made['ledger_id']}")
    page.keyboard.press("/")
    page.keyboard.type("telephone")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=telephone**")
    assert page.locator("tr[data-row]").count() == 1
    page.go_back()
    page.click(".answer a.c >> nth=1")
    assert page.evaluate("() => document.activeElement.id") == "claim-2"


def test_an_answer_is_checked_and_disagreed_with_by_keyboard_in_arabic(read: Read) -> None:
    page = read(lang="ar").open("/answers/new")
    page.focus("#answer")
    page.keyboard.type("Leave is requested in writing.")
    page.click("details.fold > summary")
    page.check("input[value=quote]")
    page.focus("button.main")
    page.keyboard.press("Enter")
    page.wait_for_url("**/ledgers/led_*")
    assert page.locator(".flash").inner_text() == "فُحصت الإجابة."
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.locator("tr.opened details.fold > summary").last.click()
    page.check("tr.opened input[value=weak]")
    page.fill("tr.opened textarea", "غير دقيق")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector(".flash")
    assert "غير دقيق" in page.locator("tr.opened").inner_text()


def test_long_work_is_followed_as_it_goes_on_and_cancelled_by_keyboard(
    read: Read, site: Site
) -> None:
    workspace = site.house.workspace
    for lang, theme in LOOKS:
        job = workspace.jobs.start("audit", {"quick": True})
        page = read(lang=lang, theme=theme).open(f"/jobs/{job.id}")
        assert (axe(page), page.locator("progress").count()) == ([], 1), (lang, theme)
        if lang == "en":
            workspace.jobs.cancel(job.id)  # as someone else does
        else:
            page.focus("form.actions button")
            page.keyboard.press("Enter")
        page.wait_for_selector("progress", state="detached")
        assert page.locator("a.button.main").count() == 1


def test_a_role_is_changed_with_the_keyboard(read: Read) -> None:
    page = read().open("/access")
    page.focus("#user")
    page.keyboard.type("keyboard user")
    page.keyboard.press("Tab")
    page.keyboard.type("Approver")
    page.focus("form[action='/access/members'] button")
    page.keyboard.press("Enter")
    page.wait_for_selector(".flash")
    row = page.locator("tr", has_text="keyboard user")
    assert "Approver" in row.inner_text()
    row.locator("summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=The role was taken away.")


def test_nothing_that_others_wrote_runs_or_breaks_a_page(
    read: Read, site: Site, hostile: str
) -> None:
    """The layout is measured where it is narrowest."""
    reader = read(width=320)
    page = reader.new_page()
    numbers = (1, 3, 6)
    site.house.workspace.access.grant(f"eve {SCRIPT}"[:200], "viewer")
    paths = [f"/ledgers/{hostile}?claim={number}" for number in numbers]
    paths += [
        "/",
        "/answers",
        f"/ledgers/{hostile}/compare/{site.house.made['ledger_id']}",
        f"/ledgers/{hostile}/compare",
        f"/answers?title={SCRIPT}",
        f"/ledgers/{hostile}?q={SCRIPT}",
        "/access",
    ]
    for path in paths:
        reader.open(path, page)
        assert page.evaluate("() => window.ran === undefined"), path
        assert overflow(page) <= 0, path
    reader.open(f"/ledgers/{hostile}", page)
    assert "U+202E" in page.locator("main").inner_text()


def test_a_ledger_works_without_scripts(read: Read, site: Site) -> None:
    page = read(java_script_enabled=False).open(f"/ledgers/{site.house.made['ledger_id']}")
    page.click("#claim-1 a")
    assert page.locator("tr.opened").is_visible()
    page.click(".chips a.supported")
    assert page.locator("tr[data-row]").count() == 1

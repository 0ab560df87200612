"""The component and the example that uses it, in a browser: answers stream with their evidence."""

import importlib.util
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

import tiers
from browser.browsing import LOOKS, Reader, axe, overflow
from server.house import listening

pytestmark = pytest.mark.sqlite_suffices

EXAMPLE = Path(__file__).parents[2] / "examples" / "chat" / "app.py"
QUESTIONS = {"en": "How much leave do I get?", "ar": "كم ساعة أعمل في الأسبوع؟"}
Visit = Callable[..., Page]


@pytest.fixture(scope="module")
def chat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    spec = importlib.util.spec_from_file_location("chat_app", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    home = tmp_path_factory.mktemp("chat") / "home"
    app = module.create_app(home, pause=0.01, judges=["quote", "numbers"])
    with listening(app) as url:
        yield url


@pytest.fixture
def visit(browser: Browser, chat: str) -> Iterator[Visit]:
    """Give what opens the example; nothing may go wrong in it, or be asked elsewhere."""
    readers: list[Reader] = []
    with ExitStack() as stack:

        def opened(path: str = "/", width: int = 1000, **how: Any) -> Page:
            context = browser.new_context(viewport={"width": width, "height": 900}, **how)
            stack.callback(context.close)
            readers.append(Reader(context, chat))
            return readers[-1].open(path)

        yield opened
        assert [wrong for one in readers for wrong in one.wrong] == []


def ask(page: Page, question: str) -> None:
    page.fill("#question", question)
    page.keyboard.press("Enter")
    page.wait_for_selector(".told")


def show(page: Page, claim: dict[str, Any]) -> None:
    """Put a citation of a claim on the page, before all else."""
    page.evaluate(
        "claim => { const one = document.createElement('evidentia-citation');"
        " one.textContent = 'a claim'; one.claim = claim; document.body.prepend(one); }",
        claim,
    )


@pytest.mark.parametrize(
    ("lang", "theme"), tiers.sample([LOOKS[0], LOOKS[1], LOOKS[3], LOOKS[2]], 2)
)
def test_an_answer_streams_and_its_claims_get_verdicts(visit: Visit, lang: str, theme: str) -> None:
    page = visit(f"/?lang={lang}", color_scheme=theme)
    ask(page, QUESTIONS[lang])
    found = page.eval_on_selector_all(
        "evidentia-citation", "all => all.map(one => [one.claim.state, one.claim.verdict])"
    )
    verdicts = [verdict for _, verdict in found]
    assert {state for state, _ in found} == {"final"}
    assert {"supported", "contradicted"} <= set(verdicts)
    assert axe(page) == []
    page.locator("evidentia-citation[verdict=contradicted] #b").first.click()
    panel = page.locator("evidentia-citation[verdict=contradicted] #p").first
    assert panel.is_visible()
    assert {"en": "✗ Contradicted", "ar": "✗ متناقض"}[lang] in panel.inner_text()
    assert panel.locator("mark").count() > 0
    assert panel.get_attribute("dir") == {"en": "ltr", "ar": "rtl"}[lang]
    assert axe(page) == []


def test_a_citation_is_opened_and_closed_by_the_keyboard(visit: Visit) -> None:
    page = visit()
    ask(page, QUESTIONS["en"])
    first = page.locator("evidentia-citation").first
    button, panel = first.locator("#b"), first.locator("#p")
    button.focus()
    named = button.get_attribute("aria-label")
    assert named is not None
    assert named.startswith("Supported: All permanent employees")
    page.keyboard.press("Enter")
    assert panel.is_visible()
    focused = "() => document.activeElement.shadowRoot?.activeElement?.id"
    back = f"() => ({focused})() === 'b'"
    page.wait_for_function(f"() => ({focused})() === 'p'")
    assert "HR_Policy.pdf" in panel.inner_text()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # the closing button
    assert not panel.is_visible()
    page.wait_for_function(back)
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    assert not panel.is_visible()
    page.wait_for_function(back)


def test_it_fits_a_narrow_window_and_twice_the_size(visit: Visit) -> None:
    page = visit(width=320)
    ask(page, QUESTIONS["en"])
    page.evaluate("() => { document.documentElement.style.fontSize = '200%' }")
    page.locator("evidentia-citation #b").first.click()
    box = page.locator("evidentia-citation #p").first.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 320
    assert overflow(page) <= 0


def test_forced_colours_leave_a_border_and_a_mark(visit: Visit) -> None:
    page = visit(forced_colors="active")
    show(page, {"verdict": "weak", "support": "probable", "text": "x", "passages": []})
    button = page.locator("evidentia-citation #b").first
    assert button.inner_text() == "?"
    assert button.evaluate("one => getComputedStyle(one).borderTopStyle") == "solid"
    assert button.get_attribute("title") == "Probable"


HOSTILE = "<img src=x onerror='document.title=`owned`'><script>document.title='owned'</script>"


def test_hostile_text_is_text(visit: Visit) -> None:
    page = visit()
    ask(page, HOSTILE)
    passage = {
        "stance": "__proto__", "text": f"{HOSTILE}!", "quote": HOSTILE, "says": HOSTILE,
        "filename": HOSTILE, "page": HOSTILE, "heading": "\u202ereversed",
    }  # fmt: skip
    show(page, {"verdict": "constructor", "text": HOSTILE, "passages": [passage, {}]})
    page.locator("evidentia-citation #b").first.click()
    assert page.title() == "Meridian assistant"
    panel = page.locator("evidentia-citation #p").first
    assert panel.locator("mark").inner_text() == HOSTILE
    assert panel.locator("img, script").count() == 0
    assert page.locator("#talk img, #talk script").count() == 0


def test_attributes_say_what_a_claim_says(visit: Visit) -> None:
    page = visit()
    told = {"verdict": "supported", "confidence": 0.91, "text": "Leave", "passages": []}
    page.evaluate(
        "told => { const made = () => document.createElement('evidentia-citation');"
        " const one = made(), two = made(); one.setAttribute('data-claim', told);"
        " for (const [key, value] of Object.entries({verdict:"
        " 'contradicted', claim: 'Hotels', confidence: '0.8', passage: 'Up to $150.', source:"
        " 'Travel.md', page: '2'})) two.setAttribute(key, value);"
        " document.body.prepend(one, two); }",
        json.dumps(told),
    )
    texts = []
    for place in (0, 1):
        page.locator("evidentia-citation #b").nth(place).click()
        texts.append(page.locator("evidentia-citation #p").nth(place).inner_text())
        page.keyboard.press("Escape")
    assert "✓ Supported" in texts[0]
    assert "Confidence 91%" in texts[0]
    assert "No passage bears on it." in texts[0]
    for said in ("Hotels", "Contradicts it", "Up to $150.", "Travel.md · page 2"):
        assert said in texts[1]


def test_a_verdict_that_is_no_text_raises_nothing_into_the_page(visit: Visit) -> None:
    page = visit()
    page.evaluate(
        "() => { const one = document.createElement('evidentia-citation');"
        " one.claim = { verdict: 5, text: 'a claim' }; document.body.prepend(one); }"
    )
    assert page.locator("evidentia-citation").first.get_attribute("verdict") == "5"


def test_a_ledger_of_a_server_is_read_from_this_origin_alone(visit: Visit) -> None:
    page = visit()
    passage = {"snippet": "Leave is 15 days.", "source": {"filename": "a.pdf", "page_number": 3}}
    match = {"contradicts": False, "support_level": "full", "snippet": "15 days", "says": ""}
    entry = {
        "verdict": "supported", "support": None, "confidence_score": 0.9,
        "evidence": [{**match, "passage": passage}],
    }  # fmt: skip
    claims = [
        {
            "claim": {"id": "clm_1", "text": "One"},
            "entry": {**entry, "evidence": [], "nearest": passage},
        },
        {"claim": {"id": "clm_2", "text": "Two"}, "entry": entry},
    ]
    page.route("**/claims", lambda route: route.fulfill(json={"claims": claims}))
    page.evaluate(
        "() => { for (const src of ['/l/claims#clm_2', '/l/claims', 'https://other.example/claims',"
        " 'data:application/json,{}']) { const one = document.createElement('evidentia-citation');"
        " one.setAttribute('src', src); document.body.append(one); } }"
    )
    page.wait_for_function(
        "() => [...document.querySelectorAll('evidentia-citation')].every(one => one.claim.verdict)"
    )
    read = page.eval_on_selector_all("evidentia-citation", "all => all.map(one => one.claim)")
    assert [one.get("text") for one in read] == ["Two", "One", None, None]
    assert read[0]["passages"][0]["page"] == 3
    assert read[1]["passages"][0]["stance"] == "nearest"
    assert [one.get("failed") for one in read] == [None, None, True, True]


def test_the_component_is_at_most_ten_kilobytes() -> None:
    component = files("evidentia.server") / "static" / "evidentia-citation.js"
    assert len(component.read_bytes()) <= 10_000

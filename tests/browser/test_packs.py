"""Reviewing packs in a browser: with the keyboard alone, in both languages, and nothing runs."""

import re
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from playwright.sync_api import Page

from browser.browsing import LOOKS, Reader, axe, overflow
from browser.conftest import Site
from evidentia.packs.model import EvidencePack, PromptRecord
from evidentia.packs.tools import ToolCallRecord
from packing import decision, make_pack, memo, memo_fields

Read = Callable[..., Reader]
HOSTILE = (
    "\"><img src=x onerror=window.ran=1><script>window.ran=1</script>' onmouseover=window.ran=1 "
    "</textarea><svg onload=window.ran=1> {{ 7*7 }} javascript:window.ran=1 "
)
_NUMBERS = count(1_000)


def pack_of(site: Site, **changes: Any) -> EvidencePack:
    return make_pack(site.house.workspace, next(_NUMBERS), **changes)


def contradicting(site: Site) -> EvidencePack:
    """Return a pack with a call that did something else than it was meant to."""
    number = next(_NUMBERS)
    call = {
        "tool_name": "mail.draft",
        "intended_action": "save a draft",
        "actual_action": "sent the mail",
        "outputs": {"id": "7"},
    }
    site.house.workspace.tools.record(f"dec_{number}", ToolCallRecord.model_validate(call))
    return make_pack(site.house.workspace, number)


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until what is meant has the focus."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"Tab does not lead to {selector}")


@pytest.mark.parametrize(
    ("lang", "done"),
    [("en", "Rejected. Your review was recorded."), ("ar", "تم الرفض وسُجِّلت مراجعتك.")],
)
def test_a_pack_is_reviewed_with_the_keyboard_alone(
    read: Read, site: Site, lang: str, done: str
) -> None:
    pack = contradicting(site)
    page = read(user="approver", lang=lang).open("/packs")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/packs/{pack.pack_id}")
    assert page.locator(".call.flagged").count() == 1
    page.keyboard.press("3" if lang == "en" else "2")
    page.wait_for_url("**memo=*")
    assert page.locator(".memo article").count() == 1
    assert page.locator(".memo article").get_attribute("dir") == ("rtl" if lang == "en" else "ltr")
    page.keyboard.press("r")
    tab_to(page, "#reject-note")
    page.keyboard.type("A mail went out.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector(".flash")
    assert page.locator(".flash").inner_text() == done
    versions = site.house.workspace.packs.versions(pack.pack_id)
    assert [one.outcome for one in versions] == ["awaiting review", "rejected"]
    page.keyboard.press("q")
    page.wait_for_url("**/packs")
    assert page.locator(f"a[href='/packs/{versions[-1].id}']").count() == 0


@pytest.mark.parametrize(("lang", "theme"), LOOKS)
def test_no_page_of_packs_has_a_barrier_in_any_look(
    read: Read, site: Site, lang: str, theme: str
) -> None:
    here = site.house.workspace
    first = contradicting(site)
    changed = memo_fields() | {"body_en": "It fits [1], [2].", "body_ar": "الشركة مناسبة [1] [2]."}
    here.packs.assign(first.pack_id, "approver", due="2026-03-01T12:00:00Z")
    reader = read(user="admin", lang=lang, theme=theme)
    page = reader.open(f"/packs/{first.pack_id}")
    newer = here.packs.revise(first.pack_id, {"memo": changed})
    for form in page.locator("details").all():
        form.evaluate("one => { one.open = true; }")
    assert axe(page) == []
    page.fill("#reject-note", "No.")
    page.click("button[value=rejected]")
    page.wait_for_load_state()
    assert page.locator(".changes ins").count() > 0  # another version came: refused, and shown
    assert page.locator("#reject-note").input_value() == "No."
    assert axe(page) == []
    reader.wrong.clear()  # a page with status 409 is an error to the console
    paths = (
        "/packs",
        "/packs?of=mine",
        "/packs?of=every",
        "/packs/keeping",
        f"/packs/{newer.pack_id}/modify",
        f"/packs/{first.pack_id}/compare/{newer.pack_id}",
        f"/packs/{first.pack_id}",
    )
    for path in paths:
        reader.open(path, page)
        assert axe(page) == [], path
        page.set_viewport_size({"width": 320, "height": 640})
        assert overflow(page) <= 0, path
        page.set_viewport_size({"width": 1280, "height": 900})
    here.packs.review(newer.pack_id, "approved")


@pytest.mark.parametrize("lang", ["en", "ar"])
def test_hostile_text_of_a_pack_does_nothing(read: Read, site: Site, lang: str) -> None:
    here, number = site.house.workspace, next(_NUMBERS)
    call = {
        "tool_name": HOSTILE[:200],
        "intended_action": HOSTILE,
        "actual_action": f"{HOSTILE} twice",
        "inputs": {HOSTILE: [HOSTILE]},
        "side_effects": [HOSTILE],
        "outcome": "failed",
        "error": HOSTILE,
    }
    hostile = f"{HOSTILE} عربي [1] [2] \u202e"
    texts = dict.fromkeys(memo_fields(), hostile)
    fields: dict[str, Any] = {
        "decision": HOSTILE,
        "decision_ar": HOSTILE,
        "entity_id": HOSTILE,
        "agent_name": HOSTILE,
        "model": HOSTILE,
        "model_version": HOSTILE,
        "evidence": [
            {
                "source": f"file {HOSTILE}",
                "uri": f"javascript:{HOSTILE}",
                "excerpt": HOSTILE,
                "confidence": 0.5,
                "retrieved_at": "2026-03-01T10:00:00Z",
            }
        ]
        * 2,
    }
    decided = decision(number, tenant_id=here.tenant, **fields)
    here.tools.record(decided.decision_id, ToolCallRecord.model_validate(call))
    here.tools.offer(decided.decision_id, HOSTILE)
    prompt = PromptRecord(
        template_name=HOSTILE, template_version=HOSTILE, content_hash="sha256:" + "0" * 64
    )
    pack = here.packs.assemble(
        decided, memo=memo(**texts), prompts=[prompt], attachments={f"{HOSTILE[:60]}.txt": b"x"}
    )
    here.packs.assign(pack.pack_id, HOSTILE)
    here.packs.hold(pack.pack_id, reason=HOSTILE)
    changed = texts | {"title_en": f"{hostile} again"}
    newer = here.packs.modify(pack.pack_id, {"memo": changed}, note=HOSTILE)
    reader = read(lang=lang)
    page = reader.new_page()
    for path in (
        "/packs?of=every",
        "/packs/keeping",
        f"/packs/{pack.pack_id}",
        f"/packs/{newer.pack_id}",
        f"/packs/{newer.pack_id}/modify",
        f"/packs/{pack.pack_id}/compare/{newer.pack_id}",
    ):
        reader.open(path, page)
        for one in page.locator("details").all():
            one.evaluate("one => { one.open = true; }")
        assert page.evaluate("() => window.ran") is None, path
        assert page.locator("main img, main script, [onerror], [onload]").count() == 0, path
        assert page.locator("a[href^='javascript:' i]").count() == 0, path
    shown = page.content()
    assert "49" not in re.findall(r"\{\{ 7\*7 \}\}|\b49\b", shown)
    assert page.locator(".unseen").count() > 0


def test_a_pack_is_modified_without_scripts(read: Read, site: Site) -> None:
    pack = pack_of(site)
    reader = read(user="approver", java_script_enabled=False)
    page = reader.open(f"/packs/{pack.pack_id}")
    page.click("text=Modify and approve")
    page.fill("#title_en", "A better title")
    page.fill("#note", "It says more.")
    page.click("button[value=approved]")
    assert page.locator("h1").inner_text() == "A better title"
    assert "Modified and approved" in page.locator(".flash").inner_text()

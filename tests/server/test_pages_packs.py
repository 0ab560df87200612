"""The pages of packs: what their forms do, to whom they are shown, and what they refuse."""

import re
from typing import Any

import pytest

from evidentia.packs.tools import ToolCallRecord
from evidentia.proof.verification import Verdict
from evidentia.server.callers import COOKIE
from evidentia.server.pages.packs_difference import changed_words, differences
from evidentia.verifying import verify
from packing import make_pack, memo, memo_fields, tool_call
from server.house import House

HTML = {"accept": "text/html"}


def page(house: House, path: str, who: str = "approver", lang: str = "en") -> str:
    found = house.get(path, who, headers=HTML | {"cookie": f"evidentia_lang={lang}"})
    assert found.status_code == 200, found.text
    return str(found.text)


def sent(house: House, path: str, who: str = "approver", **fields: Any) -> Any:
    return house.post(path, who, headers=HTML, data=fields)


def owner(house: House, method: str, path: str, **fields: Any) -> Any:
    """Ask as the owner of the workspace, who has a cookie and no token."""
    value = house.running.signed("cookie", [None, house.running.started])
    headers = HTML | {"cookie": f"{COOKIE}={value}", "sec-fetch-site": "same-origin"}
    return house.client.request(method, path, headers=headers, data=fields)


def newest(house: House, pack_id: str) -> Any:
    return house.workspace.packs.get(house.workspace.packs.versions(pack_id)[-1].id)


# Reviewing


def test_an_approval_is_recorded_in_the_name_of_who_read_it(sqlite_house: House) -> None:
    pack_id = sqlite_house.made["pack_id"]
    answer = sent(sqlite_house, f"/packs/{pack_id}/review", outcome="approved", note="Yes.\r\nNow")
    made = newest(sqlite_house, pack_id)
    assert answer.status_code == 303
    assert answer.headers["location"] == f"/packs/{made.pack_id}"
    assert (made.reviewer_id, made.review_note) == ("approver", "Yes.\nNow")
    text = page(sqlite_house, f"/packs/{made.pack_id}")
    assert "Approved" in text
    assert "Version 2 of 2" in text
    assert pack_id not in page(sqlite_house, "/packs")


def test_a_rejection_without_a_reason_is_asked_for_one(sqlite_house: House) -> None:
    pack_id = sqlite_house.made["pack_id"]
    answer = sent(sqlite_house, f"/packs/{pack_id}/review", outcome="rejected", note=" ")
    assert answer.status_code == 422
    assert "Say why: a decision needs its reason." in answer.text
    assert newest(sqlite_house, pack_id).version == 1
    sent(sqlite_house, f"/packs/{pack_id}/review", outcome="rejected", note="Too old.")
    assert newest(sqlite_house, pack_id).review_outcome == "rejected"


def test_a_decision_on_an_older_version_is_refused_and_the_difference_shown(
    sqlite_house: House,
) -> None:
    pack_id = sqlite_house.made["pack_id"]
    changed = memo_fields() | {"body_en": "The company fits [1] and is very large [2]."}
    newer = sqlite_house.workspace.packs.revise(pack_id, {"memo": changed})
    answer = sent(sqlite_house, f"/packs/{pack_id}/review", outcome="approved", note="<b>I</b>")
    assert answer.status_code == 409
    assert "Your decision was not recorded." in answer.text
    assert re.search(r"<ins>.*very", answer.text)
    assert "&lt;b&gt;I&lt;/b&gt;" in answer.text
    assert f'action="/packs/{newer.pack_id}/review"' in answer.text
    assert newest(sqlite_house, pack_id) == newer


def test_who_made_a_version_is_told_that_someone_else_reviews_it(sqlite_house: House) -> None:
    mine = make_pack(sqlite_house.workspace.acting_as("approver"), 5).pack_id
    text = page(sqlite_house, f"/packs/{mine}")
    assert "You made this version. Someone else has to review it." in text
    assert f'action="/packs/{mine}/review"' not in text
    assert f'action="/packs/{mine}/review"' in page(sqlite_house, f"/packs/{mine}", "admin")
    answer = sent(sqlite_house, f"/packs/{mine}/review", outcome="approved")
    assert answer.status_code == 403
    assert newest(sqlite_house, mine).version == 1


def test_the_owner_reviews_their_own_and_the_page_says_so(sqlite_house: House) -> None:
    pack_id = sqlite_house.made["pack_id"]
    asked = owner(sqlite_house, "GET", f"/packs/{pack_id}").text
    assert "your review will be recorded as a self-review" in asked
    owner(sqlite_house, "POST", f"/packs/{pack_id}/review", outcome="approved")
    made = newest(sqlite_house, pack_id).pack_id
    assert "Self-review" in page(sqlite_house, f"/packs/{made}", "viewer")


def test_a_pack_is_modified_and_approved_in_one_go(sqlite_house: House) -> None:
    pack_id = sqlite_house.made["pack_id"]
    sqlite_house.workspace.tools.record("dec_1", tool_call())
    assert "1 tool call was recorded after" in page(sqlite_house, f"/packs/{pack_id}/modify")
    typed = memo_fields() | {"title_en": "Better", "note": "The title was dull."}
    answer = sent(sqlite_house, f"/packs/{pack_id}/modify", **typed)
    made = newest(sqlite_house, pack_id)
    assert answer.headers["location"] == f"/packs/{made.pack_id}"
    assert (made.version, made.memo.title_en, made.review_outcome) == (3, "Better", "approved")
    assert len(made.tool_calls) == 1
    assert "Modified and approved by" in page(sqlite_house, f"/packs/{made.pack_id}")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"note": ""}, "Say why"),
        ({"body_en": "No reference."}, "evidence item 1 is not referred to"),
        ({"executive_summary_en": "word " * 121}, "121 words"),
    ],
)
def test_what_cannot_be_recorded_is_shown_as_it_was_typed(
    sqlite_house: House, change: dict[str, str], said: str
) -> None:
    pack_id = sqlite_house.made["pack_id"]
    typed = memo_fields() | {"title_en": "As typed", "note": "Why not."} | change
    answer = sent(sqlite_house, f"/packs/{pack_id}/modify", **typed)
    assert answer.status_code == 422
    assert said in answer.text
    assert "As typed</textarea>" in answer.text
    assert newest(sqlite_house, pack_id).version == 1


def test_a_change_of_an_older_version_keeps_what_was_typed(sqlite_house: House) -> None:
    pack_id = sqlite_house.made["pack_id"]
    changed = memo_fields() | {"title_en": "Theirs"}
    newer = sqlite_house.workspace.packs.revise(pack_id, {"memo": changed}).pack_id
    typed = memo_fields() | {"title_en": "Mine", "note": "Why not."}
    answer = sent(sqlite_house, f"/packs/{pack_id}/modify", **typed)
    assert answer.status_code == 409
    assert re.search(r"<ins>.*Theirs</ins>", answer.text)
    assert "Mine</textarea>" in answer.text
    assert f'action="/packs/{newer}/modify"' in answer.text


def test_a_maker_records_a_newer_version_that_someone_else_reviews(sqlite_house: House) -> None:
    mine = make_pack(sqlite_house.workspace.acting_as("approver"), 6).pack_id
    same = sent(sqlite_house, f"/packs/{mine}/modify", **memo_fields(), keep="open")
    assert same.status_code == 422
    typed = memo_fields() | {"title_en": "Newer", "keep": "open"}
    assert sent(sqlite_house, f"/packs/{mine}/modify", **typed).status_code == 303
    made = newest(sqlite_house, mine)
    assert (made.version, made.memo.title_en, made.reviewer_id) == (2, "Newer", None)
    again = memo_fields() | {"title_en": "Newest", "note": "Mine."}
    refused = sent(sqlite_house, f"/packs/{made.pack_id}/modify", **again)
    assert refused.status_code == 403
    assert "Newest</textarea>" in refused.text


# The queue


def test_an_assigned_review_is_in_the_queue_of_who_is_to_make_it(sqlite_house: House) -> None:
    pack_id = sqlite_house.made["pack_id"]
    assert "Nothing awaits your review" in page(sqlite_house, "/packs?of=mine")
    sent(sqlite_house, f"/packs/{pack_id}/assign", "admin", assignee="approver", due="2026-03-02")
    assert pack_id in page(sqlite_house, "/packs?of=mine")
    assert "Nothing awaits your review" in page(sqlite_house, "/packs?of=mine", "admin")
    assert pack_id in page(sqlite_house, "/packs?of=overdue", "admin")  # the clock is past it
    wrong = sent(sqlite_house, f"/packs/{pack_id}/assign", assignee="admin", due="2026-02-31")
    assert wrong.status_code == 422
    assert 'value="2026-02-31"' in wrong.text
    sent(sqlite_house, f"/packs/{pack_id}/assign", assignee="")
    assert "Nothing awaits your review" in page(sqlite_house, "/packs?of=mine")


def test_the_queue_comes_in_pages(sqlite_house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evidentia.server.pages.packs.ROWS", 1)
    other = make_pack(sqlite_house.workspace, 7).pack_id
    first = page(sqlite_house, "/packs")
    assert other in first
    assert sqlite_house.made["pack_id"] not in first
    following = re.search(r'rel="next" href="([^"]+)"', first)
    assert following is not None
    assert sqlite_house.made["pack_id"] in page(sqlite_house, following[1].replace("&amp;", "&"))
    assert other in page(sqlite_house, "/packs?of=every&outcome=awaiting+review")
    assert "No pack is like this" in page(sqlite_house, "/packs?of=every&outcome=rejected")


def test_a_pack_leads_to_the_next_that_awaits_a_review(sqlite_house: House) -> None:
    first = sqlite_house.made["pack_id"]
    assert 'data-key="n"' not in page(sqlite_house, f"/packs/{first}")  # it is the only one
    second = make_pack(sqlite_house.workspace, 10).pack_id
    assert f'href="/packs/{first}" data-key="n"' in page(sqlite_house, f"/packs/{second}")
    assert f'href="/packs/{second}" data-key="n"' in page(sqlite_house, f"/packs/{first}")
    done = sqlite_house.workspace.packs.review(second, "approved").pack_id
    assert f'href="/packs/{first}" data-key="n"' in page(sqlite_house, f"/packs/{done}")


# Keeping and exporting


def test_a_hold_is_put_on_and_ended_with_reasons(sqlite_house: House) -> None:
    pack_id = sqlite_house.made["pack_id"]
    assert f"/packs/{pack_id}/hold" not in page(sqlite_house, f"/packs/{pack_id}", "approver")
    refused = sent(sqlite_house, f"/packs/{pack_id}/hold", "admin", reason=" ")
    assert refused.status_code == 422
    sent(sqlite_house, f"/packs/{pack_id}/hold", "admin", reason="Case 12")
    assert "Case 12" in page(sqlite_house, f"/packs/{pack_id}", "viewer")
    assert "Case 12" in page(sqlite_house, "/packs/keeping", "viewer")
    sent(sqlite_house, f"/packs/{pack_id}/release", "admin", reason="Closed")
    assert sqlite_house.workspace.packs.held() == {}


def test_packs_are_removed_when_their_retention_has_ended(sqlite_house: House) -> None:
    assert sent(sqlite_house, "/packs/keeping/sweep").status_code == 403
    sent(sqlite_house, "/packs/keeping/retention", "admin", years="1", basis="a contract")
    assert "Packs are kept for 1 year." in page(sqlite_house, "/packs/keeping", "viewer")
    sqlite_house.clock.pass_years(0.9)
    token = sqlite_house.workspace.access.new_token("admin").text
    sqlite_house.tokens = sqlite_house.tokens | {"later": token}
    sqlite_house.clock.pass_years(0.2)
    assert "1 pack need not be kept any longer." in page(sqlite_house, "/packs/keeping", "later")
    sent(sqlite_house, "/packs/keeping/sweep", "later")
    assert sqlite_house.workspace.packs.list() == []


def test_an_export_uses_its_approval_once(sqlite_house: House) -> None:
    pack_id = sqlite_house.made["pack_id"]
    assert "An export needs an approval" in page(sqlite_house, f"/packs/{pack_id}")
    sent(sqlite_house, f"/packs/{pack_id}/export-approvals", approval_class="A2", note="For Ann")
    text = page(sqlite_house, f"/packs/{pack_id}")
    assert "For Ann" in text
    entry = re.search(r'name="approval" value="(\d+)"', text)
    assert entry is not None
    exported = sent(sqlite_house, f"/packs/{pack_id}/export", form="json", approval=entry[1])
    assert exported.headers["content-disposition"] == f'attachment; filename="{pack_id}.json"'
    assert verify(exported.content).verdict is Verdict.SIGNER_UNKNOWN
    again = sent(sqlite_house, f"/packs/{pack_id}/export", form="json", approval=entry[1])
    assert again.status_code == 403
    assert sent(sqlite_house, f"/packs/{pack_id}/export", form="exe").status_code == 422


# Reading


def test_versions_are_compared_only_with_those_of_the_same_pack(sqlite_house: House) -> None:
    pack_id = sqlite_house.made["pack_id"]
    other = make_pack(sqlite_house.workspace, 8).pack_id
    assert "They say the same." in page(sqlite_house, f"/packs/{pack_id}/compare/{pack_id}")
    assert sqlite_house.get(f"/packs/{pack_id}/compare/{other}", headers=HTML).status_code == 404


def test_the_memo_is_shown_in_the_languages_that_are_asked_for(sqlite_house: House) -> None:
    pack_id = sqlite_house.made["pack_id"]
    both = page(sqlite_house, f"/packs/{pack_id}")
    assert both.index('<article lang="en" dir="ltr"') < both.index('<article lang="ar" dir="rtl"')
    arabic = page(sqlite_house, f"/packs/{pack_id}?memo=ar", lang="ar")
    assert '<article lang="en"' not in arabic
    assert '<a class="ref" dir="ltr" href="#source-2">[2]</a>' in arabic


def test_a_pack_tells_what_its_tools_did_otherwise(sqlite_house: House) -> None:
    call = {
        "tool_name": "mail.draft",
        "intended_action": "save a draft",
        "actual_action": "sent the mail",
        "outputs": {"<script>": "x"},
    }
    sqlite_house.workspace.tools.record("dec_9", ToolCallRecord.model_validate(call))
    made = make_pack(sqlite_house.workspace, 9)
    text = page(sqlite_house, f"/packs/{made.pack_id}", "viewer")
    assert "1 contradiction" in text
    assert 'class="call flagged"' in text
    assert "&lt;script&gt;" in text


# What differs


def test_words_that_differ_are_told_from_words_that_stay() -> None:
    found = changed_words("Packs are kept for 7 years.", "Packs are kept for ten long years.")
    assert [(one.kind, one.text) for one in found] == [
        ("same", "Packs are kept for "),
        ("gone", "7"),
        ("new", "ten long"),
        ("same", " years."),
    ]
    assert changed_words("a", "a") == changed_words("a", "a")
    assert [one.kind for one in changed_words("", "new")] == ["new"]
    arabic = changed_words("يُقدَّم العرض غدًا", "يُقدَّم العرض اليوم")
    assert [one.text for one in arabic] == ["يُقدَّم العرض ", "غدًا", "اليوم"]


def test_texts_too_long_to_compare_are_shown_whole() -> None:
    found = changed_words("a " * 5_000, "b")
    assert [one.kind for one in found] == ["gone", "new"]


def test_the_pieces_of_a_difference_are_both_texts() -> None:
    old, new = "One two  three. Four", "Zero two three four"
    found = changed_words(old, new)
    assert "".join(one.text for one in found if one.kind != "new") == old
    assert "".join(one.text for one in found if one.kind != "gone") == new


def test_items_that_came_or_went_are_differences_of_their_own(sqlite_house: House) -> None:
    pack = sqlite_house.workspace.packs.get(sqlite_house.made["pack_id"])
    first, second = (one.model_dump() for one in pack.sources)
    changed = pack.model_copy(
        update={
            "pack_id": "",
            "sources": [second | {"excerpt": "Company size: 300 employees"}],
            "memo": memo(body_en="It fits [1].").model_dump(),
            "data_freshness_window_hours": 24,
        }
    )
    found = {(one.field, one.number, one.part) for one in differences(pack, changed)}
    assert ("body_en", None, "") in found
    assert ("data_freshness_window_hours", None, "") in found
    assert any(field == "sources" for field, _, _ in found)
    grown = pack.model_copy(update={"pack_id": "", "sources": [first, second, first]})
    assert [(one.field, one.number) for one in differences(pack, grown)] == [("sources", 3)]

"""The bundles' pages: what became of inputs, the prompt by the page, and how two differ."""

import pytest

import evidentia.server.pages.bundles as pages
from evidentia.bundles.accounting import Outcome
from evidentia.bundles.model import EvidenceBundle
from evidentia.server.pages.bundles_words import OUTCOMES, TONES, changes, shares_of, together
from evidentia.workspace import Workspace
from server.house import House

HTML = {"accept": "text/html"}
LONG = "Employees may carry over five days. " * 300


def shown(house: House, path: str, who: str = "viewer", status: int = 200) -> str:
    answer = house.get(path, who, headers=HTML)
    assert answer.status_code == status, answer.text
    return str(answer.text)


def built(workspace: Workspace, **policy: object) -> EvidenceBundle:
    texts = [LONG, "Write to ann@example.com.", "Leave is requested in writing.", "Last."]
    limits = {"max_items": 3, "max_item_bytes": 4_000, "enable_redaction": True, **policy}
    return workspace.bundles.build({"extra_params": {"evidence": texts}}, policy=limits)


def test_every_outcome_has_a_name_and_a_tone() -> None:
    assert set(OUTCOMES) == set(TONES) == {one.value for one in Outcome} | {"absent"}


def test_the_shares_of_an_input_are_all_of_it(sqlite_house: House) -> None:
    bundle = built(sqlite_house.workspace)
    fates = bundle.accounting.decisions
    shares = [shares_of(one, bundle.item(one.evidence_id)) for one in fates]
    assert [[(one.outcome, one.size) for one in each] for each in shares] == [
        [("kept", 4_000), ("truncated", len(LONG) - 4_000)],
        [("kept", len("Write to .")), ("redacted", len("ann@example.com"))],
        [("kept", len("Leave is requested in writing."))],
        [("dropped", len("Last."))],
    ]
    assert sum(one.size for one in together(shares)) == bundle.accounting.input_bytes


def test_a_bundle_shows_what_became_of_each_input_and_why(sqlite_house: House) -> None:
    bundle = built(sqlite_house.workspace)
    sqlite_house.workspace.bundles.record_run("<nightly>", bundle.bundle_id)
    text = shown(sqlite_house, f"/bundles/{bundle.bundle_id}")
    assert "an item has at most 4,000 bytes" in text
    assert "a bundle has at most 3 items" in text
    assert "&lt;nightly&gt;" in text
    assert f"/api/v1/bundles/{bundle.bundle_id}/proof" in text
    dropped = shown(sqlite_house, f"/bundles/{bundle.bundle_id}?outcome=dropped")
    assert "/inputs/inline:3" in dropped
    assert "/inputs/inline:0" not in dropped
    assert "No input came out like that" in shown(
        sqlite_house, f"/bundles/{bundle.bundle_id}?outcome=failed"
    )


def test_an_input_and_the_prompt_are_read_by_the_page(
    sqlite_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "_PAGE", 3_000)
    bundle = built(sqlite_house.workspace)
    path = f"/bundles/{bundle.bundle_id}"
    assert "Page 1 of 2" in shown(sqlite_house, f"{path}/inputs/inline:0")
    assert "Page 2 of 2" in shown(sqlite_house, f"{path}/inputs/inline:0?page=2")
    assert "There is no such thing" in shown(
        sqlite_house, f"{path}/inputs/inline:0?page=3", status=404
    )
    assert "Nothing." in shown(sqlite_house, f"{path}/inputs/inline:3")
    for form in ("text", "anthropic", "openai"):
        text = shown(sqlite_house, f"{path}/prompt?format={form}")
        assert "Employees may carry over" in text
        assert "Page 1 of " in text


def test_bundles_are_found_by_the_run_that_used_them(sqlite_house: House) -> None:
    text = shown(sqlite_house, "/bundles?run=run/1")
    assert sqlite_house.made["bundle_id"] in text
    assert sqlite_house.made["other_bundle_id"] not in text
    assert "No bundle was used by this run" in shown(sqlite_house, "/bundles?run=nobody")


def test_another_bundle_is_chosen_by_its_id(sqlite_house: House) -> None:
    one, other = sqlite_house.made["bundle_id"], sqlite_house.made["other_bundle_id"]
    found = sqlite_house.get(f"/bundles/{one}/diff?other={other}", headers=HTML)
    assert (found.status_code, found.headers["location"]) == (303, f"/bundles/{one}/diff/{other}")
    text = shown(sqlite_house, f"/bundles/{one}/diff?other=latest", status=422)
    assert 'value="latest"' in text
    assert "There is no such bundle" in text


def test_two_bundles_are_compared_by_what_the_model_saw(sqlite_house: House) -> None:
    one = built(sqlite_house.workspace)
    other = built(sqlite_house.workspace, max_item_bytes=20_000, max_items=4)
    text = shown(sqlite_house, f"/bundles/{one.bundle_id}/diff/{other.bundle_id}")
    assert "max_item_bytes" in text
    assert "<ins>" in text
    assert "Seen after alone" in text
    same = shown(sqlite_house, f"/bundles/{one.bundle_id}/diff/{one.bundle_id}")
    assert "They are the same" in same


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a b c", "a x c"),
        ("", "new"),
        ("old", ""),
        ("a b", "a b c d"),
        ("x " * 2_000, "y " * 2_000),
        ("same", "same"),
    ],
)
def test_changes_give_both_texts_again(before: str, after: str) -> None:
    found = changes(before, after)
    old = "".join(one.text for one in found if one.done != "in")
    new = "".join(one.text for one in found if one.done != "out")
    for given, text in ((before, old), (after, new)):
        assert given == text or given.startswith(text.partition("…")[0])

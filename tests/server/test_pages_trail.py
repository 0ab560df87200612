"""The trail's pages: timelines by the page, entries with their proofs, keys and their states."""

import re
from typing import Any

import pytest

import evidentia.server.pages.trail as pages
from evidentia.errors import ProofError
from evidentia.server.pages.trail_tree import tree_of
from evidentia.server.pages.trail_words import FIELDS, rows_of
from evidentia.server.pages.trail_words import KINDS as CALLED
from evidentia.trail.entry import KINDS, EntryKind
from evidentia.trail.merkle import inclusion_proof, leaf_hash, range_hash, root_hash
from insider import append_unsigned
from server.house import House

HTML = {"accept": "text/html"}


def shown(house: House, path: str, who: str = "viewer", status: int = 200) -> str:
    answer = house.get(path, who, headers=HTML)
    assert answer.status_code == status, answer.text
    return str(answer.text)


def listed(text: str) -> list[int]:
    return [int(one) for one in re.findall(r'data-open href="/trail/entries/(\d+)"', text)]


def address(text: str, rel: str) -> str:
    found = re.search(rf'rel="{rel}" href="([^"]+)"', text)
    assert found is not None
    return found[1].replace("&amp;", "&")


def test_every_kind_of_entry_has_a_name() -> None:
    assert set(CALLED) == KINDS


def test_a_timeline_is_paged_to_its_end_and_back(
    sqlite_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "_FEW", 10)
    size = sqlite_house.workspace.trail.size
    for order, expected in (("newest", range(size - 1, -1, -1)), ("oldest", range(size))):
        text = shown(sqlite_house, f"/trail?order={order}")
        assert 'rel="prev"' not in text
        seen = listed(text)
        while 'rel="next"' in text:
            text = shown(sqlite_house, address(text, "next"))
            seen += listed(text)
        assert seen == list(expected)
        while 'rel="prev"' in text:
            text = shown(sqlite_house, address(text, "prev"))
        assert listed(text) == list(expected)[:10]


def test_filters_are_in_the_address_and_stay_in_the_form(sqlite_house: House) -> None:
    about = sqlite_house.workspace.packs.get(sqlite_house.made["pack_id"]).entity_id
    text = shown(sqlite_house, f"/trail?about={about}&kind=decision&order=oldest")
    assert len(listed(text)) == 1
    assert f'value="{about}"' in text
    assert '<option value="decision" selected>' in text
    assert "No entry is like that" in shown(sqlite_house, "/trail?about=nothing")
    past = shown(sqlite_house, "/trail?order=oldest&after=999999")
    assert "There are no more entries" in past


def test_a_day_that_is_none_is_said_beside_its_field(sqlite_house: House) -> None:
    text = shown(sqlite_house, "/trail?about=x&since=soon", status=422)
    assert 'value="soon"' in text
    assert "This is no day" in text
    assert 'value="x"' in text
    assert listed(shown(sqlite_house, "/trail?since=2026-03-02&until=2026-03-02")) == []
    assert listed(shown(sqlite_house, "/trail?since=2026-03-05&until=2026-03-05"))


def test_what_others_asked_for_is_for_those_who_audit(sqlite_house: House) -> None:
    sqlite_house.get(f"/api/v1/packs/{sqlite_house.made['pack_id']}", "no one")
    seq = sqlite_house.workspace.trail.timeline(kind="request")[0].logged.entry.seq
    assert "packs.get" not in shown(sqlite_house, "/trail?kind=request")
    assert "packs.get" not in shown(sqlite_house, f"/trail/entries/{seq}")
    assert "packs.get" in shown(sqlite_house, f"/trail/entries/{seq}", "auditor")


def test_an_erased_body_is_gone_from_its_page_and_the_proof_stays(sqlite_house: House) -> None:
    trail = sqlite_house.workspace.trail
    ledger = trail.timeline(kind="ledger")[0].logged.entry.seq
    trail.erase(ledger, reason="law", by="owner")
    text = shown(sqlite_house, f"/trail/entries/{ledger}")
    assert "The body was erased under law" in text
    assert '<svg class="tree"' in text
    assert "The body was erased" in shown(sqlite_house, "/trail?kind=ledger")


def test_an_unsigned_tail_is_told_on_every_page(sqlite_house: House) -> None:
    size = sqlite_house.workspace.trail.size
    said = EntryKind.ACCESS, "user/mallory", {"action": "grant", "role": "admin"}
    append_unsigned(sqlite_house.workspace, said)
    for path in ("/trail", "/trail/checkpoints", "/trail/keys", f"/trail/entries/{size}"):
        assert "1 entry is not signed" in shown(sqlite_house, path), path
    text = shown(sqlite_house, f"/trail/entries/{size}")
    assert "This entry is not signed" in text
    assert "There is no proof of this entry" in text
    assert "<svg" not in text.partition("<main")[2]


def test_keys_are_shown_with_their_states(sqlite_house: House) -> None:
    trail = sqlite_house.workspace.trail
    assert "Signs now" in shown(sqlite_house, "/trail/keys")
    first = trail.public_key()
    trail.rotate_key()
    trail.revoke_key(first.key_id, from_size=trail.size, reason="<b>lost</b>")
    text = shown(sqlite_house, "/trail/keys")
    assert "Revoked" in text
    assert "&lt;b&gt;lost&lt;/b&gt;" in text
    assert str(trail.public_key()).replace("+", "&#43;") in text.replace("+", "&#43;")
    assert "Revoked" in shown(sqlite_house, "/trail/checkpoints")


def test_checkpoints_of_one_size_stand_on_one_page(
    sqlite_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    trail = sqlite_house.workspace.trail
    trail.rotate_key()
    monkeypatch.setattr(pages, "_FEW", 1)
    seen: list[str] = []
    text = shown(sqlite_house, "/trail/checkpoints")
    seen += re.findall(r'<code dir="ltr">([0-9a-f]{8})</code>', text)
    while 'rel="next"' in text:
        text = shown(sqlite_house, address(text, "next"))
        seen += re.findall(r'<code dir="ltr">([0-9a-f]{8})</code>', text)
    assert len(seen) == len(trail.checkpoints(limit=1_000))


# The tree, and bodies in words


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13, 64, 100])
def test_a_tree_leads_from_every_entry_to_the_root(size: int) -> None:
    leaves = [leaf_hash(bytes([number])) for number in range(size)]

    def node(height: int, index: int) -> bytes:
        return root_hash(leaves[index << height : (index + 1) << height])

    for seq in range(size):
        tree = tree_of(seq, leaves[seq], inclusion_proof(node, seq, size), size)
        assert tree.root.hash == root_hash(leaves).hex()
        assert (tree.root.start, tree.root.end) == (0, size)
        for rung in tree.rungs:
            assert (rung.side == "left") == (rung.beside.start < rung.own.start)
            assert rung.beside.hash == range_hash(node, rung.beside.start, rung.beside.end).hex()
        assert all(0 <= rung.gives.y < rung.own.y < tree.height for rung in tree.rungs)


def test_a_proof_of_another_tree_is_not_drawn() -> None:
    with pytest.raises((ProofError, ValueError)):
        tree_of(0, bytes(32), [bytes(32)], 4)


def test_a_body_is_read_line_by_line_with_what_says_most_first() -> None:
    body: Any = {
        "sha256": "ab" * 32,
        "reason": "Why.",
        "at": "2026-01-03T14:30:00.000000Z",
        "nothing": None,
        "entry": 41,
        "deep": {"list": [1, {"yes": True}], "empty": []},
        "document_id": "doc_0123456789abcdef",
    }
    rows = list(rows_of(body))
    assert [one.name for one in rows if one.depth == 0] == [
        "reason",
        "at",
        "deep",
        "document_id",
        "entry",
        "sha256",
        "nothing",
    ]
    by_name = {one.name: one for one in rows}
    assert by_name["entry"].address == "/trail/entries/41"
    assert by_name["document_id"].address == "/documents/doc_0123456789abcdef"
    assert (by_name["at"].form, by_name["sha256"].form) == ("time", "digest")
    assert (by_name["yes"].value, by_name["yes"].depth) == ("true", 3)
    assert by_name["reason"].label == FIELDS["reason"]
    assert [one.value for one in rows_of("plain")] == ["plain"]

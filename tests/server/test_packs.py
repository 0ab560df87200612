"""Decisions and packs by the API: recorded, assembled, read, reviewed and revised."""

import json
from typing import Any

import pytest

from evidentia.trail.entry import EntryKind
from packing import decision_fields, make_pack, memo_fields, tool_call
from server.house import House

PACKS = "/api/v1/packs"


def sent_decision(number: int = 5, **changes: Any) -> dict[str, Any]:
    """Return a decision as it is sent: without its tenant."""
    fields = decision_fields(number, **changes)
    del fields["tenant_id"]
    return fields


def pack_path(house: House) -> str:
    return f"{PACKS}/{house.made['pack_id']}"


def review(house: House, path: str, outcome: str = "approved", **more: Any) -> Any:
    headers = more.pop("headers", {})
    body = {"outcome": outcome, "note": "Seen.", **more}
    return house.post(f"{path}/review", "approver", json=body, headers=headers)


def test_a_decision_is_recorded_once_and_says_whether_it_asks_for_a_pack(house: House) -> None:
    size = house.workspace.trail.size
    for _ in range(2):
        answer = house.post("/api/v1/decisions", json={"decision": sent_decision()})
        assert answer.status_code == 201
        said = answer.json()
        assert said["decision_id"] == "dec_5"
        assert (said["requirement"], said["tier"]) == ("mandatory", "A")
        assert said["rules"] == ["approval_class is A2"]
    assert house.workspace.trail.size == size + 1
    other = house.post("/api/v1/decisions", json={"decision": sent_decision(confidence=0.1)})
    assert other.status_code == 409
    assert other.json()["type"] == "/problems/conflict"


def test_a_decision_of_another_tenant_is_refused(sqlite_house: House) -> None:
    given = {"decision": decision_fields(5, tenant_id="other")}
    answer = sqlite_house.post("/api/v1/decisions", json=given)
    assert answer.status_code == 422
    assert "tenant 'other'" in answer.json()["detail"]


def test_a_pack_is_assembled_with_its_ledger_and_its_calls(house: House) -> None:
    bundle = house.workspace.bundle({"extra_params": {"evidence": ["seen"]}})
    given = {
        "decision": sent_decision(),
        "memo": memo_fields(),
        "ledger_id": house.made["ledger_id"],
        "bundle_ids": [bundle.bundle_id],
        "calls": [tool_call().model_dump(mode="json")],
        "tools_offered": ["crm.get_contact", "mail"],
    }
    trace = "0af7651916cd43dd8448eb211c80319c"
    headers = {"traceparent": f"00-{trace}-00f067aa0ba902b7-01"}
    answer = house.post(PACKS, json=given, headers=headers)
    assert answer.status_code == 201, answer.text
    pack = answer.json()["pack"]
    assert answer.headers["location"] == f"{PACKS}/{pack['pack_id']}"
    assert pack["tenant_id"] == "default"
    assert pack["trace_id"] == trace
    assert pack["ledger"]["ledger_id"] == house.made["ledger_id"]
    assert [one["bundle_id"] for one in pack["bundles"]] == [bundle.bundle_id]
    assert [one["tool_name"] for one in pack["tool_calls"]] == ["crm.get_contact"]
    assert pack["tools_offered"] == ["crm.get_contact", "mail"]
    assert house.workspace.packs.get("dec_5").as_json() == pack
    assert len(house.workspace.tools.calls("dec_5")) == 1
    read = house.get(answer.headers["location"])
    assert (read.json(), read.headers["etag"]) == (answer.json(), answer.headers["etag"])


def test_what_a_pack_lacks_is_listed_all_at_once(house: House) -> None:
    memo = memo_fields() | {"body_en": "It fits.", "body_ar": "هي مناسبة."}
    answer = house.post(PACKS, json={"decision": sent_decision(), "memo": memo})
    assert answer.status_code == 422
    said = answer.json()
    assert said["type"] == "/problems/incomplete-pack"
    assert len(said["unmet"]) == 4
    assert any("evidence item 1 is not referred to" in one for one in said["unmet"])
    assert len(house.workspace.packs.list()) == 1


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"ledger_id": "led_0000000000000000"}, 404),
        ({"bundle_ids": ["0" * 64]}, 404),
        ({"ledger_id": "latest"}, 422),
        ({"attachments": {"x": "/etc/passwd"}}, 422),
    ],
)
def test_a_pack_rests_on_what_is_there_alone(
    sqlite_house: House, change: dict[str, Any], status: int
) -> None:
    given = {"decision": sent_decision(), "memo": memo_fields(), **change}
    assert sqlite_house.post(PACKS, json=given).status_code == status


def test_packs_are_listed_by_the_page_and_by_what_their_review_came_to(house: House) -> None:
    for number in (2, 3, 4):
        make_pack(house.workspace, number)
    owner = house.workspace.packs
    owner.review("dec_2", "approved")
    owner.review("dec_3", "rejected", note="no")

    def decisions(query: str) -> list[str]:
        found, path = [], f"{PACKS}?limit=1&{query}"
        while path:
            answer = house.get(path)
            assert answer.status_code == 200
            found += [one["decision_id"] for one in answer.json()["packs"]]
            path = answer.headers.get("link", "").removeprefix("<").partition(">")[0]
        return found

    assert decisions("") == ["dec_3", "dec_2", "dec_4", "dec_1"]
    assert decisions("outcome=approved") == ["dec_2"]
    assert decisions("outcome=rejected") == ["dec_3"]
    assert decisions("outcome=awaiting review") == ["dec_4", "dec_1"]
    assert decisions("decision=dec_2") == ["dec_2"]
    assert decisions("decision=dec_2&all_versions=true") == ["dec_2", "dec_2"]
    assert decisions("decision=dec_%00") == []
    assert house.get(f"{PACKS}?outcome=maybe").status_code == 422


def test_who_has_a_pack_already_is_told_so_until_there_is_a_newer_version(house: House) -> None:
    path = pack_path(house)
    tag = house.get(path).headers["etag"]
    known = {"if-none-match": tag}
    assert house.get(path, headers=known).status_code == 304
    newer = review(house, path).json()["pack"]["pack_id"]
    again = house.get(path, headers=known)
    assert (again.status_code, again.json()["newest"]) == (200, newer)
    assert again.json()["pack"]["pack_id"] == house.made["pack_id"]


def test_a_review_is_a_newer_version_in_the_reviewers_own_name(house: House) -> None:
    path = pack_path(house)
    answer = review(house, path, headers={"if-match": house.get(path).headers["etag"]})
    assert answer.status_code == 201
    pack = answer.json()["pack"]
    assert (pack["reviewer_id"], pack["review_outcome"], pack["version"]) == (
        "approver",
        "approved",
        2,
    )
    listed = house.get(f"{path}/versions").json()["packs"]
    assert [one["id"] for one in listed] == [house.made["pack_id"], pack["pack_id"]]
    assert [one["outcome"] for one in listed] == ["awaiting review", "approved"]


def test_a_review_of_a_version_that_is_not_the_newest_is_refused(house: House) -> None:
    path = pack_path(house)
    tag = house.get(path).headers["etag"]
    changes = {"changes": {"data_freshness_window_hours": 48}}
    newer = house.post(f"{path}/revise", json=changes).json()["pack"]["pack_id"]
    size = len(house.workspace.packs.versions(newer))
    for refused, status, kind in (
        (review(house, path, headers={"if-match": tag}), 412, "changed-since-read"),
        (review(house, path), 409, "conflict"),
        (house.post(f"{path}/revise", json=changes, headers={"if-match": tag}), 412, None),
        (house.post(f"{path}/revise", json=changes), 409, None),
    ):
        assert (refused.status_code, refused.json()["newer"]) == (status, newer)
        assert refused.json()["read"] == house.made["pack_id"]
        assert kind is None or refused.json()["type"] == f"/problems/{kind}"
    assert len(house.workspace.packs.versions(newer)) == size


def test_modifying_is_a_revision_and_its_approval(house: House) -> None:
    path = pack_path(house)
    memo = memo_fields() | {"title_en": "Recommendation, shortened"}
    answer = review(house, path, "modified", changes={"memo": memo})
    assert answer.status_code == 201, answer.text
    pack = answer.json()["pack"]
    assert (pack["version"], pack["review_outcome"]) == (3, "approved")
    assert pack["memo"]["title_en"] == "Recommendation, shortened"


def test_a_modification_that_is_repeated_or_too_late_changes_nothing_more(house: House) -> None:
    path, key = pack_path(house), {"idempotency-key": "modify-1"}
    changes = {"data_freshness_window_hours": 48}
    first = review(house, path, "modified", changes=changes, headers=key)
    again = review(house, path, "modified", changes=changes, headers=key)
    assert (again.status_code, again.json()) == (201, first.json())
    late = review(house, path, "modified", changes=changes)
    assert late.status_code == 409
    newest = first.json()["pack"]["pack_id"]
    assert (late.json()["read"], late.json()["newer"]) == (house.made["pack_id"], newest)
    assert len(house.workspace.packs.versions("dec_1")) == 3


def test_who_assembled_a_pack_is_not_let_review_it(sqlite_house: House) -> None:
    given = {"decision": sent_decision(), "memo": memo_fields()}
    path = sqlite_house.post(PACKS, json=given).headers["location"]
    refused = review(sqlite_house, path)
    assert refused.status_code == 403
    assert "approver made it" in refused.json()["detail"]
    other = sqlite_house.post(f"{path}/review", "admin", json={"outcome": "approved"})
    assert other.status_code == 201


@pytest.mark.parametrize(
    "key",
    ["", "key-1"],
)
def test_a_pack_that_lacks_something_can_be_asked_for_again(sqlite_house: House, key: str) -> None:
    poor = memo_fields() | {"body_en": "It fits.", "body_ar": "هي مناسبة."}
    given = {
        "decision": sent_decision(),
        "memo": poor,
        "calls": [tool_call().model_dump(mode="json")],
    }
    headers = {"idempotency-key": key} if key else {}
    first = sqlite_house.post(PACKS, json=given, headers=headers)
    again = sqlite_house.post(PACKS, json=given, headers=headers)
    assert (first.status_code, again.status_code) == (422, 422)
    assert again.json()["unmet"] == first.json()["unmet"]
    assert ("idempotency-replayed" in again.headers) == bool(key)
    assert len(sqlite_house.workspace.tools.calls("dec_5")) == 1


@pytest.mark.parametrize(
    "given",
    [
        {"outcome": "rejected", "note": " "},
        {"outcome": "modified", "note": "why"},
        {"outcome": "approved", "changes": {"memo": {}}},
        {"outcome": "seen"},
        {"outcome": "modified", "note": "why", "changes": {"entity_id": "other"}},
    ],
)
def test_a_review_without_its_reason_or_its_changes_is_refused(
    sqlite_house: House, given: dict[str, Any]
) -> None:
    path = pack_path(sqlite_house)
    assert sqlite_house.post(f"{path}/review", json=given).status_code == 422
    assert len(sqlite_house.workspace.packs.versions("dec_1")) == 1


def test_a_review_that_is_repeated_with_its_key_is_done_once(house: House) -> None:
    path, key = pack_path(house), {"idempotency-key": "review-1"}
    first, second = review(house, path, headers=key), review(house, path, headers=key)
    assert (first.status_code, second.status_code) == (201, 201)
    assert second.headers["idempotency-replayed"] == "true"
    assert first.json() == second.json()
    assert len(house.workspace.packs.versions("dec_1")) == 2


def test_only_the_id_of_a_pack_is_an_address(sqlite_house: House) -> None:
    for name in ("latest", "dec_1", "pack_", "pack_%00"):
        assert sqlite_house.get(f"{PACKS}/{name}").status_code == 404


def test_who_read_a_pack_is_in_the_access_log(sqlite_house: House) -> None:
    sqlite_house.get(pack_path(sqlite_house))
    newest = sqlite_house.workspace.access.requests(limit=1)[0]
    assert newest.entry.kind == EntryKind.REQUEST
    assert (newest.body["did"], newest.body["by"]) == ("packs.get", "viewer")


def test_text_that_has_no_canonical_form_is_refused(sqlite_house: House) -> None:
    said = json.dumps({"decision": sent_decision(decision="half of a letter: \ud800")})
    headers, size = {"content-type": "application/json"}, sqlite_house.workspace.trail.size
    for path in ("/api/v1/decisions", PACKS):
        answer = sqlite_house.post(path, content=said, headers=headers)
        assert (answer.status_code, answer.json()["type"]) == (422, "/problems/refused-input")
    assert sqlite_house.workspace.trail.size == size

"""Members, roles and tokens by the API; who one is; and tool calls."""

from typing import Any

import pytest

from packing import tool_call
from server.house import House

TOKENS, MEMBERS, CALLS = "/api/v1/tokens", "/api/v1/members", "/api/v1/tool-calls"


def grant(house: House, **given: Any) -> Any:
    return house.post(MEMBERS, "admin", json={"user": "eve", "role": "viewer", **given})


def test_a_role_is_given_counts_and_is_taken_away(house: House) -> None:
    token = house.workspace.access.new_token("https://id.example/#eve").text
    headers = {"authorization": f"Bearer {token}"}
    user = "https://id.example/#eve"
    assert house.client.get(MEMBERS, headers=headers).status_code == 404
    answer = grant(house, user=user)
    assert answer.status_code == 201
    entry = house.workspace.trail.entry(answer.json()["entry"])
    assert (entry.body["action"], entry.body["granted_by"]) == ("grant", "admin")
    listed = house.client.get(MEMBERS, headers=headers).json()["members"]
    assert [one["role"] for one in listed if one["user"] == user] == ["viewer"]
    gone = {"user": user, "role": "viewer"}
    assert house.ask("admin", "DELETE", MEMBERS, params=gone).status_code == 200
    assert house.client.get(MEMBERS, headers=headers).status_code == 404
    again = house.ask("admin", "DELETE", MEMBERS, params=gone)
    assert (again.status_code, again.json()["type"]) == (404, "/problems/not-found")


@pytest.mark.parametrize(
    "given",
    [
        {"role": "king"},
        {"user": ""},
        {"role": "auditor"},
        {"expires_at": "tomorrow"},
        {"tenant": "other"},
    ],
)
def test_a_role_that_cannot_be_given_is_refused(sqlite_house: House, given: dict[str, Any]) -> None:
    assert grant(sqlite_house, **given).status_code == 422


def test_a_token_is_shown_once_and_opens_what_its_scopes_say(house: House) -> None:
    given = {"user": "approver", "name": "reader", "scopes": ["list"]}
    key = {"idempotency-key": "token-1"}
    first = house.post(TOKENS, "admin", json=given, headers=key)
    assert first.status_code == 201
    said = first.json()
    headers = {"authorization": f"Bearer {said['secret']}"}
    assert house.client.get("/api/v1/packs", headers=headers).status_code == 200
    path = f"/api/v1/packs/{house.made['pack_id']}"
    assert house.client.get(path, headers=headers).status_code == 404
    again = house.post(TOKENS, "admin", json=given, headers=key)
    assert again.headers["idempotency-replayed"] == "true"
    assert again.json() == {"secret": None, "token": said["token"]}
    listed = house.get(TOKENS).json()["tokens"]
    assert said["token"] in listed
    assert said["secret"].rpartition("~")[2] not in house.get(TOKENS).text
    revoke = f"{TOKENS}/{said['token']['token_id']}"
    assert house.ask("admin", "DELETE", revoke).status_code == 200
    assert house.client.get("/api/v1/packs", headers=headers).status_code == 401
    assert house.ask("admin", "DELETE", revoke).status_code == 404


@pytest.mark.parametrize(
    "given", [{"user": "owner"}, {"scopes": []}, {"scopes": ["fly"]}, {"expires_at": "2020-01-01"}]
)
def test_a_token_that_cannot_be_made_is_refused(sqlite_house: House, given: dict[str, Any]) -> None:
    answer = sqlite_house.post(TOKENS, "admin", json={"user": "eve", **given})
    assert answer.status_code == 422


def test_everyone_knows_who_they_are_and_which_roles_count(house: House) -> None:
    me = "/api/v1/me"
    assert house.get(me, "viewer").json()["roles"] == ["viewer"]
    assert house.get(me, "no one").json()["roles"] == []
    assert house.get(me, "expired auditor").json()["roles"] == []
    grant(house, user="viewer", role="approver")
    said = house.get(me, "viewer").json()
    assert (said["user"], said["roles"]) == ("viewer", ["approver", "viewer"])


def record(house: House, **changes: Any) -> Any:
    call = tool_call().model_dump(mode="json", include={"tool_name", "intended_action"})
    call |= {"actual_action": "retrieved contact 1"} | changes
    return house.post(CALLS, json={"decision_id": "dec_9", "call": call})


def test_tool_calls_are_recorded_and_compared(house: House) -> None:
    assert record(house).json()["contradiction_flag"] is False
    other = record(house, actual_action="deleted contact 1")
    assert (other.status_code, other.json()["contradiction_flag"]) == (201, True)
    failed = record(house, outcome="failed", error="Timeout", actual_action="failed: Timeout")
    assert failed.status_code == 201
    offer = {"decision_id": "dec_9", "tools": ["mail", "crm.get_contact"]}
    assert house.post("/api/v1/tool-offers", json=offer).status_code == 201
    said = house.get(CALLS, params={"decision_id": "dec_9"}).json()
    assert [one["outcome"] for one in said["calls"]] == ["succeeded", "succeeded", "failed"]
    assert said["offered"] == offer["tools"]
    kept = [one.model_dump(mode="json") for one in house.workspace.tools.calls("dec_9")]
    assert said["calls"] == kept
    nothing = house.get(CALLS, params={"decision_id": "dec_8"}).json()
    assert (nothing["calls"], nothing["offered"]) == ([], [])


@pytest.mark.parametrize(
    "changes",
    [
        {"actual_action": "deleted contact 1", "contradiction_flag": False},
        {"outcome": "failed"},
        {"tool_name": ""},
        {"more": 1},
    ],
)
def test_a_call_that_is_not_told_truly_is_refused(
    sqlite_house: House, changes: dict[str, Any]
) -> None:
    assert record(sqlite_house, **changes).status_code == 422
    assert sqlite_house.workspace.tools.calls("dec_9") == []


@pytest.mark.parametrize("name", ["", "x" * 1_901, "dec_\0"])
def test_a_decision_of_no_name_has_no_calls(sqlite_house: House, name: str) -> None:
    given = {"decision_id": name, "tools": ["mail"]}
    assert sqlite_house.post("/api/v1/tool-offers", json=given).status_code == 422
    asked = sqlite_house.get(CALLS, params={"decision_id": name})
    assert asked.status_code in {200, 422}

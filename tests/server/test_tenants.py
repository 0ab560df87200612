"""Tenants and owners of agents by the API."""

from server.house import House


def test_one_sees_the_tenants_where_one_has_a_role(sqlite_house: House) -> None:
    house = sqlite_house
    assert house.get("/api/v1/tenants").json() == {
        "tenants": [{"tenant": "default", "roles": ["viewer"]}]
    }
    assert house.get("/api/v1/tenants", "expired auditor").json() == {"tenants": []}
    there = house.get("/api/v1/tenants", "other tenant's admin").json()["tenants"]
    assert there == [{"tenant": "other", "roles": ["admin"]}]
    house.running.opened.for_("other").access.grant("ann", "viewer")
    cookie = house.running.signed("cookie", ["ann", ""])
    seen = house.client.get("/api/v1/tenants", headers={"cookie": f"evidentia={cookie}"})
    assert seen.json()["tenants"] == [{"tenant": "other", "roles": ["viewer"]}]


def test_the_owner_sees_all_and_begins_one_with_its_first_role(sqlite_house: House) -> None:
    house = sqlite_house
    cookie = house.running.signed("cookie", [None, house.running.started])
    headers = {"cookie": f"evidentia={cookie}", "origin": "http://127.0.0.1:8321"}
    new = {**headers, "evidentia-tenant": "acme"}
    given = {"user": "ann", "role": "admin"}
    made = house.client.post("/api/v1/members", json=given, headers=new)
    assert made.status_code == 201, made.text
    seen = house.client.get("/api/v1/tenants", headers=headers).json()["tenants"]
    assert [one["tenant"] for one in seen] == ["acme", "default", "other"]


def test_who_owns_an_agent_is_recorded_and_listed(sqlite_house: House) -> None:
    house = sqlite_house
    given = {"user": "approver", "agent_name": "icp_matcher"}
    assert house.post("/api/v1/agent-owners", json=given).status_code == 403
    assert house.post("/api/v1/agent-owners", "admin", json=given).status_code == 201
    owners = house.get("/api/v1/agent-owners").json()["owners"]
    assert owners == [{**given, "tenant_id": "default"}]

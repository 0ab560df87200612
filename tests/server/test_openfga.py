"""A server beside OpenFGA: it asks, it tells, and it says when no one answers."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from evidentia.access.openfga_client import OpenFgaClient
from evidentia.server.telling_openfga import Teller
from openfga_stub import Stub
from places import Place
from server.house import Furniture, House, serving


@pytest.fixture
def house(
    tmp_path: Path, sqlite_furniture: Furniture, openfga_client: OpenFgaClient, openfga: Stub
) -> Iterator[House]:
    """Give a server that asks OpenFGA and tells it what is new, as soon as it runs."""
    place = Place(tmp_path / "home")
    with serving(place, sqlite_furniture, openfga_client.authorizer()) as found:
        assert in_step(found, openfga)
        yield found


def in_step(house: House, openfga: Stub) -> bool:
    """Wait until OpenFGA was told all."""
    for _ in range(600):
        if house.workspace.access.telling().is_in_step:
            return True
        time.sleep(0.05)
    return False


def test_a_server_tells_openfga_what_the_trail_says_and_asks_it(
    house: House, openfga: Stub, openfga_client: OpenFgaClient
) -> None:
    pack = house.made["pack_id"]
    assert house.get(f"/api/v1/packs/{pack}").status_code == 200
    assert [one["id"] for one in house.get("/api/v1/packs").json()["packs"]] == [pack]
    granted = house.post("/api/v1/members", "admin", json={"user": "eve", "role": "viewer"})
    assert granted.status_code == 201
    assert in_step(house, openfga)
    assert "tenant:default#viewer@user:eve" in openfga.tuples(openfga_client)
    assert "tenant:other#admin@user:other%20tenant%27s%20admin" in openfga.tuples(openfga_client)
    asked = house.get("/api/v1/access/can-view", "admin", params={"user": "eve", "pack": pack})
    assert asked.json() == {"user": "eve", "pack": pack, "allowed": True}
    other = {"user": "expired auditor", "pack": pack}
    assert house.get("/api/v1/access/can-view", "auditor", params=other).json()["allowed"] is False
    assert house.get("/api/v1/access/can-view", params=other).status_code == 403


def test_what_openfga_does_not_let_a_user_see_is_not_there(
    house: House, openfga: Stub, openfga_client: OpenFgaClient
) -> None:
    pack = house.made["pack_id"]
    (row,) = openfga_client.read(object=f"evidence_pack:{pack}")
    openfga_client.write([], [row])
    assert house.get(f"/api/v1/packs/{pack}").status_code == 404
    assert house.get("/api/v1/packs").json()["packs"] == []
    assert house.get("/packs", headers={"accept": "text/html"}).status_code == 200


def test_while_openfga_is_away_all_is_refused_and_said(house: House, openfga: Stub) -> None:
    assert house.get("/readyz", "nobody").json()["openfga"] == "ready"
    openfga.failing = lambda _: 503
    pack, before = house.made["pack_id"], house.workspace.trail.size
    client = house.running.opened.openfga
    assert client is not None
    unanswered = client.counts["unanswered"]
    for path in ("/api/v1/packs", f"/api/v1/packs/{pack}", "/api/v1/trail/entries"):
        refused = house.get(path)
        assert refused.status_code == 503, path
        assert refused.json()["detail"].startswith("OpenFGA ")
        assert refused.json()["detail"].endswith(": denied")
        assert refused.headers["retry-after"]
        assert openfga.url not in refused.text
    assert client.counts["unanswered"] - unanswered == 3  # each was asked about once
    assert house.workspace.trail.size == before  # no one said no
    for _ in range(3):
        house.get("/api/v1/packs")
    assert house.get("/readyz", "nobody").json()["openfga"] == "away"
    assert house.get("/readyz", "nobody").status_code == 200
    told = house.get("/metrics", "nobody").text
    assert "evidentia_openfga_away 1.0" in told
    assert 'evidentia_openfga_checks{outcome="unanswered"}' in told
    assert house.get(f"/api/v1/packs/{pack}", "no one").status_code == 404  # none asks for them
    openfga.failing = lambda _: None
    client._patience.answered("it")
    assert house.get(f"/api/v1/packs/{pack}").status_code == 200


def test_a_log_that_cannot_be_read_keeps_no_other_one_waiting(
    sqlite_house: House, openfga_client: OpenFgaClient, openfga: Stub
) -> None:
    opened = sqlite_house.running.opened
    opened.authorizer = openfga_client.authorizer()
    opened.tenants = lambda: ["No Tenant!", "default"]  # type: ignore[method-assign]
    teller = Teller(opened, openfga_client)
    with pytest.raises(Exception, match="tenant"):
        teller.look_once()
    teller.close()

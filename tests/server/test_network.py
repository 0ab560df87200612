"""What stands between the server and who asks: proxies, other sites, HTTPS."""

from dataclasses import replace
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from evidentia.server.callers import address_of
from evidentia.server.listening import config_of
from evidentia.settings import Settings
from places import Place
from server.house import HOST, Furniture, House, serving


@pytest.mark.parametrize(
    ("proxies", "peer", "seen"),
    [
        (None, "10.0.0.1", "10.0.0.1"),
        (("10.0.0.1",), "10.0.0.1", "203.0.113.7"),
        (("10.0.0.1",), "10.0.0.2", "10.0.0.2"),
    ],
)
def test_where_a_request_comes_from_is_the_word_of_named_proxies_alone(
    proxies: tuple[str, ...] | None, peer: str, seen: str
) -> None:
    async def where(scope: Any, receive: Any, send: Any) -> None:
        await PlainTextResponse(address_of(Request(scope)))(scope, receive, send)

    config = config_of(where, replace(Settings(), server_proxies=proxies))  # type: ignore[arg-type]
    config.load()
    client = TestClient(config.loaded_app, client=(peer, 4711))
    answer = client.get("/", headers={"x-forwarded-for": "203.0.113.7"})
    assert answer.text == seen


def test_a_site_that_is_listed_may_call_and_no_other(
    sqlite_place: Place, sqlite_furniture: Furniture
) -> None:
    listed = "https://app.example"
    with serving(sqlite_place, sqlite_furniture, server_origins=(listed,)) as house:
        asks = {
            "access-control-request-method": "POST",
            "access-control-request-headers": "idempotency-key, if-match",
        }
        for origin, allowed in ((listed, listed), ("https://evil.example", None)):
            asked = {"origin": origin, **asks}
            answer = house.client.options("/api/v1/packs", headers=asked)
            assert answer.headers.get("access-control-allow-origin") == allowed
            assert (answer.status_code == 200) == (allowed is not None)
            read = house.get("/api/v1/packs", headers={"origin": origin})
            assert read.headers.get("access-control-allow-origin") == allowed
            assert "access-control-allow-credentials" not in read.headers  # no cookie goes along


def test_a_supervisor_may_ask_by_the_address_of_the_machine_and_no_one_else(
    sqlite_place: Place, sqlite_furniture: Furniture
) -> None:
    """Kubernetes and Prometheus ask each server by its address, not by the name of all of them."""
    ours = {"server_url": "https://evidence.example", "server_host": "0.0.0.0"}
    open_to_all = {"/healthz", "/readyz", "/metrics"}
    with serving(sqlite_place, sqlite_furniture, **ours) as house:
        for path in (*sorted(open_to_all), "/api/v1/me", "/", "/healthz/x"):
            for host in ("10.0.0.7:8321", "evil.example"):
                status = house.client.get(path, headers={"host": host}).status_code
                assert status == (200 if path in open_to_all else 421), (path, host)


def test_by_https_the_cookie_is_of_this_host_and_secure(sqlite_house: House) -> None:
    house = sqlite_house
    changed = replace(house.running.settings, server_url="https://evidence.example")
    house.app.state.running = replace(house.running, settings=changed)
    link = house.running.sign_in
    assert link is not None
    cookie = house.client.get(f"/sign-in?token={link.secret}").headers["set-cookie"]
    assert cookie.startswith("__Host-evidentia=")
    assert {"Secure", "HttpOnly", "Path=/", "SameSite=strict"} <= set(cookie.split("; "))
    assert "Domain" not in cookie
    value = cookie.partition("=")[2].partition(";")[0]
    client = TestClient(house.app, base_url=HOST)
    good = client.get("/api/v1/me", headers={"cookie": f"__Host-evidentia={value}"})
    assert good.status_code == 200
    plain = client.get("/api/v1/me", headers={"cookie": f"evidentia={value}"})
    assert plain.status_code == 401  # a page of a neighbour could have set that one

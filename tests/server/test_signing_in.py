"""Who is let in: tokens, the owner's link, cookies, and pages of other sites."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evidentia.errors import UsageError
from evidentia.server import listening
from evidentia.settings import Settings
from server.house import HOST, House

EXPORT: dict[str, Any] = {"json": {"format": "json"}}


def signed_in(house: House) -> str:
    """Sign the owner in; return the path of an export, which is a write."""
    link = house.running.sign_in
    assert link is not None
    answer = house.client.get(f"/sign-in?token={link.secret}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    return f"/api/v1/sessions/{house.made['session_id']}/ledger/export"


def test_the_link_signs_the_owner_in_once(sqlite_house: House) -> None:
    house = sqlite_house
    secret = house.running.sign_in and house.running.sign_in.secret
    assert house.client.get("/api/v1/me").status_code == 401
    assert house.client.get("/sign-in?token=wrong").status_code == 401
    signed_in(house)
    me = house.client.get("/api/v1/me").json()
    assert (me["tenant"], me["user"]) == ("default", None)
    house.client.cookies.clear()
    assert house.client.get(f"/sign-in?token={secret}").status_code == 401


def test_the_cookie_is_for_this_site_and_no_script(sqlite_house: House) -> None:
    link = sqlite_house.running.sign_in
    assert link is not None
    cookie = sqlite_house.client.get(f"/sign-in?token={link.secret}").headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Secure" not in cookie  # this one is reached by plain HTTP, on this machine


def test_a_cookie_that_was_changed_or_is_of_another_start_counts_for_nothing(
    sqlite_house: House,
) -> None:
    house = sqlite_house
    signed_in(house)
    good = house.client.cookies["evidentia"]
    house.client.cookies.clear()
    forged = house.running.signed("cookie", [None, "another start"])
    for wrong in (good[:-1], forged, house.running.signed("download", [None, ""]), "x"):
        headers = {"cookie": f"evidentia={wrong}"}
        assert house.client.get("/api/v1/me", headers=headers).status_code == 401


def test_a_token_signs_a_browser_in_also_by_https(house: House) -> None:
    running = house.app.state.running
    for url, cookie in ((None, "evidentia"), ("https://evidence.example", "__Host-evidentia")):
        settings = replace(running.settings, server_url=url)
        house.app.state.running = replace(running, settings=settings)
        form = {"token": house.tokens["viewer"], "back": "/ledgers?q=\u0628"}
        answer = house.client.post("/sign-in/token", data=form)
        assert (answer.status_code, answer.headers["location"]) == (303, "/ledgers?q=%D8%A8")
        given = answer.headers["set-cookie"]
        assert given.startswith(f"{cookie}=")
        assert ("Secure" in given) == bool(url)
        house.client.cookies.clear()
        headers = {"cookie": given.partition(";")[0]}
        assert house.client.get("/api/v1/me", headers=headers).json()["user"] == "viewer"


@pytest.mark.parametrize(
    "headers",
    [{"sec-fetch-site": "cross-site"}, {"origin": "https://evil.example"}, {"origin": "null"}],
)
def test_a_page_of_another_site_signs_no_one_in(
    sqlite_house: House, headers: dict[str, str]
) -> None:
    """Else whoever it lured would work, unknowingly, in the name of who made that page."""
    form = {"token": sqlite_house.tokens["viewer"]}
    answer = sqlite_house.client.post("/sign-in/token", data=form, headers=headers)
    assert (answer.status_code, answer.json()["type"]) == (403, "/problems/cross-site")
    assert "set-cookie" not in answer.headers


def test_signing_out_takes_the_cookie_back(sqlite_house: House) -> None:
    signed_in(sqlite_house)
    assert sqlite_house.client.post("/sign-out").status_code == 204
    assert sqlite_house.client.get("/api/v1/me").status_code == 401


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"sec-fetch-site": "same-origin"}, 200),
        ({"sec-fetch-site": "none"}, 200),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "cross-site", "origin": HOST}, 403),
        ({"origin": HOST}, 200),
        ({"origin": "http://127.0.0.1:1"}, 403),
        ({"origin": "null"}, 403),
        ({}, 200),
    ],
)
def test_a_page_of_another_site_changes_nothing(
    sqlite_house: House, headers: dict[str, str], status: int
) -> None:
    path = signed_in(sqlite_house)
    answer = sqlite_house.client.post(path, headers=headers, **EXPORT)
    assert answer.status_code == status
    if status == 403:
        assert answer.json()["type"] == "/problems/cross-site"


def test_who_sends_a_token_is_no_browser_that_was_lured(sqlite_house: House) -> None:
    path = f"/api/v1/sessions/{sqlite_house.made['session_id']}/ledger/export"
    headers = {"sec-fetch-site": "cross-site"}
    assert sqlite_house.post(path, headers=headers, **EXPORT).status_code == 200


def test_a_token_is_narrowed_to_its_scopes(house: House) -> None:
    access = house.workspace.access
    narrow = {"view": access.new_token("admin", scopes=["view"]).text}
    narrow["list"] = access.new_token("admin", scopes=["list"]).text
    house.tokens = house.tokens | narrow
    path = f"/api/v1/sessions/{house.made['session_id']}/ledger"
    assert house.get(path, "list").status_code == 200
    assert house.get(path, "view").status_code == 404
    assert house.get("/api/v1/me", "view").json()["scopes"] == ["view"]


def test_a_token_is_of_one_tenant(sqlite_house: House) -> None:
    path = f"/api/v1/sessions/{sqlite_house.made['session_id']}/ledger"
    for tenant, status in (("default", 200), ("other", 404), ("nowhere", 404), ("A B", 404)):
        answer = sqlite_house.get(path, "admin", headers={"evidentia-tenant": tenant})
        assert answer.status_code == status


def test_the_owner_asks_in_any_tenant(sqlite_house: House) -> None:
    signed_in(sqlite_house)
    for tenant, status in (("default", 200), ("other", 200), ("A B", 404)):
        answer = sqlite_house.client.get("/api/v1/me", headers={"evidentia-tenant": tenant})
        assert answer.status_code == status


def test_a_role_that_is_taken_away_ends_at_once(house: House) -> None:
    path = f"/api/v1/sessions/{house.made['session_id']}/ledger"
    assert house.get(path, "viewer").status_code == 200
    house.workspace.access.revoke("viewer", "viewer")
    assert house.get(path, "viewer").status_code == 404


def test_wrong_tokens_are_counted_and_then_refused(sqlite_house: House) -> None:
    most = Settings().server_sign_ins_per_minute
    answers = [sqlite_house.get("/api/v1/me", "unknown token") for _ in range(most + 1)]
    assert [one.status_code for one in answers] == [401] * most + [429]
    assert int(answers[-1].headers["retry-after"]) >= 1
    assert sqlite_house.get("/api/v1/me", "viewer").status_code == 200


@pytest.mark.parametrize("given", ["Basic eDp5", "Bearer", "Bearer x", "bearer evt~a~b~c", "x"])
def test_what_is_no_token_lets_no_one_in(sqlite_house: House, given: str) -> None:
    answer = sqlite_house.client.get("/api/v1/me", headers={"authorization": given})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")


def test_where_others_can_reach_it_someone_must_be_able_to_sign_in(house: House) -> None:
    opened = house.running.opened
    loopback, elsewhere = Settings(), Settings(server_host="0.0.0.0")
    assert listening.is_owners(opened, loopback) is house.place.is_sqlite
    assert not listening.is_owners(opened, elsewhere)
    for tenant in ("default", "other"):
        access = opened.for_(tenant).access
        for token in access.tokens():
            access.revoke_token(token.token_id)
    with pytest.raises(UsageError, match="no one could sign in, and others can reach"):
        listening.is_owners(opened, elsewhere)


def test_a_server_that_cannot_sign_says_so_as_it_starts(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    opened = house.running.opened
    listening.look_at_key(opened, Settings())
    assert "cannot_sign" not in caplog.text
    key = opened.for_("default").trail.keys()[-1].key.key_id
    file = Path(opened.keys.where("default", key))
    file.rename(file.with_suffix(".away"))
    listening.look_at_key(opened, Settings())
    assert f"the private key {key} is not in {file}" in caplog.text
    assert "EVIDENTIA_KEYS" in caplog.text
    file.with_suffix(".away").rename(file)

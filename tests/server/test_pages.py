"""The pages of the viewer: who gets them, what they are made of, and what tells of problems."""

import re
from importlib.resources import files
from typing import Any

import pytest

from evidentia.server import pages
from evidentia.server.actions import GuardedRoute
from evidentia.server.assets import assets
from evidentia.server.labels import badge_of
from evidentia.server.translating import preferred
from evidentia.server.viewing import local, visible, when
from server.house import NOT_SIGNED_IN, ROLES, House
from server.ids import EXISTING, MISSING
from server.test_routes import FOREIGN, may, role_of

HTML = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
HTMX_SHA256 = "e484d9171a9db30a39c8f16e3d709d4137f3211c659f8e6125816635033d593f"
"""Of dist/htmx.min.js in htmx.org 4.0.0, as npm has it."""
PAGES = [
    route
    for router in pages.ROUTERS
    for route in router.routes
    if isinstance(route, GuardedRoute) and route.action.row is not None
]
READ = [route for route in PAGES if route.methods == {"GET"}]
NAMES = [route.name for route in READ]


def page_of(house: House, route: GuardedRoute, who: str, ids: dict[str, Any]) -> Any:
    path = route.path_format.format(**{name: ids[name] for name in route.param_convertors})
    return house.get(path, who, headers=HTML)


def existing(house: House, route: GuardedRoute) -> dict[str, str]:
    return {name: EXISTING[name](house) for name in route.param_convertors}


@pytest.mark.parametrize("who", ROLES)
def test_a_page_is_shown_to_exactly_who_may(read_house: House, who: str) -> None:
    for route in READ:
        found = page_of(read_house, route, who, existing(read_house, route))
        role = role_of(route, who)
        if may(route, role):
            assert found.status_code == 200, (route.name, found.text)
        else:
            refused = 404 if role is None else 403
            assert found.status_code == refused, (route.name, found.text)


def test_a_page_is_shown_to_no_one_who_is_not_signed_in(read_house: House) -> None:
    for route in READ:
        ids = existing(read_house, route)
        for who in NOT_SIGNED_IN:
            found = page_of(read_house, route, who, ids)
            assert found.status_code == 401, (route.name, who)


def test_a_page_of_what_is_not_there_says_so(read_house: House) -> None:
    for route in READ:
        if route.param_convertors:
            found = page_of(read_house, route, "admin", MISSING)
            assert found.status_code == 404, route.name
            assert "There is no such thing" in found.text, route.name


@pytest.mark.parametrize("lang", ["en", "ar"])
def test_a_page_has_no_script_or_style_in_it(read_house: House, lang: str) -> None:
    """The policy of the server forbids it: such a page would not work."""
    headers = HTML | {"cookie": f"evidentia_lang={lang}"}
    for route in READ:
        path = route.path_format.format(**existing(read_house, route))
        found = read_house.get(path, "admin", headers=headers)
        if "text/html" not in found.headers["content-type"]:
            continue
        text = found.text
        inline = r"<style|<script(?![^>]*\bsrc=)|\sstyle=|\son[a-z]+="
        assert not re.search(inline, text), route.name
        assert not re.search(r"(?:src|href|action)=\"(?:https?:)?//", text), route.name
        if "<html" in text:
            assert f'lang="{lang}"' in text, route.name


WRITTEN = [route for route in PAGES if route.methods != {"GET"}]


def test_a_form_is_taken_from_no_one_who_may_not(read_house: House) -> None:
    """The guard is asked before the form is read, as the API does."""
    for route in WRITTEN:
        path = route.path_format.format(**existing(read_house, route))
        for who in NOT_SIGNED_IN:
            found = read_house.post(path, who, headers=HTML)
            assert found.status_code == 401, (route.name, who)
        for who in ROLES:
            role = role_of(route, who)
            if may(route, role):
                continue
            # another tenant's form is read first: it is wrong in their tenant, too
            refused = {404, 422} if who == FOREIGN else {404 if role is None else 403}
            found = read_house.post(path, who, headers=HTML)
            assert found.status_code in refused, (route.name, who)


def test_pages_are_not_in_the_description_of_the_api() -> None:
    assert not any(route.include_in_schema for route in PAGES)


# What a browser is told of problems


def test_a_browser_gets_a_page_and_a_program_a_problem(sqlite_house: House) -> None:
    page = sqlite_house.get("/nowhere", headers=HTML)
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "What to do" in page.text
    arabic = sqlite_house.get("/nowhere", headers=HTML | {"cookie": "evidentia_lang=ar"})
    assert "لا يوجد شيء كهذا هنا" in arabic.text
    for headers, path in (({}, "/nowhere"), (HTML, "/api/v1/nowhere")):
        told = sqlite_house.get(path, headers=headers)
        assert told.headers["content-type"] == "application/problem+json"


def test_a_part_of_a_page_gets_a_part(sqlite_house: House) -> None:
    found = sqlite_house.get("/nowhere", headers=HTML | {"hx-request": "true"})
    assert found.status_code == 404
    assert "<html" not in found.text


def test_a_mistake_of_the_server_is_a_page_too(
    sqlite_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a secret of the inside")

    monkeypatch.setattr("evidentia.workspace.ledgers.Ledgers.list", broken)
    found = sqlite_house.get("/", headers=HTML)
    assert found.status_code == 500
    assert "The server made a mistake" in found.text
    assert "secret" not in found.text


def test_who_is_not_signed_in_is_led_back_after_it(sqlite_house: House) -> None:
    found = sqlite_house.client.get("/answers?verdict=weak", headers=HTML)
    assert found.status_code in (401, 404)
    asked = sqlite_house.client.get("/?x=1", headers=HTML)
    assert asked.status_code == 401
    assert 'name="back" value="/?x=1"' in asked.text


# Signing in with a token


def test_a_token_signs_a_browser_in_until_it_is_revoked(sqlite_house: House) -> None:
    house = sqlite_house
    token = house.workspace.access.new_token("viewer")
    form = {"token": token.text, "back": "/?x=1"}
    answer = house.client.post("/sign-in/token", data=form, headers=HTML)
    assert (answer.status_code, answer.headers["location"]) == (303, "/?x=1")
    me = house.client.get("/api/v1/me").json()
    assert (me["user"], me["token_id"]) == ("viewer", token.token.token_id)
    house.workspace.access.revoke_token(token.token.token_id)
    assert house.client.get("/api/v1/me").status_code == 401


def test_a_wrong_token_signs_no_one_in(sqlite_house: House) -> None:
    for wrong in ("x", sqlite_house.tokens["revoked token"], sqlite_house.tokens["expired token"]):
        answer = sqlite_house.client.post("/sign-in/token", data={"token": wrong}, headers=HTML)
        assert answer.status_code == 401
        assert "That did not work" in answer.text


def test_signing_out_of_a_page_leads_to_signing_in(sqlite_house: House) -> None:
    house = sqlite_house
    house.client.post("/sign-in/token", data={"token": house.tokens["viewer"]})
    answer = house.client.post("/sign-out", headers=HTML)
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")


# Preferences


def test_language_and_colours_are_kept_in_the_browser(sqlite_house: House) -> None:
    form = {"lang": "ar", "theme": "dark", "back": "/sign-in"}
    answer = sqlite_house.client.post("/preferences", data=form)
    assert answer.headers["location"] == "/sign-in"
    page = sqlite_house.client.get("/sign-in", headers=HTML).text
    assert '<html lang="ar" dir="rtl" data-theme="dark">' in page


@pytest.mark.parametrize(
    "wrong",
    [
        *("//evil.example/", "https://evil.example/", "\\\\evil", "/\\e"),
        *("/\t/evil.example/", "/\n/evil.example", "/\nset-cookie: a=b", "/\x7f", "/\u202e"),
    ],
)
def test_no_form_leads_to_another_site(sqlite_house: House, wrong: str) -> None:
    assert local(wrong) == "/"
    answer = sqlite_house.client.post("/preferences", data={"lang": "ar", "back": wrong})
    assert answer.headers["location"] == "/"


def test_an_address_with_other_letters_is_led_to_as_a_header_can_hold_it() -> None:
    assert local("/answers?title=\u0625\u062c\u0627\u0632\u0629 %d8&a=1#x") == (
        "/answers?title=%D8%A5%D8%AC%D8%A7%D8%B2%D8%A9%20%d8&a=1#x"
    )


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("", "en"),
        ("ar", "ar"),
        ("ar-SA,en;q=0.5", "ar"),
        ("en-GB,ar;q=0.9", "en"),
        ("fr,ar;q=0.3,en;q=0.2", "ar"),
        ("ar;q=0", "en"),
        ("de", "en"),
        ("ar;q=x,en;q=0.1", "en"),
    ],
)
def test_the_browsers_language_is_taken(accepted: str, language: str) -> None:
    assert preferred(accepted) == language


# Styles and scripts


def test_static_files_are_kept_for_good_under_the_digest_of_their_contents(
    sqlite_house: House,
) -> None:
    client, address = sqlite_house.client, assets().address("viewer.css")
    plain = client.get(address, headers={"accept-encoding": "identity"})
    small = client.get(address, headers={"accept-encoding": "gzip"})
    assert "immutable" in plain.headers["cache-control"]
    assert plain.headers["content-type"] == "text/css; charset=utf-8"
    assert small.headers["content-encoding"] == "gzip"
    assert small.content == plain.content
    old = client.get("/static/0123456789ab/viewer.css")
    assert old.headers["cache-control"] == "no-cache"
    for wrong in ("nowhere.css", "../viewing.py", "..%2fviewing.py"):
        assert client.get(f"/static/{assets().version}/{wrong}").status_code == 404


def test_other_pages_get_the_component_at_an_address_that_stays(sqlite_house: House) -> None:
    found = sqlite_house.client.get("/static/latest/evidentia-citation.js")
    assert found.headers["content-type"] == "text/javascript; charset=utf-8"
    assert found.headers["cache-control"] == "no-cache"
    assert "customElements.define" in found.text


def test_htmx_is_the_file_that_was_published() -> None:
    from hashlib import sha256  # noqa: PLC0415 - one test's

    data = (files("evidentia.server") / "static" / "htmx.min.js").read_bytes()
    assert sha256(data).hexdigest() == HTMX_SHA256


def test_scripts_and_styles_of_all_pages_are_small() -> None:
    """At most 60 kB, compressed, on any page; all of them together is more than any loads."""
    own = [one for name, one in assets().by_name.items() if not name.startswith("verify/")]
    assert sum(len(one.small) for one in own) < 60_000


# Text of others


def test_characters_that_cannot_be_seen_are_shown() -> None:
    assert visible("a\u202eb") == 'a<span class="unseen" title="">U+202E</span>b'
    assert visible("<b>\u200b") == '&lt;b&gt;<span class="unseen" title="">U+200B</span>'
    joined = "خانه\u200cای\n\tx"  # noqa: RUF001 - Persian needs the joiner, which is no trick
    assert visible(joined) == joined


def test_a_time_is_shown_to_the_minute() -> None:
    assert ">2026-01-03 14:30<" in when("2026-01-03T14:30:00.000000Z")
    assert when("<x>") == "&lt;x&gt;"


@pytest.mark.parametrize(
    ("confidence", "kind"),
    [
        (1.0, "high"),
        (0.85, "high"),
        (0.849, "high"),
        (0.84, "good"),
        (0.7, "good"),
        (0.69, "moderate"),
        (0.5, "moderate"),
        (0.49, "low"),
        (0.3, "low"),
        (0.29, "very-low"),
        (0.0, "very-low"),
    ],
)
def test_a_confidence_has_one_of_five_badges(confidence: float, kind: str) -> None:
    assert badge_of(confidence)[0] == kind

"""Signing in with an OpenID provider: a real one for tests, in a process of its own."""

import base64
import hashlib
import json
import re
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

from evidentia.errors import EnvironmentProblem
from evidentia.server import listening
from evidentia.server.oidc import Provider
from evidentia.settings import Settings
from places import Place
from server.house import HOST, Furniture, House, serving
from web_server import serving as web

CLIENT = "evidentia-tests"
NOW = int(datetime.now(UTC).timestamp())  # noqa: TID251 - the provider is a clock of its own


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    """Give the address of a provider at which anyone can be anybody."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "oidc_provider_mock", "--port", str(port)]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, stdout=quiet, stderr=quiet)
    address = f"http://127.0.0.1:{port}"
    while True:
        try:
            if httpx2.get(f"{address}/.well-known/openid-configuration").status_code == 200:
                break
        except httpx2.HTTPError:
            assert process.poll() is None
            time.sleep(0.05)
    yield address
    process.terminate()
    process.wait()


@pytest.fixture
def with_provider(
    tmp_path_factory: pytest.TempPathFactory, sqlite_furniture: Furniture, issuer: str
) -> Iterator[House]:
    """Give a server that trusts the provider; ann of it is an approver."""
    place = Place(tmp_path_factory.mktemp("house") / "home")
    secret = tmp_path_factory.mktemp("secret") / "client"
    secret.write_text("any\n", encoding="utf-8")
    named = {
        "oidc_issuer": issuer,
        "oidc_client_id": CLIENT,
        "oidc_client_secret_file": secret,
    }
    with serving(place, sqlite_furniture, **named) as found:
        found.workspace.access.grant(f"{issuer}|ann", "approver")
        yield found


def go(house: House, sub: str) -> Any:
    """Go to the provider as a browser does, be someone there, and return where it sends one."""
    away = house.client.get("/sign-in/oidc")
    assert away.status_code == 303
    back = httpx2.post(away.headers["location"], data={"sub": sub})
    assert back.status_code == 302, back.text
    return back.headers["location"]


def test_a_browser_signs_in_and_is_who_the_provider_says(with_provider: House, issuer: str) -> None:
    house = with_provider
    assert house.client.get("/api/v1/me").status_code == 401
    back = go(house, "ann")
    assert back.startswith(f"{HOST}/sign-in/oidc/callback?")
    signed = house.client.get(back.removeprefix(HOST))
    assert (signed.status_code, signed.headers["refresh"]) == (200, "0; url=/")
    assert "SameSite=strict" in signed.headers["set-cookie"]
    assert house.client.get("/api/v1/me").json()["user"] == f"{issuer}|ann"
    path = f"/api/v1/sessions/{house.made['session_id']}/ledger"
    assert house.client.get(path).status_code == 200
    (entry, *_) = house.workspace.access.requests()
    assert (entry.body["did"], entry.body["by"]) == ("sign_in", f"{issuer}|ann")


def test_who_has_no_grant_sees_nothing_whatever_the_provider_says(with_provider: House) -> None:
    house = with_provider
    back = go(house, "admin")  # the name of one who is an admin here, but not by this issuer
    assert house.client.get(back.removeprefix(HOST)).status_code == 200
    path = f"/api/v1/sessions/{house.made['session_id']}/ledger"
    assert house.client.get(path).status_code == 404


def test_the_provider_is_asked_by_code_with_a_challenge_a_state_and_a_nonce(
    with_provider: House,
) -> None:
    away = urlsplit(with_provider.client.get("/sign-in/oidc").headers["location"])
    asked = parse_qs(away.query)
    assert asked["response_type"] == ["code"]
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["redirect_uri"] == [f"{HOST}/sign-in/oidc/callback"]
    assert all(len(asked[name][0]) == 43 for name in ("state", "nonce", "code_challenge"))


def test_a_code_without_its_state_signs_no_one_in(with_provider: House) -> None:
    house = with_provider
    back = go(house, "ann").removeprefix(HOST)
    other = re.sub(r"state=[^&]+", "state=other", back)
    assert house.client.get(other).status_code == 401
    assert house.client.get("/sign-in/oidc/callback").status_code == 401
    house.client.cookies.clear()
    assert house.client.get(back).status_code == 401


def test_a_code_is_good_once(with_provider: House) -> None:
    house = with_provider
    back = go(house, "ann").removeprefix(HOST)
    kept = dict(house.client.cookies)
    assert house.client.get(back).status_code == 200
    house.client.cookies.clear()
    cookie = "; ".join(f"{name}={value}" for name, value in kept.items())
    assert house.client.get(back, headers={"cookie": cookie}).status_code == 401


def id_token(house: House, issuer: str, sub: str) -> str:
    """Return a token that the provider signed for us."""
    back = parse_qs(urlsplit(go(house, sub)).query)
    form = {
        "grant_type": "authorization_code",
        "code": back["code"][0],
        "redirect_uri": f"{HOST}/sign-in/oidc/callback",
        "client_id": CLIENT,
    }
    answer = httpx2.post(f"{issuer}/oauth2/token", data=form, auth=(CLIENT, "any"))
    return str(answer.json()["id_token"])


def test_a_program_sends_a_token_of_the_provider(with_provider: House, issuer: str) -> None:
    house = with_provider
    token = id_token(house, issuer, "ann")
    house.client.cookies.clear()
    house.tokens = house.tokens | {"ann": token, "changed": f"{token[:-8]}AAAAAAAA"}
    me = house.get("/api/v1/me", "ann")
    assert me.json()["user"] == f"{issuer}|ann"
    assert house.get("/api/v1/me", "changed").status_code == 401
    path = f"/api/v1/sessions/{house.made['session_id']}/ledger"
    assert house.get(path, "ann").status_code == 200
    assert house.get(path, "ann", headers={"evidentia-tenant": "other"}).status_code == 404


# What a provider must not be able to say


class Fake:
    """A provider whose answers a test chooses."""

    def __init__(self) -> None:
        self.key = RSAKey.generate_key(2048, {"kid": "a", "use": "sig"})
        self.asked: list[str] = []
        self.sent: dict[str, list[str]] = {}
        self.given: dict[str, str] = {}
        self.status = 200
        self.issuer = ""

    def __call__(self, path: str, sent: bytes) -> tuple[int, dict[str, str], bytes]:
        self.asked.append(path)
        if path == "/keys":
            found: object = {"keys": [self.key.as_dict(private=False)]}
        elif path == "/token":
            self.sent = parse_qs(sent.decode())
            found = self.given
        else:
            places = ("authorization_endpoint", "/go"), ("token_endpoint", "/token")
            found = {name: f"{self.issuer}{place}" for name, place in places}
            found |= {"issuer": self.issuer, "jwks_uri": f"{self.issuer}/keys"}
        return (
            self.status if path == "/token" else 200,
            {"content-type": "application/json"},
            json.dumps(found).encode(),
        )

    def token(self, header: dict[str, Any] | None = None, **claims: Any) -> str:
        said = {"iss": self.issuer, "sub": "ann", "aud": CLIENT, "exp": NOW + 3600}
        return jwt.encode({"alg": "RS256", "kid": "a", **(header or {})}, said | claims, self.key)


@pytest.fixture
def fake() -> Iterator[Fake]:
    found = Fake()
    with web(found) as address:
        found.issuer = address
        yield found


def test_only_a_token_for_us_that_is_in_force_counts(fake: Fake) -> None:
    provider = Provider(fake.issuer, CLIENT)
    assert provider.user_of(fake.token()) == f"{fake.issuer}|ann"
    assert provider.user_of(fake.token(aud=["x", CLIENT])) == f"{fake.issuer}|ann"
    for wrong in (
        {"aud": "someone else"},
        {"aud": None},
        {"iss": "https://other.example"},
        {"exp": NOW - 3600},
        {"nbf": NOW + 3600},
        {"sub": ""},
        {"sub": 5},
        {"sub": "a\nb"},
    ):
        assert provider.user_of(fake.token(**wrong)) is None, wrong
    for name in ("exp", "sub", "iss"):
        parts = fake.token().split(".")
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=="))
        del claims[name]
        token = jwt.encode({"alg": "RS256", "kid": "a"}, claims, fake.key)
        assert provider.user_of(token) is None, name


def test_a_token_without_a_signature_or_with_a_shared_secret_counts_for_nothing(fake: Fake) -> None:
    provider = Provider(fake.issuer, CLIENT)
    claims = {"iss": fake.issuer, "sub": "ann", "aud": CLIENT, "exp": NOW + 3600}
    public = fake.key.as_pem(private=False)
    secret = OctKey.import_key(hashlib.sha256(public).digest())
    shared = jwt.encode({"alg": "HS256", "kid": "a"}, claims, secret, algorithms=["HS256"])
    encoded = [
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
        for part in ({"alg": "none", "kid": "a"}, claims)
    ]
    for wrong in (shared, ".".join((*encoded, "")), "a.b.c", "..", "x"):
        assert provider.user_of(wrong) is None


def test_a_code_is_handed_in_with_what_only_this_server_knows(fake: Fake) -> None:
    provider = Provider(fake.issuer, CLIENT)
    url, went = provider.begin("https://here.example/callback")
    asked = parse_qs(urlsplit(url).query)
    fake.given = {"id_token": fake.token(nonce=asked["nonce"][0])}
    assert provider.finish("https://here.example/callback", "c", went) == f"{fake.issuer}|ann"
    digest = hashlib.sha256(fake.sent["code_verifier"][0].encode()).digest()
    challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
    assert asked["code_challenge"] == [challenge]
    assert fake.sent["code"] == ["c"]
    assert fake.sent["redirect_uri"] == asked["redirect_uri"]


def test_an_id_token_for_another_sign_in_or_none_counts_for_nothing(fake: Fake) -> None:
    provider = Provider(fake.issuer, CLIENT, audience="an api")
    _, went = provider.begin("https://here.example/callback")
    other, mine = fake.token(nonce="another"), fake.token(nonce=went.nonce)
    for given, status in (({"id_token": other}, 200), ({}, 200), ({"id_token": mine}, 400)):
        fake.given, fake.status = given, status
        assert provider.finish("https://here.example/callback", "c", went) is None
    assert provider.user_of(mine) is None  # it is for the browser, and not for the API
    assert provider.user_of(fake.token(aud="an api")) == f"{fake.issuer}|ann"


def test_new_keys_of_the_provider_are_found(fake: Fake) -> None:
    now = [0.0]
    provider = Provider(fake.issuer, CLIENT, clock=lambda: now[0])
    assert provider.user_of(fake.token())
    fake.key = RSAKey.generate_key(2048, {"kid": "b", "use": "sig"})
    assert provider.user_of(fake.token({"kid": "b"})) is None  # it was asked just now
    now[0] = 31
    assert provider.user_of(fake.token({"kid": "b"})) == f"{fake.issuer}|ann"
    before = len(fake.asked)
    for _ in range(5):
        provider.user_of(fake.token({"kid": secrets.token_hex(4)}))
    assert len(fake.asked) == before


def test_a_provider_that_calls_itself_otherwise_is_not_believed(fake: Fake) -> None:
    token = fake.token()
    with pytest.raises(EnvironmentProblem, match="calls itself"):
        Provider(f"{fake.issuer}/other", CLIENT).user_of(token)


def test_a_provider_that_does_not_answer_is_said(
    tmp_path_factory: pytest.TempPathFactory, sqlite_furniture: Furniture
) -> None:
    place = Place(tmp_path_factory.mktemp("house") / "home")
    named = {"oidc_issuer": "http://127.0.0.1:9", "oidc_client_id": CLIENT}
    with serving(place, sqlite_furniture, **named) as house:
        answer = house.client.get("/sign-in/oidc")
        assert (answer.status_code, answer.json()["type"]) == (503, "/problems/unavailable")


def test_without_a_provider_there_is_nowhere_to_go(sqlite_house: House) -> None:
    for path in ("/sign-in/oidc", "/sign-in/oidc/callback?code=x&state=y"):
        assert sqlite_house.client.get(path).status_code == 404


def test_with_a_provider_a_server_may_be_reached_by_others(sqlite_house: House) -> None:
    named = Settings(server_host="0.0.0.0", oidc_issuer="https://a.example", oidc_client_id="x")
    assert not listening.is_owners(sqlite_house.running.opened, named)

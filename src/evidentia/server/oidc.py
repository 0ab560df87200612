"""Signing in with an OpenID provider that the operator named: bearer tokens, and code with PKCE.

A user is the pair of issuer and subject. Nothing else that a token claims is looked at: what a
user may do comes from grants. No redirect of the provider is followed, and no proxy is asked.
"""

import base64
import hashlib
import secrets
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

import httpx2
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from evidentia.errors import EnvironmentProblem
from evidentia.proof.files import read_bytes
from evidentia.settings import Settings

ALGORITHMS: Final = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "EdDSA",
)
"""Signatures with a public key; with a shared secret none, and no token without a signature."""
_SECONDS: Final = 10.0
_MOST_BYTES: Final = 2**20
_KEYS_LAST: Final = 600.0
_KEYS_ASKED_AGAIN: Final = 30.0
_LEEWAY: Final = 30
_MOST_SECRET_BYTES: Final = 4_096


@dataclass(frozen=True, slots=True)
class SigningIn:
    """What a browser that went to the provider must come back with."""

    state: str
    nonce: str
    verifier: str


class Provider:
    """An OpenID provider. What it says of itself and its keys are read when they are needed."""

    def __init__(
        self,
        issuer: str,
        client_id: str,
        *,
        audience: str | None = None,
        client_secret: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.issuer = issuer
        self._client_id = client_id
        self._audience = audience or client_id
        self._client_secret = client_secret
        self._clock = clock
        self._lock = threading.Lock()
        self._described: dict[str, Any] | None = None
        self._keys: tuple[float, KeySet] | None = None

    @classmethod
    def of(cls, settings: Settings) -> "Provider | None":
        """Return the provider that the settings name; None if they name none."""
        if settings.oidc_issuer is None or settings.oidc_client_id is None:
            return None
        secret, file = None, settings.oidc_client_secret_file
        if file is not None:
            secret = read_bytes(file, _MOST_SECRET_BYTES).decode().strip()
        return cls(
            settings.oidc_issuer,
            settings.oidc_client_id,
            audience=settings.oidc_audience,
            client_secret=secret,
        )

    def user_of(self, token: str, *, nonce: str | None = None) -> str | None:
        """Return the user of a token that the provider signed for us; None if it is none.

        With a `nonce`, it must be the ID token of a browser that signs in.
        """
        claims = self._claims(token)
        audience = claims.get("aud") if claims else None
        wanted = self._audience if nonce is None else self._client_id
        is_ours = wanted in (audience if isinstance(audience, list) else [audience])
        if claims is None or not is_ours or (nonce is not None and claims.get("nonce") != nonce):
            return None
        return f"{self.issuer}|{claims['sub']}"

    def begin(self, callback: str) -> tuple[str, SigningIn]:
        """Return where a browser goes to sign in, and what it must come back with."""
        went = SigningIn(*(secrets.token_urlsafe(32) for _ in range(3)))
        digest = hashlib.sha256(went.verifier.encode()).digest()
        query = {
            "response_type": "code",
            "client_id": self._client_id,
            "redirect_uri": callback,
            "scope": "openid",
            "state": went.state,
            "nonce": went.nonce,
            "code_challenge": base64.urlsafe_b64encode(digest).decode().rstrip("="),
            "code_challenge_method": "S256",
        }
        return f"{self._endpoint('authorization_endpoint')}?{urlencode(query)}", went

    def finish(self, callback: str, code: str, went: SigningIn) -> str | None:
        """Return the user that a code stands for; None if the provider does not say."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": callback,
            "client_id": self._client_id,
            "code_verifier": went.verifier,
        }
        basic = None if self._client_secret is None else (self._client_id, self._client_secret)
        said = self._ask("POST", self._endpoint("token_endpoint"), data=form, auth=basic)
        token = said.get("id_token")
        return self.user_of(token, nonce=went.nonce) if isinstance(token, str) else None

    def _claims(self, token: str) -> dict[str, Any] | None:
        """Return what a token says that the provider signed and that is in force; None if none."""
        rules = jwt.JWTClaimsRegistry(
            leeway=_LEEWAY,
            iss={"essential": True, "value": self.issuer},
            sub={"essential": True},
            exp={"essential": True},
        )
        for again in (False, True):  # the provider may have new keys
            try:
                found = jwt.decode(token, self._key_set(again=again), algorithms=list(ALGORITHMS))
                rules.validate(found.claims)
            except (JoseError, ValueError, TypeError):
                continue
            claims: dict[str, Any] = dict(found.claims)
            sub = claims["sub"]
            return claims if isinstance(sub, str) and sub and sub.isprintable() else None
        return None

    def _key_set(self, *, again: bool) -> KeySet:
        """Return the provider's keys; those that were read a while ago are read again."""
        now = self._clock()
        with self._lock:
            known = self._keys
        lasts = _KEYS_ASKED_AGAIN if again else _KEYS_LAST
        if known is not None and now - known[0] < lasts:
            return known[1]
        found = KeySet.import_key_set(self._ask("GET", self._endpoint("jwks_uri")))  # type: ignore[arg-type]  # a dict that joserfc checks itself
        with self._lock:
            self._keys = now, found
        return found

    def _endpoint(self, name: str) -> str:
        described = self._described
        if described is None:
            described = self._ask("GET", f"{self.issuer}/.well-known/openid-configuration")
            if described.get("issuer") != self.issuer:
                raise EnvironmentProblem(
                    f"the OpenID provider {self.issuer} calls itself {described.get('issuer')!r}: "
                    "set EVIDENTIA_OIDC_ISSUER to exactly that"
                )
            self._described = described
        found = described.get(name)
        if not isinstance(found, str):
            raise EnvironmentProblem(f"the OpenID provider {self.issuer} has no {name}")
        return found

    def _ask(self, method: str, url: str, **more: Any) -> dict[str, Any]:
        try:
            with httpx2.Client(timeout=_SECONDS, trust_env=False, follow_redirects=False) as client:
                answer = client.request(method, url, **more)
        except httpx2.HTTPError as error:
            raise EnvironmentProblem(f"the OpenID provider {self.issuer}: {error}") from error
        if answer.status_code in _REFUSED:
            return {}
        if answer.status_code != httpx2.codes.OK or len(answer.content) > _MOST_BYTES:
            raise EnvironmentProblem(
                f"the OpenID provider {self.issuer} answered {answer.status_code} at {url}"
            )
        try:
            found = answer.json()
        except ValueError:
            found = None
        return found if isinstance(found, dict) else {}


_REFUSED: Collection[int] = (400, 401, 403)
"""What a provider answers to a code that is none."""

"""Who asks: one agent over standard input and output, or whoever has a token, over HTTP.

Each call asks anew. A token that was revoked, or whose user lost a role, is refused from the next
call on, also in the middle of a conversation.
"""

import secrets
from dataclasses import dataclass
from typing import Protocol

from anyio import to_thread
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken

from evidentia.errors import AccessError
from evidentia.workspace import Workspace
from evidentia.workspace.acting import Asked
from evidentia.workspace.opened import Opened
from evidentia.workspace.requests import AskedRequest, Outcome, record_request
from evidentia.workspace.tokens import ApiToken, holder, live

_ISSUER = "evidentia"


class Asker(Protocol):
    """Who asks: it gives the workspace of a call, and records what was asked of a server."""

    def workspace(self) -> Workspace:
        """Return the workspace of whoever asks, in the hands of their agent."""

    def record(self, row: str, outcome: Outcome) -> None:
        """Record what was asked, by its row in the guard's table, where a server does that."""


@dataclass(frozen=True, slots=True)
class OneAgent:
    """An agent that a person started on their own machine, with a workspace of theirs."""

    opened: Workspace
    agent: str

    def workspace(self) -> Workspace:
        """Return the workspace in the hands of the agent."""
        return self.opened.by_agent(self.agent)

    def record(self, row: str, outcome: Outcome) -> None:
        """Record nothing: who uses a workspace in their own process is in no access log."""


@dataclass(frozen=True, slots=True)
class TokenHolders:
    """Agents of whoever has a token of `evidentia token new`: keeps the SDK's `TokenVerifier`."""

    opened: Opened
    agent: str

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return whose a token is; None if it is none, was revoked, or has ended."""
        found = await to_thread.run_sync(holder, self.opened, token)
        if found is None:
            return None
        return AccessToken(
            token=token,
            client_id=f"{found.tenant}/{found.token_id}",
            scopes=[] if found.scopes is None else sorted(found.scopes),
            subject=found.user,
            claims={"iss": _ISSUER, "tenant": found.tenant, "token_id": found.token_id},
        )

    def workspace(self) -> Workspace:
        """Return the workspace of the token's user, within its scopes."""
        token = self._token()
        asked = Asked(scopes=token.scopes, agent=self.agent)
        return self.opened.for_(token.tenant, token.user, asked)

    def record(self, row: str, outcome: Outcome) -> None:
        """Record what was asked in the trail, as `evidentia serve` does."""
        token = self._token()
        ids = secrets.token_hex(8), secrets.token_hex(16)
        asked = AskedRequest(row, outcome, "/mcp", *ids, token.token_id)
        record_request(self.opened, token.tenant, token.user, asked)

    def _token(self) -> ApiToken:
        given = get_access_token()
        claims = {} if given is None else given.claims or {}
        if claims.get("iss") != _ISSUER:
            raise AccessError("no token came with this call: send one, as a bearer token")
        found = live(self.opened, claims["tenant"], claims["token_id"])
        if found is None:
            raise AccessError("the token was revoked, or has ended: ask for another one")
        return found

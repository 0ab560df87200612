"""`evidentia mcp` in a process of its own, as clients start it or reach it over HTTP."""

import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from conversing import conversing, refused, text_of, told
from evidentia.workspace import open_workspace
from packing import decision, memo

pytestmark = pytest.mark.sqlite_suffices
RIGHT = "Employees receive 15 days of leave."
COMMAND = ("-m", "evidentia.cli.main", "mcp")
BEGINNING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the home of a workspace with two tenants, each with a document."""
    folder = tmp_path_factory.mktemp("served") / "home"
    with open_workspace(folder) as opened:
        opened.documents.add({"leave.md": f"# Leave\n\n{RIGHT}\n".encode()}, collection="policies")
        opened.assemble(decision(1), memo=memo())
        other = opened.opened.for_("other")
        other.documents.add({"pets.md": b"# Pets\n\nDogs are welcome.\n"}, collection="rules")
    return folder


def on_standard_input(home: Path, *options: str) -> Any:
    """Return a transport that starts the server, as clients do."""
    arguments = [*COMMAND, "--home", str(home), *options]
    return stdio_client(StdioServerParameters(command=sys.executable, args=arguments))


# Standard input and output


def test_an_agent_is_served_on_standard_input(home: Path) -> None:
    async def talk(client: Client) -> tuple[Any, ...]:
        found = await client.call_tool("find_passages", {"query": "days of leave"})
        context = {"answer": RIGHT, "contexts": [{"text": RIGHT}]}
        checked = await client.call_tool("check_answer", context)
        return found, checked, await client.list_resources()

    transport = on_standard_input(home, "--agent", "desk")
    found, checked, listed = conversing(transport, talk, mode="legacy")
    assert "15 days of leave" in text_of(found)
    made = told(checked)
    assert made["by_verdict"]["supported"] == 1
    assert listed.resources[0].name == made["ledger_id"]
    with open_workspace(home, read_only=True) as opened:
        assert opened.trail.entry(made["entry"]).body["by"] == "agent:desk"


def test_on_standard_input_a_user_may_lend_their_name_and_a_folder_may_be_shared(
    home: Path, tmp_path: Path
) -> None:
    with open_workspace(home) as opened:
        opened.access.grant("vera", "viewer")
        (tmp_path / "proof.json").write_text(json.dumps(opened.trail.prove(0).as_json()))

    async def talk(client: Client) -> tuple[Any, ...]:
        verified = await client.call_tool("verify_file", {"file": "proof.json"})
        return verified, await client.call_tool("check_answer", {"answer": RIGHT})

    transport = on_standard_input(home, "--as", "vera", "--files", str(tmp_path))
    verified, checked = conversing(transport, talk)
    assert told(verified)["holds"]
    assert "vera may not make or record evidence" in refused(checked)


# HTTP


@contextmanager
def served(home: Path, *options: str) -> Iterator[dict[str, str]]:
    """Serve a home over HTTP; give what the server says of itself."""
    arguments = [*COMMAND, "--http", "--port", "0", "--json", "--home", str(home), *options]
    server = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    said = ""
    while not said.endswith("}\n"):
        line = server.stdout.readline()
        assert line, server.wait()
        said += line
    try:
        yield json.loads(said)
    finally:
        server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 0
        server.stdout.close()


@pytest.fixture(scope="module")
def address(home: Path) -> Iterator[str]:
    """Serve the home, also by a name that others know it by; give where it is on this machine."""
    with served(home, "--agent", "desk", "--url", "http://evidence.example.com") as given:
        yield given["listens"]


def token_of(home: Path, user: str, role: str, tenant: str = "default", **how: Any) -> Any:
    """Make a token of a user with a role."""
    with open_workspace(home, tenant=tenant) as opened:
        opened.access.grant(user, role)
        return opened.access.new_token(user, **how)


@asynccontextmanager
async def over_http(address: str, token: str) -> AsyncIterator[Any]:
    """Give a transport that sends a token with each request."""
    headers = {"authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        streamable_http_client(address, http_client=http) as streams,
    ):
        yield streams


def test_who_has_a_token_is_served_over_http_as_that_user(home: Path, address: str) -> None:
    token = token_of(home, "ann", "approver")
    steps: list[float] = []

    async def talk(client: Client) -> tuple[Any, ...]:
        async def told_of(progress: float, total: float | None, message: str | None) -> None:
            del total, message
            steps.append(progress)

        given = {"answer": RIGHT, "contexts": [{"text": RIGHT}]}
        checked = await client.call_tool("check_answer", given, progress_callback=told_of)
        pack = await client.read_resource("evidentia://pack/latest")
        return checked, pack

    for mode in ("legacy", "auto"):
        checked, pack = conversing(over_http(address, token.text), talk, mode=mode)
        made = told(checked)
        assert steps[-1] == 1
        steps.clear()
    with open_workspace(home, read_only=True) as opened:
        assert opened.trail.entry(made["entry"]).body["by"] == "agent:desk of ann"
        [read, *_] = opened.access.requests()
        assert {**read.body, "request_id": "", "trace_id": ""} == {
            "did": "packs.get",
            "outcome": "done",
            "path": "/mcp",
            "request_id": "",
            "trace_id": "",
            "token_id": token.token.token_id,
            "by": "ann",
        }
    assert "dec_1" in pack.contents[0].text


def test_a_token_goes_no_further_than_its_scopes_and_its_tenant(home: Path, address: str) -> None:
    narrow = token_of(home, "ned", "approver", scopes=["list", "view"])
    other = token_of(home, "ola", "admin", tenant="other")
    pack = packs_of(home)[0]

    async def talk(client: Client) -> tuple[Any, ...]:
        found = await client.call_tool("find_passages", {"query": "dogs leave"})
        given = {"answer": RIGHT, "contexts": [{"text": RIGHT}]}
        return found, await client.call_tool("check_answer", given)

    found, checked = conversing(over_http(address, narrow.text), talk)
    assert [one["document"] for one in told(found)["passages"]] == ["policies/leave.md"]
    assert "ned may not make or record evidence" in refused(checked)

    async def prying(client: Client) -> Any:
        found, _ = await talk(client)
        for uri in (f"evidentia://pack/{pack}", "evidentia://pack/dec_1"):
            with pytest.raises(MCPError, match="there is no pack"):
                await client.read_resource(uri)
        return found, await client.list_resources()

    found, listed = conversing(over_http(address, other.text), prying)
    assert [one["document"] for one in told(found)["passages"]] == ["rules/pets.md"]
    assert pack not in {one.name for one in listed.resources}
    with open_workspace(home, read_only=True) as opened:
        assert opened.access.requests()[0].body["outcome"] == "refused"  # ned's


def packs_of(home: Path) -> list[str]:
    with open_workspace(home, read_only=True) as opened:
        return [one.id for one in opened.packs.list()]


def test_a_token_that_is_revoked_is_refused_from_the_next_call_on(home: Path, address: str) -> None:
    token = token_of(home, "rae", "approver")

    async def talk(client: Client) -> str:
        told(await client.call_tool("list_documents", {}))
        revoke(home, token.token.token_id)
        with pytest.raises(MCPError) as refusal:
            await client.call_tool("list_documents", {})
        return str(refusal.value)

    assert conversing(over_http(address, token.text), talk)
    assert asked(address, token.text) == 401


def revoke(home: Path, token_id: str) -> None:
    with open_workspace(home) as opened:
        opened.access.revoke_token(token_id)


def asked(address: str, token: str | None = None, **headers: str) -> int:
    """Send the first request of a conversation; return the status of the answer."""
    if token is not None:
        headers["authorization"] = f"Bearer {token}"
    sent = {**JSON, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return httpx2.post(address, json=BEGINNING, headers=sent).status_code


def test_who_has_no_token_and_what_a_strange_page_sends_is_refused(
    home: Path, address: str
) -> None:
    made = token_of(home, "joe", "viewer").text
    assert asked(address, made) == 200
    statuses = {
        "no token": asked(address),
        "wrong token": asked(address, f"{made[:-2]}xx"),
        "no token at all": asked(address, "hunter2"),
        "another scheme": asked(address, authorization=f"Basic {made}"),
        "its own name": asked(address, made, host="evidence.example.com"),
        "its own page": asked(address, made, origin="https://evidence.example.com"),
        "another host": asked(address, made, host="evil.example.com"),
        "a look-alike": asked(address, made, host="127.0.0.1.evil.example.com"),
        "a strange page": asked(address, made, origin="https://evil.example.com"),
    }
    assert statuses == {
        "no token": 401,
        "wrong token": 401,
        "no token at all": 401,
        "another scheme": 401,
        "its own name": 200,
        "its own page": 200,
        "another host": 421,
        "a look-alike": 421,
        "a strange page": 403,
    }
    headers = {**JSON, "authorization": f"Bearer {made}"}
    large = httpx2.post(address, content=b" " * (4 * 2**20 + 1), headers=headers)
    assert large.status_code == 413

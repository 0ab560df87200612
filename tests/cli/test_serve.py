"""`evidentia serve`, started as a user starts it."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from cli_running import Cli


@contextmanager
def started(folder: Path, *options: str) -> Iterator[dict[str, Any]]:
    """Start the server in a process of its own; give what it says of itself."""
    command = [sys.executable, "-m", "evidentia.cli.main", "serve", "--port", "0", "--json"]
    server = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True, cwd=folder)
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


def test_it_starts_without_any_setting_up_and_signs_the_owner_in(folder: Path) -> None:
    with started(folder, "--demo") as said, httpx2.Client(base_url=said["url"]) as browser:
        assert browser.get("/healthz").json()["status"] == "ok"
        assert browser.get("/api/v1/me").status_code == 401
        assert browser.get(said["sign_in"]).status_code == 303
        assert browser.get("/api/v1/me").json()["tenant"] == "default"
        with httpx2.Client(base_url=said["url"]) as second:
            assert second.get(said["sign_in"]).status_code == 401
    assert (folder / ".evidentia" / "evidentia.db").exists()


def test_a_token_of_the_command_line_opens_it(cli: Cli, folder: Path) -> None:
    token = cli("token", "new", "bot", "--role", "viewer").out.strip()
    with started(folder) as said:
        headers = {"authorization": f"Bearer {token}"}
        me = httpx2.get(f"{said['url']}/api/v1/me", headers=headers).json()
        assert me["user"] == "bot"


def test_it_does_not_start_where_others_reach_it_and_no_one_could_sign_in(cli: Cli) -> None:
    ran = cli("serve", "--host", "0.0.0.0", "--port", "0")
    assert ran.code == 2
    assert "make a token first, with 'evidentia token new USER --role admin'" in ran.err


def test_it_does_not_start_with_a_passphrase_that_opens_no_key(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("keys", "new").code == 0
    (folder / "right").write_text("the right passphrase")
    (folder / "wrong").write_text("another passphrase")
    assert cli("keys", "protect", "--passphrase-file", "right").code == 0
    for file, said in (("wrong", "the passphrase does not open"), ("none", "none: no such file")):
        monkeypatch.setenv("EVIDENTIA_KEY_PASSPHRASE_FILE", file)
        ran = cli("serve", "--port", "0")
        assert ran.code == 2
        assert said in ran.err


@pytest.mark.parametrize("host", ["no such host", "203.0.113.1"])
def test_an_address_that_is_not_here_is_said(cli: Cli, host: str) -> None:
    assert cli("token", "new", "bot").code == 0
    ran = cli("serve", "--host", host, "--port", "0")
    assert ran.code == 3
    assert host in ran.err


def test_the_command_line_does_not_load_the_server() -> None:
    program = (
        "import sys, evidentia.cli.main, evidentia.cli.serve, evidentia.cli.token; "
        "sys.exit(any(name in sys.modules for name in ('fastapi', 'starlette', 'uvicorn')))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0

"""`evidentia mcp`: what it refuses before it serves anything."""

import subprocess
import sys
from pathlib import Path

from cli_running import Cli
from evidentia.workspace import open_workspace


def test_what_cannot_be_served_is_said_before_anything_is(cli: Cli, folder: Path) -> None:
    cases = (
        (("--home", str(folder / "nowhere")), "no"),
        (("--http", "--as", "ann"), "over HTTP a token says who asks"),
    )
    for options, says in cases:
        ran = cli("mcp", *options)
        assert ran.code == 2, options
        assert says in ran.err, ran.err
        assert not (folder / "nowhere").exists()
    with open_workspace(folder / "home"):
        pass
    for options, says in (
        (("--agent", "two words"), "an agent's name is one word"),
        (("--files", "nowhere"), "there is no such folder"),
        (("--http", "--host", "0.0.0.0"), "make a token first"),
    ):
        ran = cli("mcp", "--home", str(folder / "home"), *options)
        assert (ran.code, ran.out) == (2, ""), options
        assert says in ran.err
    assert cli("token", "new", "ann", "--home", str(folder / "home")).code == 0
    ran = cli("mcp", "--home", str(folder / "home"), "--http", "--host", "0.0.0.0")
    assert (ran.code, "say by which others reach it (--url" in ran.err) == (2, True)


def test_the_command_line_does_not_load_the_sdk() -> None:
    program = (
        "import sys, evidentia, evidentia.cli.main, evidentia.cli.mcp; "
        "sys.exit(any(name in sys.modules for name in ('mcp', 'starlette', 'uvicorn')))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0

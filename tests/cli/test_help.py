import subprocess
import sys

import pytest
import typer

from cli_running import Cli
from evidentia.cli.main import app

HEAVY = ("pydantic", "structlog", "sqlalchemy", "alembic", "rich", "orjson", "cryptography")


def _commands() -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []

    def walk(path: str, command: object) -> None:
        command = getattr(command, "loaded", command)
        children = getattr(command, "commands", None)
        if children is None:
            found.append((path, command))
        else:
            for name, child in children.items():
                walk(f"{path} {name}".strip(), child)

    walk("", typer.main.get_command(app))
    return found


@pytest.mark.parametrize("path", [path for path, _ in _commands()])
def test_every_command_takes_json_and_explains_itself(path: str) -> None:
    command = dict(_commands())[path]
    options = [option for parameter in command.params for option in parameter.opts]  # type: ignore[attr-defined]
    assert "--json" in options
    assert len(command.help or "") > 25  # type: ignore[attr-defined]


@pytest.mark.parametrize("arguments", [["--help"], ["trail", "--help"], ["trail", "append", "-h"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    script = (
        "import sys\n"
        f"sys.argv = ['evidentia', *{arguments!r}]\n"
        "from evidentia.cli.main import run\n"
        "try:\n    run()\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        f"heavy = [name for name in {HEAVY!r} if name in sys.modules]\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Usage: evidentia" in done.stdout


def test_an_option_before_its_command_is_told_where_it_stands(cli: Cli) -> None:
    for before, place in (((), "evidentia"), (("ledger",), "evidentia ledger")):
        wrong = cli(*before, "--home=evidence", "list")
        assert wrong.code == 2
        assert f"--home stands after the command: {place} COMMAND --home" in wrong.err


def test_no_command_shows_the_help_and_a_wrong_one_is_a_usage_error() -> None:
    bare = subprocess.run(
        [sys.executable, "-m", "evidentia.cli.main"], capture_output=True, text=True, check=False
    )
    assert "Usage: " in bare.stdout + bare.stderr
    wrong = subprocess.run(
        [sys.executable, "-m", "evidentia.cli.main", "trial"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert wrong.returncode == 2
    assert "Traceback" not in wrong.stderr

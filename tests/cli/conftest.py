import io
import sys
from pathlib import Path

import pytest

from cli_running import Cli, Ran, ndjson, record
from evidentia.cli.main import run
from evidentia.settings import Settings


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in an empty folder, with no settings in the environment."""
    monkeypatch.chdir(tmp_path)
    for name in Settings.__dataclass_fields__:
        monkeypatch.delenv(f"EVIDENTIA_{name.upper()}", raising=False)
    return tmp_path


@pytest.fixture
def cli(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run a command as the shell would, in this process."""

    def call(*arguments: str | Path, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr(sys, "argv", ["evidentia", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            run()
        printed = capsys.readouterr()
        code = ended.value.code
        return Ran(code if isinstance(code, int) else 0, printed.out, printed.err)

    return call


@pytest.fixture
def filled(cli: Cli, folder: Path) -> Cli:
    """Start with a log of a key and three records."""
    (folder / "records.ndjson").write_bytes(ndjson(record(1), record(2), record(3)))
    assert cli("trail", "append", "records.ndjson").code == 0
    return cli

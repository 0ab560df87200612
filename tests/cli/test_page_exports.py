"""Pages by the command line: `--html`, and `verify --page`."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from evidentia.cli.main import app


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder with an answer that was checked."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.md").write_text("Leave is fifteen days a year.\n")
    (tmp_path / "answer.md").write_text("Leave is fifteen days a year.\n")
    assert _run("check", "answer.md", "--against", "docs")[0] == 0
    return tmp_path


def _run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(arguments))
    said = str(result.exception) if isinstance(result.exception, Exception) else ""
    return result.exit_code, result.output + said


def test_a_ledger_is_written_as_a_page_that_verifies(folder: Path) -> None:
    code, said = _run("ledger", "export", "latest", "--html", "-o", "ledger.html")
    assert code == 0
    key = said.split("--key ")[1].strip()
    assert (folder / "ledger.html").read_bytes().startswith(b"<!doctype html>")
    assert _run("verify", "ledger.html", "--key", key)[0] == 0
    (folder / "ledger.html").write_text((folder / "ledger.html").read_text() + "<p>more</p>")
    code, said = _run("verify", "ledger.html", "--key", key)
    assert code == 1
    assert "the page's text or script was altered" in said


def test_two_forms_at_once_are_refused(folder: Path) -> None:
    del folder
    code, said = _run("ledger", "export", "latest", "--html", "--format", "pdf", "-o", "a.html")
    assert code != 0
    assert "ask for two forms" in said


def test_a_page_needs_a_file_and_its_name(folder: Path) -> None:
    del folder
    assert "give -o FILE" in _run("ledger", "export", "latest", "--html")[1]
    assert "give --html too" in _run("ledger", "export", "latest", "-o", "a.html")[1]
    assert "give --html too" in _run("pack", "export", "latest", "-o", "a.html")[1]


def test_the_page_to_verify_on_is_written_once(folder: Path) -> None:
    code, said = _run("verify", "--page", "verify.html")
    assert code == 0
    assert "drop a file on it" in said
    assert (folder / "verify.html").read_bytes().startswith(b"<!doctype html>")
    assert _run("verify", "--page", "verify.html")[0] != 0
    assert '"file"' in _run("verify", "--page", "other.html", "--json")[1]
    assert "leave FILE out" in _run("verify", "proof.json", "--page", "third.html")[1]

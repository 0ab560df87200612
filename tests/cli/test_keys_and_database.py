from pathlib import Path

import pytest

from cli_running import Cli, ndjson, record


def test_keys_are_listed_and_rotated(filled: Cli) -> None:
    (first,) = filled("keys", "--json").json["keys"]
    assert first["private_key_here"] is True
    rotated = filled("keys", "rotate").out.strip()
    before, after = filled("keys", "list", "--json").json["keys"]
    assert before["replaced_at_entry"] == after["since_entry"] == 4
    assert after["public_key"] == rotated
    shown = filled("keys").out
    assert "Since entry" in shown
    assert after["key_id"] in shown


def test_key_can_be_made_before_anything_else(cli: Cli) -> None:
    made = cli("keys", "new", "--json").json["public_key"]
    assert cli("keys", "new").out.strip() == made
    assert cli("keys", "show", "--json").json["public_key"] == made


def test_log_without_a_key_says_how_to_make_one(cli: Cli, folder: Path) -> None:
    assert cli("db", "upgrade").code == 0
    assert "makes one" in cli("keys").out
    assert cli("keys", "show").code == 2


def test_lost_private_key_is_said_and_rotation_goes_on(filled: Cli, folder: Path) -> None:
    (key,) = (folder / ".evidentia" / "keys" / "default").iterdir()
    key.unlink()
    for ran in (filled("keys", "rotate"), filled("trail", "append", "-", stdin=ndjson(record(9)))):
        assert ran.code == 3
        assert "evidentia keys rotate --lost --reason TEXT" in ran.err
    assert filled("keys", "rotate", "--lost").code == 2
    assert filled("keys", "rotate", "--reason", "the disk failed").code == 2
    assert filled("keys", "rotate", "--lost", "--reason", "the disk failed").code == 0
    verified = filled("trail", "verify")
    assert verified.code == 0
    assert "without its signature: the disk failed" in verified.out


def test_database_is_described_and_compared(filled: Cli) -> None:
    assert "trigger trail_entries_update" in filled("db", "describe").out
    assert any("trail_heads" in line for line in filled("db", "describe", "--json").json["schema"])
    good = filled("db", "status")
    assert good.code == 0
    assert filled("db", "status", "--json").json["differences"] == []
    assert filled("db", "upgrade", "--json").json["changed"] is False
    assert filled("db", "upgrade", "--grant", "someone").code == 3


def test_unknown_setting_is_refused_with_a_suggestion(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVIDENTIA_TENNANT", "x")
    ran = cli("trail", "log")
    assert ran.code == 2
    assert ran.err == (
        "error: EVIDENTIA_TENNANT is not a setting: did you mean EVIDENTIA_TENANT?\n"
    )


def test_unreachable_server_is_an_environment_problem_without_its_password(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVIDENTIA_DATABASE_URL", "postgresql://user:secret@127.0.0.1:1/none")
    ran = cli("trail", "log")
    assert ran.code == 3
    assert "secret" not in ran.err
    assert "Traceback" not in ran.err

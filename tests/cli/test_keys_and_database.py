from pathlib import Path

import pytest

from cli_running import Cli, ndjson, record
from evidentia.proof.keys import SigningKey
from evidentia.store.database import run
from evidentia.workspace import open_workspace


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


def test_a_key_is_revoked_after_it_was_replaced(filled: Cli, folder: Path) -> None:
    filled("keys", "show", "-o", "old.txt")
    filled("trail", "prove", "1", "-o", "proof.json")
    old = filled("keys", "--json").json["keys"][0]["key_id"]
    revoke = ("keys", "revoke", old, "--from-size", "1", "--reason", "a copy was found")
    early = filled(*revoke)
    assert early.code == 2
    assert "signs now: replace it first" in early.err
    filled("keys", "rotate")
    filled("keys", "show", "-o", "new.txt")
    assert filled(*revoke, "--json").json == {
        "revoked": old,
        "from_size": 1,
        "recorded_as": 5,
        "undone": [],
    }
    assert filled("keys", "--json").json["revoked"][0]["reason"] == "a copy was found"
    assert "is revoked from size 1 on (entry 5: a copy was found)" in filled("keys").out
    verified = filled("trail", "verify")
    assert verified.code == 0
    assert "is revoked from size 1 on" in verified.out
    given = ("verify", "proof.json", "--key", "old.txt", "--key", "new.txt")
    assert filled(*given).code == 0
    filled("trail", "prove", "5", "-o", "revoked.json")
    filled("trail", "publish", "log")
    home = str(folder / ".evidentia")
    for way in (("--later", "revoked.json"), ("--log", "log"), ("--workspace", home)):
        ran = filled(*given, *way)
        assert ran.code == 1
        assert "is revoked from size 1 on" in ran.out
    refused = filled("trail", "prove", "1", "--signed-by", old, "-o", "again.json")
    assert (refused.code, "no checkpoint to use" in refused.err) == (2, True)


def test_a_users_key_is_made_enrolled_and_withdrawn(filled: Cli, folder: Path) -> None:
    assert "the log's key signs for all of them" in filled("keys", "users").out
    mine = filled("keys", "new-user").out.strip()
    assert filled("keys", "enroll", "owner", mine, "--json").json["recorded_as"] == 4
    (user,) = filled("keys", "users", "--json").json["users"]
    assert (user["user"], user["public_key"], user["since_entry"]) == ("owner", mine, 4)
    assert "owner" in filled("keys", "users").out
    assert filled("trail", "erase", "1", "--reason", "x", "--by", "y", "--yes").code == 0
    (file,) = (folder / ".evidentia" / "keys" / "_users").iterdir()
    file.rename(folder / "mine.pem")
    refused = filled("trail", "erase", "2", "--reason", "x", "--by", "y", "--yes")
    assert (refused.code, "has enrolled key" in refused.err) == (3, True)
    (folder / "mine.pem").rename(file)
    assert filled("keys", "withdraw", "owner").code == 0
    assert filled("keys", "withdraw", "owner").code == 2
    assert filled("trail", "verify").code == 0


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


def test_revoking_a_key_lists_what_it_undoes(filled: Cli, folder: Path) -> None:
    with open_workspace(folder / ".evidentia") as workspace:
        old = workspace.trail.public_key().key_id
        workspace.access.grant("mallory", "admin")
        workspace.trail.rotate_key()
        workspace.access.grant("ann", "approver")
    revoked = filled("keys", "revoke", old, "--from-size", "2", "--reason", "a copy was found")
    assert revoked.code == 0
    assert f"1 entry decides nothing any more once key {old} is revoked" in revoked.out
    assert "entry 4: access, " in revoked.out
    with open_workspace(folder / ".evidentia") as workspace:
        assert [grant.user for grant in workspace.access.grants()] == ["ann"]


def test_a_key_that_nothing_vouches_for_is_not_shown(filled: Cli, folder: Path) -> None:
    with open_workspace(folder / ".evidentia") as workspace:
        (own,) = workspace.trail.keys()
        evil = SigningKey.from_seed(own.key.name, b"e" * 32).verifier
        with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
            run(
                connection,
                "INSERT INTO trail_keys (tenant, seq, key_id, public_key) "
                "VALUES ('default', 2, ?, ?)",
                (evil.key_id, evil.public_key),
            )
    shown = filled("keys", "show")
    assert shown.code == 1
    assert str(evil) not in shown.out
    assert "nothing vouches for it: don't give it away" in shown.err
    assert f"Nothing vouches for key {evil.key_id}" in filled("keys").out

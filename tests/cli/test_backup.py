"""`evidentia backup` and `evidentia restore`, as an operator types them."""

from pathlib import Path

import pytest

from cli_running import Cli
from evidentia.workspace import open_workspace
from postgres import PostgresServer


def test_a_backup_is_made_listed_verified_and_restored(filled: Cli, folder: Path) -> None:
    made = filled("backup", "nightly", "--json")
    assert made.code == 0
    assert made.json | {"backup": "", "sent": {}} == {
        "backup": "",
        "place": "nightly",
        "entries": 4,
        "files": 0,
        "tenants": ["default"],
        "sent": {},
        "problems": [],
        "notes": [],
        "removed": [],
    }
    assert made.json["sent"]["parts"] > 0
    again = filled("backup", "create", "nightly", "--keep", "1", "--json").json
    assert again["sent"] == {"parts": 0, "files": 0, "bytes": 0}
    assert again["removed"] == [made.json["backup"]]
    (listed,) = filled("backup", "list", "nightly", "--json").json
    assert (listed["backup"], listed["entries"]) == (again["backup"], 4)
    assert again["backup"] in filled("backup", "list", "nightly").out
    verified = filled("backup", "verify", "nightly")
    assert (verified.code, verified.out.split("\n")[0]) == (
        0,
        f"✓ backup {again['backup']} holds",
    )
    (folder / "log.pub").write_text(filled("keys", "show").out)
    restored = filled("restore", "nightly", "--home", "new", "--key", "log.pub", "--json")
    assert (restored.code, restored.json["holds"], restored.json["lost"]) == (0, True, [])
    assert filled("trail", "verify", "--home", "new", "--key", "log.pub").code == 0
    twice = filled("restore", "nightly", "--home", "new", "--key", "log.pub")
    assert twice.code == 2
    assert "is there already" in twice.err


def test_a_signer_that_is_unknown_is_not_believed(filled: Cli, folder: Path) -> None:
    assert filled("backup", "nightly").code == 0
    stranger = filled("backup", "verify", "nightly", "--home", "elsewhere")
    assert stranger.code == 1
    assert "is consistent, signer unknown" in stranger.out
    refused = filled("restore", "nightly", "--home", "new")
    assert refused.code == 1
    assert "nothing was put in its place" in refused.out
    assert not (folder / "new" / "evidentia.db").exists()
    taken = filled("restore", "nightly", "--home", "new", "--anyway")
    assert (taken.code, (folder / "new" / "evidentia.db").exists()) == (1, True)


def test_older_backups_are_removed(filled: Cli) -> None:
    for _ in range(3):
        assert filled("backup", "nightly", "--no-verify").code == 0
    pruned = filled("backup", "prune", "nightly", "--keep", "2")
    assert pruned.out.startswith("1 older backup was removed, and 0 parts.")
    assert len(filled("backup", "prune", "nightly", "--keep", "1", "--json").json["removed"]) == 1
    assert filled("backup", "list", "nowhere").out == "nowhere: there is no backup here\n"
    assert filled("backup", "list", "nowhere", "--json").json == []


def test_what_a_killed_backup_left_keeps_older_ones_and_no_new_one_from_being_made(
    filled: Cli, folder: Path
) -> None:
    assert filled("backup", "nightly").code == 0
    with open_workspace(folder / ".evidentia") as workspace:
        left = workspace.opened.now().replace("-", "").replace(":", "")
    (folder / "nightly" / "working" / f"makes-{left}-ab12").touch()
    made = filled("backup", "nightly", "--keep", "1")
    assert made.code == 0
    assert "older backups are still there" in made.out
    assert len(filled("backup", "list", "nightly", "--json").json) == 2
    refused = filled("backup", "prune", "nightly", "--keep", "1")
    assert refused.code == 3
    assert "if it was killed, remove working/makes-" in refused.err


def test_a_workspace_that_is_damaged_is_backed_up_and_the_exit_code_says_so(
    filled: Cli, folder: Path
) -> None:
    (folder / "a.md").write_text("# Leave\n\nEmployees get 15 days of leave.\n")
    assert filled("ingest", "a.md").code == 0
    (file,) = (one for one in (folder / ".evidentia" / "lake").rglob("*") if one.is_file())
    file.unlink()
    made = filled("backup", "nightly")
    assert made.code == 1
    assert f"file {file.name} of tenant 'default' is gone from the lake" in made.out


def test_a_loss_is_told_and_accepted(filled: Cli, folder: Path) -> None:
    assert filled("backup", "nightly").code == 0
    assert filled("trail", "append", "records.ndjson").code == 0
    assert filled("trail", "checkpoint", "-o", "newer.txt").code == 0
    for path in (folder / ".evidentia").glob("evidentia.db*"):
        path.unlink()
    restored = filled("restore", "nightly", "--since", "newer.txt")
    assert restored.code == 1
    assert "entries 4 to 6 are missing. Nothing is appended to it" in restored.out
    made = filled("backup", "later")
    assert made.code == 1
    assert "it has 4 entries, and a checkpoint was kept of 7" in made.out
    verified = filled("backup", "verify", "later")
    assert verified.code == 1
    assert "entries 4 to 6 are missing, as it was when it was backed up" in verified.out
    refused = filled("trail", "append", "records.ndjson")
    assert refused.code == 1
    assert "accept-loss" in refused.err
    accepted = filled("trail", "accept-loss", "--reason", "the disk is gone", "--json")
    assert accepted.json == {"recorded_as": 4}
    assert filled("trail", "append", "records.ndjson").code == 0
    assert filled("verify").code == 0
    again = filled("trail", "accept-loss", "--reason", "again")
    assert (again.code, "there is no loss to accept" in again.err) == (2, True)


def test_keys_are_taken_along_if_it_is_said(filled: Cli) -> None:
    refused = filled("backup", "nightly", "--with-keys")
    assert refused.code == 2
    assert "this private key is plain" in refused.err
    assert filled("backup", "nightly", "--with-plain-keys").code == 0
    key = filled("keys", "show").out.strip()
    restored = filled("restore", "nightly", "--home", "new", "--key", key)
    assert "private key" in restored.out
    assert filled("trail", "append", "records.ndjson", "--home", "new").code == 0


def test_an_embedded_workspace_moves_to_a_server(
    filled: Cli, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert filled("backup", "nightly").code == 0
    with postgres.fresh_database("template0") as url:
        restored = filled("restore", "nightly", "--to-database", url)
        assert restored.code == 0
        assert "is restored to the database, and holds" in restored.out
        monkeypatch.setenv("EVIDENTIA_DATABASE_URL", url)
        assert filled("trail", "append", "records.ndjson").code == 0
        assert filled("db", "status").code == 0
        made = filled("backup", "nightly", "--json").json
        assert made["entries"] == 7
        back = filled("restore", "nightly", "--home", "back", "--key", filled("keys", "show").out)
        assert back.code == 0

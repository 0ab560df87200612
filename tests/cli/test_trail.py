import json
import re
from pathlib import Path
from typing import Any

import pysqlite3
import pytest

from cli_running import Cli, ndjson, record
from evidentia.errors import EnvironmentProblem
from evidentia.store.kept import KeptCheckpoint
from evidentia.workspace import open_workspace
from evidentia.workspace.trail import Trail


def test_append_makes_the_workspace_and_says_where_the_records_are(cli: Cli, folder: Path) -> None:
    (folder / "r.ndjson").write_bytes(ndjson(record(1), record(2)))
    ran = cli("trail", "append", "r.ndjson")
    assert ran.code == 0
    assert "2 records appended: entries 1 to 2." in ran.out
    assert (folder / ".evidentia" / "evidentia.db").exists()
    assert (folder / ".evidentia" / "lake").is_dir()


def test_private_key_is_readable_by_its_owner_alone(filled: Cli, folder: Path) -> None:
    (key,) = (folder / ".evidentia" / "keys" / "default").iterdir()
    assert key.stat().st_mode & 0o777 == 0o600


def test_append_reads_standard_input_with_a_byte_order_mark_and_blank_lines(cli: Cli) -> None:
    ran = cli(
        "trail", "append", "-", "--json", stdin=b"\xef\xbb\xbf\n" + ndjson(record(1)) + b"\n\n"
    )
    assert ran.json["appended"] == 1
    assert ran.json["entries"] == [1]
    assert ran.json["size"] == 2


def test_append_without_waiting_gives_tickets_and_a_ticket_says_where_the_records_are(
    cli: Cli, folder: Path
) -> None:
    (folder / "r.ndjson").write_bytes(ndjson(record(1), record(2)))
    ran = cli("trail", "append", "r.ndjson", "--no-wait")
    ticket = re.search(r"evidentia trail receipt ([0-9a-f]{40})", ran.out)
    assert ticket is not None
    assert "2 records appended: entries 1 to 2." in cli("trail", "receipt", ticket[1]).out
    found = cli("trail", "receipt", ticket[1], "--json").json
    assert found == {"ticket": ticket[1], "waits": False, "entries": [1, 2]}
    (another,) = cli("trail", "append", "r.ndjson", "--no-wait", "--json").json["tickets"]
    assert cli("trail", "receipt", another, "--json").json["entries"] == [3, 4]
    unknown = cli("trail", "receipt", "0" * 40)
    assert unknown.code == 2
    assert "is not known" in unknown.err


def test_what_is_appended_is_no_failure_where_its_checkpoint_cannot_be_kept(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("trail", "append", "-", stdin=ndjson(record(1))).code == 0

    def full(*_: object, **__: object) -> None:
        raise EnvironmentProblem("checkpoints/default.txt: the disk is full")

    monkeypatch.setattr(KeptCheckpoint, "keep", full)
    ran = cli("trail", "append", "-", stdin=ndjson(record(2), record(3)))
    assert ran.code == 0
    assert "2 records appended: entries 2 to 3." in ran.out
    assert "? The newest checkpoint is not kept beside the database: checkpoints/" in ran.out
    ran = cli("trail", "append", "-", "--json", stdin=ndjson(record(4)))
    assert (ran.json["appended"], ran.json["checkpoint"]) == (1, None)
    ran = cli("trail", "erase", "1", "--reason", "the law", "--by", "ann", "--yes")
    assert ran.code == 0
    assert "The body of entry 1 is erased" in ran.out
    assert "? The newest checkpoint is not kept" in ran.out


def test_an_append_that_is_stopped_says_how_far_it_came(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evidentia.cli.trail.BATCH", 2)
    append_many = Trail.append_many

    def twice(part: Trail, records: list[Any], **how: Any) -> Any:
        if part.size > 4:
            raise EnvironmentProblem("the disk is full")
        return append_many(part, records, **how)

    monkeypatch.setattr(Trail, "append_many", twice)
    given = ndjson(*(record(number) for number in range(1, 8)))
    ran = cli("trail", "append", "-", "--idempotency-key", "monday", stdin=given)
    assert ran.code == 3
    assert "✗ stopped: 4 of 7 records are kept, and of the 2 behind them it is not" in ran.err
    assert "\n  the same command goes on where it was\n" in ran.err
    assert "error: the disk is full" in ran.err
    monkeypatch.setattr(Trail, "append_many", append_many)
    again = cli("trail", "append", "-", "--idempotency-key", "monday", stdin=given)
    assert "3 records appended: entries 5 to 7." in again.out


def test_append_of_nothing_says_so(cli: Cli) -> None:
    ran = cli("trail", "append", "-")
    assert ran.code == 0
    assert "no record" in ran.out


def test_retry_under_an_idempotency_key_appends_only_what_is_missing(cli: Cli) -> None:
    first = cli("trail", "append", "-", "--idempotency-key", "k", stdin=ndjson(record(1)))
    assert first.code == 0
    again = cli(
        "trail",
        "append",
        "-",
        "--idempotency-key",
        "k",
        "--json",
        stdin=ndjson(record(1), record(2)),
    )
    assert (again.json["appended"], again.json["repeated"]) == (1, 1)
    assert again.json["entries"] == [1, 2]


def test_idempotency_key_for_other_content_is_a_usage_error(cli: Cli) -> None:
    cli("trail", "append", "-", "--idempotency-key", "k", stdin=ndjson(record(1)))
    ran = cli("trail", "append", "-", "--idempotency-key", "k", stdin=ndjson(record(2)))
    assert ran.code == 2
    assert "says something else" in ran.err


BAD_LINES = {
    "not JSON": (b"{nonsense", "not JSON"),
    "not an object": (b"[1, 2]", "line 2"),
    "a missing field": (
        json.dumps({"obligation_id": "x"}).encode(),
        "missing: doc_id, doc_filename, source_clause",
    ),
    "an unknown field": (ndjson(record(2, colour="red")).strip(), "colour"),
    "a wrong result": (ndjson(record(2, verification_result="MAYBE")).strip(), "'MAYBE'"),
    "a confidence over 1": (ndjson(record(2, confidence=1.5)).strip(), "confidence"),
    "not a number": (b'{"confidence": NaN}', "NaN"),
    "a key twice": (b'{"doc_id": "a", "doc_id": "b"}', "stands twice"),
    "a wrong encoding": (b'{"doc_id": "\xff"}', "not UTF-8"),
    "a lone surrogate": (ndjson(record(2, source_clause="\ud800")).strip(), "surrogate"),
    "an empty subject": (ndjson(record(2, obligation_id="")).strip(), "subject is empty"),
    "a body too large": (ndjson(record(2, source_clause="x" * 1_048_577)).strip(), "at most"),
    "a huge integer": (ndjson(record(2, page_number=2**60)).strip(), "2^53"),
    "a line too long": (b" " * (2 * 1024 * 1024 + 1), "longer than"),
}


@pytest.mark.parametrize(("line", "says"), BAD_LINES.values(), ids=BAD_LINES)
def test_bad_line_is_named_and_nothing_is_written(
    cli: Cli, folder: Path, line: bytes, says: str
) -> None:
    data = ndjson(record(1)) + line + b"\n" + ndjson(record(3))
    ran = cli("trail", "append", "-", stdin=data)
    assert ran.code == 2
    assert ran.err.count("\n") == 1
    assert "standard input, line 2" in ran.err
    assert says in ran.err
    assert not (folder / ".evidentia").exists()


def test_missing_file_is_named(cli: Cli) -> None:
    ran = cli("trail", "append", "nowhere.ndjson")
    assert (ran.code, ran.err) == (2, "error: nowhere.ndjson: no such file\n")
    assert cli("trail", "append", ".").code == 2


def test_log_is_newest_first_and_pages(filled: Cli) -> None:
    first = filled("trail", "log", "--limit", "2", "--json").json
    assert [item["entry"]["seq"] for item in first["entries"]] == [3, 2]
    rest = filled("trail", "log", "--before", str(first["next_before"]), "--json").json
    assert [item["entry"]["seq"] for item in rest["entries"]] == [1, 0]
    assert rest["next_before"] is None
    shown = filled("trail", "log", "--limit", "2").out
    assert "Older ones: evidentia trail log --before 2" in shown


def test_log_filters_by_kind_and_subject(filled: Cli) -> None:
    keys = filled("trail", "log", "--kind", "key", "--json").json["entries"]
    assert [item["entry"]["seq"] for item in keys] == [0]
    about = filled("trail", "log", "--subject", "ob-002", "--json").json["entries"]
    assert [item["entry"]["subject"] for item in about] == ["ob-002"]
    assert "No entry" in filled("trail", "log", "--subject", "nothing").out
    assert filled("trail", "log", "--kind", "nonsense").code == 2


def test_show_prints_entry_hash_and_body(filled: Cli) -> None:
    shown = filled("trail", "show", "1").out
    assert "leaf hash" in shown
    assert "The Vendor shall deliver within 30 days." in shown
    assert filled("trail", "show", "99").err == "error: log of tenant 'default' has no entry 99\n"
    assert filled("trail", "show", "99").code == 2


def test_hostile_text_is_made_visible_in_the_terminal(cli: Cli) -> None:
    hostile = "ob\x1b[2J\u202e001"
    cli("trail", "append", "-", stdin=ndjson(record(1, obligation_id=hostile)))
    for ran in (cli("trail", "log"), cli("trail", "show", "1"), cli("trail", "status", hostile)):
        assert ran.code == 0
        assert "\x1b[2J" not in ran.out
        assert "\u202e" not in ran.out
        assert "⟨U+001B⟩" in ran.out


def test_status_is_a_timeline(filled: Cli) -> None:
    change = record(
        1,
        doc_filename="status_change",
        source_clause="Status changed from ACTIVE to SUPERSEDED: Amendment 3",
        amendment_history=[
            {
                "old_status": "ACTIVE",
                "new_status": "SUPERSEDED",
                "reason": "a",
                "changed_by_doc_id": None,
            }
        ],
    )
    filled("trail", "append", "-", stdin=ndjson(change))
    shown = filled("trail", "status", "ob-001")
    assert shown.out.startswith("ob-001: SUPERSEDED\n")
    assert "├─ " in shown.out
    assert "└─ " in shown.out
    answer = filled("trail", "status", "ob-001", "--json").json
    assert answer["status"] == "SUPERSEDED"
    assert [item["entry"]["seq"] for item in answer["history"]] == [1, 4]
    assert filled("trail", "status", "ob-002").out.startswith("ob-002: no status change recorded\n")
    assert filled("trail", "status", "nobody").code == 2


def test_status_shows_erased_records_as_erased(filled: Cli) -> None:
    filled("trail", "erase", "1", "--reason", "law", "--by", "dpo", "--yes")
    assert "body erased (entry 1)" in filled("trail", "status", "ob-001").out


def test_validate_compares_with_the_expected_obligations(filled: Cli, folder: Path) -> None:
    (folder / "ids.txt").write_text("ob-001\n\nob-009\n")
    good = filled("trail", "validate")
    assert (good.code, good.out) == (0, "✓ 3 records: valid\n")
    bad = filled("trail", "validate", "--expect", "ids.txt")
    assert bad.code == 1
    assert "obligation ob-009 has no evidence" in bad.out
    assert filled("trail", "validate", "--expect", "ids.txt", "--json").json[
        "missing_evidence"
    ] == ["ob-009"]
    assert filled("trail", "validate", "--expect", "nowhere.txt").code == 2


def test_validate_shows_gaps_and_warnings(filled: Cli) -> None:
    filled(
        "trail",
        "append",
        "-",
        stdin=ndjson(record(7, confidence=0, amendment_history=[{"doc_id": "a"}])),
    )
    ran = filled("trail", "validate")
    assert ran.code == 1
    assert "amendment_history[0] missing keys ['clause', 'status']" in ran.out
    assert "confidence is 0.0" in ran.out


def test_verify_holds_and_keeps_a_checkpoint(filled: Cli, folder: Path) -> None:
    ran = filled("trail", "verify")
    assert ran.code == 0
    assert "4 entries, all hold" in ran.out
    assert "kept a checkpoint of 4 entries" in ran.out
    assert (folder / ".evidentia" / "checkpoints" / "default.txt").read_text().count("\n") == 5


def test_verify_says_when_it_had_no_checkpoint_to_compare_with(filled: Cli, folder: Path) -> None:
    (folder / ".evidentia" / "checkpoints" / "default.txt").unlink()
    ran = filled("trail", "verify")
    assert ran.code == 0
    assert "a lost tail would not show" in ran.out
    assert "compared with" in filled("trail", "verify").out


def test_verify_names_the_entry_that_was_changed(filled: Cli, folder: Path) -> None:
    _unguarded(
        folder, "trail_bodies_update", "UPDATE trail_bodies SET body = x'7b7d' WHERE seq = 2"
    )
    ran = filled("trail", "verify")
    assert ran.code == 1
    assert "✗ entry 2: its body or salt is not what it commits to" in ran.out
    answer = filled("trail", "verify", "--json")
    assert answer.code == 1
    assert answer.json["findings"][0]["entry"] == 2
    assert answer.json["kept"] is None


def test_verify_finds_a_guard_that_was_dropped(filled: Cli, folder: Path) -> None:
    with pysqlite3.connect(folder / ".evidentia" / "evidentia.db") as connection:
        connection.execute("DROP TRIGGER trail_entries_update")
    ran = filled("trail", "verify")
    assert ran.code == 1
    assert "schema: -trigger trail_entries_update" in ran.out
    assert filled("db", "status").code == 1


def test_verify_reports_an_unreadable_database_as_such(filled: Cli, folder: Path) -> None:
    (folder / ".evidentia" / "evidentia.db").write_bytes(b"no database at all" * 1000)
    ran = filled("trail", "verify")
    assert ran.code == 1
    assert "damaged" in ran.err
    assert "Traceback" not in ran.err


def test_verify_since_takes_a_checkpoint_from_elsewhere(filled: Cli, folder: Path) -> None:
    assert filled("trail", "checkpoint", "-o", "kept.txt").code == 0
    filled("trail", "append", "-", stdin=ndjson(record(4)))
    ran = filled("trail", "verify", "--since", "kept.txt")
    assert ran.code == 0
    assert "compared with the checkpoint given with --since" in ran.out


def test_verify_since_refuses_another_logs_checkpoint(filled: Cli, folder: Path) -> None:
    filled("trail", "append", "-", "--home", "other", stdin=ndjson(record(1)))
    filled("trail", "checkpoint", "--home", "other", "-o", "other.txt")
    ran = filled("trail", "verify", "--since", "other.txt")
    assert ran.code == 1
    assert "is of another log" in ran.out
    (folder / "nonsense.txt").write_text("nonsense")
    nonsense = filled("trail", "verify", "--since", "nonsense.txt")
    assert (nonsense.code, "not a signed note" in nonsense.err) == (2, True)
    assert filled("trail", "verify", "--since", "nowhere.txt").code == 2


def test_verify_of_a_rolled_back_log_names_what_is_gone(filled: Cli, folder: Path) -> None:
    database = folder / ".evidentia" / "evidentia.db"
    older = database.read_bytes()
    filled("trail", "append", "-", stdin=ndjson(record(4), record(5)))
    database.write_bytes(older)
    ran = filled("trail", "verify")
    assert ran.code == 1
    assert "entries 4 to 5 are gone" in ran.out
    refused = filled("trail", "append", "-", stdin=ndjson(record(6)))
    assert refused.code == 1
    assert "rolled back or rewritten" in refused.err
    assert len(filled("trail", "log", "--json").json["entries"]) == 4


def test_log_that_is_gone_is_not_silently_begun_anew(filled: Cli, folder: Path) -> None:
    for path in (folder / ".evidentia").glob("evidentia.db*"):
        path.unlink()
    ran = filled("trail", "append", "-", stdin=ndjson(record(1)))
    assert ran.code == 1
    assert "is gone" in ran.err
    assert "a workspace comes to another one by 'evidentia backup'" in ran.err
    with open_workspace(folder / ".evidentia"):  # makes an empty one
        pass
    assert filled("trail", "verify").out.startswith("✗ no log: 0 entries; the log does not hold")


def test_wrong_tenant_is_named_with_those_that_have_a_log(filled: Cli) -> None:
    for command in (("verify",), ("show", "0"), ("log",)):
        ran = filled("trail", *command, "--tenant", "acme")
        assert ran.code == 2
        assert "tenant 'acme' has no log; logs here: default" in ran.err
    assert "is not a name" in filled("trail", "log", "--tenant", "../x").err


def test_tenants_have_logs_of_their_own(filled: Cli) -> None:
    filled("trail", "append", "-", "--tenant", "acme", stdin=ndjson(record(1)))
    assert len(filled("trail", "log", "--tenant", "acme", "--json").json["entries"]) == 2
    assert len(filled("trail", "log", "--json").json["entries"]) == 4
    assert filled("trail", "verify", "--tenant", "acme").code == 0


def test_commands_that_read_make_no_workspace(cli: Cli, folder: Path) -> None:
    for command in ("log", "verify", "validate", "checkpoint"):
        ran = cli("trail", command)
        assert ran.code == 2
        assert "there is no workspace" in ran.err
    assert list(folder.iterdir()) == []


def test_erase_leaves_an_entry_and_every_proof(filled: Cli, folder: Path) -> None:
    filled("trail", "prove", "2", "-o", "before.json")
    filled("keys", "show", "-o", "key.txt")
    assert filled("trail", "erase", "2", "--reason", " ", "--by", "dpo", "--yes").code == 2
    ran = filled("trail", "erase", "2", "--reason", "Article 17", "--by", "dpo", "--yes")
    assert ran.out == "✓ The body of entry 2 is erased; entry 4 records it.\n"
    assert "body was erased" in filled("trail", "show", "2").out
    assert "(body erased)" in filled("trail", "log").out
    assert filled("trail", "verify").code == 0
    assert filled("verify", "before.json", "--key", "key.txt").code == 0
    filled("trail", "prove", "2", "-o", "after.json")
    assert "its body is not disclosed" in filled("verify", "after.json", "--key", "key.txt").out
    twice = filled("trail", "erase", "2", "--reason", "again", "--by", "dpo", "--yes", "--json")
    assert (twice.code, twice.json["error"]["kind"]) == (2, "UsageError")
    assert filled("trail", "erase", "0", "--reason", "x", "--by", "y", "--yes").code == 2


def test_erased_body_is_in_no_file_any_more(filled: Cli, folder: Path) -> None:
    clause = "a clause like no other"
    filled("trail", "append", "-", stdin=ndjson(record(9, source_clause=clause)))
    home = folder / ".evidentia"
    assert any(clause.encode() in path.read_bytes() for path in home.glob("evidentia.db*"))
    filled("trail", "erase", "4", "--reason", "Article 17", "--by", "dpo", "--yes")
    assert not any(clause.encode() in path.read_bytes() for path in home.glob("evidentia.db*"))


def test_erase_without_the_private_key_erases_nothing(filled: Cli, folder: Path) -> None:
    (key,) = (folder / ".evidentia" / "keys" / "default").iterdir()
    key.unlink()
    assert filled("trail", "erase", "2", "--reason", "x", "--by", "y", "--yes").code == 3
    assert filled("trail", "show", "2", "--json").json["body"] is not None


def test_verify_without_the_private_key_keeps_what_was_signed_before_by_a_key_that_is_named(
    filled: Cli, folder: Path
) -> None:
    key_line = filled("keys", "show").out.strip()
    kept = folder / ".evidentia" / "checkpoints" / "default.txt"
    signed = kept.read_text()
    kept.unlink()
    for key in (folder / ".evidentia" / "keys" / "default").iterdir():
        key.unlink()
    alone = filled("trail", "verify")
    assert alone.code == 1
    assert "consistent, signer unknown" in alone.out
    assert "nothing outside the database says whose log this is" in alone.out
    assert not kept.exists()
    assert filled("trail", "verify", "--json").json["unknown"] is not None
    named = filled("trail", "verify", "--key", key_line)
    assert named.code == 0
    assert "is trusted: it was named" in named.out
    assert kept.read_text() == signed
    again = filled("trail", "verify", "--json").json
    assert [one["reason"].split(" in ")[0] for one in again["trusted"]] == [
        "it signed the checkpoint kept"
    ]


def test_who_trusts_the_old_key_can_follow_to_the_new_one(filled: Cli, folder: Path) -> None:
    filled("keys", "show", "-o", "old.txt")
    old = filled("keys", "--json").json["keys"][0]["key_id"]
    new = filled("keys", "rotate").out.strip()
    assert filled("trail", "prove", "4", "-o", "new.json", "--signed-by", old).code == 0
    assert filled("verify", "new.json", "--key", "old.txt").code == 0
    assert json.loads((folder / "new.json").read_text())["body"]["key"] == new
    unknown = filled("trail", "prove", "4", "--signed-by", "00000000")
    assert (unknown.code, "signed no checkpoint" in unknown.err) == (2, True)


def test_erase_asks_back(filled: Cli) -> None:
    ran = filled("trail", "erase", "2", "--reason", "Article 17", "--by", "dpo", stdin=b"n\n")
    assert (ran.code, ran.err) == (2, "error: nothing was erased\n")
    assert filled("trail", "show", "2", "--json").json["body"] is not None


def test_publish_adds_what_is_new(filled: Cli, folder: Path) -> None:
    assert filled("trail", "publish", "site").out == "✓ site holds 4 entries (before: 0).\n"
    assert (folder / "site" / "tile" / "entries" / "000.p" / "4").exists()
    assert "already" in filled("trail", "publish", "site").out
    filled("trail", "append", "-", stdin=ndjson(record(4)))
    answer = filled("trail", "publish", "site", "--json").json
    assert (answer["before"], answer["size"]) == (4, 5)


def _unguarded(folder: Path, trigger: str, sql: str) -> None:
    """Change the database as its owner can: drop a guard, change, put the guard back."""
    with pysqlite3.connect(folder / ".evidentia" / "evidentia.db") as connection:
        (guard,) = connection.execute(
            "SELECT sql FROM sqlite_master WHERE name = ?", (trigger,)
        ).fetchone()
        connection.execute(f"DROP TRIGGER {trigger}")
        connection.execute(sql)
        connection.execute(guard)

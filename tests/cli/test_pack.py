"""`evidentia pack`: what each command prints and how it ends, also when the user is mistaken."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from cli_running import Cli, Ran
from evidentia.store.home import Home
from evidentia.workspace import open_workspace
from packing import decision_fields, memo_fields, tool_call
from packs.making import exported, long_memo, pack
from proofs import KEY
from vandal import vandal_at

COMMANDS = (
    "new", "list", "show", "review", "revise", "approve-export", "export", "hold", "release",
    "audit", "retention", "sweep", "grant", "roles", "own",
)  # fmt: skip


def write(path: Path, value: Any) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


@pytest.fixture
def home(folder: Path, sqlite_template: Path) -> Path:
    """Give the workspace's folder with an empty database."""
    place = Home(folder / ".evidentia")
    place.create()
    shutil.copy(sqlite_template, place.database)
    return place.folder


@pytest.fixture
def made(cli: Cli, folder: Path, home: Path) -> Cli:
    """Start with one pack, of a decision that awaits a review."""
    write(folder / "decision.json", decision_fields())
    write(folder / "memo.json", memo_fields())
    assert cli("pack", "new", "decision.json", "--memo", "memo.json").code == 0
    return cli


def mistaken(ran: Ran, *says: str, code: int = 2) -> None:
    """Check that a command ended with one plain line."""
    assert (ran.code, ran.out) == (code, "")
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1
    for text in says:
        assert text in ran.err


# What each command does


def test_a_pack_is_made_of_a_decision_with_all_that_belongs_to_it(
    cli: Cli, folder: Path, home: Path
) -> None:
    write(folder / "decision.json", decision_fields(data_freshness_window_hours=1))
    calls = [call.model_dump(mode="json") for call in (tool_call(1), tool_call(2, failed=True))]
    write(folder / "calls.json", calls)
    write(folder / "notes.txt", "notes")
    made = cli(*("pack", "new", "decision.json", "--calls", "calls.json", "--attach", "notes.txt"))
    assert (made.code, made.err) == (0, "")
    first, second, *warnings = made.out.splitlines()
    assert first.startswith("✓ pack_")
    assert first.endswith(": the pack of dec_1")
    assert second == "  2 sources, 2 tool calls; unresolved: it awaits a review"
    assert len(warnings) == 1  # the call that failed
    shown = cli("pack", "show", "dec_1", "--json").json
    assert [call["outcome"] for call in shown["pack"]["tool_calls"]] == ["succeeded", "failed"]
    assert [one["name"] for one in shown["pack"]["attachments"]] == ["notes.txt"]
    assert len(shown["versions"]) == 1
    assert shown["on_hold"] is False


def test_a_new_pack_is_told_as_json(cli: Cli, folder: Path, home: Path) -> None:
    write(folder / "decision.json", decision_fields())
    made = cli("pack", "new", "decision.json", "--json").json
    assert made["pack_id"] == made["pack"]["pack_id"]
    assert made["resolved"] is False


def test_a_ledger_and_a_bundle_are_referred_to(cli: Cli, folder: Path, home: Path) -> None:
    (folder / "policies").mkdir()
    write(folder / "policies" / "leave.md", "# Leave\n\nEmployees receive 15 days of leave.\n")
    write(folder / "answer.md", "Employees receive 15 days of leave.\n")
    write(folder / "job.json", {"job_input": {"extra_params": {"evidence": ["one"]}}})
    assert cli("check", "answer.md", "--against", "policies").code == 0
    assert cli("bundle", "build", "-c", "job.json").code == 0
    write(folder / "decision.json", decision_fields())
    ran = cli("pack", "new", "decision.json", "--ledger", "latest", "--bundle", "latest", "--json")
    assert ran.code == 0
    assert ran.json["pack"]["ledger"]["summary"]["total_claims"] == 1
    assert len(ran.json["pack"]["bundles"]) == 1


def test_a_pack_is_shown_with_its_versions(made: Cli, folder: Path) -> None:
    alone = made("pack", "show", "latest").out
    assert "Recommendation\nتوصية\n" in alone
    assert "decision dec_1 about lead_1, by icp_matcher with model-a" in alone
    assert (
        "approval A2, reversibility R1, sensitivity S1; confidence 0.84; a pack is mandatory"
        in alone
    )
    assert "state: unresolved: it awaits a review" in alone
    assert "The company fits." in alone
    assert "crm://contacts/1" in alone
    assert "Versions:" not in alone
    write(folder / "changes.json", {"trace_id": "0" * 32})
    assert made("pack", "review", "dec_1", "approved", "--reviewer", "ann").code == 0
    assert "version 3" in made("pack", "revise", "dec_1", "changes.json").out
    versions = made("pack", "show", "dec_1", "--json").json["versions"]
    shown = made("pack", "show", versions[1]["id"]).out
    assert "state: approved by ann at " in shown
    assert f"  2: {versions[1]['id']}" in shown
    assert shown.count("(shown here)") == 1
    assert [one["version"] for one in versions] == [1, 2, 3]


def test_a_review_is_a_new_version(made: Cli) -> None:
    ran = made("pack", "review", "dec_1", "rejected", "--note", "too early")
    assert ran.code == 0
    assert ", version 2" in ran.out
    assert "rejected by owner at" in ran.out
    assert ": too early" in ran.out
    again = made("pack", "review", "dec_1", "approved", "--reviewer", "ann", "--json").json
    assert (again["version"], again["pack"]["reviewer_id"]) == (3, "ann")


def test_a_revision_attaches_files_and_drops_the_review(made: Cli, folder: Path) -> None:
    made("pack", "review", "dec_1", "approved")
    write(folder / "changes.json", {})
    write(folder / "a.txt", "a")
    ran = made("pack", "revise", "dec_1", "changes.json", "--attach", "a.txt", "--json")
    assert (ran.code, ran.json["version"]) == (0, 3)
    assert ran.json["pack"]["reviewer_id"] is None
    assert "attached: a.txt, 1 byte, sha256:" in made("pack", "show", "dec_1").out


def test_packs_are_listed_newest_first_page_by_page(made: Cli, folder: Path) -> None:
    for number in (2, 3):
        write(folder / "decision.json", decision_fields(number))
        made("pack", "new", "decision.json")
    made("pack", "review", "dec_2", "approved")
    made("pack", "hold", "dec_3", "--reason", "case")
    page = made("pack", "list", "--limit", "2", "--json").json
    assert [one["decision_id"] for one in page["packs"]] == ["dec_2", "dec_3"]
    older = made("pack", "list", "--before", str(page["next_before"]), "--json").json
    assert [one["decision_id"] for one in older["packs"]] == ["dec_1"]
    assert older["next_before"] is None
    shown = made("pack", "list", "--limit", "2").out
    assert f"Older ones: evidentia pack list --before {page['next_before']}" in shown
    assert "approved" in shown
    assert "awaiting review, on hold" in shown
    assert [one["outcome"] for one in page["packs"]] == ["approved", "awaiting review"]
    made("pack", "review", "dec_2", "rejected")
    assert "rejected" in made("pack", "list", "--limit", "1").out
    open_ones = made("pack", "list", "--unresolved", "--json").json["packs"]
    assert [one["decision_id"] for one in open_ones] == ["dec_3", "dec_1"]
    versions = made("pack", "list", "--all-versions", "--json").json["packs"]
    assert [one["outcome"] for one in versions if one["decision_id"] == "dec_2"] == [
        "rejected",
        "approved",
        "awaiting review",
    ]


def test_nothing_to_list_is_said(filled: Cli) -> None:
    ran = filled("pack", "list")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "There are no packs yet; 'evidentia pack new DECISION.json' makes one.\n"
    assert filled("pack", "list", "--unresolved").out == "No pack awaits a review.\n"
    assert filled("pack", "list", "--before", "3").out == "There are no packs before entry 3.\n"
    assert filled("pack", "roles").out.startswith("No one has a role yet; 'evidentia pack grant")
    assert filled("pack", "audit").out == "✓ 0 packs of 0 decisions looked at\n"
    assert filled("pack", "sweep").out == "✓ 0 packs removed\n"
    assert filled("pack", "list", "--json").json == {"packs": [], "next_before": None}


def test_an_exported_pack_is_verified_by_a_stranger(made: Cli, folder: Path) -> None:
    ran = made("pack", "export", "dec_1", "-o", "pack.json")
    assert ran.code == 0
    told, how = ran.out.splitlines()
    assert told == "✓ The pack is in pack.json. Whoever trusts the key verifies it with:"
    key = how.split()[-1]
    assert how == f"  evidentia verify pack.json --key {key}"
    ran = made("verify", "pack.json", "--key", key)
    assert ran.code == 0
    assert ran.out.startswith("✓ pack.json: holds\n")
    assert "✓ pack: pack_" in ran.out
    assert "What it states: the pack of decision dec_1\n" in ran.out
    assert "whether the reviewer read it" in ran.out
    unknown = made("verify", "pack.json")
    assert unknown.code == 1
    assert "consistent, signer unknown" in unknown.out
    text = (folder / "pack.json").read_text()
    write(folder / "forged.json", text.replace('"lead_1', '"lead_2').replace("dec_1", "dec_2"))
    forged = made("verify", "forged.json", "--key", key)
    assert forged.code == 1
    assert "What it states" not in forged.out


def test_an_export_in_a_users_name_takes_an_approval_once(made: Cli, folder: Path) -> None:
    for user in ("ann", "bob"):
        assert made("pack", "grant", user, "approver").code == 0
    mistaken(made("pack", "export", "dec_1", "-o", "a.json", "--as", "ann"), "needs an approval")
    ran = made("pack", "approve-export", "dec_1", "--class", "A2", "--as", "bob")
    told, how = ran.out.splitlines()
    assert told == "✓ Approved. Export it with:"
    entry = how.split()[-1]
    assert how == f"  evidentia pack export dec_1 -o FILE --approval {entry}"
    export = ("pack", "export", "dec_1", "--approval", entry, "--as", "ann", "-o")
    ran = made(*export, "a.json", "--json")
    assert (ran.code, ran.json["file"]) == (0, "a.json")
    mistaken(made(*export, "b.json"), "was used already")
    assert not (folder / "b.json").exists()
    assert made("pack", "approve-export", "dec_1", "--json").json["approval"] > int(entry)


def test_an_export_does_not_write_over_a_file(made: Cli, folder: Path) -> None:
    write(folder / "pack.json", "mine")
    mistaken(made("pack", "export", "dec_1", "-o", "pack.json"), "is there already")
    assert (folder / "pack.json").read_text() == "mine"
    assert made("pack", "export", "dec_1", "-o", "pack.json", "--force").code == 0
    assert made("pack", "export", "dec_1", "-o", "b.json", "--no-attachments").code == 0


def test_a_pack_is_held_and_released(made: Cli) -> None:
    ran = made("pack", "hold", "dec_1", "--reason", "case 7")
    pack_id = made("pack", "show", "dec_1", "--json").json["pack"]["pack_id"]
    said = f"✓ {pack_id}, the pack of dec_1, is on legal hold; entry 3 says so\n"
    assert (ran.code, ran.out) == (0, said)
    assert "by owner: case 7" in made("pack", "show", "dec_1").out
    assert made("pack", "show", "dec_1", "--json").json["on_hold"] is True
    mistaken(made("pack", "hold", "dec_1", "--reason", "again"), "is on hold already")
    released = made("pack", "release", "dec_1", "--reason", "closed", "--json").json
    assert released == {"entry": 4, "pack_id": pack_id}
    mistaken(made("pack", "release", "dec_1", "--reason", "closed"), "is not on hold")


def test_an_audit_finds_what_is_missing_and_what_was_changed(
    made: Cli, folder: Path, home: Path
) -> None:
    ran = made("pack", "audit")
    assert ran.code == 0
    assert ran.out.startswith("✓ 1 pack of 1 decision looked at\n  ? pack_")
    write(folder / "decision.json", decision_fields(2, evidence=[]))
    mistaken(made("pack", "new", "decision.json"), "pack.sources: ")
    with vandal_at(Home(home).database, "seed") as vandal:
        vandal.change("UPDATE evidence_packs SET resolved = true")
    ran = made("pack", "audit")
    assert ran.code == 1
    assert "✗ 1 pack of 2 decisions looked at\n" in ran.out
    assert "✗ dec_2: a pack is mandatory, and there is none" in ran.out
    assert ": the row does not say what the pack says" in ran.out
    ran = made("pack", "audit", "--json")
    assert (ran.code, ran.json["holds"], ran.json["missing"]) == (1, False, ["dec_2"])


def test_an_audit_lists_calls_that_came_after_the_pack(made: Cli, home: Path) -> None:
    with open_workspace(home) as opened:
        opened.tools.record("dec_1", tool_call(1))
    ran = made("pack", "audit")
    assert ran.code == 0
    assert ": a call of crm.get_contact that succeeded was recorded for dec_1 after " in ran.out
    assert len(made("pack", "audit", "--json").json["late_calls"]) == 1


def test_what_other_rules_let_pass_is_said_where_a_pack_is_verified(cli: Cli, folder: Path) -> None:
    (folder / "old.json").write_bytes(exported(pack(memo=long_memo())))
    key = str(KEY.verifier)
    ran = cli("verify", "old.json", "--key", key)
    assert ran.code == 0
    assert "? Worth a look:\n  - memo.body_en: has 604 words" in ran.out
    assert len(cli("verify", "old.json", "--key", key, "--json").json["findings"]) == 1


def test_retention_is_shown_and_set(made: Cli) -> None:
    assert made("pack", "retention").out == "Packs are kept for 7 years: commercial records.\n"
    ran = made("pack", "retention", "--preset", "saudi-financial")
    assert ran.out == "Packs are kept for 10 years: Saudi financial institutions.\n"
    assert made("pack", "retention", "--years", "1", "--json").json == {
        "years": 1,
        "basis": "as set",
    }
    mistaken(made("pack", "retention", "--preset", "forever"), "use default, saudi-financial")
    for years in ("0", "1001", "many"):
        assert made("pack", "retention", "--years", years).code == 2


def test_what_a_hold_keeps_is_named_by_a_sweep_and_by_an_erasure(
    made: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack_id = made("pack", "hold", "latest", "--reason", "case 7", "--json").json["pack_id"]
    assert pack_id == made("pack", "list", "--json").json["packs"][0]["id"]
    later = "evidentia.workspace.opened.Opened.now"
    monkeypatch.setattr(later, lambda _: "2040-01-01T00:00:00.000000Z")
    kept, why = made("pack", "sweep").out.splitlines()
    assert kept == "✓ 0 packs removed"
    assert why.startswith(f"  ? {pack_id} stays: on legal hold since ")
    assert why.endswith(" by owner: case 7")
    assert made("pack", "sweep", "--json").json["on_hold"] == [pack_id]
    entry = made("pack", "list", "--json").json["packs"][0]["entry"]
    erased = made("trail", "erase", str(entry), "--reason", "law", "--by", "me", "--yes")
    mistaken(erased, f"pack {pack_id} is on legal hold since ")
    assert f"'evidentia pack release {pack_id} --reason TEXT' ends the hold" in erased.err


def test_a_sweep_removes_what_is_due(made: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert made("pack", "sweep").out == "✓ 0 packs removed\n"
    pack_id = made("pack", "list", "--json").json["packs"][0]["id"]
    later = "evidentia.workspace.opened.Opened.now"
    monkeypatch.setattr(later, lambda _: "2040-01-01T00:00:00.000000Z")
    ran = made("pack", "sweep", "--dry-run")
    assert ran.out.startswith(f"✓ 1 pack would be removed\n  {pack_id}: kept until ")
    swept = made("pack", "sweep", "--json").json
    assert (swept["dry_run"], swept["packs"][0]["pack_id"]) == (False, pack_id)
    mistaken(made("pack", "show", pack_id), "was erased")
    assert made("pack", "audit").code == 0
    assert made("trail", "verify").code == 0


def test_roles_are_given_listed_and_taken_away(made: Cli) -> None:
    ran = made("pack", "grant", "ann", "auditor", "--expires", "2999-01-01T00:00:00Z")
    assert (ran.code, ran.out) == (0, "✓ ann is auditor; entry 3 says so\n")
    assert "ann" in made("pack", "roles").out
    (found,) = made("pack", "roles", "--json").json["grants"]
    assert (found["user"], found["role"]) == ("ann", "auditor")
    assert made("pack", "audit", "--as", "ann").code == 0
    mistaken(made("pack", "sweep", "--as", "ann"), "ann may not remove evidence")
    ran = made("pack", "grant", "ann", "auditor", "--revoke")
    assert ran.out == "✓ ann is no longer auditor; entry 4 says so\n"
    mistaken(made("pack", "list", "--as", "ann"), "ann may not read evidence in tenant 'default'")
    mistaken(made("pack", "show", "dec_1", "--as", "ann"), "there is no pack 'dec_1' that ann may")
    assert made("pack", "grant", "bob", "viewer", "--json").json == {"entry": 5}


def test_no_one_reviews_a_conflicted_decision_of_their_own_agent(made: Cli, folder: Path) -> None:
    ran = made("pack", "own", "ann", "icp_matcher")
    assert (ran.code, ran.out) == (0, "✓ icp_matcher is ann's own; entry 3 says so\n")
    assert made("pack", "own", "eve", "other", "--json").json == {"entry": 4}
    write(folder / "decision.json", decision_fields(2, conflicted=True))
    made("pack", "new", "decision.json")
    mistaken(made("pack", "review", "dec_2", "approved", "--reviewer", "ann"), "is their own")
    assert made("pack", "review", "dec_2", "approved", "--reviewer", "bob").code == 0


# Mistakes


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "decision.json: no such file"),
        ("{", "decision.json: "),
        ("[]", "decision.json: decision: must be an object"),
        ({"agent": "a"}, "decision.json: decision lacks decision_id, entity_id, "),
        (decision_fields(confidance=1), "there is no such field; is it confidence?"),
        (decision_fields(confidence=2), "decision.confidence: "),
        (decision_fields(approval_class="A9"), "decision.approval_class: "),
        (decision_fields(decided_at="today"), "'today' is not a time as ISO 8601 writes it"),
        (decision_fields(tenant_id="acme"), "the decision is of tenant 'acme'"),
        (decision_fields(evidence=[]), "pack.sources: "),
        (
            decision_fields(evidence=[{"source": "a", "uri": "b", "excerpt": "c"}]),
            "cannot be sealed",
        ),
        (decision_fields(decision_id="a\0b"), "decision_id: 'a\\x00b' cannot be stored"),
    ],
)
def test_a_decision_that_is_none_is_one_plain_line(
    cli: Cli, folder: Path, home: Path, text: Any, says: str
) -> None:
    if text is not None:
        write(folder / "decision.json", text)
    mistaken(cli("pack", "new", "decision.json"), says)
    told = cli("pack", "new", "decision.json", "--json")
    assert told.code == 2
    assert says in told.json["error"]["message"]


def test_all_that_a_decision_lacks_is_said_at_once(cli: Cli, folder: Path) -> None:
    given = {"decision_id": "dec_1", "confidence": 2, "evidence": [{"source": "crm"}], "colour": 1}
    write(folder / "decision.json", given)
    ran = cli("pack", "new", "decision.json")
    mistaken(ran, "decision.json: decision lacks entity_id, tenant_id, agent_name, model, ")
    for name in (
        "approval_class",
        "reversibility_class",
        "sensitivity_class",
        "evidence.0.excerpt",
    ):
        assert re.search(rf"[ ,]{re.escape(name)}[,;]", ran.err), name
    assert "; decision.confidence: Input should be less than or equal to 1" in ran.err
    assert "; decision.colour: there is no such field" in ran.err


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--memo", memo_fields() | {"body_ar": " "}, "memo.body_ar: must not be blank"),
        ("--memo", memo_fields() | {"boby_en": ""}, "there is no such field; is it body_en?"),
        ("--memo", memo_fields() | {"body_en": "x"}, "cannot be sealed: memo: English"),
        ("--calls", {}, "must be a JSON list of tool calls"),
        ("--calls", [{}], "call 1 lacks tool_name, intended_action"),
        ("--calls", "nonsense", "other.json: "),
    ],
)
@pytest.mark.usefixtures("home")
def test_what_belongs_to_a_decision_and_is_wrong_is_one_plain_line(
    cli: Cli, folder: Path, option: str, value: Any, says: str
) -> None:
    write(folder / "decision.json", decision_fields())
    write(folder / "other.json", value)
    mistaken(cli("pack", "new", "decision.json", option, "other.json"), says)


def test_files_that_cannot_be_attached_are_named(cli: Cli, folder: Path, home: Path) -> None:
    write(folder / "decision.json", decision_fields())
    (folder / "b").mkdir()
    for path in ("a.txt", "b/a.txt"):
        write(folder / path, path)
    new = ("pack", "new", "decision.json", "--attach", "a.txt", "--attach")
    mistaken(cli(*new, "b/a.txt"), "b/a.txt and a.txt have the same name")
    mistaken(cli(*new, "none.txt"), "none.txt: no such file")
    mistaken(cli(*new, "b"), "b: cannot be read")
    mistaken(cli("pack", "new", "decision.json", "--ledger", "led_1"), "led_1")
    mistaken(cli("pack", "new", "decision.json", "--bundle", "bun_1"), "bun_1")


@pytest.mark.parametrize("name", ["pack_0000000000000000", "nothing", "%", "x" * 500, "قرار"])
def test_a_pack_that_is_not_there_is_said_to_be_so(made: Cli, folder: Path, name: str) -> None:
    write(folder / "changes.json", {})
    for command, *options in (
        ("show",),
        ("review", "approved"),
        ("revise", "changes.json"),
        ("export", "-o", "x.json"),
        ("approve-export",),
        ("hold", "--reason", "case"),
        ("release", "--reason", "case"),
    ):
        ran = made("pack", command, name, *options)
        mistaken(ran, "there is no pack", "'evidentia pack list' shows them")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ([], "changes.json: must be a JSON object with the fields to change"),
        ("{]", "changes.json: "),
        ({"memos": {}}, "there is no such field; is it memo?"),
        ({"pack_id": "pack_" + "0" * 16}, "pack_id cannot be revised"),
        ({"agent_name": "b"}, "agent_name cannot be revised: a changed decision is another"),
    ],
)
def test_changes_that_cannot_be_made_are_one_plain_line(
    made: Cli, folder: Path, changes: Any, says: str
) -> None:
    write(folder / "changes.json", changes)
    mistaken(made("pack", "revise", "dec_1", "changes.json"), says)


def test_an_older_version_is_not_changed_again(made: Cli) -> None:
    first = made("pack", "show", "dec_1", "--json").json["pack"]["pack_id"]
    made("pack", "review", "dec_1", "approved")
    mistaken(made("pack", "review", first, "rejected"), "has a newer version already, pack_")
    again = made("pack", "new", "decision.json")
    mistaken(again, "already: revise that one (edited_in_place)")


@pytest.mark.parametrize(
    "arguments",
    [
        ("review", "dec_1", "maybe"),
        ("grant", "ann", "king"),
        ("hold", "dec_1"),
        ("export", "dec_1"),
        ("list", "--limit", "0"),
        ("show",),
        ("shwo", "dec_1"),
    ],
)
def test_a_wrong_use_is_a_usage_error(made: Cli, arguments: tuple[str, ...]) -> None:
    ran = made("pack", *arguments)
    assert ran.code == 2
    assert "Traceback" not in ran.err


def test_wrong_times_classes_and_names_are_one_plain_line(made: Cli) -> None:
    mistaken(made("pack", "grant", "ann", "viewer", "--expires", "soon"), "'soon' is not a time")
    mistaken(made("pack", "grant", "ann", "auditor"), "an auditor's grant must expire")
    mistaken(made("pack", "grant", "ann", "viewer", "--revoke"), "does not have the role viewer")
    mistaken(made("pack", "approve-export", "dec_1", "--class", "A0"), "A1, A2 or A3, not A0")
    mistaken(made("pack", "review", "dec_1", "approved", "--reviewer", " "), "has a name")
    mistaken(made("pack", "show", "dec_1", "--as", ""), "a user has a name")
    mistaken(made("pack", "hold", "dec_1", "--reason", " "), "need a reason")
    mistaken(made("pack", "export", "dec_1", "-o", "no/where.json"), "no: there is no such folder")


def test_without_a_workspace_it_is_said_how_one_is_made(cli: Cli, folder: Path) -> None:
    write(folder / "changes.json", {})
    for arguments in (
        ("list",),
        ("show", "dec_1"),
        ("audit",),
        ("sweep",),
        ("retention",),
        ("roles",),
        ("review", "dec_1", "approved"),
        ("revise", "dec_1", "changes.json"),
    ):
        mistaken(cli("pack", *arguments), "there is no workspace yet")
    assert not (folder / ".evidentia").exists()


# Versions that are known to be old


def test_exporting_and_verifying_a_superseded_version_says_so(made: Cli, home: Path) -> None:
    made("pack", "review", "dec_1", "approved")
    approved = made("pack", "list", "--json").json["packs"][0]["id"]
    early = made("pack", "export", approved, "-o", "early.json", "--json").json
    assert early["superseded"] == {}
    key = early["public_key"]
    made("pack", "review", "dec_1", "rejected", "--note", "wrong contact")
    ran = made("pack", "export", approved, "-o", "old.json")
    assert ran.code == 0
    assert f"? {approved} is superseded by version 3 (pack_" in ran.err
    assert "a review: rejected" in ran.err
    again = made("pack", "export", approved, "-o", "again.json", "--json").json
    assert [one["outcome"] for one in again["superseded"][approved]] == ["rejected"]
    shown = made("verify", "old.json", "--key", key)
    assert shown.code == 0
    assert "old.json: holds\n? superseded by version 3 (pack_" in shown.out
    assert "whether a newer version replaces it" not in shown.out
    quiet = made("verify", "early.json", "--key", key)
    assert "superseded" not in quiet.out
    assert "whether a newer version replaces it: ask who keeps the trail" in quiet.out
    made("trail", "publish", "public", "--versions")
    entry = made("pack", "list", "--json").json["packs"][0]["entry"]
    made("trail", "prove", entry, "-o", "later.json")
    for source in (["--log", "public"], ["--later", "later.json"], ["--workspace", home]):
        told = made("verify", "early.json", "--key", key, *source)
        assert told.code == 0, (source, told.out + told.err)
        assert "? superseded by version 3 (pack_" in told.out
        assert "a review: rejected" in told.out
        report = made("verify", "early.json", "--key", key, *source, "--json").json
        assert report["superseded_by"][-1]["version"] == 3


# Help


@pytest.mark.parametrize("command", COMMANDS)
def test_help_says_what_a_command_does(cli: Cli, command: str) -> None:
    ran = cli("pack", command, "--help")
    assert ran.code == 0
    assert f"Usage: evidentia pack {command}" in ran.out
    assert "--as USER" in ran.out


def test_all_commands_are_in_the_help(cli: Cli) -> None:
    shown = cli("pack", "--help").out
    listed = {line.split()[0] for line in shown.partition("Commands:")[2].splitlines() if line}
    assert set(COMMANDS) <= listed

"""`evidentia bundle`: what each command prints and how it ends, also when the user is mistaken."""

import json
import re
import shutil
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bundles import making
from cli_running import Cli, Ran
from evidentia.bundles.diffing import diff_bundles
from evidentia.bundles.model import EvidenceBundle
from evidentia.canonical import sha256_hex
from evidentia.cli.bundle_view import said_difference
from evidentia.store.home import Home
from evidentia.verifying import verify
from vandal import vandal_at

EXAMPLES = Path(__file__).parents[2] / "examples"
LONG = "Luke is a Jedi, like his father before him. " * 5
JOB: dict[str, Any] = {
    "job_input": {
        "extra_params": {
            "evidence": [
                {"text": "Luke is a Jedi.", "source_uri": "wiki"},
                *({"text": f"Note {number}", "priority": -1} for number in range(30)),
            ]
        }
    },
    "evidence_refs": {
        "lake_text": ["docs/long.md"],
        "sql_results": [{"lake_uri": "results/facts.json", "query_key": "facts"}],
    },
    "policy": {"max_items": 4, "max_item_bytes": 100, "max_sql_rows": 2},
    "lake_root": "lake",
}
COMMANDS = (
    "build", "list", "show", "explain", "diff", "render", "verify", "prove", "record-run", "runs",
)  # fmt: skip


def write_job(path: Path, **changes: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**JOB, **changes}))
    return path


@pytest.fixture
def jobs(folder: Path) -> Path:
    """Give a folder beside the workspace, with a job and the files that it names."""
    facts = [{"id": number, "fact": f"Fact {number}"} for number in range(9)]
    files = {"docs/long.md": LONG, "results/facts.json": json.dumps(facts)}
    for name, text in files.items():
        path = folder / "jobs" / "lake" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    write_job(folder / "jobs" / "job.json")
    return folder / "jobs"


@pytest.fixture
def home(folder: Path, sqlite_template: Path) -> Path:
    """Give an empty workspace, without making its tables again for every test."""
    place = Home(folder / ".evidentia")
    place.create()
    shutil.copy(sqlite_template, place.database)
    return place.folder


@pytest.fixture
def built(cli: Cli, jobs: Path, home: Path) -> str:
    """Build the job's bundle; give its id."""
    ran = cli("bundle", "build", "-c", jobs / "job.json", "--json")
    assert ran.code == 0, ran.err
    found: str = ran.json["bundle_id"]
    return found


def assert_mistake(ran: Ran, *says: str) -> None:
    """Check that a mistake of the user's is one line on standard error, and nothing else."""
    assert ran.code == 2
    assert ran.out == ""
    assert len(ran.err.splitlines()) == 1, ran.err
    assert ran.err.startswith("error: ")
    for part in says:
        assert part in ran.err


# Building


def test_a_job_is_built_in_a_new_workspace(cli: Cli, jobs: Path, folder: Path) -> None:
    ran = cli("bundle", "build", "-c", "jobs/job.json")
    assert (ran.code, ran.err) == (0, "")
    first, inputs, size, *hints = ran.out.splitlines()
    assert first.startswith("✓ Bundle ")
    assert first.endswith(", entry 0 of the trail")
    assert inputs == "  33 inputs: 2 kept, 1 sampled, 1 truncated, 29 dropped"
    assert size.startswith("  4 items, ")
    name = first.split()[2].rstrip(",")
    assert [hint.rpartition(": ")[2] for hint in hints] == [
        f"evidentia bundle render {name[:8]}",
        f"evidentia bundle explain {name[:8]}",
    ]
    for hint in hints:
        assert cli(*hint.rpartition(": evidentia ")[2].split()).code == 0
    assert (folder / ".evidentia").is_dir()


@pytest.mark.usefixtures("home")
def test_a_build_for_programs_is_json_and_the_same_again(cli: Cli, jobs: Path) -> None:
    first = cli("bundle", "build", "-c", "jobs/job.json", "--json")
    assert set(first.json) == {"bundle_id", "bundle_sha256", "created_utc", "entry", "summary"}
    assert first.json["summary"]["item_count"] == 4
    assert cli("bundle", "build", "-c", "jobs/job.json", "--json").json == first.json
    assert len(cli("bundle", "list", "--json").json["bundles"]) == 1


@pytest.mark.usefixtures("home")
def test_the_lake_is_looked_for_from_the_jobs_folder_or_where_it_is_said(
    cli: Cli, jobs: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_root = cli("bundle", "build", "-c", jobs / "job.json", "--json").json
    job = write_job(folder / "elsewhere" / "job.json")
    assert_mistake(cli("bundle", "build", "-c", job), "elsewhere/lake: no such folder")
    named = cli("bundle", "build", "-c", job, "--lake", "jobs/lake", "--json")
    assert named.json == with_root
    monkeypatch.chdir(jobs)
    again = cli("bundle", "build", "-c", "job.json", "--home", "../.evidentia", "--json")
    assert again.json == with_root
    beside = write_job(jobs / "lake" / "job.json")
    text = json.loads(beside.read_text())
    del text["lake_root"]
    beside.write_text(json.dumps(text))
    again = cli("bundle", "build", "-c", beside, "--home", "../.evidentia", "--json")
    assert again.json == with_root


@pytest.mark.usefixtures("home")
def test_live_sql_takes_its_connections_from_the_job_or_the_command(
    cli: Cli, jobs: Path, folder: Path
) -> None:
    with closing(sqlite3.connect(folder / "crm.db")) as connection, connection:
        connection.execute("CREATE TABLE t (name TEXT)")
        connection.execute("INSERT INTO t VALUES ('Luke')")
    url = f"sqlite:///{folder}/crm.db"
    refs = {"sql_results": [{"sql": "SELECT * FROM t", "query_key": "t", "connection": "crm"}]}
    write_job(jobs / "live.json", evidence_refs=refs, job_input={})
    assert_mistake(
        cli("bundle", "build", "-c", "jobs/live.json"),
        "evidence_refs.sql_results[0]: there is no connection 'crm' (none were given)",
    )
    given = cli("bundle", "build", "-c", "jobs/live.json", "--connection", f"crm={url}", "--json")
    assert given.code == 0
    wrong = {"crm": "sqlite:///none.db"}
    write_job(jobs / "live.json", evidence_refs=refs, job_input={}, connections={"crm": url})
    assert cli("bundle", "build", "-c", "jobs/live.json", "--json").json == given.json
    write_job(jobs / "live.json", evidence_refs=refs, job_input={}, connections=wrong)
    assert cli("bundle", "build", "-c", "jobs/live.json").code == 2
    won = cli("bundle", "build", "-c", "jobs/live.json", "--connection", f"crm={url}", "--json")
    assert won.json == given.json


@pytest.mark.usefixtures("home")
def test_what_cannot_be_loaded_stops_the_build_or_is_recorded(
    cli: Cli, jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    job = write_job(jobs / "gone.json", evidence_refs={"lake_text": ["gone.md"]})
    assert_mistake(cli("bundle", "build", "-c", job), "gone.md is not in the lake")
    ran = cli("bundle", "build", "-c", job, "--on-error", "record")
    assert ran.code == 0
    assert "1 failed" in ran.out
    assert "gone.md is not in the lake" in cli("bundle", "explain", "latest").out
    write_job(job, evidence_refs={"lake_text": ["gone.md"]}, on_error="record")
    assert cli("bundle", "build", "-c", job).code == 0
    assert_mistake(cli("bundle", "build", "-c", job, "--on-error", "raise"), "gone.md")


@pytest.mark.usefixtures("home")
def test_a_build_can_be_recorded_as_a_runs_at_once(cli: Cli, jobs: Path) -> None:
    ran = cli("bundle", "build", "-c", "jobs/job.json", "--run", "run-1", "--json")
    assert cli("bundle", "runs", "--run", "run-1", "--json").json == {
        "bundles": [ran.json["bundle_id"]]
    }
    assert "Used by run-1" in cli("bundle", "show", "latest").out


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "job.json: not JSON"),
        ("\xff", "job.json: "),
        ("[]", "job.json: must be a JSON object"),
        ('{"polcy": {}}', "there is no 'polcy' in a job: use job_input, evidence_refs, policy"),
        ('{"policy": {"max_items": -1}}', "job.json: policy.max_items: "),
        (
            '{"policy": {"max_itms": 1}}',
            "job.json: policy.max_itms: there is no such field; is it max_items?",
        ),
        ('{"policy": {"max_items": "5"}}', "job.json: policy.max_items: "),
        ('{"policy": {"chunk_size": 10, "chunk_overlap": 10}}', "chunk_overlap must be less than"),
        ('{"policy": {"max_item_tokens": 5}}', "need a tokenizer: cl100k_base"),
        ('{"policy": {"redaction_classes": ["NAMES"]}}', "'NAMES' is no class of redaction: use"),
        ('{"policy": []}', "job.json: policy: "),
        ('{"lake_root": 5}', "job.json: lake_root must be a path"),
        ('{"connections": []}', "connections must be an object of names and URLs"),
        ('{"on_error": "skip"}', "job.json: on_error must be 'raise' or 'record'"),
        ('{"job_input": [1]}', "job_input: must be an object"),
        ('{"evidence_refs": {"lake_txt": []}}', "evidence_refs has no 'lake_txt': use lake_text"),
        ('{"evidence_refs": {"lake_text": "a.md"}}', "evidence_refs.lake_text: must be a list"),
        ('{"evidence_refs": {"lake_text": [5]}}', "evidence_refs.lake_text[0]: must be an object"),
        ('{"evidence_refs": {"lake_text": [{}]}}', "evidence_refs.lake_text[0]: give either"),
        ('{"evidence_refs": {"sql_results": [{"sql": "x"}]}}', "evidence_refs.sql_results[0]"),
        ('{"evidence_refs": {"lake_text": ["../x"]}}', "leaves the lake: give a path"),
        ('{"job_input": {"extra_params": {"evidence": [{}]}}}', "evidence[0]: 'text' is missing"),
    ],
)
def test_a_mistake_in_a_job_is_one_line(cli: Cli, folder: Path, text: str, says: str) -> None:
    (folder / "job.json").write_text(text, encoding="latin-1")
    assert_mistake(cli("bundle", "build", "-c", "job.json"), says)
    ran = cli("bundle", "build", "-c", "job.json", "--json")
    assert ran.code == 2
    assert says in ran.json["error"]["message"]


def test_a_lake_that_is_no_path_is_one_line(cli: Cli, folder: Path) -> None:
    (folder / "job.json").write_text('{"lake_root": "a\\u0000b"}')
    assert_mistake(cli("bundle", "build", "-c", "job.json"), "lake_root")


@pytest.mark.parametrize("key", ["job_input", "evidence_refs"])
def test_an_empty_list_is_no_object(cli: Cli, folder: Path, key: str) -> None:
    (folder / "job.json").write_text(json.dumps({key: []}))
    assert_mistake(cli("bundle", "build", "-c", "job.json"), f"{key}: must be an object")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"policy": {"max_items": -1}}', "policy.max_items"),
        ('{"evidence_refs": {"lake_text": [{}]}}', "evidence_refs.lake_text[0]: give either"),
        ('{"job_input": {"evidence": []}}', "job_input.evidence"),
        ('{"on_error": "skip"}', "on_error"),
    ],
)
def test_a_mistake_in_a_job_makes_no_workspace(
    cli: Cli, folder: Path, text: str, says: str
) -> None:
    (folder / "job.json").write_text(text)
    assert_mistake(cli("bundle", "build", "-c", "job.json"), "job.json: ", says)
    assert not (folder / ".evidentia").exists()


def test_a_job_that_is_not_there_is_one_line(cli: Cli, folder: Path) -> None:
    ran = cli("bundle", "build", "-c", "none.json")
    assert_mistake(ran, "none.json: cannot be read (No such file or directory)")
    assert_mistake(cli("bundle", "build", "-c", folder), "cannot be read (Is a directory)")


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("given", ["crm", "=sqlite://", "crm="])
def test_a_connection_has_a_name_and_a_url(cli: Cli, jobs: Path, given: str) -> None:
    ran = cli("bundle", "build", "-c", "jobs/job.json", "--connection", given)
    assert_mistake(ran, "a --connection is NAME=URL, such as crm=sqlite:///crm.db")


# Looking


@pytest.mark.usefixtures("home")
def test_a_list_is_newest_first_and_paged(cli: Cli, jobs: Path) -> None:
    ids = []
    for number in range(3):
        job = write_job(jobs / "job.json", policy={"max_items": number})
        ids.append(cli("bundle", "build", "-c", job, "--json").json["bundle_id"])
    ran = cli("bundle", "list", "--limit", "2")
    assert ran.code == 0
    assert ids[0] not in ran.out
    assert ran.out.index(ids[2]) < ran.out.index(ids[1])
    assert ran.out.splitlines()[-1] == "Older ones: evidentia bundle list --before 2"
    assert ids[0] in cli("bundle", "list", "--before", "2").out
    first = cli("bundle", "list", "--limit", "2", "--json").json
    assert [one["bundle_id"] for one in first["bundles"]] == [ids[2], ids[1]]
    rest = cli("bundle", "list", "--before", first["next_before"], "--json").json
    assert ([one["bundle_id"] for one in rest["bundles"]], rest["next_before"]) == ([ids[0]], None)


def test_an_empty_list_says_how_to_make_a_bundle(filled: Cli) -> None:
    ran = filled("bundle", "list")
    assert ran.out == "There are no bundles yet; 'evidentia bundle build -c JOB.json' makes one.\n"
    assert filled("bundle", "list", "--json").json == {"bundles": [], "next_before": None}
    assert filled("bundle", "list", "--before", "0").code == 0


def test_a_bundle_is_shown_item_by_item(cli: Cli, built: str) -> None:
    ran = cli("bundle", "show", built[:8])
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0].startswith(f"Bundle {built}, built ")
    assert lines[0].endswith(", entry 0 of the trail")
    assert lines[2] == "At most 4 items, 100,000 bytes in all, 100 in an item"
    for shown in ("inline:0", "wiki", "docs/long.md", "facts", "Truncated to 100 byte limit"):
        assert shown in ran.out
    assert cli("bundle", "show", "latest", "--json").json["bundle_id"] == built
    assert lines[-1] == f"One item's content: evidentia bundle show {built[:8]} --item EVIDENCE"


def test_one_item_is_shown_as_the_model_sees_it(cli: Cli, built: str) -> None:
    assert cli("bundle", "show", built, "--item", "inline:0").out == "Luke is a Jedi.\n"
    item = cli("bundle", "show", built, "--item", "inline:0", "--json").json
    assert (item["evidence_id"], item["source_ref"]) == ("inline:0", {"source_uri": "wiki"})
    ran = cli("bundle", "show", built, "--item", "inline:99")
    assert_mistake(ran, f"bundle {built}: 'inline:99' is not there; 'evidentia bundle explain'")
    assert_mistake(cli("bundle", "show", built, "--item", "inline:9"), "'inline:9' was dropped")


@pytest.mark.usefixtures("home")
def test_what_an_item_holds_cannot_control_the_terminal(cli: Cli, jobs: Path) -> None:
    evil = {"text": "\x1b[31mred\u202e\nnext", "source_uri": "\x1b]0;title\x07"}
    write_job(jobs / "job.json", job_input={"extra_params": {"evidence": [evil]}})
    cli("bundle", "build", "-c", "jobs/job.json", "--run", "\x1b[2Jrun")
    told = [
        cli("bundle", "show", "latest"),
        cli("bundle", "show", "latest", "--item", "inline:0"),
        cli("bundle", "explain", "latest"),
        cli("bundle", "runs", "--bundle", "latest"),
        cli("bundle", "record-run", "\x1b[2Jrun", "latest"),
    ]
    for ran in told:
        assert ran.code == 0
        assert "\x1b" not in ran.out
        assert "\u202e" not in ran.out
    assert told[1].out == "⟨U+001B⟩[31mred⟨U+202E⟩\nnext\n"


@pytest.mark.usefixtures("home")
def test_a_bundle_without_items_says_where_to_look(cli: Cli, jobs: Path) -> None:
    write_job(jobs / "job.json", policy={"max_items": 0})
    cli("bundle", "build", "-c", "jobs/job.json")
    assert (
        "It has no items: 'evidentia bundle explain' says why."
        in cli("bundle", "show", "latest").out
    )
    write_job(jobs / "empty.json", job_input={}, evidence_refs={})
    assert cli("bundle", "build", "-c", "jobs/empty.json").code == 0
    assert cli("bundle", "explain", "latest").out.endswith("The job named no evidence.\n")
    assert "no evidence" in cli("bundle", "render", "latest").out


@pytest.mark.usefixtures("home")
def test_a_kind_of_which_all_is_dropped_is_named_with_what_to_do(cli: Cli, jobs: Path) -> None:
    policies = EXAMPLES / "policies"
    shutil.copy(policies / "HR_Policy.pdf", jobs / "lake" / "policy.pdf")
    lines = "".join(f"Anna: This is sentence {number}.\n" for number in range(40))
    (jobs / "lake" / "call.txt").write_text(lines)
    refs: dict[str, Any] = {"documents": ["policy.pdf"], "transcripts": ["call.txt"]}
    policy = {"max_items": 2, "chunk_size": 200, "chunk_overlap": 0}
    write_job(jobs / "job.json", job_input={}, evidence_refs=refs, policy=policy)
    told = cli("bundle", "build", "-c", "jobs/job.json").out
    (lost,) = [line for line in told.splitlines() if "transcript_chunk" in line]
    assert re.fullmatch(
        r"All \d+ inputs of transcript_chunk were dropped: "
        r"what comes before them \(2 doc_chunk\) took the room, max_items: 2\.",
        lost,
    )
    remedy = next(line for line in told.splitlines() if line.startswith("  Inputs come in"))
    for named in ("documents, transcripts", "`priority`", "max_items", "chunk_size"):
        assert named in remedy
    explained = cli("bundle", "explain", "latest").out
    assert lost in explained
    assert remedy in explained
    refs["transcripts"] = [{"lake_uri": "call.txt", "priority": 1}]  # as it says
    write_job(jobs / "job.json", job_input={}, evidence_refs=refs, policy=policy)
    told = cli("bundle", "build", "-c", "jobs/job.json").out
    assert "of doc_chunk were dropped" in told
    assert "of transcript_chunk were dropped" not in told


@pytest.mark.usefixtures("home")
def test_a_kind_that_nothing_fits_of_is_named(cli: Cli, jobs: Path) -> None:
    refs = {"lake_text": ["docs/long.md"]}
    write_job(jobs / "job.json", job_input={}, evidence_refs=refs, policy={"max_total_bytes": 9})
    told = cli("bundle", "build", "-c", "jobs/job.json").out
    said = "The only input of lake_text was dropped: nothing fits into max_total_bytes: 9."
    assert said in told.splitlines()


def test_a_difference_names_the_rules_that_both_were_built_by(
    capsys: pytest.CaptureFixture[str],
) -> None:
    stored = Path(__file__).parents[1] / "bundles" / "built" / "version-2.0.json"
    old = EvidenceBundle.parse(stored.read_bytes())
    new = making.bundle(making.inline("x" * 3_000), making.inline("kept", 1), max_item_bytes=1_200)
    said_difference(diff_bundles(old, new), verbose=False)
    assert capsys.readouterr().out.splitlines() == [
        "built by other rules: 2.0 before, 2.1 after",
        "changed: inline:0, 1,200 bytes before, 1,200 after",
    ]


def test_where_a_kind_is_left_nothing_is_said_of_it(cli: Cli, built: str) -> None:
    assert "took the room" not in cli("bundle", "explain", built).out


def test_an_explanation_folds_what_was_dropped_into_one_row(cli: Cli, built: str) -> None:
    ran = cli("bundle", "explain", "latest")
    assert ran.code == 0
    heading = f"Bundle {built}: 33 inputs, 2 kept, 1 sampled, 1 truncated, 29 dropped"
    assert ran.out.splitlines()[0] == heading
    (folded,) = [line for line in ran.out.splitlines() if " dropped " in line and "inline" in line]
    assert folded.startswith(" inline:2 … inline:30 (29 inputs)")
    assert folded.rstrip().endswith("max_items: 4")
    assert "max_item_bytes: 100" in ran.out
    assert "first_last: 2 of 9 rows" in ran.out
    assert "What was dropped and is nowhere else is kept: sha256/" in ran.out
    accounting = cli("bundle", "explain", "latest", "--json").json
    assert accounting["inputs"] == len(accounting["decisions"]) == 33
    assert accounting["dropped"] == 29


def test_two_bundles_are_compared(cli: Cli, jobs: Path, built: str) -> None:
    same = cli("bundle", "diff", built, "latest")
    assert (same.code, same.out) == (0, "✓ The bundles are the same.\n")
    (jobs / "lake" / "docs" / "long.md").write_text("Leia is no Jedi.\nYet.")
    evidence = [{"text": "Luke is a Jedi!", "source_uri": "wiki"}]
    write_job(
        jobs / "job.json",
        policy={"max_items": 3},
        job_input={"extra_params": {"evidence": evidence}},
    )
    assert cli("bundle", "build", "-c", "jobs/job.json").code == 0
    ran = cli("bundle", "diff", built, "latest")
    assert ran.code == 1
    for line in (
        "policy max_items: 4 before, 3 after",
        "only before: inline:1 (6 bytes)",
        "changed: inline:0, 15 bytes before, 15 after",
    ):
        assert line in ran.out.splitlines()
    assert "… and" in ran.out
    assert "-Luke is a Jedi." not in ran.out
    verbose = cli("bundle", "diff", built, "latest", "-v")
    assert verbose.code == 1
    assert "  -Luke is a Jedi.\n  +Luke is a Jedi!\n" in verbose.out
    found = cli("bundle", "diff", built, "latest", "--json")
    assert found.code == 1
    assert found.json["same"] is False
    assert found.json["policy"]["max_items"] == [4, 3]
    assert found.json["changed"][0]["evidence_id"] == "inline:0"
    same = cli("bundle", "diff", built, built, "--json")
    assert (same.code, same.json["same"]) == (0, True)
    assert cli("bundle", "diff", "latest~1", "latest", "--json").json == found.json
    assert cli("bundle", "show", "latest~1", "--json").json["bundle_id"] == built
    assert_mistake(cli("bundle", "diff", "latest~2", "latest"), "there is no bundle latest~2")


# Handing on


def test_a_bundle_is_rendered_for_each_model(cli: Cli, built: str, folder: Path) -> None:
    ran = cli("bundle", "render", "latest")
    assert ran.code == 0
    assert ran.err.startswith("The fence takes ")
    nonce = ran.out.partition("<evidence-")[2].partition(" ")[0]
    assert ran.out.count(f"</evidence-{nonce}>") == 4
    anthropic = json.loads(cli("bundle", "render", built, "--format", "anthropic").out)
    assert [block["type"] for block in anthropic] == ["search_result"] * 4
    openai = json.loads(cli("bundle", "render", built, "--format", "openai").out)
    assert [message["role"] for message in openai] == ["system", "user"]
    told = cli("bundle", "render", built, "--json").json
    assert told["content"] == ran.out
    assert (told["format"], told["nonce"], told["stripped"]) == ("text", nonce, {})
    written = cli("bundle", "render", built, "-o", "prompt.txt")
    assert written.out == "✓ The bundle is in prompt.txt.\n"
    assert (folder / "prompt.txt").read_text() == ran.out


@pytest.mark.usefixtures("home")
def test_invisible_characters_that_were_left_out_are_counted(cli: Cli, jobs: Path) -> None:
    write_job(jobs / "job.json", job_input={"extra_params": {"evidence": ["a\u200b\u202eb"]}})
    cli("bundle", "build", "-c", "jobs/job.json")
    ran = cli("bundle", "render", "latest")
    assert "2 invisible characters left out of 1 item." in ran.err
    assert "\u202e" not in ran.out


def test_a_proof_of_a_bundle_holds_for_a_stranger(cli: Cli, built: str, folder: Path) -> None:
    ran = cli("bundle", "prove", "latest", "-o", "proof.json")
    first, command = ran.out.splitlines()
    assert first.startswith(f"✓ The proof of bundle {built} is in proof.json.")
    said = cli(*command.split()[1:])
    assert said.code == 0
    assert said.out.startswith("✓ proof.json: holds\n")
    assert f"What it states: bundle {built}, built " in said.out
    assert "33 inputs: 2 kept, 1 sampled, 1 truncated, 29 dropped" in said.out
    assert cli("verify", "proof.json").code == 1
    printed = cli("bundle", "prove", "latest")
    assert verify(printed.out.encode(), key=command.split()[-1]).holds
    data = (folder / "proof.json").read_text()
    payload = json.loads(data)["envelope"]["payload"]
    (folder / "proof.json").write_text(data.replace(payload, payload[:-8] + payload[-4:]))
    assert cli(*command.split()[1:]).code == 1


# Verifying


def test_bundles_that_hold_are_said_to(cli: Cli, built: str) -> None:
    ran = cli("bundle", "verify", built)
    assert ran.code == 0
    assert ran.out.startswith(f"✓ Bundle {built} holds\n")
    assert "docs/long.md: 220 bytes, unchanged" in ran.out
    ran = cli("bundle", "verify")
    assert (ran.code, ran.out) == (0, "✓ 1 bundle, as the trail names them\n")
    found = cli("bundle", "verify", "--json").json
    assert found == {"holds": True, "bundles": 1, "problems": []}


def test_without_bundles_nothing_fails_to_hold(filled: Cli) -> None:
    ran = filled("bundle", "verify")
    assert (ran.code, ran.out) == (0, "There are no bundles yet.\n")
    assert filled("bundle", "verify", "--json").json == {
        "holds": True,
        "bundles": 0,
        "problems": [],
    }


def test_a_changed_original_is_found_and_one_that_moved_can_be_named(
    cli: Cli, jobs: Path, built: str
) -> None:
    (jobs / "lake").rename(jobs / "moved")
    ran = cli("bundle", "verify")
    assert ran.code == 1
    assert ran.out.startswith("✗ Of 1 bundle, not all hold\n")
    assert f"bundle {built}: " in ran.out
    assert "docs/long.md is not in the lake" in ran.out
    assert cli("bundle", "verify", "latest", "--lake", jobs / "moved").code == 0
    (jobs / "moved" / "docs" / "long.md").write_text("Other.")
    ran = cli("bundle", "verify", "--lake", jobs / "moved", "--json")
    assert (ran.code, ran.json["holds"]) == (1, False)
    assert "docs/long.md was changed since" in ran.json["problems"][0]


def test_a_bundles_changed_file_is_found(cli: Cli, built: str, folder: Path) -> None:
    listed = cli("bundle", "list", "--json").json["bundles"][0]
    path = folder / ".evidentia" / "lake" / listed["lake_uri"]
    path.write_bytes(path.read_bytes().replace(b"Jedi", b"Sith"))
    ran = cli("bundle", "verify", "latest")
    assert ran.code == 1
    assert "its bytes were changed since they were kept" in ran.out
    for command in ("show", "explain", "render", "prove"):
        ran = cli("bundle", command, "latest")
        assert ran.code == 1
        assert ran.err.startswith("error: ")
        assert len(ran.err.splitlines()) == 1


def test_a_row_that_differs_from_its_bundle_is_found(cli: Cli, built: str, folder: Path) -> None:
    with vandal_at(folder / ".evidentia" / "evidentia.db", "seed") as vandal:
        vandal.change("UPDATE evidence_item SET reason = 'x' WHERE evidence_id = 'inline:0'")
    for ran in (cli("bundle", "verify", "latest"), cli("bundle", "verify")):
        assert ran.code == 1
        assert built in ran.out
        assert "inline:0: the database has another row of it" in ran.out


def test_a_bundle_whose_rows_were_deleted_is_missed(cli: Cli, built: str, folder: Path) -> None:
    with vandal_at(folder / ".evidentia" / "evidentia.db", "seed") as vandal:
        for table in ("evidence_item", "evidence_bundle"):
            vandal.change(f"DELETE FROM {table}", rows=None)
    ran = cli("bundle", "verify")
    assert ran.code == 1
    assert f"bundle {built}: entry 0 of the trail records it" in ran.out


# Runs


def test_runs_are_recorded_once_and_found(cli: Cli, built: str) -> None:
    first = cli("bundle", "record-run", "run-1", "latest")
    assert (first.code, first.out) == (0, f"✓ Run run-1 used {built}: recorded as entry 2\n")
    again = cli("bundle", "record-run", "run-1", built[:8])
    assert again.out == f"✓ Run run-1 used {built}: recorded before, as entry 2\n"
    told = cli("bundle", "record-run", "run-2", "latest", "--json").json
    assert told == {"run_id": "run-2", "bundle_id": built, "entry": 3}
    assert cli("bundle", "runs", "--run", "run-1").out == f"{built}\n"
    assert cli("bundle", "runs", "--bundle", "latest").out == "run-1\nrun-2\n"
    for artifact in ("docs/long.md", sha256_hex(LONG.encode()), sha256_hex(b"Luke is a Jedi.")):
        found = cli("bundle", "runs", "--artifact", artifact, "--json").json
        assert found == {"runs": ["run-1", "run-2"]}
    none = cli("bundle", "runs", "--run", "run-9")
    assert none.code == 0
    assert none.out.startswith("No bundle is recorded for run run-9: ")
    assert cli("bundle", "runs", "--run", "run-9", "--json").json == {"bundles": []}
    assert_mistake(cli("bundle", "runs", "--artifact", "none"), "no bundle has anything of 'none'")


def test_runs_answers_one_question_at_a_time(cli: Cli, built: str) -> None:
    for asked in ((), ("--run", "a", "--bundle", "b"), ("--bundle", "b", "--artifact", "c")):
        assert_mistake(cli("bundle", "runs", *asked), "ask one thing: --run RUN, --bundle BUNDLE")


@pytest.mark.parametrize("run_id", ["", " ", "x" * 201])
def test_what_is_no_runs_id_is_one_line(cli: Cli, built: str, run_id: str) -> None:
    ran = cli("bundle", "record-run", run_id, "latest")
    assert_mistake(ran, "a run's id is text of 1 to 200 characters")


@pytest.mark.parametrize("run_id", ["", " ", "x" * 201])
def test_a_build_for_what_is_no_run_records_nothing(
    cli: Cli, jobs: Path, folder: Path, run_id: str
) -> None:
    ran = cli("bundle", "build", "-c", "jobs/job.json", "--run", run_id)
    assert_mistake(ran, "a run's id is text of 1 to 200 characters")
    assert not (folder / ".evidentia").exists()


@pytest.mark.usefixtures("home")
def test_a_workspaces_home_around_a_job_is_not_read(cli: Cli, jobs: Path, folder: Path) -> None:
    assert cli("bundle", "build", "-c", "jobs/job.json").code == 0
    write_job(folder / "job.json", lake_root=".", evidence_refs={"lake_text": [{"folder": "."}]})
    ran = cli("bundle", "build", "-c", "job.json", "--on-error", "record", "--json")
    assert ran.code == 0
    shown = cli("bundle", "show", ran.json["bundle_id"], "--json").json
    names = {item["source_ref"].get("lake_uri", "") for item in shown["items"]}
    assert not any("evidentia" in name for name in names)
    write_job(folder / "job.json", lake_root=".", evidence_refs={"lake_text": [".evidentia/x"]})
    assert_mistake(cli("bundle", "build", "-c", "job.json"), ".evidentia/x is private")
    write_job(
        folder / "job.json", lake_root=".evidentia/lake", evidence_refs={"lake_text": ["sha256/x"]}
    )
    assert_mistake(cli("bundle", "build", "-c", "job.json"), "sha256/x is private")


# Mistakes, and help


@pytest.mark.parametrize(
    "command",
    [
        ("show", "none"),
        ("explain", "none"),
        ("diff", "none", "none"),
        ("render", "none"),
        ("verify", "none"),
        ("prove", "none"),
        ("record-run", "run", "none"),
        ("runs", "--bundle", "none"),
    ],
    ids=lambda command: command[0],
)
def test_an_unknown_bundle_is_one_line(cli: Cli, built: str, command: tuple[str, ...]) -> None:
    ran = cli("bundle", *command)
    assert_mistake(ran, "there is no bundle 'none': 'evidentia bundle list' shows what there is")
    told = cli("bundle", *command, "--json")
    assert (told.code, told.json["error"]["kind"]) == (2, "NotFoundError")


def test_without_bundles_the_latest_is_not_there(filled: Cli) -> None:
    ran = filled("bundle", "show", "latest")
    assert_mistake(ran, "there is no bundle latest: tenant 'default' has no bundles yet")


@pytest.mark.parametrize(
    "command", [("list",), ("show", "latest"), ("verify",), ("runs", "--run", "r")]
)
def test_without_a_workspace_the_message_says_what_makes_one(
    cli: Cli, folder: Path, command: tuple[str, ...]
) -> None:
    assert_mistake(cli("bundle", *command), "there is no workspace yet", "evidentia bundle build")
    assert not (folder / ".evidentia").exists()


def test_bundles_of_another_tenant_are_not_shown(cli: Cli, built: str) -> None:
    assert_mistake(cli("bundle", "show", built, "--tenant", "other"), "there is no bundle")
    assert cli("bundle", "list", "--tenant", "other", "--json").json["bundles"] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_teaches_what_it_does(cli: Cli, folder: Path, command: str) -> None:
    ran = cli("bundle", command, "--help")
    assert ran.code == 0
    said = [line.strip() for line in ran.out.splitlines()]
    assert said[0].startswith(f"Usage: evidentia bundle {command}")
    assert len(said[2]) > 30
    assert "--home DIR" in ran.out
    assert "--tenant NAME" in ran.out
    assert "--json" in ran.out


def test_the_group_lists_its_commands(cli: Cli, folder: Path) -> None:
    ran = cli("bundle", "--help")
    assert ran.code == 0
    for command in COMMANDS:
        assert f"\n  {command} " in ran.out


@pytest.mark.usefixtures("home")
def test_an_explanation_counts_the_placeholders_that_the_model_sees(cli: Cli, jobs: Path) -> None:
    mails = " ".join(f"anna{number}@example.com" for number in range(20))
    rows = [{"id": number, "who": f"omar{number}@example.com"} for number in range(40)]
    (jobs / "lake" / "results" / "who.json").write_text(json.dumps(rows))
    evidence = [
        {"text": mails, "source_uri": "mails"},
        {"text": "Call +44 0131 315 3300.", "source_uri": "from anna1@example.com"},
        {"text": "Nothing.", "source_uri": "notes", "asked_by": "noor@example.com"},
        {"text": "Dropped: omar@example.com", "priority": -1},
    ]
    write_job(
        jobs / "job.json",
        job_input={"extra_params": {"evidence": evidence}},
        evidence_refs={"sql_results": [{"lake_uri": "results/who.json", "query_key": "who"}]},
        policy={"enable_redaction": True, "max_items": 4, "max_item_bytes": 300},
    )
    assert cli("bundle", "build", "-c", "jobs/job.json").code == 0
    rendered = cli("bundle", "render", "latest").out
    shown = Counter(re.findall(r"\[([A-Z]+)_[0-9]+\]", rendered))
    assert shown["PHONE"] == 1
    assert 20 < shown["EMAIL"] < 60
    told = cli("bundle", "explain", "latest", "--json").json
    assert told["redactions"] == shown
    out = cli("bundle", "explain", "latest").out
    assert f"Placeholders in it: {shown['EMAIL']} EMAIL, 1 PHONE." in out
    rows_told = [line for line in out.splitlines() if line.startswith((" inline", " sql"))]
    counted = sum(int(count) for line in rows_told for count in re.findall(r"(\d+) EMAIL", line))
    assert counted == shown["EMAIL"]
    assert not re.search("notes .* EMAIL", out)

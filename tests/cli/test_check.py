import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from cli_running import Cli
from evidentia.errors import EnvironmentProblem
from evidentia.store.kept import KeptCheckpoint
from trained import needs_model
from workspace.policies import read_here

POLICY = """# Leave policy

## 1 Annual leave

All permanent employees receive 15 days of paid annual leave per calendar year.

## 2 Sick leave

A medical certificate is required for any absence of more than three calendar days.

## 3 Carrying leave over

Unused annual leave may be carried over at the discretion of the department head.
"""
ANSWER = """Hello! Here is what I found.

All permanent employees receive 15 days of paid annual leave per calendar year [1]. A medical
certificate is required for any absence of more than 5 calendar days. Unused annual leave can be
carried over. The maximum carry-over is 5 days.

Sources:
[1] leave.md
"""
OF_WORDS = ("--judges", "quote,numbers")


@pytest.fixture
def leave(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Stand in a folder with a policy and an answer that gets every verdict."""
    read_here(monkeypatch)
    (folder / "policies").mkdir()
    (folder / "policies" / "leave.md").write_text(POLICY)
    (folder / "answer.md").write_text(ANSWER)
    return cli


def test_an_answer_is_checked_and_shown_as_a_table(leave: Cli) -> None:
    ran = leave("check", "answer.md", "--against", "policies", *OF_WORDS)
    assert (ran.code, ran.err) == (0, "")
    rows = re.findall(r"│ +(\d) │ (.+?) +│ (\w+) +│ (.) (.+?) +│ (.+?) +│", ran.out)
    assert [(number, verdict, source) for number, _, _, _, verdict, source in rows] == [
        ("1", "Supported", "leave.md, §1"),
        ("2", "Contradicted", "leave.md, §2"),
        ("3", "Weak (partial)", "leave.md, §3 (partial match)"),
        ("4", "Not Found", "-"),
    ]
    assert "Evidence coverage 50% of 4 claims" in ran.out
    assert "Contradiction (high): 1 claim contradicts the source documents" in ran.out
    assert "Not counted as claims:" in ran.out
    ledger = re.search(r"Ledger (led_\w{16}) is entry \d+ of the trail", ran.out)
    assert ledger
    assert f"evidentia ledger prove {ledger[1]} -o proof.json" in ran.out
    assert leave("trail", "verify").code == 0


def test_the_expanded_view_has_quotes_places_notes_and_questions(leave: Cli) -> None:
    ran = leave("check", "answer.md", "--against", "policies", "--verbose")
    assert "Claim #2: A medical certificate is required" in ran.out
    assert "Verdict: CONTRADICTED (Confidence: 95%, high)" in ran.out
    assert '"A medical certificate is required for any absence of more than three' in ran.out
    assert "— leave.md, 2 Sick leave" in ran.out
    assert "Judge's Notes:" in ran.out
    assert re.search(r"Citation: \[cite:[0-9a-f]{8}\]", ran.out)
    assert "Not claims:" in ran.out
    assert "Recommended actions:" in ran.out
    assert "Questions to ask:" in ran.out


def test_query_and_title_are_kept(leave: Cli) -> None:
    leave("check", "answer.md", "--against", "policies", "--query", "How much?", "--title", "Leave")
    shown = leave("ledger", "show", "latest", "--json").json
    assert shown["session"]["query"] == "How much?"
    assert shown["session"]["title"] == "Leave"
    assert shown["session"]["mode"] == "answer"


@pytest.mark.parametrize(
    ("options", "failures"),
    [
        ((), []),
        (("--fail-on", "not_judged"), []),
        (("--fail-on", "contradicted,not_found"), ["1 claim is contradicted", "1 claim is not f"]),
        (("--min-coverage", "0.5"), []),
        (("--min-coverage", "0.8"), ["the evidence coverage of 50% is below 80%"]),
        (("--fail-on", "weak", "--min-coverage", "1"), ["1 claim is weak", "50% is below 100%"]),
    ],
)
def test_the_gate_sets_the_exit_code_and_says_why(
    leave: Cli, options: tuple[str, ...], failures: list[str]
) -> None:
    asked = ("--against", "policies", "--format", "json", *OF_WORDS)
    ran = leave("check", "answer.md", *asked, *options)
    assert ran.code == bool(failures)
    lines = ran.err.splitlines()
    assert len(lines) == len(failures)
    for line, failure in zip(lines, failures, strict=True):
        assert line.startswith("✗ does not pass: ")
        assert failure in line
    assert ran.json["summary"]["total_claims"] == 4


def test_json_alone_is_on_standard_output(leave: Cli, folder: Path) -> None:
    (folder / "policies" / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    ran = leave("check", "answer.md", "--against", "policies", "--json")
    assert ran.code == 0
    assert ran.json["summary"]["by_verdict"]["supported"] == 1
    assert ran.err.startswith("✗ not read: broken.pdf: ")


def test_what_could_not_be_read_is_in_the_ledger(leave: Cli, folder: Path) -> None:
    (folder / "policies" / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    assert "not read: broken.pdf" in leave("check", "answer.md", "--against", "policies").out
    assert "not read: broken.pdf" in leave("ledger", "show", "latest").out


def test_each_format_is_written_to_a_file(leave: Cli, folder: Path) -> None:
    for form in ("json", "markdown", "sarif", "junit"):
        ran = leave(
            "check", "answer.md", "--against", "policies", *OF_WORDS, "--format", form, "-o", form
        )
        assert (ran.code, ran.out) == (0, "")
        assert ran.err == f"✓ The ledger is in {form}.\n"
    ran = leave("check", "answer.md", *OF_WORDS, "-o", "table")
    assert ran.out.startswith("✓ Ledger led_")
    assert re.search("│ ✗ Contradicted +│ leave.md, §2", (folder / "table").read_text())
    assert json.loads((folder / "json").read_text())["entries"][1]["verdict"] == "contradicted"
    assert (folder / "markdown").read_text().startswith("## Evidence Ledger\n")
    results = json.loads((folder / "sarif").read_text())["runs"][0]["results"]
    places = [result["locations"][0]["physicalLocation"] for result in results]
    assert {place["artifactLocation"]["uri"] for place in places} == {"answer.md"}
    assert [place["region"]["startLine"] for place in places] == [3, 4, 5]
    suite = ET.fromstring((folder / "junit").read_text())[0]
    assert (suite.get("tests"), suite.get("failures")) == ("4", "2")


def test_junit_fails_what_the_gate_fails(leave: Cli) -> None:
    arguments = ("check", "answer.md", "--against", "policies", "--format", "junit")
    ran = leave(*arguments, "--fail-on", "weak")
    assert ran.code == 1
    assert 'failures="1"' in ran.out
    assert '<failure type="weak"' in ran.out


def test_an_answer_comes_from_standard_input(leave: Cli) -> None:
    ran = leave("check", "-", "--against", "policies", "--json", stdin=ANSWER.encode())
    assert ran.json["summary"]["total_claims"] == 4
    assert leave("ledger", "list", "--json").json["ledgers"][0]["answer_name"] == "standard input"


def test_without_against_all_documents_count(leave: Cli) -> None:
    assert leave("ingest", "policies").code == 0
    assert leave("check", "answer.md", "--json").json["summary"]["evidence_coverage"] == 0.5


def test_the_judges_can_be_chosen(leave: Cli) -> None:
    arguments = ("check", "answer.md", "--against", "policies", "--json")
    verdicts = leave(*arguments, "--judges", "quote").json["summary"]["by_verdict"]
    assert verdicts["contradicted"] == 0
    assert leave(*arguments, "--judges", "numbers, quote").code == 0


def test_a_second_check_points_to_the_first(leave: Cli) -> None:
    leave("check", "answer.md", "--against", "policies", *OF_WORDS)
    first = leave("ledger", "list", "--json").json["ledgers"][0]["id"]
    leave("check", "answer.md", "--against", "policies", *OF_WORDS, "--title", "Again")
    listed = leave("ledger", "list", "--json").json["ledgers"]
    assert [ledger["previous_id"] for ledger in listed] == [first, None]
    assert f"The same answer was checked before: {first}" in leave("ledger", "show", "latest").out


def test_an_answer_without_claims_has_nothing_to_judge(leave: Cli, folder: Path) -> None:
    (folder / "hello.md").write_text("Hello! How can I help you today?\n")
    ran = leave("check", "hello.md", "--against", "policies")
    assert ran.code == 0
    assert ran.out.startswith("The answer makes no claims")
    ran = leave("check", "hello.md", "--against", "policies", "--min-coverage", "0.1")
    assert ran.code == 1
    assert "the evidence coverage of 0% is below 10%" in ran.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("empty.md",), "the answer is empty"),
        (("blank.md",), "the answer is empty"),
        (("binary",), "binary: not UTF-8 text: an answer is Markdown or plain text"),
        (("nul.md",), "the answer is not text: it has NUL characters"),
        (("large.md",), "large.md: larger than the 2,097,152 bytes that an answer may have"),
        (("nowhere.md",), "nowhere.md: no such file"),
        (("policies",), "policies: cannot be read (Is a directory)"),
        (("answer.md", "--against", "nowhere"), "nowhere: no such file or folder"),
        (("answer.md", "--against", "nothing"), "there are no documents to check against"),
        (("answer.md",), "there are no documents to check against"),
        (("answer.md", "--against", "bad"), "broken.pdf: a broken PDF"),
        (("answer.md", "--judges", "quote,oracle"), "judge 'oracle' is unknown: use one of quote"),
        (("answer.md", "--fail-on", "wrong"), "verdict 'wrong' is unknown: use contradicted"),
        (("answer.md", "--title", "a\0b"), "the title is not text"),
    ],
)
def test_bad_input_is_one_line_that_says_what_to_do(
    leave: Cli, folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    (folder / "empty.md").write_bytes(b"")
    (folder / "blank.md").write_bytes(b" \n\t\n")
    (folder / "binary").write_bytes(bytes(range(256)))
    (folder / "nul.md").write_bytes(b"Leave is paid.\0")
    (folder / "large.md").write_bytes(b"Leave is paid. " * 150_000)
    (folder / "nothing").mkdir()
    (folder / "bad").mkdir()
    (folder / "bad" / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    ran = leave("check", *arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.startswith("error: ")
    assert message in ran.err
    assert ran.err.count("\n") == 1


def test_hostile_text_cannot_control_the_terminal(leave: Cli, folder: Path) -> None:
    hostile = "\x1b[31mAll staff\x07 get 15 days\u202e of leave [bold]now[/bold].\n"
    (folder / "answer.md").write_text(hostile)
    (folder / "policies" / "leave.md").write_text(
        f"# Leave \x1b[2J\n\n{hostile}".replace("\x07", "")
    )
    for options in ((), ("--verbose",)):
        ran = leave("check", "answer.md", "--against", "policies", *options)
        assert not set(ran.out + ran.err) & set("\x1b\x07\u202e")


ARABIC = "يحصل الموظفون على إجازة سنوية طويلة. تقدم طلبات الإجازة إلى المدير. The office is open."
NOT_READ = (
    "? 2 claims were not judged: the nli judge reads English only. Exact quotes and numbers were "
    "checked all the same. A person can judge them, or a judge that reads the language "
    "(--judges quote,numbers,llm); or go by quotes and numbers alone: "
    "evidentia check --judges quote,numbers\n"
)


@needs_model
def test_claims_that_the_model_cannot_read_are_told_in_one_plain_line(
    leave: Cli, folder: Path
) -> None:
    (folder / "policies" / "arabic.md").write_text("تقدم طلبات الإجازة السنوية قبل موعدها بأسبوع.")
    (folder / "arabic.md").write_text(ARABIC)
    ran = leave("check", "arabic.md", "--against", "policies")
    assert NOT_READ in ran.out
    assert "failed" not in ran.out
    assert NOT_READ in leave("ledger", "show", "latest").out
    told = leave("check", "arabic.md", "--against", "policies", "--json")
    assert told.err == NOT_READ
    assert [entry["verdict"] for entry in told.json["entries"]][:2] == ["not_judged"] * 2
    alone = leave("check", "arabic.md", "--judges", "nli").out
    assert "the nli judge reads English only. A person can judge them, or a judge that" in alone
    assert "reads English only" not in leave("check", "arabic.md", *OF_WORDS).out


def test_a_check_names_the_files_it_rests_on_that_are_gone_and_what_to_do(
    leave: Cli, folder: Path
) -> None:
    leave("ingest", "policies")
    policy = folder / "policies" / "leave.md"
    assert "no longer" not in leave("check", "answer.md", *OF_WORDS).out
    policy.unlink()
    said = (
        f"? 1 document that this ledger rests on is no longer where it was read from: {policy}. "
        "What was read still counts. To check without: --against FOLDER, with those to go by.\n"
    )
    ran = leave("check", "answer.md", *OF_WORDS)
    assert said in ran.out
    told = leave("check", "answer.md", *OF_WORDS, "--json")
    assert told.err == said
    (change,) = told.json["file_changes"]
    assert change["filename"] == "leave.md"
    assert (change["path"], change["change"]) == (str(policy), "gone")
    assert "file_changes" not in leave("ledger", "export", "latest", "--format", "json").json
    assert "no longer" not in leave("ledger", "show", "latest").out


def test_a_check_names_the_files_it_rests_on_that_changed_and_how_to_read_them_again(
    leave: Cli, folder: Path
) -> None:
    leave("ingest", "policies")
    policy = folder / "policies" / "leave.md"
    policy.write_text("Something else.")
    assert (
        f"? 1 document that this ledger rests on has changed since it was read: {policy}. "
        f"To go by the new content: evidentia ingest {policy}\n"
    ) in leave("check", "answer.md", *OF_WORDS).out
    leave("ingest", policy)
    assert "has changed" not in leave("check", "answer.md", *OF_WORDS).out


def test_of_many_files_that_are_gone_the_first_few_are_named(leave: Cli, folder: Path) -> None:
    names = [f"leave-{number}.md" for number in range(1, 6)]
    for name in names:
        (folder / "policies" / name).write_text(f"Rule {name[-4]} of the house is to be quiet.")
    leave("ingest", "policies")
    (folder / "answer.md").write_text(
        "\n\n".join(f"Rule {number} of the house is to be quiet." for number in range(1, 6))
    )
    for name in names:
        (folder / "policies" / name).unlink()
    ran = leave("check", "answer.md", "--judges", "quote")
    assert "? 5 documents that this ledger rests on are no longer where they were read" in ran.out
    assert "leave-3.md and 2 more. What was read still counts. " in ran.out


def test_a_check_is_shown_also_where_its_checkpoint_cannot_be_kept(
    leave: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise EnvironmentProblem("checkpoints/default.txt: the disk is full")

    monkeypatch.setattr(KeptCheckpoint, "keep", full)
    ran = leave("check", "answer.md", "--against", "policies", *OF_WORDS)
    assert ran.code == 0
    assert "is entry" in ran.out
    assert "? the newest checkpoint is not kept: checkpoints/default.txt: the disk" in ran.err

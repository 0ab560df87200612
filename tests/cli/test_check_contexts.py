"""`evidentia check --contexts` and `--bundle`: against what the model was given."""

import json
from pathlib import Path

import pytest

from cli_running import Cli

LEAVE = "All permanent employees receive 15 days of paid annual leave per calendar year."
TRAVEL = "Hotel costs are refunded up to $150 per night."
ANSWER = (
    "All permanent employees receive 15 days of paid annual leave per calendar year [1].\n\n"
    "Hotel costs are refunded up to $250 per night [cite:kb-17].\n\n"
    "Contractors may bring their pets to the office.\n"
)
OF_WORDS = ("--judges", "quote,numbers")


@pytest.fixture
def given(cli: Cli, folder: Path) -> Cli:
    """Stand in a folder with an answer, and with what its model was given in both forms."""
    contexts = [LEAVE, {"id": "kb-17", "text": TRAVEL, "title": "Travel.pdf", "page": 3}]
    (folder / "answer.md").write_text(ANSWER)
    (folder / "contexts.json").write_text(json.dumps(contexts))
    (folder / "contexts.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in contexts))
    return cli


@pytest.mark.parametrize("file", ["contexts.json", "contexts.jsonl"])
def test_an_answer_is_checked_against_a_file_of_contexts(given: Cli, file: str) -> None:
    ran = given("check", "answer.md", "--contexts", file, *OF_WORDS)
    assert (ran.code, ran.err) == (0, "")
    assert "context 2 (kb-17), Travel.pdf, p.3" in ran.out
    assert "Evidence coverage 33% of 3 claims: 1 supported, 1 contradicted, 1 not found" in ran.out
    assert "Checked against 2 contexts." in ran.out
    shown = given("ledger", "show", "latest")
    assert "checked against 2 contexts." in shown.out
    assert given("ledger", "prove", "latest", "-o", "proof.json").code == 0
    verified = given("verify", "proof.json")
    assert "contexts: 2 contexts have their digests" in verified.out


def test_a_bundle_is_what_the_model_saw(given: Cli, folder: Path) -> None:
    job = {"job_input": {"extra_params": {"evidence": [LEAVE]}}}
    (folder / "job.json").write_text(json.dumps(job))
    assert given("bundle", "build", "-c", "job.json").code == 0
    ran = given("check", "answer.md", "--bundle", "latest", *OF_WORDS)
    assert (ran.code, ran.err) == (0, "")
    assert "Checked against 1 context of bundle " in ran.out
    (folder / "docs").mkdir()
    (folder / "docs" / "travel.md").write_text(TRAVEL)
    both = given("check", "answer.md", "--bundle", "latest", "--against", "docs", *OF_WORDS)
    assert "and 1 document." in both.out
    assert "travel.md (library)" in both.out
    assert both.out.count("(library)") == 1
    verbose = given("check", "answer.md", "--bundle", "latest", "--library", "-v", *OF_WORDS)
    assert "Evidence from: the library" in verbose.out
    assert "Evidence from: what the model was given" in verbose.out


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[1,", "error: contexts.json: not JSON"),
        ("[]", "error: contexts: there is no text in them to check against"),
        ('[{"id": "a"}]', "error: context 1 has no text"),
        ('["a", 5]', "error: context 2 is no passage, but int"),
        ("just text", "error: contexts.json: line 1: not JSON"),
    ],
)
def test_what_is_no_file_of_contexts_is_said_in_one_line(
    given: Cli, folder: Path, content: str, said: str
) -> None:
    (folder / "contexts.json").write_text(content)
    ran = given("check", "answer.md", "--contexts", "contexts.json")
    assert ran.code == 2
    assert ran.err.startswith(said)
    assert ran.err.count("\n") == 1


def test_a_file_that_is_not_there_and_two_things_at_once_are_refused(given: Cli) -> None:
    assert "none.json: no such file" in given("check", "answer.md", "--contexts", "none.json").err
    ran = given("check", "answer.md", "--contexts", "contexts.json", "--bundle", "latest")
    assert "give contexts or a bundle, not both" in ran.err

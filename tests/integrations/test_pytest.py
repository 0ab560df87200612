"""The plugin of pytest, in runs of pytest of their own."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from evidentia.workspace import open_workspace

pytest_plugins = ["pytester"]

POLICY = "# Leave\n\nAll permanent employees receive 15 days of annual leave.\n"
HEAD = "from evidentia.integrations.pytest import assert_same_verdicts, assert_supported\n"


@pytest.fixture(scope="module", autouse=True)
def _everything_is_imported(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Import what a check needs: a run within this one forgets the modules that it imported."""
    with open_workspace(tmp_path_factory.mktemp("first")) as workspace:
        workspace.check("Dogs bark.", contexts=["Dogs bark."], judges=["quote", "numbers"])


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project with a policy, whose claims are judged by rules."""
    (pytester.path / "leave.md").write_text(POLICY)
    pytester.makeini("[pytest]\nevidentia_judges = quote numbers\n")
    return pytester


def run(project: pytest.Pytester, body: str, *arguments: str) -> pytest.RunResult:
    (project.path / "test_answers.py").write_text(HEAD + body)
    return project.runpytest_inprocess("-p", "no:cacheprovider", *arguments)


def answers(says: str, call: str = "assert_supported") -> str:
    return f"def test_leave():\n    {call}({says!r}, against='leave.md')\n"


def test_an_answer_that_is_supported_passes_and_is_counted(project: pytest.Pytester) -> None:
    result = run(project, answers("All permanent employees receive 15 days of annual leave."))
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["evidentia: 1 answer checked, 0 failed"])


def test_a_wrong_number_fails_and_the_passage_is_quoted(project: pytest.Pytester) -> None:
    result = run(project, answers("All permanent employees receive 25 days of annual leave."))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "Claims of the answer that are not supported: 1 of 1",
            "1. contradicted: All permanent employees receive 25 days of annual leave",
            "   the passage, in leave.md*Leave:",
            '     "All permanent employees receive 15 days of annual leave."',
            "It is in ledger led_*",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")


def test_what_is_nowhere_fails_and_weak_support_only_if_asked(project: pytest.Pytester) -> None:
    body = (
        "CONTEXTS = ['All permanent employees receive 15 days of annual leave.']\n"
        "def test_nowhere():\n    assert_supported('Dogs bark at noon.', contexts=CONTEXTS)\n"
        "def test_held():\n"
        "    ledger = assert_supported(CONTEXTS[0], contexts=CONTEXTS, weak=False)\n"
        "    assert ledger.metrics().faithfulness == 1.0\n"
    )
    result = run(project, body)
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["1. not found: Dogs bark at noon"])


def test_ledgers_are_named_in_the_junit_file_and_kept_in_the_home(
    project: pytest.Pytester, tmp_path: Path
) -> None:
    home, file = tmp_path / "kept", tmp_path / "junit.xml"
    body = answers("All permanent employees receive 15 days of annual leave.")
    run(project, body, f"--evidentia-home={home}", f"--junitxml={file}").assert_outcomes(passed=1)
    with open_workspace(home) as workspace:
        [kept] = workspace.ledgers.list()
    assert f'<property name="evidentia_ledger" value="{kept.id}"' in file.read_text()


def test_verdicts_are_compared_with_those_that_were_written_down(
    project: pytest.Pytester,
) -> None:
    said = "All permanent employees receive 15 days of annual leave."
    body = answers(said, "assert_same_verdicts")
    missing = run(project, body)
    missing.assert_outcomes(failed=1)
    missing.stdout.fnmatch_lines(["*No verdicts are written down*--evidentia-update*"])
    run(project, body, "--evidentia-update").assert_outcomes(passed=1)
    file = project.path / "__verdicts__" / "test_answers.py.test_leave.json"
    assert json.loads(file.read_text()) == [{"claim": said[:-1], "verdict": "supported"}]
    run(project, body).assert_outcomes(passed=1)
    (project.path / "leave.md").write_text(POLICY.replace("15", "20"))
    changed = run(project, body)
    changed.assert_outcomes(failed=1)
    changed.stdout.fnmatch_lines([f"  {said[:-1]}", "    was supported, is contradicted"])
    file.write_text("no JSON")
    run(project, body).stdout.fnmatch_lines(["*is not JSON*"])


def test_claims_that_come_and_go_are_told(project: pytest.Pytester) -> None:
    one, other = "Dogs bark at noon.", "Cats sleep at night."
    run(project, answers(one, "assert_same_verdicts"), "--evidentia-update")
    result = run(project, answers(other, "assert_same_verdicts"))
    result.stdout.fnmatch_lines(
        [f"  {other[:-1]}", "    is new, not_found", f"  {one[:-1]}", "    is gone, was not_found"]
    )


def test_outside_a_test_there_is_nothing_to_fail(project: pytest.Pytester) -> None:
    result = run(project, "assert_supported('Dogs bark.', contexts=['Dogs bark.'])\n")
    result.stdout.fnmatch_lines(["*it can be called in a test that pytest runs*"])


def test_the_workspace_of_the_run_takes_what_tests_put_there(project: pytest.Pytester) -> None:
    body = (
        "def test_mine(evidentia_workspace):\n"
        "    evidentia_workspace.ingest('leave.md')\n"
        "    assert_supported('All permanent employees receive 15 days of annual leave.')\n"
    )
    run(project, body).assert_outcomes(passed=1)


def test_workers_of_xdist_name_their_ledgers_and_are_counted_together(
    project: pytest.Pytester, tmp_path: Path
) -> None:
    home, file = tmp_path / "kept", tmp_path / "junit.xml"
    says = "All permanent employees receive {} days of annual leave."
    body = "\n".join(
        f"def test_{days}():\n    assert_supported({says.format(days)!r}, against='leave.md')\n"
        for days in (15, 25)
    )
    (project.path / "test_answers.py").write_text(HEAD + body)
    options = ("-n", "2", f"--evidentia-home={home}", f"--junitxml={file}")
    result = project.runpytest_subprocess("-p", "no:cacheprovider", *options)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            '     "All permanent employees receive 15 days of annual leave."',
            f"evidentia: 2 answers checked, 1 failed; their ledgers are in {home}",
        ]
    )
    with open_workspace(home) as workspace:
        kept = {one.id for one in workspace.ledgers.list()}
    named = {
        (case.get("name"), one.get("value"))
        for case in ET.parse(file).iter("testcase")
        for one in case.iter("property")
    }
    assert {test for test, _ in named} == {"test_15", "test_25"}
    assert {ledger for _, ledger in named} == kept
    assert len(kept) == 2


def test_tests_whose_names_are_no_files_have_verdicts_of_their_own(
    project: pytest.Pytester,
) -> None:
    says = ["Dogs bark at noon.", "Cats sleep at night.", "Cows give milk."]
    names = ["a/b", "c/b", "c b" + "x" * 300]
    body = (
        "import pytest\n"
        f"@pytest.mark.parametrize(('name', 'says'), {list(zip(names, says, strict=True))!r},\n"
        f"    ids={names!r})\n"
        "def test_it(name, says):\n    assert_same_verdicts(says, against='leave.md')\n"
    )
    run(project, body, "--evidentia-update").assert_outcomes(passed=3)
    assert len(list((project.path / "__verdicts__").iterdir())) == 3
    run(project, body).assert_outcomes(passed=3)


def test_what_a_terminal_would_obey_is_shown_and_not_printed(project: pytest.Pytester) -> None:
    body = (
        "def test_it():\n"
        "    assert_supported('Dogs \\x1b[31mbark at noon.', contexts=['Dogs \\x1b[2Jsleep.'])\n"
    )
    result = run(project, body)
    result.assert_outcomes(failed=1)
    told = result.stdout.str().partition("Claims of the answer")[2]
    assert "⟨U+001B⟩" in told
    assert "\x1b" not in told.partition("It is in ledger")[0]

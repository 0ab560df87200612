"""`evidentia otel`: what is told of files of spans, and by which exit code."""

import json
from pathlib import Path

import pytest

import evidentia as ev
from cli_running import Cli
from evidentia.errors import InputError
from evidentia.integrations.otel import gathering
from tracing import WRONG, Made, genai_trace, request, trace_id_of

pytestmark = pytest.mark.sqlite_suffices


@pytest.fixture(autouse=True)
def _by_words(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask the quick judges, by a policy."""
    (folder / "policy.json").write_text('{"judges": ["quote", "numbers"]}')
    monkeypatch.setenv("EVIDENTIA_OTEL_POLICY_FILE", str(folder / "policy.json"))


def write(file: Path, *requests: bytes) -> Path:
    file.write_bytes(b"\n".join(requests) + b"\n")
    return file


def test_traces_become_runs_and_the_same_again_changes_nothing(cli: Cli, folder: Path) -> None:
    file = write(folder / "s.jsonl", request(genai_trace()), request(genai_trace(1, answer=WRONG)))
    first = cli("otel", str(file))
    assert first.code == 0, first.err
    assert first.out == (
        "✓ 10 spans read, 2 traces: 2 runs recorded\n  2 answers checked, 0 packs sealed\n"
    )
    again = cli("otel", str(file), str(file), "--json")
    assert again.code == 0
    assert [one["spans"] for one in again.json["traces"]] == [0, 0]
    with ev.open(folder / ".evidentia") as workspace:
        verdicts = [row.summary["by_verdict"] for row in workspace.ledgers.list()]
        assert sum(one["contradicted"] for one in verdicts) == 1
        assert workspace.trail.audit().holds


def test_what_comes_late_is_told_as_an_addition(cli: Cli, folder: Path) -> None:
    cli("otel", str(write(folder / "a.jsonl", request(genai_trace()[:3]))))
    late = cli("otel", str(write(folder / "b.jsonl", request(genai_trace()))))
    assert "0 runs recorded" in late.out
    assert "1 run had been recorded; what came late was added" in late.out


def test_what_cannot_be_recorded_is_said_and_the_exit_code_is_1(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = json.loads(request(genai_trace()))
    said["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["spanId"] = ""
    lines = (json.dumps(said).encode(), b'{"resourceSpans": 1}')
    found = cli("otel", str(write(folder / "s.jsonl", *lines)))
    assert found.code == 1
    assert "4 spans read, 1 trace: 1 run recorded" in found.out
    assert "1 span rejected: the span id is not 16 hexadecimal digits" in found.out
    assert "batch 2: resourceSpans is no list" in found.out

    def refuses(*_: object) -> None:
        raise InputError("too much of it")

    monkeypatch.setattr(gathering, "record", refuses)
    many = [request(genai_trace(number)) for number in range(1, 13)]
    failed = cli("otel", str(write(folder / "t.jsonl", *many)))
    assert failed.code == 1
    assert f"trace {trace_id_of(1)}: too much of it" in failed.out
    assert "and 2 more: --json has them all" in failed.out


def test_what_is_no_file_of_spans_is_a_wrong_use(cli: Cli, folder: Path) -> None:
    (folder / "s.bin").write_bytes(b"")
    for arguments, problem in (
        ((str(folder / "none"),), "there is no such file"),
        ((str(folder / "s.bin"),), "it is empty"),
        ((str(folder / "s.bin"), "--policy", str(folder / "s.bin")), "no policy for recording"),
    ):
        found = cli("otel", *arguments)
        assert (found.code, problem in found.err) == (2, True), found


def test_a_trace_without_a_model_a_tool_or_a_retriever_is_no_run(cli: Cli, folder: Path) -> None:
    plain = [Made(trace_id_of(5), "00000000000000aa", "GET /")]
    found = cli("otel", str(write(folder / "s.jsonl", request(plain))))
    assert (found.code, "1 trace had nothing new" in found.out) == (0, True)

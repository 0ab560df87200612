"""The llm judge on the command line: settings, consent, checks and measuring."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli_running import Cli, ndjson
from judges.llm.serving import KEY, Asked, Said, Server, reply, serving, verdict

CARRY = "Unused annual leave may be carried over with the consent of the department head."
ANSWER = "Holiday that was not taken can move to the next year if the boss of the unit agrees."
LEAVE = "All employees receive 15 days of paid annual leave per year."


def understands(asked: Asked) -> Said:
    given = []
    for name in asked.claims:
        found = next((one for one in asked.passages if one in (CARRY, LEAVE)), "")
        given.append(verdict(name, "supported" if found else "not_found", found))
    return reply(asked, given)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Iterator[Server]:
    """Stand in a folder with documents and an answer, with a model in the settings."""
    (folder / "docs").mkdir()
    (folder / "docs" / "leave.md").write_text(f"# Leave\n\n{CARRY}\n")
    (folder / "answer.md").write_text(ANSWER)
    with serving() as found:
        found.respond = understands
        monkeypatch.setenv("EVIDENTIA_LLM_URL", found.url)
        monkeypatch.setenv("EVIDENTIA_LLM_MODEL", "test-1")
        monkeypatch.setenv("EVIDENTIA_LLM_KEY_VARIABLE", "MODEL_KEY")
        monkeypatch.setenv("MODEL_KEY", KEY)
        monkeypatch.setenv("EVIDENTIA_LLM_ATTEMPTS", "1")
        yield found


CHECK = ("check", "answer.md", "--against", "docs", "--judges", "quote,numbers,llm")


def test_an_answer_is_checked_by_a_model_once_its_endpoint_is_allowed(
    cli: Cli, server: Server
) -> None:
    refused = cli(*CHECK)
    assert refused.code == 2
    assert f"evidentia judge allow {server.url}" in refused.err
    assert server.asked == []
    allowed = cli("judge", "allow", server.url)
    assert allowed.code == 0
    assert f"Passages may be sent to {server.url}: entry " in allowed.out
    assert "not encrypted" not in allowed.out
    ran = cli(*CHECK)
    assert ran.code == 0
    assert "Supported" in ran.out or "supported" in ran.out
    assert f"Asked test-1 at {server.url}: 1 call, 1,000 tokens in and 50 out" in ran.out
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in ran.out + ran.err
    again = cli(*CHECK, "--json")
    assert again.json["entries"][0]["judge"] == "llm"
    assert len(server.asked) == 1


def test_who_voted_how_is_shown_and_leads_to_what_the_model_saw(cli: Cli, server: Server) -> None:
    cli("judge", "allow", server.url)
    shown = " ".join(cli(*CHECK, "--verbose").out.replace("│", " ").split())
    assert "Vote of quote and numbers: " in shown
    assert "Vote of llm: Supported (95%), which decides: it stands there" in shown
    (run,) = set(re.findall(r"judge-[0-9a-f]{16}", shown))
    assert f"What it saw and said: evidentia bundle runs --run {run}" in shown
    seen, said = cli("bundle", "runs", "--run", run, "--json").json["bundles"]
    assert CARRY in cli("bundle", "render", seen).out
    assert "it stands there" in cli("bundle", "show", said, "--item", "inline:1").out
    again = " ".join(cli("ledger", "show", "latest", "--verbose").out.replace("│", " ").split())
    assert f"bundle runs --run {run}" in again


def test_a_cost_is_told_where_prices_are_set(
    cli: Cli, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVIDENTIA_LLM_INPUT_PRICE", "2")
    monkeypatch.setenv("EVIDENTIA_LLM_OUTPUT_PRICE", "10")
    cli("judge", "allow", server.url)
    assert ", 0.002500 USD" in cli(*CHECK).out


def test_allowed_endpoints_are_listed_and_taken_back(cli: Cli, server: Server) -> None:
    before = cli("judge", "list", "--json").json
    assert before["allowed"] == []
    problem = f"nothing may be sent there yet: evidentia judge allow {server.url}"
    assert before["judges"][-1]["problem"] == problem
    entry = cli("judge", "allow", f"{server.url}/", "--json").json["entry"]
    listed = cli("judge", "list", "--json").json
    assert listed["judges"][-1]["available"] is True
    assert len(listed["judges"][-1]["digest"]) == 64
    (allowed,) = listed["allowed"]
    assert (allowed["url"], allowed["by"], allowed["entry"]) == (server.url, "owner", entry)
    assert server.url in cli("judge", "list").out
    assert cli("judge", "disallow", server.url).code == 0
    assert cli("judge", "list", "--json").json["allowed"] == []
    again = cli("judge", "disallow", server.url, "--json")
    assert again.code == 2
    assert "is not allowed: nothing is changed" in again.json["error"]["message"]
    assert cli("judge", "allow", server.url, "--json").code == 0
    assert cli("judge", "disallow", server.url, "--json").json["url"] == server.url


def test_an_open_wire_is_warned_of(cli: Cli, folder: Path) -> None:
    assert "not encrypted on the way" in cli("judge", "allow", "http://gpu.example:8000/v1").out
    assert cli("judge", "allow", "gpu.example").code == 2


def test_without_a_model_in_the_settings_it_says_what_to_set(cli: Cli, folder: Path) -> None:
    (folder / "answer.md").write_text(ANSWER)
    ran = cli("check", "answer.md", "--judges", "llm")
    assert ran.code == 2
    assert "set EVIDENTIA_LLM_URL" in ran.err
    assert "set EVIDENTIA_LLM_URL" in cli("judge", "list", "--json").json["judges"][-1]["problem"]


def test_a_key_may_be_in_a_file(
    cli: Cli, server: Server, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    (folder / "key").write_text("sk-from-a-file\n")
    monkeypatch.delenv("EVIDENTIA_LLM_KEY_VARIABLE")
    monkeypatch.setenv("EVIDENTIA_LLM_KEY_FILE", "key")
    cli("judge", "allow", server.url)
    assert cli(*CHECK).code == 0
    assert server.asked[0].headers["authorization"] == "Bearer sk-from-a-file"
    (folder / "key").write_bytes("schlüssel".encode())
    assert "the key is not plain text" in cli(*CHECK).err


def test_a_key_that_is_not_there_or_is_none_is_told_without_it(
    cli: Cli, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODEL_KEY", "")
    assert "EVIDENTIA_LLM_KEY_VARIABLE names MODEL_KEY, which is not set" in cli(*CHECK).err
    monkeypatch.setenv("MODEL_KEY", "hunter2 \x07")
    ran = cli(*CHECK)
    assert "the key is not one" in ran.err
    assert "hunter2" not in ran.err


def test_the_policy_of_the_settings_is_kept(
    cli: Cli, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVIDENTIA_SECOND_OPINION", "always")
    monkeypatch.setenv("EVIDENTIA_DECIDES", "majority")
    monkeypatch.setenv("EVIDENTIA_DOUBT", "0.2-0.9")
    cli("judge", "allow", server.url)
    assert cli(*CHECK).code == 0
    proof = cli("ledger", "prove", "latest").json
    statement = json.loads(__import__("base64").b64decode(proof["envelope"]["payload"]))
    assert statement["predicate"]["judging"]["policy"] == {
        "asked": "always",
        "decides": "majority",
        "doubt_from": 0.2,
        "doubt_to": 0.9,
    }


def test_a_model_is_measured_as_the_others_are(cli: Cli, server: Server, folder: Path) -> None:
    (folder / "pairs.jsonl").write_bytes(
        ndjson(
            {"evidence": CARRY, "claim": ANSWER, "label": "supported"},
            {"evidence": LEAVE, "claim": "Staff have 15 days off.", "label": "supported"},
            {"evidence": "The door is red.", "claim": "The door is blue.", "label": "not_found"},
        )
    )
    measure = ("judge", "eval", "pairs.jsonl", "--judge", "llm")
    refused = cli(*measure)
    assert refused.code == 2
    assert f"evidentia judge allow {server.url}" in refused.err
    assert not (folder / ".evidentia").exists()
    assert server.asked == []
    cli("judge", "allow", server.url)
    size = len(cli("trail", "log", "--json").json["entries"])
    ran = cli(*measure, "--json")
    assert ran.json["all"]["balanced_accuracy"] == 1.0
    (service,) = ran.json["services"]
    assert (service["calls"], service["input_tokens"]) == (3, 3_000)
    assert ran.json["judges"][0]["digest"] == service["digest"]
    shown = cli(*measure)
    assert f"test-1 at {server.url}: 0 calls, 3 answers remembered" in shown.out
    assert len(server.asked) == 3
    assert len(cli("trail", "log", "--json").json["entries"]) == size


def test_a_model_that_fails_is_measured_as_one_that_judged_nothing(
    cli: Cli, server: Server, folder: Path
) -> None:
    (folder / "pairs.jsonl").write_bytes(
        ndjson({"evidence": CARRY, "claim": ANSWER, "label": "supported"})
    )
    cli("judge", "allow", server.url)
    server.respond = lambda _: Said("", 401)
    found = cli("judge", "eval", "pairs.jsonl", "--judge", "llm", "--json").json["all"]
    assert found["not_judged"] == 1
    assert "it answered 401" in found["not_judged_reasons"][0]["reason"]

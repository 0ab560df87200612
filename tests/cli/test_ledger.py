import base64
import json
from pathlib import Path

import pytest

from cli_running import Cli
from workspace.policies import read_here

POLICY = "# Leave\n\nAll permanent employees receive 15 days of paid annual leave per year.\n"
BY_RULES = ("--judges", "quote,numbers")
ANSWER = "All permanent employees receive 20 days of paid annual leave per year.\n"


@pytest.fixture
def checked(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Start with one checked answer, whose only claim is contradicted."""
    read_here(monkeypatch)
    (folder / "policies").mkdir()
    (folder / "policies" / "leave.md").write_text(POLICY)
    (folder / "answer.md").write_text(ANSWER)
    asked = ("--against", "policies", "--query", "How much?", *BY_RULES)
    assert cli("check", "answer.md", *asked).code == 0
    return cli


def test_ledgers_are_listed_newest_first_page_by_page(checked: Cli) -> None:
    for title in ("Second", "Third"):
        checked("check", "answer.md", "--title", title, *BY_RULES)
    page = checked("ledger", "list", "--limit", "2", "--json").json
    assert [ledger["title"] for ledger in page["ledgers"]] == ["Third", "Second"]
    older = checked("ledger", "list", "--before", str(page["next_before"]), "--json").json
    assert [ledger["title"] for ledger in older["ledgers"]] == ["answer.md"]
    assert older["next_before"] is None
    shown = checked("ledger", "list", "--limit", "2").out
    assert f"Older ones: evidentia ledger list --before {page['next_before']}" in shown
    assert "Third" in shown


def test_no_ledgers_yet_says_how_to_make_one(filled: Cli) -> None:
    ran = filled("ledger", "list")
    assert (ran.code, ran.err) == (0, "")
    assert "There are no ledgers yet; 'evidentia check ANSWER --against FOLDER'" in ran.out


def test_a_ledger_is_shown_by_its_id_by_its_session_and_as_the_latest(checked: Cli) -> None:
    listed = checked("ledger", "list", "--json").json["ledgers"][0]
    outputs = {checked("ledger", "show", listed[name]).out for name in ("id", "session_id")}
    outputs.add(checked("ledger", "show", "latest").out)
    assert len(outputs) == 1
    (shown,) = outputs
    assert "Question: How much?" in shown
    assert "✗ Contradicted" in shown
    assert "of the trail; checked against 1 document." in shown
    full = checked("ledger", "show", "latest", "--json").json
    assert full["ledger"]["entries"][0]["verdict"] == "contradicted"
    assert full["session"]["id"] == listed["session_id"]


@pytest.mark.parametrize("name", ["led_0000000000000000", "nothing", "%", "x" * 500])
def test_a_ledger_that_is_not_there_is_said_to_be_so(checked: Cli, name: str) -> None:
    for command in ("show", "export", "prove"):
        ran = checked("ledger", command, name)
        assert ran.code == 2
        assert "'evidentia ledger list' shows them" in ran.err


def test_a_ledger_is_exported_in_each_form(checked: Cli, folder: Path) -> None:
    assert checked("ledger", "export", "latest").out.startswith("## Evidence Ledger\n")
    assert checked("ledger", "export", "latest", "--json").json["entries"][0]["notes"]
    assert checked("ledger", "export", "latest", "--format", "sarif").json["version"] == "2.1.0"
    assert 'failures="1"' in checked("ledger", "export", "latest", "--format", "junit").out
    assert checked("ledger", "export", "latest", "-o", "ledger.md").code == 0
    assert (folder / "ledger.md").read_text().startswith("## Evidence Ledger\n")
    ran = checked("ledger", "export", "latest", "--format", "table")
    assert (ran.code, ran.out) == (2, "")


def test_a_proved_ledger_is_verified_and_says_what_it_states(checked: Cli) -> None:
    ran = checked("ledger", "prove", "latest", "-o", "proof.json")
    assert ran.code == 0
    assert ran.out.startswith("✓ The proof of ledger led_")
    checked("keys", "show", "-o", "key.txt")
    ran = checked("verify", "proof.json", "--key", "key.txt")
    assert ran.code == 0
    assert "✓ statement: the statement is the one recorded, signed by the trusted key" in ran.out
    assert "What it states: answer.md, 1 claim\n  1 contradicted; 1 document," in ran.out
    stated = checked("verify", "proof.json", "--key", "key.txt", "--json").json["statement"]
    assert stated["predicate"]["answer"] == ANSWER
    handed = checked("ledger", "prove", "latest", "-o", "again.json", "--json").json
    assert (handed["file"], handed["entry"]) == ("again.json", 2)
    assert checked("ledger", "prove", "latest").json["envelope"]["signatures"]


def test_a_forged_ledger_is_caught(checked: Cli, folder: Path) -> None:
    checked("ledger", "prove", "latest", "-o", "proof.json")
    checked("keys", "show", "-o", "key.txt")
    proof = json.loads((folder / "proof.json").read_text())
    payload = base64.b64decode(proof["envelope"]["payload"])
    forged = payload.replace(b'"verdict":"contradicted"', b'"verdict":"supported"')
    assert forged != payload
    proof["envelope"]["payload"] = base64.b64encode(forged).decode()
    (folder / "forged.json").write_text(json.dumps(proof))
    ran = checked("verify", "forged.json", "--key", "key.txt")
    assert ran.code == 1
    assert "✗ statement: the statement is not the one that was recorded" in ran.out
    assert "What it states" not in ran.out


def test_a_changed_statement_in_the_lake_is_caught(checked: Cli, folder: Path) -> None:
    digest = checked("ledger", "list", "--json").json["ledgers"][0]["statement_sha256"]
    path = folder / ".evidentia" / "lake" / "sha256" / digest[:2] / digest[2:4] / digest
    path.write_bytes(path.read_bytes().replace(b"contradicted", b"not_found"))
    for command in ("show", "export", "prove"):
        ran = checked("ledger", command, "latest")
        assert ran.code == 1
        assert "its bytes were changed since they were kept" in ran.err
    ran = checked("ledger", "verify")
    assert ran.code == 1
    assert ran.out.startswith("✗ 1 of 1 ledger does not hold\n  ✗ ledger led_")
    assert checked("ledger", "verify", "--json").json["holds"] is False


def test_ledgers_that_hold_are_said_to(checked: Cli) -> None:
    ran = checked("ledger", "verify")
    assert (ran.code, ran.out) == (0, "✓ 1 ledger, as the trail names it\n")
    found = checked("ledger", "verify", "--json").json
    assert found == {"holds": True, "ledgers": 1, "problems": []}


def test_an_erased_ledger_is_said_to_be(checked: Cli) -> None:
    listed = checked("ledger", "list", "--json").json["ledgers"][0]
    name, entry = listed["id"], str(listed["entry"])
    assert checked("trail", "erase", entry, "--reason", "law", "--by", "me", "--yes").code == 0
    ran = checked("ledger", "show", name)
    assert (ran.code, ran.err) == (2, f"error: ledger {name} (entry {entry}) was erased\n")
    assert checked("ledger", "verify").code == 0
    assert checked("trail", "verify").code == 0


def test_what_a_ledger_was_checked_against_is_listed_page_by_page(
    checked: Cli, folder: Path
) -> None:
    (folder / "policies" / "travel.md").write_text("# Travel\n\nEmployees travel in economy.\n")
    checked("ingest", "policies")
    checked("check", "answer.md", "--against", "policies/leave.md")
    shown = checked("ledger", "corpus", "latest").out
    assert "was checked against 1 of 2 documents, versions counted." in shown
    assert "policies/leave.md" in shown
    assert "left out" in shown
    assert "was checked against all of 1 document," in checked("ledger", "corpus", "latest~1").out
    page = checked("ledger", "corpus", "latest", "--limit", "1", "--json").json
    assert [one["used"] for one in page["versions"]] == [True]
    again = checked("ledger", "corpus", "latest", "--after", page["next_after"], "--json").json
    assert [one["filename"] for one in again["versions"]] == ["travel.md"]
    assert again["next_after"] is None
    more = checked("ledger", "corpus", "latest", "--limit", "1").out
    assert f"--after {page['next_after']}" in more
    ran = checked("ledger", "corpus", "latest", "-o", "list.json")
    assert (ran.code, ran.out) == (2, "")
    assert "give --prove DOCUMENT" in ran.err


def test_a_document_is_proved_in_a_corpus_or_out_of_it(checked: Cli, folder: Path) -> None:
    checked("keys", "show", "-o", "key.txt")
    ran = checked("ledger", "corpus", "latest", "--prove", "policies/leave.md", "-o", "in.json")
    assert ran.code == 0
    assert ran.out.startswith("✓ The document doc_")
    assert "was checked against, and among what was checked.\n" in ran.out
    ran = checked("verify", "in.json", "--key", "key.txt")
    assert ran.code == 0
    assert "✓ corpus: the document doc_" in ran.out
    absent = "doc_0123456789abcdef"
    asked = ("ledger", "corpus", "latest", "--prove", absent)
    told = checked(*asked, "-o", "out.json", "--json").json
    assert (told["membership"], told["file"], told["recorded"]) == ("absent", "out.json", None)
    ran = checked("verify", "out.json", "--key", "key.txt")
    assert ran.code == 0
    assert f"✓ corpus: the document {absent} was not in the library that ledger led_" in ran.out
    shows = checked("verify", "out.json", "--key", "key.txt", "--json").json["shows"]
    assert shows["membership"] == "absent"
    forged = json.loads((folder / "in.json").read_text())
    forged["nodes"] = forged["nodes"][:-1]
    (folder / "forged.json").write_text(json.dumps(forged))
    ran = checked("verify", "forged.json", "--key", "key.txt")
    assert ran.code == 1
    assert "✗ corpus: " in ran.out
    assert checked(*asked).json["format"] == "evidentia/corpus-proof"
    assert checked("ledger", "corpus", "latest", "--prove", "what is this").code == 2

from pathlib import Path

import pytest

from cli_running import Cli
from evidentia.documents.hashing import generate_chunk_hash

REMOTE = "# Remote work\n\n## 1 Days\n\nEmployees may work remotely on 2 days per week.\n"


@pytest.fixture
def policies(cli: Cli, folder: Path) -> Cli:
    """Stand in a folder with two documents, one of them in a folder of its own."""
    (folder / "policies" / "travel").mkdir(parents=True)
    (folder / "policies" / "remote.md").write_text(REMOTE)
    (folder / "policies" / "travel" / "hotels.txt").write_text("Hotels cost 140 euros at most.\n")
    return cli


def test_a_folder_is_read_once_and_changes_are_versions(policies: Cli, folder: Path) -> None:
    ran = policies("ingest", "policies")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "✓ 2 documents: 2 added (2 pages, 2 passages).\n"
    (folder / "policies" / "remote.md").write_text(REMOTE.replace("2 days", "3 days"))
    assert policies("ingest", "policies").out.startswith("✓ 2 documents: 1 changed, 1 unchanged")
    newest = policies("documents", "--json").json["documents"]
    assert [(item["filename"], item["version"]) for item in newest] == [
        ("remote.md", 2),
        ("travel/hotels.txt", 1),
    ]
    everything = policies("documents", "--all", "--json").json["documents"]
    assert [item["version"] for item in everything] == [1, 2, 1]
    assert "policies/travel/hotels.txt" in policies("documents").out


def test_one_bad_file_does_not_stop_the_others(policies: Cli, folder: Path) -> None:
    (folder / "policies" / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    (folder / "policies" / "latin.txt").write_bytes("Café für alle".encode("latin-1") + b"\x81")
    (folder / "policies" / "logo.png").write_bytes(b"\x89PNG")
    ran = policies("ingest", "policies")
    assert ran.code == 1
    assert ran.out.startswith("✓ 2 documents: 2 added")
    assert "✗ broken.pdf: a broken PDF" in ran.out
    assert "✗ latin.txt: " in ran.out
    assert "1 file left out (not a kind of document that is read): logo.png" in ran.out
    found = policies("ingest", "policies", "--json")
    assert found.code == 1
    assert [item["filename"] for item in found.json["problems"]] == ["broken.pdf", "latin.txt"]
    assert found.json["left_out"][0]["filename"] == "logo.png"
    assert {item["outcome"] for item in found.json["documents"]} == {"unchanged"}


def test_several_targets_are_read_and_a_single_file_is_the_same_document(policies: Cli) -> None:
    policies("ingest", "policies/remote.md", "policies/travel")
    assert policies("ingest", "policies/remote.md").out.startswith("✓ 1 document: 1 unchanged")


@pytest.mark.parametrize("arguments", [["nowhere"], ["policies", "nowhere"]])
def test_a_missing_target_is_a_usage_error(policies: Cli, arguments: list[str]) -> None:
    ran = policies("ingest", *arguments)
    assert (ran.code, ran.err) == (2, "error: nowhere: no such file or folder\n")


def test_an_empty_folder_and_an_empty_library_say_what_to_do(cli: Cli, folder: Path) -> None:
    (folder / "empty").mkdir()
    assert cli("ingest", "empty").out.startswith("There was no document to read")
    assert cli("documents").out.startswith("There are no documents yet; 'evidentia ingest FOLDER'")


def test_a_citation_leads_to_its_passage(policies: Cli) -> None:
    policies("ingest", "policies")
    (folder_answer := Path("answer.md")).write_text(
        "Employees may work remotely on 2 days per week."
    )
    entries = policies("check", folder_answer, "--json").json["entries"]
    (anchor,) = entries[0]["evidence"]["chunk_ids"]
    for name in (anchor, f"[cite:{anchor}]", anchor.upper()):
        ran = policies("cite", name)
        assert ran.code == 0
        assert ran.out.startswith("✓ remote.md > Remote work > 1 Days (characters ")
        assert "  Employees may work remotely on 2 days per week." in ran.out
    assert policies("cite", anchor, "--json").json["chunk"]["text"].endswith("per week.")


@pytest.mark.parametrize(
    ("anchor", "problem"),
    [
        ("00000000", "Citation references deleted or unavailable chunk"),
        ("abc", "Citation is shorter than 8 characters"),
    ],
)
def test_a_citation_that_leads_nowhere_says_so(policies: Cli, anchor: str, problem: str) -> None:
    policies("ingest", "policies")
    ran = policies("cite", anchor)
    assert ran.code == 1
    assert problem in ran.out
    assert not policies("cite", anchor, "--json").json["resolved"]


def test_a_cited_passage_of_an_older_version_is_still_found(policies: Cli, folder: Path) -> None:
    policies("ingest", "policies")
    Path("answer.md").write_text("Employees may work remotely on 2 days per week.")
    entries = policies("check", "answer.md", "--json").json["entries"]
    (folder / "policies" / "remote.md").write_text("# Remote work\n\nThere is none any more.\n")
    policies("ingest", "policies")
    ran = policies("cite", entries[0]["evidence"]["chunk_ids"][0])
    assert ran.code == 0
    assert "Employees may work remotely" in ran.out


def test_documents_are_taken_out_after_a_question_and_their_citations_say_so(
    policies: Cli, folder: Path
) -> None:
    policies("ingest", "policies")
    assert policies("documents", "remove").code == 2
    asked = policies("documents", "remove", "policies/remote.md")
    assert asked.code != 0  # no one is there to answer
    ran = policies("documents", "remove", "policies/remote.md", "--yes", "--reason", "old")
    assert ran.out == "✓ policies/remote.md is taken out; entry 3 records it.\n"
    assert [one["filename"] for one in policies("documents", "--json").json["documents"]] == [
        "travel/hotels.txt"
    ]
    assert policies("documents", "remove", "--missing").out == "There is nothing to take out.\n"
    (folder / "policies" / "travel" / "hotels.txt").unlink()
    gone = policies("documents", "remove", "--missing", "--yes", "--json").json["removed"]
    assert [(one["filename"], one["entry"]) for one in gone] == [("travel/hotels.txt", 4)]


def test_a_synced_folder_shows_what_it_does_and_refuses_many_removals(
    policies: Cli, folder: Path
) -> None:
    policies("ingest", "policies")
    (folder / "policies" / "remote.md").unlink()
    (folder / "policies" / "gifts.txt").write_text("Gifts above 50 euros are reported.\n")
    planned = policies("ingest", "--sync", "policies", "--dry-run")
    assert planned.out == (
        "policies: 1 to add, 1 unchanged, 1 to take out\n  + gifts.txt\n  - remote.md\n"
    )
    assert policies("ingest", "--sync", "policies", "--dry-run", "--json").json["done"] is False
    refused = policies("ingest", "--sync", "policies")
    assert (refused.code, "more than 10%" in refused.err) == (2, True)
    done = policies("ingest", "--sync", "policies", "--allow-removals")
    assert (done.code, done.out.endswith("✓ 1 document taken out.\n")) == (0, True)
    again = policies("ingest", "--sync", "policies", "--json").json
    assert (again["done"], again["unchanged"]) == (True, ["gifts.txt", "travel/hotels.txt"])
    for wrong in (["--sync", "policies", "policies"], ["policies", "--dry-run"]):
        assert policies("ingest", *wrong).code == 2


def test_a_documents_text_is_erased_after_a_question_also_later(policies: Cli) -> None:
    policies("ingest", "policies")
    anchor = generate_chunk_hash(REMOTE)
    assert policies("cite", anchor).code == 0
    policies("documents", "remove", "policies/remote.md", "--yes")
    asked = policies("documents", "remove", "policies/remote.md", "--erase")
    assert "Erase the text of 1 document for good?" in asked.out + asked.err
    ran = policies("documents", "remove", "policies/remote.md", "--erase", "--yes")
    assert "policies/remote.md is taken out, and its text erased; entry " in ran.out
    again = policies("documents", "remove", "policies/remote.md", "--erase", "--yes")
    assert (again.code, again.out) == (0, "There is nothing to erase any more.\n")
    cited = policies("cite", anchor)
    assert cited.code == 1
    assert "Citation references deleted or unavailable chunk" in cited.out
    assert policies("verify").code == 0


def test_two_folders_of_one_name_are_told_apart(policies: Cli, folder: Path) -> None:
    policies("ingest", "policies")
    other = folder / "more" / "policies"
    other.mkdir(parents=True)
    (other / "gifts.txt").write_text("Gifts above 50 euros are reported.\n")
    ran = policies("ingest", "more/policies")
    assert "The collection is policies (2) (col_" in ran.out
    listed = policies("documents").out
    assert "policies (1)/remote.md" in listed
    assert "policies (2)/gifts.txt" in listed
    assert "policies (2) is col_" in listed
    one = policies("documents", "--collection", "policies (2)", "--json").json["documents"]
    assert [document["filename"] for document in one] == ["gifts.txt"]
    assert (
        "2 collections are called 'policies'"
        in policies("documents", "--collection", "policies").err
    )
    (folder / "answer.md").write_text("Gifts above 50 euros are reported.\n")
    check = ("check", "answer.md", "--judges", "quote,numbers")
    assert "1 supported" in policies(*check, "--collection", one[0]["collection_id"]).out
    assert "1 not found" in policies(*check, "--collection", "policies (1)").out


def test_a_check_is_made_as_of_a_day(policies: Cli, folder: Path) -> None:
    (folder / "fees.txt").write_text("The fee is 9 euros.\n")
    (folder / "answer.md").write_text("The fee is 9 euros.\n")
    policies("ingest", "policies")
    assert policies("ingest", "fees.txt", "--effective", "2025-01-01..2025-12-31").code == 0
    held = {one["effective_until"] for one in policies("documents", "--json").json["documents"]}
    assert held == {None, "2025-12-31"}
    check = ("check", "answer.md", "--judges", "quote,numbers")
    assert "1 supported" in policies(*check, "--as-of", "2025-06-30").out
    assert "documents that held on 2025-06-30." in policies("ledger", "show", "latest").out
    assert "1 not found" in policies(*check, "--as-of", "2026-06-30").out
    assert "Outdated Source" in policies(*check).out
    assert policies(*check, "--as-of", "soon").code == 2
    assert policies("ingest", "fees.txt", "--effective", "soon").code == 2

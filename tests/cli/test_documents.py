from pathlib import Path

import pytest

from cli_running import Cli

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

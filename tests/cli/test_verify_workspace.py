"""`evidentia verify` without a file: the whole workspace, and what was not looked at."""

import json
from pathlib import Path

import pytest

from cli_running import Cli
from evidentia.workspace import open_workspace
from vandal import vandal_at
from workspace.policies import read_here, write_policies


@pytest.fixture(autouse=True)
def _read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    read_here(monkeypatch)


@pytest.fixture
def library(filled: Cli, folder: Path) -> Cli:
    """Start with a log of records and with documents."""
    write_policies(folder / "docs")
    assert filled("ingest", "docs").code == 0
    return filled


def database(folder: Path) -> Path:
    return folder / ".evidentia" / "evidentia.db"


def test_a_workspace_holds_and_it_is_said_what_was_not_looked_at(library: Cli) -> None:
    ran = library("verify")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("✓ workspace of default: holds\n")
    assert "  ✓ documents: 3 versions of documents: rows, entries, passages" in ran.out
    assert "What was not looked at:\n" in ran.out
    quick = library("verify", "--quick")
    assert quick.code == 0
    assert quick.out.startswith("✓ workspace of default: holds, as far as --quick looks\n")
    report = json.loads(library("verify", "--json").out)
    assert (report["holds"], report["quick"]) == (True, False)
    assert [part["name"] for part in report["parts"]][:3] == ["database", "log", "documents"]
    assert report["not_looked_at"]


def test_what_is_wrong_is_named_by_its_part(library: Cli, folder: Path) -> None:
    with vandal_at(database(folder), "seed") as vandal:
        sql = "UPDATE document_chunks SET content = replace(content, '15', '51')"
        vandal.change(sql, rows=None)
    ran = library("verify")
    assert ran.code == 1
    assert ran.out.startswith("✗ workspace of default: does not hold\n")
    assert "  ✗ documents: " in ran.out
    assert "docs/leave.md, 1): its passages are not the ones that entry" in ran.out
    assert json.loads(library("verify", "--json").out)["holds"] is False


def test_a_changed_passage_is_not_cited(library: Cli, folder: Path) -> None:
    with open_workspace(folder / ".evidentia") as workspace:
        leave = next(one for one in workspace.documents.list() if one.filename == "leave.md")
        anchor = workspace.documents.chunks(leave)[0].chunk_hash[:8]
    assert library("cite", anchor).code == 0
    with vandal_at(database(folder), "seed") as vandal:
        vandal.change("UPDATE document_chunks SET content = 'Other.'", rows=None)
    ran = library("cite", anchor)
    assert ran.code == 1
    assert ran.err.startswith(f"error: document {leave.id} (docs/leave.md, 1): its passages are")


def test_a_kept_checkpoint_can_be_given(library: Cli, folder: Path) -> None:
    assert library("trail", "checkpoint", "-o", "kept.txt").code == 0
    ran = library("verify", "--since", "kept.txt")
    assert ran.code == 0
    assert "the checkpoint given with --since" in ran.out
    (folder / "none.txt").write_text("no checkpoint", encoding="utf-8")
    assert library("verify", "--since", "none.txt").code == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("proof.json", "--quick"), "--quick, --published and --signatures are for a workspace"),
        (("proof.json", "--since", "kept.txt"), "is compared with a published log"),
        (("--later", "proof.json"), "are for a file: name the file"),
        (("--key", "a key"), "a key"),
    ],
)
def test_options_of_the_other_kind_are_refused(
    library: Cli, arguments: tuple[str, ...], said: str
) -> None:
    ran = library("verify", *arguments)
    assert ran.code == 2
    assert said in ran.err


def test_a_key_can_be_named(library: Cli) -> None:
    key = library("keys", "show").out.strip()
    ran = library("verify", "--key", key)
    assert ran.code == 0
    assert "is trusted, as it was named" in ran.out
    other = key.replace(key.split("+")[2], "AbKyGgGry+YvdfMqxQMgngRbVTxsl0VTICD5tMLTZzxE")
    assert library("verify", "--key", other).code == 2
    ran = library("verify", "--key", "b2b21a01abcbe62f75f32ac503209e04" * 2)
    assert ran.code == 1
    assert "was named, and is none of the keys that the log announces" in ran.out


def test_documents_of_an_older_workspace_are_recorded_on_demand(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_policies(folder / "docs")
    with monkeypatch.context() as patched:
        patched.setattr("evidentia.workspace.library.Recorder.record", lambda *_: None)
        assert cli("ingest", "docs").code == 0
    ran = cli("verify")
    assert ran.code == 1
    assert ran.out.count("no entry of the trail records it") == 3
    done = cli("documents", "record")
    assert done.code == 0
    assert done.out.startswith("✓ 3 versions of documents recorded:\n")
    assert "docs/leave.md, version 1 of 2" in done.out
    assert cli("documents", "record").out == "✓ Every document is recorded in the trail already.\n"
    assert json.loads(cli("documents", "record", "--json").out) == {"recorded": [], "problems": []}
    assert cli("verify").code == 0


def test_a_document_that_contradicts_itself_is_named_and_not_recorded(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_policies(folder / "docs", {"a.md": "Text."})
    with monkeypatch.context() as patched:
        patched.setattr("evidentia.workspace.library.Recorder.record", lambda *_: None)
        assert cli("ingest", "docs").code == 0
    for file in (folder / ".evidentia" / "lake").rglob("*"):
        if file.is_file():
            file.unlink()
    ran = cli("documents", "record")
    assert ran.code == 1
    assert "gone from the lake" in ran.out


def test_a_published_copy_is_compared_with_the_log(library: Cli, folder: Path) -> None:
    assert library("trail", "publish", "public").code == 0
    ran = library("verify", "--published", "public")
    assert ran.code == 0
    assert "  ✓ published: public: " in ran.out
    assert "name them with --published" in library("verify").out
    tile = next((folder / "public" / "tile" / "0").rglob("*.p/*"))
    tile.write_bytes(bytes(len(tile.read_bytes())))
    ran = library("verify", "--published", "public")
    assert ran.code == 1
    assert "  ✗ published: public: " in ran.out
    refused = library("verify", "public", "--published", "public")
    assert refused.code == 2
    assert "for a workspace" in refused.err

"""HTML pages out of a workspace: recorded as exports are, and verified from the file alone."""

from pathlib import Path

import pytest

import evidentia as ev
from evidentia import Workspace
from evidentia.canonical import sha256_hex
from evidentia.errors import AccessError, InputError
from packing import decision, memo
from places import Place


@pytest.fixture
def workspace(sqlite_place: Place) -> Workspace:
    """Give a workspace with a pack."""
    found = sqlite_place.open()
    found.assemble(decision(), memo=memo(), attachments={"contact.txt": b"as it was"})
    return found


def test_a_pack_is_a_page_if_the_file_is_called_one(workspace: Workspace, tmp_path: Path) -> None:
    file = workspace.packs.export("dec_1", tmp_path / "Board.HTML")
    report = ev.verify(file, key=workspace.trail.public_key())
    assert report.holds
    [logged] = workspace.trail.entries(kind="export")
    assert (logged.body["format"], logged.body["sha256"]) == ("html", sha256_hex(file.read_bytes()))
    assert workspace.trail.audit().holds


def test_the_form_that_is_asked_for_wins_over_the_name(
    workspace: Workspace, tmp_path: Path
) -> None:
    page = workspace.packs.export("dec_1", tmp_path / "a.json", form="html")
    plain = workspace.packs.export("dec_1", tmp_path / "b.html", form="json")
    assert page.read_bytes().startswith(b"<!doctype html>")
    assert plain.read_bytes().startswith(b"{")
    with pytest.raises(InputError, match="there is no form 'docx' of a pack"):
        workspace.packs.export("dec_1", tmp_path / "c.docx", form="docx")


def test_a_page_needs_an_approval_as_other_exports_do(workspace: Workspace, tmp_path: Path) -> None:
    workspace.access.grant("layla", "approver")
    with pytest.raises(AccessError, match="needs an approval"):
        workspace.acting_as("layla").packs.export("dec_1", tmp_path / "a.html")
    assert not (tmp_path / "a.html").exists()


def test_a_ledger_is_a_page_and_shows_itself_in_a_notebook(
    workspace: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.md").write_text("Leave is fifteen days a year.\n")
    found = workspace.check("Leave is fifteen days a year.", against=tmp_path / "docs")
    file = workspace.ledgers.export(found.id, tmp_path / "ledger.html")
    assert ev.verify(file, key=workspace.trail.public_key()).holds
    assert "Leave is fifteen days a year" in found._repr_html_()
    assert "<script" not in found._repr_html_()

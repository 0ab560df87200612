"""PDFs out of a workspace: recorded as exports are, and verified from the file alone."""

import re
from base64 import b64decode
from pathlib import Path
from typing import get_args

import pypdfium2  # type: ignore[import-untyped]
import pytest

import evidentia as ev
from evidentia import Workspace
from evidentia.canonical import parse_json, sha256_hex
from evidentia.errors import AccessError, InputError
from evidentia.export.pdf.reading import embedded
from evidentia.export.pdf.rendering import Language
from packing import decision, memo
from places import Place

pytest.importorskip("typst", reason="PDFs are made by Typst: install the extra pdf")


@pytest.fixture
def workspace(place: Place) -> Workspace:
    """Give a workspace with a pack, on each kind of database in turn."""
    found = place.open()
    found.assemble(decision(), memo=memo(), attachments={"contact.txt": b"as it was"})
    return found


def test_a_pack_is_a_pdf_if_the_file_is_called_one(workspace: Workspace, tmp_path: Path) -> None:
    file = workspace.packs.export("dec_1", tmp_path / "Board.PDF", lang="en", typeface="amiri")
    assert ev.verify(file, key=workspace.trail.public_key()).holds
    [logged] = workspace.trail.entries(kind="export")
    assert logged.body == {
        "action": "export",
        "approval": None,
        "approval_class": "A1",
        "approved_by": "owner",
        "by": "owner",
        "format": "pdf",
        "sensitivity_class": "S2",
        "sha256": sha256_hex(file.read_bytes()),
        "superseded_by": None,
    }
    assert file.stat().st_mode & 0o777 == 0o600
    assert workspace.trail.audit().holds


def test_what_is_asked_for_wins_over_the_name(workspace: Workspace, tmp_path: Path) -> None:
    pdf = workspace.packs.export("dec_1", tmp_path / "a.json", pdf=True)
    plain = workspace.packs.export("dec_1", tmp_path / "b.pdf", pdf=False)
    assert pdf.read_bytes().startswith(b"%PDF-")
    assert ev.verify(plain.read_bytes(), key=workspace.trail.public_key()).holds


def test_the_evidence_in_it_is_an_export_of_its_own(workspace: Workspace, tmp_path: Path) -> None:
    file = workspace.packs.export("dec_1", tmp_path / "a.pdf")
    report = ev.verify(
        embedded(file.read_bytes())["evidence.json"], key=workspace.trail.public_key()
    )
    assert report.holds
    assert [check.says for check in report.checks if check.name == "attachment"] == [
        "'contact.txt', 9 bytes, is the file that the statement names"
    ]


def printed(pdf: bytes) -> list[str]:
    """Return the text of each page, its words apart by one space."""
    pages = (page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(pdf))
    return [" ".join(re.sub("[\u2066-\u2069]", "", page).split()) for page in pages]


def test_every_copy_of_a_pack_has_the_fingerprint_of_the_pack(
    workspace: Workspace, tmp_path: Path
) -> None:
    as_json = workspace.packs.export("dec_1", tmp_path / "pack.json").read_bytes()
    digest = sha256_hex(b64decode(parse_json(as_json)["envelope"]["payload"]))
    groups = [digest[at : at + 4] for at in range(0, 64, 4)]
    assert ev.verify(as_json).fingerprint == digest
    assert workspace.packs.find("dec_1").statement_sha256 == digest
    for lang in get_args(Language):
        pdf = workspace.packs.export("dec_1", tmp_path / f"{lang}.pdf", lang=lang).read_bytes()
        cover, *_, last = printed(pdf)
        assert " ".join(groups[:5]) in cover, lang
        assert " ".join(groups) in last, lang
        assert ev.verify(pdf).fingerprint == digest


def test_the_pages_do_not_ask_to_compare_a_keys_id(workspace: Workspace, tmp_path: Path) -> None:
    pdf = workspace.packs.export("dec_1", tmp_path / "a.pdf", lang="en").read_bytes()
    (last,) = printed(pdf)[-1:]
    assert "take the whole of it. The id above only names the key" in last
    assert "compare its id" not in last


def test_a_users_pdf_takes_an_approval_once(workspace: Workspace, tmp_path: Path) -> None:
    workspace.access.grant("ann", "approver")
    ann = workspace.acting_as("ann")
    with pytest.raises(AccessError, match="needs an approval"):
        ann.packs.export("dec_1", tmp_path / "a.pdf")
    approval = ann.packs.approve_export("dec_1")
    ann.packs.export("dec_1", tmp_path / "a.pdf", approval=approval)
    with pytest.raises(AccessError, match="was used already"):
        ann.packs.export("dec_1", tmp_path / "b.pdf", approval=approval)
    assert not (tmp_path / "b.pdf").exists()


def test_a_language_that_is_none_is_recorded_nowhere(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="ar, en or both"):
        workspace.packs.export("dec_1", tmp_path / "a.pdf", lang="de")  # type: ignore[arg-type]
    assert workspace.trail.entries(kind="export") == []
    assert list(tmp_path.glob("*.pdf")) == []


def test_a_ledger_is_written_and_not_written_over(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "policy.md").write_text("# Leave\n\nEmployees get 15 days.\n")
    ledger = workspace.check(
        "Employees get 15 days.", against=tmp_path / "policy.md", judges=["quote", "numbers"]
    )
    file = workspace.ledgers.export(ledger.id, tmp_path / "a.pdf")
    key = workspace.trail.public_key()
    assert ev.verify(file, key=key).holds
    with pytest.raises(InputError, match="is there already"):
        workspace.ledgers.export(ledger.id, file)
    arabic = workspace.ledgers.export(ledger.id, file, overwrite=True, lang="ar")
    assert ev.verify(arabic, key=key).holds
    with pytest.raises(InputError, match="is a folder"):
        workspace.ledgers.export(ledger.id, tmp_path, form="pdf")

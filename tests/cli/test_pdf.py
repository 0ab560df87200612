"""PDFs at the command line: exported, several at once, and verified by a stranger."""

import json
import re
import sys
from pathlib import Path

import pytest

from cli_running import Cli, Ran
from evidentia.export.pdf.reading import WHAT_A_PDF_CANNOT_SHOW, embedded
from evidentia.proof.foreign import WHAT_CAN_BE_VERIFIED
from packing import decision_fields, memo_fields
from workspace.policies import read_here

pytest.importorskip("typst", reason="PDFs are made by Typst: install the extra pdf")


@pytest.fixture
def made(cli: Cli, folder: Path) -> Cli:
    """Start with three packs and the public key."""
    (folder / "memo.json").write_text(json.dumps(memo_fields()))
    for number in (1, 2, 3):
        file = folder / f"{number}.json"
        file.write_text(json.dumps(decision_fields(number)))
        assert cli("pack", "new", file, "--memo", "memo.json", "--attach", "memo.json").code == 0
    key = cli("pack", "export", "dec_3", "-o", "3.exported.json", "--json").json["public_key"]
    (folder / "key.txt").write_text(key)
    return cli


@pytest.fixture
def board(made: Cli) -> Cli:
    """Start with the PDF of a pack, too."""
    assert made("pack", "export", "dec_1", "--format", "pdf", "-o", "board.pdf").code == 0
    return made


def mistaken(ran: Ran, says: str) -> None:
    """Assert that a command ended with one line that says what was wrong."""
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert ran.err.startswith("error: ")
    assert says in ran.err


class TestExportingPacks:
    def test_a_pack_is_exported_and_verified(self, made: Cli, folder: Path) -> None:
        ran = made("pack", "export", "dec_1", "--format", "pdf", "-o", "board.pdf")
        assert ran.code == 0
        said, how = ran.out.splitlines()
        assert said == "✓ The pack is in board.pdf. Whoever trusts the key verifies it with:"
        assert how.startswith("  evidentia verify board.pdf --key ")
        assert made(*how.split()[1:]).code == 0
        assert (folder / "board.pdf").stat().st_mode & 0o777 == 0o600

    @pytest.mark.parametrize(
        ("options", "told"),
        [
            ((), ("both", "plex")),
            (("--lang", "ar"), ("ar", "plex")),
            (("--lang", "en", "--typeface", "amiri"), ("en", "amiri")),
        ],
    )
    def test_language_and_typeface_are_chosen(
        self, made: Cli, folder: Path, options: tuple[str, ...], told: tuple[str, str]
    ) -> None:
        assert made("pack", "export", "dec_1", "--format", "pdf", "-o", "a.pdf", *options).code == 0
        rendering = json.loads(embedded((folder / "a.pdf").read_bytes())["rendering.json"])
        assert (rendering["lang"], rendering["typeface"]) == told

    def test_without_attachments_only_their_digests_are_in_it(
        self, made: Cli, folder: Path
    ) -> None:
        made("pack", "export", "dec_1", "--format", "pdf", "-o", "a.pdf", "--no-attachments")
        evidence = json.loads(embedded((folder / "a.pdf").read_bytes())["evidence.json"])
        assert "attachments" not in evidence
        ran = made("verify", "a.pdf", "--key", "key.txt")
        assert ran.code == 0
        assert "whether 'memo.json' is unchanged: only its digest is here" in ran.out

    def test_the_command_can_be_pasted(self, made: Cli) -> None:
        told = made(
            "pack", "export", "dec_1", "--format", "pdf", "-o", "my board.pdf"
        ).out.splitlines()[1]
        assert told.startswith("  evidentia verify 'my board.pdf' --key ")

    def test_several_go_into_a_folder_by_their_ids(self, made: Cli) -> None:
        ran = made(
            "pack",
            "export",
            "dec_1",
            "dec_2",
            "dec_3",
            "latest",
            "--format",
            "pdf",
            "-o",
            "board",
            "--json",
        )
        assert ran.code == 0
        files = [Path(file) for file in ran.json["files"]]
        assert sorted(files) == sorted(Path("board").iterdir())
        assert len(files) == 3
        for file in files:
            assert file.stem.startswith("pack_")
            assert made("verify", file, "--key", "key.txt").code == 0

    def test_several_as_json(self, made: Cli, folder: Path) -> None:
        (folder / "board").mkdir()
        ran = made("pack", "export", "dec_1", "dec_2", "-o", "board")
        assert ran.out.startswith("✓ 2 packs are in board. Whoever trusts the key verifies each of")
        assert {file.suffix for file in (folder / "board").iterdir()} == {".json"}

    def test_one_goes_into_a_folder_that_is_there(self, made: Cli, folder: Path) -> None:
        (folder / "board").mkdir()
        file = made("pack", "export", "dec_1", "--format", "pdf", "-o", "board", "--json").json[
            "file"
        ]
        assert Path(file).parent == Path("board")

    def test_nothing_is_written_if_one_is_there_already(self, board: Cli, folder: Path) -> None:
        one = board("pack", "export", "dec_1", "--format", "pdf", "-o", ".", "--json").json["file"]
        before = sorted(folder.iterdir())
        mistaken(
            board("pack", "export", "dec_2", "dec_1", "--format", "pdf", "-o", "."),
            "is there already",
        )
        assert sorted(folder.iterdir()) == before
        assert (
            board("pack", "export", "dec_2", "dec_1", "--format", "pdf", "-o", ".", "--force").code
            == 0
        )
        assert Path(one).exists()

    def test_what_makes_no_sense_is_refused(self, board: Cli) -> None:
        export = ("pack", "export", "dec_1")
        assert board(*export).code == 2
        mistaken(board(*export, "-o", "a.json", "--lang", "ar"), "--lang is for a PDF")
        mistaken(board(*export, "-o", "a.json", "--typeface", "plex"), "--typeface is for a PDF")
        mistaken(
            board(*export, "dec_2", "--format", "pdf", "-o", "x", "--approval", "1"), "one by one"
        )
        mistaken(
            board(*export, "dec_2", "--format", "pdf", "-o", "board.pdf"), "board.pdf is a file"
        )
        mistaken(board(*export, "--format", "pdf", "-o", "board.pdf"), "overwrite it (--force)")
        mistaken(
            board(*export, "-o", "my a.PDF"), "my a.PDF is called a PDF: give --format pdf too"
        )
        mistaken(
            board(*export, "--format", "pdf", "-o", f"{'x' * 300}.pdf"), "(File name too long)"
        )
        mistaken(
            board(*export, "--format", "pdf", "-o", f"{'x' * 300}/a.pdf"), "(File name too long)"
        )
        mistaken(
            board(*export, "dec_2", "--format", "pdf", "-o", "x" * 300), "(File name too long)"
        )
        mistaken(board("pack", "export", "dec_1", "dec_9", "--format", "pdf", "-o", "x"), "dec_9")
        assert board(*export, "--format", "pdf", "-o", "a.pdf", "--lang", "de").code == 2

    def test_without_typst_it_says_what_to_install(
        self, made: Cli, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "typst", None)
        before = made("trail", "checkpoint", "--json").json["checkpoint"]
        mistaken(
            made("pack", "export", "dec_1", "--format", "pdf", "-o", "a.pdf"),
            "pip install 'evidentia[pdf]'",
        )
        assert not Path("a.pdf").exists()
        assert made("trail", "checkpoint", "--json").json["checkpoint"] == before


class TestExportingLedgers:
    @pytest.fixture
    def checked(self, cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
        """Start with the ledgers of two answers."""
        read_here(monkeypatch)
        (folder / "policy.md").write_text("# Leave\n\nEmployees are entitled to 15 days.\n")
        for number in (1, 2):
            answer = f"Employees are entitled to {number * 15} days.\n"
            (folder / f"answer{number}.md").write_text(answer)
            asked = ("--against", "policy.md", "--judges", "quote,numbers")
            assert cli("check", f"answer{number}.md", *asked).code == 0
        cli("ledger", "prove", "latest", "-o", "proof.json")
        assert cli("keys", "show", "-o", "key.txt").code == 0
        return cli

    def test_a_ledger_is_exported_and_verified(self, checked: Cli) -> None:
        ran = checked(
            "ledger", "export", "latest", "--format", "pdf", "-o", "a.pdf", "--lang", "en"
        )
        assert ran.out.startswith("✓ The ledger is in a.pdf. Whoever trusts the key verifies it")
        verified = checked("verify", "a.pdf", "--key", "key.txt")
        assert verified.code == 0
        assert "  ✓ rendering: the pages are the ones that the evidence gives" in verified.out
        assert checked("verify", "a.pdf").code == 1

    def test_several_go_into_a_folder(self, checked: Cli) -> None:
        listed = checked("ledger", "list", "--json").json["ledgers"]
        names = [one["id"] for one in listed]
        files = checked("ledger", "export", *names, "--format", "pdf", "-o", "out", "--json").json[
            "files"
        ]
        assert len(files) == 2
        for file in files:
            assert checked("verify", file, "--key", "key.txt").code == 0

    def test_what_makes_no_sense_is_refused(self, checked: Cli) -> None:
        export = ("ledger", "export", "latest")
        mistaken(checked(*export, "--format", "pdf"), "a PDF is written to a file: give -o FILE")
        mistaken(checked(*export, "-o", "a.pdf"), "a.pdf is called a PDF: give --format pdf too")
        assert checked(*export, "--pdf", "a.pdf").code == 2, "there is one way, --format pdf"
        mistaken(checked(*export, "--lang", "ar"), "--lang is for a PDF")
        mistaken(checked(*export, "latest"), "several ledgers are exported as PDFs")
        mistaken(
            checked(*export, "--format", "pdf", "-o", "no/where.pdf"), "no: there is no such folder"
        )

    def test_without_typst_it_says_what_to_install(
        self, checked: Cli, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "typst", None)
        export = ("ledger", "export", "latest", "--format", "pdf", "-o", "a.pdf")
        mistaken(checked(*export), "pip install 'evidentia[pdf]'")
        assert not Path("a.pdf").exists()


class TestVerifying:
    def test_it_says_in_plain_words_what_holds(self, board: Cli) -> None:
        ran = board("verify", "board.pdf", "--key", "key.txt")
        assert ran.code == 0
        assert ran.out.startswith("✓ board.pdf: holds\n")
        for name in ("content", "place", "signature", "statement", "attachment", "rendering"):
            assert f"\n  ✓ {name}: " in ran.out
        assert "What this file cannot show:" in ran.out
        assert WHAT_A_PDF_CANNOT_SHOW in ran.out

    def test_all_copies_are_said_to_have_one_fingerprint(self, board: Cli) -> None:
        board("pack", "export", "dec_1", "-o", "pack.json")
        board("pack", "export", "dec_1", "--format", "pdf", "-o", "en.pdf", "--lang", "en")
        (said,) = re.findall("^Fingerprint: .*", board("pack", "show", "dec_1").out, re.MULTILINE)
        assert re.fullmatch("Fingerprint:( [0-9a-f]{4}){16}", said)
        for file in ("board.pdf", "en.pdf", "pack.json"):
            assert f"\n{said}\n" in board("verify", file, "--key", "key.txt").out

    def test_without_a_key_the_signer_is_unknown(self, board: Cli) -> None:
        ran = board("verify", "board.pdf")
        assert (ran.code, ran.out.splitlines()[0]) == (1, "? board.pdf: consistent, signer unknown")

    def test_pages_that_were_not_compared(
        self, board: Cli, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "typst", None)
        ran = board("verify", "board.pdf", "--key", "key.txt")
        assert ran.code == 1
        assert ran.out.startswith("? board.pdf: consistent, pages not compared\n")
        assert "  ? rendering: the pages were not compared with the evidence: PDFs need" in ran.out
        assert "What it states: " in ran.out, "the signed evidence can be believed"
        unsigned = board("verify", "board.pdf").out
        assert unsigned.startswith("? board.pdf: consistent, pages not compared\n")
        assert "What it states: " not in unsigned

    def test_a_key_that_is_no_file_either(self, board: Cli) -> None:
        mistaken(board("verify", "board.pdf", "--key", "no.txt"), "there is no file of that name")

    def test_altered_pages(self, board: Cli, folder: Path) -> None:
        file = folder / "board.pdf"
        file.write_bytes(file.read_bytes() + b"\n")
        ran = board("verify", "board.pdf", "--key", "key.txt")
        assert (ran.code, ran.out.splitlines()[0]) == (1, "✗ board.pdf: does not hold")
        assert "  ✗ rendering: 1 byte was added behind" in ran.out

    def test_a_file_that_is_only_called_a_pdf(self, cli: Cli, folder: Path) -> None:
        (folder / "board.pdf").write_text("Dear board,\n")
        ran = cli("verify", "board.pdf")
        assert (ran.code, ran.err) == (1, "")
        first, second = ran.out.splitlines()
        assert first == "✗ board.pdf: does not hold"
        assert second.startswith("  ✗ format: this is no evidence file: it does not begin as a PDF")
        assert second.endswith(f"; what can be verified: {WHAT_CAN_BE_VERIFIED}")

    def test_a_pdf_that_is_not_called_one(self, board: Cli, folder: Path) -> None:
        (folder / "board.pdf").rename(folder / "board.attachment")
        assert board("verify", "board.attachment", "--key", "key.txt").code == 0

    def test_a_missing_file_is_named(self, cli: Cli) -> None:
        ran = cli("verify", "nowhere.pdf")
        assert (ran.code, ran.err) == (2, "error: nowhere.pdf: no such file\n")

    def test_as_json(self, board: Cli) -> None:
        report = board("verify", "board.pdf", "--key", "key.txt", "--json").json
        assert report["holds"] is True
        assert report["checks"][-1]["name"] == "rendering"

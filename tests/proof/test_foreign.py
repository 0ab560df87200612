import gzip
import io
import json
import zipfile
from pathlib import Path

import pytest

import evidentia
from evidentia.errors import NotFoundError
from evidentia.proof.foreign import WHAT_CAN_BE_VERIFIED, foreign
from evidentia.proof.verification import Verdict
from pdf_writing import pdf_bytes
from proofs import make_proof, proof_bytes


def zipped(*names: str) -> bytes:
    """Return a ZIP archive with files of these names."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return made.getvalue()


NO_EVIDENCE = {
    "x.png": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "it is a picture (PNG)"),
    "x.jpg": (b"\xff\xd8\xff\xe0\x00\x10JFIF", "it is a picture (JPEG)"),
    "notes.txt": (b"Dear board,\n", "it is text"),
    "empty.json": (b"", "it is empty"),
    "blank.txt": (b" \n", "it is empty"),
    "x.docx": (zipped("word/document.xml"), "it is a ZIP archive, as Word and Excel files are too"),
    "none.zip": (zipped(), "it is a ZIP archive with nothing in it"),
    "x.gz": (gzip.compress(b"x"), "it is a gzip archive"),
    "x.bin": (bytes(range(256)), "it is neither JSON nor a PDF"),
    "nul.txt": (b"a\x00b", "it is neither JSON nor a PDF"),
    "ledger.json": (b'{"ledger_id": "led_1"}', "it is JSON without a proof in it"),
    "list.json": (b"[1]", "it is JSON without a proof in it"),
    "letter.pdf": (
        pdf_bytes(["BT ET"]),
        "the PDF has no evidence.json in it, so it was not made by",
    ),
    "text.pdf": (b"Dear board,\n", "it does not begin as a PDF does"),
}


@pytest.mark.parametrize(("name", "known"), NO_EVIDENCE.items())
def test_what_is_no_evidence_is_told_with_what_can_be_verified(
    name: str, known: tuple[bytes, str], tmp_path: Path
) -> None:
    data, what = known
    (tmp_path / name).write_bytes(data)
    report = evidentia.verify(tmp_path / name)
    (check,) = report.checks
    assert (check.name, report.verdict) == ("format", Verdict.DOES_NOT_HOLD)
    assert check.says.startswith(f"this is no evidence file: {what}")
    assert check.says.endswith(f"; what can be verified: {WHAT_CAN_BE_VERIFIED}")


def test_a_folder_is_no_evidence_file(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="there is no published log here, which has a file"):
        evidentia.verify(tmp_path)


@pytest.mark.parametrize(
    "data",
    [
        proof_bytes(make_proof()),
        proof_bytes(make_proof())[:-9],
        b'{"format":"evidentia/proof"}',
        json.dumps({"format": "evidentia/proof"}).replace("evid", "\\u0065vid").encode(),
    ],
    ids=["whole", "cut short", "nearly nothing", "escaped"],
)
def test_evidence_is_not_taken_for_something_else(data: bytes) -> None:
    assert foreign(data) is None

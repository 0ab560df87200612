"""Every PDF is PDF/A-3a and PDF/UA-1: asked of veraPDF itself, of hostile text as well."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest

import tiers
from evidentia.kinds import render
from export.pdf import hostile
from export.pdf.attaching import by_hand
from export.pdf.conftest import Evidence
from export.pdf.verapdf import require_validator, validate
from pdf_writing import Line, pdf_bytes

pytest.importorskip("typst", reason="PDFs are made by Typst: install the extra pdf")

HOSTILE = tiers.count(50, short=3)
"""`scripts/fuzz pdfs` makes a thousand others."""
COPIES = [*product(("draft", "pack", "ledger"), hostile.LANGUAGES, hostile.TYPEFACES)]


def test_packs_and_ledgers_in_every_language_and_typeface_are_valid(
    evidence: Evidence, tmp_path: Path
) -> None:
    require_validator()
    files = []
    for kind, lang, typeface in tiers.sample(COPIES, 3):
        how: Any = {"lang": lang, "typeface": typeface}
        files.append(tmp_path / f"{kind}-{lang}-{typeface}.pdf")
        files[-1].write_bytes(render(getattr(evidence, kind), **how))
    assert {file.name: found for file, found in validate(files).items() if found} == {}


def test_what_is_not_valid_is_not_called_so(tmp_path: Path) -> None:
    require_validator()
    plain, broken = tmp_path / "plain.pdf", tmp_path / "broken.pdf"
    plain.write_bytes(pdf_bytes([[Line("Hello")]]))
    broken.write_bytes(by_hand([])[:100])
    found = validate([plain, broken])
    assert [problem.partition(":")[0] for problem in found[plain]] == ["3a", "ua1"]
    assert len(found[broken]) == 2


@pytest.fixture(scope="module")
def hostile_pdfs() -> dict[int, tuple[bytes, bytes]]:
    """Give the PDFs of hostile packs and ledgers, each with its evidence, by their numbers."""
    made = {}
    for number in range(HOSTILE):
        given = hostile.evidence(number)
        made[number] = (render(given, **hostile.how(number)), given)
    return made


@pytest.mark.timeout(1_200)
def test_hostile_text_injects_nothing_and_reverses_nothing(
    hostile_pdfs: dict[int, tuple[bytes, bytes]],
) -> None:
    found = {number: [*hostile.problems(*made)] for number, made in hostile_pdfs.items()}
    assert {number: wrong for number, wrong in found.items() if wrong} == {}


@pytest.mark.timeout(1_200)
def test_pdfs_of_hostile_text_are_valid(
    hostile_pdfs: dict[int, tuple[bytes, bytes]], tmp_path: Path
) -> None:
    require_validator()
    files = []
    for number in tiers.sample([*hostile_pdfs], 1):
        files.append(tmp_path / f"{number}.pdf")
        files[-1].write_bytes(hostile_pdfs[number][0])
    assert {file.name: found for file, found in validate(files).items() if found} == {}

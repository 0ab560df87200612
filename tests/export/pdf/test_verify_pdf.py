"""A PDF proves itself: the evidence in it is verified, and the pages are made again."""

import os
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pypdfium2  # type: ignore[import-untyped]
import pytest

import evidentia as ev
import tiers
from evidentia import kinds
from evidentia.canonical import canonical_json, parse_json
from evidentia.export.pdf import pack_pages, reading
from evidentia.export.pdf.provenance import EVIDENCE as EVIDENCE_FILE
from evidentia.export.pdf.provenance import RENDERING as RENDERING_FILE
from evidentia.export.pdf.reading import embedded
from evidentia.kinds import render, verify_evidence, verify_pdf
from evidentia.proof.keys import TrustedKey
from evidentia.proof.verification import ProofReport, Verdict
from export.pdf.attaching import (
    Attached,
    by_hand,
    encryption_that_opens,
    saved,
    updated,
    with_evidence,
    with_page,
)
from export.pdf.conftest import Evidence
from packs.making import exported, full_pack, pack
from proofs import KEY, OTHER_KEY, make_proof, proof_bytes

pytest.importorskip("typst", reason="PDFs are made by Typst: install the extra pdf")

TRUSTED = [TrustedKey(KEY.verifier.public_key, KEY.verifier.name)]
SMALL = exported(pack())
LAST_WORDS = re.compile(rb"\[([^\]]*)\]TJ(?!.*TJ)(.*)", re.DOTALL)
"""The last words that a content stream shows."""


@pytest.fixture(scope="module")
def small() -> bytes:
    """Give the PDF of the smallest pack."""
    return render(SMALL)


@pytest.fixture(scope="module")
def ledger(evidence: Evidence) -> bytes:
    """Give the PDF of a ledger."""
    return render(evidence.ledger)


def told(**changes: Any) -> bytes:
    """Return what says how pages were made, with changes."""
    fields = {"format": "evidentia/pdf", "v": 1, "lang": "en", "typeface": "plex"}
    return canonical_json({**fields, "typst": "0", "template": "0", **changes})


def check(report: ProofReport, name: str) -> tuple[bool | None, str]:
    [found] = [one for one in report.checks if one.name == name]
    assert "\n" not in found.says
    return found.holds, found.says


class TestWhatHolds:
    @pytest.mark.parametrize("lang", ["ar", "en", "both"])
    @pytest.mark.parametrize("typeface", ["plex", "amiri"])
    def test_a_pack_in_every_language_and_typeface(self, lang: Any, typeface: Any) -> None:
        report = verify_pdf(render(SMALL, lang=lang, typeface=typeface), TRUSTED)
        assert report.verdict is Verdict.HOLDS
        assert check(report, "rendering") == (
            True,
            "the pages are the ones that the evidence gives: made again, the file is the same",
        )
        assert check(report, "embedded")[1].startswith(f"evidence.json, {len(SMALL):,} bytes")

    def test_a_board_pack_with_its_attachment_and_a_ledger(self, evidence: Evidence) -> None:
        for data in (evidence.draft, evidence.pack, evidence.ledger):
            report = ev.verify(render(data), key=evidence.key)
            assert report.holds
            assert report.cannot_know[-1] == reading.WHAT_A_PDF_CANNOT_SHOW
        assert check(ev.verify(render(evidence.pack), key=evidence.key), "attachment")[0] is True

    def test_without_a_key_the_signer_is_unknown(self, small: bytes, ledger: bytes) -> None:
        for pdf in (small, ledger):
            report = verify_pdf(pdf)
            assert report.verdict is Verdict.SIGNER_UNKNOWN
            assert check(report, "rendering")[0] is True

    def test_another_key_does_not_match(self, small: bytes) -> None:
        other = TrustedKey(OTHER_KEY.verifier.public_key, OTHER_KEY.verifier.name)
        assert verify_pdf(small, [other]).verdict is Verdict.DOES_NOT_HOLD

    def test_in_a_process_of_its_own_the_pages_are_the_same(
        self, small: bytes, tmp_path: Path
    ) -> None:
        (tmp_path / "a.pdf").write_bytes(small)
        program = (
            "import sys, evidentia; print(evidentia.verify(sys.argv[1], key=sys.argv[2]).verdict)"
        )
        ran = subprocess.run(
            [sys.executable, "-c", program, str(tmp_path / "a.pdf"), str(KEY.verifier)],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "TZ": "Asia/Riyadh", "LC_ALL": "C", "PYTHONHASHSEED": "7"},
        )
        assert ran.stdout == "holds\n"


class TestEvidenceThatWasChanged:
    def test_every_byte_of_a_packs_evidence(self) -> None:
        assert verify_evidence(SMALL, TRUSTED).holds
        self.every_byte(SMALL, TRUSTED, tiers.sample(range(len(SMALL)), 400))

    def test_bytes_all_over_a_ledgers_evidence(self, evidence: Evidence) -> None:
        key = evidence.key
        trusted = [key if isinstance(key, TrustedKey) else TrustedKey(key.public_key, key.name)]
        assert verify_evidence(evidence.ledger, trusted).holds
        chosen = random.Random(8).sample(range(len(evidence.ledger)), tiers.count(400, short=60))
        self.every_byte(evidence.ledger, trusted, chosen)

    @staticmethod
    def every_byte(evidence: bytes, trusted: list[TrustedKey], places: Any) -> None:
        for at in places:
            for mask in (1, 0x20):  # another character, and the other case of a letter
                changed = bytearray(evidence)
                changed[at] ^= mask
                report = verify_evidence(bytes(changed), trusted)
                assert report.verdict is Verdict.DOES_NOT_HOLD, (at, mask)

    def test_bytes_of_it_within_the_pdf(self, small: bytes) -> None:
        for at in random.Random(9).sample(range(len(SMALL)), tiers.count(25, short=8)):
            changed = bytearray(SMALL)
            changed[at] ^= 1
            report = verify_pdf(with_evidence(small, bytes(changed)), TRUSTED)
            assert report.verdict is Verdict.DOES_NOT_HOLD, at

    def test_spaces_in_a_ledgers_evidence(self, evidence: Evidence) -> None:
        spaced = evidence.ledger.replace(b'":', b'": ', 1)
        assert ev.verify(spaced, key=evidence.key).holds
        report = ev.verify(with_evidence(render(evidence.ledger), spaced), key=evidence.key)
        assert check(report, "file")[0] is False
        assert check(report, "rendering") == (
            None,
            "another check failed, so the pages were not compared with the evidence",
        )


class TestPagesThatWereChanged:
    def test_any_byte_of_the_file(self, small: bytes) -> None:
        for at in random.Random(10).sample(range(len(small)), tiers.count(100, short=20)):
            changed = bytearray(small)
            changed[at] ^= 1 << (at % 8)
            report = verify_pdf(bytes(changed), TRUSTED)
            assert not report.holds, at
            assert all("\n" not in one.says for one in report.checks)

    def test_text_in_a_content_stream(self, small: bytes) -> None:
        altered = with_page(small, lambda content: LAST_WORDS.sub(rb"[()]TJ\2", content))
        assert len(altered) == len(small)
        assert embedded(altered) == embedded(small)
        report = verify_pdf(altered, TRUSTED)
        holds, says = check(report, "rendering")
        assert holds is False
        assert says.startswith("the pages, or the file around them, were altered or saved anew")
        others = {one.holds for one in report.checks if one.name != "rendering"}
        assert (others, report.verdict) == ({True}, Verdict.DOES_NOT_HOLD)

    def test_pages_of_another_decision_around_old_evidence(
        self, small: bytes, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Forge as well as can be: by the same program, from another pack's data."""
        other = full_pack()
        with monkeypatch.context() as patched:
            made = pack_pages.pages(other, set())
            patched.setattr(kinds, "_printed", lambda *_: ("pack", made))
            forged = render(SMALL)
        assert embedded(forged) == embedded(small)
        report = verify_pdf(forged, TRUSTED)
        assert check(report, "rendering")[0] is False
        assert report.verdict is Verdict.DOES_NOT_HOLD

    def test_something_drawn_over_the_page_by_another_program(self, small: bytes) -> None:
        def paint(document: Any) -> None:
            page = document[0]
            page.insert_obj(pypdfium2.PdfImage.new(document))
            page.gen_content()

        report = verify_pdf(saved(small, paint), TRUSTED)
        assert check(report, "rendering")[0] is False

    def test_an_incremental_update(self, small: bytes) -> None:
        report = verify_pdf(updated(small, b"<</Type/Annot>>"), TRUSTED)
        holds, says = check(report, "rendering")
        assert holds is False
        assert "bytes were added behind the file's end" in says

    @pytest.mark.parametrize("added", [b"\n", b" ", b"%", b"\0" * 1_000_000])
    def test_bytes_behind_the_end(self, small: bytes, added: bytes) -> None:
        report = verify_pdf(small + added, TRUSTED)
        says = check(report, "rendering")[1]
        assert says.startswith("1 byte was added" if len(added) == 1 else f"{len(added):,} bytes w")

    def test_a_file_that_is_cut_short(self, small: bytes) -> None:
        for end in (len(small) - 1, len(small) - 7, len(small) // 2, 1_000, 9):
            report = verify_pdf(small[:end], TRUSTED)
            assert report.verdict is Verdict.DOES_NOT_HOLD
        assert check(verify_pdf(small[:-1], TRUSTED), "rendering")[1] == (
            f"the file is cut short: it has {len(small) - 1:,} bytes, and {len(small):,} were made"
        )

    def test_another_language_than_it_says(self, small: bytes) -> None:
        told = parse_json(embedded(small)[RENDERING_FILE])
        swapped = canonical_json({**told, "lang": "ar"})
        files = {EVIDENCE_FILE: SMALL, RENDERING_FILE: swapped}
        report = verify_pdf(by_hand([Attached.packed(*item) for item in files.items()]), TRUSTED)
        assert check(report, "rendering")[0] is False


class TestOtherVersions:
    @pytest.mark.parametrize("changes", [{"typst": "0.14.2"}, {"template": "ab" * 32}])
    def test_pages_of_another_version_are_not_decided_about(
        self, small: bytes, changes: dict[str, str]
    ) -> None:
        told = {**parse_json(embedded(small)[RENDERING_FILE]), **changes}
        files = {EVIDENCE_FILE: SMALL, RENDERING_FILE: canonical_json(told)}
        report = verify_pdf(by_hand([Attached.packed(*item) for item in files.items()]), TRUSTED)
        holds, says = check(report, "rendering")
        assert holds is None
        assert says.startswith("the pages were altered, or made by another version (Typst '0.1")
        assert report.verdict is Verdict.PAGES_NOT_COMPARED
        assert report.verdict.value == "consistent, pages not compared"
        assert not report.holds

    def test_without_typst_the_rest_is_verified(
        self, small: bytes, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "typst", None)
        report = verify_pdf(small, TRUSTED)
        assert report.verdict is Verdict.PAGES_NOT_COMPARED
        assert "pip install 'evidentia[pdf]'" in check(report, "rendering")[1]
        assert verify_pdf(small).verdict is Verdict.PAGES_NOT_COMPARED, "with no key neither"


class TestWhatIsEmbedded:
    @pytest.mark.parametrize(
        "said",
        [
            b"",
            b"{}",
            b"[]",
            b"not JSON",
            b'{"format":"evidentia/pdf","v":1}',
            b'{"format": "evidentia/pdf"}',
            b'{"format":"evidentia/pdf","v":2}',
            told(v=True),
            told(lang="de"),
            told(typeface=["plex"]),
            told(more=1),
        ],
        ids=range(11),
    )
    def test_a_rendering_that_says_nothing(self, said: bytes) -> None:
        files = [Attached.packed(EVIDENCE_FILE, SMALL), Attached(RENDERING_FILE, said)]
        holds, says = check(verify_pdf(by_hand(files), TRUSTED), "rendering")
        assert holds is False
        assert says.startswith(RENDERING_FILE)
        assert ("upgrade evidentia" in says) == (b'"v":2' in said)

    def test_a_pdf_without_its_rendering(self) -> None:
        report = verify_pdf(by_hand([Attached.packed(EVIDENCE_FILE, SMALL)]), TRUSTED)
        assert check(report, "embedded")[0] is False
        assert report.verdict is Verdict.DOES_NOT_HOLD

    def test_a_file_that_the_evidence_does_not_have(self, small: bytes) -> None:
        files = [Attached(*item) for item in embedded(small).items()]
        report = verify_pdf(by_hand([*files, Attached("invoice.pdf", b"x")]), TRUSTED)
        assert check(report, "embedded") == (
            False,
            "'invoice.pdf' is embedded in the PDF, and the evidence does not have that file",
        )

    def test_evidence_of_what_no_page_is_made_of(self, small: bytes) -> None:
        record = proof_bytes(make_proof()) + b"\n"
        files = [
            Attached.packed(EVIDENCE_FILE, record),
            Attached(RENDERING_FILE, embedded(small)[RENDERING_FILE]),
        ]
        holds, says = check(verify_pdf(by_hand(files), TRUSTED), "rendering")
        assert (holds, says[:15]) == (False, "the evidence is")

    @pytest.mark.parametrize(
        ("pdf", "says"),
        [
            (b"text", "this is no evidence file: it does not begin as a PDF does"),
            (b"%PDF-1.7\n", "a broken PDF"),
            (by_hand([]), "this is no evidence file: the PDF has no evidence.json in it"),
            (by_hand([Attached(EVIDENCE_FILE, SMALL)] * 2), "the PDF has 'evidence.json' in it tw"),
            (
                by_hand([Attached(EVIDENCE_FILE, SMALL)], trailer=encryption_that_opens()),
                "the PDF is encrypted",
            ),
        ],
        ids=["no PDF", "broken", "no evidence", "evidence twice", "encrypted"],
    )
    def test_what_cannot_be_read_is_a_report_in_one_line(self, pdf: bytes, says: str) -> None:
        report = verify_pdf(pdf, TRUSTED)
        assert report.verdict is Verdict.DOES_NOT_HOLD
        [only] = report.checks
        assert (only.name, only.says.startswith(says)) == ("format", True)

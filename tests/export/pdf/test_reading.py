"""Reading what is embedded in a PDF: whatever the file is, files or one line that says why not."""

import json
import random
import zlib
from typing import Any

import pytest

from evidentia.errors import InputError
from evidentia.export.pdf.reading import (
    MAX_EMBEDDED_FILES,
    MAX_NAME_BYTES,
    MAX_PDF_BYTES,
    MAX_STREAMS,
    MAX_UNPACKED_BYTES,
    embedded,
    is_pdf,
)
from evidentia.proof.document import MAX_PROOF_BYTES
from export.pdf.attaching import Attached, by_hand, encryption_that_opens, saved

typst = pytest.importorskip("typst", reason="PDFs are made by Typst: install the extra pdf")

EVIDENCE = b'{"format": "evidentia/proof"}\n'
STAND_IN = b"""
#set document(title: "Stand-in", date: datetime(year: 2026, month: 11, day: 15))
= Stand-in
#for (name, content) in json(bytes(sys.inputs.files)) {
  pdf.attach(name, bytes(content), mime-type: "application/json", description: name,
    relationship: "data")
}
"""


def stand_in(**files: str) -> bytes:
    """Return a PDF by Typst with files in it."""
    inputs = {"files": json.dumps({name.replace("_", "."): text for name, text in files.items()})}
    made: bytes = typst.Compiler(STAND_IN).compile(
        format="pdf", sys_inputs=inputs, pdf_standards=["a-3a", "ua-1"], timestamp=0
    )
    return made


def refused(pdf: bytes) -> str:
    with pytest.raises(InputError) as raised:
        embedded(pdf)
    message = str(raised.value)
    assert "\n" not in message
    return message


class TestWhatIsThere:
    def test_files_are_given_byte_for_byte_by_their_names(self) -> None:
        text = "{}\n" * 5_000
        pdf = stand_in(evidence_json=text, rendering_json="{}", ملف_txt="نص")
        assert embedded(pdf) == {
            "evidence.json": text.encode(),
            "rendering.json": b"{}",
            "ملف.txt": "نص".encode(),
        }

    def test_a_pdf_without_files_has_none(self) -> None:
        assert embedded(stand_in()) == {}
        assert embedded(by_hand([])) == {}

    def test_stored_and_packed_files_are_read_alike(self) -> None:
        files = [Attached("a", EVIDENCE), Attached.packed("b", EVIDENCE), Attached("empty", b"")]
        assert embedded(by_hand(files)) == {"a": EVIDENCE, "b": EVIDENCE, "empty": b""}

    def test_what_another_program_saved_is_read(self) -> None:
        pdf = saved(stand_in(evidence_json="{}"), lambda _: None)
        assert embedded(pdf) == {"evidence.json": b"{}"}

    def test_a_pdf_is_known_by_how_it_begins(self) -> None:
        assert is_pdf(b"%PDF-1.7\n")
        assert not is_pdf(b'{"format": "evidentia/proof"}')


class TestWhatIsRefused:
    @pytest.mark.parametrize(
        "data", [b"", b"text\n", b"PK\x03\x04", b"\x00" * 9_999, b'{"a": 1}'], ids=range(5)
    )
    def test_what_is_no_pdf(self, data: bytes) -> None:
        assert refused(data).startswith("this is no evidence file: it does not begin as a PDF")

    @pytest.mark.parametrize("data", [b"%PDF-1.7", b"%PDF-1.7\n%%EOF", b"%PDF-" + b"\xff" * 999])
    def test_what_only_begins_as_a_pdf(self, data: bytes) -> None:
        assert refused(data) == "a broken PDF: it is cut short, or was damaged on its way"

    def test_two_files_of_one_name(self) -> None:
        pdf = by_hand([Attached("evidence.json", b"{}"), Attached("evidence.json", b"[]")])
        assert refused(pdf).startswith("the PDF has 'evidence.json' in it twice")

    @pytest.mark.parametrize(
        "trailer",
        [
            encryption_that_opens(),
            b"/ID[<00><00>]/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<%b>/U<%b>>>"
            % (b"00" * 32, b"11" * 32),
            b"/ID[<00><00>]/Encrypt<</Filter/Foreign/V 9>>",
        ],
        ids=["opens by itself", "with a password", "in a foreign way"],
    )
    def test_what_is_encrypted(self, trailer: bytes) -> None:
        pdf = by_hand([Attached("evidence.json", EVIDENCE)], trailer=trailer)
        assert refused(pdf) == "the PDF is encrypted: Evidentia makes none that are"

    def test_more_files_than_are_read(self) -> None:
        files = [Attached(f"{at}.json", b"{}") for at in range(MAX_EMBEDDED_FILES)]
        assert len(embedded(by_hand(files))) == MAX_EMBEDDED_FILES
        assert "are read at most" in refused(by_hand([*files, Attached("more.json", b"{}")]))

    def test_a_name_that_is_none(self) -> None:
        long = Attached("n" * MAX_NAME_BYTES, b"{}")
        assert refused(by_hand([long])) == "the name of a file in the PDF is too long"

    def test_a_file_larger_than_any_proof(self) -> None:
        large = Attached.packed("evidence.json", bytes(MAX_PROOF_BYTES + 1))
        assert "are read at most" in refused(by_hand([large]))

    def test_a_pdf_that_is_larger_than_any_is(self) -> None:
        assert refused(b"%PDF-1.7\n" + bytes(MAX_PDF_BYTES)).startswith("the PDF is larger than")


class TestBombs:
    def test_a_stream_that_unpacks_to_more_than_memory_should_hold(self) -> None:
        bomb = Attached("evidence.json", _bomb(MAX_UNPACKED_BYTES + 1), b"/Filter/FlateDecode")
        assert len(bomb.stored) < 2**21
        assert refused(by_hand([bomb])).startswith("a PDF bomb: it unpacks to more than")

    def test_many_streams_that_do_so_together(self) -> None:
        packed = _bomb(MAX_UNPACKED_BYTES // 8)
        files = [Attached(f"{at}", packed, b"/Filter/FlateDecode") for at in range(9)]
        assert refused(by_hand(files)).startswith("a PDF bomb")

    def test_a_stream_without_an_end(self) -> None:
        whole = by_hand([Attached("a", _bomb(MAX_UNPACKED_BYTES + 1), b"/Filter/FlateDecode")])
        assert refused(whole[: whole.index(b"endstream")]).startswith("a PDF bomb")

    @pytest.mark.parametrize(
        "says",
        [
            b"/Filter[/FlateDecode/FlateDecode]",
            b"/Filter [ /ASCIIHexDecode /FlateDecode ]",
            b"/Filter/LZWDecode",
            b"/Filter/RunLengthDecode",
            b"/Filter 9 0 R",
            b"/Fi#6cter/LZWDecode",
            b"/Filter/Fl",
        ],
    )
    def test_filters_that_hide_how_much_there_is(self, says: bytes) -> None:
        pdf = by_hand([Attached("evidence.json", zlib.compress(EVIDENCE), says)])
        assert refused(pdf).startswith("the PDF is packed in a way that Evidentia does not")

    @pytest.mark.parametrize("length", [b"999999999999", b"-1", b"99 0 R", b"(x)"])
    def test_a_length_that_is_not_true_takes_no_memory(self, length: bytes) -> None:
        pdf = by_hand([Attached("evidence.json", EVIDENCE)])
        lying = pdf.replace(b"/Length %d" % len(EVIDENCE), b"/Length " + length)
        assert lying != pdf
        assert _found_or_refused(lying)

    def test_more_streams_than_are_looked_at(self) -> None:
        pdf = by_hand([], objects=b"stream\n" * (MAX_STREAMS + 1))
        assert refused(pdf).startswith("the PDF has more than")


class TestDamage:
    def test_every_way_to_cut_a_file_short_is_survived(self) -> None:
        pdf = stand_in(evidence_json='{"a": 1}' * 50, rendering_json="{}")
        for end in range(0, len(pdf), 97):
            assert _found_or_refused(pdf[:end])

    def test_damage_anywhere_is_survived(self) -> None:
        pdf = stand_in(evidence_json='{"a": 1}' * 50, rendering_json="{}")
        chosen = random.Random(7)
        for _ in range(300):
            damaged = bytearray(pdf)
            for _ in range(chosen.randint(1, 8)):
                damaged[chosen.randrange(len(pdf))] = chosen.randrange(256)
            assert _found_or_refused(bytes(damaged))


def _bomb(size: int) -> bytes:
    packer = zlib.compressobj(1)
    step = bytes(2**20)
    packed = [packer.compress(step) for _ in range(size // len(step))]
    return b"".join([*packed, packer.compress(bytes(size % len(step))), packer.flush()])


def _found_or_refused(pdf: bytes) -> Any:
    try:
        return embedded(pdf).keys() | {"found"}
    except InputError as error:
        return "\n" not in str(error)

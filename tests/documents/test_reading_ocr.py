"""Pages that are pictures: read by OCR where it is there, within limits, and said."""

import shutil
from collections.abc import Callable
from importlib.util import find_spec
from io import BytesIO
from typing import Any

import pypdfium2  # type: ignore[import-untyped]
import pytest

from evidentia.documents.chunking import chunk_document
from evidentia.documents.model import Page, SeenSpan
from evidentia.documents.reading import READER_VERSION, pdf, recognising
from evidentia.documents.reading.document import read_document
from evidentia.documents.reading.seen import SeenLine, confidence_of, write_seen
from evidentia.documents.recording import chunks_digest
from evidentia.errors import DocumentError
from evidentia.loading.reading import Asked, read_files
from pdf_writing import PICTURE, Line, pdf_bytes

rapid = pytest.mark.skipif(find_spec("rapidocr") is None, reason="rapidocr is not installed")
arabic = pytest.mark.skipif(
    find_spec("rapidocr") is None or not recognising._reads_arabic(),
    reason="rapidocr, or tesseract with Arabic, is not installed",
)
SENTENCES = ("Every employee has 25 days of leave.", "Leave is paid in full.")


def seen(
    text: str, top: float, left: float = 0, *, sure: float = 0.9, wide: float = 200
) -> SeenLine:
    return SeenLine(text, sure, left, top, left + wide, top + 10)


def scan(data: bytes) -> bytes:
    """Return a PDF whose pages are pictures of those of another."""
    source, made = pypdfium2.PdfDocument(data), pypdfium2.PdfDocument.new()
    for page in source:
        width, height = page.get_size()
        picture = pypdfium2.PdfImage.new(made)
        picture.set_bitmap(page.render(scale=2))
        picture.set_matrix(pypdfium2.PdfMatrix().scale(width, height))
        new = made.new_page(width, height)
        new.insert_obj(picture)
        new.gen_content()
    written = BytesIO()
    made.save(written)
    made.close()
    source.close()
    return written.getvalue()


@pytest.fixture
def with_ocr(monkeypatch: pytest.MonkeyPatch) -> Callable[[list[SeenLine]], None]:
    """Let OCR see given lines on every page."""

    def install(lines: list[SeenLine]) -> None:
        monkeypatch.setattr(pdf, "recogniser", lambda: lambda _: lines)

    return install


WithOcr = Callable[[list[SeenLine]], None]


def test_lines_of_a_page_become_text_with_how_sure_each_is() -> None:
    page = write_seen(1, [seen("Second.", 12, sure=0.5), seen("First  line.", 0), seen(" ", 30)])
    assert page == Page(
        1, "First line.\nSecond.", seen=(SeenSpan(0, 11, 0.9), SeenSpan(12, 19, 0.5))
    )
    assert confidence_of([page]) == pytest.approx(0.7)
    assert write_seen(2, []) == Page(2, "")
    assert confidence_of([]) == 0.0


def test_a_wider_gap_parts_paragraphs_and_cells_of_a_row_stand_in_one_line() -> None:
    lines = [seen("15", 2, 300, wide=20), seen("Oman", 0, wide=40), seen("France", 40, wide=40)]
    assert write_seen(1, lines).text == "Oman 15\n\nFrance"


@pytest.mark.parametrize(
    ("words", "order"),
    [("left column that goes on", "LR"), ("عمود أيمن يستمر في الصفحة", "RL")],
)
def test_columns_are_read_one_after_the_other(words: str, order: str) -> None:
    left = [seen(f"L{n} {words}", 12.0 * n) for n in range(4)]
    right = [seen(f"R{n} {words}", 12.0 * n, 260) for n in range(4)]
    text = write_seen(1, [*right, *left]).text
    both = {"L": left, "R": right}
    assert text.split("\n\n") == ["\n".join(line.text for line in both[side]) for side in order]


def test_short_cells_are_no_columns() -> None:
    lines = [
        seen(f"{name}{n}", 12.0 * n, 100.0 * at, wide=30)
        for at, name in enumerate("ab")
        for n in range(5)
    ]
    assert write_seen(1, lines).text.splitlines() == [f"a{n} b{n}" for n in range(5)]


def test_passages_read_by_ocr_say_how_sure_they_are_and_others_do_not(with_ocr: WithOcr) -> None:
    with_ocr([seen(SENTENCES[0], 0, sure=0.8), seen(SENTENCES[1], 12, sure=0.6)])
    document = read_document(pdf_bytes([[Line("Written.")], PICTURE]), "a.pdf")
    written, read = chunk_document(document, "doc_1")
    assert (written.text, written.ocr) == ("Written.", None)
    assert read.text == "\n".join(SENTENCES)
    assert read.ocr == 0.72  # by characters, of which the surer line has more
    assert document.warnings == ("1 page was read by OCR, 70% sure: 2",)
    assert READER_VERSION == 3


def test_the_digest_of_chunks_covers_how_sure_a_reading_is(with_ocr: WithOcr) -> None:
    digests = set()
    for sure in (0.8, 0.7):
        with_ocr([seen(SENTENCES[0], 0, sure=sure)])
        document = read_document(pdf_bytes([PICTURE]), "a.pdf")
        digests.add(chunks_digest(chunk_document(document, "doc_1")))
    assert len(digests) == 2


def test_without_ocr_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "recogniser", lambda: None)
    with pytest.raises(DocumentError, match=r"a scanned PDF: .* pip install 'evidentia\[ocr\]'"):
        read_document(pdf_bytes([PICTURE]), "a.pdf")
    document = read_document(pdf_bytes([[Line("Written.")], PICTURE]), "a.pdf")
    assert document.warnings == (
        "page 2 is a picture without text: it needs OCR",
        "run OCR first, or have pictures read: pip install 'evidentia[ocr]'",
    )


def test_a_picture_without_text_is_said(with_ocr: WithOcr) -> None:
    with_ocr([])
    with pytest.raises(DocumentError, match=r"a scanned PDF: .*; OCR saw no text on page 1"):
        read_document(pdf_bytes([PICTURE]), "a.pdf")


def test_more_scanned_pages_than_are_read_are_refused_at_once(with_ocr: WithOcr) -> None:
    with_ocr([seen("Never seen.", 0)])
    with pytest.raises(DocumentError, match="10,000 pages need OCR, 30 at most: split the file"):
        read_document(pdf_bytes([PICTURE] * 10_000), "a.pdf")


def test_a_page_too_large_to_be_drawn_is_said(with_ocr: WithOcr) -> None:
    with_ocr([seen("Never seen.", 0)])
    huge = pdf_bytes([PICTURE]).replace(b"[0 0 612 792]", b"[0 0 100000 100000]")
    with pytest.raises(DocumentError, match=r"page 1 is too large to be read by OCR \("):
        read_document(huge, "a.pdf")


def test_a_picture_of_more_pixels_than_are_read_is_not_unpacked(with_ocr: WithOcr) -> None:
    with_ocr([seen("Never seen.", 0)])
    bomb = pdf_bytes([PICTURE]).replace(b"/Width 1/Height 1", b"/Width 99999/Height 99999")
    with pytest.raises(DocumentError, match=r"a picture too large to be read by OCR \(99,999 by"):
        read_document(bomb, "a.pdf")


def test_a_page_that_cannot_be_drawn_is_said(
    with_ocr: WithOcr, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object, **__: object) -> Any:
        raise pypdfium2.PdfiumError("no bitmap")

    with_ocr([seen("Never seen.", 0)])
    monkeypatch.setattr(pypdfium2.PdfPage, "render", failing)
    with pytest.raises(DocumentError, match="page 1 cannot be drawn, to be read by OCR"):
        read_document(pdf_bytes([PICTURE]), "a.pdf")


@rapid
def test_a_scan_is_read_in_the_worker_within_its_limits_and_always_the_same() -> None:
    data = scan(pdf_bytes([[Line(text, 14) for text in SENTENCES]]))
    found = list(read_files([Asked("doc_1", "scan.pdf", data) for _ in range(2)], count=1))
    assert found[0] == found[1]
    read = found[0]
    assert not isinstance(read, Exception), read
    assert [chunk.text for chunk in read.chunks] == ["\n".join(SENTENCES)]
    assert all(chunk.ocr is not None and 0.9 < chunk.ocr <= 1 for chunk in read.chunks)


@arabic
def test_a_scan_in_arabic_is_read_by_tesseract(arabic_pdf: bytes) -> None:
    document = read_document(scan(arabic_pdf), "scan.pdf")
    assert document.direction == "rtl"
    assert "الموظفين" in document.pages[0].text
    assert all(0 < span.confidence <= 1 for span in document.pages[0].seen)


@pytest.fixture
def arabic_pdf() -> bytes:
    """Return a PDF with a sentence in Arabic, as the package's own fonts set it."""
    typst = pytest.importorskip("typst")
    fonts = recognising.__file__.rsplit("documents", 1)[0] + "export/pdf/fonts"
    text = (
        '#set text(font: "Amiri", lang: "ar", size: 20pt)\n'
        "يحق لجميع الموظفين الدائمين خمسة عشر يوما من الإجازة السنوية المدفوعة"
    )
    made = typst.compile(text.encode(), font_paths=[fonts])
    assert isinstance(made, bytes)
    return made


def test_words_of_tesseract_become_lines_with_their_mean() -> None:
    head = "level\tpage\tblock\tpar\tline\tword\tleft\ttop\twidth\theight\tconf\ttext"
    rows = [
        "4\t1\t1\t1\t1\t0\t0\t0\t90\t10\t-1\t",
        "5\t1\t1\t1\t1\t1\t50\t0\t40\t10\t90\tيحق",
        "5\t1\t1\t1\t1\t2\t0\t2\t40\t10\t70\tلجميع",
    ]
    assert list(recognising._tesseract_lines("\n".join([head, *rows]))) == [
        SeenLine("يحق لجميع", 0.8, 0, 0, 90, 12)
    ]


def test_where_tesseract_is_missing_it_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    recognising._reads_arabic.cache_clear()
    assert not recognising._reads_arabic()
    recognising._reads_arabic.cache_clear()

"""Documents: what reading PDFs and finding chunks cost, against the bare libraries below them."""

import random
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pypdfium2  # type: ignore[import-untyped]
from benchmarks.measuring import (
    Line,
    Section,
    Spread,
    interleaved,
    number,
    ratios,
    seconds_of,
    tidy,
)

from evidentia.documents.chunking import chunk_document
from evidentia.documents.index import LexicalIndex, build_index
from evidentia.documents.model import DocumentChunk
from evidentia.documents.reading.document import read_document
from evidentia.language.tokens import tokenize

SEED = 2018
_PAGES_A_FILE = 100
_LINES_A_PAGE = 42
_BEST = 20
_SUBJECTS = ("The employee", "The manager", "Each vendor", "The controller", "A board member")
_VERBS = ("shall notify", "may request", "must approve", "shall record", "reviews", "submits")
_OBJECTS = ("annual leave", "the invoice", "a data breach", "the audit report", "travel expenses")
_ENDS = (
    "within {} calendar days of the effective date",
    "unless {} percent of the committee agree otherwise",
    "in writing and before the end of quarter {}",
    "as section {} of this policy provides",
)
_RARE = [f"{a}{b}{c}" for a in ("pro", "con", "ex") for b in "abcdefgh" for c in ("tion", "ment")]
_QUERIES = (
    "employees are entitled to annual leave within 14 calendar days",
    "the data breach must be notified in writing",
    "proation exhment",
    "conbtion of the audit report by a vendor",
)


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    read_pages: int
    all_pages: int
    rounds: int
    searches: int


SIZES = {
    "full": Size(500, 10_000, 9, 50),
    "quick": Size(200, 1_000, 5, 20),
    "tiny": Size(10, 10, 2, 2),
}


def measure_pdf(size: Size) -> Section:
    """Measure reading against PDFium's own text of the same files."""
    files = pdf_files(size.read_pages)

    def bare() -> None:
        for data in files:
            document = pypdfium2.PdfDocument(data)
            for page in document:
                text_page = page.get_textpage()
                text_page.get_text_range()
                text_page.close()
                page.close()
            document.close()

    def ours() -> None:
        for data in files:
            read_document(data, "policy.pdf")

    ours()
    taken = interleaved(
        size.rounds, {"ours": lambda: seconds_of(ours), "bare": lambda: seconds_of(bare)}
    )
    speed = {side: size.read_pages / Spread.of(found).median for side, found in taken.items()}
    return Section(
        "pdf",
        "Reading PDFs",
        f"{size.read_pages:,} pages of about {_LINES_A_PAGE} lines: pages, paragraphs, headings, "
        "language and dates, against the bare text of PDFium.",
        [
            Line(
                "PDF to pages and headings",
                "bare pypdfium2",
                f"{number(speed['ours'])} pages/s",
                f"{number(speed['bare'])} pages/s",
                ratios(taken["bare"], taken["ours"]),
                "%",
                target=0.5,
            )
        ],
    )


def measure_search(size: Size) -> Section:
    """Measure a search against scoring the same postings in bare numpy."""
    chunks = _chunks(size.all_pages)
    index = build_index(chunks)
    section = Section(
        "search",
        "Finding chunks",
        f"{len(chunks):,} chunks of {size.all_pages:,} pages. The yardstick adds the same weights "
        f"of the same postings and takes the best {_BEST}; the words of its query are looked up "
        "beforehand.",
    )
    for query in _QUERIES:
        bare = _bare_search(index, query)
        taken = interleaved(
            size.rounds,
            {
                "ours": lambda query=query: _repeated(  # type: ignore[misc] # a default binds it
                    size.searches, lambda: index.search(query, _BEST)
                ),
                "bare": lambda bare=bare: _repeated(size.searches, bare),  # type: ignore[misc]
            },
        )
        section.lines.append(
            Line(
                f"“{query}”",
                "bare numpy score",
                f"{number(Spread.of(taken['ours']).median * 1e3)} ms",
                f"{number(Spread.of(taken['bare']).median * 1e3)} ms",
                ratios(taken["ours"], taken["bare"]),
                "×",  # noqa: RUF001 - the unit, as the table shows it
                target=2.0,
                at_most=True,
            )
        )
    return section


def _repeated(times: int, work: Callable[[], object]) -> float:
    """Return what one of several runs takes."""
    tidy()
    return seconds_of(lambda: [work() for _ in range(times)]) / times


def _bare_search(index: LexicalIndex, query: str) -> Callable[[], object]:
    """Return a search that only adds weights and takes the best, over the same arrays."""
    rows, starts, positions = index._rows, index._starts, index._positions  # noqa: SLF001 - the same postings
    weights = index._weights  # noqa: SLF001
    parts = []
    for term, times in Counter(tokenize(query)).items():
        if term in rows:
            low, high = starts[rows[term]], starts[rows[term] + 1]
            parts.append((positions[low:high], weights[low:high] * np.float32(times)))

    def search() -> object:
        scores = np.zeros(len(index), np.float32)
        for places, added in parts:
            scores[places] += added
        best = np.argpartition(scores, -_BEST)[-_BEST:]
        return best[np.argsort(-scores[best])]

    return search


def _chunks(pages: int) -> list[DocumentChunk]:
    return [
        chunk
        for at, data in enumerate(pdf_files(pages))
        for chunk in chunk_document(read_document(data, "policy.pdf"), f"doc-{at}")
    ]


def pdf_files(pages: int) -> list[bytes]:
    """Return policies as PDF files, of a hundred pages each."""
    chance = random.Random(SEED)
    counts = [_PAGES_A_FILE] * (pages // _PAGES_A_FILE)
    if pages % _PAGES_A_FILE:
        counts.append(pages % _PAGES_A_FILE)
    return [_pdf([_page(chance, page) for page in range(count)]) for count in counts]


def _page(chance: random.Random, page: int) -> str:
    """Return a page's content: a title, numbered headings, paragraphs of several lines."""
    y = 760.0
    parts = [f"BT /F2 18 Tf 60 {y} Td (Chapter {page + 1}) Tj ET"]
    line = 0
    while line < _LINES_A_PAGE:
        y -= 26
        parts.append(
            f"BT /F2 12 Tf 60 {y:.1f} Td ({page + 1}.{line + 1} {chance.choice(_OBJECTS)}) Tj ET"
        )
        for _ in range(chance.randrange(5, 12)):
            y -= 14 if chance.random() < 0.8 else 22
            line += 1
            parts.append(f"BT /F1 10 Tf 60 {max(y, 20):.1f} Td ({_sentence(chance)}) Tj ET")
    return "\n".join(parts)


def _sentence(chance: random.Random) -> str:
    end = chance.choice(_ENDS).format(chance.randrange(1, 90))
    rare = chance.choice(_RARE) if chance.random() < 0.3 else "terms"
    subject, verb = chance.choice(_SUBJECTS), chance.choice(_VERBS)
    return f"{subject} {verb} {chance.choice(_OBJECTS)} on {rare}, {end}."


def _pdf(contents: list[str]) -> bytes:
    kids = " ".join(f"{5 + 2 * at} 0 R" for at in range(len(contents)))
    font = b"<</Type/Font/Subtype/Type1/Encoding/WinAnsiEncoding/BaseFont/%b>>"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Count {len(contents)}/Kids[{kids}]>>".encode(),
        font % b"Helvetica",
        font % b"Helvetica-Bold",
    ]
    for content in contents:
        packed = zlib.compress(content.encode())
        objects += [
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents %d 0 R"
            b"/Resources<</Font<</F1 3 0 R/F2 4 0 R>>>>>>" % (len(objects) + 2),
            b"<</Filter/FlateDecode/Length %d>>\nstream\n%b\nendstream" % (len(packed), packed),
        ]
    data = bytearray(b"%PDF-1.7\n")
    places = []
    for at, body in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%b\nendobj\n" % (at, body)
    start = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    data += b"".join(b"%010d 00000 n \n" % place for place in places)
    data += b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        start,
    )
    return bytes(data)

"""Files made to take a reader's time and memory: each is refused with its reason, in time.

The short form has small ones of each kind. The whole one has them at full size, read as `ingest`
reads them: within a minute of computing and a gigabyte.
"""

import re
import resource
from collections.abc import Callable

import pytest

from evidentia.documents.reading.document import read_document
from evidentia.errors import DocumentError
from evidentia.loading.reading import Asked, read_files
from pdf_writing import pdf_of_objects
from xlsx_writing import sheet_bytes

GIGABYTE_IN_KB = 2**20


def attributes(count: int) -> bytes:
    """Return a page of one tag with so many attributes."""
    names = b" ".join(b"a%d=1" % number for number in range(count))
    return b"<html><body><p %s>Leave is 25 days.</p></body></html>" % names


def one_line(megabytes: int) -> bytes:
    return b"word " * (megabytes * 200_000)


def forms(depth: int, width: int) -> bytes:
    """Return a PDF whose page shows a form, which shows the next so many times, and so on."""
    last = "BT /F1 12 Tf 72 700 Td (Leave is 25 days.) Tj ET"
    font = "/Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>"
    page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources"
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        f"{page}<</XObject<</Next 5 0 R>>>>>>",
        "<</Length 8>>\nstream\n/Next Do\nendstream",
    ]
    for number in range(5, 5 + depth):
        content = last if number == 4 + depth else "/Next Do " * width
        objects.append(
            f"<</Type/XObject/Subtype/Form/BBox[0 0 612 792]/Length {len(content)}/Resources"
            f"<</XObject<</Next {number + 1} 0 R>>{font}>>>>\nstream\n{content}\nendstream"
        )
    return pdf_of_objects(objects)


def cells(count: int) -> bytes:
    """Return a workbook of so many cells, a thousand in a row; it is packed like a real one."""
    kinds = [
        "".join(f"<c><v>{(at + row) * 7_919 % 99_991}</v></c>" for at in range(1_000))
        for row in range(50)
    ]
    rows = "".join(f"<row>{kinds[at % 50]}</row>" for at in range(count // 1_000))
    return sheet_bytes(f"<sheetData>{rows}</sheetData>")


def one_text(times: int) -> bytes:
    """Return a workbook that shows one long text in so many cells."""
    rows = "".join(f'<row r="{at}"><c t="s"><v>0</v></c></row>' for at in range(1, times + 1))
    text = f"<sst><si><t>{'word ' * 6_000}</t></si></sst>"
    return sheet_bytes(f"<sheetData>{rows}</sheetData>", parts={"xl/sharedStrings.xml": text})


def long_names(rows: int) -> bytes:
    """Return a CSV file of short rows under names that are long."""
    return b",".join([b"n" * 9_000, b"m" * 9_000]) + b"\n" + b"1,2\n" * rows


def substitutions(depth: int) -> bytes:
    """Return reStructuredText in which each word stands for ten of the next."""
    words = [f".. |w{at}| replace:: {f'|w{at + 1}| ' * 10}" for at in range(depth)]
    return "\n".join([*words, f".. |w{depth}| replace:: leave", "", "Text |w0|."]).encode()


def messages(depth: int) -> bytes:
    """Return an e-mail with one attached to it, and so on."""
    head = b"Subject: Leave\r\n"
    return b"Content-Type: message/rfc822\r\n\r\n".join([head] * depth) + b"\r\nText."


WORST: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "a million attributes": ("a.html", lambda: attributes(1_000_000), "more than 256 attributes"),
    "a line of 100 MB": ("a.txt", lambda: one_line(100), "a line of more than 2,000,000"),
    "a line of 100 MB of HTML": (
        "a.html",
        lambda: b"<html><p>" + one_line(100),
        "(a line of more than 2,000,000|too much memory)",
    ),
    "100 billion forms": (
        "a.pdf",
        lambda: forms(12, 10),
        "(takes longer than the 60 seconds|too much memory)",
    ),
    "2,000 forms in each other": ("a.pdf", lambda: forms(2_000, 1), "no text"),
    "five million cells": ("a.xlsx", lambda: cells(5_000_000), "tables of more than 2,000,000"),
    "one text in 100,000 cells": (
        "a.xlsx",
        lambda: one_text(100_000),
        "tables of more than 67,108,864 characters",
    ),
    "long names of columns": ("a.csv", lambda: long_names(100_000), "more than 67,108,864 char"),
    "a billion records": ("a.csv", lambda: b"1,2\n" * 20_000_000, "more than 200,000 rows"),
    "ten billion words": (
        "a.rst",
        lambda: substitutions(10),
        "(takes longer than the 60 seconds|too much memory|RecursionError|nested deeper)",
    ),
    "5,000 messages in each other": ("a.eml", lambda: messages(5_000), "more than 20 deep"),
    "a notebook of brackets": ("a.ipynb", lambda: b"[" * 50_000_000, "a broken notebook"),
    "a notebook of empty lists": (
        "a.ipynb",
        lambda: b'{"cells":[' + b"[]," * 60_000_000 + b"[]]}",
        "(too much memory|Not enough memory|of more than 200,000 cells)",
    ),
}


@pytest.mark.whole
@pytest.mark.parametrize("name", WORST)
def test_the_worst_cases_are_refused_with_their_reason(name: str) -> None:
    filename, made, reason = WORST[name]
    (answer,) = read_files([Asked("doc_1", filename, made())], count=1)
    assert isinstance(answer, DocumentError)
    assert re.search(reason, str(answer))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert used.ru_maxrss < 1.1 * GIGABYTE_IN_KB


def test_the_same_at_small_scale() -> None:
    with pytest.raises(DocumentError, match="more than 256 attributes"):
        read_document(attributes(300), "a.html")
    with pytest.raises(DocumentError, match="a line of more than 2,000,000"):
        read_document(one_line(9), "a.txt")
    with pytest.raises(DocumentError, match="messages within messages"):
        read_document(messages(30), "a.eml")
    assert read_document(cells(2_000), "a.xlsx").headings
    assert read_document(one_text(2), "a.xlsx").headings
    assert read_document(long_names(2), "a.csv").headings
    assert read_document(substitutions(1), "a.rst").pages[0].text.count("leave") == 10
    assert "Leave is 25 days." in read_document(forms(3, 2), "a.pdf").pages[0].text
    with pytest.raises(DocumentError, match="no text"):
        read_document(forms(100, 1), "a.pdf")

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
    assert "Leave is 25 days." in read_document(forms(3, 2), "a.pdf").pages[0].text
    with pytest.raises(DocumentError, match="no text"):
        read_document(forms(100, 1), "a.pdf")

"""What repeats at the edges of a PDF's pages is of no passage, and it is said."""

import pytest

from evidentia.documents.model import ReadDocument
from evidentia.documents.reading.document import read_document
from evidentia.documents.reading.pdf_furniture import leave_out_furniture
from pdf_writing import Line, pdf_bytes


def read(*pages: list[Line]) -> ReadDocument:
    return read_document(pdf_bytes(pages), "policy.pdf")


def page(number: int, *around: Line) -> list[Line]:
    words = ("leave", "pay", "rest", "travel", "training", "notice")[number - 1]
    return [
        *around,
        Line(f"Our rules of {words} are these:", y=600),
        Line(f"the {words} is granted by the head.", y=588),
    ]


def texts(document: ReadDocument) -> list[str]:
    return [part.text for part in document.pages]


BARE = texts(read(*(page(number) for number in range(1, 5))))


@pytest.mark.parametrize(
    "around",
    [
        lambda _: [Line("Human Resources Policy", y=760)],
        lambda number: [Line(str(number), x=300, y=40)],
        lambda number: [Line(f"- {number + 12} -", x=300, y=40)],
        lambda number: [Line("HR Policy", y=760), Line(f"Page {number} of 4", y=40)],
        lambda _: [Line("HR Policy", y=760), Line("Version 4.0", y=748)],
        lambda number: [Line("Chapter" if number % 2 else "HR Policy", y=760)],
    ],
)
def test_heads_footers_and_page_numbers_are_left_out_and_said(around: object) -> None:
    assert callable(around)
    pages = [page(number, *around(number)) for number in range(1, 5)]
    if "Chapter" in str(pages):
        pages += [page(number, *around(number)) for number in (5, 6)]
    document = read(*pages)
    assert texts(document)[:4] == BARE
    (warning,) = document.warnings
    assert "of page furniture (running heads, footers, page numbers) are left out" in warning
    assert f"“{pages[0][0].text}”" in warning


@pytest.mark.parametrize(
    "around",
    [
        lambda number: [Line("HR Policy", y=760)] if number < 3 else [],
        lambda number: [Line("HR Policy", y=760 - 10 * number)],
        lambda _: [Line("HR Policy", y=612)],
        lambda number: [Line(str(number * 7 % 5), x=300, y=40)],
        lambda number: [Line("word " * 30 + str(number), 3, y=760)],
    ],
)
def test_what_repeats_rarely_elsewhere_close_or_at_length_is_text(around: object) -> None:
    assert callable(around)
    pages = [page(number, *around(number)) for number in range(1, 5)]
    document = read(*pages)
    assert not document.warnings
    shown = [str(line.text).strip() for line in pages[0]]
    assert document.pages[0].text.replace("\n\n", "\n").split("\n") == sorted(
        shown, key=document.pages[0].text.index
    )


def test_pages_of_nothing_else_keep_what_they_say() -> None:
    same = [[Line("Employees receive 15 days.")] for _ in range(4)]
    assert texts(read(*same)) == ["Employees receive 15 days."] * 4
    assert leave_out_furniture([]) == ([], None)
    assert leave_out_furniture([[], [], []]) == ([[], [], []], None)


def test_three_lines_of_a_head_are_left_out_only_if_text_is_apart_from_them() -> None:
    head = [Line(text, y=760 - 12 * at) for at, text in enumerate(("Meridian", "HR", "Policy"))]
    document = read(*(page(number, *head) for number in range(1, 5)))
    assert texts(document)[0].startswith("Meridian\nHR\nPolicy\n\nOur rules")


def test_what_repeats_on_a_few_of_many_pages_is_text() -> None:
    pages = [
        page(1 + number % 6, *([Line("HR Policy", y=760)] * (number < 3))) for number in range(8)
    ]
    assert texts(read(*pages))[0].startswith("HR Policy\n\n")

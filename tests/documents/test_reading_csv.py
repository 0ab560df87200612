import pytest

from evidentia.documents.chunking import chunk_document
from evidentia.documents.model import ReadDocument
from evidentia.documents.reading import csv, tables
from evidentia.documents.reading.document import CSV, read_document
from evidentia.documents.reading.tables import looks_like_value
from evidentia.errors import DocumentError


def read(source: str, name: str = "rates.csv") -> ReadDocument:
    return read_document(source.encode(), name)


def lines_of(source: str, name: str = "rates.csv") -> list[str]:
    return read(source, name).pages[0].text.split("\n")


def test_each_record_is_a_passage_with_the_names_of_its_columns() -> None:
    document = read("Country,Days\nOman,15\n\nFrance,25\n")
    assert document.media_type == CSV
    assert document.title is None
    chunks = chunk_document(document, "doc_1")
    assert [(chunk.text, chunk.heading_path) for chunk in chunks] == [
        ("Country: Oman | Days: 15", ("Row 2",)),
        ("Country: France | Days: 25", ("Row 4",)),
    ]
    text = document.pages[0].text
    assert all(text[chunk.start : chunk.end] == chunk.text for chunk in chunks)


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_what_parts_the_fields_is_told_by_the_first_lines(mark: str) -> None:
    source = f'Country{mark}Days{mark}Note\nOman{mark}15{mark}"a{mark}b, c; d"\n'
    assert lines_of(source) == [
        f"Country: Oman | Days: 15 | Note: {' '.join(f'a{mark}b'.split())}, c; d"
    ]


def test_a_file_of_tabs_has_tabs_whatever_else_is_in_it() -> None:
    assert lines_of("A,b\tC,d\tE\nx,1\ty,2\t3\n", "a.tsv") == ["A,b: x,1 | C,d: y,2 | E: 3"]


def test_a_quoted_field_may_have_several_lines_and_commas() -> None:
    source = (
        'Country,Days,Note\r\nOman,15,"first line\r\nsecond, ""quoted"" line"\r\nFrance,25,\r\n'
    )
    assert lines_of(source) == [
        'Country: Oman | Days: 15 | Note: first line second, "quoted" line',
        "Country: France | Days: 25",
    ]


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("Company,Acme\nSeat,Muscat\n", ["Company | Acme", "Seat | Muscat"]),
        ("1,2\n3,4\n", ["1 | 2", "3 | 4"]),
        ("Country,2023,2024\nOman,1.5,2\n", ["Country: Oman | 2023: 1.5 | 2024: 2"]),
        ("a,a,b\n1,2,3\n", ["a | a | b", "1 | 2 | 3"]),
        ("Name\nAlice\nBob\n", ["Name", "Alice", "Bob"]),
        ("Only,one,row\n", ["Only | one | row"]),
        ("Report\n\nCountry,Days\nOman,15\n", ["Report", "Country: Oman | Days: 15"]),
        ("a,b\n1,2,3,4,5\n6,7,8,9,0\n", ["a | b", "1 | 2 | 3 | 4 | 5", "6 | 7 | 8 | 9 | 0"]),
        ("A,B,C\n1,2,3,4\n", ["A: 1 | B: 2 | C: 3 | 4"]),
        ("A:,B:\n,1\n", ["B: 1"]),
        ("x,y\n,\n  ,  \n1,2", ["x: 1 | y: 2"]),
        (
            "one column of text, with a comma\nand no more\n",
            ["one column of text | with a comma", "and no more"],
        ),
    ],
)
def test_a_header_is_taken_for_one_where_it_looks_like_one(source: str, lines: list[str]) -> None:
    assert lines_of(source) == lines


def test_what_would_be_a_formula_is_text_like_any_other() -> None:
    assert lines_of("Name,Days,Note\n=cmd|' /C calc'!A0,15,@SUM(1)\n") == [
        "Name: =cmd|' /C calc'!A0 | Days: 15 | Note: @SUM(1)"
    ]


@pytest.mark.parametrize(
    "text", ["15", "-3.5", "3,5 %", "€ 12", "12 EUR", "2025-01-02", "(1,000)", "OMR 5", "12:30"]
)
def test_amounts_and_dates_are_values(text: str) -> None:
    assert looks_like_value(text)


@pytest.mark.parametrize("text", ["Days", "Q1", "15 days", "", "9" * 50])
def test_words_are_no_values(text: str) -> None:
    assert not looks_like_value(text)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b'a,b,c\n1,"2,3\n4,5,6\n', r"a broken CSV file \(record 2: unexpected end of data"),
        (b'a,b,c\n1,"2"x,3\n', r"a broken CSV file \(record 2: "),
        (b'a,b\n"' + b"x" * 200_000 + b'",1\n', r"field larger than field limit"),
        ("Größe,ß\n1,2\n".encode("cp1252"), "not UTF-8 text"),
        (b"a,b\n1,\x00\n", "control characters"),
        (b",,\n,,\n", "an empty document"),
    ],
)
def test_a_file_that_cannot_be_told_apart_is_refused(data: bytes, says: str) -> None:
    with pytest.raises(DocumentError, match=rf"^a.csv: .*{says}"):
        read_document(data, "a.csv")


@pytest.mark.parametrize(
    ("limit", "says"),
    [
        ("MAX_ROWS", "tables of more than 9 rows: split the file"),
        ("MAX_CELLS", "tables of more than 9 cells"),
        ("MAX_TABLE_CHARACTERS", "tables of more than 9 characters"),
    ],
)
def test_a_file_with_more_than_is_read_is_refused(
    monkeypatch: pytest.MonkeyPatch, limit: str, says: str
) -> None:
    monkeypatch.setattr(tables, limit, 9)
    with pytest.raises(DocumentError, match=says):
        read("Country,Days\n" + "Oman,15\n" * 20)


def test_the_names_of_columns_cannot_make_a_small_file_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tables, "MAX_TABLE_CHARACTERS", 100_000)
    source = "x" * 5_000 + ",days\n" + "1,2\n" * 100
    with pytest.raises(DocumentError, match="more than 100,000 characters"):
        read(source)


def test_a_file_that_no_mark_parts_is_read_with_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv, "_SAMPLED", 1)
    assert lines_of("one\ntwo\n") == ["one", "two"]

from datetime import UTC, date, datetime, time

import openpyxl
import pytest
from openpyxl.worksheet.worksheet import Worksheet

from docx_writing import core, zip_bytes
from evidentia.documents.chunking import chunk_document
from evidentia.documents.model import ReadDocument
from evidentia.documents.reading import tables
from evidentia.documents.reading.document import XLSX, read_document
from evidentia.documents.reading.number_formats import shown_number
from evidentia.errors import DocumentError
from xlsx_writing import relationships, saved, sheet_bytes, workbook_bytes


def read(data: bytes) -> ReadDocument:
    return read_document(data, "rates.xlsx")


def lines_of(rows: str) -> list[str]:
    return read(sheet_bytes(f"<sheetData>{rows}</sheetData>")).pages[0].text.split("\n")


def cell(place: str, value: object, kind: str = "n", more: str = "") -> str:
    return f'<c r="{place}" t="{kind}">{more}<v>{value}</v></c>'


def rates(sheet: Worksheet) -> None:
    sheet.append(["Leave by country"])
    sheet.append([])
    sheet.append(["Country", "Days", "Rate", "Since"])
    sheet.append(["Oman", 15, 0.055, date(2025, 1, 2)])
    sheet.append(["France", 25, None, None])
    sheet["C4"].number_format = "0.0%"


def test_each_row_is_a_passage_with_the_names_of_its_columns() -> None:
    document = read(workbook_bytes(rates))
    assert document.media_type == XLSX
    chunks = chunk_document(document, "doc_1")
    assert [(chunk.text, chunk.heading_path) for chunk in chunks] == [
        ("Leave by country", ("Rates, row 1",)),
        ("Country: Oman | Days: 15 | Rate: 5.5% | Since: 2025-01-02", ("Rates, row 4",)),
        ("Country: France | Days: 25", ("Rates, row 5",)),
    ]
    text = document.pages[0].text
    assert all(text[chunk.start : chunk.end] == chunk.text for chunk in chunks)


def test_each_sheet_is_a_page_and_names_its_rows() -> None:
    book = openpyxl.Workbook()
    book.create_sheet("Länder").append(["Oman"])
    book.create_sheet("A chart").append(["France"])
    document = read(saved(book))
    assert [page.text for page in document.pages] == ["", "Oman", "France"]
    assert [(h.page, h.text) for h in document.headings] == [
        (2, "Länder, row 1"),
        (3, "A chart, row 1"),
    ]


def test_what_a_reader_does_not_see_is_left_out_and_it_is_said() -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert isinstance(sheet, Worksheet)
    for row in (["Country", "Days", "Cost"], ["Oman", 15, 100], ["France", 25, 200]):
        sheet.append(row)
    sheet.row_dimensions[3].hidden = True
    sheet.column_dimensions["C"].hidden = True
    for name in ("Secret", "Very secret"):
        book.create_sheet(name).append(["hidden words"])
    book["Secret"].sheet_state = "hidden"
    book["Very secret"].sheet_state = "veryHidden"
    document = read(saved(book))
    assert [page.text for page in document.pages] == ["Country: Oman | Days: 15", "", ""]
    assert document.warnings == (
        "2 hidden sheets are left out: Secret, Very secret",
        "1 hidden row is left out",
        "1 hidden column is left out",
    )


def test_one_hidden_sheet_is_one() -> None:
    book = openpyxl.Workbook()
    book.create_sheet("Data").append(["words"])
    book["Sheet"].sheet_state = "hidden"
    assert read(saved(book)).warnings == ("1 hidden sheet is left out: Sheet",)


def test_a_formula_shows_what_was_computed_and_is_not_computed_here() -> None:
    assert lines_of(
        f"<row r='1'>{cell('A1', 15, more='<f>7+8</f>')}{cell('B1', 'x', 'str', '<f>A2</f>')}</row>"
    ) == ["15 | x"]
    document = read(
        workbook_bytes(lambda sheet: sheet.append(["Days", "=7+8", '=WEBSERVICE("x")']))
    )
    assert document.pages[0].text == "Days"
    (warning,) = document.warnings
    assert warning == (
        "2 formulas without a computed value: open the file in a spreadsheet program and save it, "
        "or what they show is left out"
    )


def test_the_other_kinds_of_cells_are_read() -> None:
    runs = "<r><t>two </t></r><r><t>runs</t></r><rPh><t>no</t></rPh>"
    inline = f'<c r="D1" t="inlineStr"><is>{runs}</is></c>'
    row = "".join(
        [
            cell("A1", 1, "b"),
            cell("B1", 0, "b"),
            cell("C1", "#DIV/0!", "e"),
            inline,
            cell("E1", "2025-01-02", "d"),
            cell("F1", "odd"),
            cell("G1", "", "b"),
        ]
    )
    assert lines_of(f"<row r='1'>{row}</row>") == [
        "TRUE | FALSE | #DIV/0! | two runs | 2025-01-02 | odd"
    ]


def test_shared_texts_are_read_without_how_they_are_pronounced() -> None:
    strings = (
        "<sst><si><t>one_x000D_\nline</t></si><si><r><t>two </t></r><r><t>runs</t></r>"
        "<rPh><t>no</t></rPh></si></sst>"
    )
    cells = [cell("A1", 0, "s"), cell("B1", 1, "s"), cell("C1", 9, "s"), cell("D1", "x", "s")]
    rows = f"<row r='1'>{''.join(cells)}</row>"
    data = sheet_bytes(f"<sheetData>{rows}</sheetData>", parts={"xl/sharedStrings.xml": strings})
    assert read(data).pages[0].text == "one line | two runs"


def test_cells_without_a_place_follow_each_other_and_wrong_places_too() -> None:
    assert lines_of(
        "<row><c><v>1</v></c><c><v>2</v></c></row><row r='9'><c r='B9'><v>3</v></c></row>"
    ) == [
        "1 | 2",
        "3",
    ]
    document = read(
        sheet_bytes(
            "<sheetData><row r='5'><c r='C5'><v>1</v></c><c r='A5'><v>2</v></c></row>"
            "<row r='2'><c r='ZZZ9'><v>3</v></c></row></sheetData>"
        )
    )
    assert [h.text for h in document.headings] == ["Data, row 5", "Data, row 6"]


def test_a_merged_cell_stands_in_each_of_its_rows() -> None:
    def fill(sheet: Worksheet) -> None:
        for row in (
            ["Group", "Country", "Days"],
            ["Gulf", "Oman", 15],
            [None, "Qatar", 21],
            ["own", "Iran", 26],
            ["Europe", "France", 25],
        ):
            sheet.append(row)
        sheet.merge_cells("A2:A3")
        sheet.merge_cells("D2:D4")

    data = workbook_bytes(fill)
    assert read(data).pages[0].text.split("\n")[1] == "Group: Gulf | Country: Qatar | Days: 21"
    rows = "<row r='1'><c r='A1'><v>1</v></c></row><row r='2'><c r='A2'><v>2</v></c></row>"
    merged = "".join(f"<mergeCell ref='{ref}'/>" for ref in ("A1:A1048576", "B9:B12", "x"))
    assert read(sheet_bytes(f"<sheetData>{rows}</sheetData>{merged}")).pages[0].text == "1\n2"


def test_a_filter_tells_which_row_names_the_columns() -> None:
    def fill(sheet: Worksheet) -> None:
        for row in (["Key", "Value"], ["SLA", "agreement"]):
            sheet.append(row)
        sheet.auto_filter.ref = "A1:B2"

    assert read(workbook_bytes(fill)).pages[0].text == "Key: SLA | Value: agreement"
    rows = "<sheetData><row r='1'><c><v>1</v></c></row></sheetData><autoFilter ref='?'/>"
    assert read(sheet_bytes(rows)).pages[0].text == "1"


def test_what_the_file_says_of_itself_is_kept() -> None:
    book = openpyxl.Workbook()
    book.create_sheet("Data").append(["words"])
    book.properties.title = "Rates of 2025"
    book.properties.created = datetime(2024, 1, 2, tzinfo=UTC).replace(tzinfo=None)
    document = read(saved(book))
    assert (document.title, document.created) == ("Rates of 2025", "2024-01-02")


def test_a_workbook_of_another_program_is_read_without_its_lists() -> None:
    parts = {
        "xl/workbook.xml": (
            "<workbook xmlns:r='x/relationships'><workbookPr date1904='1'/><sheets>"
            "<sheet name='' r:id='a'/><sheet name='Chart' r:id='b'/><sheet name='Gone' r:id='c'/>"
            "</sheets></workbook>"
        ),
        "xl/_rels/workbook.xml.rels": relationships(
            a="worksheet /xl/worksheets/sheet1.xml", b="chartsheet chartsheets/sheet1.xml"
        ).replace(
            "</Rel",
            '<Relationship Id="c" Type="x/worksheet" TargetMode="External" '
            'Target="file:///etc/passwd"/></Rel',
        ),
        "xl/styles.xml": "<s><numFmts><numFmt numFmtId='200' formatCode='yyyy'/></numFmts>"
        "<cellStyleXfs><xf numFmtId='9'/></cellStyleXfs><cellXfs><xf/>"
        "<xf numFmtId='200'/></cellXfs></s>",
        "docProps/core.xml": core(title="T"),
    }
    data = sheet_bytes(
        "<sheetData><row r='1'><c r='A1' s='1'><v>0</v></c></row></sheetData>", parts=parts
    )
    document = read(data)
    assert [page.text for page in document.pages] == ["1904-01-01", "", ""]
    assert document.headings[0].text == "Sheet 1, row 1"


@pytest.mark.parametrize(
    ("number", "code", "shown"),
    [
        ("0.05", "0%", "5%"),
        ("0.123456", "0.0%", "12.3%"),
        ("12.345", '#,##0.00 "€"', "12.35 €"),
        ("-12.345", "#,##0.00 [$€-407]", "-12.35 €"),
        ("-1234567.891", "[$$-409]#,##0.00;[Red]([$$-409]#,##0.00)", "-$1,234,567.89"),
        ("-5", "_-* #,##0.00 €_-;-* #,##0.00 €_-", "-5.00 €"),
        ("-5", "#,##0;#,##0", "-5"),
        ("15", r'0\ "days"', "15 days"),
        ("-0.001", "0.0", "0.0"),
        ("5", "0.0#", "5.0"),
        ("5.256", "0.0#", "5.26"),
        ("5", "0.##", "5"),
        (".5", ".00", "0.50"),
        ("0", "0.00", "0.00"),
        ("45658", "dd/mm/yyyy", "2025-01-01"),
        ("45658.75", "d mmm yy h:mm", "2025-01-01 18:00"),
        ("0.5000116", "h:mm:ss", "12:00:01"),
        ("59", "yyyy", "1900-02-28"),
        ("61", "yyyy", "1900-03-01"),
        ("1.5", "[h]:mm", "36:00:00"),
        ("-1.5", "[h]:mm", "-1.5"),
        ("-1", "yyyy", "-1"),
        ("2958466", "yyyy", "2958466"),
        ("0.30000000000000004", "General", "0.3"),
        ("1e21", "General", "1e+21"),
        ("1e16", "General", "10000000000000000"),
        ("1e300", "0", "1e+300"),
        ("12", "# ?/?", "12"),
        ("12345", "0.00E+00", "12345"),
        ("12345", "#,##0,", "12345"),
        ("15", "@", "15"),
        ("15", "", "15"),
        ("1", ";;;", ""),
        ("1", "0." + "0" * 30, "1"),
        ("nan", "0", None),
        ("words", "0", None),
    ],
)
def test_a_number_is_read_as_it_is_shown(number: str, code: str, shown: str | None) -> None:
    assert shown_number(number, code) == shown


def test_days_may_be_counted_from_1904() -> None:
    assert shown_number("0", "yyyy", since_1904=True) == "1904-01-01"
    assert shown_number("2958465", "yyyy", since_1904=True) == "2958465"


def test_times_of_a_real_workbook_are_read_as_they_are_shown() -> None:
    def fill(sheet: Worksheet) -> None:
        sheet.append([date(2025, 1, 2), datetime(2025, 1, 2, 9, 30), time(9, 30), 1.5])  # noqa: DTZ001

    assert read(workbook_bytes(fill)).pages[0].text == "2025-01-02 | 2025-01-02 09:30 | 09:30 | 1.5"


BOMB = "<!DOCTYPE d [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;'>]><worksheet>&b;</worksheet>"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (sheet_bytes("", parts={"xl/worksheets/sheet1.xml": BOMB}), "document type declaration"),
        (sheet_bytes("", parts={"xl/sharedStrings.xml": b"<a>" + b" " * 2**26}), "a zip bomb"),
        (
            sheet_bytes("<row>"),
            r"a broken Excel workbook \(xl/worksheets/sheet1.xml: mismatched tag",
        ),
        (workbook_bytes(rates)[:-400], "a broken Excel workbook"),
        (workbook_bytes(rates)[:200], "a broken Excel workbook"),
        (b"not one", r"named .xlsx and is no Excel \(XLSX\) file"),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"),
            "an Excel workbook encrypted with a password",
        ),
        (zip_bytes({"xl/workbook.bin": "x"}), "a binary Excel workbook"),
        (zip_bytes({"xl/workbook.xml": "<w/>"}), "an empty document"),
        (
            sheet_bytes(
                "",
                parts={
                    "xl/_rels/workbook.xml.rels": relationships(
                        rId1="worksheet ../../../etc/passwd"
                    )
                },
            ),
            "the sheet Data is missing",
        ),
    ],
)
def test_a_hostile_or_broken_workbook_is_refused(data: bytes, says: str) -> None:
    with pytest.raises(DocumentError, match=rf"^rates.xlsx: .*{says}"):
        read(data)


def test_a_workbook_with_more_cells_than_are_read_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tables, "MAX_CELLS", 50)
    rows = "".join(f"<row r='{at}'>{cell(f'A{at}', 1)}</row>" for at in range(1, 60))
    with pytest.raises(DocumentError, match="tables of more than 50 cells: split the file"):
        lines_of(rows)


def test_one_long_text_in_many_cells_cannot_fill_the_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tables, "MAX_TABLE_CHARACTERS", 10_000)
    strings = f"<sst><si><t>{'x' * 1_000}</t></si></sst>"
    rows = "".join(f"<row r='{at}'>{cell(f'A{at}', 0, 's')}</row>" for at in range(1, 60))
    data = sheet_bytes(f"<sheetData>{rows}</sheetData>", parts={"xl/sharedStrings.xml": strings})
    with pytest.raises(DocumentError, match="tables of more than 10,000 characters"):
        read(data)


def test_a_merge_of_everything_costs_no_more_than_the_rows_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tables, "MAX_CELLS", 1_000)
    rows = "".join(f"<row r='{at}'>{cell(f'A{at}', 1)}</row>" for at in range(1, 60))
    merged = "<mergeCell ref='A1:XFD1048576'/>" * 100
    with pytest.raises(DocumentError, match="tables of more than 1,000 cells"):
        read(sheet_bytes(f"<sheetData>{rows}</sheetData>{merged}"))

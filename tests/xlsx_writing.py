"""Writes workbooks: real ones with openpyxl, and by hand what it would not write."""

from collections.abc import Callable, Mapping
from io import BytesIO

import openpyxl
from openpyxl.worksheet.worksheet import Worksheet

from docx_writing import zip_bytes

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def workbook_bytes(fill: Callable[[Worksheet], None], *, title: str = "Rates") -> bytes:
    """Return a workbook of one sheet, which `fill` fills."""
    book = openpyxl.Workbook()
    sheet = book.active
    assert isinstance(sheet, Worksheet)
    sheet.title = title
    fill(sheet)
    return saved(book)


def saved(book: openpyxl.Workbook) -> bytes:
    """Return a workbook as a file."""
    data = BytesIO()
    book.save(data)
    return data.getvalue()


def relationships(**targets: str) -> str:
    """Return a part of relationships; each value is a type, a space and a target."""
    inside = "".join(
        f'<Relationship Id="{name}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for name, (kind, _, target) in (
            (name, said.partition(" ")) for name, said in targets.items()
        )
    )
    return f'<Relationships xmlns="{_PACKAGE}">{inside}</Relationships>'


def sheet_bytes(rows: str, *, parts: Mapping[str, str | bytes] | None = None) -> bytes:
    """Return a workbook whose only sheet has that XML."""
    written: dict[str, str | bytes] = {
        "xl/workbook.xml": (
            f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
            '<sheet name="Data" sheetId="1" r:id="rId1"/></sheets></workbook>'
        ),
        "xl/_rels/workbook.xml.rels": relationships(rId1="worksheet worksheets/sheet1.xml"),
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_MAIN}">{rows}</worksheet>',
        **(parts or {}),
    }
    return zip_bytes(written)

"""Excel workbooks (XLSX): each sheet is a page, each row a line with the names of its columns.

Cells are read as they are shown: formulas by the value that was last computed, numbers and dates by
their format. Formulas are not computed, macros not run, links to other files not followed. Hidden
sheets, rows and columns are left out, and it is said. A merged cell is shown in each of its rows.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from evidentia.documents.model import Heading, Page
from evidentia.documents.reading.archive import (
    EXCEL,
    EXCEL_WORKBOOK,
    Archive,
    Attributes,
    parse_part,
)
from evidentia.documents.reading.contents import Contents, shown_name
from evidentia.documents.reading.number_formats import BUILT_IN, GENERAL, shown_number
from evidentia.documents.reading.office import (
    OFF,
    read_properties,
    read_relationships,
    related_part,
)
from evidentia.documents.reading.tables import Cell, Row, TableWriter, one_line
from evidentia.language.counting import counted

_PLACE = re.compile(r"([A-Z]{1,3})([1-9]\d{0,6})")
_RANGE = re.compile(r"([A-Z]{1,3})([1-9]\d{0,6})(?::([A-Z]{1,3})([1-9]\d{0,6}))?")
_ESCAPED = re.compile(r"_x00[01][0-9A-Fa-f]_")
_SHEET_TYPE: Final = "worksheet"
_MAX_ROW: Final = 2**20
_MAX_COLUMN: Final = 2**14
_VISIBLE: Final = "visible"
_DIGITS: Final = 10
"""More than any number of a row, column or text has."""


def read_xlsx(data: bytes, filename: str) -> Contents:
    """Read a workbook; `DocumentError` if it is broken, encrypted or made to do harm."""
    archive = Archive(data, filename, EXCEL)
    workbook = _Workbook()
    parse_part(archive, EXCEL_WORKBOOK, workbook)
    related = read_relationships(archive, EXCEL_WORKBOOK)
    strings = _Strings()
    parse_part(archive, related_part(related, "sharedStrings") or "xl/sharedStrings.xml", strings)
    styles = _Styles()
    parse_part(archive, related_part(related, "styles") or "xl/styles.xml", styles)
    writer = TableWriter(filename)
    pages: list[Page] = []
    headings: list[Heading] = []
    hidden: list[str] = []
    notes = _Notes()
    for number, (name, target, state) in enumerate(workbook.sheets, 1):
        part = related.get(target)
        header = None
        if state != _VISIBLE:
            hidden.append(name)
        elif part and part.type == _SHEET_TYPE:
            sheet = _Sheet(
                writer, strings.found, styles.formats(), notes, since_1904=workbook.since_1904
            )
            if not parse_part(archive, part.part, sheet):
                raise archive.broken(f"the sheet {shown_name(name)} is missing")
            sheet.fill_merged()
            header = sheet.header
        page, rows = writer.page(number, name, header)
        pages.append(page)
        headings += rows
    properties = read_properties(archive)
    return Contents(
        pages=tuple(pages) or (Page(1, ""),),
        headings=tuple(headings),
        title=properties.title,
        created=properties.created,
        modified=properties.modified,
        language=properties.language,
        warnings=(*_hidden_sheets(hidden), *notes.warnings()),
    )


def _hidden_sheets(names: Sequence[str]) -> list[str]:
    if not names:
        return []
    is_are = "is" if len(names) == 1 else "are"
    return [f"{counted(len(names), 'hidden sheet')} {is_are} left out: {', '.join(names)}"]


class _Notes:
    """Counts what of a workbook is not in its pages' text."""

    def __init__(self) -> None:
        self.rows = 0
        self.columns: set[tuple[int, int]] = set()
        self.not_computed = 0
        self.sheet = 0

    def warnings(self) -> list[str]:
        """Say what is left out."""
        found = []
        if self.rows:
            rows = counted(self.rows, "hidden row is", "hidden rows are")
            found.append(f"{rows} left out")
        if self.columns:
            columns = counted(len(self.columns), "hidden column is", "hidden columns are")
            found.append(f"{columns} left out")
        if self.not_computed:
            cells = counted(self.not_computed, "formula", "formulas")
            found.append(
                f"{cells} without a computed value: open the file in a spreadsheet program and "
                "save it, or what they show is left out"
            )
        return found


class _Workbook:
    """Reads the list of sheets: name, relationship, whether it is visible."""

    def __init__(self) -> None:
        self.sheets: list[tuple[str, str, str]] = []
        self.since_1904 = False

    def start(self, tag: str, attributes: Attributes) -> None:
        if tag == "sheet":
            name = one_line(attributes.get("name", "")) or f"Sheet {len(self.sheets) + 1}"
            self.sheets.append(
                (name, attributes.get("r:id", ""), attributes.get("state", _VISIBLE))
            )
        elif tag == "workbookPr":
            self.since_1904 = attributes.get("date1904", "0") not in OFF

    def end(self, _tag: str) -> None:
        """Take the end of an element, which says nothing here."""

    def text(self, _text: str) -> None:
        """Take text, of which there is none."""


class _Strings:
    """Reads the texts that cells share; how Japanese ones are pronounced is left out."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self._parts: list[str] = []
        self._in_text = False
        self._aside = 0

    def start(self, tag: str, _attributes: Attributes) -> None:
        if tag == "si":
            self._parts = []
        self._aside += tag == "rPh"
        self._in_text = tag == "t" and not self._aside

    def end(self, tag: str) -> None:
        self._in_text = False
        self._aside -= tag == "rPh"
        if tag == "si":
            self.found.append(one_line(_unescaped("".join(self._parts))))

    def text(self, text: str) -> None:
        if self._in_text:
            self._parts.append(text)


class _Styles:
    """Reads which number format each style of a cell has."""

    def __init__(self) -> None:
        self._codes: dict[str, str] = {}
        self._styles: list[str] = []
        self._in_cells = False

    def start(self, tag: str, attributes: Attributes) -> None:
        if tag == "numFmt":
            self._codes[attributes.get("numFmtId", "")] = attributes.get("formatCode", "")
        elif tag == "cellXfs":
            self._in_cells = True
        elif tag == "xf" and self._in_cells:
            self._styles.append(attributes.get("numFmtId", "0"))

    def end(self, tag: str) -> None:
        if tag == "cellXfs":
            self._in_cells = False

    def text(self, _text: str) -> None:
        """Take text, of which there is none."""

    def formats(self) -> Mapping[str, str]:
        """Return the format of each style, by the number that a cell names it with."""
        built_in = {str(number): code for number, code in BUILT_IN.items()}
        codes = {**built_in, **self._codes}
        return {str(at): codes.get(name, GENERAL) for at, name in enumerate(self._styles)}


class _Sheet:
    """Reads a sheet's rows as they come by."""

    def __init__(
        self,
        writer: TableWriter,
        strings: Sequence[str],
        formats: Mapping[str, str],
        notes: _Notes,
        *,
        since_1904: bool,
    ) -> None:
        self.header: int | None = None
        self._writer = writer
        self._strings = strings
        self._formats = formats
        self._since_1904 = since_1904
        self._notes = notes
        notes.sheet += 1
        self._hidden: list[tuple[int, int]] = []
        self._merged: list[tuple[int, int, int]] = []
        self._row = 0
        self._row_hidden = False
        self._cells: list[Cell] = []
        self._column = -1
        self._type = self._style = ""
        self._parts: list[str] = []
        self._taking = False
        self._has_formula = False
        self._aside = 0

    def start(self, tag: str, attributes: Attributes) -> None:
        match tag:
            case "c":
                self._begin_cell(attributes)
            case "v" | "t":
                self._taking = not self._aside
            case "f":
                self._has_formula = True
            case "row":
                self._begin_row(attributes)
            case "rPh":
                self._aside += 1
            case "col" if attributes.get("hidden", "0") not in OFF:
                ends = [_number(attributes.get(name, "")) for name in ("min", "max")]
                self._hidden.append((ends[0] - 1, ends[1] - 1))
            case "mergeCell":
                self._merge(attributes.get("ref", ""))
            case "autoFilter":
                found = _RANGE.fullmatch(attributes.get("ref", ""))
                self.header = int(found[2]) if found else None

    def end(self, tag: str) -> None:
        match tag:
            case "v" | "t":
                self._taking = False
            case "rPh":
                self._aside -= 1
            case "c":
                self._end_cell()
            case "row":
                if self._row_hidden:
                    self._notes.rows += bool(self._cells)
                else:
                    self._writer.add(Row(self._row, tuple(sorted(self._cells))))

    def text(self, text: str) -> None:
        if self._taking:
            self._parts.append(text)

    def fill_merged(self) -> None:
        """Show merged cells in all of their rows, once these are known."""
        for column, first, last in self._merged:
            self._writer.fill_down(column, first, last)

    def _begin_row(self, attributes: Attributes) -> None:
        number = _number(attributes.get("r", ""))
        self._row = number if self._row < number <= _MAX_ROW else self._row + 1
        self._row_hidden = attributes.get("hidden", "0") not in OFF
        self._cells = []
        self._column = -1

    def _begin_cell(self, attributes: Attributes) -> None:
        place = _PLACE.fullmatch(attributes.get("r", ""))
        column = _column(place[1]) if place else self._column + 1
        self._column = column if self._column < column < _MAX_COLUMN else self._column + 1
        self._type = attributes.get("t", "n")
        self._style = attributes.get("s", "0")
        self._parts = []
        self._has_formula = False

    def _end_cell(self) -> None:
        text, is_value = self._shown("".join(self._parts))
        if not text:
            self._notes.not_computed += self._has_formula and not self._parts
        elif any(low <= self._column <= high for low, high in self._hidden):
            self._notes.columns.add((self._notes.sheet, self._column))
        else:
            self._cells.append(Cell(self._column, text, is_value))

    def _shown(self, written: str) -> tuple[str, bool]:
        """Return what a cell shows, and whether that is a value and not words."""
        match self._type:
            case "s":
                at = _number(written)
                known = written.strip().isdigit() and at < len(self._strings)
                return self._strings[at] if known else "", False  # one text, in however many cells
            case "str" | "inlineStr":
                return one_line(_unescaped(written)), False
            case "b":
                return ("TRUE" if written.strip() == "1" else "FALSE" if written else ""), True
            case "e" | "d":
                return one_line(written), True
        code = self._formats.get(self._style, GENERAL)
        shown = shown_number(written, code, since_1904=self._since_1904)
        return one_line(written if shown is None else shown), True

    def _merge(self, ref: str) -> None:
        found = _RANGE.fullmatch(ref)
        if found and found[4] and int(found[4]) > int(found[2]):
            self._merged.append((_column(found[1]), int(found[2]), int(found[4])))


def _column(letters: str) -> int:
    """Return the column that letters name, from 0."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def _number(text: str) -> int:
    stripped = text.strip()
    return (
        int(stripped)
        if stripped.isascii() and stripped.isdigit() and len(stripped) < _DIGITS
        else 0
    )


def _unescaped(text: str) -> str:
    """Return a text with the line ends and tabs that Excel writes as `_x000D_`."""
    return _ESCAPED.sub(" ", text) if "_x00" in text else text

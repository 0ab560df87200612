"""Tables and columns of PDFs: by the spaces that lines share, and the rules that are drawn."""

from collections.abc import Iterable, Sequence

import pytest

from evidentia.documents.reading import pdf
from evidentia.documents.reading.document import read_document
from evidentia.documents.reading.pdf_lines import PdfLine, Piece, Rule, Rules, join_hyphens
from evidentia.documents.reading.pdf_regions import arrange
from pdf_writing import BOLD, MAPPED, Line, pdf_bytes

HEADER = ("Country", "Days", "Notice")
OMAN = ("Oman", "30", "one month")
FRANCE = ("France", "25", "two months")
QATAR = ("Qatar", "21", "two weeks")
WRITTEN = [
    "Country: Oman | Days: 30 | Notice: one month",
    "Country: France | Days: 25 | Notice: two months",
    "Country: Qatar | Days: 21 | Notice: two weeks",
]
LEFT = (
    "Employees receive fifteen days of leave",
    "per year, and the manager approves each",
    "request in writing, at least two weeks",
    "before the leave begins. Requests that",
    "come later are decided case by case.",
)
RIGHT = (
    "Temporary staff receive ten days, which",
    "are requested one month before, from",
    "the head of the department. A request",
    "is answered within five working days,",
    "and no answer counts as an approval.",
)


def cells(rows: Iterable[Sequence[str]], *, y: float = 600, step: float = 14) -> list[Line]:
    """Return rows of cells, 150 points apart, each as a file writes it: cell by cell."""
    return [
        Line(cell, x=72 + 150 * column, y=y - step * row)
        for row, texts in enumerate(rows)
        for column, cell in enumerate(texts)
        if cell
    ]


def rules(*heights: float, low: float = 70, high: float = 540) -> str:
    """Return the rules of a table in PDF's own operators."""
    return "\n".join(f"{low} {height} m {high} {height} l S" for height in heights)


def read(lines: Sequence[Line], drawn: str = "") -> list[str]:
    """Return the lines of a page that has text above and below what is given."""
    above, below = "The table says what is given.", "Below it, the text goes on as before."
    page = [Line(above, y=700), *lines, Line(below, y=300)]
    data = pdf_bytes([page])
    if drawn:
        data = pdf_bytes([content(data, drawn)])
    first, *found, last = read_document(data, "a.pdf").pages[0].text.split("\n\n")
    assert (first, last) == (above, below)
    return [line for part in found for line in part.split("\n")]


def content(data: bytes, drawn: str) -> str:
    """Return the content of a PDF's page with what is drawn on it."""
    text = data.partition(b"stream\n")[2].rpartition(b"endstream")[0].rpartition(b"stream\n")[2]
    return f"{text.decode('latin-1')}\n{drawn}\n"


# Tables


def test_a_tables_row_is_a_line_with_the_names_of_its_columns() -> None:
    assert read(cells([HEADER, OMAN, FRANCE, QATAR])) == WRITTEN


@pytest.mark.parametrize(
    "drawn",
    [
        rules(612, 595, 550),
        rules(612, 595, 581, 567, 550),
        "70 595 470 1 re f 70 553 470 1 re f",
        "1 0 0 1 70 553 cm 0 0 m 470 0 l 470 56 l 0 56 l h S",
    ],
)
def test_rules_make_a_table_of_two_columns(drawn: str) -> None:
    lines = cells([("Role", "Task"), ("Clerk", "Files"), ("Head", "Signs"), ("Guard", "Watches")])
    assert read(lines)[0] == "Role Task"
    assert read(lines, drawn)[-1] in {"Role: Guard | Task: Watches", "Guard | Watches"}


def test_one_rule_below_the_first_row_makes_it_a_header() -> None:
    rows = [("Role", "Task"), ("Clerk", "Files"), ("Head", "Signs")]
    assert read(cells(rows), rules(612, 595, 565)) == [
        "Role: Clerk | Task: Files",
        "Role: Head | Task: Signs",
    ]
    grid = rules(612, 595, 581, 565)
    assert read(cells(rows), grid) == ["Role | Task", "Clerk | Files", "Head | Signs"]


def test_a_bold_first_row_is_a_header() -> None:
    lines = cells([("Role", "Task"), ("Clerk", "Files"), ("Head", "Signs")])
    bold = [Line(line.text, font=BOLD, x=line.x, y=line.y) for line in lines[:2]]
    grid = rules(612, 595, 581, 565)
    assert read([*bold, *lines[2:]], grid)[0] == "Role: Clerk | Task: Files"
    both = [Line(line.text, font=BOLD, x=line.x, y=line.y) for line in lines[2:4]]
    assert read([*bold, *both, *lines[4:]], grid)[0] == "Role | Task"


def test_cells_of_several_lines_are_put_together_by_rules_or_by_their_place() -> None:
    lines = [
        *cells([("Leave", "Who may take it", "Days")]),
        *cells([("Partner", "The other parent, with-", "30")], y=580),
        *cells([("", "in one year of birth")], y=568),
        *cells([("Carer", "Those who care", "5"), ("Other", "Anyone", "2")], y=550),
    ]
    wanted = [
        "Leave: Partner | Who may take it: The other parent, with- in one year of birth | Days: 30",
        "Leave: Carer | Who may take it: Those who care | Days: 5",
        "Leave: Other | Who may take it: Anyone | Days: 2",
    ]
    assert read(lines) == wanted
    assert read(lines, rules(612, 592, 560, 545, 530)) == wanted


def test_rows_of_one_band_that_are_all_full_are_rows_each() -> None:
    lines = cells([HEADER, OMAN, FRANCE, QATAR, ("Spain", "30", "one week")])
    drawn = rules(612, 595, 567, 540)
    assert read(lines, drawn)[:3] == WRITTEN


def test_a_name_over_two_columns_hides_no_column() -> None:
    over = [Line("Countries of the region", y=614), Line("What is given", x=222, y=614)]
    found = read([*over, *cells([HEADER, OMAN, FRANCE, QATAR])])
    assert found[0] == "Countries of the region | What is given"
    assert found[1:] == WRITTEN


def test_lines_closer_than_rows_go_on_with_the_row_above() -> None:
    lines = [
        *cells([("Town", "Head", "People")]),
        *cells([("Muscat", "Said", "30")], y=576),
        *cells([("and its", "al Balushi")], y=566),
        *cells([("Salalah", "Amal", "25"), ("Sohar", "Huda", "21")], y=542, step=24),
    ]
    assert read(lines)[0] == "Town: Muscat and its | Head: Said al Balushi | People: 30"


def test_numbers_without_names_are_written_row_by_row() -> None:
    assert read(cells([(*OMAN[1:], "x"), ("25", "2", "y"), ("21", "3", "z")])) == [
        "30 | one month | x",
        "25 | 2 | y",
        "21 | 3 | z",
    ]


def test_what_is_not_sure_stays_as_it_came() -> None:
    code = [("day", "=", "x"), ("url", "=", "y"), ("month", "=", "z")]
    assert read(cells(code)) == ["day = x", "url = y", "month = z"]
    assert read(cells([OMAN, FRANCE])) == ["Oman 30 one month", "France 25 two months"]
    formula = [Line("2", 5, x=225 + 150 * at, y=588) for at in range(2)]
    assert "|" not in " ".join(read([*cells([HEADER, OMAN, FRANCE]), *formula], rules(612, 595)))


def test_a_table_of_contents_is_no_table() -> None:
    rows = [("1", f"Leave {'. ' * 20}", "4"), ("2", f"Pay {'. ' * 20}", "5"), ("3", "Rest", "6")]
    assert read(cells(rows))[0].endswith(". 4")


def test_text_below_a_table_is_not_of_it_and_a_closed_last_row_is() -> None:
    lines = [*cells([HEADER, OMAN, FRANCE, QATAR]), Line("Note: all.", y=546)]
    assert read(lines) == [*WRITTEN, "Note: all."]
    assert read(lines, rules(612, 595, 540))[-1] == "Country: Note: all."


def test_names_that_would_fill_the_page_are_not_repeated() -> None:
    long = "a" * 45
    few = [(long, "Days of leave in a year", "Notice in a year"), *[("x", "1", "y")] * 9]
    lines = [
        Line(cell, 5, x=72 + 150 * column, y=600 - 14 * row)
        for row, texts in enumerate(few)
        for column, cell in enumerate(texts)
    ]
    assert read(lines)[1] == "x | 1 | y"
    longer = ("b" * 101, *HEADER[1:])
    lines = [
        Line(cell, 2, x=72 + 150 * column, y=600 - 6 * row)
        for row, texts in enumerate([longer, OMAN, FRANCE])
        for column, cell in enumerate(texts)
    ]
    assert read(lines)[1] == "Oman | 30 | one month"


def test_upright_rules_part_cells_that_are_close() -> None:
    rows = [("Role", "Task"), ("Clerk", "Files"), ("Head", "Signs")]
    lines = [
        Line(cell, x=(72, 105)[column], y=600 - 14 * row)
        for row, texts in enumerate(rows)
        for column, cell in enumerate(texts)
    ]
    wide = cells([("Far", "away")], y=650)
    drawn = rules(612, 595, 565, high=140) + "\n100 560 m 100 612 l S"
    assert read([*wide, *lines], drawn)[1:] == [
        "Role: Clerk | Task: Files",
        "Role: Head | Task: Signs",
    ]


def test_a_table_in_arabic_is_read_from_the_right() -> None:
    rows = [
        ("الدولة", "الأيام", "الإشعار"),
        ("عُمان", "30", "شهر"),
        ("قطر", "21", "يومان"),
        ("مصر", "15", "يوم"),
    ]
    lines = [
        Line(
            cell if cell.isdigit() else cell[::-1],
            font=MAPPED,
            x=400 - 150 * column,
            y=600 - 14 * row,
        )
        for row, texts in enumerate(rows)
        for column, cell in enumerate(texts)
    ]
    found = read_document(pdf_bytes([lines]), "a.pdf").pages[0].text.split("\n")
    assert [line.count(" | ") for line in found] == [2, 2, 2]
    assert found[1].startswith("الدولة: قطر | الأيام: ")


# Columns


def side_by_side(gap: float = 0.0) -> list[Line]:
    """Return two columns as a file may write them: line by line over both."""
    return [
        line
        for at, (left, right) in enumerate(zip(LEFT, RIGHT, strict=True))
        for line in (Line(left, y=600 - 12 * at), Line(right, x=320, y=600 - 12 * at - gap))
    ]


@pytest.mark.parametrize("gap", [0.0, 4.0])
def test_columns_written_side_by_side_are_read_one_after_the_other(gap: float) -> None:
    lines = side_by_side(gap)
    lines[0] = Line(LEFT[0], y=600)
    lines[1] = Line(RIGHT[0], x=320, y=600)
    assert read(lines) == [*LEFT, *RIGHT]


def test_columns_in_their_order_stay_as_they_are() -> None:
    lines = sorted(side_by_side(), key=lambda line: line.x)
    assert read(lines) == [*LEFT, *RIGHT]


def piece(text: str, left: float, y: float, size: float = 10, weight: int = 400) -> Piece:
    return Piece(text, left, left + 5 * len(text), y, size, weight)


def line(*pieces: Piece) -> PdfLine:
    text = " ".join(one.text for one in pieces)
    y = pieces[0].y
    return PdfLine(text, 10, 400, y, y, pieces[0].left, pieces)


def test_a_word_hyphenated_in_a_column_goes_on_in_that_column() -> None:
    lines = [
        line(piece(left, 72, 600 - 12 * at), piece(right, 320, 600 - 12 * at))
        for at, (left, right) in enumerate(zip(LEFT, RIGHT, strict=True))
    ]
    hyphened = line(piece("A word that is hyphen\ufffe", 72, 540), piece("Right.", 320, 540))
    lines += [hyphened, line(piece("ated here.", 72, 528))]
    found = arrange(lines, Rules())
    assert [one.text for one in found][5] == "A word that is hyphenated here."
    assert found[5].last_y == 528
    assert join_hyphens("Franco\ufffeGerman") == "Franco-German"


def test_four_columns_of_words_are_no_columns_of_text() -> None:
    rows = [
        line(
            *(piece("words that go on and on", left, 600 - 12 * at) for left in (0, 130, 260, 390))
        )
        for at in range(6)
    ]
    assert arrange(rows, Rules()) == rows


def test_a_line_of_very_many_pieces_and_one_far_below_end_a_region() -> None:
    many = line(*(piece("1", 20 * at, 612) for at in range(50)))
    rows = [
        line(*(piece(cell, 150 * at, y) for at, cell in enumerate(row)))
        for y, row in ((600, HEADER), (588, OMAN), (576, FRANCE))
    ]
    far = line(piece("a", 0, 100), piece("b", 150, 100), piece("c", 300, 100))
    higher = line(piece("a", 0, 700), piece("b", 150, 700))
    found = arrange([many, *rows, far, higher], Rules())
    assert [one.row for one in found] == [False, True, True, False, False]


def test_a_long_part_that_is_no_table_is_passed_over_at_once() -> None:
    rows = [
        line(piece("key", 0, 900 - 12 * at), piece("word", 150, 900 - 12 * at)) for at in range(70)
    ]
    assert arrange(rows, Rules()) == rows


def test_short_rules_part_no_rows() -> None:
    rows = [line(piece("Role", 0, y), piece("Task of the role", 100, y)) for y in (600, 588, 576)]
    short = Rules(tuple(Rule(at, 0, 20) for at in (610, 594, 582, 570)))
    assert arrange(rows, short) == rows
    parts = Rules(tuple(Rule(at, low, low + 90) for at in (610, 594, 570) for low in (0, 90)))
    assert all(one.row for one in arrange(rows, parts))


def test_in_very_long_files_tables_are_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "MAX_TABLE_PAGES", 1)
    page = cells([HEADER, OMAN, FRANCE, QATAR])
    document = read_document(pdf_bytes([page, [Line("Another page.")]]), "a.pdf")
    assert document.pages[0].text.startswith("Country Days Notice\n")
    assert document.warnings[0].startswith("tables and columns are read line by line, for it has")


def test_a_row_alone_is_no_table_and_columns_that_begin_level_keep_their_order() -> None:
    row = line(piece("Role", 0, 600), piece("Task", 150, 600))
    beside = line(piece("Level", 300, 600))
    assert arrange([row, beside], Rules()) == [row, beside]
    goes_on = line(piece("of the role", 150, 588))
    assert arrange([row, goes_on], Rules()) == [row, goes_on]
    columns = [
        line(piece(LEFT[0], 72, 600), piece(RIGHT[0], 320, 600)),
        *(line(piece(text, 72, 588 - 12 * at)) for at, text in enumerate(LEFT[1:])),
        *(line(piece(text, 320, 588 - 12 * at)) for at, text in enumerate(RIGHT[1:])),
    ]
    assert arrange(columns, Rules()) == columns

"""Where texts stand on a page: surely, or not at all."""

import unicodedata

import pytest

from evidentia.documents.placing import (
    NOT_FOUND,
    NOTHING,
    Glyph,
    Placed,
    Rectangle,
    Word,
    place,
    words,
)

WIDE, HIGH = 6.0, 10.0


def page(*lines: str, column: float = 0.0) -> list[Glyph]:
    """Return the letters of lines, one below the other, as PDFium gives them."""
    return [glyph for row, text in enumerate(lines) for glyph in line(text, column, row)]


def line(text: str, column: float = 0.0, row: int = 0) -> list[Glyph]:
    """Return the letters of one line, with its end."""
    top = row * 12.0
    glyphs = []
    for at, letter in enumerate(text):
        left = column + at * WIDE
        glyphs.append(Glyph(letter, Rectangle(left, top, left + WIDE, top + HIGH)))
    end = Rectangle(column + len(text) * WIDE, top, column + len(text) * WIDE, top + HIGH)
    return [*glyphs, Glyph("\r", end), Glyph("\n", end)]


def placed(glyphs: list[Glyph], text: str, part: str | None = None, *, nth: int = 0) -> Placed:
    """Return where a part of a text stands, the nth that reads so."""
    sought = text if part is None else part
    at = -1
    for _ in range(nth + 1):
        at = text.index(sought, at + 1)
    (found,) = place(glyphs, text, [(at, at + len(sought))])
    return found


def shown(glyphs: list[Glyph], found: Placed) -> str:
    """Return the letters that stand within rectangles."""
    assert found.reason is None
    return "".join(
        glyph.text
        for glyph in glyphs
        if glyph.text.strip()
        and any(
            one.left <= glyph.place.left
            and glyph.place.right <= one.right
            and one.top <= glyph.place.top
            and glyph.place.bottom <= one.bottom
            for one in found.rectangles
        )
    )


def test_a_line_has_one_rectangle_around_its_letters() -> None:
    glyphs = page("Notice is given.", "Leave is 15 days.")
    found = placed(glyphs, "Notice is given.\nLeave is 15 days.", "Leave is 15 days.")
    assert found == Placed((Rectangle(0, 12, 17 * WIDE, 12 + HIGH),))


def test_a_passage_over_several_lines_has_one_for_each() -> None:
    glyphs = page("All employees shall receive", "fifteen days of leave", "in each year.")
    text = "All employees shall receive\nfifteen days of leave\nin each year."
    found = placed(glyphs, text, "shall receive\nfifteen days of leave\nin each")
    assert len(found.rectangles) == 3
    assert shown(glyphs, found) == "shallreceivefifteendaysofleaveineach"


@pytest.mark.parametrize(
    ("drawn", "text"),
    [
        (("It is highly recom-", "mended to all"), "It is highly recommended to all"),
        (("It is highly recom\ufffe", "mended to all"), "It is highly recommended to all"),
        (("the ﬁrst oﬃce ﬂat",), "the first office flat"),
        (("the first office flat",), "the ﬁrst oﬃce ﬂat"),
        (("no  wide   gaps here",), "no wide gaps here"),
        (("caf\u0065\u0301 de Paris",), unicodedata.normalize("NFC", "cafe\u0301 de Paris")),
        (("a well-known way",), "a well\u2011known way"),
        (("ﺳﻴﺎﺳﺔ ﺍﻹﺟﺎﺯﺍﺕ",), "سياسة الإجازات"),
        (("يحق للموظفيـــن",), "يحق للموظفين"),
        (("عُمان بلد جميل",), "عمان بلد جميل"),
    ],
    ids=[
        "hyphen",
        "PDFium's hyphen",
        "ligatures drawn",
        "ligatures read",
        "spaces",
        "accents",
        "hyphens of two kinds",
        "Arabic forms",
        "Arabic stretched",
        "Arabic marks",
    ],
)
def test_the_same_letters_are_found_however_they_are_written(
    drawn: tuple[str, ...], text: str
) -> None:
    glyphs = page(*drawn)
    found = placed(glyphs, text)
    assert found.reason is None
    assert len(found.rectangles) == len(drawn)


def test_lam_and_alef_of_one_glyph_are_found_though_they_were_turned() -> None:
    one = Rectangle(0, 0, WIDE, HIGH)
    glyphs = [Glyph("\u0627", one), Glyph("\u0644", one), *line("سلام على الجميع", WIDE)]
    found = placed(glyphs, "لاسلام على الجميع")
    assert found.rectangles[0].left == 0


def test_columns_are_found_in_the_order_they_are_read_in() -> None:
    rows = [("Left one goes first", "Right one begins"), ("left two comes next", "right two ends")]
    glyphs = [
        glyph
        for row, (left, right) in enumerate(rows)
        for glyph in line(left, 0, row)[:-2] + line(" " + right, 200, row)
    ]
    text = "Left one goes first\nleft two comes next\nRight one begins\nright two ends"
    found = placed(glyphs, text, "left two comes next\nRight one begins")
    assert [one.left for one in found.rectangles] == [0, 200 + WIDE]
    assert [one.top for one in found.rectangles] == [12, 0]


def test_a_row_of_a_table_is_found_without_the_names_of_its_columns() -> None:
    glyphs = [
        glyph
        for row, cells in enumerate([("Country", "Days"), ("Oman", "30"), ("France", "25")])
        for at, cell in enumerate(cells)
        for glyph in line(cell, at * 100.0, row)[: -2 if at == 0 else None]
    ]
    text = "Country: Oman | Days: 30\nCountry: France | Days: 25"
    found = placed(glyphs, text, "Country: France | Days: 25")
    assert shown(glyphs, found) == "France25"
    assert len(found.rectangles) == 2


def test_cells_without_a_name_are_found_as_they_are() -> None:
    glyphs = page("Sultanate of Oman 30 days")
    found = placed(glyphs, "Sultanate of Oman | 30 days")
    assert shown(glyphs, found) == "SultanateofOman30days"


def test_what_stands_there_twice_is_found_by_its_neighbours() -> None:
    glyphs = page(
        "First comes this line.", "Done.", "Then comes that line.", "Done.", "The end is."
    )
    text = "First comes this line.\nDone.\nThen comes that line.\nDone.\nThe end is."
    tops = [placed(glyphs, text, "Done.", nth=nth).rectangles[0].top for nth in (0, 1)]
    assert tops == [12, 36]


def test_what_stands_before_another_is_found_by_it() -> None:
    glyphs = page("no letters of the text", "Done.", "unrelated words", "Done.", "The very end is.")
    found = placed(glyphs, "Done.\nThe very end is.", "Done.")
    assert found.rectangles[0].top == 36


def test_what_stands_as_often_in_the_text_is_found_in_its_order() -> None:
    glyphs = page("yes", "something else", "yes", "quite another thing", "yes")
    text = "yes\nyes\nyes"
    tops = [placed(glyphs, text, "yes", nth=nth).rectangles[0].top for nth in range(3)]
    assert tops == [0, 24, 48]


def test_what_stands_more_often_than_the_text_has_it_has_no_place() -> None:
    glyphs = page("yes", "something else", "yes", "quite another thing", "yes")
    assert placed(glyphs, "yes\nyes", "yes") == Placed(reason=NOT_FOUND)


def test_what_the_text_has_twice_and_the_page_once_has_no_place() -> None:
    glyphs = page("Signed by the director.", "something else")
    text = "Signed by the director.\nnot there\nSigned by the director."
    assert placed(glyphs, text, "Signed by the director.") == Placed(reason=NOT_FOUND)


def test_a_word_is_not_found_within_others() -> None:
    glyphs = page("yesterday", "yes", "eyes")
    assert placed(glyphs, "yes").rectangles[0].top == 12


def test_a_line_of_which_some_words_are_elsewhere_is_found_in_parts() -> None:
    glyphs = page("The notice period of", "an unrelated remark", "each employee is a month")
    found = placed(glyphs, "The notice period of each employee is a month")
    assert shown(glyphs, found) == "Thenoticeperiodofeachemployeeisamonth"


def test_a_text_of_which_too_little_is_there_has_no_place() -> None:
    glyphs = page("The notice period of", "an unrelated remark")
    found = placed(glyphs, "The notice period of each employee is a month, as they say")
    assert found == Placed(reason=NOT_FOUND)


@pytest.mark.parametrize("glyphs", [[], page("Nothing of it.")])
def test_a_text_that_is_not_there_has_no_place(glyphs: list[Glyph]) -> None:
    assert placed(glyphs, "Quite another text stands here") == Placed(reason=NOT_FOUND)


def test_a_part_without_letters_has_no_place() -> None:
    glyphs = page("One two three four")
    assert place(glyphs, "One two three four", [(3, 4)]) == (Placed(reason=NOTHING),)
    assert place(glyphs, "---\nOne two three four", [(0, 3)]) == (Placed(reason=NOTHING),)


def test_words_are_parted_by_spaces_lines_and_wide_gaps() -> None:
    glyphs = [*line("Left  one")[:-2], *line("far", 200), *line("next", row=1)]
    assert [one.text for one in words(glyphs)] == ["Left", "one", "far", "next"]
    assert words(glyphs)[0] == Word("Left", Rectangle(0, 0, 4 * WIDE, HIGH))
    assert words([]) == []


def test_a_capital_of_three_lines_takes_no_other_lines_in() -> None:
    capital = Glyph("A", Rectangle(0, 0, 20, 34))
    glyphs = [capital, *line("nd so it begins", 20), *line("with other words", 20, 1)]
    found = placed(glyphs, "And so it begins\nwith other words", "And so it begins")
    assert found.rectangles == (capital.place, Rectangle(20, 0, 20 + 15 * WIDE, HIGH))


def test_on_a_page_that_is_seen_turned_lines_go_down() -> None:
    def turned(place: Rectangle) -> Rectangle:
        return Rectangle(place.top, place.left, place.bottom, place.right)

    upright = page("Notice is given.", "Leave is 15 days.")
    glyphs = [Glyph(text, turned(where)) for text, where in upright]
    found = placed(glyphs, "Notice is given.\nLeave is 15 days.", "Leave is 15 days.")
    assert found == Placed((Rectangle(12, 0, 12 + HIGH, 17 * WIDE),))
    assert words(glyphs)[0] == Word("Notice", Rectangle(0, 0, HIGH, 6 * WIDE))


def test_a_place_in_points_is_a_share_of_the_page() -> None:
    assert Rectangle(-1, 10, 50, 300).of_page(100, 200) == Rectangle(0, 0.05, 0.5, 1)

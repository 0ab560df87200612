import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiers
from evidentia.language.markup import cell_spans, comments, masked, one_line, plain_text, trimmed


@tiers.one_test
@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("**15** _days_ of `annual` ~~paid~~ leave", "15 days of annual paid leave"),
        (
            "[annual leave](https://x.example 'a') ![chart](a.png) here",
            "[annual leave](https://x.example 'a') chart here",
        ),
        ('[annual leave](https://x.example "a") here', "annual leave here"),
        ("a <!-- hidden --> word", "a word"),
        ("a <b class='x' id=\"y\" z=1>bold</b><br/>word", "a bold word"),
        ("if a <b and c> d", "if a <b and c> d"),
        ("15&nbsp;days &amp; nights", "15 days & nights"),
        ("emplo\u200byees \u202eget\u202c le\u00adave", "employees get leave"),
        (
            "a\u200db \u0645\u06cc\u200c\u0634\u0648\u062f",
            "ab \u0645\u06cc\u200c\u0634\u0648\u062f",
        ),
        ("HR_Policy_2024 and 2 * 3 * 4", "HR_Policy_2024 and 2 * 3 * 4"),
        ("a quote\n> goes on\n> here", "a quote goes on here"),
        (r"\*not bold\* \[x\]", "*not bold* [x]"),
        ("a <b>word</b> .", "a word."),
        ("one\n two\t three", "one two three"),
    ],
)
def test_plain_text_is_what_a_reader_sees(text: str, plain: str) -> None:
    assert plain_text(text) == plain


def test_a_quote_within_a_sentence_has_no_line_breaks() -> None:
    assert one_line(" **15** days\n of\tleave ") == "**15** days of leave"


@given(st.text())
def test_masking_keeps_every_place(text: str) -> None:
    hidden = masked(text)
    assert len(hidden) == len(text)
    assert all(after in (before, " ") for before, after in zip(text, hidden, strict=True))
    assert hidden.count("\n") == text.count("\n")


def test_a_comment_that_is_never_closed_hides_nothing() -> None:
    assert list(comments("a <!-- b --> c <!-- d")) == [(2, 12)]
    assert masked("> a <!-- b\nc --> <br>d <!-- e") == "  a       \n          d <!-- e"


@given(st.text(alphabet="ab |\\ \t"))
def test_cells_are_slices_without_the_space_around_them(row: str) -> None:
    for start, end in cell_spans(row):
        assert 0 <= start <= end <= len(row)
        assert row[start:end].strip() == row[start:end]


def test_trimming_leaves_an_empty_span_of_space() -> None:
    assert trimmed("  a ", 0, 4) == (2, 3)
    assert trimmed("    ", 1, 3) == (3, 3)

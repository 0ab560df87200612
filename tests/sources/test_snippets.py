import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidentia.language.graphemes import boundary_before
from evidentia.sources.snippets import beginning, best_windows, query_terms

POLICY = (
    "Parking is free for all. Annual leave is 15 days.\nUnused leave may be carried over.\n\n"
    "Travel is booked by the office. Sick leave is 10 days."
)
TEXTS = st.text(st.sampled_from("ab. \n\tß漢字é\u0301👨\u200d👩لا-1"), max_size=120)


def test_the_beginning_is_the_text_as_it_is() -> None:
    assert beginning("  Leave\nis paid. ", 100).shown == "Leave\nis paid."
    assert beginning("Leave is paid.", 5).shown == "Leave"
    assert beginning("Leave is paid.", 6).shown == "Leave"
    assert beginning("e\u0301e\u0301", 3).shown == "e\u0301"
    assert beginning("", 5).shown == ""


def test_words_that_tell_nothing_are_no_terms_unless_there_are_no_others() -> None:
    assert query_terms("What is the annual leave of employees?") == {"annual", "leave", "employee"}
    assert query_terms("What is it?") == {"what", "is", "it"}
    assert query_terms("  ") == frozenset()
    assert query_terms("كم عدد الأيام") == {"عدد", "ايام"}


@pytest.mark.parametrize(
    ("query", "limit", "shown"),
    [
        ("sick days", 30, "Sick leave is 10 days."),
        ("sick days", 60, "Travel is booked by the office. Sick leave is 10 days."),
        (
            "annual leave carried over",
            70,
            "Annual leave is 15 days. Unused leave may be carried over.",
        ),
        ("nothing of it", 24, "Parking is free for all."),
        ("nothing of it", 12, "Parking is"),
    ],
)
def test_the_sentences_that_answer_a_query_are_shown(query: str, limit: int, shown: str) -> None:
    (window,) = best_windows(POLICY, query_terms(query), limit, 1)
    assert window.shown == shown


def test_a_sentence_that_is_too_long_is_cut_around_its_matches() -> None:
    text = "word " * 50 + "the annual leave is paid " + "word " * 50
    (window,) = best_windows(text, query_terms("annual leave"), 40, 1)
    assert "annual leave" in window.shown
    assert len(window.shown) <= 40
    assert text[window.start : window.end] == window.shown
    (window,) = best_windows("word " * 50 + " \u0301 leave", query_terms("leave"), 8, 1)
    assert window.shown == "\u0301 leave"
    (window,) = best_windows("x" * 100 + "leave" + "y" * 100, frozenset({"zzz"}), 40, 1)
    assert window.shown == "x" * 40


def test_white_space_around_is_not_shown() -> None:
    (window,) = best_windows("  Parking is free  \n", frozenset({"zzz"}), 99, 1)
    assert (window.start, window.end, window.shown) == (2, 17, "Parking is free")
    (window,) = best_windows("  \n ", frozenset({"zzz"}), 99, 1)
    assert (window.start, window.end, window.shown) == (0, 0, "")


def test_matches_are_words_of_the_query_in_any_form() -> None:
    (window,) = best_windows(
        "Employees\u2019 policies: 15% of DAYS.", query_terms("policy day 15%"), 99, 1
    )
    found = [window.shown[low:high] for low, high in window.matches]
    assert found == ["policies", "15%", "DAYS"]


def test_matches_in_a_script_without_spaces_are_parts_of_a_run() -> None:
    (window,) = best_windows("員工享有十五天年假。", query_terms("年假 十五天"), 99, 1)
    assert [window.shown[low:high] for low, high in window.matches] == ["十五天", "年假"]


def test_several_windows_do_not_overlap() -> None:
    windows = best_windows(POLICY, query_terms("leave days"), 30, 5)
    spans = sorted((window.start, window.end) for window in windows)
    assert len(spans) == 3
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


@given(TEXTS, TEXTS, st.integers(1, 40), st.integers(1, 3))
def test_a_window_is_its_place_in_the_text_with_white_space_collapsed(
    text: str, query: str, limit: int, count: int
) -> None:
    terms = query_terms(query)
    windows = best_windows(text, terms, limit, count)
    assert 1 <= len(windows) <= count
    for window in windows:
        assert len(window.shown) <= limit
        assert window.shown == window.shown.strip()
        assert re.sub(r"\s+", " ", text[window.start : window.end]).strip() == window.shown
        assert all(0 <= low < high <= len(window.shown) for low, high in window.matches)


@given(TEXTS, st.integers(0, 40))
def test_a_beginning_ends_between_characters(text: str, limit: int) -> None:
    window = beginning(text, limit)
    assert text[window.start : window.end] == window.shown
    assert len(window.shown) <= limit
    cut = window.start + limit
    if window.shown and len(text) > cut:
        assert window.end <= boundary_before(text, cut)

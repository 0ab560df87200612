"""Answers that are given, many at once: values or lines, each read or refused by itself."""

import json
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidentia.ledger.answers import (
    GivenAnswer,
    UnreadAnswer,
    answers_in_lines,
    given_answers,
)


def lines(*values: object) -> bytes:
    return "".join(f"{json.dumps(value)}\n" for value in values).encode()


def problems(found: Iterable[GivenAnswer | UnreadAnswer]) -> list[tuple[int, str]]:
    return [(one.number, one.problem) for one in found if isinstance(one, UnreadAnswer)]


def test_an_answer_is_a_text_or_has_fields() -> None:
    whole = {
        "id": "a",
        "answer": "It is so.",
        "query": "Is it?",
        "title": "So",
        "against": ["docs", "more.md"],
        "contexts": [{"text": "x"}],
        "model": "any other key is let be",
    }
    assert list(given_answers(["It is so.", whole, {"answer": "b", "against": "docs"}])) == [
        GivenAnswer(1, "It is so."),
        GivenAnswer(
            2, "It is so.", "a", "Is it?", "So", ("docs", "more.md"), contexts=[{"text": "x"}]
        ),
        GivenAnswer(3, "b", against=("docs",)),
    ]


def test_what_was_read_before_is_taken_as_it_is() -> None:
    found = [GivenAnswer(7, "x"), UnreadAnswer(9, "not JSON")]
    assert list(given_answers(found)) == found


def test_lines_are_numbered_as_an_editor_does_and_empty_ones_left_out() -> None:
    data = b"\xef\xbb\xbf" + lines({"answer": "a"}) + b"\r\n  \n" + lines({"answer": "b", "id": 4})
    assert list(answers_in_lines(data)) == [GivenAnswer(1, "a"), GivenAnswer(4, "b", "4")]
    assert list(answers_in_lines(b"")) == []


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"{", "not JSON: Expecting property name enclosed in double quotes at character 2"),
        (b"\xff", "not UTF-8 text"),
        (b"[" * 100_000, "not JSON that can be read: too deep, or a number too long"),
        (b"1" * 5_000, "not JSON that can be read: too deep, or a number too long"),
        (b"[1]", 'not a JSON object: each line is {"answer": \u2026}'),
        (b'"text"', 'not a JSON object: each line is {"answer": \u2026}'),
        (b"{}", "it has no 'answer'"),
        (b'{"anwser": "x", "id": 1}', "it has no 'answer', but 'anwser', 'id'"),
        (b'{"answer": 1}', "its answer is not text"),
        (b'{"answer": "x", "query": 1}', "its query is not text"),
        (b'{"answer": "x", "title": []}', "its title is not text"),
        (b'{"answer": "x", "id": true}', "its id is neither text nor a number"),
        (rb'{"answer": "x", "id": "\ud800"}', "its id is not text"),
        (rb'{"answer": "x", "title": "a\u0000"}', "its title is not text"),
        (b'{"answer": "x", "id": {}}', "its id is neither text nor a number"),
        (b'{"answer": "x", "against": []}', "against is neither a path nor a list of paths"),
        (b'{"answer": "x", "against": [1]}', "against is neither a path nor a list of paths"),
        (b'{"answer": "x", "against": 1}', "against is neither a path nor a list of paths"),
    ],
)
def test_a_line_that_is_no_answer_is_told_by_its_number_and_stops_no_other(
    line: bytes, problem: str
) -> None:
    found = list(answers_in_lines(lines({"answer": "a"}) + line + b"\n" + lines({"answer": "b"})))
    assert problems(found) == [(2, problem)]
    assert [one.number for one in found] == [1, 2, 3]


def test_a_value_that_is_no_answer_is_told_too() -> None:
    assert problems(given_answers([None, 3])) == [
        (1, "neither text nor an object, but NoneType"),
        (2, "neither text nor an object, but int"),
    ]


def test_an_id_is_given_once() -> None:
    data = lines({"answer": "a", "id": "x"}, {"answer": "b", "id": "x"}, {"answer": "c"})
    assert problems(answers_in_lines(data)) == [
        (2, "its id 'x' is that of answer 1: give it another")
    ]


@given(st.lists(st.binary(max_size=40)))
def test_any_bytes_are_read_or_refused_line_by_line(found: list[bytes]) -> None:
    data = b"\n".join(found)
    numbers = [one.number for one in answers_in_lines(data)]
    assert numbers == sorted(set(numbers))
    assert len(numbers) <= data.count(b"\n") + 1

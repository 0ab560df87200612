"""Server-sent events cut into whole ones, and an answer gathered of them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidentia.ledger.wire import events
from evidentia.ledger.wire.events import (
    EventCutter,
    as_event,
    event_data,
    whole_characters,
)
from evidentia.ledger.wire.gathering import GatheredAnswer, next_piece, whole_until


def cut(pieces: list[Any]) -> tuple[list[Any], Any]:
    cutter = EventCutter(pieces[0][:0])
    found = [event for piece in pieces for event in cutter.cut(piece)]
    return found, cutter.rest()


@pytest.mark.parametrize("end", ["\n\n", "\r\n\r\n", "\r\r"])
def test_events_are_cut_at_blank_lines_wherever_pieces_end(end: str) -> None:
    whole = f"data: é{end}event: x\ndata: 2{end}data: half"
    for text in (whole, whole.encode()):
        for size in range(1, len(text) + 1):
            pieces = [text[at : at + size] for at in range(0, len(text), size)]
            found, rest = cut(pieces)
            assert text[:0].join([*found, rest]) == text
            assert [event_data(one) for one in found if event_data(one) is not None] == [2], size


@given(st.lists(st.text(alphabet="a\r\n:", min_size=1, max_size=8), min_size=1, max_size=12))
def test_whatever_is_cut_comes_out_whole(pieces: list[str]) -> None:
    found, rest = cut(pieces)
    assert "".join([*found, rest]) == "".join(pieces)


def test_an_event_without_an_end_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "LARGEST_EVENT", 10)
    assert cut(["data: 123456789"]) == (["data: 123456789"], "")


@pytest.mark.parametrize(
    ("event", "data"),
    [
        ('data: {"a":1}\n\n', {"a": 1}),
        (b'data:{"a":1}\n\n', {"a": 1}),
        ('event: x\r\ndata: {"a":\r\ndata: 1}\r\n\r\n', {"a": 1}),
        ('\ufeffdata: {"a":1}\n\n', {"a": 1}),
        ("data: [DONE]\n\n", "[DONE]"),
        (": a comment\n\n", None),
        ("data: no json\n\n", None),
        (f"data: {'[' * 100_000}\n\n", None),
        (b"data: \xff\n\n", None),
    ],
)
def test_an_event_gives_its_json(event: str | bytes, data: Any) -> None:
    assert event_data(event) == data


@given(st.text(max_size=20))
def test_an_event_that_is_written_is_one_line_that_reads_the_same(text: str) -> None:
    written = as_event({"a": text}, "x")
    assert event_data(written) == {"a": text}
    assert not {"\n", "\r"} & set(written.split("\n", 1)[1][:-2])


def test_halves_of_a_character_are_joined_and_a_half_alone_is_replaced() -> None:
    assert whole_characters("a") == "a"
    assert whole_characters("a\ud83d\ude00") == "a😀"
    assert whole_characters("\ud83d!") == "\ufffd!"
    assert json.loads(as_event({"a": "\ud83d"})[6:]) == {"a": "\ufffd"}


def test_an_answer_says_when_a_sentence_may_be_whole() -> None:
    answer = GatheredAnswer()
    pieces = ["\n\n", "", "Leave is ", "15 days.", " Half", " days", "\n\n", "\n\n", "are"]
    assert [answer.add(piece) for piece in pieces] == [
        False, False, False, True, True, False, True, False, True
    ]  # fmt: skip
    assert answer.text == "Leave is 15 days. Half days\n\nare"


@pytest.mark.parametrize(
    ("text", "done", "piece"),
    [
        ("Leave is 15 days.", 0, (0, "")),
        ("Leave is 15 days. Half", 0, (0, "Leave is 15 days. ")),
        ("Leave is 15 days. Half", 18, (18, "")),
        ("One is. Two are. Three", 8, (0, "One is. Two are. ")),
        ("One is.\n\nTwo are. Three", 9, (9, "Two are. ")),
        ("One is.\n\n", 0, (0, "One is.\n\n")),
        ("", 0, (0, "")),
    ],
)
def test_a_piece_to_judge_begins_with_its_paragraph_and_ends_with_a_sentence(
    text: str, done: int, piece: tuple[int, str]
) -> None:
    assert next_piece(text, done) == piece
    assert whole_until(text) <= len(text)

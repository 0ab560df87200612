"""What pages are made of, as values: rows that are wanted, the answer in pieces, pairs, charts."""

from collections import Counter
from typing import Any

import pytest

from evidentia.ledger.model import Claim, LedgerEntry
from evidentia.ledger.pages import JudgedClaim
from evidentia.server.pages.compare_claims import differing, paired
from evidentia.server.pages.ledger_rows import Piece, Row, Wanted, answer_pieces
from evidentia.server.pages.start_charts import drawn
from evidentia.store.sql.statistics import DayOfLedgers


def entry(text: str = "It is so.", verdict: str = "supported", **more: Any) -> LedgerEntry:
    return LedgerEntry.model_validate(
        {
            "id": "ent_1",
            "claim_id": "clm_1",
            "claim_text": text,
            "claim_type": "fact",
            "claim_importance": "material",
            "verdict": verdict,
            "confidence_score": 0.5,
        }
        | more
    )


def judged(text: str, start: int = 0, **more: Any) -> JudgedClaim:
    claim = Claim(id="clm_1", text=text, start=start, end=start + len(text), source_text=text)
    return JudgedClaim(claim=claim, entry=entry(text, **more))


# Rows

CLAIMS = [
    judged("Leave has 15 days.", verdict="supported", confidence_score=0.9, claim_type="numeric"),
    judged("It is paid.", verdict="weak", confidence_score=0.6, claim_importance="critical"),
    judged("It is short.", verdict="contradicted", confidence_score=0.7, notes="See LEAVE."),
    judged("It ends.", verdict="not_found", confidence_score=0.0),
]


@pytest.mark.parametrize(
    ("wanted", "numbers"),
    [
        (Wanted(), [1, 2, 3, 4]),
        (Wanted(falling=True), [4, 3, 2, 1]),
        (Wanted(verdict="weak"), [2]),
        (Wanted(type="numeric"), [1]),
        (Wanted(importance="critical"), [2]),
        (Wanted(text="leave"), [1, 3]),
        (Wanted(text="IS  it"), [2, 3]),
        (Wanted(text="nowhere"), []),
        (Wanted(sort="confidence"), [4, 2, 3, 1]),
        (Wanted(sort="confidence", falling=True), [1, 3, 2, 4]),
        (Wanted(sort="verdict"), [3, 4, 2, 1]),
        (Wanted(sort="type"), [2, 3, 4, 1]),
    ],
)
def test_rows_are_filtered_sorted_and_keep_their_numbers(
    wanted: Wanted, numbers: list[int]
) -> None:
    assert [row.number for row in wanted.of(CLAIMS)] == numbers


# The answer in pieces


def rows(*claims: tuple[str, int, str]) -> list[Row]:
    return [
        Row(number, judged(text, start, verdict=verdict))
        for number, (text, start, verdict) in enumerate(claims, 1)
    ]


def test_an_answer_is_cut_at_its_claims() -> None:
    answer = "Hello. It is so. But why? It ends."
    found = answer_pieces(
        rows(("It is so.", 7, "supported"), ("It ends.", 26, "weak")), answer, 0, len(answer)
    )
    assert found == [
        Piece("Hello. "),
        Piece("It is so.", (1,), "supported"),
        Piece(" But why? "),
        Piece("It ends.", (2,), "weak"),
    ]
    assert "".join(piece.text for piece in found) == answer


def test_claims_of_the_same_words_are_one_piece_with_the_worse_verdict() -> None:
    answer = "It is so and it ends. Bye."
    found = answer_pieces(
        rows(("It is so and it ends.", 0, "supported"), ("it ends. Bye.", 13, "contradicted")),
        answer,
        0,
        len(answer),
    )
    assert found == [Piece(answer, (1, 2), "contradicted")]


def test_without_the_answer_what_stands_between_claims_is_marked() -> None:
    some = rows(("A is.", 10, "weak"), ("B is.", 16, "weak"), ("C is.", 90, "weak"))
    found = answer_pieces(some, None, 10, 10)
    assert [piece.text for piece in found] == ["A is.", " ", "B is.", " … ", "C is."]


# Two ledgers


def changes(before: list[LedgerEntry], after: list[LedgerEntry]) -> list[tuple[Any, ...]]:
    return [
        (
            one.change,
            one.before.number if one.before else None,
            one.after.number if one.after else None,
        )
        for one in paired(before, after)
    ]


def test_claims_stay_come_go_and_change() -> None:
    before = [
        entry("Leave has 15 days."),
        entry("It is paid in full."),
        entry("Taxis are free for all."),
        entry("It ends in May."),
    ]
    after = [
        entry("Leave  has 15 DAYS."),
        entry("It ends in May.", "contradicted"),
        entry("It is paid in part."),
        entry("Lunch costs nothing here."),
    ]
    assert changes(before, after) == [
        ("same", 1, 1),
        ("verdict", 4, 2),
        ("words", 2, 3),
        ("went", 3, None),
        ("came", None, 4),
    ]


def test_a_claim_that_is_there_twice_is_paired_twice() -> None:
    twice = [entry("It is so."), entry("It is so.")]
    assert changes(twice, twice[:1]) == [("same", 1, 1), ("went", 2, None)]
    assert changes(twice[:1], twice) == [("same", 1, 1), ("came", None, 2)]


def test_ledgers_with_nothing_in_common_and_empty_ones() -> None:
    assert changes([], []) == []
    assert changes([entry("One thing.")], []) == [("went", 1, None)]
    assert changes([], [entry("One thing.")]) == [("came", None, 1)]


def test_long_ledgers_are_compared_near_each_place() -> None:
    before = [entry(f"Room {number} costs {number} euros.") for number in range(700)]
    after = [entry(f"Room {number} costs {number} euros now.") for number in range(700)]
    assert {one.change for one in paired(before, after)} == {"words"}


def test_the_words_that_differ_are_marked() -> None:
    assert differing("It is paid in full.", "It is paid in part.") == (
        [(False, "It is paid in"), (True, "full.")],
        [(False, "It is paid in"), (True, "part.")],
    )
    assert differing("a b", "a b") == ([(False, "a b")], [(False, "a b")])


# Charts


def day(name: str, **claims: int) -> DayOfLedgers:
    return DayOfLedgers(name, 1, Counter(claims))


def test_a_chart_has_a_bar_for_each_day_and_time_goes_as_the_page_is_read() -> None:
    days = [day("2026-03-01", supported=3, contradicted=1), day("2026-03-14", weak=2)]
    chart = drawn(days, "2026-03-14")
    first, last = chart.bars
    assert (chart.first, chart.last, chart.most) == ("2026-03-01", "2026-03-14", 4)
    assert first.x < last.x
    assert [(one.verdict, one.y, one.height) for one in first.parts] == [
        ("supported", 25.0, 75.0),
        ("contradicted", 0.0, 25.0),
    ]
    assert chart.coverage.startswith("M")
    mirrored = drawn(days, "2026-03-14", mirrored=True)
    assert mirrored.bars[0].x > mirrored.bars[1].x


def test_one_day_is_a_dot_and_has_a_fortnight_around_it() -> None:
    chart = drawn([day("2026-03-14", supported=1)], "2026-03-14")
    assert chart.first == "2026-03-01"
    assert chart.coverage.endswith("h0")


def test_a_day_of_answers_without_claims_is_drawn_too() -> None:
    assert drawn([day("2026-03-14")], "2026-03-14").bars[0].parts == ()

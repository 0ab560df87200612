"""What the pages of a pack print."""

# ruff: noqa: RUF001 - digits and letters of Arabic, as they are printed

from typing import Any

import pytest

from evidentia.export.pdf.pack_pages import pages
from evidentia.ledger.model import LedgerSummary
from evidentia.packs.model import DecisionSummary, LedgerReference
from evidentia.proof.succession import Succession
from packs.making import call, decision, full_pack, memo, pack, source


def texts(paragraphs: list[dict[str, Any]]) -> list[tuple[str | None, list[str]]]:
    return [
        (one["heading"] and one["heading"]["t"], [line["t"] for line in one["lines"]])
        for one in paragraphs
    ]


def test_paragraphs_of_a_memo_stand_beside_each_other() -> None:
    made = memo(
        body_ar="القرار\nنوصي بالتواصل.\n\n\nثانيًا.",
        body_en="Decision\nWe recommend it [1].\n \nSecond.\nThird.",
    )
    body = pages(pack(memo=made))["body"]
    assert [texts(pair["en"]) for pair in body] == [
        [("Decision", ["We recommend it [1]."])],
        [(None, ["Second.", "Third."])],
    ]
    assert [texts(pair["ar"]) for pair in body] == [
        [("القرار", ["نوصي بالتواصل."])],
        [(None, ["ثانيًا."])],
    ]


def test_paragraphs_that_do_not_match_stand_together() -> None:
    made = memo(body_ar="واحد.\n\nاثنان.", body_en="One [1].")
    (only,) = pages(pack(memo=made))["body"]
    assert (len(only["ar"]), len(only["en"])) == (2, 1)


@pytest.mark.parametrize(
    "first",
    ["We recommend it.", "word " * 9, "w" * 101, "As follows:"],
)
def test_a_sentence_a_long_line_and_a_lead_in_are_no_headings(first: str) -> None:
    body = pages(pack(memo=memo(body_en=f"{first}\nMore [1].")))["body"]
    assert body[0]["en"][0]["heading"] is None


def test_what_was_not_recorded_is_not_printed() -> None:
    made = pages(pack(decision=None))
    assert made["decided"] is None
    assert made["window"] is None
    assert made["review"]["why"] == "unasked"


def test_the_window_for_fresh_data_is_printed() -> None:
    window = pages(full_pack(data_freshness_window_hours=36))["window"]
    assert window == {"ar": "يوم واحد و١٢ ساعةً", "en": "1 day 12 hours"}


def test_contradictions_and_what_cannot_be_decided_are_told_apart() -> None:
    made = pages(
        pack(
            tool_calls=(
                call(),
                call(actual_action="deleted contact 456"),
                call(intended_action="x", actual_action=""),
            )
        )
    )
    assert [(one["contradicts"], one["kind"]) for one in made["calls"]][:2] == [
        (False, "contradiction"),
        (True, "contradiction"),
    ]
    assert made["calls"][1]["reason"]["t"]
    assert made["calls"][2]["actual"]["t"] == ""


def test_sources_are_numbered_as_the_memo_refers_to_them() -> None:
    made = pages(pack(sources=(source(), source(content_hash=None, confidence=None))))
    assert [one["number"] for one in made["sources"]] == [
        {"ar": "[١]", "en": "[1]"},
        {"ar": "[٢]", "en": "[2]"},
    ]
    assert made["sources"][1]["digest"] is None
    assert made["sources"][1]["confidence"] is None


def test_a_long_row_may_break_over_pages_and_a_short_one_does_not() -> None:
    made = pages(pack(sources=(source(), source(excerpt="x" * 2_000))))
    assert [one["keep"] for one in made["sources"]] == [True, False]
    assert made["compact"]
    assert not pages(pack(entity_id="E" * 1_000, agent_name="A" * 1_000))["compact"]


def test_attachments_are_told_to_be_here_or_not() -> None:
    made = full_pack()
    names = [one.name for one in made.attachments]
    assert pages(made, names)["all_here"]
    assert [one["here"] for one in pages(made)["files"]] == [False] * len(names)


@pytest.mark.parametrize(("approval_class", "state"), [("A0", "not-needed"), ("A3", "pending")])
def test_a_review_is_pending_only_where_one_is_needed(approval_class: str, state: str) -> None:
    told = DecisionSummary.of(decision(approval_class=approval_class))
    assert pages(pack(decision=told))["review"]["state"] == state


def test_counts_of_a_ledger_that_are_none_are_left_out() -> None:
    summary = LedgerSummary.of(()).model_copy(
        update={"by_verdict": {"supported": 3, "weak": "many", "contradicted": 0, "else": 1}}
    )
    told = LedgerReference(ledger_id="led_1", statement_sha256="0" * 64, summary=summary)
    assert [one["verdict"] for one in pages(pack(ledger=told))["ledger"]["counts"]] == ["supported"]


def test_the_cover_names_the_newest_version_of_a_pack_that_is_not_it() -> None:
    at = "2026-03-01T12:00:00.000000Z"
    revised = Succession("pack_1", "pack_2", 2, 4, at, "pack")
    rejected = Succession("pack_2", "pack_3", 3, 5, at, "review", "rejected")
    assert pages(pack())["superseded"] is None
    said = pages(pack(), later=[revised, rejected])["superseded"]
    assert "pack_3" in str(said["id"])
    assert said["state"] == "rejected"
    assert pages(pack(), later=[revised])["superseded"]["state"] is None

"""Values are replaced wherever they stand: across chunks, in tables, in what says whence."""

import json
import re
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

import tiers
from bundles.making import KEY, NOW, inline, lake, result, table
from evidentia.bundles.accounting import Outcome
from evidentia.bundles.building import BuiltBundle, build_bundle
from evidentia.bundles.candidates import Candidate
from evidentia.bundles.loading import CONTEXT, document_candidates, transcript_candidates
from evidentia.bundles.model import EvidenceItem
from evidentia.bundles.policy import EvidencePolicy
from evidentia.bundles.redaction.redactor import Redactor
from evidentia.bundles.references import DocumentReference, TranscriptReference
from evidentia.bundles.rendering import shown_redactions
from evidentia.bundles.tokens import token_counter
from evidentia.documents.chunking import chunk_document
from evidentia.documents.reading.document import read_document

CARD = "4111 1111 1111 1111"
SAID = f"He said {CARD} and no more."


def redacted(*candidates: Candidate, **policy: Any) -> BuiltBundle:
    tokenizer = policy.get("tokenizer")
    return build_bundle(
        candidates,
        EvidencePolicy(enable_redaction=True, **policy),
        created_utc=NOW,
        redactor=Redactor(KEY),
        count_tokens=token_counter(tokenizer) if tokenizer else None,
    )


def check_places(item: EvidenceItem) -> None:
    """Check that what an item says was redacted is where it says."""
    for hit in item.metadata.get("redactions", ()):
        if hit["field"] == "content":
            assert item.content[hit["start"] : hit["end"]] == hit["placeholder"]


@tiers.one_test
@pytest.mark.parametrize("at", range(len(SAID) + 1))
def test_a_value_that_is_cut_in_two_is_replaced_on_both_sides(at: int) -> None:
    left, right = SAID[:at], SAID[at:]
    built = redacted(inline(left, 0, after=right), inline(right, 1, before=left))
    first, second = built.bundle.items
    for item in (first, second):
        check_places(item)
        assert "4111" not in item.content
        assert "1111" not in item.content
    start, end = SAID.index(CARD), SAID.index(CARD) + len(CARD)
    shown = [len(item.metadata.get("redactions", ())) for item in (first, second)]
    assert shown == [int(at > start), int(at < end)]
    whole = first.content + second.content
    assert whole.replace("[CARD_1][CARD_1]", "[CARD_1]") == SAID.replace(CARD, "[CARD_1]")
    assert b"1111" not in built.data


def test_what_stands_around_a_piece_is_no_part_of_it() -> None:
    mail = "anna@example.com"
    built = redacted(inline("plain", before=f"{mail} ", after=f" {mail}"))
    (item,) = built.bundle.items
    assert (item.content, item.metadata) == ("plain", {})
    assert built.bundle.accounting.kept == 1
    assert b"EMAIL" not in built.data


def test_a_card_across_two_chunks_of_a_transcript_is_redacted() -> None:
    said = f"{'word ' * 30}my card is {CARD} ok {'word ' * 30}"
    data = json.dumps([{"text": said}]).encode()
    split = 0
    for size in range(140, 200):
        candidates = transcript_candidates(
            TranscriptReference(lake_uri="talk.json"),
            "talk.json",
            data,
            chunk_size=size,
            chunk_overlap=0,
        )
        split += not any(CARD in one.content for one in candidates)
        built = redacted(*candidates)
        contents = [item.content for item in built.bundle.items]
        assert not [text for text in contents if "1111" in text]
        assert sum("[CARD_1]" in text for text in contents) in (1, 2)
        for item in built.bundle.items:
            check_places(item)
    assert split > 5


def test_a_card_across_two_chunks_of_a_document_is_redacted() -> None:
    text = f"{'word ' * 30}my card is {CARD} ok {'word ' * 30}"
    read = read_document(text.encode(), "a.txt")
    split = 0
    for size in range(140, 200):
        pieces = chunk_document(read, "doc", chunk_size=size, chunk_overlap=0, unit="bytes")
        split += not any(CARD in piece.text for piece in pieces)
        candidates = document_candidates(
            DocumentReference(lake_uri="a.txt"),
            document_id="doc",
            filename="a.txt",
            original={"lake_uri": "a.txt", "sha256": "0" * 64, "byte_count": len(text)},
            pieces=pieces,
            passages=pieces,
            around=[(text[: piece.start], text[piece.end :]) for piece in pieces],
        )
        built = redacted(*candidates)
        contents = [item.content for item in built.bundle.items]
        assert not [text for text in contents if "1111" in text]
        assert sum("[CARD_1]" in text for text in contents) in (1, 2)
        for item in built.bundle.items:
            check_places(item)
    assert split > 5


def test_a_chunk_of_a_transcript_knows_what_stands_around_it() -> None:
    data = json.dumps([{"text": "word " * 4_000}]).encode()
    found = transcript_candidates(
        TranscriptReference(lake_uri="talk.json"),
        "talk.json",
        data,
        chunk_size=1_000,
        chunk_overlap=0,
    )
    assert found[0].before == found[-1].after == ""
    assert len(found[9].before) == len(found[9].after) == CONTEXT
    assert found[9].after.strip().startswith(found[10].content)
    assert found[9].before.strip().endswith(found[8].content)


def test_only_what_an_item_still_shows_is_listed_as_redacted() -> None:
    mails = " ".join(f"anna{number}@example.com" for number in range(20))
    built = redacted(inline(mails), max_item_bytes=55)
    (item,) = built.bundle.items
    check_places(item)
    assert item.content.startswith("[EMAIL_1] [EMAIL_2] ")
    listed = [hit["placeholder"] for hit in item.metadata["redactions"]]
    assert listed == [f"[EMAIL_{number}]" for number in range(1, len(listed) + 1)]
    assert 0 < len(listed) == item.content.count("]") < 20
    assert built.bundle.summary.redactions == {"EMAIL": len(listed)}
    assert built.bundle.accounting.decisions[0].steps[0].reason == "20 EMAIL"


@pytest.mark.parametrize("limits", [{}, {"max_item_bytes": 55}, {"max_items": 2}])
def test_what_is_counted_as_shown_is_what_the_rendered_text_has(limits: dict[str, int]) -> None:
    mails = " ".join(f"anna{number}@example.com" for number in range(9))
    rows = tuple((f"{row}", f"anna{row % 3}@example.com", "x") for row in range(9))
    headings = {"chunk": {"page": 1, "heading_path": ["To anna1@example.com", "anna1@example.com"]}}
    built = redacted(
        inline(mails),
        lake(f"Call +44 0131 315 3300, card {CARD}", metadata=headings),
        lake("Nothing.", metadata={"asked_by": "noor@example.com"}),
        result(replace(table(9), rows=rows), "anna@example.com"),
        **limits,
    )
    shown = sum((Counter(shown_redactions(item)) for item in built.bundle.items), Counter())
    rendered = str(built.bundle.render())
    assert shown == Counter(re.findall(r"\[([A-Z]+)_[0-9]+\]", rendered))
    assert shown["EMAIL"] > 2


@pytest.mark.parametrize("listed", [5, [5], [{"kind": 5, "field": "content"}], [{"kind": "EMAIL"}]])
def test_a_list_of_redactions_that_is_none_counts_nothing(listed: object) -> None:
    (item,) = redacted(lake("text")).bundle.items
    odd = EvidenceItem(**{**item.as_json(), "metadata": {"redactions": listed}})
    assert shown_redactions(odd) == {}


def test_a_placeholder_that_is_cut_in_two_is_not_listed() -> None:
    (item,) = redacted(inline("to anna@example.com"), max_item_bytes=8).bundle.items
    assert item.content == "to [EMAI"
    assert "redactions" not in item.metadata


@pytest.mark.parametrize("limits", [{"max_item_bytes": 500}, {"max_item_tokens": 150}])
def test_in_a_table_places_are_those_of_the_text_that_is_shown(limits: dict[str, int]) -> None:
    rows = tuple((f"{row}", f"anna{row % 7}@example.com", "x") for row in range(60))
    one = result(replace(table(60), rows=rows))
    (item,) = redacted(one, tokenizer="o200k_base", **limits).bundle.items
    check_places(item)
    listed = item.metadata["redactions"]
    assert 0 < len(listed) == item.content.count("[EMAIL_") < 60
    assert [hit["start"] for hit in listed] == sorted(hit["start"] for hit in listed)


def test_a_tables_title_and_columns_are_redacted_and_listed() -> None:
    one = result(replace(table(1), columns=("c0", "omar@example.com", "c2")), "anna@example.com")
    (item,) = redacted(one).bundle.items
    check_places(item)
    content = [hit for hit in item.metadata["redactions"] if hit["field"] == "content"]
    assert len(content) == 2
    assert "@" not in item.content


def test_what_was_redacted_when_a_query_was_run_is_recorded() -> None:
    hit = Redactor(KEY).redact("anna@example.com").redactions[0]
    rows = (("1", "[EMAIL_1]", "x"),)
    one = result(replace(table(1), rows=rows), redacted={hit.placeholder: hit})
    built = redacted(one)
    (item,) = built.bundle.items
    check_places(item)
    (listed,) = item.metadata["redactions"]
    assert (listed["kind"], listed["digest"]) == ("EMAIL", hit.digest)
    (decision,) = built.bundle.accounting.decisions
    assert (decision.outcome, decision.steps[0].reason) == (Outcome.REDACTED, "1 EMAIL")


def test_why_something_failed_is_redacted_wherever_it_is_said() -> None:
    failed = lake("[lake_text could not be loaded]", error="no user anna@example.com")
    built = redacted(failed)
    assert b"anna@" not in built.data
    (decision,) = built.bundle.accounting.decisions
    assert decision.steps[0].reason == "no user [EMAIL_1]"
    (item,) = built.bundle.items
    assert item.metadata["error"] == "no user [EMAIL_1]"
    assert decision.outcome is Outcome.FAILED

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.responses import ResponseOutputText
from openai.types.responses.response_output_text import (
    AnnotationFileCitation,
    AnnotationURLCitation,
)

from evidentia.sources.model import SourceItem, SourceSnippet
from evidentia.sources.wire import openai_annotations
from sources.wire.made_sources import BARE, FILE, LEAVE_HASH, LISTS, RIGHT_TO_LEFT, WEB

ANCHOR = LEAVE_HASH[:8]
ANSWERS = st.lists(
    st.sampled_from(
        [
            *("[1]", "[2]", "[1, 2]", "[1-3]", "[٢]", f"[cite:{ANCHOR}]", "[cite: x, y]", "[9]"),
            *("😀", " so it is ", "[1](u)", "![1]", "[", "]", "\n", "[0-999]", "[cite:,]"),
        ]
    )
    | st.text(st.characters(), max_size=5)
).map("".join)


def spans(sources: list[SourceItem], text: str) -> list[tuple[str, str]]:
    """Return what is cited, and the text that a client finds at the annotation."""
    return [
        (found["url"], text[found["start_index"] : found["end_index"]])
        if found["type"] == "url_citation"
        else (found["file_id"], text[found["index"] :][:3])
        for found in openai_annotations(sources, text)
    ]


@given(LISTS, ANSWERS)
def test_every_annotation_is_one_of_the_api(sources: list[SourceItem], text: str) -> None:
    annotations = openai_annotations(sources, text)
    sent = {"type": "output_text", "text": "", "annotations": annotations}
    read = ResponseOutputText.model_validate(sent)
    assert read.model_dump(mode="json", exclude_unset=True) == sent
    for each in read.annotations:
        assert isinstance(each, AnnotationURLCitation | AnnotationFileCitation)
        assert not each.model_extra
        start = each.start_index if isinstance(each, AnnotationURLCitation) else each.index
        assert text[start] == "["
        if isinstance(each, AnnotationURLCitation):
            assert text[each.end_index - 1] == "]"


def test_a_url_is_cited_with_the_place_of_its_mark() -> None:
    text = "😀 25 days [1]."
    assert openai_annotations([WEB], text) == [
        {
            "type": "url_citation",
            "url": "https://example.com/leave",
            "title": "Leave policy",
            "start_index": 10,
            "end_index": 13,
        }
    ]
    assert text[10:13] == "[1]"


def test_a_file_is_cited_where_its_mark_begins() -> None:
    assert openai_annotations([FILE], "Yes [2].") == [
        {"type": "file_citation", "file_id": "doc-2", "filename": "handbook.pdf", "index": 4}
    ]


def test_a_file_without_a_file_name_is_named_by_its_title() -> None:
    (found,) = openai_annotations([BARE.model_copy(update={"title": "Notes"})], "[1]")
    assert found["filename"] == "Notes"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a [1] b [2] c [1]", [("W", "[1]"), ("doc-2", "[2]"), ("W", "[1]")]),
        ("a [2, 1]", [("doc-2", "[2,"), ("W", "[2, 1]")]),
        ("a [1;1]", [("W", "[1;1]")]),
        ("a [1-3]", [("W", "[1-3]"), ("doc-2", "[1-"), ("R", "[1-3]")]),
        ("a [2\u20133]", [("doc-2", "[2\u2013"), ("R", "[2\u20133]")]),
        ("a [٣]", [("R", "[٣]")]),
        (f"a [cite:{ANCHOR}]", [("W", f"[cite:{ANCHOR}]")]),
        (f"a [cite: {LEAVE_HASH.upper()}]", [("W", f"[cite: {LEAVE_HASH.upper()}]")]),
        (f"a [cite:{ANCHOR[:7]}]", []),
        ("a [cite:00000000]", []),
        ("a [4] [1](https://x) ![1] [1]: x [^1] [x]", []),
    ],
)
def test_marks_name_sources_by_rank_and_by_anchor(text: str, found: list[tuple[str, str]]) -> None:
    urls = {"W": WEB.url, "R": RIGHT_TO_LEFT.url}
    expected = [(urls.get(name, name), mark) for name, mark in found]
    assert spans([RIGHT_TO_LEFT, FILE, WEB], text) == expected


def hashed(source_id: str, *hashes: str | None) -> SourceItem:
    snippets = tuple(SourceSnippet(text="x", chunk_hash=each) for each in hashes)
    return SourceItem(source_id=source_id, kind="k", snippets=snippets)


def test_the_same_passage_in_two_sources_cites_both() -> None:
    sources = [hashed("a", "12345678aa", None, ""), hashed("b", "12345678aa", "12345678aa")]
    assert [name for name, _ in spans(sources, "[cite:12345678]")] == ["a", "b"]


def test_an_anchor_that_two_passages_begin_with_cites_none() -> None:
    sources = [hashed("a", "12345678aa"), hashed("b", "12345678bb")]
    assert spans(sources, "[cite:12345678]") == []
    assert spans(sources, "[cite:12345678bb]") == [("b", "[ci")]


def test_sources_without_a_rank_are_counted_and_the_first_of_equals_is_cited() -> None:
    sources = [hashed("a"), hashed("b"), hashed("c").model_copy(update={"rank": 1})]
    assert [name for name, _ in spans(sources, "[1] [2] [3]")] == ["a", "b"]

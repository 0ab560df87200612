from typing import Any

from anthropic.types import SearchResultBlockParam, TextBlockParam
from hypothesis import given
from pydantic import TypeAdapter

from evidentia.sources.model import SourceItem, SourceSnippet
from evidentia.sources.wire import anthropic_search_results
from sources.wire.made_sources import ARABIC, BARE, FILE, HOSTILE, LISTS, RIGHT_TO_LEFT, WEB

BLOCK = TypeAdapter[Any](SearchResultBlockParam)
TEXTS = TypeAdapter(list[TextBlockParam])


@given(LISTS)
def test_the_api_takes_every_block(sources: list[SourceItem]) -> None:
    for block in anthropic_search_results(sources):
        read = BLOCK.validate_python(block)
        assert {**read, "content": list(read["content"])} == block
        assert TEXTS.validate_python(block["content"]) == block["content"]
        assert block["content"]
        assert all(text["text"].strip() for text in block["content"])
        assert block["source"].strip()
        assert block["title"].strip()
        assert block["citations"] == {"enabled": True}


@given(LISTS)
def test_sources_with_text_are_sent_in_order_with_all_of_it(sources: list[SourceItem]) -> None:
    with_text = []
    for source in sources:
        shown = source.snippets or ([SourceSnippet(text=source.snippet)] if source.snippet else [])
        texts = [snippet.text.strip() for snippet in shown if snippet.text.strip()]
        if texts:
            with_text.append("".join(texts))
    blocks = anthropic_search_results(sources)
    assert len(blocks) == len(with_text)
    for block, text in zip(blocks, with_text, strict=True):
        joined = "".join(part["text"] for part in block["content"])
        assert len(joined) == len(text)
        assert joined == text or any("\ud800" <= character <= "\udfff" for character in text)


def test_each_sentence_is_a_block() -> None:
    web, arabic = anthropic_search_results([WEB, RIGHT_TO_LEFT])
    assert web["source"] == "https://example.com/leave"
    assert web["title"] == "Leave policy"
    assert [part["text"] for part in web["content"]] == [
        "Employees get 25 days of leave. ",
        "Unused days lapse in March.",
    ]
    assert "".join(part["text"] for part in arabic["content"]) == ARABIC
    assert len(arabic["content"]) == 2


def test_a_source_without_a_url_is_named_by_its_id() -> None:
    assert anthropic_search_results([FILE])[0]["source"] == "doc-2"


def test_a_source_without_any_name_has_one_still() -> None:
    (block,) = anthropic_search_results([BARE.model_copy(update={"snippet": "Text."})])
    assert block["source"] == block["title"] == "Untitled"


def test_a_source_without_text_is_left_out() -> None:
    blank = HOSTILE.model_copy(update={"snippets": None})
    assert anthropic_search_results([BARE, blank]) == []

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidentia.sources.model import SourceItem
from evidentia.sources.wire import ai_sdk_parts, ai_sdk_stream
from evidentia.sources.wire.offsets import utf8_offsets, utf16_offsets
from sources.wire.made_sources import (
    ALL_NAMED,
    ARABIC,
    BARE,
    FILE,
    HOSTILE,
    LISTS,
    NAMED,
    RIGHT_TO_LEFT,
    WEB,
    through_json,
)
from sources.wire.node_sdk import NodeSdk, NoNodeSdkError

VERSIONS = ("6.0.326", "7.0.169")


@pytest.fixture(scope="module", params=VERSIONS)
def sdk(request: pytest.FixtureRequest) -> Iterator[NodeSdk]:
    try:
        running = NodeSdk.running(request.param)
        sdk = running.__enter__()
    except NoNodeSdkError as error:
        pytest.skip(f"THE AI SDK WAS NOT ASKED ABOUT THE PARTS: {error}")
    yield sdk
    running.__exit__(None, None, None)


def without_nulls(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in part.items() if value is not None} for part in parts]


@pytest.mark.parametrize("source", NAMED.values(), ids=NAMED)
def test_the_sdk_takes_every_part_and_loses_nothing(sdk: NodeSdk, source: SourceItem) -> None:
    parts = ai_sdk_parts([source])
    assert sdk.ask(about="refused", parts=parts) == []
    assert without_nulls(sdk.ask(about="received", lines=ai_sdk_stream([source]))) == parts


@given(LISTS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_sdk_takes_parts_of_any_sources(sdk: NodeSdk, sources: list[SourceItem]) -> None:
    parts = ai_sdk_parts(sources)
    assert sdk.ask(about="refused", parts=parts) == []
    assert without_nulls(sdk.ask(about="received", lines=ai_sdk_stream(sources))) == parts


def test_the_check_would_find_a_wrong_part(sdk: NodeSdk) -> None:
    assert sdk.ask(about="refused", parts=[{"type": "source-document", "sourceId": "a"}])
    with pytest.raises(AssertionError, match="forbidden prototype"):
        sdk.ask(about="received", lines=['data: {"type":"data-x","data":{"__proto__":1}}\n\n'])


def test_javascript_finds_the_matches_where_they_are(sdk: NodeSdk) -> None:
    (source, everything) = ai_sdk_parts([RIGHT_TO_LEFT])
    (snippet,) = source["providerMetadata"]["evidentia"]["snippets"]
    assert everything["data"]["sources"][0]["snippets"] == [snippet]
    found = sdk.ask(about="sliced", text=snippet["text"], spans=snippet["matches"])
    assert [each["slice"] for each in found] == [ARABIC[20:21], ARABIC[22:24]] == ["😀", "في"]
    assert snippet["matches_unit"] == "utf-16"


@given(st.text(max_size=40), st.lists(st.integers(0, 40), min_size=2, max_size=6))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_offsets_are_those_of_javascript(sdk: NodeSdk, text: str, places: list[int]) -> None:
    offsets = sorted(min(place, len(text)) for place in places)
    units = utf16_offsets(text, offsets)
    found = sdk.ask(about="sliced", text=text, spans=list(pairwise(units)))
    assert [each["slice"] for each in found] == [
        text[start:end] for start, end in pairwise(offsets)
    ]
    assert [each["bytes"] for each in found] == utf8_offsets(text, offsets[:-1])


def test_a_source_with_a_url_is_a_link_and_the_rest_is_provider_metadata() -> None:
    part, everything = ai_sdk_parts([WEB])
    others = part.pop("providerMetadata")["evidentia"]
    assert part == {
        "type": "source-url",
        "sourceId": "policy-1",
        "url": "https://example.com/leave",
        "title": "Leave policy",
    }
    assert others["rank"] == 1
    assert others["metadata"] == {"author": "HR", "year": 2026}
    assert everything["data"]["sources"] == [
        {**others, "source_id": "policy-1", "title": WEB.title, "url": WEB.url}
    ]


def test_a_source_without_a_url_is_a_document() -> None:
    part, _ = ai_sdk_parts([FILE])
    assert part["type"] == "source-document"
    assert part["mediaType"] == "application/pdf"
    assert part["title"] == "Handbook"
    assert part["filename"] == "handbook.pdf"


def test_what_is_not_known_of_a_document_is_not_made_up() -> None:
    part, _ = ai_sdk_parts([BARE])
    assert part["mediaType"] == "application/octet-stream"
    assert part["title"] == "Untitled"
    assert "filename" not in part


def test_a_link_without_a_title_has_none() -> None:
    part, _ = ai_sdk_parts([WEB.model_copy(update={"title": None})])
    assert part["type"] == "source-url"
    assert "title" not in part


def test_a_link_that_runs_code_is_not_sent() -> None:
    assert "alert" not in json.dumps(ai_sdk_parts([HOSTILE]))


def test_every_part_comes_before_the_one_with_all() -> None:
    kinds = [part["type"] for part in ai_sdk_parts(ALL_NAMED)]
    assert len(kinds) == len(ALL_NAMED) + 1
    assert kinds[-1] == "data-rag-sources"
    assert "data-rag-sources" not in kinds[:-1]


@given(LISTS)
def test_each_event_is_one_line_of_the_same_part(sources: list[SourceItem]) -> None:
    lines = ai_sdk_stream(sources)
    for line in lines:
        assert line.startswith("data: {")
        assert line.endswith("}\n\n")
        assert not {"\r", "\n"} & set(line[:-2])
    read = [json.loads(line.removeprefix("data: ").encode("utf-8")) for line in lines]
    assert read == through_json(ai_sdk_parts(sources))

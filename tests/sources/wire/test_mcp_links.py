import re

import pytest
from hypothesis import given
from mcp import types
from mcp.types import CallToolResult, ResourceLink
from pydantic import AnyUrl

from evidentia.sources.model import SourceItem
from evidentia.sources.wire import mcp_resource_links
from sources.wire.made_sources import ALL_NAMED, BARE, FILE, HOSTILE, LISTS, RIGHT_TO_LEFT, WEB

URI = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*:(?:%[0-9A-Fa-f]{2}|[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=])*"
)


@given(LISTS)
def test_every_block_is_a_resource_link(sources: list[SourceItem]) -> None:
    blocks = mcp_resource_links(sources)
    assert len(blocks) == len(sources)
    for block in blocks:
        read = ResourceLink.model_validate(block)
        assert read.model_dump(mode="json", by_alias=True, exclude_unset=True) == block
        assert not read.model_extra
        assert URI.fullmatch(block["uri"])
        assert block["name"].strip()


def test_they_are_content_of_a_tool_result() -> None:
    content = mcp_resource_links(ALL_NAMED)
    read = CallToolResult.model_validate({"content": content})
    assert all(isinstance(block, types.ResourceLink) for block in read.content)


def test_a_link_has_its_url_title_and_snippet() -> None:
    (link,) = mcp_resource_links([WEB])
    meta = link.pop("_meta")["evidentia/source"]
    assert link == {
        "type": "resource_link",
        "uri": "https://example.com/leave",
        "name": "policy-1",
        "title": "Leave policy",
        "description": WEB.snippet,
    }
    assert meta["score"] == 0.93
    assert meta["snippets"][0]["chunk_hash"]
    assert "snippet" not in meta


def test_the_media_type_is_given_where_it_is_known() -> None:
    assert mcp_resource_links([FILE])[0]["mimeType"] == "application/pdf"


@pytest.mark.parametrize(
    ("source", "uri"),
    [
        (FILE, "evidentia:source/doc-2"),
        (BARE, "evidentia:source/"),
        (HOSTILE, "evidentia:source/a%2Fb%3Fc%23d%25%EF%BF%BD"),
        (WEB.model_copy(update={"url": "/docs/1"}), "evidentia:source/policy-1"),
        (WEB.model_copy(update={"url": "https:"}), "evidentia:source/policy-1"),
        (WEB.model_copy(update={"url": "s3://b/a%20b%"}), "s3://b/a%20b%25"),
        (RIGHT_TO_LEFT, "https://example.com/wiki/%D8%A5%D8%AC%D8%A7%D8%B2%D8%A9"),
    ],
)
def test_every_source_has_a_uri(source: SourceItem, uri: str) -> None:
    assert mcp_resource_links([source])[0]["uri"] == uri
    assert str(AnyUrl(uri)) == uri


def test_a_source_without_any_name_has_one_still() -> None:
    assert mcp_resource_links([BARE])[0]["name"] == "Untitled"

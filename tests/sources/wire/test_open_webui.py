"""Open WebUI has no package of types: its schema here is what its own code reads.

Read from open-webui/open-webui at commit 023b1e7, `src/lib/components/chat/Messages/`:
`Citations.svelte` (grouping, links, relevance), `Citations/CitationModal.svelte` (pages, texts,
`html`, `file_id`, `parameters`) and `ContentRenderer.svelte` (labels of `[1]`), and `Chat.svelte`
(a `source` or `citation` event whose data has no `type` is added to the message's sources).
"""

from typing import Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from evidentia.sources.model import SourceItem
from evidentia.sources.wire import open_webui_event
from sources.wire.made_sources import (
    BARE,
    FILE,
    HOSTILE,
    HUGE,
    LISTS,
    RIGHT_TO_LEFT,
    TEN_SNIPPETS,
    WEB,
)

SCHEMA = Draft202012Validator(
    {
        "type": "object",
        "required": ["type", "data"],
        "additionalProperties": False,
        "properties": {
            "type": {"enum": ["source", "citation"]},
            "data": {
                "type": "object",
                "required": ["source", "document", "metadata"],
                "additionalProperties": False,
                "properties": {
                    "source": {
                        "type": "object",
                        "required": ["id", "name"],
                        "additionalProperties": False,
                        "properties": {"id": {"type": "string"}, "name": {"minLength": 1}},
                    },
                    "document": {"type": "array", "items": {"type": "string"}},
                    "metadata": {"type": "array", "items": {"$ref": "#/$defs/metadata"}},
                    "distances": {
                        "type": "array",
                        "minItems": 1,
                        "items": {"type": "number", "minimum": -1, "maximum": 1},
                    },
                },
            },
        },
        "$defs": {
            "metadata": {
                "type": "object",
                "required": ["source", "name", "evidentia"],
                "additionalProperties": False,  # not html, file_id, parameters: they open things
                "properties": {
                    "source": {"type": "string"},
                    "name": {"type": "string", "minLength": 1},
                    "source_url": {"type": "string", "minLength": 1},
                    "page": {"type": "integer", "minimum": 0},
                    "evidentia": {"type": "object"},
                },
            }
        },
    }
)


def data(*sources: SourceItem) -> dict[str, Any]:
    event = open_webui_event(sources)
    assert event["type"] == "source"
    found: dict[str, Any] = event["data"]
    return found


def distinct(entries: list[dict[str, Any]], key: str) -> list[str]:
    return list(dict.fromkeys(entry[key] for entry in entries))


@given(LISTS)
def test_the_interface_can_read_every_event(sources: list[SourceItem]) -> None:
    event = open_webui_event(sources)
    SCHEMA.validate(event)
    found = event["data"]
    assert len(found["metadata"]) == len(found["document"])
    assert len(found.get("distances", found["document"])) == len(found["document"])
    groups = distinct(found["metadata"], "source")
    labels = distinct(found["metadata"], "name")
    assert len(groups) == len(labels) == len(sources)
    pairs = {(entry["source"], entry["name"]) for entry in found["metadata"]}
    assert pairs == set(zip(groups, labels, strict=True))


def test_each_snippet_is_a_document_with_its_page_and_relevance() -> None:
    found = data(TEN_SNIPPETS)
    assert found["document"] == [f"Part {n}. 😀 More." for n in range(10)]
    assert found["distances"] == [n / 10 for n in range(10)]
    assert [entry.get("page") for entry in found["metadata"]] == [None, *range(9)]
    assert found["metadata"][1]["evidentia"] == {
        "snippet": {
            **dict.fromkeys(("chunk_id", "chunk_hash", "heading_path", "start", "end")),
            "page": 1,
            "score": 0.1,
            "matches": [],
            "matches_unit": "utf-16",
        }
    }
    assert found["metadata"][0]["evidentia"]["rank"] == 4
    assert found["metadata"][0]["evidentia"]["snippet"]["page"] == 0


def test_a_source_without_snippets_is_one_document() -> None:
    found = data(FILE)
    assert found["document"] == [FILE.snippet]
    assert found["distances"] == [0.5]
    (entry,) = found["metadata"]
    assert entry["source"] == "doc-2"
    assert entry["name"] == "Handbook"
    assert "source_url" not in entry
    assert entry["evidentia"]["metadata"] == {"file_name": "folder/handbook.pdf"}


def test_a_source_without_text_is_still_shown() -> None:
    found = data(BARE)
    assert found["document"] == [""]
    assert found["metadata"][0]["name"] == "Untitled"


def test_a_link_is_given_apart_from_the_id() -> None:
    (entry,) = data(WEB)["metadata"]
    assert entry["source"] == "policy-1"
    assert entry["source_url"] == "https://example.com/leave"
    assert entry["page"] == 2


@pytest.mark.parametrize("score", [None, 1.01, -1.5, float("inf")])
def test_relevance_is_left_out_if_one_score_would_spoil_it(score: float | None) -> None:
    odd = FILE.model_copy(update={"source_id": "odd", "score": score})
    assert "distances" in data(WEB, FILE)
    assert "distances" not in data(WEB, odd)


def test_sources_with_the_same_title_or_id_stay_apart() -> None:
    found = data(WEB, HUGE, WEB)
    names = ["Leave policy", "Leave policy (2)", "Leave policy (3)"]
    assert [entry["name"] for entry in found["metadata"]] == names
    assert [entry["source"] for entry in found["metadata"]] == ["policy-1", "huge", "policy-1 (2)"]


def test_metadata_of_a_source_cannot_take_over_the_interface() -> None:
    for entry in data(HOSTILE)["metadata"]:
        assert not {"html", "file_id", "page", "source_url"} & set(entry)


def test_matches_are_counted_as_javascript_counts() -> None:
    (entry,) = data(RIGHT_TO_LEFT)["metadata"]
    assert entry["evidentia"]["snippet"]["matches"] == [[20, 22], [23, 25]]

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given

import tiers
from evidentia.sources.model import CandidateItem, EvidenceChunk, SourceItem
from evidentia.sources.packing import DefaultEvidencePacker
from evidentia.sources.wire import WIRE_FORMATS, ag_ui_event, rag_sources
from sources.wire.made_sources import ALL_NAMED, ARABIC, FILE, HOSTILE, LISTS, through_json

ANSWER = "It is so [1], [cite:0123abcd], [2-4]."


def emitted(name: str, sources: list[SourceItem]) -> Any:
    return WIRE_FORMATS[name](*([sources, ANSWER] if name == "openai" else [sources]))


@pytest.mark.parametrize("name", WIRE_FORMATS)
@given(sources=LISTS)
def test_every_format_is_json_and_the_same_each_time(name: str, sources: list[SourceItem]) -> None:
    first = emitted(name, sources)
    assert through_json(first) == first
    assert emitted(name, sources) == first


@pytest.mark.parametrize("name", WIRE_FORMATS)
def test_every_format_takes_an_iterator_and_nothing_at_all(name: str) -> None:
    assert emitted(name, []) == through_json(emitted(name, []))
    once: Any = iter(ALL_NAMED)
    assert emitted(name, once) == emitted(name, ALL_NAMED)


def test_formats_are_sorted_by_their_names() -> None:
    assert list(WIRE_FORMATS) == sorted(WIRE_FORMATS)


def test_importing_the_formats_loads_nothing_heavier_than_pydantic() -> None:
    script = "import json, sys, evidentia.sources.wire; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = {module.partition(".")[0] for module in json.loads(done.stdout)}
    vendors = {"anthropic", "openai", "ag_ui", "mcp", "mcp_types"}
    assert "pydantic" in loaded
    assert not loaded & {*vendors, "numpy", "orjson", "regex", "rfc8785", "sqlalchemy", "structlog"}


def test_the_event_has_the_keys_of_the_specification() -> None:
    assert rag_sources([FILE]) == {
        "type": "rag.sources",
        "payload": {
            "sources": [
                {
                    "source_id": "doc-2",
                    "kind": "documents",
                    "title": "Handbook",
                    "url": None,
                    "snippet": FILE.snippet,
                    "snippet_from": "doc",
                    "score": 0.5,
                    "rank": 2,
                    "metadata": {"file_name": "folder/handbook.pdf"},
                }
            ]
        },
    }


def test_packed_sources_are_sent_as_they_are() -> None:
    packed = DefaultEvidencePacker().pack(
        [CandidateItem(item_id="a", url="/docs/1", score=0.5, metadata={"n": 2**53, "f": 0.1})],
        [EvidenceChunk(item_id="a", text=ARABIC, page=2, start=7)],
        {"anchors": True, "query": "إجازة"},
    )
    assert packed[0].snippets
    sent = rag_sources(packed)["payload"]["sources"]
    assert sent == [source.model_dump(mode="json") for source in packed]


def test_what_json_cannot_hold_is_made_such_as_it_can() -> None:
    (sent,) = rag_sources([HOSTILE])["payload"]["sources"]
    assert sent["source_id"] == "a/b?c#d%\ufffd"
    assert sent["url"] is sent["score"] is sent["rank"] is None
    assert sent["metadata"]["__proto___"] == {"polluted": True}
    assert sent["metadata"]["__proto____"] == 1
    assert sent["metadata"]["a"] == [{"constructor_": {"prototype": {"b": 1}}}]
    assert sent["metadata"]["\ufffd"] == hex(10**5_000)
    assert sent["metadata"]["\ufffd_"] == "-9007199254740993"
    first, second = sent["snippets"]
    assert first["text"] == "\ufffd\ufffd x\ufffd"
    assert first["matches"] == [[-5, 10**9]]
    assert second["heading_path"] == ["\ufffd"]
    assert second["score"] is None


@tiers.one_test
@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("https://example.com/a", "https://example.com/a"),
        (" /docs/1 ", "/docs/1"),
        ("", None),
        ("  ", None),
        ("java\nscript:alert(1)", None),
        ("VBScript:x", None),
        ("data:text/html,x", None),
        ("file:///etc/passwd", None),
        ("C:\\secrets.txt", None),
        ("\\\\host\\share", None),
        ("https://example.com/\u202etxt.exe", None),
        ("https://example.com/\ud800", None),
    ],
)
def test_only_a_link_that_a_reader_may_follow_is_sent(url: str, sent: str | None) -> None:
    source = FILE.model_copy(update={"url": url})
    assert rag_sources([source])["payload"]["sources"][0]["url"] == sent


def test_another_protocol_carries_the_same_payload() -> None:
    assert ag_ui_event(ALL_NAMED)["value"] == rag_sources(ALL_NAMED)["payload"]

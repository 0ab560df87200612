"""Sources by the API: packed as the library packs them, in every wire format."""

import json
from typing import Any, get_args

import pytest

from evidentia.server.api.sources import WireFormat
from evidentia.sources.wire import WIRE_FORMATS
from server.house import House

PATH = "/api/v1/sources"
CANDIDATES = [
    {"item_id": "a", "title": "Leave", "url": "https://example.com/a", "score": 0.5},
    {"item_id": "b", "summary": "Sick pay is half.", "score": 0.9, "metadata": {"author": "x"}},
]
CHUNKS = [{"item_id": "a", "text": "There are 15 days of leave.", "page": 3, "start": 0, "end": 27}]


def pack(house: House, query: str = "", **body: Any) -> Any:
    given = {"candidates": CANDIDATES, "evidence_chunks": CHUNKS, **body}
    return house.post(f"{PATH}{query}", "viewer", json=given)


@pytest.mark.parametrize("name", WIRE_FORMATS)
def test_sources_come_in_every_format_as_the_library_writes_it(house: House, name: str) -> None:
    answer = pack(house, f"?format={name}", answer="15 days [1], half [2].")
    assert answer.status_code == 200
    packed = house.workspace.pack_sources(CANDIDATES, CHUNKS)  # type: ignore[arg-type]  # dicts are taken too
    write = WIRE_FORMATS[name]
    expected = write(packed, "15 days [1], half [2].") if name == "openai" else write(packed)
    assert answer.json() == {
        "format": name,
        "sources": json.loads(json.dumps(expected)),
        "dropped": [],
    }
    assert answer.json()["sources"]


def test_the_description_names_every_format() -> None:
    assert list(get_args(WireFormat)) == list(WIRE_FORMATS)


def test_options_are_kept_to_and_what_was_left_out_is_told(sqlite_house: House) -> None:
    answer = pack(sqlite_house, options={"max_sources": 1, "debug": True, "anchors": True}).json()
    (source,) = answer["sources"]["payload"]["sources"]
    assert source["source_id"] == "b"
    assert answer["dropped"] == [
        {"what": "candidate", "index": 0, "item_id": "a", "reason": "beyond max_sources"}
    ]


@pytest.mark.parametrize(
    "body",
    [
        {"options": {"max_sources": -1}},
        {"options": {"nothing": 1}},
        {"candidates": "x"},
        {"candidates": [{}] * 10_001},
        {"file": "/etc/passwd"},
    ],
)
def test_what_cannot_be_packed_is_refused(sqlite_house: House, body: Any) -> None:
    assert pack(sqlite_house, **body).status_code == 422


def test_strange_candidates_spoil_nothing(sqlite_house: House) -> None:
    text = (
        '{"candidates": [{"item_id": "a", "score": NaN, "metadata": {"page": 1e400, "n": 1'
        + "0" * 40
        + '}}, {"item_id": []}, {}, {"item_id": "b", "score": 1}], "options": {"debug": true, '
        '"include_metadata_keys": ["page", "n"]}}'
    )
    headers = {"content-type": "application/json"}
    answer = sqlite_house.post(PATH, "viewer", content=text, headers=headers)
    assert answer.status_code == 200
    ids = [one["source_id"] for one in answer.json()["sources"]["payload"]["sources"]]
    assert ids == ["b", "a"]
    assert len(answer.json()["dropped"]) == 2


def test_nothing_is_recorded(sqlite_house: House) -> None:
    before = sqlite_house.workspace.trail.size
    pack(sqlite_house)
    assert sqlite_house.workspace.trail.size == before

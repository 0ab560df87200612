"""What the trail says of a document: digests of its bytes, its passages and its properties."""

import json
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest

from evidentia.documents.chunking import chunk_document
from evidentia.documents.model import DocumentChunk
from evidentia.documents.reading.document import read_document
from evidentia.documents.recording import (
    CHUNKS,
    chunks_digest,
    collection_id,
    damaged_chunk,
    difference,
    document_body,
    document_leaf,
    recorded_body,
    removal_body,
)

TEXT = "# Leave\n\nAll employees receive 15 days.\n\n# Gifts\n\nGifts are reported.\n"
READ = read_document(TEXT.encode(), "rules.md")
CHUNKED = list(chunk_document(READ, "doc_0123456789abcdef", chunk_size=40, chunk_overlap=0))
VERSION: dict[str, Any] = {
    "id": "doc_0123456789abcdef",
    "version": 1,
    "collection": "policies",
    "filename": "rules.md",
    "media_type": "text/markdown",
    "sha256": READ.sha256,
    "language": None,
    "direction": "ltr",
    "title": "Leave",
    "dated": None,
    "pages": 1,
    "chunks": len(CHUNKED),
    "warnings": ("hidden text is left out",),
    "created_at": "2026-01-05T09:00:00.000000Z",
}


def test_the_digest_of_passages_is_of_their_canonical_json_line_by_line() -> None:
    names = DocumentChunk.__slots__
    lines = [
        json.dumps(
            {name: getattr(chunk, name) for name in names if name != "ocr"},
            ensure_ascii=False,
            sort_keys=True,
            separators=(",", ":"),
        )
        for chunk in CHUNKED
    ]
    assert len(CHUNKED) > 1
    hashed = sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()
    assert chunks_digest(CHUNKED) == hashed
    assert chunks_digest([]) == sha256(b"").hexdigest()


@pytest.mark.parametrize(
    "change",
    [
        {"text": "other"},
        {"page": 2},
        {"start": 1},
        {"end": 99},
        {"heading_path": ("Other",)},
        {"chunk_hash": "0" * 64},
        {"chunk_id": "chunk_x"},
        {"index": 5},
        {"document_id": "doc_x"},
    ],
)
def test_any_change_of_a_passage_is_another_digest(change: dict[str, Any]) -> None:
    altered = [replace(CHUNKED[0], **change), *CHUNKED[1:]]
    assert chunks_digest(altered) != chunks_digest(CHUNKED)
    assert chunks_digest(CHUNKED[1:]) != chunks_digest(CHUNKED)
    assert chunks_digest(CHUNKED[::-1]) != chunks_digest(CHUNKED)


def test_a_version_is_as_recorded_or_it_is_said_in_what_not() -> None:
    body = {**document_body(VERSION, chunks_digest(CHUNKED)), "by": "owner"}
    assert (body["document_id"], body[CHUNKS]) == (VERSION["id"], chunks_digest(CHUNKED))
    assert difference(VERSION, body) is None
    for name in VERSION:
        altered = {**VERSION, name: ("x",) if name == "warnings" else "x"}
        said = difference(altered, body)
        assert said is not None
        if name in {"language", "direction", "title", "dated", "warnings"}:
            assert said == "title, date, language or warnings"
        else:
            assert said == ("document_id" if name == "id" else name)


def test_a_leaf_is_what_a_body_says_of_the_document_alone() -> None:
    body = document_body(VERSION, chunks_digest(CHUNKED))
    entry = {**body, "by": "owner", "corpus": {"root": "00" * 32, "documents": 1}}
    assert document_leaf(entry) == document_leaf(body)
    assert json.loads(document_leaf(entry)) == body
    assert document_leaf({**entry, "dated": "2026-01-05"}) != document_leaf(entry)


def test_passages_that_contradict_themselves_are_told() -> None:
    assert damaged_chunk(CHUNKED, VERSION) is None
    first, *others = CHUNKED
    assert damaged_chunk(others, VERSION) == "passage 0 is missing"
    altered = [replace(first, text="other"), *others]
    assert damaged_chunk(altered, VERSION) == "the text of passage 0 was changed"
    moved = [replace(first, start=first.start + 1), *others]
    assert damaged_chunk(moved, VERSION) == "passage 0 is not of this place"
    said = f"it has {len(CHUNKED) - 1} passages, and was read with {len(CHUNKED)}"
    assert damaged_chunk(CHUNKED[:-1], VERSION) == said
    assert damaged_chunk([], {**VERSION, "chunks": 0}) is None


def test_taking_a_document_out_says_which_versions_and_why() -> None:
    assert removal_body("doc_1", 3, "replaced") == {
        "document_id": "doc_1",
        "removed": True,
        "through": 3,
        "text": "kept",
        "reason": "replaced",
    }
    assert removal_body("doc_1", 3, "asked for", erased=True)["text"] == "erased"


LATER: dict[str, Any] = {
    **VERSION,
    "dated": "2026-01-02",
    "collection_id": collection_id("policies", "/b/policies"),
    "effective_from": "2026-01-01",
    "effective_until": None,
    "reader": 3,
}


def test_the_second_form_says_of_a_documents_life_what_is_known() -> None:
    body = recorded_body(LATER, chunks_digest(CHUNKED))
    first = document_body(LATER, chunks_digest(CHUNKED))
    assert {name: body[name] for name in body if name not in first} == {
        "collection_id": LATER["collection_id"],
        "dated": "2026-01-02",
        "effective_from": "2026-01-01",
        "reader": 3,
    }
    assert difference(LATER, body) is None
    for name, other in (
        ("collection_id", collection_id("policies")),
        ("effective_from", None),
        ("effective_until", "2026-12-31"),
        ("reader", 0),
    ):
        assert difference({**LATER, name: other}, body) == name


def test_what_the_first_form_does_not_say_is_implied() -> None:
    body = document_body(LATER, chunks_digest(CHUNKED))
    plain = {**VERSION, "dated": "2026-01-02", "reader": 0, "effective_from": None}
    assert difference({**plain, "collection_id": collection_id("policies")}, body) is None
    assert difference({**plain, "collection_id": LATER["collection_id"]}, body) == "collection_id"
    assert difference({**plain, "reader": 1}, body) == "reader"


def test_the_title_of_an_erased_version_is_gone_and_nothing_else() -> None:
    body = recorded_body(LATER, chunks_digest(CHUNKED))
    erased = {**LATER, "title": None}
    assert difference(erased, body) == "title, date, language or warnings"
    assert difference(erased, body, erased=True) is None
    assert difference({**erased, "dated": None}, body, erased=True) == "dated"
    assert difference({**erased, "filename": "x"}, body, erased=True) == "filename"


def test_a_collection_is_known_by_its_name_or_by_its_folder_too() -> None:
    assert collection_id("policies") != collection_id("policies", "/b/policies")
    assert collection_id("policies", "/a") != collection_id("policies", "/b")
    assert collection_id("policies", "/a") != collection_id("other", "/a")

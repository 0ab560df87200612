import json
from typing import Any

import pytest

from bundles.making import NOW, table
from evidentia.bundles.accounting import EvidenceType
from evidentia.bundles.building import build_bundle
from evidentia.bundles.loading import (
    TYPES,
    document_candidates,
    failed_candidate,
    inline_candidate,
    query_candidate,
    response_candidates,
    result_candidate,
    text_candidate,
    transcript_candidates,
)
from evidentia.bundles.policy import EvidencePolicy
from evidentia.bundles.references import (
    REFERENCES,
    DocumentReference,
    InlineReference,
    LakeHttpReference,
    LakeTextReference,
    QueryReference,
    Reference,
    ResultReference,
    TranscriptReference,
)
from evidentia.canonical import sha256_hex
from evidentia.documents.chunking import chunk_document
from evidentia.documents.model import DocumentChunk
from evidentia.documents.reading.document import read_document
from evidentia.errors import InputError

ORIGIN = "evidence_refs.x[3]"
VTT = b"""WEBVTT

00:00:01.000 --> 00:00:02.000
<v Anna>Annual leave is 25 days.

00:00:03.000 --> 00:00:04.500
<v Omar>And sick leave?
"""


def refs(lake_uri: str, data: bytes) -> dict[str, Any]:
    return {"lake_uri": lake_uri, "sha256": sha256_hex(data), "byte_count": len(data)}


def test_every_kind_of_reference_has_its_type() -> None:
    assert set(TYPES.values()) == set(EvidenceType)
    assert set(TYPES) == {InlineReference, *REFERENCES.values()}


def test_inline_text_is_taken_as_it_is() -> None:
    found = inline_candidate(InlineReference(ORIGIN, "é\0", {"source_uri": "a"}, 3), 7)
    assert (found.content, found.part, found.digest, found.priority) == ("é\0", "7", "", 3)
    assert found.source_ref == {"source_uri": "a"}
    assert found.original is None


def test_half_a_character_is_no_text() -> None:
    with pytest.raises(InputError) as caught:
        inline_candidate(InlineReference(ORIGIN, "a\ud83d", {}), 0)
    assert str(caught.value) == f"{ORIGIN}: the text is not text: surrogates not allowed"


def test_a_text_file_is_named_by_its_bytes() -> None:
    reference = LakeTextReference(origin=ORIGIN, lake_uri="docs/a.md", priority=-2)
    data = "\ufeffAnnual leave".encode()
    found = text_candidate(reference, "docs/a.md", data)
    assert found.content == "Annual leave"
    assert (found.digest, found.part, found.priority) == (sha256_hex(data), "0", -2)
    assert found.source_ref == {"lake_uri": "docs/a.md", "sha256": sha256_hex(data)}
    assert found.original == refs("docs/a.md", data)


def test_a_file_that_is_no_text_is_named_with_its_reference() -> None:
    reference = LakeTextReference(origin=ORIGIN, lake_uri="a.md")
    for data in (b"%PDF-1.7", b"\xff\xff", b"caf\xe9"):
        with pytest.raises(InputError, match=r"evidence_refs\.x\[3\] \(a\.md\)"):
            text_candidate(reference, "a.md", data)


def test_a_response_says_what_was_asked_and_what_was_taken_out() -> None:
    record = {
        "status": 200,
        "url": "https://example.com/leave",
        "method": "GET",
        "fetched_at": "2026-01-02T03:04:05Z",
        "headers": {"Content-Type": "text/plain", "Set-Cookie": "session=secret"},
        "body": "25 days",
    }
    data = json.dumps(record).encode()
    reference = LakeHttpReference(origin=ORIGIN, lake_uri="a.json")
    (found,) = response_candidates(reference, "a.json", data)
    assert found.evidence_type is EvidenceType.LAKE_HTTP
    assert found.metadata == {
        "status": 200,
        "url": "https://example.com/leave",
        "method": "GET",
        "fetched_at": "2026-01-02T03:04:05Z",
        "redacted_headers": ["Set-Cookie"],
    }
    assert "25 days" in found.content
    assert "session=secret" not in found.content
    assert found.original == refs("a.json", data)


def test_a_response_without_a_readable_body_says_why() -> None:
    data = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n\x89PNG\r\n\x1a\n\x00\x00"
    (found,) = response_candidates(LakeHttpReference(lake_uri="a.http"), "a.http", data)
    assert set(found.metadata) == {"status", "body_note"}
    assert found.metadata["body_note"]


def test_each_entry_of_a_har_file_is_a_piece_of_evidence() -> None:
    entries = [
        {
            "request": {"method": "GET", "url": f"https://example.com/{number}"},
            "response": {"status": status, "content": {"text": f"Body {number}"}},
        }
        for number, status in enumerate((200, 404, 0))
    ]
    data = json.dumps({"log": {"entries": entries}}).encode()
    reference = LakeHttpReference(origin=ORIGIN, lake_uri="a.har", priority=4)
    found = response_candidates(reference, "a.har", data)
    assert [one.part for one in found] == ["0", "1", "2"]
    assert {(one.digest, one.priority) for one in found} == {(sha256_hex(data), 4)}
    assert [one.metadata.get("status") for one in found] == [200, 404, None]
    assert [f"Body {n}" in one.content for n, one in enumerate(found)] == [True, True, False]
    assert all(one.original == refs("a.har", data) for one in found)
    items = build_bundle(found, EvidencePolicy(), created_utc=NOW).bundle.items
    prefix = sha256_hex(data)[:12]
    assert [item.evidence_id for item in items] == [f"lake:{prefix}:{n}" for n in range(3)]


def test_a_query_is_shown_with_what_it_is_for() -> None:
    reference = QueryReference(
        origin=ORIGIN, query_key="facts", sql="\nSELECT 1\n", description="All facts"
    )
    found = query_candidate(reference)
    assert found.content == "Query facts\nAll facts\nSELECT 1"
    assert (found.digest, found.part) == (sha256_hex(b"facts"), "")
    plain = query_candidate(QueryReference(query_key="facts", sql="SELECT 1"))
    assert plain.content == "Query facts\nSELECT 1"


def test_a_result_leads_to_its_file() -> None:
    reference = ResultReference(origin=ORIGIN, query_key="facts", lake_uri="facts.csv")
    found = result_candidate(reference, "facts.csv", "0" * 64, 9_000, table(500))
    assert found.source_ref == {"lake_uri": "facts.csv", "query_key": "facts", "sha256": "0" * 64}
    assert found.original == {
        "lake_uri": "facts.csv",
        "sha256": "0" * 64,
        "byte_count": 9_000,
        "row_count": 500,
        "col_count": 3,
    }
    assert (found.title, found.input_bytes) == ("Result of facts", 9_000)


@pytest.mark.parametrize("connection", ["crm", None])
def test_a_result_that_was_run_says_by_what(connection: str | None) -> None:
    files = {} if connection else {"a": "a.csv"}
    reference = ResultReference(
        query_key="facts", sql="SELECT 1", connection=connection, files=files
    )
    found = result_candidate(reference, "sha256/00", "0" * 64, 10, table(1))
    assert found.source_ref["sql"] == "SELECT 1"
    assert found.source_ref["connection"] == (connection or "duckdb")
    assert found.source_ref.get("files") == (files or None)
    assert "parameters" not in found.source_ref


def test_a_result_that_was_run_says_what_it_was_asked_with() -> None:
    reference = ResultReference(
        query_key="facts", sql="SELECT :id", connection="crm", parameters={"id": 3}
    )
    found = result_candidate(reference, "sha256/00", "0" * 64, 10, table(1))
    assert found.source_ref["parameters"] == {"id": 3}
    assert "files" not in found.source_ref


def test_a_documents_pieces_name_the_passages_they_show() -> None:
    text = "# Leave\n\n" + " ".join(f"Rule {number} holds." for number in range(300))
    read = read_document(text.encode(), "leave.md")
    passages = chunk_document(read, "doc_1")
    pieces = chunk_document(read, "doc_1", chunk_size=700, chunk_overlap=50, unit="bytes")
    assert len(pieces) > len(passages) > 1
    reference = DocumentReference(origin=ORIGIN, lake_uri="docs/leave.md", priority=1)
    original = refs("docs/leave.md", text.encode())
    found = document_candidates(
        reference,
        document_id="doc_1",
        filename="leave.md",
        original=original,
        pieces=pieces,
        passages=passages,
    )
    assert [one.part for one in found] == [str(index) for index in range(len(pieces))]
    assert {one.digest for one in found} == {sha256_hex(b"doc_1")}
    assert all(one.original == original for one in found)
    for one, piece in zip(found, pieces, strict=True):
        chunk = one.metadata["chunk"]
        assert one.content == piece.text
        assert (chunk["count"], chunk["page"]) == (len(pieces), piece.page)
        assert chunk["heading_path"] == ["Leave"]
        assert chunk["chunk_hashes"]
        for passage in passages:
            shown = passage.start < piece.end and piece.start < passage.end
            assert (passage.chunk_hash in chunk["chunk_hashes"]) == shown
    assert found[0].source_ref == {
        "document_id": "doc_1",
        "filename": "leave.md",
        "lake_uri": "docs/leave.md",
        "sha256": original["sha256"],
    }


def test_a_passage_of_another_page_is_not_shown() -> None:
    passages = tuple(
        DocumentChunk(f"c{page}", "doc_1", page, "text", page + 1, (), 0, 4, f"{page}" * 64)
        for page in range(2)
    )
    found = document_candidates(
        DocumentReference(lake_uri="a.txt"),
        document_id="doc_1",
        filename="a.txt",
        original=refs("a.txt", b""),
        pieces=passages,
        passages=passages,
    )
    hashes = [one.metadata["chunk"]["chunk_hashes"] for one in found]
    assert hashes == [[one.chunk_hash] for one in passages]


def test_a_transcripts_chunks_say_who_speaks_and_when() -> None:
    reference = TranscriptReference(origin=ORIGIN, lake_uri="a.vtt")
    found = transcript_candidates(reference, "a.vtt", VTT, chunk_size=5_000, chunk_overlap=200)
    (one,) = found
    assert one.metadata["chunk"] == {
        "index": 0,
        "count": 1,
        "start_offset": 0,
        "end_offset": len(one.content),
        "first_segment": 0,
        "last_segment": 1,
        "speakers": ["Anna", "Omar"],
        "start": "00:00:01.000",
        "end": "00:00:04.500",
    }
    assert one.source_ref["transcript_id"] == "a.vtt"
    assert one.digest == sha256_hex(b"a.vtt")
    assert one.original == refs("a.vtt", VTT)


def test_a_transcript_may_have_a_name_of_its_own() -> None:
    reference = TranscriptReference(lake_uri="a.vtt", transcript_id="call 7")
    found = transcript_candidates(reference, "a.vtt", VTT, chunk_size=30, chunk_overlap=0)
    assert len(found) > 1
    assert {one.digest for one in found} == {sha256_hex(b"call 7")}
    assert [one.part for one in found] == [str(place) for place in range(len(found))]
    assert all(len(one.content.encode()) <= 30 for one in found)


@pytest.mark.parametrize(
    ("reference", "locator", "evidence_id"),
    [
        (InlineReference(ORIGIN, "\ud800", {}, 4), ORIGIN, "inline:9"),
        (LakeTextReference(origin=ORIGIN, lake_uri="a"), "a", "lake:*:0"),
        (LakeHttpReference(origin=ORIGIN, folder="a"), "a", "lake:*:0"),
        (ResultReference(origin=ORIGIN, query_key="k", lake_uri="a"), "k", "sql:*:0"),
        (QueryReference(origin=ORIGIN, query_key="k", sql="x"), "k", "sqldef:*"),
        (DocumentReference(origin=ORIGIN, document_id="d"), "d", "doc:*:0"),
        (TranscriptReference(origin=ORIGIN, lake_uri="a"), "a", "transcript:*:0"),
    ],
)
def test_what_could_not_be_loaded_says_so_to_the_model(
    reference: Reference | InlineReference, locator: str, evidence_id: str
) -> None:
    error = InputError(f"{ORIGIN}: {locator} is not in the lake")
    found = failed_candidate(reference, locator, 9, error)
    kind = TYPES[type(reference)]
    assert found.content == f"[{kind.value} {locator} could not be loaded]"
    assert (found.origin, found.error, found.priority) == (ORIGIN, str(error), reference.priority)
    built = build_bundle([found], EvidencePolicy(), created_utc=NOW).bundle
    (item,) = built.items
    digest = sha256_hex(f"{kind.value} {locator}".encode())
    assert item.evidence_id == evidence_id.replace("*", digest[:12])
    assert item.metadata["error"] == str(error)
    assert item.source_ref == {"locator": locator}
    assert built.accounting.failed == 1
    assert found.content in str(built.render())

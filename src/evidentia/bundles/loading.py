"""Loading: each kind of source becomes candidates, from its bytes alone.

Ids follow from what was read: a lake artifact's from its bytes, a result's and a query's from the
query's key, a document's and a transcript's from its id.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from evidentia.bundles.accounting import EvidenceType
from evidentia.bundles.candidates import Candidate
from evidentia.bundles.references import (
    DocumentReference,
    InlineReference,
    LakeHttpReference,
    LakeTextReference,
    QueryReference,
    Reference,
    ResultReference,
    TranscriptReference,
)
from evidentia.bundles.responses import HttpResponse, read_responses, response_text
from evidentia.bundles.tables import SampledTable
from evidentia.bundles.texts import decode_text
from evidentia.bundles.transcripts import chunk_transcript, read_transcript, transcript_text
from evidentia.canonical import sha256_hex
from evidentia.documents.model import DocumentChunk
from evidentia.errors import EvidentiaError, InputError

CONTEXT: Final = 4_000
"""How much is looked at on either side of a piece, for values that are cut in two."""
TYPES: Final[Mapping[type[Reference | InlineReference], EvidenceType]] = {
    InlineReference: EvidenceType.INLINE_TEXT,
    LakeTextReference: EvidenceType.LAKE_TEXT,
    LakeHttpReference: EvidenceType.LAKE_HTTP,
    ResultReference: EvidenceType.SQL_RESULT,
    QueryReference: EvidenceType.SQL_QUERY_DEF,
    DocumentReference: EvidenceType.DOC_CHUNK,
    TranscriptReference: EvidenceType.TRANSCRIPT_CHUNK,
}


def inline_candidate(reference: InlineReference, index: int) -> Candidate:
    """Load text that is in the job itself."""
    try:
        reference.text.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{reference.origin}: the text is not text: {error.reason}") from None
    return Candidate(
        EvidenceType.INLINE_TEXT,
        reference.origin,
        reference.text,
        digest="",
        part=str(index),
        source_ref=reference.source_ref,
        priority=reference.priority,
    )


def text_candidate(reference: LakeTextReference, lake_uri: str, data: bytes) -> Candidate:
    """Load a text file of the lake."""
    original = lake_ref(lake_uri, data)
    return Candidate(
        EvidenceType.LAKE_TEXT,
        reference.origin,
        decode_text(data, f"{reference.origin} ({lake_uri})"),
        digest=original["sha256"],
        part="0",
        source_ref={"lake_uri": lake_uri, "sha256": original["sha256"]},
        original=original,
        priority=reference.priority,
    )


def response_candidates(
    reference: LakeHttpReference, lake_uri: str, data: bytes
) -> list[Candidate]:
    """Load recorded HTTP responses: status, headers and body, their secrets replaced."""
    original = lake_ref(lake_uri, data)
    return [
        Candidate(
            EvidenceType.LAKE_HTTP,
            reference.origin,
            response_text(response),
            digest=original["sha256"],
            part=str(place),
            source_ref={"lake_uri": lake_uri, "sha256": original["sha256"]},
            metadata=_of_response(response),
            original=original,
            priority=reference.priority,
        )
        for place, response in enumerate(read_responses(data, f"{reference.origin} ({lake_uri})"))
    ]


def _of_response(response: HttpResponse) -> dict[str, Any]:
    said = {
        "status": response.status,
        "url": response.url,
        "method": response.method,
        "fetched_at": response.fetched_at,
        "redacted_headers": list(response.redacted_headers) or None,
        "body_note": response.body_note or None,
    }
    return {name: value for name, value in said.items() if value is not None}


def query_candidate(reference: QueryReference) -> Candidate:
    """Load the definition of a query."""
    lines = [f"Query {reference.query_key}", reference.description or "", reference.sql.strip()]
    return Candidate(
        EvidenceType.SQL_QUERY_DEF,
        reference.origin,
        "\n".join(line for line in lines if line),
        digest=sha256_hex(reference.query_key.encode()),
        source_ref={"query_key": reference.query_key},
        priority=reference.priority,
    )


def result_candidate(
    reference: ResultReference, lake_uri: str, sha256: str, byte_count: int, table: SampledTable
) -> Candidate:
    """Load a query's result that was sampled already."""
    source_ref: dict[str, Any] = {
        "lake_uri": lake_uri,
        "query_key": reference.query_key,
        "sha256": sha256,
    }
    if reference.sql is not None:
        source_ref["sql"] = reference.sql
        source_ref["connection"] = reference.connection or "duckdb"
        for name, said in (("parameters", reference.parameters), ("files", reference.files)):
            if said:
                source_ref[name] = dict(said)
    return Candidate(
        EvidenceType.SQL_RESULT,
        reference.origin,
        "",
        digest=sha256_hex(reference.query_key.encode()),
        part="0",
        source_ref=source_ref,
        original={
            "lake_uri": lake_uri,
            "sha256": sha256,
            "byte_count": byte_count,
            "row_count": table.row_count,
            "col_count": len(table.columns) + len(table.left_out_columns),
        },
        priority=reference.priority,
        table=table,
        title=f"Result of {reference.query_key}",
        input_bytes=byte_count,
    )


def document_candidates(
    reference: DocumentReference,
    *,
    document_id: str,
    filename: str,
    original: Mapping[str, Any],
    pieces: Sequence[DocumentChunk],
    passages: Sequence[DocumentChunk],
    around: Sequence[tuple[str, str]] = (),
) -> list[Candidate]:
    """Load a document's pieces; each names the passages by which answers are checked and cited."""
    digest = sha256_hex(document_id.encode())
    on_page: defaultdict[int, list[DocumentChunk]] = defaultdict(list)
    for passage in passages:
        on_page[passage.page].append(passage)
    source_ref = {
        "document_id": document_id,
        "filename": filename,
        "lake_uri": original["lake_uri"],
        "sha256": original["sha256"],
    }
    return [
        Candidate(
            EvidenceType.DOC_CHUNK,
            reference.origin,
            piece.text,
            digest=digest,
            part=str(piece.index),
            source_ref=source_ref,
            metadata={
                "chunk": {
                    "index": piece.index,
                    "count": len(pieces),
                    "page": piece.page,
                    "heading_path": list(piece.heading_path),
                    "start": piece.start,
                    "end": piece.end,
                    "chunk_hashes": _within(piece, on_page[piece.page]),
                }
            },
            original=original,
            priority=reference.priority,
            before=before,
            after=after,
        )
        for piece, (before, after) in zip(pieces, around or [("", "")] * len(pieces), strict=True)
    ]


def transcript_candidates(
    reference: TranscriptReference,
    lake_uri: str,
    data: bytes,
    *,
    chunk_size: int,
    chunk_overlap: int,
) -> list[Candidate]:
    """Load a transcript's chunks, with who speaks in each and when."""
    original = lake_ref(lake_uri, data)
    transcript_id = reference.transcript_id or lake_uri
    segments = read_transcript(data, f"{reference.origin} ({lake_uri})")
    text = transcript_text(segments)
    chunks = chunk_transcript(segments, chunk_size=chunk_size, chunk_overlap=chunk_overlap)
    source_ref = {
        "transcript_id": transcript_id,
        "lake_uri": lake_uri,
        "sha256": original["sha256"],
    }
    return [
        Candidate(
            EvidenceType.TRANSCRIPT_CHUNK,
            reference.origin,
            chunk.text,
            digest=sha256_hex(transcript_id.encode()),
            part=str(chunk.index),
            source_ref=source_ref,
            metadata={
                "chunk": {
                    **{name: value for name, value in asdict(chunk).items() if name != "text"},
                    "count": len(chunks),
                    "speakers": list(chunk.speakers),
                }
            },
            original=original,
            priority=reference.priority,
            before=text[max(0, chunk.start_offset - CONTEXT) : chunk.start_offset],
            after=text[chunk.end_offset : chunk.end_offset + CONTEXT],
        )
        for chunk in chunks
    ]


def failed_candidate(
    reference: Reference | InlineReference, locator: str, index: int, error: EvidentiaError
) -> Candidate:
    """Stand in for what could not be loaded, so that nothing is silently missing."""
    kind = TYPES[type(reference)]
    if kind is EvidenceType.INLINE_TEXT:
        digest, part = "", str(index)
    else:
        digest = sha256_hex(f"{kind.value} {locator}".encode())
        part = "" if kind is EvidenceType.SQL_QUERY_DEF else "0"
    return Candidate(
        kind,
        reference.origin,
        f"[{kind.value} {locator} could not be loaded]",
        digest=digest,
        part=part,
        source_ref={"locator": locator},
        priority=reference.priority,
        error=str(error),
    )


def lake_ref(lake_uri: str, data: bytes) -> dict[str, Any]:
    """Return what leads to a whole file of the lake."""
    return {"lake_uri": lake_uri, "sha256": sha256_hex(data), "byte_count": len(data)}


def _within(piece: DocumentChunk, passages: Sequence[DocumentChunk]) -> list[str]:
    """Return the hashes of the passages that a piece shows, in whole or in part."""
    return [
        passage.chunk_hash
        for passage in passages
        if passage.start < piece.end and piece.start < passage.end
    ]

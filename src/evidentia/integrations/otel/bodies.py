"""What is around spans on their way: compression, types, and the answer that OTLP expects."""

import zlib
from typing import Final

import orjson

from evidentia.errors import InputError
from evidentia.integrations.otel.otlp_json import parse_json
from evidentia.integrations.otel.otlp_protobuf import parse_protobuf
from evidentia.integrations.otel.spans import Received, Rejected, told

JSON: Final = "application/json"
PROTOBUF: Final = "application/x-protobuf"
TYPES: Final = (PROTOBUF, JSON)
ENCODINGS: Final = ("", "identity", "gzip", "deflate")
MOST_BYTES: Final = 64 * 2**20
"""Of a request without its compression."""
_WINDOW: Final = 32 + zlib.MAX_WBITS
"""Tells gzip and zlib apart by how they begin."""


def inflated(data: bytes, encoding: str, most: int = MOST_BYTES) -> bytes:
    """Return a body without its compression; raise if it cannot be read, or is too large then."""
    if encoding in ("", "identity"):
        found = data
    else:
        found = b""
        left = data
        while left:  # a gzip file may have several members
            one = zlib.decompressobj(_WINDOW)
            try:
                found += one.decompress(left, most + 1 - len(found))
            except zlib.error as error:
                raise InputError(f"the body is no {encoding}: {error}") from None
            if len(found) > most:
                break
            if not one.eof:
                raise InputError(f"the body ends in the middle of its {encoding}: send it again")
            left = one.unused_data
    if len(found) > most:
        raise InputError(f"the body has more than {most:,} bytes: send smaller batches")
    return found


def parsed(data: bytes, media_type: str) -> Received:
    """Return the spans of a body without compression."""
    return parse_protobuf(data) if media_type == PROTOBUF else parse_json(data)


def answered(rejected: tuple[Rejected, ...], media_type: str) -> bytes:
    """Return what OTLP answers: nothing in particular, or how many spans were rejected and why."""
    if media_type == PROTOBUF:
        from opentelemetry.proto.collector.trace.v1 import (  # noqa: PLC0415 - the extra otel
            trace_service_pb2 as service,
        )

        response = service.ExportTraceServiceResponse()
        if rejected:
            response.partial_success.rejected_spans = len(rejected)
            response.partial_success.error_message = told(rejected)
        answer: bytes = response.SerializeToString()
        return answer
    if not rejected:
        return b"{}"
    return orjson.dumps(
        {"partialSuccess": {"rejectedSpans": str(len(rejected)), "errorMessage": told(rejected)}}
    )

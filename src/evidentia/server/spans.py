"""Where exporters of OpenTelemetry send spans: at the address that they take for given."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from evidentia.errors import EnvironmentProblem
from evidentia.integrations.otel.bodies import ENCODINGS, JSON, TYPES, answered, inflated, parsed
from evidentia.integrations.otel.gathering import put_down
from evidentia.server.actions import Asks, GuardedRoute, acts
from evidentia.server.problems import REFUSED_INPUT, WRONG_TYPE, ProblemError, documented
from evidentia.server.rates import Limited
from evidentia.server.running import running_of

router = APIRouter(route_class=GuardedRoute, tags=["OpenTelemetry"])

_EXAMPLE: Final[dict[str, Any]] = {
    "resourceSpans": [
        {
            "scopeSpans": [
                {
                    "spans": [
                        {
                            "traceId": "5b8efff798038103d269b633813fc60c",
                            "spanId": "eee19b7ec3c1b174",
                            "name": "execute_tool get_contact",
                            "startTimeUnixNano": "1795000000000000000",
                            "endTimeUnixNano": "1795000000100000000",
                            "attributes": [
                                {
                                    "key": "gen_ai.operation.name",
                                    "value": {"stringValue": "execute_tool"},
                                }
                            ],
                        }
                    ]
                }
            ]
        }
    ]
}


@router.post(
    "/v1/traces",
    summary="Send spans by OTLP",
    response_class=Response,
    responses={
        200: {
            "description": "All that is not in `partialSuccess` is durable.",
            "content": {
                JSON: {
                    "example": {
                        "partialSuccess": {
                            "rejectedSpans": "1",
                            "errorMessage": "it has more than 4,194,304 bytes (1)",
                        }
                    }
                },
                "application/x-protobuf": {"example": "…"},
            },
        },
        **documented(REFUSED_INPUT, WRONG_TYPE),
    },
    openapi_extra={
        "requestBody": {
            "required": True,
            "description": "An `ExportTraceServiceRequest`, which may be compressed by gzip.",
            "content": {
                JSON: {"schema": {"type": "object"}, "example": _EXAMPLE},
                "application/x-protobuf": {
                    "schema": {"type": "string", "format": "binary"},
                    "example": "…",
                },
            },
        }
    },
)
@acts("spans.receive", limited=Limited.SPANS)
async def receive_spans(
    asks: Asks,
    request: Request,
    content_encoding: Annotated[
        str, Header(description="`gzip`, `deflate`, or nothing.", max_length=40)
    ] = "",
) -> Response:
    """Take spans of programs that use models, and record each trace as a run once it is closed.

    A span is redacted by the policy before it is put down, and durable when this answers. One that
    comes again is not put down again. What cannot be kept is counted in `partialSuccess`.
    """
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    encoding = content_encoding.strip().lower()
    if given not in TYPES:
        raise ProblemError(WRONG_TYPE, f"The body's type is {given[:80] or 'not said'!r}.")
    if encoding not in ENCODINGS:
        raise ProblemError(WRONG_TYPE, f"The body's encoding is {encoding!r}: use gzip.")
    body = await request.body()
    running = running_of(request)

    def receive() -> bytes:
        try:
            received = parsed(inflated(body, encoding), given)
        except EnvironmentProblem as error:  # waiting would not help the exporter
            raise ProblemError(WRONG_TYPE, str(error)) from None
        at = running.opened.now()
        rejected = put_down(asks.workspace, received, running.gathering, at=at)
        running.metrics.spans.inc(len(received.spans) + len(received.rejected) - len(rejected))
        running.metrics.rejected_spans.inc(len(rejected))
        return answered(rejected, given)

    return Response(await run_in_threadpool(receive), media_type=given)

"""Bundles: what models saw, built from what a request brings, explained, rendered, proved."""

import re
from typing import Annotated, Any, Final, Literal

import orjson
from fastapi import APIRouter, Query, Request, Response
from fastapi import Path as PathField
from pydantic import BaseModel, ConfigDict, Field

from evidentia.bundles.accounting import Outcome
from evidentia.bundles.diffing import diff_bundles
from evidentia.bundles.references import names_files, read_references
from evidentia.errors import InputError
from evidentia.server.actions import GuardedRoute, Ws, acts
from evidentia.server.caching import KeptAnswer, entity_tag, is_known, tagged, unchanged
from evidentia.server.configured import connections_of
from evidentia.server.paging import Order, Paged, link_to, span
from evidentia.server.problems import REFUSED_INPUT, documented, not_found
from evidentia.server.rates import Limited
from evidentia.server.running import running_of
from evidentia.store.sql.bundles import ListedBundle

router = APIRouter(route_class=GuardedRoute, tags=["bundles"])

_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_EXAMPLE_ID: Final = "0b6a3a2e-8b4e-5a3c-9d0f-3f1c2a7e5b61"
_OTHER_ID: Final = "5f0c1d9a-21b7-5c44-8e6b-7a9d3e2f4c10"
_SHA: Final = "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7"
_AT: Final = "2026-01-03T14:30:00.000000Z"
BundleId = Annotated[str, PathField(description="The bundle's id.", examples=[_EXAMPLE_ID])]
RunId = Annotated[str, PathField(description="The run's id.", examples=["run-7"])]
_SUMMARY: Final[dict[str, Any]] = {
    "item_count": 1,
    "type_counts": {"inline_text": 1},
    "total_bytes": 45,
    "approx_tokens": 12,
}
_HEAD: Final[dict[str, Any]] = {
    "bundle_id": _EXAMPLE_ID,
    "bundle_sha256": _SHA,
    "created_utc": _AT,
    "summary": _SUMMARY,
    "entry": 41,
}
_ITEM: Final[dict[str, Any]] = {
    "bundle_id": _EXAMPLE_ID,
    "evidence_id": "inline:0",
    "evidence_type": "inline_text",
    "origin": "job_input.extra_params.evidence[0]",
    "outcome": "truncated",
    "reason": "max_item_bytes: 10000",
    "input_bytes": 12_000,
    "byte_count": 10_000,
    "artifact_sha256": None,
    "artifact_uri": None,
}


def _example(value: dict[str, Any]) -> ConfigDict:
    """Return the configuration of an answer with an example."""
    return ConfigDict(json_schema_extra={"examples": [value]})


def _strict(value: dict[str, Any]) -> ConfigDict:
    """Return that of a request, which has no other fields."""
    return ConfigDict(extra="forbid", json_schema_extra={"examples": [value]})


class BuildRequest(BaseModel):
    """What a bundle is built from: texts in the request, and documents of the library."""

    model_config = _strict(
        {
            "job_input": {
                "extra_params": {
                    "evidence": [
                        "Permanent employees receive 15 days of leave.",
                        {"text": "Leave is requested in writing.", "priority": 5},
                    ]
                }
            },
            "evidence_refs": {"documents": [{"document_id": "doc_5f0c1d9a21b75c44"}]},
            "policy": {"max_items": 20, "max_total_bytes": 50_000},
        }
    )

    job_input: dict[str, Any] | None = Field(
        default=None, description="`extra_params.evidence` lists texts, as they are or as objects."
    )
    evidence_refs: dict[str, Any] | None = Field(
        default=None,
        description="`documents` of the library by `document_id`, `sql_queries` to be shown, and "
        "`sql_results` by `sql` over a `connection` of the operator's. A path is refused.",
    )
    policy: dict[str, Any] | None = Field(
        default=None, description="How much of what it may hold; the defaults if not given."
    )
    on_error: Literal["raise", "record"] = Field(
        default="raise", description="Whether what cannot be loaded ends it, or is recorded."
    )


class BundleHead(BaseModel):
    """A bundle in a list."""

    model_config = _example(_HEAD)

    bundle_id: str
    bundle_sha256: str
    created_utc: str
    summary: dict[str, Any]
    entry: int = Field(description="The number of its entry in the trail.")


class BundlePage(BaseModel):
    """A page of bundles, the newest first."""

    model_config = _example({"bundles": [_HEAD]})

    bundles: list[BundleHead]


class BundleAnswer(BaseModel):
    """A bundle: exactly what a model saw, and what became of every input."""

    model_config = _example(
        {
            "bundle_id": _EXAMPLE_ID,
            "bundle_sha256": _SHA,
            "created_utc": _AT,
            "build_version": "2.1",
            "policy": {"max_items": 50},
            "items": [{"evidence_id": "inline:0", "content": "Leave is requested in writing."}],
            "summary": _SUMMARY,
            "accounting": {"inputs": 1, "kept": 1, "decisions": []},
        }
    )

    bundle_id: str
    bundle_sha256: str
    created_utc: str
    build_version: str
    policy: dict[str, Any]
    items: list[dict[str, Any]]
    summary: dict[str, Any]
    accounting: dict[str, Any]


class BundleItem(BaseModel):
    """An item of a bundle: how it was cut and why, and the artifact that it comes from."""

    bundle_id: str
    evidence_id: str
    evidence_type: str
    origin: str
    outcome: str
    reason: str
    input_bytes: int
    byte_count: int
    artifact_sha256: str | None
    artifact_uri: str | None


class BundleItems(BaseModel):
    """A page of a bundle's items, in their order."""

    model_config = _example({"items": [_ITEM]})

    items: list[BundleItem]


class LossStep(BaseModel):
    """One thing that was done to an input."""

    done: str
    reason: str
    before_bytes: int
    after_bytes: int


class BundleLoss(BaseModel):
    """An input that the model did not see whole, and why, step by step."""

    evidence_id: str
    evidence_type: str
    origin: str
    source: str
    outcome: str
    input_bytes: int
    bundle_bytes: int
    steps: list[LossStep]
    artifact_uri: str | None = None
    artifact_sha256: str | None = None


class BundleExplained(BaseModel):
    """What a model did not see: the counts of all inputs, and a row for each loss."""

    model_config = _example(
        {
            "bundle_id": _EXAMPLE_ID,
            "inputs": 2,
            "outcomes": {"kept": 1, "truncated": 1},
            "losses": [
                {
                    "evidence_id": "inline:0",
                    "evidence_type": "inline_text",
                    "origin": "job_input.extra_params.evidence[0]",
                    "source": "job_input",
                    "outcome": "truncated",
                    "input_bytes": 12_000,
                    "bundle_bytes": 10_000,
                    "steps": [
                        {
                            "done": "truncated",
                            "reason": "max_item_bytes: 10000",
                            "before_bytes": 12_000,
                            "after_bytes": 10_000,
                        }
                    ],
                    "artifact_uri": None,
                    "artifact_sha256": None,
                }
            ],
        }
    )

    bundle_id: str
    inputs: int
    outcomes: dict[str, int]
    losses: list[BundleLoss]


class RenderedBundle(BaseModel):
    """A bundle as a model is given it."""

    model_config = _example(
        {
            "format": "text",
            "content": "<evidence-123456789012345678 id=…>\n…",
            "nonce": "123456789012345678",
            "stripped": {},
            "overhead_bytes": 120,
        }
    )

    format: str
    content: str | list[dict[str, Any]]
    nonce: str
    stripped: dict[str, dict[str, int]] = Field(
        description="Invisible characters that were taken out, by item."
    )
    overhead_bytes: int


class BundleDiffAnswer(BaseModel):
    """How two bundles differ."""

    model_config = _example(
        {
            "build_version": ["2.1", "2.1"],
            "policy": {"max_items": [50, 20]},
            "only_before": ["inline:1"],
            "only_after": [],
            "changed": [],
            "outcomes": {"inline:1": ["kept", "dropped"]},
            "same": False,
        }
    )

    build_version: list[str]
    policy: dict[str, list[Any]]
    only_before: list[str]
    only_after: list[str]
    changed: list[dict[str, Any]]
    outcomes: dict[str, list[str]]
    same: bool


class RunRequest(BaseModel):
    """Which run used a bundle."""

    model_config = _strict({"run_id": "run-7"})

    run_id: str = Field(min_length=1, max_length=200)


class RunAnswer(BaseModel):
    """Where it is recorded."""

    model_config = _example({"run_id": "run-7", "entry": 42, "repeated": False})

    run_id: str
    entry: int
    repeated: bool = Field(description="Whether it was recorded before.")


class BundleRuns(BaseModel):
    """The runs that used a bundle, in the order in which they were recorded."""

    model_config = _example({"runs": ["run-7"]})

    runs: list[str]


class RunBundles(BaseModel):
    """The bundles that a run used, in the order in which they were recorded."""

    model_config = _example({"bundles": [_HEAD]})

    bundles: list[BundleHead]


class BundleVerified(BaseModel):
    """What verifying a bundle found."""

    model_config = _example(
        {
            "bundle_id": _EXAMPLE_ID,
            "holds": True,
            "checked": ["1 item within the limits of the policy"],
            "problems": [],
        }
    )

    bundle_id: str
    holds: bool
    checked: list[str]
    problems: list[str]


@router.post("/bundles", status_code=201, summary="Build a bundle")
@acts("bundles.build", limited=Limited.CHECK)
def build_bundle(
    asked: BuildRequest, workspace: Ws, request: Request, response: Response
) -> BundleHead:
    """Build a bundle from what the request brings, and record it in the trail.

    The same inputs and policy give the bundle that is recorded already. Nothing is read by a path
    or a URL: texts come in the request, documents from the library, and rows by `sql` over a
    `connection` that the operator named; it only reads, within limits of rows and time.
    """
    for one in read_references(asked.job_input, asked.evidence_refs):
        if names_files(one):
            raise InputError(
                f"{one.origin}: it names a file, and the server opens none: send the text in "
                "job_input.extra_params.evidence, or name a document of the library by document_id"
            )
    built = workspace.bundles.build(
        asked.job_input,
        asked.evidence_refs,
        asked.policy,
        on_error=asked.on_error,
        connections=connections_of(running_of(request).settings, workspace.tenant),
    )
    response.headers["location"] = f"/api/v1/bundles/{built.bundle_id}"
    return _head(workspace.bundles.find(built.bundle_id))


@router.get("/bundles", summary="The bundles", responses=documented(REFUSED_INPUT))
@acts("bundles.list")
def list_bundles(
    workspace: Ws, page: Paged, request: Request, response: Response, order: Order = "newest"
) -> BundlePage:
    """Give the bundles by the page, the newest first if not asked otherwise."""
    found = workspace.bundles.list(**span(page, order), limit=page.limit + 1)
    shown = found[: page.limit]
    link_to(request, response, shown[-1].entry if len(found) > page.limit else None)
    return BundlePage(bundles=list(map(_head, shown)))


@router.get(
    "/bundles/{bundle_id}",
    summary="A bundle",
    responses={
        200: {"model": BundleAnswer, "headers": {"ETag": {"schema": {"type": "string"}}}},
        304: {"description": "The caller has it already"},
    },
)
@acts("bundles.get")
def read_bundle(bundle_id: BundleId, workspace: Ws, request: Request) -> Response:
    """Give a bundle, read from the file that the trail names by its digest."""
    row = workspace.bundles.find(_id_of(bundle_id))
    tag = entity_tag(row.statement_sha256[:32])
    if is_known(request, tag):
        return unchanged(tag)
    kept, name = running_of(request).kept, (workspace.tenant, row.id, tag)
    answer = kept.get(name)
    if answer is None:
        answer = KeptAnswer.of(workspace.bundles.get(row.id).encode(), tagged(tag))
        kept.put(name, answer)
    return answer.given_to(request)


@router.get(
    "/bundles/{bundle_id}/items", summary="A bundle's items", responses=documented(REFUSED_INPUT)
)
@acts("bundles.items")
def list_bundle_items(
    bundle_id: BundleId, workspace: Ws, page: Paged, request: Request, response: Response
) -> BundleItems:
    """Give what is tracked of each item by the page: how it was cut, and its artifact.

    What was dropped is no item; `explain` has it.
    """
    found, begin = workspace.bundles.items(_id_of(bundle_id)), page.after or 0
    end = begin + page.limit
    link_to(request, response, end if end < len(found) else None)
    return BundleItems.model_validate({"items": [one.as_json() for one in found[begin:end]]})


@router.get("/bundles/{bundle_id}/explain", summary="What a model did not see, and why")
@acts("bundles.get")
def explain_bundle(bundle_id: BundleId, workspace: Ws) -> BundleExplained:
    """Give a row for every input that was redacted, sampled, cut, dropped or not read, and why."""
    bundle = workspace.bundles.get(_id_of(bundle_id))
    accounting = bundle.accounting
    losses = [one.as_json() for one in accounting.decisions if one.outcome is not Outcome.KEPT]
    return BundleExplained.model_validate(
        {
            "bundle_id": bundle.bundle_id,
            "inputs": accounting.inputs,
            "outcomes": accounting.counts(),
            "losses": losses,
        }
    )


@router.get("/bundles/{bundle_id}/render", summary="A bundle as a model is given it")
@acts("bundles.render")
def render_bundle(
    bundle_id: BundleId,
    workspace: Ws,
    format: Annotated[  # noqa: A002 - the name that callers know
        Literal["text", "anthropic", "openai"],
        Query(description="Fenced text, search results for Anthropic, or messages for OpenAI."),
    ] = "text",
) -> RenderedBundle:
    """Give a bundle in the form that a model takes, each item behind a fence it cannot forge."""
    found = workspace.bundles.render(_id_of(bundle_id), format)
    return RenderedBundle(
        format=found.format,
        content=found.content,
        nonce=found.nonce,
        stripped={name: dict(counts) for name, counts in found.stripped.items()},
        overhead_bytes=found.overhead_bytes,
    )


@router.get("/bundles/{bundle_id}/diff/{other_bundle_id}", summary="How two bundles differ")
@acts("bundles.get")
def diff_two_bundles(
    bundle_id: BundleId,
    other_bundle_id: Annotated[
        str, PathField(description="The bundle that it is compared with.", examples=[_OTHER_ID])
    ],
    workspace: Ws,
) -> BundleDiffAnswer:
    """Say how the second bundle differs from the first: policy, items, what became of inputs."""
    before = workspace.bundles.get(_id_of(bundle_id))
    after = workspace.bundles.get(_id_of(other_bundle_id))
    return BundleDiffAnswer.model_validate(diff_bundles(before, after).as_json())


@router.post("/bundles/{bundle_id}/runs", status_code=201, summary="Record a run")
@acts("bundles.record_run")
def record_run(bundle_id: BundleId, asked: RunRequest, workspace: Ws) -> RunAnswer:
    """Record in the trail that a run used a bundle; recording it again changes nothing."""
    receipt = workspace.bundles.record_run(asked.run_id, _id_of(bundle_id))
    return RunAnswer(run_id=asked.run_id, entry=receipt.seq, repeated=receipt.repeated)


@router.get("/bundles/{bundle_id}/runs", summary="The runs of a bundle")
@acts("bundles.runs")
def list_runs(bundle_id: BundleId, workspace: Ws) -> BundleRuns:
    """Give the runs that used a bundle."""
    return BundleRuns(runs=workspace.bundles.runs(_id_of(bundle_id)))


@router.get("/runs/{run_id:path}/bundles", summary="The bundles of a run")
@acts("bundles.of_run")
def list_bundles_of_run(run_id: RunId, workspace: Ws) -> RunBundles:
    """Give the bundles that a run used: what its models saw."""
    found = workspace.bundles.of_run(run_id)
    if not found:
        raise not_found()
    return RunBundles(bundles=list(map(_head, found)))


@router.get(
    "/bundles/{bundle_id}/proof",
    summary="The proof of a bundle",
    response_class=Response,
    responses={
        200: {
            "description": "A proof that `evidentia verify` verifies, with the bundle in it.",
            "content": {
                "application/json": {
                    "schema": {"type": "object"},
                    "example": {"format": "evidentia proof", "v": 2, "checkpoint": "…"},
                }
            },
        },
    },
)
@acts("bundles.prove")
def prove_bundle(bundle_id: BundleId, workspace: Ws) -> Response:
    """Prove a bundle: the signed statement, and its place in the log under a checkpoint."""
    proof = workspace.bundles.prove(_id_of(bundle_id))
    return Response(orjson.dumps(proof.as_json()), media_type="application/json")


@router.get("/bundles/{bundle_id}/verification", summary="Whether a bundle holds")
@acts("bundles.verify")
def verify_bundle(bundle_id: BundleId, workspace: Ws) -> BundleVerified:
    """Check a bundle's digest, limits and accounting, and every artifact that it refers to."""
    row = workspace.bundles.find(_id_of(bundle_id))
    report = workspace.bundles.verify(row.id)
    return BundleVerified(
        bundle_id=report.bundle_id,
        holds=report.holds,
        checked=list(report.checked),
        problems=list(report.problems),
    )


def _head(row: ListedBundle) -> BundleHead:
    return BundleHead.model_validate({name: getattr(row, name) for name in BundleHead.model_fields})


def _id_of(given: str) -> str:
    """Return what is a bundle's id; other names of bundles are no address."""
    if _ID.fullmatch(given) is None:
        raise not_found()
    return given

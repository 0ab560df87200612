"""Verification of a file that someone sends: what holds of it, and what it cannot show."""

import json
from typing import Annotated, Any, Final

from fastapi import APIRouter, File, Form, UploadFile
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from evidentia.jobs.verifier import own_keys, verify_apart
from evidentia.proof.keys import TrustedKey
from evidentia.server.actions import GuardedRoute, Ws, acts
from evidentia.server.rates import Limited
from evidentia.trail.note import VerifierKey

router = APIRouter(route_class=GuardedRoute, tags=["verification"])

_MOST_KEYS: Final = 20
_REPORT: Final[dict[str, Any]] = {
    "verdict": "holds",
    "holds": True,
    "checks": [{"name": "signature", "holds": True, "says": "signed by a key that you trust"}],
    "entry": None,
    "body": None,
    "statement": None,
    "fingerprint": None,
    "superseded_by": [],
    "findings": [],
    "cannot_know": ["whether there is a later version"],
    "shows": None,
    "trusted_keys": ["evidentia.local/default+1f2e3d4c+AQID…"],
}


class ReportedCheck(BaseModel):
    """One thing that was checked; `holds` is null where it could not be decided."""

    name: str
    holds: bool | None
    says: str


class VerificationReport(BaseModel):
    """What holds of a file, as `evidentia verify --json` says it, and by which keys."""

    model_config = ConfigDict(json_schema_extra={"examples": [_REPORT]})

    verdict: str
    holds: bool = Field(description="Whether all was checked and holds, signed by a trusted key.")
    checks: list[ReportedCheck]
    entry: dict[str, Any] | None
    body: Any
    statement: dict[str, Any] | None
    fingerprint: str | None
    superseded_by: list[dict[str, Any]]
    findings: list[str]
    cannot_know: list[str]
    shows: dict[str, Any] | None = Field(
        None, description="What the proof of a corpus shows of a document."
    )
    trusted_keys: list[str] = Field(description="The public keys that were trusted.")


@router.post(
    "/verify",
    summary="Verify a file",
    response_class=Response,
    responses={200: {"model": VerificationReport}},
    openapi_extra={
        "requestBody": {"content": {"multipart/form-data": {"example": {"file": "pack.json"}}}}
    },
)
@acts("trail.keys", limited=Limited.CHECK)
def verify_file(
    workspace: Ws,
    file: Annotated[
        UploadFile,
        File(description="A proof, an exported pack, a PDF, an HTML page, a proof of a corpus."),
    ],
    key: Annotated[
        list[Annotated[str, Field(max_length=4_096)]] | None,
        Form(
            max_length=_MOST_KEYS,
            description="The public keys you trust, as text (`name+id+base64`, PEM or "
            "hexadecimal); those of this workspace if none is given.",
        ),
    ] = None,
) -> Response:
    """Verify a file from the file alone, by keys you give or by those of this workspace.

    A file that does not hold is answered 200, with the report: look at `holds`. Nothing of the
    file is kept.
    """
    keys = [TrustedKey.parse(one) for one in key] if key else own_keys(workspace)
    report = json.loads(verify_apart(file.file.read(), keys))
    said = {**report, "shows": report.get("shows"), "trusted_keys": list(map(_written, keys))}
    return Response(json.dumps(said), media_type="application/json")


def _written(key: TrustedKey) -> str:
    return key.public_key.hex() if key.name is None else str(VerifierKey(key.name, key.public_key))

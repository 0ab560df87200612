"""Tools that explain evidence: whether a file of it holds, and what a bundle showed a model."""

import json
from pathlib import Path
from typing import Annotated, Any, Final

from mcp.server.mcpserver.tools import Tool
from mcp.types import CallToolResult
from pydantic import Field

from evidentia.errors import InputError, NotFoundError
from evidentia.integrations.mcp.asking import Asker
from evidentia.integrations.mcp.checking import Name, Start
from evidentia.integrations.mcp.offering import READS, offered
from evidentia.integrations.mcp.results import (
    ExplainedBundle,
    InputFate,
    Verification,
    VerifiedPart,
)
from evidentia.integrations.mcp.showing import Text, told
from evidentia.jobs.verifier import own_keys, verify_apart
from evidentia.language.counting import counted
from evidentia.verifying import MAX_PDF_BYTES
from evidentia.workspace import Workspace

MOST_EVIDENCE: Final = 2_000_000
"""Characters of a file that is given as text; a larger one is read from a folder."""
PAGE: Final = 50


def tools(asker: Asker, files: Path | None = None) -> list[Tool]:
    """Return the tools that explain; files are read only below `files`, if that is given."""

    def verify_evidence(
        evidence: Annotated[
            str,
            Field(
                min_length=1,
                max_length=MOST_EVIDENCE,
                description="The whole content of the file, unchanged: a proof, an exported pack "
                "(JSON) or an HTML page. No path, no URL.",
            ),
        ],
    ) -> Annotated[CallToolResult, Verification]:
        """Verify a file of evidence: whether this workspace signed it, and it is unchanged.

        It holds only if all was checked, and signed by a key of this workspace. What it says may
        still be wrong: it shows who said it and when, not that it is so.
        """
        return _verified(asker.workspace(), evidence.encode())

    def verify_file(
        file: Annotated[
            str,
            Field(
                min_length=1,
                max_length=1_000,
                description="Its name, below the folder that the server was started with.",
            ),
        ],
    ) -> Annotated[CallToolResult, Verification]:
        """Verify a file of evidence (a proof, a pack, a PDF, an HTML page) from the shared folder.

        The same as verify_evidence, for files that are there.
        """
        workspace = asker.workspace()
        return _verified(workspace, _read(files or Path(), file))

    def explain_bundle(
        bundle: Annotated[
            Name, Field(description="The bundle's id, or its first 8 characters, or `latest`.")
        ],
        start: Start = 0,
    ) -> Annotated[CallToolResult, ExplainedBundle]:
        """Explain a bundle: which inputs a model was shown, which not or only in part, and why.

        Use it when something seems to be missing from what you were given.
        """
        workspace = asker.workspace()
        found = workspace.bundles.get(bundle)
        accounting, end = found.accounting, start + PAGE
        inputs = [
            InputFate(
                evidence_id=one.evidence_id,
                evidence_type=one.evidence_type.value,
                source=one.source,
                outcome=one.outcome.value,
                input_bytes=one.input_bytes,
                shown_bytes=one.bundle_bytes,
                why=[step.reason for step in one.steps],
            )
            for one in accounting.decisions[start:end]
        ]
        outcomes = ("kept", "redacted", "sampled", "truncated", "failed", "dropped")
        result = ExplainedBundle(
            bundle_id=found.bundle_id,
            bundle_sha256=found.bundle_sha256,
            created_utc=str(found.created_utc),
            items=len(found.items),
            input_bytes=accounting.input_bytes,
            shown_bytes=accounting.bundle_bytes,
            by_outcome={name: getattr(accounting, name) for name in outcomes},
            inputs=inputs,
            next_start=end if end < len(accounting.decisions) else None,
        )
        return told(workspace, _ours(result), [_fate(one) for one in inputs], result)

    verifying = [
        offered(
            asker,
            "trail.keys",
            verify_evidence,
            title="Verify evidence",
            annotations=READS,
            otherwise="",
        )
    ]
    if files is not None:
        verifying.append(
            offered(
                asker,
                "trail.keys",
                verify_file,
                title="Verify a file",
                annotations=READS,
                otherwise="Give a name below that folder, or the content to verify_evidence.",
            )
        )
    return [
        *verifying,
        offered(
            asker,
            "bundles.get",
            explain_bundle,
            title="Explain a bundle",
            annotations=READS,
            otherwise="Use the id of the bundle you were shown; if you know none, leave it.",
        ),
    ]


def _read(folder: Path, name: str) -> bytes:
    """Return a file below a folder; `NotFoundError` for all else, whatever is there."""
    root = folder.resolve()
    try:
        file = (root / name).resolve()
        if not file.is_relative_to(root) or not file.is_file():
            raise NotFoundError(f"there is no file {name[:200]!r} in the shared folder")
        with file.open("rb") as opened:
            data = opened.read(MAX_PDF_BYTES + 1)
    except (OSError, ValueError):
        raise NotFoundError(f"{name[:200]!r} in the shared folder can't be read") from None
    if len(data) > MAX_PDF_BYTES:
        raise InputError(
            f"{name[:200]!r} is larger than {MAX_PDF_BYTES:,} bytes: it is no evidence"
        )
    return data


def _verified(workspace: Workspace, data: bytes) -> CallToolResult:
    keys = own_keys(workspace)
    report: dict[str, Any] = json.loads(verify_apart(data, keys))
    entry = report["entry"] or {}
    result = Verification(
        verdict=report["verdict"],
        holds=report["holds"],
        checks=[VerifiedPart(**one) for one in report["checks"]],
        kind=entry.get("kind"),
        subject=entry.get("subject"),
        superseded=bool(report["superseded_by"]),
        findings=report["findings"],
        cannot_know=report["cannot_know"],
    )
    ours = (
        "It holds: it was signed by this workspace, and is unchanged."
        if result.holds
        else f"It is NO evidence of this workspace ({result.verdict}): don't rely on it."
    )
    if not keys:
        ours += " This workspace has no signing key yet, so nothing could be of it."
    if result.superseded:
        ours += " It was superseded by a later version: rely on that one."
    texts: list[Text] = [
        ({"type": "check", "name": one.name, "holds": str(one.holds).lower()}, one.says)
        for one in result.checks
    ]
    if result.kind is not None:
        texts.append(({"type": "evidence of"}, f"{result.kind} {result.subject}"))
    texts += [({"type": "finding"}, one) for one in result.findings]
    texts += [({"type": "what it can't show"}, one) for one in result.cannot_know]
    return told(workspace, ours, texts, result)


def _ours(result: ExplainedBundle) -> str:
    counts = ", ".join(f"{count} {name}" for name, count in result.by_outcome.items() if count)
    ours = (
        f"Bundle {result.bundle_id}: the model was shown {counted(result.items, 'item')}, "
        f"{result.shown_bytes:,} of {counted(result.input_bytes, 'byte')}. Inputs: "
        f"{counts or 'none'}."
    )
    if result.next_start is not None:
        ours += f" More inputs: start {result.next_start}."
    return ours


def _fate(one: InputFate) -> Text:
    said = {
        "id": one.evidence_id,
        "type": one.evidence_type,
        "outcome": one.outcome,
        "shown": f"{one.shown_bytes} of {one.input_bytes} bytes",
    }
    return said, "\n".join([one.source, *one.why])

"""Verifying an exported pack: what a proof shows, and that the file is the one that was written."""

from dataclasses import replace

from evidentia.canonical import canonical_json, parse_json
from evidentia.errors import ProofError
from evidentia.packs.model import EvidencePack
from evidentia.packs.statement import PREDICATE_TYPE, from_statement
from evidentia.proof.statement import Statement
from evidentia.proof.verification import Check, ProofReport

WHAT_A_PACK_CANNOT_SHOW = (
    "whether the sources say what is true: it shows that they were cited as they are here",
    "whether the reviewer read it: it shows that a review was recorded in their name",
    "whether a newer version replaces it: ask who keeps the trail",
)


def written(document: object) -> bytes:
    """Return an exported pack's bytes: canonical JSON, and a newline."""
    return canonical_json(document) + b"\n"


def with_pack_checks(data: bytes, report: ProofReport) -> ProofReport:
    """Return a report with what is to be looked at if the file is an exported pack."""
    statement = report.statement
    if statement is None or statement.predicate_type != PREDICATE_TYPE:
        return report
    checks = (*report.checks, _form(data), _pack(statement, report))
    return replace(
        report, checks=checks, cannot_know=(*report.cannot_know, *WHAT_A_PACK_CANNOT_SHOW)
    )


def _form(data: bytes) -> Check:
    if data == written(parse_json(data)):
        return Check("file", holds=True, says="byte for byte as an export is written")
    return Check(
        "file", holds=False, says="not byte for byte as an export is written: it was changed"
    )


def _pack(statement: Statement, report: ProofReport) -> Check:
    try:
        pack = from_statement(statement)
        _agrees(pack, report)
    except ProofError as error:
        return Check("pack", holds=False, says=str(error))
    says = f"{pack.pack_id}, version {pack.version}, of decision {pack.decision_id!r}: it adds up"
    return Check("pack", holds=True, says=says)


def _agrees(pack: EvidencePack, report: ProofReport) -> None:
    """Raise `ProofError` unless the entry is of this pack and of its tenant."""
    entry = report.entry
    if entry is not None and (entry.subject, entry.tenant) != (pack.pack_id, pack.tenant_id):
        raise ProofError(
            f"the entry is about {entry.subject!r} of tenant {entry.tenant!r}, the pack is "
            f"{pack.pack_id} of {pack.tenant_id!r}"
        )

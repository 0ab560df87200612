"""Evidence records: where an obligation came from, who extracted it, who checked it.

A record is never changed and never deleted. A status that changes is a new record beside the old
one, told apart by its `doc_filename`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from evidentia.canonical import parse_json
from evidentia.errors import CanonicalError, InputError
from evidentia.frozen import FrozenModel, FrozenObjects
from evidentia.logs import get_logger
from evidentia.trail.entry import encode_body, encode_subject

STATUS_CHANGE = "status_change"
"""The `doc_filename` of a record that is a status change and not an extraction."""

SYSTEM = "SYSTEM"
"""Stands for a document or a model where the system itself acted."""

_log = get_logger("trail.record")


class VerificationResult(str, Enum):  # noqa: UP042 - as published: StrEnum's str() is another
    """What a second model said about an extracted obligation."""

    CONFIRMED = "CONFIRMED"
    DISPUTED = "DISPUTED"
    UNVERIFIED = "UNVERIFIED"


class EvidenceRecord(FrozenModel):
    """One obligation's evidence: source, extraction, verification and amendments. Frozen."""

    obligation_id: str
    doc_id: str
    doc_filename: str
    page_number: int | None = None
    section_reference: str | None = None
    source_clause: str
    extraction_model: str
    verification_model: str
    verification_result: str = Field(description="CONFIRMED | DISPUTED | UNVERIFIED")
    confidence: float = Field(ge=0.0, le=1.0)
    amendment_history: FrozenObjects | None = None

    @model_validator(mode="after")
    def _known_result(self) -> Self:
        allowed = [result.value for result in VerificationResult]
        if self.verification_result not in allowed:
            raise ValueError(
                f"verification_result must be one of {', '.join(allowed)}, "
                f"got {self.verification_result!r}"
            )
        return self

    @property
    def is_status_change(self) -> bool:
        """Whether this record marks a transition and no extraction."""
        return self.doc_filename == STATUS_CHANGE


SkipReason = Literal[
    "missing_obligation_id",
    "missing_document",
    "missing_verification",
    "unknown_result",
    "invalid_record",
]


@dataclass(frozen=True, slots=True)
class SkippedObligation:
    """An obligation that gave no record, and why."""

    index: int
    obligation_id: str | None
    reason: SkipReason
    detail: str


class PackagedEvidence(list[EvidenceRecord]):
    """The records of a batch, as a list; `skipped` holds what gave none, and why."""

    def __init__(
        self,
        records: Sequence[EvidenceRecord] = (),
        skipped: Sequence[SkippedObligation] = (),
    ) -> None:
        super().__init__(records)
        self.skipped = tuple(skipped)


def create_evidence_record(
    obligation: Mapping[str, Any],
    document: Mapping[str, Any],
    verification: Mapping[str, Any],
    amendment_history: Sequence[Mapping[str, Any]] | None = None,
) -> EvidenceRecord:
    """Assemble one record; raise `ValidationError` for what is missing or not allowed.

    The verifier's confidence wins over the extractor's; without either it is 0.0, which
    validation warns about. An explicit `result` wins over the boolean `verified`.
    """
    given = {
        "obligation_id": obligation.get("obligation_id"),
        "doc_id": document.get("doc_id"),
        "doc_filename": document.get("filename"),
        "source_clause": obligation.get("source_clause"),
        "extraction_model": obligation.get("extraction_model"),
        "verification_model": verification.get("verification_model"),
    }
    record = EvidenceRecord.model_validate(
        {name: value for name, value in given.items() if value is not None}
        | {
            "page_number": obligation.get("source_page"),
            "section_reference": obligation.get("section_reference"),
            "verification_result": _resolve_verification_result(verification),
            "confidence": verification.get("confidence", obligation.get("confidence", 0.0)),
            "amendment_history": amendment_history,
        }
    )
    _log.debug("evidence_record_created", obligation_id=record.obligation_id, doc_id=record.doc_id)
    return record


def package_evidence(
    obligations: Sequence[Mapping[str, Any]],
    documents: Mapping[str, Mapping[str, Any]],
    verifications: Mapping[str, Mapping[str, Any]],
    amendment_chains: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
) -> PackagedEvidence:
    """Make one record per obligation; what gives none is listed in the result's `skipped`.

    `documents` is keyed by document id, the other two by obligation id.
    """
    records: list[EvidenceRecord] = []
    skipped: list[SkippedObligation] = []
    for index, obligation in enumerate(obligations):
        outcome = _package_one(index, obligation, documents, verifications, amendment_chains or {})
        if isinstance(outcome, EvidenceRecord):
            records.append(outcome)
        else:
            skipped.append(outcome)
            _log.warning(
                f"evidence_{outcome.reason}",
                obligation_id=outcome.obligation_id,
                index=index,
                detail=outcome.detail,
            )
    _log.info("evidence_packaged", records=len(records), skipped=len(skipped))
    return PackagedEvidence(records, skipped)


def create_status_change_record(
    obligation_id: str,
    old_status: str,
    new_status: str,
    reason: str,
    changed_by_doc_id: str | None = None,
) -> EvidenceRecord:
    """Return a new record that marks a transition; the record it follows stays as it is."""
    return EvidenceRecord(
        obligation_id=obligation_id,
        doc_id=changed_by_doc_id or SYSTEM,
        doc_filename=STATUS_CHANGE,
        source_clause=f"Status changed from {old_status} to {new_status}: {reason}",
        extraction_model=SYSTEM,
        verification_model=SYSTEM,
        verification_result=VerificationResult.UNVERIFIED.value,
        confidence=1.0,
        amendment_history=[
            {
                "old_status": old_status,
                "new_status": new_status,
                "reason": reason,
                "changed_by_doc_id": changed_by_doc_id,
            }
        ],
    )


def _package_one(
    index: int,
    obligation: Mapping[str, Any],
    documents: Mapping[str, Mapping[str, Any]],
    verifications: Mapping[str, Mapping[str, Any]],
    amendment_chains: Mapping[str, Sequence[Mapping[str, Any]]],
) -> EvidenceRecord | SkippedObligation:
    obligation_id = obligation.get("obligation_id")
    if not isinstance(obligation_id, str):
        detail = f"obligation {index} has no obligation_id that is text"
        return SkippedObligation(index, None, "missing_obligation_id", detail)
    doc_id = obligation.get("doc_id")
    document = documents.get(doc_id) if isinstance(doc_id, str) else None
    if document is None:
        detail = f"no document with doc_id {doc_id!r}"
        return SkippedObligation(index, obligation_id, "missing_document", detail)
    verification = verifications.get(obligation_id)
    if verification is None:
        detail = f"no verification for obligation {obligation_id!r}"
        return SkippedObligation(index, obligation_id, "missing_verification", detail)
    try:
        return create_evidence_record(
            obligation, document, verification, amendment_chains.get(obligation_id)
        )
    except ValidationError as error:
        result = verification.get("result")
        known = not result or result in list(VerificationResult)
        reason: SkipReason = "invalid_record" if known else "unknown_result"
        return SkippedObligation(index, obligation_id, reason, validation_problems(error))


def read_record(data: bytes) -> EvidenceRecord:
    """Read a record from JSON that can be recorded; raise `InputError` saying what is wrong."""
    try:
        record = EvidenceRecord.model_validate(parse_json(data))
        encode_subject(record.obligation_id)
        encode_body(record.model_dump())
    except ValidationError as error:
        raise InputError(validation_problems(error)) from None
    except CanonicalError as error:
        raise InputError(str(error)) from None
    return record


def validation_problems(error: ValidationError) -> str:
    """Put a validation error into one line: what is missing, unknown or wrong, by field."""
    named: dict[str, list[str]] = {"missing": [], "extra_forbidden": []}
    problems = []
    for problem in error.errors(include_url=False):
        field = ".".join(map(str, problem["loc"]))
        if problem["type"] in named:
            named[problem["type"]].append(field)
        else:
            problems.append(f"{field}: {problem['msg']}" if field else problem["msg"])
    for kind, word in (("extra_forbidden", "unknown"), ("missing", "missing")):
        if named[kind]:
            problems.insert(0, f"{word}: {', '.join(named[kind])}")
    line = "; ".join(problems).replace("Value error, ", "")
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in line  # a key of the input may hold what breaks a line or a terminal
    )


def _resolve_verification_result(verification: Mapping[str, Any]) -> Any:
    """Normalise a verification's outcome; an unknown `result` is passed on, to be refused."""
    explicit = verification.get("result")
    if explicit:
        return explicit.value if isinstance(explicit, VerificationResult) else explicit
    match verification.get("verified"):
        case True:
            return VerificationResult.CONFIRMED.value
        case False:
            return VerificationResult.DISPUTED.value
        case _:
            return VerificationResult.UNVERIFIED.value

"""Evidence ids: stable for the same inputs and policy, and unique within a bundle."""

from collections.abc import Sequence
from typing import Final

from evidentia.bundles.accounting import EvidenceType
from evidentia.bundles.candidates import Candidate
from evidentia.canonical import sha256_hex

PREFIX_DIGITS: Final = 12
_FORMS: Final = {
    EvidenceType.INLINE_TEXT: "inline",
    EvidenceType.LAKE_TEXT: "lake",
    EvidenceType.LAKE_HTTP: "lake",
    EvidenceType.SQL_RESULT: "sql",
    EvidenceType.SQL_QUERY_DEF: "sqldef",
    EvidenceType.DOC_CHUNK: "doc",
    EvidenceType.TRANSCRIPT_CHUNK: "transcript",
}


def evidence_ids(candidates: Sequence[Candidate]) -> list[str]:
    """Return each candidate's id: its form, the beginning of its hash, and its part.

    A beginning that an earlier id has already grows until it differs. The same thing asked for
    again is told apart by a hash that follows from how often it came before.
    """
    taken: set[str] = set()
    given = []
    for candidate in candidates:
        found = _free(candidate, taken)
        taken.add(found)
        given.append(found)
    return given


def _free(candidate: Candidate, taken: set[str]) -> str:
    form, part = _FORMS[candidate.evidence_type], candidate.part
    if not candidate.digest:
        return f"{form}:{part}"
    digest, again = candidate.digest, 0
    while True:
        for digits in range(PREFIX_DIGITS, len(digest) + 1):
            found = f"{form}:{digest[:digits]}:{part}" if part else f"{form}:{digest[:digits]}"
            if found not in taken:
                return found
        again += 1
        digest = sha256_hex(f"{candidate.digest} {again}".encode())

"""Statements: what is said of which bytes (in-toto), as canonical JSON, ready to be signed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from evidentia.canonical import canonical_json, parse_json
from evidentia.errors import CanonicalError, ProofError

STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
MAX_STATEMENT_BYTES: Final = 45 * 2**20
"""So that a proof file with its envelope, in Base64, stays within what is read of one."""
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Subject:
    """What a statement is about: a name, and the SHA-256 of its bytes in hexadecimal."""

    name: str
    sha256: str

    def as_json(self) -> dict[str, Any]:
        """Return the subject as in-toto writes it."""
        return {"name": self.name, "digest": {"sha256": self.sha256}}


@dataclass(frozen=True, slots=True)
class Statement:
    """A predicate about subjects; `encode` gives the bytes that are signed and hashed."""

    predicate_type: str
    subjects: tuple[Subject, ...]
    predicate: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        """Return the statement as a JSON object."""
        return {
            "_type": STATEMENT_TYPE,
            "subject": [subject.as_json() for subject in self.subjects],
            "predicateType": self.predicate_type,
            "predicate": self.predicate,
        }

    def encode(self) -> bytes:
        """Return the statement's canonical JSON."""
        return canonical_json(self.as_json())

    @classmethod
    def parse(cls, data: bytes) -> "Statement":
        """Read a statement; raise `ProofError` if it is none."""
        try:
            document = parse_json(data)
        except CanonicalError as error:
            raise ProofError(f"the statement cannot be read: {error}") from None
        match document:
            case {
                "_type": "https://in-toto.io/Statement/v1",
                "subject": [_, *_] as subjects,
                "predicateType": str(predicate_type),
                "predicate": dict(predicate),
                **others,
            } if not others:
                return cls(predicate_type, tuple(map(_subject, subjects)), predicate)
        raise ProofError("not an in-toto statement of version 1")


def encode_statement(predicate_type: str, subjects: tuple[Subject, ...], predicate: bytes) -> bytes:
    """Return a statement whose predicate is canonical JSON already, and stands in it as it is."""
    around = Statement(predicate_type, subjects, {}).encode()
    return around.replace(b'"predicate":{}', b'"predicate":' + predicate, 1)


def _subject(value: Any) -> Subject:
    match value:
        case {"name": str(name), "digest": {"sha256": str(digest), **rest}, **others}:
            if not rest and not others and _DIGEST.fullmatch(digest):
                return Subject(name, digest)
    raise ProofError("a subject of the statement is not a name with a SHA-256 digest")

"""Bundles as statements: what is signed, and named in the trail by its digest."""

from typing import Final

from evidentia.bundles.model import EvidenceBundle
from evidentia.canonical import sha256_hex
from evidentia.errors import IntegrityError, ProofError
from evidentia.proof.statement import Statement, Subject, encode_statement

PREDICATE_TYPE: Final = "urn:evidentia:spec:v1:bundle"


def statement_bytes(bundle_id: str, data: bytes) -> bytes:
    """Return the statement about a bundle's persisted bytes, whose predicate is the bundle."""
    subject = Subject(f"bundle/{bundle_id}", sha256_hex(data))
    return encode_statement(PREDICATE_TYPE, (subject,), data)


def from_statement(statement: Statement) -> EvidenceBundle:
    """Read a bundle from its statement; raise `ProofError` saying what is wrong with it."""
    if statement.predicate_type != PREDICATE_TYPE:
        raise ProofError(f"not a bundle: its type is {statement.predicate_type[:80]!r}")
    try:
        bundle = EvidenceBundle.from_json(statement.predicate)
    except IntegrityError as error:
        raise ProofError(str(error)) from None
    if statement_bytes(bundle.bundle_id, bundle.encode()) != statement.encode():
        raise ProofError("the statement's subject is not the bundle that it holds")
    return bundle

"""Packs as statements: what is signed, and named in the trail by its digest."""

from types import MappingProxyType
from typing import Final

from evidentia.canonical import canonical_json, sha256_hex
from evidentia.errors import IntegrityError, ProofError
from evidentia.packs.model import FIRST_FORM, SECOND_FORM, EvidencePack
from evidentia.proof.statement import Statement, Subject, encode_statement
from evidentia.proof.verification import ATTACHMENT

PREDICATE_TYPES: Final = MappingProxyType(
    {FIRST_FORM: "urn:evidentia:spec:v1:pack", SECOND_FORM: "urn:evidentia:spec:v1:pack.v2"}
)
"""The type of a pack's statement, by the pack's form."""


def statement_bytes(pack: EvidencePack) -> bytes:
    """Return the statement about a pack and its attachments, whose predicate is the pack."""
    data = pack.encode()
    return encode_statement(PREDICATE_TYPES[pack.v], _subjects(pack, data), data)


def from_statement(statement: Statement) -> EvidencePack:
    """Read a pack from its statement; raise `ProofError` saying what is wrong with it."""
    if statement.predicate_type not in PREDICATE_TYPES.values():
        raise ProofError(f"not a pack: its type is {statement.predicate_type[:80]!r}")
    try:
        pack = EvidencePack.from_json(statement.predicate)
    except IntegrityError as error:
        raise ProofError(str(error)) from None
    if statement.predicate_type != PREDICATE_TYPES[pack.v]:
        raise ProofError(f"not a pack: its v is {pack.v}, and its type that of another form")
    if pack.reviewer_id is not None and pack.review_outcome is None:
        raise ProofError("not a pack: a review that is sealed has a review_outcome")
    if statement.subjects != _subjects(pack, canonical_json(statement.predicate)):
        raise ProofError("the statement's subjects are not the pack that it holds")
    return pack


def _subjects(pack: EvidencePack, data: bytes) -> tuple[Subject, ...]:
    """Return what a statement about a pack is about; `data` is the pack's canonical JSON."""
    return (
        Subject(f"pack/{pack.pack_id}", sha256_hex(data)),
        *(Subject(f"{ATTACHMENT}{one.name}", one.sha256) for one in pack.attachments),
    )

"""A ledger in pages: a part of a long one is read, and believed, without the rest.

The first page is the head: what is said of the ledger as a whole. Each page after it has a hundred
claims with their verdicts. The pages are the leaves of a Merkle tree whose root the ledger's entry
names; each is kept with its path to that root.
"""

from collections.abc import Sequence
from typing import Final

from pydantic import Field, TypeAdapter, ValidationError

from evidentia.canonical import canonical_json
from evidentia.errors import ProofError
from evidentia.frozen import FrozenItems, FrozenList, FrozenModel
from evidentia.ledger.model import Claim, LedgerEntry, LedgerSummary, RiskFlag
from evidentia.ledger.session import LedgerSession
from evidentia.trail.merkle import (
    HASH_BYTES,
    inclusion_proof,
    leaf_hash,
    root_hash,
    verify_inclusion,
)

PAGE: Final = 100
"""How many claims a page has."""
_NAMED: Final = 100
"""How many of the claims that a flag is about the head names."""


class JudgedClaim(FrozenModel):
    """A claim of an answer, with the ledger's entry that judges it."""

    claim: Claim
    entry: LedgerEntry


class HeadFlag(RiskFlag):
    """A risk flag as the head has it: `affected_claims` counts the claims, a hundred are named."""

    affected_claims: int = Field(ge=0)


class LedgerHead(FrozenModel):
    """What is said of a ledger as a whole, its claims and their citations left aside."""

    id: str
    session_id: str
    title: str
    query: str | None
    mode: str
    answer_name: str
    created_at: str
    previous_ledger_id: str | None
    claims: int = Field(ge=0)
    summary: LedgerSummary
    risk_flags: FrozenItems[HeadFlag] = FrozenList()
    follow_up_questions: FrozenItems[str] = FrozenList()
    judges: FrozenItems[str] = FrozenList()
    program: str


_CLAIMS: Final = TypeAdapter(list[JudgedClaim])


def head_of(session: LedgerSession) -> LedgerHead:
    """Return the head of a session's ledger."""
    ledger = session.ledger
    flags = [
        HeadFlag(
            **{
                **dict(flag),
                "affected_claim_ids": flag.affected_claim_ids[:_NAMED],
                "affected_claims": len(flag.affected_claim_ids),
            }
        )
        for flag in ledger.risk_flags
    ]
    return LedgerHead(
        id=ledger.id,
        session_id=session.id,
        title=session.title,
        query=session.query,
        mode=session.mode,
        answer_name=session.answer_name,
        created_at=ledger.created_at,
        previous_ledger_id=ledger.previous_ledger_id,
        claims=len(ledger.entries),
        summary=ledger.summary,
        risk_flags=flags,
        follow_up_questions=ledger.follow_up_questions,
        judges=session.judges,
        program=session.program,
    )


def judged_claims(session: LedgerSession, start: int, end: int) -> list[JudgedClaim]:
    """Return some of the claims of a session's ledger, in its order, with their verdicts."""
    known = session.claims_by_id()
    return [
        JudgedClaim(claim=known[entry.claim_id], entry=entry)
        for entry in session.ledger.entries[start:end]
    ]


def ledger_pages(session: LedgerSession) -> list[bytes]:
    """Return the pages of a session's ledger, its head first."""
    head = canonical_json(head_of(session).model_dump(mode="json"))
    claims = _CLAIMS.dump_python(
        judged_claims(session, 0, len(session.ledger.entries)), mode="json"
    )
    return [head] + [
        canonical_json(claims[start : start + PAGE]) for start in range(0, len(claims), PAGE)
    ]


def pages_of(claims: int) -> int:
    """Return how many pages a ledger of so many claims has, its head among them."""
    return 1 - -claims // PAGE


def pages_root(pages: Sequence[bytes]) -> bytes:
    """Return the root of the tree over pages."""
    return root_hash([leaf_hash(page) for page in pages])


def page_paths(pages: Sequence[bytes]) -> list[bytes]:
    """Return each page's path to the root, as bytes: hash after hash."""
    levels = [[leaf_hash(page) for page in pages]]
    while len(levels[-1]) > 1:
        below = levels[-1]
        pairs = range(0, len(below) - 1, 2)
        levels.append([root_hash(below[at : at + 2]) for at in pairs])
    return [
        b"".join(inclusion_proof(lambda height, at: levels[height][at], index, len(pages)))
        for index in range(len(pages))
    ]


def verify_page(data: bytes, number: int, claims: int, path: bytes, root: bytes) -> None:
    """Raise `ProofError` unless bytes are page `number` of the ledger that has this root."""
    hashes = [path[at : at + HASH_BYTES] for at in range(0, len(path), HASH_BYTES)]
    verify_inclusion(leaf_hash(data), number, pages_of(claims), hashes, root)


def read_head(data: bytes) -> LedgerHead:
    """Read the first page; raise `ProofError` if it is none."""
    try:
        return LedgerHead.model_validate_json(data)
    except ValidationError:
        raise ProofError("the head of the ledger cannot be read") from None


def read_page(data: bytes) -> list[JudgedClaim]:
    """Read a page of claims; raise `ProofError` if it is none."""
    try:
        return _CLAIMS.validate_json(data)
    except ValidationError:
        raise ProofError("a page of the ledger cannot be read") from None

"""Parts: what a stream tells of an answer beside it. A claim, the ledger, or a problem.

While an answer streams, its claims are `provisional`: judged by themselves, and recorded nowhere.
The final ones are the ledger's. A claim that is told again has the same id, and replaces the first;
the ledger's part names the claims that stay. Offsets are code points of the answer.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, Literal

from pydantic import Field

from evidentia.canonical import sha256_hex
from evidentia.frozen import FrozenItems, FrozenList, FrozenModel
from evidentia.ledger.model import (
    Claim,
    ClaimType,
    EvidenceMatch,
    Importance,
    LedgerEntry,
    LedgerSummary,
    Passage,
    RiskType,
    Score,
    Severity,
    SupportLevel,
    Verdict,
    WeakSupport,
)
from evidentia.ledger.session import LedgerSession
from evidentia.ledger.verdicts import rests_on
from evidentia.sources.model import SourceItem, SourceSnippet

MOST_PASSAGES: Final = 3
"""How many passages a claim's part shows; it says how many there are."""
State = Literal["provisional", "final"]
Stance = Literal["supports", "partly", "contradicts", "nearest"]


class ShownPassage(FrozenModel):
    """A passage that a claim rests on, with its place; `quote` is the piece of `text` that counts.

    `nearest` is no evidence, but where to look first. `says` is the value in place of the claim's.
    """

    stance: Stance
    text: str
    quote: str
    context: str = ""
    says: str = ""
    document_id: str
    filename: str
    page: int | None = None
    heading: str | None = None
    chunk_hash: str
    probability: Score | None = None


class ClaimPart(FrozenModel):
    """A claim with its verdict and passages; `start` to `end` is its place in the answer."""

    v: Literal[1] = 1
    id: str
    state: State
    text: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    type: ClaimType
    importance: Importance
    verdict: Verdict
    support: WeakSupport | None
    confidence: Score
    notes: str
    passages: FrozenItems[ShownPassage]
    passages_in_all: int = Field(ge=0)


class ShownRisk(FrozenModel):
    """A risk of relying on the answer."""

    type: RiskType
    severity: Severity
    description: str


class LedgerPart(FrozenModel):
    """The ledger that was recorded: its id, the trail's entry of it, and which claims it has."""

    v: Literal[1] = 1
    ledger_id: str
    session_id: str
    entry: int = Field(ge=0)
    created_at: str
    answer_sha256: str
    claims: FrozenItems[str]
    summary: LedgerSummary
    risks: FrozenItems[ShownRisk] = FrozenList()
    program: str


class ProblemPart(FrozenModel):
    """Why there is no evidence, or not all of it; the answer itself is as it was."""

    v: Literal[1] = 1
    problem: str


Part = ClaimPart | LedgerPart | ProblemPart
KINDS: Final[dict[type[FrozenModel], str]] = {
    ClaimPart: "claim",
    LedgerPart: "ledger",
    ProblemPart: "problem",
}
"""What each part is called, behind the protocol's own prefix."""


def claim_parts(session: LedgerSession, state: State, at: int = 0) -> tuple[ClaimPart, ...]:
    """Return the claims of a session in its order; its answer begins at `at` of the whole one."""
    claims = session.claims_by_id()
    entries = [(claims[entry.claim_id], entry) for entry in session.ledger.entries]
    names = _names((at + claim.start, at + claim.end) for claim, _ in entries)
    return tuple(
        _claim_part(name, claim, entry, state, at)
        for name, (claim, entry) in zip(names, entries, strict=True)
    )


def ledger_part(session: LedgerSession, entry: int) -> LedgerPart:
    """Return what is said of a ledger that the trail's entry `entry` records."""
    ledger = session.ledger
    return LedgerPart(
        ledger_id=ledger.id,
        session_id=session.id,
        entry=entry,
        created_at=ledger.created_at,
        answer_sha256=sha256_hex(session.answer.encode()),
        claims=[part.id for part in claim_parts(session, "final")],
        summary=ledger.summary,
        risks=[
            ShownRisk(type=flag.type, severity=flag.severity, description=flag.description)
            for flag in ledger.risk_flags
        ],
        program=session.program,
    )


def cited_sources(session: LedgerSession) -> list[SourceItem]:
    """Return the documents that a ledger's verdicts rest on, in the order they are met."""
    found: dict[str, SourceItem] = {}
    for entry in session.ledger.entries:
        for match in rests_on(entry.verdict, entry.evidence):
            if match.passage and match.passage.source.id not in found:
                rank = len(found) + 1
                found[match.passage.source.id] = _source(match.passage, match.snippet, rank)
    return list(found.values())


def _claim_part(name: str, claim: Claim, entry: LedgerEntry, state: State, at: int) -> ClaimPart:
    passages = _passages(entry)
    return ClaimPart(
        id=name,
        state=state,
        text=claim.text,
        start=at + claim.start,
        end=at + claim.end,
        type=entry.claim_type,
        importance=entry.claim_importance,
        verdict=entry.verdict,
        support=entry.support,
        confidence=entry.confidence_score,
        notes=entry.notes,
        passages=passages[:MOST_PASSAGES],
        passages_in_all=len(passages),
    )


def _names(places: Iterable[tuple[int, int]]) -> list[str]:
    """Name claims by their places, which stay as the answer grows; several may have one place."""
    taken: Counter[tuple[int, int]] = Counter()
    names = []
    for place in places:
        taken[place] += 1
        again = f"-{taken[place]}" if taken[place] > 1 else ""
        names.append(f"claim-{place[0]}-{place[1]}{again}")
    return names


def _passages(entry: LedgerEntry) -> list[ShownPassage]:
    """Return the passages of an entry, those that its verdict rests on first, each once."""
    deciding = rests_on(entry.verdict, entry.evidence)
    others = [match for match in entry.evidence if match.bears and match not in deciding]
    shown = {
        (match.passage.chunk_id, match.snippet): _shown(match.passage, match)
        for match in reversed([*deciding, *others])
        if match.passage
    }
    found = list(reversed(shown.values()))
    if not found and entry.nearest:
        return [_shown(entry.nearest, None)]
    return found


def _shown(passage: Passage, match: EvidenceMatch | None) -> ShownPassage:
    return ShownPassage(
        stance=_stance(match),
        text=passage.snippet,
        quote=match.snippet if match else passage.snippet,
        context=passage.context,
        says=match.says if match else "",
        document_id=passage.source.id,
        filename=passage.source.filename,
        page=passage.source.page_number,
        heading=passage.heading or None,
        chunk_hash=passage.chunk_hash,
        probability=match.similarity if match else None,
    )


def _stance(match: EvidenceMatch | None) -> Stance:
    if match is None:
        return "nearest"
    if match.contradicts:
        return "contradicts"
    return "supports" if match.support_level is SupportLevel.FULL else "partly"


def _source(passage: Passage, quote: str, rank: int) -> SourceItem:
    source = passage.source
    headings: Sequence[str] | None = source.heading_path
    return SourceItem(
        source_id=source.id,
        kind="documents",
        title=source.filename,
        snippet=quote,
        snippet_from="chunk",
        rank=rank,
        snippets=(
            SourceSnippet(
                text=quote,
                chunk_id=passage.chunk_id,
                chunk_hash=passage.chunk_hash,
                page=source.page_number,
                heading_path=headings,
            ),
        ),
    )

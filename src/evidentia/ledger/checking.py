"""Checking: an answer's claims, one after the other, against a corpus, into a ledger.

Pure: the corpus, the judges, the time and the names come in; the ledger comes out. The order of
documents and passages makes no difference to it. What an older version of a document says counts
only where no current document bears on the claim, supports it in part at most, and contradicts
nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Final

from evidentia.canonical import derived_id
from evidentia.documents.model import DocumentChunk
from evidentia.language.counting import agreed, counted
from evidentia.ledger.claims import ExtractedClaims
from evidentia.ledger.confidence import calculate_confidence
from evidentia.ledger.evidence import Corpus, find_passages
from evidentia.ledger.joining import joined
from evidentia.ledger.judging import Judge, Judged, ask_judges
from evidentia.ledger.model import (
    CitationCheck,
    Claim,
    ConfidenceComponents,
    EvidenceLedger,
    EvidenceMatch,
    LedgerEntry,
    LedgerSummary,
    Passage,
    SupportLevel,
    Verdict,
    VerdictAssignment,
    WeakSupport,
)
from evidentia.ledger.references import References, problems
from evidentia.ledger.risks import (
    OUTDATED_AFTER_DAYS,
    DocumentAge,
    RiskContext,
    follow_up_questions,
    generate_risk_flags,
)
from evidentia.ledger.verdicts import assign_verdict, in_order, rests_on
from evidentia.ledger.votes import Judging, JudgingPolicy, Vote
from evidentia.ledger.voting import Ballot, LaterJudge, ask_later, decide, disagreement, votes

_WOULD_CHANGE: Final = {
    Verdict.SUPPORTED: "A passage that says otherwise would change this.",
    Verdict.WEAK: "A passage that says it in full, or one that says otherwise, would change this.",
    Verdict.CONTRADICTED: "Correcting the claim, or the source, would change this.",
    Verdict.NOT_FOUND: "A document that says it, or that says otherwise, would change this.",
    Verdict.NOT_JUDGED: "A person can judge it, or another judge.",
}
_WHY_WEAK: Final = {
    WeakSupport.PROBABLE: "Probable: the passage says all of it, but the judge is not sure enough.",
    WeakSupport.PARTIAL: "Partial: the passage leaves out something of it, or limits it.",
}
_DIRECT, _INFERRED = 1.0, 0.5
_CURRENT, _UNDATED, _SUPERSEDED = 1.0, 0.5, 0.2


@dataclass(frozen=True, slots=True)
class CheckContext:
    """What a check is given beside the answer and the corpus.

    `issued_anchors` maps every anchor of the workspace to the full hash it is bound to, and
    `anchor_of` gives the anchor of a hash. `progress` is told how many claims are done. `policy`
    says when judges that vote after the others are asked, and who decides. `cited` are the sources
    that were said beside the answer to be cited in it.
    """

    session_id: str
    created_at: str
    today: date
    issued_anchors: Mapping[str, str]
    anchor_of: Callable[[str], str]
    previous_ledger_id: str | None = None
    outdated_after_days: int = OUTDATED_AFTER_DAYS
    progress: Callable[[int], None] = lambda _: None
    policy: JudgingPolicy = field(default_factory=JudgingPolicy)
    cited: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Checked:
    """A ledger, and how its claims were voted on; None if no judge votes after the others."""

    ledger: EvidenceLedger
    judging: Judging | None


def check_claims(
    answer: str,
    extracted: ExtractedClaims,
    corpus: Corpus,
    judges: Sequence[Judge],
    context: CheckContext,
) -> EvidenceLedger:
    """Judge each claim and put the results into a ledger."""
    return check_with_votes(answer, extracted, corpus, judges, context).ledger


def check_with_votes(
    answer: str,
    extracted: ExtractedClaims,
    corpus: Corpus,
    judges: Sequence[Judge],
    context: CheckContext,
) -> Checked:
    """Judge each claim; return the ledger, and the votes if judges were asked who vote."""
    references = References(answer, corpus, context.issued_anchors, context.cited)
    entries: list[LedgerEntry] = []
    citations: list[CitationCheck] = []
    cast: list[Vote] = []
    found = _voted(extracted.claims, corpus, judges, references, context)
    for claim, judged, ballots in found:
        checks = references.check(claim, judged)
        final = _assign(claim, _counted(judged, corpus)).verdict
        of_claim = votes(claim, ballots, context.policy, final)
        entries.append(
            _entry(claim, judged, checks, corpus, context, others=disagreement(of_claim))
        )
        citations += checks
        cast += of_claim
    ledger = EvidenceLedger(
        id=_ledger_id(context, entries),
        session_id=context.session_id,
        created_at=context.created_at,
        updated_at=context.created_at,
        entries=tuple(entries),
        summary=LedgerSummary.of(tuple(entries)),
        follow_up_questions=follow_up_questions(entries),
        previous_ledger_id=context.previous_ledger_id,
        citations=tuple(citations),
    )
    risks = RiskContext(
        today=context.today,
        outdated_after_days=context.outdated_after_days,
        ages=_ages(entries, corpus),
    )
    flagged = ledger.model_copy(update={"risk_flags": generate_risk_flags(ledger, risks)})
    has_voters = any(isinstance(judge, LaterJudge) for judge in judges)
    judging = Judging(policy=context.policy, votes=tuple(cast)) if has_voters else None
    return Checked(flagged, judging)


def _voted(
    claims: Sequence[Claim],
    corpus: Corpus,
    judges: Sequence[Judge],
    references: References,
    context: CheckContext,
) -> list[tuple[Claim, Judged, Sequence[Ballot]]]:
    """Ask the first judges about each claim, and then those who vote after them, where in doubt."""
    first = [judge for judge in judges if not isinstance(judge, LaterJudge)]
    later = [judge for judge in judges if isinstance(judge, LaterJudge)]
    told = 0

    def done() -> None:
        nonlocal told
        told += 1
        context.progress(told)

    def assign(claim: Claim, judged: Judged) -> VerdictAssignment:
        return _assign(claim, _counted(judged, corpus))

    def passages(claim: Claim) -> Sequence[Passage]:
        found = _passages(claim, corpus, references.chunks(claim))
        return [passage for some in found for passage in some]

    ballots: list[list[Ballot]] = []
    for claim in claims:
        ballots.append([])
        if first or not later:
            judged = _judged(claim, corpus, first, references)
            ballots[-1].append(Ballot(judged.judges, judged, assign(claim, judged)))
        if not later:
            done()
    for judge in later:
        is_last = judge is later[-1]
        asked = [
            number
            for number, cast in enumerate(ballots)
            if context.policy.asked == "always"
            or not any(ballot.is_sure(context.policy) for ballot in cast)
        ]
        for _ in range(len(claims) - len(asked)) if is_last else ():
            done()
        given = ask_later(
            judge,
            [claims[number] for number in asked],
            passages,
            assign,
            done if is_last else lambda: None,
        )
        for number, ballot in zip(asked, given, strict=True):
            ballots[number].append(ballot)
    return [
        (claim, decide(cast, context.policy), cast)
        for claim, cast in zip(claims, ballots, strict=True)
    ]


def _judged(
    claim: Claim, corpus: Corpus, judges: Sequence[Judge], references: References
) -> Judged:
    """Ask all judges, or only those that can be certain if one is that the claim is supported.

    What the others say against it would not count, and they are the slow ones.
    """
    cited = references.chunks(claim)
    quick = [judge for judge in judges if not getattr(judge, "never_certain", False)]
    if quick and len(quick) < len(judges):
        by_words = corpus.by_words()
        judged = joined(
            ask_judges(claim, passages, quick) for passages in _passages(claim, by_words, cited)
        )
        if _is_settled(judged, corpus):
            return judged
    return joined(
        ask_judges(claim, passages, judges, corpus.around)
        for passages in _passages(claim, corpus, cited)
    )


def _passages(
    claim: Claim, corpus: Corpus, cited: Sequence[DocumentChunk]
) -> Iterator[list[Passage]]:
    """Give the passages that may bear on a claim, of each part of the corpus."""
    for part in corpus.parts or (corpus,):
        also = [chunk for chunk in cited if part.document(chunk.document_id) is not None]
        yield find_passages(claim, part, also=also)


def _is_settled(judged: Judged, corpus: Corpus) -> bool:
    """Whether a current document supports a claim for certain, and nothing speaks against it."""
    return (
        any(not _is_superseded(passage, corpus) for passage in judged.sure)
        and not any(match.contradicts for match in judged.matches)
        and not judged.failures
    )


def _entry(
    claim: Claim,
    judged: Judged,
    citations: Sequence[CitationCheck],
    corpus: Corpus,
    context: CheckContext,
    *,
    others: str,
) -> LedgerEntry:
    weighed = _counted(judged, corpus)
    aside = len(judged.matches) - len(weighed.matches)
    assignment = _assign(claim, weighed)
    deciding = rests_on(assignment.verdict, weighed.matches)
    best = deciding[0] if deciding else None
    components = _components(best, deciding, corpus) if best else None
    return LedgerEntry(
        id=derived_id(
            "ent", {"claim": claim.id, "session": context.session_id, "at": context.created_at}
        ),
        claim_id=claim.id,
        claim_text=claim.text,
        claim_type=claim.type,
        claim_importance=claim.importance,
        verdict=assignment.verdict,
        confidence_score=assignment.confidence,
        evidence_chunk_ids=_anchors(deciding, context),
        evidence_snippet=best.snippet if best else "",
        source_document=best.passage.source if best and best.passage else None,
        notes=" ".join(
            filter(
                None,
                (
                    _notes(assignment, best, weighed, citations, aside),
                    _reading(best.passage if best else None, corpus),
                    others,
                ),
            )
        ),
        judge=best.judge if best else "",
        confidence_components=components,
        component_confidence=calculate_confidence(components) if components else None,
        evidence=weighed.matches,
        support_probability=weighed.support,
        models=judged.models,
        support=assignment.support,
        nearest=judged.nearest if assignment.verdict is Verdict.NOT_FOUND else None,
    )


def _counted(judged: Judged, corpus: Corpus) -> Judged:
    """Return what counts of what was judged, best first: older versions where nothing else does.

    How likely a claim is supported was said of all passages: if an older version has one that bears
    on it, that is not said.
    """
    current = [match for match in judged.matches if not _is_superseded(match.passage, corpus)]
    bearing = current or [_as_outdated(match) for match in judged.matches if not match.contradicts]
    support = judged.support if len(current) == len(judged.matches) else None
    return replace(judged, matches=tuple(in_order(bearing)), support=support)


def _as_outdated(match: EvidenceMatch) -> EvidenceMatch:
    """Return what an older version of a document says: support in part at most."""
    reason = f"{match.reason}, but only in an older version of the document"
    return match.model_copy(update={"support_level": SupportLevel.PARTIAL, "reason": reason})


def _assign(claim: Claim, judged: Judged) -> VerdictAssignment:
    if judged.failures and not judged.certain:
        return VerdictAssignment(
            verdict=Verdict.NOT_JUDGED,
            confidence=0.0,
            notes=_failures("Not judged by", judged),
        )
    return assign_verdict(claim, judged.matches)


def _anchors(deciding: Sequence[EvidenceMatch], context: CheckContext) -> tuple[str, ...]:
    hashes = dict.fromkeys(match.passage.chunk_hash for match in deciding if match.passage)
    return tuple(map(context.anchor_of, hashes))


def _components(
    best: EvidenceMatch, deciding: Sequence[EvidenceMatch], corpus: Corpus
) -> ConfidenceComponents:
    sources = {match.passage.source.id for match in deciding if match.passage}
    direct = best.judge == "quote" and best.support_level is SupportLevel.FULL
    return ConfidenceComponents(
        semantic_similarity=best.similarity,
        evidence_count=max(len(sources), 1),
        directness=_DIRECT if direct else _INFERRED,
        source_quality=_quality(best.passage, corpus),
    )


def _ages(entries: Iterable[LedgerEntry], corpus: Corpus) -> dict[str, DocumentAge]:
    """Return how old the documents are that a ledger's entries rest on, by their ids."""
    used = {entry.source_document.id for entry in entries if entry.source_document}
    return {
        document.id: DocumentAge(
            document.filename, document.dated, document.superseded, document.until
        )
        for document in corpus.held.documents(used).values()
    }


def _is_superseded(passage: Passage | None, corpus: Corpus) -> bool:
    document = corpus.document(passage.source.id) if passage else None
    return document is not None and document.superseded


def _quality(passage: Passage | None, corpus: Corpus) -> float:
    """Rate a source: a dated, current document above an undated one, above an older version.

    What was read by OCR is rated less, by how sure its reading is.
    """
    document = corpus.document(passage.source.id) if passage else None
    if passage is None or document is None:
        return _SUPERSEDED
    rated = _CURRENT if document.dated else _UNDATED
    return (_SUPERSEDED if document.superseded else rated) * corpus.legibility(passage)


def _reading(passage: Passage | None, corpus: Corpus) -> str:
    """Say of a passage that was read by OCR how sure its reading is."""
    sure = corpus.legibility(passage) if passage else 1.0
    return f"The passage was read by OCR, {sure:.0%} sure." if sure < 1 else ""


def _notes(
    assignment: VerdictAssignment,
    best: EvidenceMatch | None,
    judged: Judged,
    citations: Sequence[CitationCheck],
    aside: int,
) -> str:
    """Say why, by which judge, and what would change it."""
    number = judged.passages
    if best:
        why = f"{assignment.notes} ({best.judge} judge: {best.reason})"
    elif assignment.verdict is Verdict.NOT_FOUND:
        read = f"{counted(number, 'passage')} {agreed(number, 'was', 'were')} read"
        why = f"{assignment.notes} ({read} by {' and '.join(judged.judges) or 'no judge'})"
    else:
        why = assignment.notes
    said = [f"{why}."]
    if assignment.support:
        said.append(_WHY_WEAK[assignment.support])
    said.append(_WOULD_CHANGE[assignment.verdict])
    if judged.failures and assignment.verdict is not Verdict.NOT_JUDGED:
        said.append(f"{_failures('Decided without', judged)}.")
    if aside:
        of = agreed(aside, "an older version", "older versions")
        said.append(f"Left aside: {counted(aside, 'passage')} of {of}.")
    return " ".join([*said, problems(citations)]).strip()


def _failures(what: str, judged: Judged) -> str:
    said = (f"the {failure.judge} judge: {failure.reason}" for failure in judged.failures)
    return f"{what} {'; '.join(said)}"


def _ledger_id(context: CheckContext, entries: Sequence[LedgerEntry]) -> str:
    content = {
        "session": context.session_id,
        "at": context.created_at,
        "previous": context.previous_ledger_id,
        "entries": [entry.model_dump(mode="json") for entry in entries],
    }
    return derived_id("led", content)

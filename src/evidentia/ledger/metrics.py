"""A ledger in the numbers that evaluation tools speak of, each computed from its verdicts alone."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evidentia.frozen import FrozenModel
from evidentia.ledger.model import LedgerEntry, Score, Verdict, WeakSupport
from evidentia.ledger.verdicts import rests_on

if TYPE_CHECKING:
    from evidentia.ledger.session import LedgerSession


class LedgerMetrics(FrozenModel):
    """What evaluation tools ask of an answer; None where there was nothing to count.

    `faithfulness` is the share of claims that the passages say in full, whether the judge is sure
    or finds it probable. `coverage` is the ledger's own: supported and weak. `citation_precision`
    is the share of the answer's citations whose target supports its claim, `citation_recall` the
    share of claims that ask for a citation and have such a one. `contextual_precision` says how
    far up the contexts that a verdict rests on stand among those that were given, and
    `context_utilization` how many of them there are.
    """

    faithfulness: Score | None
    coverage: Score | None
    contradiction_rate: Score | None
    citation_precision: Score | None
    citation_recall: Score | None
    contextual_precision: Score | None
    context_utilization: Score | None


def metrics_of(session: "LedgerSession") -> LedgerMetrics:
    """Return the numbers of a session's ledger."""
    entries, citations = session.ledger.entries, session.ledger.citations
    verdicts = [entry.verdict for entry in entries]
    cited = {one.claim_id for one in citations if one.bears}
    asking = {claim.id for claim in session.claims if claim.requires_citation}
    asked = [entry.claim_id for entry in entries if entry.claim_id in asking]
    used = _used_contexts(session)
    return LedgerMetrics(
        faithfulness=_share([_is_said_in_full(entry) for entry in entries]),
        coverage=_share([verdict in (Verdict.SUPPORTED, Verdict.WEAK) for verdict in verdicts]),
        contradiction_rate=_share([verdict is Verdict.CONTRADICTED for verdict in verdicts]),
        citation_precision=_share([one.bears for one in citations]),
        citation_recall=_share([claim in cited for claim in asked]) if citations else None,
        contextual_precision=_average_precision(used),
        context_utilization=_share(used),
    )


def _is_said_in_full(entry: LedgerEntry) -> bool:
    return entry.verdict is Verdict.SUPPORTED or entry.support is WeakSupport.PROBABLE


def _used_contexts(session: "LedgerSession") -> list[bool]:
    """Say of each context, in the order they were given in, whether a verdict rests on it."""
    found = {
        match.passage.source.id
        for entry in session.ledger.entries
        for match in rests_on(entry.verdict, entry.evidence)
        if match.passage
    }
    return [context.id in found for context in session.contexts or ()]


def _share(held: Sequence[bool]) -> float | None:
    return sum(held) / len(held) if held else None


def _average_precision(used: Sequence[bool]) -> float | None:
    """Return the mean, over the used ones, of the share of used ones down to each."""
    if not used:
        return None
    places = [place for place, is_used in enumerate(used, 1) if is_used]
    precisions = [number / place for number, place in enumerate(places, 1)]
    return sum(precisions) / len(precisions) if precisions else 0.0

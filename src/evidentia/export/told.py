"""What a statement says, told to a person in lines and tables; who shows them makes them safe."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from evidentia.export.shown import one_line, weak_counts
from evidentia.language.counting import counted
from evidentia.ledger.model import Verdict

if TYPE_CHECKING:
    from evidentia.bundles.model import EvidenceBundle
    from evidentia.ledger.session import LedgerSession
    from evidentia.packs.model import EvidencePack
    from evidentia.packs.retention import LegalHold

_ISOLATES: Final = dict.fromkeys((0x2066, 0x2067, 0x2068, 0x2069))


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text; one `under` another belongs to it, one that `warns` is worth a look."""

    text: str
    under: bool = False
    warns: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under the names of their columns; those in `right` are set to the right."""

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    right: tuple[str, ...] = ()


Told = Sequence[Line | Table]


def ledger_told(session: "LedgerSession") -> Told:
    """Tell what a ledger states."""
    summary = session.ledger.summary
    said = ", ".join(
        f"{summary.by_verdict[verdict.value]} {verdict.value.replace('_', ' ')}"
        f"{weak_counts(summary) if verdict is Verdict.WEAK else ''}"
        for verdict in Verdict
        if summary.by_verdict[verdict.value]
    )
    return [
        Line(
            f"What it states: {one_line(session.title)}, {counted(summary.total_claims, 'claim')}"
        ),
        Line(
            f"{said or 'nothing to judge'}; {_by_what(session)}",
            under=True,
        ),
    ]


def _by_what(session: "LedgerSession") -> str:
    """Say what the answer was checked against, and how that stands in the statement."""
    if session.contexts is None:
        return f"{session.documents_told}, by digest"
    whole = f"{counted(len(session.contexts), 'context')}, whole"
    of = f" (the items of bundle {session.bundle.id})" if session.bundle else ""
    if session.corpus is None:
        return f"{whole}{of}"
    return f"{whole}{of}, and {session.documents_told}, by digest"


def bundle_told(bundle: "EvidenceBundle") -> Told:
    """Tell what a bundle states."""
    inputs = counted(bundle.accounting.inputs, "input")
    return [
        Line(
            f"What it states: bundle {bundle.bundle_id}, built {bundle.created_utc}: "
            f"{bundle_size(bundle)}"
        ),
        Line(f"{inputs}: {bundle_outcomes(bundle)}", under=True),
    ]


def pack_told(pack: "EvidencePack") -> Told:
    """Tell what a pack states."""
    return [
        Line(f"What it states: the pack of decision {pack.decision_id}"),
        *whole_pack(pack, None),
    ]


def bundle_outcomes(bundle: "EvidenceBundle") -> str:
    """Say how many inputs came out how, those that did."""
    counts = bundle.accounting.counts()
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count) or "none"


def bundle_size(bundle: "EvidenceBundle") -> str:
    """Say how large a bundle is."""
    summary = bundle.summary
    tokens = (
        f"{counted(summary.tokens.rendered, 'token')} ({summary.tokens.tokenizer}, fence included)"
        if summary.tokens
        else f"about {counted(summary.approx_tokens, 'token')}"
    )
    size = counted(summary.total_bytes, "byte")
    return f"{counted(summary.item_count, 'item')}, {size}, {tokens}"


def whole_pack(pack: "EvidencePack", hold: "LegalHold | None") -> Told:
    """Tell all of a pack that a person reads on a terminal."""
    told: list[Line | Table] = [
        *_paragraphs(pack.memo.title_en),
        *_paragraphs(pack.memo.title_ar),
        Line(f"{pack.pack_id}, version {pack.version}, made {pack.created_at}"),
        Line(
            f"decision {pack.decision_id} about {pack.entity_id}, by {pack.agent_name} with "
            f"{pack.model}"
        ),
    ]
    if pack.decision is not None:
        made = pack.decision
        classes = (
            f"approval {made.approval_class}, reversibility {made.reversibility_class}, "
            f"sensitivity {made.sensitivity_class}"
        )
        told.append(
            Line(f"{classes}; confidence {made.confidence:g}; a pack is {made.requirement.value}")
        )
    told.append(Line(f"state: {pack_state(pack)}"))
    if hold is not None:
        told.append(Line(f"On legal hold since {hold.at} by {hold.actor}: {hold.reason}"))
    told += [
        Line(""),
        *_paragraphs(pack.memo.executive_summary_en),
        Line(""),
        *_paragraphs(pack.memo.executive_summary_ar),
        Line(""),
        _sources(pack),
    ]
    if pack.tool_calls:
        told.append(_calls(pack))
    told += [
        Line(f"attached: {one.name}, {counted(one.bytes, 'byte')}, sha256:{one.sha256}")
        for one in pack.attachments
    ]
    return [*told, *pack_warnings(pack)]


def pack_state(pack: "EvidencePack") -> str:
    """Say whether a pack was reviewed, by whom, and with what outcome."""
    if pack.reviewer_id is not None and pack.review_outcome is not None:
        note = f": {pack.review_note}" if pack.review_note else ""
        return f"{pack.review_outcome.value} by {pack.reviewer_id} at {pack.reviewed_at}{note}"
    return "no review is needed" if pack.is_resolved else "unresolved: it awaits a review"


def pack_warnings(pack: "EvidencePack") -> Told:
    """Tell what of a pack is worth a look: old sources, and tools that did something else."""
    hours = counted(pack.data_freshness_window_hours or 0, "hour")
    stale = [
        f"source [{number}] was older than {hours} when it was decided"
        for number in pack.stale_sources
    ]
    calls = [f"{call.tool_name}: {call.contradiction_reason}" for call in pack.contradictions]
    return [Line(text, under=True, warns=True) for text in (*stale, *calls)]


def _sources(pack: "EvidencePack") -> Table:
    rows = tuple(
        (
            f"[{number}]",
            source.source,
            source.uri or source.reference,
            source.retrieved_at,
            "" if source.confidence is None else f"{source.confidence:g}",
        )
        for number, source in enumerate(pack.sources, start=1)
    )
    return Table(("", "Source", "Where", "Retrieved", "Confidence"), rows, ("Confidence",))


def _calls(pack: "EvidencePack") -> Table:
    rows = tuple(
        (
            call.tool_name,
            call.intended_action,
            call.actual_action,
            call.outcome.value,
            call.contradiction_reason if call.contradiction_flag else "no",
        )
        for call in pack.tool_calls
    )
    return Table(("Tool", "Meant", "Done", "Outcome", "Contradiction"), rows)


def _paragraphs(text: str) -> list[Line]:
    """Return a memo's text, which has no use on a terminal for the isolates around names."""
    return [Line(line.translate(_ISOLATES)) for line in text.splitlines()]

"""How packs are shown on a terminal."""

from typing import TYPE_CHECKING, Final

from evidentia.cli.output import counted, print_table, say, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evidentia.packs.model import EvidencePack
    from evidentia.packs.retention import LegalHold
    from evidentia.store.packs import ListedPack

_ISOLATES: Final = dict.fromkeys((0x2066, 0x2067, 0x2068, 0x2069))


def say_pack(pack: "EvidencePack") -> None:
    """Say in a few lines what a pack that was just made is."""
    newer = f", version {pack.version}" if pack.version > 1 else ""
    say(f"{pack.pack_id}: the pack of {visible(pack.decision_id)}{newer}", "good")
    sources = counted(len(pack.sources), "source")
    calls = counted(len(pack.tool_calls), "tool call")
    say(f"{sources}, {calls}; {_state(pack)}", under=True)
    _say_warnings(pack)


def show_pack(pack: "EvidencePack", hold: "LegalHold | None") -> None:
    """Show all of a pack that a person reads on a terminal."""
    say(_paragraphs(pack.memo.title_en))
    say(_paragraphs(pack.memo.title_ar))
    say(f"{pack.pack_id}, version {pack.version}, made {pack.created_at}")
    say(
        f"decision {visible(pack.decision_id)} about {visible(pack.entity_id)}, "
        f"by {visible(pack.agent_name)} with {visible(pack.model)}"
    )
    if pack.decision is not None:
        made = pack.decision
        classes = f"{made.approval_class}, {made.reversibility_class}, {made.sensitivity_class}"
        say(f"{classes}; confidence {made.confidence:g}; a pack is {made.requirement.value}")
    say(f"state: {_state(pack)}")
    if hold is not None:
        say(f"On legal hold since {hold.at} by {visible(hold.actor)}: {visible(hold.reason)}")
    say("")
    say(_paragraphs(pack.memo.executive_summary_en))
    say("")
    say(_paragraphs(pack.memo.executive_summary_ar))
    say("")
    print_table(
        ("", "Source", "Where", "Retrieved", "Confidence"),
        [
            (
                f"[{number}]",
                source.source,
                source.uri or source.reference,
                source.retrieved_at,
                "" if source.confidence is None else f"{source.confidence:g}",
            )
            for number, source in enumerate(pack.sources, start=1)
        ],
        right=("Confidence",),
    )
    if pack.tool_calls:
        print_table(
            ("Tool", "Meant", "Done", "Outcome", "Contradiction"),
            [
                (
                    call.tool_name,
                    call.intended_action,
                    call.actual_action,
                    call.outcome.value,
                    call.contradiction_reason if call.contradiction_flag else "no",
                )
                for call in pack.tool_calls
            ],
        )
    for one in pack.attachments:
        say(f"attached: {visible(one.name)}, {one.bytes:,} bytes, sha256:{one.sha256}")
    _say_warnings(pack)


def say_versions(versions: "Sequence[ListedPack]", shown: str) -> None:
    """Say which versions of a pack there are, the oldest first."""
    if len(versions) == 1:
        return
    say("Versions:")
    for one in versions:
        here = " (shown here)" if one.id == shown else ""
        say(f"{one.version}: {one.id}, {one.created_at}{here}", under=True)


def _state(pack: "EvidencePack") -> str:
    if pack.reviewer_id is not None and pack.review_outcome is not None:
        note = f": {visible(pack.review_note)}" if pack.review_note else ""
        who = visible(pack.reviewer_id)
        return f"{pack.review_outcome.value} by {who} at {pack.reviewed_at}{note}"
    return "no review is needed" if pack.is_resolved else "unresolved: it awaits a review"


def _say_warnings(pack: "EvidencePack") -> None:
    for number in pack.stale_sources:
        hours = counted(pack.data_freshness_window_hours or 0, "hour")
        say(f"source [{number}] was older than {hours} when it was decided", "unknown", under=True)
    for call in pack.contradictions:
        reason = visible(call.contradiction_reason)
        say(f"{visible(call.tool_name)}: {reason}", "unknown", under=True)


def _paragraphs(text: str) -> str:
    """Return a memo's text for a terminal, which has no use for the isolates around names."""
    return "\n".join(visible(line.translate(_ISOLATES)) for line in text.splitlines())

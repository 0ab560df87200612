"""Bundles as they are shown: what became of inputs, and how two bundles differ."""

from collections import Counter
from difflib import unified_diff
from itertools import groupby
from typing import TYPE_CHECKING

import typer

from evidentia.cli.output import say, visible
from evidentia.language.counting import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evidentia.bundles.accounting import InputFate
    from evidentia.bundles.diffing import BundleDiff
    from evidentia.bundles.model import EvidenceBundle


def limits(bundle: "EvidenceBundle") -> str:
    """Say what a bundle may hold."""
    policy = bundle.policy
    said = [
        counted(policy.max_items, "item"),
        f"{counted(policy.max_total_bytes, 'byte')} in all",
        f"{policy.max_item_bytes:,} in an item",
    ]
    if policy.max_total_tokens is not None:
        said.append(f"{counted(policy.max_total_tokens, 'token')} in all")
    if policy.max_item_tokens is not None:
        said.append(f"{counted(policy.max_item_tokens, 'token')} in an item")
    return f"At most {', '.join(said)}" + ("; redacted" if policy.enable_redaction else "")


def seen(bundle: "EvidenceBundle") -> str:
    """Say how much of its inputs a bundle shows; notes on what failed are not of them."""
    accounting = bundle.accounting
    notes = sum(one.bundle_bytes for one in accounting.decisions if one.outcome.value == "failed")
    items = counted(len(bundle.items) - accounting.failed, "item")
    size = counted(accounting.input_bytes, "byte")
    said = f"The model saw {accounting.bundle_bytes - notes:,} of {size}, in {items}"
    if accounting.failed:
        said += f", and {counted(accounting.failed, 'note')} on what could not be loaded"
    return f"{said}."


def seen_redactions(bundle: "EvidenceBundle") -> dict[str, int]:
    """Count by kind the placeholders that the model saw."""
    from evidentia.bundles.rendering import shown_redactions

    kinds: Counter[str] = Counter()
    for item in bundle.items:
        kinds.update(shown_redactions(item))
    return dict(sorted(kinds.items()))


def kinds_counted(kinds: "Mapping[str, int]") -> str:
    """Say how many of each kind there are."""
    return ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())


def explained(bundle: "EvidenceBundle") -> list[tuple[str, str, str, str, str, str]]:
    """Return a row for each input; those in a row of one source and one fate are one row.

    What was redacted is counted as the model saw it: what was cut off after it is not in it.
    """
    from evidentia.bundles.rendering import shown_redactions

    shown = {item.evidence_id: kinds_counted(shown_redactions(item)) for item in bundle.items}
    rows = []
    for _, group in groupby(bundle.accounting.decisions, key=_fate):
        alike = list(group)
        first, last = alike[0], alike[-1]
        named, source = first.evidence_id, first.source
        if len(alike) > 1:
            named = f"{named} … {last.evidence_id} ({counted(len(alike), 'input')})"
            sources = {one.source for one in alike}
            source = source if len(sources) == 1 else f"{source} … {last.source}"
        rows.append(
            (
                named,
                source,
                first.outcome.value,
                f"{sum(one.bundle_bytes for one in alike):,}",
                f"{sum(one.input_bytes for one in alike):,}",
                _reason(first, shown.get(first.evidence_id, "")),
            )
        )
    return rows


def said_lost(bundle: "EvidenceBundle") -> None:
    """Say which kinds of evidence were dropped as a whole, why, and what can be done about it."""
    from evidentia.bundles.accounting import lost_kinds
    from evidentia.bundles.references import REFERENCES

    lost = lost_kinds(bundle.accounting)
    kinds = ", ".join(f"{n:,} {kind}" for kind, n in bundle.summary.type_counts.items())
    for one in lost:
        name = one.evidence_type.value
        if one.count == 1:
            said, them = f"The only input of {name} was dropped", "it"
        else:
            all_of_them = "Both" if one.count == 2 else f"All {one.count:,}"  # noqa: PLR2004 - two
            said, them = f"{all_of_them} inputs of {name} were dropped", "them"
        why = f"what comes before {them} ({kinds}) took the room, {one.limit}"
        say(f"{said}: {why if kinds else f'nothing fits into {one.limit}'}.")
    for limit in dict.fromkeys(one.limit.partition(":")[0] for one in lost):
        order = ", ".join(("inline evidence", *REFERENCES))
        say(
            f"Inputs come in the order {order}, whatever the order in the job, and a higher "
            "`priority` comes first. Give what must not be missing a higher `priority` than the "
            f"rest (0 by default), name less of the rest, or {_MORE_ROOM[limit]}.",
            under=True,
        )


_MORE_ROOM = {
    "max_items": "raise max_items in the policy (or chunk_size, for fewer and larger pieces)",
    "max_total_bytes": "raise max_total_bytes in the policy (or lower max_item_bytes)",
    "max_total_tokens": "raise max_total_tokens in the policy (or lower max_item_tokens)",
}


def said_difference(found: "BundleDiff", *, verbose: bool) -> None:
    """Say how two bundles differ."""
    if found.build_version[0] != found.build_version[1]:
        say("built by other rules: {} before, {} after".format(*found.build_version))
    for name, (old, new) in found.policy.items():
        say(f"policy {name}: {visible(old)} before, {visible(new)} after")
    for item in found.only_before:
        say(f"only before: {item.evidence_id} ({counted(item.byte_count, 'byte')})")
    for item in found.only_after:
        say(f"only after: {item.evidence_id} ({counted(item.byte_count, 'byte')})")
    for one in found.changed:
        old_size, new_size = one.before.byte_count, one.after.byte_count
        sizes = f"{counted(old_size, 'byte')} before, {new_size:,} after"
        say(f"changed: {one.before.evidence_id}, {sizes}")
        if verbose:
            for line in unified_diff(
                one.before.content.splitlines(), one.after.content.splitlines(), lineterm="", n=1
            ):
                typer.echo(f"  {visible(line)}")
    if found.outcomes:
        _said_outcomes(found.outcomes)


_SHOWN = 20


def _said_outcomes(outcomes: dict[str, tuple[str, str]]) -> None:
    say(f"{counted(len(outcomes), 'input')} came out otherwise:")
    for name, (was, now) in list(outcomes.items())[:_SHOWN]:
        say(f"{name}: {was} before, {now} after", under=True)
    if len(outcomes) > _SHOWN:
        say(f"… and {len(outcomes) - _SHOWN:,} more; --json has all", under=True)


def _fate(decision: "InputFate") -> tuple[str, str, str]:
    """Return what inputs must share to be one row; those that stayed stand for themselves."""
    listed = decision.origin.rpartition("[")[0] or decision.origin
    if decision.outcome.value != "dropped":
        return (decision.evidence_id, listed, "")
    return ("", listed, _reason(decision, ""))


def _reason(decision: "InputFate", redacted: str) -> str:
    """Say why an input is not as it came; of one that was dropped, why that was."""
    if decision.outcome.value == "dropped":
        return decision.steps[-1].reason
    told = [redacted if step.done.value == "redacted" else step.reason for step in decision.steps]
    if redacted not in told:  # only what stands around its text was redacted
        told.append(redacted)
    return "; ".join(filter(None, told))

"""Bundles as they are shown: what became of inputs, and how two bundles differ."""

from difflib import unified_diff
from itertools import groupby
from typing import TYPE_CHECKING

import typer

from evidentia.cli.output import counted, say, visible

if TYPE_CHECKING:
    from evidentia.bundles.diffing import BundleDiff
    from evidentia.bundles.model import Decision, EvidenceBundle


def explained(bundle: "EvidenceBundle") -> list[tuple[str, str, str, str, str, str]]:
    """Return a row for each input; those in a row of one source and one fate are one row."""
    rows = []
    for _, group in groupby(bundle.accounting.decisions, key=_fate):
        alike = list(group)
        first, last = alike[0], alike[-1]
        named = first.evidence_id
        if len(alike) > 1:
            named = f"{named} … {last.evidence_id} ({counted(len(alike), 'item')})"
        rows.append(
            (
                named,
                first.source,
                first.outcome.value,
                f"{sum(one.bundle_bytes for one in alike):,}",
                f"{sum(one.input_bytes for one in alike):,}",
                _reason(first),
            )
        )
    return rows


def said_difference(found: "BundleDiff", *, verbose: bool) -> None:
    """Say how two bundles differ."""
    for name, (old, new) in found.policy.items():
        say(f"policy {name}: {visible(old)} before, {visible(new)} after")
    for item in found.only_before:
        say(f"only before: {item.evidence_id} ({item.byte_count:,} bytes)")
    for item in found.only_after:
        say(f"only after: {item.evidence_id} ({item.byte_count:,} bytes)")
    for one in found.changed:
        old_size, new_size = one.before.byte_count, one.after.byte_count
        say(f"changed: {one.before.evidence_id}, {old_size:,} bytes before, {new_size:,} after")
        if verbose:
            for line in unified_diff(
                one.before.content.splitlines(), one.after.content.splitlines(), lineterm="", n=1
            ):
                typer.echo(f"  {visible(line)}")
    if found.outcomes:
        say(f"{counted(len(found.outcomes), 'input')} came out otherwise:")
        for name, (was, now) in list(found.outcomes.items())[:_SHOWN]:
            say(f"{name}: {was} before, {now} after", under=True)
        if len(found.outcomes) > _SHOWN:
            say(f"… and {len(found.outcomes) - _SHOWN:,} more; --json has all", under=True)


_SHOWN = 20


def _fate(decision: "Decision") -> tuple[str, str, str]:
    """Return what inputs must share to be one row; those that were kept stand for themselves."""
    shared = decision.outcome.value == "dropped"
    return (
        "" if shared else decision.evidence_id,
        decision.origin[: _origin(decision)],
        _reason(decision),
    )


def _origin(decision: "Decision") -> int:
    """Return how much of an origin names the list that it is in."""
    place = decision.origin.rfind("[")
    return len(decision.origin) if place < 0 else place


def _reason(decision: "Decision") -> str:
    return "; ".join(step.reason for step in decision.steps)

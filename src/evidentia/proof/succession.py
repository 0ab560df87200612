"""Later versions: entries that replace what an entry records, one after the other."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from evidentia.trail.entry import Entry, EntryKind

NEWER = "whether a newer version replaces it: ask who keeps the trail"
"""What a pack cannot show by itself."""
PACK_KINDS = (EntryKind.PACK.value, EntryKind.REVIEW.value)
"""The kinds of entries that record a version of a pack."""


@dataclass(frozen=True, slots=True)
class Succession:
    """An entry that records a newer version: of what, and by which it is replaced."""

    replaces: str
    subject: str
    version: int
    seq: int
    at: str
    kind: str
    outcome: str | None = None
    """What a review came to, where the entry says it."""

    @property
    def told(self) -> str:
        """What it is, in a few words."""
        if self.kind != EntryKind.REVIEW:
            what = "a revision"
        else:
            what = f"a review: {self.outcome}" if self.outcome else "a review"
        return f"version {self.version} ({self.subject}, {what}, entry {self.seq} of {self.at})"

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            "pack_id": self.subject,
            "version": self.version,
            "entry": self.seq,
            "at": self.at,
            "kind": self.kind,
            "outcome": self.outcome,
        }


def succession_of(entry: Entry, body: Any) -> Succession | None:
    """Return what an entry replaces; None if it replaces nothing. The body is the entry's own."""
    match body:
        case {"replaces": str(replaced), "version": int(version)} if entry.kind in PACK_KINDS:
            outcome = body.get("outcome")
            return Succession(
                replaced,
                entry.subject,
                version,
                entry.seq,
                entry.at,
                entry.kind,
                outcome if isinstance(outcome, str) else None,
            )
    return None


def later_versions(subject: str, found: Iterable[Succession]) -> tuple[Succession, ...]:
    """Return the versions that came after one, the oldest first."""
    chain: list[Succession] = []
    newest = subject
    for one in sorted(found, key=lambda each: each.seq):
        if one.replaces == newest:
            chain.append(one)
            newest = one.subject
    return tuple(chain)


def superseded(later: Iterable[Succession]) -> str | None:
    """Say that something was superseded, and by what last; None if it was not."""
    chain = tuple(later)
    if not chain:
        return None
    between = f", after {len(chain) - 1} in between" if len(chain) > 1 else ""
    return f"superseded by {chain[-1].told}{between}"

"""Adopting: the one way in which entries that no key signed come under a signature later.

An older version appended first and signed at times. What it left unsigned is taken over by an entry
that names the range and its root, and says why; it is shown for good.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from evidentia.language.counting import agreed, ranged

_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Adoption:
    """A range of entries, from `start` to `end` (not included), and the log's root at `end`."""

    start: int
    end: int
    root: str
    reason: str
    by: str

    def __str__(self) -> str:
        which = ranged(self.start, self.end - 1, "entry", "entries")
        were = agreed(self.end - self.start, "was", "were")
        return f"{which} {were} adopted unsigned by {self.by}: {self.reason}"

    @property
    def subject(self) -> str:
        """What the entry that adopts is about."""
        return f"entries/{self.start}-{self.end - 1}"

    def body(self) -> dict[str, Any]:
        """Return the body of the entry that adopts."""
        return {
            "adopts": {"from": self.start, "size": self.end, "root": self.root},
            "reason": self.reason,
            "by": self.by,
        }

    @classmethod
    def read(cls, body: Any) -> "Adoption | None":
        """Read the body of an entry of kind `key`; None if it adopts nothing."""
        match body:
            case {
                "adopts": {"from": int(start), "size": int(end), "root": str(root), **more},
                "reason": str(reason),
                "by": str(by),
            } if not more and 0 <= start < end and _HASH.fullmatch(root):
                return cls(start, end, root, reason, by)
        return None


def covers(adopted: Iterable[Adoption], seq: int) -> bool:
    """Whether an entry was adopted: it says what it says, and no key vouched for it in time."""
    return any(one.start <= seq < one.end for one in adopted)

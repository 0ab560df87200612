"""Entries as the log has them, read from their rows."""

from dataclasses import dataclass
from typing import Any

from evidentia.canonical import parse_json
from evidentia.errors import IntegrityError
from evidentia.trail.entry import Entry, StoredEntry, body_commitment
from evidentia.trail.merkle import leaf_hash


@dataclass(frozen=True, slots=True)
class LoggedEntry:
    """An entry of the log with its body; `body` is None once it was erased."""

    entry: Entry
    leaf: str
    body: Any

    @property
    def erased(self) -> bool:
        """Whether the body was erased."""
        return self.body is None

    def as_json(self) -> dict[str, Any]:
        """Return entry, hash and body as a JSON object."""
        return {"entry": self.entry.as_json(), "leaf": self.leaf, "body": self.body}


def read_logged(row: StoredEntry) -> LoggedEntry:
    """Read an entry with its body from its row, as it stands there."""
    data, body = row[3], row[5]
    return LoggedEntry(
        Entry.decode(data), leaf_hash(data).hex(), None if body is None else parse_json(body)
    )


def committed(row: StoredEntry) -> LoggedEntry:
    """Read an entry; raise `IntegrityError` if its body is not what it commits to."""
    logged, salt, body = read_logged(row), row[4], row[5]
    if body is not None and body_commitment(salt or b"", body) != logged.entry.body:
        raise IntegrityError(
            f"entry {logged.entry.seq}: its body is not what it commits to; run 'evidentia trail "
            "verify'"
        )
    return logged

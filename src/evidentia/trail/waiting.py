"""Entries that wait for their place in a log, and what they become there."""

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from evidentia.errors import InputError
from evidentia.trail.entry import (
    SALT_BYTES,
    EntryKind,
    body_commitment,
    encode_body,
    encode_entry,
    encode_subject,
)
from evidentia.trail.merkle import leaf_hash
from evidentia.trail.record import EvidenceRecord

MAX_INDEXED_BYTES: Final = 2_000
"""How long a subject or an idempotency key may be: PostgreSQL indexes no more than 2,704 bytes."""
BY: Final = "by"
"""The field of a record's body that is no field of the record: who recorded it."""
_LEAST: Final = 0.001
_ROWS: Final = frozenset(
    (str, str, str, page, section, str, str, str, str, float, type(None), str)
    for page in (int, type(None))
    for section in (str, type(None))
)
"""The types of a record's fields, and of who recorded it, where it has no amendment history."""
_EVIDENCE_RECORD, _STATUS_CHANGE = EntryKind.EVIDENCE_RECORD.value, EntryKind.STATUS_CHANGE.value


class Waiting(NamedTuple):
    """An entry that waits for its place: all but its number and the entry before it."""

    kind: str
    subject: str
    subject_json: str
    at: str
    commitment: str
    salt: bytes
    body: bytes
    idempotency_key: str | None = None

    def says(self, other: "Waiting") -> bool:
        """Whether this says what another says, which has a salt of its own."""
        return (self.kind, self.subject) == (other.kind, other.subject) and (
            body_commitment(other.salt, self.body) == other.commitment
        )


def waiting(kind: str, subject: str, body: Any, at: str, salt: bytes) -> Waiting:
    """Return an entry of a kind about a subject; raise `InputError` for what cannot be recorded."""
    return rebuilt(kind, subject, encode_body(body), at, salt, None)


def waiting_records(
    records: Sequence[EvidenceRecord],
    *,
    by: str,
    at: str,
    salts: bytes,
    keys: Sequence[str | None],
) -> list[Waiting]:
    """Return the entries of records, each with its own part of the salts."""
    for key in keys:
        if key is not None:
            _check_key(key)
    cuts = range(0, len(salts), SALT_BYTES)
    return [
        rebuilt(
            _STATUS_CHANGE if record.is_status_change else _EVIDENCE_RECORD,
            record.obligation_id,
            _body(record, by),
            at,
            salts[cut : cut + SALT_BYTES],
            key,
        )
        for record, key, cut in zip(records, keys, cuts, strict=True)
    ]


def recorded(body: dict[str, Any]) -> EvidenceRecord:
    """Return the record that a body holds; one of the newer form also says who recorded it."""
    return EvidenceRecord.model_validate({name: body[name] for name in body if name != BY})


def _check_key(key: str) -> None:
    """Raise `InputError` for an idempotency key that not every database could store."""
    try:
        size = len(key.encode())
    except UnicodeEncodeError:
        size = 0
    if not 0 < size <= MAX_INDEXED_BYTES or "\0" in key:
        raise InputError(
            f"idempotency key {key[:40]!r} cannot be stored: give 1 to {MAX_INDEXED_BYTES} bytes "
            "of text without NUL"
        )


def placed(
    tenant: str, seq: int, prev: str, items: Iterable[Waiting]
) -> tuple[list[bytes], list[bytes], list[str]]:
    """Return the entries that items become behind an entry, in bytes, and their leaf hashes.

    The hashes come as they are, and in hexadecimal.
    """
    entries, leaves, written = [], [], []
    for number, item in enumerate(items, seq):
        kind, _, subject_json, at, commitment, _, _, _ = item
        data = encode_entry(tenant, number, prev, kind, subject_json, at, commitment)
        leaf = leaf_hash(data)
        prev = leaf.hex()
        entries.append(data)
        leaves.append(leaf)
        written.append(prev)
    return entries, leaves, written


def rebuilt(  # noqa: PLR0917 - called for every record, where names cost time
    kind: str, subject: str, body: bytes, at: str, salt: bytes, key: str | None
) -> Waiting:
    """Return an entry of a body in bytes, as `encode_body` makes them."""
    commitment = body_commitment(salt, body)
    return Waiting(kind, subject, encode_subject(subject), at, commitment, salt, body, key)


def _body(record: EvidenceRecord, by: str) -> bytes:
    """Return a record's body; most records are of few types, which are known to be a plain row."""
    fields = {**vars(record), BY: by}
    is_row = _LEAST <= record.confidence < 1 and tuple(map(type, fields.values())) in _ROWS
    return encode_body(fields, is_row=is_row)

"""Log entries: small canonical JSON that commits to a body without showing it.

An entry names its log's tenant, its place, the entry before it, what it is about and when, and
holds the SHA-256 of a random salt and the body's canonical bytes. The body can therefore be
erased by law, and every proof still verifies.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Any, ClassVar, Final

import orjson

from evidentia.canonical import canonical_json, canonical_row
from evidentia.errors import CanonicalError, InputError, ProofError

FORMAT_VERSION: Final = 1
MAX_SUBJECT_BYTES: Final = 2_000
"""As JSON; what every database can index."""
"""Keeps an entry well below what the 16-bit length prefix of a published bundle can hold."""
MAX_BODY_BYTES: Final = 1_048_576
SALT_BYTES: Final = 32

_TENANT = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?")
_TIME = re.compile(
    r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
    r"T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{6}Z"
)
_HASH = re.compile(r"[0-9a-f]{64}")


class EntryKind(StrEnum):
    """What an entry records."""

    EVIDENCE_RECORD = "evidence_record"
    STATUS_CHANGE = "status_change"
    DOCUMENT = "document"
    BUNDLE = "bundle"
    RUN = "run"
    LEDGER = "ledger"
    DECISION = "decision"
    TOOL_CALL = "tool_call"
    PACK = "pack"
    REVIEW = "review"
    EXPORT = "export"
    ACCESS = "access"
    RETENTION = "retention"
    ERASURE = "erasure"
    KEY = "key"
    REQUEST = "request"
    VERDICT = "verdict"
    ASSIGNMENT = "assignment"


ERASED_PREFIX = "entry/"
StoredEntry = tuple[int, str, str, bytes, bytes | None, bytes | None]
"""A row: sequence number, kind, subject, the entry's bytes, the body's salt, the body."""
KINDS: Final = frozenset(kind.value for kind in EntryKind)


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a log; `encode` gives the bytes that are hashed into the tree."""

    tenant: str
    seq: int
    prev: str
    kind: str
    subject: str
    at: str
    body: str

    FIELDS: ClassVar[tuple[str, ...]] = (
        "at",
        "body",
        "kind",
        "prev",
        "seq",
        "subject",
        "tenant",
        "v",
    )

    def encode(self) -> bytes:
        """Return the entry's canonical JSON."""
        return encode_entry(
            self.tenant,
            self.seq,
            self.prev,
            self.kind,
            orjson.dumps(self.subject).decode(),
            self.at,
            self.body,
        )

    def as_json(self) -> dict[str, Any]:
        """Return the entry as the JSON object that `encode` writes."""
        return {"v": FORMAT_VERSION} | {
            name: getattr(self, name) for name in self.FIELDS if name != "v"
        }

    @classmethod
    def from_json(cls, value: Any) -> "Entry":
        """Read an entry from parsed JSON; raise `ProofError` saying what is wrong with it."""
        if not isinstance(value, dict):
            raise ProofError("the entry is not a JSON object")
        version = value.get("v")
        if type(version) is int and version > FORMAT_VERSION:
            raise ProofError(
                f"the entry has format version {version}, this program reads "
                f"{FORMAT_VERSION}: upgrade evidentia"
            )
        if sorted(value) != list(cls.FIELDS) or (type(version), version) != (int, FORMAT_VERSION):
            raise ProofError(f"the entry must have exactly the fields {', '.join(cls.FIELDS)}, v=1")
        fields = {name: value[name] for name in cls.FIELDS if name != "v"}
        problem = next(_problems_with(fields), None)
        if problem:
            raise ProofError(f"the entry's {problem}")
        return cls(**fields)

    @classmethod
    def decode(cls, data: bytes) -> "Entry":
        """Read an entry from its canonical bytes, and no others."""
        try:
            value = orjson.loads(data)
        except orjson.JSONDecodeError as error:
            raise ProofError(f"the entry is not JSON: {error}") from None
        entry = cls.from_json(value)
        if entry.encode() != data:
            raise ProofError("the entry's bytes are not its canonical JSON")
        return entry


def encode_entry(  # noqa: PLR0917 - called for every entry of a log, where names cost time
    tenant: str, seq: int, prev: str, kind: str, subject_json: str, at: str, body: str
) -> bytes:
    """Write an entry's canonical JSON from checked fields; the subject comes JSON-encoded.

    The one place that knows the byte form: keys sorted, all but the subject plain ASCII.
    """
    return (
        f'{{"at":"{at}","body":"{body}","kind":"{kind}","prev":"{prev}","seq":{seq},'
        f'"subject":{subject_json},"tenant":"{tenant}","v":1}}'
    ).encode()


def body_commitment(salt: bytes, body: bytes) -> str:
    """Return what an entry says of its body: the SHA-256 of salt and bytes, in hexadecimal."""
    return sha256(salt + body).hexdigest()


def genesis_prev(origin: str) -> str:
    """Return the `prev` of a log's first entry, which binds the chain to the log's origin."""
    return sha256(origin.encode()).hexdigest()


def check_tenant(tenant: str) -> str:
    """Return the tenant's name if it is one; raise `InputError` otherwise."""
    if not _TENANT.fullmatch(tenant):
        raise InputError(
            f"tenant {tenant!r} is not a name: use 1 to 64 of a-z, 0-9, '.', '_' and '-', "
            "starting and ending with a letter or digit"
        )
    return tenant


def encode_subject(subject: str) -> str:
    """Return the subject as JSON; raise `InputError` if it is empty, too long or not text."""
    if not subject:
        raise InputError("an entry's subject is empty: name what the entry is about")
    try:
        encoded = orjson.dumps(subject)
    except TypeError:
        raise InputError(f"subject {subject!r} is not text that UTF-8 can hold") from None
    if "\0" in subject:
        raise InputError(f"subject {subject[:40]!r} holds U+0000, which not every database stores")
    if len(encoded) > MAX_SUBJECT_BYTES:
        raise InputError(
            f"subject {subject[:40]!r}… is {len(encoded)} bytes long, {MAX_SUBJECT_BYTES} at most"
        )
    return encoded.decode()


def encode_body(body: Any, *, is_row: bool = False) -> bytes:
    """Return the body's canonical JSON; raise `InputError` if it has none or is too large.

    None is no body: it is what an erased one reads as. A proof file holds the body one level down.
    `is_row` says that it is what `canonical_row` takes.
    """
    if body is None:
        raise InputError("the body cannot be recorded: it is null")
    try:
        data = canonical_row(body) if is_row else canonical_json(body, within=1)
    except CanonicalError as error:
        raise InputError(f"the body cannot be recorded: {error}") from None
    if len(data) > MAX_BODY_BYTES:
        raise InputError(
            f"the body is {len(data)} bytes, {MAX_BODY_BYTES} at most: "
            "keep large content as a file and record its digest"
        )
    return data


def is_time(text: str) -> bool:
    """Whether the text is a UTC time as entries write it: `2026-01-31T09:30:00.000000Z`."""
    return _TIME.fullmatch(text) is not None


def _problems_with(fields: dict[str, Any]) -> Iterator[str]:
    """Give what is wrong with an entry's fields; what comes after the first may be its echo."""
    seq = fields["seq"]
    if type(seq) is not int or seq < 0:
        yield f"seq must be a whole number from 0, not {seq!r}"
    for name in ("tenant", "prev", "kind", "subject", "at", "body"):
        if not isinstance(fields[name], str):
            yield f"{name} must be text"
    if not _TENANT.fullmatch(fields["tenant"]):
        yield "tenant is not a tenant's name"
    if fields["kind"] not in KINDS:
        yield f"kind {fields['kind']!r} is unknown"
    if not is_time(fields["at"]):
        yield f"time {fields['at']!r} is not a UTC time with microseconds"
    for name in ("prev", "body"):
        if not _HASH.fullmatch(fields[name]):
            yield f"{name} is not a SHA-256 in hexadecimal"
    try:
        encode_subject(fields["subject"])
    except InputError as error:
        yield f"subject is wrong: {error}"

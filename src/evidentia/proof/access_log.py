"""The access log as a file of JSON lines: a signed head, and an entry of the trail a line.

The head has a checkpoint of the log and a signed statement: the digest of the lines, how many they
are, of which kinds, and of which range. Each line has an entry, its body where it was not erased,
and its place under the checkpoint. That nothing of the range was left out is the signer's word.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from evidentia.canonical import canonical_json, parse_json, sha256_hex
from evidentia.errors import CanonicalError, EvidentiaError, ProofError
from evidentia.language.counting import counted
from evidentia.proof.document import Disclosure
from evidentia.proof.envelope import Envelope
from evidentia.proof.keys import SigningKey, TrustedKey
from evidentia.proof.revocation import revocation_by
from evidentia.proof.rotation import announced_by, in_order, signing_problem
from evidentia.proof.statement import Statement, Subject
from evidentia.proof.verification import (
    ROTATION,
    Check,
    ProofReport,
    candidates,
    revocation_checks,
    signature_check,
)
from evidentia.trail.checkpoint import Checkpoint, read_checkpoint
from evidentia.trail.entry import SALT_BYTES, Entry, EntryKind, body_commitment
from evidentia.trail.merkle import HASH_BYTES, leaf_hash, verify_inclusion
from evidentia.trail.note import Note

ACCESS_LOG_FORMAT: Final = "evidentia/access-log"
ACCESS_LOG_VERSION: Final = 1
ACCESS_LOG_TYPE: Final = "urn:evidentia:spec:v1:access-log"
ACCESS_KINDS: Final = tuple(
    sorted(
        kind.value
        for kind in (EntryKind.ACCESS, EntryKind.EXPORT, EntryKind.KEY, EntryKind.REQUEST)
    )
)
"""What is in it: roles and tokens, exports of packs, the log's keys, what a server was asked."""
MAX_LINES: Final = 20_000
LINES: Final = "lines"
_SUBJECT: Final = "access-log"
_HEAD: Final = ["checkpoint", "envelope", "format", "v"]
_WITH_BODY: Final = ["body", "entry", "inclusion", "salt"]
_WITHOUT: Final = ["entry", "inclusion"]
_HASH: Final = re.compile(rf"[0-9a-f]{{{2 * HASH_BYTES}}}")
_SALT: Final = re.compile(rf"[0-9a-f]{{{2 * SALT_BYTES}}}")


@dataclass(frozen=True, slots=True)
class Range:
    """Which entries a file is about: numbers from `first` to `last`, and times, if they are given.

    A time is in it from `since` on, and no longer at `until`.
    """

    first: int
    last: int
    since: str | None = None
    until: str | None = None

    def has(self, entry: Entry) -> bool:
        """Whether an entry is in the range."""
        early = self.since is not None and entry.at < self.since
        late = self.until is not None and entry.at >= self.until
        return self.first <= entry.seq <= self.last and not early and not late

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Line:
    """One entry: its place under the checkpoint, and its body, if that was not erased."""

    entry: Entry
    inclusion: tuple[bytes, ...]
    disclosure: Disclosure | None

    def encode(self) -> bytes:
        """Return the line's bytes."""
        said: dict[str, Any] = {
            "entry": self.entry.as_json(),
            "inclusion": [item.hex() for item in self.inclusion],
        }
        if self.disclosure is not None:
            said |= {"body": self.disclosure.body, "salt": self.disclosure.salt.hex()}
        return canonical_json(said) + b"\n"

    @classmethod
    def parse(cls, data: bytes, number: int) -> "Line":
        """Read a line; raise `ProofError` naming it if it is none."""
        value = _parsed(data, f"line {number}")
        fields = sorted(value) if isinstance(value, dict) else []
        if fields not in (_WITH_BODY, _WITHOUT):
            raise ProofError(
                f"line {number} has not the fields {', '.join(_WITH_BODY)} alone, or the entry and "
                "its inclusion"
            )
        inclusion, salt = value["inclusion"], value.get("salt", "0" * 2 * SALT_BYTES)
        hashes = inclusion if isinstance(inclusion, list) else [None]
        if not all(isinstance(one, str) and _HASH.fullmatch(one) for one in hashes) or not (
            isinstance(salt, str) and _SALT.fullmatch(salt)
        ):
            raise ProofError(f"line {number}: its inclusion or its salt is malformed")
        body = Disclosure(value["body"], bytes.fromhex(salt)) if fields == _WITH_BODY else None
        line = cls(Entry.from_json(value["entry"]), tuple(map(bytes.fromhex, hashes)), body)
        if line.encode() != data + b"\n":
            raise ProofError(f"line {number} is not canonical JSON")
        return line


def write_access_log(
    lines: Sequence[Line], asked: Range, checkpoint: str, key: SigningKey
) -> bytes:
    """Return the file of some entries of a log, signed by its key."""
    data = b"".join(line.encode() for line in lines)
    of, _ = read_checkpoint(checkpoint)
    said = {
        "v": ACCESS_LOG_VERSION,
        "origin": of.origin,
        "size": of.size,
        "kinds": list(ACCESS_KINDS),
        "range": asked.as_json(),
        "count": len(lines),
    }
    statement = Statement(ACCESS_LOG_TYPE, (Subject(_SUBJECT, sha256_hex(data)),), said)
    head = {
        "format": ACCESS_LOG_FORMAT,
        "v": ACCESS_LOG_VERSION,
        "checkpoint": checkpoint,
        "envelope": Envelope.sign(statement.encode(), key).as_json(),
    }
    return canonical_json(head) + b"\n" + data


def is_access_log(data: bytes) -> bool:
    """Whether a file says in its first line that it is one."""
    return ACCESS_LOG_FORMAT.encode() in data.partition(b"\n")[0]


def verify_access_log(data: bytes, keys: Iterable[TrustedKey] = ()) -> ProofReport:
    """Check a file against the public keys that the caller trusts."""
    trusted = list(keys)
    try:
        head, _, rest = data.partition(b"\n")
        text, envelope = _head(head)
        checkpoint, note = read_checkpoint(text)
        statement = Statement.parse(envelope.payload)
        asked, count = _stated(statement, checkpoint)
        parts = rest.split(b"\n")
        if parts.pop() != b"":
            raise ProofError("the last line does not end: the file is cut short")
        lines = [Line.parse(part, number) for number, part in enumerate(parts, start=2)]
    except EvidentiaError as error:
        return ProofReport((Check("format", holds=False, says=str(error)),))
    says = f"an access log of version {ACCESS_LOG_VERSION}, whole and well-formed"
    checks = [
        Check("format", holds=True, says=says),
        _all_lines(statement, rest, lines, count, asked),
        _content(lines),
        _place(lines, checkpoint),
        signature_check(checkpoint, note, trusted),
        *_keys(lines, checkpoint, note, trusted),
        _signed(envelope, checkpoint, trusted),
    ]
    return ProofReport(
        tuple(checks),
        statement=statement,
        checkpoint=text,
        cannot_know=(
            "whether entries of the range were left out: that is the signer's word",
            "whether the times are right: they are the recorder's own clock",
            "who asked without signing in, or used the workspace without a server",
        ),
    )


def _head(data: bytes) -> tuple[str, Envelope]:
    value = _parsed(data, "the first line")
    if not isinstance(value, dict) or value.get("format") != ACCESS_LOG_FORMAT:
        raise ProofError(f"not an access log: its format is not {ACCESS_LOG_FORMAT!r}")
    version = value.get("v")
    if type(version) is int and version > ACCESS_LOG_VERSION:
        raise ProofError(
            f"the access log has format version {version}, this program reads "
            f"{ACCESS_LOG_VERSION}: upgrade evidentia"
        )
    checkpoint = value.get("checkpoint")
    if sorted(value) != _HEAD or version != ACCESS_LOG_VERSION or not isinstance(checkpoint, str):
        raise ProofError(f"the first line has not the fields {', '.join(_HEAD)} alone")
    return checkpoint, Envelope.from_json(value["envelope"])


def _stated(statement: Statement, checkpoint: Checkpoint) -> tuple[Range, int]:
    """Return the range and the count that a statement says; raise `ProofError` if it cannot be."""
    if statement.predicate_type != ACCESS_LOG_TYPE:
        raise ProofError(f"not an access log: its type is {statement.predicate_type[:80]!r}")
    match dict(statement.predicate):
        case {
            "v": 1,
            "origin": str(origin),
            "size": int(size),
            "kinds": [*kinds],
            "range": {
                "first": int(first),
                "last": int(last),
                "since": str() | None as since,
                "until": str() | None as until,
                **none,
            },
            "count": int(count),
            **others,
        } if not none and not others and kinds == list(ACCESS_KINDS):
            if (origin, size) != (checkpoint.origin, checkpoint.size):
                raise ProofError("the statement is about another checkpoint than the file has")
            return Range(first, last, since, until), count
    raise ProofError("the statement does not say which entries the access log has")


def _all_lines(
    statement: Statement, rest: bytes, lines: list[Line], count: int, asked: Range
) -> Check:
    """Check that the lines are those that were signed, in order and of the range."""
    numbers = [line.entry.seq for line in lines]
    foreign = [
        line.entry.seq
        for line in lines
        if line.entry.kind not in ACCESS_KINDS or not asked.has(line.entry)
    ]
    if statement.subjects != (Subject(_SUBJECT, sha256_hex(rest)),):
        says = "the lines are not those that were signed: some were changed, added or taken away"
    elif len(lines) != count:
        says = f"the statement speaks of {count:,} entries, here are {len(lines):,}"
    elif numbers != sorted(set(numbers)):
        says = "the entries are not in the order of their numbers"
    elif foreign:
        says = f"entry {foreign[0]} is not of the kinds and the range that the statement says"
    else:
        entries = counted(count, "entry", "entries")
        says = f"{entries} of the access log, as they were signed, {_told(asked)}"
        return Check(LINES, holds=True, says=says)
    return Check(LINES, holds=False, says=says)


def _told(asked: Range) -> str:
    told = f"of the numbers {asked.first} to {asked.last}"
    told += f", from {asked.since} on" if asked.since is not None else ""
    return told + (f", before {asked.until}" if asked.until is not None else "")


def _content(lines: list[Line]) -> Check:
    erased = 0
    for line in lines:
        given, seq = line.disclosure, line.entry.seq
        if given is None:
            erased += 1
        elif body_commitment(given.salt, canonical_json(given.body)) != line.entry.body:
            says = f"the body is not the one that entry {seq} committed to: it was changed"
            return Check("content", holds=False, says=says)
    says = "every body is the one recorded"
    if erased:
        says += f", but for {counted(erased, 'body', 'bodies')} not disclosed here"
    return Check("content", holds=True, says=says)


def _place(lines: list[Line], checkpoint: Checkpoint) -> Check:
    for line in lines:
        entry, root = line.entry, checkpoint.root
        if entry.tenant != checkpoint.tenant:
            says = f"entry {entry.seq} is of tenant {entry.tenant!r}, and the log is another's"
            return Check("place", holds=False, says=says)
        leaf = leaf_hash(entry.encode())
        try:
            verify_inclusion(leaf, entry.seq, checkpoint.size, line.inclusion, root)
        except ProofError as error:
            return Check("place", holds=False, says=f"entry {entry.seq}: {error}")
    of = counted(checkpoint.size, "entry", "entries")
    says = f"every line is one of the {of} of log {checkpoint.origin}"
    return Check("place", holds=True, says=says)


def _keys(
    lines: list[Line], checkpoint: Checkpoint, note: Note, keys: list[TrustedKey]
) -> Iterator[Check]:
    """Check the signing key by what the file itself says of keys: who is retired, or revoked."""
    told = [(line.entry, line.disclosure.body if line.disclosure else None) for line in lines]
    announced = in_order(one for entry, body in told for one in announced_by(entry, body))
    problem = signing_problem(checkpoint, note, announced, keys, whole=False)
    if problem is not None:
        yield Check(ROTATION, holds=False, says=problem)
    found = (revocation_by(entry, body) for entry, body in told)
    yield from revocation_checks(checkpoint, note, [one for one in found if one is not None])


def _signed(envelope: Envelope, checkpoint: Checkpoint, keys: list[TrustedKey]) -> Check:
    signers = ", ".join(signature.key_id for signature in envelope.signatures)
    if not keys:
        says = f"the statement is signed by key {signers}, which was not compared"
        return Check("statement", holds=None, says=says)
    try:
        signer = envelope.signed_by(candidates(checkpoint.origin, keys))
    except ProofError as error:
        return Check("statement", holds=False, says=str(error))
    if signer is None:
        says = f"the statement is signed by key {signers}, not by the key given"
        return Check("statement", holds=False, says=says)
    says = f"the statement is signed by the trusted key {signer.key_id}"
    return Check("statement", holds=True, says=says)


def _parsed(data: bytes, what: str) -> Any:
    try:
        return parse_json(data)
    except CanonicalError as error:
        raise ProofError(f"{what} cannot be read: {error}") from None

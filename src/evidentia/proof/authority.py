"""Authority: entries that permit or forbid carry a signature of their own over what they say.

These are the entries of the kinds access, retention, key and erasure. A signature is inside the
body, by the log's key or by the key that the acting user has enrolled. It covers the log's origin
and the entry's place, kind, subject and time beside the body, so that it fits nowhere else.

The first entry of kind key that has such a signature says that authority is signed from there on.
What came before counts by the rules of its time. The checkpoints cover that entry, so whoever has
no key can't move it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from evidentia.canonical import canonical_json
from evidentia.errors import InputError, ProofError
from evidentia.proof.envelope import Signature, signed_bytes
from evidentia.proof.keys import SigningKey
from evidentia.proof.revocation import Revocation, revocation_by
from evidentia.trail.entry import Entry, EntryKind
from evidentia.trail.note import VerifierKey

PAYLOAD_TYPE: Final = "application/vnd.evidentia.authority+json"
KINDS: Final = frozenset({EntryKind.ACCESS, EntryKind.RETENTION, EntryKind.KEY, EntryKind.ERASURE})
SIGNATURE: Final = "signature"
"""The field of a body that has its signature."""
USER_KEY: Final = "evidentia-user"
"""The name that users' keys sign under: the same key may be enrolled in several logs."""
BEGINS: Final = "authority"
"""The subject of the entry by which an older log says that authority is signed from there on."""
_USERS: Final = "user/"


class Place(NamedTuple):
    """Where an entry stands, and what it is about: what its signature covers beside the body."""

    origin: str
    tenant: str
    seq: int
    kind: str
    subject: str
    at: str

    @classmethod
    def of(cls, origin: str, entry: Entry) -> "Place":
        """Return the place of an entry of a log."""
        return cls(origin, entry.tenant, entry.seq, entry.kind, entry.subject, entry.at)


def signed_body(place: Place, body: Mapping[str, Any], key: SigningKey) -> dict[str, Any]:
    """Return a body with its signature."""
    data = signed_bytes(_payload(place, body), PAYLOAD_TYPE)
    signature = Signature(key.verifier.key_id, key.private_key.sign(data))
    return {**body, SIGNATURE: signature.as_json()}


def begin_body(by: str) -> dict[str, Any]:
    """Return the body of the entry by which an older log says that authority is signed."""
    return {"authority": "signed", "by": by}


def actor_of(kind: str, body: Any) -> str | None:
    """Return in whose name the body of an entry of a kind is; None where it does not say so."""
    match body:
        case {"action": "grant"} if kind == EntryKind.ACCESS:
            actor = body.get("granted_by")
        case {"carried_out_by": actor} if kind == EntryKind.ERASURE:
            pass
        case {"by": actor}:
            pass
        case _:
            actor = None
    return actor if isinstance(actor, str) else None


def is_the_logs(body: Any) -> bool:
    """Whether the body of an entry of kind key is the log's own, whoever acted."""
    return isinstance(body, dict) and any(name in body for name in ("key", "adopts", "authority"))


@dataclass(frozen=True, slots=True)
class Enrolled:
    """A user's key: since which entry, until which one, and who enrolled it."""

    user: str
    key: VerifierKey
    since: int
    by: str
    withdrawn_at: int | None = None

    def is_current(self, seq: int) -> bool:
        """Whether it is the user's key where an entry stands."""
        return self.since < seq and (self.withdrawn_at is None or seq <= self.withdrawn_at)

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            "user": self.user,
            "key_id": self.key.key_id,
            "public_key": str(self.key),
            "since_entry": self.since,
            "enrolled_by": self.by,
            "withdrawn_at_entry": self.withdrawn_at,
        }


def user_subject(user: str) -> str:
    """Return what entries about a user are about."""
    return f"{_USERS}{user}"


def user_key(public_key: bytes) -> VerifierKey:
    """Return a public key as the key of a user."""
    return VerifierKey(USER_KEY, public_key)


class LogKey(NamedTuple):
    """A key of the log: the entry that announces it, and whether the one before was lost."""

    seq: int
    key: VerifierKey
    lost: bool


Said = tuple[Entry, Any]
"""An entry with its own body; None where that is gone."""


@dataclass(frozen=True, slots=True)
class Authority:
    """What a log's entries of kind key say about who may sign what."""

    origin: str
    since: int | None = None
    """The entry from which on authority is signed; None if there is none yet."""
    revocations: tuple[Revocation, ...] = ()
    users: tuple[Enrolled, ...] = ()
    keys: tuple[LogKey, ...] = ()

    @classmethod
    def read(cls, origin: str, entries: Sequence[Said]) -> "Authority":
        """Return what a log's entries of kind key say, which come in their order.

        What has no valid signature where it needs one tells nothing; nor does what was signed by a
        key that is revoked from there on, but for the announcements of the log's keys.
        """
        found = _told(cls(origin), entries)
        if not found.revocations:
            return found
        said = {entry.seq: (entry, body) for entry, body in entries}
        counting = replace(found, revocations=())
        for one in sorted(found.revocations, reverse=True):  # who is revoked later revokes no one
            if counting.distrusted(*said[one.seq]) is None:
                counting = replace(counting, revocations=(one, *counting.revocations))
        believed = [one for one in entries if is_the_logs(one[1]) or not counting.distrusted(*one)]
        return _told(cls(origin), believed)

    def problem(self, entry: Entry, body: Any) -> str | None:
        """Say why an entry decides nothing; None if its signature is good, or it needs none."""
        if self.since is None or entry.seq < self.since:
            return None
        signer = self.signer(entry, body)
        return None if isinstance(signer, VerifierKey) else signer

    def distrusted(self, entry: Entry, body: Any) -> Revocation | None:
        """Return what revokes the key that signed an entry, if anything does."""
        try:
            key_id = Signature.from_json(body[SIGNATURE]).key_id
        except (ProofError, KeyError, TypeError):
            return None
        size = entry.seq + 1
        return next((one for one in self.revocations if one.is_of(key_id, size)), None)

    def enrolled(self, user: str | None, seq: int) -> Enrolled | None:
        """Return the key that a user has where an entry stands; None if the user has none."""
        return next((one for one in self.users if one.user == user and one.is_current(seq)), None)

    def signer(self, entry: Entry, body: Any) -> VerifierKey | str:
        """Return the key that signed an entry and may do so; or say why there is none."""
        try:
            signature, said = _taken_apart(entry, body)
        except ProofError as error:
            return str(error)
        allowed, whose = self._allowed(entry, said)
        key = next((one for one in allowed if one.key_id == signature.key_id), None)
        if key is None:
            return f"is signed by key {signature.key_id}, and not by {whose}"
        payload = _payload(Place.of(self.origin, entry), said)
        if not signature.is_by(key, payload, PAYLOAD_TYPE):
            return f"has a signature by key {key.key_id} that was made for something else"
        return key

    def _allowed(self, entry: Entry, body: Mapping[str, Any]) -> tuple[list[VerifierKey], str]:
        """Return the keys that may sign an entry, and whose they are."""
        if entry.kind != EntryKind.KEY or not is_the_logs(body):
            user = actor_of(entry.kind, body)
            if (enrolled := self.enrolled(user, entry.seq)) is not None:
                return [enrolled.key], f"the key that {user!r} has enrolled"
        before = [one.key for one in self.keys if one.seq < entry.seq]
        announced = _verifier(body.get("key")) if entry.kind == EntryKind.KEY else None
        if announced is not None and (not before or "lost" in body):
            return [announced], "the key that it announces"
        if not before:  # the first key is announced behind what was appended with it
            return [one.key for one in self.keys[:1]], "the log's key"
        behind = [one.key for one in self.keys if one.lost and one.seq == entry.seq + 1]
        return [before[-1], *(behind if "adopts" in body else ())], "the log's key"


def _taken_apart(entry: Entry, body: Any) -> tuple[Signature, dict[str, Any]]:
    """Return the signature of a body and what is signed; raise `ProofError` if there is none."""
    if body is None:
        raise ProofError("its body is gone")
    if not isinstance(body, dict) or SIGNATURE not in body:
        raise ProofError("has no signature of its own")
    said = {name: value for name, value in body.items() if name != SIGNATURE}
    if actor_of(entry.kind, said) is None:
        raise ProofError("does not say in whose name it is")
    try:
        return Signature.from_json(body[SIGNATURE]), said
    except ProofError:
        raise ProofError("has a signature that cannot be read") from None


def _told(known: Authority, entries: Iterable[Said]) -> Authority:
    """Return what is known with what more entries tell."""
    for entry, body in entries:
        is_signed = isinstance(known.signer(entry, body), VerifierKey)
        if is_signed and known.since is None:
            known = replace(known, since=entry.seq)
        announced = _verifier(body.get("key")) if isinstance(body, dict) else None
        if announced is not None and (is_signed or known.since is None):
            key = LogKey(entry.seq, announced, "lost" in body)
            known = replace(known, keys=(*known.keys, key))
        elif is_signed:
            known = _with(known, entry, body)
    return known


def _with(known: Authority, entry: Entry, body: Mapping[str, Any]) -> Authority:
    """Return what is known with what a signed entry tells of users' keys, and of revoked ones."""
    revocation = revocation_by(entry, body)
    if revocation is not None:
        return replace(known, revocations=(*known.revocations, revocation))
    match body:
        case {"user": str(user), "by": str(by)} if entry.subject == user_subject(user):
            key = _verifier(body.get("enrolls"))
            others = tuple(
                replace(one, withdrawn_at=entry.seq)
                if one.user == user and one.withdrawn_at is None
                else one
                for one in known.users
            )
            new = [] if key is None else [Enrolled(user, key, entry.seq, by)]
            return replace(known, users=(*others, *new))
    return known


def _payload(place: Place, body: Mapping[str, Any]) -> bytes:
    return canonical_json({**place._asdict(), "body": body})


def _verifier(text: Any) -> VerifierKey | None:
    try:
        return VerifierKey.parse(text) if isinstance(text, str) else None
    except InputError:
        return None

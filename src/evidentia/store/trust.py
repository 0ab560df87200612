"""What an audit believes: keys that it has from outside the database, and what they vouch for."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from evidentia.canonical import parse_json
from evidentia.errors import EvidentiaError
from evidentia.language.counting import counted
from evidentia.proof.authority import Authority, is_the_logs
from evidentia.proof.keys import TrustedKey
from evidentia.trail.adoption import Adoption, covers
from evidentia.trail.audit import MAX_FINDINGS, Finding
from evidentia.trail.checkpoint import read_checkpoint
from evidentia.trail.entry import Entry, EntryKind
from evidentia.trail.note import VerifierKey

NOTHING_OUTSIDE = (
    "nothing outside the database says whose log this is: no key was named (--key), this home has "
    "none of its private keys, and no checkpoint of it was kept. Whoever can write the database "
    "can have made all of it"
)


@dataclass(frozen=True, slots=True)
class TrustedSigner:
    """A key of a log that is trusted, and for what reason."""

    key_id: str
    reason: str

    def as_json(self) -> dict[str, str]:
        """Return it as a JSON object."""
        return {"key_id": self.key_id, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class OutsideCheckpoint:
    """A checkpoint that was kept outside the database, and what to call it."""

    name: str
    note: str


@dataclass(frozen=True, slots=True)
class Outside:
    """What is known from outside the database.

    `named` are keys that the caller trusts: with any of them, no other is. `held` are the ids of
    the keys that this home signs with, and `in_token` those of them that a token has.
    """

    checkpoints: Sequence[OutsideCheckpoint] = ()
    held: frozenset[str] = frozenset()
    named: Sequence[TrustedKey] = ()
    in_token: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        """What the checkpoints are called."""
        return tuple(one.name for one in self.checkpoints)

    def trusted(self, origin: str, announced: Iterable[str]) -> list[TrustedSigner]:
        """Return which of the keys that a log announces are trusted, and why."""
        if self.named:
            ids = {VerifierKey(origin, one.public_key).key_id for one in self.named}
            return [TrustedSigner(one, "it was named") for one in announced if one in ids]
        signed: dict[str, str] = {}
        for outside in self.checkpoints:
            with suppress(EvidentiaError):
                for line in read_checkpoint(outside.note)[1].signatures:
                    signed.setdefault(line.key_id, f"it signed the {outside.name}")
        here = dict.fromkeys(self.held, "its private key is in this home")
        reasons = signed | here | dict.fromkeys(self.in_token, "its private key is in the token")
        return [TrustedSigner(one, reasons[one]) for one in announced if one in reasons]

    def strangers(self, origin: str, announced: Iterable[str]) -> list[Finding]:
        """Say which of the keys that were named are none of the log's."""
        known = set(announced)
        findings = []
        for one in self.named:
            key_id = VerifierKey(one.name or origin, one.public_key).key_id
            if not one.is_for(origin):
                problem = f"was named for log {one.name}, and this is {origin}: name its own key"
                findings.append(Finding(-1, f"key {key_id}", problem))
            elif key_id not in known:
                problem = "was named, and is none of the keys that the log announces"
                findings.append(Finding(-1, f"key {key_id}", problem))
        return findings


def audit_deciding(
    authority: Authority,
    rows: Iterable[tuple[bytes, bytes | None]],
    unvouched: Sequence[Adoption],
) -> tuple[list[Finding], list[str]]:
    """Check the signatures of entries that permit or forbid, given as bytes with their bodies.

    Return what is wrong, and what has to be known for good: how much revoked keys have signed. Of
    ranges that no key vouched for in time, that is said once, and nothing in them decides.
    """
    findings: list[Finding] = []
    distrusted = dict.fromkeys(authority.revocations, 0)
    for data, body in rows:
        try:
            entry, said = Entry.decode(data), None if body is None else parse_json(body)
        except EvidentiaError:
            continue  # which has a finding of its own
        if covers(unvouched, entry.seq):
            continue
        problem = authority.problem(entry, said)
        if problem is not None and len(findings) < MAX_FINDINGS:
            says = f"{problem}: it decides nothing"
            findings.append(Finding(entry.seq, f"entry {entry.seq} ({entry.kind})", says))
        revocation = authority.distrusted(entry, said)
        if revocation is not None and not is_the_logs(said):
            distrusted[revocation] += 1
    notes = []
    for one, count in distrusted.items():
        signed = counted(count, "entry that it signed decides", "entries that it signed decide")
        notes.append(f"{one.told}; {signed} nothing" if count else one.told)
    return findings, notes


def key_entries(rows: Iterable[tuple[bytes, bytes | None]]) -> list[tuple[Entry, Any]]:
    """Return the entries of kind key that can be read, with their bodies."""
    found: list[tuple[Entry, Any]] = []
    for data, body in rows:
        with suppress(EvidentiaError):
            entry = Entry.decode(data)
            if entry.kind == EntryKind.KEY:
                found.append((entry, None if body is None else parse_json(body)))
    return found

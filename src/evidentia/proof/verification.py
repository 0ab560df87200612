"""Verification: bytes and a public key in, a report out.

The rules kept here:

1. Nothing but the arguments is read: no file, no socket, no database, no clock.
2. Whatever the bytes are, the answer is a report and never an exception.
3. `holds` is true only if every check was made and passed, the signature by a trusted key among
   them. Without a trusted key the best answer is "consistent, signer unknown".
4. What a proof cannot show is said beside what it shows.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Any, Final

from evidentia.canonical import canonical_json, sha256_hex
from evidentia.errors import EvidentiaError, ProofError
from evidentia.language.counting import counted
from evidentia.proof.document import Later, Proof
from evidentia.proof.envelope import Envelope
from evidentia.proof.keys import TrustedKey
from evidentia.proof.plain import differences
from evidentia.proof.revocation import Revocation, revocation_by, revoked
from evidentia.proof.rotation import Announcement, announced_by, in_order, signing_problem
from evidentia.proof.statement import Statement
from evidentia.proof.succession import Succession, succession_of, superseded
from evidentia.trail.checkpoint import Checkpoint, read_checkpoint
from evidentia.trail.entry import Entry, body_commitment, genesis_prev
from evidentia.trail.merkle import leaf_hash, verify_inclusion
from evidentia.trail.note import Note, VerifierKey

STATEMENT_DIGEST = "statement_sha256"
"""The field of a body that names a statement by its digest."""
ATTACHMENT = "attachment/"
"""What the name of a subject begins with that is a file which may come along."""
PLAIN = "plain"
"""The name of the check whether what stands in plain is what the statement says."""
RENDERING = "rendering"
"""The name of the check whether printed pages are the ones that the evidence gives."""
PACK = "pack"
"""The name of the check whether a pack is here, and its parts agree."""
LATER = "later"
"""The name of the check whether entries of later versions are what they say."""
ROTATION = "rotation"
"""The name of the check whether the key that signed was the log's at that size."""
REVOCATION = "revocation"
"""The name of the check whether the key that signed is revoked."""

_TOLD: Final = 3
"""How many differences are told."""


class Verdict(StrEnum):
    """What verification came to, in the words it is reported with."""

    HOLDS = "holds"
    SIGNER_UNKNOWN = "consistent, signer unknown"
    PAGES_NOT_COMPARED = "consistent, pages not compared"
    PACK_NOT_HERE = "consistent, the pack is not here"
    DOES_NOT_HOLD = "does not hold"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at; `holds` is None where it could not be decided."""

    name: str
    holds: bool | None
    says: str


@dataclass(frozen=True, slots=True)
class ProofReport:
    """What `verify` found: the verdict, each check, and what the proof cannot show."""

    checks: tuple[Check, ...]
    entry: Entry | None = None
    body: Any = None
    statement: Statement | None = None
    cannot_know: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    """What is worth a look in what holds; the verdict does not depend on it."""
    checkpoint: str | None = None
    """The signed checkpoint that it was verified under, as it was given."""
    later: tuple[Succession, ...] = ()
    """The versions that are known to have come after what it is about, the oldest first."""
    shows: Mapping[str, Any] | None = None
    """What a proof about a corpus shows of a document, where it does not fail."""

    @property
    def superseded(self) -> str | None:
        """Say that a later version replaces what this is about; None if none is known."""
        return superseded(self.later)

    @property
    def verdict(self) -> Verdict:
        """The one-line answer."""
        outcomes = {check.holds for check in self.checks}
        if outcomes == {True}:
            return Verdict.HOLDS
        if outcomes == {True, None}:
            undecided = {check.name for check in self.checks if check.holds is None}
            if PACK in undecided:
                return Verdict.PACK_NOT_HERE
            unseen = RENDERING in undecided
            return Verdict.PAGES_NOT_COMPARED if unseen else Verdict.SIGNER_UNKNOWN
        return Verdict.DOES_NOT_HOLD

    @property
    def holds(self) -> bool:
        """Whether everything was checked and holds, signed by a key the caller trusts."""
        return self.verdict is Verdict.HOLDS

    @property
    def fingerprint(self) -> str | None:
        """The SHA-256 of the statement, which all copies of it have; None where there is none.

        It is the one that the body names: that the statement has it, the checks tell.
        """
        named = self.body.get(STATEMENT_DIGEST) if isinstance(self.body, dict) else None
        return named if self.statement is not None and isinstance(named, str) else None

    def as_json(self) -> dict[str, Any]:
        """Return the report as a JSON object."""
        return {
            "verdict": self.verdict.value,
            "holds": self.holds,
            "checks": [
                {"name": check.name, "holds": check.holds, "says": check.says}
                for check in self.checks
            ],
            "entry": self.entry.as_json() if self.entry else None,
            "body": self.body,
            "statement": self.statement.as_json() if self.statement else None,
            "fingerprint": self.fingerprint,
            "superseded_by": [one.as_json() for one in self.later],
            "findings": list(self.findings),
            "cannot_know": list(self.cannot_know),
            **({} if self.shows is None else {"shows": dict(self.shows)}),
        }


def verify_proof(data: bytes, keys: Iterable[TrustedKey] = ()) -> ProofReport:
    """Check a proof file's bytes against the public keys that the caller trusts."""
    trusted = list(keys)
    try:
        proof = Proof.parse(data)
        checkpoint, note = read_checkpoint(proof.checkpoint)
        statement = Statement.parse(proof.envelope.payload) if proof.envelope else None
    except EvidentiaError as error:
        return ProofReport((Check("format", holds=False, says=str(error)),))
    body = proof.disclosure.body if proof.disclosure else None
    checks = [
        Check(
            "format", holds=True, says=f"a proof of version {proof.version}, whole and well-formed"
        ),
        _content(proof),
        _place(proof, checkpoint),
        signature_check(checkpoint, note, trusted),
        *_own_rotation(proof, checkpoint, note, trusted),
        *_own_revocation(proof, checkpoint, note),
    ]
    if proof.envelope:
        checks.append(_statement(proof.envelope, body, checkpoint.origin, trusted))
    if statement:
        checks += _plain(proof, statement)
        checks += _attachments(proof, statement)
    later, found = _later(proof, checkpoint)
    checks += found
    return ProofReport(
        tuple(checks),
        proof.entry,
        body,
        statement,
        _limits(proof, statement),
        checkpoint=proof.checkpoint,
        later=later,
    )


def _content(proof: Proof) -> Check:
    entry = proof.entry
    if proof.disclosure is None:
        return Check("content", holds=True, says=f"{_named(entry)}; its body is not disclosed here")
    commitment = body_commitment(proof.disclosure.salt, canonical_json(proof.disclosure.body))
    if commitment != entry.body:
        says = f"the body is not the one that entry {entry.seq} committed to: it was changed"
        return Check("content", holds=False, says=says)
    return Check("content", holds=True, says=f"{_named(entry)}; the body is the one recorded")


def _place(proof: Proof, checkpoint: Checkpoint) -> Check:
    entry = proof.entry
    if checkpoint.tenant != entry.tenant:
        says = (
            f"the entry is of tenant {entry.tenant!r}, the checkpoint of another log "
            f"({checkpoint.origin})"
        )
        return Check("place", holds=False, says=says)
    if entry.seq == 0 and entry.prev != genesis_prev(checkpoint.origin):
        says = f"entry 0 does not begin log {checkpoint.origin}: its prev is not the origin's hash"
        return Check("place", holds=False, says=says)
    leaf = leaf_hash(entry.encode())
    try:
        verify_inclusion(leaf, entry.seq, checkpoint.size, proof.inclusion, checkpoint.root)
    except ProofError as error:
        return Check("place", holds=False, says=str(error))
    entries = counted(checkpoint.size, "entry", "entries")
    says = f"entry {entry.seq} of the {entries} of log {checkpoint.origin}"
    return Check("place", holds=True, says=says)


def signature_check(checkpoint: Checkpoint, note: Note, keys: list[TrustedKey]) -> Check:
    """Check that a checkpoint is signed by a trusted key of its log."""
    signers = ", ".join(line.key_id for line in note.signatures)
    if not keys:
        says = f"the checkpoint is signed by key {signers}, and no trusted key was given to compare"
        return Check("signature", holds=None, says=says)
    origin = checkpoint.origin
    known = candidates(origin, keys)
    if not known:
        says = f"the checkpoint is of log {origin}, the key given is for {keys[0].name}"
        return Check("signature", holds=False, says=says)
    try:
        signer = note.signed_by(known)
    except ProofError as error:
        return Check("signature", holds=False, says=str(error))
    if signer is None:
        given = ", ".join(key.key_id for key in known)
        says = f"the checkpoint is signed by key {signers}, not by the key given ({given})"
        return Check("signature", holds=False, says=says)
    says = f"the checkpoint is signed by the trusted key {signer.key_id}"
    return Check("signature", holds=True, says=says)


def rotation_check(
    checkpoint: Checkpoint,
    note: Note,
    announcements: Iterable[Announcement],
    keys: list[TrustedKey],
) -> Check:
    """Check that the key that signed was the log's at that size, by what announces its keys."""
    problem = signing_problem(checkpoint, note, in_order(announcements), keys)
    if problem is not None:
        return Check(ROTATION, holds=False, says=problem)
    entries = counted(checkpoint.size, "entry", "entries")
    return Check(ROTATION, holds=True, says=f"the key was the log's when it had {entries}")


def revocation_checks(
    checkpoint: Checkpoint, note: Note, revocations: Iterable[Revocation]
) -> list[Check]:
    """Check that the key that signed is not revoked at that size, where any key is."""
    known = list(revocations)
    if not known:
        return []
    one = revoked(known, checkpoint, note)
    if one is None:
        keys = ", ".join(sorted({each.key_id for each in known}))
        says = f"what revokes key {keys} does not concern this signature"
        return [Check(REVOCATION, holds=True, says=says)]
    says = f"{one.told}, and signed these {checkpoint.size:,} entries: it is not believed"
    return [Check(REVOCATION, holds=False, says=says)]


def _own_revocation(proof: Proof, checkpoint: Checkpoint, note: Note) -> list[Check]:
    """Check a proof of a revocation: who is revoked there does not vouch for it."""
    one = revocation_by(proof.entry, proof.disclosure.body if proof.disclosure else None)
    return [] if one is None else revocation_checks(checkpoint, note, [one])


def _own_rotation(
    proof: Proof, checkpoint: Checkpoint, note: Note, keys: list[TrustedKey]
) -> Iterator[Check]:
    """Check a proof of a key's announcement: who is replaced there signs no larger log."""
    known = announced_by(proof.entry, proof.disclosure.body if proof.disclosure else None)
    problem = signing_problem(checkpoint, note, known, keys, whole=False)
    if problem is not None:
        yield Check(ROTATION, holds=False, says=problem)


def _later(proof: Proof, checkpoint: Checkpoint) -> tuple[tuple[Succession, ...], list[Check]]:
    """Check the entries of later versions that came along, each of which replaces the one before.

    What does not hold tells nothing: no later version is reported then.
    """
    chain: list[Succession] = []
    before = proof.entry
    for one in proof.later:
        problem = _later_problem(one, before, checkpoint)
        found = succession_of(one.entry, one.disclosure.body)
        if problem is None and (found is None or found.replaces != before.subject):
            problem = f"entry {one.entry.seq} does not say that it replaces {before.subject!r}"
        if problem is not None or found is None:
            return (), [Check(LATER, holds=False, says=str(problem))]
        chain.append(found)
        before = one.entry
    if not chain:
        return (), []
    says = (
        f"the same log has {counted(len(chain), 'later version')} of it, the last {chain[-1].told}"
    )
    return tuple(chain), [Check(LATER, holds=True, says=says)]


def _later_problem(one: Later, before: Entry, checkpoint: Checkpoint) -> str | None:
    entry = one.entry
    if (entry.tenant, entry.seq > before.seq) != (before.tenant, True):
        return f"entry {entry.seq} is not a later one of the same log"
    commitment = body_commitment(one.disclosure.salt, canonical_json(one.disclosure.body))
    if commitment != entry.body:
        return f"the body is not the one that entry {entry.seq} committed to: it was changed"
    leaf = leaf_hash(entry.encode())
    try:
        verify_inclusion(leaf, entry.seq, checkpoint.size, one.inclusion, checkpoint.root)
    except ProofError as error:
        return str(error)
    return None


def _statement(envelope: Envelope, body: Any, origin: str, keys: list[TrustedKey]) -> Check:
    """Check that the statement is the one that the body names, and is signed by the log's key."""
    named = body.get(STATEMENT_DIGEST) if isinstance(body, dict) else None
    if named != sha256_hex(envelope.payload):
        says = "the statement is not the one that was recorded: it was changed, or is another's"
        return Check("statement", holds=False, says=says)
    signers = ", ".join(signature.key_id for signature in envelope.signatures)
    if not keys:
        says = f"the statement is the one recorded; signed by key {signers}, which was not compared"
        return Check("statement", holds=None, says=says)
    try:
        signer = envelope.signed_by(candidates(origin, keys))
    except ProofError as error:
        return Check("statement", holds=False, says=str(error))
    if signer is None:
        says = f"the statement is signed by key {signers}, not by the key given"
        return Check("statement", holds=False, says=says)
    says = f"the statement is the one recorded, signed by the trusted key {signer.key_id}"
    return Check("statement", holds=True, says=says)


def _plain(proof: Proof, statement: Statement) -> Iterator[Check]:
    """Compare what stands in plain with the statement, if anything does."""
    if proof.predicate is None:
        return
    found = list(islice(differences(proof.predicate, statement.predicate), _TOLD + 1))
    if found:
        more = "; and more" if len(found) > _TOLD else ""
        told = f"{'; '.join(found[:_TOLD])}{more}"
        says = f"what stands in plain is not what the statement says: {told}"
        yield Check(PLAIN, holds=False, says=says)
    else:
        says = "what stands in plain is what the statement says, field for field"
        yield Check(PLAIN, holds=True, says=says)


def _attachments(proof: Proof, statement: Statement) -> list[Check]:
    """Compare the files that came along with the digests that the statement has for them."""
    named = {subject.name: subject.sha256 for subject in statement.subjects}
    seen: set[str] = set()
    checks = []
    for name, data in proof.attachments:
        digest = named.get(ATTACHMENT + name)
        if digest is None or name in seen:
            says = f"{name!r} is not among the attachments that the statement names, or is twice"
        elif digest != sha256_hex(data):
            says = f"{name!r} is not the file that the statement names: it was changed"
        else:
            size = counted(len(data), "byte")
            says = f"{name!r}, {size}, is the file that the statement names"
        holds = name not in seen and digest == sha256_hex(data)
        seen.add(name)
        checks.append(Check("attachment", holds=holds, says=says))
    return checks


def candidates(origin: str, keys: list[TrustedKey]) -> list[VerifierKey]:
    """Return the trusted keys that may vouch for a log."""
    return [VerifierKey(origin, key.public_key) for key in keys if key.is_for(origin)]


def _limits(proof: Proof, statement: Statement | None) -> tuple[str, ...]:
    limits = [
        "whether what was recorded was true when it was recorded",
        "whether the time in the entry is right: it is the recorder's own clock",
        "whether the log was cut back or rewritten since: compare with a newer checkpoint",
    ]
    if proof.disclosure is None:
        limits.append("what the body says: only its commitment is here")
    here = {ATTACHMENT + name for name, _ in proof.attachments}
    subjects = statement.subjects if statement else ()
    limits += [
        f"whether {subject.name.removeprefix(ATTACHMENT)!r} is unchanged: only its digest is here"
        for subject in subjects
        if subject.name.startswith(ATTACHMENT) and subject.name not in here
    ]
    return tuple(limits)


def _named(entry: Entry) -> str:
    return f"{entry.kind} about {entry.subject!r}, recorded {entry.at}"

"""Verifying a published log: its files and a public key in, a report out.

The rules of `verification` hold here, too: without a trusted key the best answer is "consistent,
signer unknown", and what it cannot show is said. What cannot be read is the caller's to report.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from evidentia.canonical import canonical_json, parse_json
from evidentia.errors import CanonicalError, EvidentiaError, ProofError
from evidentia.language.counting import agreed, counted
from evidentia.proof.keys import TrustedKey
from evidentia.proof.revocation import Revocation, revocation_by
from evidentia.proof.rotation import Announcement, announced_key
from evidentia.proof.succession import Succession, succession_of
from evidentia.proof.verification import (
    Check,
    ProofReport,
    Verdict,
    candidates,
    revocation_checks,
    rotation_check,
    signature_check,
)
from evidentia.proof.witnessed import Demand
from evidentia.trail.checkpoint import Checkpoint, read_checkpoint
from evidentia.trail.entry import MAX_BODY_BYTES, SALT_BYTES, Entry, EntryKind, body_commitment
from evidentia.trail.note import MAX_NOTE_BYTES, Note
from evidentia.trail.publication import (
    CHECKPOINT,
    Fetch,
    PublicationAudit,
    audit_publication,
)
from evidentia.trail.tiles import body_path

PUBLISHED_KINDS: Final = (EntryKind.KEY, EntryKind.PACK, EntryKind.REVIEW)
"""The kinds of entries whose bodies may be published: keys, and which version replaces which."""
SINCE: Final = "since"
"""The name of the check whether a log continues a checkpoint that was kept."""
_MAX_DISCLOSED: Final = MAX_BODY_BYTES + 4_096
_LIMITS: Final = (
    "what the entries say: their bodies are not published, and they commit to them",
    "whether what was recorded was true when it was recorded, and its time right",
)
_NOT_SINCE: Final = (
    "whether the log was rewritten since you last saw it: keep its checkpoint, and give it next "
    "time (--since)"
)
_NOT_WITNESSED: Final = "whether others were shown another log: demand witnesses (--witness)"


@dataclass(slots=True)
class Publication:
    """A published log as it was found: the report of it, and what its entries tell."""

    report: ProofReport
    checkpoint: Checkpoint | None = None
    audit: PublicationAudit = field(default_factory=PublicationAudit)
    announcements: list[Announcement] = field(default_factory=list)
    successions: list[Succession] = field(default_factory=list)
    revocations: list[Revocation] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """What is wrong with bodies that are published."""
    unread: int = 0
    """How many later packs and reviews there are whose bodies are not published."""


@dataclass(frozen=True, slots=True)
class About:
    """What a log is asked about: an entry, by its number, and the size it was proved under."""

    seq: int
    size: int


def verify_publication(
    fetch: Fetch,
    keys: Iterable[TrustedKey] = (),
    *,
    since: str | None = None,
    demand: Demand | None = None,
    about: About | None = None,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Publication:
    """Check a published log whole, by the public keys that the caller trusts.

    `since` is a checkpoint of it that the caller kept. With `about`, what came after that entry is
    told, too. What `fetch` raises is not caught.
    """
    trusted = list(keys)
    note = fetch(CHECKPOINT, MAX_NOTE_BYTES)
    if note is None:
        return _malformed("there is no file 'checkpoint', so this is no published log")
    try:
        checkpoint, parsed = read_checkpoint(note.decode())
        kept = None if since is None else read_checkpoint(since)
    except UnicodeDecodeError:
        return _malformed("the file 'checkpoint' is not even text")
    except ProofError as error:
        return _malformed(str(error))
    found = Publication(ProofReport(()), checkpoint)
    sizes = {kept[0].size} if kept else set()
    places = set()
    if about is not None:
        sizes.add(about.size)
        places.add(about.seq)
    told = _Told(fetch, found, about.seq if about else None)
    found.audit = audit_publication(
        checkpoint,
        fetch,
        sizes=sizes,
        places=places,
        see=told.see,
        progress=lambda done: progress(done, checkpoint.size),
    )
    checks = [
        Check("format", holds=True, says=f"a checkpoint of log {checkpoint.origin}"),
        _entries([*found.audit.entry_problems, *found.problems], checkpoint),
        _tiles(found.audit),
        _root(found.audit, checkpoint),
        signature_check(checkpoint, parsed, trusted),
    ]
    if found.announcements:
        checks.append(rotation_check(checkpoint, parsed, found.announcements, trusted))
    checks += revocation_checks(checkpoint, parsed, found.revocations)
    if kept:
        checks.append(_since(found.audit, checkpoint, kept, trusted))
    if demand:
        checks.append(demand.check(parsed))
    limits = [*_LIMITS]
    limits += [_NOT_SINCE] if kept is None else []
    limits += [_NOT_WITNESSED] if demand is None else []
    found.report = ProofReport(tuple(checks), cannot_know=tuple(limits), checkpoint=note.decode())
    return found


class _Told:
    """Takes from entries what they tell of keys and versions, by the bodies that are published."""

    def __init__(self, fetch: Fetch, found: Publication, after: int | None) -> None:
        self._fetch = fetch
        self._found = found
        self._after = after

    def see(self, entry: Entry) -> None:
        """Take what an entry tells."""
        if entry.kind not in PUBLISHED_KINDS:
            return
        body = self._body(entry)
        if entry.kind == EntryKind.KEY:
            if (announced := announced_key(entry)) is not None:
                self._found.announcements.append(announced)
            if (revocation := revocation_by(entry, body)) is not None:
                self._found.revocations.append(revocation)
        elif self._after is not None and entry.seq > self._after:
            later = succession_of(entry, body)
            self._found.unread += body is None
            if later is not None:
                self._found.successions.append(later)

    def _body(self, entry: Entry) -> Any:
        """Return the published body of an entry; None if there is none that is its own."""
        path = body_path(entry.seq)
        data = self._fetch(path, _MAX_DISCLOSED)
        if data is None:
            return None
        try:
            body = _disclosed(data, entry)
        except EvidentiaError as error:
            self._found.problems.append(f"{path}: {error}")
            return None
        return body


def _disclosed(data: bytes, entry: Entry) -> Any:
    try:
        value = parse_json(data)
    except CanonicalError as error:
        raise ProofError(f"cannot be read: {error}") from None
    match value:
        case {"body": body, "salt": str(salt), **others} if not others and _is_salt(salt):
            if body_commitment(bytes.fromhex(salt), canonical_json(body)) == entry.body:
                return body
    raise ProofError(f"is not the body that entry {entry.seq} committed to")


def _is_salt(text: str) -> bool:
    return len(text) == 2 * SALT_BYTES and all(one in "0123456789abcdef" for one in text)


def _malformed(says: str) -> Publication:
    return Publication(ProofReport((Check("format", holds=False, says=says),)))


def _entries(problems: list[str], checkpoint: Checkpoint) -> Check:
    if problems:
        return Check("entries", holds=False, says=_several(problems))
    size = counted(checkpoint.size, "entry is", "entries are")
    says = f"{size} there, well-formed, and each follows the one before"
    return Check("entries", holds=True, says=says)


def _tiles(audit: PublicationAudit) -> Check:
    if audit.tile_problems:
        return Check("tiles", holds=False, says=_several(audit.tile_problems))
    are = counted(audit.tiles, "tile is", "tiles are")
    return Check("tiles", holds=True, says=f"{are} what the entries give")


def _root(audit: PublicationAudit, checkpoint: Checkpoint) -> Check:
    if audit.size != checkpoint.size:
        read = counted(audit.size, "entry", "entries")
        says = f"only {read} of {checkpoint.size:,} could be read, so the root was not reached"
        return Check("root", holds=False, says=says)
    if audit.root != checkpoint.root:
        return Check(
            "root", holds=False, says="the entries give another root than the checkpoint's"
        )
    return Check("root", holds=True, says="the entries give the root that the checkpoint signs")


def _since(
    audit: PublicationAudit,
    checkpoint: Checkpoint,
    kept: tuple[Checkpoint, Note],
    keys: list[TrustedKey],
) -> Check:
    """Check that a log continues a checkpoint that was kept."""
    old, note = kept
    entries = counted(old.size, "entry", "entries")
    if old.origin != checkpoint.origin:
        says = f"the checkpoint kept is of another log ({old.origin})"
        return Check(SINCE, holds=False, says=says)
    try:
        note.signed_by(candidates(old.origin, keys))
    except ProofError as error:
        return Check(SINCE, holds=False, says=f"the checkpoint kept does not hold: {error}")
    if old.size > checkpoint.size:
        says = (
            f"the log was cut back: the checkpoint kept has {entries}, and {checkpoint.size:,} "
            f"{agreed(checkpoint.size, 'is', 'are')} published"
        )
        return Check(SINCE, holds=False, says=says)
    if old.size and audit.roots.get(old.size) != old.root:
        says = f"the log was rewritten: its first {entries} are not those of the checkpoint kept"
        return Check(SINCE, holds=False, says=says)
    return Check(SINCE, holds=True, says=f"it begins with the {entries} of the checkpoint kept")


def _several(problems: list[str]) -> str:
    more = f"; and {len(problems) - 3} more" if len(problems) > 3 else ""  # noqa: PLR2004 - as told
    return "; ".join(problems[:3]) + more


def log_check(found: Publication, report: ProofReport, about: About, leaf: bytes) -> Check:
    """Check that a published log holds, and that what was verified is of it."""
    log = found.report
    if log.verdict is Verdict.DOES_NOT_HOLD or found.checkpoint is None:
        failed = next(check for check in log.checks if check.holds is False)
        return Check("log", holds=False, says=f"the published log does not hold: {failed.says}")
    origin, size = found.checkpoint.origin, found.checkpoint.size
    proved, _ = read_checkpoint(report.checkpoint or "")
    entries = counted(size, "entry", "entries")
    if origin != proved.origin:
        return Check("log", holds=False, says=f"the published log is another one ({origin})")
    if about.seq >= size:
        says = f"the published log of {entries} ends before entry {about.seq}: it tells nothing yet"
        return Check("log", holds=True if log.holds else None, says=says)
    same = found.audit.leaves.get(about.seq) == leaf
    if about.size <= size:
        same = same and found.audit.roots.get(about.size) == proved.root
    if not same:
        says = f"the published log of {entries} has another past than this file: one was rewritten"
        return Check("log", holds=False, says=says)
    says = f"the published log of {entries} holds, and has this entry"
    return Check("log", holds=True if log.holds else None, says=says)

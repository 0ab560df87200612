"""How evidence stands by what is known of its log beside it: its keys, and later versions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from evidentia.errors import ProofError
from evidentia.language.counting import counted
from evidentia.proof.keys import TrustedKey
from evidentia.proof.revocation import Revocation, revocation_by
from evidentia.proof.rotation import Announcement, announced_by, signing_problem
from evidentia.proof.succession import NEWER, Succession, later_versions, succession_of
from evidentia.proof.verification import (
    PACK,
    ROTATION,
    Check,
    ProofReport,
    Verdict,
    revocation_checks,
    rotation_check,
)
from evidentia.trail.checkpoint import read_checkpoint

LATER_PROOF = "later"
"""The name of the check of a proof of a later entry that was given beside the evidence."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a log, from a check that it is the evidence's own: keys and versions.

    `size` is how many of its entries were looked at; None where it was one entry alone.
    """

    check: Check
    announcements: Sequence[Announcement] = ()
    successions: Sequence[Succession] = ()
    size: int | None = None
    unread: int = 0
    """How many later packs and reviews could not be read."""
    revocations: Sequence[Revocation] = ()


def with_known(report: ProofReport, keys: Iterable[TrustedKey], known: Known) -> ProofReport:
    """Return a report with what follows from what is known of the log.

    What is known of a log that is not shown to be the evidence's own changes nothing else.
    """
    checks = (*report.checks, known.check)
    if known.check.holds is False or report.entry is None or report.checkpoint is None:
        return replace(report, checks=checks)
    trusted = list(keys)
    later = later_versions(report.entry.subject, (*report.later, *known.successions))
    return replace(
        report,
        checks=(
            *checks,
            *_rotation(report.checkpoint, known, trusted),
            *revocation_checks(*read_checkpoint(report.checkpoint), known.revocations),
        ),
        later=later,
        cannot_know=_limits(report, known, is_superseded=bool(later)),
    )


def _is_sure(proof: ProofReport) -> bool:
    """Whether an entry is proved: the pack that it records need not be here for that."""
    return all(check.holds for check in proof.checks if check.name != PACK)


def known_by_proof(report: ProofReport, later: ProofReport, name: str) -> Known:
    """Return what the proof of a later entry of the same log tells; `name` is what it is called."""
    if later.verdict is Verdict.DOES_NOT_HOLD or later.entry is None:
        failed = next(check for check in later.checks if check.holds is False)
        return _refused(f"{name} does not hold: {failed.says}")
    mine, theirs = _origin(report), _origin(later)
    if mine != theirs:
        return _refused(f"{name} is of another log ({theirs})")
    told = succession_of(later.entry, later.body)
    revocation = revocation_by(later.entry, later.body)
    says = (
        f"{name} holds: entry {later.entry.seq}, {later.entry.kind} about {later.entry.subject!r}"
    )
    return Known(
        Check(LATER_PROOF, holds=True if _is_sure(later) else None, says=says),
        announced_by(later.entry, later.body),
        [*([told] if told else ()), *later.later],
        revocations=[revocation] if revocation else (),
    )


def _refused(says: str) -> Known:
    return Known(Check(LATER_PROOF, holds=False, says=says))


def _origin(report: ProofReport) -> str | None:
    try:
        return read_checkpoint(report.checkpoint or "")[0].origin
    except ProofError:
        return None


def _rotation(note: str, known: Known, keys: list[TrustedKey]) -> list[Check]:
    """Check that the key that signed was not retired, by what is known of the log's keys."""
    if not known.announcements:
        return []
    checkpoint, parsed = read_checkpoint(note)
    if known.size is None:
        problem = signing_problem(checkpoint, parsed, known.announcements, keys, whole=False)
        return [] if problem is None else [Check(ROTATION, holds=False, says=problem)]
    return [rotation_check(checkpoint, parsed, known.announcements, keys)]


def _limits(report: ProofReport, known: Known, *, is_superseded: bool) -> tuple[str, ...]:
    """Return what is still not shown."""
    if NEWER not in report.cannot_know:
        return report.cannot_know
    others = tuple(one for one in report.cannot_know if one != NEWER)
    if is_superseded:
        return others
    if known.size is None:
        return report.cannot_know
    if known.unread:
        are = counted(known.unread, "later pack or review", "later packs and reviews")
        return (*others, f"whether a newer version replaces it: of {are} it is not published")
    entries = counted(known.size, "entry", "entries")
    return (*others, f"whether a newer version replaces it after these {entries}")

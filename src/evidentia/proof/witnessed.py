"""Whether witnesses cosigned a checkpoint: as many of them as a verifier demands."""

from dataclasses import dataclass
from datetime import UTC, datetime

from evidentia.errors import InputError, ProofError
from evidentia.language.counting import agreed
from evidentia.proof.verification import Check
from evidentia.trail.note import Note
from evidentia.trail.witness import MAX_WITNESSES, WitnessKey, cosignatures

WITNESSES = "witnesses"
"""The name of the check whether enough witnesses cosigned."""


@dataclass(frozen=True, slots=True)
class Demand:
    """The witnesses that a verifier believes, and how many of them must have cosigned."""

    witnesses: tuple[WitnessKey, ...]
    quorum: int

    @classmethod
    def of(cls, keys: tuple[WitnessKey, ...], quorum: int | None) -> "Demand | None":
        """Return a demand, of all of them unless another number is said; None for none.

        Raise `InputError` for a number that says nothing or that so many witnesses can't reach.
        """
        known = tuple(dict.fromkeys(keys))
        if not known and quorum is None:
            return None
        if not known:
            raise InputError(
                f"a quorum of {quorum} needs the keys of witnesses: give --witness KEY"
            )
        if len(known) > MAX_WITNESSES:
            raise InputError(f"{len(known)} witnesses, {MAX_WITNESSES} at most")
        wanted = len(known) if quorum is None else quorum
        if not 1 <= wanted <= len(known):
            raise InputError(
                f"a quorum of {wanted} of {len(known)} witnesses: it must be from 1 to {len(known)}"
            )
        return cls(known, wanted)

    def check(self, note: Note) -> Check:
        """Check that enough of the witnesses cosigned a checkpoint."""
        try:
            found = cosignatures(note, self.witnesses)
        except ProofError as error:
            return Check(WITNESSES, holds=False, says=str(error))
        told = ", ".join(f"{key.name} at {_moment(at)}" for key, at in found.items())
        were = agreed(len(found), "witness", "witnesses")
        says = (
            f"{len(found)} {were} cosigned, of the {len(self.witnesses)} given, and {self.quorum} "
            f"{agreed(self.quorum, 'is', 'are')} demanded" + (f": {told}" if told else "")
        )
        return Check(WITNESSES, holds=len(found) >= self.quorum, says=says)


def _moment(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

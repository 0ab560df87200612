"""Checkpoints that are known apart from the database: in the home, in a bucket, from witnesses."""

from dataclasses import dataclass
from typing import Final

from evidentia.errors import EvidentiaError, IntegrityError
from evidentia.store.checkpoint_bucket import CheckpointBucket
from evidentia.store.following import Following
from evidentia.store.home import Home
from evidentia.store.witnesses import Witnesses
from evidentia.trail.checkpoint import Checkpoint, read_checkpoint

_MOVE: Final = "move that file away"
_ACCEPT: Final = (
    "'evidentia trail accept-loss --reason TEXT' records what is lost, and the log goes on"
)


@dataclass(frozen=True, slots=True)
class KnownCheckpoint:
    """A log's checkpoint that the database can't take back: where it is, and what to do without it.

    `instead` is said where another log is to begin in its place, `without` where the log is to go
    on though entries are lost.
    """

    place: str
    note: str
    instead: str = _MOVE
    without: str = _ACCEPT

    @property
    def checkpoint(self) -> Checkpoint:
        """What it says; raises `ProofError` if it is none."""
        return read_checkpoint(self.note)[0]


class Elsewhere:
    """Where logs' checkpoints follow to, beside the home: a bucket that many servers share."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._bucket = CheckpointBucket(address)
        self._following = Following(self._bucket.keep)

    def grew(self, checkpoint: Checkpoint, note: str) -> None:
        """Have a log's newest checkpoint follow within a second; returns at once."""
        self._following.grew(checkpoint, note)

    def refuse(self, tenant: str) -> None:
        """Raise `IntegrityError` if a log was found to be forked while it was followed."""
        alarm = self._following.alarm(tenant)
        if alarm is not None:
            raise IntegrityError(str(alarm))

    def newest(self, tenant: str) -> KnownCheckpoint | None:
        """Return the newest checkpoint that was kept there; asks over the network."""
        found = self._bucket.newest(tenant)
        if found is None:
            return None
        place, note = found
        instead = "name another prefix in EVIDENTIA_CHECKPOINTS"
        return KnownCheckpoint(place, note, instead, f"{instead}, and then {_ACCEPT}")

    def close(self) -> None:
        """Bring what has not followed yet, if that is soon done."""
        self._following.close()


def known_checkpoints(
    home: Home, tenant: str, elsewhere: Elsewhere | None = None
) -> list[KnownCheckpoint]:
    """Return the checkpoints of a tenant's log that are kept apart from the database.

    The one in the home, the newest in the bucket, and the newest that a witness cosigned. It is
    asked before the log is looked at, which may go on meanwhile.
    """
    found = []
    if (kept := home.kept_checkpoint(tenant)) is not None:
        found.append(KnownCheckpoint(str(home.checkpoint_file(tenant)), kept))
    if elsewhere is not None and (newest := elsewhere.newest(tenant)) is not None:
        found.append(newest)
    if (cosigned := Witnesses(home, tenant).newest()) is not None:
        path, note = cosigned
        found.append(KnownCheckpoint(str(path), note))
    return found


def newest_known(
    home: Home, tenant: str, elsewhere: Elsewhere | None = None
) -> KnownCheckpoint | None:
    """Return the largest checkpoint known anywhere of a tenant's log; None if none is known.

    A log that is shorter, or does not continue it, must not be appended to.
    """
    read: list[tuple[int, KnownCheckpoint]] = []
    for one in known_checkpoints(home, tenant, elsewhere):
        try:
            read.append((one.checkpoint.size, one))
        except EvidentiaError:  # it is told where the log is compared with it
            continue
    return max(read, key=lambda pair: pair[0])[1] if read else None

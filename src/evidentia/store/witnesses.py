"""The witnesses of a log, and what they cosigned: files of the home folder, per tenant.

They are settings of this machine and evidence from elsewhere: the database has neither.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from evidentia.canonical import parse_json
from evidentia.errors import CanonicalError, EnvironmentProblem, EvidentiaError
from evidentia.proof.files import read_bytes
from evidentia.store.files import make_folder, write_durably
from evidentia.store.home import Home
from evidentia.store.turns import FairLock
from evidentia.trail.checkpoint import read_checkpoint
from evidentia.trail.note import MAX_NOTE_BYTES
from evidentia.trail.witness import MAX_WITNESSES, WitnessKey, merged

_FILE: Final = "witnesses.json"
_MAX_BYTES: Final = MAX_WITNESSES * 4_096


@dataclass(frozen=True, slots=True)
class KnownWitness:
    """A witness that checkpoints are sent to: where it is, its key, and the size it saw last."""

    url: str
    key: str
    size: int = 0

    @property
    def verifier(self) -> WitnessKey:
        """Its public key."""
        return WitnessKey.parse(self.key)

    @property
    def name(self) -> str:
        """What it is called."""
        return self.verifier.name


class Witnesses:
    """A tenant's witnesses; several processes may use them at once."""

    def __init__(self, home: Home, tenant: str) -> None:
        self._folder = home.folder / "witnesses" / tenant

    @property
    def file(self) -> Path:
        """The file that lists them."""
        return self._folder / _FILE

    def all(self) -> list[KnownWitness]:
        """Return them in the order that they were added in."""
        if not self.file.exists():
            return []
        try:
            found = parse_json(read_bytes(self.file, _MAX_BYTES))
            known = [KnownWitness(**one) for one in found]
            for one in known:
                _ = one.verifier
        except (EvidentiaError, CanonicalError, TypeError, AttributeError) as error:
            raise EnvironmentProblem(
                f"{self.file}: does not list witnesses ({error}): mend it, or move it away and add "
                "them again"
            ) from None
        return known

    def change(self, made: Callable[[list[KnownWitness]], list[KnownWitness]]) -> None:
        """Change the list, while no one else does."""
        make_folder(self._folder)
        lock = FairLock(self._folder / f".{_FILE}.turns")
        try:
            with lock.turn():
                listed = [asdict(one) for one in made(self.all())]
                write_durably(self.file, f"{json.dumps(listed, indent=2)}\n".encode(), mode=0o600)
        finally:
            lock.close()

    def saw(self, witness: KnownWitness, size: int) -> None:
        """Remember which size a witness saw last."""
        self.change(
            lambda known: [
                replace(one, size=size) if one.key == witness.key else one for one in known
            ]
        )

    def keep(self, note: str) -> Path:
        """Keep a checkpoint with its cosignatures, beside those that it had before."""
        size = read_checkpoint(note)[0].size
        path = self._folder / f"{size}.txt"
        make_folder(self._folder)
        write_durably(path, merged(note, self._kept(size) or note).encode())
        return path

    def newest(self) -> tuple[Path, str] | None:
        """Return the largest checkpoint that is kept with cosignatures, and its file."""
        sizes = [int(path.stem) for path in self._folder.glob("*.txt") if path.stem.isdecimal()]
        for size in sorted(sizes, reverse=True):
            if (kept := self._kept(size)) is not None:
                return self._folder / f"{size}.txt", kept
        return None

    def cosigned(self, note: str) -> str:
        """Return a checkpoint with the cosignatures that are kept of it."""
        kept = self._kept(read_checkpoint(note)[0].size)
        return note if kept is None else merged(note, kept)

    def _kept(self, size: int) -> str | None:
        path = self._folder / f"{size}.txt"
        if not path.exists():
            return None
        text = read_bytes(path, 4 * MAX_NOTE_BYTES).decode(errors="replace")
        try:
            read_checkpoint(text)
        except EvidentiaError:
            return None  # of no use; whoever sends again writes it anew
        return text

"""Every error Evidentia raises on purpose, as one tree.

```
EvidentiaError                 anything below; exit code 1
├── CanonicalError             a value has no canonical JSON (also a ValueError)
├── IntegrityError             evidence does not hold: malformed, changed, rolled back, forked
│   ├── ProofError             a proof, checkpoint or note cannot be read or does not verify
│   └── GoneError              what should be in the lake is not there
├── UsageError                 what was asked for cannot be done as asked; exit code 2
│   ├── InputError             a file, a line or a value that was given is not what it should be
│   │   └── DocumentError      a document cannot be read: encrypted, broken, empty, too large …
│   ├── NotFoundError          a tenant, an entry or a file that is not there
│   ├── AccessError            the user may not do what was asked for
│   │   └── UndecidedError     whoever decides that did not answer: it is refused
│   ├── SealingError           a pack lacks what it must have before it is signed
│   ├── ConflictError          what was asked for conflicts with what is recorded already
│   └── SettingsError          an EVIDENTIA_* variable is unknown or has a wrong value
└── EnvironmentProblem         the machine, the database or the disk stands in the way; exit code 3
    └── BusyError              too much is being done already: it can be tried again
```

A message says what was wrong, where, and what to do about it, in one line.
"""

import errno
from typing import ClassVar, Final

_WHAT_TO_DO: Final = {
    errno.EMFILE: "let this process open more ('ulimit -n'), or close workspaces",
    errno.ENFILE: "the whole machine has too many files open: close some programs",
    errno.ENOSPC: "make room on the disk",
    errno.EDQUOT: "make room on the disk, or raise the quota",
    errno.EROFS: "the disk cannot be written: choose another folder, or mount it for writing",
    errno.ENOLCK: "the disk has no locks to give: choose a folder on a local disk",
}


class EvidentiaError(Exception):
    """The root: catch it to catch everything that Evidentia raises on purpose."""

    exit_code: ClassVar[int] = 1


class CanonicalError(EvidentiaError, ValueError):
    """A value has no canonical JSON form."""


class IntegrityError(EvidentiaError):
    """Evidence does not hold."""


class ProofError(IntegrityError):
    """A proof, a checkpoint or a signed note cannot be read, or does not verify."""


class GoneError(IntegrityError):
    """What should be in the lake is not there."""


class UsageError(EvidentiaError):
    """What was asked for cannot be done as asked."""

    exit_code: ClassVar[int] = 2


class InputError(UsageError, ValueError):
    """A file, a line or a value that was given is not what it should be."""


class DocumentError(InputError):
    """A document cannot be read: encrypted, broken, empty, scanned, too large or unsupported."""


class NotFoundError(UsageError, LookupError):
    """A tenant, an entry or a file that was asked for is not there."""


class AccessError(UsageError):
    """The user may not do what was asked for."""


class UndecidedError(AccessError):
    """Whoever decides, beside the trail, who may do what did not answer: it is refused."""


class SealingError(UsageError):
    """A pack lacks what it must have before it is signed; `unmet` lists it all."""

    def __init__(self, message: str, unmet: tuple[str, ...] = ()) -> None:
        super().__init__(message, unmet)  # all of it, so that it travels between processes
        self.unmet = unmet

    def __str__(self) -> str:
        return str(self.args[0])


class ConflictError(UsageError):
    """What was asked for conflicts with what is recorded.

    An idempotency key or a decision's id was used before for something else, or a pack that is to
    be replaced has a newer version already.
    """


class SettingsError(UsageError):
    """An EVIDENTIA_* variable is unknown or has a wrong value."""


class EnvironmentProblem(EvidentiaError):  # noqa: N818 - "error" twice says nothing more
    """The machine, the database or the disk stands in the way."""

    exit_code: ClassVar[int] = 3


class BusyError(EnvironmentProblem):
    """Too much is being done already, or waits to be: try again in a few seconds."""


def environment_problem(error: OSError) -> EnvironmentProblem:
    """Return what the system refused as an error of ours, which says where, and what to do."""
    where = f"{error.filename}: " if error.filename is not None else ""
    what_to_do = _WHAT_TO_DO.get(error.errno or 0)
    hint = f": {what_to_do}" if what_to_do else ""
    return EnvironmentProblem(f"{where}{error.strerror or error}{hint}")

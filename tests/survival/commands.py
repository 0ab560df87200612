"""The commands of the product, each in a forked process that has all modules loaded already."""

import gc
import importlib
import os
import pkgutil
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import evidentia
from evidentia.cli.main import run
from evidentia.workspace import Workspace

OUT, ERR = "../out.txt", "../err.txt"
"""Where a command's words go: beside its folder, so that no call on them is failed."""
RAISED = 99
"""The exit code of a command that raised what is no error of ours."""
_AUDITS = (
    ("trail", "verify"),
    ("ledger", "verify"),
    ("pack", "audit"),
)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def is_killed(self) -> bool:
        return self.code == -signal.SIGKILL

    @property
    def fault(self) -> str | None:
        """What is wrong with the way it ended, if anything is: a traceback, no reason given."""
        if self.is_killed:
            return None
        if self.code == RAISED or "Traceback" in self.err:
            return f"a traceback: {self.err.strip().splitlines()[-1:]}"
        if self.code not in range(4):
            return f"exit code {self.code}"
        if self.code in {2, 3} and "error" not in self.err + self.out:
            return f"exit code {self.code} without a reason"
        return None


def load_all() -> None:
    """Import what commands import when they are run, so that a forked process need not."""
    for module in pkgutil.walk_packages(evidentia.__path__, "evidentia."):
        if module.name.startswith(("evidentia.store.migrations.", "evidentia.integrations")):
            continue
        try:
            importlib.import_module(module.name)
        except ImportError:
            continue
    gc.freeze()  # else each process would copy it all


def command(folder: Path, *arguments: str, before: Callable[[], object] | None = None) -> Ended:
    """Run a command in a folder; `before` is called in its process first."""
    pid = os.fork()
    if pid == 0:
        _become(folder, arguments, before)
    status = os.waitpid(pid, 0)[1]
    said = [(folder / name).read_text("utf-8", "replace") for name in (OUT, ERR)]
    return Ended(os.waitstatus_to_exitcode(status), said[0], said[1])


def _become(folder: Path, arguments: tuple[str, ...], before: Callable[[], object] | None) -> None:
    code = RAISED
    try:
        os.chdir(folder)
        for number, name in ((1, OUT), (2, ERR)):
            file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(file, number)
            os.close(file)
        for name in [name for name in os.environ if name.startswith("EVIDENTIA_")]:
            del os.environ[name]
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115, PTH123 - the process ends with it
        sys.argv = ["evidentia", *arguments]
        if before is not None:
            before()
        run()
        code = 0
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else int(bool(ending.code))
    except BaseException:  # noqa: BLE001 - a forked process must not return into its parent's work
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except OSError:
                code = RAISED
        os._exit(code)


def audits() -> tuple[tuple[str, ...], ...]:
    """Return the commands that check a whole workspace: the one audit, where there is one."""
    return (("verify",),) if hasattr(Workspace, "audit") else _AUDITS


def audit(folder: Path) -> str | None:
    """Return what the product's own checks find wrong with a workspace, or None."""
    for arguments in audits():
        ended = command(folder, *arguments)
        if ended.fault is not None:
            return f"{' '.join(arguments)}: {ended.fault}"
        if ended.code != 0:
            return f"{' '.join(arguments)}: {ended.out.strip()} {ended.err.strip()}"
    return None

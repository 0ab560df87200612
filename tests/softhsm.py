"""Real tokens for the tests: SoftHSM, a PKCS #11 library that keeps its tokens in files.

One folder of tokens for each process of a run, and a fresh token in it for each test. Programs that
a test starts find it by the same environment.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from urllib.parse import quote

PIN, OFFICER = "1234-and-more", "5678-and-more"
_LIBRARIES = (
    "/usr/lib/softhsm/libsofthsm2.so",
    "/usr/lib64/softhsm/libsofthsm2.so",
    "/usr/lib64/pkcs11/libsofthsm2.so",
    "/usr/local/lib/softhsm/libsofthsm2.so",
    "/opt/homebrew/lib/softhsm/libsofthsm2.so",
)
_FAULTS = Path(__file__).with_name("pkcs11_faults.c")
_names = count()


class NoSoftHsmError(Exception):
    """There is no SoftHSM here; the message says why."""


@dataclass(frozen=True, slots=True)
class SoftToken:
    """A fresh token: its label, its library, and the file with its PIN."""

    label: str
    module: str
    pin_file: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def uri(self) -> str:
        """Its address, as `EVIDENTIA_KEYS` says it."""
        return f"{self.without_pin}&pin-source=file:{quote(str(self.pin_file))}"

    @property
    def without_pin(self) -> str:
        """Its address, without where its PIN is."""
        return f"pkcs11:token={quote(self.label)}?module-path={quote(self.module)}"


class SoftHsm:
    """The run's SoftHSM. `folder` is shared by the run's processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._absent = folder / "absent"

    @property
    def why_absent(self) -> str | None:
        """Why there is none, if one was needed."""
        return self._absent.read_text() if self._absent.exists() else None

    def prepare(self) -> dict[str, str]:
        """Make this process's folder of tokens; return what the environment has to say of it."""
        try:
            library()
        except NoSoftHsmError as error:
            self._absent.write_text(str(error))
            raise
        tokens = self.folder / str(os.getpid())
        tokens.mkdir()
        return {"SOFTHSM2_CONF": str(configured(tokens))}

    def remove(self) -> None:
        """Remove all that was made."""
        shutil.rmtree(self.folder, ignore_errors=True)


def new_folder() -> Path:
    """Make a folder for the run."""
    return Path(tempfile.mkdtemp(prefix="evidentia-softhsm-"))


def library() -> str:
    """Return the path of SoftHSM's library; raise `NoSoftHsmError` if it is not installed."""
    try:
        import pkcs11  # noqa: F401, PLC0415 - whether it is there
    except ImportError as error:
        raise NoSoftHsmError(f"python-pkcs11 is not installed ({error.name})") from None
    found = next((path for path in _LIBRARIES if Path(path).exists()), None)
    if found is None or shutil.which("softhsm2-util") is None:
        raise NoSoftHsmError("there is no SoftHSM: it comes with Debian's package softhsm2")
    return found


def configured(tokens: Path, *more: str) -> Path:
    """Write a configuration for a folder of tokens."""
    lines = [f"directories.tokendir = {tokens}", "objectstore.backend = file", "log.level = ERROR"]
    file = tokens.with_suffix(".conf")
    file.write_text("\n".join((*lines, *more, "")))
    return file


def new_token(pin_file: Path, environment: dict[str, str]) -> SoftToken:
    """Make a token; its PIN goes into the file."""
    label = f"evidentia test {os.getpid()} {next(_names)}"
    subprocess.run(
        [
            "softhsm2-util",
            "--init-token",
            "--free",
            f"--label={label}",
            f"--so-pin={OFFICER}",
            f"--pin={PIN}",
        ],
        check=True,
        capture_output=True,
        env=os.environ | environment,
    )
    pin_file.write_text(f"{PIN}\n")
    pin_file.chmod(0o600)
    return SoftToken(label, library(), pin_file, environment)


@contextmanager
def in_environment(said: dict[str, str]) -> Iterator[None]:
    """Say something in this process's environment, which the library reads by itself."""
    before = {name: os.environ.get(name) for name in said}
    os.environ.update(said)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def faulty_library(folder: Path) -> str:
    """Compile the library that does late, or refuses, what it is told to; return its path."""
    made = folder / "faults.so"
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-O1", "-o", str(made), str(_FAULTS), "-ldl"],
        check=True,
        capture_output=True,
    )
    return str(made)

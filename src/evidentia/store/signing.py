"""Signer commands: a key whose private half is elsewhere, and a command that signs with it.

The command gets the bytes to sign on its standard input and prints the Ed25519 signature. It is
started from a list of arguments, without a shell and without a terminal. What it prints is used
only if it is a signature by the key; it is never shown.
"""

import base64
import json
import os
import shlex
import shutil
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from evidentia.errors import EnvironmentProblem, InputError, NotFoundError
from evidentia.language.counting import counted
from evidentia.proof.keys import SigningKey
from evidentia.trail.note import PUBLIC_KEY_BYTES

SIGNER_SECONDS: Final = 30.0
MOST_SIGNER_SECONDS: Final = 3600.0
PROBE: Final = b"Evidentia asks whether this key signs.\n"
"""What a key is asked to sign before the log depends on it: no note, and no envelope."""
_SIGNATURE_BYTES: Final = 64
_MOST_SAID: Final = 300
_MOST_SHOWN: Final = 120


class RemoteSigner(ABC):
    """What signs with an Ed25519 key that is not in this process, each time within `seconds`.

    It is the one thing that is waited for while a log is held. Each signature is verified before it
    is returned, and `EnvironmentProblem` raised where none comes.
    """

    __slots__ = ()

    seconds: float

    @property
    @abstractmethod
    def what(self) -> str:
        """What signs, in messages."""

    @abstractmethod
    def within(self, seconds: float) -> "RemoteSigner":
        """Return what signs with the same key in so many seconds."""

    @abstractmethod
    def public_key(self) -> Ed25519PublicKey:
        """Return the public half."""

    @abstractmethod
    def sign(self, data: bytes, /) -> bytes:
        """Return the signature."""


@dataclass(frozen=True, slots=True)
class CommandSigner(RemoteSigner):
    """A private key held by a command. Each signature is verified before it is returned."""

    public: bytes
    command: tuple[str, ...]
    seconds: float = SIGNER_SECONDS

    @property
    def what(self) -> str:
        """What signs, in messages."""
        return "the signer command"

    def within(self, seconds: float) -> "CommandSigner":
        """Return what signs with the same key in so many seconds."""
        return replace(self, seconds=seconds)

    @classmethod
    def of(cls, public: bytes, command: Sequence[str], seconds: float) -> "CommandSigner":
        """Take a command as it was typed: its program is found now and kept by its full path."""
        if not command:
            raise InputError("a signer command needs a program to start")
        program = shutil.which(command[0])
        if program is None:
            raise NotFoundError(f"{command[0]}: no such program, or it can't be executed")
        return cls.checked(public, (str(Path(program).absolute()), *command[1:]), seconds)

    @classmethod
    def checked(cls, public: bytes, command: Sequence[str], seconds: float) -> "CommandSigner":
        """Make one; raise `InputError` if it could not work."""
        if not 0 < seconds <= MOST_SIGNER_SECONDS:
            raise InputError(
                f"a signer command may take up to {MOST_SIGNER_SECONDS:g} seconds, not {seconds:g}"
            )
        if any("\0" in argument for argument in command):
            raise InputError("an argument of a signer command can't hold a NUL character")
        try:
            Ed25519PublicKey.from_public_bytes(public)
        except ValueError:
            raise InputError("the signer command's key is no Ed25519 public key") from None
        return cls(public, tuple(command), seconds)

    @classmethod
    def decode(cls, data: bytes) -> "CommandSigner":
        """Read what `encode` wrote; raise `InputError` if it is anything else."""
        try:
            value: Any = json.loads(data)
        except ValueError:
            raise InputError("not a signer command: it is no JSON") from None
        match value:
            case {
                "public_key": str(public),
                "command": [str(), *_] as command,
                "timeout_seconds": int() | float() as seconds,
                **others,
            } if not others and all(isinstance(argument, str) for argument in command):
                return cls.checked(_key(public), command, seconds)
        raise InputError("not a signer command: it must have public_key, command, timeout_seconds")

    def encode(self) -> bytes:
        """Return the command as JSON, to keep."""
        kept = {
            "public_key": self.public.hex(),
            "command": list(self.command),
            "timeout_seconds": self.seconds,
        }
        return (json.dumps(kept, indent=2) + "\n").encode()

    def public_key(self) -> Ed25519PublicKey:
        """Return the public half."""
        return Ed25519PublicKey.from_public_bytes(self.public)

    def sign(self, data: bytes, /) -> bytes:
        """Have the command sign; raise `EnvironmentProblem` unless the key's signature comes."""
        printed, said = self._run(data)
        signature = _signature(printed)
        if signature is None:
            size = counted(len(printed), "byte that is", "bytes that are")
            what = f"printed {size} no signature" if printed else None
            raise self._problem(what or "printed nothing, and no signature", said)
        try:
            self.public_key().verify(signature, data)
        except InvalidSignature:
            raise self._problem("printed a signature that is not by its key", said) from None
        return signature

    def _run(self, data: bytes) -> tuple[bytes, bytes]:
        pipe = subprocess.PIPE
        try:
            process = subprocess.Popen(  # noqa: S603 - the owner's own list of arguments
                self.command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
            )
        except OSError as error:
            raise self._problem(f"can't be started ({error.strerror})") from None
        with process:
            try:
                printed, said = process.communicate(data, timeout=self.seconds)
            except BaseException as error:
                _end(process)
                if not isinstance(error, subprocess.TimeoutExpired):
                    raise
                late = f"gave no signature within {self.seconds:g} s"
                raise self._problem(late, error.stderr) from None
        if process.returncode:
            code = process.returncode
            ended = f"with code {code}" if code > 0 else f"by signal {-code}"
            raise self._problem(f"ended {ended}", said)
        return printed, said

    def _problem(self, what: str, said: bytes | None = None) -> EnvironmentProblem:
        command = _shortened(shlex.join(self.command), _MOST_SHOWN)
        words = _shortened(" ".join((said or b"").decode(errors="replace").split()), _MOST_SAID)
        return EnvironmentProblem(
            f"the signer command {command} {what}" + (f"; it said: {words}" if words else "")
        )


class SigningTime:
    """The time that the signatures of one transaction have: together as long as one may take."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began: float | None = None

    def limited(self, key: SigningKey) -> SigningKey:
        """Return a key that signs within the time left; raise `EnvironmentProblem` if none is.

        A key that is here takes none.
        """
        signer = key.private_key
        if not isinstance(signer, RemoteSigner):
            return key
        now = self._clock()
        if self._began is None:
            self._began = now
        left = signer.seconds - (now - self._began)
        if left <= 0:
            raise EnvironmentProblem(
                "what is written needs several signatures, and together they took longer than the "
                f"{signer.seconds:g} s that {signer.what} has: nothing is written"
            )
        return SigningKey(key.name, signer.within(left))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a command and what it has started, which may hold its pipes open."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _signature(printed: bytes) -> bytes | None:
    """Read 64 bytes as they are, 128 hexadecimal digits, or Base64; None if it is none of them."""
    if len(printed) == _SIGNATURE_BYTES:
        return printed
    text = b"".join(printed.split())  # many programs break their lines
    try:
        is_hexadecimal = len(text) == 2 * _SIGNATURE_BYTES
        read = bytes.fromhex(text.decode()) if is_hexadecimal else base64.b64decode(text)
    except ValueError:
        return None
    return read if len(read) == _SIGNATURE_BYTES else None


def _key(digits: str) -> bytes:
    try:
        read = bytes.fromhex(digits)
    except ValueError:
        read = b""
    if len(read) != PUBLIC_KEY_BYTES:
        raise InputError("not a signer command: its public_key is not 64 hexadecimal digits")
    return read


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"

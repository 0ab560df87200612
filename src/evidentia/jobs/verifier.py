"""The worker that verifies files from strangers: bytes and keys in, the report out as JSON.

Run as a command, within limits: a PDF is read by a library that a hostile file may crash.
"""

import json
from typing import Final, NamedTuple

from evidentia.errors import EnvironmentProblem, EvidentiaError, InputError
from evidentia.loading.reader import limit_memory, limit_time
from evidentia.loading.workers import WorkerEndedError, Workers, serve
from evidentia.proof.keys import TrustedKey

WORKER: Final = "evidentia.server.verifier"
SECONDS: Final = 120.0
"""How long one file may take."""


class Question(NamedTuple):
    """A file to verify, and the public keys that are trusted, each with the log it is for."""

    data: bytes
    keys: tuple[tuple[bytes, str | None], ...]


def verify_apart(data: bytes, keys: list[TrustedKey]) -> bytes:
    """Return the report on a file as JSON, made by a process of its own.

    `InputError` is raised for a file that crashes it, or takes too long.
    """
    question = Question(data, tuple((key.public_key, key.name) for key in keys))
    with Workers(WORKER, 1, seconds=SECONDS) as workers:
        [answer] = workers.map([question])
    if isinstance(answer, bytes):
        return answer
    if isinstance(answer, WorkerEndedError):
        why = "takes too long" if answer.took_too_long else "needs too much memory, or is hostile"
        raise InputError(f"the file cannot be verified: it {why} ({answer})")
    if isinstance(answer, EvidentiaError):
        raise InputError(f"the file cannot be verified: {answer}")
    raise EnvironmentProblem(f"the verifier answered {type(answer).__name__}")


def _answer(question: Question) -> bytes:
    from evidentia.verifying import verify  # noqa: PLC0415 - only the worker needs it

    limit_time()
    keys = [TrustedKey(public_key, name) for public_key, name in question.keys]
    report = verify(question.data, key=keys)
    return json.dumps(report.as_json()).encode()


if __name__ == "__main__":
    limit_memory()
    serve(_answer)

"""The worker that verifies files from strangers: bytes and keys in, the report out as JSON.

Run as a command, within limits: a PDF is read by a library that a hostile file may crash.
"""

import json
from typing import TYPE_CHECKING, Final, NamedTuple

from evidentia.errors import EnvironmentProblem, EvidentiaError, InputError
from evidentia.loading.reader import limit_memory, limit_time
from evidentia.loading.workers import WorkerEndedError, Workers, serve
from evidentia.proof.keys import TrustedKey

if TYPE_CHECKING:
    from evidentia.workspace import Workspace

WORKER: Final = "evidentia.jobs.verifier"
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


def own_keys(workspace: "Workspace") -> list[TrustedKey]:
    """Return the log's keys that the log vouches for, but those that were revoked."""
    revoked = {one.key_id for one in workspace.trail.revocations()}
    return [
        TrustedKey(one.key.public_key, one.key.name)
        for one in workspace.trail.keys()  # noqa: SIM118 - not a mapping's keys
        if one.vouched and one.key.key_id not in revoked
    ]


def _answer(question: Question) -> bytes:
    from evidentia.verifying import verify  # noqa: PLC0415 - only the worker needs it

    limit_time()
    keys = [TrustedKey(public_key, name) for public_key, name in question.keys]
    report = verify(question.data, key=keys)
    return json.dumps(report.as_json()).encode()


if __name__ == "__main__":
    limit_memory()
    serve(_answer)

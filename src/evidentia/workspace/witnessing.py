"""Sending checkpoints to witnesses, and keeping what they cosign.

A witness that does not answer stops nothing: what came of each is told.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from evidentia.errors import (
    EnvironmentProblem,
    EvidentiaError,
    InputError,
    NotFoundError,
    ProofError,
)
from evidentia.language.counting import counted
from evidentia.loading.web import Answer, Web, web_url
from evidentia.logs import get_logger
from evidentia.store.proving import prove_consistency
from evidentia.store.sql import log
from evidentia.store.witnesses import KnownWitness, Witnesses
from evidentia.trail.checkpoint import Checkpoint, read_checkpoint
from evidentia.trail.note import Note
from evidentia.trail.witness import (
    ADD_CHECKPOINT,
    MAX_WITNESSES,
    WitnessKey,
    cosignatures,
    request,
    told_size,
    with_cosignatures,
)
from evidentia.workspace.acting import Acting

if TYPE_CHECKING:
    from evidentia.workspace.opened import Opened

_MAX_REPLY: Final = 65_536
_ATTEMPTS: Final = 3
_FOLLOWING_SECONDS: Final = 10.0
_GOOD, _CONFLICT = 200, 409
_REFUSALS: Final = {
    400: "calls the request malformed",
    403: "does not take this log's key: ask its operator to add it",
    404: "does not know this log: ask its operator to add its origin and key",
    422: "finds that the log does not continue what it saw before: it was rewritten or forked",
}
_log = get_logger("workspace")


@dataclass(frozen=True, slots=True)
class WitnessAnswer:
    """What came of sending a checkpoint to a witness: when it cosigned, or what was wrong."""

    url: str
    name: str
    size: int
    at: str | None = None
    problem: str | None = None
    alarming: bool = False
    """Whether it says that it was shown another log than this."""

    @property
    def cosigned(self) -> bool:
        """Whether the witness cosigned."""
        return self.problem is None

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            "url": self.url,
            "name": self.name,
            "size": self.size,
            "cosigned_at": self.at,
            "problem": self.problem,
            "alarming": self.alarming,
        }


def add(acting: Acting, url: str, key: str | WitnessKey) -> KnownWitness:
    """Add a witness; raise `InputError` if its URL or key is none, or if it is there already."""
    new = KnownWitness(web_url(url), str(WitnessKey.parse(str(key))))

    def added(known: list[KnownWitness]) -> list[KnownWitness]:
        for one in known:
            if new.key == one.key or new.url == one.url:
                raise InputError(
                    f"witness {one.name} at {one.url} is there already: remove it first"
                )
        if len(known) >= MAX_WITNESSES:
            raise InputError(f"a log has {MAX_WITNESSES} witnesses at most")
        return [*known, new]

    _witnesses(acting).change(added)
    return new


def remove(acting: Acting, name: str) -> KnownWitness:
    """Remove a witness by its name, URL or key; what it cosigned stays."""
    found = [
        one for one in _witnesses(acting).all() if name.rstrip("/") in (one.name, one.url, one.key)
    ]
    if not found:
        raise NotFoundError(
            f"there is no witness {name[:200]!r}; 'evidentia trail witness list' shows them"
        )
    if len(found) > 1:
        raise InputError(f"{len(found)} witnesses are called {name!r}: give the URL")
    _witnesses(acting).change(lambda known: [one for one in known if one.key != found[0].key])
    return found[0]


def listed(acting: Acting) -> list[KnownWitness]:
    """Return the witnesses that checkpoints are sent to."""
    return _witnesses(acting).all()


def cosigned(acting: Acting, note: str) -> str:
    """Return a checkpoint with the cosignatures that are kept of it."""
    return _witnesses(acting).cosigned(note)


def send(acting: Acting, seconds: float) -> list[WitnessAnswer]:
    """Sign the log as it is now, send that to all witnesses, and keep what they cosign."""
    from evidentia.workspace.signing import checkpoint  # noqa: PLC0415 - only sending needs it

    note = checkpoint(acting)
    answers = []
    for one in _witnesses(acting).all():
        try:
            answer = _send(acting, one, note, seconds)
        except EvidentiaError as error:
            answer = _problem(one, read_checkpoint(note)[0], str(error))
        _log.info(
            "witness_answered", tenant=acting.tenant, witness=one.name, problem=answer.problem
        )
        answers.append(answer)
    return answers


def follow(opened: "Opened", checkpoint: Checkpoint) -> None:
    """Send a log that grew to its witnesses, if it has any; raise unless all of them cosigned."""
    acting = Acting(opened, checkpoint.tenant, None)
    if not _witnesses(acting).all():
        return
    answers = send(acting, _FOLLOWING_SECONDS)
    for one in answers:
        if one.alarming:
            _log.error("witness_alarm", tenant=acting.tenant, witness=one.name, reason=one.problem)
    problems = [one.problem for one in answers if one.problem is not None]
    if problems:
        raise EnvironmentProblem("; ".join(problems))


def _send(acting: Acting, one: KnownWitness, note: str, seconds: float) -> WitnessAnswer:
    """Send a checkpoint to a witness, from the size that it tells where that is another."""
    checkpoint, _ = read_checkpoint(note)
    old = min(one.size, checkpoint.size)
    with Web(one.url, seconds=seconds) as web:
        for _ in range(_ATTEMPTS):
            proof = _proof(acting, old, checkpoint.size)
            answer = web.post(ADD_CHECKPOINT, request(old, proof, note), _MAX_REPLY)
            if answer.status != _CONFLICT:
                break
            told = told_size(answer.body)
            if told is not None and told > checkpoint.size and _size(acting) >= told:
                newer = f"{one.name} was sent a newer checkpoint meanwhile"
                return WitnessAnswer(one.url, one.name, checkpoint.size, problem=newer)
            if told is None or told == old or told > checkpoint.size:
                return _conflict(one, checkpoint, told)
            old = told
    if answer.status != _GOOD:
        return _refusal(one, checkpoint, answer)
    try:
        whole = with_cosignatures(note, answer.body.decode(errors="replace"), one.verifier)
    except ProofError as error:
        return _problem(one, checkpoint, f"{one.name} answered what is no cosignature: {error}")
    witnesses = _witnesses(acting)
    witnesses.keep(whole)
    witnesses.saw(one, checkpoint.size)
    at = cosignatures(Note.parse(whole), [one.verifier])[one.verifier]
    told_at = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return WitnessAnswer(one.url, one.name, checkpoint.size, told_at)


def _size(acting: Acting) -> int:
    head = acting.read(log.read_head)
    return 0 if head is None else head.size


def _proof(acting: Acting, old: int, size: int) -> list[bytes]:
    if not 0 < old < size:
        return []
    return acting.read(prove_consistency, old, size, acting.opened.tiles)


def _conflict(one: KnownWitness, checkpoint: Checkpoint, told: int | None) -> WitnessAnswer:
    """Say that a witness knows another log: a larger one, or another of the same size."""
    if told is None:
        return _problem(one, checkpoint, f"{one.name} answered 409 without the size that it knows")
    if told > checkpoint.size:
        larger, here = counted(told, "entry", "entries"), f"{checkpoint.size:,}"
        says = (
            f"{one.name} cosigned {larger} of this log, and there are {here} here: it was cut back"
        )
    else:
        entries = counted(told, "entry", "entries")
        says = f"{one.name} cosigned other {entries} of this log: it was rewritten or forked"
    return _problem(one, checkpoint, f"{says}; run 'evidentia trail verify'", alarming=True)


def _refusal(one: KnownWitness, checkpoint: Checkpoint, answer: Answer) -> WitnessAnswer:
    said = " ".join(answer.body.decode(errors="replace").split())[:200]
    why = _REFUSALS.get(answer.status, "does not cosign now")
    says = f"{one.name} {why} (status {answer.status}" + (f": {said})" if said else ")")
    return _problem(one, checkpoint, says, alarming=answer.status == 422)  # noqa: PLR2004 - as above


def _problem(
    one: KnownWitness, checkpoint: Checkpoint, says: str, *, alarming: bool = False
) -> WitnessAnswer:
    return WitnessAnswer(one.url, one.name, checkpoint.size, problem=says, alarming=alarming)


def _witnesses(acting: Acting) -> Witnesses:
    return Witnesses(acting.opened.home, acting.tenant)

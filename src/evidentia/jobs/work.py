"""What each kind of job does: in how many parts, what each part is, and what comes of it.

A part may be begun again after a crash: what it did before is found by the notes about its items.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, cast

from sqlalchemy import Connection

from evidentia.access.actions import Action
from evidentia.errors import (
    AccessError,
    BusyError,
    EnvironmentProblem,
    EvidentiaError,
    IntegrityError,
    NotFoundError,
)
from evidentia.loading.workers import Bulk, Done, WorkerEndedError
from evidentia.store.job_files import JobFiles
from evidentia.store.sql import jobs as rows
from evidentia.store.sql import log
from evidentia.store.sql.jobs import Change, JobItem, JobRow, Named
from evidentia.trail.entry import EntryKind
from evidentia.workspace.acting import OWNER, Acting, Asked
from evidentia.workspace.bulk import Piece, ToldToJudge, judged_by, place_of, untold
from evidentia.workspace.checking import Failed
from evidentia.workspace.jobs import KINDS, Job
from evidentia.workspace.judging import Judged, StartedCheck
from evidentia.workspace.many import why_ended

if TYPE_CHECKING:
    from evidentia.store.database import Database
    from evidentia.workspace import Workspace
    from evidentia.workspace.ledgers import RecordedLedger
    from evidentia.workspace.opened import Opened
    from evidentia.workspace.recorded import Progress

ANSWERS_AT_ONCE: Final = 5
"""How many answers a part checks: one costs a second or so, and a part is a few writes."""
BULK_AT_ONCE: Final = 500
"""How many where a cluster judges them: it has workers for many."""
FILES_AT_ONCE: Final = 5
_BUSY_SECONDS: Final = 1.0
Result = TypeVar("Result")
_LEAST_STEP: Final = 0.01
"""Of the whole: how much further a job must be before that is an event."""


class Lost(BaseException):
    """Another runner has the job, or it has ended: what was begun is not to be recorded.

    It is no error, so that no one catches it as one, or writes it down.
    """


class Cancelled(BaseException):
    """The job was asked to end."""


@dataclass(frozen=True)
class Work:
    """A job in the hands of a runner: its workspace in the user's name, its files, its notes."""

    opened: "Opened"
    runner: str
    job: Job

    @property
    def named(self) -> Named:
        """The tenant and id of the job."""
        return self.job.row.tenant, self.job.id

    @property
    def _database(self) -> "Database":
        return self.opened.database.of(self.job.row.tenant)

    @property
    def files(self) -> JobFiles:
        """Where the files of jobs are."""
        return self.opened.job_files

    def file(self, place: int) -> bytes:
        """Return what the job was given to work on."""
        return self.files.get(*self.named, self.job.asked["files"][place])

    def workspace(self, number: int | None = None, *, in_bulk: bool = False) -> "Workspace":
        """Return a workspace in the name of who asked; roles are looked up anew at each use.

        What it appends is refused once the job is another runner's. With the number of an item,
        the entry is noted with it, in the same transaction. `in_bulk` judges nothing here.
        """
        row = self.job.row
        scopes = self.job.asked.get("scopes")
        asked = Asked(
            scopes=None if scopes is None else frozenset(map(Action, scopes)),
            within=lambda connection: self.fence(connection, number),
            in_bulk=in_bulk,
        )
        user = None if row.actor == OWNER else row.actor
        return self.opened.for_(row.tenant, user, asked)

    def fence(self, connection: Connection, number: int | None) -> None:
        """Refuse what is appended for another runner's job; note it with its item, if it is one."""
        self.held(connection)
        if number is not None:
            head = log.read_head(connection, self.job.row.tenant)
            entry = 0 if head is None else head.size
            rows.note_entry(connection, self.named, number, entry)

    def held(self, connection: Connection) -> JobRow:
        """Return the job's row, held; raise `Lost` if it is no longer this runner's."""
        row = rows.find(connection, self.named, held=True)
        if row is None or row.has_ended or row.runner != self.runner:
            raise Lost(self.job.id)
        return row

    def tell(self, change: Change) -> None:
        """Note how far the job is, or how it ended; raise `Lost` if it is another's."""
        with self._database.write() as connection:
            rows.change(connection, self.held(connection), change, self.opened.now())

    def go_on(self) -> None:
        """Raise `Cancelled` if the job was asked to end, `Lost` if it is another's."""
        row = self.row()
        if row is None or row.has_ended or row.runner != self.runner:
            raise Lost(self.job.id)
        if row.cancelled:
            raise Cancelled(self.job.id)

    def progress(self) -> "Progress":
        """Return what is told how much is done, and notes it now and then."""
        told = 0.0

        def tell(done: int, total: int) -> None:
            nonlocal told
            if total and (done == total or done / total - told >= _LEAST_STEP):
                told = done / total
                self.tell(Change(done=done, total=total))

        return tell

    def row(self) -> JobRow | None:
        """Return the job as it is by now."""
        return self._database.ask(rows.find, self.named)

    def known(self, number: int) -> JobItem | None:
        """Return what is known of an item."""
        return self._database.ask(rows.item, self.named, number)

    def is_behind(self, number: int) -> bool:
        """Whether what became of an item is known."""
        found = self.known(number)
        return found is not None and found.outcome is not None

    def note(self, number: int, outcome: Mapping[str, Any], *, counts: bool = True) -> None:
        """Note what became of an item, and that one more is behind the job."""
        with self._database.write() as connection:
            row = self.held(connection)
            rows.note_outcome(connection, self.named, number, json.dumps(outcome))
            if counts:
                done = min(row.total, row.done + 1)
                rows.change(connection, row, Change(done=done), self.opened.now())

    def outcomes(self) -> list[Any]:
        """Return what became of the items, in their order."""
        found = self._database.ask(rows.items, self.named)
        return [json.loads(one.outcome) for one in found if one.outcome is not None]


class Kind(NamedTuple):
    """How jobs of a kind are done: in how many parts, each part, and what comes of all."""

    parts: Callable[[Work], int]
    do: Callable[[Work, int], None]
    result: Callable[[Work], Any]


# Checks


def begin_asked(workspace: "Workspace", asked: Mapping[str, Any]) -> "StartedCheck":
    """Begin to check an answer as it was asked for: `documents` are ids, the rest as for `check`.

    `BusyError` is raised where too many wait for that already.
    """
    named = asked.get("documents")
    found = None if named is None else workspace.documents.named(*named)
    judges = asked.get("judges")
    names = ("query", "title", "collections", "as_of", "contexts", "bundle")
    return workspace.ledgers.begin(
        asked["answer"],
        against=found,
        library=bool(asked.get("library")),
        judges=None if judges is None else [workspace.opened.judge_named(one) for one in judges],
        **{name: asked.get(name) for name in names},
    )


def answer_outcome(number: int, ledger: "RecordedLedger") -> dict[str, Any]:
    """Return what became of an answer that was checked."""
    return {
        "number": number,
        "session_id": ledger.session.id,
        "ledger_id": ledger.id,
        "entry": ledger.entry,
        "summary": ledger.summary.model_dump(mode="json"),
        "problem": None,
    }


def unchecked(number: int, problem: str) -> dict[str, Any]:
    """Return what became of an answer that could not be checked."""
    nothing = dict.fromkeys(("session_id", "ledger_id", "entry", "summary"))
    return {"number": number, **nothing, "problem": problem}


def _recorded(work: Work, number: int) -> "RecordedLedger | None":
    """Return the ledger of an item that was recorded, and no one noted what it says."""
    known = work.known(number)
    if known is None or known.entry is None:
        return None
    workspace = work.workspace()
    try:
        found = workspace.trail.entry(known.entry)
        if found.entry.kind != EntryKind.LEDGER:  # the log was begun for it, and it was not reached
            return None
        return workspace.ledgers.get(found.entry.subject)
    except NotFoundError:
        return None


def _begun(work: Work, asked: Mapping[str, Any]) -> "StartedCheck":
    """Begin to check an answer, once there is room: requests come first."""
    while True:
        try:
            return begin_asked(work.workspace(), asked)
        except BusyError:
            work.go_on()
            time.sleep(_BUSY_SECONDS)


def _check(work: Work, _: int) -> None:
    if work.is_behind(1):
        return
    ledger = _recorded(work, 1)
    if ledger is None:
        started = _begun(work, json.loads(work.file(0)))
        started.wait()
        work.go_on()
        ledger = work.workspace(1).ledgers.finish(started)
    work.note(1, answer_outcome(1, ledger), counts=False)


def _checks(work: Work, part: int) -> None:
    """Check some answers; all are judged at once, as far as there are workers."""
    at_once = work.job.asked.get("at_once", ANSWERS_AT_ONCE)
    first = part * at_once + 1
    answers: dict[int, Any] = {
        number: asked
        for number, asked in enumerate(json.loads(work.file(part)), first)
        if not work.is_behind(number)
    }
    bulk = work.opened.bulk
    if bulk is not None and not (bulk.is_elsewhere and work.opened.database.is_sqlite):
        answers = _checked_in_bulk(work, bulk, answers)
    numbers = list(answers)
    for start in range(0, len(numbers), ANSWERS_AT_ONCE):
        some = numbers[start : start + ANSWERS_AT_ONCE]
        _checked_here(work, {number: answers[number] for number in some})


def _checked_here(work: Work, answers: Mapping[int, Any]) -> None:
    """Check answers by this server's own processes."""
    started: dict[int, StartedCheck | EvidentiaError | RecordedLedger] = {}
    for number, asked in answers.items():
        ledger = _recorded(work, number)
        started[number] = _tried(_begun, work, asked) if ledger is None else ledger
    for number, one in started.items():
        work.go_on()
        found = one
        if isinstance(one, StartedCheck):
            one.wait()
            found = _tried(work.workspace(number).ledgers.finish, one)
        _note_answer(work, number, cast("RecordedLedger | EvidentiaError", found))


def _checked_in_bulk(work: Work, bulk: Bulk, answers: Mapping[int, Any]) -> dict[int, Any]:
    """Have answers judged by a cluster, and record them here; return those that it must not see.

    These are judged by a language model, whose key stays on this server.
    """
    by_judges: dict[tuple[Any, ...] | None, dict[int, StartedCheck]] = {}
    here: dict[int, Any] = {}
    for number, asked in answers.items():
        found: StartedCheck | RecordedLedger | EvidentiaError | None = _recorded(work, number)
        if found is None:
            found = _tried(begin_asked, work.workspace(in_bulk=True), asked)
        if not isinstance(found, StartedCheck):
            _note_answer(work, number, found)
        elif found.is_named:
            by_judges.setdefault(found.asked.judges, {})[number] = found
        else:
            here[number] = asked
    for judges, started in by_judges.items():
        acting = Acting(work.opened, work.job.row.tenant, None)
        documents = list(dict.fromkeys(one.asked.documents for one in started.values()))
        told = ToldToJudge(place_of(acting, bulk), judges, None, tuple(documents))
        pieces = (
            Piece(number, documents.index(one.asked.documents), untold(one.asked))
            for number, one in started.items()
        )
        with closing(judged_by(acting, bulk, told, pieces)) as judged:
            for done in judged:
                work.go_on()
                number = done.question.known
                _note_answer(work, number, _finished(work, number, started[number], done))
    return here


def _finished(
    work: Work, number: int, started: StartedCheck, done: Done
) -> "RecordedLedger | EvidentiaError":
    """Record what a cluster judged; return why there is nothing to record, if so."""
    match done.answer:
        case Judged():
            started.take(done.answer)
            return _tried(work.workspace(number).ledgers.finish, started)
        case AccessError() | EnvironmentProblem() | IntegrityError():
            raise done.answer
        case EvidentiaError():
            return done.answer
        case Failed():
            return EnvironmentProblem(done.answer.problem)
        case WorkerEndedError():
            return EnvironmentProblem(why_ended(done.answer, done.tries))
    raise EnvironmentProblem(f"answer {number}: its worker answered {done.answer!r}")


def _note_answer(work: Work, number: int, found: "RecordedLedger | EvidentiaError") -> None:
    if isinstance(found, EvidentiaError):
        work.note(number, unchecked(number, str(found)))
    else:
        work.note(number, answer_outcome(number, found))


def _tried(call: Callable[..., Result], *arguments: Any) -> Result | EvidentiaError:
    """Return what a call gives, or why one answer cannot be checked; raise what is about more."""
    try:
        return call(*arguments)
    except (AccessError, EnvironmentProblem, IntegrityError):
        raise
    except EvidentiaError as error:
        return error


def batches(answers: Sequence[Mapping[str, Any]], at_once: int = ANSWERS_AT_ONCE) -> list[bytes]:
    """Return answers as the files of a job that checks them: one for each part."""
    return [
        json.dumps(answers[first : first + at_once]).encode()
        for first in range(0, len(answers), at_once)
    ]


def _outcome_alone(work: Work) -> Any:
    return work.outcomes()[0]


def _results(work: Work) -> Any:
    found = work.outcomes()
    return {"results": found, "problems": sum(one["problem"] is not None for one in found)}


# Documents


def _ingest(work: Work, part: int) -> None:
    asked, first = work.job.asked, part * FILES_AT_ONCE
    names: Sequence[str] = asked["names"][first : first + FILES_AT_ONCE]
    numbers = {
        number: name for number, name in enumerate(names, first + 1) if not work.is_behind(number)
    }
    if not numbers:
        return
    added = work.workspace().documents.add(
        {name: work.file(number - 1) for number, name in numbers.items()},
        collection=asked["collection"],
        effective=asked["effective"],
    )
    read = {one.document.filename: one for one in added.results}
    unread = {one.filename: one.problem for one in added.problems}
    for number, name in numbers.items():
        found = read.get(name)
        work.note(
            number,
            {
                "number": number,
                "filename": name,
                "document_id": None if found is None else found.document.id,
                "version": None if found is None else found.document.version,
                "outcome": None if found is None else found.outcome,
                "problem": None if found is not None else unread.get(name, "it was not read"),
            },
        )


# Exports


def _ledger_export(work: Work, _: int) -> None:
    asked = work.job.asked
    with TemporaryDirectory(prefix="evidentia-") as folder:
        file = Path(folder) / f"ledger.{asked['ending']}"
        made = work.workspace().ledgers.export(asked["ledger_id"], file, form=asked["form"])
        _keep(work, made.read_bytes())


def _pack_export(work: Work, _: int) -> None:
    asked = work.job.asked
    with TemporaryDirectory(prefix="evidentia-") as folder:
        file = Path(folder) / f"pack.{asked['form']}"
        made = work.workspace(1).packs.export(
            asked["pack_id"],
            file,
            approval=asked["approval"],
            attachments=asked["attachments"],
            pdf=asked["form"] == "pdf",
            lang=asked["lang"],
            typeface=asked["typeface"],
        )
        _keep(work, made.read_bytes())


def _keep(work: Work, data: bytes) -> None:
    digest = work.files.put(*work.named, data)
    work.note(1, {"sha256": digest, "bytes": len(data)})


# Keeping


def _sweep(work: Work, _: int) -> None:
    swept = work.workspace().packs.sweep(dry_run=work.job.asked["dry_run"])
    work.note(1, {"packs": list(map(asdict, swept))})


def _audit(work: Work, _: int) -> None:
    progress = work.progress()
    found = work.workspace().whole.audit(
        quick=work.job.asked["quick"], progress=lambda _, done, total: progress(done, total)
    )
    work.note(1, found.as_json(), counts=False)


def _once(_: Work) -> int:
    return 1


DOING: Final[Mapping[str, Kind]] = {
    "audit": Kind(_once, _audit, _outcome_alone),
    "check": Kind(_once, _check, _outcome_alone),
    "checks": Kind(lambda work: len(work.job.asked["files"]), _checks, _results),
    "ingest": Kind(
        lambda work: -(-len(work.job.asked["names"]) // FILES_AT_ONCE), _ingest, _results
    ),
    "ledger_export": Kind(_once, _ledger_export, _outcome_alone),
    "pack_export": Kind(_once, _pack_export, _outcome_alone),
    "sweep": Kind(_once, _sweep, _outcome_alone),
}
ELSEWHERE: Final = frozenset({"traces"})
"""Kinds that a layer above knows how to do, and tells the runner."""
assert {*DOING, *ELSEWHERE} == set(KINDS)  # noqa: S101 - a job that no one knows how to do would never end

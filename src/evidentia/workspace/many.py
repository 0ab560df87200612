"""Checking many answers: by worker processes, or here, one after the other.

The processes are started by `loading.workers`, below the workspace, so that the workspace needs
nothing from above to offer this; what runs it elsewhere (a cluster, a durable queue) belongs above
and hands in an executor of its own, which is why that is a protocol. The ledgers themselves say
what is done: there is no other state, and a run that was killed goes on where it was.
"""

import pickle
import signal
import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from evidentia import __version__
from evidentia.documents.reading.document import FORMATS
from evidentia.errors import (
    AccessError,
    EnvironmentProblem,
    EvidentiaError,
    InputError,
    UsageError,
)
from evidentia.language.counting import counted
from evidentia.ledger.answers import GivenAnswer, UnreadAnswer, given_answers
from evidentia.ledger.citations import read_citations
from evidentia.ledger.given import read_contexts
from evidentia.ledger.outcomes import AnswerOutcome, CheckedAnswers, Tally
from evidentia.loading.workers import Done, WorkerEndedError, Workers, cores
from evidentia.store.sql import log
from evidentia.workspace.acting import Acting
from evidentia.workspace.checking import (
    Answered,
    Asked,
    Checker,
    Failed,
    How,
    asks_library,
    ids_of,
)
from evidentia.workspace.documents import Documents
from evidentia.workspace.ledgers import Ledgers
from evidentia.workspace.preparing import WORKER, Setup
from evidentia.workspace.recorded import Progress
from evidentia.workspace.reopening import reopening

if TYPE_CHECKING:
    from evidentia.judges.llm.endpoint import LanguageModel
    from evidentia.ledger.judging import Judge
    from evidentia.ledger.votes import JudgingPolicy
    from evidentia.loading.ingesting import Ingestion
    from evidentia.loading.places import FileChange
    from evidentia.store.sql.library import StoredDocument

Paths = tuple[str, ...]


class Executor(Protocol):
    """Has answers checked; gives each with what became of it, once that is known.

    None is lost: one whose worker ended is tried again, and at last given with the error. What
    was started is ended when the giving is.
    """

    def run(self, how: How, asked: Iterable[Asked]) -> Generator[Done, None, None]:
        """Check answers in any order."""


@dataclass(frozen=True, slots=True)
class Processes:
    """Checks by worker processes, each on one core; keeps `Executor`."""

    acting: Acting
    count: int

    def run(self, how: How, asked: Iterable[Asked]) -> Generator[Done, None, None]:
        """Check answers, several at once."""
        try:
            told = pickle.dumps(how)
        except Exception as error:
            raise InputError(
                f"the judges cannot be handed to worker processes ({type(error).__name__}: "
                f"{error}): check with workers=0, in this process"
            ) from error
        setup = Setup(reopening(self.acting), told, tuple(sys.path))
        with Workers(WORKER, self.count, first=setup) as workers:
            yield from workers.run(asked)


@dataclass(frozen=True, slots=True)
class Here:
    """Checks in this process, one after the other; keeps `Executor`."""

    acting: Acting

    def run(self, how: How, asked: Iterable[Asked]) -> Generator[Done, None, None]:
        """Check answers in their order."""
        checker = Checker(self.acting, how)
        for one in asked:
            yield Done(one, _checked_here(checker, one), 1)


def _checked_here(checker: Checker, asked: Asked) -> Answered | Failed | EvidentiaError:
    try:
        return checker.check(asked)
    except EvidentiaError as error:
        return error


def check_many(
    acting: Acting,
    answers: Iterable[object],
    *,
    against: "Ingestion | Sequence[StoredDocument] | None",
    judges: "Sequence[str | Judge | LanguageModel] | None",
    policy: "JudgingPolicy | None",
    outdated_after_days: int,
    again: bool,
    executor: Executor,
    progress: Progress,
    embedding: Progress,
) -> CheckedAnswers:
    """Check answers as `Ledgers.check_many` says."""
    found = list(given_answers(answers))
    outcomes = [
        AnswerOutcome(one.number, one.id, problem=one.problem, is_given=True)
        for one in found
        if isinstance(one, UnreadAnswer)
    ]
    given = [one for one in found if isinstance(one, GivenAnswer)]
    libraries, refused = _libraries(acting, given)
    outcomes += [
        AnswerOutcome(one.number, one.id, one.title, problem=refused[one.number], is_given=True)
        for one in given
        if one.number in refused
    ]
    places = {paths: place for place, paths in enumerate(libraries)}
    asked = [Asked(one, places[one.against]) for one in given if one.number not in refused]
    documents = tuple(against if paths is None else libraries[paths] for paths in libraries)
    how = How(judges, policy, outdated_after_days, documents, _size(acting), again)
    changes: dict[FileChange, None] = {}
    if asked:
        acting.refuse_to_fork()
        reading = {one.against for one in asked if asks_library(one.given, documents[one.against])}
        _warm(acting, how, reading, embedding)
        progress(len(outcomes), len(found))
        with closing(executor.run(how, asked)) as running:
            for done in running:
                outcomes.append(_outcome(done))
                changes |= dict.fromkeys(getattr(done.answer, "file_changes", ()))
                progress(len(outcomes), len(found))
    return CheckedAnswers(outcomes, changes)


def executor_of(acting: Acting, workers: int | None) -> Executor:
    """Return what checks by so many workers: as many as there are cores if None, here if 0."""
    if workers is not None and workers < 0:
        raise InputError(f"there cannot be {workers} workers: give 1 or more, or 0 for none")
    return Here(acting) if workers == 0 else Processes(acting, workers or cores())


def _libraries(
    acting: Acting, given: Sequence[GivenAnswer]
) -> "tuple[dict[Paths | None, Ingestion | None], dict[int, str]]":
    """Ingest what answers name, each once; say which answers cannot be checked, and why."""
    found: dict[Paths | None, Ingestion | None] = {None: None}
    problems: dict[Paths | None, str] = {}
    refused: dict[int, str] = {}
    for one in given:
        paths = one.against
        if paths is not None and paths not in found | problems:
            try:
                found[paths] = Documents(acting).ingest(*paths)
            except UsageError as error:
                problems[paths] = str(error)
        try:
            if one.contexts is not None:
                read_contexts(one.contexts)
            read_citations(one.citations or (), one.answer)
        except InputError as error:
            refused[one.number] = str(error)
        if paths in problems:
            refused[one.number] = problems[paths]
    return found, refused


def _size(acting: Acting) -> int:
    with acting.database.read() as connection:
        head = log.read_head(connection, acting.tenant)
    return head.size if head else 0


def _warm(acting: Acting, how: How, places: Iterable[int], embedding: Progress) -> None:
    """Bring the search index up to date and embed small libraries, once for all workers."""
    from evidentia.judges.nli.meaning import WHOLE  # noqa: PLC0415 - checking alone needs it
    from evidentia.store.search import Within  # noqa: PLC0415 - the same
    from evidentia.workspace.corpora import Part, shelf_of  # noqa: PLC0415 - the same
    from evidentia.workspace.judges import made  # noqa: PLC0415 - the same

    asked, shelf = made(acting, how.judges), shelf_of(acting)
    reads_meaning = any(getattr(judge, "reads_meaning", False) for judge in asked)
    with shelf.pinned() as pin:
        for place in sorted(places):
            part = Part(Within(ids_of(how.against[place])))
            held = shelf.corpus(pin, part, (), embedding).held
            if not place and held.few(0) is not None:
                raise InputError(
                    "there are no documents to check against: give a folder with documents "
                    f"({FORMATS}), or ingest some first"
                )
            if reads_meaning and held.few(WHOLE) is not None:
                meaning = shelf.corpus(pin, part, asked, embedding).meaning
                if meaning is not None:
                    meaning.nearest("", 1)
    shelf.keep_embeddings()


def _outcome(done: Done) -> AnswerOutcome:
    """Return what became of an answer; raise what is not about it alone."""
    given: GivenAnswer = done.question.given
    known = AnswerOutcome(given.number, given.id, given.title, tries=done.tries)
    match answer := done.answer:
        case Answered():
            return replace(
                known,
                title=answer.title,
                ledger_id=answer.ledger_id,
                entry=answer.entry,
                is_earlier=answer.is_earlier,
                tally=Tally.of(answer.claims),
            )
        case AccessError() | EnvironmentProblem():
            raise answer
        case Failed():
            return replace(known, problem=answer.problem)
        case EvidentiaError():
            return replace(known, problem=str(answer), is_given=isinstance(answer, InputError))
        case WorkerEndedError():
            return replace(known, problem=_why_ended(answer, done.tries))
    raise EnvironmentProblem(f"answer {given.number}: its worker answered {answer!r}")


def _why_ended(error: WorkerEndedError, tries: int) -> str:
    try:
        how = f"killed by {signal.Signals(-error.status).name}"
    except ValueError:
        how = str(error)
    memory = "; is there too little memory?" if error.status == -signal.SIGKILL else ""
    return f"the process that checked it ended, {counted(tries, 'time')} ({how}){memory}"


# What is written of many


def render_many(acting: Acting, checked: CheckedAnswers, form: str, **how: Any) -> str:
    """Write what became of many answers in a form of `export.many`, ledgers as they are kept."""
    from evidentia.export.many import write_many  # noqa: PLC0415 - few ask for it

    ledgers = Ledgers(acting)
    rows = (
        (one, None if one.ledger_id is None else ledgers.get(one.ledger_id).session)
        for one in checked
    )
    return write_many(rows, form, __version__, **how)

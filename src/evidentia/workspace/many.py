"""Checking many answers: by worker processes, or here, one after the other.

The processes are started by `loading.pieces`, below the workspace, so that the workspace needs
nothing from above to offer this; what runs it elsewhere (a cluster, a durable queue) belongs above
and hands in an executor of its own, which is why that is a protocol. The ledgers themselves say
what is done: there is no other state, and a run that was killed goes on where it was.
"""

import pickle
import signal
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Protocol

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
from evidentia.loading.pieces import ByProcesses
from evidentia.loading.workers import Bulk, Done, WorkerEndedError, cores
from evidentia.store.sql import log
from evidentia.workspace.acting import Acting
from evidentia.workspace.checking import (
    Answered,
    Asked,
    Checker,
    Failed,
    How,
    answered,
    asks_library,
    ids_of,
)
from evidentia.workspace.documents import Documents
from evidentia.workspace.judging import Judged
from evidentia.workspace.ledgers import Ledgers, RecordedLedger, keep_checked
from evidentia.workspace.preparing import Setup, checking
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
_MOST_AT_ONCE: Final = 100
"""How many ledgers are recorded in one transaction: the log is held as long."""


class Executor(Protocol):
    """Has answers checked; gives each with what became of it, once that is known.

    None is lost: one whose worker ended is tried again, and at last given with the error. What
    was started is ended when the giving is.
    """

    def run(self, how: How, asked: Iterable[Asked]) -> Generator[Done, None, None]:
        """Check answers in any order."""


@dataclass(frozen=True, slots=True)
class InProcesses:
    """Checks by worker processes, each on one core, which record what they judged.

    Keeps `Executor`.
    """

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
        setup = Setup(reopening(self.acting), told)
        yield from ByProcesses(self.count).run(checking, setup, asked)


@dataclass(frozen=True, slots=True)
class Here:
    """Checks in this process, one after the other; keeps `Executor`."""

    acting: Acting

    def run(self, how: How, asked: Iterable[Asked]) -> Generator[Done, None, None]:
        """Check answers in their order."""
        checker = Checker(self.acting, how)
        for one in asked:
            yield Done(one, _checked_here(checker, one), 1)


@dataclass(frozen=True, slots=True)
class OnCluster:
    """Checks by workers that have no keys; what they judged is recorded here. Keeps `Executor`.

    What came while a group was recorded is the next group: so recording keeps pace with many
    workers, and costs a transaction for a group.
    """

    acting: Acting
    bulk: Bulk
    most: int | None = None

    def run(self, how: How, asked: Iterable[Asked]) -> Generator[Done, None, None]:
        """Check answers, several at once; those that were checked before are only looked up."""
        from evidentia.workspace.bulk import (  # noqa: PLC0415 - few ask for it
            Piece,
            ToldToJudge,
            judged_by,
            place_of,
        )

        checker = Checker(self.acting, how)
        known: list[Done] = []

        def pieces() -> Iterator[Piece]:
            for one in asked:
                try:
                    earlier = checker.earlier(one)
                    if earlier is None:
                        yield Piece(one, one.against, checker.asked(one))
                        continue
                    known.append(Done(one, earlier, 1))
                except EvidentiaError as error:
                    known.append(Done(one, error, 1))

        judges = None if how.judges is None else tuple(how.judges)
        documents = tuple(map(ids_of, how.against))
        told = ToldToJudge(place_of(self.acting, self.bulk), judges, how.policy, documents)
        judged = judged_by(self.acting, self.bulk, told, pieces(), self.most)
        with closing(judged), ThreadPoolExecutor(1, "evidentia-recording") as recorder:
            yield from _recorded(recorder, self.acting, judged, known)
        yield from known


def _recorded(
    recorder: ThreadPoolExecutor, acting: Acting, judged: Iterable[Done], known: list[Done]
) -> Generator[Done, None, None]:
    """Record what was judged, in groups, beside the judging; give each once it is recorded."""
    group: list[Done] = []
    recording: Future[list[Done]] | None = None
    for done in judged:
        told = done._replace(question=done.question.known)
        if isinstance(done.answer, Judged):
            group.append(told)
        else:
            yield told
        yield from known
        known.clear()
        if recording is not None and (recording.done() or len(group) >= _MOST_AT_ONCE):
            yield from recording.result()
            recording = None
        if recording is None and group:
            recording, group = recorder.submit(_record, acting, group), []
    if recording is not None:
        yield from recording.result()
    if group:
        yield from _record(acting, group)


def _record(acting: Acting, group: Sequence[Done]) -> list[Done]:
    """Record what was judged in one transaction; one by one, where one of them cannot be."""
    acting.admit("ledgers.check")
    try:
        entries = keep_checked(acting, [one.answer.session for one in group])
    except (AccessError, EnvironmentProblem):
        raise
    except EvidentiaError as error:
        if len(group) == 1:
            return [group[0]._replace(answer=error)]
        return [done for one in group for done in _record(acting, [one])]
    return [
        one._replace(
            answer=answered(RecordedLedger.of(one.answer.session, entry, one.answer.file_changes))
        )
        for one, entry in zip(group, entries, strict=True)
    ]


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


def executor_of(
    acting: Acting,
    workers: int | None,
    judges: "Sequence[str | Judge | LanguageModel] | None" = None,
) -> Executor:
    """Return what checks by so many workers: as many as there are cores if None, here if 0.

    Where a cluster does bulk work, it is its workers; but not for language models, whose keys stay
    on this machine.
    """
    from evidentia.judges.llm.endpoint import LanguageModel  # noqa: PLC0415 - checking alone needs it
    from evidentia.workspace.bulk import bulk_of  # noqa: PLC0415 - few ask for it

    if workers is not None and workers < 0:
        raise InputError(f"there cannot be {workers} workers: give 1 or more, or 0 for none")
    if workers == 0:
        return Here(acting)
    if acting.opened.bulk and not any(isinstance(one, LanguageModel) for one in judges or ()):
        bulk = bulk_of(acting)
        if bulk is not None:
            return OnCluster(acting, bulk, workers)
    return InProcesses(acting, workers or cores())


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
            return replace(known, problem=why_ended(answer, done.tries))
    raise EnvironmentProblem(f"answer {given.number}: its worker answered {answer!r}")


def why_ended(error: WorkerEndedError, tries: int) -> str:
    """Say why an answer was not checked whose workers ended."""
    memory = "; is there too little memory?" if error.status == -signal.SIGKILL else ""
    return f"the process that checked it ended, {counted(tries, 'time')} ({error.how}){memory}"


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

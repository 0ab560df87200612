"""The ledgers' part: checking answers, and the ledgers that come of it.

What only checking needs is imported when the first answer is checked: it takes longer than all
the rest.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import PrivateAttr

from evidentia.canonical import sha256_hex
from evidentia.errors import AccessError, InputError, IntegrityError
from evidentia.ledger.model import EvidenceLedger
from evidentia.ledger.pages import PAGE
from evidentia.ledger.session import (
    LedgerSession,
    UnreadFile,
)
from evidentia.ledger.verification import recorded_of
from evidentia.proof.document import Proof
from evidentia.proof.statement import Statement
from evidentia.store.sql import ledger_pages, ledgers
from evidentia.store.sql.ledgers import ListedLedger, differing_rows
from evidentia.trail.entry import EntryKind
from evidentia.workspace.acting import Acting
from evidentia.workspace.choosing import day_of
from evidentia.workspace.documents import Documents
from evidentia.workspace.ledger_pages import (
    LedgerPage,
    audited_pages,
    keep_pages,
    page_of,
)
from evidentia.workspace.part import Part
from evidentia.workspace.recorded import Progress, Recorded, ToKeep

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from evidentia.bundles.model import EvidenceBundle
    from evidentia.export.pdf.rendering import Language, Typeface
    from evidentia.judges.llm.endpoint import LanguageModel
    from evidentia.ledger.answers import GivenAnswer, UnreadAnswer
    from evidentia.ledger.judging import Judge
    from evidentia.ledger.membership import CorpusProof
    from evidentia.ledger.metrics import LedgerMetrics
    from evidentia.ledger.model import Verdict
    from evidentia.ledger.outcomes import CheckedAnswers
    from evidentia.ledger.votes import JudgingPolicy
    from evidentia.loading.ingesting import FileProblem, Ingestion
    from evidentia.loading.places import FileChange
    from evidentia.store.sql.library import StoredDocument
    from evidentia.store.sql.log import Receipt
    from evidentia.store.sql.statistics import DayOfLedgers
    from evidentia.workspace.judging import AskedCheck, StartedCheck
    from evidentia.workspace.labelled import PeoplesVerdicts
    from evidentia.workspace.many import Executor
    from evidentia.workspace.membership import LedgerCorpus
    from evidentia.workspace.verdicts import GivenVerdict

    CheckedDocuments = tuple[frozenset[str] | None, tuple[UnreadFile, ...]]
    Days = list[DayOfLedgers]
    Verdicts = list[GivenVerdict]

MAX_ANSWER_BYTES: Final = 2 * 2**20
"""A long book has a megabyte of text; an answer is a page."""

LEDGERS: Final[Recorded[ListedLedger]] = Recorded(
    noun="ledger",
    kinds=(EntryKind.LEDGER,),
    find=ledgers.find_ledger,
    rows=ledgers.recorded_ledgers,
    begins="led_",
    too_large="check the answer in parts",
)
_DAYS_BEFORE: Final = 89
Listed = list[ListedLedger]
Problems = list[str]
Files = list[Path]


class RecordedLedger(EvidenceLedger):
    """A ledger with what is recorded of it: `session`, what was judged by what; `entry`, where.

    `file_changes` is what the check that made it found about files, and is recorded nowhere.
    """

    _session: LedgerSession = PrivateAttr()
    _entry: int = PrivateAttr()
    _file_changes: "tuple[FileChange, ...]" = PrivateAttr()

    @classmethod
    def of(
        cls, session: LedgerSession, entry: int, file_changes: "tuple[FileChange, ...]" = ()
    ) -> "RecordedLedger":
        """Return a session's ledger, which an entry of the trail records."""
        made = cls.model_construct(**vars(session.ledger))
        made._session, made._entry = session, entry  # noqa: SLF001 - its own
        made._file_changes = file_changes  # noqa: SLF001 - the same
        return made

    def __eq__(self, other: object) -> bool:
        """Whether another ledger says the same, wherever either is recorded."""
        return isinstance(other, EvidenceLedger) and self.__dict__ == other.__dict__

    __hash__ = EvidenceLedger.__hash__

    @property
    def session(self) -> LedgerSession:
        """The question and answer, the claims, the documents and judges, with this ledger."""
        return self._session

    @property
    def entry(self) -> int:
        """The number of the trail's entry that records it."""
        return self._entry

    def metrics(self) -> "LedgerMetrics":
        """Return it in the numbers that evaluation tools speak of."""
        return self._session.metrics()

    @property
    def file_changes(self) -> "tuple[FileChange, ...]":
        """The documents it rests on whose files were gone or changed when it was checked."""
        return self._file_changes

    def _repr_html_(self) -> str:
        """Show it in a notebook: a small table, no script."""
        from evidentia.export.html.notebook import ledger_cell  # noqa: PLC0415 - notebooks alone

        return ledger_cell(self._session)


class Ledgers(Part, name="ledgers"):
    """A tenant's ledgers: whether each claim of an answer holds, and on which passage."""

    def check(
        self,
        answer: str,
        *,
        against: "Ingestion | Sequence[StoredDocument] | str | Path | None" = None,
        contexts: "Iterable[Any] | Callable[[str], Any] | None" = None,
        bundle: "str | EvidenceBundle | None" = None,
        citations: Iterable[Any] | None = None,
        library: bool = False,
        query: str | None = None,
        title: str | None = None,
        mode: str = "answer",
        answer_name: str = "answer",
        collections: Sequence[str] | None = None,
        as_of: date | str | None = None,
        judges: "Sequence[str | Judge | LanguageModel] | None" = None,
        policy: "JudgingPolicy | None" = None,
        outdated_after_days: int = 730,
        progress: Progress | None = None,
        embedding: Progress | None = None,
    ) -> RecordedLedger:
        """Judge each claim of an answer by documents; keep the ledger and record it in the trail.

        `against` is what `ingest` returned, documents, or a file or folder to ingest first; all
        documents of the library by default. `collections` are checked by alone, by their names or
        ids. `as_of` is a day: documents that did not hold on it are left out, and of several
        versions the one is used that did. `contexts` are the passages that the model was given
        (texts, dicts with a text, what retrievers give, or a retriever, which is asked by `query`),
        and `bundle` names the one whose items they are: claims are checked against those, which are
        kept whole with the ledger, and against the library only if `library`, `against`,
        `collections` or `as_of` asks for that too. `citations` are what the model said beside its
        answer that it cites, each with a `source` (an id, title or file) and `start` and `end` in
        the answer. `judges` are names, judges of your own, or language models, and are asked in the
        given order; `policy` says when those are asked that vote after the others, and who decides.
        A source dated more than
        `outdated_after_days` ago is flagged. The same answer checked again is a new ledger that
        points to the one before. `progress` is told of claims that are judged, `embedding` of
        passages that are embedded before that, which is done once. What is returned also says, as
        `file_changes`, which documents it rests on are no longer where, or as, they were read.
        """
        started = self._begun(
            answer,
            against=against,
            contexts=contexts,
            bundle=bundle,
            citations=citations,
            library=library,
            query=query,
            title=title,
            mode=mode,
            answer_name=answer_name,
            collections=collections,
            as_of=as_of,
            judges=judges,
            policy=policy,
            outdated_after_days=outdated_after_days,
            progress=progress,
            embedding=embedding,
        )
        return self._finished(started)

    def begin(self, answer: str, **asked: Any) -> "StartedCheck":
        """Begin to check an answer; all else is given as for `check`. `finish` records it.

        What is returned can be waited for: `wait(10)` says whether it is judged by then. A server
        judges in another process, and raises `BusyError` where too many wait for that already.
        """
        return self._begun(answer, **asked)

    def finish(self, started: "StartedCheck") -> RecordedLedger:
        """Wait for a check that this user has begun; keep its ledger and record it in the trail.

        What it raises is what `check` would have raised. It is recorded each time this is called.
        """
        return self._finished(started)

    def _begun(
        self,
        answer: str,
        *,
        progress: Progress | None = None,
        embedding: Progress | None = None,
        **asked: Any,
    ) -> "StartedCheck":
        from evidentia.workspace.judging import StartedCheck  # noqa: PLC0415 - not all check

        acting = self._acting
        return StartedCheck(acting, asked_check(acting, answer, **asked), progress, embedding)

    def _finished(self, started: "StartedCheck") -> RecordedLedger:
        acting = self._acting
        if (started.tenant, started.actor) != (acting.tenant, acting.actor):
            raise AccessError("this check was begun by someone else: whoever began it finishes it")
        session, file_changes = started.judged()
        return RecordedLedger.of(session, keep_checked(acting, [session])[0], file_changes)

    def check_many(
        self,
        answers: "Iterable[str | Mapping[str, Any] | GivenAnswer | UnreadAnswer]",
        *,
        against: "Ingestion | Sequence[StoredDocument] | str | Path | None" = None,
        judges: "Sequence[str | Judge | LanguageModel] | None" = None,
        policy: "JudgingPolicy | None" = None,
        outdated_after_days: int = 730,
        workers: int | None = None,
        executor: "Executor | None" = None,
        again: bool = False,
        progress: Progress | None = None,
        embedding: Progress | None = None,
    ) -> "CheckedAnswers":
        """Check many answers, each as `check` does; return what became of each, and a summary.

        An answer is its text, or a mapping with `answer` and if you like `id`, `query`, `title`,
        `against` (paths), `contexts` and `citations`. They are checked by worker processes, as many
        as there are cores unless `workers` says otherwise, each on one core; 0 checks them in this
        process. One whose worker dies is tried again, and at last reported as not checked; so is
        what is no answer. What was checked before against the same library, by the same judges and
        the same program, is not checked again, so that a run that was stopped goes on where it was;
        `again` checks all anew. An `executor` of your own takes the place of the workers.
        """
        from evidentia.workspace.many import check_many, executor_of  # noqa: PLC0415 - few ask for it

        acting = self._acting
        if isinstance(against, str | Path):
            against = Documents(acting).ingest(against)
        return check_many(
            acting,
            answers,
            against=against,
            judges=judges,
            policy=policy,
            outdated_after_days=outdated_after_days,
            again=again,
            executor=executor or executor_of(acting, workers, judges),
            progress=progress or _ignore,
            embedding=embedding or _ignore,
        )

    def render_many(
        self,
        checked: "CheckedAnswers",
        form: str,
        *,
        fail_on: "Collection[Verdict] | None" = None,
        file: str | None = None,
    ) -> str:
        """Write what `check_many` returned as `jsonl`, `csv`, `junit` or `sarif`, with every claim.

        `fail_on` says which claims fail in JUnit's form; `file` is the file of lines that the
        answers came from, to which SARIF's places then lead.
        """
        from evidentia.workspace.many import render_many  # noqa: PLC0415 - few ask for it

        return render_many(self._acting, checked, form, fail_on=fail_on, file=file)

    def list(
        self,
        *,
        before: int | None = None,
        after: int | None = None,
        limit: int | None = None,
        oldest_first: bool = False,
        session: str | None = None,
        title: str | None = None,
    ) -> Listed:
        """Return the ledgers, newest first; page through them with `before`, an entry's number.

        `oldest_first` turns them round: then page with `after`.
        `session` gives those of a session alone, `title` those in whose title a text stands.
        """
        asked = {"session": session, "title": title}
        for name, text in asked.items():
            _check_text(name, text or "")
        return self._acting.read(
            ledgers.list_ledgers,
            before=before,
            after=after,
            limit=limit,
            oldest_first=oldest_first,
            **asked,
        )

    def find(self, name: str) -> ListedLedger:
        """Return the ledger of this id, a session's newest, or `latest`, `latest~1` and so on."""
        return LEDGERS.named(self._acting, name)

    def get(self, name: str) -> RecordedLedger:
        """Return a ledger, named as for `find`, with its question, answer and documents.

        It is read from the statement that the trail names by its digest; `IntegrityError` is
        raised if that is not what it was.
        """
        return _read(self._acting, LEDGERS.named(self._acting, name))

    def page(self, name: str, start: int = 0, limit: int = PAGE) -> LedgerPage:
        """Return some claims of a ledger, named as for `find`, from `start` on, and its head.

        It costs the same however long the ledger is: the pages that are read are proved to be the
        ledger's by the root that its entry names.
        """
        acting = self._acting
        row = LEDGERS.named(acting, name)
        body = LEDGERS.body(acting, row)

        def whole() -> LedgerSession:
            return _read(acting, row).session

        return page_of(acting, row, body, whole=whole, start=start, limit=limit)

    def prove(self, name: str) -> Proof:
        """Prove a ledger: the signed statement, and its place in the log under a checkpoint."""
        return LEDGERS.prove(self._acting, LEDGERS.named(self._acting, name))

    def corpus(
        self, name: str, *, after: str | None = None, limit: int | None = None
    ) -> "LedgerCorpus":
        """Return what a ledger was checked against, named as for `find`, by document and version.

        It has the documents of the library at that time, and which of them the check used. It is
        made again from the trail's entries, and `IntegrityError` is raised unless they lead to the
        root that the ledger commits to. Page through it with `after`, an id of the page before.
        """
        from evidentia.workspace.membership import corpus_of  # noqa: PLC0415 - not all ask for it

        return corpus_of(self._acting, LEDGERS.named(self._acting, name), after, limit)

    def prove_corpus(self, name: str, document: str) -> "CorpusProof":
        """Prove that a document was, or was not, in what a ledger was checked against.

        `document` is an id, a version of one (`doc_…@1`), or `collection/filename`. The proof has
        nothing of the answer. One that a document was not there may name another, which stands in
        its place.
        """
        from evidentia.workspace.membership import prove_document  # noqa: PLC0415 - the same

        return prove_document(self._acting, LEDGERS.named(self._acting, name), document)

    def export(
        self,
        name: str,
        file: str | Path,
        *,
        overwrite: bool = False,
        form: str | None = None,
        lang: "Language" = "both",
        typeface: "Typeface" = "plex",
    ) -> Path:
        """Write a ledger to a file, in a form of `export_ledger`; PDF and HTML prove themselves.

        Without a `form` its ending says it: `.pdf`, `.html`, `.md`, `.json`, `.sarif` or `.xml`.
        `lang` (`ar`, `en`, `both`) and `typeface` (`plex`, `amiri`) are the PDF's.
        """
        from evidentia.export.forms import Form, export_ledger  # noqa: PLC0415 - not all export
        from evidentia.store.files import check_writable, write_durably  # noqa: PLC0415 - the same

        target = Path(file)
        chosen = form or _FORMS.get(target.suffix.lower())
        if chosen is None:
            raise InputError(
                f"{target}: its ending tells no form of a ledger: use {', '.join(_FORMS)}"
            )
        check_writable(target, overwrite=overwrite)
        row = LEDGERS.named(self._acting, name)
        acting, is_proved = self._acting, chosen in {Form.PDF, Form.HTML}
        found = LEDGERS.prove(acting, row) if is_proved else _read(acting, row).session
        data = export_ledger(found, chosen, lang=lang, typeface=typeface)
        write_durably(target, data.encode() if isinstance(data, str) else data, mode=0o600)
        return target

    def export_many(
        self,
        files: Mapping[str, str | Path],
        *,
        form: str,
        overwrite: bool = False,
        lang: "Language" = "both",
        typeface: "Typeface" = "plex",
        progress: Progress | None = None,
    ) -> Files:
        """Write ledgers to files, each as `export` does; where a cluster is set, by its workers.

        They are proved here: workers get proofs and no keys.
        """
        from evidentia.workspace.bulk import Rendering, export_in_bulk  # noqa: PLC0415 - few ask for it

        acting, told = self._acting, progress or _ignore
        made: Files = []
        bulk = acting.opened.bulk
        if bulk is None or form not in {"pdf", "html"}:
            for name, file in files.items():
                made.append(
                    self.export(
                        name, file, overwrite=overwrite, form=form, lang=lang, typeface=typeface
                    )
                )
                told(len(made), len(files))
            return made
        targets = {name: Path(file) for name, file in files.items()}
        how = Rendering(form, lang, typeface)
        return export_in_bulk(acting, bulk, targets, how, overwrite=overwrite, progress=told)

    def give_verdict(
        self, name: str, claim_id: str, verdict: "Verdict | str", *, reason: str
    ) -> "GivenVerdict":
        """Record a verdict of your own on a claim of a ledger, named as for `find`.

        It is an entry of the trail beside the judges', and the ledger stays as it is.
        """
        from evidentia.workspace.verdicts import give  # noqa: PLC0415 - not all give one

        return give(self._acting, self.get(name), claim_id, verdict, reason)

    def verdicts(self, name: str) -> "Verdicts":
        """Return what people say of the claims of a ledger, the oldest first, each proved."""
        from evidentia.workspace.verdicts import given  # noqa: PLC0415 - the same

        return given(self._acting, LEDGERS.named(self._acting, name).id)

    def labelled(self) -> "PeoplesVerdicts":
        """Return what people said of claims as labelled pairs, and how far the judges agree."""
        from evidentia.workspace.labelled import labelled  # noqa: PLC0415 - the same

        return labelled(self._acting)

    def statistics(
        self, *, since: "str | date | None" = None, until: "str | date | None" = None
    ) -> "Days":
        """Return the days on which answers were checked: how many, and their claims by verdict.

        From `since` up to and with `until`, the last 90 days if they are not given, in UTC. It is
        the word of the rows, which are an index: an audit compares them with the trail.
        """
        from evidentia.store.sql.statistics import ledgers_by_day  # noqa: PLC0415 - the same

        last = day_of(until) or date.fromisoformat(self._acting.now[:10])
        before = min(_DAYS_BEFORE, last.toordinal() - 1)  # the calendar has a first day
        first = day_of(since) or last - timedelta(days=before)
        if first > last:
            raise InputError(f"since {first} is later than until {last}: turn them round")
        if last == date.max:
            raise InputError(f"until {last}: there is no day after it; name an earlier one")
        begin, end = (f"{one}T00:00:00.000000Z" for one in (first, last + timedelta(days=1)))
        return self._acting.read(ledgers_by_day, begin, end)

    def audit(self, *, progress: Progress | None = None) -> Problems:
        """Compare every ledger with what the trail names, both ways; return what is wrong."""
        return audit(self._acting, progress)


_FORMS: Final = {
    ".pdf": "pdf",
    ".html": "html",
    ".md": "markdown",
    ".json": "json",
    ".sarif": "sarif",
    ".xml": "junit",
}


def audit(acting: Acting, progress: Progress | None, *, quick: bool = False) -> Problems:
    """Compare every ledger with what the trail names, both ways; `quick`, its row alone."""

    def check(row: ListedLedger) -> Iterable[str]:
        session = _read(acting, row).session
        body = LEDGERS.body(acting, row)
        for name, value in recorded_of(session).items():
            if body.get(name) != value:
                yield f"its entry has another {name} than follows from its statement"
        differing = acting.read(differing_rows, session)
        if differing is not None:
            yield f"the rows of its {differing} are not what was recorded"
        yield from audited_pages(acting, row, session)

    orphans = acting.read(ledger_pages.paged_ledgers) - {
        identity for identity, _ in acting.read(ledgers.recorded_ledgers)
    }
    return [
        *LEDGERS.audit(acting, check, progress, quick=quick),
        *(f"ledger {one}: there are pages of it, and no ledger" for one in sorted(orphans)),
    ]


def _read(acting: Acting, row: ListedLedger) -> RecordedLedger:
    return RecordedLedger.of(read_session(acting, row), row.entry)


def read_session(acting: Acting, row: ListedLedger) -> LedgerSession:
    """Return a ledger's session from the statement that the trail names."""
    return LedgerSession.from_statement(Statement.parse(LEDGERS.file(acting, row)))


def asked_check(
    acting: Acting,
    answer: str,
    *,
    against: "Ingestion | Sequence[StoredDocument] | str | Path | None" = None,
    contexts: "Iterable[Any] | Callable[[str], Any] | None" = None,
    bundle: "str | EvidenceBundle | None" = None,
    citations: Iterable[Any] | None = None,
    library: bool = False,
    query: str | None = None,
    title: str | None = None,
    mode: str = "answer",
    answer_name: str = "answer",
    collections: Sequence[str] | None = None,
    as_of: date | str | None = None,
    judges: "Sequence[str | Judge | LanguageModel] | None" = None,
    policy: "JudgingPolicy | None" = None,
    outdated_after_days: int = 730,
    documents: "CheckedDocuments | None" = None,
) -> "AskedCheck":
    """Return an answer to check, all that was said of it looked through; raise if it is none.

    `documents` are those of `against`, where they were found before.
    """
    from evidentia.ledger.citations import read_citations  # noqa: PLC0415 - not all check
    from evidentia.workspace.contexts import given_contexts  # noqa: PLC0415 - the same
    from evidentia.workspace.judges import made  # noqa: PLC0415 - the same
    from evidentia.workspace.judging import AskedCheck  # noqa: PLC0415 - the same

    _check_answer(answer)
    texts = {"query": query, "title": title, "mode": mode, "answer's name": answer_name}
    for name, text in texts.items():
        _check_text(name, text or "")
    asked = None if judges is None else tuple(judges)
    made(acting, asked)  # which refuses what is none, before anything is read
    acting.refuse_to_fork()
    given = given_contexts(acting, contexts, bundle, query)
    named, day = (against, collections, as_of), day_of(as_of)
    asks_library = given is None or library or any(one is not None for one in named)
    ids, unread = documents or checked_against(acting, against if asks_library else (), collections)
    return AskedCheck(
        answer=answer,
        now=acting.now,
        documents=ids,
        unread=unread,
        asks_library=asks_library,
        given=given,
        query=query,
        title=title,
        mode=mode,
        answer_name=answer_name,
        collections=None if collections is None else tuple(collections),
        as_of=day,
        judges=asked,
        policy=policy,
        outdated_after_days=outdated_after_days,
        cited=read_citations(citations or (), answer),
    )


def keep_checked(acting: Acting, sessions: "Sequence[LedgerSession]") -> list[int]:
    """Keep sessions' statements, record them in the trail and insert their rows: all or none.

    Return the numbers of their entries.
    """
    receipts = LEDGERS.keep_all(acting, *(_to_keep(acting, one) for one in sessions))
    if receipts is None:
        raise IntegrityError(f"ledger {sessions[0].ledger.id} was not recorded")
    return [one.seq for one in receipts]


def _to_keep(acting: Acting, session: LedgerSession) -> ToKeep:
    ledger, statement = session.ledger, session.to_statement().encode()

    def insert(connection: "Connection", receipt: "Receipt") -> None:
        ledgers.insert_session(connection, acting.tenant, session, ledger.created_at)
        ledgers.insert_ledger(
            connection, acting.tenant, session, sha256_hex(statement), receipt.seq
        )
        keep_pages(acting, connection, session)

    return ToKeep(ledger.id, statement, recorded_of(session), insert)


def checked_against(
    acting: Acting, against: Any, collections: Sequence[str] | None
) -> "CheckedDocuments":
    """Return the ids of the documents to check by, None for all, and what could not be read."""
    from evidentia.loading.ingesting import Ingestion  # noqa: PLC0415 - only checking needs it

    if against is not None and collections is not None:
        raise InputError("check against documents or against collections, not both")
    unread: tuple[FileProblem, ...] = ()
    if isinstance(against, str | Path):
        against = Documents(acting).ingest(against)
    if isinstance(against, Ingestion):
        unread = against.problems
        against = against.documents
    ids = None if against is None else frozenset(document.id for document in against)
    return ids, tuple(UnreadFile(filename=one.filename, problem=one.problem) for one in unread)


def _ignore(_done: int, _total: int) -> None:
    pass


def _check_answer(answer: str) -> None:
    """Raise `InputError` for what is no answer: nothing, too much, or no text."""
    if not answer.strip():
        raise InputError("the answer is empty: there is nothing to check")
    size = _check_text("answer", answer)
    if size > MAX_ANSWER_BYTES:
        raise InputError(
            f"the answer has {size:,} bytes, {MAX_ANSWER_BYTES:,} at most: check it in parts"
        )


def _check_text(name: str, text: str) -> int:
    """Return a text's size in bytes; raise `InputError` if no database could store it."""
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"the {name} is not text: {error.reason}") from None
    if b"\0" in data:
        raise InputError(f"the {name} is not text: it has NUL characters")
    return len(data)

"""The ledgers' part: checking answers, and the ledgers that come of it.

What only checking needs is imported when the first answer is checked: it takes longer than all
the rest.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import PrivateAttr

from evidentia import __version__
from evidentia.canonical import derived_id, sha256_hex
from evidentia.documents.reading.document import FORMATS
from evidentia.errors import InputError, IntegrityError
from evidentia.ledger.model import EvidenceLedger
from evidentia.ledger.pages import PAGE
from evidentia.ledger.session import (
    CheckedDocument,
    LedgerSession,
    LeftOutText,
    SearchedBy,
    UnreadFile,
    cited_documents,
)
from evidentia.ledger.verification import recorded_of
from evidentia.proof.document import Proof
from evidentia.proof.statement import Statement
from evidentia.store.sql import ledger_pages, ledgers, library
from evidentia.store.sql.ledgers import ListedLedger, differing_rows
from evidentia.store.sql.library import IssuedAnchors, StoredDocument
from evidentia.trail.entry import EntryKind
from evidentia.workspace.acting import Acting
from evidentia.workspace.choosing import collection_ids, count_used, day_of
from evidentia.workspace.commitment import CheckedCorpus, selection
from evidentia.workspace.documents import Documents
from evidentia.workspace.ledger_pages import (
    LedgerPage,
    audited_pages,
    keep_pages,
    page_of,
)
from evidentia.workspace.library import versions_in
from evidentia.workspace.part import Part
from evidentia.workspace.recorded import Progress, Recorded

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from evidentia.bundles.model import EvidenceBundle
    from evidentia.export.pdf.rendering import Language, Typeface
    from evidentia.judges.llm.endpoint import LanguageModel
    from evidentia.ledger.answers import GivenAnswer, UnreadAnswer
    from evidentia.ledger.claims import ExtractedClaims
    from evidentia.ledger.judging import Judge
    from evidentia.ledger.membership import CorpusProof
    from evidentia.ledger.model import Verdict
    from evidentia.ledger.outcomes import CheckedAnswers
    from evidentia.ledger.votes import JudgingPolicy
    from evidentia.loading.ingesting import FileProblem, Ingestion
    from evidentia.loading.places import FileChange
    from evidentia.store.sql.log import Receipt
    from evidentia.store.sql.statistics import DayOfLedgers
    from evidentia.workspace.corpora import Part as CheckedPart
    from evidentia.workspace.corpora import Pin
    from evidentia.workspace.many import Executor
    from evidentia.workspace.membership import LedgerCorpus
    from evidentia.workspace.verdicts import GivenVerdict

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
        contexts: Iterable[Any] | None = None,
        bundle: "str | EvidenceBundle | None" = None,
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
        (texts, dicts with a text, what retrievers give), and `bundle` names the one whose items
        they are: claims are checked against those, which are kept whole with the ledger, and
        against the library only if `library`, `against`, `collections` or `as_of` asks for that
        too. `judges` are names,
        judges of your own, or language models, and are asked in the given order; `policy` says when
        those are asked that vote after the others, and who decides. A source dated more than
        `outdated_after_days` ago is flagged. The same answer checked again is a new ledger that
        points to the one before. `progress` is told of claims that are judged, `embedding` of
        passages that are embedded before that, which is done once. What is returned also says, as
        `file_changes`, which documents it rests on are no longer where, or as, they were read.
        """
        from evidentia.documents.scoring import FORMULA  # noqa: PLC0415 - only checking needs it
        from evidentia.language.tokens import TOKENS_VERSION  # noqa: PLC0415 - the same
        from evidentia.ledger.checking import CheckContext, check_with_votes  # noqa: PLC0415 - the same
        from evidentia.ledger.claims import extract_claims  # noqa: PLC0415 - the same
        from evidentia.ledger.joining import join_corpora  # noqa: PLC0415 - the same
        from evidentia.ledger.votes import JudgingPolicy  # noqa: PLC0415 - the same
        from evidentia.store.search import ENGINE  # noqa: PLC0415 - the same
        from evidentia.workspace.contexts import ContextAnchors, given_contexts  # noqa: PLC0415 - the same
        from evidentia.workspace.corpora import shelf_of  # noqa: PLC0415 - the same
        from evidentia.workspace.judges import made, services_of  # noqa: PLC0415 - the same

        acting = self._acting
        _check_answer(answer)
        texts = {"query": query, "title": title, "mode": mode, "answer's name": answer_name}
        for name, text in texts.items():
            _check_text(name, text or "")
        asked = made(acting, judges)
        acting.refuse_to_fork()
        given = given_contexts(acting, contexts, bundle)
        named, day = (against, collections, as_of), day_of(as_of)
        asks_library = given is None or library or any(one is not None for one in named)
        part, unread = _checked_against(acting, against if asks_library else (), collections, day)
        extracted = extract_claims(answer)
        identity = {"answer": answer, "name": answer_name, "title": title, "query": query}
        session_id = derived_id("ses", {**identity, "mode": mode})
        now, told = acting.now, progress or _ignore
        shelf = shelf_of(acting)
        embeds = embedding or _ignore
        corpora = [] if given is None else [given.corpus(shelf, asked, embeds)]
        with ExitStack() as held:
            pin = held.enter_context(shelf.pinned()) if asks_library else None
            library_then = _library_then(acting, pin, part, unread) if pin else None
            if pin is not None:
                corpora.append(shelf.corpus(pin, part, asked, embeds))
            if given is not None and pin is not None:
                if library_then is None:
                    raise InputError(
                        "no entry of the trail records the library's documents: 'evidentia "
                        "documents record' does so"
                    )
                given.refuse_shared_ids(corpora[-1])
            corpus = join_corpora(corpora)
            with acting.database.read() as connection:
                issued = IssuedAnchors(connection, acting.tenant)
                context = CheckContext(
                    session_id=session_id,
                    created_at=now,
                    today=day or datetime.fromisoformat(now).date(),
                    issued_anchors=issued,
                    anchor_of=ContextAnchors(issued).of if given else issued.of,
                    previous_ledger_id=ledgers.previous_ledger(connection, acting.tenant, answer),
                    outdated_after_days=outdated_after_days,
                    progress=lambda done: told(done, len(extracted.claims)),
                    policy=policy or JudgingPolicy(),
                )
                checked = check_with_votes(answer, extracted, corpus, asked, context)
            cited = cited_documents(checked.ledger) - (given.ids if given else frozenset())
            rests_on = pin.used(cited) if pin else []
            is_older = pin is not None and library_then is None
            ids = part.within.documents
            versions = versions_in(acting, ids, pin.connection) if pin and is_older else rests_on
            commitment = library_then and pin and library_then.commitment(pin.connection, cited)
        shelf.keep_embeddings()
        session = LedgerSession(
            id=session_id,
            title=title or answer_name,
            query=query,
            mode=mode,
            answer_name=answer_name,
            answer=answer,
            claims=extracted.claims,
            left_out=_left_out(extracted),
            ledger=checked.ledger,
            documents=tuple(map(_checked_document, versions)),
            unread=tuple(
                UnreadFile(filename=item.filename, problem=item.problem) for item in unread
            ),
            judges=tuple(judge.name for judge in asked),
            program=f"evidentia {__version__}",
            judging=checked.judging and services_of(checked.judging, asked),
            corpus=commitment,
            search=commitment and SearchedBy(engine=ENGINE, terms=TOKENS_VERSION, formula=FORMULA),
            contexts=given and given.contexts,
            bundle=given and given.bundle,
        )
        return RecordedLedger.of(
            session, _keep(acting, session), _file_changes(acting, checked.ledger, rests_on)
        )

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
        `against` (paths) and `contexts`. They are checked by worker processes, as many as there are
        cores unless `workers` says otherwise, each on one core; 0 checks them in this process. One
        whose worker dies is tried again, and at last reported as not checked; so is what is no
        answer. What was checked before against the same library, by the same judges and the same
        program, is not checked again, so that a run that was stopped goes on where it was; `again`
        checks all anew. An `executor` of your own takes the place of the workers.
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
            executor=executor or executor_of(acting, workers),
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
        limit: int | None = None,
        session: str | None = None,
        title: str | None = None,
    ) -> Listed:
        """Return the ledgers, newest first; page through them with `before`, an entry's number.

        `session` gives those of a session alone, `title` those in whose title a text stands.
        """
        asked = {"session": session, "title": title}
        for name, text in asked.items():
            _check_text(name, text or "")
        return self._acting.read(ledgers.list_ledgers, before=before, limit=limit, **asked)

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


def _keep(acting: Acting, session: LedgerSession) -> int:
    """Keep a session's statement, record it in the trail, and insert its rows."""
    ledger, statement = session.ledger, session.to_statement().encode()
    body = recorded_of(session)

    def insert(connection: "Connection", receipt: "Receipt") -> None:
        ledgers.insert_session(connection, acting.tenant, session, ledger.created_at)
        ledgers.insert_ledger(
            connection, acting.tenant, session, sha256_hex(statement), receipt.seq
        )
        keep_pages(acting, connection, session)

    receipt = LEDGERS.keep(acting, ledger.id, statement, body, insert)
    if receipt is None:
        raise IntegrityError(f"ledger {ledger.id} was not recorded")
    return receipt.seq


def _checked_against(
    acting: Acting, against: Any, collections: Sequence[str] | None, as_of: date | None
) -> "tuple[CheckedPart, tuple[FileProblem, ...]]":
    """Return the part of the library to check by, and what could not be read."""
    from evidentia.loading.ingesting import Ingestion  # noqa: PLC0415 - only checking needs it
    from evidentia.store.search import Within  # noqa: PLC0415 - the same
    from evidentia.workspace.corpora import Part as CheckedPart  # noqa: PLC0415 - the same

    if against is not None and collections is not None:
        raise InputError("check against documents or against collections, not both")
    unread: tuple[FileProblem, ...] = ()
    if isinstance(against, str | Path):
        against = Documents(acting).ingest(against)
    if isinstance(against, Ingestion):
        unread = against.problems
        against = against.documents
    ids = None if against is None else frozenset(document.id for document in against)
    return CheckedPart(Within(ids, collection_ids(acting, collections)), as_of), unread


def _library_then(
    acting: Acting,
    pin: "Pin",
    part: "CheckedPart",
    unread: "tuple[FileProblem, ...]",
) -> CheckedCorpus | None:
    """Return the library that documents are of, as it is pinned; None if no entry records any.

    Raise `InputError` if there is nothing to check against.
    """
    found, ((ids, named), as_of) = pin.corpus, part
    if found is None and (named is not None or as_of is not None):
        raise InputError(
            "no entry of the trail records these documents, so a ledger could not say which of "
            "them it used: 'evidentia documents record' records them"
        )
    is_all = (ids, named, as_of) == (None, None, None)
    if found is not None and is_all:
        used = found.documents
    else:
        used = count_used(acting, part, pin.connection)
    if not used:
        problem = f"; {unread[0].problem}" if unread else ""
        held = f" that held on {as_of}" if as_of else ""
        raise InputError(
            f"there are no documents to check against{held}: give a folder with documents "
            f"({FORMATS}), or ingest some first{problem}"
        )
    if found is None:
        return None
    chosen = selection(acting, ids, named, None if as_of is None else as_of.isoformat())
    return CheckedCorpus(acting, found, chosen, used)


def _file_changes(
    acting: Acting, ledger: EvidenceLedger, versions: Sequence[StoredDocument]
) -> "tuple[FileChange, ...]":
    """Say which of the documents that a ledger rests on are not where, or as, they were read."""
    from evidentia.loading.places import Places  # noqa: PLC0415 - only checking needs it

    used = {
        match.passage.source.id
        for entry in ledger.entries
        for match in entry.evidence
        if match.passage
    }
    places = Places(acting.opened.home.places(acting.tenant))
    return places.changes(version for version in versions if library.corpus_id(version) in used)


def _left_out(extracted: "ExtractedClaims") -> tuple[LeftOutText, ...]:
    return tuple(LeftOutText(**asdict(piece)) for piece in extracted.left_out)


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


def _checked_document(version: StoredDocument) -> CheckedDocument:
    return CheckedDocument(
        id=library.corpus_id(version),
        version=version.version,
        collection=version.collection,
        filename=version.filename,
        media_type=version.media_type,
        sha256=version.sha256,
        dated=version.dated,
        superseded=not version.is_newest,
        effective_from=version.effective_from,
        effective_until=version.effective_until,
    )

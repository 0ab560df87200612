"""The ledgers' part: checking answers, and the ledgers that come of it.

What only checking needs is imported when the first answer is checked: it takes longer than all
the rest.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import PrivateAttr

from evidentia import __version__
from evidentia.canonical import derived_id, sha256_hex
from evidentia.documents.reading.document import FORMATS
from evidentia.errors import InputError, IntegrityError
from evidentia.ledger.model import EvidenceLedger
from evidentia.ledger.session import (
    CheckedDocument,
    LedgerSession,
    LeftOutText,
    UnreadFile,
    cited_documents,
)
from evidentia.proof.document import Proof
from evidentia.proof.statement import Statement
from evidentia.store.sql import ledgers, library
from evidentia.store.sql.ledgers import ListedLedger, differing_rows
from evidentia.store.sql.library import StoredDocument
from evidentia.trail.entry import EntryKind
from evidentia.workspace.acting import Acting
from evidentia.workspace.choosing import collection_ids, count_used, day_of
from evidentia.workspace.commitment import CheckedCorpus, current_corpus, selection
from evidentia.workspace.documents import Documents
from evidentia.workspace.library import versions_in
from evidentia.workspace.part import Part
from evidentia.workspace.recorded import Progress, Recorded

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from evidentia.export.pdf.rendering import Language, Typeface
    from evidentia.judges.llm.endpoint import LanguageModel
    from evidentia.ledger.claims import ExtractedClaims
    from evidentia.ledger.judging import Judge
    from evidentia.ledger.votes import JudgingPolicy
    from evidentia.loading.ingesting import FileProblem, Ingestion
    from evidentia.loading.places import FileChange
    from evidentia.store.sql.log import Receipt
    from evidentia.workspace.corpora import Part as CheckedPart

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


class Ledgers(Part, name="ledgers"):
    """A tenant's ledgers: whether each claim of an answer holds, and on which passage."""

    def check(
        self,
        answer: str,
        *,
        against: "Ingestion | Sequence[StoredDocument] | str | Path | None" = None,
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
        versions the one is used that did. `judges` are names, judges of your own, or language
        models, and are asked in the given order; `policy` says when those are asked that vote after
        the others, and who decides. A source dated more than `outdated_after_days` ago is flagged.
        The same answer checked again is a new ledger that points to the one before. `progress` is
        told of claims that are judged, `embedding` of passages that are embedded before that,
        which is done once. What is returned also says, as `file_changes`, which documents it rests
        on are no longer where, or as, they were read.
        """
        from evidentia.ledger.checking import CheckContext, check_with_votes  # noqa: PLC0415 - only checking needs it
        from evidentia.ledger.claims import extract_claims  # noqa: PLC0415 - the same
        from evidentia.ledger.votes import JudgingPolicy  # noqa: PLC0415 - the same
        from evidentia.workspace.corpora import shelf_of  # noqa: PLC0415 - the same
        from evidentia.workspace.judges import made, services_of  # noqa: PLC0415 - the same

        acting = self._acting
        _check_answer(answer)
        texts = {"query": query, "title": title, "mode": mode, "answer's name": answer_name}
        for name, text in texts.items():
            _check_text(name, text or "")
        asked = made(acting, judges)
        acting.refuse_to_fork()
        part, unread, library_then = _checked_against(acting, against, collections, day_of(as_of))
        extracted = extract_claims(answer)
        identity = {"answer": answer, "name": answer_name, "title": title, "query": query}
        session_id = derived_id("ses", {**identity, "mode": mode})
        now, told = acting.now, progress or _ignore
        shelf = shelf_of(acting)
        corpus = shelf.corpus(part, asked, embedding or _ignore)
        with acting.database.read() as connection:
            issued = library.IssuedAnchors(connection, acting.tenant)
            context = CheckContext(
                session_id=session_id,
                created_at=now,
                today=part.as_of or datetime.fromisoformat(now).date(),
                issued_anchors=issued,
                anchor_of=issued.of,
                previous_ledger_id=ledgers.previous_ledger(connection, acting.tenant, answer),
                outdated_after_days=outdated_after_days,
                progress=lambda done: told(done, len(extracted.claims)),
                policy=policy or JudgingPolicy(),
            )
            checked = check_with_votes(answer, extracted, corpus, asked, context)
        shelf.keep_embeddings()
        cited = cited_documents(checked.ledger)
        rests_on = shelf.used(cited)
        versions = rests_on if library_then else versions_in(acting, part.within.documents)
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
            corpus=library_then and library_then.commitment(cited),
        )
        return RecordedLedger.of(
            session, _keep(acting, session), _file_changes(acting, checked.ledger, rests_on)
        )

    def list(self, *, before: int | None = None, limit: int | None = None) -> Listed:
        """Return the ledgers, newest first; page through them with `before`, an entry's number."""
        return self._acting.read(ledgers.list_ledgers, before=before, limit=limit)

    def find(self, name: str) -> ListedLedger:
        """Return the ledger of this id, a session's newest, or `latest`, `latest~1` and so on."""
        return LEDGERS.named(self._acting, name)

    def get(self, name: str) -> RecordedLedger:
        """Return a ledger, named as for `find`, with its question, answer and documents.

        It is read from the statement that the trail names by its digest; `IntegrityError` is
        raised if that is not what it was.
        """
        return _read(self._acting, LEDGERS.named(self._acting, name))

    def prove(self, name: str) -> Proof:
        """Prove a ledger: the signed statement, and its place in the log under a checkpoint."""
        return LEDGERS.prove(self._acting, LEDGERS.named(self._acting, name))

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
        """Write a ledger to a file, in a form of `export_ledger`; a PDF proves itself.

        Without a `form` the file's ending says it: `.pdf`, `.md`, `.json`, `.sarif` or `.xml`.
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
        acting, is_pdf = self._acting, chosen == Form.PDF
        found = LEDGERS.prove(acting, row) if is_pdf else _read(acting, row).session
        data = export_ledger(found, chosen, lang=lang, typeface=typeface)
        write_durably(target, data.encode() if isinstance(data, str) else data, mode=0o600)
        return target

    def audit(self, *, progress: Progress | None = None) -> Problems:
        """Compare every ledger with what the trail names, both ways; return what is wrong."""
        return audit(self._acting, progress)


_FORMS: Final = {
    ".pdf": "pdf",
    ".md": "markdown",
    ".json": "json",
    ".sarif": "sarif",
    ".xml": "junit",
}


def audit(acting: Acting, progress: Progress | None, *, quick: bool = False) -> Problems:
    """Compare every ledger with what the trail names, both ways; `quick`, its row alone."""

    def check(row: ListedLedger) -> Iterable[str]:
        session = _read(acting, row).session
        differing = acting.read(differing_rows, session)
        if differing is not None:
            yield f"the rows of its {differing} are not what was recorded"

    return LEDGERS.audit(acting, check, progress, quick=quick)


def _read(acting: Acting, row: ListedLedger) -> RecordedLedger:
    return RecordedLedger.of(read_session(acting, row), row.entry)


def read_session(acting: Acting, row: ListedLedger) -> LedgerSession:
    """Return a ledger's session from the statement that the trail names."""
    return LedgerSession.from_statement(Statement.parse(LEDGERS.file(acting, row)))


def _keep(acting: Acting, session: LedgerSession) -> int:
    """Keep a session's statement, record it in the trail, and insert its rows."""
    ledger, statement = session.ledger, session.to_statement().encode()
    body = {
        "predicate_type": session.predicate_type,
        "session_id": session.id,
        "previous_ledger_id": ledger.previous_ledger_id,
        "summary": ledger.summary.model_dump(mode="json"),
    }

    def insert(connection: "Connection", receipt: "Receipt") -> None:
        ledgers.insert_session(connection, acting.tenant, session, ledger.created_at)
        ledgers.insert_ledger(
            connection, acting.tenant, session, sha256_hex(statement), receipt.seq
        )

    receipt = LEDGERS.keep(acting, ledger.id, statement, body, insert)
    if receipt is None:
        raise IntegrityError(f"ledger {ledger.id} was not recorded")
    return receipt.seq


def _checked_against(
    acting: Acting, against: Any, collections: Sequence[str] | None, as_of: date | None
) -> "tuple[CheckedPart, tuple[FileProblem, ...], CheckedCorpus | None]":
    """Return the part of the library to check by, and what could not be read.

    At last the library that it is of, as it is now; None if no entry records documents.
    """
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
    named = collection_ids(acting, collections)
    part = CheckedPart(Within(ids, named), as_of)
    with acting.database.read() as connection:
        found = current_corpus(acting, connection)
    if found is None and (named is not None or as_of is not None):
        raise InputError(
            "no entry of the trail records these documents, so a ledger could not say which of "
            "them it used: 'evidentia documents record' records them"
        )
    is_all = found is not None and (ids, named, as_of) == (None, None, None)
    used = found.documents if found is not None and is_all else count_used(acting, part)
    if not used:
        problem = f"; {unread[0].problem}" if unread else ""
        held = f" that held on {as_of}" if as_of else ""
        raise InputError(
            f"there are no documents to check against{held}: give a folder with documents "
            f"({FORMATS}), or ingest some first{problem}"
        )
    if found is None:
        return part, unread, None
    chosen = selection(acting, ids, named, None if as_of is None else as_of.isoformat())
    return part, unread, CheckedCorpus(acting, found, chosen, used)


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

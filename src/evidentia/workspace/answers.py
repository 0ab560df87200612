"""The shell around documents and answers: ingesting, checking, and the ledgers that come of it.

What only checking needs is imported when the first answer is checked: it takes longer than all
the rest.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from evidentia import __version__
from evidentia.canonical import canonical_json, derived_id
from evidentia.documents.model import DocumentChunk
from evidentia.errors import InputError, IntegrityError
from evidentia.ledger.citations import CitationResolution
from evidentia.ledger.model import EvidenceLedger
from evidentia.ledger.session import (
    PREDICATE_TYPE,
    CheckedDocument,
    LedgerSession,
    LeftOutText,
    UnreadFile,
)
from evidentia.logs import get_logger
from evidentia.proof.document import Proof
from evidentia.proof.envelope import Envelope
from evidentia.proof.statement import MAX_STATEMENT_BYTES, Statement
from evidentia.proof.verification import STATEMENT_DIGEST
from evidentia.store import embeddings, ledgers, library
from evidentia.store.files import check_writable, write_durably
from evidentia.store.ingesting import FileProblem, Ingesting, Ingestion
from evidentia.store.lake import Lake
from evidentia.store.ledgers import ListedLedger
from evidentia.store.library import StoredDocument
from evidentia.trail.entry import Entry, EntryKind
from evidentia.workspace.trail import TrailShell

if TYPE_CHECKING:
    from evidentia.export.pdf.rendering import Language, Typeface
    from evidentia.ledger.evidence import Corpus
    from evidentia.ledger.judging import Judge

MAX_ANSWER_BYTES = 2 * 2**20
"""A long book has a megabyte of text; an answer is a page."""

Against = Ingestion | Sequence[StoredDocument] | str | Path | None
"""What an answer is checked against; None stands for all documents of the library."""
Progress = Callable[[int, int], None]
"""Is told how much is done, and of how much: files, or claims."""

_log = get_logger("workspace")


class AnswersShell(TrailShell):
    """A tenant's documents, the answers that are checked by them, and their ledgers."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.lake = Lake(self.home.lake)
        self._loaded: tuple[object, Corpus] | None = None
        self._embedded: dict[str, bytes] = {}

    # Documents

    def ingest(self, *targets: str | Path, progress: Progress | None = None) -> Ingestion:
        """Read files, and the documents of folders, into the library; return what became of each.

        The same bytes are stored once; other bytes under the same name are a new version. A file
        that cannot be read is a problem in what is returned, and the others go on.
        """
        ingesting = Ingesting(self._database, self.lake, self.tenant, self._now)
        done = ingesting.run([Path(target) for target in targets], progress or _ignore)
        _log.info(
            "documents_ingested",
            tenant=self.tenant,
            documents=len(done.results),
            problems=len(done.problems),
        )
        return done

    def documents(self, *, all_versions: bool = False) -> list[StoredDocument]:
        """Return the documents of the library, the newest version of each or all versions."""
        with self._database.read() as connection:
            found = library.all_versions(connection, self.tenant)
        found = [document for document in found if all_versions or document.is_newest]
        return sorted(found, key=lambda item: (item.collection, item.filename, item.version))

    def chunks(self, document: StoredDocument) -> list[DocumentChunk]:
        """Return a document's chunks, in reading order."""
        with self._database.read() as connection:
            return library.chunks_of(connection, self.tenant, document.id, document.sha256)

    def anchor(self, chunk_hash: str) -> str:
        """Return what `[cite:…]` names a chunk by: its hash's beginning, as long as it must be."""
        with self._database.read() as connection:
            return library.IssuedAnchors(connection, self.tenant).of(chunk_hash)

    def resolve_citation(self, anchor: str) -> CitationResolution:
        """Return the chunk that an anchor leads to, in all its places, or why it leads to none."""
        with self._database.read() as connection:
            return library.resolve_anchor(connection, self.tenant, anchor)

    # Checking answers

    def check(
        self,
        answer: str,
        *,
        against: Against = None,
        query: str | None = None,
        title: str | None = None,
        mode: str = "answer",
        answer_name: str = "answer",
        judges: "Sequence[str | Judge] | None" = None,
        outdated_after_days: int = 730,
        progress: Progress | None = None,
        embedding: Progress | None = None,
    ) -> EvidenceLedger:
        """Judge each claim of an answer by documents; keep the ledger and record it in the trail.

        `against` is what `ingest` returned, documents, or a file or folder to ingest first; all
        documents of the library by default. `judges` are names, or judges of your own, and are
        asked in the given order. A source dated more than `outdated_after_days` ago is flagged.
        The same answer checked again is a new ledger that points to the one before. `progress` is
        told of claims that are judged, `embedding` of passages that are embedded before that,
        which is done once.
        """
        from evidentia.ledger.checking import CheckContext, check_claims  # noqa: PLC0415 - see above
        from evidentia.ledger.claims import extract_claims  # noqa: PLC0415 - the same

        _check_answer(answer)
        texts = {"query": query, "title": title, "mode": mode, "answer's name": answer_name}
        for name, text in texts.items():
            _check_text(name, text or "")
        asked = _judges(judges)
        self._refuse_to_fork()
        versions, unread = self._checked_against(against)
        extracted = extract_claims(answer)
        identity = {"answer": answer, "name": answer_name, "title": title, "query": query}
        session_id = derived_id("ses", {**identity, "mode": mode})
        now = self._now()
        told = progress or _ignore
        corpus = self._corpus(versions, asked, embedding or _ignore)
        with self._database.read() as connection:
            issued = library.IssuedAnchors(connection, self.tenant)
            context = CheckContext(
                session_id=session_id,
                created_at=now,
                today=datetime.fromisoformat(now).date(),
                issued_anchors=issued,
                anchor_of=issued.of,
                previous_ledger_id=ledgers.previous_ledger(connection, self.tenant, answer),
                outdated_after_days=outdated_after_days,
                progress=lambda done: told(done, len(extracted.claims)),
            )
            ledger = check_claims(answer, extracted, corpus, asked, context)
        self._keep_embeddings()
        session = LedgerSession(
            id=session_id,
            title=title or answer_name,
            query=query,
            mode=mode,
            answer_name=answer_name,
            answer=answer,
            claims=extracted.claims,
            left_out=tuple(LeftOutText(**asdict(piece)) for piece in extracted.left_out),
            ledger=ledger,
            documents=tuple(map(_checked_document, versions)),
            unread=tuple(
                UnreadFile(filename=item.filename, problem=item.problem) for item in unread
            ),
            judges=tuple(judge.name for judge in asked),
            program=f"evidentia {__version__}",
        )
        self._keep(session)
        return ledger

    def ledgers(self, *, before: int | None = None, limit: int | None = None) -> list[ListedLedger]:
        """Return the ledgers, newest first; page through them with `before`, an entry's number."""
        with self._database.read() as connection:
            return ledgers.list_ledgers(connection, self.tenant, before=before, limit=limit)

    def find_ledger(self, name: str) -> ListedLedger:
        """Return the ledger of this id, or the newest one of a session, or of all (`latest`)."""
        with self._database.read() as connection:
            return ledgers.find_ledger(connection, self.tenant, name)

    def ledger(self, name: str) -> EvidenceLedger:
        """Return a ledger, named as for `find_ledger`."""
        return self.session(name).ledger

    def session(self, name: str) -> LedgerSession:
        """Return a ledger, named as for `find_ledger`, with its question, answer and documents.

        It is read from the statement that the trail names by its digest; `IntegrityError` is
        raised if that is not what it was.
        """
        statement = Statement.parse(self.lake.get(self._statement_digest(self.find_ledger(name))))
        return LedgerSession.from_statement(statement)

    def prove_ledger(self, name: str) -> Proof:
        """Prove a ledger: the signed statement, and its place in the log under a checkpoint."""
        listed = self.find_ledger(name)
        payload = self.lake.get(self._statement_digest(listed))
        proof = self.prove(listed.entry)
        return replace(proof, envelope=Envelope.sign(payload, self._current_key()))

    def export_ledger_pdf(
        self,
        name: str,
        file: str | Path,
        *,
        overwrite: bool = False,
        lang: "Language" = "both",
        typeface: "Typeface" = "plex",
    ) -> Path:
        """Write a ledger as a PDF that verifies itself: its proof is in it.

        `lang` is `ar`, `en` or `both`, `typeface` is `plex` or `amiri`.
        """
        from evidentia.export.pdf.rendering import render  # noqa: PLC0415 - an extra

        target = Path(file)
        check_writable(target, overwrite=overwrite)
        evidence = canonical_json(self.prove_ledger(name).as_json()) + b"\n"
        write_durably(target, render(evidence, lang=lang, typeface=typeface), mode=0o600)
        return target

    def audit_ledgers(self, *, progress: Progress | None = None) -> list[str]:
        """Compare every ledger's statement with what the trail names; return what is wrong."""
        problems = []
        listed = self.ledgers()
        for done, ledger in enumerate(listed, 1):
            try:
                self.session(ledger.id)
            except IntegrityError as error:
                problems.append(f"ledger {ledger.id}: {error}")
            (progress or _ignore)(done, len(listed))
        return problems

    # Within

    def _checked_against(
        self, against: Against
    ) -> tuple[list[StoredDocument], tuple[FileProblem, ...]]:
        """Return the versions to check by, older ones too, and what could not be read of them."""
        unread: tuple[FileProblem, ...] = ()
        if isinstance(against, str | Path):
            against = self.ingest(against)
        if isinstance(against, Ingestion):
            unread = against.problems
            against = against.documents
        ids = None if against is None else {document.id for document in against}
        with self._database.read() as connection:
            versions = library.all_versions(connection, self.tenant, ids)
        if not versions:
            problem = f"; {unread[0].problem}" if unread else ""
            raise InputError(
                "there are no documents to check against: give a folder with PDF, DOCX, HTML, "
                f"Markdown or text files, or ingest some first{problem}"
            )
        return versions, unread

    def _corpus(
        self, versions: Sequence[StoredDocument], judges: "Sequence[Judge]", progress: Progress
    ) -> "Corpus":
        """Return the corpus of some versions; the last one that was asked for is remembered."""
        from evidentia.judges.nli.meaning import with_meaning  # noqa: PLC0415 - see above
        from evidentia.store.corpus import load_corpus  # noqa: PLC0415 - the same

        key = tuple((version.id, version.sha256, version.is_newest) for version in versions)
        remembered = self._loaded  # once: another thread may load another corpus meanwhile
        if remembered is None or remembered[0] != key:
            with self._database.read() as connection:
                loaded = load_corpus(connection, self.tenant, versions)
            if loaded.rebuilt:
                with self._database.write() as connection:
                    for of, data in loaded.rebuilt:
                        library.store_index(connection, self.tenant, of, data)
            remembered = key, loaded.corpus
        corpus = with_meaning(
            remembered[1],
            judges,
            look_up=self._embeddings,
            keep=self._remember_embeddings,
            progress=progress,
        )
        self._loaded = key, corpus
        return corpus

    def _embeddings(self, contents: Collection[str]) -> dict[str, bytes]:
        """Return the embeddings that are kept, of the texts with these digests."""
        from evidentia.judges.nli.model import encoder_digest  # noqa: PLC0415 - see above

        with self._database.read() as connection:
            return embeddings.stored_embeddings(connection, self.tenant, encoder_digest(), contents)

    def _remember_embeddings(self, made: Mapping[str, bytes]) -> None:
        """Take embeddings that were made, to keep them when the check is done."""
        self._embedded.update(made)

    def _keep_embeddings(self) -> None:
        """Keep the embeddings that were made since the last time."""
        from evidentia.judges.nli.model import encoder_digest  # noqa: PLC0415 - see above

        made, self._embedded = self._embedded, {}
        if made:
            digest = encoder_digest()
            with self._database.write() as connection:
                # one that is kept, and was made anew all the same, is damaged
                embeddings.remove_embeddings(connection, self.tenant, digest, made)
                embeddings.store_embeddings(connection, self.tenant, digest, made)

    def _keep(self, session: LedgerSession) -> None:
        """Keep a session's statement, record it in the trail, and insert its rows."""
        statement = session.to_statement().encode()
        if len(statement) > MAX_STATEMENT_BYTES:
            raise InputError(
                f"the ledger has {len(statement):,} bytes, {MAX_STATEMENT_BYTES:,} at most: "
                "check the answer in parts"
            )
        digest = self.lake.put(statement)
        ledger = session.ledger
        body = {
            STATEMENT_DIGEST: digest,
            "predicate_type": PREDICATE_TYPE,
            "session_id": session.id,
            "previous_ledger_id": ledger.previous_ledger_id,
            "summary": ledger.summary.model_dump(mode="json"),
        }
        with self._database.write() as connection:
            receipt = self._append_within(connection, EntryKind.LEDGER, ledger.id, body)
            ledgers.insert_session(connection, self.tenant, session, ledger.created_at)
            ledgers.insert_ledger(connection, self.tenant, session, digest, receipt.seq)
        _log.info("ledger_recorded", tenant=self.tenant, ledger=ledger.id, entry=receipt.seq)

    def _forget(self, connection: Connection, entry: Entry) -> Callable[[], None]:
        """Remove an erased ledger's rows, and then its statement from the lake."""
        if entry.kind != EntryKind.LEDGER:
            return super()._forget(connection, entry)
        digest = ledgers.erase_ledger(connection, self.tenant, entry.seq)
        return lambda: self.lake.remove(digest) if digest else None

    def _statement_digest(self, listed: ListedLedger) -> str:
        """Return the digest that the trail names; raise `IntegrityError` if the row has another."""
        logged = self._genuine(listed.entry)
        named = logged.body.get(STATEMENT_DIGEST) if isinstance(logged.body, dict) else None
        if logged.entry.subject != listed.id or named != listed.statement_sha256:
            raise IntegrityError(
                f"ledger {listed.id}: the database and the trail's entry {listed.entry} disagree; "
                "run 'evidentia trail verify'"
            )
        return listed.statement_sha256


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


def _judges(given: "Sequence[str | Judge] | None") -> "list[Judge]":
    from evidentia.judges import JUDGES, make_judges  # noqa: PLC0415 - see above

    if given is None:
        return make_judges()
    if not given:
        raise InputError(f"no judge was named: use {', '.join(JUDGES)}, or leave it out for all")
    return [make_judges([judge])[0] if isinstance(judge, str) else judge for judge in given]


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
    )

"""Judging an answer: its claims, what they are judged by, and the session that comes of it.

It reads, and writes nothing but what can be made again: the search index, the embeddings. So it can
be done by another process, without the keys, and what it finds is recorded by this one.
"""

from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import date, datetime
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from evidentia import __version__
from evidentia.canonical import derived_id
from evidentia.documents.reading.document import FORMATS
from evidentia.errors import EnvironmentProblem, InputError, environment_problem
from evidentia.judges.threads import limit_threads
from evidentia.ledger.session import (
    CheckedDocument,
    LedgerSession,
    LeftOutText,
    SearchedBy,
    UnreadFile,
    cited_documents,
)
from evidentia.loading.workers import WorkerEndedError
from evidentia.proof.statement import Statement
from evidentia.store.sql import ledgers, library
from evidentia.store.sql.library import IssuedAnchors, StoredDocument
from evidentia.workspace.acting import Acting
from evidentia.workspace.choosing import collection_ids, count_used
from evidentia.workspace.commitment import CheckedCorpus, selection
from evidentia.workspace.library import versions_in
from evidentia.workspace.opened import Opened, open_all
from evidentia.workspace.recorded import Progress

if TYPE_CHECKING:
    from evidentia.judges.llm.endpoint import LanguageModel
    from evidentia.ledger.citations import GivenCitation
    from evidentia.ledger.claims import ExtractedClaims
    from evidentia.ledger.judging import Judge
    from evidentia.ledger.model import EvidenceLedger
    from evidentia.ledger.votes import JudgingPolicy
    from evidentia.loading.places import FileChange
    from evidentia.loading.workers import Apart
    from evidentia.store.database import ServerOptions
    from evidentia.workspace.contexts import Given
    from evidentia.workspace.corpora import Part as CheckedPart
    from evidentia.workspace.corpora import Pin

SECONDS: Final = 1_800.0
"""How long another process may judge one answer; most take one or two."""


@dataclass(frozen=True, slots=True)
class AskedCheck:
    """An answer to judge, and all that its ledger follows from; `now` is when it was asked for.

    `documents` are the ids of those to check by, None for all of the library; `unread` are the
    files among them that could not be read.
    """

    answer: str
    now: str
    documents: frozenset[str] | None
    unread: tuple[UnreadFile, ...]
    asks_library: bool
    given: "Given | None"
    query: str | None
    title: str | None
    mode: str
    answer_name: str
    collections: tuple[str, ...] | None
    as_of: date | None
    judges: "tuple[str | Judge | LanguageModel, ...] | None"
    policy: "JudgingPolicy | None"
    outdated_after_days: int
    cited: "tuple[GivenCitation, ...]" = ()


class Judged(NamedTuple):
    """What came of judging: the session with its ledger, and what is said of files beside it."""

    session: LedgerSession
    file_changes: "tuple[FileChange, ...]"


class _Sent(NamedTuple):
    """The same, as it comes from another process."""

    statement: bytes
    file_changes: "tuple[FileChange, ...]"


class _Place(NamedTuple):
    """Where another process finds a tenant's library; an address may hold a password."""

    folder: str
    address: str | None
    lake: str | None
    tenant: str
    server: "ServerOptions | None"


class StartedCheck:
    """A check that has begun; `Ledgers.finish` records what comes of it.

    Where nothing judges beside this process, it is judged here when it is first waited for.
    """

    def __init__(
        self,
        acting: Acting,
        asked: AskedCheck,
        progress: Progress | None = None,
        embedding: Progress | None = None,
    ) -> None:
        self.tenant, self.actor = acting.tenant, acting.actor
        self.asked = asked
        self._judging: Future[_Sent] | None = None
        self._judged: Judged | None = None
        self._here = partial(judge, acting, asked, progress or _ignore, embedding or _ignore)
        apart = None if acting.asked.in_bulk else acting.opened.judging
        place = _place(acting)
        if apart and place and progress is None and embedding is None and _is_named(asked):
            self._judging = _begun(apart, place, asked)

    @property
    def is_named(self) -> bool:
        """Whether its judges are named, so that others may ask them."""
        return _is_named(self.asked)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it is judged, for so many seconds at most; say whether it is.

        One that could not be judged is done, too: `Ledgers.finish` raises why.
        """
        if self._judging is None:
            self.judged()
            return True
        try:
            self._judging.exception(seconds)
        except NotYet:
            return False
        return True

    @property
    def judging(self) -> "Future[Any] | None":
        """What is done when it is judged; None where that is done when it is waited for."""
        return self._judging

    def judged(self) -> Judged:
        """Return what came of it once it is there; raise why it could not be judged."""
        if self._judged is None:
            self._judged = self._here() if self._judging is None else _received(self._judging)
        return self._judged

    def take(self, judged: Judged) -> None:
        """Take what came of it from whoever judged it elsewhere."""
        self._judged = judged

    def cancel(self) -> bool:
        """Let it not be judged, if no process has begun to; say whether that is so."""
        return self._judging is not None and self._judging.cancel()


def judge(acting: Acting, asked: AskedCheck, progress: Progress, embedding: Progress) -> Judged:
    """Judge each claim of an answer; nothing is recorded."""
    from evidentia.documents.scoring import FORMULA  # noqa: PLC0415 - not where others judge
    from evidentia.language.tokens import TOKENS_VERSION  # noqa: PLC0415 - the same
    from evidentia.ledger.checking import CheckContext, check_with_votes  # noqa: PLC0415 - the same
    from evidentia.ledger.claims import extract_claims  # noqa: PLC0415 - the same
    from evidentia.ledger.joining import join_corpora  # noqa: PLC0415 - the same
    from evidentia.ledger.votes import JudgingPolicy  # noqa: PLC0415 - the same
    from evidentia.store.search import ENGINE, Within  # noqa: PLC0415 - the same
    from evidentia.workspace.contexts import ContextAnchors  # noqa: PLC0415 - the same
    from evidentia.workspace.corpora import Part, shelf_of  # noqa: PLC0415 - the same
    from evidentia.workspace.judges import made, services_of  # noqa: PLC0415 - the same

    answer, now, day = asked.answer, asked.now, asked.as_of
    judges = made(acting, asked.judges)
    given = asked.given
    part = Part(Within(asked.documents, collection_ids(acting, asked.collections)), day)
    extracted = extract_claims(answer, names=given.ids if given else (), cited=asked.cited)
    identity = {
        "answer": answer,
        "name": asked.answer_name,
        "title": asked.title,
        "query": asked.query,
    }
    session_id = derived_id("ses", {**identity, "mode": asked.mode})
    shelf = shelf_of(acting)
    corpora = [] if given is None else [given.corpus(shelf, judges, embedding)]
    with ExitStack() as held:
        pin = held.enter_context(shelf.pinned()) if asked.asks_library else None
        library_then = _library_then(acting, pin, part, asked.unread) if pin else None
        if pin is not None:
            corpora.append(shelf.corpus(pin, part, judges, embedding))
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
                outdated_after_days=asked.outdated_after_days,
                progress=lambda done: progress(done, len(extracted.claims)),
                policy=asked.policy or JudgingPolicy(),
                cited=frozenset(one.source for one in asked.cited),
            )
            checked = check_with_votes(answer, extracted, corpus, judges, context)
        cited = cited_documents(checked.ledger) - (given.ids if given else frozenset())
        rests_on = pin.used(cited) if pin else []
        is_older = pin is not None and library_then is None
        ids = part.within.documents
        versions = versions_in(acting, ids, pin.connection) if pin and is_older else rests_on
        commitment = library_then and pin and library_then.commitment(pin.connection, cited)
    shelf.keep_embeddings()
    session = LedgerSession(
        id=session_id,
        title=asked.title or asked.answer_name,
        query=asked.query,
        mode=asked.mode,
        answer_name=asked.answer_name,
        answer=answer,
        claims=extracted.claims,
        left_out=_left_out(extracted),
        ledger=checked.ledger,
        documents=tuple(map(_checked_document, versions)),
        unread=asked.unread,
        judges=tuple(judge.name for judge in judges),
        program=f"evidentia {__version__}",
        judging=checked.judging and services_of(checked.judging, judges),
        corpus=commitment,
        search=commitment and SearchedBy(engine=ENGINE, terms=TOKENS_VERSION, formula=FORMULA),
        contexts=given and given.contexts,
        bundle=given and given.bundle,
    )
    return Judged(session, _file_changes(acting, checked.ledger, rests_on))


# In another process


def _is_named(asked: AskedCheck) -> bool:
    """Whether judges are named: others may be in this process alone, or write what they ask."""
    return all(isinstance(one, str) for one in asked.judges or ())


def _place(acting: Acting) -> _Place | None:
    """Say where another process finds the library; None if it is in this one alone."""
    opened, database = acting.opened, acting.database
    if opened.has_own_lake:
        return None
    address = None if database.is_sqlite else database.address
    folder = str(opened.home.folder.absolute())
    return _Place(folder, address, opened.lake_address, acting.tenant, database.worker_options)


def _begun(apart: "Apart", place: _Place, asked: AskedCheck) -> "Future[_Sent]":
    return apart.submit(judge_apart, place, asked, seconds=SECONDS)


def _received(judging: "Future[_Sent]") -> Judged:
    try:
        sent = judging.result()
    except WorkerEndedError as error:
        if error.is_unready:
            raise EnvironmentProblem(f"no process could be started to check it: {error}") from None
        if error.is_beyond_limits:
            raise InputError(
                f"the answer could not be checked: that {error.why}: check it in parts"
            ) from None
        raise EnvironmentProblem(f"the process that checked the answer {error.why}") from None
    session = LedgerSession.from_statement(Statement.parse(sent.statement))
    return Judged(session, sent.file_changes)


def judge_apart(place: _Place, asked: AskedCheck) -> _Sent:
    """Judge an answer in a process that does nothing else."""
    try:
        opened = _opened(place.folder, place.address, place.lake, place.server)
        acting = Acting(opened, place.tenant, None)
        found = judge(acting, asked, _ignore, _ignore)
    except OSError as error:
        raise environment_problem(error) from error
    return _Sent(found.session.to_statement().encode(), found.file_changes)


@lru_cache(1)
def _opened(
    folder: str, address: str | None, lake: str | None, server: "ServerOptions | None"
) -> Opened:
    """Open a workspace once: what is read of its libraries is remembered, and the model loaded."""
    limit_threads(1)  # as many workers as cores: more threads would only wait for each other
    return open_all(address, home=folder, create=False, lake=lake, server=server)


# What a check rests on


def _library_then(
    acting: Acting,
    pin: "Pin",
    part: "CheckedPart",
    unread: tuple[UnreadFile, ...],
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
    acting: Acting, ledger: "EvidenceLedger", versions: Sequence[StoredDocument]
) -> "tuple[FileChange, ...]":
    """Say which of the documents that a ledger rests on are not where, or as, they were read."""
    from evidentia.loading.places import Places  # noqa: PLC0415 - not where others judge

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

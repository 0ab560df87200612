"""Checking one answer of many, unless a ledger of it is there already that needs no repeating.

So one that was recorded and not reported, as its worker was killed, is not recorded twice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from evidentia import __version__
from evidentia.errors import EvidentiaError
from evidentia.ledger.answers import GivenAnswer
from evidentia.ledger.citations import read_citations
from evidentia.ledger.given import read_contexts
from evidentia.ledger.outcomes import ClaimOutcome, claim_outcomes
from evidentia.logs import get_logger
from evidentia.store.database import is_storable
from evidentia.store.sql.ledgers import ledgers_of_answer
from evidentia.workspace.acting import Acting
from evidentia.workspace.commitment import current_corpus, selection
from evidentia.workspace.ledgers import Ledgers, RecordedLedger

if TYPE_CHECKING:
    from evidentia.judges.llm.endpoint import LanguageModel
    from evidentia.ledger.judging import Judge
    from evidentia.ledger.session import LedgerSession
    from evidentia.ledger.votes import JudgingPolicy
    from evidentia.loading.ingesting import Ingestion
    from evidentia.loading.places import FileChange
    from evidentia.store.sql.library import StoredDocument
    from evidentia.workspace.judging import AskedCheck
    from evidentia.workspace.ledgers import CheckedDocuments

    Against = Ingestion | Sequence[StoredDocument] | None
    """What answers are checked by; None for all documents of the library."""

_LOOKED_AT: Final = 10
"""How many of the newest ledgers of an answer are looked at for one that needs no repeating."""
_LONGEST: Final = 500
_log = get_logger("workspace")


class How(NamedTuple):
    """How answers are checked, by a run that began when the log had `began` entries.

    `against` are the documents by their places, which an answer names. With `again`, only ledgers
    that this run made need no repeating.
    """

    judges: "Sequence[str | Judge | LanguageModel] | None"
    policy: "JudgingPolicy | None"
    outdated_after_days: int
    against: "tuple[Against, ...]"
    began: int
    again: bool


class Asked(NamedTuple):
    """An answer to check, and the place of the documents to check it by."""

    given: GivenAnswer
    against: int


@dataclass(frozen=True, slots=True)
class Answered:
    """What became of an answer that was checked; plain values, as they come from a worker."""

    ledger_id: str
    entry: int
    title: str
    is_earlier: bool
    claims: tuple[ClaimOutcome, ...]
    file_changes: "tuple[FileChange, ...]"


@dataclass(frozen=True, slots=True)
class Failed:
    """Why an answer could not be checked, where it was no error of ours."""

    problem: str


class Checker:
    """Checks answers in a workspace; judges that compute are made once."""

    def __init__(self, acting: Acting, how: How) -> None:
        from evidentia.judges import make_judges  # noqa: PLC0415 - checking alone needs it

        self._acting, self._how = acting, how
        self._ledgers = Ledgers(acting)
        self._documents: dict[int, CheckedDocuments] = {}
        # what a language model was asked is counted for each answer: its judge is made for each
        self._judges: Sequence[Any] = (
            make_judges()
            if how.judges is None
            else [make_judges([one])[0] if isinstance(one, str) else one for one in how.judges]
        )

    def check(self, asked: Asked) -> Answered | Failed:
        """Check an answer, unless that has been done; an error of ours is raised."""
        ledger = self._recorded(asked)
        if ledger is not None:
            return answered(ledger, is_earlier=True)
        given, how = asked.given, self._how
        try:
            ledger = self._ledgers.check(
                given.answer,
                against=how.against[asked.against],
                query=given.query,
                title=given.title,
                answer_name=answer_name(given),
                judges=self._judges,
                policy=how.policy,
                outdated_after_days=how.outdated_after_days,
                contexts=given.contexts,
                citations=given.citations,
            )
        except EvidentiaError:
            raise
        except Exception as error:  # noqa: BLE001 - one answer's trouble is not the others'
            _log.warning("answer_failed", number=given.number, error=repr(error))
            return Failed(f"{type(error).__name__}: {error}"[:_LONGEST])
        return answered(ledger)

    def earlier(self, asked: Asked) -> Answered | None:
        """Return what came of an answer that was checked before, and needs no repeating."""
        ledger = self._recorded(asked)
        return None if ledger is None else answered(ledger, is_earlier=True)

    def asked(self, asked: Asked) -> "AskedCheck":
        """Return an answer as others judge it, who know the judges and documents already."""
        from evidentia.workspace.ledgers import (  # noqa: PLC0415 - not all ask others
            asked_check,
            checked_against,
        )

        given, how, place = asked.given, self._how, asked.against
        if place not in self._documents:
            self._documents[place] = checked_against(self._acting, how.against[place], None)
        is_asked = asks_library(given, how.against[place])
        found = asked_check(
            self._acting,
            given.answer,
            documents=(None, self._documents[place][1]) if is_asked else (frozenset(), ()),
            library=is_asked,
            query=given.query,
            title=given.title,
            answer_name=answer_name(given),
            judges=self._judges,
            outdated_after_days=how.outdated_after_days,
            contexts=given.contexts,
            citations=given.citations,
        )
        return replace(found, judges=None)  # whom workers have made once

    def _recorded(self, asked: Asked) -> RecordedLedger | None:
        """Return a ledger of the answer that says what a new check would say, if there is one."""
        given, acting = asked.given, self._acting
        if not is_storable(given.answer):
            return None  # which the check refuses
        name = answer_name(given)
        said = name, given.title or name, given.query
        since = self._how.began if self._how.again else 0
        rows = acting.read(ledgers_of_answer, given.answer, since=since, limit=_LOOKED_AT)
        for row in rows:
            if (row.answer_name, row.title, row.query) != said:
                continue
            try:
                found = self._ledgers.get(row.id)
            except EvidentiaError:
                continue  # one that was damaged or erased, or may not be read, is no reason to stop
            if self._repeats(found.session, asked):
                return found
        return None

    def _repeats(self, session: "LedgerSession", asked: Asked) -> bool:
        """Whether a check now would have the same answer, library, judges and program."""
        given, against = asked.given.contexts, self._how.against[asked.against]
        if session.program != f"evidentia {__version__}":
            return False
        if (session.contexts or ()) != (() if given is None else read_contexts(given)):
            return False
        if not _cites_the_same(session, asked.given):
            return False
        if asks_library(asked.given, against) and not self._is_same_library(session, against):
            return False
        if session.corpus is not None and not asks_library(asked.given, against):
            return False
        return _asks_the_same(session, self._judges, self._how.policy)

    def _is_same_library(self, session: "LedgerSession", against: "Against") -> bool:
        acting, then = self._acting, session.corpus
        with acting.database.read() as connection:
            library = current_corpus(acting, connection)
        if library is None or then is None:
            return False
        now = library.root.hex(), selection(acting, ids_of(against))
        return (then.root, then.filter) == now


def answered(ledger: RecordedLedger, *, is_earlier: bool = False) -> Answered:
    """Return what became of an answer that has this ledger."""
    return Answered(
        ledger_id=ledger.id,
        entry=ledger.entry,
        title=ledger.session.title,
        is_earlier=is_earlier,
        claims=claim_outcomes(ledger),
        file_changes=() if is_earlier else ledger.file_changes,
    )


def asks_library(given: GivenAnswer, against: object) -> bool:
    """Whether an answer is checked by documents: unless it came with contexts, and none named."""
    return given.contexts is None or against is not None


def _cites_the_same(session: "LedgerSession", given: GivenAnswer) -> bool:
    """Whether the claims of a ledger cite what those of an answer do, with what is said beside."""
    from evidentia.ledger.claims import extract_claims  # noqa: PLC0415 - checking alone needs it

    if not given.citations and not any(claim.citations for claim in session.claims):
        return True
    names = {one.id for one in session.contexts or ()}
    cited = read_citations(given.citations or (), given.answer)
    now = extract_claims(given.answer, names=names, cited=cited).claims
    return [one.citations for one in now] == [one.citations for one in session.claims]


def _asks_the_same(
    session: "LedgerSession", judges: Sequence[Any], policy: "JudgingPolicy | None"
) -> bool:
    """Whether a ledger is of these judges and models, asked by the same policy."""
    from evidentia.judges.llm.endpoint import LanguageModel  # noqa: PLC0415 - checking alone needs it
    from evidentia.ledger.votes import JudgingPolicy  # noqa: PLC0415 - the same

    services = {(one.url, one.model) for one in judges if isinstance(one, LanguageModel)}
    others = [one for one in judges if not isinstance(one, LanguageModel)]
    judging = session.judging
    was_asked = {(one.url, one.model) for one in judging.services} if judging else set()
    if judging and judging.policy != (policy or JudgingPolicy()):
        return False
    digests = {one.name: getattr(one, "digest", None) for one in others}
    models: list[Mapping[str, Any]] = [entry.models for entry in session.ledger.entries]
    return (
        len(session.judges) == len(judges)
        and [one for one in session.judges if one in digests] == list(digests)
        and was_asked == services
        and all(
            digests[name] == digest
            for some in models
            for name, digest in some.items()
            if name in digests
        )
    )


def ids_of(against: "Against") -> frozenset[str] | None:
    """Return the ids of the documents to check by; None for all of the library."""
    if against is None:
        return None
    documents: Any = getattr(against, "documents", against)
    return frozenset(one.id for one in documents)


def answer_name(given: GivenAnswer) -> str:
    """Return what an answer is called in its ledger."""
    return given.id or "answer"

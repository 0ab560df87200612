"""A session: a question and its answer, the ledger that judges it, and what it was judged by.

It is what exports are written of, and what is signed: a statement about the answer's bytes whose
predicate is the session. Reading the statement gives the same session again.
"""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, ClassVar, Final, Literal, Self

from pydantic import Field, ValidationError, model_validator

from evidentia.canonical import canonical_json, sha256_hex
from evidentia.errors import ProofError
from evidentia.frozen import FrozenItems, FrozenList, FrozenModel, LaterFields
from evidentia.language.counting import counted
from evidentia.ledger.commitment import CorpusCommitment, CorpusFilter, wrong_documents
from evidentia.ledger.contexts import (
    CheckedBundle,
    CheckedContext,
    shown_passages,
    wrong_contexts,
)
from evidentia.ledger.metrics import LedgerMetrics, metrics_of
from evidentia.ledger.model import Claim, EvidenceLedger, LedgerEntry, LedgerSummary, Verdict
from evidentia.ledger.verdicts import rests_on
from evidentia.ledger.votes import Judging
from evidentia.proof.statement import Statement, Subject

PREDICATE_TYPE: Final = "urn:evidentia:spec:v1:ledger"
SECOND_TYPE: Final = "urn:evidentia:spec:v1:ledger.v2"
"""The second form: the first, and what later fields say, of which `by_support` is in each."""

THIRD_TYPE: Final = "urn:evidentia:spec:v1:ledger.v3"
"""The third form: the second, with a corpus that is committed to in place of a list of it all.

Or with the contexts that the answer was given, whole; or with both.
"""

Origin = Literal["contexts", "library"]
"""Where evidence is from: what the model was given, or what it could have known."""


class CheckedDocument(LaterFields):
    """A document that an answer was checked against; `superseded` if a newer version was too.

    `effective_from` and `effective_until` are the days on which it says that it begins and ends.
    """

    later: ClassVar[tuple[str, ...]] = ("effective_from", "effective_until")

    id: str
    version: int = Field(ge=1)
    collection: str = ""
    filename: str
    media_type: str
    sha256: str
    dated: str | None = None
    superseded: bool = False
    effective_from: str | None = None
    effective_until: str | None = None


class UnreadFile(FrozenModel):
    """A file that should have been read and could not be, and why."""

    filename: str
    problem: str


class LeftOutText(FrozenModel):
    """A piece of the answer that is no claim, and why: a greeting, a heading, a question."""

    text: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    reason: str


class SearchedBy(FrozenModel):
    """By what passages were found: the engine that gives candidates, and what orders them.

    `terms` is the version of the rules by which text is cut into words, `formula` what scores it.
    """

    engine: str = Field(min_length=1)
    terms: int = Field(ge=1)
    formula: str = Field(min_length=1)


class LedgerSession(LaterFields):
    """A question and its answer, with the ledger that judges it and the claims it judges.

    `judging` says how claims were voted on, where a judge votes after the others. With a `corpus`,
    which commits to all that the answer was checked against, `documents` are those that are cited,
    and `search` says by what index they were found. `contexts` are the passages that the model was
    given, where the answer was checked against those, and `bundle` the one that they are the items
    of.
    """

    later: ClassVar[tuple[str, ...]] = ("judging", "corpus", "search", "contexts", "bundle")

    id: str
    title: str
    query: str | None = None
    mode: str = "answer"
    answer_name: str = "answer"
    answer: str = ""
    claims: FrozenItems[Claim] = FrozenList()
    left_out: FrozenItems[LeftOutText] = FrozenList()
    ledger: EvidenceLedger
    documents: FrozenItems[CheckedDocument] = FrozenList()
    unread: FrozenItems[UnreadFile] = FrozenList()
    judges: FrozenItems[str] = FrozenList()
    program: str = ""
    judging: Judging | None = None
    corpus: CorpusCommitment | None = None
    search: SearchedBy | None = None
    contexts: FrozenItems[CheckedContext] | None = Field(None, min_length=1)
    bundle: CheckedBundle | None = None

    @model_validator(mode="after")
    def _has_every_claim(self) -> Self:
        known = {claim.id for claim in self.claims}
        missing = [entry.claim_id for entry in self.ledger.entries if entry.claim_id not in known]
        if missing:
            raise ValueError(f"claims: {missing[0]} is in the ledger and not among the claims")
        return self

    def claims_by_id(self) -> dict[str, Claim]:
        """Return the claims by their ids: every entry of the ledger has one."""
        return {claim.id: claim for claim in self.claims}

    @property
    def document_count(self) -> int:
        """How many documents the answer was checked against, versions counted each."""
        return len(self.documents) if self.corpus is None else self.corpus.used

    def metrics(self) -> LedgerMetrics:
        """Return the ledger in the numbers that evaluation tools speak of."""
        return metrics_of(self)

    def origins(self, entry: LedgerEntry) -> tuple[Origin, ...]:
        """Say where the evidence is from that an entry's verdict rests on: contexts, library, both.

        Nothing, if it rests on none or there were no contexts.
        """
        if self.contexts is None:
            return ()
        given = {context.id for context in self.contexts}
        passages = [match.passage for match in rests_on(entry.verdict, entry.evidence)]
        found = {passage.source.id in given for passage in passages if passage}
        named: tuple[tuple[Origin, bool], ...] = (("contexts", True), ("library", False))
        return tuple(origin for origin, is_given in named if is_given in found)

    @property
    def documents_told(self) -> str:
        """How many documents it was checked against, and on which day they held, for people."""
        as_of = self.corpus.filter.as_of if self.corpus else None
        held = f" that held on {as_of}" if as_of else ""
        return f"{counted(self.document_count, 'document')}{held}"

    @property
    def predicate_type(self) -> str:
        """The form of its statement: the first, unless it has what only a later one can say."""
        if any(one is not None for one in (self.corpus, self.search, self.contexts)):
            return THIRD_TYPE
        is_first = self.judging is None and self.ledger.summary.by_support is None
        return PREDICATE_TYPE if is_first else SECOND_TYPE

    def to_statement(self) -> Statement:
        """Return what is signed: all this, about the answer by its digest."""
        answer = Subject(self.answer_name, sha256_hex(self.answer.encode()))
        predicate: dict[str, Any] = self.model_dump(mode="json")
        return Statement(self.predicate_type, (answer,), predicate)

    @classmethod
    def from_statement(cls, statement: Statement) -> "LedgerSession":
        """Read a session from its statement; raise `ProofError` saying what is wrong with it."""
        if statement.predicate_type not in (PREDICATE_TYPE, SECOND_TYPE, THIRD_TYPE):
            raise ProofError(f"not a ledger: its type is {statement.predicate_type[:80]!r}")
        try:
            session = cls.model_validate_json(canonical_json(statement.predicate), strict=True)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise ProofError(f"not a ledger: {where}: {first['msg']}") from None
        for name in _nulls(statement.predicate):
            raise ProofError(f"not a ledger: {name} is null; it is left out where there is none")
        is_dated = any(one.effective_from or one.effective_until for one in session.documents)
        if session.predicate_type != statement.predicate_type or (
            is_dated and session.corpus is None
        ):
            raise ProofError(
                "not a ledger: only the second form has by_support and judging, and only the third "
                "a corpus, what it was searched by, contexts, and documents that say when they hold"
            )
        if session.to_statement().subjects != statement.subjects:
            raise ProofError("the statement's subject is not the answer that it holds")
        for problem in chain(
            _contradictions(session),
            _wrong_votes(session),
            _wrong_corpus(session),
            _wrong_contexts(session),
        ):
            raise ProofError(f"the ledger contradicts itself: {problem}")
        return session


def _nulls(predicate: Mapping[str, Any]) -> Iterator[str]:
    """Name the later fields of a session that are written and are null: no form has those."""
    ledger = predicate["ledger"]
    parts: tuple[tuple[tuple[str, ...], Any], ...] = (
        (LedgerSession.later, [predicate]),
        (LedgerSummary.later, [ledger["summary"]]),
        (LedgerEntry.later, ledger["entries"]),
        (CheckedDocument.later, predicate.get("documents", ())),
    )
    if predicate.get("corpus") is not None:
        parts = (*parts, (CorpusFilter.later, [predicate["corpus"]["filter"]]))
    if predicate.get("contexts") is not None:
        parts = (*parts, (CheckedContext.later, predicate["contexts"]))
    for later, written in parts:
        for part in written:
            yield from (name for name in later if name in part and part[name] is None)


def _contradictions(session: LedgerSession) -> Iterator[str]:
    """Say what in a session cannot be so, given the rest of it."""
    ledger, answer = session.ledger, session.answer
    claims = session.claims_by_id()
    if ledger.session_id != session.id:
        yield "it is of another session"
    if [entry.claim_id for entry in ledger.entries] != [claim.id for claim in session.claims]:
        yield "its entries are not its claims, one after the other"
    yield from _wrong_counts(ledger)
    if session.judging and ledger.summary.by_support is None:
        yield "it has votes, and does not count why claims are weak"
    for piece in session.left_out:
        if answer[piece.start : piece.end] != piece.text:
            yield f"what it leaves out at {piece.start} is not what stands there in the answer"
    for claim in session.claims:
        if answer[claim.start : claim.end] != claim.source_text:
            yield f"claim {claim.id} is not what stands at its place in the answer"
    for entry in ledger.entries:
        if entry.claim_text != claims[entry.claim_id].text:
            yield f"entry {entry.id} quotes its claim as another"


def _wrong_counts(ledger: EvidenceLedger) -> Iterator[str]:
    """Say what does not count, and which entries give a reason for what their verdict is not."""
    is_second = ledger.summary.by_support is not None
    counts = LedgerSummary.of(ledger.entries)
    if ledger.summary != (counts if is_second else counts.model_copy(update={"by_support": None})):
        yield "its summary does not count its entries"
    for entry in ledger.entries:
        if (entry.support is not None) != (is_second and entry.verdict is Verdict.WEAK):
            yield f"entry {entry.id} must say why it is weak, if it is, and only then"
        if entry.nearest and not (is_second and entry.verdict is Verdict.NOT_FOUND):
            yield f"entry {entry.id} names a nearest passage, and was found or not judged"


def _wrong_votes(session: LedgerSession) -> Iterator[str]:
    claims = session.claims_by_id()
    for vote in session.judging.votes if session.judging else ():
        if vote.claim_id not in claims:
            yield f"a vote is on {vote.claim_id}, which is none of its claims"


def cited_documents(ledger: EvidenceLedger) -> set[str]:
    """Return what the documents and contexts are called whose passages a ledger shows."""
    return {passage.source.id for entry in ledger.entries for passage in shown_passages(entry)}


def _wrong_corpus(session: LedgerSession) -> Iterator[str]:
    """Say what does not hold of a corpus that is committed to, and the documents cited of it."""
    if session.corpus is None and session.search is not None:
        yield "it says by what it was searched, and commits to no corpus"
    if session.predicate_type != THIRD_TYPE:
        return
    if session.ledger.summary.by_support is None:
        has = "has contexts" if session.corpus is None else "commits to a corpus"
        yield f"it {has}, and does not count why claims are weak"
    listed = [document.id for document in session.documents]
    given = {context.id for context in session.contexts or ()}
    cited = cited_documents(session.ledger) - given
    if len(set(listed)) != len(listed) or set(listed) != cited:
        yield "its documents are not those that it cites, each once"
    if session.corpus is None:
        if listed or session.unread:
            yield "it has documents, and commits to no corpus"
        return
    written = (document.model_dump() for document in session.documents)
    yield from wrong_documents(session.corpus, written)


def _wrong_contexts(session: LedgerSession) -> Iterator[str]:
    if session.contexts is None:
        if session.bundle is not None:
            yield "it names a bundle, and has no contexts"
        return
    yield from wrong_contexts(session.contexts, session.bundle, session.ledger)

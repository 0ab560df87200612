"""Tools that check answers: claim by claim, and recorded as a ledger."""

from collections.abc import Sequence
from typing import Annotated, Any, Final

from anyio import from_thread
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from mcp.types import CallToolResult
from pydantic import BaseModel, ConfigDict, Field

from evidentia.errors import InputError, NotFoundError
from evidentia.integrations.mcp.asking import Asker
from evidentia.integrations.mcp.offering import READS, RECORDS, offered
from evidentia.integrations.mcp.results import CheckedClaim, Ledger, ShownPassage
from evidentia.integrations.mcp.showing import Text, passage_text, told
from evidentia.language.counting import counted
from evidentia.ledger.model import LedgerEntry, Passage, Verdict
from evidentia.ledger.pages import LedgerHead
from evidentia.workspace import Workspace
from evidentia.workspace.ledger_pages import LedgerPage

MOST_ANSWER: Final = 200_000
"""Characters of an answer: an agent's are short, and a book is no answer."""
MOST_CONTEXTS: Final = 200
MOST_CONTEXT: Final = 100_000
MOST_NAMED: Final = 100
PAGE: Final = 25
"""How many claims are shown at once."""
_BAD: Final = (Verdict.CONTRADICTED, Verdict.NOT_FOUND, Verdict.WEAK, Verdict.NOT_JUDGED)

Start = Annotated[int, Field(ge=0, description="Where to begin, as `next_start` said; 0 at first.")]
Name = Annotated[str, Field(min_length=1, max_length=500)]


class GivenContext(BaseModel):
    """A passage that you were given, word for word."""

    model_config = ConfigDict(extra="forbid")

    text: Annotated[str, Field(min_length=1, max_length=MOST_CONTEXT)]
    id: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(
        None, description="What your answer cites it by, if it does."
    )
    title: Annotated[str, Field(max_length=500)] | None = None
    page: Annotated[int, Field(ge=1)] | None = None


def tools(asker: Asker) -> list[Tool]:
    """Return the tools that check."""

    def check_answer(
        *,
        answer: Annotated[
            str,
            Field(
                min_length=1,
                max_length=MOST_ANSWER,
                description="The whole answer, as the reader gets it, with its citations.",
            ),
        ],
        context: Context[Any, Any],
        question: Annotated[
            str | None, Field(max_length=10_000, description="What was asked, word for word.")
        ] = None,
        documents: Annotated[
            list[Name] | None,
            Field(
                min_length=1,
                max_length=MOST_NAMED,
                description="Check against these alone: names (`collection/filename`) or ids, as "
                "list_documents gives them.",
            ),
        ] = None,
        collections: Annotated[
            list[Name] | None,
            Field(
                min_length=1,
                max_length=MOST_NAMED,
                description="Check against these collections alone. Give this or documents.",
            ),
        ] = None,
        as_of: Annotated[
            str | None,
            Field(
                pattern=r"^\d{4}-\d{2}-\d{2}$",
                description="A day (2026-03-01): check by the versions that held on it.",
            ),
        ] = None,
        contexts: Annotated[
            list[GivenContext] | None,
            Field(
                min_length=1,
                max_length=MOST_CONTEXTS,
                description="The passages you answered from, if they are not from the library. The "
                "answer is then checked against them, and against the library only if documents, "
                "collections or as_of say so too.",
            ),
        ] = None,
        bundle: Annotated[
            str | None,
            Field(
                max_length=100,
                description="In place of contexts: the id of the bundle you were shown.",
            ),
        ] = None,
    ) -> Annotated[CallToolResult, Ledger]:
        """Check an answer before you give it: whether the documents support each of its claims.

        Without documents, collections, contexts or bundle it is checked against the whole library.
        You get each claim with a verdict (supported, weak, contradicted, not_found, not_judged)
        and the passage it rests on, word for word. The result is recorded as a ledger, for good,
        under your name; checking a corrected answer makes a new one. It can take seconds to
        minutes: progress is told claim by claim.
        """
        workspace = asker.workspace()
        if contexts is None and bundle is None:
            _refuse_empty(workspace)
        against = _named(workspace, documents)
        made = workspace.check(
            answer,
            against=against,
            collections=collections,
            as_of=as_of,
            contexts=None if contexts is None else [_plain(one) for one in contexts],
            bundle=bundle,
            query=question,
            progress=_telling(context, "claims judged"),
            embedding=_telling(context, "passages read for the first time"),
        )
        return _shown(workspace, made.id, 0, PAGE)

    def read_ledger(
        ledger: Annotated[
            Name, Field(description="The ledger's id (`led_…`), or `latest` for the newest one.")
        ],
        start: Start = 0,
        limit: Annotated[int, Field(ge=1, le=100, description="How many claims.")] = PAGE,
    ) -> Annotated[CallToolResult, Ledger]:
        """Read a ledger: what an answer claimed, with the verdicts and passages as recorded.

        Nothing is checked anew. Long ledgers come in parts: go on with next_start.
        """
        return _shown(asker.workspace(), ledger, start, limit)

    return [
        offered(
            asker,
            "ledgers.check",
            check_answer,
            title="Check an answer",
            annotations=RECORDS,
            otherwise="Call list_documents for the names and collections that there are.",
        ),
        offered(
            asker,
            "ledgers.page",
            read_ledger,
            title="Read a ledger",
            annotations=READS,
            otherwise="Use an id that check_answer returned, or `latest`.",
        ),
    ]


def shown_ledger(workspace: Workspace, name: str, start: int) -> tuple[str, list[Text]]:
    """Return a part of a ledger as it is told: our own words, and the texts of others."""
    page = workspace.ledgers.page(name, start, PAGE)
    ledger = _ledger(workspace, page)
    return _ours(ledger, page.head), _texts(ledger, page)


def _refuse_empty(workspace: Workspace) -> None:
    """Raise `InputError` where there is no document to check against."""
    if not workspace.documents.collections():
        raise InputError(
            "the library is empty: give the passages that you answered from as contexts, or ask a "
            "person to ingest documents"
        )


def _named(workspace: Workspace, names: Sequence[str] | None) -> list[Any] | None:
    return None if names is None else workspace.documents.named(*names)


def _plain(given: GivenContext) -> dict[str, Any]:
    """Return a context as a check takes it."""
    return given.model_dump(exclude_none=True)


def _telling(context: Context[Any, Any], what: str) -> Any:
    """Return what is told of progress, in a thread, and tells the client; not of every step."""
    told_of = -1

    def tell(done: int, total: int) -> None:
        nonlocal told_of
        share = 100 * done // max(total, 1)
        if share != told_of:
            told_of = share
            message = f"{done:,} of {total:,} {what}"
            from_thread.run(context.report_progress, done, total, message)

    return tell


def _shown(workspace: Workspace, name: str, start: int, limit: int) -> CallToolResult:
    page = workspace.ledgers.page(name, start, limit)
    if start and start >= page.total:
        raise InputError(f"start is {start}, and the ledger has {counted(page.total, 'claim')}")
    ledger = _ledger(workspace, page)
    return told(workspace, _ours(ledger, page.head), _texts(ledger, page), ledger)


def _ledger(workspace: Workspace, page: LedgerPage) -> Ledger:
    summary, end = page.head.summary, page.start + len(page.claims)
    return Ledger(
        ledger_id=page.head.id,
        entry=page.entry,
        total_claims=summary.total_claims,
        by_verdict=dict(summary.by_verdict),
        evidence_coverage=summary.evidence_coverage,
        risks=[f"{flag.severity}: {flag.description}" for flag in page.head.risk_flags],
        what_to_do=_what_to_do(page),
        claims=[
            _claim(workspace, number, one.entry)
            for number, one in enumerate(page.claims, page.start + 1)
        ],
        next_start=end if end < page.total else None,
    )


def _claim(workspace: Workspace, number: int, entry: LedgerEntry) -> CheckedClaim:
    match = next((one for one in entry.evidence if one.passage), None)
    return CheckedClaim(
        number=number,
        claim=entry.claim_text,
        verdict=entry.verdict.value,
        confidence=entry.confidence_score,
        why=entry.notes,
        passage=_passage(workspace, match.passage if match else None),
        nearest=_passage(workspace, entry.nearest),
    )


def _passage(workspace: Workspace, passage: Passage | None) -> ShownPassage | None:
    if passage is None:
        return None
    try:
        anchor = workspace.documents.anchor(passage.chunk_hash)
    except NotFoundError:
        anchor = None
    source = passage.source
    return ShownPassage(
        cite=anchor,
        text=passage.snippet,
        document=source.filename,
        document_id=source.id,
        page=passage.page,
        headings=list(source.heading_path or ()),
    )


def _what_to_do(page: LedgerPage) -> str:
    if not page.total:
        return "The answer makes no claim that could be checked: there is nothing to correct."
    counts = page.head.summary.by_verdict
    found = {verdict: int(counts.get(verdict.value, 0)) for verdict in _BAD}
    advice = {
        Verdict.CONTRADICTED: "compare what is contradicted with its passage, and correct it",
        Verdict.NOT_FOUND: "take out what was not found, or say that the documents don't say it",
        Verdict.WEAK: "look at what is weak: say it as its passage does",
        Verdict.NOT_JUDGED: "treat what was not judged as unchecked",
    }
    parts = [advice[verdict] for verdict, count in found.items() if count]
    if not parts:
        return "Every claim is supported: the answer can be given, with its citations."
    first = f"{'; '.join(parts)}. Then check the corrected answer again."
    return first[0].upper() + first[1:]


def _ours(ledger: Ledger, head: LedgerHead) -> str:
    verdicts = [
        f"{count} {name.replace('_', ' ')}" for name, count in ledger.by_verdict.items() if count
    ]
    lines = [
        f"Ledger {ledger.ledger_id} (entry {ledger.entry} of the trail, {head.created_at[:19]}Z): "
        f"{counted(ledger.total_claims, 'claim')}"
        + (f": {', '.join(verdicts)}." if verdicts else ".")
    ]
    lines += [f"Claim {one.number}: {_said(one)}." for one in ledger.claims]
    if ledger.risks:
        lines.append(f"{counted(len(ledger.risks), 'risk')}: see below.")
    if ledger.next_start is not None:
        lines.append(f"More claims: read_ledger with start {ledger.next_start}.")
    lines.append(f"What to do: {ledger.what_to_do}")
    return "\n".join(lines)


def _said(one: CheckedClaim) -> str:
    """Say a verdict, and how sure it is where that means something."""
    name = one.verdict.replace("_", " ")
    return name if one.passage is None else f"{name}, confidence {one.confidence:.2f}"


def _texts(ledger: Ledger, page: LedgerPage) -> list[Text]:
    """Return all that a ledger has from others: the claims, why, passages, risks."""
    found: list[Text] = []
    for one in ledger.claims:
        number = str(one.number)
        found.append(({"type": "claim", "claim": number, "verdict": one.verdict}, one.claim))
        found.append(({"type": "why", "claim": number}, one.why))
        if one.passage is not None:
            found.append(passage_text(one.passage, "passage", claim=number))
        elif one.nearest is not None:
            found.append(passage_text(one.nearest, "nearest passage, no evidence", claim=number))
    if page.start == 0:
        found += [({"type": "risk"}, risk) for risk in ledger.risks]
    return found

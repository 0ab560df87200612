"""A ledger: each claim of an answer with its verdict, beside the answer itself."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi import Path as PathField
from starlette.responses import Response

from evidentia.errors import InputError, NotFoundError
from evidentia.ledger.model import Passage
from evidentia.ledger.pages import JudgedClaim, LedgerHead, head_of, judged_claims
from evidentia.ledger.session import LedgerSession
from evidentia.server.actions import GuardedRoute, Ws, acts
from evidentia.server.pages.ledger_rows import ROWS, Piece, Row, Sort, Wanted, answer_pieces
from evidentia.server.problems import not_found
from evidentia.server.rates import Limited
from evidentia.server.translating import N_
from evidentia.server.viewing import leads_to, may, shown
from evidentia.store.sql.ledgers import ListedLedger
from evidentia.workspace import Workspace
from evidentia.workspace.ledger_pages import MOST
from evidentia.workspace.verdicts import GIVEN, GivenVerdict

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)

READ_WHOLE: Final = 300
"""Up to how many claims a ledger is read whole: then all of the answer is shown, and every vote."""
MOST_QUESTIONS: Final = 10
LedgerId = Annotated[str, PathField(max_length=100)]
ClaimNumber = Annotated[int, PathField(ge=1, le=10_000_000)]
VerdictName = Literal["supported", "weak", "contradicted", "not_found", "not_judged"]
_MEDIA: Final = {
    "pdf": "application/pdf",
    "html": "text/html; charset=utf-8",
    "markdown": "text/markdown; charset=utf-8",
    "json": "application/json",
    "sarif": "application/json",
    "junit": "application/xml",
}
_ENDINGS: Final = {one: one for one in _MEDIA} | {"markdown": "md", "junit": "xml"}
ExportForm = Literal["pdf", "html", "markdown", "json", "sarif", "junit"]


def _asked(
    *,
    verdict: Literal["", VerdictName] = "",
    kind: Annotated[
        Literal["", "fact", "policy", "numeric", "definition"], Query(alias="type")
    ] = "",
    importance: Literal["", "critical", "material", "minor"] = "",
    q: Annotated[str, Query(max_length=200)] = "",
    sort: Sort = "number",
    order: Literal["", "down"] = "",
) -> Wanted:
    return Wanted(
        verdict or None, kind or None, importance or None, q.strip(), sort, order == "down"
    )


Asked = Annotated[Wanted, Depends(_asked)]


@dataclass(frozen=True, slots=True)
class Opened:
    """A ledger as far as a page needs it: its row, its head, some rows, and the rest if read."""

    listed: ListedLedger
    head: LedgerHead
    rows: list[Row]
    start: int
    total: int
    """How many rows are wanted in all."""
    session: LedgerSession | None


@router.get("/ledgers/{ledger_id}")
@acts("ledgers.page")
def ledger_page(
    ledger_id: LedgerId,
    workspace: Ws,
    request: Request,
    wanted: Asked,
    *,
    start: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
    claim: Annotated[int | None, Query(ge=1, le=10_000_000)] = None,
) -> Response:
    """Show a ledger: above it what there is to know of it, below its claims and the answer."""
    return _whole_page(workspace, request, ledger_id, wanted=wanted, start=start, claim=claim)


@router.get("/ledgers/{ledger_id}/claims/{claim_number}")
@acts("ledgers.page")
def claim_page(
    ledger_id: LedgerId, claim_number: ClaimNumber, workspace: Ws, request: Request
) -> Response:
    """Show all there is to know of a claim: as a part of the table, or the page with it open."""
    if "hx-request" not in request.headers:
        return _whole_page(workspace, request, ledger_id, wanted=Wanted(), claim=claim_number)
    listed = found(workspace, ledger_id)
    said = opened_claim(workspace, listed, claim_number)
    return shown(request, "ledger/_opened.html", ledger_id=listed.id, **said)


@router.post("/ledgers/{ledger_id}/claims/{claim_number}/verdict")
@acts("ledgers.give_verdict")
def disagree_on_page(
    ledger_id: LedgerId,
    claim_number: ClaimNumber,
    workspace: Ws,
    request: Request,
    *,
    verdict: Annotated[Literal["supported", "weak", "contradicted", "not_found"], Form()],
    reason: Annotated[str, Form(max_length=2_000)] = "",
) -> Response:
    """Record a person's own verdict on a claim, beside the judges'."""
    listed = found(workspace, ledger_id)
    row = _row(workspace, listed, claim_number)
    workspace.ledgers.give_verdict(
        listed.id, row.judged.entry.claim_id, verdict, reason=reason.replace("\r\n", "\n")
    )
    where = f"/ledgers/{listed.id}?claim={claim_number}#claim-{claim_number}"
    return leads_to(request, where, N_("Your verdict was recorded beside that of the judges."))


@router.post("/ledgers/{ledger_id}/export")
@acts("ledgers.export", limited=Limited.EXPORT)
def export_on_page(
    ledger_id: LedgerId,
    workspace: Ws,
    form: Annotated[ExportForm, Form()],
    lang: Annotated[Literal["en", "ar", "both"], Form()] = "both",
) -> Response:
    """Give a ledger as a file."""
    listed = found(workspace, ledger_id)
    with TemporaryDirectory(prefix="evidentia-") as folder:
        file = Path(folder) / f"ledger.{_ENDINGS[form]}"
        workspace.ledgers.export(listed.id, file, form=form, lang=lang)
        data = file.read_bytes()
    name = f"{listed.id}.{_ENDINGS[form]}"
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(data, headers=headers, media_type=_MEDIA[form])


def found(workspace: Workspace, ledger_id: str) -> ListedLedger:
    """Return the ledger of an id; other names of ledgers are no address."""
    if not ledger_id.startswith("led_"):
        raise not_found()
    return workspace.ledgers.find(ledger_id)


def _whole_page(
    workspace: Workspace,
    request: Request,
    ledger_id: str,
    *,
    wanted: Wanted,
    start: int = 0,
    claim: int | None = None,
) -> Response:
    listed = found(workspace, ledger_id)
    if claim is not None and wanted.is_all:
        start = (claim - 1) // ROWS * ROWS
    opened = _opened(workspace, listed, wanted, start)
    people = _by_claim(workspace.ledgers.verdicts(listed.id))
    open_claim = None
    if claim is not None and any(row.number == claim for row in opened.rows):
        open_claim = opened_claim(workspace, listed, claim, opened.session)
    elif claim is not None and request.url.path.endswith(f"/claims/{claim}"):
        raise not_found()
    here = {row.number for row in opened.rows}
    previous = _previous(workspace, listed)
    return shown(
        request,
        "ledger/ledger.html",
        again=True,
        listed=listed,
        ledger_id=listed.id,
        head=opened.head,
        rows=opened.rows,
        start=opened.start,
        end=opened.start + len(opened.rows),
        total=opened.total,
        wanted=wanted,
        size=ROWS,
        most_questions=MOST_QUESTIONS,
        pieces=_pieces(opened, wanted),
        is_cut=opened.session is None or len(opened.session.claims) > ROWS,
        here=here,
        people=people,
        claim=claim,
        opened=open_claim is not None,
        previous=previous,
        session=opened.session,
        **(open_claim or {}),
    )


def _opened(workspace: Workspace, listed: ListedLedger, wanted: Wanted, start: int) -> Opened:
    total = int(listed.summary["total_claims"])
    if wanted.is_all and total > READ_WHOLE:
        start = start // ROWS * ROWS
        page = workspace.ledgers.page(listed.id, start, ROWS)
        rows = [Row(start + at, one) for at, one in enumerate(page.claims, 1)]
        return Opened(listed, page.head, rows, start, page.total, None)
    every: Iterable[JudgedClaim]
    if total > READ_WHOLE:  # page by page, which takes a fraction of reading the statement
        session = None
        pages = [workspace.ledgers.page(listed.id, at, MOST) for at in range(0, total, MOST)]
        head = pages[0].head
        every = (one for page in pages for one in page.claims)
    else:
        session = workspace.ledgers.get(listed.id).session
        head, every = head_of(session), judged_claims(session, 0, total)
    wanted_rows = wanted.of(every)
    start = min(start, max(0, len(wanted_rows) - 1)) // ROWS * ROWS
    rows = wanted_rows[start : start + ROWS]
    return Opened(listed, head, rows, start, len(wanted_rows), session)


def _pieces(opened: Opened, wanted: Wanted) -> list[Piece]:
    """Return the answer as far as it is shown beside the rows."""
    rows, session = opened.rows, opened.session
    if session is None:
        begin = min((row.judged.claim.start for row in rows), default=0)
        return answer_pieces(rows, None, begin, begin)
    every = [
        Row(at, one) for at, one in enumerate(judged_claims(session, 0, len(session.claims)), 1)
    ]
    if not wanted.is_all and len(every) > ROWS:  # rows from anywhere: each claim by itself
        begin = min((row.judged.claim.start for row in rows), default=0)
        return answer_pieces(rows, None, begin, begin)
    if len(every) <= ROWS:
        return answer_pieces(every, session.answer, 0, len(session.answer))
    last = opened.start + len(rows)
    begin = rows[0].judged.claim.start if opened.start else 0
    end = every[last].judged.claim.start if last < len(every) else len(session.answer)
    return answer_pieces(rows, session.answer, begin, end)


def _row(workspace: Workspace, listed: ListedLedger, number: int) -> Row:
    page = workspace.ledgers.page(listed.id, number - 1, 1)
    if not page.claims:
        raise NotFoundError(f"ledger {listed.id} has no claim {number}")
    return Row(number, page.claims[0])


def opened_claim(
    workspace: Workspace,
    listed: ListedLedger,
    number: int,
    session: LedgerSession | None = None,
) -> dict[str, Any]:
    """Return all that is shown of a claim: its evidence with its places, votes, people's words."""
    if session is None and int(listed.summary["total_claims"]) <= READ_WHOLE:
        session = workspace.ledgers.get(listed.id).session
    if session is None:
        row = _row(workspace, listed, number)
    else:
        judged = judged_claims(session, number - 1, number)
        if not judged:
            raise NotFoundError(f"ledger {listed.id} has no claim {number}")
        row = Row(number, judged[0])
    entry = row.judged.entry
    votes = session.judging.votes if session and session.judging else ()
    passages = [one.passage for one in entry.evidence if one.passage]
    passages += [entry.nearest] if entry.nearest else []
    people = _by_claim(workspace.ledgers.verdicts(listed.id))
    return {
        "row": row,
        "entry": entry,
        "votes": [one for one in votes if one.claim_id == entry.claim_id],
        "places": {one.chunk_id: _place(workspace, one, listed.id, number) for one in passages},
        "said": people.get(entry.claim_id, []),
        "may_disagree": may(workspace, "ledgers.give_verdict"),
        "given": GIVEN,
    }


def _place(workspace: Workspace, passage: Passage, ledger_id: str, number: int) -> dict[str, str]:
    """Return where a passage is shown in its document, and how it is cited; of a context, not."""
    document, _, version = passage.source.id.partition("@")
    if not document.startswith("doc_"):
        return {"anchor": "", "address": ""}
    anchor = workspace.documents.anchor(passage.chunk_hash)
    query = f"ledger={ledger_id}&claim={number}" + (f"&version={version}" if version else "")
    return {"anchor": anchor, "address": f"/documents/{document}/passages/{anchor}?{query}"}


def _by_claim(given: list[GivenVerdict]) -> dict[str, list[GivenVerdict]]:
    by_claim: dict[str, list[GivenVerdict]] = {}
    for one in given:
        by_claim.setdefault(one.claim_id, []).append(one)
    return by_claim


def _previous(workspace: Workspace, listed: ListedLedger) -> str | None:
    """Return the ledger of the same answer before this one, if it is still there."""
    if listed.previous_id is None:
        return None
    try:
        return workspace.ledgers.find(listed.previous_id).id
    except (NotFoundError, InputError):
        return None

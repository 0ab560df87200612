"""Pages of ledgers: a part of a long ledger, read and believed without reading the rest."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection

from evidentia.errors import InputError, ProofError
from evidentia.ledger.pages import (
    PAGE,
    JudgedClaim,
    LedgerHead,
    head_of,
    judged_claims,
    ledger_pages,
    page_paths,
    read_head,
    read_page,
    verify_page,
)
from evidentia.ledger.session import THIRD_TYPE, LedgerSession
from evidentia.ledger.verification import CLAIMS_ROOT
from evidentia.logs import get_logger
from evidentia.store.sql import ledger_pages as kept
from evidentia.store.sql.ledgers import ListedLedger
from evidentia.workspace.acting import Acting

MOST: Final = 1_000
"""How many claims are given at once."""
_log = get_logger("workspace")


@dataclass(frozen=True, slots=True)
class LedgerPage:
    """Some claims of a ledger, from `start` on: `total` says how many there are in all."""

    head: LedgerHead
    start: int
    total: int
    claims: tuple[JudgedClaim, ...]
    entry: int


def keep_pages(acting: Acting, connection: Connection, session: LedgerSession) -> None:
    """Keep the pages of a ledger that has more than one; a shorter one is read whole."""
    if len(session.ledger.entries) > PAGE and session.predicate_type == THIRD_TYPE:
        made = ledger_pages(session)
        paged = list(zip(made, page_paths(made), strict=True))
        kept.keep_pages(connection, acting.tenant, session.ledger.id, paged)


def page_of(
    acting: Acting,
    row: ListedLedger,
    body: Mapping[str, Any],
    *,
    whole: Callable[[], LedgerSession],
    start: int,
    limit: int,
) -> LedgerPage:
    """Return some claims of a ledger, whose entry has this body.

    Where its pages are not kept, or are not what the entry names, the `whole` ledger is read.
    """
    if start < 0 or not 1 <= limit <= MOST:
        raise InputError(f"a page begins at 0 or later, and has 1 to {MOST:,} claims")
    total = int(body["summary"]["total_claims"])
    end = min(start + limit, total)
    if CLAIMS_ROOT in body and total > PAGE:
        root: str = body[CLAIMS_ROOT]
        heads = acting.opened.heads
        head = heads.get(root)  # of what the entry names: proved when it was first read
        first, last = start // PAGE, -(-end // PAGE)
        numbers = [number + 1 for number in range(first, max(first, last))]
        wanted = numbers if head else [0, *numbers]
        found = acting.read(kept.pages, row.id, wanted) if wanted else {}
        try:
            for number in wanted:
                data, path = found.get(number, (b"", b""))
                verify_page(data, number, total, path, bytes.fromhex(root))
        except ProofError:
            _log.warning("ledger_read_whole", tenant=acting.tenant, id=row.id)
        else:
            claims = [one for number in numbers for one in read_page(found[number][0])]
            shown = claims[start - first * PAGE : end - first * PAGE]
            if head is None:
                head = read_head(found[0][0])
                heads.put(root, head)
            return LedgerPage(head, start, total, tuple(shown), row.entry)
    session = whole()
    shown = judged_claims(session, start, end)
    return LedgerPage(head_of(session), start, total, tuple(shown), row.entry)


def audited_pages(acting: Acting, row: ListedLedger, session: LedgerSession) -> Iterator[str]:
    """Say whether the pages that are kept of a ledger are not its own."""
    made = ledger_pages(session) if len(session.ledger.entries) > PAGE else []
    wanted = dict(enumerate(zip(made, page_paths(made), strict=True)))
    if session.predicate_type == THIRD_TYPE and acting.read(kept.pages, row.id) != wanted:
        yield "the pages that are kept of it are not its own"

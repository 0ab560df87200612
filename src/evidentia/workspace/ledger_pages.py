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
        pages = _KeptPages(acting, row, body[CLAIMS_ROOT], total)
        first, last = start // PAGE, -(-end // PAGE)
        try:
            head, claims = pages.read(range(first + 1, max(first, last) + 1))
        except ProofError:
            _log.warning("ledger_read_whole", tenant=acting.tenant, id=row.id)
        else:
            shown = claims[start - first * PAGE : end - first * PAGE]
            return LedgerPage(head, start, total, tuple(shown), row.entry)
    session = whole()
    shown = judged_claims(session, start, end)
    return LedgerPage(head_of(session), start, total, tuple(shown), row.entry)


@dataclass(frozen=True, slots=True)
class _KeptPages:
    """The pages that are kept of a ledger whose entry, which was proved, names this root.

    What is remembered was proved by the same root when it was first read, and is found by it alone.
    """

    acting: Acting
    row: ListedLedger
    root: str
    total: int

    def read(self, numbers: range) -> tuple[LedgerHead, list[JudgedClaim]]:
        """Return the head and the claims of these pages; raise `ProofError` for one that is not."""
        opened = self.acting.opened
        head = opened.heads.get(self.root)
        remembered = {one: opened.claims.get((self.root, self.total, one)) for one in numbers}
        known = {one: claims for one, claims in remembered.items() if claims is not None}
        wanted = [one for one in numbers if one not in known]
        found = self._proved(wanted if head else [0, *wanted])
        if head is None:
            head = read_head(found[0])
            opened.heads.put(self.root, head)
        for number in wanted:
            known[number] = read_page(found[number])
            opened.claims.put((self.root, self.total, number), known[number])
        return head, [one for number in numbers for one in known[number]]

    def _proved(self, numbers: list[int]) -> dict[int, bytes]:
        if not numbers:
            return {}
        found = self.acting.read(kept.pages, self.row.id, numbers)
        for number in numbers:
            data, path = found.get(number, (b"", b""))
            verify_page(data, number, self.total, path, bytes.fromhex(self.root))
        return {number: data for number, (data, _) in found.items()}


def audited_pages(acting: Acting, row: ListedLedger, session: LedgerSession) -> Iterator[str]:
    """Say whether the pages that are kept of a ledger are not its own."""
    made = ledger_pages(session) if len(session.ledger.entries) > PAGE else []
    wanted = dict(enumerate(zip(made, page_paths(made), strict=True)))
    if session.predicate_type == THIRD_TYPE and acting.read(kept.pages, row.id) != wanted:
        yield "the pages that are kept of it are not its own"

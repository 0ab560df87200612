"""What people say beside the judges: a verdict of their own on a claim, with its reason.

Each is an entry of the trail, under the ledger's id. The ledger stays as it is.
"""

from dataclasses import asdict, dataclass
from typing import Any, Final

from evidentia.errors import InputError, IntegrityError, NotFoundError
from evidentia.ledger.model import EvidenceLedger, LedgerEntry, Verdict
from evidentia.store.sql import log
from evidentia.trail.entry import EntryKind
from evidentia.workspace.acting import Acting
from evidentia.workspace.logged import LoggedEntry

MAX_REASON: Final = 2_000
GIVEN: Final = tuple(one.value for one in Verdict if one is not Verdict.NOT_JUDGED)
"""What a person may say of a claim."""


@dataclass(frozen=True, slots=True)
class GivenVerdict:
    """A person's verdict on a claim, the judges' (`judged`), the reason, and where it stands."""

    ledger_id: str
    claim_id: str
    verdict: str
    judged: str
    reason: str
    by: str
    at: str
    entry: int

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return asdict(self)


def give(
    acting: Acting, ledger: EvidenceLedger, claim_id: str, verdict: str, reason: str
) -> GivenVerdict:
    """Record a verdict on a claim of a ledger."""
    if verdict not in GIVEN:
        raise InputError(f"a person's verdict is {', '.join(GIVEN)}, not {verdict[:40]!r}")
    if not reason.strip():
        raise InputError("a verdict of your own needs a reason: say what the documents say")
    if len(reason) > MAX_REASON:
        raise InputError(f"the reason has {len(reason):,} characters, {MAX_REASON:,} at most")
    body = {
        "claim_id": claim_id,
        "verdict": str(verdict),
        "judged": judged_claim(ledger, claim_id).verdict.value,
        "reason": reason,
        "by": acting.actor,
    }
    receipt = acting.record(EntryKind.VERDICT, ledger.id, body)
    return read_verdict(acting.entry(receipt.seq))


def given(acting: Acting, ledger_id: str) -> list[GivenVerdict]:
    """Return the verdicts of people on the claims of a ledger, the oldest first, each proved."""
    with acting.database.read() as connection:
        rows = log.find_entries(
            connection, acting.tenant, kind=EntryKind.VERDICT, subject=ledger_id
        )
        found = [acting.entry_within(connection, row[0]) for row in rows]
    return [read_verdict(one) for one in found if not one.erased]


def judged_claim(ledger: EvidenceLedger, claim_id: str) -> LedgerEntry:
    """Return what a ledger says of a claim; raise `NotFoundError` if it has no such claim."""
    for one in ledger.entries:
        if one.claim_id == claim_id:
            return one
    raise NotFoundError(f"ledger {ledger.id} has no claim {claim_id[:80]!r}")


def read_verdict(logged: LoggedEntry) -> GivenVerdict:
    """Read a person's verdict from its entry, which was proved."""
    entry, body = logged.entry, logged.body
    try:
        return GivenVerdict(
            ledger_id=entry.subject,
            claim_id=body["claim_id"],
            verdict=body["verdict"],
            judged=body["judged"],
            reason=body["reason"],
            by=body["by"],
            at=entry.at,
            entry=entry.seq,
        )
    except (KeyError, TypeError):
        raise IntegrityError(f"entry {entry.seq}: its body is no person's verdict") from None

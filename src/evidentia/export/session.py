"""What an export knows beside the ledger: the session it belongs to, and the answer's claims."""

from typing import Self

from pydantic import model_validator

from evidentia.frozen import FrozenModel
from evidentia.ledger.model import Claim, EvidenceLedger


class LedgerSession(FrozenModel):
    """A question and its answer, with the ledger that judges it and the claims it judges."""

    id: str
    title: str
    query: str | None = None
    mode: str = "answer"
    answer_name: str = "answer"
    answer: str = ""
    claims: tuple[Claim, ...] = ()
    ledger: EvidenceLedger

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

"""Votes: how claims were voted on, as a ledger's statement records it.

The policy by which judges were asked, what each voter said of each claim, and the services that
were asked with what that took.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from evidentia.frozen import FrozenItems, FrozenList, FrozenModel
from evidentia.ledger.model import Score, Verdict

Asked = Literal["in_doubt", "always"]
Decides = Literal["last", "cautious", "majority"]
Count = Annotated[int, Field(ge=0)]


class JudgingPolicy(FrozenModel):
    """When a later judge is asked, and whose verdict counts.

    `in_doubt` asks it where no judge before it is certain, and the probability that the documents
    support the claim is not known, or between `doubt_from` and `doubt_to`. The `last` that answered
    decides, or the most `cautious`, or the `majority` (of a tie, the most cautious).
    """

    asked: Asked = "in_doubt"
    decides: Decides = "last"
    doubt_from: Score = 0.15
    doubt_to: Score = 0.85

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        if self.doubt_from > self.doubt_to:
            raise ValueError("doubt_from must not be more than doubt_to")
        return self


class Vote(FrozenModel):
    """What one voter says of one claim, and whether the verdict is its own.

    `quote` is what it quoted, found in the evidence or not; `runs` are the runs of the trail that
    show what it was sent and what it answered; `remembered` says that an earlier check asked.
    """

    claim_id: str
    judges: FrozenItems[str]
    verdict: Verdict
    confidence: Score
    decides: bool
    reason: str = ""
    quote: str = ""
    runs: FrozenItems[str] = FrozenList()
    remembered: bool = False


class AskedService(FrozenModel):
    """A service that a judge asked: which model where, by which prompt, and what it took.

    `answered_by` are the models that the replies name. Tokens and cost are None where the service
    or the settings don't give them; `remembered` counts claims that were not asked about again.
    """

    judge: str
    digest: str
    url: str
    api: str
    model: str
    answered_by: FrozenItems[str] = FrozenList()
    prompt_sha256: str
    calls: Count = 0
    attempts: Count = 0
    remembered: Count = 0
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cost: str | None = None
    currency: str | None = None


class Judging(FrozenModel):
    """How claims were voted on: the policy, every vote, and the services that were asked."""

    policy: JudgingPolicy
    votes: FrozenItems[Vote] = FrozenList()
    services: FrozenItems[AskedService] = FrozenList()

"""What people said of claims, as labelled pairs to measure judges by, and who agreed with whom.

A claim has one label: what was said of it last, by whoever said it. Its evidence is what the ledger
shows for it, and the nearest passage where it shows none.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evidentia.errors import EvidentiaError
from evidentia.judges.measuring import Label
from evidentia.ledger.model import LedgerEntry
from evidentia.store.sql import log
from evidentia.trail.entry import EntryKind
from evidentia.workspace.acting import Acting
from evidentia.workspace.evaluating import Pair
from evidentia.workspace.verdicts import GivenVerdict, judged_claim, read_verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evidentia.ledger.model import EvidenceLedger


@dataclass(frozen=True, slots=True)
class PeoplesVerdicts:
    """Labelled pairs of what people said, and how that compares with what the ledgers say.

    `contested` claims had different verdicts of different people, the newest of which is the
    label. `left_out` are claims without a pair: their ledger is gone, or shows no evidence that
    could support them.
    """

    pairs: tuple[Pair, ...]
    agreement: Mapping[tuple[str, str], int]
    """How many claims people gave a verdict that the judges gave this one."""
    contested: int
    left_out: int

    @property
    def agreed(self) -> int:
        """How many claims people and judges gave the same verdict."""
        return sum(count for (said, judged), count in self.agreement.items() if said == judged)

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object, without the pairs."""
        table: dict[str, dict[str, int]] = {}
        for (said, judged), count in sorted(self.agreement.items()):
            table.setdefault(said, {})[judged] = count
        return {
            "claims": self.agreement_total,
            "agreed": self.agreed,
            "people_by_judges": table,
            "contested": self.contested,
            "left_out": self.left_out,
            "pairs": len(self.pairs),
        }

    @property
    def agreement_total(self) -> int:
        """How many claims people gave a verdict."""
        return sum(self.agreement.values())


def labelled(acting: Acting) -> PeoplesVerdicts:
    """Return what people said of the tenant's claims, by proved entries."""
    with acting.database.read() as connection:
        rows = log.find_entries(connection, acting.tenant, kind=EntryKind.VERDICT)
        logged = [acting.entry_within(connection, row[0]) for row in rows]
    said: dict[tuple[str, str], list[GivenVerdict]] = {}
    for one in logged:
        if not one.erased:
            verdict = read_verdict(one)
            said.setdefault((verdict.ledger_id, verdict.claim_id), []).append(verdict)
    newest = [verdicts[-1] for verdicts in said.values()]
    ledgers = _ledgers(acting, {one.ledger_id for one in newest})
    found = [_pair(one, ledgers.get(one.ledger_id)) for one in newest]
    pairs = tuple(one for one in found if one is not None)
    return PeoplesVerdicts(
        pairs,
        Counter((one.verdict, one.judged) for one in newest),
        sum(_is_contested(verdicts) for verdicts in said.values()),
        len(found) - len(pairs),
    )


def _is_contested(verdicts: "Iterable[GivenVerdict]") -> bool:
    """Whether people differ, each by what they said last."""
    return len(set({one.by: one.verdict for one in verdicts}.values())) > 1


def _ledgers(acting: Acting, ids: set[str]) -> "dict[str, EvidenceLedger]":
    from evidentia.workspace.ledgers import Ledgers  # noqa: PLC0415 - it knows this module

    found: dict[str, EvidenceLedger] = {}
    for identity in sorted(ids):
        try:
            found[identity] = Ledgers(acting).get(identity)
        except EvidentiaError:  # erased, or damaged: an audit tells of it
            continue
    return found


def _pair(verdict: GivenVerdict, ledger: "EvidenceLedger | None") -> Pair | None:
    if ledger is None:
        return None
    claim = judged_claim(ledger, verdict.claim_id)
    label, evidence = Label(verdict.verdict), _evidence(claim)
    if not evidence and label is not Label.NOT_FOUND:
        return None
    return Pair(evidence, claim.claim_text, label, verdict.entry)


def _evidence(claim: LedgerEntry) -> str:
    passages = [one.passage for one in claim.evidence if one.passage is not None]
    if claim.nearest is not None:
        passages.append(claim.nearest)
    texts = (f"{one.context}\n{one.snippet}" if one.context else one.snippet for one in passages)
    return "\n\n".join(dict.fromkeys(texts))

"""Which claims of an answer do not hold, in lines for a terminal or a report.

Every text is on one line and shows what cannot be seen in it, for terminals obey what they print.
"""

import textwrap
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final

from evidentia.export.shown import one_line, place
from evidentia.ledger.model import LedgerEntry, Passage, Verdict
from evidentia.ledger.verdicts import rests_on

if TYPE_CHECKING:
    from evidentia.ledger.model import EvidenceLedger

HOLDS: Final = frozenset({Verdict.SUPPORTED, Verdict.WEAK})
_MOST_CHARS: Final = 300


def not_among(ledger: "EvidenceLedger", verdicts: Collection[Verdict]) -> list[LedgerEntry]:
    """Return the entries of a ledger that have none of these verdicts."""
    return [entry for entry in ledger.entries if entry.verdict not in verdicts]


def told(ledger: "EvidenceLedger", wrong: Sequence[LedgerEntry]) -> str:
    """Tell which claims do not hold, which passage says so, and the ledger that has them all."""
    lines = [f"Claims of the answer that are not supported: {len(wrong)} of {len(ledger.entries)}"]
    for number, entry in enumerate(wrong, 1):
        verdict = entry.verdict.value.replace("_", " ")
        lines += ["", f"{number}. {verdict}: {one_line(entry.claim_text)}"]
        resting = rests_on(entry.verdict, entry.evidence) or entry.evidence
        passages = [match.passage for match in resting if match.passage]
        if passages:
            lines += _quoted("the passage", passages[0])
        elif entry.nearest:
            lines += _quoted("the nearest passage, which is no evidence", entry.nearest)
        if entry.notes:
            lines.append(textwrap.indent(f"why: {one_line(entry.notes)}", "   "))
    return "\n".join([*lines, "", f"It is in ledger {ledger.id}."])


def _quoted(what: str, passage: Passage) -> list[str]:
    words = one_line(passage.snippet)
    text = words if len(words) <= _MOST_CHARS else f"{words[:_MOST_CHARS]}…"
    return [f"   {what}, in {one_line(place(passage.source))}:", f'     "{text}"']

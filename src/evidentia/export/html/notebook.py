"""A ledger as a notebook shows it: a small table, no script, all text escaped."""

from html import escape
from typing import Final

from evidentia.ledger.model import LedgerEntry, Verdict
from evidentia.ledger.session import LedgerSession

SHOWN: Final = 20
"""How many claims are shown."""
_SHORT: Final = 240
"""How many characters of a text are."""
_COLOURS: Final = {
    Verdict.SUPPORTED: "#126b3a",
    Verdict.WEAK: "#8a5a00",
    Verdict.CONTRADICTED: "#a3161f",
    Verdict.NOT_FOUND: "#56606b",
    Verdict.NOT_JUDGED: "#5b3b8c",
}
_HEAD: Final = ("#", "Claim", "Type", "Verdict", "Source")


def ledger_cell(session: LedgerSession) -> str:
    """Return a ledger as HTML: its title, what it comes to, and its first claims."""
    ledger = session.ledger
    counts = ", ".join(
        f"{count:,} {verdict.replace('_', ' ')}"
        for verdict, count in ledger.summary.by_verdict.items()
        if count
    )
    head = "".join(f'<th style="text-align:start">{name}</th>' for name in _HEAD)
    rows = "".join(_row(at, entry) for at, entry in enumerate(ledger.entries[:SHOWN], 1))
    left = len(ledger.entries) - SHOWN
    more = f"<p>… and {left:,} more claims</p>" if left > 0 else ""
    return (
        f'<div><p><strong dir="auto">{_text(session.title)}</strong> · {_text(ledger.id)}</p>'
        f"<p>Evidence coverage {ledger.summary.evidence_coverage:.0%} of "
        f"{ledger.summary.total_claims:,} claims: {_text(counts) or 'none'}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}</div>"
    )


def _row(number: int, entry: LedgerEntry) -> str:
    source = entry.source_document
    where = "" if source is None else source.filename
    if source is not None and source.page_number is not None:
        where += f", page {source.page_number}"
    verdict = entry.verdict.value.replace("_", " ")
    colour = _COLOURS[entry.verdict]
    return (
        f"<tr><td>{number}</td>"
        f'<td dir="auto" style="text-align:start">{_text(entry.claim_text)}</td>'
        f"<td>{entry.claim_type.value}</td>"
        f'<td><span style="color:{colour};font-weight:600">{verdict}</span> '
        f"{entry.confidence_score:.0%}</td>"
        f'<td dir="auto" style="text-align:start">{_text(where)}</td></tr>'
    )


def _text(given: str) -> str:
    """Return a text that is no markup, whatever it says, and not too long."""
    return escape(given if len(given) <= _SHORT else f"{given[: _SHORT - 1]}…")

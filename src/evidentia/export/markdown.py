"""A ledger as Markdown, for people: summary, each claim with its evidence, risks, actions.

Every field is one line, whatever its text: nothing in a claim, a quotation or a filename is read
as markup or breaks a line.
"""

import re
from typing import Final

from evidentia.export.shown import (
    SYMBOLS,
    checked_against,
    counted,
    minute,
    one_line,
    origin,
    place,
    title,
    verdict_title,
)
from evidentia.ledger.confidence import percent
from evidentia.ledger.model import LedgerEntry, LedgerSummary, Verdict
from evidentia.ledger.risks import recommended_actions
from evidentia.ledger.session import LedgerSession

_MARKUP = re.compile(r"[\\`*\[\]<>|~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w{1,32};)|^#|#$|^[-+](?=\s)")
"""What would be read as markup where it stands; `HR_Policy` and `Q&A` are read as they are."""
_LINKED = re.compile(r"(https?|ftp)://", re.IGNORECASE)
_ALWAYS: Final = frozenset({Verdict.SUPPORTED, Verdict.WEAK, Verdict.NOT_FOUND})
"""The verdicts that the summary lists also where they do not occur."""


def to_markdown(session: LedgerSession) -> str:
    """Write the ledger as a Markdown document."""
    ledger = session.ledger
    counts = counted(ledger.summary, _ALWAYS)
    lines = [
        "## Evidence Ledger",
        "",
        f"**Session:** {escaped(session.title)}",
        f"**Generated:** {escaped(minute(ledger.created_at))}",
        f"**Evidence Coverage:** {percent(ledger.summary.evidence_coverage)}",
        *([f"**Checked against:** {checked_against(session)}"] if session.contexts else []),
        "",
        "### Summary",
        "",
        "| Verdict | Count |",
        "|---------|-------|",
        *(f"| {title(verdict.value)} | {count} |" for verdict, count in counts.items()),
        *_weak(ledger.summary),
        "",
        "### Claims Detail",
        "",
    ]
    if not ledger.entries:
        lines += ["The answer makes no claims.", ""]
    for number, entry in enumerate(ledger.entries, 1):
        lines += [*_entry(number, entry, origin(session, entry)), "", "---", ""]
    lines += ["### Risk Flags", ""]
    for flag in ledger.risk_flags:
        name = f"{title(flag.type.value)} ({title(flag.severity.value)})"
        lines += [f"⚠️ **{name}:** {escaped(flag.description)}.", ""]
    lines += [] if ledger.risk_flags else ["None.", ""]
    lines += ["### Recommended Actions", ""]
    actions = recommended_actions(ledger)
    lines += [f"{number}. {escaped(action)}" for number, action in enumerate(actions, 1)]
    lines += [] if actions else ["None."]
    if ledger.follow_up_questions:
        lines += ["", "### Follow-up Questions", ""]
        lines += [f"- {escaped(question)}" for question in ledger.follow_up_questions]
    return "\n".join(lines) + "\n"


def _weak(summary: LedgerSummary) -> list[str]:
    """Return the rows that count the weak claims by why they are weak."""
    by_support = summary.by_support or {}
    return [f"| Of the weak: {why} | {count} |" for why, count in by_support.items() if count]


def escaped(text: str) -> str:
    """Return text on one line, with what Markdown would read as markup or a link made plain."""
    return _LINKED.sub(r"\1\://", _MARKUP.sub(r"\\\g<0>", one_line(text)))


def _entry(number: int, entry: LedgerEntry, evidence_from: str) -> list[str]:
    verdict = f"{SYMBOLS[entry.verdict]} {verdict_title(entry)}"
    lines = [
        f"#### {number}. {escaped(entry.claim_text)}",
        "",
        f"- **Type:** {title(entry.claim_type.value)}",
        f"- **Importance:** {title(entry.claim_importance.value)}",
        f"- **Verdict:** {verdict} (Confidence: {percent(entry.confidence_score)})",
        f"- **Source:** {escaped(place(entry.source_document))}",
    ]
    if evidence_from:
        lines.append(f"- **Evidence from:** {evidence_from}")
    if entry.evidence_snippet:
        lines.append(f'- **Evidence:** "{escaped(entry.evidence_snippet)}"')
    if entry.nearest:
        near = f'"{escaped(entry.nearest.snippet)}" ({escaped(place(entry.nearest.source))})'
        lines.append(f"- **Nearest passage, no evidence:** {near}")
    return [*lines, f"- **Notes:** {escaped(entry.notes)}"]

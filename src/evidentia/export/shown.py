"""How the ledger's values are shown to people: names, places, times, on one line each."""

import re
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Final

from evidentia.language.counting import counted as number_of
from evidentia.ledger.model import LedgerEntry, LedgerSummary, SourceDocument, Verdict, WeakSupport
from evidentia.ledger.session import LedgerSession

SYMBOLS: Final = {
    Verdict.SUPPORTED: "✓",
    Verdict.WEAK: "?",
    Verdict.CONTRADICTED: "✗",
    Verdict.NOT_FOUND: "○",
    Verdict.NOT_JUDGED: "–",  # noqa: RUF001 - a dash, as in a table's empty cell
}
"""The sign of each verdict."""
_ORIGINS: Final = {"contexts": "what the model was given", "library": "the library"}
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
"""Controls, zero-width and direction characters: what would change how the rest is shown."""


def one_line(text: str) -> str:
    """Return text on one line, with what cannot be seen written as its code point."""
    return _UNSEEN.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", " ".join(text.split()))


def title(name: str) -> str:
    """Return a name as a title: `missing_evidence` is `Missing Evidence`."""
    return name.replace("_", " ").title()


def verdict_title(entry: LedgerEntry) -> str:
    """Return an entry's verdict as a title, and why it is weak if it is: `Weak (probable)`."""
    why = f" ({entry.support.value})" if entry.support else ""
    return f"{title(entry.verdict.value)}{why}"


def weak_counts(summary: LedgerSummary) -> str:
    """Say how many weak claims are weak for which reason; nothing where it is not known."""
    by_support = summary.by_support or {}
    found = [f"{by_support[why]} {why.value}" for why in WeakSupport if by_support.get(why)]
    return f" ({', '.join(found)})" if found else ""


def counted(summary: LedgerSummary, always: Collection[Verdict]) -> dict[Verdict, int]:
    """Return how often each verdict occurs: those named in any case, the others where they do."""
    counts = {verdict: int(summary.by_verdict[verdict.value]) for verdict in Verdict}
    return {verdict: count for verdict, count in counts.items() if count or verdict in always}


def place(source: SourceDocument | None) -> str:
    """Return where a passage stands: file, page, section."""
    if source is None:
        return "-"
    page = "" if source.page_number is None else f", Page {source.page_number}"
    section = f", {source.heading_path[-1]}" if source.heading_path else ""
    return f"{source.filename}{page}{section}"


def checked_against(session: LedgerSession) -> str:
    """Say what an answer was checked against: `4 contexts and 12 documents`."""
    contexts = session.contexts
    given = [] if contexts is None else [number_of(len(contexts), "context")]
    if session.bundle is not None:
        given[0] += f" of bundle {session.bundle.id}"
    if contexts is None or session.corpus is not None:
        as_of = session.corpus.filter.as_of if session.corpus else None
        held = f" that held on {as_of}" if as_of else ""
        given.append(f"{number_of(session.document_count, 'document')}{held}")
    return " and ".join(given)


def origin(session: LedgerSession, entry: LedgerEntry) -> str:
    """Say where an entry's evidence is from; nothing unless contexts and the library were asked."""
    if session.contexts is None or session.corpus is None:
        return ""
    return " and ".join(_ORIGINS[one] for one in session.origins(entry))


def minute(timestamp: str) -> str:
    """Return an ISO time as `2026-01-03 14:30 UTC`; what is no time is returned as it is."""
    try:
        moment = datetime.fromisoformat(timestamp)
        utc = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return timestamp
    return f"{utc:%Y-%m-%d %H:%M} UTC"

"""Checked answers as a summary in Markdown, as build systems show it beside a job.

It has a table of the answers and one of each answer's claims. Build systems refuse a summary that
is too long: claims that do not fit are left out, those of answers that pass first, and counted.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from evidentia.export.many import Row
from evidentia.export.markdown import escaped
from evidentia.export.shown import SYMBOLS, place, title, verdict_title
from evidentia.language.counting import counted
from evidentia.ledger.confidence import percent
from evidentia.ledger.model import LedgerEntry, Verdict
from evidentia.ledger.outcomes import AnswerOutcome

MAX_BYTES: Final = 900 * 2**10
"""GitHub refuses a summary of more than 1 MiB, and other steps of a job may add theirs."""
_RESERVE: Final = 200
"""The bytes that saying what is left out may take."""
_MOST_CHARS: Final = 240
_COLUMNS: Final = ("Answer", "Claims", *(title(one.value) for one in Verdict), "Coverage", "Passes")


def to_summary(
    rows: Iterable[Row],
    *,
    fail_on: Collection[Verdict] = (),
    min_coverage: float | None = None,
    most: int = MAX_BYTES,
) -> str:
    """Write what became of answers, those that do not pass first, in at most so many bytes.

    An answer does not pass if a claim's verdict is among `fail_on`, if a smaller share of its
    claims than `min_coverage` is supported or weak, or if it was not checked.
    """
    judged = [
        (outcome, session, outcome.failures(fail_on=fail_on, min_coverage=min_coverage))
        for outcome, session in rows
    ]
    judged.sort(key=lambda one: not one[2])
    failing = sum(bool(why) for *_, why in judged)
    written = _Bounded(most - _RESERVE)
    written.add(
        "## Evidence",
        "",
        f"{counted(len(judged), 'answer')}, {counted(failing, 'does', 'do')} not pass.",
        "",
        _row(_COLUMNS),
        _row(["---"] * len(_COLUMNS)),
    )
    answers = sum(not written.add(_answer(outcome, why)) for outcome, _, why in judged)
    claims = 0
    for outcome, session, why in judged:
        entries = [] if session is None else list(session.ledger.entries)
        if not why and not entries:
            continue
        fits = written.add(*_head(outcome, why, has_claims=bool(entries)))
        lines = [_claim(number, entry) for number, entry in enumerate(entries, 1)]
        claims += sum(not (fits and written.add(line)) for line in lines)
    return "\n".join([*written.lines, *_left_out(answers, claims), ""])


class _Bounded:
    """Takes lines while they fit, and says of those it is given whether it took them."""

    def __init__(self, most: int) -> None:
        self.lines: list[str] = []
        self._left = most

    def add(self, *lines: str) -> bool:
        size = sum(len(line.encode()) + 1 for line in lines)
        if size > self._left:
            return False
        self.lines += lines
        self._left -= size
        return True


def _answer(outcome: AnswerOutcome, why: Sequence[str]) -> str:
    counts = [str(outcome.tally.by_verdict[one]) for one in Verdict]
    known = [str(outcome.tally.claims), *counts, percent(outcome.tally.coverage)]
    cells = [""] * len(known) if outcome.problem is not None else known
    return _row([escaped(outcome.name), *cells, "✗ no" if why else "✓ yes"])


def _head(outcome: AnswerOutcome, why: Sequence[str], *, has_claims: bool) -> list[str]:
    lines = ["", f"### {escaped(outcome.name)}", ""]
    lines += [f"- ✗ {escaped(one)}" for one in why]
    if outcome.ledger_id is not None:
        lines.append(f"- ledger `{outcome.ledger_id}`, entry {outcome.entry} of the trail")
    if has_claims:
        names = ("#", "Claim", "Verdict", "Passage", "Where")
        lines += ["", _row(names), _row(["---"] * len(names))]
    return lines


def _claim(number: int, entry: LedgerEntry) -> str:
    verdict = f"{SYMBOLS[entry.verdict]} {verdict_title(entry)}"
    words, where = entry.evidence_snippet, place(entry.source_document)
    if not words and entry.nearest:
        words, where = entry.nearest.snippet, f"nearest, no evidence: {place(entry.nearest.source)}"
    return _row([str(number), *map(_cell, (entry.claim_text, verdict, words, where))])


def _cell(text: str) -> str:
    cut = text if len(text) <= _MOST_CHARS else f"{text[:_MOST_CHARS]}…"
    return escaped(cut)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _left_out(answers: int, claims: int) -> list[str]:
    if not answers and not claims:
        return []
    told = [counted(answers, "answer")] if answers else []
    told += [counted(claims, "claim")] if claims else []
    return ["", f"Left out, for the summary may not be longer: {' and '.join(told)}."]

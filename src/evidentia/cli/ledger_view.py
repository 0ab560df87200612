"""A ledger in the terminal: the table of claims, the expanded view of each, and what it comes to.

Everything shown may come from a hostile document: it is made visible, and never read as markup.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.box import SQUARE
from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from evidentia.cli.output import first_few, say, visible, wide_console
from evidentia.export.shown import (
    SYMBOLS,
    one_line,
    origin,
    place,
    title,
    verdict_title,
    weak_counts,
)
from evidentia.language.counting import agreed, counted
from evidentia.ledger.confidence import confidence_band, percent
from evidentia.ledger.model import LedgerEntry, SourceDocument, Verdict, WeakSupport
from evidentia.ledger.risks import recommended_actions
from evidentia.ledger.session import LedgerSession

if TYPE_CHECKING:
    from evidentia.loading.places import FileChange

STYLES = {
    Verdict.SUPPORTED: "green",
    Verdict.WEAK: "yellow",
    Verdict.CONTRADICTED: "red",
    Verdict.NOT_FOUND: "bright_black",
    Verdict.NOT_JUDGED: "magenta",
}
_CHANGES = {
    "gone": (
        "is no longer where it was read from",
        "are no longer where they were read from",
        "What was read still counts. To check without: --against FOLDER, with those to go by.",
    ),
    "changed": (
        "has changed since it was read",
        "have changed since they were read",
        "To go by the new content: evidentia ingest {again}",
    ),
    "unreadable": (
        "cannot be looked at where it was read from",
        "cannot be looked at where they were read from",
        "What was read still counts. See whether you may read the files.",
    ),
}
_SECTION = re.compile(r"(?:§\s*)?(\d+(?:\.\d+)*)\.?\s")


def show_ledger(session: LedgerSession, *, verbose: bool) -> None:
    """Print a ledger for a person: the claims, and what follows from them."""
    console = wide_console()
    if not session.ledger.entries:
        say("The answer makes no claims that could be true or false, so there is nothing to judge.")
    elif verbose:
        for number, entry in enumerate(session.ledger.entries, 1):
            console.print(_expanded(session, number, entry))
    else:
        console.print(_table(session))
    _summary(session, console)
    if verbose:
        _left_out(session)
        _questions(session)
    elif session.left_out:
        pieces = counted(len(session.left_out), "piece")
        say(f"Not counted as claims: {pieces} (headings, greetings …); --verbose lists them.")


def _table(session: LedgerSession) -> Table:
    table = Table(box=SQUARE, show_lines=True, header_style="bold")
    table.add_column("#", justify="right")
    table.add_column("Claim", ratio=5, overflow="fold")
    table.add_column("Type")
    table.add_column("Verdict", min_width=14)
    table.add_column("Source", ratio=4, overflow="fold")
    for number, entry in enumerate(session.ledger.entries, 1):
        table.add_row(
            str(number),
            Text(one_line(entry.claim_text)),
            title(entry.claim_type.value),
            _verdict(entry),
            Text(one_line(_source(session, entry))),
        )
    return table


def _verdict(entry: LedgerEntry) -> Text:
    said = f"{SYMBOLS[entry.verdict]} {verdict_title(entry)}"
    return Text(said, style=STYLES[entry.verdict])


def _source(session: LedgerSession, entry: LedgerEntry) -> str:
    if entry.source_document is None:
        return "-"
    match = " (partial match)" if entry.support is WeakSupport.PARTIAL else ""
    origins = session.origins(entry)  # a context is called so: that it is one goes without saying
    of = f" ({' and '.join(origins)})" if "library" in origins else ""
    return f"{short_place(entry.source_document)}{match}{of}"


def _with_band(score: float) -> str:
    return f"{percent(score)}, {confidence_band(score).value.replace('_', ' ')}"


def short_place(source: SourceDocument) -> str:
    """Return where a passage stands in few words: `HR_Policy.pdf, p.12`, `Guide.docx, §3.2`."""
    if source.page_number is not None:
        return f"{source.filename}, p.{source.page_number}"
    if not source.heading_path:
        return source.filename
    numbered = _SECTION.match(source.heading_path[-1])
    section = f"§{numbered[1]}" if numbered else source.heading_path[-1]
    return f"{source.filename}, {section}"


def _expanded(session: LedgerSession, number: int, entry: LedgerEntry) -> Panel:
    lines: list[Panel | Text] = [
        Text.assemble(
            "Verdict: ",
            (verdict_title(entry).upper(), STYLES[entry.verdict]),
            f" (Confidence: {_with_band(entry.confidence_score)})",
            f"   {title(entry.claim_type.value)}, {title(entry.claim_importance.value)}",
        ),
        Text(),
    ]
    if entry.evidence_snippet:
        quote = (
            f'"{one_line(entry.evidence_snippet)}"\n\n— {one_line(place(entry.source_document))}'
        )
        lines += [Text("Evidence Snippet:"), Panel(Text(quote), box=SQUARE), Text()]
    if said := origin(session, entry):
        lines += [Text(f"Evidence from: {said}"), Text()]
    if entry.nearest:
        near = f'"{one_line(entry.nearest.snippet)}"\n\n— {one_line(place(entry.nearest.source))}'
        lines += [Text("Nearest passage, no evidence:"), Panel(Text(near), box=SQUARE), Text()]
    lines += [Text("Judge's Notes:"), Text(one_line(entry.notes))]
    if entry.evidence_chunk_ids:
        anchors = " ".join(f"[cite:{anchor}]" for anchor in entry.evidence_chunk_ids)
        lines += [Text(), Text(f"Citation: {anchors}")]
    for check in session.ledger.citations:
        if check.claim_id == entry.claim_id and check.problem:
            label = visible(check.label)
            lines.append(Text(f"The answer's citation [{label}]: {visible(check.problem)}", "red"))
    heading = Text(f"Claim #{number}: {one_line(entry.claim_text)}", style="bold")
    lines += _votes(session, entry)
    return Panel(Group(*lines), title=heading, title_align="left", box=SQUARE, padding=(1, 1))


def _votes(session: LedgerSession, entry: LedgerEntry) -> list[Text]:
    """Say how a claim was voted on, and where what a judge saw and said can be seen."""
    lines: list[Text] = []
    for vote in session.judging.votes if session.judging else ():
        if vote.claim_id != entry.claim_id:
            continue
        said = f"{title(vote.verdict.value)} ({percent(vote.confidence)})"
        decides = ", which decides" if vote.decides else ""
        reason = f": {one_line(vote.reason)}" if vote.reason else ""
        voter = one_line(" and ".join(vote.judges))
        lines += [Text(), Text(f"Vote of {voter}: {said}{decides}{reason}")]
        lines += [
            Text(f"What it saw and said: evidentia bundle runs --run {one_line(run)}")
            for run in vote.runs
        ]
    return lines


def _summary(session: LedgerSession, console: Console) -> None:
    ledger = session.ledger
    counts = [
        f"{count} {verdict.value.replace('_', ' ')}"
        f"{weak_counts(ledger.summary) if verdict is Verdict.WEAK else ''}"
        for verdict in Verdict
        if (count := ledger.summary.by_verdict[verdict.value])
    ]
    if counts:
        coverage = percent(ledger.summary.evidence_coverage)
        claims = counted(ledger.summary.total_claims, "claim")
        say(f"Evidence coverage {coverage} of {claims}: {', '.join(counts)}.")
    for flag in ledger.risk_flags:
        line = f"⚠ {title(flag.type.value)} ({flag.severity.value}): {one_line(flag.description)}"
        console.print(Text(line, style="red" if flag.severity.value == "high" else "yellow"))
    wrong = [check for check in ledger.citations if check.problem]
    if wrong:
        of = f"{len(wrong)} of {counted(len(ledger.citations), 'citation')} in the answer"
        do = agreed(len(wrong), "does", "do")
        console.print(Text(f"⚠ {of} {do} not lead to what supports the claim", style="yellow"))
    if said := not_readable(session):
        say(said, "unknown")
    for file in session.unread:
        say(f"not read: {visible(file.problem)}", "bad")


def not_readable(session: LedgerSession) -> str:
    """Say how many claims were not judged because of their language; nothing if none was."""
    from evidentia.judges.nli.judge import NliJudge
    from evidentia.judges.nli.reading import is_readable

    number = sum(
        entry.verdict is Verdict.NOT_JUDGED and not is_readable(entry.claim_text)
        for entry in session.ledger.entries
    )
    if not number or NliJudge.name not in session.judges:
        return ""
    also = {"quote", "numbers"} <= {*session.judges}
    checked = " Exact quotes and numbers were checked all the same." if also else ""
    return (
        f"{counted(number, 'claim')} {agreed(number, 'was', 'were')} not judged: "
        f"the {NliJudge.name} judge reads English only.{checked} "
        f"A person can judge {agreed(number, 'it', 'them')}, or a judge that reads the language "
        "(--judges quote,numbers,llm); or go by quotes and numbers alone: "
        "evidentia check --judges quote,numbers"
    )


def changed_files(changes: "Sequence[FileChange]") -> Iterator[str]:
    """Say which documents a ledger rests on are not as they were read, and what to do."""
    for change, (is_so, are_so, then) in _CHANGES.items():
        found = [one for one in changes if one.change == change]
        if found:
            number = len(found)
            again = dict.fromkeys(shlex.quote(one.read_again) for one in found)
            documents = f"{counted(number, 'document')} that this ledger rests on"
            named = first_few([one.path for one in found])
            do = then.format(again=" ".join(again))
            yield visible(f"{documents} {agreed(number, is_so, are_so)}: {named}. {do}")


def _left_out(session: LedgerSession) -> None:
    if session.left_out:
        say("Not claims:")
        for piece in session.left_out:
            say(f"- {one_line(piece.text)[:100]} ({piece.reason})", under=True)


def _questions(session: LedgerSession) -> None:
    actions = recommended_actions(session.ledger)
    for heading, lines in (
        ("Recommended actions:", actions),
        ("Questions to ask:", session.ledger.follow_up_questions),
    ):
        if lines:
            say(heading)
            for line in lines:
                say(f"- {one_line(line)}", under=True)

"""`evidentia check --many`: many answers, by worker processes, into one summary."""

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

import typer

from evidentia.errors import UsageError

if TYPE_CHECKING:
    from collections import Counter

    from evidentia.ledger.model import Verdict
    from evidentia.ledger.outcomes import AnswerOutcome, CheckedAnswers
    from evidentia.loading.ingesting import Ingestion
    from evidentia.workspace import Workspace

_MOST_BYTES: Final = 2**30
_SHOWN: Final = 10
_INTERRUPTED: Final = 130
"""What a shell says of a program that Ctrl-C ended."""
_FILES: Final = ("jsonl", "csv", "junit", "sarif")
_FORMS: Final = ("table", "json", *_FILES)


class Wanted(NamedTuple):
    """How the outcome is told, and what passes."""

    form: str
    output: Path | None
    fail_on: "frozenset[Verdict]"
    min_coverage: float | None
    verbose: bool


def refuse(of_one: Mapping[str, object], form: str, output: Path | None) -> None:
    """Raise `UsageError` for what goes with one answer alone."""
    given = [name for name, value in of_one.items() if value is not None]
    if given:
        raise UsageError(
            f"{', '.join(given)} and --many do not go together: a line says for itself what its "
            "answer is, was asked, and is checked by"
        )
    if form not in _FORMS:
        raise UsageError(f"--format {form} is of one answer: use {', '.join(_FORMS)} with --many")
    if output is not None and form not in _FILES:
        raise UsageError(f"--output goes with --format {', '.join(_FILES)}: give one of them")


def check_file(
    opened: "Workspace",
    file: str,
    against: Sequence[Path] | None,
    judges: Sequence[str] | None,
    workers: int | None,
    wanted: Wanted,
    *,
    again: bool,
) -> NoReturn:
    """Check the answers of a file, tell what became of them, and exit."""
    from evidentia.cli.judging import chosen, policy
    from evidentia.cli.options import keep_checkpoint, settings
    from evidentia.cli.output import counting_bar, say, visible
    from evidentia.ledger.answers import answers_in_lines

    answers = list(answers_in_lines(_read(file)))
    documents: Ingestion | None = None
    if against:
        with counting_bar("Reading") as reading:
            documents = opened.ingest(*against, progress=reading)
        for item in documents.problems:
            say(f"not read: {visible(item.problem)}", "bad", aside=True)
    done = 0
    try:
        with counting_bar("Checking", before="Embedding") as bar:

            def progress(count: int, total: int) -> None:
                nonlocal done
                done = count
                bar(count, total)

            checked = opened.check_many(
                answers,
                against=documents,
                judges=chosen(judges),
                policy=policy(),
                outdated_after_days=settings().outdated_after_days,
                workers=workers,
                again=again,
                progress=progress,
                embedding=partial(bar, is_before=True),
            )
    except KeyboardInterrupt:
        say(
            f"stopped after {done:,} of {len(answers):,} answers, which are kept", "bad", aside=True
        )
        say("the same command goes on where it was", under=True, aside=True)
        raise typer.Exit(_INTERRUPTED) from None
    if checked.checked:
        keep_checkpoint(opened)
    _tell(opened, checked, file, wanted)
    raise typer.Exit(judged(checked, wanted))


def _read(file: str) -> bytes:
    from evidentia.errors import InputError
    from evidentia.proof.files import read_bytes

    if file != "-":
        return read_bytes(file, _MOST_BYTES)
    data = sys.stdin.buffer.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise InputError(f"standard input: larger than {_MOST_BYTES:,} bytes: give it in parts")
    return data


# What is told


def _tell(opened: "Workspace", checked: "CheckedAnswers", file: str, wanted: Wanted) -> None:
    from evidentia.cli.check import name_of
    from evidentia.cli.ledger_view import changed_files
    from evidentia.cli.output import print_json, say
    from evidentia.store.files import write_durably

    if wanted.form in _FILES:
        text = opened.ledgers.render_many(
            checked,
            wanted.form,
            fail_on=wanted.fail_on or None,
            file=None if file == "-" else name_of(Path(file)),
        )
        if wanted.output is None:
            typer.echo(text, nl=False)
        else:
            write_durably(wanted.output, text.encode())
            tell_summary(checked, verbose=wanted.verbose)
            say(f"It is in {wanted.output}.", "good")
    elif wanted.form == "json":
        print_json(checked.as_json())
    else:
        tell_summary(checked, verbose=wanted.verbose)
    for line in changed_files(checked.file_changes):
        say(line, "unknown", aside=wanted.form != "table")


def tell_summary(checked: "CheckedAnswers", *, verbose: bool) -> None:
    """Show what became of all answers: counts, documents, and the worst of them."""
    from evidentia.cli.output import print_table, say
    from evidentia.language.counting import counted
    from evidentia.ledger.confidence import percent
    from evidentia.ledger.model import ClaimType
    from evidentia.ledger.outcomes import documents

    tally, most = checked.tally, len(checked) if verbose else _SHOWN
    said = f"{counted(len(checked.checked), 'answer')} checked, {counted(tally.claims, 'claim')}"
    covered = f", {percent(tally.coverage)} of them supported or weak" if tally.claims else ""
    say(f"{said}{covered}.")
    if before := sum(one.is_earlier for one in checked):
        say(
            f"{before:,} of them had been checked before, against the same documents by the same "
            "judges; --again checks them anew.",
            under=True,
        )
    if tally.claims:
        rows = [("all", tally.by_verdict)]
        rows += [(kind.value, tally.by_type[kind]) for kind in ClaimType if kind in tally.by_type]
        _counts("Type of claim", rows)
    found = documents(tally)
    if found:
        _counts("Document", [(name, counts) for (_, name), counts in found[:most]])
        if len(found) > most:
            say(f"and {len(found) - most:,} more: --verbose shows all", under=True)
    worst = checked.worst(most)
    if worst:
        say("The worst answers:")
        print_table(
            ("Answer", "Title", "Claims", "Contradicted", "Not found", "Coverage", "Ledger"),
            [_worst(one) for one in worst],
            right=("Claims", "Contradicted", "Not found", "Coverage"),
        )


def _counts(what: str, rows: "Sequence[tuple[str, Counter[Verdict]]]") -> None:
    from evidentia.cli.output import print_table
    from evidentia.export.shown import title
    from evidentia.ledger.model import Verdict

    shown = [
        one for one in Verdict if one is not Verdict.NOT_JUDGED or any(r[1][one] for r in rows)
    ]
    names = tuple(title(one.value).capitalize() for one in shown)
    print_table(
        (what, "Claims", *names),
        [(name, counts.total(), *(counts[one] for one in shown)) for name, counts in rows],
        right=("Claims", *names),
    )


def _worst(one: "AnswerOutcome") -> tuple[object, ...]:
    from evidentia.ledger.confidence import percent
    from evidentia.ledger.model import Verdict

    counts = one.tally.by_verdict
    title = "" if one.title in (one.id, "answer") else one.title or ""
    bad = counts[Verdict.CONTRADICTED], counts[Verdict.NOT_FOUND]
    return one.name, title, one.tally.claims, *bad, percent(one.tally.coverage), one.ledger_id


def judged(checked: "CheckedAnswers", wanted: Wanted, *, has_lines: bool = True) -> int:
    """Say what does not pass and what was not checked; return the exit code.

    Answers `has_lines` of a file, or each is a file and goes by its name.
    """
    from evidentia.cli.output import say
    from evidentia.export.shown import one_line

    judged = [
        (one, one.failures(fail_on=wanted.fail_on, min_coverage=wanted.min_coverage))
        for one in checked.checked
    ]
    failing = [(one, why) for one, why in judged if why]
    for one, why in failing[:_SHOWN]:
        say(f"{one_line(one.name)} does not pass: {'; '.join(why)}", "bad", aside=True)
    _more(len(failing))
    for one in checked.failed[:_SHOWN]:
        named = "" if one.id is None else f" ({one.id})"
        called = f"line {one.number}{named}" if has_lines else one.name
        say(one_line(f"{called} was not checked: {one.problem}"), "bad", aside=True)
    _more(len(checked.failed))
    if failing:
        return 1
    if any(one.is_given for one in checked.failed):
        return 2
    return 3 if checked.failed else 0


def _more(count: int) -> None:
    from evidentia.cli.output import say

    if count > _SHOWN:
        say(f"and {count - _SHOWN:,} more: --json names all", under=True, aside=True)

"""`evidentia gate`: files of answers, all the reports that a build shows, and one exit code."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from evidentia.cli.options import (
    HomeOption,
    JsonOption,
    TenantOption,
    keep_checkpoint,
    settings,
    workspace,
)

if TYPE_CHECKING:
    from evidentia.export.many import Row
    from evidentia.ledger.model import Verdict
    from evidentia.loading.ingesting import Ingestion
    from evidentia.workspace.ledgers import RecordedLedger

    Check = Callable[..., RecordedLedger]

_ENDINGS: Final = (".markdown", ".md", ".txt")
_PATTERN: Final = frozenset("*?[")
MAX_ANSWERS: Final = 10_000


def gate(
    answers: Annotated[
        list[str],
        typer.Argument(
            metavar="ANSWER...",
            help="Files of an answer each, folders of them, or patterns such as 'answers/**/*.md'.",
        ),
    ],
    against: Annotated[
        list[Path] | None,
        typer.Option(
            "--against",
            metavar="PATH",
            help="A folder or file of documents; may be given again [all that were ingested].",
        ),
    ] = None,
    contexts: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Check against the passages that the model was given: a JSON list, or JSONL.",
        ),
    ] = None,
    judges: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="The judges to ask, as for check [all, in this order]."),
    ] = None,
    fail_on: Annotated[
        str,
        typer.Option(metavar="VERDICTS", help="An answer with a claim of these does not pass."),
    ] = "contradicted,not_judged",
    min_coverage: Annotated[
        float | None,
        typer.Option(
            metavar="N",
            min=0,
            max=1,
            help="Nor does one of which a smaller share of claims is supported or weak.",
        ),
    ] = None,
    sarif: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the claims without support as SARIF 2.1.0."),
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write each claim as a JUnit test case.")
    ] = None,
    summary: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Add a summary in Markdown to the end of this file."),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show all answers and documents, not the first.")
    ] = False,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check files of answers for a build: all its reports at once, and one exit code.

    Each file is an answer, Markdown or text. Of a folder, the files that end in .md, .markdown or
    .txt are taken. Every answer is checked as 'evidentia check' does, each with a ledger of its
    own, whatever becomes of the others.

    The exit code is 1 if an answer does not pass, else 2 if a file is no answer, else 3 if
    something else stood in the way, else 0. Reports are written in any case.
    """
    from evidentia.cli.check import read_contexts
    from evidentia.cli.checking_many import Wanted, judged, tell_summary
    from evidentia.cli.judging import chosen, policy
    from evidentia.cli.output import counting_bar, print_json, say, visible
    from evidentia.ledger.gate import read_verdicts
    from evidentia.ledger.outcomes import CheckedAnswers
    from evidentia.settings import comma_separated

    failing = read_verdicts(fail_on)
    files = list(_files(answers))
    given = read_contexts(contexts)
    asked = settings().judges if judges is None else comma_separated(judges) or ()
    with workspace(home, tenant, create=True) as opened:
        documents: Ingestion | None = None
        if against:
            with counting_bar("Reading") as reading:
                documents = opened.ingest(*against, progress=reading)
            for item in documents.problems:
                say(f"not read: {visible(item.problem)}", "bad", aside=True)
        with counting_bar("Checking", before="Embedding") as bar:
            check = partial(
                opened.check,
                against=documents,
                contexts=given,
                judges=chosen(asked),
                policy=policy(),
                outdated_after_days=settings().outdated_after_days,
                embedding=partial(bar, is_before=True),
            )
            rows: list[Row] = []
            for number, file in enumerate(files, 1):
                rows.append(_row(number, file, check))
                bar(number, len(files))
        keep_checkpoint(opened)
    checked = CheckedAnswers(outcome for outcome, _ in rows)
    _write(rows, failing, min_coverage, sarif=sarif, junit=junit, summary=summary)
    wanted = Wanted("json" if as_json else "table", None, failing, min_coverage, verbose=verbose)
    if as_json:
        print_json(checked.as_json())
    else:
        tell_summary(checked, verbose=verbose)
    raise typer.Exit(judged(checked, wanted, has_lines=False))


def _files(named: Sequence[str]) -> Iterator[Path]:
    """Give the files of answers, each once; raise `InputError` for a name that leads to none."""
    from evidentia.errors import InputError

    known: set[Path] = set()
    for name in named:
        found = _found(name)
        if not found:
            raise InputError(
                f"{name}: there are no answers: of a folder, files that end in "
                f"{', '.join(_ENDINGS)} are taken, of a pattern the files that it fits"
            )
        for file in found:
            if file.resolve() not in known:
                known.add(file.resolve())
                yield file
    if len(known) > MAX_ANSWERS:
        raise InputError(
            f"{len(known):,} files, {MAX_ANSWERS:,} at most: give fewer, or use check --many"
        )


def _found(name: str) -> list[Path]:
    from glob import glob

    path = Path(name)
    if path.is_dir():
        below = sorted(path.rglob("*"))
        return [one for one in below if one.suffix.lower() in _ENDINGS and one.is_file()]
    if path.exists() or not _PATTERN & set(name):
        return [path]
    fitting = sorted(glob(name, recursive=True))  # noqa: PTH207 - a Path takes no absolute pattern
    return [one for one in map(Path, fitting) if one.is_file()]


def _row(number: int, file: Path, check: "Check") -> "Row":
    """Check the answer of a file; say what became of it, with its ledger if it has one."""
    from evidentia.cli.check import name_of, read_answer
    from evidentia.errors import AccessError, EnvironmentProblem, EvidentiaError, UsageError
    from evidentia.ledger.outcomes import AnswerOutcome, Tally, claim_outcomes

    name = name_of(file)
    try:
        text, name = read_answer(str(file))
        ledger = check(text, answer_name=name)
    except (AccessError, EnvironmentProblem):
        raise
    except EvidentiaError as error:
        is_given = isinstance(error, UsageError)
        problem = str(error).removeprefix(f"{file}: ").removeprefix(f"{name}: ")
        return AnswerOutcome(number, name, problem=problem, is_given=is_given), None
    tally = Tally.of(claim_outcomes(ledger))
    made = AnswerOutcome(number, name, name, ledger.id, ledger.entry, tally=tally)
    return made, ledger.session


def _write(
    rows: "Sequence[Row]",
    fail_on: "frozenset[Verdict]",
    min_coverage: float | None,
    *,
    sarif: Path | None,
    junit: Path | None,
    summary: Path | None,
) -> None:
    from evidentia import __version__
    from evidentia.errors import environment_problem
    from evidentia.export.many import write_many
    from evidentia.export.summary import to_summary
    from evidentia.store.files import write_durably

    for file, form in ((sarif, "sarif"), (junit, "junit")):
        if file is not None:
            text = write_many(rows, form, __version__, fail_on=fail_on or None)
            write_durably(file, text.encode())
    if summary is not None:
        told = to_summary(rows, fail_on=fail_on, min_coverage=min_coverage)
        try:
            with summary.open("a", encoding="utf-8") as end:
                end.write(told)
        except OSError as error:
            raise environment_problem(error) from error

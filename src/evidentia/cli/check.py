"""`evidentia check`: tells whether an answer holds."""

import io
import json
import sys
from contextlib import nullcontext, redirect_stdout
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

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
    from collections.abc import Sequence

    from evidentia.ledger.model import Verdict
    from evidentia.ledger.session import LedgerSession
    from evidentia.loading.places import FileChange
    from evidentia.workspace.ledgers import RecordedLedger

MAX_FILE_BYTES = 2**30


Format = Literal["table", "json", "markdown", "sarif", "junit", "jsonl", "csv"]
"""How a ledger is printed; the last two are of many."""


ExportFormat = Literal["markdown", "json", "sarif", "junit", "pdf", "html"]
"""How a ledger is written for others."""


def check(
    answer: Annotated[
        str | None,
        typer.Argument(metavar="ANSWER", help="The answer: Markdown or text; - is standard input."),
    ] = None,
    many: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help='Check many: on each line an answer, {"answer": …}, and if you like id, query, '
            "title, against; - is standard input.",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            help="With --many: how many processes check, each on one core [one a core].",
        ),
    ] = None,
    again: Annotated[
        bool,
        typer.Option(
            "--again", help="With --many: check anew what was checked before and has not changed."
        ),
    ] = False,
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
    bundle: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Check against what the model saw: a bundle, or latest."),
    ] = None,
    library: Annotated[
        bool,
        typer.Option(
            "--library", help="With --contexts or --bundle: also against all that was ingested."
        ),
    ] = False,
    collections: Annotated[
        list[str] | None,
        typer.Option(
            "--collection",
            metavar="NAME",
            help="A collection to check against alone, by name or id; may be given again [all].",
        ),
    ] = None,
    as_of: Annotated[
        str | None,
        typer.Option(
            metavar="DAY",
            help="Check by what held on a day, such as 2026-01-31 [all, whether it holds or not].",
        ),
    ] = None,
    query: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The question that was asked; kept.")
    ] = None,
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The ledger's title [the file's name].")
    ] = None,
    judges: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="The judges to ask: quote,numbers,nli [all, in this order]; also llm and "
            "model:FOLDER.",
        ),
    ] = None,
    fail_on: Annotated[
        str | None,
        typer.Option(
            metavar="VERDICTS",
            help="Exit with 1 if a claim has one of: contradicted,not_found,weak,not_judged.",
        ),
    ] = None,
    min_coverage: Annotated[
        float | None,
        typer.Option(
            metavar="N",
            min=0,
            max=1,
            help="Exit with 1 if a smaller share of claims is supported or weak.",
        ),
    ] = None,
    output_format: Annotated[
        Format, typer.Option("--format", help="How to print it; jsonl and csv go with --many.")
    ] = "table",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write it to a file.")
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show quotes, notes and questions.")
    ] = False,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check an answer against documents, claim by claim.

    Each claim gets a verdict (supported, weak, contradicted, not found) with the exact quote,
    page and heading. The ledger is kept as evidence and recorded in the trail. All of it is
    offline, with no service to ask, and the same input gives the same verdicts.

    The offline judges are a first reading, seldom wrong where they say supported, and no reason
    to believe what they call probable; where that isn't enough, ask a judge behind an API
    (--judges quote,numbers,llm) or a checkpoint of your own (--judges model:FOLDER).

    Given the very passage, they call a third of the true claims supported, and 93 % of what they
    call supported is right. On whole documents the model alone never says more than
    probable, and it says so of about four in ten false claims of whole answers. More:
    docs/benchmarks.md, on claims as assistants word them and on public sets.

    Only the llm judge sends passages somewhere: to the model of EVIDENTIA_LLM_URL and
    EVIDENTIA_LLM_MODEL, once 'evidentia judge allow URL' has allowed it.

    With --contexts or --bundle the claims are checked against exactly the passages that the model
    was given, which are kept whole with the ledger; nothing is ingested. --library, or --against,
    asks the documents too, and the ledger says which of the two the evidence is from.

    Without --fail-on and --min-coverage the exit code is 0 whatever the verdicts are. With --many
    they hold for each answer. What could not be checked is reported, the others go on, and the exit
    code is 2 if its line is no answer and 3 if something else stood in the way. A run that was
    stopped goes on where it was when it is given again: what was checked before, against the same
    documents by the same judges, is not checked again.
    """
    from evidentia.cli.judging import chosen, policy
    from evidentia.cli.ledger_view import changed_files
    from evidentia.cli.output import counting_bar, say, visible
    from evidentia.ledger.gate import gate_failures, read_verdicts
    from evidentia.settings import comma_separated

    failing = read_verdicts(fail_on or "")
    form = "json" if as_json else output_format
    if many is not None:
        from evidentia.cli.checking_many import Wanted, check_file, refuse

        alone: dict[str, object] = {"ANSWER": answer, "--query": query, "--title": title}
        alone |= {"--contexts": contexts, "--bundle": bundle, "--library": library or None}
        alone |= {"--as-of": as_of, "--collection": collections or None}
        refuse(alone, form, output)
        gate = Wanted(form, output, failing, min_coverage, verbose=verbose)
        names = settings().judges if judges is None else comma_separated(judges) or ()
        with workspace(home, tenant, create=True) as opened:
            check_file(opened, many, against, names, workers, gate, again=again)
    text, name = read_answer(_one(answer, form, workers, again=again))
    given = read_contexts(contexts)
    asked = settings().judges if judges is None else comma_separated(judges) or ()
    with workspace(home, tenant, create=True) as opened:
        documents = None
        if against:
            with counting_bar("Reading") as progress:
                documents = opened.ingest(*against, progress=progress)
        told = documents is not None and documents.results and form != "table"
        for item in documents.problems if documents and told else ():
            say(f"not read: {visible(item.problem)}", "bad", aside=True)
        with counting_bar("Judging", before="Embedding") as progress:
            ledger = opened.check(
                text,
                against=documents,
                contexts=given,
                bundle=bundle,
                library=library,
                collections=collections or None,
                as_of=as_of,
                query=query,
                title=title,
                answer_name=name,
                judges=chosen(asked),
                policy=policy(),
                outdated_after_days=settings().outdated_after_days,
                progress=progress,
                embedding=partial(progress, is_before=True),
            )
        keep_checkpoint(opened)
    session = ledger.session
    print_ledger(
        session,
        form,
        output,
        failing=failing,
        verbose=verbose,
        file_changes=ledger.file_changes,
    )
    for line in changed_files(ledger.file_changes):
        say(line, "unknown", aside=form != "table")
    _tell(ledger, form, asked)
    failures = gate_failures(ledger, fail_on=failing, min_coverage=min_coverage)
    for failure in failures:
        say(f"does not pass: {failure}", "bad", aside=True)
    raise typer.Exit(1 if failures else 0)


def _tell(ledger: "RecordedLedger", form: Format, asked: "Sequence[str] | None") -> None:
    """Say, below a table, what was checked, where it is recorded, and what comes next."""
    from evidentia.cli.judging import took
    from evidentia.cli.ledger_view import not_readable
    from evidentia.cli.output import say, visible
    from evidentia.export.shown import checked_against
    from evidentia.judges.nli.model import has_weights

    session = ledger.session
    if form == "table":
        if session.contexts is not None:
            say(f"Checked against {checked_against(session)}.")
        say(f"Ledger {ledger.id} is entry {ledger.entry} of the trail.", "good")
        for service in session.judging.services if session.judging else ():
            say(f"Asked {visible(took(service))}", under=True)
        say(f"Prove it to a stranger: evidentia ledger prove {ledger.id} -o proof.json", under=True)
        if asked is None and "nli" not in session.judges and has_weights():
            say("Judged by words and numbers alone. By meaning too: pip install 'evidentia[judge]'")
    elif said := not_readable(session):
        say(said, "unknown", aside=True)


def print_ledger(
    session: "LedgerSession",
    output_format: Format,
    output: Path | None,
    *,
    failing: "frozenset[Verdict]" = frozenset(),
    verbose: bool = False,
    file_changes: "Sequence[FileChange]" = (),
) -> None:
    """Print a ledger in a format, or write it to a file; JSON tells of files that changed too."""
    from evidentia.cli.output import say
    from evidentia.store.files import write_durably

    printed = io.StringIO()
    with redirect_stdout(printed) if output else nullcontext():
        if output_format == "table":
            from evidentia.cli.ledger_view import show_ledger

            show_ledger(session, verbose=verbose)
        else:
            from evidentia.export.forms import export_ledger

            text = export_ledger(session, output_format, fail_on=failing or None)
            if output_format == "json" and file_changes:
                told = {"file_changes": [change.as_json() for change in file_changes]}
                text = f"{json.dumps(json.loads(text) | told, indent=2, ensure_ascii=False)}\n"
            typer.echo(text, nl=False)
    if output is not None:
        write_durably(output, printed.getvalue().encode())
        say(f"The ledger is in {output}.", "good", aside=True)


def _one(answer: str | None, form: str, workers: int | None, *, again: bool) -> str:
    """Return the one answer that is given; raise `UsageError` for what goes with many."""
    from evidentia.errors import UsageError

    if answer is None:
        raise UsageError("there is no answer: give a file, - for standard input, or --many FILE")
    if workers is not None or again or form in {"jsonl", "csv"}:
        raise UsageError(
            "--workers, --again and the formats jsonl and csv go with --many FILE, which this is "
            "not"
        )
    return answer


def read_answer(answer: str) -> tuple[str, str]:
    """Return the answer's text and its name; raise `InputError` for what is no text."""
    from evidentia.errors import InputError
    from evidentia.proof.files import read_bytes
    from evidentia.workspace.ledgers import MAX_ANSWER_BYTES

    if answer == "-":
        data, name = sys.stdin.buffer.read(MAX_ANSWER_BYTES + 1), "standard input"
    else:
        data, name = read_bytes(answer, MAX_FILE_BYTES), name_of(Path(answer))
    if len(data) > MAX_ANSWER_BYTES:
        raise InputError(
            f"{name}: larger than the {MAX_ANSWER_BYTES:,} bytes that an answer may have: "
            "check it in parts"
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(
            f"{name}: not UTF-8 text: an answer is Markdown or plain text, not a document"
        ) from None
    return text, name


def read_contexts(path: Path | None) -> list[Any] | None:
    """Return what a file of contexts has, if one is named; `InputError` says what is wrong."""
    if path is None:
        return None
    from evidentia.ledger.given import MAX_CONTEXT_FILE, parse_contexts
    from evidentia.proof.files import read_bytes

    return parse_contexts(read_bytes(str(path), MAX_CONTEXT_FILE), path.name)


def name_of(path: Path) -> str:
    """Return what an answer is called: its place below this folder, as reviews name files."""
    here = Path.cwd().resolve()
    place = path.resolve()
    return place.relative_to(here).as_posix() if place.is_relative_to(here) else path.name

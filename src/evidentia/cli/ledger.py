"""`evidentia ledger`: list, show, export and prove what checks came to."""

from pathlib import Path
from typing import Annotated

import typer

from evidentia.cli.check import ExportFormat, print_ledger
from evidentia.cli.exporting import (
    ForceOption,
    LangOption,
    TypefaceOption,
    export_each,
    refuse_pdf,
    rendering,
    say_exported,
)
from evidentia.cli.options import HomeOption, JsonOption, TenantOption, workspace

app = typer.Typer(rich_markup_mode=None)

LedgerArgument = Annotated[
    str,
    typer.Argument(
        metavar="LEDGER",
        help="The ledger's id, a session's id (its newest), latest, or latest~1 (the one before).",
    ),
]


@app.command("list")
def list_(
    before: Annotated[
        int | None, typer.Option(metavar="ENTRY", help="Only ledgers before this entry.")
    ] = None,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, max=10_000, help="How many at most.")
    ] = 20,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """List ledgers, newest first, page by page."""
    from evidentia.cli.output import print_json, print_table, say
    from evidentia.export.shown import minute
    from evidentia.ledger.confidence import percent

    with workspace(home, tenant, read_only=True) as opened:
        found = opened.ledgers.list(before=before, limit=limit + 1)
    shown, more = found[:limit], len(found) > limit
    older = shown[-1].entry if more else None
    if as_json:
        print_json({"ledgers": [listed.as_json() for listed in shown], "next_before": older})
        return
    if not shown:
        say("There are no ledgers yet; 'evidentia check ANSWER --against FOLDER' makes one.")
        return
    print_table(
        ("Made", "Ledger", "Title", "Claims", "Coverage", "Contradicted", "Entry"),
        [
            (
                minute(listed.created_at),
                listed.id,
                listed.title,
                listed.summary["total_claims"],
                percent(listed.summary["evidence_coverage"]),
                listed.summary["by_verdict"]["contradicted"],
                listed.entry,
            )
            for listed in shown
        ],
        right=("Claims", "Coverage", "Contradicted", "Entry"),
    )
    if older is not None:
        say(f"Older ones: evidentia ledger list --before {older}")


@app.command()
def show(
    ledger: LedgerArgument,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show quotes, notes and questions.")
    ] = False,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a ledger as it was when it was made."""
    from evidentia.cli.output import print_json, say, say_fingerprint, visible

    with workspace(home, tenant, read_only=True) as opened:
        listed = opened.ledgers.find(ledger)
        found = opened.ledgers.get(listed.id)
    session = found.session
    if as_json:
        kept = session.model_dump(mode="json", include={"id", "title", "query", "mode"})
        print_json({"ledger": session.ledger.model_dump(mode="json"), "session": kept})
        return
    say(f"{visible(session.title)}, checked {visible(session.ledger.created_at)}")
    if session.query:
        say(f"Question: {visible(session.query)}")
    print_ledger(session, "table", None, verbose=verbose)
    say(f"Entry {found.entry} of the trail; checked against {session.documents_told}.")
    say_fingerprint(listed.statement_sha256)
    if session.ledger.previous_ledger_id:
        say(f"The same answer was checked before: {session.ledger.previous_ledger_id}")


@app.command()
def export(
    ledgers: Annotated[
        list[str],
        typer.Argument(
            metavar="LEDGER",
            help="The ledger's id, a session's id (its newest), latest, or latest~1; or several, "
            "as PDFs.",
        ),
    ],
    output_format: Annotated[
        ExportFormat | None,
        typer.Option("--format", help="The form to write it in [markdown]."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Write it to a file; several PDFs: a folder."
        ),
    ] = None,
    lang: LangOption = None,
    typeface: TypefaceOption = None,
    force: ForceOption = False,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a ledger for others: Markdown and PDF to read, JSON for programs, SARIF, JUnit for CI.

    A PDF proves itself: whoever has the file and your public key ('evidentia keys show') verifies
    it offline with 'evidentia verify FILE --key KEY'.
    """
    from evidentia.errors import InputError

    how = rendering(lang, typeface, pdf=output_format == "pdf")
    if output_format == "pdf":
        if output is None:
            raise InputError("a PDF is written to a file: give -o FILE")
        with workspace(home, tenant) as opened:

            def write(one: str, file: Path) -> Path:
                return opened.ledgers.export(one, file, overwrite=force, form="pdf", **how)

            names = [opened.ledgers.find(name).id for name in ledgers]
            files = export_each(names, output, ".pdf", write, force=force)
            key = opened.trail.public_key()
        say_exported("ledger", "ledgers", files, str(key), as_json=as_json)
        return
    if len(ledgers) > 1:
        raise InputError("several ledgers are exported as PDFs: give --format pdf -o FOLDER")
    refuse_pdf(output)
    form = "json" if as_json else output_format or "markdown"
    with workspace(home, tenant, read_only=True) as opened:
        session = opened.ledgers.get(ledgers[0]).session
    print_ledger(session, form, output)


@app.command()
def prove(
    ledger: LedgerArgument,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write it to a file.")
    ] = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Prove a ledger: one file with the signed ledger and its place in the trail.

    Whoever has the file and your public key ('evidentia keys show') verifies it offline with
    'evidentia verify FILE --key KEY'.
    """
    from evidentia.cli.output import hand_over

    with workspace(home, tenant) as opened:
        proof = opened.ledgers.prove(ledger)
        key = opened.trail.public_key()
    of = f"ledger {proof.entry.subject}"
    hand_over(proof.as_json(), of, str(key), output, as_json=as_json)


@app.command()
def verify(
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare every ledger with what the trail says of it.

    'evidentia trail verify' checks the trail itself.
    """
    from evidentia.cli.output import counting_bar, print_json, say, visible
    from evidentia.language.counting import agreed, counted

    with workspace(home, tenant, read_only=True) as opened, counting_bar("Verifying") as progress:
        problems = opened.ledgers.audit(progress=progress)
        count = len(opened.ledgers.list())
    if as_json:
        print_json({"holds": not problems, "ledgers": count, "problems": problems})
    elif problems:
        of = f"{len(problems):,} of {counted(count, 'ledger')}"
        say(f"{of} {agreed(len(problems), 'does', 'do')} not hold", "bad")
        for problem in problems:
            say(visible(problem), "bad", under=True)
    else:
        them = agreed(count, "it", "them")
        say(f"{counted(count, 'ledger')}, as the trail names {them}", "good")
    raise typer.Exit(1 if problems else 0)

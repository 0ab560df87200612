"""`evidentia ledger`: list, show, export and prove what checks came to."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evidentia.cli.check import ExportFormat, print_ledger
from evidentia.cli.exporting import (
    ForceOption,
    HtmlOption,
    LangOption,
    TypefaceOption,
    export_each,
    refuse_pdf,
    refuse_two_forms,
    rendering,
    say_exported,
)
from evidentia.cli.options import HomeOption, JsonOption, TenantOption, workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evidentia.workspace.membership import LedgerCorpus

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
    from evidentia.export.shown import checked_against

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
    say(f"Entry {found.entry} of the trail; checked against {checked_against(session)}.")
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
            "as PDFs or pages.",
        ),
    ],
    output_format: Annotated[
        ExportFormat | None,
        typer.Option("--format", help="The form to write it in [markdown]."),
    ] = None,
    html: HtmlOption = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Write it to a file; several: a folder."
        ),
    ] = None,
    lang: LangOption = None,
    typeface: TypefaceOption = None,
    force: ForceOption = False,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a ledger for others: to read (Markdown, PDF, HTML), JSON, SARIF, JUnit for CI.

    A PDF proves itself, and so does an HTML page, which verifies itself in any browser, without a
    network: whoever has the file and your public key ('evidentia keys show') verifies it offline
    with 'evidentia verify FILE --key KEY'.
    """
    from evidentia.errors import InputError

    refuse_two_forms(output_format, html=html)
    chosen: ExportFormat = "html" if html else output_format or "markdown"
    how = rendering(lang, typeface, pdf=chosen == "pdf")
    if chosen == "pdf" or chosen == "html":  # noqa: PLR1714 - so a type checker knows the rest
        if output is None:
            what = "a PDF" if chosen == "pdf" else "an HTML page"
            raise InputError(f"{what} is written to a file: give -o FILE")
        with workspace(home, tenant) as opened:

            def write(one: str, file: Path) -> Path:
                return opened.ledgers.export(one, file, overwrite=force, form=chosen, **how)

            def write_many(
                targets: "Mapping[str, Path]", progress: "Callable[[int, int], None]"
            ) -> list[Path]:
                return opened.ledgers.export_many(
                    targets, overwrite=force, form=chosen, progress=progress, **how
                )

            names = [opened.ledgers.find(name).id for name in ledgers]
            files = export_each(names, output, f".{chosen}", write, force=force, many=write_many)
            key = opened.trail.public_key()
        say_exported("ledger", "ledgers", files, str(key), as_json=as_json)
        return
    if len(ledgers) > 1:
        raise InputError(
            "several ledgers are exported as PDFs or pages: give --format pdf -o FOLDER, or --html"
        )
    refuse_pdf(output)
    with workspace(home, tenant, read_only=True) as opened:
        session = opened.ledgers.get(ledgers[0]).session
    print_ledger(session, "json" if as_json else chosen, output)


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
def corpus(
    ledger: LedgerArgument,
    prove: Annotated[
        str | None,
        typer.Option(
            "--prove",
            metavar="DOCUMENT",
            help="Prove that a document was or wasn't in it: its id, a version of it (doc_…@1), "
            "or COLLECTION/FILENAME.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write the proof to a file."),
    ] = None,
    after: Annotated[
        str | None, typer.Option(metavar="ID", help="Only what comes after this one in the list.")
    ] = None,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, max=10_000, help="How many at most.")
    ] = 50,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """List what a ledger was checked against, or prove that a document was or wasn't in it.

    The list is made again from the trail, and must lead to what the ledger commits to. A proof has
    nothing of the answer; whoever has it and your public key ('evidentia keys show') verifies it
    offline with 'evidentia verify FILE --key KEY'.
    """
    from evidentia.cli.output import print_json
    from evidentia.errors import InputError

    if prove is not None:
        _prove_document(ledger, prove, output, home, tenant, as_json=as_json)
        return
    if output is not None:
        raise InputError("-o is where a proof is written: give --prove DOCUMENT, or leave it out")
    with workspace(home, tenant, read_only=True) as opened:
        found = opened.ledgers.corpus(ledger, after=after, limit=limit)
    if as_json:
        print_json(found.as_json())
    else:
        _print_corpus(found)


def _prove_document(
    ledger: str,
    document: str,
    output: Path | None,
    home: Path | None,
    tenant: str | None,
    *,
    as_json: bool,
) -> None:
    from evidentia.cli.output import print_json, say, visible, write_json

    with workspace(home, tenant) as opened:
        proof = opened.ledgers.prove_corpus(ledger, document)
        key = opened.trail.public_key()
    if output is None:
        print_json(proof.as_json())
        return
    write_json(output, proof.as_json())
    found = proof.finding()
    if as_json:
        print_json({"file": str(output), "public_key": str(key), **found.as_json()})
        return
    told = visible(found.told)
    say(f"{told[0].upper()}{told[1:]}.", "good")
    say(f"The proof is in {output}. Whoever trusts the key verifies it with:")
    say(f"evidentia verify {output} --key {key}", under=True)


def _print_corpus(found: "LedgerCorpus") -> None:
    from evidentia.cli.output import print_table, say
    from evidentia.language.counting import counted

    documents = counted(found.documents, "document")
    used = "all" if found.used == found.documents else f"{found.used:,}"
    say(f"Ledger {found.ledger_id} was checked against {used} of {documents}, versions counted.")
    if found.named is not None:
        where = "" if found.named.entry is None else f", as entry {found.named.entry} names it"
        say(f"The library has the root {found.named.root}{where}.")
    print_table(
        ("Document", "Version", "Id", "SHA-256", "Checked"),
        [
            (
                f"{one.collection}/{one.filename}",
                one.version,
                one.id,
                one.sha256[:16],
                "yes" if one.used else "left out",
            )
            for one in found.versions
        ],
        right=("Version",),
    )
    if found.next_after is not None:
        say(f"More: evidentia ledger corpus {found.ledger_id} --after {found.next_after}")


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

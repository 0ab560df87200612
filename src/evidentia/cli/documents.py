"""`evidentia ingest`, `documents` and `cite`: the documents that answers are checked against."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evidentia.cli.group import Group
from evidentia.cli.options import HomeOption, JsonOption, TenantOption, workspace

if TYPE_CHECKING:
    from evidentia.loading.ingesting import Ingestion

app = typer.Typer(
    cls=Group,
    help="List the documents of the library.",
    rich_markup_mode=None,
    add_completion=False,
    invoke_without_command=True,
)


def ingest(
    targets: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH",
            help="Folders, or single files: PDF, DOCX, PPTX, XLSX, CSV, HTML, EPUB, Markdown, RST, "
            "Jupyter notebooks, e-mail or text.",
        ),
    ],
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Read documents into the library, to check answers against.

    A file that was read before is not read again; one that changed is a new version of the same
    document, and the older one stays. A file that cannot be read is named with the reason, the
    others go on, and the exit code is 1.
    """
    from evidentia.cli.output import counting_bar, print_json

    with workspace(home, tenant, create=True) as opened, counting_bar("Reading") as progress:
        done = opened.ingest(*targets, progress=progress)
    if as_json:
        print_json(
            {
                "documents": [
                    {**result.document.as_json(), "outcome": result.outcome}
                    for result in done.results
                ],
                "problems": [
                    {"filename": item.filename, "problem": item.problem} for item in done.problems
                ],
                "left_out": [
                    {"filename": name, "reason": reason} for name, reason in done.left_out
                ],
            }
        )
    else:
        _report(done)
    raise typer.Exit(1 if done.problems else 0)


@app.callback()
def _default(
    context: typer.Context,
    all_versions: Annotated[
        bool, typer.Option("--all", help="List older versions too, not only the newest.")
    ] = False,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    if context.invoked_subcommand is None:
        _list(home, tenant, all_versions=all_versions, as_json=as_json)


@app.command()
def record(
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Record in the trail the documents that no entry of it records.

    Those are of a workspace made before documents were recorded as they are read: look at
    'evidentia documents --all' first, for what is recorded is what is there now. A document whose
    original is gone, or whose passages contradict themselves, is named, and the exit code is 1.
    """
    from evidentia.cli.output import counting_bar, print_json, say, visible
    from evidentia.language.counting import counted

    with workspace(home, tenant) as opened, counting_bar("Recording") as progress:
        done = opened.documents.record_missing(progress=progress)
    if as_json:
        print_json(
            {
                "recorded": [document.as_json() for document in done.recorded],
                "problems": list(done.problems),
            }
        )
        raise typer.Exit(1 if done.problems else 0)
    if not done.recorded and not done.problems:
        say("Every document is recorded in the trail already.", "good")
    elif done.recorded:
        say(f"{counted(len(done.recorded), 'version')} of documents recorded:", "good")
    for one in done.recorded:
        said = f"{one.collection}/{one.filename}, version {one.version} of {one.created_at}"
        say(visible(said), under=True)
    for problem in done.problems:
        say(visible(problem), "bad", under=True)
    raise typer.Exit(1 if done.problems else 0)


def _list(home: Path | None, tenant: str | None, *, all_versions: bool, as_json: bool) -> None:
    from evidentia.cli.output import print_json, print_table, say

    with workspace(home, tenant, read_only=True) as opened:
        found = opened.documents.list(all_versions=all_versions)
    if as_json:
        print_json({"documents": [document.as_json() for document in found]})
    elif not found:
        say("There are no documents yet; 'evidentia ingest FOLDER' reads some.")
    else:
        print_table(
            ("Document", "Version", "Pages", "Passages", "Language", "Dated", "Id"),
            [
                (
                    f"{document.collection}/{document.filename}",
                    document.version,
                    document.pages,
                    document.chunks,
                    document.language or "-",
                    document.dated or "-",
                    document.id,
                )
                for document in found
            ],
            right=("Version", "Pages", "Passages"),
        )


def cite(
    anchor: Annotated[
        str, typer.Argument(metavar="ANCHOR", help="What stands in [cite:…]; 8 characters or more.")
    ],
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the passage that a citation leads to, and every place it stands in."""
    from evidentia.cli.output import print_json, say, visible

    name = anchor.strip().removeprefix("[").removesuffix("]").removeprefix("cite:").strip()
    with workspace(home, tenant, read_only=True) as opened:
        found = opened.documents.resolve(name)
        known = {document.id: document for document in opened.documents.list()}
        places = [(chunk, known[chunk.document_id]) for chunk in found.places]
        current = {
            chunk.chunk_id
            for document in {document.id: document for _, document in places}.values()
            for chunk in opened.documents.chunks(document)
        }
    if as_json:
        print_json(found.model_dump(mode="json"))
        raise typer.Exit(0 if found.resolved else 1)
    if found.chunk is None:
        say(f"[cite:{visible(name)}]: {found.error}", "bad")
        if not found.candidates:
            say("'evidentia documents' lists what is in the library.", under=True)
        for candidate in found.candidates:
            say(candidate, under=True)
        raise typer.Exit(1)
    for chunk, document in places:
        page = f", page {chunk.page}" if document.media_type == "application/pdf" else ""
        headings = "".join(f" > {visible(heading)}" for heading in chunk.heading_path)
        offsets = f"characters {chunk.start}–{chunk.end}"  # noqa: RUF001 - a range, for people
        older = "" if chunk.chunk_id in current else ", of an older version"
        say(f"{visible(document.filename)}{page}{headings} ({offsets}{older})", "good")
    say("")
    for line in found.chunk.text.splitlines():
        say(visible(line), under=True)


def _report(done: "Ingestion") -> None:
    from evidentia.cli.output import first_few, say, visible
    from evidentia.documents.reading.document import FORMATS
    from evidentia.language.counting import counted

    outcomes = [result.outcome for result in done.results]
    if done.results:
        parts = [
            f"{outcomes.count(outcome)} {outcome}"
            for outcome in ("added", "changed", "unchanged")
            if outcome in outcomes
        ]
        pages = counted(sum(item.pages for item in done.documents), "page")
        passages = counted(sum(item.chunks for item in done.documents), "passage")
        read = counted(len(done.results), "document")
        say(f"{read}: {', '.join(parts)} ({pages}, {passages}).", "good")
    elif not done.problems:
        say(f"There was no document to read. What is read: {FORMATS}.")
    for result in done.results:
        for warning in result.document.warnings:
            say(f"{visible(result.document.filename)}: {visible(warning)}", "unknown", under=True)
    for item in done.problems:
        say(visible(item.problem), "bad", under=True)
    for why in dict.fromkeys(reason for _, reason in done.left_out):
        names = [name for name, reason in done.left_out if reason == why]
        say(f"{counted(len(names), 'file')} left out ({why}): {visible(first_few(names))}")

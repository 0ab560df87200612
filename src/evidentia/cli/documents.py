"""`evidentia ingest`, `documents` and `cite`: the documents that answers are checked against."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evidentia.cli.group import Group
from evidentia.cli.options import HomeOption, JsonOption, TenantOption, workspace

if TYPE_CHECKING:
    from evidentia.loading.ingesting import Ingestion
    from evidentia.store.sql.library import StoredDocument
    from evidentia.workspace import Workspace

app = typer.Typer(
    cls=Group,
    help="List the documents of the library, and take some out.",
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
    sync: Annotated[
        bool,
        typer.Option(
            "--sync", help="Make the library what one folder is: take out what is gone from it."
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --sync: only say what it would do.")
    ] = False,
    allow_removals: Annotated[
        bool,
        typer.Option(
            "--allow-removals", help="With --sync: take out more than a tenth of the documents."
        ),
    ] = False,
    collection: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The collection they belong to, by id or name [the one of their folder].",
        ),
    ] = None,
    effective: Annotated[
        str | None,
        typer.Option(
            metavar="FROM..UNTIL",
            help="When they hold, such as 2026-01-01..2026-12-31 [what they say themselves].",
        ),
    ] = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Read documents into the library, to check answers against.

    A file that was read before is not read again; one that changed is a new version of the same
    document, and the older one stays. A file that cannot be read is named with the reason, the
    others go on, and the exit code is 1.

    With --sync the library becomes what the folder is: documents whose files are gone from it are
    taken out, as 'evidentia documents remove' does. A folder without documents is refused, and so
    is taking out more than a tenth.

    A folder is a collection, and two folders of one name are two. Where a folder was moved, or the
    workspace is on another machine, --collection says which one it is.
    """
    from evidentia.cli.output import counting_bar, print_json
    from evidentia.errors import UsageError

    if sync:
        if len(targets) != 1:
            raise UsageError("--sync takes one folder")
        _sync(
            targets[0],
            home,
            tenant,
            collection=collection,
            effective=effective,
            dry_run=dry_run,
            limit=1 if allow_removals else 0.1,
            as_json=as_json,
        )
        return
    if dry_run or allow_removals:
        raise UsageError("--dry-run and --allow-removals are of --sync")
    with workspace(home, tenant, create=True) as opened, counting_bar("Reading") as progress:
        done = opened.ingest(
            *targets, collection=collection, effective=effective, progress=progress
        )
        labels = _labels(opened)
    if as_json:
        print_json(_ingested(done))
    else:
        _report(done)
        _tell_apart(done, labels)
    raise typer.Exit(1 if done.problems else 0)


def _labels(opened: "Workspace") -> dict[str, str]:
    """Return what collections are called in lists, by their ids."""
    return {one.id: one.label for one in opened.documents.collections()}


def _tell_apart(done: "Ingestion", labels: dict[str, str]) -> None:
    """Say which collections were read that are not the only ones of their names."""
    from evidentia.cli.output import say, visible

    read = {one.collection_id: one.collection for one in done.documents}
    for identity, name in read.items():
        if labels[identity] != name:
            said = f"The collection is {labels[identity]} ({identity}): another is called {name}."
            say(visible(said), "unknown", under=True)


def _ingested(done: "Ingestion") -> dict[str, Any]:
    return {
        "documents": [
            {**result.document.as_json(), "outcome": result.outcome} for result in done.results
        ],
        "problems": [
            {"filename": item.filename, "problem": item.problem} for item in done.problems
        ],
        "left_out": [{"filename": name, "reason": reason} for name, reason in done.left_out],
    }


def _sync(
    folder: Path,
    home: Path | None,
    tenant: str | None,
    *,
    collection: str | None,
    effective: str | None,
    dry_run: bool,
    limit: float,
    as_json: bool,
) -> None:
    from evidentia.cli.output import counting_bar, print_json, say, visible
    from evidentia.language.counting import counted

    with workspace(home, tenant, create=True) as opened:
        sync = partial(opened.documents.sync, folder, collection=collection, effective=effective)
        planned = sync(dry_run=True)
        if not as_json:
            parts = [
                f"{len(names)} {what}"
                for what, names in (
                    ("to add", planned.added),
                    ("changed", planned.changed),
                    ("unchanged", planned.unchanged),
                    ("to take out", planned.removed),
                )
                if names
            ]
            say(f"{visible(planned.collection)}: {', '.join(parts)}")
            for name in (*planned.added, *planned.changed):
                say(f"+ {visible(name)}", under=True)
            for one in planned.removed:
                say(f"- {visible(one.filename)}", under=True)
        if dry_run:
            if as_json:
                print_json({**planned.as_json(), "ingestion": None})
            return
        with counting_bar("Reading") as progress:
            synced = sync(limit=limit, progress=progress)
        labels = _labels(opened)
    done = synced.ingestion
    if done is None:  # pragma: no cover - it is done
        return
    if as_json:
        print_json({**synced.as_json(), "ingestion": _ingested(done)})
    else:
        _report(done)
        _tell_apart(done, labels)
        if synced.entries:
            say(f"{counted(len(synced.entries), 'document')} taken out.", "good")
    raise typer.Exit(1 if done.problems else 0)


@app.callback()
def _default(
    context: typer.Context,
    all_versions: Annotated[
        bool, typer.Option("--all", help="List older versions too, not only the newest.")
    ] = False,
    collection: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="List one collection, by its name or id [all]."),
    ] = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    if context.invoked_subcommand is None:
        _list(home, tenant, collection, all_versions=all_versions, as_json=as_json)


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


@app.command()
def remove(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Documents: ids, or names as the list shows them."),
    ] = None,
    folder: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="All of a collection, or of a folder within one."),
    ] = None,
    missing: Annotated[
        bool, typer.Option("--missing", help="All whose files are gone from where they were read.")
    ] = False,
    erase: Annotated[
        bool,
        typer.Option("--erase", help="Erase their text for good, also of ones taken out."),
    ] = False,
    reason: Annotated[
        str, typer.Option(metavar="TEXT", help="Why; recorded.")
    ] = "not to be checked against any more",
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask for confirmation.")] = False,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take documents out of the library: no later check uses them.

    The trail says so. The text is kept, so that ledgers which cite it still open and its citations
    still resolve. A document that is ingested again is back, as a further version.

    With --erase the text goes: the passages, what was made of them, the search index is built anew,
    and the original is removed unless something else needs it. It can't be undone. A ledger that
    quotes the document keeps its quotes. A document that a pack on legal hold rests on is refused.
    """
    from evidentia.cli.output import print_json, say, visible
    from evidentia.errors import UsageError
    from evidentia.language.counting import counted

    if not names and folder is None and not missing:
        raise UsageError("name documents, or give --folder FOLDER or --missing")
    with workspace(home, tenant) as opened:
        found = opened.documents.named(
            *(names or ()), folder=folder, missing=missing, removed=erase
        )
        labels = _labels(opened)
        if found and not yes:
            for one in found:
                called = f"{labels[one.collection_id]}/{one.filename}, version {one.version}"
                say(visible(called), under=True)
            number = counted(len(found), "document")
            question = (
                f"Erase the text of {number} for good?"
                if erase
                else f"Take {number} out of the library?"
            )
            if not typer.confirm(question):
                raise UsageError("nothing was erased" if erase else "nothing was taken out")
        done = opened.documents.remove(*found, reason=reason, erase=erase) if found else []
    if as_json:
        print_json({"removed": [one.as_json() for one in done]})
        return
    if not done:
        say("There is nothing to erase any more." if erase else "There is nothing to take out.")
    for gone in done:
        called = visible(f"{labels[gone.document.collection_id]}/{gone.document.filename}")
        what = "taken out, and its text erased" if gone.erased else "taken out"
        say(f"{called} is {what}; entry {gone.entry} records it.", "good")


def _list(
    home: Path | None,
    tenant: str | None,
    collection: str | None,
    *,
    all_versions: bool,
    as_json: bool,
) -> None:
    from evidentia.cli.output import print_json, print_table, say, visible

    with workspace(home, tenant, read_only=True) as opened:
        found = opened.documents.list(all_versions=all_versions, collection=collection)
        labels = _labels(opened)
    shown = {one.collection_id for one in found if labels[one.collection_id] != one.collection}
    held = any(one.effective_from or one.effective_until for one in found)
    if as_json:
        print_json({"documents": [document.as_json() for document in found]})
    elif not found:
        say("There are no documents yet; 'evidentia ingest FOLDER' reads some.")
    else:
        print_table(
            (
                *("Document", "Version", "Pages", "Passages", "Language", "Dated"),
                *(("Holds",) if held else ()),
                "Id",
            ),
            [
                (
                    f"{labels[document.collection_id]}/{document.filename}",
                    document.version,
                    document.pages,
                    document.chunks,
                    document.language or "-",
                    document.dated or "-",
                    *((_holds(document),) if held else ()),
                    document.id,
                )
                for document in found
            ],
            right=("Version", "Pages", "Passages"),
        )
        for identity in sorted(shown, key=lambda one: labels[one]):
            say(visible(f"{labels[identity]} is {identity}."), under=True)


def _holds(document: "StoredDocument") -> str:
    first, last = document.effective_from, document.effective_until
    return f"{first or ''}..{last or ''}" if first or last else "-"


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
        known = {document.id: document for document in opened.documents.list(removed=True)}
        there = {document.id for document in opened.documents.list()}
        places = [(chunk, known[chunk.document_id]) for chunk in found.places]
        current = {
            chunk.chunk_id
            for document in {document.id: document for _, document in places}.values()
            for chunk in opened.documents.chunks(document)
        }
    if as_json:
        print_json(
            {
                **found.model_dump(mode="json"),
                "chunk": found.chunk and found.chunk.as_json(),
                "places": [chunk.as_json() for chunk in found.places],
            }
        )
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
        if document.id not in there:
            older = ", of a document that was taken out of the library"
        seen = "" if chunk.ocr is None else f", read by OCR, {chunk.ocr:.0%} sure"
        say(f"{visible(document.filename)}{page}{headings} ({offsets}{older}{seen})", "good")
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

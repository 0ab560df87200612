"""`evidentia bundle`: build, look at, compare and verify what a model saw."""

from pathlib import Path
from typing import Annotated, Literal, NoReturn

import typer

from evidentia.cli.bundle_jobs import read_connections, read_job
from evidentia.cli.options import HomeOption, JsonOption, TenantOption, workspace
from evidentia.errors import InputError, NotFoundError

app = typer.Typer(rich_markup_mode=None)

BundleArgument = Annotated[
    str,
    typer.Argument(
        metavar="BUNDLE",
        help="The bundle's id, its first 8 digits, latest, or latest~1 (the one before).",
    ),
]


RenderForm = Literal["text", "anthropic", "openai"]
"""The forms that a bundle is handed to a model in."""


OnErrorChoice = Literal["raise", "record"]
"""What is done about evidence that cannot be loaded."""


@app.command()
def build(
    config: Annotated[
        Path,
        typer.Option(
            "-c",
            "--config",
            metavar="JOB.json",
            help="The job: job_input, evidence_refs, policy, lake_root, on_error, connections.",
        ),
    ],
    lake_root: Annotated[
        Path | None,
        typer.Option(
            "--lake",
            metavar="FOLDER",
            help="Where the references' files are; the job's lake_root, or its folder, by default.",
        ),
    ] = None,
    connection: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=URL", help="A database for live SQL; may be given often."),
    ] = None,
    on_error: Annotated[
        OnErrorChoice | None,
        typer.Option(help="Stop at evidence that cannot be loaded, or record it in its place."),
    ] = None,
    run_id: Annotated[
        str | None,
        typer.Option("--run", metavar="RUN", help="Record that this run uses the bundle."),
    ] = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Build a bundle of what a job names, and record it in the trail.

    The job's lake_root is looked for from the job's own folder. The same inputs and policy give
    the same bundle, to the last byte; if it redacts, only with the same key of the workspace.
    """
    from evidentia.bundles.references import read_references
    from evidentia.cli.bundle_view import said_lost
    from evidentia.cli.output import counting_bar, print_json, say
    from evidentia.export.told import bundle_outcomes, bundle_size
    from evidentia.language.counting import counted
    from evidentia.loading.assembling import as_policy
    from evidentia.workspace.bundles import check_run_id

    job = read_job(config)
    try:  # before a workspace is made
        read_references(job["job_input"], job["evidence_refs"])
        as_policy(job["policy"])
    except InputError as error:
        raise InputError(f"{config}: {error}") from None
    if run_id is not None:
        check_run_id(run_id)
    root = lake_root or (config.parent / job["lake_root"])
    connections = {**job["connections"], **read_connections(connection or [])}
    with workspace(home, tenant, create=True) as opened, counting_bar("Loading") as progress:
        before = opened.trail.size
        try:
            bundle = opened.bundle(
                job["job_input"],
                job["evidence_refs"],
                job["policy"],
                lake_root=root,
                on_error=on_error or job["on_error"],
                connections=connections,
                progress=progress,
            )
        except (InputError, NotFoundError) as error:
            raise type(error)(f"{config}: {error}") from None
        if run_id is not None:
            opened.bundles.record_run(run_id, bundle.bundle_id)
        entry = opened.bundles.find(bundle.bundle_id).entry
    if as_json:
        summary = bundle.summary.model_dump(mode="json", exclude_none=True)
        print_json(
            {
                "bundle_id": bundle.bundle_id,
                "bundle_sha256": bundle.bundle_sha256,
                "created_utc": bundle.created_utc,
                "entry": entry,
                "summary": summary,
            }
        )
        return
    accounting = bundle.accounting
    again = "recorded before, as " if entry < before else ""
    say(f"Bundle {bundle.bundle_id}, {again}entry {entry} of the trail", "good")
    say(
        f"{counted(accounting.inputs, 'input')}: {bundle_outcomes(bundle)}",
        under=True,
    )
    say(bundle_size(bundle), under=True)
    said_lost(bundle)
    say(f"What the model sees: evidentia bundle render {bundle.bundle_id[:8]}")
    say(f"What it does not see, and why: evidentia bundle explain {bundle.bundle_id[:8]}")


@app.command("list")
def list_(
    before: Annotated[
        int | None, typer.Option(metavar="ENTRY", help="Only bundles before this entry.")
    ] = None,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, max=10_000, help="How many at most.")
    ] = 20,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """List bundles, newest first, page by page."""
    from evidentia.cli.output import print_json, print_table, say
    from evidentia.export.shown import minute

    with workspace(home, tenant, read_only=True) as opened:
        found = opened.bundles.list(before=before, limit=limit + 1)
    shown, more = found[:limit], len(found) > limit
    older = shown[-1].entry if more else None
    if as_json:
        print_json({"bundles": [listed.as_json() for listed in shown], "next_before": older})
        return
    if not shown:
        say("There are no bundles yet; 'evidentia bundle build -c JOB.json' makes one.")
        return
    print_table(
        ("Built", "Bundle", "Items", "Dropped", "Bytes", "Entry"),
        [
            (
                minute(listed.created_utc),
                listed.bundle_id,
                f"{listed.summary['item_count']:,}",
                f"{listed.summary['bundle_bounding']['items_dropped']:,}",
                f"{listed.summary['total_bytes']:,}",
                listed.entry,
            )
            for listed in shown
        ],
        right=("Items", "Dropped", "Bytes", "Entry"),
    )
    if older is not None:
        say(f"Older ones: evidentia bundle list --before {older}")


@app.command()
def show(
    bundle: BundleArgument,
    item: Annotated[
        str | None,
        typer.Option("--item", metavar="EVIDENCE", help="Show this item's content instead."),
    ] = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a bundle: its limits, its items, and where each is from."""
    from evidentia.bundles.model import source_name
    from evidentia.cli.bundle_view import limits
    from evidentia.cli.output import print_json, print_table, say, visible
    from evidentia.export.told import bundle_size

    with workspace(home, tenant, read_only=True) as opened:
        found = opened.bundles.get(bundle)
        entry = opened.bundles.find(found.bundle_id).entry
        runs = opened.bundles.runs(found.bundle_id)
    if item is not None:
        one = found.item(item)
        if one is None:
            decisions = {decision.evidence_id for decision in found.accounting.decisions}
            why = "was dropped" if item in decisions else "is not there"
            raise NotFoundError(
                f"bundle {found.bundle_id}: {item!r} {why}; 'evidentia bundle explain' shows all"
            )
        if as_json:
            print_json(one.as_json())
        else:
            typer.echo("\n".join(visible(line) for line in one.content.split("\n")))
        return
    if as_json:
        print_json(found.as_json())
        return
    say(f"Bundle {found.bundle_id}, built {found.created_utc}, entry {entry} of the trail")
    say(bundle_size(found))
    say(limits(found))
    if runs:
        say(f"Used by {', '.join(map(visible, runs))}")
    if not found.items:
        say("It has no items: 'evidentia bundle explain' says why.")
        return
    print_table(
        ("Evidence", "Type", "Source", "Bytes", "Cut"),
        [
            (
                one.evidence_id,
                one.evidence_type.value,
                source_name(one.source_ref),
                f"{one.byte_count:,}",
                one.metadata["bounding"]["note"]
                if "bounding" in one.metadata
                else one.metadata.get("error", ""),
            )
            for one in found.items
        ],
        right=("Bytes",),
    )
    say(f"One item's content: evidentia bundle show {found.bundle_id[:8]} --item EVIDENCE")


@app.command()
def explain(
    bundle: BundleArgument,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Explain what the model saw of each source, what not, and why."""
    from evidentia.cli.bundle_view import (
        explained,
        kinds_counted,
        said_lost,
        seen,
        seen_redactions,
    )
    from evidentia.cli.output import print_json, print_table, say
    from evidentia.export.told import bundle_outcomes
    from evidentia.language.counting import counted

    with workspace(home, tenant, read_only=True) as opened:
        found = opened.bundles.get(bundle)
    accounting = found.accounting
    redactions = seen_redactions(found)
    if as_json:
        print_json({**found.as_json()["accounting"], "redactions": redactions})
        return
    say(
        f"Bundle {found.bundle_id}: {counted(accounting.inputs, 'input')}, {bundle_outcomes(found)}"
    )
    say(seen(found))
    if redactions:
        say(f"Placeholders in it: {kinds_counted(redactions)}.")
    if not accounting.inputs:
        say("The job named no evidence.")
        return
    print_table(
        ("Evidence", "Source", "Outcome", "Saw", "Of", "Why"),
        explained(found),
        right=("Saw", "Of"),
    )
    said_lost(found)
    dropped = found.summary.bundle_bounding.dropped_ref
    if dropped is not None:
        say(f"What was dropped and is nowhere else is kept: {dropped['lake_uri']}")


@app.command()
def diff(
    before: Annotated[
        str,
        typer.Argument(
            metavar="BEFORE", help="A bundle's id, latest, or latest~1 (the one before)."
        ),
    ],
    after: Annotated[
        str, typer.Argument(metavar="AFTER", help="A bundle's id, latest, or latest~1.")
    ],
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show how the contents differ, line by line.")
    ] = False,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare two bundles: policy, items, and what became of inputs. Exit code 1 if they differ."""
    from evidentia.bundles.diffing import diff_bundles
    from evidentia.cli.bundle_view import said_difference
    from evidentia.cli.output import print_json, say

    with workspace(home, tenant, read_only=True) as opened:
        one, other = opened.bundles.get(before), opened.bundles.get(after)
    found = diff_bundles(one, other)
    if as_json:
        print_json(found.as_json())
    elif found.is_empty:
        say("The bundles are the same.", "good")
    else:
        said_difference(found, verbose=verbose)
    raise typer.Exit(0 if found.is_empty else 1)


@app.command()
def render(
    bundle: BundleArgument,
    form: Annotated[
        RenderForm, typer.Option("--format", help="Fenced text, or what a vendor's API takes.")
    ] = "text",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write it to a file.")
    ] = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a bundle as a model is given it, fenced.

    The fence helps, but is no guarantee: a model may still follow what stands in evidence.
    """
    from evidentia.cli.output import print_json, say
    from evidentia.language.counting import counted
    from evidentia.store.files import write_durably

    with workspace(home, tenant) as opened:
        rendered = opened.bundles.render(bundle, form)
    text = str(rendered)
    if output is not None:
        write_durably(output, text.encode())
    if as_json:
        print_json(
            {
                "format": rendered.format,
                "nonce": rendered.nonce,
                "content": rendered.content,
                "stripped": {name: dict(found) for name, found in rendered.stripped.items()},
                "overhead_bytes": rendered.overhead_bytes,
            }
        )
        return
    if output is None:
        typer.echo(text, nl=not text.endswith("\n"))
    else:
        say(f"The bundle is in {output}.", "good")
    stripped = sum(sum(counts.values()) for counts in rendered.stripped.values())
    if stripped:
        items = counted(len(rendered.stripped), "item")
        say(f"{counted(stripped, 'invisible character')} left out of {items}.", aside=True)
    around = "The fence takes" if form == "text" else "What is not the items' text takes"
    say(f"{around} {rendered.overhead_bytes:,} bytes.", aside=True)


@app.command()
def verify(
    bundle: Annotated[
        str | None,
        typer.Argument(
            metavar="BUNDLE", help="A bundle's id, latest, or latest~1; all by default."
        ),
    ] = None,
    lake_root: Annotated[
        Path | None,
        typer.Option(
            "--lake", metavar="FOLDER", help="Where the originals are, if they have moved."
        ),
    ] = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Verify bundles: digest, limits, accounting, artifacts."""
    if bundle is None:
        _verify_all(home, tenant, lake_root, as_json=as_json)
    from evidentia.cli.output import print_json, say, visible

    with workspace(home, tenant, read_only=True) as opened:
        report = opened.bundles.verify(str(bundle), lake_root=lake_root)
    if as_json:
        print_json(
            {
                "bundle_id": report.bundle_id,
                "holds": report.holds,
                "checked": list(report.checked),
                "problems": list(report.problems),
            }
        )
        raise typer.Exit(0 if report.holds else 1)
    verdict = "holds" if report.holds else "does not hold"
    say(f"Bundle {report.bundle_id} {verdict}", "good" if report.holds else "bad")
    for line in report.checked:
        say(visible(line), "good", under=True)
    for line in report.problems:
        say(visible(line), "bad", under=True)
    raise typer.Exit(0 if report.holds else 1)


def _verify_all(
    home: Path | None, tenant: str | None, lake_root: Path | None, *, as_json: bool
) -> NoReturn:
    from evidentia.cli.output import counting_bar, print_json, say, visible
    from evidentia.language.counting import counted

    with workspace(home, tenant, read_only=True) as opened, counting_bar("Verifying") as progress:
        problems = opened.bundles.audit(lake_root=lake_root, progress=progress)
        count = len(opened.bundles.ids())
    if as_json:
        print_json({"holds": not problems, "bundles": count, "problems": problems})
    elif problems:
        say(f"Of {counted(count, 'bundle')}, not all hold", "bad")
        for problem in problems:
            say(visible(problem), "bad", under=True)
    elif not count:
        say("There are no bundles yet.")
    else:
        say(f"{counted(count, 'bundle')}, as the trail names them", "good")
    raise typer.Exit(1 if problems else 0)


@app.command()
def prove(
    bundle: BundleArgument,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write it to a file.")
    ] = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Prove a bundle: the signed bundle and its place in the trail.

    Whoever has the file and your public key ('evidentia keys show') verifies it offline with
    'evidentia verify FILE --key KEY'.
    """
    from evidentia.cli.output import hand_over

    with workspace(home, tenant) as opened:
        proof = opened.bundles.prove(bundle)
        key = opened.trail.public_key()
    of = proof.entry.subject.replace("/", " ")
    hand_over(proof.as_json(), of, str(key), output, as_json=as_json)


@app.command("record-run")
def record_run(
    run_id: Annotated[str, typer.Argument(metavar="RUN", help="The run's id.")],
    bundle: BundleArgument,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Record in the trail that a run used a bundle."""
    from evidentia.cli.output import print_json, say, visible

    with workspace(home, tenant) as opened:
        listed = opened.bundles.find(bundle)
        receipt = opened.bundles.record_run(run_id, listed.bundle_id)
    if as_json:
        print_json({"run_id": run_id, "bundle_id": listed.bundle_id, "entry": receipt.seq})
        return
    recorded = "recorded before, as" if receipt.repeated else "recorded as"
    say(f"Run {visible(run_id)} used {listed.bundle_id}: {recorded} entry {receipt.seq}", "good")


@app.command()
def runs(
    run_id: Annotated[
        str | None, typer.Option("--run", metavar="RUN", help="Which bundles did this run use?")
    ] = None,
    bundle: Annotated[
        str | None,
        typer.Option(
            "--bundle",
            metavar="BUNDLE",
            help="Which runs used this bundle? Its id, latest, or latest~1.",
        ),
    ] = None,
    artifact: Annotated[
        str | None,
        typer.Option(
            "--artifact", metavar="SHA256|URI", help="Which runs saw something of this artifact?"
        ),
    ] = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say which run used which bundles, or saw which artifact."""
    from evidentia.cli.output import print_json, say, visible

    if [run_id, bundle, artifact].count(None) != 2:  # noqa: PLR2004 - of three
        raise InputError("ask one thing: --run RUN, --bundle BUNDLE, or --artifact SHA256")
    with workspace(home, tenant, read_only=True) as opened:
        if run_id is not None:
            found = [listed.bundle_id for listed in opened.bundles.of_run(run_id)]
        elif bundle is not None:
            found = opened.bundles.runs(bundle)
        else:
            found = opened.bundles.runs_of_artifact(artifact or "")
    if as_json:
        print_json({"bundles" if run_id is not None else "runs": found})
        return
    for name in found:
        say(visible(name))
    if not found:
        what = f"No bundle is recorded for run {run_id}" if run_id else "No run is recorded"
        if artifact:
            what = f"No run is recorded that saw anything of {artifact}"
        say(f"{visible(what)}: 'evidentia bundle record-run RUN BUNDLE' records one.")

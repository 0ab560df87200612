"""`evidentia restore`: a backup put into an empty place, and audited there."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from evidentia.cli.backup import BackupOption, KeyOption, PlaceArgument, say_report
from evidentia.cli.options import HomeOption, JsonOption, server_options, settings


def restore(
    place: PlaceArgument,
    backup: BackupOption = "latest",
    to_database: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="An empty PostgreSQL database: connect as a superuser, or as who is to own its "
            "tables. [EVIDENTIA_DATABASE_URL]",
        ),
    ] = None,
    to_lake: Annotated[
        str | None,
        typer.Option(
            metavar="WHERE",
            help="A folder or a bucket for files. [EVIDENTIA_LAKE]",
        ),
    ] = None,
    since: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="A newer checkpoint that someone kept: a shorter log takes no entries. Several "
            "may be given.",
        ),
    ] = None,
    key: KeyOption = None,
    anyway: Annotated[
        bool,
        typer.Option("--anyway", help="Put a database in its place in which something is wrong."),
    ] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Restore a backup into an empty place, and audit all of it there.

    A backup of an embedded workspace can be restored into PostgreSQL, and the reverse; a folder of
    files into a bucket, and the reverse. Whatever is interrupted is begun again by the same
    command. A log that is shorter than a checkpoint kept of it takes no entries until that is
    accepted ('evidentia trail accept-loss'). Exits with 1 if something is wrong, or missing.
    """
    from evidentia.cli.output import counting_bar, print_json, say
    from evidentia.cli.trail import read_since
    from evidentia.proof.files import read_key
    from evidentia.store.backup_places import BackupPlace
    from evidentia.store.home import Home
    from evidentia.workspace.backups import Target, restore_backup

    found = settings(home)
    target = Target(
        Home(found.home),
        to_database or found.database_url,
        to_lake or found.lake,
        found.keys,
        found.checkpoints,
        replace(server_options(found), read_url=None),  # a replica is of another database
    )
    with counting_bar("Restoring") as bar:
        report = restore_backup(
            BackupPlace(place),
            target,
            backup,
            trusted=[read_key(one) for one in key or ()],
            since=[read_since(one) for one in since or ()],
            anyway=anyway,
            progress=lambda _, done, total: bar(done, total),
        )
    where = target.home.folder if target.url is None else "the database"
    if as_json:
        print_json(report.as_json())
    elif report.holds or anyway or target.url is not None:
        say_report(report, f"backup {report.name} is restored to {where}, and {report.verdict}")
    else:
        say_report(report, f"backup {report.name} {report.verdict}: nothing was put in its place")
        say("--key names a key that you trust; --anyway puts it there as it is", under=True)
    if not as_json:
        for name in report.keys:
            say(f"private key {name} was put into {target.home.folder / 'keys'}", under=True)
        for lost in report.lost:
            say(f"{lost}. Nothing is appended to it", "bad", under=True)
        if report.lost:
            say(
                "look for a newer backup; if there is none, 'evidentia trail accept-loss --reason "
                "TEXT' records the loss, and the log goes on",
                under=True,
            )
    raise typer.Exit(0 if report.holds and not report.lost else 1)

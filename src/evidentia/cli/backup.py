"""`evidentia backup`: copies of a workspace in a folder or a bucket, made, listed and verified."""

from typing import TYPE_CHECKING, Annotated

import typer

from evidentia.cli.options import HomeOption, JsonOption, server_options, settings

if TYPE_CHECKING:
    from evidentia.settings import Settings
    from evidentia.store.backing_up import MadeBackup
    from evidentia.store.keys import Keys
    from evidentia.store.pruning import Pruned
    from evidentia.workspace.backups import BackupReport

app = typer.Typer(rich_markup_mode=None)

PlaceArgument = Annotated[
    str,
    typer.Argument(
        metavar="PLACE", help="Where the backups are: a folder, or a bucket (s3://bucket/prefix)."
    ),
]
BackupOption = Annotated[
    str, typer.Option("--backup", metavar="NAME", help="Which one, as 'backup list' names it.")
]
KeyOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY",
        help="A public key that you trust, or a file with it; give one for each tenant's log. "
        "[those whose private halves are in the home folder]",
    ),
]


@app.command()
def create(
    place: PlaceArgument,
    tenant: Annotated[
        str | None, typer.Option("--tenant", metavar="NAME", help="This tenant alone. [all]")
    ] = None,
    with_keys: Annotated[
        bool,
        typer.Option(
            "--with-keys", help="Take private keys along as they are; plain ones are refused."
        ),
    ] = False,
    with_plain_keys: Annotated[
        bool,
        typer.Option("--with-plain-keys", help="Take private keys and secrets along, plain too."),
    ] = False,
    verify: Annotated[
        bool,
        typer.Option("--verify/--no-verify", help="Read again what was sent, and compare it."),
    ] = True,
    keep: Annotated[
        int | None,
        typer.Option(
            "--keep", metavar="N", min=1, help="Then remove all but the newest N backups there."
        ),
    ] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Back up the workspace: its database in one view, and its files.

    'evidentia backup PLACE' is short for it. The workspace is the one that the environment names,
    with all its tenants; on PostgreSQL connect as the auditor ('evidentia db roles'). Others may
    go on writing meanwhile. What the place has already is not sent again. Private keys are not
    taken along unless it is said. Exits with 1 if something is wrong with the workspace itself:
    the backup has it as it is.
    """
    from evidentia.cli.output import counting_bar, print_json, say
    from evidentia.errors import BusyError, ConflictError
    from evidentia.store.backing_up import KeysTaken, told
    from evidentia.store.backup_places import BackupPlace
    from evidentia.workspace.backups import make_backup, prune_backups
    from evidentia.workspace.opened import open_all

    found, at = settings(home), BackupPlace(place)
    keys = KeysTaken.ENCRYPTED if with_keys else KeysTaken.NONE
    with (
        open_all(
            found.database_url,
            home=found.home,
            create=False,
            read_only=True,
            lake=found.lake,
            keys=found.keys,
            server=server_options(found),
        ) as opened,
        counting_bar("Backing up") as bar,
    ):
        made = make_backup(
            opened,
            at,
            tenant=tenant,
            keys=KeysTaken.ALL if with_plain_keys else keys,
            verify=verify,
            progress=lambda _, done, total: bar(done, total),
        )
    pruned, notes = None, list(made.notes)
    if keep is not None:
        try:
            pruned = prune_backups(at, keep)
        except (BusyError, ConflictError) as error:  # the backup is there all the same
            notes.append(f"older backups are still there: {error}")
    if as_json:
        print_json(_made_json(place, made, notes, pruned))
    else:
        say(f"Backup {made.name} is in {place}.", "bad" if made.problems else "good")
        say(told(made), under=True)
        for problem in made.problems:
            say(problem, "bad", under=True)
        for note in notes:
            say(note, "unknown", under=True)
        if pruned is not None:
            _say_pruned(pruned)
    raise typer.Exit(1 if made.problems else 0)


@app.command("list")
def list_backups(place: PlaceArgument, as_json: JsonOption = False) -> None:
    """List the backups in a place, the oldest first."""
    from evidentia.cli.output import print_json, print_table, say
    from evidentia.store.backup_places import BackupPlace

    at = BackupPlace(place)
    found = [at.manifest(name) for name in at.names()]
    rows = [
        (
            name,
            sum(one.log.size for one in manifest.tenants if one.log),
            sum(one.files.count for one in manifest.tenants),
            ", ".join(one.tenant for one in manifest.tenants[:3])
            + (f" and {len(manifest.tenants) - 3:,} more" if len(manifest.tenants) > 3 else ""),  # noqa: PLR2004 - the first few
            manifest.program,
        )
        for name, manifest in found
    ]
    if as_json:
        print_json(
            [
                {
                    "backup": name,
                    "created_at": manifest.created_at,
                    "entries": row[1],
                    "files": row[2],
                    "tenants": [one.tenant for one in manifest.tenants],
                    "program": manifest.program,
                }
                for (name, manifest), row in zip(found, rows, strict=True)
            ]
        )
        return
    if not rows:
        say(f"{place}: there is no backup here")
        return
    shown = [(name, f"{entries:,}", f"{files:,}", *rest) for name, entries, files, *rest in rows]
    print_table(
        ("backup", "entries", "files", "tenants", "made by"), shown, right=("entries", "files")
    )


@app.command()
def verify(
    place: PlaceArgument,
    backup: BackupOption = "latest",
    key: KeyOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Verify a backup from its own bytes: restore it aside, and audit all of it there.

    Every part is compared with its digest, the log with the signatures of its keys, and all that
    is kept with the log. It needs neither the workspace nor a network (but a bucket's), and room
    for the database on this machine's disk.
    """
    from evidentia.cli.output import counting_bar, print_json, say
    from evidentia.proof.files import read_key
    from evidentia.store.backup_places import BackupPlace
    from evidentia.workspace.backups import verify_backup

    with counting_bar("Verifying") as bar:
        report = verify_backup(
            BackupPlace(place),
            backup,
            trusted=[read_key(one) for one in key or ()],
            keys=_keys_of(settings(home)),
            progress=lambda _, done, total: bar(done, total),
        )
    if as_json:
        print_json(report.as_json())
    else:
        say_report(report, f"backup {report.name} {report.verdict}")
        for lost in report.lost:
            say(f"{lost}, as it was when it was backed up", "bad", under=True)
    raise typer.Exit(0 if report.holds and not report.lost else 1)


@app.command()
def prune(
    place: PlaceArgument,
    keep: Annotated[
        int, typer.Option("--keep", metavar="N", min=1, help="How many of the newest stay.")
    ],
    as_json: JsonOption = False,
) -> None:
    """Remove older backups, and all that they alone had.

    So what was erased by law since is gone from the backups, too.
    """
    from evidentia.cli.output import print_json
    from evidentia.store.backup_places import BackupPlace
    from evidentia.workspace.backups import prune_backups

    pruned = prune_backups(BackupPlace(place), keep)
    if as_json:
        print_json({"removed": list(pruned.backups), "parts": pruned.parts})
    else:
        _say_pruned(pruned)


def say_report(report: "BackupReport", said: str) -> None:
    """Say what a backup holds, or what is wrong with it."""
    from evidentia.cli.output import say
    from evidentia.language.counting import counted

    say(said, "good" if report.holds else "unknown" if report.is_consistent else "bad")
    for tenant in report.manifest.tenants:
        size = tenant.log.size if tenant.log else 0
        files = counted(tenant.files.count, "file")
        say(f"tenant {tenant.tenant}: {counted(size, 'entry', 'entries')}, {files}", under=True)
    for finding in report.findings:
        say(finding, "unknown" if report.is_consistent else "bad", under=True)
    for note in report.notes:
        say(note, "unknown", under=True)


def _keys_of(found: "Settings") -> "Keys":
    from evidentia.store.home import Home
    from evidentia.store.keyrings import open_keys

    return open_keys(found.keys, Home(found.home))


def _say_pruned(pruned: "Pruned") -> None:
    from evidentia.cli.output import say
    from evidentia.language.counting import agreed, counted

    count = len(pruned.backups)
    was = agreed(count, "was", "were")
    say(f"{counted(count, 'older backup')} {was} removed, and {counted(pruned.parts, 'part')}.")


def _made_json(
    place: str, made: "MadeBackup", notes: list[str], pruned: "Pruned | None"
) -> dict[str, object]:
    return {
        "backup": made.name,
        "place": place,
        "entries": sum(one.log.size for one in made.manifest.tenants if one.log),
        "files": sum(one.files.count for one in made.manifest.tenants),
        "tenants": [one.tenant for one in made.manifest.tenants],
        "sent": {"parts": made.sent.parts, "files": made.sent.files, "bytes": made.sent.bytes},
        "problems": list(made.problems),
        "notes": notes,
        "removed": [] if pruned is None else list(pruned.backups),
    }

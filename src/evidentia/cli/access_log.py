"""`evidentia trail access-log`: who read, exported and was refused what, and the file of it."""

from pathlib import Path
from typing import Annotated

import typer

from evidentia.cli.options import HomeOption, JsonOption, TenantOption, workspace


def access_log(
    export: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write it to a file of JSON lines that is signed, and that 'evidentia verify' "
            "verifies offline.",
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Of the file: from this time on (2026-01-01T00:00:00Z)."),
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="Of the file: before this time.")
    ] = None,
    first: Annotated[
        int, typer.Option(metavar="ENTRY", min=0, help="Of the file: the first entry's number.")
    ] = 0,
    last: Annotated[
        int | None,
        typer.Option(metavar="ENTRY", min=0, help="Of the file: the last entry's number."),
    ] = None,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, max=10_000, help="How many are listed at most.")
    ] = 20,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """List what was asked of a server and is recorded, the newest first; or export it, signed.

    The file also has changes of roles, tokens and keys, and exports of packs.
    """
    from evidentia.cli.output import print_json, print_table, say, visible
    from evidentia.errors import InputError
    from evidentia.store.files import write_durably
    from evidentia.workspace.requests import as_json as written

    if export is None and (since or until or first or last is not None):
        raise InputError("--since, --until, --first and --last are of the file: give --export FILE")
    with workspace(home, tenant) as opened:
        if export is not None:
            data = opened.access.export(first=first, last=last, since=since, until=until)
        else:
            found = opened.access.requests(limit=limit)
    if export is not None:
        write_durably(export, data)
        entries = data.count(b"\n") - 1
        if as_json:
            print_json({"file": str(export), "entries": entries})
        else:
            say(f"{visible(str(export))}: {entries:,} entries of the access log, signed.", "good")
            say(f"'evidentia verify {visible(str(export))}' verifies it offline.", under=True)
        return
    rows = [written(one) for one in found]
    if as_json:
        print_json({"requests": rows})
        return
    if not rows:
        say("Nothing is recorded yet: 'evidentia serve' records who reads, exports, is refused.")
        return
    names = ("entry", "at", "by", "did", "outcome", "path")
    print_table(
        ("Entry", "Recorded (UTC)", "Who", "Did", "Outcome", "Address"),
        [tuple(one.get(name, "") for name in names) for one in rows],
    )

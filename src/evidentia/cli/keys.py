"""`evidentia keys`: the keys that sign a log."""

from pathlib import Path
from typing import Annotated

import typer

from evidentia.cli.group import Group
from evidentia.cli.options import HomeOption, JsonOption, TenantOption, workspace

app = typer.Typer(
    cls=Group,
    help="Show, export and rotate the keys that sign a log.",
    rich_markup_mode=None,
    invoke_without_command=True,
)


@app.callback()
def _default(
    context: typer.Context,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    if context.invoked_subcommand is None:
        list_keys(home, tenant, as_json)


@app.command("list")
def list_keys(
    home: HomeOption = None, tenant: TenantOption = None, as_json: JsonOption = False
) -> None:
    """List the log's keys; the last one signs now."""
    from evidentia.cli.output import print_json, print_table, say

    with workspace(home, tenant, read_only=True) as opened:
        keys = opened.keys()
    if as_json:
        print_json({"keys": [key.as_json() for key in keys]})
        return
    if not keys:
        say("The log has no key yet: 'evidentia trail append' or 'evidentia keys new' makes one.")
        return
    print_table(
        ("Key", "Since entry", "Replaced at", "Private key"),
        [
            (
                key.key.key_id,
                key.since,
                "-" if key.replaced_at is None else key.replaced_at,
                "here" if key.held else "elsewhere",
            )
            for key in keys
        ],
        right=("Since entry", "Replaced at"),
    )
    say("The public key, to give away: evidentia keys show")


@app.command("new")
def new_key(
    home: HomeOption = None, tenant: TenantOption = None, as_json: JsonOption = False
) -> None:
    """Make the log's first key, or show the one it has."""
    with workspace(home, tenant, create=True) as opened:
        key = opened.public_key()
    _print_key(str(key), as_json=as_json)


@app.command("show")
def show_key(
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write it to a file.")
    ] = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the public key that signs now, to give away."""
    from evidentia.errors import NotFoundError

    with workspace(home, tenant, read_only=True) as opened:
        keys = opened.keys()
    if not keys:
        raise NotFoundError("the log has no key yet: 'evidentia keys new' makes one")
    if output is not None:
        from evidentia.store.files import write_durably

        write_durably(output, f"{keys[-1].key}\n".encode())
    _print_key(str(keys[-1].key), as_json=as_json)


@app.command("rotate")
def rotate_key(
    home: HomeOption = None, tenant: TenantOption = None, as_json: JsonOption = False
) -> None:
    """Replace the signing key by a new one.

    The log records it, and old signatures stay good. Prove the new key's entry with
    'trail prove ENTRY --signed-by OLD-KEY' for those who trust the old one.
    """
    with workspace(home, tenant) as opened:
        key = opened.rotate_key()
    _print_key(str(key), as_json=as_json)


def _print_key(key: str, *, as_json: bool) -> None:
    from evidentia.cli.output import print_json, say

    if as_json:
        print_json({"public_key": key})
    else:
        say(key)

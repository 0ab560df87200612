"""`evidentia keys`: the keys that sign a log."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evidentia.cli.group import Group
from evidentia.cli.options import HomeOption, JsonOption, TenantOption, settings, workspace

PassphraseFileOption = Annotated[
    Path | None,
    typer.Option(
        "--passphrase-file",
        metavar="FILE",
        help="The passphrase [EVIDENTIA_KEY_PASSPHRASE_FILE, else asked for].",
    ),
]
_PLACES = {
    "plain": "here, plain",
    "encrypted": "here, encrypted",
    "command": "by command",
    "unreadable": "here, not readable",
    "elsewhere": "elsewhere",
}
"""How the table says where a private key is."""

if TYPE_CHECKING:
    from evidentia.workspace.signing import AnnouncedKey

app = typer.Typer(
    cls=Group,
    help="Show, export, rotate and protect the keys that sign a log.",
    rich_markup_mode=None,
    add_completion=False,
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
        keys = opened.trail.keys()
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
                _PLACES[key.place],
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
        key = opened.trail.public_key()
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
        keys = opened.trail.keys()
    if not keys:
        raise NotFoundError("the log has no key yet: 'evidentia keys new' makes one")
    if output is not None:
        from evidentia.store.files import write_durably

        write_durably(output, f"{keys[-1].key}\n".encode())
    _print_key(str(keys[-1].key), as_json=as_json)


@app.command("rotate")
def rotate_key(
    lost: Annotated[
        bool, typer.Option("--lost", help="The old key is gone, and can't vouch for the new one.")
    ] = False,
    reason: Annotated[
        str | None, typer.Option(metavar="TEXT", help="How it was lost; recorded.")
    ] = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Replace the signing key by a new one.

    The log records it, and old signatures stay good. The old key signs the new one's announcement:
    prove that entry with 'trail prove ENTRY --signed-by OLD-KEY' for those who trust the old one.
    Where it is lost, --lost and --reason make a break that 'trail verify' shows for good.
    """
    from evidentia.errors import InputError

    if lost != (reason is not None):
        raise InputError("--lost and --reason go together: say how the key was lost")
    with workspace(home, tenant) as opened:
        key = opened.trail.rotate_key(lost=reason)
    _print_key(str(key), as_json=as_json)


@app.command("protect")
def protect_keys(
    passphrase_file: PassphraseFileOption = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Encrypt the private keys that are here with a passphrase.

    Whatever signs asks for it from then on, and new keys are encrypted too. There is no way back
    to a key whose passphrase is lost.
    """
    from evidentia.cli.output import print_json, say
    from evidentia.cli.passphrases import for_keys
    from evidentia.language.counting import counted

    with workspace(home, tenant, read_only=True) as opened:
        _refuse_without(opened.trail.keys(), "plain", "encrypted")
        passphrase = for_keys(settings(), passphrase_file, is_new=True)
        changed = opened.opened.home.keys.protect(opened.tenant, passphrase)
    if as_json:
        print_json({"encrypted": changed})
    elif changed:
        say(f"{counted(len(changed), 'private key')} encrypted: {', '.join(changed)}", "good")
    else:
        say("All private keys that are here were encrypted before.", "good")


@app.command("unprotect")
def unprotect_keys(
    passphrase_file: PassphraseFileOption = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Keep the private keys that are here unencrypted again."""
    from evidentia.cli.output import print_json, say
    from evidentia.cli.passphrases import for_keys
    from evidentia.language.counting import counted

    with workspace(home, tenant, read_only=True) as opened:
        _refuse_without(opened.trail.keys(), "encrypted")
        passphrase = for_keys(settings(), passphrase_file, is_new=False)
        changed = opened.opened.home.keys.unprotect(opened.tenant, passphrase)
    if as_json:
        print_json({"decrypted": changed})
    else:
        say(f"{counted(len(changed), 'private key')} plain again: {', '.join(changed)}", "good")


@app.command("use-command")
def use_command(
    command: Annotated[
        list[str],
        typer.Argument(
            metavar="COMMAND...", help="The program and its arguments, after --; no shell reads it."
        ),
    ],
    public_key: Annotated[
        Path,
        typer.Option(
            "--public-key",
            metavar="FILE",
            help="The key's public half: PEM, hexadecimal or a line.",
        ),
    ],
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", help="How long one signature may take.")
    ] = 30.0,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Sign with a key that a command holds, from now on.

    The command gets the bytes to sign on standard input and prints the Ed25519 signature: 64
    bytes, or Base64 or hexadecimal text. It is tried once first. The log records the new key as a
    rotation does, and every signature is verified before it is used.
    """
    with workspace(home, tenant, create=True) as opened:
        key = opened.trail.use_command(public_key, command, timeout=timeout)
    _print_key(str(key), as_json=as_json)


def _refuse_without(keys: "list[AnnouncedKey]", *places: str) -> None:
    from evidentia.errors import NotFoundError

    if not any(key.place in places for key in keys):
        encrypted = "" if "plain" in places else "encrypted "
        raise NotFoundError(f"there is no {encrypted}private key here: see 'evidentia keys'")


def _print_key(key: str, *, as_json: bool) -> None:
    from evidentia.cli.output import print_json, say

    if as_json:
        print_json({"public_key": key})
    else:
        say(key)

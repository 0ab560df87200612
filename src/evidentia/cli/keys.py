"""`evidentia keys`: the keys that sign a log."""

import sys
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
    "token": "in a token",
    "unreadable": "here, not readable",
    "unreachable": "not known: the token can't be asked",
    "elsewhere": "elsewhere",
}
"""How the table says where a private key is."""

if TYPE_CHECKING:
    from evidentia.store.keys import FileKeys
    from evidentia.workspace import Workspace
    from evidentia.workspace.signing import AnnouncedKey

app = typer.Typer(
    cls=Group,
    help="Show, export, rotate, revoke and protect the keys that sign a log; enroll users' keys.",
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
    """List the log's keys, and where the private half of each is; the last one signs now.

    Private keys are files in the home folder, or where EVIDENTIA_KEYS says: a folder, or a token
    (pkcs11:token=NAME?module-path=LIBRARY&pin-source=file:FILE), which several servers can share.
    """
    from evidentia.cli.output import print_json, print_table, say, visible

    with workspace(home, tenant, read_only=True) as opened:
        keys = opened.trail.keys()
        revoked = opened.trail.revocations()
    if as_json:
        print_json(
            {
                "keys": [key.as_json() for key in keys],
                "revoked": [one.as_json() for one in revoked],
            }
        )
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
    for key in keys:
        if not key.vouched:
            say(f"Nothing vouches for key {key.key.key_id}: run 'evidentia verify'.", "bad")
    for one in revoked:
        say(visible(one.told), "unknown")
    say("The public key, to give away: evidentia keys show")


@app.command("new")
def new_key(
    home: HomeOption = None, tenant: TenantOption = None, as_json: JsonOption = False
) -> None:
    """Make the log's first key, or show the one it has.

    It is made where EVIDENTIA_KEYS says: in the home folder, another folder, or a token.
    """
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
    from evidentia.errors import IntegrityError, NotFoundError

    with workspace(home, tenant, read_only=True) as opened:
        keys = opened.trail.keys()
    if not keys:
        raise NotFoundError("the log has no key yet: 'evidentia keys new' makes one")
    if not keys[-1].vouched:
        raise IntegrityError(
            f"key {keys[-1].key.key_id} is the newest in the database, and nothing vouches for it: "
            "don't give it away; run 'evidentia verify'"
        )
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


@app.command("revoke")
def revoke_key(
    key: Annotated[str, typer.Argument(metavar="KEY-ID", help="As 'keys list' shows it.")],
    from_size: Annotated[
        int,
        typer.Option(
            "--from-size",
            metavar="N",
            min=1,
            help="What it signed of the log with this many entries or more is not believed.",
        ),
    ],
    reason: Annotated[str, typer.Option(metavar="TEXT", help="What happened; recorded.")],
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask for confirmation.")] = False,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Record that a key is not to be believed from a size of the log on.

    For a key that someone else may have: replace it first ('keys rotate'), then revoke it. What it
    permitted from there on decides nothing, and is listed before you are asked. Who verifies with
    the workspace, the published log or the proof of this entry ('trail prove', 'verify --later') is
    told why a signature doesn't hold.
    """
    from evidentia.cli.output import print_json, say, visible
    from evidentia.errors import UsageError
    from evidentia.language.counting import counted

    with workspace(home, tenant) as opened:
        undone = opened.trail.signed_by(key, from_size=from_size)
        if not as_json:
            number = counted(len(undone), "entry decides", "entries decide")
            say(f"{number} nothing any more once key {key} is revoked from size {from_size} on.")
            for entry in undone:
                say(f"  entry {entry.seq}: {entry.kind}, {visible(entry.subject)}, {entry.at}")
        question = f"Revoke key {key}? It can't be taken back"
        if not yes and sys.stdin.isatty() and not typer.confirm(question):
            raise UsageError("nothing was revoked")
        receipt = opened.trail.revoke_key(key, from_size=from_size, reason=reason)
    if as_json:
        print_json(
            {
                "revoked": key,
                "from_size": from_size,
                "recorded_as": receipt.seq,
                "undone": [entry.as_json() for entry in undone],
            }
        )
    else:
        say(f"Key {key} is revoked from size {from_size} on; entry {receipt.seq} says so.", "good")
        say(f"For others: evidentia trail prove {receipt.seq} -o revoked.json")


@app.command("new-user")
def new_user_key(
    home: HomeOption = None, tenant: TenantOption = None, as_json: JsonOption = False
) -> None:
    """Make a key of your own in this home, and print its public half.

    It signs what you permit or forbid once an admin, or the owner, has enrolled it.
    """
    with workspace(home, tenant, read_only=True) as opened:
        key = opened.trail.new_user_key()
    _print_key(str(key), as_json=as_json)


@app.command("enroll")
def enroll_user(
    user: Annotated[str, typer.Argument(metavar="USER", help="Whose key it is.")],
    key: Annotated[
        str,
        typer.Argument(
            metavar="PUBLIC-KEY", help="Its text (as 'keys new-user' prints it, PEM) or a file."
        ),
    ],
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Enroll the key of a user, in place of the one there is.

    From then on whatever permits or forbids in that user's name (roles, holds, releases, retention,
    erasures) counts only with that key's signature. The user 'owner' is who acts without a name.
    """
    from evidentia.cli.output import print_json, say, visible

    with workspace(home, tenant) as opened:
        receipt = opened.trail.enroll(user, key)
    if as_json:
        print_json({"user": user, "recorded_as": receipt.seq})
    else:
        say(f"The key of {visible(user)} is enrolled; entry {receipt.seq} says so.", "good")


@app.command("withdraw")
def withdraw_user(
    user: Annotated[str, typer.Argument(metavar="USER", help="Whose key it is.")],
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Withdraw the key of a user: the log's key signs for that user again."""
    from evidentia.cli.output import print_json, say, visible

    with workspace(home, tenant) as opened:
        receipt = opened.trail.withdraw(user)
    if as_json:
        print_json({"user": user, "recorded_as": receipt.seq})
    else:
        say(f"The key of {visible(user)} is withdrawn; entry {receipt.seq} says so.", "good")


@app.command("users")
def list_users(
    home: HomeOption = None, tenant: TenantOption = None, as_json: JsonOption = False
) -> None:
    """List the keys of users, also those that were withdrawn."""
    from evidentia.cli.output import print_json, print_table, say

    with workspace(home, tenant, read_only=True) as opened:
        users = opened.trail.users()
    if as_json:
        print_json({"users": [one.as_json() for one in users]})
        return
    if not users:
        say("No user has a key: the log's key signs for all of them.")
        return
    print_table(
        ("User", "Key", "Since entry", "Withdrawn at"),
        [
            (
                one.user,
                one.key.key_id,
                one.since,
                "-" if one.withdrawn_at is None else one.withdrawn_at,
            )
            for one in users
        ],
        right=("Since entry", "Withdrawn at"),
    )


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
        changed = _files(opened).protect(opened.tenant, passphrase)
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
        changed = _files(opened).unprotect(opened.tenant, passphrase)
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


@app.command("use-token")
def use_token(
    public_key: Annotated[
        Path,
        typer.Option(
            "--public-key",
            metavar="FILE",
            help="The key's public half: PEM, hexadecimal or a line.",
        ),
    ],
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Sign with a key that the token has already, from now on.

    The token is the one that EVIDENTIA_KEYS names (pkcs11:...). The key was made there by others,
    at a ceremony, say; 'keys new' and 'keys rotate' make one by themselves. The log records it as a
    rotation does, and it gets the label by which every server finds it.
    """
    with workspace(home, tenant, create=True) as opened:
        key = opened.trail.use_token(public_key)
    _print_key(str(key), as_json=as_json)


def _files(opened: "Workspace") -> "FileKeys":
    from evidentia.errors import UsageError
    from evidentia.store.keyrings import file_keys

    found = file_keys(opened.opened.keys)
    if found is None:
        raise UsageError("keys of your own are in no file that could be encrypted")
    return found


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

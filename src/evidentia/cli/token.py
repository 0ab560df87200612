"""`evidentia token`: tokens by which programs ask a server in a user's name."""

from typing import Annotated, Literal

import typer

from evidentia.cli.options import HomeOption, JsonOption, TenantOption, workspace

RoleName = Literal["viewer", "approver", "admin", "auditor"]
app = typer.Typer(rich_markup_mode=None)


@app.command("new")
def new_token(
    user: Annotated[str, typer.Argument(metavar="USER", help="In whose name it asks.")],
    name: Annotated[
        str, typer.Option(metavar="TEXT", help="What it is for, so that it can be told apart.")
    ] = "",
    role: Annotated[
        RoleName | None, typer.Option(help="Give the user this role, too; an auditor's expires.")
    ] = None,
    scopes: Annotated[
        str | None,
        typer.Option(
            metavar="ACTIONS",
            help="Narrow it to actions, with commas: list,view,create … [all that the user may].",
        ),
    ] = None,
    expires: Annotated[
        str | None, typer.Option(metavar="TIME", help="Until when it is good, in ISO 8601.")
    ] = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a token and show it, once.

    What it may do is what the user's roles allow ('evidentia pack grant'), within its scopes. The
    trail records who made it for whom, and the digest of its secret.
    """
    from evidentia.cli.output import print_json, say
    from evidentia.settings import comma_separated

    with workspace(home, tenant, create=True) as opened:
        made = opened.access.new_token(
            user, name=name, scopes=comma_separated(scopes), expires_at=expires
        )
        if role is not None:
            opened.access.grant(user, role, expires_at=expires)
        roles = [one.role.value for one in opened.access.grants() if one.user == user]
    if as_json:
        print_json({"token": made.text, **made.token.as_json()})
        return
    typer.echo(made.text)
    say("It is shown only now: keep it where other secrets are.", "good", aside=True)
    if not roles:
        said = (
            f"{user} has no role yet, and it opens nothing: evidentia pack grant {user} viewer, "
            "or the role that it needs"
        )
        say(said, "unknown", aside=True)


@app.command("list")
def list_tokens(
    home: HomeOption = None, tenant: TenantOption = None, as_json: JsonOption = False
) -> None:
    """List the tokens that were not revoked."""
    from evidentia.cli.output import print_json, print_table, say

    with workspace(home, tenant, read_only=True) as opened:
        found = opened.access.tokens()
        now = opened.opened.now()
    if as_json:
        print_json({"tokens": [one.as_json() for one in found]})
        return
    if not found:
        say("There is no token yet; 'evidentia token new USER' makes one.")
        return
    print_table(
        ("Token", "User", "For", "Scopes", "Until", "Made by"),
        [
            (
                one.token_id,
                one.user,
                one.name,
                "all" if one.scopes is None else ",".join(sorted(one.scopes)),
                f"{(one.expires_at or '')[:10]}{' (over)' if one.is_expired(now) else ''}",
                one.created_by,
            )
            for one in found
        ],
    )


@app.command("revoke")
def revoke_token(
    token: Annotated[str, typer.Argument(metavar="TOKEN", help="Its id, as 'token list' shows.")],
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Revoke a token: from now on it opens nothing."""
    from evidentia.cli.output import print_json, say

    with workspace(home, tenant) as opened:
        receipt = opened.access.revoke_token(token)
    if as_json:
        print_json({"token_id": token, "entry": receipt.seq})
        return
    say(f"Token {token} is revoked; entry {receipt.seq} says so.", "good")

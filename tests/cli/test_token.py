"""`evidentia token`: tokens for programs, made, listed and revoked."""

import re
from pathlib import Path

import evidentia as ev
from cli_running import Cli
from evidentia.workspace.tokens import holder


def test_a_token_is_shown_once_and_opens_until_it_is_revoked(cli: Cli, folder: Path) -> None:
    made = cli("token", "new", "bot", "--role", "viewer", "--name", "report")
    text = made.out.strip()
    assert re.fullmatch(r"evt~default~[0-9a-f]{16}~[\w-]{43}", text)
    assert "shown only now" in made.err
    (listed,) = cli("token", "list", "--json").json["tokens"]
    assert (listed["user"], listed["name"], listed["scopes"]) == ("bot", "report", None)
    assert text.split("~")[3] not in str(listed)
    with ev.open(folder / ".evidentia") as workspace:
        found = holder(workspace.opened, text)
        assert found is not None
        assert found.user == "bot"
        assert [grant.user for grant in workspace.access.grants()] == ["bot"]
        body = str(workspace.trail.entry(0).body)
        assert text.split("~")[3] not in body
    revoked = cli("token", "revoke", listed["token_id"])
    assert revoked.code == 0
    assert "is revoked; entry" in revoked.out
    assert "There is no token yet" in cli("token", "list").out
    with ev.open(folder / ".evidentia") as workspace:
        assert holder(workspace.opened, text) is None


def test_a_token_of_someone_without_a_role_says_that_it_opens_nothing(cli: Cli) -> None:
    made = cli("token", "new", "bot", "--scopes", "list,view")
    assert "bot has no role yet, and it opens nothing: evidentia pack grant bot viewer" in made.err
    table = cli("token", "list").out
    assert "list,view" in table


def test_what_cannot_be_a_token_is_said(cli: Cli) -> None:
    for arguments, says in (
        (("bot", "--scopes", "fly"), "there is no action 'fly'"),
        (("bot", "--expires", "2020-01-01T00:00:00Z"), "which is over: give a later time"),
        (("bot", "--expires", "soon"), "when the token ends: 'soon' is not a time"),
        (("owner",), "'owner' is who acts without a name"),
        (("bot", "--name", "x" * 201), "a token's name has 201 characters"),
    ):
        ran = cli("token", "new", *arguments)
        assert ran.code == 2
        assert says in ran.err
    ran = cli("token", "revoke", "0" * 16)
    assert ran.code == 2
    assert "there is no token" in ran.err


def test_json_has_the_token_too(cli: Cli) -> None:
    made = cli("token", "new", "bot", "--role", "viewer", "--json").json
    assert made["token"].startswith("evt~default~")
    assert cli("token", "revoke", made["token_id"], "--json").json["token_id"] == made["token_id"]

"""`evidentia serve`: the workspace behind one API."""

import sys
import webbrowser
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from evidentia.cli.options import HomeOption, JsonOption, openfga, server_options, settings

if TYPE_CHECKING:
    from evidentia.settings import Settings
    from evidentia.workspace.opened import Opened


def serve(
    host: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Where [EVIDENTIA_SERVER_HOST, else 127.0.0.1]."),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            metavar="PORT",
            min=0,
            max=65_535,
            help="The port [EVIDENTIA_SERVER_PORT, else 8321]; 0 takes a free one.",
        ),
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Load an example first, to look around in.")
    ] = False,
    open_browser: Annotated[
        bool, typer.Option("--open", help="Open it in the browser, signed in.")
    ] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Serve the workspace until it is stopped.

    On this machine's own address, with the folder's own database, it needs no setting up: the link
    that it prints signs the owner in, once. Anywhere else someone must be able to sign in first:
    'evidentia token new' makes a token.
    """
    from evidentia.errors import EnvironmentProblem

    found = settings(home)
    found = replace(
        found,
        server_host=host or found.server_host,
        server_port=found.server_port if port is None else port,
    )
    try:
        from evidentia.server import listening
        from evidentia.server.app import create_app
    except ImportError as error:
        raise EnvironmentProblem(
            f"the server needs more packages ({error.name}): pip install 'evidentia[server]'"
        ) from None
    with _opened(found) as opened:
        app = create_app(opened, found, owner_link=listening.is_owners(opened, found))
        if demo:
            from evidentia.cli.output import say
            from evidentia.server.demo import load

            say("Loading the example: some seconds, once ...", aside=True)
            load(opened.for_(found.tenant))
        listening.look_at_key(opened, found)
        where = opened.database.where

        def tell(url: str, link: str | None) -> None:
            _tell(where, url, link, as_json=as_json)
            if open_browser:
                webbrowser.open(link or url)

        listening.listen(app, found, tell)


def _tell(where: str, url: str, link: str | None, *, as_json: bool) -> None:
    from evidentia.cli.output import print_json, say

    if as_json:
        print_json({"url": url, "sign_in": link})
    else:
        say(f"Evidentia serves {where} at {url}")
        if link is not None:
            say(f"Sign in, once: {link}")
    sys.stdout.flush()


def _opened(found: "Settings") -> "Opened":
    from evidentia.cli.passphrases import for_workspace
    from evidentia.workspace.opened import open_all

    passphrase = for_workspace(found, found.home, found.tenant, may_ask=True)
    return open_all(
        found.database_url,
        home=found.home,
        passphrase=passphrase,
        authorizer=openfga(found),
        lake=found.lake,
        server=server_options(found, hurried=True),
        keys=found.keys,
        checkpoints=found.checkpoints,
    )

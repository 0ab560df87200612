"""`evidentia mcp`: the workspace for agents, over the Model Context Protocol."""

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from evidentia.cli.options import (
    HomeOption,
    JsonOption,
    TenantOption,
    openfga,
    server_options,
    settings,
)

if TYPE_CHECKING:
    from evidentia.settings import Settings
    from evidentia.workspace.opened import Opened

PORT: Final = 8322
_WILDCARDS: Final = ("0.0.0.0", "::")  # noqa: S104 - what others are refused by


def mcp(
    agent: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="What the agent is called, in one word: so it is recorded."
        ),
    ] = "mcp",
    user: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="USER",
            help="On standard input: act in this user's name [the workspace's owner].",
        ),
    ] = None,
    files: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="On standard input: let it verify the files below this folder."
        ),
    ] = None,
    http: Annotated[
        bool, typer.Option("--http", help="Serve over HTTP, to whoever has a token.")
    ] = False,
    host: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="Over HTTP: where [127.0.0.1].", show_default=False),
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(
            metavar="PORT",
            min=0,
            max=65_535,
            help=f"Over HTTP: the port [{PORT}]; 0 takes a free one.",
            show_default=False,
        ),
    ] = PORT,
    url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Over HTTP: how others reach it [EVIDENTIA_SERVER_URL]."),
    ] = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Serve the workspace to agents, over the Model Context Protocol.

    Without --http it speaks on standard input and output, to the program that starts it. An agent
    reads, checks answers and records its decisions; it can't review, approve, release or grant,
    whoever starts it. Over HTTP it takes the tokens of 'evidentia token new'.
    """
    found = settings(home)
    found = replace(
        found,
        server_host=host,
        server_port=port,
        server_url=url or found.server_url,
        tenant=tenant or found.tenant,
    )
    _require_installed()
    if not http:
        _on_standard_input(found, agent, user, files)
    elif user is not None or files is not None:
        from evidentia.errors import UsageError

        raise UsageError("--as and --files are for standard input: over HTTP a token says who asks")
    else:
        _over_http(found, agent, as_json=as_json)


def _require_installed() -> None:
    from evidentia.errors import EnvironmentProblem

    try:
        import mcp.server.mcpserver  # noqa: F401 - whether it is there
        import uvicorn  # noqa: F401 - the same
    except ImportError as error:
        raise EnvironmentProblem(
            f"agents need more packages ({error.name}): pip install 'evidentia[mcp]'"
        ) from None


def _opened(found: "Settings") -> "Opened":
    """Open what is there; no one is asked for a passphrase where a program is at the other end."""
    from evidentia.cli.passphrases import for_workspace
    from evidentia.workspace.opened import open_all

    passphrase = for_workspace(found, found.home, found.tenant, may_ask=False)
    return open_all(
        found.database_url,
        home=found.home,
        create=False,
        passphrase=passphrase,
        authorizer=openfga(found),
        lake=found.lake,
        server=server_options(found, hurried=True),
        keys=found.keys,
        checkpoints=found.checkpoints,
    )


def _on_standard_input(found: "Settings", agent: str, user: str | None, files: Path | None) -> None:
    import anyio

    from evidentia.errors import NotFoundError
    from evidentia.integrations.mcp import mcp_server

    if files is not None and not files.is_dir():
        raise NotFoundError(f"{files}: there is no such folder")
    with _opened(found) as opened:
        server = mcp_server(opened.for_(found.tenant, user), agent=agent, files=files)
        anyio.run(server.run_stdio_async)


def _over_http(found: "Settings", agent: str, *, as_json: bool) -> None:
    from urllib.parse import urlsplit

    import uvicorn

    from evidentia.integrations.mcp import mcp_app
    from evidentia.server.binding import Answering, bound, in_url, is_loopback

    alone = is_loopback(found.server_host)
    with _opened(found) as opened:
        if not alone:
            _refuse_what_no_one_could_use(opened, found)
        listening = bound(found.server_host, found.server_port)
        address = f"http://{in_url(found.server_host)}:{listening.getsockname()[1]}"
        here = found.server_url or address
        app = mcp_app(
            opened,
            agent=agent,
            url=here,
            hosts=[in_url(urlsplit(here).hostname or "")],
            origins=found.server_origins or (),
        )
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=found.server_proxies is not None,
            forwarded_allow_ips=list(found.server_proxies or ()),
            timeout_graceful_shutdown=10,
        )
        urls = f"{here}/mcp", f"{address}/mcp"
        tell = partial(_tell, *urls, opened.database.where, as_json=as_json)
        Answering(config, tell).run(sockets=[listening])


def _refuse_what_no_one_could_use(opened: "Opened", found: "Settings") -> None:
    """Raise `UsageError` where others reach it and none has a token, or its name is not known."""
    from evidentia.errors import UsageError

    if not any(opened.for_(tenant).access.tokens() for tenant in opened.tenants()):
        raise UsageError(
            f"no one could use it, and others can reach {found.server_host}: make a token first, "
            "with 'evidentia token new USER --role approver', or serve this machine alone "
            "(--host 127.0.0.1)"
        )
    if found.server_host in _WILDCARDS and found.server_url is None:
        raise UsageError(
            f"{found.server_host} is every address of this machine: say by which others reach it "
            "(--url https://evidence.example.com), so that no other name is answered"
        )


def _tell(url: str, listens: str, where: str, *, as_json: bool) -> None:
    from evidentia.cli.output import print_json, say

    if as_json:
        print_json({"url": url, "listens": listens})
    else:
        say(f"Evidentia serves {where} to agents at {url}")
        say("They send a token of 'evidentia token new' as a bearer token.")
    sys.stdout.flush()

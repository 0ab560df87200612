"""Where the server listens, and who may reach it there before anyone is signed in."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial

import uvicorn
from fastapi import FastAPI

from evidentia.errors import EnvironmentProblem, EvidentiaError, IntegrityError, UsageError
from evidentia.logs import get_logger
from evidentia.server.binding import Answering, bound, in_url, is_loopback
from evidentia.server.running import Running
from evidentia.settings import Settings
from evidentia.workspace.opened import Opened

_log = get_logger("server")
_BACKLOG = 512
_WAITED_SECONDS = 30
"""How long a server that is stopped waits for what it is working on."""


def is_owners(opened: Opened, settings: Settings) -> bool:
    """Whether the owner signs in by a link: alone on this machine, with the folder's database.

    Raise `UsageError` where that is not so, and no one else could sign in either.
    """
    if is_loopback(settings.server_host) and opened.database.is_sqlite:
        return True
    if settings.oidc_issuer is not None:
        return False
    if any(opened.for_(tenant).access.tokens() for tenant in opened.tenants()):
        return False
    where = settings.server_host if opened.database.is_sqlite else "a database server"
    raise UsageError(
        f"no one could sign in, and others can reach {where}: make a token first, with 'evidentia "
        "token new USER --role admin', or name an OpenID provider (EVIDENTIA_OIDC_ISSUER), or "
        "serve this machine alone from a folder of its own (--host 127.0.0.1)"
    )


def look_at_key(opened: Opened, settings: Settings) -> None:
    """See whether this server can sign a log that it serves: it records nothing otherwise.

    Raise `UsageError` where the passphrase is wrong or its file is not there. What may come yet, a
    key or a token, is only logged. One log is looked at, the settings' own if it is there: keys
    are mislaid for all at once.
    """
    tenants = opened.tenants()
    if not tenants:
        return
    tenant = settings.tenant if settings.tenant in tenants else tenants[0]
    keys = []
    with suppress(EvidentiaError):  # of a log that is damaged, audits tell
        keys = opened.for_(tenant).trail.keys()
    try:
        if keys:
            opened.appending.key(tenant, keys[-1].key.key_id, keys[-1].key.name)
    except (EnvironmentProblem, IntegrityError) as error:
        _log.warning("cannot_sign", tenant=tenant, reason=str(error))


def listen(app: FastAPI, settings: Settings, tell: Callable[[str, str | None], None]) -> None:
    """Answer requests until the process is told to stop.

    Once it answers, `tell` is told where, and by which link the owner signs in, if there is one.
    """
    listening = bound(settings.server_host, settings.server_port)
    port = listening.getsockname()[1]
    here = settings.server_url or f"http://{in_url(settings.server_host)}:{port}"
    running: Running = app.state.running
    owner = running.sign_in
    link = None if owner is None else f"{here}/sign-in?token={owner.secret}"
    found = config_of(app, settings)
    Answering(found, partial(tell, here, link), running.stopping.set).run(sockets=[listening])


def config_of(app: FastAPI, settings: Settings) -> uvicorn.Config:
    """Return how requests are taken: whose word counts for where they come from, among others."""
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        backlog=_BACKLOG,
        server_header=False,
        proxy_headers=settings.server_proxies is not None,
        forwarded_allow_ips=list(settings.server_proxies or ()),
        timeout_graceful_shutdown=_WAITED_SECONDS,
    )

"""The options that commands share, and the workspace they lead to."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evidentia.settings import Settings

if TYPE_CHECKING:
    from evidentia.access.openfga import OpenFgaAuthorizer
    from evidentia.loading.workers import Bulk
    from evidentia.store.database import ServerOptions
    from evidentia.workspace import Workspace

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document, for programs.")]
HomeOption = Annotated[
    Path | None,
    typer.Option(
        "--home",
        metavar="DIR",
        help="The workspace folder [EVIDENTIA_HOME, else ./.evidentia]; wins over a database URL.",
    ),
]
TenantOption = Annotated[
    str | None,
    typer.Option("--tenant", metavar="NAME", help="Whose log [EVIDENTIA_TENANT, else default]."),
]
EntryArgument = Annotated[
    int, typer.Argument(metavar="ENTRY", min=0, help="The entry's number, as 'trail log' shows it.")
]


def settings(home: Path | None = None) -> Settings:
    """Read the environment and set up logging by it; a home that is named wins over it."""
    found = Settings.from_environment(os.environ)
    from evidentia.logs import configure

    configure(found.log_level, found.log_format)
    return found.of_home(home)


def workspace(
    home: Path | None, tenant: str | None, *, create: bool = False, read_only: bool = False
) -> "Workspace":
    """Open the workspace that options and environment name."""
    found = settings(home)
    from evidentia.cli.passphrases import for_workspace
    from evidentia.workspace import open_workspace

    name = tenant or found.tenant
    opened = open_workspace(
        found.database_url,
        home=found.home,
        tenant=name,
        create=create,
        read_only=read_only,
        passphrase=for_workspace(found, found.home, name, may_ask=not read_only),
        lake=found.lake,
        keys=found.keys,
        checkpoints=found.checkpoints,
        server=server_options(found),
        authorizer=openfga(found),
    )
    opened.opened.bulk = cluster(found)
    return opened


def cluster(found: Settings) -> "Bulk | None":
    """Return the cluster that does bulk work, if one is set; it is asked once there is work."""
    if found.ray is None:
        return None
    from evidentia.jobs.ray_workers import RayWorkers

    return RayWorkers(found.ray)


def server_options(found: Settings, *, hurried: bool = False) -> "ServerOptions":
    """Return how PostgreSQL is connected to; where requests are answered, it is `hurried`."""
    from evidentia.store.database import ServerOptions

    return ServerOptions(**found.server_fields(hurried=hurried))


def openfga(found: Settings) -> "OpenFgaAuthorizer | None":
    """Return the OpenFGA that settings name, which narrows what the trail grants; None if none."""
    if found.openfga_url is None:
        return None
    fields = found.openfga_fields()
    from evidentia.access.openfga_client import OpenFgaClient, OpenFgaServer
    from evidentia.proof.files import key_in

    file = found.openfga_token_file
    token = None if file is None else key_in(file)
    return OpenFgaClient(OpenFgaServer(**fields, token=token)).authorizer()


def keep_checkpoint(opened: "Workspace") -> None:
    """Keep the newest checkpoint beside the database; what was recorded is, where that fails."""
    from evidentia.cli.output import say
    from evidentia.errors import EnvironmentProblem

    try:
        opened.trail.checkpoint()
    except EnvironmentProblem as error:
        say(f"the newest checkpoint is not kept: {error}", "unknown", aside=True)

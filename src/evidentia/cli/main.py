"""The `evidentia` command."""

import gc
import sys
from typing import Annotated, Any, NoReturn

import typer

from evidentia import __version__
from evidentia.cli.group import Group, LazyCommand, LazyGroup
from evidentia.errors import EvidentiaError, environment_problem

COMMANDS = {
    "check": ("check:check", "Check an answer against documents, claim by claim."),
    "gate": ("gate:gate", "Check files of answers for a build: all its reports, one exit code."),
    "ingest": ("documents:ingest", "Read documents into the library, to check answers against."),
    "documents": ("documents:app", "List the documents of the library."),
    "cite": (
        "documents:cite",
        "Show the passage that a citation leads to, and every place it stands in.",
    ),
    "verify": (
        "verify:verify",
        "Verify a file offline, from the file alone; a published log; or the whole workspace.",
    ),
    "keys": ("keys:app", "Show, export, rotate and protect the keys that sign a log."),
    "jobs": ("jobs:app", "List the jobs of servers: long work, and how far it is."),
    "otel": ("otel:otel", "Record what programs did, from spans of OpenTelemetry in files."),
    "restore": (
        "restoring:restore",
        "Restore a backup into an empty place, and audit all of it there.",
    ),
    "serve": ("serve:serve", "Serve the workspace to programs and browsers, by one API."),
    "mcp": ("mcp:mcp", "Serve the workspace to agents, over the Model Context Protocol."),
}
"""Commands that stand alone: where each is, and the first line of its help."""
GROUPS = {
    "bundle": (
        "bundle",
        "Bundles of evidence: exactly what a model saw, what it did not, and why.",
    ),
    "ledger": ("ledger", "Ledgers of checked answers: list, show, export, prove and verify them."),
    "pack": (
        "pack",
        "Packs of weighty decisions: basis, actions, review, in one signed file.",
    ),
    "judge": ("judge", "Judges of claims: which there are, and how right they are."),
    "trail": (
        "trail",
        "Append to the evidence trail, read it, prove entries of it, verify it whole.",
    ),
    "token": ("token", "Tokens, by which programs ask a server in a user's name."),
    "access": ("access", "OpenFGA beside the roles: its model, keeping it in step, and drift."),
    "backup": ("backup", "Back up a workspace ('backup PLACE'); list, verify and prune backups."),
    "db": ("database", "Bring the database up to date, and look at its schema."),
}
"""Groups of commands: the module of each, and what it is for."""
DEFAULTS = {"backup": "create"}
"""The command of a group where none is named."""


class Root(Group):
    """All commands; those of a group are loaded when one of them is asked for."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, (place, about) in COMMANDS.items():
            self.add_command(LazyCommand(name, f"evidentia.cli.{place}", about))
        for name, (module, about) in GROUPS.items():
            self.add_command(LazyGroup(name, f"evidentia.cli.{module}", about, DEFAULTS.get(name)))


app = typer.Typer(
    cls=Root,
    name="evidentia",
    help=(
        "The evidence layer for AI systems: what was read, claimed, done and decided, "
        "kept so that a stranger can verify it.\n\n"
        "Exit codes: 0 holds, 1 does not hold, 2 usage, 3 environment."
    ),
    rich_markup_mode=None,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_COLLECTED_AFTER = 100_000
"""Loading modules makes many objects and no garbage: looking for it often takes time."""


def _version(value: bool) -> None:
    if value:
        typer.echo(f"evidentia {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    del version


def run() -> None:
    """Run the command line; an error of ours is one line and an exit code, never a traceback."""
    gc.set_threshold(_COLLECTED_AFTER)
    try:
        app()
    except EvidentiaError as error:
        _end(error)
    except OSError as error:
        _end(environment_problem(error))


def _end(error: EvidentiaError) -> NoReturn:
    from evidentia.cli.output import print_json, visible

    if "--json" in sys.argv:
        print_json({"error": {"kind": type(error).__name__, "message": str(error)}})
    else:
        typer.echo(f"{typer.style('error:', fg='red')} {visible(error)}", err=True)
    sys.exit(error.exit_code)


if __name__ == "__main__":
    run()

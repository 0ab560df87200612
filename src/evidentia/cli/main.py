"""The `evidentia` command."""

import gc
import sys
from typing import Annotated, Any

import typer

from evidentia import __version__
from evidentia.cli import check, documents, keys, verify
from evidentia.cli.group import Group, LazyGroup
from evidentia.errors import EvidentiaError

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
    "db": ("database", "Bring the database up to date, and look at its schema."),
}
"""Groups of commands: the module of each, and what it is for."""


class Root(Group):
    """All commands; those of a group are loaded when one of them is asked for."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, (module, about) in GROUPS.items():
            self.add_command(LazyGroup(name, f"evidentia.cli.{module}", about))


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
app.command("check")(check.check)
app.command("ingest")(documents.ingest)
app.command("documents")(documents.documents)
app.command("cite")(documents.cite)
app.command("verify")(verify.verify)
app.add_typer(keys.app, name="keys")

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
        from evidentia.cli.output import print_json, visible

        if "--json" in sys.argv:
            print_json({"error": {"kind": type(error).__name__, "message": str(error)}})
        else:
            typer.echo(f"{typer.style('error:', fg='red')} {visible(error)}", err=True)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    run()

"""The command groups' class: keeps `--help` of a subcommand from loading what only values need."""

import typer.core


class Group(typer.core.TyperGroup):
    """A group whose absent `--help` is False and not None.

    Typer turns None into a boolean with pydantic, whose import takes longer than all of the help.
    """

    def get_help_option(self, ctx):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201 - the base class's own types are private
        """Return the base class's option with a default that needs no conversion."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.default = False
        return option

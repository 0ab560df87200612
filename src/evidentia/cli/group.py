"""The command groups' classes: `--help` loads only what it prints."""

from importlib import import_module
from typing import Any, Final

import typer.core
import typer.main

_OF_COMMANDS: Final = ("--home", "--json", "--tenant")
"""Options that nearly every command takes, and no group does."""


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

    def parse_args(self, ctx, args):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201 - the base class's own types are private
        """Parse as the base class does; an option of the commands says where it stands."""
        option = args[0].partition("=")[0] if args else ""
        if option in _OF_COMMANDS and not any(option in one.opts for one in self.params):
            ctx.fail(f"{option} stands after the command: {ctx.command_path} COMMAND {option} …")
        return super().parse_args(ctx, args)


class LazyGroup(Group):
    """A group whose commands are loaded when the first of them is asked for.

    With a `default`, that is the command where none is named: what stands there is its argument.
    """

    def __init__(self, name: str, module: str, about: str, default: str | None = None) -> None:
        self._module = module
        self._default = default
        self._loaded: Any = None
        super().__init__(name=name, help=about, no_args_is_help=True, rich_markup_mode=None)

    @property
    def commands(self) -> Any:
        """The commands of the module's application."""
        if self._loaded is None:
            self._loaded = typer.main.get_group(import_module(self._module).app).commands
        return self._loaded

    @commands.setter
    def commands(self, given: Any) -> None:
        """Take nothing: the base class begins with none."""

    def parse_args(self, ctx, args):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201 - the base class's own types are private
        """Parse as the base class does, with the default command where none is named."""
        if self._default and args and args[0] not in {*self.commands, *ctx.help_option_names}:
            args = [self._default, *args]
        return super().parse_args(ctx, args)  # type: ignore[no-untyped-call]


class LazyCommand(typer.core.TyperCommand):
    """A command, or a group that does something by itself, loaded when it is run or explained."""

    def __init__(self, name: str, place: str, about: str) -> None:
        self._place = place
        self._loaded: Any = None
        super().__init__(name, help=about, rich_markup_mode=None)

    @property
    def loaded(self) -> Any:
        """The command itself."""
        if self._loaded is None:
            module, _, name = self._place.partition(":")
            found = getattr(import_module(module), name)
            if not isinstance(found, typer.Typer):
                alone = typer.Typer(rich_markup_mode=None, add_completion=False)
                alone.command(self.name)(found)
                found = alone
            self._loaded = typer.main.get_command(found)
        return self._loaded

    def make_context(self, info_name, args, parent=None, **extra):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN003, ANN201 - the base class's own types are private
        """Parse the arguments as the command itself does."""
        return self.loaded.make_context(info_name, args, parent=parent, **extra)

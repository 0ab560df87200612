"""How a tool is offered: what it is said to do, what it may be given, and how its errors are told.

An error says what to do next, in words that an agent can act on. What is wrong with the machine
goes to the log, not over the wire.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import ToolAnnotations
from pydantic import ValidationError

from evidentia.access.guard import TABLE, On
from evidentia.errors import (
    AccessError,
    BusyError,
    EnvironmentProblem,
    EvidentiaError,
    IntegrityError,
    NotFoundError,
)
from evidentia.integrations.mcp.asking import Asker
from evidentia.logs import get_logger

READS: Final = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
"""It changes nothing, and looks at nothing but the workspace."""
RECORDS: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)
"""It adds to the trail, each time; nothing is changed or taken away."""
RECORDS_ONCE: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
"""It adds to the trail, and the same again adds nothing."""
_MOST_WRONG: Final = 20
_log = get_logger("mcp")


class CheckedTool(Tool):
    """A tool that says in a line what is wrong with what it was given, and what it takes."""

    async def run(
        self,
        arguments: dict[str, Any],
        context: Any,
        convert_result: bool = False,  # noqa: FBT001, FBT002 - as the SDK has it
    ) -> Any:
        """Run it; an error of what was given names each argument."""
        try:
            return await super().run(arguments, context, convert_result)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            wrong = "; ".join(
                f"{'.'.join(map(str, one['loc']))}: {one['msg']}"
                for one in error.__cause__.errors()[:_MOST_WRONG]
            )
            takes = ", ".join(self.parameters["properties"])
            raise ToolError(
                f"{self.name} was not called as it must be: {wrong}. It takes: {takes}."
            ) from error.__cause__


def offered(
    asker: Asker,
    row: str,
    function: Callable[..., Any],
    *,
    title: str,
    annotations: ToolAnnotations,
    otherwise: str,
) -> Tool:
    """Return a function as a tool, described by its docstring; it takes no argument but its own.

    `row` is what it does, in the guard's table; `otherwise` is what to do where something that was
    named is not there.
    """
    name = function.__name__
    telling = _telling(asker, row, function, otherwise)
    tool = CheckedTool.from_function(telling, name=name, title=title, annotations=annotations)
    tool.description = " ".join(tool.description.split())
    arguments = tool.fn_metadata.arg_model
    arguments.model_config["extra"] = "forbid"  # a misspelt filter would be none
    arguments.model_rebuild(force=True)
    tool.parameters = arguments.model_json_schema(by_alias=True)
    return tool


def read(asker: Asker, row: str, function: Callable[[], str], otherwise: str) -> str:
    """Return a resource's text, by a function that reads it; errors are told as a tool's are."""
    try:
        text: str = _recorded(asker, row, function)
    except NotFoundError as error:
        raise ResourceNotFoundError(f"{error}. {otherwise}") from None
    except EvidentiaError as error:
        raise ResourceError(said(error)) from None
    return text


def said(error: EvidentiaError, otherwise: str = "") -> str:
    """Say what was wrong, and what an agent does about it."""
    match error:
        case AccessError():
            return f"{error}. Don't try it another way: a person decides what you may do."
        case NotFoundError():
            return f"{error}. {otherwise}".rstrip()
        case IntegrityError():
            return (
                f"{error}. The evidence is not what was recorded: don't rely on it, and tell a "
                "person, who runs 'evidentia trail verify'."
            )
        case BusyError():
            return f"{error}. Wait some seconds, then call it again."
        case EnvironmentProblem():
            _log.error("mcp_environment", error=str(error))
            return (
                "The workspace can't be used now; its log says why. Nothing is wrong with your "
                "call: tell a person, and try again later."
            )
    return str(error)


def _telling(
    asker: Asker, row: str, function: Callable[..., Any], otherwise: str
) -> Callable[..., Any]:
    @wraps(function)
    def telling(**given: Any) -> Any:
        try:
            return _recorded(asker, row, lambda: function(**given))
        except EvidentiaError as error:
            raise ToolError(said(error, otherwise)) from None

    return telling


def _recorded(asker: Asker, row: str, function: Callable[[], Any]) -> Any:
    """Do what was asked, and have it recorded where a server records such requests."""
    try:
        done = function()
    except AccessError:
        _record(asker, row, "refused")
        raise
    except NotFoundError:
        if TABLE[row].on is On.PACK:
            _record(asker, row, "not_found")
        raise
    if TABLE[row].on is On.PACK:
        asker.record(row, "done")
    return done


def _record(asker: Asker, row: str, outcome: Any) -> None:
    try:
        asker.record(row, outcome)
    except AccessError:  # the token itself was revoked: it is no one's any more
        _log.info("mcp_refused", row=row)

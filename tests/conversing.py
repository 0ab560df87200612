"""Conversations of an agent with a server, by the SDK's own client."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio
from mcp import Client
from mcp.types import CallToolResult, TextContent

Result = TypeVar("Result")


def conversing(server: Any, talk: Callable[[Client], Awaitable[Result]], **how: Any) -> Result:
    """Return what comes of a conversation; `server` is one in memory, a transport, or a URL."""

    async def whole() -> Result:
        async with Client(server, **how) as client:
            return await talk(client)

    return anyio.run(whole)


def call(server: Any, tool: str, /, **given: Any) -> CallToolResult:
    """Call a tool of a server in a conversation of its own."""
    return conversing(server, lambda client: client.call_tool(tool, given))


def text_of(result: CallToolResult) -> str:
    """Return what a model reads of a result."""
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


def told(result: CallToolResult) -> dict[str, Any]:
    """Return the object of a result, which is no error."""
    assert not result.is_error, text_of(result)
    assert result.structured_content is not None
    return dict(result.structured_content)


def refused(result: CallToolResult) -> str:
    """Return what the error says."""
    assert result.is_error
    return text_of(result)

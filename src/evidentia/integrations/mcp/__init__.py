"""Evidence for agents, over the Model Context Protocol: tools and resources of a workspace.

Whoever asks is an agent, in the owner's or a user's name: the guard decides what it may do, not the
list of tools. What it is told of documents is fenced, and said to be data.
"""

from evidentia.integrations.mcp.serving import mcp_app, mcp_server

__all__ = ["mcp_app", "mcp_server"]

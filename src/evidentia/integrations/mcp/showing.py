"""Results as a model is shown them: our own words in front, all texts of others fenced behind.

The structured form has the same texts as values of JSON, which none of them can end; there, too,
what a reader can't see is taken out.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from mcp.types import CallToolResult, TextContent

from evidentia.bundles.rendering import fence
from evidentia.integrations.mcp.results import Result, ShownPassage, as_json
from evidentia.language.characters import strip_invisible
from evidentia.language.graphemes import boundary_before
from evidentia.workspace import Workspace

MOST_TEXT: Final = 6_000
"""How many characters of one text are shown; a passage has fewer."""
Text = tuple[Mapping[str, str], str]
"""A text of others, with what its tag says of it."""


def told(workspace: Workspace, ours: str, texts: Iterable[Text], result: Result) -> CallToolResult:
    """Return what a tool gives: for a model as text, for a program as an object."""
    return CallToolResult(
        content=[TextContent(type="text", text=fenced(workspace, ours, texts))],
        structured_content=_seen(as_json(result)),
    )


def fenced(workspace: Workspace, ours: str, texts: Iterable[Text]) -> str:
    """Return words of ours, and behind them texts of others, in a fence that none can end."""
    given = [(tag, cut(text)) for tag, text in texts]
    if not given:
        return ours
    key = workspace.opened.keys.secret(workspace.tenant)
    return f"{ours}\n\n{fence(given, key=key)[0]}"


def passage_text(passage: ShownPassage, kind: str, **more: str) -> Text:
    """Return a passage, with where it stands."""
    said = {"type": kind, **more, "source": passage.document, "page": str(passage.page)}
    if passage.headings:
        said["heading"] = " / ".join(passage.headings)
    if passage.cite is not None:
        said["cite"] = passage.cite
    return said, passage.text


def cut(text: str) -> str:
    """Return as much of a text as is shown; what is cut ends with an ellipsis."""
    return text if len(text) <= MOST_TEXT else f"{text[: boundary_before(text, MOST_TEXT)]}…"


def _seen(value: Any) -> Any:
    """Return a value of JSON without characters that a reader can't see."""
    if isinstance(value, str):
        return strip_invisible(value)[0]
    if isinstance(value, list):
        return [_seen(one) for one in value]
    if isinstance(value, dict):
        return {name: _seen(one) for name, one in value.items()}
    return value

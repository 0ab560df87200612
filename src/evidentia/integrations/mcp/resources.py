"""Resources: ledgers, packs and passages, each by an address, and the newest of them in pages."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, Final

from anyio import to_thread
from mcp import MCPError
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import MCPServer
from mcp.types import INVALID_PARAMS, ListResourcesResult, Resource

from evidentia.errors import EvidentiaError, InputError, NotFoundError
from evidentia.integrations.mcp.asking import Asker
from evidentia.integrations.mcp.checking import shown_ledger
from evidentia.integrations.mcp.library import cited
from evidentia.integrations.mcp.offering import read, said
from evidentia.integrations.mcp.showing import MOST_TEXT, Text, fenced, passage_text
from evidentia.language.characters import strip_invisible
from evidentia.language.counting import counted

LISTED: Final = 50
"""How many resources are on a page of the list."""
LEDGER: Final = "evidentia://ledger/{ledger_id}"
CLAIMS: Final = "evidentia://ledger/{ledger_id}/claims/{start}"
PACK: Final = "evidentia://pack/{pack_id}"
PASSAGE: Final = "evidentia://passage/{anchor}"
_TEXT: Final = "text/plain"
_KINDS: Final = ("ledger", "pack")
_LONGEST_TITLE: Final = 120


def add_resources(server: MCPServer[Any], asker: Asker) -> None:
    """Let a server give ledgers, packs and passages by their addresses."""

    def ledger(ledger_id: str) -> str:
        """Give an answer, claim by claim: verdicts, and the passages they rest on."""
        return _ledger(asker, ledger_id, 0)

    def claims(ledger_id: str, start: str) -> str:
        """Give more claims of a ledger, from a place on, counted from 0."""
        if not start.isascii() or not start.isdigit() or len(start) > 9:  # noqa: PLR2004 - a place
            raise InputError(f"{start[:20]!r} is no place in a ledger: give a number")
        return _ledger(asker, ledger_id, int(start))

    def pack(pack_id: str) -> str:
        """Give the evidence pack of a decision: what was decided, on what, reviewed by whom."""
        workspace = asker.workspace()
        found = workspace.packs.get(pack_id)
        text = json.dumps(found.model_dump(mode="json"), indent=1, ensure_ascii=False)
        ours = f"Pack {found.pack_id}, version {found.version}, of decision {found.decision_id}."
        return fenced(workspace, ours, _in_parts({"type": "pack", "id": found.pack_id}, text))

    def passage(anchor: str) -> str:
        """Give a passage of the library by its anchor, in every place where it stands."""
        workspace = asker.workspace()
        name, places = cited(workspace, anchor)
        ours = f"[cite:{name}] stands in {counted(len(places), 'place')}."
        return fenced(workspace, ours, [passage_text(one, "passage") for one in places])

    offers: tuple[tuple[str, str, str, Callable[..., str], str], ...] = (
        (LEDGER, "Ledger", "ledgers.page", ledger, "Its id begins with led_."),
        (CLAIMS, "Claims of a ledger", "ledgers.page", claims, "Its id begins with led_."),
        (PACK, "Evidence pack", "packs.get", pack, "Its id begins with pack_."),
        (PASSAGE, "Passage", "documents.resolve", passage, "find_passages gives anchors."),
    )
    for uri, title, row, function, otherwise in offers:
        reading = _reading(asker, row, function, otherwise)
        server.resource(uri, title=title, mime_type=_TEXT)(reading)
    server.middleware.append(Listing(asker))


@dataclass(frozen=True, slots=True)
class Listing:
    """Answers `resources/list`: the newest ledgers, then the newest packs, some at a time."""

    asker: Asker

    async def __call__(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Answer, or let others answer."""
        answer = await call_next(ctx)
        if ctx.method != "resources/list":
            return answer
        cursor = (ctx.params or {}).get("cursor")
        try:
            page = await to_thread.run_sync(_page, self.asker, cursor)
        except EvidentiaError as error:
            raise MCPError(code=INVALID_PARAMS, message=said(error)) from None
        said_of = page.model_dump(mode="json", by_alias=True, exclude_none=True)
        return {**answer, **said_of} if isinstance(answer, dict) else page


def _page(asker: Asker, cursor: Any) -> ListResourcesResult:
    workspace = asker.workspace()
    kind, before = _place(cursor)
    found: list[Resource] = []
    entry: int | None = None
    if kind == "ledger":
        ledgers = workspace.ledgers.list(before=before, limit=LISTED)
        found = [
            _resource(
                LEDGER.format(ledger_id=one.id), one.id, one.query or one.title, one.created_at
            )
            for one in ledgers
        ]
        entry = ledgers[-1].entry if len(ledgers) == LISTED else None
        before = None
        if entry is None:
            kind = "pack"
    if kind == "pack" and len(found) < LISTED:
        room = LISTED - len(found)
        packs = workspace.packs.list(before=before, limit=room)
        found += [
            _resource(PACK.format(pack_id=one.id), one.id, one.decision_id, one.created_at)
            for one in packs
        ]
        entry = packs[-1].entry if len(packs) == room else None
    return ListResourcesResult(
        resources=found, next_cursor=None if entry is None else f"{kind}.{entry}"
    )


def _place(cursor: Any) -> tuple[str, int | None]:
    """Return what a page begins with, and before which entry."""
    if cursor is None:
        return "ledger", None
    kind, _, entry = str(cursor)[:40].partition(".")
    if kind not in _KINDS or not entry.isascii() or not entry.isdigit():
        raise InputError("the cursor is none that this server gave: begin without one")
    return kind, int(entry)


def _resource(uri: str, name: str, about: str, at: str) -> Resource:
    shown = strip_invisible(" ".join(about.split()))[0]
    title = shown if len(shown) <= _LONGEST_TITLE else f"{shown[:_LONGEST_TITLE]}…"
    return Resource(uri=uri, name=name, title=title, description=f"Of {at}.", mime_type=_TEXT)


def _ledger(asker: Asker, name: str, start: int) -> str:
    if not name.startswith("led_"):
        raise NotFoundError(f"there is no ledger {name[:80]!r}")
    workspace = asker.workspace()
    ours, texts = shown_ledger(workspace, name, start)
    return fenced(workspace, ours, texts)


def _in_parts(tag: dict[str, str], text: str) -> list[Text]:
    """Return a long text in parts, each as long as is shown of one."""
    parts = [text[at : at + MOST_TEXT] for at in range(0, len(text), MOST_TEXT)]
    return [
        ({**tag, "part": f"{number} of {len(parts)}"}, part) for number, part in enumerate(parts, 1)
    ]


def _reading(asker: Asker, row: str, function: Callable[..., str], otherwise: str) -> Any:
    @wraps(function)
    def reading(**named: str) -> str:
        return read(asker, row, partial(function, **named), otherwise)

    return reading

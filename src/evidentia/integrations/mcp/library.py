"""Tools that look into the library: its documents, passages by their words, and citations."""

from itertools import groupby
from typing import Annotated, Final

from mcp.server.mcpserver.tools import Tool
from mcp.types import CallToolResult
from pydantic import Field

from evidentia.documents.model import DocumentChunk
from evidentia.errors import InputError, NotFoundError
from evidentia.integrations.mcp.asking import Asker
from evidentia.integrations.mcp.checking import MOST_NAMED, Name, Start
from evidentia.integrations.mcp.offering import READS, offered
from evidentia.integrations.mcp.results import (
    Citation,
    Documents,
    FoundPassages,
    ListedDocument,
    PlacedPassage,
)
from evidentia.integrations.mcp.showing import passage_text, told
from evidentia.language.counting import counted
from evidentia.store.sql.library import StoredDocument
from evidentia.workspace import Workspace
from evidentia.workspace.passages import MOST

PAGE: Final = 8
DOCUMENTS: Final = 50


def tools(asker: Asker) -> list[Tool]:
    """Return the tools that look into the library."""

    def find_passages(
        query: Annotated[
            str,
            Field(
                min_length=1,
                max_length=10_000,
                description="A question, or words that the passage has. Words are matched, not "
                "meanings: try the documents' own terms.",
            ),
        ],
        collections: Annotated[
            list[Name] | None,
            Field(min_length=1, max_length=MOST_NAMED, description="Look into these alone."),
        ] = None,
        as_of: Annotated[
            str | None,
            Field(
                pattern=r"^\d{4}-\d{2}-\d{2}$",
                description="A day (2026-03-01): look into the versions that held on it.",
            ),
        ] = None,
        start: Start = 0,
        limit: Annotated[int, Field(ge=1, le=50, description="How many different texts.")] = PAGE,
    ) -> Annotated[CallToolResult, FoundPassages]:
        """Find passages of the library to answer from, the best first, word for word.

        Each has the anchor to cite it by: write [cite:ANCHOR] behind the sentence that rests on it.
        A text that stands in several places comes once for each place.
        """
        workspace = asker.workspace()
        wanted = start + limit
        if wanted > MOST:
            raise InputError(
                f"a search gives {MOST} texts at most, and you asked up to number {wanted}: search "
                "for something more exact"
            )
        found = workspace.documents.search(
            query, limit=min(wanted + 1, MOST), collections=collections, as_of=as_of
        )
        texts = [list(group) for _, group in groupby(found, key=lambda one: one.anchor)]
        passages = [
            _placed(one.document, one.chunk, one.anchor, in_library=True)
            for group in texts[start:wanted]
            for one in group
        ]
        more = wanted if len(texts) > wanted else None
        return told(
            workspace,
            _said_of(passages, more),
            [passage_text(one, "passage") for one in passages],
            FoundPassages(passages=passages, next_start=more),
        )

    def cite(
        anchor: Annotated[
            str,
            Field(
                min_length=1,
                max_length=200,
                description="What stands in [cite:…], or the whole of it.",
            ),
        ],
    ) -> Annotated[CallToolResult, Citation]:
        """Look up what a citation leads to: the passage, word for word, and where it stands.

        Use it before you rely on a citation that somebody else wrote.
        """
        workspace = asker.workspace()
        name, places = cited(workspace, anchor)
        where = counted(len(places), "place")
        gone = sum(not one.in_library for one in places)
        ours = f"[cite:{name}] leads to a passage that stands in {where}."
        if gone:
            ours += (
                f" In {gone} of them it is out of date: the newest version of the document says it "
                "no longer, or the document was taken out. Don't rest a new answer on it."
            )
        texts = [passage_text(one, "passage", version=str(one.version)) for one in places]
        return told(workspace, ours, texts, Citation(cite=name, places=places))

    def list_documents(
        collection: Annotated[
            Name | None, Field(description="The name or id of a collection; all if not given.")
        ] = None,
        start: Start = 0,
    ) -> Annotated[CallToolResult, Documents]:
        """List the documents of the library by name, to see what can be checked against."""
        workspace = asker.workspace()
        listed = workspace.documents.list(collection=collection)
        end = start + DOCUMENTS
        some = [_listed(one) for one in listed[start:end]]
        more = end if end < len(listed) else None
        ours = f"The library has {counted(len(listed), 'document')}."
        if collection is not None:
            ours = f"The collection has {counted(len(listed), 'document')}."
        if more is not None:
            ours += f" More: start {more}."
        texts = [
            (
                {"type": "document", "id": one.document_id, "version": str(one.version)},
                one.name if one.title is None else f"{one.name}\n{one.title}",
            )
            for one in some
        ]
        result = Documents(documents=some, total=len(listed), next_start=more)
        return told(workspace, ours, texts, result)

    lists = "Call list_documents for the collections that there are."
    finds = "Call find_passages to find a passage by its words: it gives the right anchor."
    return [
        offered(
            asker,
            "documents.search",
            find_passages,
            title="Find passages",
            annotations=READS,
            otherwise=lists,
        ),
        offered(
            asker,
            "documents.resolve",
            cite,
            title="Look up a citation",
            annotations=READS,
            otherwise=finds,
        ),
        offered(
            asker,
            "documents.list",
            list_documents,
            title="List the documents",
            annotations=READS,
            otherwise="Call it without a collection.",
        ),
    ]


def cited(workspace: Workspace, given: str) -> tuple[str, list[PlacedPassage]]:
    """Return the anchor that a citation names, and its places; `NotFoundError` if it has none."""
    name = given.strip().removeprefix("[").removesuffix("]").removeprefix("cite:").strip()
    found = workspace.documents.resolve(name)
    if found.chunk is None:
        also = f": {', '.join(found.candidates[:5])}" if found.candidates else ""
        raise NotFoundError(f"[cite:{name[:80]}] leads to no passage: {found.error}{also}")
    there = {one.id for one in workspace.documents.list()}
    places = []
    for chunk in found.places:
        versions = workspace.documents.versions(chunk.document_id, removed=True)
        document = next((one for one in reversed(versions) if _has(workspace, one, chunk)), None)
        known = document or versions[-1]
        in_library = known.id in there and known.is_newest and document is not None
        places.append(_placed(known, chunk, name, in_library=in_library))
    return name, places


def _has(workspace: Workspace, document: StoredDocument, chunk: DocumentChunk) -> bool:
    return any(one.chunk_id == chunk.chunk_id for one in workspace.documents.chunks(document))


def _placed(
    document: StoredDocument, chunk: DocumentChunk, anchor: str, *, in_library: bool
) -> PlacedPassage:
    return PlacedPassage(
        cite=anchor,
        text=chunk.text,
        document=f"{document.collection}/{document.filename}",
        document_id=document.id,
        page=chunk.page,
        headings=list(chunk.heading_path),
        version=document.version,
        in_library=in_library,
    )


def _listed(document: StoredDocument) -> ListedDocument:
    return ListedDocument(
        name=f"{document.collection}/{document.filename}",
        document_id=document.id,
        title=document.title,
        version=document.version,
        dated=document.dated,
        pages=document.pages,
        passages=document.chunks,
    )


def _said_of(passages: list[PlacedPassage], more: int | None) -> str:
    if not passages:
        return (
            "Nothing was found: no passage shares a word with it. Try the documents' own terms, or "
            "list_documents to see what there is. If there is nothing, say so in your answer."
        )
    ours = f"Found {counted(len(passages), 'passage')}, the best first."
    ours += " Behind what rests on one, write its anchor: [cite:ANCHOR]."
    return ours if more is None else f"{ours} More: start {more}."

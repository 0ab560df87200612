"""A document: its pages as they look, or its text, with a passage marked at its exact place."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from fastapi import Path as PathField
from starlette.responses import Response

from evidentia.documents import placing
from evidentia.documents.model import DocumentChunk
from evidentia.errors import DocumentError, InputError, NotFoundError
from evidentia.ledger.model import Passage
from evidentia.ledger.pages import JudgedClaim
from evidentia.server.actions import GuardedRoute, Ws, acts
from evidentia.server.api.document_pages import kept_for_a_day
from evidentia.server.caching import entity_tag, is_known, tagged, unchanged
from evidentia.server.pages.document_sheet import Sheet, sheet_of
from evidentia.server.pages.document_text import MARKDOWN, Block, Marks, blocks_of, parts_of
from evidentia.server.pages.ledger import found as found_ledger
from evidentia.server.problems import ProblemError, not_found
from evidentia.server.translating import N_
from evidentia.server.viewing import may, shown
from evidentia.store.sql.library import StoredDocument
from evidentia.workspace import Workspace
from evidentia.workspace.pages import (
    ERASED,
    LEAST_SCALE,
    LOST,
    MOST_SCALE,
    OCR,
    PDF,
    PassagePlace,
)

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)

DocumentId = Annotated[str, PathField(max_length=100)]
Anchor = Annotated[str, PathField(pattern="^[0-9a-f]{8,64}$")]
PageNumber = Annotated[int, PathField(ge=1, le=1_000_000)]
Asked = Annotated[int | None, Query(ge=1, le=1_000_000)]
Name = Annotated[str, Query(max_length=100)]
_SCALE: Final = 1.5
_MOST_HEADINGS: Final = 400
_OUTLINE: Final = 3
"""How deep the contents go."""
_ENDS: Final = tuple(".!?:;…؟。”»\"')")
REASONS: Final = {
    OCR: N_("The page is a picture whose text was read by OCR: its letters have no known place."),
    ERASED: N_("The original file was erased: its pages cannot be shown as they looked."),
    LOST: N_(
        "The original file is missing, though nothing says that it was erased: its pages cannot be "
        "shown until it is brought back from a copy."
    ),
    placing.NOT_FOUND: N_("The text was not surely found among the letters of the page."),
    placing.NOTHING: N_("There is no text to look for."),
}
"""Why a page is not shown or a passage not marked, in the words of the page."""


@dataclass(frozen=True, slots=True)
class Claim:
    """The claim that led here: where it is, what it says, and which parts of passages it cites."""

    ledger_id: str
    number: int
    judged: JudgedClaim | None

    @property
    def address(self) -> str:
        """The row of the claim in its ledger."""
        return f"/ledgers/{self.ledger_id}?claim={self.number}#claim-{self.number}"

    def passages(self, chunk_hash: str) -> list[Passage]:
        """Return what the claim cites of a passage: its evidence, or what came nearest to it."""
        if self.judged is None:
            return []
        entry = self.judged.entry
        bearing = [one.passage for one in entry.evidence if one.passage and one.bears]
        others = [one.passage for one in entry.evidence if one.passage and not one.bears]
        others += [entry.nearest] if entry.nearest else []
        for group in (bearing, others):
            found = [one for one in group if one.chunk_hash == chunk_hash]
            if found:
                return found
        return []


@dataclass(frozen=True, slots=True)
class View:
    """What is asked for: a page, a part of it, and how it is looked at."""

    page: int | None
    part: int | None
    is_large: bool


def _view(
    page: Asked = None, part: Asked = None, size: Annotated[str, Query(max_length=10)] = ""
) -> View:
    return View(page, part, size == "large")


@router.get("/documents/{document_id}")
@acts("documents.versions")
def document_page(
    document_id: DocumentId,
    workspace: Ws,
    request: Request,
    *,
    version: Asked = None,
    page: Asked = None,
    part: Asked = None,
    size: Annotated[str, Query(max_length=10)] = "",
    ledger: Name = "",
    claim: Asked = None,
) -> Response:
    """Show a page of a document, and what there is to know of it."""
    versions = _versions(workspace, document_id)
    document = _chosen(versions, version)
    chunks = workspace.documents.chunks(document)
    return _shown(
        workspace,
        request,
        versions,
        document,
        chunks,
        view=_view(page, part, size),
        claim=_claim(workspace, ledger, claim),
    )


@router.get("/documents/{document_id}/passages/{passage_anchor}")
@acts("documents.rectangles")
def passage_page(
    document_id: DocumentId,
    passage_anchor: Anchor,
    workspace: Ws,
    request: Request,
    *,
    version: Asked = None,
    index: Annotated[int | None, Query(ge=0, le=10_000_000)] = None,
    page: Asked = None,
    part: Asked = None,
    size: Annotated[str, Query(max_length=10)] = "",
    ledger: Name = "",
    claim: Asked = None,
) -> Response:
    """Show a passage at its place, and the sentence of it that a claim cites.

    Without a version it is the newest that has the passage.
    """
    versions = _versions(workspace, document_id)
    asked = [_chosen(versions, version)] if version else versions[::-1]
    told = _claim(workspace, ledger, claim)
    for document in asked:
        chunks = workspace.documents.chunks(document)
        if places := _places(workspace, chunks, passage_anchor):
            return _shown(
                workspace,
                request,
                versions,
                document,
                chunks,
                view=_view(page, part, size),
                claim=told,
                anchor=workspace.documents.anchor(places[0].chunk_hash),
                places=places,
                chunk=_cited_place(places, index, told),
            )
    removal = workspace.documents.removal(document_id)
    if removal is None or not any(removal.erased_text(one) for one in asked):
        raise not_found()
    return _shown(
        workspace, request, versions, asked[0], [], view=_view(), claim=told, anchor=passage_anchor
    )


@router.get("/documents/{document_id}/pages/{page_number}/image")
@acts("documents.page_image")
def page_image_of_page(
    document_id: DocumentId,
    page_number: PageNumber,
    workspace: Ws,
    request: Request,
    *,
    version: Asked = None,
    scale: Annotated[float, Query(ge=LEAST_SCALE, le=MOST_SCALE)] = _SCALE,
) -> Response:
    """Give the picture of a page, also of a document that was taken out and not erased."""
    versions = _versions(workspace, document_id)
    document = _chosen(versions, version)
    removal = workspace.documents.removal(document_id)
    if removal is not None and removal.erased_text(document):
        raise not_found()
    tag = entity_tag(document.sha256[:32], str(page_number), f"{scale:.2f}")
    if is_known(request, tag):
        return unchanged(tag)
    found = workspace.documents.page_image(document, page_number, scale=scale)
    headers = tagged(tag) | kept_for_a_day(version)
    return Response(found, headers=headers, media_type="image/png")


def _shown(
    workspace: Workspace,
    request: Request,
    versions: list[StoredDocument],
    document: StoredDocument,
    chunks: list[DocumentChunk],
    *,
    view: View,
    claim: Claim | None,
    anchor: str | None = None,
    places: Sequence[DocumentChunk] = (),
    chunk: DocumentChunk | None = None,
) -> Response:
    removal = workspace.documents.removal(document.id)
    pages = max(document.pages, 1)
    page = view.page or (chunk.page if chunk else 1)
    if page > pages:
        raise not_found()
    is_here = chunk is not None and chunk.page == page
    marked = chunk if is_here else None
    cited, lost = _cited(chunk, claim) if chunk else ([], False)
    sheet, reason, unmarked = None, None, None
    if document.media_type == PDF and not (removal and removal.erased_text(document)):
        sheet, reason, unmarked = _sheet(workspace, document, page, marked, cited)
    text = _text(document, chunks, page, view.part, marked=marked, cited=cited)
    return shown(
        request,
        "document/document.html",
        status=410 if anchor and not chunks else 200,
        document=document,
        versions=versions[::-1],
        newest=versions[-1],
        removal=removal,
        pages=pages,
        page=page,
        anchor=anchor,
        chunk=chunk,
        places=places,
        is_here=is_here,
        goes_on=is_here and _goes_on(chunks, chunk),
        cited=cited,
        lost=lost or (claim is not None and claim.judged is not None and not cited),
        claim=claim,
        sheet=sheet,
        reason=_told(reason),
        unmarked=_told(unmarked),
        is_large=view.is_large,
        outline=_outline(chunks),
        may_remove=may(workspace, "documents.remove"),
        **text,
    )


# What is asked for


def _versions(workspace: Workspace, document_id: str) -> list[StoredDocument]:
    """Return all versions of a document, also of one that was taken out."""
    if not document_id.startswith("doc_"):
        raise not_found()
    return workspace.documents.versions(document_id, removed=True)


def _chosen(versions: Sequence[StoredDocument], version: int | None) -> StoredDocument:
    if version is None:
        return versions[-1]
    for one in versions:
        if one.version == version:
            return one
    raise not_found()


def _claim(workspace: Workspace, ledger: str, number: int | None) -> Claim | None:
    """Return the claim that led here; without what it says if its ledger is not there."""
    if not ledger.startswith("led_") or number is None:
        return None
    try:
        listed = found_ledger(workspace, ledger)
        judged = workspace.ledgers.page(listed.id, number - 1, 1).claims
    except (NotFoundError, InputError, ProblemError):
        return Claim(ledger, number, None)
    return Claim(listed.id, number, judged[0] if judged else None)


def _places(
    workspace: Workspace, chunks: Sequence[DocumentChunk], anchor: str
) -> list[DocumentChunk]:
    """Return the passages that an anchor names; where several texts begin so, of which it is."""
    found = [one for one in chunks if one.chunk_hash.startswith(anchor)]
    if len({one.chunk_hash for one in found}) > 1:
        found = [one for one in found if workspace.documents.anchor(one.chunk_hash) == anchor]
    return found


def _cited_place(
    places: Sequence[DocumentChunk], index: int | None, claim: Claim | None
) -> DocumentChunk:
    """Return which of the places with the same text is meant: the one asked for, or cited."""
    if index is not None:
        found = [one for one in places if one.index == index]
        if not found:
            raise not_found()
        return found[0]
    cited = claim.passages(places[0].chunk_hash) if claim else []
    names = {one.chunk_id for one in cited}
    return next((one for one in places if one.chunk_id in names), places[0])


def _cited(chunk: DocumentChunk, claim: Claim | None) -> tuple[list[tuple[int, int]], bool]:
    """Return which parts of a passage a claim cites, and whether one of them was not found."""
    found: list[tuple[int, int]] = []
    is_lost = False
    for one in claim.passages(chunk.chunk_hash) if claim else []:
        first, after = one.start - chunk.start, one.end - chunk.start
        if first < 0 or chunk.text[first:after] != one.snippet:  # the same text somewhere else
            first = chunk.text.find(one.snippet) if one.snippet.strip() else -1
            after = first + len(one.snippet)
        if first < 0:
            is_lost = True
        elif (first, after) not in found:
            found.append((first, after))
    return found, is_lost


# What is shown


def _sheet(
    workspace: Workspace,
    document: StoredDocument,
    page: int,
    chunk: DocumentChunk | None,
    cited: Sequence[tuple[int, int]],
) -> tuple[Sheet | None, str | None, str | None]:
    """Return a page as it looks, or why it can't be shown; and why nothing is marked on it."""
    documents = workspace.documents
    parts = [one for one in cited if chunk and one != (0, len(chunk.text))]
    found: list[PassagePlace] = []
    if chunk is not None:  # before the words, which are read with it
        found = [
            documents.rectangles(document, chunk, start=start, end=end) for start, end in parts
        ] or [documents.rectangles(document, chunk)]
    try:
        words = documents.page_words(document, page)
    except (NotFoundError, DocumentError) as error:
        return None, str(error), None
    if not found:
        return sheet_of(words), None, None
    whole = found[0].rectangles
    if cited and not parts:
        return sheet_of(words, (), whole), None, found[0].reason
    part = [one for place in found for one in place.part]
    unmarked = next((one.reason or one.part_reason for one in found), None)
    return sheet_of(words, whole, part), None, unmarked


def _text(
    document: StoredDocument,
    chunks: Sequence[DocumentChunk],
    page: int,
    part: int | None,
    *,
    marked: DocumentChunk | None,
    cited: Sequence[tuple[int, int]],
) -> dict[str, Any]:
    """Return the text of a page, of a long one the part that is asked for or has the passage."""
    parts = parts_of(chunks, page)
    at = part or 1
    if part is None and marked is not None:
        at = next(number for number, one in enumerate(parts, 1) if marked in one)
    if parts and at > len(parts):
        raise not_found()
    marks = Marks()
    if marked is not None:
        within = tuple((marked.start + first, marked.start + after) for first, after in cited)
        marks = Marks(((marked.start, marked.end),), within)
    is_markdown = document.media_type == MARKDOWN
    blocks: list[Block] = blocks_of(parts[at - 1], marks, markdown=is_markdown) if parts else []
    first = next((number for number, one in enumerate(blocks) if one.shade == "cited"), None)
    if first is None:
        first = next((number for number, one in enumerate(blocks) if one.shade), None)
    return {"blocks": blocks, "part": at, "several": len(parts), "first_marked": first}


def _goes_on(chunks: Sequence[DocumentChunk], chunk: DocumentChunk | None) -> bool:
    """Whether a passage is the last of its page and its sentence does not end there."""
    if chunk is None or chunk.text.rstrip().endswith(_ENDS):
        return False
    later = [one for one in chunks if one.index > chunk.index]
    return bool(later) and all(one.page > chunk.page for one in later)


def _outline(chunks: Sequence[DocumentChunk]) -> list[tuple[int, str, DocumentChunk]]:
    """Return the headings of a document with their levels, each with the passage it stands over."""
    found: list[tuple[int, str, DocumentChunk]] = []
    before: tuple[str, ...] = ()
    for chunk in chunks:
        path = chunk.heading_path[:_OUTLINE]
        common = next(
            (
                level
                for level, (one, other) in enumerate(zip(path, before, strict=False))
                if one != other
            ),
            min(len(path), len(before)),
        )
        found += [(level + 1, path[level], chunk) for level in range(common, len(path))]
        before = path
    return found[:_MOST_HEADINGS]


def _told(reason: str | None) -> str | None:
    return None if reason is None else REASONS.get(reason, reason)

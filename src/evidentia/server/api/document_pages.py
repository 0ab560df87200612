"""Pages of PDFs to be looked at: their pictures, their words, and where passages stand."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response
from fastapi import Path as PathField
from pydantic import BaseModel, ConfigDict, Field

from evidentia.server.actions import GuardedRoute, Ws, acts
from evidentia.server.api.documents import DocumentId, PageNumber, Version, version_of
from evidentia.server.caching import entity_tag, is_known, tagged, unchanged
from evidentia.server.problems import REFUSED_INPUT, UNREADABLE, documented, not_found
from evidentia.workspace.pages import LEAST_SCALE, MOST_SCALE

router = APIRouter(route_class=GuardedRoute, tags=["documents"])

_KEPT: Final = "private, max-age=86400, immutable"
_PNG: Final[dict[str, Any]] = {
    "schema": {"type": "string", "format": "binary"},
    "example": "\u0089PNG…",
}
_PLACE: Final[dict[str, Any]] = {"left": 0.12, "top": 0.1, "right": 0.46, "bottom": 0.115}
_PAGE: Final[dict[str, Any]] = {
    "document_id": "doc_5a6b7c8d9e0f1a2b",
    "version": 1,
    "page": 1,
    "width": 595.0,
    "height": 842.0,
}


def kept_for_a_day(version: int | None) -> dict[str, str]:
    """Return the header of a picture of a version, whose bytes never change; none of the newest."""
    return {} if version is None else {"cache-control": _KEPT}


class Place(BaseModel):
    """A rectangle on a page, from its upper left corner, in shares of its width and height."""

    left: float
    top: float
    right: float
    bottom: float


class PlacedWord(BaseModel):
    """A word of a page, and where it stands."""

    text: str
    place: Place


class PageWordsAnswer(BaseModel):
    """The words of a page, in the order of its text; width and height are in points."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{**_PAGE, "words": [{"text": "Leave", "place": _PLACE}]}]}
    )

    document_id: str
    version: int
    page: int
    width: float
    height: float
    words: list[PlacedWord]


class RectanglesAnswer(BaseModel):
    """Where a passage stands on its page, line by line, and the part of it that was asked for."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    **_PAGE,
                    "index": 0,
                    "rectangles": [_PLACE],
                    "reason": None,
                    "part": [],
                    "part_reason": None,
                }
            ]
        }
    )

    document_id: str
    version: int
    index: int
    page: int
    width: float = Field(description="Of the page, in points; 0 if it is not known.")
    height: float
    rectangles: list[Place]
    reason: str | None = Field(description="Why there are no rectangles.")
    part: list[Place]
    part_reason: str | None = Field(description="Why there are none of the part.")


@router.get(
    "/documents/{document_id}/pages/{page_number}/image",
    summary="A picture of a page",
    response_class=Response,
    responses={
        200: {"description": "The page as it looks.", "content": {"image/png": _PNG}},
        304: {"description": "The caller has it already."},
        **documented(REFUSED_INPUT, UNREADABLE),
    },
)
@acts("documents.page_image")
def read_page_image(
    document_id: DocumentId,
    page_number: PageNumber,
    workspace: Ws,
    request: Request,
    *,
    version: Version = None,
    scale: Annotated[
        float,
        Query(ge=LEAST_SCALE, le=MOST_SCALE, description="1 has 72 dots to an inch."),
    ] = 1.5,
) -> Response:
    """Give a page of a PDF as a PNG of 16 colours.

    The bytes of a version never change: with `version`, the picture may be kept for a day. A very
    large page is drawn smaller. Other formats have no pictures, and an original that was erased
    has none any more.
    """
    document = version_of(workspace, document_id, version)
    tag = entity_tag(document.sha256[:32], str(page_number), f"{scale:.2f}")
    if is_known(request, tag):
        return unchanged(tag)
    found = workspace.documents.page_image(document, page_number, scale=scale)
    return Response(found, headers=tagged(tag) | kept_for_a_day(version), media_type="image/png")


@router.get(
    "/documents/{document_id}/pages/{page_number}/words",
    summary="The words of a page, placed",
    responses=documented(UNREADABLE),
)
@acts("documents.page_words")
def read_page_words(
    document_id: DocumentId, page_number: PageNumber, workspace: Ws, version: Version = None
) -> PageWordsAnswer:
    """Give the words of a page of a PDF with their places, to be laid over its picture."""
    document = version_of(workspace, document_id, version)
    found = workspace.documents.page_words(document, page_number)
    said = [{"text": one.text, "place": one.place._asdict()} for one in found.words]
    return PageWordsAnswer.model_validate(
        {
            "document_id": document.id,
            "version": document.version,
            "page": page_number,
            "width": found.width,
            "height": found.height,
            "words": said,
        }
    )


@router.get(
    "/documents/{document_id}/passages/{index}/rectangles",
    summary="Where a passage stands",
    responses=documented(REFUSED_INPUT),
)
@acts("documents.rectangles")
def read_rectangles(
    document_id: DocumentId,
    index: Annotated[int, PathField(ge=0, le=10_000_000, description="Its `index`.", examples=[0])],
    workspace: Ws,
    *,
    version: Version = None,
    start: Annotated[
        int | None, Query(ge=0, description="Where a part begins, in the passage's text.")
    ] = None,
    end: Annotated[int | None, Query(ge=1, description="Where the part ends.")] = None,
    quote: Annotated[
        str | None, Query(max_length=10_000, description="The part's text, in place of both.")
    ] = None,
) -> RectanglesAnswer:
    """Give where a passage stands on its page, and a part of it, such as the cited sentence.

    Each line has a rectangle. What can't be placed surely has none, and a reason: so do passages
    of other formats than PDF, of pages read by OCR, and of originals that were erased.
    """
    document = version_of(workspace, document_id, version)
    chunks = workspace.documents.chunks(document)
    if index >= len(chunks):
        raise not_found()
    found = workspace.documents.rectangles(
        document, chunks[index], start=start, end=end, quote=quote
    )
    said = {"document_id": document.id, "version": document.version, "index": index}
    return RectanglesAnswer.model_validate({**said, **found.as_json()})

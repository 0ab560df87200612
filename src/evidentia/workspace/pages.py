"""Pages of PDFs to be looked at: their pictures, their words, and where a passage stands.

They are made from the original's bytes, by worker processes where a server has some: a hostile file
may crash the library that reads it. What was made is remembered by the digest, up to a size.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from evidentia.documents.model import DocumentChunk
from evidentia.documents.placing import Placed, Rectangle
from evidentia.errors import DocumentError, GoneError, InputError, NotFoundError
from evidentia.loading.workers import WorkerEndedError
from evidentia.store.sql.library import StoredDocument
from evidentia.workspace.acting import Acting
from evidentia.workspace.passages import page_text
from evidentia.workspace.removals import last_removal

if TYPE_CHECKING:
    from evidentia.documents.reading.pdf_page import PageWords

PDF: Final = "application/pdf"
LEAST_SCALE, MOST_SCALE = 0.5, 4.0
SECONDS: Final = 60.0
"""How long one page may take; most take a few hundredths of a second."""
_LARGEST: Final = 200_000
"""How many bytes are remembered of one page at most; pictures of most have 50,000."""
_WORD_BYTES: Final = 300
_NO_PDF: Final = "only pages of a PDF can be shown as they look: this is another format"
ERASED: Final = "the original file was erased: its pages cannot be shown any more"
LOST: Final = (
    "the original file is missing, though nothing says that it was erased: its pages cannot be "
    "shown until it is brought back from a copy; 'evidentia verify' tells what else is missing"
)
OCR: Final = "the page is a picture whose text was read by OCR: its letters have no known place"


@dataclass(frozen=True, slots=True)
class PassagePlace:
    """Where a passage stands on its page, and a part of it that was asked for.

    Rectangles are shares of the page's width and height, which are in points; 0 if not known. A
    `reason` says why there are none, a `part_reason` why there are none of the part.
    """

    page: int
    width: float
    height: float
    rectangles: tuple[Rectangle, ...] = ()
    reason: str | None = None
    part: tuple[Rectangle, ...] = ()
    part_reason: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        said = asdict(self)
        for name in ("rectangles", "part"):
            said[name] = [one._asdict() for one in getattr(self, name)]
        return said


def page_image(acting: Acting, document: StoredDocument, page: int, scale: float) -> bytes:
    """Return a page as a PNG."""
    if not LEAST_SCALE <= scale <= MOST_SCALE:
        raise InputError(f"a page is drawn at a scale of {LEAST_SCALE} to {MOST_SCALE:g}")
    from evidentia.documents.reading.pdf_page import draw_page  # noqa: PLC0415 - only here

    found: bytes = _made(acting, document, page, draw_page, round(scale, 2))
    return found


def page_words(acting: Acting, document: StoredDocument, page: int) -> "PageWords":
    """Return a page's words with their places."""
    from evidentia.documents.reading.pdf_page import read_words  # noqa: PLC0415 - only here

    found: PageWords = _made(acting, document, page, read_words)
    return found


def quoted_part(
    text: str, start: int | None, end: int | None, quote: str | None
) -> tuple[int, int] | None:
    """Return the part of a passage that is asked for; None if none is."""
    if quote is not None:
        if (start, end) != (None, None):
            raise InputError("name a part by where it begins and ends or by a quote, not by both")
        at = text.find(quote) if quote.strip() else -1
        if at < 0:
            raise InputError("the quote does not stand in the passage: give its text as it is")
        return at, at + len(quote)
    if (start, end) == (None, None):
        return None
    first, after = start or 0, len(text) if end is None else end
    if not 0 <= first < after <= len(text):
        raise InputError(f"a part of this passage is within 0 to {len(text):,}, and not empty")
    return first, after


def place_passage(
    acting: Acting,
    document: StoredDocument,
    chunks: Sequence[DocumentChunk],
    chunk: DocumentChunk,
    part: tuple[int, int] | None,
) -> PassagePlace:
    """Return where a passage of a document stands, and a part of it."""
    from evidentia.documents.reading.pdf_page import (  # noqa: PLC0415 - only here
        place_spans,
        read_words,
    )

    if chunk not in chunks:
        raise NotFoundError(f"the document has no such passage {chunk.chunk_id}")
    nowhere = PassagePlace(chunk.page, 0.0, 0.0)
    if document.media_type != PDF:
        return _unplaced(nowhere, _NO_PDF, part)
    if chunk.ocr is not None:
        return _unplaced(nowhere, OCR, part)
    around = page_text(chunks, chunk.page)
    spans = [(chunk.start, chunk.end)]
    if part is not None:
        spans.append((chunk.start + part[0], chunk.start + part[1]))
    asked = tuple((first - around.start, after - around.start) for first, after in spans)
    try:
        found = _made(acting, document, chunk.page, place_spans, around.text, asked)
    except (NotFoundError, DocumentError) as error:
        return _unplaced(nowhere, str(error), part)
    _remember(acting, _key(acting, document, chunk.page, read_words), found.page)
    whole, *parts = found.spans
    of_part = parts[0] if parts else Placed()
    return PassagePlace(
        chunk.page,
        found.page.width,
        found.page.height,
        whole.rectangles,
        whole.reason,
        of_part.rectangles,
        of_part.reason,
    )


def _unplaced(nowhere: PassagePlace, reason: str, part: object) -> PassagePlace:
    return PassagePlace(
        nowhere.page, 0.0, 0.0, reason=reason, part_reason=None if part is None else reason
    )


def _made(
    acting: Acting,
    document: StoredDocument,
    page: int,
    make: Callable[..., Any],
    *arguments: Any,
) -> Any:
    """Return what is made of a page, once for the same bytes; raise why it can't be."""
    if document.media_type != PDF:
        raise NotFoundError(_NO_PDF)
    if not 1 <= page <= document.pages:
        raise NotFoundError(f"there is no page {page}: the document has {document.pages:,}")
    opened = acting.opened
    if not acting.lake.holds(document.sha256):  # whatever is remembered of it
        raise _gone(acting, document)
    key = _key(acting, document, page, make, *arguments)
    known = opened.pages.get(key)
    if known is not None:
        return known
    try:
        data = acting.lake.get(document.sha256)
    except GoneError:
        raise _gone(acting, document) from None
    found = _done(acting, make, data, page, *arguments)
    _remember(acting, key, found)
    return found


def _key(
    acting: Acting,
    document: StoredDocument,
    page: int,
    make: Callable[..., Any],
    *arguments: Any,
) -> tuple[Any, ...]:
    return acting.tenant, document.sha256, page, make.__name__, arguments


def _remember(acting: Acting, key: tuple[Any, ...], found: Any) -> None:
    if _size(found) <= _LARGEST:
        acting.opened.pages.put(key, found)


def _gone(acting: Acting, document: StoredDocument) -> NotFoundError:
    """Return what tells of an original that is not there: erased, as the trail says, or lost."""
    removal = last_removal(acting, document.id)
    return NotFoundError(ERASED if removal and removal.erased_text(document) else LOST)


def _size(found: Any) -> int:
    """Return about how many bytes are remembered of a page."""
    if isinstance(found, bytes):
        return len(found)
    return _WORD_BYTES * len(getattr(found, "page", found).words)


def _done(acting: Acting, make: Callable[..., Any], *arguments: Any) -> Any:
    from evidentia.loading.reader import within_limits  # noqa: PLC0415 - only here

    apart = acting.opened.reading
    if apart is None:
        return make(*arguments)
    try:
        return apart.submit(within_limits, make, *arguments, seconds=SECONDS).result()
    except WorkerEndedError as error:
        raise DocumentError(f"the page cannot be shown: what draws it {error.why}") from None

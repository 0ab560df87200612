"""Pages of PDFs as they look, their words, and where passages stand on them."""

from concurrent.futures import Future
from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from evidentia.documents.model import DocumentChunk
from evidentia.documents.placing import Rectangle
from evidentia.errors import DocumentError, InputError, NotFoundError
from evidentia.loading.workers import WorkerEndedError
from evidentia.store.sql.library import StoredDocument
from evidentia.workspace import Workspace
from evidentia.workspace import pages as made_pages
from pdf_writing import MAPPED, Line, pdf_bytes
from places import lake_of

FIRST = "All permanent employees shall receive fifteen days"
SECOND = "of leave in each year. Notice is given in writing."
ARABIC = "يحق للموظف خمسة عشر يوما من الإجازة"
TURNED = "/Rotate 90/CropBox[0 300 612 792]"


def notice(*lines: Line, page: str = "") -> bytes:
    data = pdf_bytes([lines or [Line(FIRST), Line(SECOND)], [Line(ARABIC, font=MAPPED)]])
    return data.replace(b"/MediaBox[0 0 612 792]", f"/MediaBox[0 0 612 792]{page}".encode())


def added(workspace: Workspace, data: bytes, name: str = "notice.pdf") -> StoredDocument:
    (document,) = workspace.documents.add({name: data}).documents
    return document


@pytest.fixture
def document(workspace: Workspace) -> StoredDocument:
    return added(workspace, notice())


def chunk_on(workspace: Workspace, document: StoredDocument, page: int = 1) -> DocumentChunk:
    return next(one for one in workspace.documents.chunks(document) if one.page == page)


def dark(data: bytes, place: Rectangle) -> bool:
    """Whether something is drawn at a place of a picture."""
    picture = Image.open(BytesIO(data)).convert("L")
    wide, high = picture.size
    left, top, right, bottom = place
    cut = picture.crop((left * wide, top * high, right * wide, bottom * high))
    return min(cut.tobytes()) < 100


def test_a_page_is_a_small_picture_of_sixteen_colours(
    workspace: Workspace, document: StoredDocument
) -> None:
    data = workspace.documents.page_image(document, 1)
    picture = Image.open(BytesIO(data))
    assert picture.size == (918, 1188)
    assert len(picture.getcolors() or []) <= 16
    assert Image.open(BytesIO(workspace.documents.page_image(document, 1, scale=0.5))).width == 306


@pytest.mark.parametrize("page", ["", TURNED], ids=["plain", "turned and cropped"])
def test_words_and_passages_stand_where_the_picture_shows_them(
    workspace: Workspace, page: str
) -> None:
    document = added(workspace, notice(page=page))
    data = workspace.documents.page_image(document, 1)
    words = workspace.documents.page_words(document, 1)
    assert sorted(one.text for one in words.words) == sorted(f"{FIRST} {SECOND}".split())
    assert all(dark(data, one.place) for one in words.words)
    place = workspace.documents.rectangles(document, chunk_on(workspace, document), quote="Notice")
    assert (place.page, place.width, place.height) == (1, words.width, words.height)
    assert place.width == (492 if page else 612)
    (part,) = place.part
    (word,) = [one for one in words.words if one.text == "Notice"]
    assert part == word.place
    assert all(dark(data, one) for one in place.rectangles)
    assert place.reason is place.part_reason is None


def test_a_passage_in_arabic_has_its_place(workspace: Workspace, document: StoredDocument) -> None:
    place = workspace.documents.rectangles(document, chunk_on(workspace, document, 2))
    assert (place.page, len(place.rectangles)) == (2, 1)
    assert place.as_json()["rectangles"] == [place.rectangles[0]._asdict()]


def test_a_part_is_named_by_its_ends_or_by_a_quote(
    workspace: Workspace, document: StoredDocument
) -> None:
    chunk, find = chunk_on(workspace, document), workspace.documents.rectangles
    quoted = find(document, chunk, quote="fifteen days\nof leave")
    at = chunk.text.index("fifteen")
    assert find(document, chunk, start=at, end=at + 21) == quoted
    assert len(quoted.part) == 2
    assert find(document, chunk, start=0).part == quoted.rectangles
    assert find(document, chunk, end=3).part_reason is None
    for wrong in ({"start": 5, "end": 5}, {"end": 9_999}, {"quote": "no"}, {"quote": " "}):
        with pytest.raises(InputError):
            find(document, chunk, **wrong)
    with pytest.raises(InputError, match="not by both"):
        find(document, chunk, start=1, quote="fifteen")


def test_what_has_no_pages_to_look_at_says_so(workspace: Workspace) -> None:
    document = added(workspace, b"# Leave\n\nLeave is 15 days.\n", "leave.md")
    for ask in (workspace.documents.page_image, workspace.documents.page_words):
        with pytest.raises(NotFoundError, match="another format"):
            ask(document, 1)
    place = workspace.documents.rectangles(document, chunk_on(workspace, document), end=3)
    assert place.rectangles == place.part == ()
    assert "another format" in str(place.reason)
    assert place.part_reason == place.reason


def test_pages_scales_and_passages_that_are_not_there_are_refused(
    workspace: Workspace, document: StoredDocument
) -> None:
    with pytest.raises(NotFoundError, match="there is no page 3: the document has 2"):
        workspace.documents.page_image(document, 3)
    with pytest.raises(InputError, match=r"0\.5 to 4"):
        workspace.documents.page_image(document, 1, scale=5)
    other = added(workspace, notice(Line("Quite another text.")), "other.pdf")
    with pytest.raises(NotFoundError, match="no such passage"):
        workspace.documents.rectangles(document, chunk_on(workspace, other))


def test_an_original_that_was_erased_is_not_shown_though_it_was(workspace: Workspace) -> None:
    document = added(workspace, notice())
    chunk = chunk_on(workspace, document)
    workspace.documents.page_image(document, 1)
    workspace.documents.remove(document, reason="over", erase=True)
    with pytest.raises(NotFoundError, match="the original file was erased"):
        workspace.documents.page_image(document, 1)
    place = made_pages.place_passage(workspace.documents._acting, document, [chunk], chunk, None)
    assert "was erased" in str(place.reason)


def test_an_original_that_was_lost_is_not_said_to_be_erased(workspace: Workspace) -> None:
    document = added(workspace, notice())
    lake_of(workspace).remove(document.sha256)
    with pytest.raises(NotFoundError, match="nothing says that it was erased"):
        workspace.documents.page_image(document, 1)


def test_what_was_read_by_ocr_has_no_place(
    workspace: Workspace, document: StoredDocument, monkeypatch: pytest.MonkeyPatch
) -> None:
    chunk = chunk_on(workspace, document)
    seen = DocumentChunk(**{**chunk.as_json(), "heading_path": (), "ocr": 0.9})
    monkeypatch.setattr(type(workspace.documents), "chunks", lambda *_: [seen])
    assert "OCR" in str(workspace.documents.rectangles(document, seen).reason)


class Elsewhere:
    """Stands in for processes, of which each ends over its task."""

    def submit(self, *_: Any, **__: Any) -> Future[Any]:
        found: Future[Any] = Future()
        found.set_exception(WorkerEndedError(-11))
        return found


def test_a_page_that_ends_its_process_is_a_problem_of_its_own(
    workspace: Workspace, document: StoredDocument
) -> None:
    workspace.documents._acting.opened.reading = Elsewhere()
    with pytest.raises(DocumentError, match=r"what draws it crashed \(SIGSEGV\)"):
        workspace.documents.page_image(document, 1)
    place = workspace.documents.rectangles(document, chunk_on(workspace, document))
    assert "crashed" in str(place.reason)

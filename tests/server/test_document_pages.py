"""Pages of PDFs over the API: pictures, words, and where passages stand."""

from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from pdf_writing import Line, pdf_bytes
from server.house import House

NOTICE = pdf_bytes([[Line("Notice is given in writing."), Line("A month is enough for it.")]])


@pytest.fixture
def notice(sqlite_house: House) -> str:
    """Give the path of a PDF that was uploaded."""
    uploaded = sqlite_house.post(
        "/api/v1/documents", files=[("files", ("notice.pdf", NOTICE))], data={"collection": "rules"}
    )
    return f"/api/v1/documents/{uploaded.json()['documents'][0]['id']}"


def said(house: House, path: str, status: int = 200, **asked: Any) -> Any:
    answer = house.get(path, params=asked)
    assert answer.status_code == status, answer.text
    return answer.json()


def test_a_page_is_given_as_a_picture_and_not_twice(sqlite_house: House, notice: str) -> None:
    answer = sqlite_house.get(f"{notice}/pages/1/image", params={"scale": 1, "version": 1})
    assert answer.headers["content-type"] == "image/png"
    assert Image.open(BytesIO(answer.content)).size == (612, 792)
    assert answer.headers["cache-control"] == "private, max-age=86400, immutable"
    again = sqlite_house.get(
        f"{notice}/pages/1/image",
        params={"scale": 1},
        headers={"if-none-match": answer.headers["etag"]},
    )
    assert (again.status_code, again.content) == (304, b"")
    assert "immutable" not in again.headers["cache-control"]
    other = sqlite_house.get(f"{notice}/pages/1/image", params={"scale": 2})
    assert other.headers["etag"] != answer.headers["etag"]


def test_words_and_a_passage_stand_at_the_same_places(sqlite_house: House, notice: str) -> None:
    words = said(sqlite_house, f"{notice}/pages/1/words")
    assert [one["text"] for one in words["words"]][:3] == ["Notice", "is", "given"]
    found = said(sqlite_house, f"{notice}/passages/0/rectangles", quote="writing.")
    assert (found["page"], found["width"], found["reason"]) == (1, 612, None)
    assert len(found["rectangles"]) == 2
    assert found["part"] == [one["place"] for one in words["words"] if one["text"] == "writing."]


def test_what_is_not_there_or_no_part_is_a_problem(sqlite_house: House, notice: str) -> None:
    assert "no page 2" in said(sqlite_house, f"{notice}/pages/2/image", 404)["detail"]
    for asked in ({"scale": 9}, {"scale": 0.1}, {"scale": "nan"}):
        said(sqlite_house, f"{notice}/pages/1/image", 422, **asked)
    said(sqlite_house, f"{notice}/passages/9/rectangles", 404)
    wrong = said(sqlite_house, f"{notice}/passages/0/rectangles", 422, quote="not so")
    assert "does not stand in the passage" in wrong["detail"]


def test_a_passage_of_another_format_has_no_place_and_a_reason(sqlite_house: House) -> None:
    [document] = said(sqlite_house, "/api/v1/documents", name="leave")["documents"]
    path = f"/api/v1/documents/{document['id']}"
    found = said(sqlite_house, f"{path}/passages/0/rectangles", start=0, end=4)
    assert found["rectangles"] == found["part"] == []
    assert "another format" in found["reason"]
    assert "another format" in said(sqlite_house, f"{path}/pages/1/image", 404)["detail"]


def test_a_page_of_a_document_that_was_erased_is_gone(sqlite_house: House, notice: str) -> None:
    said(sqlite_house, f"{notice}/pages/1/words")
    sqlite_house.post(f"{notice}/removal", "admin", json={"reason": "over", "erase": True})
    for path in ("pages/1/image", "pages/1/words", "passages/0/rectangles"):
        said(sqlite_house, f"{notice}/{path}", 404)

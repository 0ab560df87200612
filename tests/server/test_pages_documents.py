"""The library's page: list, search, adding, taking out, and forms that keep what they had."""

import re
from typing import Any

from evidentia.server.pages.documents import marked
from server.house import House

HTML = {"accept": "text/html"}


def shown(house: House, path: str, who: str = "viewer", status: int = 200) -> str:
    answer = house.get(path, who, headers=HTML)
    assert answer.status_code == status, answer.text
    return str(answer.text)


def sent(house: House, files: dict[str, bytes], who: str = "approver", **fields: str) -> Any:
    parts = [("files", (name, data)) for name, data in files.items()]
    return house.post("/documents", who, files=parts, data=fields, headers=HTML)


def test_documents_are_listed_with_when_they_hold(sqlite_house: House) -> None:
    sqlite_house.workspace.documents.add(
        {"handbook.md": b"# Handbook\n\nSalaries are paid on the 25th.\n"},
        collection="handbooks",
        effective="2026-01-01..",
    )
    text = shown(sqlite_house, "/documents")
    assert "from 2026-01-01" in text
    assert "2 documents" in text
    assert "Take out" not in text.partition("<main")[2]
    only = shown(sqlite_house, "/documents?collection=handbooks")
    assert "1 document<" in only
    wrong = shown(sqlite_house, "/documents?collection=nowhere", status=422)
    assert "nowhere" in wrong


def test_a_search_leads_to_the_passage(sqlite_house: House) -> None:
    text = shown(sqlite_house, "/documents?q=LEAVE+writing")
    document = sqlite_house.workspace.documents.list()[0]
    anchor = sqlite_house.workspace.documents.search("leave")[0].anchor
    assert f'href="/documents/{document.id}/passages/{anchor}"' in text
    assert "<mark>leave</mark>" in text
    assert 'value="LEAVE writing"' in text
    assert "Nothing was found" in shown(sqlite_house, "/documents?q=zebra")
    assert "is no day" in shown(sqlite_house, "/documents?q=leave&as_of=soon", status=422)


def test_documents_are_added_from_the_page(sqlite_house: House) -> None:
    answer = sent(sqlite_house, {"new.md": b"It is so."}, into="notes", since="2026-01-01")
    assert (answer.status_code, answer.headers["location"]) == (303, "/documents")
    found = {one.filename: one for one in sqlite_house.workspace.documents.list()}
    assert found["new.md"].collection == "notes"
    assert found["new.md"].effective_from == "2026-01-01"
    assert sent(sqlite_house, {"new.md": b"It is so."}, "viewer").status_code == 403


def test_a_file_that_cannot_be_read_is_named_and_the_form_stays(sqlite_house: House) -> None:
    both = {"good.md": b"It is so.", "bad.pdf": b"%PDF-1.7 nothing"}
    answer = sent(sqlite_house, both, into="<notes>")
    assert answer.status_code == 200
    assert "1 document is in the library" in answer.text
    assert "bad.pdf" in answer.text
    assert 'value="&lt;notes&gt;"' in answer.text
    assert sent(sqlite_house, {"bad.pdf": b"%PDF-1.7 nothing"}).status_code == 422


def test_what_is_typed_wrong_is_kept(sqlite_house: House) -> None:
    fields = {"into": "notes", "since": "2026-02-01", "until": "2026-01-01"}
    answer = sent(sqlite_house, {"new.md": b"It is so."}, **fields)
    assert answer.status_code == 422
    assert "ends before it begins" in answer.text
    assert all(f'value="{value}"' in answer.text for value in fields.values())
    none = sqlite_house.post("/documents", data={"into": "notes"}, headers=HTML)
    assert none.status_code == 422
    assert "Choose a file first" in none.text
    empty = sqlite_house.post(
        "/documents", files={"files": ("", b"")}, data={"into": "notes"}, headers=HTML
    )
    assert "Choose a file first" in empty.text


def test_a_document_is_taken_out_after_a_question(sqlite_house: House) -> None:
    document = sqlite_house.workspace.documents.list()[0]
    path = f"/documents/{document.id}/removal"
    assert "Take out" in shown(sqlite_house, path, "admin")
    no_reason = sqlite_house.post(path, "admin", data={"reason": " ", "erase": "1"}, headers=HTML)
    assert no_reason.status_code == 422
    assert re.search(r'name="erase" value="1" checked', no_reason.text)
    assert sqlite_house.workspace.documents.list() != []
    done = sqlite_house.post(path, "admin", data={"reason": "old"}, headers=HTML)
    assert (done.status_code, done.headers["location"]) == (303, "/documents")
    assert sqlite_house.workspace.documents.list() == []
    assert "The library is empty" in shown(sqlite_house, "/documents")
    there = shown(sqlite_house, "/documents?removed=1", "admin")
    assert "Taken out" in there
    assert "Erase the text of" in shown(sqlite_house, path, "admin")
    erased = sqlite_house.post(path, "admin", data={"reason": "law", "erase": "1"}, headers=HTML)
    assert erased.status_code == 303
    assert sqlite_house.post(path, "viewer", data={"reason": "x"}).status_code == 403


def test_words_are_marked_where_they_stand() -> None:
    assert marked("Leave has 15 days.", "days LEAVE") == [
        (True, "Leave"),
        (False, " has 15 "),
        (True, "days"),
        (False, "."),
    ]
    far = marked("x " * 500 + "needle" + " y" * 500, "needle")
    assert (True, "needle") in far
    assert far[0] == (False, "…")
    assert sum(len(piece) for _, piece in far) < 500
    assert marked("nothing", "") == [(False, "nothing")]

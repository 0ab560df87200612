"""Documents over the API: uploaded, listed, read, searched, cited and taken out."""

import tempfile
from pathlib import Path
from typing import Any

import pytest

from server.house import House

DOCUMENTS = "/api/v1/documents"
TRAVEL = b"# Travel\n\nTravel by train is paid in second class.\n\nFlights need a reason.\n"


def uploaded(house: House, *files: tuple[str, bytes], who: str = "approver", **more: Any) -> Any:
    return house.post(DOCUMENTS, who, files=[("files", one) for one in files], data=more)


def first(house: House, path: str, what: str) -> Any:
    return house.get(path).json()[what][0]


def leave_id(house: House) -> str:
    return str(first(house, f"{DOCUMENTS}?name=LEAVE", "documents")["id"])


def test_uploaded_files_are_read_recorded_and_answered_for(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    answer = uploaded(
        house,
        ("travel.md", TRAVEL),
        ("broken.pdf", b"%PDF-1.7 no"),
        collection="rules",
        effective="2026-01-01..",
    )
    assert answer.status_code == 201, answer.text
    said = answer.json()
    [document] = said["documents"]
    assert (document["outcome"], document["collection"]) == ("added", "rules")
    assert document["effective_from"] == "2026-01-01"
    assert [one["filename"] for one in said["problems"]] == ["broken.pdf"]
    kept = house.workspace.documents.versions(document["id"])
    assert [one.sha256 for one in kept] == [document["sha256"]]
    assert list(temporary.glob("evidentia-*")) == []
    newest = house.workspace.trail.entries()
    assert any(one.body.get("filename") == "travel.md" for one in newest if one.body)
    ledger = house.workspace.check("Travel by train is paid in second class.", judges=["quote"])
    assert ledger.summary.by_verdict["supported"] == 1
    assert ledger.file_changes == ()


def test_an_upload_is_no_file_that_is_missing_from_its_place(house: House) -> None:
    uploaded(house, ("travel.md", TRAVEL))
    found = house.workspace.documents.named(missing=True)
    assert "travel.md" not in {one.filename for one in found}


def test_the_same_name_with_other_bytes_is_a_new_version(house: House) -> None:
    outcomes = [
        uploaded(house, ("travel.md", data)).json()["documents"][0]["outcome"]
        for data in (TRAVEL, TRAVEL, TRAVEL + b"\nTaxis are not paid.\n")
    ]
    assert outcomes == ["added", "unchanged", "changed"]
    one = first(house, f"{DOCUMENTS}?collection=uploads", "documents")
    read = house.get(f"{DOCUMENTS}/{one['id']}").json()
    assert [version["version"] for version in read["versions"]] == [2, 1]
    passages = [
        house.get(f"{DOCUMENTS}/{one['id']}/passages?version={number}").json()["passages"]
        for number in (1, 2)
    ]
    assert ["Taxis" in found[-1]["text"] for found in passages] == [False, True]
    assert house.get(f"{DOCUMENTS}/{one['id']}/passages?version=3").status_code == 404


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "a/b.md",
        "a\\b.md",
        "a\uff0fb.md",
        "..",
        " ",
        ".hidden.md",
        "~$a.md",
        "CON.md",
        "nul",
        "a.md.",
        "a\u202egpj.md",
        "a\u200b.md",
        "x" * 201,
    ],
)
def test_a_name_that_is_none_is_refused(sqlite_house: House, name: str) -> None:
    before = sqlite_house.workspace.documents.list()
    answer = uploaded(sqlite_house, (name, TRAVEL))
    assert answer.status_code == 422, answer.text
    assert sqlite_house.workspace.documents.list() == before


def test_a_name_is_kept_composed_and_in_any_script(sqlite_house: House) -> None:
    answer = uploaded(sqlite_house, ("re\u0301gle.md", TRAVEL), ("سياسة السفر.md", TRAVEL))
    names = [one["filename"] for one in answer.json()["documents"]]
    assert names == ["r\u00e9gle.md", "سياسة السفر.md"]


@pytest.mark.parametrize(
    ("files", "more", "says"),
    [
        ([("a.md", TRAVEL), ("a.md", b"other")], {}, "two files are called 'a.md'"),
        ([("\u00e9.md", TRAVEL), ("e\u0301.md", b"o")], {}, "two files are called"),
        ([("a.md", TRAVEL)], {"collection": "a/b"}, "is no name of a collection"),
        ([("a.md", TRAVEL)], {"effective": "soon"}, "2026-01-01..2026-12-31"),
        ([("a.zip", b"PK\x03\x04")], {}, "a.zip"),
    ],
)
def test_an_upload_that_cannot_be_read_is_told(
    sqlite_house: House, files: list[tuple[str, bytes]], more: dict[str, str], says: str
) -> None:
    answer = uploaded(sqlite_house, *files, **more)
    assert answer.status_code == 422
    assert says in answer.json()["detail"]
    assert "/tmp" not in answer.text


def test_an_upload_of_another_kind_or_without_files_is_refused(sqlite_house: House) -> None:
    assert sqlite_house.post(DOCUMENTS, json={"files": ["/etc/passwd"]}).status_code == 415
    empty = sqlite_house.post(DOCUMENTS, data={"files": "/etc/passwd"})
    assert empty.status_code == 422


def test_an_upload_repeated_with_its_key_is_read_once(house: House) -> None:
    answers = [
        house.post(
            DOCUMENTS,
            files={"files": ("travel.md", TRAVEL)},
            headers={"idempotency-key": "upload-1"},
        )
        for _ in range(2)
    ]
    assert answers[0].json() == answers[1].json()
    assert answers[1].headers["idempotency-replayed"] == "true"
    assert answers[1].json()["documents"][0]["outcome"] == "added"


def test_documents_are_listed_by_the_page_by_collection_and_name(house: House) -> None:
    uploaded(house, ("a.md", TRAVEL), ("b.md", TRAVEL + b"More.\n"), collection="rules")
    seen, path = [], f"{DOCUMENTS}?limit=1"
    while path:
        answer = house.get(path)
        seen += [one["filename"] for one in answer.json()["documents"]]
        path = answer.headers.get("link", "").removeprefix("<").partition(">")[0]
    assert sorted(seen) == ["a.md", "b.md", "leave.md"]
    of_rules = house.get(f"{DOCUMENTS}?collection=rules").json()["documents"]
    assert [one["filename"] for one in of_rules] == ["a.md", "b.md"]
    assert house.get(f"{DOCUMENTS}?name=travel").json()["documents"] == of_rules
    assert house.get(f"{DOCUMENTS}?collection=none").status_code == 404
    named = house.get("/api/v1/collections").json()["collections"]
    assert {one["name"]: one["documents"] for one in named} == {"policies": 1, "rules": 2}


def test_a_search_finds_passages_with_anchors_that_resolve(house: House) -> None:
    uploaded(house, ("travel.md", TRAVEL), collection="rules")
    found = house.get("/api/v1/passages?q=which class on the train").json()["passages"]
    assert found[0]["filename"] == "travel.md"
    cited = house.get(f"/api/v1/citations/{found[0]['anchor']}").json()
    assert cited["resolved"]
    assert [one["chunk_id"] for one in cited["places"]] == [found[0]["chunk_id"]]
    assert cited["places"][0]["text"] == found[0]["text"]
    within = house.get("/api/v1/passages?q=class of the train&collection=policies").json()
    assert "travel.md" not in {one["filename"] for one in within["passages"]}
    assert house.get("/api/v1/citations/ffffffff").status_code == 404


def test_a_search_is_as_of_a_day(sqlite_house: House) -> None:
    uploaded(sqlite_house, ("travel.md", TRAVEL), effective="2026-01-01..2026-01-31")
    path = "/api/v1/passages?q=train&as_of="
    assert len(sqlite_house.get(f"{path}2026-01-15").json()["passages"]) == 1
    assert sqlite_house.get(f"{path}2026-02-15").json()["passages"] == []
    assert sqlite_house.get(f"{path}soon").status_code == 422
    assert sqlite_house.get("/api/v1/passages?q=%20").status_code == 422


def test_passages_come_by_the_page_and_stand_in_the_pages_text(house: House) -> None:
    text = "# A\n\n" + "\n\n".join(f"## Part {n}\n\n" + f"Rule {n} holds. " * 40 for n in range(6))
    document = uploaded(house, ("long.md", text.encode())).json()["documents"][0]
    path = f"{DOCUMENTS}/{document['id']}"
    seen, at = [], f"{path}/passages?limit=2"
    while at:
        answer = house.get(at)
        seen += answer.json()["passages"]
        at = answer.headers.get("link", "").removeprefix("<").partition(">")[0]
    assert [one["index"] for one in seen] == list(range(document["chunks"]))
    assert len(seen) > 2
    page = house.get(f"{path}/pages/1").json()
    assert (page["page"], page["pages"], page["version"]) == (1, 1, 1)
    for one in seen:
        begins = one["start"] - page["start"]
        assert page["text"][begins : begins + len(one["text"])] == one["text"]
    assert page["text"].split() == text.split()
    assert house.get(f"{path}/pages/2").status_code == 404


def test_a_document_is_taken_out_with_a_reason_and_erased_for_good(house: House) -> None:
    identity = leave_id(house)
    passage = first(house, f"{DOCUMENTS}/{identity}/passages", "passages")
    path = f"{DOCUMENTS}/{identity}/removal"
    assert house.post(path, "approver", json={"reason": "x"}).status_code == 403
    answer = house.post(path, "admin", json={"reason": "replaced"})
    assert (answer.status_code, answer.json()["erased"]) == (200, False)
    entry = house.workspace.trail.entry(answer.json()["entry"])
    assert (entry.body["reason"], entry.body["by"]) == ("replaced", "admin")
    assert house.get(f"{DOCUMENTS}/{identity}").status_code == 404
    assert house.post(path, "admin", json={"reason": "again"}).status_code == 404
    citation = f"/api/v1/citations/{passage['anchor']}"
    assert house.get(citation).status_code == 200
    listed = house.get(f"{DOCUMENTS}?removed=true&name=leave").json()["documents"]
    assert [one["id"] for one in listed] == [identity]
    erased = house.post(path, "admin", json={"reason": "law", "erase": True})
    assert erased.json()["erased"]
    again = house.post(path, "admin", json={"reason": "law", "erase": True})
    assert (again.status_code, again.json()["type"]) == (409, "/problems/conflict")
    assert house.get(citation).status_code == 404


@pytest.mark.parametrize("asked", [{}, {"reason": ""}, {"reason": "x", "y": 1}])
def test_a_removal_needs_a_reason(sqlite_house: House, asked: dict[str, Any]) -> None:
    path = f"{DOCUMENTS}/{leave_id(sqlite_house)}/removal"
    assert sqlite_house.post(path, "admin", json=asked).status_code == 422
    assert sqlite_house.get(path.removesuffix("/removal")).status_code == 200


@pytest.mark.parametrize("odd", ["doc_%00", "led_%00", "%ED%A0%80"])
def test_what_no_database_can_store_is_not_there_or_refused(house: House, odd: str) -> None:
    ledger = house.made["ledger_id"]
    paths = [
        f"documents/{odd}",
        f"documents/{odd}/passages",
        f"documents/{odd}/pages/1",
        f"documents?collection={odd}",
        f"passages?q=leave&collection={odd}",
        f"citations/{odd}",
        f"ledgers/{odd}",
        f"ledgers/{odd}/claims",
        f"ledgers/{ledger}/corpus/{odd}/proof",
        f"sessions/{odd}/ledgers",
    ]
    for path in paths:
        assert house.get(f"/api/v1/{path}").status_code in {200, 404, 422}, path
    for path in (f"passages?q={odd}", f"ledgers?title={odd}", f"documents?name={odd}"):
        assert house.get(f"/api/v1/{path}").status_code in {200, 422}, path
    body = {"answer": "It is so.", "judges": ["quote"]}
    for field in ("query", "title", "bundle", "as_of"):
        asked = {**body, field: f"aaaa{chr(0)}"}
        assert house.post("/api/v1/sessions", json=asked).status_code in {404, 422}, field
    asked = {**body, "collections": [chr(0)]}
    assert house.post("/api/v1/sessions", json=asked).status_code in {404, 422}
    assert uploaded(house, ("a.md", TRAVEL), collection=chr(0)).status_code == 422
    reason = {"reason": f"x{chr(0)}"}
    path = f"{DOCUMENTS}/{leave_id(house)}/removal"
    assert house.post(path, "admin", json=reason).status_code in {200, 422}

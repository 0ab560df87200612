"""Documents that come as bytes, and the library as a person searches and reads it."""

import pytest

import evidentia as ev
from evidentia.documents.model import DocumentChunk
from evidentia.errors import InputError, NotFoundError
from evidentia.workspace.passages import page_text

TRAVEL = b"# Travel\n\nTravel by train is paid in second class.\n"


def chunk(start: int, text: str, page: int = 1) -> DocumentChunk:
    return DocumentChunk("c", "d", 0, text, page, (), start, start + len(text), "0" * 64)


def test_bytes_become_documents_of_a_collection_as_files_do(workspace: ev.Workspace) -> None:
    done = workspace.documents.add({"travel.md": TRAVEL, "x.bin": b"\0\1"}, collection="rules")
    assert [(one.outcome, one.document.filename) for one in done.results] == [
        ("added", "travel.md")
    ]
    assert [one.filename for one in done.problems] == ["x.bin"]
    assert done.documents[0].collection == "rules"
    assert workspace.audit().findings == ()


def test_where_bytes_were_while_they_were_read_is_not_noted(workspace: ev.Workspace) -> None:
    done = workspace.documents.add({"travel.md": TRAVEL})
    places = workspace.opened.home.places(workspace.tenant)
    assert not places.exists() or not list(places.iterdir())
    assert workspace.documents.named(missing=True) == []
    again = workspace.documents.add({"travel.md": TRAVEL})
    assert again.results[0].outcome == "unchanged"
    assert again.documents == done.documents


@pytest.mark.parametrize(
    "files",
    [{}, {"": b"x"}, {"a\0.md": b"x"}, {"a/b.md": b"x"}, {"\u00e9.md": b"x", "e\u0301.md": b"y"}],
)
def test_names_that_are_none_are_refused_before_anything_is_read(
    workspace: ev.Workspace, files: dict[str, bytes]
) -> None:
    with pytest.raises(InputError):
        workspace.documents.add(files)
    assert workspace.documents.list() == []


def test_versions_of_a_document_come_the_oldest_first(workspace: ev.Workspace) -> None:
    for data in (TRAVEL, TRAVEL + b"\nTaxis are not.\n"):
        done = workspace.documents.add({"travel.md": data})
    identity = done.documents[0].id
    assert [one.version for one in workspace.documents.versions(identity)] == [1, 2]
    workspace.documents.remove(identity, reason="old")
    with pytest.raises(NotFoundError, match="has no document"):
        workspace.documents.versions(identity)


def test_a_search_names_the_version_that_a_passage_is_of(workspace: ev.Workspace) -> None:
    assert workspace.documents.search("train") == []
    workspace.documents.add({"travel.md": TRAVEL})
    workspace.documents.add({"travel.md": b"# Travel\n\nTravel by train is paid in full.\n"})
    found = workspace.documents.search("travel by train")
    assert sorted(one.document.version for one in found) == [1, 2]
    for one in found:
        resolved = workspace.documents.resolve(one.anchor)
        assert resolved.chunk is not None
        assert resolved.chunk.text == one.chunk.text
        assert one.as_json()["document_id"] == one.document.id


@pytest.mark.parametrize(("text", "limit"), [(" ", 1), ("x" * 10_001, 1), ("x", 0), ("x", 101)])
def test_a_search_for_nothing_or_too_much_is_refused(
    workspace: ev.Workspace, text: str, limit: int
) -> None:
    with pytest.raises(InputError, match="a search"):
        workspace.documents.search(text, limit=limit)


def test_a_pages_text_has_every_passage_where_it_stands() -> None:
    chunks = [chunk(12, "and more"), chunk(4, "one two"), chunk(8, "two"), chunk(0, "other", 2)]
    found = page_text(chunks, 1)
    assert (found.start, found.text) == (4, "one two\nand more")
    assert page_text(chunks, 2).text == "other"
    with pytest.raises(NotFoundError, match="page 3"):
        page_text(chunks, 3)

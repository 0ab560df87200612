"""A document's pages: what is marked, what is said where nothing can be, and what leads back."""

import re
from typing import Any

import pytest

from evidentia.documents.model import DocumentChunk
from evidentia.documents.placing import Rectangle, Word
from evidentia.documents.reading.pdf_page import PageWords
from evidentia.server.pages.document_sheet import sheet_of
from evidentia.server.pages.document_text import Marks, blocks_of, parts_of, plain_text
from pdf_writing import Line, pdf_bytes
from server.house import House

HTML = {"accept": "text/html"}
NOTICE = pdf_bytes(
    [[Line("Notice is given in writing."), Line("A month is enough for it.")], [Line("The end.")]]
)


def shown(house: House, path: str, status: int = 200, lang: str = "en") -> str:
    answer = house.get(path, headers=HTML | {"cookie": f"evidentia_lang={lang}"})
    assert answer.status_code == status, answer.text
    return str(answer.text)


def added(house: House, name: str = "notice.pdf", data: bytes = NOTICE) -> tuple[str, str]:
    """Put a document there; return its path and that of its first passage."""
    documents = house.workspace.documents
    [document] = documents.add({name: data}, collection="rules").documents
    anchor = documents.anchor(documents.chunks(document)[0].chunk_hash)
    return f"/documents/{document.id}", f"/documents/{document.id}/passages/{anchor}"


def view_of(house: House, number: int = 1) -> str:
    """Return where a claim's evidence leads to, as the ledger's page says."""
    text = shown(house, f"/ledgers/{house.made['ledger_id']}?claim={number}")
    found = re.search(r'href="(/documents/doc_[^"]+)"[^>]*>View in Document', text)
    assert found is not None
    return found[1].replace("&amp;", "&")


def test_a_claim_leads_to_the_sentence_it_cites_and_back(sqlite_house: House) -> None:
    text = shown(sqlite_house, view_of(sqlite_house))
    assert '<mark class="cited">Permanent employees receive 15 days of leave.</mark>' in text
    assert '<mark class="passage"> Leave is requested in writing.</mark>' in text
    back = f"/ledgers/{sqlite_house.made['ledger_id']}?claim=1#claim-1"
    assert f'data-key="b" href="{back}"' in text


def test_a_page_of_a_pdf_has_its_picture_words_and_marks(sqlite_house: House) -> None:
    document, passage = added(sqlite_house)
    text = shown(sqlite_house, passage)
    assert text.count('<rect class="passage" x=') == 2
    assert ">Notice</tspan> <tspan" in text
    picture = re.search(r'<img src="(/documents/[^"]+image[^"]*)"', text)
    assert picture
    assert sqlite_house.get(picture[1]).content.startswith(b"\x89PNG")
    other = shown(sqlite_house, f"{passage}?page=2")
    assert '<rect class="passage" x=' not in other
    assert 'data-key="m"' in other
    shown(sqlite_house, f"{document}?page=3", 404)
    shown(sqlite_house, f"{document}?version=7", 404)


def test_what_was_taken_out_is_shown_and_said_to_be(sqlite_house: House) -> None:
    document, passage = added(sqlite_house)
    identity = document.rpartition("/")[2]
    sqlite_house.workspace.documents.remove(identity, reason="An older rule.")
    text = shown(sqlite_house, passage)
    assert "taken out of the library" in text
    assert "An older rule." in text
    assert '<rect class="passage" x=' in text
    assert sqlite_house.get(f"{document}/pages/1/image").status_code == 200
    sqlite_house.workspace.documents.remove(identity, reason="By law.", erase=True)
    text = shown(sqlite_house, passage, 410)
    assert "was erased" in text
    assert "By law." in text
    assert "Notice" not in text
    assert "مُحي نص هذا المستند" in shown(sqlite_house, document, lang="ar")
    assert sqlite_house.get(f"{document}/pages/1/image").status_code == 404


def test_an_original_that_is_lost_leaves_the_text(sqlite_house: House) -> None:
    document, passage = added(sqlite_house)
    found = sqlite_house.workspace.documents.versions(document.rpartition("/")[2])[-1]
    sqlite_house.running.opened.lake.remove(found.sha256)
    text = shown(sqlite_house, passage)
    assert "nothing says that it was erased" in text
    assert '<mark class="passage">' in text


def test_a_passage_that_only_an_older_version_has_is_found_there(sqlite_house: House) -> None:
    document, passage = added(sqlite_house, "rule.md", b"# Rule\n\nLeave is 15 days.\n")
    added(sqlite_house, "rule.md", b"# Rule\n\nLeave is 20 days.\n")
    text = shown(sqlite_house, passage)
    assert "This is version 1. The newest is version 2." in text
    assert "15 days" in text
    assert "20 days" in shown(sqlite_house, document)
    shown(sqlite_house, f"{passage}?version=2", 404)
    shown(sqlite_house, f"{passage}?index=5", 404)


def test_a_ledger_that_is_not_there_is_said_to_be_gone(sqlite_house: House) -> None:
    _, passage = added(sqlite_house)
    text = shown(sqlite_house, f"{passage}?ledger=led_0000000000000000&claim=3")
    assert "is not there any more" in text
    assert 'data-key="b"' not in shown(sqlite_house, f"{passage}?ledger=//evil&claim=1")


def chunk(text: str, start: int = 0, **more: Any) -> DocumentChunk:
    fields: dict[str, Any] = {
        "chunk_id": f"c{start}",
        "document_id": "doc_0",
        "index": start,
        "page": 1,
    }
    fields |= {"heading_path": (), "chunk_hash": "0" * 64, **more}
    return DocumentChunk(**fields, text=text, start=start, end=start + len(text))


def test_markdown_is_shown_without_its_signs() -> None:
    text = (
        "## Rule\n\nLeave is **15** days, see [the list](https://a.example/b).\n- one\\!\n"
        "1. two\n\n|A|B|\n|---|---|\n|x \\| y|z|\n\n```\n# code **so**\n```"
    )
    at = text.index("15")
    blocks = blocks_of([chunk(text)], Marks(((0, at + 9),), ((at, at + 2),)), markdown=True)
    assert [(one.kind, one.level) for one in blocks] == [
        ("heading", 2), ("text", 0), ("item", 1), ("item", 0), ("table", 0), ("code", 0),
    ]  # fmt: skip
    assert blocks[0].pieces == [("passage", "Rule")]
    assert blocks[1].pieces == [
        ("passage", "Leave is "), ("cited", "15"), ("passage", " days"), ("", ", see the list."),
    ]  # fmt: skip
    assert [one.shade for one in blocks] == ["passage", "cited", "", "", "", ""]
    assert [["".join(piece for _, piece in cell) for cell in row] for row in blocks[4].rows] == [
        ["A", "B"],
        ["x | y", "z"],
    ]
    assert blocks[5].pieces == [("", "# code **so**")]
    in_a_row = plain_text(chunk(text), markdown=True)
    assert in_a_row == (
        "Rule Leave is 15 days, see the list. one! 1. two A B x | y z # code **so**"
    )
    assert plain_text(chunk("**15** days"), markdown=False) == "**15** days"


def test_headings_of_other_formats_are_those_that_the_passages_have() -> None:
    first = chunk("Travel\n\nBy train.\nKind | Days\nSick | 10", heading_path=("Travel",))
    second = chunk("Amount: 3", first.end + 2, heading_path=("Sheet", "Row 2"))
    blocks = blocks_of([first, second], Marks(), markdown=False)
    assert [(one.kind, one.level) for one in blocks] == [
        ("heading", 1), ("text", 0), ("table", 0), ("named", 2), ("text", 0),
    ]  # fmt: skip


def test_a_long_page_is_shown_in_parts() -> None:
    chunks = [chunk("x" * 9_000, at * 9_001) for at in range(5)]
    assert [len(part) for part in parts_of(chunks, 1)] == [2, 2, 1]
    assert parts_of(chunks, 2) == []


@pytest.mark.parametrize("width", [612.0, 1.0])
def test_words_of_a_line_are_together_and_columns_are_not(width: float) -> None:

    def word(text: str, left: float, top: float) -> Word:
        return Word(text, Rectangle(left, top, left + 0.05, top + 0.02))

    words = (word("a", 0.1, 0.1), word("b", 0.16, 0.1), word("c", 0.6, 0.1), word("d", 0.1, 0.2))
    page = sheet_of(PageWords(width, 792.0, words), [words[0].place])
    assert [[one.text for one in line] for line in page.lines] == [["a", "b"], ["c"], ["d"]]
    assert page.passage[0].x == round(0.1 * width, 2)

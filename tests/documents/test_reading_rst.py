import sys
from pathlib import Path

import pytest

from evidentia.documents.chunking import chunk_document
from evidentia.documents.model import ReadDocument
from evidentia.documents.reading import rst
from evidentia.documents.reading.document import RST, read_document
from evidentia.errors import DocumentError


def read(source: str) -> ReadDocument:
    return read_document(source.encode(), "policy.rst")


def text_of(source: str) -> str:
    return read(source).pages[0].text


def test_the_page_is_what_docutils_makes_of_the_source() -> None:
    document = read(
        "Policy\n======\n\n:Author: HR\n:Date: 2025-01-02\n\nLeave\n-----\n\nAll *get* **15** days."
        "\n\nCarry over\n~~~~~~~~~~\n\n#. one\n#. two\n\n   - inner\n\n.. note:: Not for temps.\n\n"
        "=======  ====\nCountry  Days\n=======  ====\nOman     15\n=======  ====\n\n"
        "Code::\n\n  x = 1\n"
    )
    assert document.media_type == RST
    assert (document.title, document.created) == ("Policy", "2025-01-02")
    assert [(h.level, h.text) for h in document.headings] == [
        (1, "Policy"),
        (2, "Leave"),
        (3, "Carry over"),
    ]
    text = document.pages[0].text
    assert text[: document.pages[0].start] == "author: HR\ndate: 2025-01-02\n\n"
    assert all(text.startswith(h.text, h.start) for h in document.headings)
    for piece in (
        "All get 15 days.",
        "1. one\n2. two\n  - inner",
        "Country | Days\nOman | 15",
        "Not for temps.",
        "x = 1",
    ):
        assert piece in text


def test_no_other_file_is_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret,words\n1,2\n")
    text = (
        f"Text.\n\n.. include:: {secret}\n\n.. raw:: html\n   :file: {secret}\n\n"
        f".. csv-table::\n   :file: {secret}\n\n.. literalinclude:: {secret}\n\n"
        f".. csv-table::\n   :url: {secret.as_uri()}\n\n.. raw:: html\n\n   <b>raw words</b>\n"
    )
    document = read(text)
    assert "secret,words" not in document.pages[0].text
    assert "secret: 1" not in document.pages[0].text
    assert "raw words" not in document.pages[0].text
    assert document.warnings == ("4 included files or raw parts are left out",)


def test_the_day_of_reading_changes_nothing() -> None:
    assert "20" not in text_of("Today is |date|.\n\n.. |date| date::\n")


def test_one_file_does_not_change_what_the_next_means() -> None:
    before = text_of("A :mine:`word <x>`.")
    text_of(".. role:: mine(literal)\n.. default-role:: literal\n\nA :mine:`word <x>`.")
    assert text_of("A :mine:`word <x>`.") == before == "A word."


def test_what_sphinx_adds_is_read_as_its_text() -> None:
    text = text_of(
        "See :ref:`the guide <guide>`, :func:`~os.path.join` and :class:`!Path`.\n\n"
        ".. versionadded:: 3.11\n   More *text* here.\n\n.. py:function:: f(a, b)\n   :noindex:\n\n"
        "   Adds.\n\n.. toctree::\n\n   other\n\n.. testcode::\n\n   x  =  1\n"
    )
    assert text == (
        "See the guide, os.path.join and Path.\n\nAdded in version 3.11 More text here.\n\n"
        "f(a, b)\n\nAdds.\n\nx  =  1"
    )


def test_what_cannot_be_parsed_is_kept_as_it_is_written() -> None:
    text = text_of(
        "A `broken link.\n\n.. figure::\n\n.. table:: x\n   :nonsense: 1\n\n   words here\n\n"
        "Title\n===\n\nEnd |gone| and [#missing]_."
    )
    for piece in ("A `broken link.", "words here", "Title", "End |gone| and"):
        assert piece in text


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("Größe".encode("cp1252"), "not UTF-8 text"),
        (b".. comment\n", "an empty document"),
        (b"".join(b"  " * depth + b"- a\n\n" for depth in range(900)), "nested "),
        (b"x" * 20_000, "a line of more than 10,000 characters"),
    ],
)
def test_what_cannot_be_read_is_refused(source: bytes, says: str) -> None:
    with pytest.raises(DocumentError, match=rf"^a.rst: .*{says}"):
        read_document(source, "a.rst")


def test_a_file_that_would_take_minutes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rst, "MAX_RST_BYTES", 10)
    with pytest.raises(DocumentError, match=r"12 bytes of reStructuredText, 10 at most: .* .txt"):
        read("Leave ok\n\n\n\n")


def test_without_docutils_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "evidentia.documents.reading.rst")
    monkeypatch.setitem(sys.modules, "docutils", None)
    with pytest.raises(DocumentError, match=r"^policy.rst: .*pip install 'evidentia\[rst\]'"):
        read("Text.")


def test_fields_at_the_head_of_a_file_are_front_matter() -> None:
    document = read(
        ":title: Leave\n:created: 2024-05-06\n:Modified: 2025-01-02\n:language: en\n"
        ":Abstract: What this is about.\n\nAll employees receive 15 days.\n\n:Note: a field.\n"
    )
    assert (document.title, document.created, document.modified) == (
        "Leave",
        "2024-05-06",
        "2025-01-02",
    )
    page = document.pages[0]
    assert page.text[: page.start].splitlines()[:2] == ["title: Leave", "created: 2024-05-06"]
    assert page.text[page.start :].startswith("Abstract\n\nWhat this is about.\n\nAll employees")
    assert "a field." in page.text[page.start :]
    assert chunk_document(document, "doc_1")[0].text.startswith("Abstract")
    assert read("All employees receive 15 days.").title is None

import json
from typing import Any

import pytest

from evidentia.documents.chunking import chunk_document
from evidentia.documents.model import ReadDocument
from evidentia.documents.reading import notebook
from evidentia.documents.reading.document import NOTEBOOK, read_document
from evidentia.errors import DocumentError


def read(*cells: Any, **more: Any) -> ReadDocument:
    made = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": list(cells), **more}
    return read_document(json.dumps(made).encode(), "trial.ipynb")


def markdown(*lines: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": list(lines)}


def code(source: str, *outputs: Any) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": list(outputs)}


def test_cells_are_passages_under_the_headings_above_them() -> None:
    document = read(
        code("import x"),
        markdown("# Trial\n", "\n", "We ask *why*.\n", "\n", "## Methods\n", "\n", "We count."),
        code("count(15)", {"output_type": "stream", "name": "stdout", "text": ["15 days\n"]}),
        markdown(""),
        markdown("More text."),
    )
    assert document.media_type == NOTEBOOK
    assert document.title == "Trial"
    chunks = chunk_document(document, "doc_1")
    assert [(chunk.heading_path, chunk.text) for chunk in chunks] == [
        (("Cell 1",), "import x"),
        (("Trial", "Trial, cell 2"), "# Trial\n\nWe ask *why*."),
        (("Trial", "Methods", "Methods, cell 2"), "## Methods\n\nWe count."),
        (("Trial", "Methods", "Methods, cell 3"), "count(15)\n\n15 days"),
        (("Trial", "Methods", "Methods, cell 5"), "More text."),
    ]
    text = document.pages[0].text
    assert all(text[chunk.start : chunk.end] == chunk.text for chunk in chunks)


def test_outputs_are_read_as_text_and_pictures_are_said_to_be_left_out() -> None:
    document = read(
        code(
            "plot()",
            {
                "output_type": "display_data",
                "data": {"image/png": "AAAA", "text/plain": "<Figure size 6x4 with 1 Axes>"},
            },
            {
                "output_type": "execute_result",
                "data": {"text/html": "<b>x</b>", "text/plain": ["   days\n", "0  15"]},
            },
            {
                "output_type": "display_data",
                "data": {"text/markdown": "**bold**", "text/plain": "<Markdown>"},
            },
            {
                "output_type": "error",
                "ename": "ValueError",
                "evalue": "\x1b[31mbad\x1b[0m",
                "traceback": ["no"],
            },
            {"output_type": "display_data", "data": {"application/json": {}}},
            {"output_type": "update"},
            "nonsense",
        )
    )
    assert document.pages[0].text == "plot()\n\n   days\n0  15\n\n**bold**\n\nValueError: bad"
    assert document.warnings == ("2 outputs that are no text are left out",)


def test_one_picture_is_one() -> None:
    picture = {"output_type": "display_data", "data": {"image/png": "AAAA"}}
    assert read(code("plot()", picture)).warnings == ("1 output that is no text is left out",)


def test_the_older_format_is_read() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": "Methods"},
        {"cell_type": "heading", "level": "x", "source": ["Top"]},
        {
            "cell_type": "code",
            "input": ["a = 1\n"],
            "outputs": [{"output_type": "pyout", "text": "15"}],
        },
    ]
    made = {"nbformat": 3, "worksheets": [{"cells": cells}, {}, "x"]}
    document = read_document(json.dumps(made).encode(), "old.ipynb")
    assert document.pages[0].text == "## Methods\n\n# Top\n\na = 1\n\n\n15"
    assert [h.text for h in document.headings if h.written] == ["Methods", "Top"]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b'{"cells": [', r"a broken notebook \(no JSON: .*\): open it in Jupyter"),
        (b"[" * 100_000, "a broken notebook"),
        (b'{"a": ' * 5_000 + b"1" + b"}" * 5_000, "a broken notebook"),
        (b"[]", "not a Jupyter notebook: it has no list of cells"),
        (b'{"cells": 5}', "not a Jupyter notebook"),
        (b'{"cells": [5]}', r"a broken notebook \(cell 1 is no cell\)"),
        (b'{"cells": [{"cell_type": []}]}', r"a broken notebook \(cell 1 is no cell\)"),
        (b'{"cells": []}', "an empty document"),
        ('{"cells": "é"}'.encode("cp1252"), "not UTF-8 text"),
        (b'{"cells": [{"cell_type": "code", "source": 5, "outputs": 7}]}', "an empty document"),
    ],
)
def test_a_file_that_is_no_notebook_is_refused(data: bytes, says: str) -> None:
    with pytest.raises(DocumentError, match=rf"^a.ipynb: .*{says}"):
        read_document(data, "a.ipynb")


def test_more_than_is_read_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "MAX_MARKDOWN_BYTES", 5)
    with pytest.raises(
        DocumentError, match="more than 5 characters of Markdown: split the notebook"
    ):
        read(markdown("six six"))
    monkeypatch.setattr(notebook, "MAX_ROWS", 1)
    with pytest.raises(DocumentError, match="a notebook of more than 1 cells"):
        read(code("a"), code("b"))


def test_front_matter_and_metadata_are_data_about_a_notebook() -> None:
    about = {"title": "Leave", "date": "2024-05-06", "language": "python", "kernelspec": {}}
    plain = read(markdown("All employees receive 15 days."), metadata=about)
    assert (plain.title, plain.created, plain.modified) == ("Leave", "2024-05-06", None)
    head = {
        "cell_type": "raw",
        "metadata": {},
        "source": "---\ntitle: Pay\nupdated: 2025-01-02\n---",
    }
    document = read(head, markdown("# Rules\n\nAll receive pay."), metadata=about)
    assert (document.title, document.created, document.modified) == (
        "Pay",
        "2024-05-06",
        "2025-01-02",
    )
    assert [chunk.text for chunk in chunk_document(document, "doc_1")] == [
        "# Rules\n\nAll receive pay."
    ]
    inside = read(markdown("---\ntitle: Pay\n---\n# Rules\n\nAll receive pay."), metadata=[])
    assert [heading.text for heading in inside.headings if heading.written] == ["Rules"]
    later = read(markdown("Text."), markdown("---\ntitle: Pay\n---\n\nMore."))
    assert later.title != "Pay"

import pytest

from evidentia.sources.model import SourceItem
from evidentia.sources.wire.naming import filename, media_type, shown_title


def source(source_id: str = "id", title: str | None = None, **metadata: object) -> SourceItem:
    return SourceItem(source_id=source_id, kind="k", title=title, metadata=metadata)


@pytest.mark.parametrize(
    ("item", "name"),
    [
        (source(filename="a.bin"), "a.bin"),
        (source(file_name="x/y\\b.pdf"), "b.pdf"),
        (source(filename=7, fileName=" c.txt "), "c.txt"),
        (source(filename="folder/", title="d.MD"), "d.MD"),
        (source("docs/e.html"), "e.html"),
        (source("docs/e.exe", title="Version 2.0"), None),
        (source(".pdf"), None),
    ],
)
def test_a_file_name_is_read_where_it_is_certain(item: SourceItem, name: str | None) -> None:
    assert filename(item) == name


@pytest.mark.parametrize(
    ("item", "kind"),
    [
        (source(mime_type="Text/HTML; charset=utf-8"), "text/html"),
        (source(content_type="pdf", mediaType="application/pdf"), "application/pdf"),
        (
            source(mime_type=3, title="a.docx"),
            f"{'application/vnd.openxmlformats-officedocument'}.wordprocessingml.document",
        ),
        (source(filename="a.bin"), None),
        (source(), None),
    ],
)
def test_a_media_type_is_what_is_known(item: SourceItem, kind: str | None) -> None:
    assert media_type(item) == kind


@pytest.mark.parametrize(
    ("item", "title"),
    [
        (source(title="T", filename="f.pdf"), "T"),
        (source(title=" ", filename="f.pdf"), "f.pdf"),
        (source("the id"), "the id"),
        (source(" "), "Untitled"),
    ],
)
def test_a_title_is_never_empty(item: SourceItem, title: str) -> None:
    assert shown_title(item) == title

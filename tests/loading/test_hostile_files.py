"""Each format's row of hostile files, read as `ingest` reads them: in the worker, with its limits.

Whatever a file is, it is read safely or refused with a reason that names it; nothing that it points
to, a file or an address, is opened.
"""

import json
import socket
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path

import pptx
import pytest

from docx_writing import docx_bytes, paragraph, part, zip_bytes
from evidentia.documents.model import ReadFile
from evidentia.documents.reading.document import EXTENSIONS
from evidentia.errors import DocumentError
from evidentia.loading.reading import Asked, read_files
from pdf_writing import Line, pdf_bytes, pdf_of_objects
from xlsx_writing import sheet_bytes

SAYS = "All employees receive 15 days."
SECRET = "The canary sings at night."
ENTITIES = (
    '<!DOCTYPE x [<!ENTITY a "ha">'
    + "".join(
        f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    + "]>"
)


class Outside:
    """What a hostile file points to: a file with a secret, and an address."""

    def __init__(self, secret: Path, port: int) -> None:
        self.path = str(secret)
        self.url = f"http://127.0.0.1:{port}/canary"

    @property
    def declared(self) -> str:
        """Return a document type that declares both as entities."""
        return (
            f'<!DOCTYPE x SYSTEM "{self.url}" [<!ENTITY f SYSTEM "file://{self.path}">'
            f'<!ENTITY u SYSTEM "{self.url}"><!ENTITY % p SYSTEM "{self.url}"> %p;]>'
        )


def deck(text: str = SAYS) -> bytes:
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[5])
    slide.shapes.title.text = text
    data = BytesIO()
    made.save(data)
    return data.getvalue()


def linked_deck(outside: Outside) -> bytes:
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[5])
    run = slide.shapes.title.text_frame.paragraphs[0].add_run()
    run.text, run.hyperlink.address = SAYS, outside.url
    slide.part.rels.get_or_add_ext_rel("http://x/image", f"file://{outside.path}")
    data = BytesIO()
    made.save(data)
    return data.getvalue()


def book(chapter: str, package: str = "", more: dict[str, str] | None = None) -> bytes:
    items = "<item id='a' href='a.xhtml' media-type='application/xhtml+xml'/>"
    return zip_bytes(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": "<c><rootfile full-path='b.opf'/></c>",
            "b.opf": package or f"<package>{items}<spine><itemref idref='a'/></spine></package>",
            "a.xhtml": chapter,
            **(more or {}),
        }
    )


def sheet(text: str, **parts: str) -> bytes:
    row = f'<row r="1"><c r="A1" t="inlineStr"><is><t>{text}</t></is></c></row>'
    return sheet_bytes(f"<sheetData>{row}</sheetData>", parts=parts)


def notebook(**cell: object) -> bytes:
    whole = {"cell_type": "markdown", "source": SAYS, "metadata": {}, **cell}
    return json.dumps({"nbformat": 4, "metadata": {}, "cells": [whole]}).encode()


def mail(body: str = SAYS, head: str = "Content-Type: text/plain") -> bytes:
    return f"From: a@b.example\nSubject: Leave\n{head}\n\n{body}\n".encode()


GOOD: dict[str, bytes] = {
    "a.pdf": pdf_bytes([[Line(SAYS)]]),
    "a.docx": docx_bytes(paragraph(SAYS)),
    "a.xlsx": sheet(SAYS),
    "a.pptx": deck(),
    "a.epub": book(f"<html><body><p>{SAYS}</p></body></html>"),
    "a.ipynb": notebook(),
    "a.eml": mail(),
    "a.html": f"<html><body><p>{SAYS}</p></body></html>".encode(),
    "a.md": f"# Leave\n\n{SAYS}\n".encode(),
    "a.rst": f"Leave\n=====\n\n{SAYS}\n".encode(),
    "a.csv": f"Rule,Days\n{SAYS},15\n".encode(),
    "a.txt": SAYS.encode(),
}
PACKED = ("a.docx", "a.xlsx", "a.pptx", "a.epub")
_MAIN = {
    "a.docx": "word/document.xml",
    "a.xlsx": "xl/workbook.xml",
    "a.pptx": "ppt/presentation.xml",
    "a.epub": "META-INF/container.xml",
}

POINTING: dict[str, Callable[[Outside], bytes]] = {
    "a.pdf": lambda out: pdf_of_objects(
        [
            f"<</Type/Catalog/Pages 2 0 R/OpenAction<</S/URI/URI({out.url})>>>>",
            "<</Type/Pages/Kids[3 0 R]/Count 1>>",
            (
                "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources"
                "<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>"
            ),
            (
                f"<</Length 70/F<</Type/Filespec/F({out.path})>>>>\nstream\n"
                f"BT /F1 12 Tf 72 700 Td ({SAYS}) Tj ET\nendstream"
            ),
        ]
    ),
    "a.docx": lambda out: docx_bytes(
        paragraph(SAYS),
        parts={
            "word/header1.xml": part("hdr", paragraph("Head")),
            "word/_rels/document.xml.rels": (
                f"<Relationships><Relationship Id='r1' Type='x/attachedTemplate' "
                f"Target='{out.url}' TargetMode='External'/><Relationship Id='r2' Type='x/header' "
                f"Target='../../../../..{out.path}'/></Relationships>"
            ),
        },
    ),
    "entity.docx": lambda out: zip_bytes(
        {"word/document.xml": f"{out.declared}<document><p><r><t>&f;&u;</t></r></p></document>"}
    ),
    "a.xlsx": lambda out: sheet(
        SAYS,
        **{
            "xl/externalLinks/_rels/externalLink1.xml.rels": (
                f"<Relationships><Relationship Id='r1' Type='x/externalLinkPath' "
                f"Target='{out.url}' TargetMode='External'/></Relationships>"
            )
        },
    ),
    "a.pptx": linked_deck,
    "a.epub": lambda out: book(
        f"<html><head><link rel='stylesheet' href='{out.url}'/></head><body><img src='{out.url}'/>"
        f"<p>{SAYS}</p><iframe src='file://{out.path}'></iframe></body></html>"
    ),
    "remote.epub": lambda out: book(
        SAYS,
        "<package><manifest><item id='a' href='a.xhtml' media-type='text/html'/>"
        f"<item id='b' href='{out.url}' media-type='text/html'/>"
        f"<item id='c' href='../../../..{out.path}' media-type='text/html'/></manifest>"
        "<spine><itemref idref='a'/><itemref idref='b'/><itemref idref='c'/></spine></package>",
    ),
    "entity.epub": lambda out: book(SAYS, f"{out.declared}<package>&f;&u;</package>"),
    "a.ipynb": lambda out: notebook(
        source=f"{SAYS}\n![x]({out.url}) <img src='file://{out.path}'>",
        attachments={"x.png": {"image/png": out.path}},
    ),
    "code.ipynb": lambda out: notebook(
        cell_type="code", source=f"# {SAYS}\n%run {out.path}\n!curl {out.url}", outputs=[]
    ),
    "a.eml": lambda out: mail(
        f"--x\nContent-Type: text/plain\n\n{SAYS}\n--x\nContent-Type: message/external-body; "
        f'access-type=URL; URL="{out.url}"\n\nContent-Type: text/plain\n\n--x\n'
        f'Content-Type: message/external-body; access-type=local-file; name="{out.path}"\n\n'
        f"Content-Type: text/plain\n\n--x\nContent-Type: text/html\n\n<img src='{out.url}'>\n--x--",
        'Content-Type: multipart/mixed; boundary="x"',
    ),
    "a.html": lambda out: (
        f"<html><head><base href='{out.url}'><link rel=import href='{out.url}'>"
        f"<meta http-equiv=refresh content='0;url={out.url}'></head><body><p>{SAYS}</p>"
        f"<object data='file://{out.path}'></object><script src='{out.url}'></script></body></html>"
    ).encode(),
    "a.md": lambda out: f"{SAYS}\n\n![x]({out.url})\n\n[y]: file://{out.path}\n".encode(),
    "a.rst": lambda out: (
        f"{SAYS}\n\n.. include:: {out.path}\n\n.. literalinclude:: {out.path}\n\n"
        f".. raw:: html\n   :file: {out.path}\n\n.. raw:: html\n   :url: {out.url}\n\n"
        f".. csv-table::\n   :file: {out.path}\n\n.. csv-table::\n   :url: {out.url}\n\n"
        f".. image:: {out.url}\n"
    ).encode(),
    "a.csv": lambda out: f'Rule,Days\n{SAYS},"=WEBSERVICE(""{out.url}"")"\n'.encode(),
    "a.txt": lambda out: f"{SAYS}\n{out.url} file://{out.path}\n".encode(),
}

BOMBS: dict[str, tuple[Callable[[], bytes], str]] = {
    **{
        f"bomb{name[1:]}": (
            lambda name=name: zip_bytes({_MAIN[name]: b"<d>" + b" " * 2**26}),  # type: ignore[misc]
            "a zip bomb",
        )
        for name in PACKED
    },
    **{
        f"laughs{name[1:]}": (
            lambda name=name: zip_bytes({_MAIN[name]: f"{ENTITIES}<d>&i;</d>"}),  # type: ignore[misc]
            "",
        )
        for name in PACKED
    },
    "deep.docx": (
        lambda: zip_bytes({"word/document.xml": "<p>" * 5_000 + SAYS + "</p>" * 5_000}),
        "nested",
    ),
    "slides.pptx": (
        lambda: zip_bytes({"ppt/presentation.xml": "<p>" + "<sldId/>" * 300_000 + "</p>"}),
        "a zip bomb",
    ),
    "parts.docx": (lambda: zip_bytes({f"p{n}": "" for n in range(21_000)}), ""),
    "wide.xlsx": (
        lambda: sheet_bytes('<sheetData><row><c r="XFD1"><v>1</v></c></row></sheetData>'),
        "=",
    ),
    "dimension.xlsx": (
        lambda: sheet_bytes(
            '<dimension ref="A1:XFD1048576"/><sheetData><row r="1048576"><c r="ZZZZZZZ1"><v>1</v>'
            "</c></row></sheetData>"
        ),
        "=",
    ),
    "chapters.epub": (
        lambda: book(
            SAYS,
            "<package><manifest>"
            + "".join(f"<item id='a{n}' href='{n}' media-type=''/>" for n in range(30_000))
            + "</manifest><spine>"
            + "".join(f"<itemref idref='a{n}'/>" for n in range(30_000))
            + "</spine></package>",
        ),
        "30,000 chapters",
    ),
    "deep.html": (lambda: b"<div>" * 5_000 + SAYS.encode(), "nested more than"),
    "wide.csv": (lambda: b"," * 1_900_000 + b"\n1", "="),
    "cells.csv": (lambda: (b"1," * 900_000 + b"\n") * 3, "more than 2,000,000 cells"),
    "rows.csv": (lambda: b"1,2\n" * 250_000, "more than 200,000 rows"),
    "deep.ipynb": (lambda: b'{"cells":' + b"[" * 100_000, "a broken notebook"),
    "cells.ipynb": (lambda: b'{"cells":[' + b"1," * 300_000 + b"1]}", "more than 200,000 cells"),
    "parts.eml": (
        lambda: mail("--x\n\nhi\n" * 20_000, 'Content-Type: multipart/mixed; boundary="x"'),
        "more than 10,000 parts",
    ),
    "header.eml": (lambda: mail(head="To: " + "a@b.example, " * 200_000), "="),
    "deep.rst": (lambda: b"".join(b" " * n + b"* a\n" for n in range(0, 1_500, 2)), ""),
    "deep.md": (lambda: b">" * 50_000 + SAYS.encode(), "="),
    "line.txt": (lambda: b"a" * 9_000_000, "a line of more than 2,000,000"),
    "pages.pdf": (
        lambda: pdf_of_objects(
            ["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[2 0 R]/Count 999999999>>"]
        ),
        "",
    ),
    "size.pdf": (
        lambda: pdf_bytes([[Line(SAYS)]]).replace(b"[0 0 612 792]", b"[0 0 9e9 9e9]"),
        "=",
    ),
    "cells.pdf": (
        lambda: pdf_bytes(
            [[Line("1", 1, x=72 + 20 * (n % 20), y=740 - n // 20) for n in range(12_000)]]
        ),
        "=",
    ),
    "rules.pdf": (
        lambda: pdf_bytes(["0 0 m 9 9 l S " * 100_000 + f"BT /F1 9 Tf 9 9 Td ({SAYS}) Tj ET"]),
        "=",
    ),
}
"""What each is refused with; "=" if it is read safely, nothing if either will do."""


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Outside]:
    """Give what a file must not open; fail if someone asked at the address."""
    secret = tmp_path / "secret.txt"
    secret.write_text(SECRET, encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)  # noqa: FBT003 - has no other form
        yield Outside(secret, server.getsockname()[1])
        with pytest.raises(BlockingIOError):
            server.accept()


def read(files: dict[str, bytes]) -> dict[str, ReadFile | DocumentError]:
    """Read files in workers, and check that what is refused names the file."""
    asked = [Asked(f"doc_{name}", name, data) for name, data in files.items()]
    found: dict[str, ReadFile | DocumentError] = {}
    for name, answer in zip(files, read_files(asked, count=len(asked)), strict=True):
        assert isinstance(answer, ReadFile | DocumentError)
        assert isinstance(answer, ReadFile) or str(answer).startswith(f"{name}: "), answer
        found[name] = answer
    return found


def said(answer: ReadFile | DocumentError) -> str:
    if isinstance(answer, ReadFile):
        return "\n".join(chunk.text for chunk in answer.chunks)
    return str(answer)


def test_every_format_has_its_row() -> None:
    formats = {EXTENSIONS[name.rpartition(".")[2]] for name in GOOD}
    assert formats == set(EXTENSIONS.values())
    assert {EXTENSIONS[name.rpartition(".")[2]] for name in POINTING} == formats
    assert {EXTENSIONS[name.rpartition(".")[2]] for name in BOMBS} == formats


def test_files_that_are_cut_empty_or_something_else_are_read_safely_or_refused() -> None:
    whole = read(GOOD)
    assert all(SAYS in said(answer) for answer in whole.values()), whole
    for share in (0.1, 0.5, 0.9):
        for name, answer in read({n: d[: int(len(d) * share)] for n, d in GOOD.items()}).items():
            packed = name in {*PACKED, "a.ipynb"}
            assert not packed or isinstance(answer, DocumentError), (name, share)
    empty = read(dict.fromkeys(GOOD, b""))
    assert {said(answer).partition(": ")[2] for answer in empty.values()} == {
        "an empty file: nothing is in it"
    }
    picture = read({name: b"\x89PNG\r\n\x1a\n" + bytes(500) for name in GOOD})
    assert all("not supported: a picture" in said(answer) for answer in picture.values())
    zeros = read({name: bytes(5_000) for name in GOOD})
    assert all(isinstance(answer, DocumentError) for answer in zeros.values()), zeros


def test_what_a_file_points_to_is_never_opened(outside: Outside) -> None:
    for name, answer in read({name: made(outside) for name, made in POINTING.items()}).items():
        assert SECRET not in said(answer), name
        refused = name.startswith("entity")
        assert isinstance(answer, DocumentError) == refused, (name, said(answer))
        assert refused or SAYS in said(answer), (name, said(answer))


def test_bombs_are_refused_with_their_reason_or_read_safely() -> None:
    for name, answer in read({name: made() for name, (made, _) in BOMBS.items()}).items():
        _, reason = BOMBS[name]
        if reason == "=":
            assert isinstance(answer, ReadFile), (name, said(answer))
        elif reason:
            assert isinstance(answer, DocumentError), name
            assert reason in str(answer), name
        assert len(said(answer)) < 5_000_000, name

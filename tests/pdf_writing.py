"""Writes small PDFs by hand, so that a test can say exactly what is in one."""

from collections.abc import Sequence
from dataclasses import dataclass

HELVETICA, BOLD, MAPPED, HEAVY = "F1", "F2", "F3", "F4"
"""Fonts; the name of the heavy one does not say that it is bold, its stems do."""
PICTURE = "q 400 0 0 600 100 100 cm /Im1 Do Q"
"""The content of a page that is only a picture."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text at a place on the page; `MAPPED` shows characters outside Latin-1.

    Text given in pieces has one glyph for each piece. `scaled` writes the size into the text
    matrix instead of the font, as many programs do.
    """

    text: str | tuple[str, ...]
    size: float = 10
    font: str = HELVETICA
    x: float = 72
    y: float | None = None
    scaled: bool = False


def pdf_bytes(
    pages: Sequence[Sequence[Line] | str],
    *,
    info: str = "",
    trailer: str = "",
    leading: float = 1.2,
) -> bytes:
    """Return a PDF with the lines of each page; a line without `y` goes below the one before.

    A page may be given as its content, written in PDF's own operators. `info` is what stands in
    the document information dictionary, `trailer` in the trailer.
    """
    glyphs = _Glyphs()
    contents = [
        page if isinstance(page, str) else _content(page, glyphs, leading) for page in pages
    ]
    first_page = len(_RESOURCES) + 4
    kids = " ".join(f"{first_page + 2 * at} 0 R" for at in range(len(pages)))
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Count {len(pages)}/Kids[{kids}]>>",
        _stream(glyphs.cmap()),
        *_RESOURCES,
    ]
    for content in contents:
        objects += [_PAGE.format(content=len(objects) + 2), _stream(content)]
    objects.append(f"<<{info}>>")
    return _assembled(objects, trailer)


_PAGE = (
    "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents {content} 0 R/Resources"
    "<</XObject<</Im1 8 0 R>>/Font<</F1 4 0 R/F2 5 0 R/F3 6 0 R/F4 7 0 R>>>>>>"
)
_FONT = "<</Type/Font/Subtype/Type1/Encoding/WinAnsiEncoding"
_DESCRIPTOR = "<</Type/FontDescriptor/FontName/CMBX10/StemV 180/FontBBox[0 0 1000 1000]>>"
_IMAGE = "<</Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8/Length 1>>"
_RESOURCES = (
    f"{_FONT}/BaseFont/Helvetica>>",
    f"{_FONT}/BaseFont/Helvetica-Bold>>",
    f"{_FONT}/BaseFont/Helvetica/ToUnicode 3 0 R>>",
    f"{_FONT}/BaseFont/CMBX10/FontDescriptor{_DESCRIPTOR}>>",
    f"{_IMAGE}\nstream\n0\nendstream",
)


def _stream(content: str) -> str:
    return f"<</Length {len(content)}>>\nstream\n{content}\nendstream"


class _Glyphs:
    """Gives each character outside Latin-1 a byte of the mapped font."""

    def __init__(self) -> None:
        self.codes: dict[str, int] = {}

    def encode(self, glyphs: str | tuple[str, ...]) -> str:
        return "".join(f"{self.codes.setdefault(g, 33 + len(self.codes)):02X}" for g in glyphs)

    def cmap(self) -> str:
        pairs = "".join(
            f"<{code:02X}> <{glyph.encode('utf-16-be').hex()}>\n"
            for glyph, code in self.codes.items()
        )
        return (
            "/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n"
            "1 begincodespacerange <00> <FF> endcodespacerange\n"
            f"{len(self.codes)} beginbfchar\n{pairs}endbfchar\n"
            "endcmap CMapName currentdict /CMap defineresource pop end end"
        )


def _content(lines: Sequence[Line], glyphs: _Glyphs, leading: float) -> str:
    parts = []
    y = 740.0
    for line in lines:
        y = line.y if line.y is not None else y - line.size * leading
        if line.font == MAPPED:
            shown = f"<{glyphs.encode(line.text)}>"
        else:
            shown = f"<{''.join(line.text).encode('cp1252').hex()}>"
        size, scale = (1.0, line.size) if line.scaled else (line.size, 1.0)
        parts.append(
            f"BT /{line.font} {size} Tf {scale} 0 0 {scale} {line.x} {y:.2f} Tm {shown} Tj ET"
        )
    return "\n".join(parts)


def pdf_of_objects(objects: Sequence[str]) -> bytes:
    """Return a PDF of objects as they are written, the catalogue first."""
    return _assembled([*objects, "<<>>"], "")


def _assembled(objects: Sequence[str], trailer: str) -> bytes:
    data = bytearray(b"%PDF-1.7\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table = len(data)
    data += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    data += "".join(f"{place:010d} 00000 n \n" for place in places).encode()
    data += (
        f"trailer\n<</Size {len(objects) + 1}/Root 1 0 R/Info {len(objects)} 0 R{trailer}>>\n"
        f"startxref\n{table}\n%%EOF\n"
    ).encode("latin-1")
    return bytes(data)

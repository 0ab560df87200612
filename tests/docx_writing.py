"""Writes small Word files by hand, part by part, so that a test can say exactly what is in one."""

import zipfile
from collections.abc import Mapping
from io import BytesIO

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"

HEADING_STYLES = """
<w:style w:type="paragraph" w:styleId="Normal"><w:name w:val="Normal"/></w:style>
<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>
<w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/>
  <w:basedOn w:val="Normal"/></w:style>
<w:style w:type="paragraph" w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style>
<w:style w:type="paragraph" w:styleId="Mine"><w:name w:val="Mine"/>
  <w:basedOn w:val="berschrift2"/></w:style>
<w:style w:type="paragraph" w:styleId="Outlined"><w:name w:val="Clause"/>
  <w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style>
<w:style w:type="character" w:styleId="Strong"><w:name w:val="heading 3"/></w:style>
"""


def paragraph(text: str, *, style: str = "", properties: str = "") -> str:
    """Return the XML of a paragraph with one run."""
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    run = f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>' if text else ""
    return f"<w:p><w:pPr>{named}{properties}</w:pPr>{run}</w:p>"


def part(root: str, inside: str) -> str:
    """Return a part's XML, with Word's namespaces."""
    return f'<?xml version="1.0"?><w:{root} xmlns:w="{W}" xmlns:mc="{MC}">{inside}</w:{root}>'


def core(**fields: str) -> str:
    """Return the part with a file's own properties."""
    inside = "".join(f"<p:{name}>{value}</p:{name}>" for name, value in fields.items())
    return f'<?xml version="1.0"?><p:coreProperties xmlns:p="urn:p">{inside}</p:coreProperties>'


def docx_bytes(
    body: str, *, styles: str = HEADING_STYLES, parts: Mapping[str, str | bytes] | None = None
) -> bytes:
    """Return a Word file with that body, and further parts by their names."""
    written: dict[str, str | bytes] = {
        "[Content_Types].xml": "<Types/>",
        "word/document.xml": part("document", f"<w:body>{body}</w:body>"),
        "word/styles.xml": part("styles", styles),
        **(parts or {}),
    }
    return zip_bytes(written)


def zip_bytes(parts: Mapping[str, str | bytes]) -> bytes:
    """Return a ZIP file of the parts."""
    data = BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return data.getvalue()

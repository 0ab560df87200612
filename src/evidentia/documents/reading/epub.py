"""EPUB books: chapters in their reading order, each a page, read as the HTML they are.

A chapter goes by its name in the table of contents. Nothing is looked up outside of the book: what
its lists name is a name in its archive, or nothing.
"""

from collections.abc import Mapping
from posixpath import dirname
from typing import Final
from urllib.parse import unquote

from evidentia.documents.model import Heading, Page
from evidentia.documents.reading.archive import (
    EPUB,
    EPUB_CONTAINER,
    Archive,
    Attributes,
    parse_part,
)
from evidentia.documents.reading.contents import Contents, iso_date, problem
from evidentia.documents.reading.html import read_html
from evidentia.documents.reading.limits import MAX_PAGES
from evidentia.documents.reading.office import inside
from evidentia.language.counting import counted

_ENCRYPTION: Final = "META-INF/encryption.xml"
_HTML: Final = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml", ""})
_NCX: Final = "application/x-dtbncx+xml"


def read_epub(data: bytes, filename: str) -> Contents:
    """Read a book; `DocumentError` if it is broken, protected or made to do harm."""
    archive = Archive(data, filename, EPUB)
    container = _Container()
    parse_part(archive, EPUB_CONTAINER, container, typed=True)
    package = _Package(dirname(container.package))
    if not parse_part(archive, container.package, package, typed=True):
        raise archive.broken("it has no list of its chapters")
    listed = package.chapters()
    chapters = [part for part in listed if not package.leads(part)] or listed
    if len(chapters) > MAX_PAGES:
        raise problem(filename, f"{len(chapters):,} chapters, {MAX_PAGES:,} at most")
    encryption = _Encryption()
    parse_part(archive, _ENCRYPTION, encryption)
    if encryption.found.intersection(chapters):
        raise problem(filename, "protected against copying (DRM): get a copy that is not")
    names = _chapter_names(archive, package)
    pages: list[Page] = []
    headings: list[Heading] = []
    warnings: list[str] = []
    hidden = missing = 0
    for number, part in enumerate(chapters, 1):
        found = archive.part(part)
        if found is None:
            missing += 1
            pages.append(Page(number, ""))
            continue
        chapter = read_html(found, filename)
        pages.append(Page(number, chapter.pages[0].text))
        called = names.get(part) or f"Chapter {number}"
        headings.append(Heading(1, called, number, 0, written=False))
        headings += [
            Heading(item.level, item.text, number, item.start) for item in chapter.headings
        ]
        hidden += bool(chapter.warnings)
    if len(chapters) < len(listed):
        warnings.append("the table of contents is left out")
    if hidden:
        parts = counted(hidden, "chapter has hidden parts", "chapters have hidden parts")
        warnings.append(f"{parts} or page furniture, which is left out")
    if missing:
        is_are = "chapter is" if missing == 1 else "chapters are"
        warnings.append(f"{missing} {is_are} listed and not in the book")
    return Contents(
        pages=tuple(pages) or (Page(1, ""),),
        headings=tuple(headings),
        title=package.said.get("title"),
        created=iso_date(package.said.get("date")),
        modified=iso_date(package.modified),
        language=package.said.get("language"),
        warnings=tuple(warnings),
    )


def _chapter_names(archive: Archive, package: "_Package") -> Mapping[str, str]:
    """Return the chapters' names in the table of contents, of either form."""
    for part, reader in (
        (package.navigation, _Contents(dirname(package.navigation), "a", "a", "href")),
        (package.ncx, _Contents(dirname(package.ncx), "navPoint", "text", "src")),
    ):
        if part and part in archive.names():
            parse_part(archive, part, reader, typed=True)
            if reader.found:
                return reader.found
    return {}


class _Container:
    """Reads where the book's package is."""

    def __init__(self) -> None:
        self.package = ""

    def start(self, tag: str, attributes: Attributes) -> None:
        if tag == "rootfile" and not self.package:
            self.package = inside("", unquote(attributes.get("full-path", "")))

    def end(self, _tag: str) -> None:
        """Take the end of an element, which says nothing here."""

    def text(self, _text: str) -> None:
        """Take text, of which there is none."""


class _Package:
    """Reads what the book says of itself, its parts and their order."""

    def __init__(self, folder: str) -> None:
        self.said: dict[str, str] = {}
        self.modified = ""
        self.navigation = ""
        self.ncx = ""
        self.contents = ""
        self._folder = folder
        self._parts: dict[str, tuple[str, str]] = {}
        self._order: list[str] = []
        self._tag = ""

    def start(self, tag: str, attributes: Attributes) -> None:
        self._tag = tag
        if tag == "item":
            part = inside(self._folder, unquote(attributes.get("href", "")))
            media_type = attributes.get("media-type", "")
            self._parts[attributes.get("id", "")] = part, media_type
            if "nav" in attributes.get("properties", "").split():
                self.navigation = part
            if media_type == _NCX:
                self.ncx = part
        elif tag == "itemref" and attributes.get("linear") != "no":
            self._order.append(attributes.get("idref", ""))
        elif tag == "reference" and attributes.get("type") == "toc":
            self.contents = inside(self._folder, unquote(attributes.get("href", "")))
        elif tag == "meta" and attributes.get("property") == "dcterms:modified":
            self._tag = "modified"

    def end(self, _tag: str) -> None:
        self._tag = ""

    def text(self, text: str) -> None:
        if self._tag == "modified":
            self.modified += text
        elif self._tag in {"title", "date", "language"} and text.strip():
            self.said.setdefault(self._tag, " ".join(text.split()))

    def chapters(self) -> list[str]:
        """Return the names of the chapters in their order, the table of contents among them."""
        found = (self._parts[name] for name in self._order if name in self._parts)
        return [part for part, media_type in dict.fromkeys(found) if media_type in _HTML]

    def leads(self, part: str) -> bool:
        """Whether a chapter is but the table of contents, in either way that a book says so."""
        return part in {self.navigation, self.contents}


class _Contents:
    """Reads a table of contents: the first name of each part."""

    def __init__(self, folder: str, entry: str, label: str, link: str) -> None:
        self.found: dict[str, str] = {}
        self._folder = folder
        self._entry = entry
        self._label = label
        self._link = link
        self._parts: list[str] = []
        self._target = ""
        self._in_label = False

    def start(self, tag: str, attributes: Attributes) -> None:
        if tag == self._entry:
            self._parts, self._target = [], ""
        if self._link in attributes:
            target = unquote(attributes[self._link].partition("#")[0])
            self._target = inside(self._folder, target)
            self._note()
        self._in_label = self._in_label or tag == self._label

    def end(self, tag: str) -> None:
        if tag == self._label:
            self._in_label = False
            self._note()

    def text(self, text: str) -> None:
        if self._in_label:
            self._parts.append(text)

    def _note(self) -> None:
        name = " ".join("".join(self._parts).split())
        if name and self._target:
            self.found.setdefault(self._target, name)


class _Encryption:
    """Reads which parts are encrypted; fonts are in many books."""

    def __init__(self) -> None:
        self.found: set[str] = set()

    def start(self, tag: str, attributes: Attributes) -> None:
        if tag == "CipherReference":
            self.found.add(inside("", unquote(attributes.get("URI", ""))))

    def end(self, _tag: str) -> None:
        """Take the end of an element, which says nothing here."""

    def text(self, _text: str) -> None:
        """Take text, of which there is none."""

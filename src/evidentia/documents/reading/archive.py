"""The inside of a file that is a ZIP of XML parts (DOCX, XLSX, PPTX, EPUB): none of it is trusted.

Parts are unpacked under a limit, in memory, and only by the names that the archive lists. A
document type declaration, which Office never writes and every entity attack needs, is refused; of
a book, one that declares nothing is passed over.
"""

import struct
import zipfile
import zlib
from collections.abc import Mapping
from io import BytesIO
from typing import Final, NamedTuple, Protocol
from xml.parsers import expat

from evidentia.documents.reading.contents import problem
from evidentia.documents.reading.limits import (
    EXPANSION_FREE_BYTES,
    MAX_ARCHIVE_MEMBERS,
    MAX_EXPANDED_BYTES,
    MAX_EXPANSION,
    MAX_NESTING,
)
from evidentia.errors import DocumentError

WORD_DOCUMENT: Final = "word/document.xml"
EXCEL_WORKBOOK: Final = "xl/workbook.xml"
POWERPOINT_PRESENTATION: Final = "ppt/presentation.xml"
EPUB_CONTAINER: Final = "META-INF/container.xml"
"""The part by which each kind of archive is known."""
_ZIP_ERRORS: Final = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
)
"""All that the standard library raises for a damaged archive."""
_BLOCK_BYTES: Final = 2**16
_ENCRYPTED: Final = 0x1

_RELATIONSHIPS: Final = "relationships"
"""How the namespace ends in which Office files refer to other parts, in either of its forms."""

Attributes = Mapping[str, str]


class ArchiveKind(NamedTuple):
    """What a file is called, and what mends it when it is broken."""

    name: str
    mended_by: str


WORD: Final = ArchiveKind("Word file", "open it in Word or LibreOffice and save it again")
EXCEL: Final = ArchiveKind("Excel workbook", "open it in Excel or LibreOffice and save it again")
POWERPOINT: Final = ArchiveKind(
    "PowerPoint presentation", "open it in PowerPoint or LibreOffice and save it again"
)
EPUB: Final = ArchiveKind("EPUB book", "convert it anew, or fetch it again")


class Archive:
    """The parts of an archive, unpacked one by one within the limits."""

    def __init__(self, data: bytes, filename: str, kind: ArchiveKind) -> None:
        self.filename = filename
        self._kind = kind
        self._budget = MAX_EXPANDED_BYTES
        try:
            self._zip = zipfile.ZipFile(BytesIO(data))
        except _ZIP_ERRORS as error:
            raise self.broken(str(error)) from None
        if len(self._zip.infolist()) > MAX_ARCHIVE_MEMBERS:
            raise problem(filename, f"an archive of more than {MAX_ARCHIVE_MEMBERS:,} files")

    def names(self) -> frozenset[str]:
        """Return the names of all parts."""
        return frozenset(self._zip.namelist())

    def part(self, name: str) -> bytes | None:
        """Return a part's bytes, or None if there is no such part."""
        try:
            info = self._zip.getinfo(name)
        except KeyError:
            return None
        if info.flag_bits & _ENCRYPTED:
            raise problem(
                self.filename, "encrypted with a password: open it, remove the password and save it"
            )
        if info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
            raise self.broken(f"{name} is packed in a way that no such file uses")
        allowed = max(EXPANSION_FREE_BYTES, info.compress_size * MAX_EXPANSION)
        try:
            return self._unpacked(info, min(allowed, self._budget))
        except DocumentError:
            raise
        except _ZIP_ERRORS as error:
            raise self.broken(f"{name}: {error}") from None

    def _unpacked(self, info: zipfile.ZipInfo, allowed: int) -> bytes:
        found = bytearray()
        with self._zip.open(info) as stream:
            while block := stream.read(_BLOCK_BYTES):
                found += block
                if len(found) > allowed:
                    raise problem(
                        self.filename,
                        f"a zip bomb: {info.filename} unpacks to more than {allowed:,} bytes "
                        f"from {info.compress_size:,}; it is not opened",
                    )
        self._budget -= len(found)
        return bytes(found)

    def broken(self, why: str) -> DocumentError:
        """Return the error for a file that is damaged, or made to be."""
        return problem(self.filename, f"a broken {self._kind.name} ({why}): {self._kind.mended_by}")


class PartReader(Protocol):
    """Takes a part's elements as they come by, under their local names.

    An attribute that refers to another part, `r:id`, keeps its `r:`.
    """

    def start(self, tag: str, attributes: Attributes, /) -> None:
        """Take the start of an element."""

    def end(self, tag: str, /) -> None:
        """Take the end of an element."""

    def text(self, text: str, /) -> None:
        """Take text between tags."""


def parse_part(archive: Archive, name: str, reader: PartReader, *, typed: bool = False) -> bool:
    """Send a part's elements and text to the reader; False if there is no such part.

    `typed` allows it to name a document type, which is not looked up.
    """
    data = archive.part(name)
    if data is None:
        return False
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    depth = 0

    def started(element: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_NESTING:
            raise archive.broken(f"{name}: elements nested more than {MAX_NESTING} deep")
        reader.start(_local(element), {_named(key): value for key, value in attributes.items()})

    def ended(element: str) -> None:
        nonlocal depth
        depth -= 1
        reader.end(_local(element))

    def declared(_name: str, _system: str | None, _public: str | None, inside: int) -> None:
        if inside or not typed:
            raise archive.broken(f"{name}: a document type declaration, which no such file needs")

    parser.StartElementHandler = started
    parser.EndElementHandler = ended
    parser.CharacterDataHandler = reader.text
    parser.StartDoctypeDeclHandler = declared
    try:
        parser.Parse(data, True)  # noqa: FBT003 - expat's own form
    except expat.ExpatError as error:
        raise archive.broken(f"{name}: {error}") from None
    return True


def _local(name: str) -> str:
    return name.rpartition(" ")[2]


def _named(attribute: str) -> str:
    space, _, name = attribute.rpartition(" ")
    return f"r:{name}" if space.endswith(_RELATIONSHIPS) else name

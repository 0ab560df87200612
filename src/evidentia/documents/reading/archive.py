"""The inside of a DOCX: a ZIP of XML parts, neither of which is trusted.

Parts are unpacked under a limit. A document type declaration, which no Word file has and every
entity attack needs, is refused.
"""

import struct
import zipfile
import zlib
from collections.abc import Mapping
from io import BytesIO
from typing import Final, Protocol
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

Attributes = Mapping[str, str]


class Archive:
    """The parts of a DOCX, unpacked one by one within the limits."""

    def __init__(self, data: bytes, filename: str) -> None:
        self.filename = filename
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
            raise self.broken(f"{name} is packed in a way that Word does not use")
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
        return problem(
            self.filename,
            f"a broken Word file ({why}): open it in Word or LibreOffice and save it again",
        )


def part_names(data: bytes, filename: str) -> frozenset[str]:
    """Return the names of a ZIP file's parts; raise `DocumentError` if it is damaged."""
    return Archive(data, filename).names()


class PartReader(Protocol):
    """Takes a part's elements as they come by, under their local names."""

    def start(self, tag: str, attributes: Attributes, /) -> None:
        """Take the start of an element."""

    def end(self, tag: str, /) -> None:
        """Take the end of an element."""

    def text(self, text: str, /) -> None:
        """Take text between tags."""


def parse_part(archive: Archive, name: str, reader: PartReader) -> bool:
    """Send a part's elements and text to the reader; False if there is no such part."""
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
        reader.start(_local(element), {_local(key): value for key, value in attributes.items()})

    def ended(element: str) -> None:
        nonlocal depth
        depth -= 1
        reader.end(_local(element))

    def declared(*_: object) -> None:
        raise archive.broken(f"{name}: a document type declaration, which Word never writes")

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

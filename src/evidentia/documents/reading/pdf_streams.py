"""A look at a PDF before PDFium: packed streams that hold more text than any page does.

PDFium takes 300 bytes of memory for a character, and a packed stream can hold a thousand times its
size. The plain case is refused here; one that is hidden behind several filters or repeated forms
is not seen, so files from strangers are best read in a process with limits of its own.
"""

import re
import zlib
from collections.abc import Iterator
from typing import Final

from evidentia.documents.reading.contents import problem
from evidentia.documents.reading.limits import MAX_PAGE_CHARACTERS

_STREAM = re.compile(rb"(?<!end)stream\r?\n")
_HEAD_BYTES: Final = 512
"""How far before a stream its dictionary is looked for."""
_MAX_RATIO: Final = 1_032
"""What deflate can reach at most: a stream that is small enough needs no look."""
_STEP: Final = 2**14
_SHOWN = re.compile(rb"\([^()]*\)|<[0-9A-Fa-f\s]*>")
"""Text to be shown, in either way that PDF has to write it."""


def check_streams(data: bytes, filename: str) -> None:
    """Raise `DocumentError` if a stream unpacks to more text than a page may have."""
    for found in _STREAM.finditer(data):
        head = data[max(0, found.start() - _HEAD_BYTES) : found.start()].rpartition(b"obj")[2]
        if b"/Fl" not in head or b"/Image" in head:
            continue
        end = data.find(b"endstream", found.end())
        packed = data[found.end() : end if end >= 0 else len(data)]
        if len(packed) * _MAX_RATIO <= MAX_PAGE_CHARACTERS:
            continue
        if _text_bytes(packed) > MAX_PAGE_CHARACTERS:
            raise problem(
                filename,
                f"a PDF bomb: {len(packed):,} packed bytes hold more than "
                f"{MAX_PAGE_CHARACTERS:,} characters of one page; it is not opened",
            )


def _text_bytes(packed: bytes) -> int:
    """Count the bytes of text in a packed stream until they are too many; 0 for a small one."""
    size = 0
    for piece in _unpacked(packed):
        size += len(piece)
        if size > MAX_PAGE_CHARACTERS:
            break
    else:
        return 0
    text = 0
    for piece in _unpacked(packed):
        text += sum(map(len, _SHOWN.findall(piece)))
        if text > MAX_PAGE_CHARACTERS:
            break
    return text


def _unpacked(packed: bytes) -> Iterator[bytes]:
    """Give what a stream unpacks to, piece by piece, as far as it can be unpacked."""
    unpacker = zlib.decompressobj()
    try:
        for at in range(0, len(packed), _STEP):
            yield unpacker.decompress(packed[at : at + _STEP])
    except zlib.error:
        return

"""PDFs with files in them, written by hand or changed after they were made, for hostile tests."""

import io
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import md5
from typing import Any

import pypdfium2  # type: ignore[import-untyped]

from evidentia.export.pdf.provenance import EVIDENCE as EVIDENCE_FILE

_PADDING = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")


@dataclass(frozen=True, slots=True)
class Attached:
    """A file in a PDF, with what its stream's dictionary says of it, and its bytes as stored."""

    name: str
    stored: bytes
    says: bytes = b""

    @classmethod
    def packed(cls, name: str, data: bytes) -> "Attached":
        return cls(name, zlib.compress(data), b"/Filter/FlateDecode")


def by_hand(files: Sequence[Attached], *, trailer: bytes = b"", objects: bytes = b"") -> bytes:
    """Return a PDF of one empty page with files in it; `objects` stand among its own."""
    names = b"".join(b"(%d)%d 0 R" % (at, 4 + 2 * at) for at in range(len(files)))
    bodies = [
        b"<</Type/Catalog/Pages 2 0 R/Names<</EmbeddedFiles<</Names[%s]>>>>>>" % names,
        b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>",
    ]
    for file in files:
        name = b"<FEFF%s>" % file.name.encode("utf-16-be", "surrogatepass").hex().encode()
        bodies += [
            b"<</Type/Filespec/F%s/UF%s/EF<</F %d 0 R>>>>" % (name, name, len(bodies) + 2),
            b"<</Type/EmbeddedFile/Length %d%s>>\nstream\n%s\nendstream"
            % (len(file.stored), file.says, file.stored),
        ]
    data = bytearray(b"%PDF-1.7\n")
    places = []
    for number, body in enumerate(bodies, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    data += objects
    table = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(bodies) + 1)
    data += b"".join(b"%010d 00000 n \n" % place for place in places)
    data += b"trailer\n<</Size %d/Root 1 0 R%s>>\n" % (len(bodies) + 1, trailer)
    return bytes(data) + b"startxref\n%d\n%%%%EOF\n" % table


def encryption_that_opens() -> bytes:
    """Return the trailer of a PDF that is encrypted, and that everyone can open."""
    owner, document = bytes(32), bytes(16)
    key = md5(_PADDING + owner + (0xFFFFFFFC).to_bytes(4, "little") + document).digest()[:5]
    user = _rc4(key, _PADDING)
    entries = b"/Filter/Standard/V 1/R 2/P -4/O<%s>/U<%s>"
    encrypt = entries % (owner.hex().encode(), user.hex().encode())
    return b"/ID[<%s><%s>]/Encrypt<<%s>>" % (*[document.hex().encode()] * 2, encrypt)


def _rc4(key: bytes, data: bytes) -> bytes:
    state = list(range(256))
    j = 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out = bytearray()
    i = j = 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


def saved(pdf: bytes, change: Callable[[Any], None]) -> bytes:
    """Return a PDF as another program saves it, after a change to the opened document."""
    document = pypdfium2.PdfDocument(pdf)
    change(document)
    written = io.BytesIO()
    document.save(written)
    document.close()
    return written.getvalue()


def with_evidence(pdf: bytes, evidence: bytes) -> bytes:
    """Return the same pages with other evidence embedded."""

    def change(document: Any) -> None:
        for at in range(document.count_attachments()):
            if document.get_attachment(at).get_name() == EVIDENCE_FILE:
                document.get_attachment(at).set_data(evidence)

    return saved(pdf, change)


def with_page(pdf: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """Return a PDF with one content stream changed in place, and all that is around it kept.

    The changed stream is padded with white space to the length of the old one, so that every
    offset of the file still holds.
    """
    for found in re.finditer(rb"/Length (\d+)/Filter/FlateDecode>>\nstream\n", pdf):
        start, length = found.end(), int(found[1])
        content = zlib.decompress(pdf[start : start + length])
        changed = change(content)
        packed = zlib.compress(changed, 9)
        if changed != content and len(packed) <= length:
            return pdf[:start] + packed.ljust(length, b"\n") + pdf[start + length :]
    raise AssertionError("no content stream could be changed")


def updated(pdf: bytes, body: bytes) -> bytes:
    """Return a PDF with an incremental update that adds an object."""
    size = int(re.findall(rb"/Size (\d+)", pdf)[-1])
    root = re.findall(rb"/Root (\d+ \d+ R)", pdf)[-1]
    before = int(re.findall(rb"startxref\s+(\d+)", pdf)[-1])
    added = pdf + b"\n"
    place = len(added)
    added += b"%d 0 obj\n%s\nendobj\n" % (size, body)
    table = len(added)
    added += b"xref\n%d 1\n%010d 00000 n \n" % (size, place)
    added += b"trailer\n<</Size %d/Root %s/Prev %d>>\n" % (size + 1, root, before)
    return added + b"startxref\n%d\n%%%%EOF\n" % table

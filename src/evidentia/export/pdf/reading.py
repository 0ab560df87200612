"""Reading a PDF as a stranger's: the files that are in it, and whether it is what they give.

The printed pages are made of the embedded evidence and nothing else, and the same evidence gives
the same bytes. So the evidence is verified as any other, and then a PDF is made of it again: that
is the same file to the last byte, or somebody changed the file.
"""

import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from ctypes import c_char, c_ulong
from dataclasses import dataclass, replace
from typing import Any, Final

import pypdfium2  # type: ignore[import-untyped]
from pypdfium2 import raw as pdfium

from evidentia.canonical import canonical_json, parse_json
from evidentia.documents.reading.pdf import PDFIUM
from evidentia.errors import CanonicalError, EvidentiaError, InputError
from evidentia.export.pdf.provenance import EVIDENCE as EVIDENCE_FILE
from evidentia.export.pdf.provenance import RENDERING as RENDERING_FILE
from evidentia.export.pdf.rendering import (
    FORMAT,
    FORMAT_VERSION,
    Language,
    Printed,
    Typeface,
    Verify,
    render,
    rendering_bytes,
)
from evidentia.language.counting import counted
from evidentia.packs.verification import FILE, written
from evidentia.proof.document import MAX_PROOF_BYTES, Proof
from evidentia.proof.foreign import no_evidence
from evidentia.proof.keys import TrustedKey
from evidentia.proof.verification import RENDERING, Check, ProofReport, Verdict

MAX_PDF_BYTES: Final = 2 * MAX_PROOF_BYTES
MAX_EMBEDDED_FILES: Final = 64
MAX_NAME_BYTES: Final = 2_048
MAX_STREAMS: Final = 100_000
MAX_UNPACKED_BYTES: Final = 4 * MAX_PROOF_BYTES
"""What all streams of a file unpack to; the evidence is the largest of them by far."""
WHAT_A_PDF_CANNOT_SHOW: Final = (
    "whether a printout, a picture or another copy of these pages is the same: only this file "
    "proves itself"
)

_HEADER: Final = b"%PDF-"
_HEADER_WITHIN: Final = 1_024
_STREAM = re.compile(rb"(?P<end>endstream)|stream(?:\r\n|\r|\n)")
_HEAD_BYTES: Final = 4_096
"""How far before a stream its dictionary is looked for."""
_OBJECT_END = re.compile(rb"endobj|endstream")
_ESCAPED = re.compile(rb"#([0-9A-Fa-f]{2})")
_FILTER = re.compile(rb"/Filter(?![A-Za-z])")
_ONE_FILTER = re.compile(
    rb"\s*(?:\[\s*/(?:Flate|DCT)Decode\s*\]|/(?:Flate|DCT)Decode(?=[\s/>]|\Z))"
)
_STEP: Final = 2**16
_FIELDS: Final = frozenset({"format", "v", "lang", "typeface", "typst", "template"})


VerifyBy = Callable[[bytes, Iterable[TrustedKey]], ProofReport]
"""Verifies evidence by the keys that a caller trusts."""


@dataclass(frozen=True, slots=True)
class _Rendering:
    """What `rendering.json` says."""

    lang: Language
    typeface: Typeface
    typst: str
    template: str


def is_pdf(data: bytes) -> bool:
    """Whether bytes claim to be a PDF; it may be a broken one."""
    return _HEADER in data[:_HEADER_WITHIN]


def embedded(pdf: bytes) -> dict[str, bytes]:
    """Return the files that are embedded in a PDF, by their names.

    Raises `InputError` for what is no PDF, is encrypted or broken, has two files of one name, or
    would unpack to more than is read.
    """
    if not is_pdf(pdf):
        raise InputError(no_evidence("it does not begin as a PDF does"))
    if len(pdf) > MAX_PDF_BYTES:
        raise InputError(f"the PDF is larger than the {MAX_PDF_BYTES:,} bytes that are read")
    _check_streams(pdf)
    with PDFIUM:
        try:
            document = pypdfium2.PdfDocument(pdf)
        except pypdfium2.PdfiumError as error:
            raise _unopened(error) from None
        try:
            return _files(document)
        except pypdfium2.PdfiumError:
            raise InputError("a broken PDF: what is embedded in it cannot be read") from None
        finally:
            document.close()


def verify_pdf(
    pdf: bytes, keys: Iterable[TrustedKey], *, verify: VerifyBy, printed: Printed
) -> ProofReport:
    """Verify a PDF from its bytes and the public keys that the caller trusts.

    The report is that of the embedded evidence, as `verify` gives it, with checks of what is
    embedded and of the pages. Whatever the bytes are, the answer is a report, never an exception.
    """
    try:
        files = embedded(pdf)
        evidence = _evidence(files)
    except InputError as error:
        return ProofReport((Check("format", holds=False, says=str(error)),))
    report = verify(evidence, keys)
    if not any(check.name == FILE for check in report.checks) and report.entry is not None:
        report = replace(report, checks=(*report.checks, _form(evidence)))
    report = replace(report, checks=(*report.checks, _embedded_check(files, report)))
    check = _pages(pdf, files, report, lambda data: verify(data, ()), printed)
    return replace(
        report,
        checks=(*report.checks, check),
        cannot_know=(*report.cannot_know, WHAT_A_PDF_CANNOT_SHOW),
    )


# Reading


def _unopened(error: Any) -> InputError:
    if error.err_code in {pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY}:
        return InputError("the PDF is encrypted: Evidentia makes none that are")
    return InputError("a broken PDF: it is cut short, or was damaged on its way")


def _files(document: Any) -> dict[str, bytes]:
    if pdfium.FPDF_GetSecurityHandlerRevision(document.raw) != -1:
        raise InputError("the PDF is encrypted: Evidentia makes none that are")
    count = int(pdfium.FPDFDoc_GetAttachmentCount(document.raw))
    if count > MAX_EMBEDDED_FILES:
        raise InputError(
            f"{count:,} files are embedded in the PDF, {MAX_EMBEDDED_FILES} are read at most"
        )
    files: dict[str, bytes] = {}
    for index in range(count):
        file = document.get_attachment(index)
        name = _name(file)
        if name in files:
            raise InputError(
                f"the PDF has {name!r} in it twice: readers may take either, so neither is believed"
            )
        files[name] = _data(file, name)
    return files


def _name(file: Any) -> str:
    if pdfium.FPDFAttachment_GetName(file.raw, None, 0) > MAX_NAME_BYTES:
        raise InputError("the name of a file in the PDF is too long")
    try:
        name: str = file.get_name()
    except UnicodeDecodeError:
        raise InputError("the name of a file in the PDF is no text") from None
    return name


def _data(file: Any, name: str) -> bytes:
    size = c_ulong()
    pdfium.FPDFAttachment_GetFile(file.raw, None, 0, size)
    length = size.value
    if length > MAX_PROOF_BYTES:
        raise InputError(
            f"{name!r} in the PDF has {length:,} bytes, {MAX_PROOF_BYTES:,} are read at most"
        )
    if not length:
        return b""
    buffer = (c_char * length)()
    if not pdfium.FPDFAttachment_GetFile(file.raw, buffer, length, size):
        raise InputError(f"{name!r} in the PDF cannot be read: it was damaged")
    return buffer.raw[: size.value]


def _check_streams(pdf: bytes) -> None:
    """Raise `InputError` for packed streams that PDFium would fill the memory with.

    A stream with one filter, as Evidentia writes it, is unpacked here first, step by step, and
    several filters are refused. A dictionary that hides from a plain look is not seen, so a
    service that verifies strangers' files should limit the memory of the process that does.
    """
    room = MAX_UNPACKED_BYTES
    starts: list[int] = []
    count = 0
    for found in _STREAM.finditer(pdf):
        if not found["end"]:
            count += 1
            if count > MAX_STREAMS:
                raise InputError(f"the PDF has more than {MAX_STREAMS:,} streams: not opened")
            _check_filter(pdf, found.start())
            starts.append(found.end())
            continue
        for start in starts:
            room -= _unpacked(pdf, start, found.start(), room)
        starts.clear()
    for start in starts:
        room -= _unpacked(pdf, start, len(pdf), room)


def _check_filter(pdf: bytes, at: int) -> None:
    head = pdf[max(0, at - _HEAD_BYTES) : at]
    ends = [found.end() for found in _OBJECT_END.finditer(head)]
    plain = _ESCAPED.sub(_unescaped, head[ends[-1] if ends else 0 :])
    for named in _FILTER.finditer(plain):
        if not _ONE_FILTER.match(plain, named.end()):
            raise InputError("the PDF is packed in a way that Evidentia does not: not opened")


def _unescaped(found: re.Match[bytes]) -> bytes:
    return bytes([int(found[1], 16)])


def _unpacked(pdf: bytes, start: int, end: int, room: int) -> int:
    """Return what a stream takes to unpack, and raise `InputError` if that is more than room."""
    unpacker = zlib.decompressobj()
    size = 0
    try:
        for at in range(start, end, _STEP):
            piece = pdf[at : min(end, at + _STEP)]
            while piece and not unpacker.eof:
                size += len(unpacker.decompress(piece, _STEP)) + len(piece)
                size -= len(unpacker.unconsumed_tail)
                piece = unpacker.unconsumed_tail
                if size > room:
                    raise InputError(
                        f"a PDF bomb: it unpacks to more than {MAX_UNPACKED_BYTES:,} bytes; it is "
                        "not opened"
                    )
            if unpacker.eof:
                break
    except zlib.error:
        pass  # not packed, or broken: PDFium stops there too
    return size


# Verifying


def _evidence(files: Mapping[str, bytes]) -> bytes:
    try:
        return files[EVIDENCE_FILE]
    except KeyError:
        says = (
            f"the PDF has no {EVIDENCE_FILE} in it, so it was not made by Evidentia, or was saved "
            "or printed to a new file since"
        )
        raise InputError(no_evidence(says)) from None


def _form(evidence: bytes) -> Check:
    """Check that the evidence is written in the one form that it has in a PDF."""
    try:
        same = evidence == written(parse_json(evidence))
    except CanonicalError:
        same = False
    if same:
        return Check("file", holds=True, says="the evidence is unchanged since export")
    return Check("file", holds=False, says="the evidence was changed since export")


def _embedded_check(files: Mapping[str, bytes], report: ProofReport) -> Check:
    """Check that nothing is embedded but what belongs there."""
    if RENDERING_FILE not in files:
        says = f"the PDF has no {RENDERING_FILE} in it, which says how its pages were made"
        return Check("embedded", holds=False, says=says)
    attached = _attached(files[EVIDENCE_FILE]) if report.entry else {}
    for name, data in files.items():
        if name not in {EVIDENCE_FILE, RENDERING_FILE} and attached.get(name) != data:
            says = f"{name!r} is embedded in the PDF, and the evidence does not have that file"
            return Check("embedded", holds=False, says=says)
    size = counted(len(files[EVIDENCE_FILE]), "byte")
    says = f"{EVIDENCE_FILE}, {size}, and {RENDERING_FILE} are in the PDF, each once"
    return Check("embedded", holds=True, says=says)


def _attached(evidence: bytes) -> dict[str, bytes]:
    return dict(Proof.parse(evidence).attachments)


def _pages(
    pdf: bytes,
    files: Mapping[str, bytes],
    report: ProofReport,
    verify: Verify,
    printed: Printed,
) -> Check:
    """Make the PDF again of its evidence, and compare."""
    if report.verdict is Verdict.DOES_NOT_HOLD:
        return _undecided("another check failed, so the pages were not compared with the evidence")
    try:
        if report.statement is None:
            raise InputError("it has no statement")
        printed(Proof.parse(files[EVIDENCE_FILE]), report.statement)
    except EvidentiaError:
        says = "the evidence is of no pack and no ledger, and pages are made of nothing else"
        return Check(RENDERING, holds=False, says=says)
    try:
        told = _rendering(files[RENDERING_FILE])
    except InputError as error:
        return Check(RENDERING, holds=False, says=str(error))

    def made(evidence: bytes) -> bytes:
        return render(
            evidence, verify=verify, printed=printed, lang=told.lang, typeface=told.typeface
        )

    return _compared(pdf, files[EVIDENCE_FILE], told, made)


def _compared(
    pdf: bytes, evidence: bytes, told: _Rendering, make: Callable[[bytes], bytes]
) -> Check:
    try:
        made = make(evidence)
    except EvidentiaError as error:
        return _undecided(f"the pages were not compared with the evidence: {error}")
    if made == pdf:
        says = "the pages are the ones that the evidence gives: made again, the file is the same"
        return Check(RENDERING, holds=True, says=says)
    ours = _rendering(rendering_bytes(told.lang, told.typeface))
    if ours != told:
        return _undecided(
            f"the pages were altered, or made by another version (Typst {told.typst[:20]!r}, "
            f"templates {told.template[:12]!r}; here {ours.typst!r} and {ours.template[:12]!r}): "
            "verify with the version that made the file"
        )
    return Check(RENDERING, holds=False, says=_difference(pdf, made))


def _undecided(says: str) -> Check:
    return Check(RENDERING, holds=None, says=says)


def _difference(pdf: bytes, made: bytes) -> str:
    """Say how a file differs from the one that its evidence gives."""
    if pdf.startswith(made):
        were = counted(len(pdf) - len(made), "byte was", "bytes were")
        return f"{were} added behind the file's end after it was made, which can change all of it"
    if made.startswith(pdf):
        return f"the file is cut short: it has {len(pdf):,} bytes, and {len(made):,} were made"
    first = next((at for at, (a, b) in enumerate(zip(pdf, made, strict=False)) if a != b), 0)
    return (
        "the pages, or the file around them, were altered or saved anew: this is not the file that "
        "its evidence gives "
        f"(they differ from byte {first:,} on)"
    )


def _rendering(data: bytes) -> _Rendering:
    """Read `rendering.json`; raise `InputError` if it is none."""
    try:
        value = parse_json(data)
        if canonical_json(value) != data.removesuffix(b"\n"):
            raise InputError(f"{RENDERING_FILE} is not written as Evidentia writes it")
    except CanonicalError as error:
        raise InputError(f"{RENDERING_FILE} cannot be read: {error}") from None
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise InputError(f"{RENDERING_FILE} does not say how the pages were made")
    version = value.get("v")
    if type(version) is int and version > FORMAT_VERSION:
        raise InputError(
            f"{RENDERING_FILE} has version {version}, this program reads {FORMAT_VERSION}: upgrade "
            "evidentia"
        )
    match value:
        case {
            "lang": "ar" | "en" | "both" as lang,
            "typeface": "plex" | "amiri" as typeface,
            "typst": str(typst),
            "template": str(template),
        } if value.keys() == _FIELDS and (type(version), version) == (int, FORMAT_VERSION):
            return _Rendering(lang, typeface, typst, template)
    raise InputError(f"{RENDERING_FILE} does not say how the pages were made")

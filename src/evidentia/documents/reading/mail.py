"""E-mail (EML): who wrote to whom, when and about what, and each text of the message as a part.

Of a text in several forms, the last that is read counts, which is the one that mail programs show.
A message that is attached is read with its own parts; other attachments are left out, and it is
said. Nothing is fetched.
"""

import email
import re
from collections.abc import Iterator
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.message import Message
from email.utils import parsedate_to_datetime
from typing import Final

from evidentia.documents.model import Heading, Page
from evidentia.documents.reading.contents import Contents, problem, shown_name
from evidentia.documents.reading.html import CODECS, read_html_text
from evidentia.documents.reading.limits import (
    MAX_HEADER_CHARACTERS,
    MAX_HEADING_CHARACTERS,
    MAX_MESSAGE_DEPTH,
    MAX_MESSAGE_PARTS,
)
from evidentia.documents.reading.text import is_binary
from evidentia.errors import DocumentError
from evidentia.language.counting import counted

_HEADERS: Final = ("From", "To", "Cc", "Date", "Subject")
_TEXTS: Final = frozenset({"text/plain", "text/html"})
_ALTERNATIVE: Final = "multipart/alternative"
_MESSAGE: Final = "message/rfc822"
_SIGNATURES: Final = frozenset({"application/pgp-signature", "application/pkcs7-signature"})
_NAMED: Final = 5
"""How many attachments are named before the others are counted."""
_LINE_END = re.compile(r"\r\n?")


def read_mail(data: bytes, filename: str) -> Contents:
    """Read a message; `DocumentError` if it is none, is encrypted, or is made to do harm."""
    try:
        message = email.message_from_bytes(data)
    except RecursionError:
        raise _too_deep(filename) from None
    if not any(_header(message, name) for name in _HEADERS):
        raise problem(filename, "not an e-mail: it has no From, To, Date or Subject")
    reader = _Reader(filename)
    reader.read(message, 1)
    if not reader.texts:
        raise problem(
            filename,
            "an e-mail without a text that can be read: it is encrypted, or made of attachments",
        )
    return Contents(
        pages=tuple(reader.pages),
        headings=tuple(reader.headings),
        title=_header(message, "Subject") or None,
        created=_date(message),
        warnings=tuple(_left_out(reader.attachments)),
    )


class _Reader:
    """Writes the texts of a message, and of those within it, as pages."""

    def __init__(self, filename: str) -> None:
        self.pages: list[Page] = []
        self.headings: list[Heading] = []
        self.attachments: list[str] = []
        self.texts = 0
        self._filename = filename
        self._parts = 0

    def read(self, message: Message, depth: int) -> None:
        """Write a message: its headers before its first text, then its further parts."""
        if depth > MAX_MESSAGE_DEPTH:
            raise _too_deep(self._filename)
        said = [(name, _header(message, name)) for name in _HEADERS]
        lead = "\n".join(f"{name}: {value}" for name, value in said if value)
        subject = _header(message, "Subject")
        for part in self._read_parts(message):
            if part.get_content_maintype() == "message":
                if lead:
                    self._add(lead, (), subject)
                    lead = ""
                self.read(_inner(part)[0], depth + 1)
                continue
            self.texts += 1
            text, headings = self._text(part)
            before = f"{lead}\n\n" if lead else ""
            self._add(before + text, headings, subject, len(before))
            lead = ""
        if lead:
            self._add(lead, (), subject)

    def _read_parts(self, part: Message) -> Iterator[Message]:
        """Give the texts of a message and the messages in it, in order, without recursion."""
        waiting = [part]
        while waiting:
            part = waiting.pop()
            self._parts += 1
            if self._parts > MAX_MESSAGE_PARTS:
                raise problem(self._filename, f"more than {MAX_MESSAGE_PARTS:,} parts of a message")
            kind = part.get_content_type()
            if part.is_multipart() and kind.startswith("multipart/"):
                inner = _inner(part)
                waiting += _chosen(inner) if kind == _ALTERNATIVE else reversed(inner)
            elif (kind in _TEXTS and part.get_content_disposition() != "attachment") or (
                kind == _MESSAGE and part.is_multipart()
            ):
                yield part
            elif kind not in _SIGNATURES:
                name = _decoded(part.get_filename() or "") or kind
                self.attachments.append(shown_name(" ".join(name.split())))

    def _text(self, part: Message) -> tuple[str, tuple[Heading, ...]]:
        payload = part.get_payload(decode=True)
        data = payload if isinstance(payload, bytes) else b""
        label = (part.get_content_charset() or "utf-8").lower()
        where = f"part {len(self.pages) + 1}"
        try:
            text = data.decode(CODECS.get(label, "utf-8"))
        except UnicodeDecodeError as error:
            raise problem(
                self._filename,
                f"{where} says that it is {label[:40]} and is not (byte 0x{data[error.start]:02X} "
                f"at position {error.start:,}): save the message again from a mail program",
            ) from None
        if part.get_content_type() == "text/html":
            found = read_html_text(text, self._filename)
            return found.pages[0].text, found.headings
        if is_binary(text):
            raise problem(self._filename, f"{where} is no text: it has control characters")
        return _LINE_END.sub("\n", text).strip(), ()

    def _add(self, text: str, headings: tuple[Heading, ...], subject: str, moved: int = 0) -> None:
        number = len(self.pages) + 1
        called = (
            f"{subject[:MAX_HEADING_CHARACTERS]}, part {number}" if subject else f"Part {number}"
        )
        self.pages.append(Page(number, text))
        self.headings.append(Heading(1, called, number, 0, written=False))
        self.headings += [
            Heading(heading.level + 1, heading.text, number, heading.start + moved)
            for heading in headings
        ]


def _inner(part: Message) -> list[Message]:
    """Return the parts that a part is made of."""
    payload = part.get_payload()
    return [inner for inner in payload if isinstance(inner, Message)]


def _chosen(parts: list[Message]) -> list[Message]:
    """Return the last of several forms that is read, for it is the one that is shown."""
    readable = [
        part
        for part in parts
        if part.get_content_type() in _TEXTS or part.get_content_maintype() == "multipart"
    ]
    return readable[-1:]


def _header(message: Message, name: str) -> str:
    """Return what a header says; of one longer than any, the beginning."""
    value = message.get(name)
    return "" if value is None else " ".join(_decoded(str(value)).split())


def _decoded(value: str) -> str:
    cut = value[:MAX_HEADER_CHARACTERS]
    try:
        return str(make_header(decode_header(cut)))
    except (HeaderParseError, LookupError, ValueError):
        return cut


def _date(message: Message) -> str | None:
    try:
        return parsedate_to_datetime(_header(message, "Date")).date().isoformat()
    except (TypeError, ValueError, OverflowError, IndexError):
        return None


def _left_out(names: list[str]) -> Iterator[str]:
    if names:
        attachments = counted(len(names), "attachment is", "attachments are")
        more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        named = ", ".join(names[:_NAMED])
        yield f"{attachments} left out, save what matters as a file: {named}{more}"


def _too_deep(filename: str) -> DocumentError:
    return problem(
        filename, f"messages within messages, more than {MAX_MESSAGE_DEPTH} deep: it is not opened"
    )

"""The shapes in which HTTP responses are recorded: plain JSON, HAR, and the message itself.

What is given back here still has its secrets: `responses` replaces them. No error quotes a value.
"""

import base64
import re
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from evidentia.bundles.texts import (
    JsonNumber,
    decode_text,
    json_text,
    parse_recorded_json,
    problem,
)
from evidentia.canonical import sha256_hex
from evidentia.documents.reading.text import is_binary, marked_encoding
from evidentia.language.counting import counted

MAX_UNPACKED: Final = 50_000_000
"""How many bytes a packed body may unpack to."""
_BREAK: Final = rb"(?:\r\n|\n|\r(?!\n))"
_LINE_BREAK = re.compile(_BREAK)
_HEAD_END = re.compile(_BREAK + rb"{2}")
_STATUS_LINE = re.compile(
    rb"HTTP/\d(?:\.\d)?[ \t]+(\d{3})(?:[ \t]([^\r\n]*))?(?=[\r\n]|\Z)", re.IGNORECASE
)
_CHUNK_SIZE = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?(?:\r?\n|\Z)")
_CHUNK_END = re.compile(rb"\r?\n")
_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([^\s;\"']+)", re.IGNORECASE)
_KNOWN_CHARSET = re.compile(
    r"utf-?8|utf-?(?:16|32)-?[lb]e|(?:us-)?ascii|iso-?8859-?\d{1,2}|latin-?\d|"
    r"windows-?\d{3,4}|cp-?\d{3,5}|koi8-[ru]|shift[-_]jis|sjis|euc-(?:jp|kr)|iso-2022-(?:jp|kr)|"
    r"gb2312|gbk|gb18030|big5(?:-hkscs)?|tis-620|mac-?roman",
    re.IGNORECASE,
)
"""The labels that are looked up: Python's other codecs are no encodings of text, or slow."""
_GZIP: Final = b"\x1f\x8b"
_PADDING: Final = b"\x00 \t\r\n"
_WITH_GZIP_HEAD, _WITH_ZLIB_HEAD, _WITHOUT_HEAD = 31, 15, -15
_MAX_GZIP_MEMBERS: Final = 100
"""How many packed parts in a row are read: each costs a copy of all that follow."""
_STATUSES: Final = range(100, 1000)
_NO_STATUS: Final = JsonNumber("0")
_WANTED: Final = (
    'record it as {"status": 200, "headers": {…}, "body": "…"}, as a HAR entry, '
    "or as the message that `curl -i` prints"
)


@dataclass(frozen=True, slots=True, repr=False)
class RecordedResponse:
    """A response as it was recorded, secrets and all: its `repr` shows nothing of it.

    Without a `status`, none came.
    """

    status: int | None
    reason: str
    headers: tuple[tuple[str, str], ...]
    body: str
    body_note: str | None = None
    url: str | None = None
    method: str | None = None
    fetched_at: str | None = None


def read_recorded(data: bytes, name: str) -> list[RecordedResponse]:
    """Read a response in any of the shapes, or each of a HAR log, in order.

    Raises `InputError` for whatever is none of them.
    """
    message = data.removeprefix(BOM_UTF8).lstrip()
    if _STATUS_LINE.match(message):
        return [_read_message(message, name)]
    text = decode_text(data, name).lstrip()
    if not text.startswith("{"):
        raise problem(name, f"not a recorded HTTP response: {_WANTED}")
    value: dict[str, Any] = parse_recorded_json(text, name)
    if "log" in value:
        return _read_log(value["log"], name)
    return [_read_har(value, name) if "response" in value else _read_object(value, name)]


def _read_log(log: Any, name: str) -> list[RecordedResponse]:
    entries = log.get("entries") if isinstance(log, dict) else None
    if not entries or not isinstance(entries, list):
        raise problem(name, "the HAR log has no entries: record at least one response")
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, dict):
            raise problem(name, f"entry {number} of the HAR log must be an object")
    return [_read_har(entry, f"{name}, entry {n:,}") for n, entry in enumerate(entries, 1)]


def _read_object(value: dict[str, Any], name: str) -> RecordedResponse:
    """Read `{"status", "headers", "body" …}`, under the names that HTTP clients give them."""
    headers = _headers(value.get("headers"), name)
    present = [
        key for key in ("body", "text", "content", "body_base64") if value.get(key) is not None
    ]
    if len(present) > 1:
        raise problem(name, f"has both `{present[0]}` and `{present[1]}`: keep one of them")
    body, note = "", None
    for key in present:
        found = value[key]
        if key == "body_base64":
            body, note = _unpacked_body(_base64(found, name), headers, name)
        else:
            body = found if _is_text(found) else json_text(found, name)
    status = value["status"] if "status" in value else value.get("status_code")
    return RecordedResponse(
        _status(status, name),
        _text(value, ("reason", "statusText"), name) or "",
        headers,
        body,
        note,
        _text(value, ("url",), name),
        _text(value, ("method",), name),
        _text(value, ("fetched_at",), name),
    )


def _read_har(entry: dict[str, Any], name: str) -> RecordedResponse:
    """Read an entry of a HAR file; of its request only the method and the address are read.

    Browsers give status 0 to a request that failed or was blocked.
    """
    request, response = entry.get("request", {}), entry.get("response", {"status": _NO_STATUS})
    if not isinstance(request, dict) or not isinstance(response, dict):
        raise problem(name, "`request` and `response` of a HAR entry must be objects")
    headers = _headers(response.get("headers"), name)
    content = response.get("content", {})
    if not isinstance(content, dict):
        raise problem(name, "`content` of a HAR response must be an object with its `text`")
    text = _text(content, ("text",), name)
    body, note = text or "", None
    if text and content.get("encoding") == "base64":
        kind = _text(content, ("mimeType",), name) or header_value(headers, "content-type")
        body, note = _shown(_base64(text, name), kind, "")
    elif text is None and str(content.get("size", "0")) not in {"0", "-1", "None"}:
        note = "the body was not recorded"
    came = response.get("status") != _NO_STATUS
    if not came:
        body, note = "", "no response was recorded"
    return RecordedResponse(
        _status(response.get("status"), name) if came else None,
        _text(response, ("statusText",), name) or "",
        headers,
        body,
        note,
        _text(request, ("url",), name),
        _text(request, ("method",), name),
        _text(entry, ("startedDateTime",), name),
    )


def _read_message(data: bytes, name: str) -> RecordedResponse:
    """Read a message; heads before the last one, of redirects and proxies, are only counted."""
    count, at = 0, 0
    status, reason, head = b"", b"", b""
    while (line := _STATUS_LINE.match(data, at)) is not None:
        count += 1
        status, reason = line[1], line[2] or b""
        ended = _HEAD_END.search(data, line.end())
        head = data[line.end() : ended.start() if ended else len(data)]
        at = ended.end() if ended else len(data)
    headers = tuple(_parsed_headers(head, name))
    body = data[at:]
    if "chunked" in header_value(headers, "transfer-encoding").lower():
        body = _unchunked(body, name)
    shown, note = _unpacked_body(body, headers, name)
    notes = [note] if note else []
    if count > 1:
        notes.append(f"the heads of {count - 1} earlier responses in the recording are not shown")
    return RecordedResponse(
        _status(JsonNumber(status.decode()), name),
        _header_text(reason),
        headers,
        shown,
        "; ".join(notes) or None,
    )


def header_value(headers: tuple[tuple[str, str], ...], wanted: str) -> str:
    """Return a header's values as one, joined by commas; nothing if there is none."""
    return ", ".join(value for name, value in headers if name.strip().lower() == wanted)


def _parsed_headers(head: bytes, name: str) -> Iterator[tuple[str, str]]:
    """Give the headers of a message's head; a line that begins with space goes on the last one."""
    found: list[tuple[str, list[str]]] = []
    for number, line in enumerate(_LINE_BREAK.split(head)[1:], 2):
        if not line.strip():
            continue
        title, colon, value = line.partition(b":")
        if line[:1] in {b" ", b"\t"} and found:
            found[-1][1].append(_header_text(line))
        elif colon and title.strip():
            found.append((_header_text(title), [_header_text(value)]))
        else:
            raise problem(name, f"line {number} is no header: each must read `Name: value`")
    for title, values in found:
        yield title, " ".join(value for value in values if value)


def _header_text(line: bytes) -> str:
    """Return what stands in a head: bytes that are not UTF-8 are escaped, none is guessed."""
    return line.decode("utf-8", "backslashreplace").strip()


def _headers(value: Any, name: str) -> tuple[tuple[str, str], ...]:
    """Return the headers of an object, of a list of pairs, or of a list of names and values."""
    pairs: list[tuple[Any, Any]]
    if value is None:
        pairs = []
    elif isinstance(value, dict):
        pairs = list(value.items())
    elif isinstance(value, list):
        pairs = [_pair(item, number, name) for number, item in enumerate(value, 1)]
    else:
        raise problem(name, "`headers` must be an object or a list of [name, value] pairs")
    headers = []
    for number, (title, values) in enumerate(pairs, 1):
        for each in values if isinstance(values, list) else [values]:
            if not _is_text(title) or not isinstance(each, str):
                raise problem(name, f"header {number} must have a name and a value that are text")
            headers.append((title, str(each)))
    return tuple(headers)


def _pair(item: Any, number: int, name: str) -> tuple[Any, Any]:
    match item:
        case [title, value]:
            return title, value
        case {"name": title, "value": value}:
            return title, value
    raise problem(name, f"header {number} must be a [name, value] pair")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not isinstance(value, JsonNumber)


def _text(value: dict[str, Any], keys: tuple[str, ...], name: str) -> str | None:
    """Return the text under the first of the keys that is there; a number is text too."""
    for key in keys:
        found = value.get(key)
        if isinstance(found, str):
            return str(found)
        if found is not None:
            raise problem(name, f"`{key}` must be text")
    return None


def _status(value: Any, name: str) -> int:
    """Return a status code; it may be written as text."""
    digits = value if isinstance(value, str) and re.fullmatch(r"[0-9]{3}", value) else "0"
    if int(digits) not in _STATUSES:
        raise problem(name, f"`status` must be a number from 100 to 999: {_WANTED}")
    return int(digits)


def _base64(value: Any, name: str) -> bytes:
    try:
        return base64.b64decode("".join(value.split()) if _is_text(value) else b"?", validate=True)
    except ValueError:
        raise problem(name, "the body is not Base64: record it again") from None


def _unpacked_body(
    data: bytes, headers: tuple[tuple[str, str], ...], name: str
) -> tuple[str, str | None]:
    """Return a body's text, unpacked, or why it is not shown.

    A body that does not look packed was unpacked when it was recorded, and is left as it is.
    """
    unknown = ""
    codings = header_value(headers, "content-encoding").lower().split(",")
    for coding in reversed([each.strip() for each in codings]):
        if coding in {"gzip", "x-gzip"} and data.startswith(_GZIP):
            data = _gunzipped(data, name)
        elif coding == "deflate":
            data = _inflated_body(data, name)
        elif coding not in {"", "gzip", "x-gzip", "identity"}:
            unknown = ", packed"
    return _shown(data, header_value(headers, "content-type"), unknown)


def _shown(data: bytes, media_type: str, packed: str) -> tuple[str, str | None]:
    """Return bytes as text in the encoding that is declared, or a note that stands for them."""
    declared = _CHARSET.search(media_type)
    marked = marked_encoding(data)
    encodings = ["utf-8"]
    if marked:
        encodings = [marked[0]]
    elif declared and _KNOWN_CHARSET.fullmatch(declared[1]):
        encodings = [declared[1], "utf-8"]
    for encoding in encodings:
        try:
            text = data.decode(encoding)
        except (UnicodeError, LookupError):
            continue
        if not is_binary(text):
            return text, None
    kind = re.match(r"\s*[\w.+-]{1,60}/[\w.+-]{1,60}(?![^\s;,])", media_type)
    shown_kind = kind[0].strip() if kind else "of no known type"
    size = f"{len(data):,} bytes ({shown_kind}{packed})"
    return "", f"binary body of {size}, sha256 {sha256_hex(data)}, not shown"


def _unchunked(data: bytes, name: str) -> bytes:
    """Return a chunked body in one; one whose first chunk is none was joined when recorded."""
    parts: list[bytes] = []
    at = 0
    while (size := _CHUNK_SIZE.match(data, at)) is not None:
        length = int(size[1], 16)
        if not length:
            return b"".join(parts)
        after = _CHUNK_END.match(data, size.end() + length)
        if after is None:
            break
        parts.append(data[size.end() : after.start()])
        at = after.end()
    if not parts:
        return data
    chunks = counted(len(parts), "chunk")
    raise problem(name, f"the chunked body breaks off after {chunks}: record the response again")


def _gunzipped(data: bytes, name: str) -> bytes:
    parts: list[bytes] = []
    room = MAX_UNPACKED
    while data.startswith(_GZIP) and len(parts) < _MAX_GZIP_MEMBERS:
        unpacked = _inflated(data, _WITH_GZIP_HEAD, room, name)
        if unpacked is None:
            break
        parts.append(unpacked[0])
        room -= len(unpacked[0])
        data = unpacked[1]
    if data.strip(_PADDING):
        raise problem(name, "the gzip body is broken or cut short: record the response again")
    return b"".join(parts)


def _inflated_body(data: bytes, name: str) -> bytes:
    """Return a body packed with deflate, which has zlib's frame or none; else as it is."""
    for frame in (_WITH_ZLIB_HEAD, _WITHOUT_HEAD):
        unpacked = _inflated(data, frame, MAX_UNPACKED, name)
        if unpacked is not None and not unpacked[1].strip(_PADDING):
            return unpacked[0]
    return data


def _inflated(data: bytes, frame: int, room: int, name: str) -> tuple[bytes, bytes] | None:
    """Return what is packed and what follows it, or None if it is broken or cut short."""
    inflating = zlib.decompressobj(frame)
    try:
        unpacked = inflating.decompress(data, room + 1)
    except zlib.error:
        return None
    if len(unpacked) > room:
        raise problem(
            name, f"the body unpacks to more than {MAX_UNPACKED:,} bytes: record a smaller one"
        )
    return (unpacked, inflating.unused_data) if inflating.eof else None

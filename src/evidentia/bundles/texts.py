"""Recorded bytes as text, and recorded JSON as values that keep every digit."""

import json
from typing import Any, Final

from evidentia.canonical import MAX_DEPTH
from evidentia.documents.reading.contents import shown_name
from evidentia.documents.reading.text import decode_text as decode_document_text
from evidentia.documents.reading.text import marked_encoding
from evidentia.errors import InputError

_DOCUMENT: Final = "reference it under `documents` instead"
_UNPACK: Final = "unpack it first"
_PICTURE: Final = "give the text that is in it"
_MAGIC: Final = (
    (b"%PDF-", "a PDF file", _DOCUMENT),
    (b"PK\x03\x04", "a Word file (DOCX) or another ZIP archive", f"if a document, {_DOCUMENT}"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office file", f"save it as DOCX and {_DOCUMENT}"),
    (b"\x89PNG\r\n\x1a\n", "a PNG picture", _PICTURE),
    (b"\xff\xd8\xff", "a JPEG picture", _PICTURE),
    (b"\x1f\x8b", "a gzip archive", _UNPACK),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive", _UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    (b"Rar!\x1a\x07", "a RAR archive", _UNPACK),
    (b"SQLite format 3\x00", "a SQLite database", "give the result of a query instead"),
)
"""How files begin that are no text; none of them is a way to begin one."""


class JsonNumber(str):
    """A number as the JSON has it, digit by digit: `1.10`, `12345678901234567890`, also `NaN`."""

    __slots__ = ()


def problem(name: str, what: str) -> InputError:
    """Return the error that says what is wrong with what was recorded, and what to do."""
    return InputError(f"{shown_name(name)}: {what}")


def decode_text(data: bytes, name: str) -> str:
    """Return text of UTF-8, or UTF-16 or UTF-32 with a byte order mark, which is dropped.

    Raises `InputError`, which names the wrong byte or the kind of file, for whatever else.
    """
    for mark, kind, remedy in _MAGIC:
        if data.startswith(mark):
            raise problem(name, f"not text but {kind}: {remedy}")
    try:
        return decode_document_text(data, name)
    except InputError as error:
        zero = data.find(b"\x00")
        if zero < 0 or marked_encoding(data):
            raise
        raise InputError(
            f"{error} (a zero byte at position {zero:,}, as binary files have)"
        ) from None


def parse_recorded_json(text: str, name: str) -> Any:
    """Return the value of a JSON text, with a `JsonNumber` in place of each number.

    Raises `InputError`, which never quotes the text, for what is no JSON, nests too deep, has a
    key twice in one object or has half of a character.
    """
    try:
        value = json.loads(
            text,
            object_pairs_hook=lambda pairs: _unique_keys(pairs, name),
            parse_int=JsonNumber,
            parse_float=JsonNumber,
            parse_constant=JsonNumber,
        )
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}"
        raise problem(name, f"not JSON at {place}: correct it or record it again") from None
    except UnicodeEncodeError:
        raise problem(
            name, "has half of a character (a lone surrogate): record the bytes as Base64"
        ) from None
    except RecursionError:
        raise problem(name, "nested too deep to read: record the text of it instead") from None
    return value


def json_text(value: Any, name: str) -> str:
    """Write a value that `parse_recorded_json` gave as JSON on one line, numbers as they were."""
    return "".join(_written(value, name, 0))


def _written(value: Any, name: str, depth: int) -> list[str]:
    if isinstance(value, JsonNumber):
        return [value]
    if not isinstance(value, dict | list):
        return [json.dumps(value, ensure_ascii=False)]
    if depth >= MAX_DEPTH:
        raise problem(name, f"nested more than {MAX_DEPTH} levels deep: record the text of it")
    parts = []
    if isinstance(value, dict):
        for key, item in value.items():
            parts += [", ", json.dumps(key, ensure_ascii=False), ": "]
            parts += _written(item, name, depth + 1)
        return ["{", *parts[1:], "}"]
    for item in value:
        parts += [", ", *_written(item, name, depth + 1)]
    return ["[", *parts[1:], "]"]


def _unique_keys(pairs: list[tuple[str, Any]], name: str) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise problem(name, "an object has the same key twice: give several values as a list")
    return value

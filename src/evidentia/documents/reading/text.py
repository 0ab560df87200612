"""Plain text: kept as it is, so that an offset into the page opens the file at the same place."""

import codecs
from typing import Final

from evidentia.documents.model import Page
from evidentia.documents.reading.contents import Contents, problem
from evidentia.language.direction import SAMPLE_SIZE, detect_language

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig", "UTF-8"),
    (codecs.BOM_UTF32_LE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
)
"""Byte order marks, UTF-32's first: UTF-16's is the beginning of it."""
_GUESSES: Final[tuple[tuple[str, str, str], ...]] = (
    ("shift_jis", "SHIFT_JIS", "ja"),
    ("gb18030", "GB18030", "zh"),
    ("euc_kr", "EUC-KR", "ko"),
    ("cp1256", "WINDOWS-1256", "ar fa ur"),
    ("cp1251", "WINDOWS-1251", "ru uk bg"),
    ("cp1250", "WINDOWS-1250", "pl"),
    ("cp1254", "WINDOWS-1254", "tr"),
    ("cp1252", "WINDOWS-1252", "en fr de es it pt nl sv da"),
)
"""Encodings worth naming in an error, each with the languages that were written in it."""
_LITTLE: Final = ("utf-16-le", "UTF-16LE", "")
_BIG: Final = ("utf-16-be", "UTF-16BE", "")
"""Encodings that leave a zero byte after or before each Latin letter, space and digit."""
_CONTROLS: Final = frozenset("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x0e\x0f\x10\x11\x12\x13\x14")
_MAX_CONTROL_SHARE: Final = 0.01


def read_text(data: bytes, filename: str) -> Contents:
    """Read plain text in UTF-8, or in UTF-16 or UTF-32 with a byte order mark."""
    return Contents((Page(1, decode_text(data, filename)),))


def decode_text(data: bytes, filename: str) -> str:
    """Return the text without its byte order mark; raise `DocumentError` naming the wrong byte."""
    codec, name = marked_encoding(data) or ("utf-8", "UTF-8")
    try:
        text = data.decode(codec)
    except UnicodeDecodeError as error:
        place = f"byte 0x{data[error.start]:02X} at position {error.start:,}"
        raise problem(
            filename, f"not {name} text ({place}){_likely(data)}: save it as UTF-8"
        ) from None
    if is_binary(text):
        raise problem(
            filename, f"not a text file: it has control characters{_likely(data)}; save it as UTF-8"
        )
    return text


def marked_encoding(data: bytes) -> tuple[str, str] | None:
    """Return the codec that a byte order mark names, and its common name."""
    return next(((codec, name) for mark, codec, name in _MARKS if data.startswith(mark)), None)


def is_binary(text: str) -> bool:
    """Whether what was decoded has control characters that no text has many of."""
    if "\x00" in text:
        return True
    sample = text[:SAMPLE_SIZE]
    controls = sum(sample.count(character) for character in _CONTROLS)
    return controls > _MAX_CONTROL_SHARE * len(sample)


def _likely(data: bytes) -> str:
    """Say which encoding the bytes are likely in, as an addition to an error, if one is."""
    guesses = _GUESSES
    if b"\x00" in data:
        guesses = (_BIG if data[::2].count(0) > data[1::2].count(0) else _LITTLE,)
    for codec, name, languages in guesses:
        try:
            text = codecs.getincrementaldecoder(codec)().decode(data[:SAMPLE_SIZE])
        except UnicodeDecodeError:
            continue
        language = None if is_binary(text) else detect_language(text)
        if language and (not languages or language in languages.split()):
            return f"; it looks like {name} (iconv -f {name} -t UTF-8)"
    return ""

"""What an application retrieved, whatever its shape: the id, text and metadata of one passage."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from evidentia.canonical import MAX_SAFE_INTEGER, canonical_json
from evidentia.errors import CanonicalError, InputError
from evidentia.ledger.contexts import MAX_ID_CHARS
from evidentia.sources.adapters import Found, as_found, document_title, page_number

MAX_TITLE_CHARS: Final = 200
MAX_METADATA_BYTES: Final = 16 * 2**10
"""How much metadata is kept of a passage, as canonical JSON."""
MAX_METADATA_KEYS: Final = 1_000
_LONGEST_KEY: Final = 100
_TEXTS: Final = ("text", "content", "page_content")
_WITHIN: Final = 80
"""How many of the levels that JSON may have are not for metadata."""
_IDS: Final = ("id", "chunk_id", "_id", "uuid", "pk", "item_id", "passage_id", "node_id")
"""What names a passage; what names its document (`doc_id`, `source`) may name several."""


@dataclass(frozen=True, slots=True)
class RetrievedPassage:
    """One passage that was retrieved, with what is kept of its metadata and what is not."""

    id: str | None
    text: str
    title: str | None
    page: int | None
    metadata: Mapping[str, Any]
    left_out: tuple[str, ...]


def read_retrieved(number: int, value: Any) -> RetrievedPassage:
    """Read a text, a dict, or what a retriever gives; `InputError` says why it is no passage."""
    return read_found(number, find_retrieved(number, value))


def find_retrieved(number: int, value: Any) -> Found:
    """Return what a text, a dict or a retriever's object says it is, before it is read."""
    if isinstance(value, str):
        return Found(None, value, None, {})
    found = _read(value)
    if found is None:
        raise InputError(
            f"context {number} is no passage, but {type(value).__name__}: give text, a dict with "
            "a text, or what a retriever gives"
        )
    if found.text is None:
        raise InputError(
            f"context {number} has no text: a dict has it as text, content or page_content"
        )
    return found


def read_found(number: int, found: Found) -> RetrievedPassage:
    """Read a passage from what was found: its title and page, and what is kept of its metadata."""
    try:
        about = dict(found.metadata)
        if found.score is not None:
            about.setdefault("score", found.score)
        kept, left_out = bounded_metadata(about)
        title, page = short_title(document_title(found)), page_number(found)
    except InputError as error:
        raise InputError(f"context {number}: {error}") from None
    except Exception as error:  # noqa: BLE001 - whatever is passed in
        raise InputError(
            f"context {number} cannot be read: its metadata raises {type(error).__name__}"
        ) from None
    text = found.text or ""
    return RetrievedPassage(_checked_id(number, found.identity), text, title, page, kept, left_out)


def bounded_metadata(metadata: Mapping[Any, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return what is kept of metadata, and the names of what is not: too large, or not JSON."""
    if len(metadata) > MAX_METADATA_KEYS:
        raise InputError(f"metadata with {len(metadata):,} keys, {MAX_METADATA_KEYS:,} at most")
    kept: dict[str, Any] = {}
    left_out: list[str] = []
    size = 2
    for key, value in sorted(metadata.items(), key=lambda item: str(item[0])):
        try:
            plain = _plain(value)
            written = len(canonical_json({key: plain}, within=_WITHIN))
        except (CanonicalError, RecursionError):
            written = MAX_METADATA_BYTES
        if size + written > MAX_METADATA_BYTES:
            left_out.append(_printable(str(key)[:_LONGEST_KEY]))
        else:
            kept[str(key)] = plain
            size += written
    return kept, tuple(left_out)


def short_title(title: str | None) -> str | None:
    """Return a title on one line and not too long, as text that JSON has; None if it is empty."""
    if not title:
        return None
    shown = _printable(" ".join(title.split()))
    cut = len(shown) > MAX_TITLE_CHARS
    return (f"{shown[: MAX_TITLE_CHARS - 1]}…" if cut else shown) or None


def _read(value: Any) -> Found | None:
    """Read a dict or a retriever's object, or one with a text and a `chunk_id`, as ours are."""
    if isinstance(value, Mapping):
        return _of_dict(value)
    if isinstance(getattr(value, "text", None), str) and hasattr(value, "chunk_id"):
        names = ("item_id", "document_id", "page")
        about = {name: getattr(value, name, None) for name in names}
        known = {name: one for name, one in about.items() if one is not None}
        return Found(value.chunk_id, value.text, getattr(value, "score", None), known)
    return as_found(value)


def _of_dict(row: Mapping[Any, Any]) -> Found | None:
    found = as_found(row) or Found(None, None, None, {})
    named = next((name for name in _IDS if _names(row.get(name))), None)
    about = {key: item for key, item in found.metadata.items() if key != named}
    identity = None if named is None else str(row[named])
    is_empty = any(row.get(name) == "" for name in _TEXTS)
    return Found(
        identity, "" if found.text is None and is_empty else found.text, found.score, about
    )


def _names(value: Any) -> bool:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return is_number or (isinstance(value, str) and value != "") or hasattr(value, "urn")


def _plain(value: Any) -> Any:
    """Return a value as JSON has it, where that is a fair account of it; others as they are."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Decimal) or hasattr(value, "urn") or hasattr(value, "__fspath__"):
        return str(value)
    if hasattr(value, "isoformat"):
        return value.isoformat()
    is_scalar = getattr(value, "shape", None) == ()  # of numpy's
    found = value.item() if is_scalar else value
    if isinstance(found, float) and abs(found) > MAX_SAFE_INTEGER:
        raise CanonicalError("a number that readers of JSON take for others")
    return found


def _checked_id(number: int, identity: str | None) -> str | None:
    if identity is None:
        return None
    if len(identity) > MAX_ID_CHARS:
        raise InputError(
            f"context {number}: its id has {len(identity):,} characters, {MAX_ID_CHARS} at most"
        )
    if _printable(identity) != identity:
        raise InputError(f"context {number}: its id {identity!a} has characters that no text has")
    return identity


def _printable(text: Iterable[str]) -> str:
    """Return text with NUL and lone surrogates, which databases refuse, as U+FFFD."""
    return "".join("\ufffd" if one == "\0" or "\ud800" <= one <= "\udfff" else one for one in text)

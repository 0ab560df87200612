"""What a source is called where a format insists on a name, a file name or a media type.

File names and media types are read from metadata, else from a name that ends like a file's.
"""

import re
from typing import Final

from evidentia.sources.model import SourceItem

UNTITLED: Final = "Untitled"
_FILENAME_KEYS: Final = ("filename", "file_name", "fileName")
_MEDIA_KEYS: Final = (
    *("media_type", "mediaType", "mime_type", "mimeType", "mimetype"),
    *("content_type", "contentType"),
)
_MEDIA_TYPE = re.compile(r"([\w.+-]{1,100}/[\w.+-]{1,100})\s*(?:;.*)?", re.ASCII)
_OFFICE: Final = "application/vnd.openxmlformats-officedocument"
_MEDIA_TYPES: Final = {
    "csv": "text/csv",
    "docx": f"{_OFFICE}.wordprocessingml.document",
    "epub": "application/epub+zip",
    "htm": "text/html",
    "html": "text/html",
    "json": "application/json",
    "md": "text/markdown",
    "odt": "application/vnd.oasis.opendocument.text",
    "pdf": "application/pdf",
    "pptx": f"{_OFFICE}.presentationml.presentation",
    "rtf": "application/rtf",
    "txt": "text/plain",
    "xlsx": f"{_OFFICE}.spreadsheetml.sheet",
    "xml": "application/xml",
}


def shown_title(source: SourceItem) -> str:
    """Return a name that is never empty: the title, else the file's name, else the id."""
    names = (source.title, filename(source), source.source_id)
    return next((name for name in names if name and name.strip()), UNTITLED)


def filename(source: SourceItem) -> str | None:
    """Return the name of the source's file, without folders, or None if none is known."""
    for key in _FILENAME_KEYS:
        value = source.metadata.get(key)
        if isinstance(value, str) and _last_part(value):
            return _last_part(value)
    names = (_last_part(name) for name in (source.title or "", source.source_id))
    return next((name for name in names if _extension(name) in _MEDIA_TYPES), None)


def media_type(source: SourceItem) -> str | None:
    """Return the source's media type without parameters, or None if none is known."""
    for key in _MEDIA_KEYS:
        value = source.metadata.get(key)
        found = _MEDIA_TYPE.fullmatch(value.strip()) if isinstance(value, str) else None
        if found:
            return found[1].lower()
    return _MEDIA_TYPES.get(_extension(filename(source) or ""))


def _last_part(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2].strip()


def _extension(name: str) -> str:
    stem, _, extension = name.rpartition(".")
    return extension.lower() if stem else ""

"""Where documents lie: paths on a machine or in a store, told from names, ids and links.

A reader is shown a file's name, never the folders it lies in.
"""

import re
from typing import Final

from evidentia.canonical import sha256_hex

DIGEST_DIGITS: Final = 8
MAX_PATH: Final = 4_096
"""How long a text may be to be searched for a file below a folder: systems allow no longer path."""
LOCATION_KEYS: Final = frozenset({"source", "file", "file_name", "filename", "fileName"})
"""Keys whose values name a file: any folder before it is a path, however it is written."""

_LINK = re.compile(r"https?://\S+", re.IGNORECASE)
_CREDENTIALS = re.compile(r"(?<=//)[^/?#\s]*@")
_STORES: Final = (
    "file|vscode|vscode-file|s3[an]?|gs|gcs|az|azure|abfss?|wasbs?|adl|hdfs|webhdfs|viewfs|dbfs"
    "|smb|cifs|nfs|afp|sftp|ssh|scp|unix|minio|oss|cosn?|obs|swift|b2|r2|oci|jar|zip|local"
)
_STORED = re.compile(rf"(?<![\w.+-])(?:{_STORES})://|(?<![\w.-])file:(?=\S)", re.IGNORECASE)
_ROOTED = re.compile(
    r"[/\\]"
    r"|~(?:[^\W\d][\w.-]*)?(?:[/\\]|\Z)"
    r"|[A-Za-z]:(?:[/\\]|[^\s/\\]+\.[A-Za-z]\w{0,7}\Z)"
    r"|\.{1,2}[/\\]"
    r"|(?:\$\w+|\$\{\w+\}|%\w+%)[/\\]"
    r"|[A-Za-z][A-Za-z0-9+.-]+:(?:[/\\](?![/\\])|[/\\]{3})"
)
"""How a text begins that is a path: at a root, at home, at a drive, at a variable, or just here."""
_WITHIN = re.compile(
    r"(?<![A-Za-z0-9])[A-Za-z]:\\\S|(?<![\w.:/])/(?:home|Users|Volumes|root|srv|var|etc|opt|mnt|tmp)/"
)
_BACKSLASHED = re.compile(r"[^\s\\]+(?:\\[^\s\\]+)+")
_FILED = re.compile(
    r"(?:[/\\]|%2f|%5c)[^/\\]*\.(?:pdf|do[ct][xm]?|od[tsp]|rtf|txt|mdx?|markdown|rst|tex|x?html?|xml"
    r"|jsonl?|ndjson|ya?ml|[ct]sv|xls[xmb]?|ppt[xm]?|epub|mobi|eml|msg|ics|vtt|srt|png|jpe?g|gif"
    r"|tiff?|bmp|webp|svg|heic|mp[34]|wav|m4a|mov|mkv|zip|tar|t?gz|7z|rar|parquet|db|sqlite3?|log"
    r"|ini|toml|cfg|conf|env|ipynb)(?![a-z0-9])",
    re.IGNORECASE,
)
"""A file below a folder. Names of programming languages (`Node.js/Express.js`) are none."""
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:(?!\d{1,5}(?:[/\\]|\Z))|www\.", re.IGNORECASE)
_FOLDER = re.compile(r"(?<=\S)[/\\](?=\S)|%2f|%5c|[/\\]\Z", re.IGNORECASE)

_SCHEMES = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]+:)+")
_ENCODED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_ESCAPED = re.compile(r"%2f|%5c", re.IGNORECASE)
_SEPARATORS = re.compile(r"[/\\]+")
_NO_NAME = re.compile(r"[A-Za-z]:|~.*|\$\w+|\$\{\w+\}|%\w+%")
_DRIVE = re.compile(r"\A[A-Za-z]:(?=.)")


def link_of(text: str) -> str | None:
    """Return a link to the web, without the credentials before its host; None if it is none.

    >>> link_of("https://me:pw@example.com/a"), link_of("docs/a.md")
    ('https://example.com/a', None)
    """
    plain = text.strip()
    return _CREDENTIALS.sub("", plain, count=1) if _LINK.fullmatch(plain) else None


def is_path(text: str) -> bool:
    """Whether a text is a path, or has one in it, whatever it is the value of."""
    if link_of(text) is not None:
        return False
    plain = text.strip()
    return bool(
        _ROOTED.match(plain)
        or _STORED.search(plain)
        or _WITHIN.search(plain)
        or _BACKSLASHED.fullmatch(plain)
        or (len(plain) <= MAX_PATH and "://" not in plain and _FILED.search(plain))
    )


def is_location(text: str) -> bool:
    """Whether a text that names a file has folders in it."""
    plain = text.strip()
    if is_path(plain):
        return True
    return link_of(plain) is None and not _ADDRESS.match(plain) and bool(_FOLDER.search(plain))


def file_name(path: str) -> str | None:
    r"""Return the name at the end of a path; None if it has none.

    >>> file_name(r"C:\Users\me\leave.pdf"), file_name("s3://bucket"), file_name("~/")
    ('leave.pdf', None, None)
    """
    _, parts = _split(path)
    return _DRIVE.sub("", parts[-1]).strip() or None if parts else None


def path_digest(path: str) -> str:
    """Return a few digits that tell a path from others, however its separators are written."""
    begin, parts = _split(path)
    whole = begin + "/".join(parts)
    return sha256_hex(whole.encode(errors="replace"))[:DIGEST_DIGITS]


def _split(path: str) -> tuple[str, list[str]]:
    """Return what a path begins with, and its folders and its name."""
    plain = path.strip()
    scheme = _SCHEMES.match(plain)
    begin = scheme[0].lower() if scheme else ""
    rest = plain[len(begin) :]
    if scheme:
        rest = _decoded(re.split(r"[?#]", rest, maxsplit=1)[0])
    elif _ESCAPED.search(rest):
        rest = _decoded(rest)
    if begin == "file:":  # the same file, with and without its scheme
        begin, rest = "", re.sub(r"^[/\\]{2}(?:localhost)?(?=[/\\])", "", rest)
        rest = re.sub(r"^[/\\]+(?=[A-Za-z]:[/\\])", "", rest)
    parts: list[str] = []
    for part in _SEPARATORS.split(rest):
        if part == "..":
            del parts[-1:]
        elif part not in {"", "."}:
            parts.append(part)
    hosts = rest[:2] in {"//", "\\\\"}
    begin += "//" if hosts else "/" if rest[:1] in {"/", "\\"} else ""
    if parts and (hosts or _NO_NAME.fullmatch(parts[0])):  # a server or a bucket is no file
        begin += f"{parts.pop(0)}/"
    return begin, parts


def _decoded(text: str) -> str:
    """Return a text with its percent-encoding undone."""
    return _ENCODED.sub(
        lambda run: bytes.fromhex(run[0].replace("%", "")).decode("utf-8", "replace"), text
    )

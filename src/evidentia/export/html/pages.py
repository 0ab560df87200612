"""The pages: evidence in, HTML out; and the evidence that is in a page.

A page shows what its script makes of the evidence that it carries, and nothing of it stands
outside. So a page is its evidence and the version of its template, and the same evidence gives
the same bytes.
"""

import re
from functools import cache
from hashlib import sha256
from typing import Final

from evidentia.errors import InputError
from evidentia.export.html.assembling import bundled, policy, styles
from evidentia.proof.foreign import no_evidence

FORMAT: Final = "evidentia/html"
FORMAT_VERSION: Final = 1
_OPENS: Final = b'<script type="application/json" id="evidence">'
_CLOSES: Final = b"</script>"
_MADE_BY = re.compile(
    rb'<meta name="generator" content="evidentia/html v([0-9]{1,9}) ([0-9a-f]{64})">'
)
_ESCAPE = re.compile(rb"\\(?:u003c|.)", re.DOTALL)
_LESS: Final = b"\\u003c"
_IS_HTML = re.compile(rb"\s*<!doctype html", re.IGNORECASE)
_START_SAVED: Final = 'm_verify_page.startVerifyPage(document.getElementById("page"));'
_START_EXPORTED: Final = 'm_exported_page.startExportedPage(document.getElementById("page"));'
_NO_SCRIPT: Final = (
    "This page needs JavaScript: it makes what it shows of the signed evidence in it. Without, "
    "“evidentia verify FILE” reads and verifies the file. · "
    '<span lang="ar" dir="rtl">تحتاج هذه الصفحة إلى JavaScript.</span>'
)


def is_html(data: bytes) -> bool:
    """Whether bytes begin as an HTML page does."""
    return _IS_HTML.match(data) is not None


def saved_page() -> bytes:
    """Return the page to verify files on, as one file that works without a network."""
    return _page(_START_SAVED, "Verify evidence · Evidentia", b"", "")


def exported_page(evidence: bytes) -> bytes:
    """Return the page of evidence, which is canonical JSON and a newline (`written`)."""
    made = f'<meta name="generator" content="{FORMAT} v{FORMAT_VERSION} {template_digest()}">\n'
    carried = _OPENS + evidence.replace(b"<", _LESS) + _CLOSES + b"\n"
    return _page(_START_EXPORTED, "Evidentia", carried, made)


def evidence_in(page: bytes) -> bytes:
    """Return the evidence that a page carries; raise `InputError` if it carries none, or two."""
    if page.count(_OPENS) != 1:
        raise InputError(no_evidence("it is an HTML page without evidence in it, or with several"))
    carried, closes, _ = page.partition(_OPENS)[2].partition(_CLOSES)
    if not closes:
        raise InputError(no_evidence("it is an HTML page that is cut short"))
    return _ESCAPE.sub(lambda found: b"<" if found[0] == _LESS else found[0], carried)


def made_by(page: bytes) -> tuple[int, str] | None:
    """Return the version of a page's format and its template's digest; None if it says none."""
    found = _MADE_BY.search(page.partition(_OPENS)[0])
    return None if found is None else (int(found[1]), found[2].decode())


@cache
def template_digest() -> str:
    """Return the SHA-256 of what a page has beside its evidence."""
    return sha256(_page(_START_EXPORTED, "Evidentia", b"", "")).hexdigest()


def _page(start: str, title: str, carried: bytes, made: str) -> bytes:
    script, style = bundled(start), styles()
    head = (
        '<!doctype html>\n<html lang="en" dir="ltr">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy(script, style)}">\n{made}'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f'<main id="page"><noscript><p>{_NO_SCRIPT}</p></noscript></main>\n'
    )
    return head.encode() + carried + f"<script>{script}</script>\n</body>\n</html>\n".encode()

"""Links that may be shown: whole, visible, and none that runs or reads something on a machine."""

import re

_UNSAFE = re.compile(r"(?:javascript|vbscript|data|file|blob):|[a-z]:\\|\\\\", re.IGNORECASE)
_UNSEEN = re.compile(
    r"[\x00-\x20\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def safe_link(url: str) -> str | None:
    """Return a URL without the space around it, or None if it should not be followed.

    >>> safe_link(" https://example.com/a "), safe_link("javascript:alert(1)")
    ('https://example.com/a', None)
    """
    plain = url.strip()
    return None if not plain or _UNSEEN.search(plain) or _UNSAFE.match(plain) else plain

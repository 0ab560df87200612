"""Where something is on the web: the one way to write it, and what is no such place."""

import re
from typing import Final
from urllib.parse import urlsplit

from evidentia.errors import InputError

_LONGEST: Final = 500
_PORTS: Final = {"http": 80, "https": 443}
_HOST: Final = re.compile(r"[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?|[0-9a-f:.]+")


def normal_url(text: str, *, example: str, instead: str) -> str:
    """Return the one way to write an `http(s)` URL; raise `InputError` for what is none.

    A name, a password, a query and a fragment are refused. Messages show the `example` of a good
    one, and say what to do `instead` of writing a password into it.

    >>> normal_url("HTTPS://API.example.com:443/v1/", example="", instead="")
    'https://api.example.com/v1'
    """
    shown = repr(text[:80])
    wrong = f"{shown} is no URL of a web server: give one such as {example}"
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise InputError(wrong) from None
    if parts.username is not None or parts.password is not None:
        # what stands there may be a password: it is not shown
        raise InputError(f"the URL has a name or a password in it: {instead}")
    if (
        parts.scheme not in _PORTS
        or not _HOST.fullmatch(host)
        or len(text) > _LONGEST
        or not text.isascii()
        or not text.isprintable()
        or " " in text
    ):
        raise InputError(wrong)
    if parts.query or parts.fragment:
        raise InputError(f"{shown}: leave out what stands behind the path")
    named = f"[{host}]" if ":" in host else host
    place = named if port in (None, _PORTS[parts.scheme]) else f"{named}:{port}"
    return f"{parts.scheme}://{place}{parts.path.rstrip('/')}"

"""Recorded HTTP responses as evidence: status, headers and body, without the secrets in the head.

Whatever the policy, these are replaced by `[REDACTED]`:

- the values of headers that carry secrets, told by their names whatever the case, the spaces and
  the underscores: those that contain *authorization*, *cookie*, *token*, *secret*, *password*,
  *session*, *signature*, *csrf*, *api-key* and other kinds of key that are secret (not `key`
  alone: `Surrogate-Key` and `Idempotency-Key` are none), or end in *credential*. Counts of tokens
  under a rate limit stay, and so do `ETag`, `WWW-Authenticate` and `Proxy-Authenticate`;
- credentials in a URL, be it the response's own or one in any header: what stands before the `@`,
  and parameters of the query, the fragment or the path that are named likewise, or `key`, `sig`,
  `auth`, `pass` … A parameter that hides such a URL in itself, encoded, is replaced as a whole.

The body is kept as it was recorded: redaction by the policy is for that.
"""

import re
from dataclasses import dataclass
from typing import Final
from unicodedata import normalize

from evidentia.bundles.response_formats import RecordedResponse, read_recorded
from evidentia.bundles.texts import problem

REDACTED: Final = "[REDACTED]"

_SECRET_PARTS = re.compile(
    "authorization|cookie|token|secret|passw|passphrase|session|sessid|signature|[cx]srf|jwt|"
    "(?:api|access|auth|private|subscription|functions|master|shared|account|encryption)key|"
    "samlresponse|credential$"
)
_SECRET_NAMES: Final = frozenset({"auth", "xauth", "sig", "xsig", "hmac", "otp", "pwd"})
_SECRET_PARAMETERS: Final = _SECRET_NAMES | {"key", "pass", "pw", "sid", "ticket"}
_PAGING: Final = frozenset(
    {"pagetoken", "nextpagetoken", "nexttoken", "continuationtoken", "synctoken", "maxtokens"}
)
"""Parameters that are named like secrets and say only which page, or how much."""
_CHALLENGES: Final = frozenset({"wwwauthenticate", "proxyauthenticate"})
_URL_HEADERS: Final = frozenset({"location", "contentlocation", "referer", "referrer", "sourcemap"})

_NOT_PLAIN = re.compile(r"[^a-z0-9]+")
_ENCODED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_MOST_ENCODED: Final = 5
"""How many times a URL may be encoded within another before it is taken for a secret."""
_LEAD = re.compile(r"https?:[/\\]*|[/\\]{2,}", re.IGNORECASE)
_AUTHORITY = re.compile(r"[^\s/\\?#]*")
_NO_PORT = re.compile(r"[^\s/\\?#@:\[]*:(?!\d*(?:[\s/\\?#]|\Z))")
_BARE_USERINFO = re.compile(r"\A\s*(?!https?:)[^\s/\\?#@:]*:[^/\\?#@]*@", re.IGNORECASE)
_NAMED = re.compile(r"(?:\A|[?&;#/\s\"',<>{])([^=?&;#/\s\"',<>{]+)=(?=.)")
_QUERY = re.compile(r"[?#]")
_PARAMETER_BREAK = re.compile(r"([&#])")
_WORD = re.compile(r"<[^<>]*>?|[^\s<>\"]*\"[^\"]*\"?|[^\s<>\"]+")
"""What may be a URL in a header: within angle brackets, with a quoted text at its end, or alone."""
_URL = re.compile(r"https?:[^\s\"<>]+", re.IGNORECASE)
_SCHEME = re.compile(r"\b(Bearer|Basic)(\s+)[A-Za-z0-9+/._~-]{16,}=*", re.IGNORECASE)
_METHOD = re.compile(r"[A-Za-z-]{1,20}")
_HEADER_NAME = re.compile(r":?[^:=/@?&<>\"]{1,100}")
_UNSHOWN = re.compile(r"[\x00-\x20\x7f-\x9f\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A response as a model may see it.

    `redacted_headers` names each header whose value was replaced, in whole or in part, in order.
    `body_note` says why a body is not shown, or what of the recording is not. Without a `status`,
    no response came.
    """

    status: int | None
    reason: str
    headers: tuple[tuple[str, str], ...]
    body: str
    url: str | None
    method: str | None
    fetched_at: str | None
    redacted_headers: tuple[str, ...]
    body_note: str | None


def read_responses(data: bytes, name: str) -> list[HttpResponse]:
    """Read what was recorded as JSON, as the message itself, or as HAR: there, every entry.

    Raises `InputError`, which names the recording and quotes nothing of it, for whatever else.
    """
    found = read_recorded(data, name)
    if len(found) == 1:
        return [_without_secrets(found[0], name)]
    return [_without_secrets(one, f"{name}, entry {n:,}") for n, one in enumerate(found, 1)]


def _without_secrets(recorded: RecordedResponse, name: str) -> HttpResponse:
    headers = []
    redacted = []
    for number, (recorded_title, recorded_value) in enumerate(recorded.headers, 1):
        title, value = _one_line(recorded_title), _one_line(recorded_value)
        if not _HEADER_NAME.fullmatch(title):
            raise problem(name, f"header {number} has a name that is none")
        shown = REDACTED if _hides_headers(recorded_value) else redact_header(title, value)
        headers.append((title, shown))
        if shown != value:
            redacted.append(title)
    return HttpResponse(
        status=recorded.status,
        reason=redact_header("", _one_line(recorded.reason)),
        headers=tuple(headers),
        body=recorded.body,
        url=redact_url(_one_line(recorded.url)) if recorded.url else None,
        method=_method(recorded, name),
        fetched_at=_one_line(recorded.fetched_at) if recorded.fetched_at else None,
        redacted_headers=tuple(redacted),
        body_note=recorded.body_note,
    )


def response_text(response: HttpResponse) -> str:
    """Return a response as text: what was asked, the status, the headers, and the body."""
    asked = " ".join(each for each in (response.method, response.url) if each)
    lines = [asked] if asked else []
    if response.status is not None:
        lines.append(f"HTTP {response.status} {response.reason}".rstrip())
    lines += [f"{name}: {value}" for name, value in response.headers]
    lines.append("")
    if response.body or not response.body_note:
        lines.append(response.body)
    if response.body_note:
        lines.append(f"[{response.body_note}]")
    return "\n".join(lines)


def redact_header(name: str, value: str) -> str:
    """Return a header's value without secrets: as a whole, or the URLs in it."""
    plain = _plain_name(name)
    if _is_secret_header(plain):
        return REDACTED if value else value
    if plain in _URL_HEADERS:
        return redact_url(value)
    hidden = _without_userinfo(value)
    if plain in _CHALLENGES:
        return _URL.sub(lambda found: redact_url(found[0]), hidden)
    hidden = _WORD.sub(lambda word: _redact_word(word[0]), hidden)
    return _SCHEME.sub(rf"\1\2{REDACTED}", hidden)


def redact_url(url: str) -> str:
    """Return a URL without credentials: before the host, in the path, the query or the fragment.

    >>> redact_url("https://bob:pw@example.com/a?page=2&api_key=abc#top")
    'https://[REDACTED]@example.com/a?page=2&api_key=[REDACTED]#top'
    """
    hidden = _without_userinfo(_BARE_USERINFO.sub(f"{REDACTED}@", url))
    asked = _QUERY.search(hidden)
    at = asked.start() if asked else len(hidden)
    path = hidden[:at].split("/")
    for number, part in enumerate(path):
        if _reveals(part):  # where its value ends cannot be told: all that follows goes
            return "/".join([*path[:number], REDACTED])
    parts = _PARAMETER_BREAK.split(hidden[at + 1 :])
    parts[::2] = [_redact_parameter(part) for part in parts[::2]]
    return hidden[: at + 1] + "".join(parts)


def _without_userinfo(text: str) -> str:
    """Return a text without what stands before the host in its URLs.

    After a port that is none, a password with a slash or a space in it is taken to go on until
    the last `@`. Each part of the text is looked at once, however many URLs are in it.
    """
    last = text.rfind("@")
    parts = []
    done = end = 0
    for lead in _LEAD.finditer(text, 0, last + 1):
        start = lead.end()
        if start <= done:
            continue
        at = -1
        if start >= end:
            end = next(_AUTHORITY.finditer(text, start)).end()
            at = text.rfind("@", start, end)
        if at < 0 and _NO_PORT.match(text, start):
            at = last
        if at >= 0:
            parts += [text[done:start], REDACTED]
            done = at
    return "".join([*parts, text[done:]])


def _redact_word(word: str) -> str:
    """Return a word of a header without the credentials of the URL that it may be."""
    first, last = word[0], word[-1]
    if first in '<"' and len(word) > 1:
        end = last if last in '>"' else ""
        return first + redact_url(word[1 : len(word) - len(end)]) + end
    return redact_url(word)


def _redact_parameter(part: str) -> str:
    name, _, value = part.partition("=")
    if _reveals(name):
        return REDACTED
    secret = _is_secret_parameter(name) or _reveals(f"{name}=x") or _reveals(value)
    return f"{name}={REDACTED}" if value and secret else part


def _reveals(text: str) -> bool:
    """Whether a credential stands in a text, be it encoded several times."""
    for _ in range(_MOST_ENCODED):
        named = any(map(_is_secret_parameter, _NAMED.findall(text)))
        if named or _without_userinfo(text) != text:
            return True
        decoded = _decoded(text)
        if decoded == text:
            return False
        text = decoded
    return True


def _hides_headers(value: str) -> bool:
    """Whether a line within a value reads like a header that carries a secret."""
    lines = (line.partition(":") for line in value.splitlines()[1:])
    return any(colon and _is_secret_header(_plain_name(title)) for title, colon, _ in lines)


def _decoded(text: str) -> str:
    """Return a text with its percent-encoding undone, once."""
    return _ENCODED.sub(
        lambda run: bytes.fromhex(run[0].replace("%", "")).decode("utf-8", "replace"), text
    )


def _plain_name(name: str) -> str:
    """Return the letters and digits of a name alone, so that no way of writing it hides it."""
    return _NOT_PLAIN.sub("", normalize("NFKC", name).casefold())


def _is_secret_header(plain: str) -> bool:
    counted = plain.replace("tokens", "") if "ratelimit" in plain else plain
    return plain in _SECRET_NAMES or _SECRET_PARTS.search(counted) is not None


def _is_secret_parameter(name: str) -> bool:
    plain = _plain_name(name)
    if plain in _PAGING:
        return False
    return plain in _SECRET_PARAMETERS or _SECRET_PARTS.search(plain) is not None


def _method(recorded: RecordedResponse, name: str) -> str | None:
    if not recorded.method:
        return None
    if not _METHOD.fullmatch(recorded.method):
        raise problem(name, "`method` must be a method of HTTP, such as GET")
    return recorded.method.upper()


def _one_line(text: str) -> str:
    """Return a text on one line, so that no value can pass for another header."""
    return _UNSHOWN.sub(" ", text).strip()

"""What candidates turn out to be: the values of the built-in classes in the bytes of a text."""

import re
from collections.abc import Callable
from typing import Any, Final

from evidentia.bundles.redaction import phones, validating
from evidentia.bundles.redaction.model import SensitiveSpan
from evidentia.bundles.redaction.patterns import (
    ASSIGNMENT,
    AUTHORIZATION,
    LABELLED_PHONE,
    address_pattern,
    capturing,
    label_pattern,
    matcher,
    number_pattern,
    secret_pattern,
)

_ASSIGNMENT: Final = re.compile(ASSIGNMENT.encode())  # on a candidate it cannot go astray
_AUTHORIZATION: Final = re.compile(AUTHORIZATION.encode())
_LABELLED: Final = capturing(LABELLED_PHONE)
_DIGITS: Final = tuple(b"%d" % digit for digit in range(10))
_LONGEST_NUMBER: Final = 64
_LONGEST_EXTENSION: Final = 32
_BRACKETS: Final = {"(": ")", "[": "]"}
_LONGEST_KEY: Final = 65_536
_CLOSING: Final = frozenset(b"\r\n\"'`,;&})]|\\")
_TRAILING: Final = ".:!?)}\\"
_KEY_BODY: Final = capturing(
    r"(?:(?:[\s>|\"'+,]|\\[nr])*(?:[A-Za-z0-9+/=]{24,}|(?:Proc-Type|DEK-Info|Version|Comment):[^\n]*))*"
    r"(?:(?:[\s>|\"'+,]|\\[nr])*(?:[A-Za-z0-9+/]*==?|[A-Za-z0-9+/]+\s*\z))?"
)
_VERSION = re.compile(
    r"(?:version|release|build|ver\.?|إصدار|الإصدار|نسخة|النسخة)[\s:=\"'#v]{0,4}$", re.IGNORECASE
)
_VERSION_REACH: Final = 32
_BARE: Final = capturing(r"""[^\s"',;&<>]*""")
_LONGEST_BARE: Final = 64
_FIRST_GROUP = re.compile(r"[+(]?[0-9A-Za-z]+(?=[ -])")
"""After a candidate of groups that came to nothing, the next one may begin with its second."""
_SEPARATORS = re.compile(r"[ ()./-]+")
_SEPARATING: Final = frozenset((b" ", b".", b"/", b"-"))
_SSN_GROUPS: Final = (3, 2, 4)
_SSN = re.compile(r"[0-9]{3}[- ][0-9]{2}[- ][0-9]{4}\b")
_SSN_SIZE: Final = len("123-45-6789")
_CARD_GROUPS: Final = frozenset({(4, 4, 4, 4), (4, 4, 4, 4, 3), (4, 6, 4), (4, 6, 5)})
_CARD_OF_16: Final = len("4111 1111 1111 1111")
_COLON: Final = ord(":")
_FEWEST_PARTS: Final = 3
_MOST_PARTS: Final = 5


Verdict = tuple[SensitiveSpan | None, int]
"""What a candidate is (None: nothing), and where to look on."""
Judge = Callable[[bytes, int, int, frozenset[str]], Verdict]


def find_built_in(data: bytes, classes: frozenset[str]) -> list[SensitiveSpan]:
    """Return the values of some classes in UTF-8 bytes; the spans are in bytes, and may overlap."""
    found: list[SensitiveSpan] = []
    numbers = ((number_pattern(classes), _number), (label_pattern(classes), _labelled))
    has_digits = any(digit in data for digit in _DIGITS)  # to look for each is the quickest
    for pattern, judge in (
        *(numbers if has_digits else ()),
        (address_pattern(classes), _address),
        (secret_pattern(classes), _secret),
    ):
        if pattern is not None:
            found += _search(pattern, judge, data, classes)
    return found


def _search(
    pattern: Any, judge: Judge, data: bytes, classes: frozenset[str]
) -> list[SensitiveSpan]:
    found: list[SensitiveSpan] = []
    match, anywhere = matcher(pattern)
    at, size = 0, len(data)
    while True:
        ((start, end),) = match(anywhere, data, at, size)
        if start < 0:
            return found
        span, at = judge(data, start, end, classes)
        if span is not None:
            found.append(span)


def _number(data: bytes, start: int, end: int, classes: frozenset[str]) -> Verdict:
    if end - start > _LONGEST_NUMBER:
        return (None, end)
    text = data[start:end].decode()
    if "_" in text:
        start += len(text) - len(text.lstrip("_"))
        text = text.strip("_")
    if _opens_in_vain(text):
        return (None, start + 1)
    kind, size = _NUMBER_JUDGES[_notation(text)](data, start, text, classes)
    if size:
        end = start + size
        if kind == "PHONE":
            end += _extension_size(data, end)
        return (SensitiveSpan(kind, start, end), end)
    first = _FIRST_GROUP.match(text)
    return (None, start + (first.end() if first else len(text)))


def _opens_in_vain(text: str) -> bool:
    """Whether a text begins with a bracket that is closed behind it, if at all."""
    closing = _BRACKETS.get(text[0])
    return closing is not None and text.count(text[0]) > text.count(closing)


def _notation(text: str) -> str:
    """Return how a number is written, at a glance."""
    if text.isdigit():
        return "international" if text.startswith("00") else "plain"
    if ":" in text:
        return "colons"
    if text[0].isalpha():
        return "letters"
    if "+" in text[:2] or text.startswith("00"):
        return "international"
    if text.count(".") > 2 and not phones.is_in_pairs(text):  # noqa: PLR2004 - four numbers have three
        return "dots"
    return "groups"


def _plain(data: bytes, start: int, digits: str, classes: frozenset[str]) -> tuple[str, int]:
    size = len(digits)
    for kind, is_valid in _PLAIN_NUMBERS.get(size, ()):
        if kind in classes and is_valid(digits):
            return ("", 0) if _is_fraction(data, start, start + size) else (kind, size)
    return "", 0


def _international(data: bytes, start: int, text: str, classes: frozenset[str]) -> tuple[str, int]:
    before = data[start - 1 : start]
    if "PHONE" in classes and not before.isalnum() and before != b"+":
        size = phones.international_phone(text)
        if size:
            return "PHONE", size
    if "US_SSN" in classes and _SSN.match(text):  # those of the first states begin with 00
        return _groups(data, start, text[:_SSN_SIZE], classes)
    return "", 0


def _colons(data: bytes, start: int, text: str, classes: frozenset[str]) -> tuple[str, int]:
    size = validating.ipv6_end(text)
    end = start + size
    if "IPV6" not in classes or data[start - 1 : start].isalnum() or _is_word(data[end : end + 1]):
        return "", 0
    return "IPV6", size


def _letters(_data: bytes, _start: int, text: str, _classes: frozenset[str]) -> tuple[str, int]:
    return "IBAN", validating.iban_end(text)


def _dots(data: bytes, start: int, text: str, classes: frozenset[str]) -> tuple[str, int]:
    if "IPV4" not in classes or not validating.is_ipv4(text):
        return "", 0
    before = data[max(0, start - _VERSION_REACH) : start].decode(errors="ignore")
    return "IPV4", 0 if _VERSION.search(before) else len(text)


def _groups(data: bytes, start: int, text: str, _classes: frozenset[str]) -> tuple[str, int]:
    """Tell a card, a social security number and a phone apart by the sizes of their groups."""
    sizes = tuple(len(group) for group in _SEPARATORS.split(text))
    if sizes == _SSN_GROUPS:
        return "US_SSN", len(text) if _stands_alone(data, start, text) else 0
    if sizes in _CARD_GROUPS:
        for size in (len(text), _CARD_OF_16):
            if validating.is_card(validating.digits_of(text[:size])):
                return "CARD", size
        return "", 0
    return "PHONE", _phone_of_groups(data, start, text)


def _phone_of_groups(data: bytes, start: int, text: str) -> int:
    """Return how much of a text is a phone number without a +, alone among numbers; or 0."""
    end = start + len(text)
    abroad = phones.international_phone(text) if text.startswith("011") else 0
    return abroad or phones.national_phone(
        text,
        follows=_is_separator(data[start - 1 : start]) and data[start - 2 : start - 1].isdigit(),
        goes_on=_goes_on(data, end),
    )


def _goes_on(data: bytes, end: int) -> bool:
    """Whether one sign alone stands between a number and more digits."""
    return _is_separator(data[end : end + 1]) and data[end + 1 : end + 2].isdigit()


def _is_separator(sign: bytes) -> bool:
    return sign in _SEPARATING


def _labelled(data: bytes, start: int, end: int, _classes: frozenset[str]) -> Verdict:
    """Take a number after a word that says it is a phone's."""
    named = _LABELLED.match(data, start, end)
    low, high = named.span(2)
    text = data[low:high].decode()
    if _opens_in_vain(text):
        low, text = low + 1, text[1:]
    if text[0] == "+" or not phones.named_phone(
        text, named[1].decode(), goes_on=_goes_on(data, high)
    ):
        return (None, high)
    high += _extension_size(data, high)
    return (SensitiveSpan("PHONE", low, high), high)


def _extension_size(data: bytes, end: int) -> int:
    after = data[end : end + _LONGEST_EXTENSION].decode(errors="ignore")
    return len(after[: phones.extension_size(after)].encode())


def _stands_alone(data: bytes, start: int, text: str) -> bool:
    end = start + len(text)
    return (
        data[start - 1 : start] != b"-"
        and data[end : end + 1] != b"-"
        and validating.is_us_ssn(text)
    )


def _is_fraction(data: bytes, start: int, end: int) -> bool:
    """Whether digits are one side of a decimal number."""
    return (data[start - 1 : start] == b"." and data[start - 2 : start - 1].isdigit()) or (
        data[end : end + 1] == b"." and data[end + 1 : end + 2].isdigit()
    )


def _is_word(sign: bytes) -> bool:
    return sign.isalnum() or sign == b"_"


_PHONES, _CARDS, _SAUDI_IDS = range(10, 13), range(12, 20), range(10, 11)
_PLAIN_NUMBERS: Final = {
    size: tuple(
        (kind, is_valid)
        for kind, sizes, is_valid in (
            ("PHONE", _PHONES, phones.is_mobile),
            ("CARD", _CARDS, validating.is_card),
            ("SAUDI_ID", _SAUDI_IDS, validating.is_saudi_id),
        )
        if size in sizes
    )
    for size in range(10, 20)
}
"""What digits in a row may be, by how many they are."""
_NUMBER_JUDGES: Final = {
    "plain": _plain,
    "international": _international,
    "colons": _colons,
    "letters": _letters,
    "dots": _dots,
    "groups": _groups,
}


def _address(data: bytes, start: int, end: int, _classes: frozenset[str]) -> Verdict:
    if data[start] == _COLON:
        start += len("://")
        end = data.rindex(b"@", start, end)
        if validating.is_userinfo(data[start:end].decode()):
            return (SensitiveSpan("URL_CREDENTIALS", start, end), end)
        return (None, start)
    text = data[start:end].decode()
    place = validating.email_place(text)
    if place is None or (text.startswith("git@") and _is_remote(data, start, end)):
        return (None, end)
    low, high = place
    if not text.isascii():
        low, high = len(text[:low].encode()), len(text[:high].encode())
    low, high = start + low, start + high
    return (SensitiveSpan("EMAIL", low, high), high)


def _is_remote(data: bytes, start: int, end: int) -> bool:
    """Whether an address is where a repository is fetched from."""
    return data[start - 1 : start] == b"/" or data[end : end + 1] == b":"


def _secret(data: bytes, start: int, end: int, classes: frozenset[str]) -> Verdict:
    if data.startswith(b"-----", start):
        return _private_key(data, start, end)
    if data.startswith(b"eyJ", start):
        return _jwt(data, start, end)
    assigned = _ASSIGNMENT.match(data, start, end)
    if assigned is not None:
        return _assigned(data, assigned, classes)
    header = _AUTHORIZATION.match(data, start, end)
    if header is not None:
        low, high = header.span(2)
        value = data[low:high].decode().rstrip(".")
        high = low + len(value)
        if not validating.is_bearer(value, named=header.start(1) >= 0):
            return (None, low)
        return (SensitiveSpan(_kind_of_secret(value, classes), low, high), high)
    is_token = validating.is_token(data[start:end].decode())
    return (SensitiveSpan("API_KEY", start, end) if is_token else None, end)


def _private_key(data: bytes, start: int, end: int) -> Verdict:
    """Take a key up to the line that ends it; without such a line, as far as it looks like one."""
    mark = data.find(b"-----", end, end + _LONGEST_KEY)
    if mark >= 0 and data.startswith(b"-----END ", mark):
        close = data.find(b"-----", mark + 9, mark + 90)
        after = mark + 9 if close < 0 else close + 5
    else:
        mark = after = _KEY_BODY.match(data, end, min(len(data), end + _LONGEST_KEY)).end()
    if not validating.is_key_body(data[end:mark].decode(errors="replace")):
        return (None, end)
    return (SensitiveSpan("PRIVATE_KEY", start, after), after)


def _jwt(data: bytes, start: int, end: int) -> Verdict:
    parts = data[start:end].split(b".", _MOST_PARTS)
    whole = b".".join(parts[: _MOST_PARTS if len(parts) >= _MOST_PARTS else _FEWEST_PARTS])
    if not validating.is_jwt(whole.decode()):
        return (None, end)
    high = start + len(whole.rstrip(b"."))
    return (SensitiveSpan("JWT", start, high), high)


def _assigned(data: bytes, assigned: Any, classes: frozenset[str]) -> Verdict:
    quoted = assigned.start(4) < 0
    low, high = assigned.span(4)
    if quoted:
        low, high = max(assigned.span(2), assigned.span(3))
    ends = high == len(data) or data[high] in _CLOSING
    value = data[low:high].decode()
    if not quoted:
        value = value.rstrip(_TRAILING if "[" in value else _TRAILING + "]")
        high = low + len(value.encode())
    password = assigned.start(1) >= 0
    if not validating.is_assigned_secret(value, password=password, quoted=quoted, ends=ends):
        return (None, low)
    if not quoted and len(value) >= _LONGEST_BARE:
        high = _BARE.match(data, low).end()
    return (SensitiveSpan(_kind_of_secret(value, classes), low, high), high)


def _kind_of_secret(value: str, classes: frozenset[str]) -> str:
    is_jwt = "JWT" in classes and value.startswith("eyJ") and validating.is_jwt(value)
    return "JWT" if is_jwt else "API_KEY"
